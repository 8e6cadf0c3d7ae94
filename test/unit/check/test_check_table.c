/* test_check_table.c -- a store that was only ever written to is clean; damage to items, entries
 * and statistics is found and named.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "check_fixture.h"
#include "engine/engine_ops.h"
#include "failing_engine.h"
#include "item_fixture.h"
#include "model/table_definition.h"
#include "table/catalogue_record.h"
#include "table/table_stats.h"
#include "table/item_address.h"
#include "table/layout.h"

enum { PROBLEMS_MAX = 8, RANDOM_WRITES = 400, ITEMS = 40 };

static int set_up(void **state)
{
    struct check_fixture *fixture = malloc(sizeof *fixture);
    check_fixture_open(fixture);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    check_fixture_close(*state);
    free(*state);
    return 0;
}

static const char *const nothing[] = { NULL };

/* --- Clean stores --- */

static void a_store_that_was_only_written_to_is_clean(void **state)
{
    struct check_fixture *fixture = *state;
    struct check_result result = check_fixture_expect(fixture, nothing);
    assert_int_equal(result.table_count, 1);
    assert_int_equal(result.item_count, ITEMS);
    assert_int_equal(result.entry_count, ITEMS * CHECK_FIXTURE_INDEX_COUNT);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        check_fixture_write_random(fixture, seed, RANDOM_WRITES);
        result = check_fixture_expect(fixture, nothing);
        assert_true(result.item_count > ITEMS);
        assert_true(result.entry_count > result.item_count);
    }
}

static void a_store_without_tables_is_clean(void **state)
{
    struct check_fixture *fixture = *state;
    assert_true(api_fixture_call(&fixture->api, "DeleteTable", "{'TableName':'orders'}"));
    api_fixture_restart(&fixture->api, 0); /* The data goes in the background: let it end. */
    struct check_result result = check_fixture_expect(fixture, nothing);
    assert_int_equal(result.table_count, 0);
    assert_int_equal(result.item_count, 0);
}

/* --- Damage --- */

static void flip_item(struct check_fixture *fixture)
{
    struct check_fixture_entry item = check_fixture_flip(fixture, check_fixture_item(fixture));
    check_fixture_put(fixture, &item);
}

static struct check_fixture_entry with_other_key(struct check_fixture *fixture,
                                                 struct check_fixture_entry entry)
{
    uint8_t *key = (uint8_t *)arena_copy(fixture->arena, entry.key).data;
    key[entry.key.len - 1] ^= 2;
    entry.key = bytes_of(key, entry.key.len);
    return entry;
}

static void copy_item_to_other_key(struct check_fixture *fixture)
{
    struct check_fixture_entry item = with_other_key(fixture, check_fixture_item(fixture));
    check_fixture_put(fixture, &item);
}

static void move_item_to_other_partition(struct check_fixture *fixture)
{
    struct check_fixture_entry item = check_fixture_item(fixture);
    const struct partition *partitions = fixture->orders->partitions;
    check_fixture_delete(fixture, &item);
    item.place.partition = partitions[item.place.partition == partitions[0].id ? 1 : 0].id;
    check_fixture_put(fixture, &item);
}

static void put_item_without_key(struct check_fixture *fixture)
{
    struct check_fixture_entry item = check_fixture_item(fixture);
    item.key = BYTES("short");
    item.value = item_fixture_read(fixture->arena, "{'p':{'S':'a'},'s':{'S':'no number'}}").encoded;
    check_fixture_put(fixture, &item);
}

static void delete_item(struct check_fixture *fixture)
{
    struct check_fixture_entry item = check_fixture_item(fixture);
    check_fixture_delete(fixture, &item);
}

static struct check_fixture_entry entry_of_first(struct check_fixture *fixture, size_t index)
{
    struct check_fixture_entry item = check_fixture_item(fixture);
    return check_fixture_entry_of(fixture, index, &item);
}

static void delete_entry(struct check_fixture *fixture)
{
    struct check_fixture_entry entry = entry_of_first(fixture, CHECK_FIXTURE_BY_GROUP);
    check_fixture_delete(fixture, &entry);
}

static void delete_local_entry(struct check_fixture *fixture)
{
    struct check_fixture_entry entry = entry_of_first(fixture, CHECK_FIXTURE_BY_DATE);
    check_fixture_delete(fixture, &entry);
}

static void put_stray_entry(struct check_fixture *fixture)
{
    struct check_fixture_entry entry =
        with_other_key(fixture, entry_of_first(fixture, CHECK_FIXTURE_MULTIPLE));
    check_fixture_put(fixture, &entry);
}

