/* replica_rows.c -- see replica_rows.h.
 *
 * Queue entries and stamps change in writes that hold the item's latch, and only there: whoever
 * removes one reads it again under the latch.
 */
#include "replica/replica_rows.h"
#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "base/log.h"
#include "model/table_definition.h"

enum { ADDRESSES_MAX = 256 };
static_assert((int)ADDRESSES_MAX <= (int)ENGINE_WRITE_ADDRESSES_MAX, "one write holds them");
static_assert((int)REPLICA_ROWS_MAX <= (int)ENGINE_WRITE_ADDRESSES_MAX, "one write holds a page");

static struct engine_place items_place(const struct replica_walk *walk)
{
    return (struct engine_place){ .owner = walk->table->id,
                                  .partition = walk->partition,
                                  .space = ENGINE_SPACE_ITEMS };
}

/* Right behind a key: at that key and one zero byte. */
static bool go_behind(struct replica_walk *walk, struct bytes key)
{
    if (key.len >= sizeof walk->position)
        return false;
    memcpy(walk->position, key.data, key.len);
    walk->position[key.len] = 0;
    walk->position_size = key.len + 1;
    return true;
}

static struct bytes first_of(const struct replica_walk *walk, struct bytes start)
{
    return walk->position_size > 0 ? bytes_of(walk->position, walk->position_size) : start;
}

/* --- Gathering --- */

static enum engine_status read_row(struct arena *arena, struct engine_view *view,
                                   const struct replica_walk *walk, struct replica_waiting *out)
{
    struct engine_value value = { 0 };
    struct item item;
    enum engine_status status =
        replica_stamp_get(arena, view, &out->place.address, &out->row.stamp);
    if (status != ENGINE_OK)
        return status;
    status = item_address_get(view, walk->table, &out->place, &value, &item);
    if (status == ENGINE_OK)
        out->row.item = arena_copy(arena, item.encoded);
    else if (status == ENGINE_NOT_FOUND)
        out->row.key = out->place.address.key;
    engine_value_release(&value);
    if (status != ENGINE_OK && status != ENGINE_NOT_FOUND)
        return status;
    out->row.stamp.deleted = status == ENGINE_NOT_FOUND;
    /* A deletion without a stamp is known everywhere. */
    out->is_sent = status == ENGINE_OK || out->row.stamp.commit_us > 0;
    return ENGINE_OK;
}

static enum engine_status add_row(struct arena *arena, struct engine_view *view,
                                  struct replica_walk *walk, const struct engine_entry *entry,
                                  struct replica_page *page)
{
    uint32_t region;
    struct bytes item_key;
    int64_t commit_us;
    struct engine_place place = items_place(walk);
    struct replica_waiting *row = &page->list[page->count];
    *row = (struct replica_waiting){ .entry = arena_copy(arena, entry->value) };
    if (!replica_stamp_decode_key(entry->key, &region, &item_key) ||
        !replica_queue_decode(entry->value, &commit_us) ||
        !item_address_of_stored_key(arena, walk->table, &place, arena_copy(arena, item_key),
                                    &row->place) ||
        !go_behind(walk, entry->key)) {
        log_write(LOG_ERROR, "replica", "table %.*s: an entry of a queue is damaged",
                  BYTES_FMT(walk->table->name));
        return ENGINE_CORRUPT;
    }
    enum engine_status status = read_row(arena, view, walk, row);
    page->count++;
    page->size += row->row.item.len + row->row.key.len;
    return status;
}

enum engine_status replica_rows_gather(struct arena *arena, struct replica_walk *walk,
                                       struct replica_page *page)
{
    struct engine_view *view = NULL;
    struct engine_scan *scan = NULL;
    page->count = page->size = 0;
    enum engine_status status = engine_view_open(walk->engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK) {
        const struct engine_range range = {
            .place = replica_stamp_place(walk->table->id, walk->partition),
            .first = first_of(walk, replica_queue_first_key(arena, walk->region)),
            .last = replica_queue_end_key(arena, walk->region),
            .count_max = REPLICA_ROWS_MAX + 1, /* So that an end is the queue's. */
        };
        status = engine_scan_open(view, &range, &scan);
    }
    while (status == ENGINE_OK && page->count < REPLICA_ROWS_MAX &&
           page->size < REPLICA_ROWS_SIZE_MAX) {
        struct engine_entry entry;
        status = engine_scan_next(scan, &entry);
        if (status == ENGINE_OK)
            status = add_row(arena, view, walk, &entry, page);
    }
    engine_scan_close(scan);
    engine_view_close(view);
    walk->ended = status == ENGINE_END;
    return walk->ended ? ENGINE_OK : status;
}

/* --- Taking out --- */

static enum engine_status settle_row(struct arena *arena, struct engine_write *write,
                                     uint32_t region, const struct replica_waiting *row)
{
    struct engine_value value = { 0 };
    struct engine_address address = replica_queue_address(arena, &row->place.address, region);
    enum engine_status status = engine_write_get(write, &address, &value);
    if (status == ENGINE_OK && bytes_equal(value.bytes, row->entry))
        engine_write_delete(write, &address);
    engine_value_release(&value);
    return status == ENGINE_NOT_FOUND ? ENGINE_OK : status;
}

