/* Quotas of tables and accounts, decreases in a day and turns to on-demand: with the service's
 * texts, and only where throughput is enforced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "api_fixture.h"

#define HIGHER                                                                                     \
    " Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher "  \
    "limits."
#define KEYS                                                                                       \
    "'AttributeDefinitions':[{'AttributeName':'k','AttributeType':'S'}],"                          \
    "'KeySchema':[{'AttributeName':'k','KeyType':'HASH'}]"
#define INDEX_KEYS                                                                                 \
    "'AttributeDefinitions':[{'AttributeName':'k','AttributeType':'S'},"                           \
    "{'AttributeName':'g','AttributeType':'S'}],"                                                  \
    "'KeySchema':[{'AttributeName':'k','KeyType':'HASH'}]"
#define INDEX(more)                                                                                \
    "'GlobalSecondaryIndexes':[{'IndexName':'gsi1','KeySchema':[{'AttributeName':'g','KeyType':"   \
    "'HASH'}],'Projection':{'ProjectionType':'ALL'}," more "}]"

/* Friday, 18 September 2026, 08:00:00. */
#define MORNING_MS (INT64_C(1789718400) * 1000)
enum { HOUR_MS = 3600 * 1000 };

static void open_enforced(struct api_fixture *fixture)
{
    api_fixture_open_with(fixture, &(struct api_options){ .capacity = CAPACITY_ENFORCE });
    fixture->clock.fixed_ms = MORNING_MS;
}

static void must(struct api_fixture *fixture, const char *operation, const char *body)
{
    if (!api_fixture_call(fixture, operation, body))
        fail_msg("%s: %.*s", body, (int)fixture->error.message.len, fixture->error.message.data);
}

static bool provision(struct api_fixture *fixture, int read_units, int write_units)
{
    char body[300];
    snprintf(body, sizeof body,
             "{'TableName':'Tab','ProvisionedThroughput':{'ReadCapacityUnits':%d,"
             "'WriteCapacityUnits':%d}}",
             read_units, write_units);
    return api_fixture_call(fixture, "UpdateTable", body);
}

static void create(struct api_fixture *fixture, int units)
{
    char body[400];
    snprintf(body, sizeof body,
             "{'TableName':'Tab'," KEYS ",'ProvisionedThroughput':{'ReadCapacityUnits':%d,"
             "'WriteCapacityUnits':%d}}",
             units, units);
    must(fixture, "CreateTable", body);
}

static void expect_message(struct api_fixture *fixture, const char *text)
{
    char got[1000];
    assert_int_equal(fixture->error.code, ERROR_LIMIT_EXCEEDED);
    snprintf(got, sizeof got, "%.*s", (int)fixture->error.message.len, fixture->error.message.data);
    assert_string_equal(got, text);
}

