/* history_reader.c -- see history_reader.h.
 *
 * A reader merges, partition by partition, one scan of the items and one of each day of the history
 * that may hold an entry with a commit time of T or later. All of them are in the order of the
 * items' keys. For changes the items are not scanned: they are looked up where the history says
 * that one changed, since most did not.
 */
#include "history/history_reader.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/log.h"
#include "base/memory.h"
#include "history/history_days.h"
#include "history/history_entry.h"
#include "model/table_definition.h"
#include "table/layout.h"

static_assert((int)HISTORY_HASH_SIZE == (int)LAYOUT_HASH_SIZE, "keys begin with the hash");

/* The entries of one day. */
struct day_scan {
    uint32_t day;
    struct engine_scan *scan;
    struct history_key key; /* Of the entry it stands at; its item key is empty at the end. */
    struct bytes value;
};

struct key_copy {
    uint8_t bytes[BACKFILLED_SIZE_MAX];
    size_t size;
};

struct history_reader {
    struct engine *engine;
    const struct table_definition *table;
    bool reads_items; /* The state, not changes. */
    int64_t from_us;  /* T of a state. */
    int64_t to_us;    /* Of changes. */

    struct key_copy first, last; /* Of the range. */
    struct key_copy done;        /* The last key that was reported; size 0: none. */
    struct key_copy now;         /* The one that is reported next. */

    struct arena *opened;     /* What the open scans need. */
    struct arena *step;       /* What the caller borrows. */
    struct engine_view *view; /* NULL: to be opened. */
    size_t read_size;         /* In this view. */
    size_t partition;         /* Among the table's. */
    struct engine_scan *items;
    struct engine_entry item; /* That `items` stands at; its key is empty at the end. */
    struct day_scan *days;    /* Ascending. */
    size_t day_count;
};

static struct bytes key_of(const struct key_copy *copy)
{
    return bytes_of(copy->bytes, copy->size);
}

/* False if it is too long to be the key of an item. */
static bool copy_key(struct key_copy *copy, struct bytes key)
{
    if (key.len > sizeof copy->bytes)
        return false;
    if (key.len > 0)
        memcpy(copy->bytes, key.data, key.len);
    copy->size = key.len;
    return true;
}

/* --- Opening and closing --- */

struct history_range history_range_of_partition(const struct table_definition *table,
                                                size_t partition, uint8_t first[HISTORY_HASH_SIZE],
                                                uint8_t last[HISTORY_HASH_SIZE])
{
    struct history_range range = { 0 };
    assert(partition < table->partition_count);
    store_u64_be(first, table->partitions[partition].first_hash);
    range.first = bytes_of(first, HISTORY_HASH_SIZE);
    if (partition + 1 < table->partition_count) {
        store_u64_be(last, table->partitions[partition + 1].first_hash);
        range.last = bytes_of(last, HISTORY_HASH_SIZE);
    }
    return range;
}

static size_t partition_of_key(const struct table_definition *table, struct bytes key)
{
    assert(table->partition_count > 0);
    uint8_t bytes[LAYOUT_HASH_SIZE] = { 0 };
    if (key.len > 0)
        memcpy(bytes, key.data, key.len < sizeof bytes ? key.len : sizeof bytes);
    uint64_t hash = load_u64_be(bytes);
    size_t partition = table->partition_count - 1;
    while (table->partitions[partition].first_hash > hash)
        partition--;
    return partition;
}

static struct history_reader *open_reader(struct engine *engine,
                                          const struct table_definition *table,
                                          const struct history_range *range)
{
    struct history_reader *reader = memory_checked(calloc(1, sizeof *reader));
    assert(table->history.id != 0);
    reader->engine = engine;
    reader->table = table;
    bool fits = copy_key(&reader->first, range->first) && copy_key(&reader->last, range->last) &&
                copy_key(&reader->done, range->after);
    assert(fits);
    (void)fits;
    bool resumes = bytes_compare(range->after, range->first) > 0;
    if (!resumes)
        reader->done.size = 0;
    reader->partition = partition_of_key(table, resumes ? range->after : range->first);
    reader->opened = arena_create();
    reader->step = arena_create();
    return reader;
}

