/* test_history_life.c -- the life cycle of a table's history: opening, closing, trimming, holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/commit_clock.h"
#include "base/compiler.h"
#include "base/timed_wait.h"
#include "control/control.h"
#include "control/history_life.h"
#include "engine_fixture.h"
#include "failing_engine.h"
#include "history/commit_ceiling.h"
#include "history/history_entry.h"
#include "history/history_holds.h"
#include "reference_engine.h"
#include "table/catalogue.h"
#include "table_fixture.h"

enum { DAY_MS = 24 * 60 * 60 * 1000 };
static const int64_t begin_ms = 20000 * (int64_t)DAY_MS;

struct fixture {
    struct arena *arena;
    struct engine *engine; /* The failing wrapper around the reference engine. */
    struct catalogue *catalogue;
    struct commit_clock commits;
    struct clock clock;
    struct history_holds *holds;
    struct history_life life;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    enum engine_status status;
    fixture->arena = arena_create();
    fixture->engine = failing_engine_create(reference_engine_create());
    fixture->catalogue = catalogue_open(fixture->engine, &status);
    assert_int_equal(status, ENGINE_OK);
    fixture->clock = clock_fixed(begin_ms);
    fixture->clock.commits = &fixture->commits;
    fixture->holds = history_holds_create();
    fixture->life = (struct history_life){ .engine = fixture->engine,
                                           .clock = &fixture->clock,
                                           .catalogue = fixture->catalogue,
                                           .holds = fixture->holds };
    struct table_definition draft = table_fixture_draft(fixture->arena, BYTES("table"));
    assert_int_equal(catalogue_create(fixture->catalogue, fixture->arena, &draft), ENGINE_OK);
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

static struct table_definition current(struct fixture *fixture)
{
    struct table *table = catalogue_find(fixture->catalogue, BYTES("table"));
    struct table_definition definition = *table_definition(table); /* The listing keeps it. */
    table_release(table);
    return definition;
}

static void set_days(struct fixture *fixture, int64_t days)
{
    struct table_definition changed = current(fixture);
    changed.recovery_days = days;
    changed.recovery_since_ms = days == 0 ? 0 : clock_wall_ms(&fixture->clock);
    assert_int_equal(catalogue_update(fixture->catalogue, fixture->arena, &changed), ENGINE_OK);
}

static void run_until_settled(struct fixture *fixture)
{
    for (int i = 0; i < 3; i++)
        history_life_run(&fixture->life, fixture->arena);
}

static struct engine_place place_of(struct fixture *fixture)
{
    struct table_definition definition = current(fixture);
    return history_place(definition.history.id, definition.partitions[0].id);
}

/* An entry at a time. */
static struct bytes put_entry(struct fixture *fixture, int64_t commit_us)
{
    struct bytes key =
        history_key_encode(fixture->arena, BYTES("\0\0\0\0\0\0\0\1a\0\1"), commit_us);
    const struct history_entry entry = { .existed = false };
    engine_fixture_put(fixture->engine, place_of(fixture), key,
                       history_entry_encode(fixture->arena, &entry));
    return key;
}

static bool has_entry(struct fixture *fixture, struct bytes key)
{
    return !engine_fixture_lacks(fixture->engine, place_of(fixture), key);
}

static void moves_are_those_of_the_header(void **state)
{
    (void)state;
    static const struct {
        enum history_status from, to;
    } allowed[] = {
        { HISTORY_NONE, HISTORY_OPENING },    { HISTORY_OPENING, HISTORY_ACTIVE },
        { HISTORY_OPENING, HISTORY_CLOSING }, { HISTORY_ACTIVE, HISTORY_CLOSING },
        { HISTORY_CLOSING, HISTORY_NONE },
    };
    size_t count = 0;
    for (int from = 0; from < HISTORY_STATUS_COUNT; from++)
        for (int to = 0; to < HISTORY_STATUS_COUNT; to++)
            count += history_life_may_move((enum history_status)from, (enum history_status)to);
    for (size_t i = 0; i < COUNT_OF(allowed); i++)
        assert_true(history_life_may_move(allowed[i].from, allowed[i].to));
    assert_int_equal(count, COUNT_OF(allowed));
}

static void a_history_is_complete_once_nobody_holds_an_older_version(void **state)
{
    struct fixture *fixture = *state;
    set_days(fixture, 7);
    struct table *held = catalogue_find(fixture->catalogue, BYTES("table"));
    history_life_run(&fixture->life, fixture->arena);
    assert_int_equal(current(fixture).history.status, HISTORY_OPENING);
    fixture->clock.fixed_ms += 5000;
    assert_int_equal(history_life_run(&fixture->life, fixture->arena), CONTROL_RETRY_MS);
    assert_int_equal(current(fixture).history.status, HISTORY_OPENING);
    table_release(held);
    history_life_run(&fixture->life, fixture->arena);
    struct table_definition definition = current(fixture);
    assert_int_equal(definition.history.status, HISTORY_ACTIVE);
    assert_int_equal(definition.history.since_us, (begin_ms + 5000) * 1000);
    assert_int_equal(definition.recovery_since_ms, begin_ms + 5000);
}

