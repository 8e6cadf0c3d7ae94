/* check_table.c -- see check_table.h.
 *
 * Damage is reported once, where it is found, and does not cause reports elsewhere: entries of a
 * damaged item are not called orphans, and statistics are compared only if everything was readable.
 */
#include "check/check_table.h"
#include <inttypes.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "check/check_replicas.h"
#include "check/check_report.h"
#include "check/check_walk.h"
#include "index/index_entry.h"
#include "index/index_view.h"
#include "model/error.h"
#include "model/item.h"
#include "model/table_definition.h"
#include "table/collection_size.h"
#include "table/expiry_queue.h"
#include "table/item_address.h"
#include "table/layout.h"
#include "table/table_stats.h"

/* The sizes of item collections, in a table with a local index. The items of a collection lie side
 * by side, so its size is summed up while the items are walked, and compared when the next one
 * begins: one sum is all that is remembered. Then the records are walked, to find those without
 * items. */
struct collections {
    struct engine_view *view;
    struct check_report *report;
    const struct table_definition *table;
    struct arena *arena; /* Holds `prefix`. */
    /* The collection that the last item belongs to; empty: none. */
    struct buffer prefix;
    uint64_t partition;
    int64_t size;
    bool partial; /* Some of it could not be read, so its size is not known. */
};

/* The expiry queue: each item that can expire has its entry, and each entry is that of an item. A
 * queue that is being filled may lack entries behind its position; one that is being removed is not
 * checked. */
struct expiry_check {
    struct engine_view *view;
    const struct table_definition *table;
    struct check_report *report;
    struct arena *scratch; /* Reset for each entry of the queue. */
};

/* Counts a table's items or an index's entries while they are walked. */
struct tally {
    struct table_stats stats;
    bool partial; /* Something could not be read, so the size is not known. */
};

struct table_check {
    struct engine_view *view;
    struct check_report *report;
    const struct table_definition *table;
    const struct index_definition *index; /* Whose entries are walked. */
    struct arena *arena;                  /* Reset for each item and each entry. */
    struct tally *tally;                  /* Of what is walked. */
    struct collections collections;
    struct expiry_check expiry;
};

/* --- Item collections --- */

#define COLLECTION "table %.*s, partition %" PRIu64 ", item collection %s"

static void report_collection(const struct collections *check, uint64_t partition,
                              struct bytes prefix, const char *problem)
{
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    check_report_format_key(prefix, text);
    check_report_problem(check->report, COLLECTION ": %s", BYTES_FMT(check->table->name), partition,
                         text, problem);
}

static void report_collection_unreadable(const struct collections *check, uint64_t partition,
                                         struct bytes prefix, enum engine_status status)
{
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    check_report_format_key(prefix, text);
    check_report_unreadable(check->report, status, COLLECTION, BYTES_FMT(check->table->name),
                            partition, text);
}

/* The part of an item's key that its whole collection has in common; empty if the key is damaged.
 */
static struct bytes prefix_of(const struct table_definition *table,
                              const struct engine_place *place, struct bytes key,
                              struct arena *scratch)
{
    struct item_address item;
    if (!item_address_of_stored_key(scratch, table, place, key, &item))
        return BYTES("");
    return bytes_of(key.data, item.prefix_size);
}

static struct engine_address record_address(const struct collections *check, uint64_t partition,
                                            struct bytes prefix)
{
    struct item_address place = { .address = { .place = { .owner = check->table->id,
                                                          .partition = partition,
                                                          .space = ENGINE_SPACE_ITEMS },
                                               .key = prefix },
                                  .prefix_size = prefix.len };
    return collection_size_address(&place);
}

/* Compares the collection that ends here with its record. The walk of the records reports damaged
 * ones. */
