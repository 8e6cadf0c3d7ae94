/* test_txn_indexes.c -- items, their index entries, the sizes of their collections and the
 * statistics are one step, whatever fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "failing_engine.h"
#include "index/index_entry.h"
#include "index_fixture.h"
#include "item_fixture.h"
#include "model/error.h"
#include "reference_engine.h"
#include "table/collection_size.h"
#include "table/table_stats.h"
#include "txn/txn.h"

struct fixture {
    struct arena *arena;
    struct engine *engine;
};

static int set_up(void **state)
{
    struct fixture *fixture = malloc(sizeof *fixture);
    fixture->arena = arena_create();
    fixture->engine = failing_engine_create(reference_engine_create());
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    engine_close(fixture->engine);
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

/* --- Writing --- */

enum { WRITES_MAX = 4 };
struct write {
    enum txn_effect effect;
    const char *item;
};
struct plan {
    struct txn txn;
    struct txn_item items[WRITES_MAX];
    struct item replacements[WRITES_MAX];
    const struct write *writes;
    enum engine_status status;
};

static struct plan *of_txn(struct txn *txn)
{
    return (struct plan *)((char *)txn - offsetof(struct plan, txn));
}

static bool decide(struct txn *txn)
{
    for (size_t i = 0; i < txn->item_count; i++) {
        txn->items[i].effect = of_txn(txn)->writes[i].effect;
        txn->items[i].replacement = of_txn(txn)->replacements[i];
    }
    return true;
}

static void done(struct txn *txn, enum engine_status status)
{
    of_txn(txn)->status = status;
}

static enum engine_status run(struct fixture *fixture, const struct write *writes, size_t count)
{
    struct plan plan = { .txn = { .arena = fixture->arena,
                                  .engine = fixture->engine,
                                  .clock = &clock_system,
                                  .items = plan.items,
                                  .item_count = count,
                                  .decide = decide,
                                  .done = done },
                         .writes = writes };
    for (size_t i = 0; i < count; i++) {
        struct error err;
        error_init(&err, fixture->arena);
        plan.replacements[i] = item_fixture_read(fixture->arena, writes[i].item);
        plan.items[i].table = &index_fixture_table;
        assert_true(item_address_of_item(fixture->arena, &index_fixture_table,
                                         &plan.replacements[i], &plan.items[i].place, &err));
    }
    txn_start(&plan.txn);
    return plan.status;
}

/* --- What is stored --- */

typedef void visitor(struct fixture *fixture, struct engine_view *view,
                     const struct engine_entry *entry, struct table_stats *table,
                     struct table_stats *indexes);

static void visit(struct fixture *fixture, struct engine_view *view, struct engine_place place,
                  visitor *function, struct table_stats *table, struct table_stats *indexes)
{
    struct engine_range range = { .place = place };
    struct engine_scan *scan;
    struct engine_entry entry;
    assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
    while (engine_scan_next(scan, &entry) == ENGINE_OK)
        function(fixture, view, &entry, table, indexes);
    engine_scan_close(scan);
}

/* Counts an item and finds each of its entries with the bytes it must have. */
static void visit_item(struct fixture *fixture, struct engine_view *view,
                       const struct engine_entry *entry, struct table_stats *table,
                       struct table_stats *indexes)
{
    struct item item;
    assert_true(item_open(entry->value, &item));
    table->item_count++;
    table->size += item.size;
    for (size_t i = 0; i < INDEX_FIXTURE_COUNT; i++) {
        const struct index_definition *index = &index_fixture_table.indexes[i];
        struct item_address place;
        struct engine_value value = { 0 };
        if (!index_entry_locate(fixture->arena, &index_fixture_table, index, &item, &place))
            continue;
        struct item want = index_entry_project(fixture->arena, &index_fixture_table, index, &item);
        assert_int_equal(engine_view_get(view, &place.address, &value), ENGINE_OK);
        assert_true(bytes_equal(value.bytes, want.encoded));
        engine_value_release(&value);
        indexes[i].item_count++;
        indexes[i].size += want.size;
    }
}

