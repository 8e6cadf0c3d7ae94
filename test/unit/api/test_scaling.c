/* test_scaling.c -- tables that scale themselves, through the api's door, in virtual time: hours of
 * load run in milliseconds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "api/metric_page_engine.h"
#include "api/operation.h"
#include "api/scaling/scaling_driver.h"
#include "api_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "cloudwatch/alarms.h"
#include "cloudwatch/series.h"
#include "cloudwatch/ticker.h"
#include "control/control.h"
#include "metric/exposition.h"
#include "scaling/scaling.h"

enum { MINUTE_MS = 60 * 1000, SETTLED_MS = 10 * 1000 };

#define AAS "application-autoscaling:"
#define TARGET                                                                                     \
    "'ServiceNamespace':'dynamodb','ResourceId':'table/Tab',"                                      \
    "'ScalableDimension':'dynamodb:table:WriteCapacityUnits'"
#define INDEX                                                                                      \
    "'ServiceNamespace':'dynamodb','ResourceId':'table/Tab/index/Ind',"                            \
    "'ScalableDimension':'dynamodb:index:ReadCapacityUnits'"
#define REGISTER(min, max) "{" TARGET ",'MinCapacity':" min ",'MaxCapacity':" max "}"
#define POLICY(more)                                                                               \
    "{" TARGET ",'PolicyName':'p','PolicyType':'TargetTrackingScaling',"                           \
    "'TargetTrackingScalingPolicyConfiguration':{'TargetValue':70,"                                \
    "'PredefinedMetricSpecification':{'PredefinedMetricType':'DynamoDBWriteCapacityUtilization'"   \
    "}" more "}}"

static int setup(void **state)
{
    static struct api_fixture fixture;
    api_fixture_open(&fixture, 0);
    *state = &fixture;
    assert_true(api_fixture_call(
        &fixture, "CreateTable",
        "{'TableName':'Tab','AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'}],"
        "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}],"
        "'ProvisionedThroughput':{'ReadCapacityUnits':5,'WriteCapacityUnits':10},"
        "'GlobalSecondaryIndexes':[{'IndexName':'Ind','KeySchema':[{'AttributeName':'p','KeyType':"
        "'HASH'}],'Projection':{'ProjectionType':'KEYS_ONLY'},"
        "'ProvisionedThroughput':{'ReadCapacityUnits':5,'WriteCapacityUnits':5}}]}"));
    return 0;
}

static int teardown(void **state)
{
    api_fixture_close(*state);
    return 0;
}

static void call(struct api_fixture *fixture, const char *operation, const char *body)
{
    if (!api_fixture_call(fixture, operation, body))
        fail_msg("%s %s: %.*s", operation, body, BYTES_FMT(fixture->error.message));
}

/* So many writes of one unit in each of the next minutes, each followed by a round. */
static void live(struct api_fixture *fixture, int minutes, int writes)
{
    for (int minute = 0; minute < minutes; minute++) {
        for (int i = 0; i < writes; i++)
            call(fixture, "PutItem", "{'TableName':'Tab','Item':{'p':{'S':'x'}}}");
        fixture->clock.fixed_ms += MINUTE_MS;
        ticker_run(api_ticker(fixture->api));
    }
}

static int64_t number_in(struct api_fixture *fixture, const char *name)
{
    struct bytes response = fixture->response;
    const char *found = memmem(response.data, response.len, name, strlen(name));
    long long value = -1;
    if (found != NULL)
        assert_int_equal(sscanf(found + strlen(name), "\":%lld", &value), 1);
    return value;
}

/* Changes that registering a target causes run on the control thread, one after another. */
static void await_control_thread(struct api_fixture *fixture)
{
    call(fixture, AAS "DescribeScalableTargets", "{'ServiceNamespace':'dynamodb'}");
}

/* Of the table, not of its indexes: the member of the outermost description. */
static int64_t write_units(struct api_fixture *fixture)
{
    static const char name[] = "\"ProvisionedThroughput\"";
    await_control_thread(fixture);
    call(fixture, "DescribeTable", "{'TableName':'Tab'}");
    struct bytes text = fixture->response;
    int depth = 0;
    for (size_t i = 0; i + sizeof name < text.len; i++) {
        depth += (text.data[i] == '{' || text.data[i] == '[') -
                 (text.data[i] == '}' || text.data[i] == ']');
        if (depth == 2 && memcmp(text.data + i, name, sizeof name - 1) == 0) {
            fixture->response = bytes_of(text.data + i, text.len - i);
            return number_in(fixture, "WriteCapacityUnits");
        }
    }
    fail_msg("%.*s", BYTES_FMT(text));
    return 0;
}

static void activities(struct api_fixture *fixture, const char *more)
{
    char body[200];
    snprintf(body, sizeof body, "{'ServiceNamespace':'dynamodb'%s}", more);
    call(fixture, AAS "DescribeScalingActivities", body);
}

/* A line of the page for Prometheus. */
static void expect_line(struct api_fixture *fixture, const char *line)
{
    struct exposition *page = exposition_create(fixture->arena, false, SIZE_MAX);
    metric_page_add_alarms(fixture->api, page);
    struct bytes text = exposition_finish(page);
    if (memmem(text.data, text.len, line, strlen(line)) == NULL)
        fail_msg("no %s in %.*s", line, BYTES_FMT(text));
}