static void compare_collection(const struct collections *check)
{
    struct bytes prefix = buffer_bytes(&check->prefix);
    struct engine_value value = { 0 };
    int64_t told = 0;
    if (prefix.len == 0 || check->partial)
        return;
    struct engine_address address = record_address(check, check->partition, prefix);
    enum engine_status status = engine_view_get(check->view, &address, &value);
    if (status != ENGINE_OK && status != ENGINE_NOT_FOUND) {
        report_collection_unreadable(check, check->partition, prefix, status);
        return;
    }
    bool whole = status == ENGINE_NOT_FOUND || collection_size_decode(value.bytes, &told);
    engine_value_release(&value);
    if (!whole || told == check->size)
        return;
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    check_report_format_key(prefix, text);
    check_report_problem(
        check->report, COLLECTION ": its record tells of %" PRId64 " bytes, and there are %" PRId64,
        BYTES_FMT(check->table->name), check->partition, text, told, check->size);
}

static void begin_collection(struct collections *check, uint64_t partition, struct bytes prefix)
{
    check->prefix.len = 0;
    buffer_append_bytes(&check->prefix, prefix);
    check->partition = partition;
    check->size = 0;
    check->partial = false;
}

static void collections_begin(struct collections *check, struct engine_view *view,
                              const struct table_definition *table, struct check_report *report)
{
    *check = (struct collections){ .view = view, .report = report, .table = table };
    if (!table_definition_has_local_index(table))
        return;
    check->arena = arena_create();
    buffer_init(&check->prefix, check->arena);
}

static void collections_add(struct collections *check, const struct engine_place *place,
                            struct bytes key, const struct item *item, struct arena *scratch)
{
    const struct table_definition *table = check->table;
    if (!table_definition_has_local_index(table))
        return;
    struct bytes prefix = prefix_of(table, place, key, scratch);
    if (check->partition != place->partition ||
        !bytes_equal(prefix, buffer_bytes(&check->prefix))) {
        compare_collection(check);
        begin_collection(check, place->partition, prefix);
    }
    if (item == NULL) {
        check->partial = true;
        return;
    }
    check->size += item->size;
    struct index_view view = index_view_open(scratch, table, item);
    for (size_t i = 0; i < table->index_count && !table->indexes[i].global; i++) {
        const struct index_definition *index = &table->indexes[i];
        if (index_view_has_entry(&view, index))
            check->size += (int64_t)index_view_size(&view, index);
    }
}

static void collections_break_off(struct collections *check)
{
    check->partial = true;
}

/* Looks for an item whose key begins with `prefix`. */
static enum engine_status find_item(const struct collections *check, uint64_t partition,
                                    struct bytes prefix, bool *found)
{
    struct engine_range range = {
        .place = { .owner = check->table->id, .partition = partition, .space = ENGINE_SPACE_ITEMS },
        .first = prefix,
        .count_max = 1,
    };
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    enum engine_status status = engine_scan_open(check->view, &range, &scan);
    if (status == ENGINE_OK)
        status = engine_scan_next(scan, &entry);
    *found = status == ENGINE_OK && bytes_starts_with(entry.key, prefix);
    engine_scan_close(scan);
    return status == ENGINE_END ? ENGINE_OK : status;
}

static bool visit_collection(void *context, const struct engine_place *place,
                             const struct engine_entry *stored)
{
    const struct collections *check = context;
    int64_t size;
    bool found;
    enum engine_status status = find_item(check, place->partition, stored->key, &found);
    if (status != ENGINE_OK)
        report_collection_unreadable(check, place->partition, stored->key, status);
    else if (!found)
        report_collection(check, place->partition, stored->key, "has a size and no items");
    else if (!collection_size_decode(stored->value, &size))
        report_collection(check, place->partition, stored->key, "its record is damaged");
    return !check_report_gave_up(check->report);
}

static void walk_collections(struct collections *check)
{
    const struct table_definition *table = check->table;
    for (size_t i = 0; i < table->partition_count && !check_report_gave_up(check->report); i++) {
        struct engine_place place = { .owner = table->id,
                                      .partition = table->partitions[i].id,
                                      .space = ENGINE_SPACE_COLLECTIONS };
        enum engine_status status = check_walk(check->view, &place, visit_collection, check);
        if (status != ENGINE_OK)
            check_report_unreadable(check->report, status,
                                    "table %.*s, partition %" PRIu64 ", item collections",
                                    BYTES_FMT(table->name), place.partition);
    }
}

