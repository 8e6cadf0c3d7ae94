/* Faults injected into requests: which exception each operation answers with, that what failed had
 * no effect and what was lost had one, and that none of it counts as if it were real. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "api_fixture.h"
#include "fault/faults.h"
#include "metric/meter.h"

#define CANCELLED "Transaction cancelled, please refer cancellation reasons for specific reasons "
#define ARN "arn:aws:dynamodb:eu-west-1:123456789012:table/"
#define CREATE                                                                                     \
    "'AttributeDefinitions':[{'AttributeName':'k','AttributeType':'S'},"                           \
    "{'AttributeName':'g','AttributeType':'S'}],"                                                  \
    "'KeySchema':[{'AttributeName':'k','KeyType':'HASH'}],"
static struct api_fixture db;

static void must(const char *operation, const char *body)
{
    if (!api_fixture_call(&db, operation, body))
        fail_msg("%s: %.*s", body, (int)db.error.message.len, db.error.message.data);
}

/* Tables Tab, provisioned, and Dem, on demand, both with the item a and an index Ind. */
static int set_up(void **state)
{
    (void)state;
    static struct clock clock;
    db = (struct api_fixture){ 0 };
    clock = clock_fixed(1700000000000);
    api_fixture_open_with(&db, &(struct api_options){ .faults = faults_create(&clock) });
    must("CreateTable",
         "{'TableName':'Tab'," CREATE
         "'ProvisionedThroughput':{'ReadCapacityUnits':9,'WriteCapacityUnits':9},"
         "'GlobalSecondaryIndexes':[{'IndexName':'Ind','KeySchema':[{'AttributeName':'g',"
         "'KeyType':'HASH'}],'Projection':{'ProjectionType':'KEYS_ONLY'},"
         "'ProvisionedThroughput':{'ReadCapacityUnits':9,'WriteCapacityUnits':9}}]}");
    must("CreateTable",
         "{'TableName':'Dem'," CREATE "'BillingMode':'PAY_PER_REQUEST',"
         "'GlobalSecondaryIndexes':[{'IndexName':'Ind','KeySchema':[{'AttributeName':'g',"
         "'KeyType':'HASH'}],'Projection':{'ProjectionType':'KEYS_ONLY'}}]}");
    must("PutItem", "{'TableName':'Tab','Item':{'k':{'S':'a'},'g':{'S':'x'}}}");
    must("PutItem", "{'TableName':'Dem','Item':{'k':{'S':'a'},'g':{'S':'x'}}}");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    struct faults *faults = db.options.faults;
    api_fixture_close(&db);
    faults_destroy(faults);
    return 0;
}

/* A fault with the seed 1; `more` begins with a comma. Removes those before it. */
static void inject(const char *table, const char *fault, const char *more)
{
    static unsigned number;
    char body[500];
    snprintf(body, sizeof body, "{'FaultId':'%u'}", number);
    api_fixture_call(&db, "RemoveFault", body);
    snprintf(body, sizeof body, "{'TableName':'%s','Fault':'%s','Seed':1%s}", table, fault, more);
    must("AddFault", body);
    assert_int_equal(sscanf((const char *)db.response.data, "{\"FaultId\":\"%u\"", &number), 1);
}

static bool has_item(const char *table, const char *key)
{
    char body[200];
    struct fault_reading list[FAULTS_MAX];
    size_t count = faults_read(db.options.faults, db.arena, list);
    snprintf(body, sizeof body, "{'TableName':'%s','Key':{'k':{'S':'%s'}},'ConsistentRead':true}",
             table, key);
    if (!api_fixture_call(&db, "GetItem", body))
        fail_msg("reads have %zu faults", count);
    return api_fixture_shows(&db, "Item");
}

#define GET "{'TableName':'Tab','Key':{'k':{'S':'a'}}}"
#define PUT "{'TableName':'Tab','Item':{'k':{'S':'b'}}}"
#define BATCH                                                                                      \
    "{'RequestItems':{'Tab':[{'PutRequest':{'Item':{'k':{'S':'b'}}}},"                             \
    "{'PutRequest':{'Item':{'k':{'S':'c'}}}}]}}"