struct history_reader *history_reader_open_state(struct engine *engine,
                                                 const struct table_definition *table,
                                                 int64_t at_us, const struct history_range *range)
{
    struct history_reader *reader = open_reader(engine, table, range);
    assert(at_us >= 0);
    reader->reads_items = true;
    reader->from_us = at_us;
    return reader;
}

struct history_reader *history_reader_open_changes(struct engine *engine,
                                                   const struct table_definition *table,
                                                   int64_t from_us, int64_t to_us,
                                                   const struct history_range *range)
{
    struct history_reader *reader = open_reader(engine, table, range);
    assert(from_us >= 0 && from_us <= to_us);
    reader->from_us = from_us;
    reader->to_us = to_us;
    return reader;
}

static void close_view(struct history_reader *reader)
{
    for (size_t i = 0; i < reader->day_count; i++)
        engine_scan_close(reader->days[i].scan);
    engine_scan_close(reader->items);
    engine_view_close(reader->view);
    reader->day_count = 0;
    reader->items = NULL;
    reader->view = NULL;
    reader->read_size = 0;
    arena_reset(reader->opened);
}

void history_reader_close(struct history_reader *reader)
{
    if (reader == NULL)
        return;
    close_view(reader);
    arena_destroy(reader->opened);
    arena_destroy(reader->step);
    free(reader);
}

/* --- Scans --- */

static enum engine_status report_damage(const struct history_reader *reader)
{
    log_write(LOG_ERROR, "history", "damaged entry in the history of table %.*s, partition %llu",
              BYTES_FMT(reader->table->name),
              (unsigned long long)reader->table->partitions[reader->partition].id);
    return ENGINE_CORRUPT;
}

static enum engine_status step_items(struct history_reader *reader)
{
    assert(reader->items != NULL);
    enum engine_status status = engine_scan_next(reader->items, &reader->item);
    if (status == ENGINE_END)
        reader->item.key = (struct bytes){ 0 };
    else if (status == ENGINE_OK)
        reader->read_size += reader->item.key.len + reader->item.value.len;
    return status == ENGINE_END ? ENGINE_OK : status;
}

static enum engine_status step_day(struct history_reader *reader, struct day_scan *day)
{
    assert(day->scan != NULL);
    struct engine_entry entry;
    enum engine_status status = engine_scan_next(day->scan, &entry);
    if (status == ENGINE_END)
        day->key.item_key = (struct bytes){ 0 };
    if (status != ENGINE_OK)
        return status == ENGINE_END ? ENGINE_OK : status;
    reader->read_size += entry.key.len + entry.value.len;
    day->value = entry.value;
    if (!history_key_decode(entry.key, &day->key) || day->key.day != day->day)
        return report_damage(reader);
    return ENGINE_OK;
}

static struct engine_place item_place(const struct history_reader *reader)
{
    assert(reader->partition < reader->table->partition_count);
    return (struct engine_place){ .owner = reader->table->id,
                                  .partition = reader->table->partitions[reader->partition].id,
                                  .space = ENGINE_SPACE_ITEMS };
}

static struct engine_place entry_place(const struct history_reader *reader)
{
    assert(reader->partition < reader->table->partition_count);
    return history_place(reader->table->history.id,
                         reader->table->partitions[reader->partition].id);
}

/* Opens the day's scan at `first`, a key of the history, and stands at its first entry. */
static enum engine_status open_day(struct history_reader *reader, struct day_scan *day,
                                   struct bytes first)
{
    assert(reader->view != NULL);
    struct engine_range range = { .place = entry_place(reader), .first = first };
    struct bytes last = key_of(&reader->last);
    if (last.len > 0) {
        uint8_t *end = arena_alloc(reader->opened, HISTORY_DAY_SIZE + last.len);
        store_u32_be(end, day->day);
        memcpy(end + HISTORY_DAY_SIZE, last.data, last.len);
        range.last = bytes_of(end, HISTORY_DAY_SIZE + last.len);
    } else if (day->day < UINT32_MAX) {
        range.last = history_key_of_day(reader->opened, day->day + 1);
    }
    engine_scan_close(day->scan);
    day->scan = NULL;
    enum engine_status status = engine_scan_open(reader->view, &range, &day->scan);
    return status == ENGINE_OK ? step_day(reader, day) : status;
}