static void collections_end(struct collections *check)
{
    if (!table_definition_has_local_index(check->table))
        return;
    if (!check_report_gave_up(check->report)) {
        compare_collection(check);
        walk_collections(check);
    }
    arena_destroy(check->arena);
}

/* --- Expiry queue --- */

#define ITEM "table %.*s, partition %" PRIu64 ", item %s"
#define ENTRY "table %.*s, partition %" PRIu64 ", entry of %" PRId64 " in the expiry queue, item %s"

static bool must_be_queued(const struct expiry_definition *expiry, struct bytes key)
{
    return expiry->status == EXPIRY_ACTIVE ||
           (expiry->status == EXPIRY_FILLING && bytes_compare(key, expiry->filled) < 0);
}

static void check_item_is_queued(const struct expiry_check *check,
                                 const struct engine_address *address, const struct item *item)
{
    const struct table_definition *table = check->table;
    struct engine_value value = { 0 };
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    int64_t second;
    if (!must_be_queued(&table->expiry, address->key) ||
        !expiry_queue_second(table->expiry.attribute, item, &second))
        return;
    struct engine_address entry = expiry_queue_address(check->scratch, address, second);
    enum engine_status status = engine_view_get(check->view, &entry, &value);
    engine_value_release(&value);
    check_report_format_key(address->key, text);
    if (status == ENGINE_NOT_FOUND)
        check_report_problem(check->report, ITEM ": is not in the expiry queue",
                             BYTES_FMT(table->name), address->place.partition, text);
    else if (status != ENGINE_OK)
        check_report_unreadable(check->report, status, ITEM ", its entry in the expiry queue",
                                BYTES_FMT(table->name), address->place.partition, text);
}

static void report_queued(const struct expiry_check *check, const struct engine_address *item,
                          int64_t second, const char *problem)
{
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    check_report_format_key(item->key, text);
    check_report_problem(check->report, ENTRY ": %s", BYTES_FMT(check->table->name),
                         item->place.partition, second, text, problem);
}

static void check_item_of_queued(const struct expiry_check *check,
                                 const struct engine_address *address, int64_t second)
{
    struct engine_value value = { 0 };
    struct item item;
    int64_t own;
    enum engine_status status = engine_view_get(check->view, address, &value);
    if (status == ENGINE_NOT_FOUND) {
        report_queued(check, address, second, "belongs to no item");
    } else if (status != ENGINE_OK) {
        char text[CHECK_REPORT_KEY_TEXT_MAX];
        check_report_format_key(address->key, text);
        check_report_unreadable(check->report, status, ENTRY, BYTES_FMT(check->table->name),
                                address->place.partition, second, text);
    } else if (item_open(value.bytes, &item) && item_verify(&item) &&
               (!expiry_queue_second(check->table->expiry.attribute, &item, &own) ||
                own != second)) {
        report_queued(check, address, second, "is not one that its item has");
    }
    engine_value_release(&value);
}

static bool visit_queued(void *context, const struct engine_place *place,
                         const struct engine_entry *stored)
{
    const struct expiry_check *check = context;
    struct engine_address item = { .place = *place };
    int64_t second;
    arena_reset(check->scratch);
    item.place.space = ENGINE_SPACE_ITEMS;
    if (!expiry_queue_decode(stored->key, &second, &item.key) || stored->value.len > 0)
        check_report_problem(check->report,
                             "table %.*s, partition %" PRIu64
                             ": an entry of the expiry queue is damaged",
                             BYTES_FMT(check->table->name), place->partition);
    else
        check_item_of_queued(check, &item, second);
    return !check_report_gave_up(check->report);
}