#define TRANSACTION                                                                                \
    "{'TransactItems':[{'Put':{'TableName':'Tab','Item':{'k':{'S':'b'}}}},"                        \
    "{'Put':{'TableName':'Dem','Item':{'k':{'S':'c'}}}}]}"

/* Each on the table Tab alone. */
static const char *const calls[][2] = {
    { "GetItem", GET },
    { "PutItem", PUT },
    { "UpdateItem", "{'TableName':'Tab','Key':{'k':{'S':'b'}}}" },
    { "DeleteItem", "{'TableName':'Tab','Key':{'k':{'S':'a'}}}" },
    { "Query", "{'TableName':'Tab','KeyConditionExpression':'k = :k',"
               "'ExpressionAttributeValues':{':k':{'S':'a'}}}" },
    { "Scan", "{'TableName':'Tab'}" },
    { "Scan", "{'TableName':'Tab','IndexName':'Ind'}" },
    { "BatchGetItem", "{'RequestItems':{'Tab':{'Keys':[{'k':{'S':'a'}},{'k':{'S':'b'}}]}}}" },
    { "BatchWriteItem", BATCH },
    { "TransactGetItems", "{'TransactItems':[{'Get':" GET "}]}" },
    { "TransactWriteItems", "{'TransactItems':[{'Put':" PUT "}]}" },
    { "ExecuteStatement", "{'Statement':'SELECT * FROM Tab WHERE k=~a~'}" },
    { "ExecuteStatement", "{'Statement':'INSERT INTO Tab VALUE {~k~:~b~}'}" },
    { "ExecuteTransaction", "{'TransactStatements':[{'Statement':'INSERT INTO Tab VALUE "
                            "{~k~:~b~}'}]}" },
};
enum { CALLS = sizeof calls / sizeof *calls };

static bool run_call(size_t index)
{
    char body[500];
    snprintf(body, sizeof body, "%s", calls[index][1]);
    for (char *c = body; *c != '\0'; c++) {
        if (*c == '\'')
            *c = '"';
        else if (*c == '~')
            *c = '\'';
    }
    /* The fixture writes " for ', so what was " is written by an escape. */
    char escaped[1000], *out = escaped;
    for (const char *c = body; *c != '\0'; c++) {
        if (*c == '"')
            *out++ = '\'';
        else if (*c == '\'')
            out += sprintf(out, "\\u0027");
        else
            *out++ = *c;
    }
    *out = '\0';
    return api_fixture_call(&db, calls[index][0], escaped);
}

static void expect_unchanged(void)
{
    inject("Tab", "Delay", ",'DelayMilliseconds':1,'Operations':['Scan']");
    assert_true(has_item("Tab", "a"));
    assert_false(has_item("Tab", "b"));
    assert_false(has_item("Tab", "c"));
}

static void every_operation_is_throttled(void **state)
{
    (void)state;
    inject("Tab", "Throttle", "");
    for (size_t i = 0; i < CALLS; i++) {
        assert_false(run_call(i));
        assert_int_equal(db.error.code, ERROR_PROVISIONED_THROUGHPUT_EXCEEDED);
        assert_non_null(db.error.throttling_json.data);
    }
    expect_unchanged();
}

static void every_operation_fails_internally(void **state)
{
    (void)state;
    inject("Tab", "InternalServerError", "");
    for (size_t i = 0; i < CALLS; i++) {
        assert_false(run_call(i));
        assert_int_equal(db.error.code, ERROR_INTERNAL);
        assert_null(db.error.throttling_json.data);
    }
    expect_unchanged();
}

static void a_cut_request_has_no_effect(void **state)
{
    (void)state;
    inject("Tab", "CutConnection", "");
    for (size_t i = 0; i < CALLS; i++) {
        assert_false(run_call(i));
        assert_true(db.is_cut);
    }
    expect_unchanged();
    assert_false(db.is_cut);
}