/* Where the scan of a day begins: behind what was done, or at the range's first key. */
static struct bytes first_of_day(struct history_reader *reader, uint32_t day)
{
    if (reader->done.size > 0)
        return history_key_behind(reader->opened, day, key_of(&reader->done));
    size_t size = HISTORY_DAY_SIZE + reader->first.size;
    uint8_t *key = arena_alloc(reader->opened, size);
    store_u32_be(key, day);
    memcpy(key + HISTORY_DAY_SIZE, reader->first.bytes, reader->first.size);
    return bytes_of(key, size);
}

static enum engine_status open_items(struct history_reader *reader)
{
    assert(reader->view != NULL && reader->items == NULL);
    struct engine_range range = { .place = item_place(reader),
                                  .first = key_of(&reader->first),
                                  .last = key_of(&reader->last) };
    if (reader->done.size > 0) {
        uint8_t *behind = arena_alloc(reader->opened, reader->done.size + 1);
        memcpy(behind, reader->done.bytes, reader->done.size);
        behind[reader->done.size] = 0;
        range.first = bytes_of(behind, reader->done.size + 1);
    }
    enum engine_status status = engine_scan_open(reader->view, &range, &reader->items);
    return status == ENGINE_OK ? step_items(reader) : status;
}

/* Opens a view and the scans of the current partition, behind what was done. */
static enum engine_status open_view(struct history_reader *reader)
{
    assert(reader->view == NULL && reader->items == NULL && reader->day_count == 0);
    struct history_days days = { 0 };
    enum engine_status status = engine_view_open(reader->engine, ENGINE_STRONG, &reader->view);
    const struct engine_place place = entry_place(reader);
    if (status == ENGINE_OK)
        status = history_days_find(reader->view, reader->opened, &place,
                                   history_day(reader->from_us), UINT32_MAX, &days);
    if (status == ENGINE_OK && reader->reads_items)
        status = open_items(reader);
    if (status == ENGINE_OK)
        reader->days = arena_alloc_zeroed(reader->opened, (days.count + 1) * sizeof *reader->days);
    for (size_t i = 0; i < days.count && status == ENGINE_OK; i++) {
        struct day_scan *day = &reader->days[reader->day_count++];
        day->day = days.list[i];
        status = open_day(reader, day, first_of_day(reader, day->day));
    }
    return status;
}

/* --- Steps --- */

static bool stands_at(const struct day_scan *day, struct bytes key)
{
    return bytes_equal(day->key.item_key, key);
}

/* The least key that a scan stands at; empty: all are at their end. */
static struct bytes least_key(const struct history_reader *reader)
{
    struct bytes least = reader->reads_items ? reader->item.key : (struct bytes){ 0 };
    for (size_t i = 0; i < reader->day_count; i++) {
        struct bytes key = reader->days[i].key.item_key;
        if (key.len > 0 && (least.len == 0 || bytes_compare(key, least) < 0))
            least = key;
    }
    return least;
}

/* Sets `now` to the next key and stands at it. ENGINE_END behind the last partition. */
static enum engine_status find_next(struct history_reader *reader)
{
    for (;;) {
        enum engine_status status = ENGINE_OK;
        if (reader->read_size >= HISTORY_VIEW_SIZE)
            close_view(reader);
        if (reader->view == NULL)
            status = open_view(reader);
        if (status != ENGINE_OK)
            return status;
        struct bytes least = least_key(reader);
        if (least.len > 0)
            return copy_key(&reader->now, least) ? ENGINE_OK : report_damage(reader);
        bool is_last =
            reader->partition + 1 == reader->table->partition_count ||
            (reader->last.size > 0 &&
             partition_of_key(reader->table, key_of(&reader->last)) == reader->partition);
        if (is_last)
            return ENGINE_END;
        close_view(reader);
        reader->partition++;
    }
}

/* Moves a day's scan to the first entry of another item. An item may have any number of versions
 * on a day, so after a few of them it seeks. */