#define ACTIONS(index, direction, status)                                                          \
    "stator_autoscaling_actions_total{table=\"Tab\",index=\"" index "\",direction=\"" direction    \
    "\",status=\"" status "\"} "

static void a_table_scales_out_under_load_and_in_when_it_is_idle(void **state)
{
    struct api_fixture *fixture = *state;
    call(fixture, AAS "RegisterScalableTarget", REGISTER("5", "100"));
    call(fixture, AAS "PutScalingPolicy", POLICY(""));
    assert_int_equal(write_units(fixture), 10);
    live(fixture, 4, 1500);                     /* 25 units per second on 10. */
    assert_int_equal(write_units(fixture), 36); /* 25 / 70 %, rounded up. */
    activities(fixture, "");
    assert_true(api_fixture_shows(fixture, "'Setting write capacity units to 36.'"));
    assert_true(api_fixture_shows(fixture, "'Successfully set write capacity units to 36. Change "
                                           "successfully fulfilled by dynamodb.'"));
    assert_true(api_fixture_shows(fixture, "in state ALARM triggered policy p'"));
    live(fixture, 20, 0);
    assert_int_equal(write_units(fixture), 5);
    activities(fixture, "");
    assert_true(api_fixture_shows(fixture, "'Setting write capacity units to 5.'"));
    live(fixture, 30, 0);
    assert_int_equal(write_units(fixture), 5);
    activities(fixture, ",'IncludeNotScaledActivities':true");
    assert_true(api_fixture_shows(fixture, "'Code':'AlreadyAtMinCapacity'"));
    assert_true(api_fixture_shows(fixture, "'CurrentCapacity':5"));
    expect_line(fixture, ACTIONS("", "write", "Successful") "2\n");
    expect_line(fixture, ACTIONS("", "write", "Unfulfilled") "1\n");
}

static void registering_moves_the_capacity_into_the_bounds(void **state)
{
    struct api_fixture *fixture = *state;
    call(fixture, AAS "RegisterScalableTarget", REGISTER("20", "100"));
    assert_int_equal(write_units(fixture), 20);
    activities(fixture, "");
    assert_true(api_fixture_shows(fixture, "'minimum capacity was set to 20'"));
    call(fixture, AAS "RegisterScalableTarget", "{" TARGET ",'MinCapacity':2,'MaxCapacity':7}");
    assert_int_equal(write_units(fixture), 7);
    activities(fixture, "");
    assert_true(api_fixture_shows(fixture, "'maximum capacity was set to 7'"));
    /* Changed by hand outside of the bounds: left alone. */
    call(fixture, "UpdateTable",
         "{'TableName':'Tab','ProvisionedThroughput':{'ReadCapacityUnits':5,"
         "'WriteCapacityUnits':50}}");
    live(fixture, 3, 0);
    assert_int_equal(write_units(fixture), 50);
    activities(fixture, "");
    assert_true(api_fixture_shows(fixture, "Found it was later changed to 50.'"));
    assert_true(api_fixture_shows(fixture, "'Overridden'"));
}

static void an_index_has_a_target_of_its_own(void **state)
{
    struct api_fixture *fixture = *state;
    call(fixture, AAS "RegisterScalableTarget", "{" INDEX ",'MinCapacity':8,'MaxCapacity':9}");
    await_control_thread(fixture);
    call(fixture, "DescribeTable", "{'TableName':'Tab'}");
    assert_true(api_fixture_shows(fixture, "'ReadCapacityUnits':8,'WriteCapacityUnits':5"));
    expect_line(fixture, ACTIONS("Ind", "read", "Successful") "1\n");
    assert_true(api_fixture_shows(fixture, "'ReadCapacityUnits':5,'WriteCapacityUnits':10"));
}

static void a_scheduled_action_changes_the_bounds_once(void **state)
{
    struct api_fixture *fixture = *state;
    char body[400];
    call(fixture, AAS "RegisterScalableTarget", REGISTER("5", "100"));
    snprintf(body, sizeof body,
             "{" TARGET ",'ScheduledActionName':'s','Schedule':'rate(10 minutes)',"
             "'ScalableTargetAction':{'MinCapacity':30,'MaxCapacity':40}}");
    call(fixture, AAS "PutScheduledAction", body);
    live(fixture, 9, 0);
    assert_int_equal(write_units(fixture), 10);
    live(fixture, 2, 0);
    assert_int_equal(write_units(fixture), 30);
    activities(fixture, "");
    assert_true(api_fixture_shows(fixture, "'scheduled action name s was triggered'"));
    call(fixture, AAS "DescribeScalableTargets", "{'ServiceNamespace':'dynamodb'}");
    assert_true(api_fixture_shows(fixture, "'MinCapacity':30,'MaxCapacity':40"));
    call(fixture, AAS "RegisterScalableTarget",
         "{" TARGET ",'MinCapacity':1,'SuspendedState':{'ScheduledScalingSuspended':true}}");
    live(fixture, 12, 0);
    call(fixture, AAS "DescribeScalableTargets", "{'ServiceNamespace':'dynamodb'}");
    assert_true(api_fixture_shows(fixture, "'MinCapacity':1,'MaxCapacity':40"));
}

