/* test_job_runner.c -- jobs run, fail, retry, stop, are cancelled, and resume from their records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "engine_fixture.h"
#include "failing_engine.h"
#include "history/history_holds.h"
#include "jobs/job_runner.h"

enum { STEPS = 10 };

/* What the function of the kind does, in a script that each test sets. */
struct script {
    _Atomic int run_count;
    _Atomic int step_count; /* In all turns. */
    _Atomic int failures;   /* So many turns end with JOB_RESULT_AGAIN at first. */
    _Atomic bool blocked;   /* Waits until that is false, or the job is to stop. */
    _Atomic bool reports_failure;
    _Atomic bool skips_steps;   /* Completes without storing anything itself. */
    _Atomic int first_position; /* Where the last turn began, */
    _Atomic int first_detail;   /* and how many bytes of a detail it found. */
    _Atomic int niceness;       /* Of the thread of the last job that ran at once. */
};
static struct script script;

static struct {
    struct engine_fixture engine;
    struct arena *arena;
    struct job_runner *runner;
    struct history_holds *holds;
} fixture;

static enum job_result run(struct job *job, void *context)
{
    assert_ptr_equal(context, &script);
    struct bytes position = job_record(job)->position;
    uint8_t at = position.len == 0 ? 0 : position.data[0];
    script.first_position = at;
    script.first_detail = (int)job_record(job)->detail.len;
    script.run_count++;
    while (script.blocked && !job_is_stopping(job))
        sched_yield();
    if (job_is_cancelled(job))
        return JOB_RESULT_CANCELLED;
    if (script.failures > 0) {
        script.failures--;
        job_count(job, 1, 100, 0);
        job_set_detail(job, BYTES("ahead of what is stored"));
        return JOB_RESULT_AGAIN;
    }
    if (script.reports_failure) {
        job_fail(job, "SomeCode", "it failed %d times", 3);
        return JOB_RESULT_FAILED;
    }
    for (; at < STEPS && !script.skips_steps; at++) {
        if (job_is_stopping(job))
            return JOB_RESULT_STOPPED;
        uint8_t next = (uint8_t)(at + 1);
        script.step_count++;
        job_count(job, 1, 100, 0);
        job_set_position(job, bytes_of(&next, 1));
        if (job_save(job) != ENGINE_OK)
            return JOB_RESULT_AGAIN;
        if (next == STEPS / 2 && script.blocked)
            return JOB_RESULT_STOPPED;
    }
    return JOB_RESULT_COMPLETED;
}

static enum job_result run_at_once(struct job *job, void *context)
{
    (void)job, (void)context;
    script.niceness = getpriority(PRIO_PROCESS, 0);
    return JOB_RESULT_COMPLETED;
}

static void open_runner(bool starts)
{
    enum engine_status status;
    fixture.runner = job_runner_open(&(struct job_runner_options){ .engine = fixture.engine.engine,
                                                                   .clock = &clock_system,
                                                                   .holds = fixture.holds },
                                     &status);
    assert_non_null(fixture.runner);
    job_runner_register(fixture.runner, &(struct job_kind){ .letter = JOB_RESTORE,
                                                            .name = "restore",
                                                            .active_max = 2,
                                                            .run = run,
                                                            .context = &script });
    job_runner_register(fixture.runner, &(struct job_kind){ .letter = JOB_EXPORT,
                                                            .name = "export",
                                                            .active_max = 2,
                                                            .run = run_at_once });
    job_runner_register(fixture.runner, &(struct job_kind){ .letter = JOB_BULK,
                                                            .name = "bulk",
                                                            .active_max = 2,
                                                            .run = run_at_once,
                                                            .writes_items = true });
    if (starts)
        job_runner_start(fixture.runner);
}

static void close_runner(void)
{
    job_runner_stop(fixture.runner);
    job_runner_close(fixture.runner);
}

