/* alarm_history.c -- pages of the history, and its bounds; see alarms.h. */
#include <assert.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/log.h"
#include "cloudwatch/alarm_list.h"

enum {
    ENTRIES_PER_TRIM_MAX = 1000, /* In one engine write. */
    TRIM_INTERVAL_MS = 3600 * 1000,
};

/* --- Reading --- */

static bool matches(const struct alarm_history_query *query, const struct alarm_history *entry)
{
    return (query->alarm_name.data == NULL || bytes_equal(query->alarm_name, entry->alarm_name)) &&
           (!query->has_type || query->type == entry->type) && entry->time_ms >= query->start_ms &&
           entry->time_ms <= query->end_ms;
}

/* All keys of the history on the far side of the query's position. */
static struct engine_range range_of(struct arena *arena, const struct alarm_history_query *query)
{
    struct engine_range range = { .place = monitor_place, .reverse = !query->is_ascending };
    uint64_t first = query->is_ascending && query->position != 0 ? query->position + 1 : 0;
    range.first = monitor_number_address(arena, MONITOR_KEY_HISTORY, first).key;
    if (!query->is_ascending && query->position != 0)
        range.last = monitor_number_address(arena, MONITOR_KEY_HISTORY, query->position).key;
    else
        range.last = BYTES("I");
    static_assert('I' == MONITOR_KEY_HISTORY + 1, "behind all keys of the history");
    return range;
}

static enum engine_status fill(struct arena *arena, struct engine_scan *scan,
                               const struct alarm_history_query *query,
                               struct alarm_history_page *out)
{
    struct arena *scratch = arena_create();
    struct engine_entry entry;
    struct alarm_history found;
    uint64_t number;
    uint64_t last = 0;
    enum engine_status status;
    while ((status = engine_scan_next(scan, &entry)) == ENGINE_OK) {
        if (!monitor_parse_number(entry.key, MONITOR_KEY_HISTORY, &number) ||
            !alarm_history_decode(scratch, entry.value, &found)) {
            status = ENGINE_CORRUPT;
            break;
        }
        if (matches(query, &found)) {
            if (out->count == query->count_max) {
                out->position = last; /* There is at least this one more. */
                break;
            }
            found.alarm_name = arena_copy(arena, found.alarm_name);
            found.summary = arena_copy(arena, found.summary);
            found.data = arena_copy(arena, found.data);
            out->entries[out->count++] = found;
            last = number;
        }
        arena_reset(scratch);
    }
    arena_destroy(scratch);
    return status == ENGINE_END ? ENGINE_OK : status;
}

enum engine_status alarms_history(struct alarms *alarms, struct arena *arena,
                                  const struct alarm_history_query *query,
                                  struct alarm_history_page *out)
{
    struct engine_view *view = NULL;
    struct engine_scan *scan = NULL;
    const struct engine_range range = range_of(arena, query);
    *out = (struct alarm_history_page){ 0 };
    out->entries = arena_alloc(arena, query->count_max * sizeof *out->entries);
    enum engine_status status = engine_view_open(alarms->options.engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = engine_scan_open(view, &range, &scan);
    if (status == ENGINE_OK)
        status = fill(arena, scan, query, out);
    engine_scan_close(scan);
    engine_view_close(view);
    return status;
}

/* --- Bounds --- */

/* The number of the last of up to `count_max` oldest entries, and how many there are. With
 * `before_ms`, only such as are older. */
static enum engine_status find_oldest(struct alarms *alarms, struct arena *arena, size_t count_max,
                                      int64_t before_ms, uint64_t *last, size_t *count)
{
    struct engine_view *view = NULL;
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    struct alarm_history found;
    struct engine_range range =
        range_of(arena, &(struct alarm_history_query){ .is_ascending = true });
    range.count_max = count_max;
    enum engine_status status = engine_view_open(alarms->options.engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = engine_scan_open(view, &range, &scan);
    while (status == ENGINE_OK && (status = engine_scan_next(scan, &entry)) == ENGINE_OK) {
        if (before_ms != INT64_MAX &&
            (!alarm_history_decode(arena, entry.value, &found) || found.time_ms >= before_ms))
            break;
        if (monitor_parse_number(entry.key, MONITOR_KEY_HISTORY, last))
            (*count)++;
    }
    engine_scan_close(scan);
    engine_view_close(view);
    return status == ENGINE_END ? ENGINE_OK : status;
}

static void delete_through(struct arena *arena, struct engine_write *write, uint64_t last)
{
    struct bytes first = monitor_number_address(arena, MONITOR_KEY_HISTORY, 0).key;
    struct bytes behind = monitor_number_address(arena, MONITOR_KEY_HISTORY, last + 1).key;
    engine_write_delete_range(write, &monitor_place, first, behind);
}

void alarm_history_make_room(struct alarms *alarms, struct arena *arena, struct engine_write *write,
                             size_t *removed)
{
    uint64_t last = 0;
    size_t count = 0;
    size_t wanted = alarms->options.history_max / 10 + 1;
    if (wanted > ENTRIES_PER_TRIM_MAX)
        wanted = ENTRIES_PER_TRIM_MAX;
    enum engine_status status = find_oldest(alarms, arena, wanted, INT64_MAX, &last, &count);
    if (status != ENGINE_OK || count == 0)
        return; /* The write itself will fail, or nothing is left. */
    delete_through(arena, write, last);
    *removed += count;
}

/* Counts all entries: after a write of which nobody knows whether it took place. */
static void recount_locked(struct alarms *alarms, struct arena *arena)
{
    uint64_t last = 0;
    size_t count = 0;
    if (find_oldest(alarms, arena, SIZE_MAX, INT64_MAX, &last, &count) != ENGINE_OK)
        return; /* The next tick tries again. */
    alarms->history_count = count;
    alarms->history_is_unsure = false;
}

void alarm_history_trim(struct alarms *alarms, struct arena *arena, int64_t now_ms)
{
    uint64_t last = 0;
    size_t count = 0;
    struct engine_write *write = NULL;
    pthread_mutex_lock(&alarms->mutex);
    if (alarms->history_is_unsure)
        recount_locked(alarms, arena);
    bool is_due = now_ms >= alarms->trim_due_ms;
    if (is_due)
        alarms->trim_due_ms = now_ms + TRIM_INTERVAL_MS;
    enum engine_status status = ENGINE_OK;
    if (is_due)
        status = find_oldest(alarms, arena, ENTRIES_PER_TRIM_MAX,
                             now_ms - (int64_t)ALARMS_HISTORY_DAYS * 86400 * 1000, &last, &count);
    if (status == ENGINE_OK && count > 0)
        status = engine_write_begin(alarms->options.engine, NULL, 0, &write);
    if (write != NULL) {
        delete_through(arena, write, last);
        status = engine_write_commit_wait(write);
        if (status == ENGINE_OK)
            alarms->history_count -= count;
        alarms->history_is_unsure |= status == ENGINE_UNKNOWN;
        if (count == ENTRIES_PER_TRIM_MAX)
            alarms->trim_due_ms = now_ms; /* There may be more. */
    }
    pthread_mutex_unlock(&alarms->mutex);
    if (status != ENGINE_OK)
        log_write(LOG_ERROR, "alarm", "removing old history: %s", engine_status_name(status));
}
