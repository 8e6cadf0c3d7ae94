/* test_bulk_load.c -- a table that was filled in bulk is what single writes would have made it:
 * `stator check` compares items, entries, statistics and sizes of item collections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "check/check.h"
#include "engine_fixture.h"
#include "item_fixture.h"
#include "jobs/bulk_load.h"
#include "jobs/job_runner.h"
#include "model/error.h"
#include "model/table_definition.h"
#include "table/catalogue.h"
#include "table/table_stats.h"
#include "table_fixture.h"

static struct {
    struct engine_fixture engine;
    struct catalogue *catalogue;
    struct arena *arena;
    struct table *table;
} fixture;

/* Key p and s, the global index "index" on g, and the local index "local" on p and l. */
static void create_table(void)
{
    struct arena *arena = fixture.arena;
    struct table_definition draft = table_fixture_draft(arena, BYTES("table"));
    table_fixture_add_index(arena, &draft, INDEX_ACTIVE);
    draft.key.has_range = true;
    draft.key.range = (struct key_attribute){ .name = BYTES("s"), .type = VALUE_N };
    const struct key_attribute local = { .name = BYTES("l"), .type = VALUE_S };
    struct key_attribute *attributes =
        arena_alloc(arena, (draft.attribute_count + 2) * sizeof *attributes);
    memcpy(attributes, draft.attributes, draft.attribute_count * sizeof *attributes);
    attributes[draft.attribute_count++] = draft.key.range;
    attributes[draft.attribute_count++] = local;
    draft.attributes = attributes;
    struct index_definition *indexes = arena_alloc_zeroed(arena, 2 * sizeof *indexes);
    indexes[0] = (struct index_definition){ .name = BYTES("local"),
                                            .hash = { draft.key.hash },
                                            .hash_count = 1,
                                            .range = { local },
                                            .range_count = 1,
                                            .projection = PROJECTION_ALL,
                                            .on_demand_max = { UNITS_UNSET, UNITS_UNSET },
                                            .warm_throughput = { UNITS_UNSET, UNITS_UNSET } };
    indexes[1] = draft.indexes[0];
    draft.indexes = indexes;
    draft.index_count = 2;
    assert_int_equal(catalogue_create(fixture.catalogue, arena, &draft), ENGINE_OK);
    fixture.table = catalogue_find(fixture.catalogue, BYTES("table"));
}

static int set_up(void **state)
{
    (void)state;
    enum engine_status status;
    fixture.arena = arena_create();
    engine_fixture_open(&fixture.engine, ENGINE_FIXTURE_ROCKSDB_MEMORY);
    fixture.catalogue = catalogue_open(fixture.engine.engine, &status);
    assert_non_null(fixture.catalogue);
    create_table();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    table_release(fixture.table);
    catalogue_close(fixture.catalogue);
    engine_fixture_close(&fixture.engine);
    arena_destroy(fixture.arena);
    return 0;
}

static struct bulk_load *create_load(bool keys_may_repeat)
{
    return bulk_load_create(&(struct bulk_load_options){ .engine = fixture.engine.engine,
                                                         .table = table_definition(fixture.table),
                                                         .keys_may_repeat = keys_may_repeat });
}

static void add(struct bulk_load *load, int number, const char *rest)
{
    char text[256];
    struct error err;
    error_init(&err, fixture.arena);
    snprintf(text, sizeof text, "{'p':{'S':'%d'},'s':{'N':'%d'}%s}", number / 10, number % 10,
             rest);
    struct item item = item_fixture_read(fixture.arena, text);
    if (bulk_load_is_full(load))
        assert_int_equal(bulk_load_write(load, NULL), ENGINE_OK);
    assert_true(bulk_load_add(load, &item, &err));
}

static void print_problem(void *context, const char *line)
{
    (void)context;
    print_message("%s\n", line);
}

