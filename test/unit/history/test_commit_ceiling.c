/* test_commit_ceiling.c -- commit times resume behind those of earlier runs, whatever happened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include "base/clock.h"
#include "base/commit_clock.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "engine_fixture.h"
#include "history/commit_ceiling.h"
#include "history/history_cut.h"
#include "reference_engine.h"

enum { SECOND_US = 1000000 };

struct fixture {
    struct engine *engine;
    struct commit_clock commits;
    struct clock clock;
};

static void restart(struct fixture *fixture, int64_t wall_ms)
{
    fixture->commits = (struct commit_clock){ 0 };
    fixture->clock = clock_fixed(wall_ms);
    fixture->clock.commits = &fixture->commits;
    assert_int_equal(commit_ceiling_load(fixture->engine, &fixture->clock), ENGINE_OK);
}

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture.engine = reference_engine_create();
    restart(&fixture, 1000);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    engine_close(fixture->engine);
    return 0;
}

static struct engine_write *begin(struct fixture *fixture)
{
    struct engine_write *write = NULL;
    assert_int_equal(engine_write_begin(fixture->engine, NULL, 0, &write), ENGINE_OK);
    return write;
}

/* A write with a commit time; returns it. */
static int64_t commit(struct fixture *fixture, int64_t *ceiling_us)
{
    struct engine_write *write = begin(fixture);
    int64_t commit_us = clock_take_commit_us(&fixture->clock, 0);
    *ceiling_us = commit_ceiling_put(&fixture->clock, write, commit_us);
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    if (*ceiling_us != 0)
        commit_clock_raise_ceiling(&fixture->commits, *ceiling_us);
    return commit_us;
}

