/* test_catalogue.c -- tables are found when they are durable, and gone data stays gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "base/hazard.h"
#include "engine_fixture.h"
#include "failing_engine.h"
#include "model/table_definition.h"
#include "reference_engine.h"
#include "table/catalogue.h"
#include "table/table_runtime.h"
#include "table_fixture.h"

struct fixture {
    struct arena *arena;
    struct engine *engine; /* The failing wrapper around the reference engine. */
    struct catalogue *catalogue;
};

static struct catalogue *open_catalogue(struct engine *engine)
{
    enum engine_status status;
    struct catalogue *catalogue = catalogue_open(engine, &status);
    assert_int_equal(status, ENGINE_OK);
    return catalogue;
}

static int set_up(void **state)
{
    struct fixture *fixture = malloc(sizeof *fixture);
    fixture->arena = arena_create();
    fixture->engine = failing_engine_create(reference_engine_create());
    fixture->catalogue = open_catalogue(fixture->engine);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    catalogue_close(fixture->catalogue);
    engine_close(fixture->engine);
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

/* As after a restart: a new catalogue on the same store. */
static void reopen(struct fixture *fixture)
{
    catalogue_close(fixture->catalogue);
    fixture->catalogue = open_catalogue(fixture->engine);
}

static enum engine_status create(struct fixture *fixture, const char *name)
{
    struct table_definition definition = table_fixture_draft(fixture->arena, bytes_from_text(name));
    return catalogue_create(fixture->catalogue, fixture->arena, &definition);
}

static bool has(struct fixture *fixture, const char *name)
{
    struct table *table = catalogue_find(fixture->catalogue, bytes_from_text(name));
    table_release(table);
    return table != NULL;
}

static uint64_t id_of(struct fixture *fixture, const char *name)
{
    struct table *table = catalogue_find(fixture->catalogue, bytes_from_text(name));
    uint64_t id = table_definition(table)->id;
    table_release(table);
    return id;
}

static void a_created_table_is_found_also_after_a_restart(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(create(fixture, "orders"), ENGINE_OK);
    assert_true(has(fixture, "orders"));
    assert_false(has(fixture, "order"));
    reopen(fixture);
    assert_true(has(fixture, "orders"));
}

static void partitions_cover_all_hashes_evenly(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(create(fixture, "orders"), ENGINE_OK);
    struct table *table = catalogue_find(fixture->catalogue, BYTES("orders"));
    const struct table_definition *definition = table_definition(table);
    assert_int_equal(definition->partition_count, CATALOGUE_ON_DEMAND_PARTITIONS);
    for (uint64_t i = 0; i < CATALOGUE_ON_DEMAND_PARTITIONS; i++)
        assert_int_equal(definition->partitions[i].first_hash, i << 62);
    table_release(table);
}

static void provisioned_throughput_decides_the_number_of_partitions(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *name;
        int64_t read_units, write_units;
        size_t want;
    } cases[] = {
        { "least", 1, 1, 1 },
        { "reads-of-one", 3000, 0, 1 },
        { "writes-of-one", 0, 1000, 1 },
        { "both-of-one", 1500, 500, 1 },
        { "reads-of-two", 3001, 0, 2 },
        { "writes-of-two", 0, 1001, 2 },
        { "both-of-two", 3000, 1000, 2 },
        { "both-of-three", 3000, 1001, 3 },
        { "bounded", 40000, 1000000, 64 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct table_definition definition =
            table_fixture_draft(fixture->arena, bytes_from_text(cases[i].name));
        definition.billing_mode = BILLING_PROVISIONED;
        definition.throughput = (struct throughput){ .read_units = cases[i].read_units,
                                                     .write_units = cases[i].write_units };
        assert_int_equal(catalogue_create(fixture->catalogue, fixture->arena, &definition),
                         ENGINE_OK);
        struct table *table = catalogue_find(fixture->catalogue, bytes_from_text(cases[i].name));
        assert_int_equal(table_definition(table)->partition_count, cases[i].want);
        table_release(table);
    }
}

static void a_new_table_has_the_hash_of_the_service(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(create(fixture, "orders"), ENGINE_OK);
    reopen(fixture);
    struct table *table = catalogue_find(fixture->catalogue, BYTES("orders"));
    assert_int_equal(table_definition(table)->hash, TABLE_HASH_MD5);
    table_release(table);
}

static void a_global_index_has_partitions_of_its_own(void **state)
{
    struct fixture *fixture = *state;
    struct table_definition orders = table_fixture_draft(fixture->arena, BYTES("orders"));
    struct index_definition indexes[] = {
        { .name = BYTES("local"), .range_count = 1 },
        { .name = BYTES("global"), .global = true },
    };
    for (size_t i = 0; i < COUNT_OF(indexes); i++) {
        indexes[i].hash[0] = indexes[i].range[0] = orders.attributes[0];
        indexes[i].hash_count = 1;
        indexes[i].on_demand_max = indexes[i].warm_throughput = orders.on_demand_max;
    }
    orders.indexes = indexes;
    orders.index_count = COUNT_OF(indexes);
    assert_int_equal(catalogue_create(fixture->catalogue, fixture->arena, &orders), ENGINE_OK);
    reopen(fixture);
    struct table *table = catalogue_find(fixture->catalogue, BYTES("orders"));
    const struct table_definition *definition = table_definition(table);
    const struct index_definition *global = &definition->indexes[1];
    assert_int_equal(definition->indexes[0].partition_count, 0);
    assert_int_equal(global->partition_count, CATALOGUE_ON_DEMAND_PARTITIONS);
    for (uint64_t i = 0; i < CATALOGUE_ON_DEMAND_PARTITIONS; i++) {
        assert_int_equal(global->partitions[i].first_hash, i << 62);
        for (size_t j = 0; j < CATALOGUE_ON_DEMAND_PARTITIONS; j++)
            assert_int_not_equal(global->partitions[i].id, definition->partitions[j].id);
    }
    table_release(table);
}

/* Two tables with a global index each, and one without. */
static void create_with_indexes(struct fixture *fixture, struct table_definition tables[2])
{
    static const char *const names[] = { "orders", "users" };
    assert_int_equal(create(fixture, "plain"), ENGINE_OK);
    for (int i = 0; i < 2; i++) {
        tables[i] = table_fixture_draft(fixture->arena, bytes_from_text(names[i]));
        table_fixture_add_index(fixture->arena, &tables[i], INDEX_ACTIVE);
        assert_int_equal(catalogue_create(fixture->catalogue, fixture->arena, &tables[i]),
                         ENGINE_OK);
    }
}

static bool loses_index(const struct table_definition *definition, void *context)
{
    assert_null(context);
    return definition->index_count > 0 && definition->indexes[0].status == INDEX_DELETING;
}

static bool finds_next(struct fixture *fixture, const char *after, const char *want)
{
    struct table *table =
        catalogue_find_next(fixture->catalogue, bytes_from_text(after), loses_index, NULL);
    bool found = want == NULL
                     ? table == NULL
                     : table != NULL && bytes_equal_text(table_definition(table)->name, want);
    table_release(table);
    return found;
}

static void tables_that_pass_a_test_are_found_in_order(void **state)
{
    struct fixture *fixture = *state;
    struct table_definition tables[2];
    create_with_indexes(fixture, tables);
    assert_true(finds_next(fixture, "", NULL));
    for (int i = 0; i < 2; i++) {
        tables[i].indexes[0].status = INDEX_DELETING;
        assert_int_equal(catalogue_update(fixture->catalogue, fixture->arena, &tables[i]),
                         ENGINE_OK);
    }
    assert_true(finds_next(fixture, "", "orders"));
    assert_true(finds_next(fixture, "orders", "users"));
    assert_true(finds_next(fixture, "p", "users"));
    assert_true(finds_next(fixture, "users", NULL));
    reopen(fixture);
    assert_true(finds_next(fixture, "", "orders"));
}

static void an_index_goes_together_with_its_entries(void **state)
{
    struct fixture *fixture = *state;
    struct table_definition tables[2];
    create_with_indexes(fixture, tables);
    struct engine_place place = { .owner = tables[0].indexes[0].id,
                                  .partition = tables[0].indexes[0].partitions[0].id,
                                  .space = ENGINE_SPACE_INDEX };
    engine_fixture_put(fixture->engine, place, BYTES("k"), BYTES("v"));
    struct table_definition changed = tables[0];
    changed.index_count = 0;
    failing_engine_set(fixture->engine, &(struct failing_engine_plan){
                                            .call = 1, .status = ENGINE_IO, .commits_only = true });
    assert_int_equal(
        catalogue_remove_index(fixture->catalogue, fixture->arena, &changed, place.owner),
        ENGINE_IO);
    failing_engine_set(fixture->engine, &(struct failing_engine_plan){ 0 });
    struct table *table = catalogue_find(fixture->catalogue, BYTES("orders"));
    assert_int_equal(table_definition(table)->index_count, 1);
    table_release(table);
    assert_true(engine_fixture_has(fixture->engine, place, BYTES("k"), BYTES("v")));

    assert_int_equal(
        catalogue_remove_index(fixture->catalogue, fixture->arena, &changed, place.owner),
        ENGINE_OK);
    reopen(fixture);
    table = catalogue_find(fixture->catalogue, BYTES("orders"));
    assert_int_equal(table_definition(table)->index_count, 0);
    table_release(table);
    assert_true(engine_fixture_lacks(fixture->engine, place, BYTES("k")));
}

/* --- Runtime --- */

static void all_versions_of_a_table_share_its_runtime(void **state)
{
    struct fixture *fixture = *state;
    struct table_definition changed = table_fixture_draft(fixture->arena, BYTES("orders"));
    assert_int_equal(catalogue_create(fixture->catalogue, fixture->arena, &changed), ENGINE_OK);
    struct table *first = catalogue_find(fixture->catalogue, BYTES("orders"));
    struct table_runtime *runtime = table_runtime(first);
    assert_int_equal(runtime->table_id, changed.id);
    for (size_t i = 0; i < changed.partition_count; i++)
        assert_int_equal(table_partition_runtime(first, NULL, i)->partition_id,
                         changed.partitions[i].id);

    table_fixture_add_index(fixture->arena, &changed, INDEX_ALLOCATING);
    assert_int_equal(catalogue_update(fixture->catalogue, fixture->arena, &changed), ENGINE_OK);
    struct table *second = catalogue_find(fixture->catalogue, BYTES("orders"));
    assert_ptr_not_equal(second, first);
    assert_ptr_equal(table_runtime(second), runtime);
    const struct index_definition *index = &table_definition(second)->indexes[0];
    for (size_t i = 0; i < changed.partition_count; i++)
        assert_ptr_equal(table_partition_runtime(second, NULL, i),
                         table_partition_runtime(first, NULL, i));
    struct partition_runtime *of_index = table_partition_runtime(second, index, 2);
    assert_int_equal(of_index->partition_id, index->partitions[2].id);

    /* What is dropped keeps its runtime for those who hold a version; a new table has another. */
    assert_int_equal(catalogue_drop(fixture->catalogue, fixture->arena, BYTES("orders")),
                     ENGINE_OK);
    assert_int_equal(create(fixture, "orders"), ENGINE_OK);
    struct table *third = catalogue_find(fixture->catalogue, BYTES("orders"));
    assert_ptr_not_equal(table_runtime(third), runtime);
    assert_int_equal(atomic_load(&runtime->references), 3); /* Two versions, and the removal. */
    table_release(first);
    bool waiting;
    assert_int_equal(catalogue_remove_dropped(fixture->catalogue, fixture->arena, &waiting),
                     ENGINE_END);
    assert_int_equal(atomic_load(&runtime->references), 2);
    assert_int_equal(atomic_load(&of_index->references), 1);
    assert_int_equal(of_index->partition_id, index->partitions[2].id);
    table_release(second);
    /* The last version and the removal take it along: ASan would tell of a leak or a late use. */
    assert_int_equal(catalogue_remove_dropped(fixture->catalogue, fixture->arena, &waiting),
                     ENGINE_OK);
    table_release(third);
}

/* --- Data that somebody keeps --- */

static const struct engine_place kept_record = { .partition = 99, .space = ENGINE_SPACE_CATALOGUE };

static enum engine_status keep(void *context, struct arena *arena,
                               const struct table_definition *definition,
                               struct engine_write *write, bool *is_kept)
{
    const struct engine_address address = { .place = kept_record, .key = definition->name };
    const bool *keeps = context;
    (void)arena;
    if (*keeps)
        engine_write_put(write, &address, BYTES("record"));
    *is_kept = *keeps;
    return ENGINE_OK;
}

static void what_a_record_keeps_of_a_dropped_table_stays(void **state)
{
    struct fixture *fixture = *state;
    bool keeps = true, waiting;
    catalogue_set_keeper(fixture->catalogue,
                         &(struct catalogue_keeper){ .keep = keep, .context = &keeps });
    struct table_definition draft = table_fixture_draft(fixture->arena, BYTES("orders"));
    table_fixture_add_index(fixture->arena, &draft, INDEX_ACTIVE);
    assert_int_equal(catalogue_create(fixture->catalogue, fixture->arena, &draft), ENGINE_OK);
    const struct engine_place items = { .owner = draft.id,
                                        .partition = draft.partitions[0].id,
                                        .space = ENGINE_SPACE_ITEMS };
    const struct engine_place entries = { .owner = draft.indexes[0].id,
                                          .partition = draft.indexes[0].partitions[0].id,
                                          .space = ENGINE_SPACE_INDEX };
    engine_fixture_put(fixture->engine, items, BYTES("k"), BYTES("v"));
    engine_fixture_put(fixture->engine, entries, BYTES("k"), BYTES("v"));
    assert_int_equal(catalogue_drop(fixture->catalogue, fixture->arena, BYTES("orders")),
                     ENGINE_OK);
    reopen(fixture);
    while (catalogue_remove_dropped(fixture->catalogue, fixture->arena, &waiting) == ENGINE_OK)
        continue;
    assert_true(engine_fixture_has(fixture->engine, items, BYTES("k"), BYTES("v")));
    assert_true(engine_fixture_has(fixture->engine, kept_record, BYTES("orders"), BYTES("record")));
    assert_true(engine_fixture_lacks(fixture->engine, entries, BYTES("k")));
    /* What is given up goes, also after a restart. */
    const struct engine_address record = { .place = kept_record, .key = BYTES("orders") };
    assert_int_equal(catalogue_give_up(fixture->catalogue, fixture->arena, &record, &draft.id, 1),
                     ENGINE_OK);
    assert_true(engine_fixture_lacks(fixture->engine, kept_record, BYTES("orders")));
    reopen(fixture);
    assert_int_equal(catalogue_remove_dropped(fixture->catalogue, fixture->arena, &waiting),
                     ENGINE_OK);
    assert_true(engine_fixture_lacks(fixture->engine, items, BYTES("k")));
}

static enum engine_status fail_to_keep(void *context, struct arena *arena,
                                       const struct table_definition *definition,
                                       struct engine_write *write, bool *is_kept)
{
    (void)context;
    (void)arena;
    (void)definition;
    (void)write;
    (void)is_kept;
    return ENGINE_IO;
}

static void a_table_that_cannot_be_kept_stays(void **state)
{
    struct fixture *fixture = *state;
    catalogue_set_keeper(fixture->catalogue, &(struct catalogue_keeper){ .keep = fail_to_keep });
    struct table_definition draft = table_fixture_draft(fixture->arena, BYTES("orders"));
    assert_int_equal(catalogue_create(fixture->catalogue, fixture->arena, &draft), ENGINE_OK);
    assert_int_equal(catalogue_drop(fixture->catalogue, fixture->arena, BYTES("orders")),
                     ENGINE_IO);
    struct table *table = catalogue_find(fixture->catalogue, BYTES("orders"));
    assert_non_null(table);
    table_release(table);
    reopen(fixture);
    table = catalogue_find(fixture->catalogue, BYTES("orders"));
    assert_non_null(table);
    table_release(table);
}

static bool is_read(void *context, uint64_t table_id)
{
    const uint64_t *read_id = context;
    return *read_id == table_id;
}

static void what_is_still_read_of_a_dropped_table_goes_later(void **state)
{
    struct fixture *fixture = *state;
    uint64_t read_id;
    bool waiting;
    struct table_definition draft = table_fixture_draft(fixture->arena, BYTES("orders"));
    assert_int_equal(catalogue_create(fixture->catalogue, fixture->arena, &draft), ENGINE_OK);
    read_id = draft.id;
    catalogue_set_keeper(fixture->catalogue,
                         &(struct catalogue_keeper){ .is_read = is_read, .context = &read_id });
    const struct engine_place items = { .owner = draft.id,
                                        .partition = draft.partitions[0].id,
                                        .space = ENGINE_SPACE_ITEMS };
    engine_fixture_put(fixture->engine, items, BYTES("k"), BYTES("v"));
    assert_int_equal(catalogue_drop(fixture->catalogue, fixture->arena, BYTES("orders")),
                     ENGINE_OK);
    assert_int_equal(catalogue_remove_dropped(fixture->catalogue, fixture->arena, &waiting),
                     ENGINE_END);
    assert_true(waiting);
    assert_true(engine_fixture_has(fixture->engine, items, BYTES("k"), BYTES("v")));
    read_id = 0;
    assert_int_equal(catalogue_remove_dropped(fixture->catalogue, fixture->arena, &waiting),
                     ENGINE_OK);
    assert_true(engine_fixture_lacks(fixture->engine, items, BYTES("k")));
}

static void the_runtime_of_a_partition_goes_with_its_index(void **state)
{
    struct fixture *fixture = *state;
    struct table_definition tables[2];
    create_with_indexes(fixture, tables);
    struct table *held = catalogue_find(fixture->catalogue, BYTES("orders"));
    struct partition_runtime *of_table = table_partition_runtime(held, NULL, 3);
    struct partition_runtime *of_index =
        table_partition_runtime(held, table_definition(held)->indexes, 0);
    struct table_definition changed = tables[0];
    changed.index_count = 0;
    assert_int_equal(catalogue_remove_index(fixture->catalogue, fixture->arena, &changed,
                                            tables[0].indexes[0].id),
                     ENGINE_OK);
    assert_int_equal(atomic_load(&of_table->references), 2);
    assert_int_equal(atomic_load(&of_index->references), 1);
    table_release(held);
    struct table *table = catalogue_find(fixture->catalogue, BYTES("orders"));
    assert_true(table_is_only_version(table));
    assert_ptr_equal(table_partition_runtime(table, NULL, 3), of_table);
    assert_int_equal(atomic_load(&of_table->references), 1);
    table_release(table);
}

/* --- Versions --- */

static void a_version_is_the_only_one_once_nobody_holds_another(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(create(fixture, "orders"), ENGINE_OK);
    struct table *old = catalogue_find(fixture->catalogue, BYTES("orders"));
    assert_true(table_is_only_version(old));
    struct table_definition changed = *table_definition(old);
    assert_int_equal(catalogue_update(fixture->catalogue, fixture->arena, &changed), ENGINE_OK);
    struct table *current = catalogue_find(fixture->catalogue, BYTES("orders"));
    struct table *again = catalogue_find(fixture->catalogue, BYTES("orders"));
    assert_false(table_is_only_version(current));
    table_release(old);
    assert_true(table_is_only_version(current));
    table_release(again);
    table_release(current);
}

static void a_borrowed_version_is_held_like_a_counted_one(void **state)
{
    struct fixture *fixture = *state;
    bool waiting;
    assert_int_equal(create(fixture, "orders"), ENGINE_OK);
    struct table *old = catalogue_borrow(fixture->catalogue, BYTES("orders"));
    struct table_definition changed = *table_definition(old);
    changed.deletion_protected = true;
    assert_int_equal(catalogue_update(fixture->catalogue, fixture->arena, &changed), ENGINE_OK);
    struct table *current = catalogue_borrow(fixture->catalogue, BYTES("orders"));
    assert_false(table_definition(old)->deletion_protected);
    assert_false(table_is_only_version(current));
    table_release(old);
    assert_true(table_is_only_version(current));

    assert_int_equal(catalogue_drop(fixture->catalogue, fixture->arena, BYTES("orders")),
                     ENGINE_OK);
    assert_null(catalogue_borrow(fixture->catalogue, BYTES("orders")));
    assert_int_equal(catalogue_remove_dropped(fixture->catalogue, fixture->arena, &waiting),
                     ENGINE_END);
    assert_true(waiting);
    table_release(current);
    assert_int_equal(catalogue_remove_dropped(fixture->catalogue, fixture->arena, &waiting),
                     ENGINE_OK);
}

static void a_table_may_be_borrowed_more_often_than_there_are_hazards(void **state)
{
    enum { TIMES = 2 * HAZARDS_PER_THREAD };
    struct fixture *fixture = *state;
    assert_int_equal(create(fixture, "orders"), ENGINE_OK);
    struct table *old = catalogue_find(fixture->catalogue, BYTES("orders"));
    for (int i = 0; i < TIMES; i++)
        assert_ptr_equal(catalogue_borrow(fixture->catalogue, BYTES("orders")), old);
    struct table_definition changed = *table_definition(old);
    assert_int_equal(catalogue_update(fixture->catalogue, fixture->arena, &changed), ENGINE_OK);
    struct table *current = catalogue_find(fixture->catalogue, BYTES("orders"));
    for (int i = 0; i <= TIMES; i++) {
        assert_false(table_is_only_version(current));
        table_release(old);
    }
    assert_true(table_is_only_version(current));
    table_release(current);
}

static void tables_are_found_by_a_thread_that_has_no_hazard_left(void **state)
{
    struct hazard *hazards[HAZARDS_PER_THREAD];
    struct fixture *fixture = *state;
    struct bytes names[2];
    assert_int_equal(create(fixture, "orders"), ENGINE_OK);
    for (size_t i = 0; i < HAZARDS_PER_THREAD; i++)
        hazards[i] = hazard_take(HAZARDS_PER_THREAD, &names);
    struct table *borrowed = catalogue_borrow(fixture->catalogue, BYTES("orders"));
    struct table *found = catalogue_find(fixture->catalogue, BYTES("orders"));
    assert_ptr_equal(borrowed, found);
    assert_non_null(found);
    assert_int_equal(catalogue_list(fixture->catalogue, fixture->arena, BYTES(""), names, 2), 1);
    assert_true(table_is_only_version(found));
    table_release(borrowed);
    table_release(found);
    for (size_t i = 0; i < HAZARDS_PER_THREAD; i++)
        hazard_clear(hazards[i]);
}

static void ids_are_never_reused(void **state)
{
    struct fixture *fixture = *state;
    bool waiting;
    assert_int_equal(create(fixture, "orders"), ENGINE_OK);
    uint64_t first = id_of(fixture, "orders");
    assert_int_equal(catalogue_drop(fixture->catalogue, fixture->arena, BYTES("orders")),
                     ENGINE_OK);
    assert_int_equal(catalogue_remove_dropped(fixture->catalogue, fixture->arena, &waiting),
                     ENGINE_OK);
    reopen(fixture);
    assert_int_equal(create(fixture, "orders"), ENGINE_OK);
    assert_true(id_of(fixture, "orders") > first + CATALOGUE_ON_DEMAND_PARTITIONS);
}

static void names_are_listed_in_byte_order_and_by_pages(void **state)
{
    struct fixture *fixture = *state;
    static const char *const names[] = { "bbb", "aaa.b", "aaa", "ZZZ", "aaa-b" };
    static const char *const sorted[] = { "ZZZ", "aaa", "aaa-b", "aaa.b", "bbb" };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_int_equal(create(fixture, names[i]), ENGINE_OK);
    struct bytes page[2], after = BYTES("");
    size_t seen = 0, count;
    while ((count = catalogue_list(fixture->catalogue, fixture->arena, after, page, 2)) > 0) {
        for (size_t i = 0; i < count; i++)
            assert_true(bytes_equal_text(page[i], sorted[seen++]));
        after = page[count - 1];
    }
    assert_int_equal(seen, COUNT_OF(sorted));
}

static void a_page_may_start_behind_a_name_that_does_not_exist(void **state)
{
    struct fixture *fixture = *state;
    struct bytes page[2];
    assert_int_equal(create(fixture, "aaa"), ENGINE_OK);
    assert_int_equal(create(fixture, "ccc"), ENGINE_OK);
    assert_int_equal(catalogue_list(fixture->catalogue, fixture->arena, BYTES("bbb"), page, 2), 1);
    assert_true(bytes_equal_text(page[0], "ccc"));
}

static void an_update_leaves_the_old_definition_to_its_holders(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(create(fixture, "orders"), ENGINE_OK);
    struct table *before = catalogue_find(fixture->catalogue, BYTES("orders"));
    struct table_definition changed = *table_definition(before);
    changed.deletion_protected = true;
    assert_int_equal(catalogue_update(fixture->catalogue, fixture->arena, &changed), ENGINE_OK);
    struct table *after = catalogue_find(fixture->catalogue, BYTES("orders"));
    assert_false(table_definition(before)->deletion_protected);
    assert_true(table_definition(after)->deletion_protected);
    assert_int_equal(table_definition(after)->id, table_definition(before)->id);
    table_release(before);
    table_release(after);
}

static struct engine_place place_of(uint64_t owner)
{
    return (struct engine_place){ .owner = owner, .partition = 1, .space = ENGINE_SPACE_ITEMS };
}

static void a_dropped_tables_data_goes_once_nobody_holds_it(void **state)
{
    struct fixture *fixture = *state;
    bool waiting;
    assert_int_equal(create(fixture, "orders"), ENGINE_OK);
    struct table *held = catalogue_find(fixture->catalogue, BYTES("orders"));
    struct engine_place place = place_of(table_definition(held)->id);
    engine_fixture_put(fixture->engine, place, BYTES("k"), BYTES("v"));
    assert_int_equal(catalogue_drop(fixture->catalogue, fixture->arena, BYTES("orders")),
                     ENGINE_OK);
    assert_false(has(fixture, "orders"));
    assert_int_equal(catalogue_remove_dropped(fixture->catalogue, fixture->arena, &waiting),
                     ENGINE_END);
    assert_true(waiting);
    assert_true(engine_fixture_has(fixture->engine, place, BYTES("k"), BYTES("v")));
    table_release(held);
    assert_int_equal(catalogue_remove_dropped(fixture->catalogue, fixture->arena, &waiting),
                     ENGINE_OK);
    assert_true(engine_fixture_lacks(fixture->engine, place, BYTES("k")));
    assert_int_equal(catalogue_remove_dropped(fixture->catalogue, fixture->arena, &waiting),
                     ENGINE_END);
    assert_false(waiting);
}

/* A request ends soon, a job after minutes: the control thread looks again accordingly. */
static void a_dropped_table_waits_for_requests_or_for_jobs(void **state)
{
    struct fixture *fixture = *state;
    bool waiting;
    assert_int_equal(create(fixture, "orders"), ENGINE_OK);
    uint64_t read_id = id_of(fixture, "orders");
    catalogue_set_keeper(fixture->catalogue,
                         &(struct catalogue_keeper){ .is_read = is_read, .context = &read_id });
    struct table *held = catalogue_find(fixture->catalogue, BYTES("orders"));
    assert_false(catalogue_waits_for_jobs(fixture->catalogue));
    assert_int_equal(catalogue_drop(fixture->catalogue, fixture->arena, BYTES("orders")),
                     ENGINE_OK);
    assert_false(catalogue_waits_for_jobs(fixture->catalogue));
    table_release(held);
    assert_int_equal(catalogue_remove_dropped(fixture->catalogue, fixture->arena, &waiting),
                     ENGINE_END);
    assert_true(waiting);
    assert_true(catalogue_waits_for_jobs(fixture->catalogue));
    read_id = 0;
    assert_false(catalogue_waits_for_jobs(fixture->catalogue));
    assert_int_equal(catalogue_remove_dropped(fixture->catalogue, fixture->arena, &waiting),
                     ENGINE_OK);
}

static void a_holder_of_an_older_version_also_keeps_the_data(void **state)
{
    struct fixture *fixture = *state;
    bool waiting;
    assert_int_equal(create(fixture, "orders"), ENGINE_OK);
    struct table *old = catalogue_find(fixture->catalogue, BYTES("orders"));
    struct table_definition changed = *table_definition(old);
    assert_int_equal(catalogue_update(fixture->catalogue, fixture->arena, &changed), ENGINE_OK);
    assert_int_equal(catalogue_drop(fixture->catalogue, fixture->arena, BYTES("orders")),
                     ENGINE_OK);
    assert_int_equal(catalogue_remove_dropped(fixture->catalogue, fixture->arena, &waiting),
                     ENGINE_END);
    assert_true(waiting);
    table_release(old);
    assert_int_equal(catalogue_remove_dropped(fixture->catalogue, fixture->arena, &waiting),
                     ENGINE_OK);
}

static void the_removal_of_dropped_data_survives_a_restart(void **state)
{
    struct fixture *fixture = *state;
    bool waiting;
    assert_int_equal(create(fixture, "orders"), ENGINE_OK);
    assert_int_equal(create(fixture, "users"), ENGINE_OK);
    struct engine_place orders = place_of(id_of(fixture, "orders"));
    struct engine_place users = place_of(id_of(fixture, "users"));
    engine_fixture_put(fixture->engine, orders, BYTES("k"), BYTES("v"));
    engine_fixture_put(fixture->engine, users, BYTES("k"), BYTES("v"));
    assert_int_equal(catalogue_drop(fixture->catalogue, fixture->arena, BYTES("orders")),
                     ENGINE_OK);
    reopen(fixture);
    assert_false(has(fixture, "orders"));
    assert_int_equal(catalogue_remove_dropped(fixture->catalogue, fixture->arena, &waiting),
                     ENGINE_OK);
    assert_true(engine_fixture_lacks(fixture->engine, orders, BYTES("k")));
    assert_true(engine_fixture_has(fixture->engine, users, BYTES("k"), BYTES("v")));
}

static void the_table_whose_transition_ends_first_is_found(void **state)
{
    struct fixture *fixture = *state;
    assert_null(catalogue_find_transient(fixture->catalogue));
    struct table_definition late = table_fixture_draft(fixture->arena, BYTES("late"));
    late.status = TABLE_CREATING;
    late.transition_at_ms = 2000;
    struct table_definition soon = table_fixture_draft(fixture->arena, BYTES("soon"));
    soon.status = TABLE_CREATING;
    soon.transition_at_ms = 1000;
    assert_int_equal(create(fixture, "at-rest"), ENGINE_OK);
    assert_int_equal(catalogue_create(fixture->catalogue, fixture->arena, &late), ENGINE_OK);
    assert_int_equal(catalogue_create(fixture->catalogue, fixture->arena, &soon), ENGINE_OK);
    struct table *first = catalogue_find_transient(fixture->catalogue);
    assert_true(bytes_equal_text(table_definition(first)->name, "soon"));
    table_release(first);
}

/* Whatever call of the engine fails: memory and disk agree, and the change is whole or absent. */
static void a_failed_change_changes_nothing(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(create(fixture, "kept"), ENGINE_OK);
    bool struck = true;
    for (uint64_t call = 1; struck; call++) {
        failing_engine_set(fixture->engine,
                           &(struct failing_engine_plan){ .call = call, .status = ENGINE_IO });
        bool created = create(fixture, "new") == ENGINE_OK;
        bool dropped = created && catalogue_drop(fixture->catalogue, fixture->arena,
                                                 BYTES("new")) == ENGINE_OK;
        struck = failing_engine_struck(fixture->engine);
        failing_engine_set(fixture->engine, &(struct failing_engine_plan){ 0 });
        assert_int_equal(has(fixture, "new"), created && !dropped);
        reopen(fixture);
        assert_int_equal(has(fixture, "new"), created && !dropped);
        assert_true(has(fixture, "kept"));
        if (created && !dropped)
            assert_int_equal(catalogue_drop(fixture->catalogue, fixture->arena, BYTES("new")),
                             ENGINE_OK);
    }
}

/* Parts of definitions come from servers of other regions. */
static void a_definition_that_cannot_be_read_again_is_not_stored(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(create(fixture, "kept"), ENGINE_OK);
    struct table *table = catalogue_find(fixture->catalogue, BYTES("kept"));
    struct table_definition changed =
        table_definition_copy(fixture->arena, table_definition(table));
    table_release(table);
    changed.on_demand_since_ms = 5;
    changed.on_demand_turns_ms[0] = 7;
    changed.on_demand_turns_ms[1] = 6;
    assert_int_equal(catalogue_update(fixture->catalogue, fixture->arena, &changed),
                     ENGINE_CORRUPT);
    assert_true(has(fixture, "kept"));
    reopen(fixture);
    assert_true(has(fixture, "kept"));
}

static void a_damaged_record_is_refused_at_the_start(void **state)
{
    struct fixture *fixture = *state;
    struct engine_place place = { .space = ENGINE_SPACE_CATALOGUE };
    engine_fixture_put(fixture->engine, place, BYTES("Tbad"), BYTES("not an item"));
    enum engine_status status;
    assert_null(catalogue_open(fixture->engine, &status));
    assert_int_equal(status, ENGINE_CORRUPT);
    engine_fixture_delete(fixture->engine, place, BYTES("Tbad"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_created_table_is_found_also_after_a_restart),
        TEST(partitions_cover_all_hashes_evenly),
        TEST(provisioned_throughput_decides_the_number_of_partitions),
        TEST(a_new_table_has_the_hash_of_the_service),
        TEST(a_global_index_has_partitions_of_its_own),
        TEST(tables_that_pass_a_test_are_found_in_order),
        TEST(an_index_goes_together_with_its_entries),
        TEST(all_versions_of_a_table_share_its_runtime),
        TEST(what_a_record_keeps_of_a_dropped_table_stays),
        TEST(a_table_that_cannot_be_kept_stays),
        TEST(what_is_still_read_of_a_dropped_table_goes_later),
        TEST(the_runtime_of_a_partition_goes_with_its_index),
        TEST(a_version_is_the_only_one_once_nobody_holds_another),
        TEST(a_borrowed_version_is_held_like_a_counted_one),
        TEST(a_table_may_be_borrowed_more_often_than_there_are_hazards),
        TEST(tables_are_found_by_a_thread_that_has_no_hazard_left),
        TEST(ids_are_never_reused),
        TEST(names_are_listed_in_byte_order_and_by_pages),
        TEST(a_page_may_start_behind_a_name_that_does_not_exist),
        TEST(an_update_leaves_the_old_definition_to_its_holders),
        TEST(a_dropped_tables_data_goes_once_nobody_holds_it),
        TEST(a_dropped_table_waits_for_requests_or_for_jobs),
        TEST(the_removal_of_dropped_data_survives_a_restart),
        TEST(a_holder_of_an_older_version_also_keeps_the_data),
        TEST(the_removal_of_dropped_data_survives_a_restart),
        TEST(the_table_whose_transition_ends_first_is_found),
        TEST(a_failed_change_changes_nothing),
        TEST(a_definition_that_cannot_be_read_again_is_not_stored),
        TEST(a_damaged_record_is_refused_at_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
