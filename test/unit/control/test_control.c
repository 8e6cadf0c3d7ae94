/* test_control.c -- the control thread runs tasks in order, a bounded number of them, opens streams
 * before it answers, and removes what is old. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <pthread.h>
#include "base/arena.h"
#include "base/clock.h"
#include "control/control.h"
#include "insight/insights.h"
#include "jobs/job_record.h"
#include "model/table_definition.h"
#include "reference_engine.h"
#include "stream/stream_definition.h"
#include "stream/streams.h"
#include "table/catalogue.h"
#include "table_fixture.h"
#include "trigger/triggers.h"

struct fixture {
    struct engine *engine;
    struct catalogue *catalogue;
    struct streams *streams;
    struct triggers *triggers;
    struct insights *insights;
    struct control *control;
    pthread_mutex_t gate; /* Held by a test that wants the thread to wait. */
    unsigned started;     /* The control thread's, until it is stopped. */
    bool out_of_order;
    bool opened; /* The stream, with all partitions. */
};

struct numbered_task {
    struct control_task task;
    struct fixture *fixture;
    unsigned number;
};

static void start_control(struct fixture *fixture, const struct clock *clock)
{
    fixture->control = control_start(&(struct control_options){ .engine = fixture->engine,
                                                                .clock = clock,
                                                                .catalogue = fixture->catalogue,
                                                                .streams = fixture->streams,
                                                                .insights = fixture->insights,
                                                                .triggers = fixture->triggers });
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    enum engine_status status;
    fixture->engine = reference_engine_create();
    fixture->catalogue = catalogue_open(fixture->engine, &status);
    fixture->streams = streams_open(fixture->engine, &clock_system, &status);
    fixture->triggers = triggers_open(&(struct trigger_runner_options){ .engine = fixture->engine,
                                                                        .streams = fixture->streams,
                                                                        .clock = &clock_system },
                                      &status);
    assert_int_equal(status, ENGINE_OK);
    pthread_mutex_init(&fixture->gate, NULL);
    fixture->insights = insights_create(&(struct insights_options){ .engine = fixture->engine });
    start_control(fixture, &clock_system);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    triggers_close(fixture->triggers);
    streams_close(fixture->streams);
    catalogue_close(fixture->catalogue);
    insights_destroy(fixture->insights);
    engine_close(fixture->engine);
    pthread_mutex_destroy(&fixture->gate);
    free(fixture);
    return 0;
}

static void run(void *context)
{
    struct numbered_task *task = context;
    struct fixture *fixture = task->fixture;
    pthread_mutex_lock(&fixture->gate);
    fixture->out_of_order |= task->number != fixture->started;
    fixture->started++;
    pthread_mutex_unlock(&fixture->gate);
}

static void so_many_tasks_wait_at_most_and_all_run_in_order(void **state)
{
    struct fixture *fixture = *state;
    static struct numbered_task tasks[CONTROL_CALLS_MAX + 2];
    pthread_mutex_lock(&fixture->gate);
    unsigned accepted = 0;
    bool refused = false;
    while (!refused) {
        struct numbered_task *task = &tasks[accepted];
        *task = (struct numbered_task){ .task = { .run = run, .context = task },
                                        .fixture = fixture,
                                        .number = accepted };
        refused = !control_submit(fixture->control, &task->task);
        accepted += !refused;
    }
    /* The thread may have taken the first, and waits with it. */
    assert_in_range(accepted, CONTROL_CALLS_MAX, CONTROL_CALLS_MAX + 1);
    pthread_mutex_unlock(&fixture->gate);
    control_stop(fixture->control);
    assert_int_equal(fixture->started, accepted);
    assert_false(fixture->out_of_order);
}

/* A split begins, and then a stream: it is open when its request is answered, so that it has every
 * change from then on. */
static void enable_stream_during_split(void *context)
{
    struct fixture *fixture = context;
    struct arena *arena = arena_create();
    struct table_definition table = table_fixture_draft(arena, BYTES("table"));
    assert_int_equal(catalogue_create(fixture->catalogue, arena, &table), ENGINE_OK);
    struct partition border = { .first_hash = 7, .parent_id = table.partitions[0].id };
    table.splits = &border;
    table.split_count = 1;
    assert_int_equal(catalogue_update(fixture->catalogue, arena, &table), ENGINE_OK);
    assert_int_not_equal(table.splitting_id, 0);
    table.stream_enabled = true;
    table.stream_view_type = BYTES("NEW_IMAGE");
    table.stream_label = BYTES("2015-05-11T21:21:33.291");
    assert_int_equal(catalogue_update(fixture->catalogue, arena, &table), ENGINE_OK);
    control_settle_streams(fixture->control, arena, table.log_id);
    const struct stream_definition *stream = streams_of_log(fixture->streams, table.log_id);
    fixture->opened = stream != NULL && stream->status == STREAM_ENABLED &&
                      stream_definition_has_partition(stream, border.id);
    arena_destroy(arena);
}

static void a_stream_opens_during_a_split_before_its_request_is_answered(void **state)
{
    struct fixture *fixture = *state;
    control_run(fixture->control, enable_stream_during_split, fixture);
    control_stop(fixture->control);
    assert_true(fixture->opened);
}

#define DAY_MS INT64_C(86400000)

/* Stores the record of an export that was made so many days ago. */
static void store_job(struct fixture *fixture, const struct clock *clock, int64_t days,
                      enum job_state state)
{
    struct arena *arena = arena_create();
    struct job_record record = { .letter = JOB_EXPORT,
                                 .state = state,
                                 .created_ms = clock_wall_ms(clock) - days * DAY_MS,
                                 .created_server_ms = clock_server_ms(clock) - days * DAY_MS };
    job_record_make_id(record.created_ms, 1, record.id);
    assert_int_equal(job_record_store(fixture->engine, arena, &record), ENGINE_OK);
    arena_destroy(arena);
}

static void records_of_old_jobs_are_removed(void **state)
{
    struct fixture *fixture = *state;
    const struct clock later = clock_fixed(INT64_C(1700000000000));
    size_t count;
    control_stop(fixture->control);
    store_job(fixture, &later, JOB_RECORD_LIFETIME_DAYS + 2, JOB_RUNNING);
    store_job(fixture, &later, JOB_RECORD_LIFETIME_DAYS + 1, JOB_COMPLETED);
    store_job(fixture, &later, JOB_RECORD_LIFETIME_DAYS - 1, JOB_COMPLETED);
    start_control(fixture, &later);
    control_stop(fixture->control);
    assert_int_equal(job_record_count(fixture->engine, JOB_EXPORT, &count), ENGINE_OK);
    assert_int_equal(count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_stream_opens_during_a_split_before_its_request_is_answered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(records_of_old_jobs_are_removed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(so_many_tasks_wait_at_most_and_all_run_in_order, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