static int set_up(void **state)
{
    (void)state;
    script = (struct script){ 0 };
    fixture.arena = arena_create();
    fixture.holds = history_holds_create();
    engine_fixture_open(&fixture.engine, ENGINE_FIXTURE_ROCKSDB_MEMORY);
    fixture.engine.engine = failing_engine_create(fixture.engine.engine);
    open_runner(true);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close_runner();
    engine_fixture_close(&fixture.engine);
    history_holds_destroy(fixture.holds);
    arena_destroy(fixture.arena);
    return 0;
}

static struct job_record add(uint64_t source_id, int64_t hold_us)
{
    struct job_record record = job_runner_new_record(fixture.runner, JOB_RESTORE);
    record.table_name = BYTES("t");
    record.source_id = source_id;
    record.hold_us = hold_us;
    assert_int_equal(job_runner_add(fixture.runner, fixture.arena, &record), ENGINE_OK);
    return record;
}

static void wait_for_end(void)
{
    while (job_runner_active_count(fixture.runner, JOB_RESTORE) > 0)
        sched_yield();
}

static struct job_record load(const struct job_record *record)
{
    struct job_record read;
    assert_int_equal(job_record_load(fixture.engine.engine, fixture.arena, record->letter,
                                     bytes_from_text(record->id), &read),
                     ENGINE_OK);
    return read;
}

static void job_runs_to_its_end_and_its_record_says_so(void **state)
{
    (void)state;
    struct job_record record = add(0, 0);
    wait_for_end();
    struct job_record read = load(&record);
    assert_int_equal(read.state, JOB_COMPLETED);
    assert_true(read.ended_ms >= read.created_ms);
    assert_int_equal(read.progress.items_done, STEPS);
    assert_int_equal(read.progress.bytes_done, STEPS * 100);
    struct job_kind_counts counts[JOB_KINDS_MAX];
    assert_int_equal(job_runner_counts(fixture.runner, counts), 3);
    assert_int_equal(counts[0].completed, 1);
    assert_int_equal(counts[0].active, 0);
}

static void job_does_not_end_before_it_began(void **state)
{
    (void)state;
    int64_t ahead_ms = clock_wall_ms(&clock_system) + 60 * 1000;
    struct job_record record = job_runner_new_record_at(fixture.runner, JOB_RESTORE, ahead_ms);
    record.table_name = BYTES("t");
    assert_int_equal(job_runner_add(fixture.runner, fixture.arena, &record), ENGINE_OK);
    wait_for_end();
    assert_int_equal(load(&record).ended_ms, ahead_ms);
}

static void failure_is_stored_with_code_and_message(void **state)
{
    (void)state;
    script.reports_failure = true;
    struct job_record record = add(0, 0);
    wait_for_end();
    struct job_record read = load(&record);
    assert_int_equal(read.state, JOB_FAILED);
    assert_true(bytes_equal_text(read.failure_code, "SomeCode"));
    assert_true(bytes_equal_text(read.failure_message, "it failed 3 times"));
}

static void turn_that_may_be_repeated_is_repeated(void **state)
{
    (void)state;
    script.failures = 2;
    struct job_record record = add(0, 0);
    wait_for_end();
    assert_int_equal(load(&record).state, JOB_COMPLETED);
    assert_int_equal(script.run_count, 3);
    assert_int_equal(script.step_count, STEPS);
    assert_int_equal(load(&record).progress.items_done, STEPS);
}

static void repeated_turn_begins_with_the_stored_detail(void **state)
{
    (void)state;
    script.failures = 1;
    struct job_record record = add(0, 0);
    wait_for_end();
    assert_int_equal(script.first_detail, 0);
    assert_null(load(&record).detail.data);

    script.failures = 1;
    record = job_runner_new_record(fixture.runner, JOB_RESTORE);
    record.detail = BYTES("stored");
    assert_int_equal(job_runner_add(fixture.runner, fixture.arena, &record), ENGINE_OK);
    wait_for_end();
    assert_int_equal(script.first_detail, strlen("stored"));
}

