/* test_time_to_live.c -- UpdateTimeToLive and DescribeTimeToLive: answers, refusals, each step.
 *
 * A step is taken when nobody holds an older version of the table; a test that wants to see a state
 * holds one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "api/operation.h"
#include "api_fixture.h"
#include "base/compiler.h"
#include "check/check.h"
#include "table/catalogue.h"

enum { WAIT_MS = 60000 };

static struct api_fixture db;

#define ABSENT(path)                                                                               \
    "Value null at '" path "' failed to satisfy constraint: Member must not be null"
#define TABLE(rest) "{'TableName':'table'," rest "}"
#define SET(enabled, name)                                                                         \
    TABLE("'TimeToLiveSpecification':{'Enabled':" enabled ",'AttributeName':'" name "'}")
#define SHOWS(status, rest) "{'TimeToLiveDescription':{'TimeToLiveStatus':'" status "'" rest "}}"
#define DESCRIBE "{'TableName':'table'}"

static void call(const char *operation, const char *body)
{
    if (!api_fixture_call(&db, operation, body))
        fail_msg("%s %s\n got: %.*s", operation, body, BYTES_FMT(db.error.message));
}

static void refuse(const char *body, const char *message)
{
    api_fixture_expect_error(&db, "UpdateTimeToLive", body, ERROR_VALIDATION, message);
}

static void wait_for(const char *status)
{
    for (int i = 0; i < WAIT_MS; i++) {
        call("DescribeTimeToLive", DESCRIBE);
        if (api_fixture_shows(&db, status))
            return;
        usleep(1000);
    }
    fail_msg("%s never came: %.*s", status, BYTES_FMT(db.response));
}

static void create_table(void)
{
    call("CreateTable", "{'TableName':'table','BillingMode':'PAY_PER_REQUEST',"
                        "'AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'}],"
                        "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}]}");
}

static void put_items(int first, int count)
{
    for (int i = first; i < first + count; i++) {
        char body[128];
        snprintf(body, sizeof body, "{'TableName':'table','Item':{'p':{'S':'%d'},'t':{'%s':'%d'}}}",
                 i, i % 5 == 0 ? "S" : "N", 1700000000 + i % 100);
        call("PutItem", body);
    }
}

static struct table *hold(void)
{
    struct table *table = catalogue_find(api_catalogue(db.api), BYTES("table"));
    assert_non_null(table);
    return table;
}

static void fail_on_problem(void *context, const char *line)
{
    (void)context;
    fail_msg("%s", line);
}

static void assert_whole(void)
{
    check_store(db.engine, fail_on_problem, NULL);
}

static int set_up(void **state)
{
    (void)state;
    api_fixture_open(&db, 0);
    create_table();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_whole();
    api_fixture_close(&db);
    return 0;
}

/* --- Answers and refusals --- */

static void answers_show_the_setting(void **state)
{
    (void)state;
    api_fixture_expect(&db, "DescribeTimeToLive", DESCRIBE, SHOWS("DISABLED", ""));
    api_fixture_expect(&db, "UpdateTimeToLive", SET("true", "t"),
                       "{'TimeToLiveSpecification':{'Enabled':true,'AttributeName':'t'}}");
    wait_for("ENABLED");
    api_fixture_expect(&db, "DescribeTimeToLive", DESCRIBE,
                       SHOWS("ENABLED", ",'AttributeName':'t'"));
    api_fixture_expect(&db, "UpdateTimeToLive", SET("false", "t"),
                       "{'TimeToLiveSpecification':{'Enabled':false,'AttributeName':'t'}}");
    wait_for("DISABLED");
    api_fixture_expect(&db, "DescribeTimeToLive", DESCRIBE, SHOWS("DISABLED", ""));
    call("UpdateTimeToLive", SET("true", "another")); /* Now it may be another attribute. */
    wait_for("ENABLED");
}

static void requests_that_break_the_model_are_refused(void **state)
{
    (void)state;
    char body[512], message[512], name[257];
    refuse("{}", "The parameter 'TableName' is required but was not present in the request");
    refuse(DESCRIBE, "1 validation error detected: " ABSENT("timeToLiveSpecification"));
    refuse(TABLE("'TimeToLiveSpecification':{}"),
           "2 validation errors detected: " ABSENT(
               "timeToLiveSpecification.attributeName") "; " ABSENT("timeToLiveSpecification."
                                                                    "enabled"));
    refuse(SET("true", ""),
           "1 validation error detected: Value '' at 'timeToLiveSpecification.attributeName' "
           "failed to satisfy constraint: Member must have length greater than or equal to 1");
    memset(name, 'n', sizeof name);
    name[256] = '\0';
    snprintf(body, sizeof body, SET("true", "%s"), name);
    snprintf(message, sizeof message,
             "1 validation error detected: Value '%s' at 'timeToLiveSpecification.attributeName' "
             "failed to satisfy constraint: Member must have length less than or equal to 255",
             name);
    refuse(body, message);
    name[255] = '\0';
    snprintf(body, sizeof body, SET("true", "%s"), name);
    call("UpdateTimeToLive", body);
    wait_for("ENABLED");
}

static void tables_that_are_not_there_are_not_found(void **state)
{
    (void)state;
    static const char *const operations[] = { "DescribeTimeToLive", "UpdateTimeToLive" };
    for (size_t i = 0; i < COUNT_OF(operations); i++)
        api_fixture_expect_error(
            &db, operations[i],
            "{'TableName':'none','TimeToLiveSpecification':{'Enabled':true,'AttributeName':'t'}}",
            ERROR_RESOURCE_NOT_FOUND, "Requested resource not found: Table: none not found");
}

