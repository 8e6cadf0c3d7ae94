/* stream_read.c -- see stream_read.h. */
#include "stream/stream_read.h"
#include "base/arena.h"
#include "base/log.h"
#include "log/change_log.h"
#include "log/change_record.h"
#include "log/shard.h"
#include "stream/shard_iterator.h"
#include "stream/stream_definition.h"
#include "stream/stream_names.h"

enum engine_status stream_read_range(struct engine_view *view, uint64_t log_id,
                                     const struct shard *shard, struct shard_range *out)
{
    *out = (struct shard_range){ .first = shard->kept,
                                 .end = shard->last + 1,
                                 .open = shard_is_open(shard) };
    if (!out->open)
        return ENGINE_OK;
    struct engine_address address = change_log_head_address(log_id, shard->partition);
    struct change_log_head head;
    enum engine_status status = change_log_view_head(view, &address, &head);
    out->end = head.next;
    if (status == ENGINE_OK && head.next < out->first) {
        log_write(LOG_ERROR, "stream", "a change log ends before its shard begins");
        status = ENGINE_CORRUPT;
    }
    return status;
}

static bool has_partition(const struct stream_definition *stream, uint64_t partition)
{
    for (size_t i = 0; i < stream->partition_count; i++) {
        if (stream->partitions[i] == partition)
            return true;
    }
    return false;
}

enum engine_status stream_read_find_shard(struct arena *arena, struct engine_view *view,
                                          const struct stream_definition *stream,
                                          struct bytes shard_id, struct shard *out)
{
    int64_t created_ms;
    uint64_t partition;
    struct shard *shards;
    size_t count;
    if (!stream_names_parse_shard_id(shard_id, &created_ms, &partition) ||
        !has_partition(stream, partition))
        return ENGINE_NOT_FOUND;
    enum engine_status status = shard_list(arena, view, stream->log_id, partition, &shards, &count);
    if (status != ENGINE_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        if (shards[i].created_ms == created_ms) {
            *out = shards[i];
            return ENGINE_OK;
        }
    }
    return ENGINE_NOT_FOUND;
}

/* Hands out the records of [page->next, end) until the page is full. */
static enum engine_status read_records(struct arena *arena, struct engine_view *view,
                                       const struct shard_iterator *from, uint64_t end,
                                       struct stream_page *page)
{
    struct engine_address first =
        change_log_record_address(arena, from->log_id, from->partition, page->next);
    struct engine_address last =
        change_log_record_address(arena, from->log_id, from->partition, end);
    struct engine_range range = {
        .place = first.place, .first = first.key, .last = last.key, .count_max = page->count_max
    };
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    enum engine_status status = engine_scan_open(view, &range, &scan);
    size_t left = end - page->next < page->count_max ? (size_t)(end - page->next) : page->count_max;
    for (; status == ENGINE_OK && left > 0; left--) {
        struct change_record record;
        uint64_t sequence;
        status = engine_scan_next(scan, &entry);
        if (status == ENGINE_END ||
            (status == ENGINE_OK &&
             (!change_log_sequence_of_key(entry.key, &sequence) || sequence != page->next ||
              !change_record_decode(entry.value, &record)))) {
            log_write(LOG_ERROR, "stream", "damaged or missing record of a change log");
            status = ENGINE_CORRUPT;
        }
        if (status != ENGINE_OK || !page->visit(page->context, sequence, &record))
            break;
        page->next++;
    }
    engine_scan_close(scan);
    return status;
}

enum engine_status stream_read_page(struct arena *arena, struct engine_view *view,
                                    const struct shard_iterator *from, struct stream_page *page)
{
    struct shard shard;
    struct shard_range range;
    enum engine_status status =
        shard_get(arena, view, from->log_id, from->partition, from->shard_first, &shard);
    page->trimmed = status == ENGINE_NOT_FOUND;
    page->next = from->next;
    page->ended = false;
    if (page->trimmed)
        return ENGINE_OK;
    if (status == ENGINE_OK)
        status = stream_read_range(view, from->log_id, &shard, &range);
    if (status != ENGINE_OK)
        return status;
    page->trimmed = from->next < range.first;
    if (!page->trimmed && from->next < range.end)
        status = read_records(arena, view, from, range.end, page);
    page->ended = !range.open && page->next >= range.end;
    return status;
}
