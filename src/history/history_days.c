/* history_days.c -- see history_days.h. */
#include "history/history_days.h"
#include <assert.h>
#include "base/arena.h"
#include "base/log.h"
#include "history/history_entry.h"

/* The first day from `from` on that has an entry. ENGINE_END if there is none up to `last`. */
static enum engine_status find_day(struct engine_view *view, struct arena *arena,
                                   const struct engine_place *place, uint32_t from, uint32_t last,
                                   uint32_t *out)
{
    assert(from <= last);
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    struct history_key key;
    struct engine_range range = { .place = *place,
                                  .first = history_key_of_day(arena, from),
                                  .count_max = 1 };
    if (last < UINT32_MAX)
        range.last = history_key_of_day(arena, last + 1);
    enum engine_status status = engine_scan_open(view, &range, &scan);
    if (status == ENGINE_OK)
        status = engine_scan_next(scan, &entry);
    if (status == ENGINE_OK && !history_key_decode(entry.key, &key)) {
        log_write(LOG_ERROR, "history", "damaged key in the history of a table");
        status = ENGINE_CORRUPT;
    }
    if (status == ENGINE_OK)
        *out = key.day;
    engine_scan_close(scan);
    return status;
}

enum engine_status history_days_find(struct engine_view *view, struct arena *arena,
                                     const struct engine_place *place, uint32_t first,
                                     uint32_t last, struct history_days *out)
{
    enum { FIRST_CAPACITY = 40 };
    size_t capacity = FIRST_CAPACITY;
    uint32_t day = first;
    *out = (struct history_days){ .list = arena_alloc(arena, capacity * sizeof *out->list) };
    for (; day <= last; day++) {
        enum engine_status status = find_day(view, arena, place, day, last, &day);
        if (status != ENGINE_OK)
            return status == ENGINE_END ? ENGINE_OK : status;
        if (out->count == HISTORY_DAYS_MAX) {
            log_write(LOG_ERROR, "history", "the history of a table has too many days");
            return ENGINE_CORRUPT;
        }
        if (out->count == capacity) {
            uint32_t *list = arena_alloc(arena, 2 * capacity * sizeof *list);
            memcpy(list, out->list, capacity * sizeof *list);
            out->list = list;
            capacity *= 2;
        }
        assert(out->count == 0 || day > out->list[out->count - 1]);
        out->list[out->count++] = day;
        if (day == UINT32_MAX)
            break;
    }
    return ENGINE_OK;
}
