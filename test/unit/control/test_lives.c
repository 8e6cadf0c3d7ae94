/* test_lives.c -- the life cycles of tables, indexes and expiry queues, without the thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/timed_wait.h"
#include "control/control.h"
#include "control/expiry_life.h"
#include "control/index_life.h"
#include "control/table_life.h"
#include "engine_fixture.h"
#include "failing_engine.h"
#include "jobs/backfill.h"
#include "jobs/expiry.h"
#include "reference_engine.h"
#include "table/catalogue.h"
#include "table_fixture.h"

enum { NOW_MS = 1000000, TRANSITION_MS = 50 };

static const struct table_life_pace at_once = { .now_ms = NOW_MS };
static const struct table_life_pace slow = { .now_ms = NOW_MS, .transition_ms = TRANSITION_MS };

struct fixture {
    struct arena *arena;
    struct engine *engine; /* The failing wrapper around the reference engine. */
    struct catalogue *catalogue;
    struct index_life index_life;
    struct expiry_life expiry_life;
};

static enum engine_status no_save(void *context, const struct backfill_progress *progress)
{
    (void)context;
    (void)progress;
    return ENGINE_OK;
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    enum engine_status status;
    fixture->arena = arena_create();
    fixture->engine = failing_engine_create(reference_engine_create());
    fixture->catalogue = catalogue_open(fixture->engine, &status);
    assert_int_equal(status, ENGINE_OK);
    /* Stopped: these tests take the steps by themselves, and waking is allowed. */
    struct backfill *backfill =
        backfill_start(&(struct backfill_options){ .engine = fixture->engine,
                                                   .clock = &clock_system,
                                                   .catalogue = fixture->catalogue,
                                                   .save = no_save });
    backfill_stop(backfill);
    struct expiry *expiry = expiry_start(&(struct expiry_options){
        .engine = fixture->engine, .clock = &clock_system, .catalogue = fixture->catalogue });
    fixture->index_life = (struct index_life){ .engine = fixture->engine,
                                               .catalogue = fixture->catalogue,
                                               .backfill = backfill };
    fixture->expiry_life = (struct expiry_life){ .catalogue = fixture->catalogue,
                                                 .backfill = backfill,
                                                 .expiry = expiry };
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    backfill_destroy(fixture->index_life.backfill);
    expiry_destroy(fixture->expiry_life.expiry);
    catalogue_close(fixture->catalogue);
    engine_close(fixture->engine);
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

static struct table_definition current(struct fixture *fixture, struct bytes name)
{
    struct table *table = catalogue_find(fixture->catalogue, name);
    assert_non_null(table);
    struct table_definition copy = table_definition_copy(fixture->arena, table_definition(table));
    table_release(table);
    return copy;
}

static void store(struct fixture *fixture, struct table_definition *changed)
{
    assert_int_equal(catalogue_update(fixture->catalogue, fixture->arena, changed), ENGINE_OK);
}

/* --- Allowed moves --- */

static void a_table_moves_only_where_its_life_allows_it(void **state)
{
    (void)state;
    static const char *const allowed[TABLE_STATUS_COUNT] = {
        /* To:            CREATING, ACTIVE, UPDATING, DELETING */
        [TABLE_CREATING] = "-A--",
        [TABLE_ACTIVE] = "--UD",
        [TABLE_UPDATING] = "-A--",
        [TABLE_DELETING] = "----",
    };
    for (int from = 0; from < TABLE_STATUS_COUNT; from++) {
        for (int to = 0; to < TABLE_STATUS_COUNT; to++)
            assert_int_equal(table_life_may_move((enum table_status)from, (enum table_status)to),
                             allowed[from][to] != '-');
    }
}

static void a_replica_that_is_not_filled_may_be_deleted(void **state)
{
    struct fixture *fixture = *state;
    struct table_definition draft = table_fixture_draft(fixture->arena, BYTES("table"));
    draft.status = TABLE_CREATING;
    assert_false(table_life_may_delete(&draft));
    draft.replicas =
        (struct replica_definition){ .group_id = BYTES("00000000-0000-0000-0000-000000000000"),
                                     .epoch = 1,
                                     .coordinator = BYTES("a"),
                                     .own = { .region = BYTES("a"), .status = REPLICA_CREATING } };
    draft.replicas.own.override =
        (struct replica_override){ .read_units = UNITS_UNSET, .on_demand_read_max = UNITS_UNSET };
    assert_true(table_life_may_delete(&draft));
    assert_int_equal(catalogue_create(fixture->catalogue, fixture->arena, &draft), ENGINE_OK);
    assert_int_equal(table_life_delete(fixture->catalogue, fixture->arena, &draft, &slow),
                     ENGINE_OK);
    assert_int_equal(current(fixture, BYTES("table")).status, TABLE_DELETING);
    struct table_life_pace pace = slow;
    pace.now_ms += TRANSITION_MS;
    assert_int_equal(table_life_run(fixture->catalogue, fixture->arena, &pace), TIMED_WAIT_FOREVER);
    assert_int_equal(catalogue_table_count(fixture->catalogue), 0);
}

static void the_life_of_an_index_has_one_direction(void **state)
{
    (void)state;
    static const enum index_status allowed[][2] = {
        { INDEX_ALLOCATING, INDEX_BACKFILLING },
        { INDEX_BACKFILLING, INDEX_ACTIVE },
        { INDEX_BACKFILLING, INDEX_DELETING },
        { INDEX_ACTIVE, INDEX_DELETING },
    };
    size_t count = 0;
    for (int from = 0; from < INDEX_STATUS_COUNT; from++) {
        for (int to = 0; to < INDEX_STATUS_COUNT; to++)
            count += index_life_may_move((enum index_status)from, (enum index_status)to);
    }
    assert_int_equal(count, COUNT_OF(allowed));
    for (size_t i = 0; i < COUNT_OF(allowed); i++)
        assert_true(index_life_may_move(allowed[i][0], allowed[i][1]));
}

static void the_life_of_an_expiry_queue_is_a_circle(void **state)
{
    (void)state;
    for (int from = 0; from < EXPIRY_STATUS_COUNT; from++) {
        for (int to = 0; to < EXPIRY_STATUS_COUNT; to++)
            assert_int_equal(expiry_life_may_move((enum expiry_status)from, (enum expiry_status)to),
                             to == (from + 1) % EXPIRY_STATUS_COUNT);
    }
}

/* --- Tables --- */

static void a_transient_status_ends_when_it_is_due(void **state)
{
    struct fixture *fixture = *state;
    struct table_definition draft = table_fixture_draft(fixture->arena, BYTES("table"));
    table_life_begin(&draft, TABLE_CREATING, &slow);
    assert_int_equal(draft.status, TABLE_CREATING);
    assert_int_equal(catalogue_create(fixture->catalogue, fixture->arena, &draft), ENGINE_OK);

    struct table_life_pace pace = slow;
    pace.now_ms += TRANSITION_MS - 1;
    assert_int_equal(table_life_run(fixture->catalogue, fixture->arena, &pace), 1);
    assert_int_equal(current(fixture, BYTES("table")).status, TABLE_CREATING);
    pace.now_ms++;
    assert_int_equal(table_life_run(fixture->catalogue, fixture->arena, &pace), TIMED_WAIT_FOREVER);
    assert_int_equal(current(fixture, BYTES("table")).status, TABLE_ACTIVE);
}

static void no_transient_status_is_stored_where_transitions_take_no_time(void **state)
{
    struct fixture *fixture = *state;
    struct table_definition draft = table_fixture_draft(fixture->arena, BYTES("table"));
    table_life_begin(&draft, TABLE_CREATING, &at_once);
    assert_int_equal(draft.status, TABLE_ACTIVE);
    assert_int_equal(draft.transition_at_ms, 0);
    assert_int_equal(catalogue_create(fixture->catalogue, fixture->arena, &draft), ENGINE_OK);
    assert_int_equal(table_life_delete(fixture->catalogue, fixture->arena, &draft, &at_once),
                     ENGINE_OK);
    assert_int_equal(catalogue_table_count(fixture->catalogue), 0);
}

static void a_deleted_table_is_dropped_when_due_and_removed_when_unreferenced(void **state)
{
    struct fixture *fixture = *state;
    struct table_definition draft = table_fixture_draft(fixture->arena, BYTES("table"));
    assert_int_equal(catalogue_create(fixture->catalogue, fixture->arena, &draft), ENGINE_OK);
    struct engine_place place = { .owner = draft.id,
                                  .partition = draft.partitions[0].id,
                                  .space = ENGINE_SPACE_ITEMS };
    engine_fixture_put(fixture->engine, place, BYTES("k"), BYTES("v"));
    struct table *held = catalogue_find(fixture->catalogue, BYTES("table"));
    assert_int_equal(table_life_delete(fixture->catalogue, fixture->arena, &draft, &slow),
                     ENGINE_OK);
    assert_int_equal(current(fixture, BYTES("table")).status, TABLE_DELETING);

    struct table_life_pace pace = slow;
    pace.now_ms += TRANSITION_MS;
    assert_int_equal(table_life_run(fixture->catalogue, fixture->arena, &pace), CONTROL_RETRY_MS);
    assert_int_equal(catalogue_table_count(fixture->catalogue), 0);
    assert_true(engine_fixture_has(fixture->engine, place, BYTES("k"), BYTES("v")));
    table_release(held);
    assert_int_equal(table_life_run(fixture->catalogue, fixture->arena, &pace), TIMED_WAIT_FOREVER);
    assert_true(engine_fixture_lacks(fixture->engine, place, BYTES("k")));
}

/* --- Indexes --- */

static void create_with_index(struct fixture *fixture, enum index_status status)
{
    struct table_definition draft = table_fixture_draft(fixture->arena, BYTES("table"));
    table_fixture_add_index(fixture->arena, &draft, status);
    assert_int_equal(catalogue_create(fixture->catalogue, fixture->arena, &draft), ENGINE_OK);
}

static void an_index_step_waits_until_no_older_version_is_referenced(void **state)
{
    struct fixture *fixture = *state;
    create_with_index(fixture, INDEX_ACTIVE);
    struct table *held = catalogue_find(fixture->catalogue, BYTES("table"));
    struct table_definition changed = current(fixture, BYTES("table"));
    index_life_move(&changed.indexes[0], INDEX_DELETING);
    store(fixture, &changed);
    assert_int_equal(index_life_run(&fixture->index_life, fixture->arena), CONTROL_RETRY_MS);
    assert_int_equal(current(fixture, BYTES("table")).index_count, 1);
    table_release(held);
    assert_int_equal(index_life_run(&fixture->index_life, fixture->arena), TIMED_WAIT_FOREVER);
    assert_int_equal(current(fixture, BYTES("table")).index_count, 0);
}

static void an_index_is_backfilled_step_by_step(void **state)
{
    struct fixture *fixture = *state;
    create_with_index(fixture, INDEX_ALLOCATING);
    assert_int_equal(index_life_run(&fixture->index_life, fixture->arena), TIMED_WAIT_FOREVER);
    struct table_definition table = current(fixture, BYTES("table"));
    assert_int_equal(table.indexes[0].status, INDEX_BACKFILLING);

    struct backfill_progress progress = { .table_name = BYTES("table"),
                                          .table_id = table.id,
                                          .index_id = table.indexes[0].id,
                                          .position = BYTES("12345678") };
    assert_int_equal(index_life_save(fixture->catalogue, fixture->arena, &progress), ENGINE_OK);
    table = current(fixture, BYTES("table"));
    assert_int_equal(table.indexes[0].status, INDEX_BACKFILLING);
    assert_int_equal(table.indexes[0].backfilled.len, 8);
    progress.complete = true;
    assert_int_equal(index_life_save(fixture->catalogue, fixture->arena, &progress), ENGINE_OK);
    table = current(fixture, BYTES("table"));
    assert_int_equal(table.indexes[0].status, INDEX_ACTIVE);
    assert_int_equal(table.indexes[0].backfilled.len, 0);
    /* Progress of a backfill that nobody waits for any more changes nothing. */
    assert_int_equal(index_life_save(fixture->catalogue, fixture->arena, &progress), ENGINE_OK);
    progress.index_id++;
    assert_int_equal(index_life_save(fixture->catalogue, fixture->arena, &progress), ENGINE_OK);
    progress.table_name = BYTES("other");
    assert_int_equal(index_life_save(fixture->catalogue, fixture->arena, &progress), ENGINE_OK);
}

static void a_step_that_fails_is_tried_again(void **state)
{
    struct fixture *fixture = *state;
    create_with_index(fixture, INDEX_ALLOCATING);
    failing_engine_set(fixture->engine, &(struct failing_engine_plan){
                                            .call = 1, .status = ENGINE_IO, .commits_only = true });
    assert_int_equal(index_life_run(&fixture->index_life, fixture->arena),
                     CONTROL_FAILURE_RETRY_MS);
    failing_engine_set(fixture->engine, &(struct failing_engine_plan){ 0 });
    assert_int_equal(current(fixture, BYTES("table")).indexes[0].status, INDEX_ALLOCATING);
    assert_int_equal(index_life_run(&fixture->index_life, fixture->arena), TIMED_WAIT_FOREVER);
    assert_int_equal(current(fixture, BYTES("table")).indexes[0].status, INDEX_BACKFILLING);
}

static void indexes_of_a_table_in_a_transient_status_wait(void **state)
{
    struct fixture *fixture = *state;
    create_with_index(fixture, INDEX_ALLOCATING);
    struct table_definition changed = current(fixture, BYTES("table"));
    table_life_begin(&changed, TABLE_UPDATING, &slow);
    store(fixture, &changed);
    assert_int_equal(index_life_run(&fixture->index_life, fixture->arena), TIMED_WAIT_FOREVER);
    assert_int_equal(current(fixture, BYTES("table")).indexes[0].status, INDEX_ALLOCATING);
}

/* --- Expiry queues --- */

static void an_expiry_queue_goes_through_its_whole_life(void **state)
{
    struct fixture *fixture = *state;
    struct table_definition table = table_fixture_draft(fixture->arena, BYTES("table"));
    expiry_life_move(&table, EXPIRY_ALLOCATING);
    table.expiry.attribute = BYTES("ttl");
    assert_int_equal(catalogue_create(fixture->catalogue, fixture->arena, &table), ENGINE_OK);
    assert_int_equal(expiry_life_run(&fixture->expiry_life, fixture->arena), TIMED_WAIT_FOREVER);
    assert_int_equal(current(fixture, BYTES("table")).expiry.status, EXPIRY_FILLING);

    struct backfill_progress progress = { .table_name = BYTES("table"),
                                          .table_id = table.id,
                                          .index_id = BACKFILL_EXPIRY_QUEUE,
                                          .position = BYTES("12345678"),
                                          .complete = true };
    assert_int_equal(expiry_life_save(&fixture->expiry_life, fixture->arena, &progress), ENGINE_OK);
    table = current(fixture, BYTES("table"));
    assert_int_equal(table.expiry.status, EXPIRY_ACTIVE);
    assert_int_equal(table.expiry.filled.len, 0);

    struct engine_place place = { .owner = table.id,
                                  .partition = table.partitions[0].id,
                                  .space = ENGINE_SPACE_EXPIRY };
    engine_fixture_put(fixture->engine, place, BYTES("k"), BYTES("v"));
    expiry_life_move(&table, EXPIRY_REMOVING);
    store(fixture, &table);
    assert_int_equal(expiry_life_run(&fixture->expiry_life, fixture->arena), TIMED_WAIT_FOREVER);
    table = current(fixture, BYTES("table"));
    assert_int_equal(table.expiry.status, EXPIRY_NONE);
    assert_null(table.expiry.attribute.data);
    assert_true(engine_fixture_lacks(fixture->engine, place, BYTES("k")));
}

int main(void)
{
#define LIFE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_moves_only_where_its_life_allows_it),
        cmocka_unit_test(the_life_of_an_index_has_one_direction),
        cmocka_unit_test(the_life_of_an_expiry_queue_is_a_circle),
        LIFE_TEST(a_replica_that_is_not_filled_may_be_deleted),
        LIFE_TEST(a_transient_status_ends_when_it_is_due),
        LIFE_TEST(no_transient_status_is_stored_where_transitions_take_no_time),
        LIFE_TEST(a_deleted_table_is_dropped_when_due_and_removed_when_unreferenced),
        LIFE_TEST(an_index_step_waits_until_no_older_version_is_referenced),
        LIFE_TEST(an_index_is_backfilled_step_by_step),
        LIFE_TEST(a_step_that_fails_is_tried_again),
        LIFE_TEST(indexes_of_a_table_in_a_transient_status_wait),
        LIFE_TEST(an_expiry_queue_goes_through_its_whole_life),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
