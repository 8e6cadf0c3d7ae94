/* test_alarms.c -- alarms in the store: definitions, states, history, actions, bounds, restarts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "cloudwatch/alarm_record.h"
#include "cloudwatch/alarm_tracking.h"
#include "cloudwatch/alarms.h"
#include "engine_fixture.h"
#include "failing_engine.h"
#include "model/error.h"
#include "reference_engine.h"

#define NOW_MS INT64_C(1789662545000) /* 2026-09-17T16:29:05Z */
#define POLICY                                                                                     \
    "arn:aws:autoscaling:eu-west-1:123456789012:scalingPolicy:u:resource/dynamodb/table/T:"        \
    "policyName/p"
#define SNS "arn:aws:sns:eu-west-1:123456789012:topic"

struct fixture {
    struct engine *engine;
    struct clock clock;
    struct alarms_options options;
    struct alarms *alarms;
    struct arena *arena;
    struct outbound *network;
    double value; /* Of every period; below 0: there is none. */
};

/* --- The outside --- */

static _Atomic int posts;
static _Atomic int answer_status;
static char last_body[4096];
static pthread_mutex_t body_mutex = PTHREAD_MUTEX_INITIALIZER;

static enum outbound_result see_post(struct outbound_client *client, struct arena *arena,
                                     const struct outbound_request *request,
                                     struct outbound_answer *answer)
{
    (void)client;
    (void)arena;
    pthread_mutex_lock(&body_mutex);
    snprintf(last_body, sizeof last_body, "%.*s", BYTES_FMT(request->body));
    pthread_mutex_unlock(&body_mutex);
    *answer = (struct outbound_answer){ .status = answer_status };
    posts++;
    return OUTBOUND_OK;
}

static bool read_value(void *context, struct arena *arena,
                       const struct alarm_definition *definition, int64_t period_s,
                       struct alarm_point *points, size_t count)
{
    struct fixture *fixture = context;
    (void)arena;
    (void)definition;
    (void)period_s;
    for (size_t i = 0; i < count; i++) {
        points[i].present = fixture->value >= 0;
        points[i].value = fixture->value;
        points[i].sample_count = 1;
    }
    return true;
}

static _Atomic int scalings;
static _Atomic int repetitions;
static const char *see_scaling(void *context, struct arena *arena,
                               const struct alarm_action *action, bool repeated)
{
    (void)context;
    (void)arena;
    assert_true(bytes_equal_text(action->target, POLICY));
    if (repeated)
        repetitions++;
    else
        scalings++;
    return NULL;
}

static void wait_until(_Atomic int *counter, int wanted)
{
    for (int i = 0; i < 2000 && *counter < wanted; i++)
        nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
    assert_int_equal(*counter, wanted);
}

/* --- The fixture --- */

static void open_alarms(struct fixture *fixture)
{
    enum engine_status status;
    fixture->alarms = alarms_open(&fixture->options, &status);
    assert_int_equal(status, ENGINE_OK);
}