static void cancelled_job_ends_cancelled(void **state)
{
    (void)state;
    script.blocked = true;
    struct job_record record = add(0, 0);
    assert_true(job_runner_cancel(fixture.runner, JOB_RESTORE, bytes_from_text(record.id)));
    wait_for_end();
    assert_int_equal(load(&record).state, JOB_CANCELLED);
    assert_false(job_runner_cancel(fixture.runner, JOB_RESTORE, bytes_from_text(record.id)));
}

static void job_whose_end_is_stored_cannot_be_cancelled(void **state)
{
    (void)state;
    script.blocked = script.skips_steps = true;
    struct job_record record = add(0, 0);
    while (script.run_count == 0)
        sched_yield();
    failing_engine_hold_commit(fixture.engine.engine);
    script.blocked = false;
    while (load(&record).state == JOB_RUNNING)
        sched_yield();
    size_t active_count = job_runner_active_count(fixture.runner, JOB_RESTORE);
    bool cancelled = job_runner_cancel(fixture.runner, JOB_RESTORE, bytes_from_text(record.id));
    failing_engine_let_go(fixture.engine.engine);
    wait_for_end();
    assert_int_equal(active_count, 1);
    assert_false(cancelled);
    assert_int_equal(load(&record).state, JOB_COMPLETED);
}

/* However many of one kind there are, and however long they take. */
static void long_jobs_of_one_kind_do_not_delay_those_of_another(void **state)
{
    (void)state;
    script.blocked = true;
    for (int i = 0; i < 2 * JOB_THREADS_MAX; i++)
        add(0, 0);
    while (script.run_count < 1 + JOB_THREADS_SHARED)
        sched_yield();
    struct job_record other = job_runner_new_record(fixture.runner, JOB_EXPORT);
    assert_int_equal(job_runner_add(fixture.runner, fixture.arena, &other), ENGINE_OK);
    while (job_runner_active_count(fixture.runner, JOB_EXPORT) > 0)
        sched_yield();
    assert_int_equal(script.run_count, 1 + JOB_THREADS_SHARED);
    script.blocked = false;
    wait_for_end();
    assert_int_equal(script.run_count, 2 * JOB_THREADS_MAX);
}

static int niceness_of_job(enum job_letter letter)
{
    struct job_record record = job_runner_new_record(fixture.runner, letter);
    assert_int_equal(job_runner_add(fixture.runner, fixture.arena, &record), ENGINE_OK);
    while (job_runner_active_count(fixture.runner, letter) > 0)
        sched_yield();
    return script.niceness;
}

/* Requests wait for the latches that such a job holds. */
static void only_jobs_that_write_items_have_the_usual_priority(void **state)
{
    (void)state;
    enum { NICENESS_MAX = 19 }; /* The tests may run with a low priority themselves. */
    int usual = getpriority(PRIO_PROCESS, 0);
    int low = usual + JOB_NICENESS < NICENESS_MAX ? usual + JOB_NICENESS : NICENESS_MAX;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(niceness_of_job(JOB_EXPORT), low);
        assert_int_equal(niceness_of_job(JOB_BULK), usual);
    }
}

static void job_resumes_behind_its_position_after_a_restart(void **state)
{
    (void)state;
    close_runner();
    open_runner(false);
    struct job_record record = job_runner_new_record(fixture.runner, JOB_RESTORE);
    uint8_t half = STEPS / 2;
    record.position = bytes_of(&half, 1);
    record.progress.items_done = half;
    assert_int_equal(job_runner_add(fixture.runner, fixture.arena, &record), ENGINE_OK);
    close_runner(); /* It never started, so the job did not run. */
    assert_int_equal(script.run_count, 0);
    open_runner(true);
    wait_for_end();
    assert_int_equal(script.first_position, STEPS / 2);
    assert_int_equal(script.step_count, STEPS - STEPS / 2);
    assert_int_equal(load(&record).progress.items_done, STEPS);
}

