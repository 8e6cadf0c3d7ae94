/* check_collections.c -- see check_collections.h. */
#include "check/check_collections.h"
#include <inttypes.h>
#include "base/arena.h"
#include "check/check_report.h"
#include "check/check_walk.h"
#include "index/index_view.h"
#include "model/table_definition.h"
#include "table/collection_size.h"
#include "table/item_address.h"

/* --- Words --- */

#define COLLECTION "table %.*s, partition %" PRIu64 ", item collection %s"

static void report_problem(const struct check_collections *check, uint64_t partition,
                           struct bytes prefix, const char *problem)
{
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    check_report_format_key(prefix, text);
    check_report_problem(check->report, COLLECTION ": %s", BYTES_FMT(check->table->name), partition,
                         text, problem);
}

static void report_unreadable(const struct check_collections *check, uint64_t partition,
                              struct bytes prefix, enum engine_status status)
{
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    check_report_format_key(prefix, text);
    check_report_unreadable(check->report, status, COLLECTION, BYTES_FMT(check->table->name),
                            partition, text);
}

/* --- Items --- */

/* The part of an item's key that its whole collection begins with; empty if it is no such key. */
static struct bytes prefix_of(const struct table_definition *table,
                              const struct engine_place *place, struct bytes key,
                              struct arena *scratch)
{
    struct item_address item;
    if (!item_address_of_stored_key(scratch, table, place, key, &item))
        return BYTES("");
    return bytes_of(key.data, item.prefix_size);
}

static struct engine_address record_address(const struct check_collections *check,
                                            uint64_t partition, struct bytes prefix)
{
    struct item_address place = { .address = { .place = { .owner = check->table->id,
                                                          .partition = partition },
                                               .key = prefix },
                                  .prefix_size = prefix.len };
    return collection_size_address(&place);
}

/* Compares the collection that ends here with its record. A damaged record is found by the walk. */
static void compare(const struct check_collections *check)
{
    struct bytes prefix = buffer_bytes(&check->prefix);
    struct engine_value value = { 0 };
    int64_t told = 0;
    if (prefix.len == 0 || check->partial)
        return;
    struct engine_address address = record_address(check, check->partition, prefix);
    enum engine_status status = engine_view_get(check->view, &address, &value);
    if (status != ENGINE_OK && status != ENGINE_NOT_FOUND) {
        report_unreadable(check, check->partition, prefix, status);
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

static void begin_collection(struct check_collections *check, uint64_t partition,
                             struct bytes prefix)
{
    check->prefix.len = 0;
    buffer_append_bytes(&check->prefix, prefix);
    check->partition = partition;
    check->size = 0;
    check->partial = false;
}

void check_collections_begin(struct check_collections *check, struct engine_view *view,
                             const struct table_definition *table, struct check_report *report)
{
    *check = (struct check_collections){ .view = view, .report = report, .table = table };
    if (!table_definition_has_local_index(table))
        return;
    check->arena = arena_create();
    buffer_init(&check->prefix, check->arena);
}

void check_collections_add(struct check_collections *check, const struct engine_place *place,
                           struct bytes key, const struct item *item, struct arena *scratch)
{
    const struct table_definition *table = check->table;
    if (!table_definition_has_local_index(table))
        return;
    struct bytes prefix = prefix_of(table, place, key, scratch);
    if (check->partition != place->partition ||
        !bytes_equal(prefix, buffer_bytes(&check->prefix))) {
        compare(check);
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

void check_collections_break_off(struct check_collections *check)
{
    check->partial = true;
}

/* --- Records --- */

/* Whether an item begins with `prefix`. */
static enum engine_status find_item(const struct check_collections *check, uint64_t partition,
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

static bool visit_record(void *context, const struct engine_place *place,
                         const struct engine_entry *stored)
{
    const struct check_collections *check = context;
    int64_t size;
    bool found;
    enum engine_status status = find_item(check, place->partition, stored->key, &found);
    if (status != ENGINE_OK)
        report_unreadable(check, place->partition, stored->key, status);
    else if (!found)
        report_problem(check, place->partition, stored->key, "has a size and no items");
    else if (!collection_size_decode(stored->value, &size))
        report_problem(check, place->partition, stored->key, "its record is damaged");
    return !check_report_gave_up(check->report);
}

static void walk_records(struct check_collections *check)
{
    const struct table_definition *table = check->table;
    for (size_t i = 0; i < table->partition_count && !check_report_gave_up(check->report); i++) {
        struct engine_place place = { .owner = table->id,
                                      .partition = table->partitions[i].id,
                                      .space = ENGINE_SPACE_COLLECTIONS };
        enum engine_status status = check_walk(check->view, &place, visit_record, check);
        if (status != ENGINE_OK)
            check_report_unreadable(check->report, status,
                                    "table %.*s, partition %" PRIu64 ", item collections",
                                    BYTES_FMT(table->name), place.partition);
    }
}

void check_collections_end(struct check_collections *check)
{
    if (!table_definition_has_local_index(check->table))
        return;
    if (!check_report_gave_up(check->report)) {
        compare(check);
        walk_records(check);
    }
    arena_destroy(check->arena);
}