static void reopen(struct fixture *fixture)
{
    alarms_close(fixture->alarms);
    open_alarms(fixture);
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    char message[OUTBOUND_MESSAGE_MAX];
    fixture->engine = reference_engine_create();
    fixture->clock = clock_fixed(NOW_MS);
    fixture->arena = arena_create();
    fixture->network = outbound_open(&(struct outbound_options){ 0 }, message);
    fixture->options = (struct alarms_options){
        .engine = fixture->engine,
        .clock = &fixture->clock,
        .region = "eu-west-1",
        .account_id = "123456789012",
        .outside = { .network = fixture->network, .send = see_post, .pause_ms = 1 },
        .read = read_value,
        .read_context = fixture
    };
    posts = 0;
    answer_status = 200;
    scalings = 0;
    repetitions = 0;
    open_alarms(fixture);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    alarms_close(fixture->alarms);
    engine_close(fixture->engine);
    outbound_close(fixture->network);
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

/* ' stands for ". */
static struct alarm_definition definition_of(struct fixture *fixture, const char *text)
{
    struct alarm_definition definition;
    struct error err;
    size_t size = strlen(text);
    char *body = arena_alloc(fixture->arena, size + 1);
    memcpy(body, text, size + 1);
    for (size_t i = 0; i < size; i++)
        if (body[i] == '\'')
            body[i] = '"';
    error_init(&err, fixture->arena);
    if (!shape_read(fixture->arena, bytes_of(body, size), &alarm_definition_shape, &definition,
                    &err) ||
        !shape_validate(fixture->arena, &alarm_definition_shape, &definition, &err) ||
        !alarm_definition_check(&definition, NULL, &err))
        fail_msg("%.*s", BYTES_FMT(err.message));
    return definition;
}

#define METRIC                                                                                     \
    "'MetricName':'m','Namespace':'N','Statistic':'Sum','Period':60,'EvaluationPeriods':1,"        \
    "'Threshold':5,'ComparisonOperator':'GreaterThanThreshold'"

static void put(struct fixture *fixture, const char *text)
{
    enum engine_status status;
    struct alarm_definition definition = definition_of(fixture, text);
    assert_int_equal(alarms_put(fixture->alarms, fixture->arena, &definition, &status),
                     ALARMS_DONE);
}

static struct alarm find(struct fixture *fixture, const char *name)
{
    struct alarm alarm;
    assert_true(alarms_find(fixture->alarms, fixture->arena, bytes_from_text(name), &alarm));
    return alarm;
}

static struct alarm_history_page history(struct fixture *fixture)
{
    struct alarm_history_page page;
    const struct alarm_history_query query = { .end_ms = INT64_MAX,
                                               .is_ascending = true,
                                               .count_max = 100 };
    assert_int_equal(alarms_history(fixture->alarms, fixture->arena, &query, &page), ENGINE_OK);
    return page;
}

static void check_summaries(struct fixture *fixture, const char *const *wanted, size_t count)
{
    struct alarm_history_page page = history(fixture);
    for (size_t i = 0; i < page.count && i < count; i++)
        if (!bytes_equal_text(page.entries[i].summary, wanted[i]))
            fail_msg("%zu: %.*s", i, BYTES_FMT(page.entries[i].summary));
    assert_int_equal(page.count, count);
}

/* One minute later. */
static void tick(struct fixture *fixture, double value)
{
    fixture->value = value;
    fixture->clock.fixed_ms += 60000;
    alarms_tick(fixture->alarms, clock_wall_ms(&fixture->clock));
}

/* --- Tests --- */

static void an_alarm_survives_a_restart(void **state)
{
    struct fixture *fixture = *state;
    put(fixture, "{'AlarmName':'a','AlarmDescription':'','Tags':[{'Key':'k','Value':'v'}],"
                 "'OKActions':['" SNS "']," METRIC "}");
    put(fixture, "{'AlarmName':'b'," METRIC "}");
    tick(fixture, 7);
    reopen(fixture);
    struct alarm alarm = find(fixture, "a");
    assert_int_equal(alarms_count(fixture->alarms), 2);
    assert_int_equal(alarm.state, ALARM_STATE_ALARM);
    assert_int_equal(alarm.tags.kept, 1);
    assert_int_equal(alarm.configured_ms, NOW_MS);
    assert_int_equal(alarm.transitioned_ms, NOW_MS + 60000);
    assert_true(bytes_equal_text(alarm.reason,
                                 "Threshold Crossed: 1 datapoint [7.0 (17/09/26 16:29:00)] was "
                                 "greater than the threshold (5.0)."));
    struct alarm next;
    assert_true(alarms_next(fixture->alarms, fixture->arena, BYTES("a"), &next));
    assert_true(bytes_equal_text(next.definition.name, "b"));
    assert_false(alarms_next(fixture->alarms, fixture->arena, BYTES("b"), &next));
}

static void states_change_with_the_points_and_are_in_the_history(void **state)
{
    static const char *const wanted[] = {
        "Alarm \"a\" created",
        "Alarm updated from INSUFFICIENT_DATA to ALARM",
        "Alarm updated from ALARM to OK",
        "Alarm updated from OK to INSUFFICIENT_DATA",
        "Alarm \"a\" updated",
        "Alarm \"a\" deleted",
    };
    struct fixture *fixture = *state;
    enum engine_status status;
    put(fixture, "{'AlarmName':'a'," METRIC "}");
    tick(fixture, -1);
    assert_true(bytes_equal_text(find(fixture, "a").reason, "Unchecked: Initial alarm creation"));
    tick(fixture, 7);
    tick(fixture, 7);
    tick(fixture, 1);
    tick(fixture, -1);
    put(fixture, "{'AlarmName':'a','AlarmDescription':'d'," METRIC "}");
    assert_int_equal(find(fixture, "a").state, ALARM_STATE_INSUFFICIENT_DATA);
    assert_int_equal(alarms_delete(fixture->alarms, fixture->arena, &BYTES("a"), 1, &status),
                     ALARMS_DONE);
    assert_int_equal(alarms_delete(fixture->alarms, fixture->arena, &BYTES("a"), 1, &status),
                     ALARMS_NOT_FOUND);
    check_summaries(fixture, wanted, COUNT_OF(wanted));
}

static void an_alarm_is_due_once_a_minute(void **state)
{
    struct fixture *fixture = *state;
    put(fixture, "{'AlarmName':'a'," METRIC "}");
    fixture->value = 7;
    /* 5 s after the minute: the next one is over in 55 s, and settles in 2 more. */
    assert_int_equal(alarms_tick(fixture->alarms, NOW_MS), 57000);
    assert_int_equal(find(fixture, "a").state, ALARM_STATE_ALARM);
    fixture->value = 1;
    assert_int_equal(alarms_tick(fixture->alarms, NOW_MS + 56000), 1000);
    assert_int_equal(find(fixture, "a").state, ALARM_STATE_ALARM);
    alarms_tick(fixture->alarms, NOW_MS + 57000);
    assert_int_equal(find(fixture, "a").state, ALARM_STATE_OK);
    /* Also if the clock is set back. */
    fixture->value = 7;
    alarms_tick(fixture->alarms, NOW_MS - 3600000);
    assert_int_equal(find(fixture, "a").state, ALARM_STATE_ALARM);
}

static void a_metric_of_dynamodb_ignores_missing_points(void **state)
{
    struct fixture *fixture = *state;
    put(fixture, "{'AlarmName':'a','MetricName':'ThrottledRequests','Namespace':'AWS/DynamoDB',"
                 "'Statistic':'Sum','Period':60,'EvaluationPeriods':1,'Threshold':5,"
                 "'ComparisonOperator':'GreaterThanThreshold','TreatMissingData':'notBreaching'}");
    tick(fixture, 7);
    tick(fixture, -1);
    assert_int_equal(find(fixture, "a").state, ALARM_STATE_ALARM);
    tick(fixture, 1);
    assert_int_equal(find(fixture, "a").state, ALARM_STATE_OK);
}

/* --- Actions --- */

static void wait_until_delivered(struct fixture *fixture, size_t entries)
{
    for (int i = 0; i < 2000 && history(fixture).count < entries; i++)
        nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
    assert_int_equal(history(fixture).count, entries);
}

static void actions_are_posted_and_noted(void **state)
{
    static const char *const wanted[] = {
        "Alarm \"a\" created",
        "Alarm updated from INSUFFICIENT_DATA to ALARM",
        ("Failed to execute action " SNS),
        "Successfully executed action http://127.0.0.1:1/hook",
    };
    struct fixture *fixture = *state;
    put(fixture,
        "{'AlarmName':'a','AlarmActions':['" SNS "','http://127.0.0.1:1/hook']," METRIC "}");
    tick(fixture, 7);
    wait_until(&posts, 1);
    wait_until_delivered(fixture, COUNT_OF(wanted));
    check_summaries(fixture, wanted, COUNT_OF(wanted));
    assert_non_null(strstr(last_body, "\"NewStateValue\":\"ALARM\""));
    assert_non_null(strstr(last_body, "\"OldStateValue\":\"INSUFFICIENT_DATA\""));
    assert_non_null(strstr(last_body, "\"AWSAccountId\":\"123456789012\",\"Alarm"));
    assert_non_null(strstr(last_body, "\"Region\":\"eu-west-1\""));
    assert_non_null(strstr(last_body, "\"StateChangeTime\":\"2026-09-17T16:30:05.000+0000\""));
    assert_non_null(strstr(last_body, "\"Statistic\":\"SUM\""));
}

static void an_action_is_tried_again_also_after_a_restart(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.outside.pause_ms = 60000;
    reopen(fixture);
    answer_status = 503;
    put(fixture, "{'AlarmName':'a','AlarmActions':['http://127.0.0.1:1/']," METRIC "}");
    tick(fixture, 7);
    wait_until(&posts, 1);
    answer_status = 200;
    reopen(fixture);
    wait_until(&posts, 2);
    wait_until_delivered(fixture, 3);
    reopen(fixture);
    assert_int_equal(posts, 2);
}

static void an_action_is_given_up_after_many_attempts(void **state)
{
    struct fixture *fixture = *state;
    answer_status = 500;
    fixture->options.outside.pause_ms = 1;
    put(fixture, "{'AlarmName':'a','AlarmActions':['http://127.0.0.1:1/']," METRIC "}");
    tick(fixture, 7);
    wait_until(&posts, ALARM_DELIVERY_ATTEMPTS_MAX);
    wait_until_delivered(fixture, 3);
    assert_true(bytes_equal_text(history(fixture).entries[2].summary,
                                 "Failed to execute action http://127.0.0.1:1/"));
}

static void disabled_actions_are_not_carried_out(void **state)
{
    struct fixture *fixture = *state;
    enum engine_status status;
    put(fixture, "{'AlarmName':'a','AlarmActions':['http://127.0.0.1:1/']," METRIC "}");
    const struct bytes names[] = { BYTES("a"), BYTES("absent"), BYTES("a") };
    assert_int_equal(
        alarms_enable_actions(fixture->alarms, fixture->arena, names, 3, false, &status),
        ALARMS_DONE);
    tick(fixture, 7);
    assert_int_equal(
        alarms_enable_actions(fixture->alarms, fixture->arena, names, 3, true, &status),
        ALARMS_DONE);
    assert_int_equal(posts, 0);
    tick(fixture, 1);
    tick(fixture, 7);
    wait_until(&posts, 1);
}

static void a_scaling_action_repeats_while_the_state_lasts(void **state)
{
    struct fixture *fixture = *state;
    alarms_set_scaler(fixture->alarms, see_scaling, NULL);
    put(fixture, "{'AlarmName':'a','AlarmActions':['" POLICY "']," METRIC "}");
    tick(fixture, 7);
    wait_until(&scalings, 1);
    assert_int_equal(repetitions, 0);
    tick(fixture, 7);
    tick(fixture, 7);
    assert_int_equal(repetitions, 2);
    tick(fixture, 1);
    tick(fixture, 1);
    assert_int_equal(repetitions, 2);
    assert_int_equal(scalings, 1);
}

static void a_scaling_action_waits_for_the_scaler_after_a_restart(void **state)
{
    struct fixture *fixture = *state;
    put(fixture, "{'AlarmName':'a','AlarmActions':['" POLICY "']," METRIC "}");
    tick(fixture, 7);
    reopen(fixture);
    nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    alarms_set_scaler(fixture->alarms, see_scaling, NULL);
    wait_until(&scalings, 1);
}

/* --- SetAlarmState --- */

static void a_state_that_was_set_lasts_until_the_next_evaluation(void **state)
{
    struct fixture *fixture = *state;
    enum engine_status status;
    put(fixture, "{'AlarmName':'a','AlarmActions':['http://127.0.0.1:1/']," METRIC "}");
    tick(fixture, 1);
    assert_int_equal(alarms_set_state(fixture->alarms, fixture->arena, BYTES("a"),
                                      ALARM_STATE_ALARM, BYTES("test"), BYTES("{\"k\":1}"),
                                      &status),
                     ALARMS_DONE);
    wait_until(&posts, 1);
    wait_until_delivered(fixture, 4);
    assert_true(bytes_equal_text(find(fixture, "a").reason_data, "{\"k\":1}"));
    struct alarm_history_page page = history(fixture);
    assert_non_null(memmem(page.entries[2].data.data, page.entries[2].data.len,
                           "\"stateReasonData\":{\"k\":1}", 23));
    tick(fixture, 1);
    assert_int_equal(find(fixture, "a").state, ALARM_STATE_OK);
    assert_int_equal(alarms_set_state(fixture->alarms, fixture->arena, BYTES("x"),
                                      ALARM_STATE_ALARM, BYTES(""), (struct bytes){ 0 }, &status),
                     ALARMS_NOT_FOUND);
}

/* --- Bounds --- */

static void a_million_names_do_not_exceed_the_bound(void **state)
{
    enum { ROUNDS = 1000000, MAX = 50 };
    struct fixture *fixture = *state;
    enum engine_status status;
    fixture->options.alarms_max = MAX;
    reopen(fixture);
    struct alarm_definition definition = definition_of(fixture, "{'AlarmName':'a'," METRIC "}");
    struct arena *arena = arena_create();
    for (int i = 0; i < ROUNDS; i++) {
        definition.name = arena_printf(arena, "alarm-%d", i);
        assert_int_equal(alarms_put(fixture->alarms, arena, &definition, &status),
                         i < MAX ? ALARMS_DONE : ALARMS_FULL);
        arena_reset(arena);
    }
    definition.name = BYTES("alarm-7"); /* One that exists can still be changed. */
    assert_int_equal(alarms_put(fixture->alarms, arena, &definition, &status), ALARMS_DONE);
    assert_int_equal(alarms_count(fixture->alarms), MAX);
    arena_destroy(arena);
}

static void large_alarms_take_the_place_of_several(void **state)
{
    struct fixture *fixture = *state;
    enum engine_status status;
    fixture->options.alarms_max = 2;
    reopen(fixture);
    struct alarm_definition definition = definition_of(fixture, "{'AlarmName':'a'," METRIC "}");
    uint8_t *text = arena_alloc(fixture->arena, ALARM_DEFINITION_SIZE_MAX);
    memset(text, 'x', ALARM_DEFINITION_SIZE_MAX);
    definition.description = bytes_of(text, ALARM_DEFINITION_SIZE_MAX);
    assert_int_equal(alarms_put(fixture->alarms, fixture->arena, &definition, &status),
                     ALARMS_TOO_LARGE);
    definition.description = bytes_of(text, ALARMS_SIZE_EACH * 2);
    assert_int_equal(alarms_put(fixture->alarms, fixture->arena, &definition, &status),
                     ALARMS_FULL);
}

/* A scaling policy's alarms are replaced whenever its capacity changes. */
static void a_full_list_lets_alarms_be_replaced(void **state)
{
    struct fixture *fixture = *state;
    struct engine_write *write;
    fixture->options.alarms_max = 2;
    reopen(fixture);
    put(fixture, "{'AlarmName':'a'," METRIC "}");
    put(fixture, "{'AlarmName':'b'," METRIC "}");
    struct alarm_definition c = definition_of(fixture, "{'AlarmName':'c'," METRIC "}");
    struct alarm_definition d = definition_of(fixture, "{'AlarmName':'d'," METRIC "}");
    assert_int_equal(engine_write_begin(fixture->engine, NULL, 0, &write), ENGINE_OK);
    struct alarms_change *change = alarms_change_begin(fixture->alarms, fixture->arena, write);
    alarms_change_delete(change, BYTES("a"));
    assert_int_equal(alarms_change_put(change, &c), ALARMS_DONE);
    assert_int_equal(alarms_change_put(change, &d), ALARMS_FULL);
    alarms_change_end(change, engine_write_commit_wait(write));
    reopen(fixture);
    assert_int_equal(alarms_count(fixture->alarms), 2);
}

static void actions_that_wait_have_a_bound(void **state)
{
    struct fixture *fixture = *state;
    enum engine_status status;
    struct arena *arena = arena_create();
    fixture->options.outside.network = NULL; /* So that they wait. */
    reopen(fixture);
#define FIVE "['http://a/','http://b/','http://c/','http://d/','http://e/']"
    put(fixture, "{'AlarmName':'a','AlarmActions':" FIVE ",'OKActions':" FIVE "," METRIC "}");
    for (int i = 0; i <= ALARM_DELIVERY_WAITING_MAX / 5; i++) {
        assert_int_equal(alarms_set_state(fixture->alarms, arena, BYTES("a"),
                                          i % 2 == 0 ? ALARM_STATE_ALARM : ALARM_STATE_OK,
                                          BYTES("r"), (struct bytes){ 0 }, &status),
                         ALARMS_DONE);
        arena_reset(arena);
    }
    const struct alarm_history_query query = {
        .has_type = true, .type = ALARM_HISTORY_ACTION, .end_ms = INT64_MAX, .count_max = 100
    };
    struct alarm_history_page page;
    assert_int_equal(alarms_history(fixture->alarms, arena, &query, &page), ENGINE_OK);
    assert_int_equal(page.count, 5);
    assert_true(bytes_equal_text(page.entries[0].summary, "Failed to execute action http://e/"));
    arena_destroy(arena);
    fixture->options.outside.network = fixture->network;
}

static void the_history_has_a_bound_and_an_age(void **state)
{
    enum { MAX = 50 };
    struct fixture *fixture = *state;
    fixture->options.history_max = MAX;
    reopen(fixture);
    put(fixture, "{'AlarmName':'a'," METRIC "}");
    for (int i = 0; i < 3 * MAX; i++) {
        tick(fixture, i % 2 == 0 ? 7 : 1);
        assert_true(history(fixture).count <= MAX);
        arena_reset(fixture->arena);
    }
    assert_true(history(fixture).count > MAX / 2);
    reopen(fixture);
    tick(fixture, 7);
    assert_true(history(fixture).count <= MAX);
    fixture->clock.fixed_ms += (int64_t)31 * 86400 * 1000;
    tick(fixture, 1);
    tick(fixture, 1);
    assert_int_equal(history(fixture).count, 1);
}

static void pages_of_the_history_resume_in_both_directions(void **state)
{
    struct fixture *fixture = *state;
    put(fixture, "{'AlarmName':'a'," METRIC "}");
    put(fixture, "{'AlarmName':'b'," METRIC "}");
    for (int i = 0; i < 7; i++)
        tick(fixture, i % 2 == 0 ? 7 : 1);
    for (int ascending = 0; ascending < 2; ascending++) {
        struct alarm_history_query query = { .alarm_name = BYTES("b"),
                                             .has_type = true,
                                             .type = ALARM_HISTORY_STATE,
                                             .end_ms = INT64_MAX,
                                             .is_ascending = ascending,
                                             .count_max = 2 };
        size_t count = 0;
        int64_t last_ms = ascending ? 0 : INT64_MAX;
        do {
            struct alarm_history_page page;
            assert_int_equal(alarms_history(fixture->alarms, fixture->arena, &query, &page),
                             ENGINE_OK);
            for (size_t i = 0; i < page.count; i++) {
                assert_true(ascending ? page.entries[i].time_ms > last_ms
                                      : page.entries[i].time_ms < last_ms);
                last_ms = page.entries[i].time_ms;
            }
            count += page.count;
            query.position = page.position;
        } while (query.position != 0);
        assert_int_equal(count, 7);
    }
}

/* --- As part of another write --- */

static void alarms_change_with_another_write_or_not_at_all(void **state)
{
    struct fixture *fixture = *state;
    struct engine_write *write;
    struct alarm_definition definitions[ALARM_TRACKING_COUNT];
    const struct alarm_tracking tracking = { .table_name = BYTES("T"),
                                             .index_name = BYTES("I"),
                                             .is_write = true,
                                             .target = 70,
                                             .capacity = 3,
                                             .policy_arn = BYTES(POLICY),
                                             .creator = BYTES("c-1") };
    size_t count = alarm_tracking_definitions(fixture->arena, &tracking, definitions);
    assert_int_equal(count, 4);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(engine_write_begin(fixture->engine, NULL, 0, &write), ENGINE_OK);
        struct alarms_change *change = alarms_change_begin(fixture->alarms, fixture->arena, write);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(alarms_change_put(change, &definitions[i]), ALARMS_DONE);
        if (round == 0) {
            engine_write_abandon(write);
            alarms_change_end(change, ENGINE_IO);
            assert_int_equal(alarms_count(fixture->alarms), 0);
        } else {
            alarms_change_end(change, engine_write_commit_wait(write));
        }
    }
    reopen(fixture);
    assert_int_equal(alarms_count(fixture->alarms), 4);
    struct alarm high;
    assert_true(alarms_find(fixture->alarms, fixture->arena, definitions[0].name, &high));
    assert_true(bytes_starts_with(high.definition.name,
                                  BYTES("TargetTracking-table/T/index/I-AlarmHigh-")));
    assert_true(high.definition.threshold.value == 3 * 60 * (70 / 100.0));
    assert_true(bytes_equal_text(high.definition.description,
                                 "DO NOT EDIT OR DELETE. For TargetTrackingScaling policy " POLICY
                                 ":createdBy/c-1."));
    struct alarm_dimension **dimensions = high.definition.dimensions.elements;
    assert_true(bytes_equal_text(dimensions[0]->name, "GlobalSecondaryIndexName"));
    assert_true(bytes_equal_text(high.reason, "Unchecked: Initial alarm creation"));
    assert_int_equal(engine_write_begin(fixture->engine, NULL, 0, &write), ENGINE_OK);
    struct alarms_change *change = alarms_change_begin(fixture->alarms, fixture->arena, write);
    for (size_t i = 0; i < count; i++)
        alarms_change_delete(change, definitions[i].name);
    alarms_change_end(change, engine_write_commit_wait(write));
    assert_int_equal(alarms_count(fixture->alarms), 0);
}