static void a_table_has_at_most_its_quota(void **state)
{
    (void)state;
    static const struct {
        const char *body, *text;
    } cases[] = {
        { "{'TableName':'Abc'," KEYS
          ",'ProvisionedThroughput':{'ReadCapacityUnits':40001,'WriteCapacityUnits':1}}",
          "The requested ReadCapacityUnits, 40001, is above the per table maximum for the account "
          "in eu-west-1. Per table maximum: 40000." HIGHER },
        { "{'TableName':'Abc'," KEYS
          ",'ProvisionedThroughput':{'ReadCapacityUnits':1,'WriteCapacityUnits':40001}}",
          "The requested WriteCapacityUnits, 40001, is above the per table maximum for the account "
          "in eu-west-1. Per table maximum: 40000." HIGHER },
        { "{'TableName':'Abc'," INDEX_KEYS
          ",'ProvisionedThroughput':{'ReadCapacityUnits':1,'WriteCapacityUnits':1}," INDEX(
              "'ProvisionedThroughput':{'ReadCapacityUnits':40001,'WriteCapacityUnits':1}") "}",
          "The requested ReadCapacityUnits for index gsi1, 40001, is above the per index maximum "
          "for the account in eu-west-1. Per table maximum: 40000." HIGHER },
        { "{'TableName':'Abc'," KEYS ",'BillingMode':'PAY_PER_REQUEST',"
          "'OnDemandThroughput':{'MaxReadRequestUnits':40001}}",
          "Subscriber limit exceeded: Requested MaxReadRequestUnits for OnDemandThroughput for "
          "table exceeds TableMaxReadCapacityUnits of the account in region eu-west-1" },
        { "{'TableName':'Abc'," INDEX_KEYS ",'BillingMode':'PAY_PER_REQUEST'," INDEX(
              "'OnDemandThroughput':{'MaxWriteRequestUnits':40001}") "}",
          "Subscriber limit exceeded: Requested MaxWriteRequestUnits for OnDemandThroughput for "
          "index : gsi1 exceeds TableMaxWriteCapacityUnits of the account in region eu-west-1" },
        { "{'TableName':'Abc'," INDEX_KEYS ",'BillingMode':'PAY_PER_REQUEST'," INDEX(
              "'WarmThroughput':{'ReadUnitsPerSecond':40001,'WriteUnitsPerSecond':4000}") "}",
          "Subscriber limit exceeded: Requested ReadUnitsPerSecond for WarmThroughput for index "
          "gsi1 exceeds TableMaxReadCapacityUnits of the account in region eu-west-1" },
    };
    struct api_fixture fixture;
    open_enforced(&fixture);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        api_fixture_expect_error(&fixture, "CreateTable", cases[i].body, ERROR_LIMIT_EXCEEDED,
                                 cases[i].text);
    must(&fixture, "CreateTable",
         "{'TableName':'Abc'," KEYS
         ",'ProvisionedThroughput':{'ReadCapacityUnits':40000,'WriteCapacityUnits':40000}}");
    api_fixture_close(&fixture);
}

static void nothing_is_limited_unless_it_is_enforced(void **state)
{
    (void)state;
    struct api_fixture fixture;
    api_fixture_open(&fixture, 0);
    must(&fixture, "CreateTable",
         "{'TableName':'Tab'," KEYS
         ",'ProvisionedThroughput':{'ReadCapacityUnits':90000,'WriteCapacityUnits':90000}}");
    for (int i = 1; i < 20; i++)
        assert_true(provision(&fixture, 100 - i, 1));
    api_fixture_close(&fixture);
}

static void quotas_are_settings_that_describe_limits_shows(void **state)
{
    (void)state;
    struct api_fixture fixture;
    api_fixture_open_with(&fixture,
                          &(struct api_options){ .capacity = CAPACITY_ENFORCE,
                                                 .quotas = { .table_read_units = 10,
                                                             .table_write_units = 20,
                                                             .account_read_units = 15,
                                                             .account_write_units = 40 } });
    api_fixture_expect(&fixture, "DescribeLimits", "{}",
                       "{'AccountMaxReadCapacityUnits':15,'AccountMaxWriteCapacityUnits':40,"
                       "'TableMaxReadCapacityUnits':10,'TableMaxWriteCapacityUnits':20}");
    create(&fixture, 10);
    api_fixture_expect_error(
        &fixture, "CreateTable",
        "{'TableName':'Abc'," KEYS
        ",'ProvisionedThroughput':{'ReadCapacityUnits':6,'WriteCapacityUnits':1}}",
        ERROR_LIMIT_EXCEEDED,
        "This request would have caused the ReadCapacityUnits limit to be exceeded for the account "
        "in eu-west-1. Current ReadCapacityUnits reserved by the account: 10. Limit: 15. "
        "Requested: 6." HIGHER);
    must(&fixture, "CreateTable",
         "{'TableName':'Abc'," INDEX_KEYS
         ",'ProvisionedThroughput':{'ReadCapacityUnits':2,'WriteCapacityUnits':1}," INDEX(
             "'ProvisionedThroughput':{'ReadCapacityUnits':3,'WriteCapacityUnits':1}") "}");
    assert_false(provision(&fixture, 10, 30));
    assert_false(api_fixture_call(&fixture, "UpdateTable",
                                  "{'TableName':'Abc','ProvisionedThroughput':{"
                                  "'ReadCapacityUnits':3,'WriteCapacityUnits':1}}"));
    assert_true(provision(&fixture, 9, 10)); /* Room for one. */
    must(&fixture, "UpdateTable",
         "{'TableName':'Abc','ProvisionedThroughput':{'ReadCapacityUnits':3,"
         "'WriteCapacityUnits':1}}");
    api_fixture_close(&fixture);
}

