/* trigger_batch.c -- see trigger_batch.h. */
#include "trigger/trigger_batch.h"
#include <assert.h>
#include "base/arena.h"
#include "consumer/consumer.h"
#include "json/writer.h"
#include "log/change_record.h"
#include "stream/record_json.h"
#include "log/log_read.h"
#include "stream/stream_definition.h"
#include "trigger/event_filter.h"

struct gathering {
    struct arena *arena;
    const struct trigger_source *source;
    struct record_json form;
    uint64_t end;
    struct trigger_batch *batch;
    struct buffer records;
    struct json_writer json;
    size_t scanned_size;
};

static bool passes(const struct gathering *in, struct bytes record)
{
    bool passed = in->source->filter_count == 0;
    for (size_t i = 0; i < in->source->filter_count && !passed; i++)
        passed = event_filter_matches(in->source->filters[i], in->arena, record);
    return passed;
}

/* Appends the record to the event, and removes it again if it does not belong to the batch. False
 * if no later record does either. */
static bool add_record(void *context, uint64_t sequence, const struct change_record *record)
{
    struct gathering *in = context;
    struct trigger_batch *batch = in->batch;
    struct buffer *event = &batch->event;
    if (in->end != 0 && sequence >= in->end)
        return false;
    batch->full =
        batch->count == in->source->batch_size || in->scanned_size > TRIGGER_SCAN_SIZE_MAX;
    if (batch->full)
        return false;
    size_t before = event->len;
    struct json_writer json_before = in->json;
    size_t at = before + (in->json.needs_comma ? 1 : 0);
    record_json_write(&in->form, &in->json, sequence, record);
    in->scanned_size += event->len - before;
    batch->full = batch->count > 0 && event->len > TRIGGER_EVENT_SIZE_MAX;
    if (!batch->full && passes(in, bytes_of(event->data + at, event->len - at))) {
        struct trigger_batch_record added = {
            .sequence = sequence, .server_ms = record->server_ms, .at = at, .size = event->len - at
        };
        buffer_append(&in->records, &added, sizeof added);
        batch->count++;
        return true;
    }
    event->len = before;
    in->json = json_before;
    return !batch->full;
}

enum engine_status trigger_batch_gather(const struct consumer_turn *turn,
                                        const struct trigger_source *source, uint64_t end,
                                        struct trigger_batch *out)
{
    struct arena *arena = turn->arena;
    struct gathering in = { .arena = arena,
                            .source = source,
                            .form = { .arena = arena,
                                      .stream = source->stream,
                                      .partition = turn->partition,
                                      .region = source->region,
                                      .event_source_arn = source->arn },
                            .end = end,
                            .batch = out };
    struct log_page page = { .count_max = TRIGGER_SCAN_COUNT_MAX,
                             .visit = add_record,
                             .context = &in };
    struct consumer_found found;
    assert(source->batch_size > 0);
    *out = (struct trigger_batch){ 0 };
    buffer_init(&out->event, arena);
    buffer_init(&in.records, arena);
    json_writer_init(&in.json, &out->event);
    json_open_object(&in.json);
    json_write_name(&in.json, "Records");
    json_open_array(&in.json);
    enum engine_status status = consumer_read(turn, &page, &found);
    json_close_array(&in.json);
    json_close_object(&in.json);
    out->records = (struct trigger_batch_record *)(void *)in.records.data;
    out->first = found.first;
    out->next = page.next;
    out->lost = found.lost;
    out->ended = found.ended;
    /* A page that ends with neither the batch nor the shard has been cut by its own bound. */
    out->full = out->full || page.next - found.first == TRIGGER_SCAN_COUNT_MAX ||
                out->count == source->batch_size || page.ended;
    return status;
}