static enum engine_status leave_item(struct history_reader *reader, struct day_scan *day,
                                     struct bytes key)
{
    enum engine_status status = ENGINE_OK;
    for (int i = 0; i < HISTORY_VERSIONS_SKIPPED && status == ENGINE_OK; i++) {
        if (!stands_at(day, key))
            return ENGINE_OK;
        status = step_day(reader, day);
    }
    if (status == ENGINE_OK && stands_at(day, key))
        status = open_day(reader, day, history_key_behind(reader->opened, day->day, key));
    return status;
}

/* Moves a day's scan to the item's first entry with this commit time or a later one, if the item
 * has one on that day; otherwise to another item. */
static enum engine_status skip_versions(struct history_reader *reader, struct day_scan *day,
                                        struct bytes key, int64_t commit_us)
{
    enum engine_status status = ENGINE_OK;
    for (int i = 0; i < HISTORY_VERSIONS_SKIPPED && status == ENGINE_OK; i++) {
        if (!stands_at(day, key) || day->key.commit_us >= commit_us)
            return ENGINE_OK;
        status = step_day(reader, day);
    }
    if (status == ENGINE_OK && stands_at(day, key) && day->key.commit_us < commit_us)
        status =
            open_day(reader, day, history_key_on_day(reader->opened, day->day, key, commit_us));
    return status;
}

/* Copies an entry's item to where the caller may borrow it. */
static enum engine_status copy_entry(struct history_reader *reader, struct bytes value,
                                     struct history_entry *out)
{
    return history_entry_decode(arena_copy(reader->step, value), out) ? ENGINE_OK
                                                                      : report_damage(reader);
}

static enum engine_status copy_item(struct history_reader *reader, struct bytes value,
                                    struct item *out)
{
    return item_open(arena_copy(reader->step, value), out) ? ENGINE_OK : report_damage(reader);
}

/* All scans leave the item that was reported. */
static enum engine_status finish_item(struct history_reader *reader)
{
    struct bytes key = key_of(&reader->now);
    enum engine_status status = ENGINE_OK;
    for (size_t i = 0; i < reader->day_count && status == ENGINE_OK; i++)
        status = leave_item(reader, &reader->days[i], key);
    if (status == ENGINE_OK && reader->reads_items && bytes_equal(reader->item.key, key))
        status = step_items(reader);
    if (!copy_key(&reader->done, key))
        return ENGINE_CORRUPT;
    return status;
}

/* Finds the item's first entry with this commit time or a later one. `*day` NULL: it has none. */
static enum engine_status find_version(struct history_reader *reader, int64_t commit_us,
                                       struct day_scan **day)
{
    struct bytes key = key_of(&reader->now);
    *day = NULL;
    for (size_t i = 0; i < reader->day_count && *day == NULL; i++) {
        enum engine_status status = skip_versions(reader, &reader->days[i], key, commit_us);
        if (status != ENGINE_OK)
            return status;
        if (stands_at(&reader->days[i], key))
            *day = &reader->days[i];
    }
    return ENGINE_OK;
}

enum engine_status history_reader_next_state(struct history_reader *reader,
                                             struct history_state *out)
{
    struct day_scan *day = NULL;
    struct history_entry entry = { 0 };
    assert(reader->reads_items);
    arena_reset(reader->step);
    enum engine_status status = find_next(reader);
    if (status != ENGINE_OK)
        return status;
    *out = (struct history_state){ .key = arena_copy(reader->step, key_of(&reader->now)) };
    status = find_version(reader, reader->from_us, &day);
    if (status == ENGINE_OK && day != NULL) {
        status = copy_entry(reader, day->value, &entry);
        out->exists = entry.existed;
        out->item = entry.before;
    } else if (status == ENGINE_OK && bytes_equal(reader->item.key, out->key)) {
        status = copy_item(reader, reader->item.value, &out->item);
        out->exists = true;
    }
    return status == ENGINE_OK ? finish_item(reader) : status;
}

/* --- Changes --- */

/* The state of the item now. */
static enum engine_status read_item(struct history_reader *reader, bool *exists, struct item *out)
{
    struct engine_value value = { 0 };
    const struct engine_address address = { .place = item_place(reader),
                                            .key = key_of(&reader->now) };
    enum engine_status status = engine_view_get(reader->view, &address, &value);
    *exists = status == ENGINE_OK;
    if (status == ENGINE_NOT_FOUND)
        return ENGINE_OK;
    if (status == ENGINE_OK)
        status = copy_item(reader, value.bytes, out);
    engine_value_release(&value);
    return status;
}

