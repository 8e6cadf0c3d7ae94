/* check_table.c -- see check_table.h.
 *
 * What is damaged is reported once, where it is found, and taken out of what follows from it: its
 * entries are not held against it, and statistics are compared only with what was read whole.
 */
#include "check/check_table.h"
#include <inttypes.h>
#include "base/arena.h"
#include "check/check_collections.h"
#include "check/check_expiry.h"
#include "check/check_report.h"
#include "check/check_walk.h"
#include "index/index_entry.h"
#include "index/index_view.h"
#include "model/error.h"
#include "model/item.h"
#include "model/table_definition.h"
#include "table/table_stats.h"
#include "table/item_address.h"
#include "table/layout.h"

/* What was found of a table's items or of an index's entries. */
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
    struct check_collections collections;
    struct check_expiry expiry;
};

/* --- Words --- */

/* About the item that is stored there. `index_name` is put behind the words; empty: none. */
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

/* --- Both --- */

/* Counts what was found and opens it, if it is whole. */
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

/* What is being deleted is left as it was; what is being built has come to some key. */
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
        check_expiry_of_item(&check->expiry, &expected.address, &item);
    }
    check_collections_add(&check->collections, place, stored->key, placed, check->arena);
    return !check_report_gave_up(check->report);
}

/* --- Entries --- */

/* Whether `item`'s entry is the one stored there. What it holds was compared from the item's side.
 */
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
        check_collections_break_off(&check->collections);
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
        tally->partial = true; /* Nothing holds for its entries and statistics any more. */
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
    check_collections_begin(&check.collections, view, table, report);
    check.expiry = (struct check_expiry){
        .view = view, .table = table, .report = report, .scratch = check.arena
    };
    walk_partitions(&check, table->partitions, table->partition_count, place, visit_item);
    check_collections_end(&check.collections);
    check_expiry_queues(&check.expiry);
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