static void no_later_run_takes_a_time_before_the_history_began(void **state)
{
    struct fixture *fixture = *state;
    set_days(fixture, 7);
    run_until_settled(fixture);
    int64_t since_us = current(fixture).history.since_us;
    fixture->commits = (struct commit_clock){ 0 }; /* A crash, and the clock is set back. */
    fixture->clock.wall_ahead_ms = -DAY_MS;
    assert_int_equal(commit_ceiling_load(fixture->engine, &fixture->clock), ENGINE_OK);
    assert_true(clock_take_commit_us(&fixture->clock, 0) >= since_us);
}

static void a_closed_history_is_removed_once_nobody_holds_an_older_version(void **state)
{
    struct fixture *fixture = *state;
    set_days(fixture, 7);
    run_until_settled(fixture);
    struct engine_place place = place_of(fixture);
    struct bytes key = put_entry(fixture, begin_ms * 1000);
    struct table *held = catalogue_find(fixture->catalogue, BYTES("table"));
    set_days(fixture, 0);
    run_until_settled(fixture);
    assert_int_equal(current(fixture).history.status, HISTORY_ACTIVE); /* Somebody holds it. */
    table_release(held);
    held = NULL;
    run_until_settled(fixture);
    assert_int_equal(current(fixture).history.status, HISTORY_NONE);
    assert_true(engine_fixture_lacks(fixture->engine, place, key));
    uint64_t first_id = place.owner;
    set_days(fixture, 7);
    run_until_settled(fixture);
    assert_int_not_equal(current(fixture).history.id, first_id); /* Never used again. */
}

static void days_before_the_period_are_trimmed(void **state)
{
    struct fixture *fixture = *state;
    set_days(fixture, 2);
    run_until_settled(fixture);
    struct bytes first = put_entry(fixture, begin_ms * 1000 + 1);
    struct bytes second = put_entry(fixture, (begin_ms + DAY_MS) * 1000 + 1);
    fixture->clock.fixed_ms = begin_ms + 3 * (int64_t)DAY_MS - 1;
    history_life_trim_soon(&fixture->life);
    history_life_run(&fixture->life, fixture->arena);
    assert_true(has_entry(fixture, first)); /* Its day is not over by the period. */
    fixture->clock.fixed_ms += 1;
    history_life_trim_soon(&fixture->life);
    history_life_run(&fixture->life, fixture->arena);
    assert_false(has_entry(fixture, first));
    assert_true(has_entry(fixture, second));
}

static void jobs_keep_what_they_read(void **state)
{
    struct fixture *fixture = *state;
    set_days(fixture, 1);
    run_until_settled(fixture);
    struct bytes first = put_entry(fixture, begin_ms * 1000 + 1);
    uint64_t hold = history_holds_add(fixture->holds, current(fixture).id, begin_ms * 1000);
    fixture->clock.fixed_ms += 10 * (int64_t)DAY_MS;
    history_life_trim_soon(&fixture->life);
    run_until_settled(fixture);
    assert_true(has_entry(fixture, first));
    set_days(fixture, 0); /* Disabled, but it stays open. */
    run_until_settled(fixture);
    assert_int_equal(current(fixture).history.status, HISTORY_ACTIVE);
    assert_true(has_entry(fixture, first));
    history_holds_remove(fixture->holds, hold);
    run_until_settled(fixture);
    assert_int_equal(current(fixture).history.status, HISTORY_NONE);
}

static void a_job_opens_a_history_for_a_table_without_recovery(void **state)
{
    struct fixture *fixture = *state;
    run_until_settled(fixture);
    assert_int_equal(current(fixture).history.status, HISTORY_NONE);
    uint64_t hold = history_holds_add(fixture->holds, current(fixture).id, begin_ms * 1000);
    run_until_settled(fixture);
    assert_int_equal(current(fixture).history.status, HISTORY_ACTIVE);
    assert_int_equal(current(fixture).recovery_days, 0);
    history_holds_remove(fixture->holds, hold);
}

static void a_step_that_fails_is_taken_again(void **state)
{
    struct fixture *fixture = *state;
    static const struct failing_engine_plan none;
    bool struck = true;
    for (uint64_t call = 1; struck; call++) {
        const struct failing_engine_plan plan = { .call = call, .status = ENGINE_IO };
        set_days(fixture, 7);
        failing_engine_set(fixture->engine, &plan);
        run_until_settled(fixture);
        struck = failing_engine_struck(fixture->engine);
        failing_engine_set(fixture->engine, &none);
        run_until_settled(fixture);
        assert_int_equal(current(fixture).history.status, HISTORY_ACTIVE);
        set_days(fixture, 0);
        failing_engine_set(fixture->engine, &plan);
        run_until_settled(fixture);
        struck |= failing_engine_struck(fixture->engine);
        failing_engine_set(fixture->engine, &none);
        run_until_settled(fixture);
        assert_int_equal(current(fixture).history.status, HISTORY_NONE);
    }
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(moves_are_those_of_the_header),
        TEST(a_history_is_complete_once_nobody_holds_an_older_version),
        TEST(no_later_run_takes_a_time_before_the_history_began),
        TEST(a_closed_history_is_removed_once_nobody_holds_an_older_version),
        TEST(days_before_the_period_are_trimmed),
        TEST(jobs_keep_what_they_read),
        TEST(a_job_opens_a_history_for_a_table_without_recovery),
        TEST(a_step_that_fails_is_taken_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