static void check_queues(struct expiry_check *check)
{
    const struct table_definition *table = check->table;
    if (table->expiry.status == EXPIRY_NONE || table->expiry.status == EXPIRY_REMOVING)
        return;
    for (size_t i = 0; i < table->partition_count && !check_report_gave_up(check->report); i++) {
        struct engine_place place = expiry_queue_place(table->id, table->partitions[i].id);
        enum engine_status status = check_walk(check->view, &place, visit_queued, check);
        if (status != ENGINE_OK)
            check_report_unreadable(check->report, status,
                                    "table %.*s, partition %" PRIu64 ", expiry queue",
                                    BYTES_FMT(table->name), place.partition);
    }
}

/* --- Reports about items and entries --- */

/* `index_name` is appended to the problem; empty: none. */
static void report_item(const struct table_check *check, const struct engine_place *place,
                        struct bytes key, const char *problem, struct bytes index_name)
{
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    check_report_format_key(key, text);
    check_report_problem(check->report, "table %.*s, partition %" PRIu64 ", item %s: %s%.*s",
                         BYTES_FMT(check->table->name), place->partition, text, problem,
                         BYTES_FMT(index_name));
}

static void report_entry(const struct table_check *check, const struct engine_place *place,
                         struct bytes key, const char *problem)
{
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    check_report_format_key(key, text);
    check_report_problem(check->report,
                         "table %.*s, index %.*s, partition %" PRIu64 ", entry %s: %s",
                         BYTES_FMT(check->table->name), BYTES_FMT(check->index->name),
                         place->partition, text, problem);
}

/* Counts an item or an entry, and opens it. False if it is damaged. */
static bool take(struct tally *tally, struct bytes encoded, struct item *out)
{
    tally->stats.item_count++;
    if (!item_open(encoded, out) || !item_verify(out)) {
        tally->partial = true;
        return false;
    }
    tally->stats.size += out->size;
    return true;
}

static bool locate_item(const struct table_check *check, const struct item *item,
                        struct item_address *out)
{
    struct error err;
    error_init(&err, check->arena);
    return item_address_of_item(check->arena, check->table, item, out, &err);
}

/* --- Items --- */

/* An index that is being built has entries for the keys below its position; one that is being
 * deleted may have any. */
static bool must_have_entry(const struct index_definition *index, struct bytes key)
{
    return index->status == INDEX_ACTIVE ||
           (index->status == INDEX_BACKFILLING && bytes_compare(key, index->backfilled) < 0);
}

static void check_entry_of_item(const struct table_check *check, const struct engine_place *place,
                                struct bytes key, const struct index_view *view,
                                const struct index_definition *index)
{
    struct item_address expected;
    struct engine_value value = { 0 };
    if (index->status == INDEX_DELETING || !index_view_locate(check->arena, view, index, &expected))
        return;
    struct item projected = index_view_project(check->arena, view, index);
    enum engine_status status = engine_view_get(check->view, &expected.address, &value);
    if (status == ENGINE_NOT_FOUND) {
        if (must_have_entry(index, key))
            report_item(check, place, key, "has no entry in index ", index->name);
    } else if (status != ENGINE_OK) {
        char text[CHECK_REPORT_KEY_TEXT_MAX];
        check_report_format_key(key, text);
        check_report_unreadable(
            check->report, status,
            "table %.*s, partition %" PRIu64 ", item %s, its entry in index %.*s",
            BYTES_FMT(check->table->name), place->partition, text, BYTES_FMT(index->name));
    } else if (!bytes_equal(value.bytes, projected.encoded)) {
        report_item(check, place, key, "does not agree with its entry in index ", index->name);
    }
    engine_value_release(&value);
}

static void check_entries_of_item(const struct table_check *check, const struct engine_place *place,
                                  struct bytes key, const struct item *item)
{
    const struct table_definition *table = check->table;
    if (table->index_count == 0)
        return;
    struct index_view view = index_view_open(check->arena, table, item);
    for (size_t i = 0; i < table->index_count; i++)
        check_entry_of_item(check, place, key, &view, &table->indexes[i]);
}

