/* kinesis_batch.c -- see kinesis_batch.h. */
#include "kinesis/kinesis_batch.h"
#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "json/writer.h"
#include "log/change_record.h"
#include "log/log_read.h"

struct gathering {
    const struct kinesis_progress *progress;
    const struct kinesis_record_form *form;
    struct sha256 *hasher;
    size_t record_size_max;
    size_t size; /* Of the records to send. */
    struct kinesis_batch *batch;
};

static bool is_done(const struct kinesis_progress *progress, uint64_t sequence)
{
    uint64_t bit = sequence - progress->base;
    return progress->end != 0 && sequence >= progress->base && bit < KINESIS_BATCH_WORDS * 64 &&
           (progress->done[bit / 64] >> bit % 64 & 1) != 0;
}

/* False if the record and all later ones are left for another batch. */
static bool add_record(void *context, uint64_t sequence, const struct change_record *record)
{
    struct gathering *in = context;
    struct kinesis_batch *batch = in->batch;
    if (in->progress->end != 0 && sequence >= in->progress->end)
        return false;
    if (batch->count == KINESIS_RECORDS_MAX)
        return false;
    struct kinesis_batch_record added = { .sequence = sequence,
                                          .server_ms = record->server_ms,
                                          .at = batch->texts.len,
                                          .is_done = is_done(in->progress, sequence) };
    if (!added.is_done) {
        struct json_writer json;
        json_writer_init(&json, &batch->texts);
        kinesis_record_write(in->form, &json, sequence, record);
        added.size = batch->texts.len - added.at;
        size_t sent_size = added.size + KINESIS_PARTITION_KEY_SIZE;
        added.too_large = sent_size > in->record_size_max;
        if (!added.too_large && in->size > 0 && in->size + sent_size > KINESIS_CALL_SIZE_MAX) {
            batch->texts.len = added.at;
            return false;
        }
        if (added.too_large) {
            batch->texts.len = added.at;
        } else {
            in->size += sent_size;
            kinesis_record_partition_key(in->form, in->hasher, record,
                                         batch->entries[batch->entry_count++].partition_key);
        }
    }
    batch->records[batch->count++] = added;
    return true;
}

/* The texts have moved while they grew; only now do the entries point to them. */
static void point_entries(struct kinesis_batch *batch)
{
    size_t entry = 0;
    for (size_t i = 0; i < batch->count; i++) {
        const struct kinesis_batch_record *record = &batch->records[i];
        if (!record->is_done && !record->too_large)
            batch->entries[entry++].data = bytes_of(batch->texts.data + record->at, record->size);
    }
    assert(entry == batch->entry_count);
}

enum engine_status kinesis_batch_gather(const struct consumer_turn *turn,
                                        const struct kinesis_progress *progress,
                                        const struct kinesis_record_form *form,
                                        struct sha256 *hasher, size_t record_size_max,
                                        struct kinesis_batch *out)
{
    struct gathering in = { .progress = progress,
                            .form = form,
                            .hasher = hasher,
                            .record_size_max = record_size_max,
                            .batch = out };
    struct log_page page = { .count_max = KINESIS_RECORDS_MAX,
                             .visit = add_record,
                             .context = &in };
    struct consumer_found found;
    out->count = out->entry_count = 0;
    buffer_init(&out->texts, turn->arena);
    enum engine_status status = consumer_read(turn, &page, &found);
    point_entries(out);
    out->first = found.first;
    out->next = page.next;
    out->lost = found.lost;
    out->ended = found.ended;
    return status;
}

/* True if an entry before this one has the same key and was refused. */
static bool follows_refused(const struct kinesis_batch *batch, const enum kinesis_fate fates[],
                            size_t entry)
{
    for (size_t i = 0; i < entry; i++) {
        if (fates[i] != KINESIS_TAKEN &&
            memcmp(batch->entries[i].partition_key, batch->entries[entry].partition_key,
                   KINESIS_PARTITION_KEY_SIZE) == 0)
            return true;
    }
    return false;
}

size_t kinesis_batch_settle(struct kinesis_batch *batch, const enum kinesis_fate fates[])
{
    size_t entry = 0, count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        struct kinesis_batch_record *record = &batch->records[i];
        if (record->too_large)
            record->is_done = true;
        else if (!record->is_done) {
            record->is_done =
                fates[entry] == KINESIS_TAKEN && !follows_refused(batch, fates, entry);
            count += record->is_done;
            entry++;
        }
    }
    assert(entry == batch->entry_count);
    return count;
}

uint64_t kinesis_batch_position(const struct kinesis_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (!batch->records[i].is_done)
            return batch->records[i].sequence;
    }
    return batch->next;
}

void kinesis_progress_retry(struct kinesis_progress *progress, const struct kinesis_batch *batch,
                            uint64_t next)
{
    assert(batch->count > 0 && next < batch->next && next >= progress->at.next);
    progress->at.next = next;
    progress->end = batch->next;
    progress->base = batch->records[0].sequence;
    memset(progress->done, 0, sizeof progress->done);
    for (size_t i = 0; i < batch->count; i++) {
        uint64_t bit = batch->records[i].sequence - progress->base;
        assert(bit < KINESIS_BATCH_WORDS * 64);
        if (batch->records[i].is_done)
            progress->done[bit / 64] |= UINT64_C(1) << bit % 64;
    }
}

void kinesis_progress_move(struct kinesis_progress *progress, uint64_t next)
{
    *progress = (struct kinesis_progress){ .at = { .next = next } };
}