static void suspended_scaling_does_nothing(void **state)
{
    struct api_fixture *fixture = *state;
    call(fixture, AAS "RegisterScalableTarget",
         "{" TARGET ",'MinCapacity':5,'MaxCapacity':100,"
         "'SuspendedState':{'DynamicScalingOutSuspended':true}}");
    call(fixture, AAS "PutScalingPolicy", POLICY(""));
    live(fixture, 4, 1500);
    assert_int_equal(write_units(fixture), 10);
    call(fixture, AAS "RegisterScalableTarget",
         "{" TARGET ",'SuspendedState':{'DynamicScalingOutSuspended':false}}");
    live(fixture, 2, 1500);
    assert_int_equal(write_units(fixture), 36);
}

static void a_restart_does_nothing_twice_and_forgets_nothing(void **state)
{
    struct api_fixture *fixture = *state;
    call(fixture, AAS "RegisterScalableTarget", REGISTER("5", "100"));
    call(fixture, AAS "PutScalingPolicy", POLICY(""));
    live(fixture, 4, 1500);
    assert_int_equal(write_units(fixture), 36);
    api_fixture_restart(fixture, 1000);
    ticker_run(api_ticker(fixture->api));
    activities(fixture, "");
    char first[4000];
    snprintf(first, sizeof first, "%.*s", BYTES_FMT(fixture->response));
    api_fixture_restart(fixture, 1000);
    ticker_run(api_ticker(fixture->api));
    activities(fixture, "");
    assert_true(bytes_equal_text(fixture->response, first));
    call(fixture, AAS "DescribeScalingPolicies", "{'ServiceNamespace':'dynamodb'}");
    assert_true(api_fixture_shows(fixture, "'TargetValue':70.0"));
    live(fixture, 20, 0);
    assert_int_equal(write_units(fixture), 5);
}

/* Nobody knows what a table would have consumed while the server did not run. */
static void a_table_is_not_scaled_in_for_want_of_samples(void **state)
{
    struct api_fixture *fixture = *state;
    call(fixture, AAS "RegisterScalableTarget", REGISTER("5", "100"));
    call(fixture, AAS "PutScalingPolicy", POLICY(",'ScaleInCooldown':1320"));
    live(fixture, 4, 1500);
    assert_int_equal(write_units(fixture), 36);
    live(fixture, 19, 600); /* 10 units per second: AlarmLow fires during the cooldown. */
    assert_int_equal(write_units(fixture), 36);
    api_fixture_restart(fixture, 3 * MINUTE_MS);
    ticker_run(api_ticker(fixture->api));
    assert_int_equal(write_units(fixture), 36);
    live(fixture, 3, 600);
    assert_int_equal(write_units(fixture), 15);
}

static void store_activity(struct api_fixture *fixture, const char *id, int64_t created_ms,
                           struct bytes status)
{
    const struct scaling_activity activity = {
        .head = { .resource_id = BYTES("table/Tab"),
                  .dimension = { true, SCALING_TABLE_WRITE },
                  .uuid = bytes_from_text(id),
                  .created_ms = { true, created_ms } },
        .description = BYTES("Setting write capacity units to 8."),
        .cause = BYTES("minimum capacity was set to 8"),
        .status = status,
        .capacity = { true, 8 },
    };
    struct scaling *scaling = api_scaling(fixture->api);
    struct arena *arena = arena_create();
    struct scaling_change change;
    scaling_lock(scaling);
    scaling_change_init(&change, scaling, arena);
    scaling_change_put(&change, SCALING_ACTIVITY, &activity);
    assert_int_equal(scaling_change_commit(&change, created_ms, NULL), ENGINE_OK);
    scaling_unlock(scaling);
    arena_destroy(arena);
}

/* Completing one also removes activities that are too old, which come first in the list. */
static void all_interrupted_changes_are_completed(void **state)
{
    struct api_fixture *fixture = *state;
    int64_t now_ms = fixture->clock.fixed_ms;
    for (int i = 0; i < 20; i++) {
        char id[20];
        snprintf(id, sizeof id, "old-%d", i);
        store_activity(fixture, id, now_ms, BYTES("Successful"));
    }
    store_activity(fixture, "one", now_ms + 10 * (int64_t)MINUTE_MS, BYTES("InProgress"));
    store_activity(fixture, "two", now_ms + 10 * (int64_t)MINUTE_MS, BYTES("InProgress"));
    api_fixture_restart(fixture, SCALING_ACTIVITY_MS_MAX + MINUTE_MS);
    call(fixture, AAS "RegisterScalableTarget", REGISTER("20", "100"));
    assert_int_equal(write_units(fixture), 20);
    activities(fixture, "");
    assert_false(api_fixture_shows(fixture, "'InProgress'"));
    assert_true(api_fixture_shows(fixture, "The change was interrupted."));
}

