/* test_kinesis.c -- the operations of Kinesis destinations: shapes, texts, and the order of
 * checks. No Kinesis is there, so every destination ends ENABLE_FAILED. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>
#include "api_fixture.h"
#include "kinesis/destinations.h"

#define ARN "arn:aws:kinesis:eu-west-1:123456789012:stream/s"
#define INVALID_STATE "Table is not in a valid state to enable Kinesis Streaming Destination: "
#define ENABLE "EnableKinesisStreamingDestination"
#define DISABLE "DisableKinesisStreamingDestination"
#define UPDATE "UpdateKinesisStreamingDestination"
#define DESCRIBE "DescribeKinesisStreamingDestination"
#define MICRO "{'ApproximateCreationDateTimePrecision':'MICROSECOND'}"

enum { TRANSITION_MS = 3000, WAIT_MS = 20000 };

static struct api_fixture db;

static void create(void)
{
    assert_true(api_fixture_call(
        &db, "CreateTable",
        "{'TableName':'orders','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["
        "{'AttributeName':'p','AttributeType':'S'}],'KeySchema':[{'AttributeName':'p','KeyType':"
        "'HASH'}]}"));
}

static int set_up(void **state)
{
    (void)state;
    api_fixture_open(&db, 0);
    create();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&db);
    return 0;
}

static void a_request_is_checked_before_its_table_is_looked_for(void **state)
{
    (void)state;
    static const struct {
        const char *operation, *body, *message;
        enum error_code code;
    } cases[] = {
        { ENABLE, "{'TableName':'none','StreamArn':'short'}",
          "1 validation error detected: Value 'short' at 'streamArn' failed to satisfy constraint: "
          "Member must have length greater than or equal to 37",
          ERROR_VALIDATION },
        { ENABLE, "{'TableName':'none'}",
          "1 validation error detected: Value null at 'streamArn' failed to satisfy constraint: "
          "Member must not be null",
          ERROR_VALIDATION },
        { ENABLE, "{'TableName':'none','StreamArn':'" ARN "'}",
          "Requested resource not found: Table: none not found", ERROR_RESOURCE_NOT_FOUND },
        { DISABLE,
          "{'TableName':'none','StreamArn':'" ARN "','EnableKinesisStreamingConfiguration':" MICRO
          "}",
          "Stream cannot be disabled using EnableKinesisStreamingConfiguration parameters",
          ERROR_VALIDATION },
        { DISABLE, "{'TableName':'none','StreamArn':'" ARN "'}",
          "Requested resource not found: Table: none not found", ERROR_RESOURCE_NOT_FOUND },
        { UPDATE, "{'TableName':'none','StreamArn':'" ARN "'}",
          "Streaming destination cannot be updated with given parameters: "
          "UpdateKinesisStreamingConfiguration cannot be null or contain only null values",
          ERROR_VALIDATION },
        { UPDATE,
          "{'TableName':'none','StreamArn':'" ARN "','UpdateKinesisStreamingConfiguration':{}}",
          "Streaming destination cannot be updated with given parameters: "
          "UpdateKinesisStreamingConfiguration cannot be null or contain only null values",
          ERROR_VALIDATION },
        { DISABLE, "{'TableName':'orders','StreamArn':'" ARN "'}",
          INVALID_STATE "KinesisStreamingDestination must be ACTIVE to perform DISABLE operation.",
          ERROR_VALIDATION },
        { UPDATE,
          "{'TableName':'orders','StreamArn':'" ARN "','UpdateKinesisStreamingConfiguration':" MICRO
          "}",
          INVALID_STATE "No streaming destination with streamArn: " ARN
                        " is enabled for the table: orders",
          ERROR_VALIDATION },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        api_fixture_expect_error(&db, cases[i].operation, cases[i].body, cases[i].code,
                                 cases[i].message);
}

static void enabling_is_answered_before_anybody_looks_at_the_stream(void **state)
{
    (void)state;
    api_fixture_expect(
        &db, ENABLE, "{'TableName':'orders','StreamArn':'" ARN "'}",
        "{'TableName':'orders','StreamArn':'" ARN
        "','DestinationStatus':'ENABLING','EnableKinesisStreamingConfiguration':{}}");
    /* The control thread has taken its steps before the next call that runs on it. */
    assert_true(api_fixture_call(&db, "ListTriggers", "{}"));
    api_fixture_expect(&db, DESCRIBE, "{'TableName':'orders'}",
                       "{'TableName':'orders','KinesisDataStreamDestinations':[{'StreamArn':'" ARN
                       "','DestinationStatus':'ENABLE_FAILED','DestinationStatusDescription':"
                       "'User does not have a permission to use kinesis stream'}]}");
    api_fixture_expect_error(
        &db, UPDATE,
        "{'TableName':'orders','StreamArn':'" ARN "','UpdateKinesisStreamingConfiguration':" MICRO
        "}",
        ERROR_VALIDATION,
        INVALID_STATE "Kinesis streaming is not in ACTIVE state. Updates are only allowed in "
                      "ACTIVE state. TableName: orders, kdsArn: " ARN);
    /* It may be enabled again, which replaces the entry. */
    api_fixture_expect(&db, ENABLE,
                       "{'TableName':'orders','StreamArn':'" ARN
                       "','EnableKinesisStreamingConfiguration':" MICRO "}",
                       "{'TableName':'orders','StreamArn':'" ARN
                       "','DestinationStatus':'ENABLING','EnableKinesisStreamingConfiguration':"
                       "{'ApproximateCreationDateTimePrecision':'MICROSECOND'}}");
    assert_true(api_fixture_call(&db, "ListTriggers", "{}"));
    assert_true(api_fixture_call(&db, DESCRIBE, "{'TableName':'orders'}"));
    assert_true(api_fixture_shows(
        &db, "'TableName':'orders','KinesisDataStreamDestinations':[{'StreamArn':'" ARN
             "','DestinationStatus':'ENABLE_FAILED'"));
    assert_true(api_fixture_shows(&db, "'ApproximateCreationDateTimePrecision':'MICROSECOND'}]"));
}