static void expect_table(int64_t items, int64_t local, int64_t global)
{
    struct table_stats stats, indexes[2];
    struct engine_view *view = engine_fixture_view(fixture.engine.engine);
    assert_int_equal(table_stats_sum(view, table_definition(fixture.table), &stats, indexes),
                     ENGINE_OK);
    assert_int_equal(stats.item_count, items);
    assert_int_equal(indexes[0].item_count, local);
    assert_int_equal(indexes[1].item_count, global);
    engine_view_close(view);
    struct check_result result = check_store(fixture.engine.engine, print_problem, NULL);
    assert_int_equal(result.problem_count, 0);
    assert_int_equal(result.item_count, items);
}

static void loaded_table_is_whole(void **state)
{
    (void)state;
    enum { ITEMS = BULK_LOAD_BATCH_ITEMS * 2 + 17 };
    struct bulk_load *load = create_load(false);
    for (int i = 0; i < ITEMS; i++)
        add(load, i, i % 3 == 0 ? ",'g':{'S':'x'}" : i % 3 == 1 ? ",'l':{'S':'y'}" : "");
    assert_int_equal(bulk_load_write(load, NULL), ENGINE_OK);
    assert_int_equal(bulk_load_wait(load), ENGINE_OK);
    bulk_load_destroy(load);
    expect_table(ITEMS, (ITEMS + 1) / 3, (ITEMS + 2) / 3);
}

static void later_item_replaces_an_earlier_one_of_its_key(void **state)
{
    (void)state;
    enum { ITEMS = BULK_LOAD_BATCH_ITEMS * 3 / 2 };
    struct bulk_load *load = create_load(true);
    for (int i = 0; i < ITEMS; i++)
        add(load, i, ",'g':{'S':'x'},'l':{'S':'y'}");
    for (int i = 0; i < ITEMS; i++) /* In batches of their own. */
        add(load, i, i % 2 == 0 ? ",'g':{'S':'other'}" : ",'l':{'S':'longer'},'a':{'S':'more'}");
    for (int i = 0; i < 10; i++) /* In one batch. */
        add(load, 3, i % 2 == 0 ? "" : ",'g':{'S':'last'}");
    assert_int_equal(bulk_load_write(load, NULL), ENGINE_OK);
    assert_int_equal(bulk_load_wait(load), ENGINE_OK);
    bulk_load_destroy(load);
    expect_table(ITEMS, ITEMS / 2 - 1, ITEMS / 2 + 1);
}

static void item_without_key_is_refused_and_nothing_is_added(void **state)
{
    (void)state;
    struct error err;
    struct bulk_load *load = create_load(true);
    struct item item = item_fixture_read(fixture.arena, "{'p':{'S':'1'}}");
    error_init(&err, fixture.arena);
    assert_false(bulk_load_add(load, &item, &err));
    assert_int_equal(bulk_load_count(load), 0);
    bulk_load_destroy(load);
    expect_table(0, 0, 0);
}

/* Two shards more than the addresses of a write would be an assertion of the engine. */
static void batch_is_full_before_the_write_has_too_many_addresses(void **state)
{
    (void)state;
    enum { ITEMS = 5000 };
    struct bulk_load *load = create_load(false);
    size_t largest = 0;
    for (int i = 0; i < ITEMS; i++) {
        add(load, i * 10, ",'l':{'S':'y'}"); /* A collection each. */
        largest = bulk_load_count(load) > largest ? bulk_load_count(load) : largest;
    }
    assert_true(largest < ENGINE_WRITE_ADDRESSES_MAX);
    assert_int_equal(bulk_load_write(load, NULL), ENGINE_OK);
    assert_int_equal(bulk_load_wait(load), ENGINE_OK);
    bulk_load_destroy(load);
    expect_table(ITEMS, ITEMS, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(loaded_table_is_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(later_item_replaces_an_earlier_one_of_its_key, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(item_without_key_is_refused_and_nothing_is_added, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(batch_is_full_before_the_write_has_too_many_addresses,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