/* --- A store that fails --- */

/* Calls and outcomes do not matter: whatever fails, the list and the store agree afterwards. */
static void change_everything(struct fixture *fixture)
{
    enum engine_status status;
    struct alarm_definition definition = definition_of(fixture, "{'AlarmName':'b'," METRIC "}");
    struct alarm_tag tag = { .key = BYTES("k"), .value = BYTES("v") };
    struct alarm_tag *tags[] = { &tag };
    const struct shape_list added = { .present = true, .count = 1, .kept = 1, .elements = tags };
    const struct alarm_tags_change change = { .added = &added };
    enum alarms_result ignored;
    ignored = alarms_put(fixture->alarms, fixture->arena, &definition, &status);
    tick(fixture, 7);
    ignored = alarms_change_tags(fixture->alarms, fixture->arena, BYTES("b"), &change, &status);
    ignored = alarms_set_state(fixture->alarms, fixture->arena, BYTES("a"), ALARM_STATE_OK,
                               BYTES("r"), (struct bytes){ 0 }, &status);
    ignored = alarms_delete(fixture->alarms, fixture->arena, &BYTES("a"), 1, &status);
    (void)ignored;
}

static void describe(struct fixture *fixture, char out[1024])
{
    struct alarm alarm;
    struct bytes after = { 0 };
    size_t size = 0;
    while (alarms_next(fixture->alarms, fixture->arena, after, &alarm)) {
        after = alarm.definition.name;
        size += (size_t)snprintf(out + size, 1024 - size, "%.*s %s %zu %.*s;", BYTES_FMT(after),
                                 alarm_state_name(alarm.state), alarm.tags.kept,
                                 BYTES_FMT(alarm.reason));
    }
    out[size] = '\0';
}