static void a_fifth_decrease_waits_for_an_hour(void **state)
{
    (void)state;
    struct api_fixture fixture;
    open_enforced(&fixture);
    create(&fixture, 100);
    for (int i = 1; i <= 4; i++) {
        fixture.clock.fixed_ms = MORNING_MS + (i - 1) * 1000 + (i == 4 ? 941000 : 0);
        assert_true(provision(&fixture, 100 - i, i == 2 ? 200 : 100 - i));
    }
    fixture.clock.fixed_ms += 1000;
    const char *text =
        "Subscriber limit exceeded: Provisioned throughput decreases are limited within a given "
        "UTC day. After the first 4 decreases, each subsequent decrease in the same UTC day can be "
        "performed at most once every 3600 seconds. Number of decreases today: 4. Last decrease at "
        "Friday, September 18, 2026 at 8:15:44 AM Coordinated Universal Time. Next decrease can be "
        "made at Friday, September 18, 2026 at 9:15:44 AM Coordinated Universal Time";
    assert_false(provision(&fixture, 95, 500)); /* One raised, the other lowered. */
    expect_message(&fixture, text);
    assert_true(provision(&fixture, 96, 500)); /* An increase. */
    fixture.clock.fixed_ms = MORNING_MS + 944000 + HOUR_MS - 1;
    assert_false(provision(&fixture, 95, 500));
    expect_message(&fixture, text);
    fixture.clock.fixed_ms++;
    assert_true(provision(&fixture, 95, 500));
    must(&fixture, "DescribeTable", "{'TableName':'Tab'}");
    assert_true(api_fixture_shows(&fixture, "'NumberOfDecreasesToday':5"));
    assert_true(api_fixture_shows(&fixture, "'LastDecreaseDateTime':1789722944"));
    assert_true(api_fixture_shows(&fixture, "'LastIncreaseDateTime':1789719345"));
    api_fixture_close(&fixture);
}

static void decreases_are_counted_anew_at_midnight(void **state)
{
    (void)state;
    struct api_fixture fixture;
    open_enforced(&fixture);
    create(&fixture, 100);
    int64_t midnight_ms = MORNING_MS + 16 * HOUR_MS;
    fixture.clock.fixed_ms = midnight_ms - 60000;
    for (int i = 1; i <= 4; i++)
        assert_true(provision(&fixture, 100 - i, 100));
    assert_false(provision(&fixture, 95, 100));
    expect_message(&fixture,
                   "Subscriber limit exceeded: Provisioned throughput decreases are limited within "
                   "a given UTC day. After the first 4 decreases, each subsequent decrease in the "
                   "same UTC day can be performed at most once every 3600 seconds. Number of "
                   "decreases today: 4. Last decrease at Friday, September 18, 2026 at 11:59:00 PM "
                   "Coordinated Universal Time. Next decrease can be made at Saturday, September "
                   "19, 2026 at 12:00:00 AM Coordinated Universal Time");
    fixture.clock.fixed_ms = midnight_ms;
    assert_true(provision(&fixture, 95, 100));
    must(&fixture, "DescribeTable", "{'TableName':'Tab'}");
    assert_true(api_fixture_shows(&fixture, "'NumberOfDecreasesToday':1"));
    api_fixture_close(&fixture);
}

static void most_decreases_in_a_day_are_27(void **state)
{
    (void)state;
    struct api_fixture fixture;
    open_enforced(&fixture);
    create(&fixture, 100);
    int64_t midnight_ms = MORNING_MS + 16 * HOUR_MS;
    int count = 0, units = 100;
    for (int64_t ms = midnight_ms; ms < midnight_ms + 24 * HOUR_MS; ms += 60000) {
        fixture.clock.fixed_ms = ms;
        while (provision(&fixture, units - 1, 100)) {
            count++;
            units--;
        }
    }
    assert_int_equal(count, 27);
    api_fixture_close(&fixture);
}