static void move_entry_to_other_partition(struct check_fixture *fixture)
{
    struct check_fixture_entry entry = entry_of_first(fixture, CHECK_FIXTURE_ALL);
    const struct partition *partitions = fixture->orders->indexes[CHECK_FIXTURE_ALL].partitions;
    check_fixture_delete(fixture, &entry);
    entry.place.partition = partitions[entry.place.partition == partitions[0].id ? 1 : 0].id;
    check_fixture_put(fixture, &entry);
}

/* The same size, another content. */
static void put_entry_with_other_content(struct check_fixture *fixture)
{
    struct check_fixture_entry entry = entry_of_first(fixture, CHECK_FIXTURE_ALL);
    struct item item;
    struct item_builder builder;
    struct item_iter iter;
    struct bytes name;
    struct value value;
    struct buffer changed;
    assert_true(item_open(entry.value, &item));
    item_builder_init(&builder, fixture->arena);
    item_iter_init(&iter, &item);
    while (item_iter_next(&iter, &name, &value))
        item_builder_add(&builder, name, value.encoded);
    buffer_init(&changed, fixture->arena);
    value_append_string(&changed, BYTES("?"));
    item_builder_add(&builder, BYTES("note"), buffer_bytes(&changed));
    entry.value = item_builder_finish(&builder).encoded;
    check_fixture_put(fixture, &entry);
}

static void put_entry_with_too_much(struct check_fixture *fixture)
{
    struct check_fixture_entry entry = entry_of_first(fixture, CHECK_FIXTURE_BY_NUMBER);
    entry.value = check_fixture_item(fixture).value;
    check_fixture_put(fixture, &entry);
}

static void put_entry_without_key(struct check_fixture *fixture)
{
    struct check_fixture_entry entry = entry_of_first(fixture, CHECK_FIXTURE_ALL);
    entry.key = BYTES("x");
    entry.value = item_fixture_read(fixture->arena, "{'p':{'S':'a'}}").encoded;
    check_fixture_put(fixture, &entry);
}

static void flip_entry(struct check_fixture *fixture)
{
    struct check_fixture_entry entry =
        check_fixture_flip(fixture, entry_of_first(fixture, CHECK_FIXTURE_BY_DATE));
    check_fixture_put(fixture, &entry);
}

static void change_stats(struct check_fixture *fixture, const struct table_stats *table,
                         const struct table_stats *index)
{
    struct check_fixture_entry item = check_fixture_item(fixture);
    struct item_address place = { .address = { item.place, item.key } };
    struct engine_address address = table_stats_address(&place);
    struct table_stats indexes[CHECK_FIXTURE_INDEX_COUNT] = { { 0 } };
    struct engine_write *write;
    indexes[CHECK_FIXTURE_BY_GROUP] = *index;
    assert_int_equal(engine_write_begin(fixture->engine, &address, 1, &write), ENGINE_OK);
    assert_int_equal(table_stats_change(write, fixture->orders, &address, table, indexes),
                     ENGINE_OK);
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
}

static void count_one_item_more(struct check_fixture *fixture)
{
    change_stats(fixture, &(struct table_stats){ .item_count = 1 }, &(struct table_stats){ 0 });
}

static void count_one_byte_less_in_an_index(struct check_fixture *fixture)
{
    change_stats(fixture, &(struct table_stats){ 0 }, &(struct table_stats){ .size = -1 });
}

static struct check_fixture_entry table_stats_record(struct check_fixture *fixture,
                                                     struct bytes key)
{
    return (struct check_fixture_entry){ .place = { .owner = fixture->orders->id,
                                                    .partition = fixture->orders->partitions[0].id,
                                                    .space = ENGINE_SPACE_STATS },
                                         .key = key,
                                         .value = BYTES("nonsense") };
}

static void damage_stats(struct check_fixture *fixture)
{
    struct check_fixture_entry record = table_stats_record(fixture, BYTES("\x0f"));
    check_fixture_put(fixture, &record);
}

static void put_unknown_stats(struct check_fixture *fixture)
{
    struct check_fixture_entry record = table_stats_record(fixture, BYTES("\x10"));
    check_fixture_put(fixture, &record);
    record.key = BYTES("\x01\x01");
    check_fixture_put(fixture, &record);
}

#define COLLECTION "table orders, partition [0-9]*, item collection */*: "
#define ITEM "table orders, partition [0-9]*, item */c*\\\\x00\\\\x01*: "
#define ENTRY(index) "table orders, index " index ", partition [0-9]*, entry */*: "
#define TABLE_STATS(index, told, found)                                                            \
    "table orders" index ": its statistics tell of " told " bytes, and there are " found " bytes"