static void a_setting_that_is_in_force_is_not_set_again(void **state)
{
    (void)state;
    refuse(SET("false", "t"), "TimeToLive is already disabled");
    call("UpdateTimeToLive", SET("true", "t"));
    wait_for("ENABLED");
    refuse(SET("true", "t"), "TimeToLive is already enabled");
    refuse(SET("true", "u"),
           "TimeToLive is active on a different AttributeName: current AttributeName is t");
    refuse(SET("false", "u"),
           "TimeToLive is active on a different AttributeName: current AttributeName is t");
    call("UpdateTimeToLive", SET("false", "t"));
    wait_for("DISABLED");
    refuse(SET("false", "t"), "TimeToLive is already disabled");
}

static void a_table_in_transition_keeps_its_setting(void **state)
{
    (void)state;
    api_fixture_close(&db);
    api_fixture_open(&db, 3600 * 1000);
    create_table();
    api_fixture_expect_error(&db, "UpdateTimeToLive", SET("true", "t"), ERROR_RESOURCE_IN_USE,
                             "Attempt to change a resource which is still in use: Table table is "
                             "being created");
    api_fixture_expect_error(&db, "DescribeTimeToLive", DESCRIBE, ERROR_VALIDATION,
                             "Cannot describe time to live while table is in CREATING state: "
                             "Current table state is CREATING");
}

static void a_table_of_the_same_name_has_no_time_to_live(void **state)
{
    (void)state;
    call("UpdateTimeToLive", SET("true", "t"));
    wait_for("ENABLED");
    put_items(0, 10);
    call("DeleteTable", DESCRIBE);
    create_table();
    api_fixture_expect(&db, "DescribeTimeToLive", DESCRIBE, SHOWS("DISABLED", ""));
}

/* --- Steps --- */

static void a_change_waits_for_requests_of_older_versions(void **state)
{
    (void)state;
    static const char changed_twice[] =
        "Time to live has been modified multiple times within a fixed interval";
    put_items(0, 100);
    struct table *held = hold();
    call("UpdateTimeToLive", SET("true", "t"));
    put_items(50, 100); /* By the new version, which takes out and puts nothing in. */
    api_fixture_expect(&db, "DescribeTimeToLive", DESCRIBE,
                       SHOWS("ENABLING", ",'AttributeName':'t'"));
    refuse(SET("true", "t"), "TimeToLive is already enabled");
    refuse(SET("true", "u"),
           "TimeToLive is active on a different AttributeName: current AttributeName is t");
    refuse(SET("false", "t"), changed_twice);
    assert_whole();
    table_release(held);
    wait_for("ENABLED");
    put_items(100, 100);
    assert_whole();
    held = hold();
    call("UpdateTimeToLive", SET("false", "t"));
    put_items(0, 10);
    api_fixture_expect(&db, "DescribeTimeToLive", DESCRIBE,
                       SHOWS("DISABLING", ",'AttributeName':'t'"));
    refuse(SET("false", "t"), "TimeToLive is already disabled");
    refuse(SET("true", "t"), changed_twice);
    assert_whole();
    table_release(held);
    wait_for("DISABLED");
}

static void a_restart_goes_on_with_a_change(void **state)
{
    (void)state;
    put_items(0, 300);
    struct table *held = hold();
    call("UpdateTimeToLive", SET("true", "t"));
    table_release(held);
    api_fixture_restart(&db, 0); /* Wherever it was. */
    wait_for("ENABLED");
    assert_whole();
    held = hold();
    call("UpdateTimeToLive", SET("false", "t"));
    table_release(held);
    api_fixture_restart(&db, 0);
    wait_for("DISABLED");
}

static void a_table_that_is_deleted_meanwhile_takes_its_queue_along(void **state)
{
    (void)state;
    put_items(0, 100);
    struct table *held = hold();
    call("UpdateTimeToLive", SET("true", "t"));
    call("DeleteTable", DESCRIBE);
    table_release(held);
    create_table();
}

static void an_index_and_a_queue_are_filled_at_the_same_time(void **state)
{
    (void)state;
    put_items(0, 300);
    struct table *held = hold();
    call("UpdateTable", "{'TableName':'table','AttributeDefinitions':["
                        "{'AttributeName':'t','AttributeType':'N'}],"
                        "'GlobalSecondaryIndexUpdates':[{'Create':{'IndexName':'index',"
                        "'KeySchema':[{'AttributeName':'t','KeyType':'HASH'}],"
                        "'Projection':{'ProjectionType':'ALL'}}}]}");
    call("UpdateTimeToLive", SET("true", "t"));
    table_release(held);
    wait_for("ENABLED");
    for (int i = 0; i < WAIT_MS; i++) {
        call("DescribeTable", DESCRIBE);
        if (api_fixture_shows(&db, "'IndexStatus':'ACTIVE'"))
            return;
        usleep(1000);
    }
    fail_msg("the index is not filled: %.*s", BYTES_FMT(db.response));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(answers_show_the_setting),
        TEST(requests_that_break_the_model_are_refused),
        TEST(tables_that_are_not_there_are_not_found),
        TEST(a_setting_that_is_in_force_is_not_set_again),
        TEST(a_table_in_transition_keeps_its_setting),
        TEST(a_table_of_the_same_name_has_no_time_to_live),
        TEST(a_change_waits_for_requests_of_older_versions),
        TEST(a_restart_goes_on_with_a_change),
        TEST(a_table_that_is_deleted_meanwhile_takes_its_queue_along),
        TEST(an_index_and_a_queue_are_filled_at_the_same_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