static void stopped_job_stays_running_in_its_record(void **state)
{
    (void)state;
    script.blocked = true;
    struct job_record record = add(0, 0);
    while (script.run_count == 0)
        sched_yield();
    close_runner();
    assert_int_equal(load(&record).state, JOB_RUNNING);
    script.blocked = false;
    open_runner(true);
    wait_for_end();
    assert_int_equal(load(&record).state, JOB_COMPLETED);
}

static void active_jobs_hold_their_source_and_its_earliest_time(void **state)
{
    (void)state;
    script.blocked = true;
    add(7, 2000);
    assert_true(job_runner_may_add(fixture.runner, JOB_RESTORE));
    add(7, 1000);
    assert_false(job_runner_may_add(fixture.runner, JOB_RESTORE));
    assert_false(job_runner_may_add(fixture.runner, JOB_IMPORT)); /* Nobody runs those. */
    assert_true(history_holds_has_table(fixture.holds, 7));
    assert_int_equal(history_holds_earliest_us(fixture.holds, 7), 1000);
    assert_false(history_holds_has_table(fixture.holds, 8));
    close_runner(); /* A restart forgets the holds, and the records bring them back. */
    history_holds_destroy(fixture.holds);
    fixture.holds = history_holds_create();
    open_runner(true);
    assert_int_equal(history_holds_earliest_us(fixture.holds, 7), 1000);
    script.blocked = false;
    wait_for_end();
    assert_false(history_holds_has_table(fixture.holds, 7));
}

static void a_token_is_known_after_a_restart(void **state)
{
    (void)state;
    struct job_record record = job_runner_new_record(fixture.runner, JOB_EXPORT), found;
    record.token = BYTES("token");
    assert_int_equal(job_runner_add(fixture.runner, fixture.arena, &record), ENGINE_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(job_runner_find_token(fixture.runner, fixture.arena, JOB_EXPORT,
                                               BYTES("token"), &found),
                         ENGINE_OK);
        assert_string_equal(found.id, record.id);
        assert_int_equal(job_runner_find_token(fixture.runner, fixture.arena, JOB_RESTORE,
                                               BYTES("token"), &found),
                         ENGINE_NOT_FOUND);
        close_runner();
        open_runner(true);
    }
}

static void room_is_counted_and_kept(void **state)
{
    (void)state;
    bool has_room;
    assert_int_equal(job_runner_has_room(fixture.runner, JOB_EXPORT, &has_room), ENGINE_OK);
    assert_true(has_room);
    struct job_record record = job_runner_new_record(fixture.runner, JOB_EXPORT);
    assert_int_equal(job_runner_add(fixture.runner, fixture.arena, &record), ENGINE_OK);
    assert_int_equal(job_runner_has_room(fixture.runner, JOB_EXPORT, &has_room), ENGINE_OK);
    assert_true(has_room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(job_runs_to_its_end_and_its_record_says_so, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(job_does_not_end_before_it_began, set_up, tear_down),
        cmocka_unit_test_setup_teardown(failure_is_stored_with_code_and_message, set_up, tear_down),
        cmocka_unit_test_setup_teardown(turn_that_may_be_repeated_is_repeated, set_up, tear_down),
        cmocka_unit_test_setup_teardown(repeated_turn_begins_with_the_stored_detail, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(cancelled_job_ends_cancelled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(job_whose_end_is_stored_cannot_be_cancelled, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(long_jobs_of_one_kind_do_not_delay_those_of_another, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(only_jobs_that_write_items_have_the_usual_priority, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(job_resumes_behind_its_position_after_a_restart, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(stopped_job_stays_running_in_its_record, set_up, tear_down),
        cmocka_unit_test_setup_teardown(active_jobs_hold_their_source_and_its_earliest_time, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_token_is_known_after_a_restart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(room_is_counted_and_kept, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
