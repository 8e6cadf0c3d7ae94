/* log_read.c -- see log_read.h. */
#include "log/log_read.h"
#include <assert.h>
#include "base/arena.h"
#include "base/log.h"
#include "log/change_log.h"
#include "log/change_record.h"
#include "log/shard.h"

enum engine_status log_read_range(struct engine_view *view, uint64_t log_id,
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

/* Moves the cursor to the first record from there on that this shard has or will have. False if it
 * has none any more. */
static bool enter_shard(const struct shard *shard, struct log_cursor *cursor, uint64_t *lost)
{
    if (!shard_is_open(shard) && cursor->next > shard->last)
        return false;
    if (cursor->next == shard->first) /* Stands for the opening. */
        cursor->next++;
    if (cursor->next < shard->kept) {
        if (cursor->next != 0) /* 0 asks for the oldest record, whichever that is. */
            *lost += shard->kept - cursor->next;
        cursor->next = shard->kept;
    }
    cursor->shard_first = shard->first;
    return shard_is_open(shard) || cursor->next <= shard->last;
}

enum engine_status log_read_seek(struct arena *arena, struct engine_view *view,
                                 struct log_cursor *cursor, uint64_t *lost)
{
    assert(cursor->log_id != 0);
    struct shard *shards;
    size_t count;
    *lost = 0;
    enum engine_status status =
        shard_list(arena, view, cursor->log_id, cursor->partition, &shards, &count);
    if (status != ENGINE_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        if (enter_shard(&shards[i], cursor, lost))
            return ENGINE_OK;
    }
    return ENGINE_NOT_FOUND;
}

/* Hands out the records of [page->next, end) until the page is full. */
static enum engine_status read_records(struct arena *arena, struct engine_view *view,
                                       const struct log_cursor *from, uint64_t end,
                                       struct log_page *page)
{
    assert(page->next < end);
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

enum engine_status log_read_page(struct arena *arena, struct engine_view *view,
                                 const struct log_cursor *from, struct log_page *page)
{
    struct shard shard;
    struct shard_range range;
    assert(page->count_max > 0 && page->visit != NULL);
    assert(from->log_id != 0);
    enum engine_status status =
        shard_get(arena, view, from->log_id, from->partition, from->shard_first, &shard);
    page->trimmed = status == ENGINE_NOT_FOUND;
    page->next = from->next;
    page->ended = false;
    if (page->trimmed)
        return ENGINE_OK;
    if (status == ENGINE_OK)
        status = log_read_range(view, from->log_id, &shard, &range);
    if (status != ENGINE_OK)
        return status;
    page->trimmed = from->next < range.first;
    if (!page->trimmed && from->next < range.end)
        status = read_records(arena, view, from, range.end, page);
    page->ended = !range.open && page->next >= range.end;
    return status;
}