static const struct {
    const char *name;
    void (*damage)(struct check_fixture *fixture);
    const char *want[PROBLEMS_MAX];
} cases[] = {
    { "a flipped bit in an item", flip_item, { ITEM "is damaged" } },
    { "an item under another key",
      copy_item_to_other_key,
      { ITEM "is stored under another key than its own",
        TABLE_STATS("", "40 items of *", "41 of *") } },
    { "an item in another partition",
      move_item_to_other_partition,
      { COLLECTION "its record tells of * bytes, and there are *",
        ITEM "is stored in another partition than its own", ENTRY("by-date") "belongs to no item",
        ENTRY("by-number") "belongs to no item", ENTRY("by-group") "belongs to no item",
        ENTRY("all") "belongs to no item", ENTRY("multiple") "belongs to no item" } },
    { "an item whose attributes are no key",
      put_item_without_key,
      { "table orders, partition [0-9]*, item short: does not have the table's key",
        TABLE_STATS("", "40 items of *", "41 of *") } },
    { "an item that is gone",
      delete_item,
      { COLLECTION "its record tells of * bytes, and there are *",
        ENTRY("by-date") "belongs to no item", ENTRY("by-number") "belongs to no item",
        ENTRY("by-group") "belongs to no item", ENTRY("all") "belongs to no item",
        ENTRY("multiple") "belongs to no item", TABLE_STATS("", "40 items of *", "39 of *") } },
    { "a missing entry",
      delete_entry,
      { ITEM "has no entry in index by-group",
        TABLE_STATS(", index by-group", "40 entries of *", "39 of *") } },
    { "a missing entry of a local index",
      delete_local_entry,
      { ITEM "has no entry in index by-date",
        TABLE_STATS(", index by-date", "40 entries of *", "39 of *") } },
    { "a stray entry",
      put_stray_entry,
      { ENTRY("multiple") "is not one that its item has",
        TABLE_STATS(", index multiple", "40 entries of *", "41 of *") } },
    { "an entry in another partition",
      move_entry_to_other_partition,
      { ITEM "has no entry in index all", ENTRY("all") "is not one that its item has" } },
    { "an entry with other content",
      put_entry_with_other_content,
      { ITEM "does not agree with its entry in index all" } },
    { "an entry that holds what is not projected",
      put_entry_with_too_much,
      { ITEM "does not agree with its entry in index by-number",
        TABLE_STATS(", index by-number", "40 entries of *", "40 of *") } },
    { "an entry whose attributes are no key",
      put_entry_without_key,
      { "table orders, index all, partition *, entry x: does not have the table's key",
        TABLE_STATS(", index all", "40 entries of *", "41 of *") } },
    { "a flipped bit in an entry",
      flip_entry,
      { ITEM "does not agree with its entry in index by-date", ENTRY("by-date") "is damaged" } },
    { "statistics that count an item too many",
      count_one_item_more,
      { TABLE_STATS("", "41 items of *", "40 of *") } },
    { "statistics of an index that miss a byte",
      count_one_byte_less_in_an_index,
      { TABLE_STATS(", index by-group", "40 entries of *", "40 of *") } },
    { "damaged statistics",
      damage_stats,
      { "table orders, its statistics: cannot be read: corrupt" } },
    { "statistics beyond the last shard",
      put_unknown_stats,
      { "table orders, partition [0-9]*: a record of its statistics is unknown",
        "table orders, partition [0-9]*: a record of its statistics is unknown" } },
};

static void each_kind_of_damage_is_found_and_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct check_fixture fixture;
        print_message("%s\n", cases[i].name);
        check_fixture_open(&fixture);
        cases[i].damage(&fixture);
        check_fixture_expect(&fixture, cases[i].want);
        check_fixture_close(&fixture);
    }
}

/* Stores the definition anew, with the index in a status. */
static void set_index_status(struct check_fixture *fixture, enum index_status status,
                             struct bytes backfilled)
{
    fixture->orders->indexes[CHECK_FIXTURE_BY_GROUP].status = status;
    fixture->orders->indexes[CHECK_FIXTURE_BY_GROUP].backfilled = backfilled;
    struct engine_address address =
        catalogue_record_address(fixture->arena, LAYOUT_KEY_TABLE, BYTES("orders"));
    struct check_fixture_entry record = {
        .place = address.place,
        .key = address.key,
        .value = table_definition_encode(fixture->arena, fixture->orders).encoded,
    };
    check_fixture_put(fixture, &record);
}

/* An index that is still being built need not have every entry, but has no wrong one. */
static void an_index_under_construction_may_lack_entries(void **state)
{
    struct check_fixture *fixture = *state;
    static const char *const want[] = {
        TABLE_STATS(", index by-group", "40 entries of *", "39 of *"),
        NULL,
    };
    delete_entry(fixture);
    set_index_status(fixture, INDEX_BACKFILLING, BYTES(""));
    check_fixture_expect(fixture, want);
    set_index_status(fixture, INDEX_ALLOCATING, BYTES(""));
    check_fixture_expect(fixture, want);
}