static void sweep(struct fixture *fixture, struct failing_engine_plan plan)
{
    bool struck = true;
    for (plan.call = 1; struck; plan.call++) {
        char before[1024], behind[1024];
        put(fixture, "{'AlarmName':'a'," METRIC "}");
        failing_engine_set(fixture->engine, &plan);
        change_everything(fixture);
        struck = failing_engine_struck(fixture->engine);
        failing_engine_set(fixture->engine, &(struct failing_engine_plan){ 0 });
        describe(fixture, before);
        reopen(fixture);
        describe(fixture, behind);
        assert_string_equal(before, behind);
        assert_true(plan.call < 1000);
        arena_reset(fixture->arena);
    }
    assert_true(plan.call > 5);
}

static void whatever_fails_the_list_is_what_is_stored(void **state)
{
    struct fixture *fixture = *state;
    alarms_close(fixture->alarms);
    fixture->engine = failing_engine_create(fixture->engine);
    fixture->options.engine = fixture->engine;
    open_alarms(fixture);
    sweep(fixture, (struct failing_engine_plan){ .status = ENGINE_IO });
    sweep(fixture, (struct failing_engine_plan){ .status = ENGINE_UNKNOWN, .commits_only = true });
    sweep(fixture, (struct failing_engine_plan){
                       .status = ENGINE_UNKNOWN, .commits_only = true, .applied = true });
}