static void a_policy_has_alarms_that_go_with_it(void **state)
{
    struct api_fixture *fixture = *state;
    struct alarms *alarms = api_alarms(fixture->api);
    call(fixture, AAS "RegisterScalableTarget", REGISTER("5", "100"));
    call(fixture, AAS "PutScalingPolicy", POLICY(",'ScaleInCooldown':60"));
    assert_true(api_fixture_shows(fixture, "TargetTracking-table/Tab-AlarmHigh-"));
    assert_true(api_fixture_shows(fixture, "TargetTracking-table/Tab-AlarmLow-"));
    assert_true(api_fixture_shows(fixture, "TargetTracking-table/Tab-ProvisionedCapacityHigh-"));
    assert_int_equal(alarms_count(alarms), 4);
    call(fixture, AAS "PutScalingPolicy", POLICY(",'DisableScaleIn':true"));
    call(fixture, AAS "DescribeScalingPolicies", "{'ServiceNamespace':'dynamodb'}");
    assert_false(api_fixture_shows(fixture, "TargetTracking-table/Tab-AlarmLow-"));
    assert_true(api_fixture_shows(fixture, "'DisableScaleIn':true"));
    assert_int_equal(alarms_count(alarms), 3);
    call(fixture, AAS "DeleteScalingPolicy", "{" TARGET ",'PolicyName':'p'}");
    assert_int_equal(alarms_count(alarms), 0);
    call(fixture, AAS "PutScalingPolicy", POLICY(""));
    assert_int_equal(alarms_count(alarms), 4);
    call(fixture, AAS "DeregisterScalableTarget", "{" TARGET "}");
    assert_int_equal(alarms_count(alarms), 0);
    api_fixture_expect(fixture, AAS "DescribeScalingPolicies", "{'ServiceNamespace':'dynamodb'}",
                       "{'ScalingPolicies':[]}");
}

static void a_change_whose_end_was_not_stored_blocks_nothing(void **state)
{
    struct api_fixture *fixture = *state;
    call(fixture, AAS "RegisterScalableTarget", REGISTER("5", "100"));
    call(fixture, AAS "PutScalingPolicy", POLICY(""));
    live(fixture, 1, 0);
    /* As if the disk had been full when UpdateTable ended. */
    store_activity(fixture, "00000000-0000-4000-8000-000000000001", fixture->clock.fixed_ms,
                   BYTES("InProgress"));
    live(fixture, 12, 1500); /* Longer than the pause after a failure. */
    assert_int_equal(write_units(fixture), 36);
    activities(fixture, "");
    assert_false(api_fixture_shows(fixture, "'InProgress'"));
    assert_true(api_fixture_shows(fixture, "The change was interrupted."));
}

static void mistakes_are_told_in_the_services_words(void **state)
{
    struct api_fixture *fixture = *state;
    static const struct {
        const char *operation, *body;
        enum error_code code;
        const char *message;
    } cases[] = {
        { "RegisterScalableTarget",
          "{'ServiceNamespace':'ecs','ResourceId':'table/Tab','ScalableDimension':"
          "'dynamodb:table:ReadCapacityUnits','MinCapacity':1,'MaxCapacity':2}",
          ERROR_SCALING_VALIDATION,
          "Unsupported service namespace, resource type or scalable dimension" },
        { "RegisterScalableTarget",
          "{'ServiceNamespace':'dynamodb','ResourceId':'table/Tab','ScalableDimension':"
          "'dynamodb:index:ReadCapacityUnits','MinCapacity':1,'MaxCapacity':2}",
          ERROR_SCALING_VALIDATION,
          "Unsupported service namespace, resource type or scalable dimension" },
        { "RegisterScalableTarget",
          "{'ServiceNamespace':'dynamodb','ResourceId':'table/Nope','ScalableDimension':"
          "'dynamodb:table:ReadCapacityUnits','MinCapacity':1,'MaxCapacity':2}",
          ERROR_SCALING_VALIDATION, "DynamoDB table does not exist: table/Nope" },
        { "RegisterScalableTarget", "{" TARGET ",'MaxCapacity':2}", ERROR_SCALING_VALIDATION,
          "Minimum capacity must be specified" },
        { "RegisterScalableTarget", REGISTER("3", "2"), ERROR_SCALING_VALIDATION,
          "Maximum capacity cannot be less than minimum capacity" },
        { "PutScalingPolicy", POLICY(""), ERROR_SCALING_OBJECT_NOT_FOUND,
          "No scalable target registered for service namespace: dynamodb, resource ID: table/Tab, "
          "scalable dimension: dynamodb:table:WriteCapacityUnits" },
        { "DeregisterScalableTarget", "{" TARGET "}", ERROR_SCALING_OBJECT_NOT_FOUND,
          "No scalable target found for service namespace: dynamodb, resource ID: table/Tab, "
          "scalable dimension: dynamodb:table:WriteCapacityUnits" },
        { "DescribeScalableTargets", "{'ServiceNamespace':'dynamodb','NextToken':'!'}",
          ERROR_SCALING_INVALID_NEXT_TOKEN, "The specified token is not valid" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char operation[100];
        snprintf(operation, sizeof operation, AAS "%s", cases[i].operation);
        api_fixture_expect_error(fixture, operation, cases[i].body, cases[i].code,
                                 cases[i].message);
    }
    call(fixture, AAS "RegisterScalableTarget", REGISTER("5", "100"));
    call(fixture, AAS "PutScalingPolicy", POLICY(""));
    api_fixture_expect_error(
        fixture, AAS "PutScalingPolicy",
        "{" TARGET ",'PolicyName':'q','TargetTrackingScalingPolicyConfiguration':{'TargetValue':50,"
        "'PredefinedMetricSpecification':{'PredefinedMetricType':"
        "'DynamoDBWriteCapacityUtilization'}}}",
        ERROR_SCALING_VALIDATION,
        "Only one TargetTrackingScaling policy for a given metric specification is allowed.");
}

#define NAME_PATTERN                                                                               \
    "(?!((^[ ]+.*)|(.*([\\u0000-\\u001f]|[\\u007f-\\u009f]|[:/|])+.*)|(.*[ ]+$))).+"

static void names_of_actions_follow_the_pattern(void **state)
{
    struct api_fixture *fixture = *state;
    static const struct {
        const char *name;
        bool ok;
    } cases[] = { { "every night", true }, { "\u00a0", true },   { "\u00e9", true },
                  { " s", false },         { "s ", false },      { "a:b", false },
                  { "a/b", false },        { "a|b", false },     { "a\\u0001b", false },
                  { "a\\u007f", false },   { "\\u0085", false }, { "\\u009f", false } };
    call(fixture, AAS "RegisterScalableTarget", REGISTER("5", "100"));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char body[500];
        snprintf(body, sizeof body,
                 "{" TARGET ",'ScheduledActionName':'%s','Schedule':'rate(1 day)',"
                 "'ScalableTargetAction':{'MinCapacity':1}}",
                 cases[i].name);
        bool ok = api_fixture_call(fixture, AAS "PutScheduledAction", body);
        assert_int_equal(ok, cases[i].ok);
        if (!ok)
            assert_non_null(memmem(fixture->error.message.data, fixture->error.message.len,
                                   NAME_PATTERN, sizeof NAME_PATTERN - 1));
    }
}