static void a_lost_answer_is_of_a_request_that_was_done(void **state)
{
    (void)state;
    for (size_t i = 0; i < CALLS; i++) {
        inject("Tab", "LoseAnswer", "");
        assert_true(run_call(i));
        assert_true(db.is_cut);
        inject("Tab", "Delay", ",'DelayMilliseconds':1,'Operations':['Query']");
        must("DeleteItem", "{'TableName':'Tab','Key':{'k':{'S':'b'}}}");
    }
    inject("Tab", "LoseAnswer", ",'Operations':['PutItem']");
    must("PutItem", PUT);
    assert_true(has_item("Tab", "b"));
}

static void delays_are_for_the_answer(void **state)
{
    (void)state;
    inject("Tab", "Delay", ",'DelayMilliseconds':250,'Operations':['PutItem']");
    must("PutItem", PUT);
    assert_int_equal(db.delay_ms, 250);
    assert_true(has_item("Tab", "b"));
    assert_int_equal(db.delay_ms, 0);
}

static void the_reason_is_chosen(void **state)
{
    (void)state;
    static const struct {
        const char *table, *more;
        enum error_code code;
        const char *reason;
    } cases[] = {
        { "Tab", "", ERROR_PROVISIONED_THROUGHPUT_EXCEEDED,
          "\"TableWriteProvisionedThroughputExceeded\",\"resource\":\"" ARN "Tab\"" },
        { "Dem", "", ERROR_THROTTLING, "\"TableWriteKeyRangeThroughputExceeded\"" },
        { "Tab", ",'Reason':'KeyRangeThroughputExceeded'", ERROR_PROVISIONED_THROUGHPUT_EXCEEDED,
          "\"TableWriteKeyRangeThroughputExceeded\"" },
        { "Dem", ",'Reason':'ProvisionedThroughputExceeded'", ERROR_PROVISIONED_THROUGHPUT_EXCEEDED,
          "\"TableWriteProvisionedThroughputExceeded\"" },
        { "Dem", ",'Reason':'MaxOnDemandThroughputExceeded'", ERROR_THROTTLING,
          "\"TableWriteMaxOnDemandThroughputExceeded\"" },
        { "Dem", ",'Reason':'AccountLimitExceeded'", ERROR_REQUEST_LIMIT_EXCEEDED,
          "\"TableWriteAccountLimitExceeded\"" },
        { "Tab", ",'IndexName':'Ind'", ERROR_PROVISIONED_THROUGHPUT_EXCEEDED,
          "\"IndexWriteProvisionedThroughputExceeded\",\"resource\":\"" ARN "Tab/index/Ind\"" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[200];
        inject(cases[i].table, "Throttle", cases[i].more);
        snprintf(body, sizeof body, "{'TableName':'%s','Item':{'k':{'S':'b'},'g':{'S':'x'}}}",
                 cases[i].table);
        assert_false(api_fixture_call(&db, "PutItem", body));
        assert_int_equal(db.error.code, cases[i].code);
        assert_non_null(memmem(db.error.throttling_json.data, db.error.throttling_json.len,
                               cases[i].reason, strlen(cases[i].reason)));
    }
    must("PutItem", PUT); /* It has no entry in the index that is throttled. */
}

static void items_of_a_batch_are_hit_one_by_one(void **state)
{
    (void)state;
    inject("Tab", "Throttle", ",'MaxCount':1");
    must("BatchWriteItem", BATCH);
    assert_true(api_fixture_shows(
        &db, "{'UnprocessedItems':{'Tab':[{'PutRequest':{'Item':{'k':{'S':'b'}}}}]}}"));
    assert_false(has_item("Tab", "b"));
    assert_true(has_item("Tab", "c"));
    inject("Tab", "InternalServerError", ",'MaxCount':1");
    must("BatchGetItem", "{'RequestItems':{'Tab':{'Keys':[{'k':{'S':'a'}},{'k':{'S':'c'}}]}}}");
    assert_true(api_fixture_shows(&db, "'Responses':{'Tab':[{'k':{'S':'c'}}]}"));
    assert_true(api_fixture_shows(&db, "'UnprocessedKeys':{'Tab':{'Keys':[{'k':{'S':'a'}}]}}"));
}

static void statements_of_a_batch_are_hit_one_by_one(void **state)
{
    (void)state;
    static const struct {
        const char *fault, *code;
    } cases[] = { { "Throttle", "ProvisionedThroughputExceeded" },
                  { "InternalServerError", "InternalServerError" },
                  { "TransactionConflict", "TransactionConflict" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        inject("Tab", cases[i].fault, ",'MaxCount':1");
        must("BatchExecuteStatement", "{'Statements':[{'Statement':'INSERT INTO Tab VALUE "
                                      "{\\u0027k\\u0027:\\u0027b\\u0027}'},"
                                      "{'Statement':'DELETE FROM Tab WHERE k=\\u0027z\\u0027'}]}");
        snprintf(text, sizeof text, "{'Responses':[{'Error':{'Code':'%s',", cases[i].code);
        assert_true(api_fixture_shows(&db, text));
        assert_false(has_item("Tab", "b"));
    }
}

static void a_transaction_is_cancelled_for_the_action_that_was_hit(void **state)
{
    (void)state;
    inject("Tab", "Throttle", ",'MaxCount':1");
    api_fixture_expect_error(&db, "TransactWriteItems", TRANSACTION, ERROR_TRANSACTION_CANCELED,
                             CANCELLED "[ProvisionedThroughputExceeded, None]");
    inject("Tab", "TransactionConflict", "");
    api_fixture_expect_error(&db, "TransactWriteItems", TRANSACTION, ERROR_TRANSACTION_CANCELED,
                             CANCELLED "[TransactionConflict, None]");
    inject("Dem", "InternalServerError", "");
    api_fixture_expect_error(&db, "TransactWriteItems", TRANSACTION, ERROR_INTERNAL,
                             "Internal server error");
    inject("Dem", "TransactionConflict", "");
    api_fixture_expect_error(&db, "TransactGetItems",
                             "{'TransactItems':[{'Get':" GET
                             "},{'Get':{'TableName':'Dem','Key':{'k':{'S':'a'}}}}]}",
                             ERROR_TRANSACTION_CANCELED, CANCELLED "[None, TransactionConflict]");
    assert_false(has_item("Tab", "b"));
    inject("Dem", "Throttle", ",'MaxCount':1,'Operations':['Scan']");
    must("TransactWriteItems", TRANSACTION);
}

static void single_writes_meet_conflicts(void **state)
{
    (void)state;
    inject("Tab", "TransactionConflict", "");
    api_fixture_expect_error(&db, "PutItem", PUT, ERROR_TRANSACTION_CONFLICT,
                             "Transaction is ongoing for the item");
    assert_true(has_item("Tab", "a")); /* Single reads never do. */
}

static void only_writes_with_a_condition_fail_by_it(void **state)
{
    (void)state;
    inject("Tab", "ConditionalCheckFailed", ",'MaxCount':3");
    must("PutItem", PUT);
    for (int i = 0; i < 2; i++)
        api_fixture_expect_error(&db, "PutItem",
                                 "{'TableName':'Tab','Item':{'k':{'S':'c'}},"
                                 "'ConditionExpression':'attribute_not_exists(k)'}",
                                 ERROR_CONDITIONAL_CHECK_FAILED, "The conditional request failed");
    api_fixture_expect_error(&db, "TransactWriteItems",
                             "{'TransactItems':[{'Put':{'TableName':'Tab','Item':{'k':{'S':'c'}},"
                             "'ConditionExpression':'attribute_not_exists(k)'}}]}",
                             ERROR_TRANSACTION_CANCELED, CANCELLED "[ConditionalCheckFailed]");
    assert_false(has_item("Tab", "c"));
    must("PutItem", "{'TableName':'Tab','Item':{'k':{'S':'c'}},"
                    "'ConditionExpression':'attribute_not_exists(k)'}");
}

struct counted {
    uint64_t failures, throttles, conditions;
};

static void count_table(void *context, const struct meter_table_reading *table)
{
    struct counted *counted = context;
    if (!bytes_equal_text(table->name, "Tab"))
        return;
    counted->conditions += table->condition_failures;
    for (size_t i = 0; i < METER_REASONS; i++)
        counted->throttles += table->units[METER_WRITE].throttles[i];
    for (size_t i = 0; i < meter_operation_count(api_meter(db.api)); i++) {
        for (size_t e = ERROR_NONE + 1; e < ERROR_CODE_COUNT; e++)
            counted->failures += table->operations[i].calls[e];
    }
}

static void injected_failures_count_apart(void **state)
{
    (void)state;
    struct counted counted = { 0 };
    inject("Tab", "Throttle", "");
    assert_false(api_fixture_call(&db, "PutItem", PUT));
    inject("Tab", "ConditionalCheckFailed", "");
    assert_false(api_fixture_call(&db, "PutItem",
                                  "{'TableName':'Tab','Item':{'k':{'S':'c'}},"
                                  "'ConditionExpression':'attribute_not_exists(k)'}"));
    meter_read(api_meter(db.api), 0, count_table, &counted);
    assert_int_equal(counted.failures + counted.throttles + counted.conditions, 0);
    assert_int_equal(faults_total(db.options.faults, FAULT_THROTTLE), 1);
    assert_int_equal(faults_total(db.options.faults, FAULT_CONDITION_FAILED), 1);
    /* A real one counts as ever. */
    assert_false(api_fixture_call(&db, "PutItem",
                                  "{'TableName':'Tab','Item':{'k':{'S':'a'}},"
                                  "'ConditionExpression':'attribute_exists(zz)'}"));
    meter_read(api_meter(db.api), 0, count_table, &counted);
    assert_int_equal(counted.conditions, 1);
}

static void the_rules_of_the_request_hold(void **state)
{
    (void)state;
    static const struct {
        const char *more, *message;
    } cases[] = {
        { "'Fault':'Throttle','Percent':0", "Percent is above 0 and at most 100" },
        { "'Fault':'Throttle','Percent':100.1", "Percent is above 0 and at most 100" },
        { "'Fault':'Delay'", "DelayMilliseconds is for the fault Delay, which needs it" },
        { "'Fault':'Throttle','DelayMilliseconds':5",
          "DelayMilliseconds is for the fault Delay, which needs it" },
        { "'Fault':'Throttle','JitterMilliseconds':5",
          "JitterMilliseconds is for the fault Delay" },
        { "'Fault':'LoseAnswer','IndexName':'Ind'",
          "Reason and IndexName are for the fault Throttle" },
        { "'Fault':'LoseAnswer','Reason':'AccountLimitExceeded'",
          "Reason and IndexName are for the fault Throttle" },
        { "'Fault':'TransactionConflict','Operations':['GetItem']",
          "GetItem never fails with TransactionConflict" },
        { "'Fault':'ConditionalCheckFailed','Operations':['PutItem','BatchWriteItem']",
          "BatchWriteItem never fails with ConditionalCheckFailed" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[200];
        snprintf(body, sizeof body, "{'TableName':'Tab',%s}", cases[i].more);
        api_fixture_expect_error(&db, "AddFault", body, ERROR_VALIDATION, cases[i].message);
    }
    api_fixture_expect_error(&db, "AddFault", "{'TableName':'Absent','Fault':'Throttle'}",
                             ERROR_RESOURCE_NOT_FOUND, "Requested resource not found");
    api_fixture_expect_error(&db, "AddFault",
                             "{'TableName':'Tab','Fault':'Throttle','IndexName':'Nix'}",
                             ERROR_RESOURCE_NOT_FOUND,
                             "Requested resource not found: Index: Nix not found for table: Tab");
    api_fixture_expect_error(&db, "RemoveFault", "{'FaultId':'077'}", ERROR_RESOURCE_NOT_FOUND,
                             "Requested resource not found: Fault: 077 not found");
}

static void faults_are_listed_with_what_they_did(void **state)
{
    (void)state;
    inject("Dem", "Throttle", ",'MaxCount':1,'Operations':['PutItem'],'DurationSeconds':60");
    assert_false(api_fixture_call(&db, "PutItem", "{'TableName':'Dem','Item':{'k':{'S':'z'}}}"));
    must("ListFaults", "{'TableName':'Dem'}");
    assert_true(api_fixture_shows(&db, "'TableName':'Dem','Operations':['PutItem'],"
                                       "'Fault':'Throttle','Percent':100.0,'MaxCount':1,'Seed':1,"
                                       "'EndTime':1700000060"));
    assert_true(api_fixture_shows(&db, "'State':'ENDED','Requests':1,'Injected':1}"));
    must("ListFaults", "{'TableName':'Tab'}");
    assert_false(api_fixture_shows(&db, "Dem"));
}

static void without_the_setting_nothing_is_injected(void **state)
{
    (void)state;
    static const char text[] =
        "Fault injection is off. Start the server with fault-injection = true to allow it";
    struct api_fixture off;
    api_fixture_open(&off, 0);
    api_fixture_expect_error(&off, "AddFault", "{'TableName':'Tab','Fault':'Throttle'}",
                             ERROR_VALIDATION, text);
    api_fixture_expect_error(&off, "ListFaults", "{}", ERROR_VALIDATION, text);
    api_fixture_expect_error(&off, "RemoveFault", "{'FaultId':'1'}", ERROR_VALIDATION, text);
    api_fixture_close(&off);
}

static void enable_insights(void)
{
    must("UpdateContributorInsights", "{'TableName':'Tab','ContributorInsightsAction':'ENABLE'}");
    for (int i = 0; i < 60000; i++) {
        must("DescribeContributorInsights", "{'TableName':'Tab'}");
        if (api_fixture_shows(&db, "'ENABLED'"))
            return;
        usleep(1000);
    }
    fail_msg("insights were never enabled");
}

/* What a fault has refused was no use of a key. */
static void contributor_insights_do_not_count_what_a_fault_refused(void **state)
{
    static const char put[] = "{'TableName':'Tab','Item':{'k':{'S':'a'}},"
                              "'ConditionExpression':'attribute_exists(k)'}";
    (void)state;
    enable_insights();
    inject("Tab", "ConditionalCheckFailed", ",'MaxCount':3");
    for (int i = 0; i < 3; i++)
        assert_false(api_fixture_call(&db, "PutItem", put));
    must("GetHotKeys", "{'TableName':'Tab'}");
    assert_true(api_fixture_shows(&db, "'Total':0.0"));
    must("PutItem", put);
    must("GetHotKeys", "{'TableName':'Tab'}");
    assert_true(api_fixture_shows(&db, "'Total':3.0")); /* A write counts threefold. */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(every_operation_is_throttled),
        TEST(every_operation_fails_internally),
        TEST(a_cut_request_has_no_effect),
        TEST(a_lost_answer_is_of_a_request_that_was_done),
        TEST(delays_are_for_the_answer),
        TEST(the_reason_is_chosen),
        TEST(items_of_a_batch_are_hit_one_by_one),
        TEST(statements_of_a_batch_are_hit_one_by_one),
        TEST(a_transaction_is_cancelled_for_the_action_that_was_hit),
        TEST(single_writes_meet_conflicts),
        TEST(only_writes_with_a_condition_fail_by_it),
        TEST(injected_failures_count_apart),
        TEST(the_rules_of_the_request_hold),
        TEST(contributor_insights_do_not_count_what_a_fault_refused),
        TEST(faults_are_listed_with_what_they_did),
        cmocka_unit_test(without_the_setting_nothing_is_injected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