/* Writes that may have taken place did not: the bound counts what is there. */
static void the_history_is_counted_again_after_unknown_outcomes(void **state)
{
    enum { MAX = 50 };
    struct fixture *fixture = *state;
    enum engine_status status;
    const struct failing_engine_plan plan = { .call = 1,
                                              .status = ENGINE_UNKNOWN,
                                              .commits_only = true };
    alarms_close(fixture->alarms);
    fixture->engine = failing_engine_create(fixture->engine);
    fixture->options.engine = fixture->engine;
    fixture->options.history_max = MAX;
    open_alarms(fixture);
    put(fixture, "{'AlarmName':'a'," METRIC "}");
    for (int i = 0; i < MAX - 5; i++) {
        failing_engine_set(fixture->engine, &plan);
        enum alarms_result ignored =
            alarms_set_state(fixture->alarms, fixture->arena, BYTES("a"), ALARM_STATE_OK,
                             BYTES("r"), (struct bytes){ 0 }, &status);
        (void)ignored;
        assert_true(failing_engine_struck(fixture->engine));
    }
    failing_engine_set(fixture->engine, &(struct failing_engine_plan){ 0 });
    for (int i = 0; i < 20; i++)
        tick(fixture, i % 2 == 0 ? 7 : 1);
    assert_int_equal(history(fixture).count, 21);
}

