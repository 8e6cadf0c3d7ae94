/* trigger_batch.c -- see trigger_batch.h. */
#include "trigger/trigger_batch.h"
#include <assert.h>
#include "base/arena.h"
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

/* --- Records --- */

static bool passes(const struct gathering *in, struct bytes record)
{
    bool passed = in->source->filter_count == 0;
    for (size_t i = 0; i < in->source->filter_count && !passed; i++)
        passed = event_filter_matches(in->source->filters[i], in->arena, record);
    return passed;
}

/* Writes the record behind the others, and takes it back if it does not belong to the batch. False:
 * nor does anything behind it. */
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

static enum engine_status read_records(struct gathering *in, struct engine_view *view,
                                       const struct log_cursor *at)
{
    struct log_page page = { .count_max = TRIGGER_SCAN_COUNT_MAX,
                             .visit = add_record,
                             .context = in };
    enum engine_status status = log_read_page(in->arena, view, at, &page);
    assert(status != ENGINE_OK || !page.trimmed); /* The same view told where it begins. */
    in->batch->next = page.next;
    /* A page that ends with neither the batch nor the shard has been cut by its own bound. */
    in->batch->full = in->batch->full || page.next - at->next == TRIGGER_SCAN_COUNT_MAX ||
                      in->batch->count == in->source->batch_size || page.ended;
    return status;
}

enum engine_status trigger_batch_gather(struct arena *arena, struct engine_view *view,
                                        const struct trigger_source *source, uint64_t partition,
                                        uint64_t from, uint64_t end, struct trigger_batch *out)
{
    struct log_cursor at = { .log_id = source->stream->log_id,
                             .partition = partition,
                             .next = from };
    struct gathering in = { .arena = arena,
                            .source = source,
                            .form = { .arena = arena,
                                      .stream = source->stream,
                                      .partition = partition,
                                      .region = source->region,
                                      .event_source_arn = source->arn },
                            .end = end,
                            .batch = out };
    *out = (struct trigger_batch){ .first = from, .next = from };
    enum engine_status status = log_read_seek(arena, view, &at, &out->lost);
    if (status == ENGINE_NOT_FOUND) {
        out->ended = source->stream->status == STREAM_DISABLED;
        return ENGINE_OK;
    }
    if (status != ENGINE_OK)
        return status;
    out->first = at.next;
    buffer_init(&out->event, arena);
    buffer_init(&in.records, arena);
    json_writer_init(&in.json, &out->event);
    json_open_object(&in.json);
    json_write_name(&in.json, "Records");
    json_open_array(&in.json);
    status = read_records(&in, view, &at);
    json_close_array(&in.json);
    json_close_object(&in.json);
    out->records = (struct trigger_batch_record *)(void *)in.records.data;
    return status;
}
