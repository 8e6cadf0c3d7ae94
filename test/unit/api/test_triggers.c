/* test_triggers.c -- AddTrigger, ListTriggers, RemoveTrigger: their answers and every message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "api_fixture.h"
#include "base/compiler.h"
#include "base/uuid.h"
#include "trigger/trigger_runner.h"
#include "trigger/triggers.h"

enum { TEXT_MAX = 1024 };

static struct api_fixture db;
/* Triggers are kept and not run: what a run does is the process tests' part. */
static const struct trigger_outside outside = { .dead_letter_dir = "unused" };

#define CREATE(name, more)                                                                         \
    "{'TableName':'" name "','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["             \
    "{'AttributeName':'p','AttributeType':'S'}],"                                                  \
    "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}]" more "}"
#define STREAM ",'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'NEW_IMAGE'}"
#define ADD(more) "{'TableName':'orders','Url':'http://127.0.0.1:9000/f'" more "}"

static int set_up(void **state)
{
    (void)state;
    api_fixture_open_with(&db, &(struct api_options){ .trigger_outside = &outside });
    assert_true(api_fixture_call(&db, "CreateTable", CREATE("orders", STREAM)));
    assert_true(api_fixture_call(&db, "CreateTable", CREATE("plain", "")));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&db);
    return 0;
}

/* The UUID in the last answer. */
static void copy_uuid(char out[UUID_TEXT_SIZE + 1])
{
    static const char name[] = "\"UUID\":\"";
    const char *found = memmem(db.response.data, db.response.len, name, sizeof name - 1);
    assert_non_null(found);
    snprintf(out, UUID_TEXT_SIZE + 1, "%s", found + sizeof name - 1);
}

static void remove_trigger(const char *uuid, bool found)
{
    char body[TEXT_MAX];
    snprintf(body, sizeof body, "{'UUID':'%s'}", uuid);
    assert_int_equal(api_fixture_call(&db, "RemoveTrigger", body), found);
}

static void a_trigger_has_lambdas_defaults(void **state)
{
    (void)state;
    assert_true(api_fixture_call(&db, "AddTrigger", ADD("")));
    assert_true(api_fixture_shows(
        &db, "'TableName':'orders','EventSourceArn':'arn:aws:dynamodb:eu-west-1:123456789012:table/"
             "orders/stream/2023-11-14T22:13:20.000','Url':'http://127.0.0.1:9000/f',"
             "'StartingPosition':'TRIM_HORIZON','BatchSize':100,'MaximumBatchingWindowInSeconds':0,"
             "'MaximumRetryAttempts':-1,'MaximumRecordAgeInSeconds':-1,"
             "'BisectBatchOnFunctionError':false,'TimeoutInSeconds':60,"
             "'CreationDateTime':1700000000,'State':'Enabled',"
             "'LastProcessingResult':'No records processed'}"));
}

static void what_was_asked_for_is_listed_even_after_a_restart(void **state)
{
    (void)state;
    char uuid[UUID_TEXT_SIZE + 1];
    assert_true(api_fixture_call(
        &db, "AddTrigger",
        ADD(",'StartingPosition':'LATEST','BatchSize':10000,'MaximumBatchingWindowInSeconds':300,"
            "'MaximumRetryAttempts':10000,'MaximumRecordAgeInSeconds':604800,"
            "'TimeoutInSeconds':900,'BisectBatchOnFunctionError':true,"
            "'FunctionResponseTypes':['ReportBatchItemFailures'],'DeadLetterFile':'d-1_x.jsonl',"
            "'FilterCriteria':{'Filters':[{'Pattern':'{\\\"a\\\":[1]}'},"
            "{'Pattern':'{\\\"b\\\":[2]}'}]}")));
    copy_uuid(uuid);
    for (int restarted = 0; restarted < 2; restarted++) {
        assert_true(api_fixture_call(&db, "ListTriggers", "{'TableName':'orders'}"));
        assert_true(api_fixture_shows(&db, uuid));
        assert_true(api_fixture_shows(
            &db, "'StartingPosition':'LATEST','BatchSize':10000,'MaximumBatchingWindowInSeconds':"
                 "300,'MaximumRetryAttempts':10000,'MaximumRecordAgeInSeconds':604800,"
                 "'BisectBatchOnFunctionError':true,'FunctionResponseTypes':["
                 "'ReportBatchItemFailures'],'TimeoutInSeconds':900,'DeadLetterFile':'d-1_x.jsonl',"
                 "'FilterCriteria':{'Filters':[{'Pattern':'{\\'a\\':[1]}'},"
                 "{'Pattern':'{\\'b\\':[2]}'}]}"));
        assert_true(api_fixture_shows(
            &db, "'Statistics':{'IteratorAgeMilliseconds':0,'RecordsDelivered':0,'RecordsGivenUp':"
                 "0,'DeadLetters':0,'RecordsLost':0,'Failures':0}"));
        api_fixture_expect(&db, "ListTriggers", "{'TableName':'plain'}", "{'Triggers':[]}");
        api_fixture_restart(&db, 1000);
    }
    remove_trigger(uuid, true);
    api_fixture_restart(&db, 1000);
    api_fixture_expect(&db, "ListTriggers", "{}", "{'Triggers':[]}");
    remove_trigger(uuid, false);
}