static void exceptions_about_tags_name_the_resource(void **state)
{
    struct api_fixture *fixture = *state;
    static const char shown[] = "{\"ResourceName\":\"arn:aws:application-autoscaling:eu-west-1:"
                                "123456789012:scalable-target/none\"}";
    assert_false(
        api_fixture_call(fixture, AAS "ListTagsForResource",
                         "{'ResourceARN':'arn:aws:application-autoscaling:eu-west-1:123456789012:"
                         "scalable-target/none'}"));
    assert_int_equal(fixture->error.code, ERROR_SCALING_RESOURCE_NOT_FOUND);
    assert_true(bytes_equal_text(fixture->error.members_json, shown));
}

static void lists_are_paged(void **state)
{
    struct api_fixture *fixture = *state;
    char body[2500];
    for (int i = 0; i < 120; i++) {
        call(fixture, AAS "RegisterScalableTarget", REGISTER("5", "100"));
        snprintf(body, sizeof body,
                 "{" TARGET ",'ScheduledActionName':'s%03d','Schedule':'rate(1 day)',"
                 "'ScalableTargetAction':{'MinCapacity':5}}",
                 i);
        call(fixture, AAS "PutScheduledAction", body);
    }
    char token[2000] = "";
    int seen = 0, pages = 0;
    do {
        snprintf(body, sizeof body, "{'ServiceNamespace':'dynamodb'%s%s%s}",
                 token[0] == '\0' ? "" : ",'NextToken':'", token, token[0] == '\0' ? "" : "'");
        call(fixture, AAS "DescribeScheduledActions", body);
        struct bytes response = fixture->response;
        const char *at = (const char *)response.data;
        const char *end = at + response.len;
        while ((at = memmem(at, (size_t)(end - at), "\"ScheduledActionName\"", 21)) != NULL) {
            char name[16];
            snprintf(name, sizeof name, "s%03d", seen++);
            assert_memory_equal(at + 23, name, 4);
            at++;
        }
        const char *found = memmem(response.data, response.len, "\"NextToken\":\"", 13);
        token[0] = '\0';
        if (found != NULL)
            assert_int_equal(sscanf(found + 13, "%1999[^\"]", token), 1);
        pages++;
    } while (token[0] != '\0');
    assert_int_equal(seen, 120);
    assert_int_equal(pages, 3);
}

static void a_policy_whose_alarms_have_no_room_is_refused(void **state)
{
    struct api_fixture small;
    (void)state;
    api_fixture_open_with(&small, &(struct api_options){ .alarms_max = 3 });
    call(&small, "CreateTable",
         "{'TableName':'Tab','AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'}],"
         "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}],"
         "'ProvisionedThroughput':{'ReadCapacityUnits':5,'WriteCapacityUnits':10}}");
    call(&small, AAS "RegisterScalableTarget", REGISTER("5", "100"));
    api_fixture_expect_error(&small, AAS "PutScalingPolicy", POLICY(""),
                             ERROR_SCALING_LIMIT_EXCEEDED,
                             "There is no room for the alarms of the policy: delete some, or raise "
                             "alarms-max");
    call(&small, AAS "PutScalingPolicy", POLICY(",'DisableScaleIn':true"));
    api_fixture_close(&small);
}