static void count_entry(struct fixture *fixture, struct engine_view *view,
                        const struct engine_entry *entry, struct table_stats *table,
                        struct table_stats *indexes)
{
    (void)fixture;
    (void)view;
    (void)entry;
    (void)indexes;
    table->item_count++;
}

/* The size of an item and of its entry in the local index, the first one. */
static int64_t size_in_collection(struct fixture *fixture, const struct item *item)
{
    const struct index_definition *local = &index_fixture_table.indexes[INDEX_FIXTURE_LOCAL];
    struct item_address ignored;
    int64_t size = item->size;
    if (index_entry_locate(fixture->arena, &index_fixture_table, local, item, &ignored))
        size += index_entry_project(fixture->arena, &index_fixture_table, local, item).size;
    return size;
}

/* Takes an item, and what it adds to its collection's size, from `table`, where the records have
 * put them. */
static void settle_item(struct fixture *fixture, struct engine_view *view,
                        const struct engine_entry *entry, struct table_stats *table,
                        struct table_stats *indexes)
{
    struct item item;
    struct item_address place;
    struct error err;
    struct engine_value value;
    int64_t told;
    (void)indexes;
    error_init(&err, fixture->arena);
    assert_true(item_open(entry->value, &item));
    assert_true(item_address_of_item(fixture->arena, &index_fixture_table, &item, &place, &err));
    struct engine_address address = collection_size_address(&place);
    assert_int_equal(engine_view_get(view, &address, &value), ENGINE_OK);
    assert_true(collection_size_decode(value.bytes, &told));
    engine_value_release(&value);
    assert_in_range(told, size_in_collection(fixture, &item), INT64_MAX);
    table->size -= size_in_collection(fixture, &item);
}

static void add_record(struct fixture *fixture, struct engine_view *view,
                       const struct engine_entry *entry, struct table_stats *table,
                       struct table_stats *indexes)
{
    int64_t size;
    (void)fixture;
    (void)view;
    (void)indexes;
    assert_true(collection_size_decode(entry->value, &size));
    table->item_count++;
    table->size += size;
}

/* The records tell the size of all items and local entries, and each item's collection has one. */
static void check_collections(struct fixture *fixture, struct engine_view *view)
{
    const struct table_definition *table = &index_fixture_table;
    struct table_stats sum = { 0 };
    for (size_t p = 0; p < table->partition_count; p++) {
        struct engine_place place = item_address_of_hash(table, table->partitions[p].first_hash);
        place.space = ENGINE_SPACE_COLLECTIONS;
        visit(fixture, view, place, add_record, &sum, NULL);
        place.space = ENGINE_SPACE_ITEMS;
        visit(fixture, view, place, settle_item, &sum, NULL);
    }
    assert_int_equal(sum.size, 0);
}

/* Every item has its entries, there are no others, and the statistics tell the same. Returns the
 * number of items. */
static int64_t check(struct fixture *fixture)
{
    const struct table_definition *table = &index_fixture_table;
    struct table_stats sum = { 0 }, want = { 0 };
    struct table_stats sums[INDEX_FIXTURE_COUNT] = { { 0 } },
                       wants[INDEX_FIXTURE_COUNT] = { { 0 } };
    struct table_stats entries[INDEX_FIXTURE_COUNT] = { { 0 } };
    struct engine_view *view;
    assert_int_equal(engine_view_open(fixture->engine, ENGINE_STRONG, &view), ENGINE_OK);
    for (size_t p = 0; p < table->partition_count; p++)
        visit(fixture, view, item_address_of_hash(table, table->partitions[p].first_hash),
              visit_item, &want, wants);
    for (size_t i = 0; i < INDEX_FIXTURE_COUNT; i++) {
        const struct index_definition *index = &table->indexes[i];
        size_t count = index->global ? index->partition_count : table->partition_count;
        const struct partition *partitions = index->global ? index->partitions : table->partitions;
        for (size_t p = 0; p < count; p++)
            visit(fixture, view, item_address_of_index_hash(table, index, partitions[p].first_hash),
                  count_entry, &entries[i], NULL);
    }
    check_collections(fixture, view);
    assert_int_equal(table_stats_sum(view, table, &sum, sums), ENGINE_OK);
    engine_view_close(view);
    for (size_t i = 0; i < INDEX_FIXTURE_COUNT; i++)
        assert_int_equal(entries[i].item_count, wants[i].item_count);
    assert_memory_equal(&sum, &want, sizeof sum);
    assert_memory_equal(sums, wants, sizeof sums);
    return sum.item_count;
}

