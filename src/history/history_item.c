/* history_item.c -- see history_item.h. */
#include "history/history_item.h"
#include <assert.h>
#include "base/arena.h"
#include "base/log.h"
#include "history/history_days.h"
#include "history/history_entry.h"
#include "model/table_definition.h"
#include "table/item_address.h"

/* What all steps of a read need. */
struct item_read {
    struct engine_view *view;
    struct arena *arena;
    const struct table_definition *table;
    const struct item_address *address;
    struct engine_place place; /* Of the entries. */
};

static struct item_read begin(struct engine_view *view, struct arena *arena,
                              const struct table_definition *table,
                              const struct item_address *address)
{
    assert(table->history.id != 0);
    return (struct item_read){
        .view = view,
        .arena = arena,
        .table = table,
        .address = address,
        .place = history_place(table->history.id, address->address.place.partition),
    };
}

static enum engine_status report_damage(const struct item_read *read)
{
    log_write(LOG_ERROR, "history", "damaged entry in the history of table %.*s",
              BYTES_FMT(read->table->name));
    return ENGINE_CORRUPT;
}

/* The entries of the item on a day with commit times in [from_us, to_us), in one direction. */
static enum engine_status open_scan(const struct item_read *read, uint32_t day, int64_t from_us,
                                    int64_t to_us, bool newest_first, struct engine_scan **out)
{
    assert(from_us <= to_us);
    struct bytes key = read->address->address.key;
    const struct engine_range range = {
        .place = read->place,
        .first = history_key_on_day(read->arena, day, key, from_us),
        .last = history_key_on_day(read->arena, day, key, to_us),
        .reverse = newest_first,
    };
    return engine_scan_open(read->view, &range, out);
}

/* Copies an entry into the arena. */
static enum engine_status next_entry(const struct item_read *read, struct engine_scan *scan,
                                     struct history_key *key, struct history_entry *out)
{
    struct engine_entry entry;
    enum engine_status status = engine_scan_next(scan, &entry);
    if (status != ENGINE_OK)
        return status;
    bool is_whole = history_key_decode(entry.key, key) &&
                    history_entry_decode(arena_copy(read->arena, entry.value), out);
    return is_whole ? ENGINE_OK : report_damage(read);
}

static enum engine_status read_current(const struct item_read *read, bool *exists, struct item *out)
{
    struct engine_value value = { 0 };
    enum engine_status status =
        item_address_get(read->view, read->table, read->address, &value, out);
    *exists = status == ENGINE_OK;
    if (status == ENGINE_OK && !item_open(arena_copy(read->arena, value.bytes), out))
        status = ENGINE_CORRUPT;
    engine_value_release(&value);
    return status == ENGINE_NOT_FOUND ? ENGINE_OK : status;
}

static enum engine_status state_at(const struct item_read *read, int64_t at_us, bool *exists,
                                   struct item *out)
{
    struct history_days days = { 0 };
    enum engine_status status = history_days_find(read->view, read->arena, &read->place,
                                                  history_day(at_us), UINT32_MAX, &days);
    for (size_t i = 0; i < days.count && status == ENGINE_OK; i++) {
        struct engine_scan *scan = NULL;
        struct history_key key;
        struct history_entry entry = { 0 };
        status = open_scan(read, days.list[i], at_us, INT64_MAX, false, &scan);
        if (status == ENGINE_OK)
            status = next_entry(read, scan, &key, &entry);
        engine_scan_close(scan);
        if (status == ENGINE_OK) {
            *exists = entry.existed;
            *out = entry.before;
            return ENGINE_OK;
        }
        if (status == ENGINE_END)
            status = ENGINE_OK;
    }
    return status == ENGINE_OK ? read_current(read, exists, out) : status;
}

enum engine_status history_item_at(struct engine_view *view, struct arena *arena,
                                   const struct table_definition *table,
                                   const struct item_address *address, int64_t at_us, bool *exists,
                                   struct item *out)
{
    const struct item_read read = begin(view, arena, table, address);
    assert(at_us >= 0);
    return state_at(&read, at_us, exists, out);
}

/* --- Versions --- */

/* Adds a day's versions. `after` is what the item was after the newest of them, and becomes what it
 * was before the oldest. ENGINE_END once a limit is reached. */
static enum engine_status add_day(const struct item_read *read, uint32_t day,
                                  const struct history_versions_query *query,
                                  struct history_version *after, size_t *size,
                                  struct history_versions *out)
{
    struct engine_scan *scan = NULL;
    struct history_key key;
    struct history_entry entry;
    enum engine_status status = open_scan(read, day, query->from_us, query->to_us, true, &scan);
    while (status == ENGINE_OK && (status = next_entry(read, scan, &key, &entry)) == ENGINE_OK) {
        if (out->count == query->count_max || *size >= query->size_max) {
            out->more = true;
            break;
        }
        struct history_version *version = &out->list[out->count++];
        *version = (struct history_version){ .commit_us = key.commit_us,
                                             .by_service = entry.by_service,
                                             .had_old = entry.existed,
                                             .old_image = entry.before,
                                             .has_new = after->had_old,
                                             .new_image = after->old_image };
        *size += (version->had_old ? version->old_image.size : 0) +
                 (version->has_new ? version->new_image.size : 0);
        after->had_old = entry.existed;
        after->old_image = entry.before;
    }
    engine_scan_close(scan);
    if (out->more)
        return ENGINE_END;
    return status == ENGINE_END ? ENGINE_OK : status;
}

enum engine_status history_item_versions(struct engine_view *view, struct arena *arena,
                                         const struct table_definition *table,
                                         const struct item_address *address,
                                         const struct history_versions_query *query,
                                         struct history_versions *out)
{
    const struct item_read read = begin(view, arena, table, address);
    struct history_version after = { 0 };
    struct history_days days = { 0 };
    size_t size = 0;
    assert(query->from_us >= 0 && query->count_max > 0);
    *out = (struct history_versions){
        .list = arena_alloc(arena, query->count_max * sizeof *out->list),
    };
    if (query->to_us <= query->from_us)
        return ENGINE_OK;
    enum engine_status status = state_at(&read, query->to_us, &after.had_old, &after.old_image);
    if (status == ENGINE_OK)
        status = history_days_find(view, arena, &read.place, history_day(query->from_us),
                                   history_day(query->to_us - 1), &days);
    for (size_t i = days.count; i > 0 && status == ENGINE_OK; i--)
        status = add_day(&read, days.list[i - 1], query, &after, &size, out);
    return status == ENGINE_END ? ENGINE_OK : status;
}