static bool is_in_window(const struct history_reader *reader, const struct day_scan *day)
{
    return stands_at(day, key_of(&reader->now)) && day->key.commit_us < reader->to_us;
}

/* Notes the item's last entry of a day that is within the window, and leaves the window. */
static enum engine_status pass_to_last(struct history_reader *reader, struct day_scan *day,
                                       struct history_change *out)
{
    struct bytes key = key_of(&reader->now);
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    struct history_key at;
    struct history_entry last;
    struct bytes end = history_key_on_day(reader->opened, day->day, key, reader->to_us);
    const struct engine_range range = {
        .place = entry_place(reader),
        .first = history_key_on_day(reader->opened, day->day, key, day->key.commit_us),
        .last = end,
        .count_max = 1,
        .reverse = true,
    };
    enum engine_status status = engine_scan_open(reader->view, &range, &scan);
    if (status == ENGINE_OK)
        status = engine_scan_next(scan, &entry);
    if (status == ENGINE_OK &&
        (!history_key_decode(entry.key, &at) || !history_entry_decode(entry.value, &last)))
        status = report_damage(reader);
    if (status == ENGINE_OK) {
        out->written_us = at.commit_us;
        out->by_service = last.by_service;
    }
    engine_scan_close(scan);
    if (status == ENGINE_END) /* The entry at which the day's scan stands is in the range. */
        status = report_damage(reader);
    return status == ENGINE_OK ? open_day(reader, day, end) : status;
}

static enum engine_status pass_day(struct history_reader *reader, struct day_scan *day,
                                   struct history_change *out)
{
    enum engine_status status = ENGINE_OK;
    for (int i = 0; status == ENGINE_OK && is_in_window(reader, day); i++) {
        struct history_entry entry;
        if (i == HISTORY_VERSIONS_SKIPPED)
            return pass_to_last(reader, day, out);
        if (!history_entry_decode(day->value, &entry))
            return report_damage(reader);
        out->written_us = day->key.commit_us;
        out->by_service = entry.by_service;
        status = step_day(reader, day);
    }
    return status;
}

/* Passes the item's entries within the window, from the first one on, and notes the last. */
static enum engine_status pass_window(struct history_reader *reader, struct day_scan *day,
                                      struct history_change *out)
{
    enum engine_status status = ENGINE_OK;
    for (; day < reader->days + reader->day_count && status == ENGINE_OK; day++)
        status = pass_day(reader, day, out);
    return status;
}

/* Both images of an item that has an entry in the window, at which `day` stands. */
static enum engine_status read_change(struct history_reader *reader, struct day_scan *day,
                                      struct history_change *out)
{
    struct history_entry entry = { 0 };
    enum engine_status status = copy_entry(reader, day->value, &entry);
    out->had_old = entry.existed;
    out->old_image = entry.before;
    if (status == ENGINE_OK)
        status = pass_window(reader, day, out);
    if (status == ENGINE_OK)
        status = find_version(reader, reader->to_us, &day);
    if (status != ENGINE_OK)
        return status;
    if (day == NULL)
        return read_item(reader, &out->has_new, &out->new_image);
    status = copy_entry(reader, day->value, &entry);
    out->has_new = entry.existed;
    out->new_image = entry.before;
    return status;
}

enum engine_status history_reader_next_change(struct history_reader *reader,
                                              struct history_change *out)
{
    struct day_scan *day = NULL;
    assert(!reader->reads_items);
    arena_reset(reader->step);
    enum engine_status status = find_next(reader);
    if (status != ENGINE_OK)
        return status;
    *out = (struct history_change){ .key = arena_copy(reader->step, key_of(&reader->now)) };
    status = find_version(reader, reader->from_us, &day);
    if (status == ENGINE_OK && day != NULL && day->key.commit_us < reader->to_us) {
        status = read_change(reader, day, out);
        out->changed = out->had_old || out->has_new;
    }
    return status == ENGINE_OK ? finish_item(reader) : status;
}