enum engine_status replica_rows_settle(struct arena *arena, struct engine *engine, uint32_t region,
                                       const struct replica_page *page)
{
    struct engine_address addresses[REPLICA_ROWS_MAX];
    struct engine_write *write = NULL;
    if (page->count == 0)
        return ENGINE_OK;
    for (size_t i = 0; i < page->count; i++)
        addresses[i] = page->list[i].place.address;
    enum engine_status status = engine_write_begin(engine, addresses, page->count, &write);
    if (status != ENGINE_OK)
        return status;
    for (size_t i = 0; i < page->count && status == ENGINE_OK; i++)
        status = settle_row(arena, write, region, &page->list[i]);
    if (status == ENGINE_OK)
        return engine_write_commit_wait(write);
    engine_write_abandon(write);
    return status;
}

/* --- Queueing what was there before --- */

/* Whether a stamp is not later than that; one that is damaged is not. */
static bool is_old(struct bytes value, int64_t low_us)
{
    struct replica_stamp stamp;
    return replica_stamp_decode(value, &stamp) && stamp.commit_us <= low_us;
}

/* The next keys of items, or of stamps that are not later than `low_us`: up to ADDRESSES_MAX. */
static enum engine_status collect_keys(struct arena *arena, struct replica_walk *walk,
                                       bool of_items, int64_t low_us, struct engine_address *out,
                                       size_t *count)
{
    struct engine_view *view = NULL;
    struct engine_scan *scan = NULL;
    struct engine_place items = items_place(walk);
    struct engine_range range = { .place = items, .first = first_of(walk, BYTES("")) };
    if (!of_items)
        range = (struct engine_range){
            .place = replica_stamp_place(walk->table->id, walk->partition),
            .first = first_of(walk, replica_stamp_first_key()),
            .last = replica_stamp_end_key(),
        };
    range.count_max = REPLICA_COLLECT_MAX;
    size_t seen = 0;
    enum engine_status status = engine_view_open(walk->engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = engine_scan_open(view, &range, &scan);
    *count = 0;
    while (status == ENGINE_OK && *count < ADDRESSES_MAX) {
        struct engine_entry entry;
        uint32_t region;
        status = engine_scan_next(scan, &entry);
        if (status != ENGINE_OK)
            break;
        seen++;
        struct bytes key = entry.key;
        if ((!of_items && !replica_stamp_decode_key(entry.key, &region, &key)) ||
            !go_behind(walk, entry.key))
            status = ENGINE_CORRUPT;
        else if (of_items || is_old(entry.value, low_us))
            out[(*count)++] =
                (struct engine_address){ .place = items, .key = arena_copy(arena, key) };
    }
    engine_scan_close(scan);
    engine_view_close(view);
    walk->ended = status == ENGINE_END && seen < REPLICA_COLLECT_MAX;
    return status == ENGINE_END ? ENGINE_OK : status;
}

static enum engine_status queue_keys(struct arena *arena, struct engine *engine, uint32_t region,
                                     const struct engine_address *items, size_t count)
{
    struct engine_write *write = NULL;
    if (count == 0)
        return ENGINE_OK;
    enum engine_status status = engine_write_begin(engine, items, count, &write);
    if (status != ENGINE_OK)
        return status;
    struct bytes value = replica_queue_encode(arena, 0);
    for (size_t i = 0; i < count; i++) {
        struct engine_address address = replica_queue_address(arena, &items[i], region);
        engine_write_put(write, &address, value);
    }
    return engine_write_commit_wait(write);
}

enum engine_status replica_rows_queue_all(struct arena *arena, struct engine *engine,
                                          const struct table_definition *table, uint32_t region,
                                          bool everything, bool (*is_stopping)(void *context),
                                          void *context)
{
    enum engine_status status = ENGINE_OK;
    for (size_t i = 0; i < table->partition_count * 2 && status == ENGINE_OK; i++) {
        bool of_items = i % 2 == 1;
        struct replica_walk walk = { .engine = engine,
                                     .table = table,
                                     .partition = table->partitions[i / 2].id,
                                     .ended = of_items && !everything };
        while (!walk.ended && status == ENGINE_OK) {
            struct engine_address items[ADDRESSES_MAX];
            size_t count;
            arena_reset(arena);
            status = is_stopping(context)
                         ? ENGINE_BUSY
                         : collect_keys(arena, &walk, of_items, INT64_MAX, items, &count);
            if (status == ENGINE_OK)
                status = queue_keys(arena, engine, region, items, count);
        }
    }
    return status;
}

/* --- Collecting --- */

static enum engine_status remove_old(struct arena *arena, struct engine *engine, int64_t low_us,
                                     const struct engine_address *items, size_t count,
                                     uint64_t *removed)
{
    struct engine_write *write = NULL;
    if (count == 0)
        return ENGINE_OK;
    enum engine_status status = engine_write_begin(engine, items, count, &write);
    if (status != ENGINE_OK)
        return status;
    for (size_t i = 0; i < count && status == ENGINE_OK; i++) {
        struct replica_stamp stamp;
        struct engine_address address = replica_stamp_address(arena, &items[i]);
        status = replica_stamp_get_for_write(arena, write, &items[i], &stamp);
        if (status != ENGINE_OK || stamp.commit_us == 0 || stamp.commit_us > low_us)
            continue;
        engine_write_delete(write, &address);
        (*removed)++;
    }
    if (status == ENGINE_OK)
        return engine_write_commit_wait(write);
    engine_write_abandon(write);
    return status;
}

enum engine_status replica_rows_collect(struct arena *arena, struct replica_walk *walk,
                                        int64_t low_us, uint64_t *removed)
{
    struct engine_address items[ADDRESSES_MAX];
    size_t count;
    arena_reset(arena);
    enum engine_status status = collect_keys(arena, walk, false, low_us, items, &count);
    return status == ENGINE_OK ? remove_old(arena, walk->engine, low_us, items, count, removed)
                               : status;
}

/* --- The queues of regions that were taken out --- */

static bool is_member_id(const struct replica_definition *group, uint32_t region)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->members[i].id == region)
            return true;
    return false;
}