/* Whatever byte of an alarm is damaged, the store does not open. */
static void a_damaged_alarm_keeps_the_store_from_opening(void **state)
{
    struct fixture *fixture = *state;
    static const struct bytes key = { (const uint8_t *)"Aa", 2 };
    enum engine_status status;
    struct engine_view *view = NULL;
    struct engine_value value;
    put(fixture, "{'AlarmName':'a'," METRIC "}");
    const struct engine_address address = { .place = monitor_place, .key = key };
    assert_int_equal(engine_view_open(fixture->engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(engine_view_get(view, &address, &value), ENGINE_OK);
    struct bytes stored = arena_copy(fixture->arena, value.bytes);
    engine_value_release(&value);
    engine_view_close(view);
    uint8_t *damaged = arena_alloc(fixture->arena, stored.len);
    alarms_close(fixture->alarms);
    for (size_t i = 0; i < stored.len; i++) {
        memcpy(damaged, stored.data, stored.len);
        damaged[i] ^= 1;
        engine_fixture_put(fixture->engine, monitor_place, key, bytes_of(damaged, stored.len));
        assert_null(alarms_open(&fixture->options, &status));
        assert_int_equal(status, ENGINE_CORRUPT);
    }
    engine_fixture_put(fixture->engine, monitor_place, key, stored);
    open_alarms(fixture);
}

static int read_ends;
static void count_read_end(void *context)
{
    (void)context;
    read_ends++;
}

static void all_reads_of_a_tick_end_together(void **state)
{
    struct fixture *fixture = *state;
    size_t counts[ALARM_STATE_COUNT];
    fixture->options.read_end = count_read_end;
    reopen(fixture);
    put(fixture, "{'AlarmName':'a'," METRIC "}");
    put(fixture, "{'AlarmName':'b'," METRIC "}");
    alarms_count_states(fixture->alarms, counts);
    assert_int_equal(counts[ALARM_STATE_INSUFFICIENT_DATA], 2);
    read_ends = 0;
    tick(fixture, 7);
    assert_int_equal(read_ends, 1);
    for (int i = 0; i < 2; i++) { /* The same after a restart. */
        alarms_count_states(fixture->alarms, counts);
        assert_int_equal(counts[ALARM_STATE_ALARM], 2);
        assert_int_equal(counts[ALARM_STATE_INSUFFICIENT_DATA], 0);
        reopen(fixture);
    }
}

int main(void)
{
#define ALARM_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        ALARM_TEST(an_alarm_survives_a_restart),
        ALARM_TEST(states_change_with_the_points_and_are_in_the_history),
        ALARM_TEST(an_alarm_is_due_once_a_minute),
        ALARM_TEST(a_metric_of_dynamodb_ignores_missing_points),
        ALARM_TEST(actions_are_posted_and_noted),
        ALARM_TEST(an_action_is_tried_again_also_after_a_restart),
        ALARM_TEST(an_action_is_given_up_after_many_attempts),
        ALARM_TEST(disabled_actions_are_not_carried_out),
        ALARM_TEST(a_scaling_action_repeats_while_the_state_lasts),
        ALARM_TEST(a_scaling_action_waits_for_the_scaler_after_a_restart),
        ALARM_TEST(a_state_that_was_set_lasts_until_the_next_evaluation),
        ALARM_TEST(a_million_names_do_not_exceed_the_bound),
        ALARM_TEST(large_alarms_take_the_place_of_several),
        ALARM_TEST(a_full_list_lets_alarms_be_replaced),
        ALARM_TEST(actions_that_wait_have_a_bound),
        ALARM_TEST(the_history_has_a_bound_and_an_age),
        ALARM_TEST(pages_of_the_history_resume_in_both_directions),
        ALARM_TEST(alarms_change_with_another_write_or_not_at_all),
        ALARM_TEST(whatever_fails_the_list_is_what_is_stored),
        ALARM_TEST(the_history_is_counted_again_after_unknown_outcomes),
        ALARM_TEST(a_damaged_alarm_keeps_the_store_from_opening),
        ALARM_TEST(all_reads_of_a_tick_end_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
