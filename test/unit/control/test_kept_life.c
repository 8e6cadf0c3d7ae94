/* test_kept_life.c -- the end of deleted tables that backups keep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "control/control.h"
#include "control/kept_life.h"
#include "engine_fixture.h"
#include "failing_engine.h"
#include "history/history_holds.h"
#include "jobs/job_record.h"
#include "jobs/kept_table.h"
#include "model/item_record.h"
#include "reference_engine.h"
#include "table/catalogue.h"
#include "table_fixture.h"

enum { DAY_MS = 24 * 60 * 60 * 1000 };
static const int64_t begin_ms = 20000 * (int64_t)DAY_MS;
static const int64_t lifetime_ms = KEPT_TABLE_DAYS * (int64_t)DAY_MS;

struct fixture {
    struct arena *arena;
    struct engine *engine; /* The failing wrapper around the reference engine. */
    struct catalogue *catalogue;
    struct clock clock;
    struct history_holds *holds;
    struct kept_life life;
    struct table_definition table; /* The one that is kept. */
};

/* A record as api/backup makes it. */
static enum engine_status keep(void *context, struct arena *arena,
                               const struct table_definition *definition,
                               struct engine_write *write, bool *is_kept)
{
    struct fixture *fixture = context;
    struct item_builder builder;
    struct buffer encoded;
    struct job_record record = { .letter = JOB_BACKUP,
                                 .state = JOB_COMPLETED,
                                 .created_ms = begin_ms,
                                 .created_server_ms = clock_server_ms(&fixture->clock),
                                 .source_id = definition->id };
    job_record_make_id(begin_ms, 0, record.id);
    buffer_init(&encoded, arena);
    value_append_binary(&encoded, table_definition_encode(arena, definition).encoded);
    item_builder_init(&builder, arena);
    item_builder_add(&builder, BYTES("t"), buffer_bytes(&encoded));
    record.detail = item_builder_finish(&builder).encoded;
    job_record_put(arena, &record, write);
    *is_kept = true;
    return ENGINE_OK;
}

static struct engine_place items_of(const struct fixture *fixture)
{
    return (struct engine_place){ .owner = fixture->table.id,
                                  .partition = fixture->table.partitions[0].id,
                                  .space = ENGINE_SPACE_ITEMS };
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    enum engine_status status;
    fixture->arena = arena_create();
    fixture->engine = failing_engine_create(reference_engine_create());
    fixture->catalogue = catalogue_open(fixture->engine, &status);
    assert_int_equal(status, ENGINE_OK);
    fixture->clock = clock_fixed(begin_ms);
    fixture->holds = history_holds_create();
    fixture->life = (struct kept_life){ .engine = fixture->engine,
                                        .clock = &fixture->clock,
                                        .catalogue = fixture->catalogue,
                                        .holds = fixture->holds };
    catalogue_set_keeper(fixture->catalogue,
                         &(struct catalogue_keeper){ .keep = keep, .context = fixture });
    fixture->table = table_fixture_draft(fixture->arena, BYTES("table"));
    assert_int_equal(catalogue_create(fixture->catalogue, fixture->arena, &fixture->table),
                     ENGINE_OK);
    engine_fixture_put(fixture->engine, items_of(fixture), BYTES("k"), BYTES("v"));
    assert_int_equal(catalogue_drop(fixture->catalogue, fixture->arena, BYTES("table")), ENGINE_OK);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    history_holds_destroy(fixture->holds);
    catalogue_close(fixture->catalogue);
    engine_close(fixture->engine);
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

static bool count_kept(void *context, const struct job_record *record,
                       const struct table_definition *table)
{
    size_t *count = context;
    assert_true(kept_table_is(record));
    assert_int_equal(table->id, record->source_id);
    (*count)++;
    return true;
}

/* Whether the record is there, and the data. Both are, or neither, once dropped data is removed. */
static bool is_kept(struct fixture *fixture)
{
    size_t count = 0;
    bool waiting;
    while (catalogue_remove_dropped(fixture->catalogue, fixture->arena, &waiting) == ENGINE_OK)
        continue;
    assert_int_equal(kept_table_visit(fixture->engine, count_kept, &count), ENGINE_OK);
    assert_int_equal(engine_fixture_has(fixture->engine, items_of(fixture), BYTES("k"), BYTES("v")),
                     count == 1);
    return count == 1;
}

static void a_kept_table_goes_after_its_days_of_server_time(void **state)
{
    struct fixture *fixture = *state;
    fixture->clock.wall_ahead_ms = 2 * lifetime_ms; /* The wall clock says nothing. */
    fixture->clock.fixed_ms += lifetime_ms - 1;
    assert_int_equal(kept_life_run(&fixture->life, fixture->arena), KEPT_LIFE_INTERVAL_MS);
    assert_true(is_kept(fixture));
    fixture->clock.fixed_ms += KEPT_LIFE_INTERVAL_MS - 1; /* Not yet looked for. */
    assert_int_equal(kept_life_run(&fixture->life, fixture->arena), 1);
    assert_true(is_kept(fixture));
    fixture->clock.fixed_ms += 1;
    assert_int_equal(kept_life_run(&fixture->life, fixture->arena), CONTROL_RETRY_MS);
    assert_false(is_kept(fixture));
}

static void a_kept_table_that_is_read_goes_later(void **state)
{
    struct fixture *fixture = *state;
    uint64_t hold = history_holds_add(fixture->holds, fixture->table.id, 0);
    fixture->clock.fixed_ms += lifetime_ms;
    kept_life_run(&fixture->life, fixture->arena);
    assert_true(is_kept(fixture));
    history_holds_remove(fixture->holds, hold);
    fixture->clock.fixed_ms += KEPT_LIFE_INTERVAL_MS;
    kept_life_run(&fixture->life, fixture->arena);
    assert_false(is_kept(fixture));
}

static void a_failed_removal_is_repeated(void **state)
{
    struct fixture *fixture = *state;
    fixture->clock.fixed_ms += lifetime_ms;
    failing_engine_set(fixture->engine, &(struct failing_engine_plan){
                                            .call = 1, .status = ENGINE_IO, .commits_only = true });
    assert_int_equal(kept_life_run(&fixture->life, fixture->arena), CONTROL_FAILURE_RETRY_MS);
    assert_true(is_kept(fixture));
    fixture->clock.fixed_ms += CONTROL_FAILURE_RETRY_MS;
    kept_life_run(&fixture->life, fixture->arena);
    assert_false(is_kept(fixture));
}

/* Other backups are not looked at, and a damaged record is left alone. */
static void only_whole_records_of_kept_tables_are_visited(void **state)
{
    struct fixture *fixture = *state;
    struct job_record record = { .letter = JOB_BACKUP, .state = JOB_COMPLETED };
    job_record_make_id(begin_ms + 1, 7, record.id);
    assert_int_equal(job_record_store(fixture->engine, fixture->arena, &record), ENGINE_OK);
    job_record_make_id(begin_ms + 2, 0, record.id); /* Without a table. */
    assert_int_equal(job_record_store(fixture->engine, fixture->arena, &record), ENGINE_OK);
    size_t count = 0;
    assert_int_equal(kept_table_visit(fixture->engine, count_kept, &count), ENGINE_OK);
    assert_int_equal(count, 1);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_kept_table_goes_after_its_days_of_server_time),
        TEST(a_kept_table_that_is_read_goes_later),
        TEST(a_failed_removal_is_repeated),
        TEST(only_whole_records_of_kept_tables_are_visited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