static bool visit_item(void *context, const struct engine_place *place,
                       const struct engine_entry *stored)
{
    struct table_check *check = context;
    struct item item;
    struct item_address expected;
    const struct item *placed = NULL; /* The item, if it is where it belongs. */
    arena_reset(check->arena);
    check_report_step(check->report);
    if (!take(check->tally, stored->value, &item)) {
        report_item(check, place, stored->key, "is damaged", BYTES(""));
    } else if (!locate_item(check, &item, &expected)) {
        report_item(check, place, stored->key, "does not have the table's key", BYTES(""));
    } else if (!bytes_equal(expected.address.key, stored->key)) {
        report_item(check, place, stored->key, "is stored under another key than its own",
                    BYTES(""));
    } else if (!engine_place_equal(&expected.address.place, place)) {
        report_item(check, place, stored->key, "is stored in another partition than its own",
                    BYTES(""));
    } else {
        placed = &item;
        check_entries_of_item(check, place, stored->key, &item);
        check_item_is_queued(&check->expiry, &expected.address, &item);
    }
    collections_add(&check->collections, place, stored->key, placed, check->arena);
    return !check_report_gave_up(check->report);
}

/* --- Entries --- */

/* True if the entry of `item` is the one at `key`. Its content was compared when the item was
 * visited. */
static bool has_entry(const struct table_check *check, const struct item *item,
                      const struct engine_place *place, struct bytes key)
{
    struct item_address expected;
    return index_entry_locate(check->arena, check->table, check->index, item, &expected) &&
           engine_place_equal(&expected.address.place, place) &&
           bytes_equal(expected.address.key, key);
}

static void check_item_of_entry(const struct table_check *check, const struct engine_place *place,
                                struct bytes key, const struct item_address *item_address)
{
    struct engine_value value = { 0 };
    struct item item;
    enum engine_status status = engine_view_get(check->view, &item_address->address, &value);
    if (status == ENGINE_NOT_FOUND) {
        report_entry(check, place, key, "belongs to no item");
    } else if (status != ENGINE_OK) {
        char text[CHECK_REPORT_KEY_TEXT_MAX];
        check_report_format_key(key, text);
        check_report_unreadable(check->report, status,
                                "table %.*s, index %.*s, partition %" PRIu64 ", entry %s, its item",
                                BYTES_FMT(check->table->name), BYTES_FMT(check->index->name),
                                place->partition, text);
    } else if (item_open(value.bytes, &item) && item_verify(&item) &&
               !has_entry(check, &item, place, key)) {
        report_entry(check, place, key, "is not one that its item has");
    }
    engine_value_release(&value);
}

static bool visit_entry(void *context, const struct engine_place *place,
                        const struct engine_entry *stored)
{
    struct table_check *check = context;
    struct item entry;
    struct item_address item_address;
    arena_reset(check->arena);
    check_report_step(check->report);
    if (!take(check->tally, stored->value, &entry))
        report_entry(check, place, stored->key, "is damaged");
    else if (!locate_item(check, &entry, &item_address))
        report_entry(check, place, stored->key, "does not have the table's key");
    else
        check_item_of_entry(check, place, stored->key, &item_address);
    return !check_report_gave_up(check->report);
}

/* --- Statistics --- */

static bool visit_stats(void *context, const struct engine_place *place,
                        const struct engine_entry *stored)
{
    struct table_check *check = context;
    if (stored->key.len != 1 || stored->key.data[0] >= LAYOUT_STATS_SHARDS)
        check_report_problem(check->report,
                             "table %.*s, partition %" PRIu64
                             ": a record of its statistics is unknown",
                             BYTES_FMT(check->table->name), place->partition);
    return true;
}