/* --- Tests --- */

#define KEY(p, s) "{'p':{'S':'" p "'},'s':{'N':'" s "'}"
static const struct {
    int64_t count; /* Of items afterwards. */
    struct write writes[WRITES_MAX];
} steps[] = {
    { 1,
      { { TXN_PUT,
          KEY("a", "1") ",'l':{'S':'1'},'g':{'S':'1'},'h':{'N':'1'},'b':{'B':'AA=='}}" } } },
    /* The same item in three ways: in place, key moves, keys go. */
    { 1,
      { { TXN_PUT, KEY("a", "1") ",'l':{'S':'1'},'g':{'S':'1'},'h':{'N':'1'},'b':{'B':'AA=='},"
                                 "'x':{'S':'x'},'z':{'S':'long'}}" } } },
    { 1,
      { { TXN_PUT,
          KEY("a", "1") ",'l':{'S':'2'},'g':{'S':'2'},'h':{'N':'2'},'b':{'B':'AQ=='}}" } } },
    { 1, { { TXN_PUT, KEY("a", "1") ",'g':{'S':'2'}}" } } },
    { 1, { { TXN_DELETE, KEY("nobody", "1") "}" } } },
    { 1, { { TXN_KEEP, KEY("a", "1") "}" } } },
    /* Several at once, of one shard and of others. */
    { 3,
      { { TXN_PUT, KEY("a", "1") ",'l':{'S':'1'}}" },
        { TXN_PUT, KEY("a", "2") ",'l':{'S':'1'},'g':{'S':'1'},'h':{'N':'1'}}" },
        { TXN_PUT, KEY("b", "1") ",'g':{'S':'1'},'h':{'N':'1'}}" },
        { TXN_DELETE, KEY("c", "1") "}" } } },
    { 2,
      { { TXN_DELETE, KEY("a", "1") "}" },
        { TXN_PUT, KEY("a", "2") ",'l':{'S':'1'},'g':{'S':'1'},'h':{'N':'5'}}" },
        { TXN_KEEP, KEY("b", "1") "}" } } },
    { 0, { { TXN_DELETE, KEY("a", "2") "}" }, { TXN_DELETE, KEY("b", "1") "}" } } },
};

static size_t count_of(const struct write *list)
{
    size_t count = 0;
    while (count < WRITES_MAX && list[count].item != NULL)
        count++;
    return count;
}

static void entries_collections_and_statistics_follow_the_items(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        assert_int_equal(run(fixture, steps[i].writes, count_of(steps[i].writes)), ENGINE_OK);
        assert_int_equal(check(fixture), steps[i].count);
    }
}

static void a_failure_leaves_everything_in_step(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        bool struck = true;
        for (uint64_t call = 1; struck; call++) {
            failing_engine_set(fixture->engine,
                               &(struct failing_engine_plan){ .call = call, .status = ENGINE_IO });
            enum engine_status status = run(fixture, steps[i].writes, count_of(steps[i].writes));
            struck = failing_engine_struck(fixture->engine);
            failing_engine_set(fixture->engine, &(struct failing_engine_plan){ 0 });
            assert_int_equal(status, struck ? ENGINE_IO : ENGINE_OK);
            assert_int_equal(check(fixture),
                             struck ? (i == 0 ? 0 : steps[i - 1].count) : steps[i].count);
        }
    }
}

static void a_conflict_derives_the_entries_again(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        failing_engine_set(fixture->engine,
                           &(struct failing_engine_plan){
                               .call = 1, .status = ENGINE_CONFLICT, .commits_only = true });
        assert_int_equal(run(fixture, steps[i].writes, count_of(steps[i].writes)), ENGINE_OK);
        failing_engine_set(fixture->engine, &(struct failing_engine_plan){ 0 });
        assert_int_equal(check(fixture), steps[i].count);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(entries_collections_and_statistics_follow_the_items),
        TEST(a_failure_leaves_everything_in_step),
        TEST(a_conflict_derives_the_entries_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