/* Up to this many are removed at a time; further ones when the group changes again. */
enum { STRANGERS_MAX = 4 * REPLICAS_MAX };

/* The regions without membership that have entries in a partition: one seek for each region. */
static enum engine_status list_strangers(struct arena *arena, struct engine_view *view,
                                         const struct table_definition *table, uint64_t partition,
                                         uint32_t *out, size_t *count)
{
    enum engine_status status = ENGINE_OK;
    struct bytes first = replica_queue_first_key(arena, 0);
    *count = 0;
    while (status == ENGINE_OK && *count < STRANGERS_MAX) {
        struct engine_scan *scan = NULL;
        struct engine_entry entry;
        struct bytes item_key;
        uint32_t region = 0;
        const struct engine_range range = {
            .place = replica_stamp_place(table->id, partition),
            .first = first,
            .last = replica_queue_end_key(arena, UINT32_MAX),
            .count_max = 1,
        };
        status = engine_scan_open(view, &range, &scan);
        if (status == ENGINE_OK)
            status = engine_scan_next(scan, &entry);
        if (status == ENGINE_OK && !replica_stamp_decode_key(entry.key, &region, &item_key))
            status = ENGINE_CORRUPT;
        engine_scan_close(scan);
        if (status != ENGINE_OK)
            break;
        if (!is_member_id(&table->replicas, region))
            out[(*count)++] = region;
        if (region == UINT32_MAX)
            break;
        first = replica_queue_first_key(arena, region + 1);
    }
    return status == ENGINE_END ? ENGINE_OK : status;
}

enum engine_status replica_rows_find_strangers(struct arena *arena, struct engine *engine,
                                               const struct table_definition *table, bool *found)
{
    uint32_t strangers[STRANGERS_MAX];
    struct engine_view *view = NULL;
    enum engine_status status = engine_view_open(engine, ENGINE_STRONG, &view);
    *found = false;
    for (size_t i = 0; i < table->partition_count && status == ENGINE_OK && !*found; i++) {
        size_t count;
        status = list_strangers(arena, view, table, table->partitions[i].id, strangers, &count);
        *found = count > 0;
    }
    engine_view_close(view);
    return status;
}

static enum engine_status remove_queue(struct arena *arena, struct engine *engine,
                                       const struct engine_place *place, uint32_t region)
{
    struct engine_write *write = NULL;
    struct bytes first = replica_queue_first_key(arena, region);
    struct bytes last = replica_queue_end_key(arena, region);
    enum engine_status status = engine_prepare_delete_range(engine, place, first, last);
    if (status == ENGINE_OK)
        status = engine_write_begin(engine, NULL, 0, &write);
    if (status != ENGINE_OK)
        return status;
    engine_write_delete_range(write, place, first, last);
    return engine_write_commit_wait(write);
}

enum engine_status replica_rows_remove_strangers(struct arena *arena, struct engine *engine,
                                                 const struct table_definition *table)
{
    uint32_t strangers[STRANGERS_MAX];
    struct engine_view *view = NULL;
    enum engine_status status = engine_view_open(engine, ENGINE_STRONG, &view);
    for (size_t i = 0; i < table->partition_count && status == ENGINE_OK; i++) {
        struct engine_place place = replica_stamp_place(table->id, table->partitions[i].id);
        size_t count;
        status = list_strangers(arena, view, table, place.partition, strangers, &count);
        for (size_t j = 0; j < count && status == ENGINE_OK; j++)
            status = remove_queue(arena, engine, &place, strangers[j]);
    }
    engine_view_close(view);
    return status;
}