static void ended_entries_pile_up_to_a_bound_and_go_with_their_table(void **state)
{
    (void)state;
    char body[256], wanted[128];
    for (int i = 0; i <= DESTINATIONS_PER_TABLE_MAX; i++) {
        snprintf(body, sizeof body, "{'TableName':'orders','StreamArn':'" ARN "%02d'}", i);
        assert_true(api_fixture_call(&db, ENABLE, body));
        assert_true(api_fixture_call(&db, "ListTriggers", "{}"));
    }
    assert_true(api_fixture_call(&db, DESCRIBE, "{'TableName':'orders'}"));
    size_t shown = 0;
    for (int i = 0; i <= DESTINATIONS_PER_TABLE_MAX; i++) {
        snprintf(wanted, sizeof wanted, "'StreamArn':'" ARN "%02d'", i);
        shown += api_fixture_shows(&db, wanted);
    }
    assert_int_equal(shown, DESTINATIONS_PER_TABLE_MAX);
    assert_true(api_fixture_shows(&db, "stream/s16'"));
    assert_true(api_fixture_call(&db, "DeleteTable", "{'TableName':'orders'}"));
    api_fixture_restart(&db, 1000);
    create();
    api_fixture_expect(&db, DESCRIBE, "{'TableName':'orders'}",
                       "{'TableName':'orders','KinesisDataStreamDestinations':[]}");
}

static void a_table_that_is_updating_may_get_a_destination(void **state)
{
    (void)state;
    api_fixture_close(&db);
    api_fixture_open(&db, TRANSITION_MS);
    create();
    api_fixture_restart(&db, TRANSITION_MS);
    for (int i = 0; i < WAIT_MS && !api_fixture_shows(&db, "'TableStatus':'ACTIVE'"); i++) {
        usleep(1000);
        assert_true(api_fixture_call(&db, "DescribeTable", "{'TableName':'orders'}"));
    }
    assert_true(
        api_fixture_call(&db, "UpdateTable",
                         "{'TableName':'orders','StreamSpecification':{'StreamEnabled':true,"
                         "'StreamViewType':'KEYS_ONLY'}}"));
    assert_true(api_fixture_call(&db, "DescribeTable", "{'TableName':'orders'}"));
    assert_true(api_fixture_shows(&db, "'TableStatus':'UPDATING'"));
    assert_true(api_fixture_call(&db, ENABLE, "{'TableName':'orders','StreamArn':'" ARN "'}"));
    assert_true(api_fixture_shows(&db, "'DestinationStatus':'ENABLING'"));
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        RULE(a_request_is_checked_before_its_table_is_looked_for),
        RULE(enabling_is_answered_before_anybody_looks_at_the_stream),
        RULE(ended_entries_pile_up_to_a_bound_and_go_with_their_table),
        RULE(a_table_that_is_updating_may_get_a_destination),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