static void decreases_of_indexes_are_counted_apart(void **state)
{
    (void)state;
    struct api_fixture fixture;
    char body[400];
    open_enforced(&fixture);
    must(&fixture, "CreateTable",
         "{'TableName':'Tab'," INDEX_KEYS
         ",'ProvisionedThroughput':{'ReadCapacityUnits':100,'WriteCapacityUnits':100}," INDEX(
             "'ProvisionedThroughput':{'ReadCapacityUnits':100,'WriteCapacityUnits':100}") "}");
    for (int i = 1; i <= 4; i++)
        assert_true(provision(&fixture, 100 - i, 100));
    for (int i = 1; i <= 5; i++) {
        snprintf(body, sizeof body,
                 "{'TableName':'Tab','GlobalSecondaryIndexUpdates':[{'Update':{'IndexName':'gsi1',"
                 "'ProvisionedThroughput':{'ReadCapacityUnits':%d,'WriteCapacityUnits':100}}}]}",
                 100 - i);
        assert_int_equal(api_fixture_call(&fixture, "UpdateTable", body), i <= 4);
    }
    api_fixture_close(&fixture);
}

/* --- Turns --- */

static bool turn_on_demand(struct api_fixture *fixture)
{
    return api_fixture_call(fixture, "UpdateTable",
                            "{'TableName':'Tab','BillingMode':'PAY_PER_REQUEST'}");
}

static void turn_back(struct api_fixture *fixture)
{
    must(fixture, "UpdateTable",
         "{'TableName':'Tab','BillingMode':'PROVISIONED',"
         "'ProvisionedThroughput':{'ReadCapacityUnits':5,'WriteCapacityUnits':5}}");
}

/* Creation as on-demand is the first of the four. */
static void a_table_turns_to_on_demand_four_times_in_a_day(void **state)
{
    (void)state;
    struct api_fixture fixture;
    open_enforced(&fixture);
    fixture.clock.fixed_ms = MORNING_MS + 3495000; /* 08:58:15 */
    must(&fixture, "CreateTable", "{'TableName':'Tab'," KEYS ",'BillingMode':'PAY_PER_REQUEST'}");
    turn_back(&fixture);
    for (int i = 1; i < 4; i++) {
        fixture.clock.fixed_ms = MORNING_MS + (i == 3 ? 3710000 : 3600000); /* 09:01:50 */
        assert_true(turn_on_demand(&fixture));
        assert_true(turn_on_demand(&fixture)); /* The mode that it has does not count. */
        turn_back(&fixture);
    }
    api_fixture_restart(&fixture, 0); /* They are stored. */
    assert_false(turn_on_demand(&fixture));
    expect_message(&fixture,
                   "Subscriber limit exceeded: Update to PayPerRequest mode are limited to 4 in 1 "
                   "day(s). Last update at Fri Sep 18 09:01:50 UTC 2026. Next update can be made "
                   "at Sat Sep 19 08:58:15 UTC 2026");
    fixture.clock.fixed_ms = MORNING_MS + 3495000 + 24 * HOUR_MS - 1;
    assert_false(turn_on_demand(&fixture));
    fixture.clock.fixed_ms++;
    assert_true(turn_on_demand(&fixture));
    api_fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_has_at_most_its_quota),
        cmocka_unit_test(nothing_is_limited_unless_it_is_enforced),
        cmocka_unit_test(quotas_are_settings_that_describe_limits_shows),
        cmocka_unit_test(a_fifth_decrease_waits_for_an_hour),
        cmocka_unit_test(decreases_are_counted_anew_at_midnight),
        cmocka_unit_test(most_decreases_in_a_day_are_27),
        cmocka_unit_test(decreases_of_indexes_are_counted_apart),
        cmocka_unit_test(a_table_turns_to_on_demand_four_times_in_a_day),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