/* Up to where the backfill has come. */
static void an_index_under_construction_has_entries_up_to_its_position(void **state)
{
    struct check_fixture *fixture = *state;
    static const char *const want[] = {
        ITEM "has no entry in index by-group",
        TABLE_STATS(", index by-group", "40 entries of *", "39 of *"),
        NULL,
    };
    struct check_fixture_entry item = check_fixture_item(fixture);
    uint8_t behind[BACKFILLED_SIZE_MAX];
    memcpy(behind, item.key.data, item.key.len);
    behind[item.key.len] = 0;
    delete_entry(fixture);
    set_index_status(fixture, INDEX_BACKFILLING, item.key);
    check_fixture_expect(fixture, want + 1);
    set_index_status(fixture, INDEX_BACKFILLING, bytes_of(behind, item.key.len + 1));
    check_fixture_expect(fixture, want);
}

static void nothing_holds_for_an_index_that_is_being_deleted(void **state)
{
    struct check_fixture *fixture = *state;
    static const char *const want[] = { NULL };
    struct check_fixture_entry item = check_fixture_item(fixture);
    struct check_fixture_entry stray =
        check_fixture_entry_of(fixture, CHECK_FIXTURE_BY_GROUP, &item);
    check_fixture_delete(fixture, &stray);
    stray.key = BYTES("stray key");
    check_fixture_put(fixture, &stray);
    set_index_status(fixture, INDEX_DELETING, BYTES(""));
    check_fixture_expect(fixture, want);
}

/* --- Failures --- */

static void count_line(void *context, const char *line)
{
    (void)line;
    ++*(size_t *)context;
}

static void each_failure_to_read_is_a_problem(void **state)
{
    struct check_fixture *fixture = *state;
    for (uint64_t call = 1;; call++) {
        size_t lines = 0;
        failing_engine_set(fixture->engine,
                           &(struct failing_engine_plan){ .call = call, .status = ENGINE_IO });
        struct check_result result = check_store(fixture->engine, count_line, &lines);
        if (!failing_engine_struck(fixture->engine)) {
            assert_int_equal(result.problem_count, 0);
            assert_true(call > ITEMS);
            return;
        }
        assert_true(result.problem_count > 0);
        assert_int_equal(result.problem_count, lines);
    }
}

static enum engine_status refuse_get(struct engine_view *view, const struct engine_address *address,
                                     struct engine_value *out)
{
    (void)view;
    (void)address;
    (void)out;
    return ENGINE_CORRUPT;
}

/* No point can be read, so each item and each index is a failure. */
static void so_much_unreadable_ends_the_check(void **state)
{
    struct check_fixture *fixture = *state;
    size_t lines = 0;
    for (int i = 0; i < CHECK_REPORT_UNREADABLE_MAX / CHECK_FIXTURE_INDEX_COUNT; i++) {
        char body[256];
        snprintf(body, sizeof body,
                 "{'TableName':'orders','Item':{'p':{'S':'more'},'s':{'N':'%d'},'d':{'S':'d'},"
                 "'g':{'S':'g'},'h':{'N':'1'},'x':{'S':'x'}}}",
                 i);
        assert_true(api_fixture_call(&fixture->api, "PutItem", body));
    }
    const struct engine_ops *whole = fixture->engine->ops;
    struct engine_ops broken = *whole;
    broken.view_get = refuse_get;
    fixture->engine->ops = &broken;
    struct check_result result = check_store(fixture->engine, count_line, &lines);
    fixture->engine->ops = whole;
    assert_true(result.gave_up);
    /* The lookups of an item, and of a collection before it, are not broken off, and the places are
     * listed all the same. */
    assert_in_range(lines, CHECK_REPORT_UNREADABLE_MAX,
                    CHECK_REPORT_UNREADABLE_MAX + CHECK_FIXTURE_INDEX_COUNT + 1);
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORE(a_store_that_was_only_written_to_is_clean),
        WITH_STORE(a_store_without_tables_is_clean),
        cmocka_unit_test(each_kind_of_damage_is_found_and_named),
        WITH_STORE(an_index_under_construction_may_lack_entries),
        WITH_STORE(an_index_under_construction_has_entries_up_to_its_position),
        WITH_STORE(nothing_holds_for_an_index_that_is_being_deleted),
        WITH_STORE(each_failure_to_read_is_a_problem),
        WITH_STORE(so_much_unreadable_ends_the_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