/* A policy's name becomes part of the ARN in the records of its alarms. */
static void a_policy_may_have_spaces_in_its_name(void **state)
{
    struct api_fixture *fixture = *state;
    static const char tracking[] = "'TargetTrackingScalingPolicyConfiguration':{'TargetValue':70,"
                                   "'PredefinedMetricSpecification':{'PredefinedMetricType':"
                                   "'DynamoDBWriteCapacityUtilization'}}}";
    char body[1000];
    call(fixture, AAS "RegisterScalableTarget", REGISTER("5", "100"));
    snprintf(body, sizeof body, "{" TARGET ",'PolicyName':'a\\nb',%s", tracking);
    api_fixture_expect_error(fixture, AAS "PutScalingPolicy", body, ERROR_VALIDATION,
                             "1 validation error detected: Value 'a\nb' at 'policyName' failed to "
                             "satisfy constraint: Member must satisfy regular expression pattern: "
                             "\\p{Print}+");
    snprintf(body, sizeof body, "{" TARGET ",'PolicyName':'my policy',%s", tracking);
    call(fixture, AAS "PutScalingPolicy", body);
    api_fixture_restart(fixture, 1);
    live(fixture, 4, 1500);
    assert_int_equal(write_units(fixture), 36);
}

static void the_longest_names_survive_a_restart(void **state)
{
    struct api_fixture *fixture = *state;
    char name[256], policy[257], body[4000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    memset(policy, '~', sizeof policy - 1);
    policy[sizeof policy - 1] = '\0';
    snprintf(body, sizeof body,
             "{'TableName':'%s','AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'}],"
             "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}],"
             "'ProvisionedThroughput':{'ReadCapacityUnits':5,'WriteCapacityUnits':10},"
             "'GlobalSecondaryIndexes':[{'IndexName':'%s','KeySchema':[{'AttributeName':'p',"
             "'KeyType':'HASH'}],'Projection':{'ProjectionType':'KEYS_ONLY'},"
             "'ProvisionedThroughput':{'ReadCapacityUnits':5,'WriteCapacityUnits':5}}]}",
             name, name);
    call(fixture, "CreateTable", body);
    snprintf(body, sizeof body,
             "{'ServiceNamespace':'dynamodb','ResourceId':'table/%s/index/%s','ScalableDimension':"
             "'dynamodb:index:ReadCapacityUnits','MinCapacity':5,'MaxCapacity':9}",
             name, name);
    call(fixture, AAS "RegisterScalableTarget", body);
    snprintf(body, sizeof body,
             "{'ServiceNamespace':'dynamodb','ResourceId':'table/%s/index/%s','ScalableDimension':"
             "'dynamodb:index:ReadCapacityUnits','PolicyName':'%s',"
             "'TargetTrackingScalingPolicyConfiguration':{'TargetValue':70,"
             "'PredefinedMetricSpecification':{'PredefinedMetricType':"
             "'DynamoDBReadCapacityUtilization'}}}",
             name, name, policy);
    call(fixture, AAS "PutScalingPolicy", body);
    api_fixture_restart(fixture, 1);
    call(fixture, "cloudwatch:DescribeAlarms", "{}");
    assert_true(api_fixture_shows(fixture, "-AlarmHigh-"));
    assert_true(api_fixture_shows(fixture, "-ProvisionedCapacityLow-"));
}

/* `count` tags with names of `length` characters that JSON escapes. */
static const char *tags_body(struct api_fixture *fixture, const char *arn, int count, int length)
{
    static char body[200 * 1024];
    int at = snprintf(body, sizeof body, "{'ResourceARN':'%s','Tags':{", arn);
    (void)fixture;
    for (int i = 0; i < count; i++) {
        at += snprintf(body + at, sizeof body - (size_t)at, "%s'%02d", i == 0 ? "" : ",", i);
        for (int n = 2; n < length; n++)
            at += snprintf(body + at, sizeof body - (size_t)at, "\\u0001");
        at += snprintf(body + at, sizeof body - (size_t)at, "':'");
        for (int n = 0; n < 256; n++)
            at += snprintf(body + at, sizeof body - (size_t)at, "\\u0001");
        at += snprintf(body + at, sizeof body - (size_t)at, "'");
    }
    snprintf(body + at, sizeof body - (size_t)at, "}}");
    return body;
}

static void tags_have_bounds_and_survive_a_restart(void **state)
{
    struct api_fixture *fixture = *state;
    char arn[200] = "";
    call(fixture, AAS "RegisterScalableTarget", REGISTER("5", "100"));
    assert_int_equal(
        sscanf((const char *)fixture->response.data, "{\"ScalableTargetARN\":\"%199[^\"]", arn), 1);
    api_fixture_expect_error(
        fixture, AAS "TagResource", tags_body(fixture, arn, 1, 129), ERROR_SCALING_VALIDATION,
        "1 validation error detected: Value at 'tags' failed to satisfy constraint: Map keys must "
        "satisfy constraint: [Member must have length less than or equal to 128, Member must have "
        "length greater than or equal to 1]");
    call(fixture, AAS "TagResource", tags_body(fixture, arn, 50, 128));
    api_fixture_restart(fixture, 1);
    call(fixture, AAS "ListTagsForResource", tags_body(fixture, arn, 0, 0));
    assert_true(api_fixture_shows(fixture, "'49\\u0001"));
}

/* --- Changes of one table at once --- */

struct queued_call {
    struct api_call call;
    sem_t ended;
};

static void end_queued(struct api_call *call)
{
    sem_post(&((struct queued_call *)call)->ended);
}

static void queue_call(struct api_fixture *fixture, struct queued_call *queued,
                       const char *operation, const char *body)
{
    struct arena *arena = arena_create();
    char *quoted = arena_alloc(arena, strlen(body) + 1);
    for (size_t i = 0; i <= strlen(body); i++)
        quoted[i] = body[i] == '\'' ? '"' : body[i];
    sem_init(&queued->ended, 0, 0);
    queued->call =
        (struct api_call){ .arena = arena,
                           .operation = operation_find_action(bytes_from_text(operation)),
                           .body = bytes_from_text(quoted),
                           .done = end_queued };
    api_run(fixture->api, &queued->call);
}

static void await_queued(struct queued_call *queued)
{
    sem_wait(&queued->ended);
    assert_false(error_is_set(&queued->call.error));
    sem_destroy(&queued->ended);
    arena_destroy(queued->call.arena);
}

static void wait_for_release(void *context)
{
    sem_wait(context);
}

/* What the driver knows of a table when it asks for a change may be old when the change is made. */
static void changes_of_one_table_do_not_undo_each_other(void **state)
{
    struct api_fixture *fixture = *state;
    struct queued_call calls[3];
    sem_t release;
    sem_init(&release, 0, 0);
    struct control_task task = { .run = wait_for_release, .context = &release };
    assert_true(control_submit(api_control(fixture->api), &task));
    queue_call(fixture, &calls[0], AAS "RegisterScalableTarget", REGISTER("30", "100"));
    queue_call(fixture, &calls[1], AAS "RegisterScalableTarget",
               "{'ServiceNamespace':'dynamodb','ResourceId':'table/Tab','ScalableDimension':"
               "'dynamodb:table:ReadCapacityUnits','MinCapacity':20,'MaxCapacity':100}");
    queue_call(fixture, &calls[2], AAS "RegisterScalableTarget",
               "{" INDEX ",'MinCapacity':8,'MaxCapacity':9}");
    sem_post(&release);
    for (size_t i = 0; i < COUNT_OF(calls); i++)
        await_queued(&calls[i]);
    assert_int_equal(write_units(fixture), 30);
    call(fixture, "DescribeTable", "{'TableName':'Tab'}");
    assert_true(api_fixture_shows(fixture, "'ReadCapacityUnits':20,'WriteCapacityUnits':30"));
    assert_true(api_fixture_shows(fixture, "'ReadCapacityUnits':8,'WriteCapacityUnits':5"));
    sem_destroy(&release);
}

static size_t count_shown(const struct api_fixture *fixture, const char *text)
{
    struct bytes rest = fixture->response;
    size_t count = 0;
    const uint8_t *found;
    while ((found = memmem(rest.data, rest.len, text, strlen(text))) != NULL) {
        size_t past = (size_t)(found - rest.data) + strlen(text);
        rest = bytes_of(rest.data + past, rest.len - past);
        count++;
    }
    return count;
}

/* Nothing but the bounds asks for this change: there is no policy. */
static void bounds_that_were_refused_are_tried_again(void **state)
{
    struct api_fixture *fixture = *state;
    call(fixture, "TagResource",
         "{'ResourceArn':'arn:aws:dynamodb:eu-west-1:123456789012:table/Tab',"
         "'Tags':[{'Key':'stator:capacity','Value':'enforce'}]}");
    for (int units = 9; units >= 6; units--) { /* A day has four decreases. */
        char body[200];
        snprintf(body, sizeof body,
                 "{'TableName':'Tab','ProvisionedThroughput':{'ReadCapacityUnits':5,"
                 "'WriteCapacityUnits':%d}}",
                 units);
        call(fixture, "UpdateTable", body);
    }
    call(fixture, AAS "RegisterScalableTarget", REGISTER("1", "3"));
    assert_int_equal(write_units(fixture), 6);
    live(fixture, 3, 0);
    assert_int_equal(write_units(fixture), 6);
    activities(fixture, "");
    assert_int_equal(count_shown(fixture, "\"Failed\""), 1);
    assert_true(api_fixture_shows(fixture, "Subscriber limit exceeded: Provisioned throughput "
                                           "decreases are limited"));
    api_fixture_restart(fixture, 1);
    live(fixture, 60, 0); /* One an hour is free again. */
    assert_int_equal(write_units(fixture), 3);
    activities(fixture, "");
    assert_int_equal(count_shown(fixture, "\"Failed\""), 0);
    assert_int_equal(count_shown(fixture, "\"Successful\""), 1);
}

/* --- What a round costs --- */

static void count_open(void *context, struct arena *arena, struct series_samples *out)
{
    (void)arena;
    (void)out;
    ++*(int *)context;
}

/* Opening the metrics costs as much as there are tables, so that rounds would take the square of
 * their number. */
static void a_round_opens_the_metrics_once_for_all_targets(void **state)
{
    static const char *const targets[][2] = {
        { "table/Tab", "dynamodb:table:ReadCapacityUnits" },
        { "table/Tab", "dynamodb:table:WriteCapacityUnits" },
        { "table/Tab/index/Ind", "dynamodb:index:ReadCapacityUnits" },
        { "table/Tab/index/Ind", "dynamodb:index:WriteCapacityUnits" },
    };
    struct api_fixture *fixture = *state;
    int opened = 0;
    for (size_t i = 0; i < COUNT_OF(targets); i++) {
        char names[200], body[600];
        snprintf(names, sizeof names,
                 "'ServiceNamespace':'dynamodb','ResourceId':'%s','ScalableDimension':'%s'",
                 targets[i][0], targets[i][1]);
        snprintf(body, sizeof body, "{%s,'MinCapacity':5,'MaxCapacity':5}", names);
        call(fixture, AAS "RegisterScalableTarget", body);
        snprintf(body, sizeof body,
                 "{%s,'PolicyName':'p','PolicyType':'TargetTrackingScaling',"
                 "'TargetTrackingScalingPolicyConfiguration':{'TargetValue':70,"
                 "'PredefinedMetricSpecification':{'PredefinedMetricType':"
                 "'DynamoDB%sCapacityUtilization'}}}",
                 names, strstr(targets[i][1], "Read") != NULL ? "Read" : "Write");
        call(fixture, AAS "PutScalingPolicy", body);
    }
    live(fixture, 20, 0); /* All are idle, and cannot have less. */
    activities(fixture, ",'IncludeNotScaledActivities':true");
    assert_int_equal(count_shown(fixture, "\"AlreadyAtMinCapacity\""), COUNT_OF(targets));
    series_store_set_live(api_series(fixture->api), count_open, &opened);
    scaling_driver_round(api_scaling_driver(fixture->api), fixture->clock.fixed_ms);
    assert_int_equal(opened, 1);
}

/* --- Alarms that name a policy --- */

/* Actions are carried out by other threads. */
static void await_action(struct api_fixture *fixture, const char *alarm, const char *summary)
{
    char body[200];
    snprintf(body, sizeof body, "{'AlarmName':'%s','HistoryItemType':'Action'}", alarm);
    for (int attempts = 0; attempts < 1000; attempts++) {
        call(fixture, "cloudwatch:DescribeAlarmHistory", body);
        if (api_fixture_shows(fixture, summary))
            return;
        assert_false(api_fixture_shows(fixture, "'HistorySummary'"));
        usleep(10000);
    }
    fail_msg("%s does not have %s", alarm, summary);
}

static void only_its_own_alarms_scale_a_policy(void **state)
{
    struct api_fixture *fixture = *state;
    char arn[400], body[1000], own[200];
    call(fixture, AAS "RegisterScalableTarget", REGISTER("5", "100"));
    call(fixture, AAS "PutScalingPolicy", POLICY(""));
    assert_int_equal(
        sscanf((const char *)fixture->response.data, "{\"PolicyARN\":\"%399[^\"]", arn), 1);
    const char *name = strstr((const char *)fixture->response.data, "\"AlarmName\":\"");
    assert_non_null(name);
    assert_int_equal(sscanf(name, "\"AlarmName\":\"%199[^\"]", own), 1);
    snprintf(body, sizeof body, "{'AlarmName':'%s','StateValue':'ALARM','StateReason':'r'}", own);
    call(fixture, "cloudwatch:SetAlarmState", body);
    await_action(fixture, own, "'HistorySummary':'Successfully executed action arn:");
    static const char *const others[][2] = {
        { "mine", "a target tracking policy scales by its own alarms only" },
        { "nobodys", "there is no such scaling policy" },
    };
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        if (i == 1) /* The id of another policy. */
            memset(strstr(arn, "scalingPolicy:") + strlen("scalingPolicy:"), '0', 8);
        snprintf(body, sizeof body,
                 "{'AlarmName':'%s','Namespace':'N','MetricName':'M','Statistic':'Sum','Period':60,"
                 "'EvaluationPeriods':1,'Threshold':1,'ComparisonOperator':'GreaterThanThreshold',"
                 "'AlarmActions':['%s:createdBy/0']}",
                 others[i][0], arn);
        call(fixture, "cloudwatch:PutMetricAlarm", body);
        snprintf(body, sizeof body, "{'AlarmName':'%s','StateValue':'ALARM','StateReason':'r'}",
                 others[i][0]);
        call(fixture, "cloudwatch:SetAlarmState", body);
        await_action(fixture, others[i][0], "'HistorySummary':'Failed to execute action arn:");
        assert_true(api_fixture_shows(fixture, others[i][1]));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_table_scales_out_under_load_and_in_when_it_is_idle),
        TEST(registering_moves_the_capacity_into_the_bounds),
        TEST(an_index_has_a_target_of_its_own),
        TEST(a_scheduled_action_changes_the_bounds_once),
        TEST(suspended_scaling_does_nothing),
        TEST(a_restart_does_nothing_twice_and_forgets_nothing),
        TEST(a_table_is_not_scaled_in_for_want_of_samples),
        TEST(all_interrupted_changes_are_completed),
        TEST(a_change_whose_end_was_not_stored_blocks_nothing),
        TEST(a_policy_has_alarms_that_go_with_it),
        TEST(mistakes_are_told_in_the_services_words),
        TEST(names_of_actions_follow_the_pattern),
        TEST(exceptions_about_tags_name_the_resource),
        TEST(lists_are_paged),
        TEST(a_policy_may_have_spaces_in_its_name),
        TEST(a_policy_whose_alarms_have_no_room_is_refused),
        TEST(the_longest_names_survive_a_restart),
        TEST(tags_have_bounds_and_survive_a_restart),
        TEST(changes_of_one_table_do_not_undo_each_other),
        TEST(bounds_that_were_refused_are_tried_again),
        TEST(a_round_opens_the_metrics_once_for_all_targets),
        TEST(only_its_own_alarms_scale_a_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