static const struct {
    const char *body;
    enum error_code code;
    const char *message;
} refusals[] = {
    { "{'TableName':'nope','Url':'http://h/'}", ERROR_RESOURCE_NOT_FOUND,
      "Requested resource not found: Table: nope not found" },
    { "{'TableName':'plain','Url':'http://h/'}", ERROR_VALIDATION,
      "Table plain has no stream to take records from: enable one first, with "
      "StreamSpecification of UpdateTable" },
    { "{'TableName':'orders','Url':'ftp://h/'}", ERROR_VALIDATION,
      "Invalid Url: it does not begin with http:// or https://" },
    { "{'TableName':'orders','Url':'h'}", ERROR_VALIDATION,
      "Invalid Url: it does not begin with http:// or https://" },
    { ADD(",'BatchSize':0"), ERROR_VALIDATION,
      "1 validation error detected: Value '0' at 'batchSize' failed to satisfy constraint: Member "
      "must have value greater than or equal to 1" },
    { ADD(",'BatchSize':10001"), ERROR_VALIDATION,
      "1 validation error detected: Value '10001' at 'batchSize' failed to satisfy constraint: "
      "Member must have value less than or equal to 10000" },
    { ADD(",'MaximumBatchingWindowInSeconds':301"), ERROR_VALIDATION,
      "1 validation error detected: Value '301' at 'maximumBatchingWindowInSeconds' failed to "
      "satisfy constraint: Member must have value less than or equal to 300" },
    { ADD(",'TimeoutInSeconds':901"), ERROR_VALIDATION,
      "1 validation error detected: Value '901' at 'timeoutInSeconds' failed to satisfy "
      "constraint: Member must have value less than or equal to 900" },
    { ADD(",'MaximumRetryAttempts':-2"), ERROR_VALIDATION,
      "1 validation error detected: Value '-2' at 'maximumRetryAttempts' failed to satisfy "
      "constraint: Member must have value greater than or equal to -1" },
    { ADD(",'MaximumRecordAgeInSeconds':604801"), ERROR_VALIDATION,
      "1 validation error detected: Value '604801' at 'maximumRecordAgeInSeconds' failed to "
      "satisfy constraint: Member must have value less than or equal to 604800" },
    { ADD(",'MaximumRecordAgeInSeconds':0"), ERROR_VALIDATION,
      "MaximumRecordAgeInSeconds is -1 or at least 1" },
    { ADD(",'DeadLetterFile':'../x'"), ERROR_VALIDATION,
      "DeadLetterFile is the name of a file, without a folder: 1 to 128 letters, digits, '.', '_' "
      "and '-', not beginning with '.'" },
    { ADD(",'FilterCriteria':{'Filters':[{'Pattern':'x'}]}"), ERROR_VALIDATION,
      "Invalid filter pattern: a field takes a list or an object" },
};

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refusals); i++)
        api_fixture_expect_error(&db, "AddTrigger", refusals[i].body, refusals[i].code,
                                 refusals[i].message);
    api_fixture_expect(&db, "ListTriggers", "{}", "{'Triggers':[]}");
    api_fixture_expect_error(&db, "RemoveTrigger", "{'UUID':'x'}", ERROR_RESOURCE_NOT_FOUND,
                             "Requested resource not found: Trigger: x not found");
}

static void a_server_in_memory_has_no_dead_letters(void **state)
{
    (void)state;
    struct api_fixture memory;
    api_fixture_open(&memory, 0);
    assert_true(api_fixture_call(&memory, "CreateTable", CREATE("orders", STREAM)));
    api_fixture_expect_error(&memory, "AddTrigger", ADD(",'DeadLetterFile':'x'"), ERROR_VALIDATION,
                             "DeadLetterFile: a server that keeps its data in memory has no folder "
                             "for it");
    api_fixture_close(&memory);
}

static void there_are_only_so_many(void **state)
{
    (void)state;
    for (int i = 0; i < TRIGGERS_MAX; i++)
        assert_true(api_fixture_call(&db, "AddTrigger", ADD("")));
    api_fixture_expect_error(&db, "AddTrigger", ADD(""), ERROR_LIMIT_EXCEEDED,
                             "There may be 64 triggers at most");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_trigger_has_lambdas_defaults, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_asked_for_is_listed_even_after_a_restart, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_makes_no_sense_is_refused, set_up, tear_down),
        cmocka_unit_test(a_server_in_memory_has_no_dead_letters),
        cmocka_unit_test_setup_teardown(there_are_only_so_many, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