static void compare_stats(const struct table_check *check, const struct index_definition *index,
                          const struct table_stats *told, const struct tally *found)
{
    if (found->partial ||
        (told->item_count == found->stats.item_count && told->size == found->stats.size))
        return;
    check_report_problem(check->report,
                         "table %.*s%s%.*s: its statistics tell of %" PRId64 " %s of %" PRId64
                         " bytes, and there are %" PRId64 " of %" PRId64 " bytes",
                         BYTES_FMT(check->table->name), index == NULL ? "" : ", index ",
                         BYTES_FMT(index == NULL ? BYTES("") : index->name), told->item_count,
                         index == NULL ? "items" : "entries", told->size, found->stats.item_count,
                         found->stats.size);
}

static void check_stats(const struct table_check *check, const struct tally *items,
                        const struct tally *indexes)
{
    struct table_stats told, told_indexes[INDEXES_MAX];
    enum engine_status status = table_stats_sum(check->view, check->table, &told, told_indexes);
    if (status != ENGINE_OK) {
        check_report_unreadable(check->report, status, "table %.*s, its statistics",
                                BYTES_FMT(check->table->name));
        return;
    }
    compare_stats(check, NULL, &told, items);
    for (size_t i = 0; i < check->table->index_count; i++)
        compare_stats(check, &check->table->indexes[i], &told_indexes[i], &indexes[i]);
}

/* --- The table --- */

static void walk_partitions(struct table_check *check, const struct partition *partitions,
                            size_t count, struct engine_place place, check_walk_visitor *visit)
{
    for (size_t i = 0; i < count && !check_report_gave_up(check->report); i++) {
        place.partition = partitions[i].id;
        enum engine_status status = check_walk(check->view, &place, visit, check);
        if (status == ENGINE_OK)
            continue;
        check->tally->partial = true;
        collections_break_off(&check->collections);
        check_report_unreadable(
            check->report, status, "table %.*s%s%.*s, partition %" PRIu64 ", space %d",
            BYTES_FMT(check->table->name), check->index == NULL ? "" : ", index ",
            BYTES_FMT(check->index == NULL ? BYTES("") : check->index->name), place.partition,
            (int)place.space);
    }
}

static void walk_index(struct table_check *check, const struct index_definition *index,
                       struct tally *tally)
{
    struct engine_place place = { .owner = index->id, .space = ENGINE_SPACE_INDEX };
    const struct table_definition *table = check->table;
    check->index = index;
    check->tally = tally;
    if (index->status == INDEX_DELETING)
        tally->partial = true; /* Its entries and statistics need not agree any more. */
    else if (index->global)
        walk_partitions(check, index->partitions, index->partition_count, place, visit_entry);
    else
        walk_partitions(check, table->partitions, table->partition_count, place, visit_entry);
}

struct check_table_counts check_table(struct engine_view *view,
                                      const struct table_definition *table,
                                      struct check_report *report)
{
    struct tally items = { 0 }, indexes[INDEXES_MAX] = { 0 };
    struct table_check check = {
        .view = view, .report = report, .table = table, .arena = arena_create(), .tally = &items
    };
    struct engine_place place = { .owner = table->id, .space = ENGINE_SPACE_ITEMS };
    collections_begin(&check.collections, view, table, report);
    check.expiry = (struct expiry_check){
        .view = view, .table = table, .report = report, .scratch = check.arena
    };
    walk_partitions(&check, table->partitions, table->partition_count, place, visit_item);
    collections_end(&check.collections);
    check_queues(&check.expiry);
    check_replicas(view, table, report);
    place.space = ENGINE_SPACE_STATS;
    walk_partitions(&check, table->partitions, table->partition_count, place, visit_stats);
    struct check_table_counts counts = { .item_count = (uint64_t)items.stats.item_count };
    for (size_t i = 0; i < table->index_count; i++) {
        walk_index(&check, &table->indexes[i], &indexes[i]);
        counts.entry_count += (uint64_t)indexes[i].stats.item_count;
    }
    if (!check_report_gave_up(report))
        check_stats(&check, &items, indexes);
    arena_destroy(check.arena);
    return counts;
}