static size_t count_stored(struct fixture *fixture)
{
    struct engine_view *view = NULL;
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    const struct engine_range range = { .place = commit_ceiling_place };
    size_t count = 0;
    assert_int_equal(engine_view_open(fixture->engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
    while (engine_scan_next(scan, &entry) == ENGINE_OK)
        count++;
    engine_scan_close(scan);
    engine_view_close(view);
    return count;
}

static void only_the_first_write_of_a_second_stores_a_ceiling(void **state)
{
    struct fixture *fixture = *state;
    int64_t ceiling_us;
    assert_int_equal(commit(fixture, &ceiling_us), SECOND_US);
    assert_int_equal(ceiling_us, 2 * SECOND_US);
    assert_int_equal(commit(fixture, &ceiling_us), SECOND_US + 1);
    assert_int_equal(ceiling_us, 0);
    fixture->clock.fixed_ms = 1999;
    commit(fixture, &ceiling_us);
    assert_int_equal(ceiling_us, 0);
    fixture->clock.fixed_ms = 2000;
    commit(fixture, &ceiling_us);
    assert_int_equal(ceiling_us, 3 * SECOND_US);
    assert_int_equal(count_stored(fixture), 1);
}

static void commit_times_resume_at_the_ceiling_although_the_clock_was_set_back(void **state)
{
    struct fixture *fixture = *state;
    int64_t ceiling_us;
    fixture->clock.fixed_ms = 7000;
    int64_t before_us = commit(fixture, &ceiling_us);
    restart(fixture, 1000);
    int64_t after_us = commit(fixture, &ceiling_us);
    assert_true(after_us > before_us);
    assert_int_equal(after_us, 8 * SECOND_US);
    assert_int_equal(ceiling_us, 9 * SECOND_US);
    restart(fixture, 30000); /* The wall clock has caught up. */
    assert_int_equal(commit(fixture, &ceiling_us), 30 * SECOND_US);
}

/* Two batches take their times and reach the store the other way round. */
static void a_late_batch_does_not_lower_the_ceiling(void **state)
{
    struct fixture *fixture = *state;
    struct engine_write *early = begin(fixture);
    int64_t early_us = clock_take_commit_us(&fixture->clock, 0);
    assert_int_equal(commit_ceiling_put(&fixture->clock, early, early_us), 2 * SECOND_US);
    engine_write_abandon(early); /* The reference engine has one write at a time. */
    fixture->clock.fixed_ms = 5000;
    struct engine_write *write = begin(fixture);
    int64_t late_us = clock_take_commit_us(&fixture->clock, 0);
    assert_int_equal(commit_ceiling_put(&fixture->clock, write, late_us), 6 * SECOND_US);
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    write = begin(fixture);
    assert_int_equal(commit_ceiling_put(&fixture->clock, write, early_us), 2 * SECOND_US);
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    assert_int_equal(count_stored(fixture), 2);
    restart(fixture, 1000);
    assert_int_equal(count_stored(fixture), 1);
    assert_int_equal(clock_take_commit_us(&fixture->clock, 0), 6 * SECOND_US);
}

static void a_damaged_ceiling_is_refused(void **state)
{
    struct fixture *fixture = *state;
    static const uint8_t value[COMMIT_CEILING_SIZE] = { COMMIT_CEILING_FORMAT, 1, 2, 3, 4 };
    engine_fixture_put(fixture->engine, commit_ceiling_place, BYTES("12345678"),
                       bytes_of(value, sizeof value));
    assert_int_equal(commit_ceiling_load(fixture->engine, &fixture->clock), ENGINE_CORRUPT);
}

static void no_write_takes_a_time_before_a_cut_even_after_a_restart(void **state)
{
    struct fixture *fixture = *state;
    int64_t ceiling_us;
    int64_t at_us = 4 * SECOND_US + 500000;
    assert_int_equal(history_cut(fixture->engine, &fixture->clock, at_us), ENGINE_OK);
    assert_int_equal(commit(fixture, &ceiling_us), at_us);
    restart(fixture, 1000);
    assert_true(commit(fixture, &ceiling_us) >= at_us);
}

static void a_cut_waits_for_writes_under_way(void **state)
{
    struct fixture *fixture = *state;
    unsigned first = commit_clock_enter(&fixture->commits);
    assert_false(commit_clock_drain(&fixture->commits, 5));
    unsigned second = commit_clock_enter(&fixture->commits);
    commit_clock_leave(&fixture->commits, first);
    assert_false(commit_clock_drain(&fixture->commits, 5));
    commit_clock_leave(&fixture->commits, second);
    commit_clock_leave(&fixture->commits, 0);
    assert_true(commit_clock_drain(&fixture->commits, 1000));
}

struct cut {
    struct fixture *fixture;
    int64_t at_us;
    enum engine_status status;
    atomic_bool ended;
};

static void *cut_in_thread(void *context)
{
    struct cut *cut = context;
    cut->status = history_cut(cut->fixture->engine, &cut->fixture->clock, cut->at_us);
    atomic_store(&cut->ended, true);
    return NULL;
}

/* In this order: a write that begins while the cut waits must not take a time before it. */
static void a_cut_raises_commit_times_before_it_waits_for_writes(void **state)
{
    struct fixture *fixture = *state;
    const struct timespec pause = { .tv_nsec = 1000000 };
    struct cut cut = { .fixture = fixture, .at_us = 4 * SECOND_US };
    pthread_t thread;
    unsigned ticket = commit_clock_enter(&fixture->commits); /* It may have taken any time. */
    assert_int_equal(pthread_create(&thread, NULL, cut_in_thread, &cut), 0);
    while (!atomic_load(&fixture->commits.draining) && !atomic_load(&cut.ended))
        nanosleep(&pause, NULL);
    assert_true(clock_take_commit_us(&fixture->clock, 0) >= cut.at_us);
    for (int i = 0; i < 20; i++)
        nanosleep(&pause, NULL);
    assert_false(atomic_load(&cut.ended));
    commit_clock_leave(&fixture->commits, ticket);
    pthread_join(thread, NULL);
    assert_int_equal(cut.status, ENGINE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(only_the_first_write_of_a_second_stores_a_ceiling, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            commit_times_resume_at_the_ceiling_although_the_clock_was_set_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_late_batch_does_not_lower_the_ceiling, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_damaged_ceiling_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_write_takes_a_time_before_a_cut_even_after_a_restart,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cut_waits_for_writes_under_way, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cut_raises_commit_times_before_it_waits_for_writes,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
