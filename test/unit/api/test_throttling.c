/* Refusals of tables whose throughput is enforced: which exception each operation answers with, its
 * whole text and its reasons, and that what was refused had no effect. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "api_fixture.h"
#include "metric/meter.h"

#define TABLE_TEXT                                                                                 \
    "The level of configured provisioned throughput for the table was exceeded. Consider "         \
    "increasing your provisioning level with the UpdateTable API."
#define INDEX_TEXT                                                                                 \
    "The level of configured provisioned throughput for one or more global secondary indexes of "  \
    "the table was exceeded. Consider increasing your provisioning level for the "                 \
    "under-provisioned global secondary indexes with the UpdateTable API"
#define SCALING_TEXT                                                                               \
    "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically "   \
    "scaling your table or index so please try again shortly. If exceptions persist, check if "    \
    "you have a hot key: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"        \
    "bp-partition-key-design.html"
#define INDEX_SCALING_TEXT                                                                         \
    "Throughput exceeds the current capacity for one or more global secondary indexes. DynamoDB "  \
    "is automatically scaling your index so please try again shortly."
#define MAX_TEXT "Throughput exceeds the maximum OnDemandThroughput configured on table or index"
#define ACCOUNT_TEXT                                                                               \
    "Throughput exceeds the current throughput limit for your account. To request a limit "        \
    "increase, contact AWS Support at https://aws.amazon.com/support."
#define ARN "arn:aws:dynamodb:eu-west-1:123456789012:table/"
#define CANCELLED "Transaction cancelled, please refer cancellation reasons for specific reasons "

static void open_enforced(struct api_fixture *fixture)
{
    api_fixture_open_with(fixture, &(struct api_options){ .capacity = CAPACITY_ENFORCE });
}

#define KEYS                                                                                       \
    "'AttributeDefinitions':[{'AttributeName':'k','AttributeType':'S'},"                           \
    "{'AttributeName':'g','AttributeType':'S'}],"                                                  \
    "'KeySchema':[{'AttributeName':'k','KeyType':'HASH'}],"
#define ONLY_KEYS                                                                                  \
    "'AttributeDefinitions':[{'AttributeName':'k','AttributeType':'S'}],"                          \
    "'KeySchema':[{'AttributeName':'k','KeyType':'HASH'}],"
#define UNITS(r, w)                                                                                \
    "'ProvisionedThroughput':{'ReadCapacityUnits':" #r ",'WriteCapacityUnits':" #w "}"

static void must(struct api_fixture *fixture, const char *operation, const char *body)
{
    if (!api_fixture_call(fixture, operation, body))
        fail_msg("%s: %.*s", body, (int)fixture->error.message.len, fixture->error.message.data);
}

/* Table Tab with 1 read and 1 write unit: 300 of each at once. */
static void create_small(struct api_fixture *fixture)
{
    must(fixture, "CreateTable", "{'TableName':'Tab'," ONLY_KEYS UNITS(1, 1) "}");
}

/* Table Gab with plenty, whose index Ind has 1 of each. */
static void create_small_index(struct api_fixture *fixture)
{
    must(fixture, "CreateTable",
         "{'TableName':'Gab'," KEYS UNITS(
             1000, 1000) ",'GlobalSecondaryIndexes':[{'IndexName':'Ind',"
                         "'KeySchema':[{'AttributeName':'g','KeyType':'HASH'}],"
                         "'Projection':{'ProjectionType':'KEYS_ONLY'}," UNITS(1, 1) "}]}");
}

/* A put of this many units to the table and, if it has a `g`, some to its indexes. */
static void put_units(struct api_fixture *fixture, const char *table, const char *key,
                      const char *more, int units)
{
    char body[450000];
    int size = snprintf(body, sizeof body, "{'TableName':'%s','Item':{'k':{'S':'%s'}%s,'v':{'S':'",
                        table, key, more);
    int padding = units * 1024 - 100;
    memset(body + size, 'x', (size_t)padding);
    strcpy(body + size + padding, "'}}}");
    must(fixture, "PutItem", body);
}

/* Uses up the 300 write units of Tab, and more. */
static void drain_writes(struct api_fixture *fixture)
{
    put_units(fixture, "Tab", "big", "", 350);
}

/* And its 300 read units: a strongly consistent read of 350 KB costs 88. */
static void drain_reads(struct api_fixture *fixture)
{
    for (int i = 0; i < 4; i++)
        must(fixture, "GetItem",
             "{'TableName':'Tab','Key':{'k':{'S':'big'}},'ConsistentRead':true}");
}

static void expect_reasons(struct api_fixture *fixture, const char *json)
{
    char want[2000], got[2000];
    snprintf(want, sizeof want, "%s", json);
    snprintf(got, sizeof got, "%.*s", (int)fixture->error.throttling_json.len,
             fixture->error.throttling_json.data);
    for (char *c = got; *c != 0; c++)
        *c = *c == '"' ? '\'' : *c;
    assert_string_equal(got, want);
}

static void expect_refused(struct api_fixture *fixture, const char *operation, const char *body,
                           enum error_code code, const char *text, const char *reasons)
{
    api_fixture_expect_error(fixture, operation, body, code, text);
    expect_reasons(fixture, reasons);
}

static void expect_provisioned(struct api_fixture *fixture, const char *operation, const char *body,
                               const char *reason)
{
    char reasons[300];
    snprintf(reasons, sizeof reasons, "[{'reason':'%s','resource':'" ARN "Tab'}]", reason);
    expect_refused(fixture, operation, body, ERROR_PROVISIONED_THROUGHPUT_EXCEEDED, TABLE_TEXT,
                   reasons);
}

#define KEY "{'TableName':'Tab','Key':{'k':{'S':'a'}}"
#define READ_REASON "TableReadProvisionedThroughputExceeded"
#define WRITE_REASON "TableWriteProvisionedThroughputExceeded"

static const char *const writes[][2] = {
    { "PutItem", "{'TableName':'Tab','Item':{'k':{'S':'a'}}}" },
    { "UpdateItem", KEY ",'UpdateExpression':'SET v = :v',"
                        "'ExpressionAttributeValues':{':v':{'N':'1'}}}" },
    { "DeleteItem", KEY "}" },
    { "PutItem", "{'TableName':'Tab','Item':{'k':{'S':'a'}},"
                 "'ConditionExpression':'attribute_exists(k)'}" },
    { "BatchWriteItem", "{'RequestItems':{'Tab':[{'PutRequest':{'Item':{'k':{'S':'a'}}}},"
                        "{'DeleteRequest':{'Key':{'k':{'S':'b'}}}}]}}" },
    { "TransactWriteItems", "{'TransactItems':[{'Put':{'TableName':'Tab','Item':{'k':{'S':'a'}}}},"
                            "{'Delete':{'TableName':'Tab','Key':{'k':{'S':'b'}}}}]}" },
    { "ExecuteStatement", "{'Statement':'DELETE FROM Tab WHERE k = ?',"
                          "'Parameters':[{'S':'a'}]}" },
    { "ExecuteTransaction", "{'TransactStatements':[{'Statement':'DELETE FROM Tab WHERE k = ?',"
                            "'Parameters':[{'S':'a'}]}]}" },
};

static void every_write_is_refused_with_the_reason(void **state)
{
    (void)state;
    struct api_fixture fixture;
    open_enforced(&fixture);
    create_small(&fixture);
    drain_writes(&fixture);
    for (size_t i = 0; i < sizeof writes / sizeof writes[0]; i++)
        expect_provisioned(&fixture, writes[i][0], writes[i][1], WRITE_REASON);
    must(&fixture, "Scan", "{'TableName':'Tab','Select':'COUNT'}");
    assert_true(api_fixture_shows(&fixture, "'Count':1,"));
    fixture.clock.fixed_ms += 50001; /* 50 units of debt. */
    must(&fixture, writes[0][0], writes[0][1]);
    api_fixture_close(&fixture);
}

static void every_read_is_refused_with_the_reason(void **state)
{
    (void)state;
    static const char *const reads[][2] = {
        { "GetItem", KEY "}" },
        { "Query", "{'TableName':'Tab','KeyConditionExpression':'k = :k',"
                   "'ExpressionAttributeValues':{':k':{'S':'a'}}}" },
        { "Scan", "{'TableName':'Tab'}" },
        { "BatchGetItem", "{'RequestItems':{'Tab':{'Keys':[{'k':{'S':'a'}},{'k':{'S':'b'}}]}}}" },
        { "TransactGetItems", "{'TransactItems':[{'Get':" KEY "}}]}" },
        { "ExecuteStatement", "{'Statement':'SELECT * FROM Tab'}" },
        { "ExecuteTransaction", "{'TransactStatements':[{'Statement':"
                                "'SELECT * FROM Tab WHERE k = ?','Parameters':[{'S':'a'}]}]}" },
    };
    struct api_fixture fixture;
    open_enforced(&fixture);
    create_small(&fixture);
    drain_writes(&fixture);
    drain_reads(&fixture);
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++)
        expect_provisioned(&fixture, reads[i][0], reads[i][1], READ_REASON);
    api_fixture_close(&fixture);
}

static void faults_are_reported_before_throughput(void **state)
{
    (void)state;
    struct api_fixture fixture;
    open_enforced(&fixture);
    create_small(&fixture);
    drain_writes(&fixture);
    drain_reads(&fixture);
    api_fixture_expect_error(&fixture, "GetItem", "{'TableName':'Tab','Key':{'x':{'S':'a'}}}",
                             ERROR_VALIDATION,
                             "The provided key element does not match the schema");
    api_fixture_close(&fixture);
}

static void a_tag_of_the_table_decides(void **state)
{
    (void)state;
    struct api_fixture fixture;
    api_fixture_open(&fixture, 0);
    create_small(&fixture);
    drain_writes(&fixture);
    drain_writes(&fixture); /* Nothing is enforced. */
    must(&fixture, "TagResource",
         "{'ResourceArn':'" ARN "Tab','Tags':[{'Key':'stator:capacity','Value':'enforce'}]}");
    drain_writes(&fixture); /* The bucket is full when enforcement begins. */
    expect_provisioned(&fixture, writes[0][0], writes[0][1], WRITE_REASON);
    must(&fixture, "TagResource",
         "{'ResourceArn':'" ARN "Tab','Tags':[{'Key':'stator:capacity','Value':'off'}]}");
    must(&fixture, writes[0][0], writes[0][1]);
    api_fixture_expect_error(
        &fixture, "TagResource",
        "{'ResourceArn':'" ARN "Tab','Tags':[{'Key':'stator:capacity','Value':'on'}]}",
        ERROR_VALIDATION,
        "One or more parameter values were invalid: the tag stator:capacity must be off, account "
        "or enforce, not: on");
    api_fixture_close(&fixture);
}

static void a_batch_write_returns_what_was_not_admitted(void **state)
{
    (void)state;
    struct api_fixture fixture;
    open_enforced(&fixture);
    create_small(&fixture);
    must(&fixture, "CreateTable",
         "{'TableName':'Other'," ONLY_KEYS "'BillingMode':'PAY_PER_REQUEST'}");
    put_units(&fixture, "Tab", "big", "", 299); /* One is left. */
    api_fixture_expect(&fixture, "BatchWriteItem",
                       "{'RequestItems':{'Tab':[{'PutRequest':{'Item':{'k':{'S':'a'}}}},"
                       "{'DeleteRequest':{'Key':{'k':{'S':'big'}}}},"
                       "{'PutRequest':{'Item':{'k':{'S':'c'},'n':{'N':'1'}}}}],"
                       "'Other':[{'PutRequest':{'Item':{'k':{'S':'a'}}}}]},"
                       "'ReturnConsumedCapacity':'TOTAL'}",
                       "{'UnprocessedItems':{'Tab':[{'DeleteRequest':{'Key':{'k':{'S':'big'}}}},"
                       "{'PutRequest':{'Item':{'k':{'S':'c'},'n':{'N':'1'}}}}]},"
                       "'ConsumedCapacity':[{'TableName':'Other','CapacityUnits':1.0},"
                       "{'TableName':'Tab','CapacityUnits':1.0}]}");
    must(&fixture, "Scan", "{'TableName':'Tab','ProjectionExpression':'k'}");
    assert_true(api_fixture_shows(&fixture, "{'k':{'S':'a'}}"));
    assert_true(api_fixture_shows(&fixture, "{'k':{'S':'big'}}"));
    assert_true(api_fixture_shows(&fixture, "'Count':2,"));
    api_fixture_close(&fixture);
}

static void a_batch_get_returns_keys_that_were_not_admitted(void **state)
{
    (void)state;
    struct api_fixture fixture;
    open_enforced(&fixture);
    create_small(&fixture);
    put_units(&fixture, "Tab", "big", "", 299);
    drain_reads(&fixture); /* 4 times 75: 300. */
    fixture.clock.fixed_ms += 1;
    api_fixture_expect(&fixture, "BatchGetItem",
                       "{'RequestItems':{'Tab':{'Keys':[{'k':{'S':'x'}},{'k':{'S':'y'}}],"
                       "'ConsistentRead':true}},'ReturnConsumedCapacity':'TOTAL'}",
                       "{'Responses':{'Tab':[]},'UnprocessedKeys':{'Tab':{'Keys':[{'k':{'S':'y'}}],"
                       "'ConsistentRead':true}},"
                       "'ConsumedCapacity':[{'TableName':'Tab','CapacityUnits':1.0}]}");
    api_fixture_close(&fixture);
}

static void statements_of_a_batch_fail_one_by_one(void **state)
{
    (void)state;
    struct api_fixture fixture;
    open_enforced(&fixture);
    create_small(&fixture);
    put_units(&fixture, "Tab", "big", "", 299);
    api_fixture_expect(&fixture, "BatchExecuteStatement",
                       "{'Statements':[{'Statement':'DELETE FROM Tab WHERE k = ?',"
                       "'Parameters':[{'S':'a'}]},{'Statement':'DELETE FROM Tab WHERE k = ?',"
                       "'Parameters':[{'S':'big'}]}]}",
                       "{'Responses':[{'TableName':'Tab'},{'Error':{'Code':"
                       "'ProvisionedThroughputExceeded','Message':'" TABLE_TEXT
                       "'},'TableName':'Tab'}]}");
    api_fixture_expect(
        &fixture, "BatchExecuteStatement",
        "{'Statements':[{'Statement':'DELETE FROM Tab WHERE k = ?',"
        "'Parameters':[{'S':'big'}]}]}",
        "{'Responses':[{'Error':{'Code':'ProvisionedThroughputExceeded','Message':'" TABLE_TEXT
        "'},'TableName':'Tab'}]}");
    drain_reads(&fixture);
    api_fixture_expect(
        &fixture, "BatchExecuteStatement",
        "{'Statements':[{'Statement':'SELECT * FROM Tab WHERE k = ?',"
        "'Parameters':[{'S':'big'}]}]}",
        "{'Responses':[{'Error':{'Code':'ProvisionedThroughputExceeded','Message':'" TABLE_TEXT
        "'},'TableName':'Tab'}]}");
    api_fixture_close(&fixture);
}

/* --- Indexes --- */

#define INDEX_REASON                                                                               \
    "[{'reason':'IndexWriteProvisionedThroughputExceeded','resource':'" ARN "Gab/index/Ind'}]"

/* Writes of an item with a `g` cost the index a unit each. */
static void drain_index(struct api_fixture *fixture)
{
    char body[300];
    for (int i = 0; i < 300; i++) {
        snprintf(body, sizeof body,
                 "{'TableName':'Gab','Item':{'k':{'S':'%d'},'g':{'S':'x'},'v':{'S':'v'}}}", i);
        must(fixture, "PutItem", body);
    }
}

static void an_index_pushes_back_writes_of_items_that_it_has(void **state)
{
    (void)state;
    static const char *const refused[][2] = {
        { "PutItem", "{'TableName':'Gab','Item':{'k':{'S':'new'},'g':{'S':'y'}}}" },
        /* The entry would not change, or go. */
        { "UpdateItem", "{'TableName':'Gab','Key':{'k':{'S':'1'}},'UpdateExpression':'SET v = :v',"
                        "'ExpressionAttributeValues':{':v':{'S':'w'}}}" },
        { "DeleteItem", "{'TableName':'Gab','Key':{'k':{'S':'1'}}}" },
        { "PutItem", "{'TableName':'Gab','Item':{'k':{'S':'1'}}}" },
        { "BatchWriteItem",
          "{'RequestItems':{'Gab':[{'DeleteRequest':{'Key':{'k':{'S':'1'}}}}]}}" },
        { "TransactWriteItems", "{'TransactItems':[{'Delete':{'TableName':'Gab',"
                                "'Key':{'k':{'S':'1'}}}}]}" },
        { "ExecuteStatement", "{'Statement':'DELETE FROM Gab WHERE k = ?',"
                              "'Parameters':[{'S':'1'}]}" },
    };
    struct api_fixture fixture;
    open_enforced(&fixture);
    create_small_index(&fixture);
    drain_index(&fixture);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        expect_refused(&fixture, refused[i][0], refused[i][1],
                       ERROR_PROVISIONED_THROUGHPUT_EXCEEDED, INDEX_TEXT, INDEX_REASON);
    /* A sparse item asks the table alone, and a failed condition has no effect on the index. */
    must(&fixture, "PutItem", "{'TableName':'Gab','Item':{'k':{'S':'new'}}}");
    api_fixture_expect_error(&fixture, "DeleteItem",
                             "{'TableName':'Gab','Key':{'k':{'S':'1'}},"
                             "'ConditionExpression':'attribute_not_exists(k)'}",
                             ERROR_CONDITIONAL_CHECK_FAILED, "The conditional request failed");
    must(&fixture, "Scan", "{'TableName':'Gab','Select':'COUNT'}");
    assert_true(api_fixture_shows(&fixture, "'Count':301,"));
    api_fixture_close(&fixture);
}

static void a_transaction_of_which_a_part_is_refused_is_cancelled(void **state)
{
    (void)state;
    struct api_fixture fixture;
    open_enforced(&fixture);
    create_small_index(&fixture);
    create_small(&fixture);
    drain_writes(&fixture);
    api_fixture_expect_error(&fixture, "TransactWriteItems",
                             "{'TransactItems':[{'Put':{'TableName':'Gab','Item':{'k':{'S':'a'}}}},"
                             "{'Put':{'TableName':'Tab','Item':{'k':{'S':'a'}}}}]}",
                             ERROR_TRANSACTION_CANCELED,
                             CANCELLED "[None, ProvisionedThroughputExceeded]");
    assert_memory_equal(fixture.error.reasons_json.data,
                        "[{\"Code\":\"None\"},{\"Code\":\"ProvisionedThroughputExceeded\","
                        "\"Message\":\"" TABLE_TEXT "\"}]",
                        fixture.error.reasons_json.len);
    drain_index(&fixture);
    api_fixture_expect_error(&fixture, "TransactWriteItems",
                             "{'TransactItems':[{'Put':{'TableName':'Gab','Item':{'k':{'S':'a'}}}},"
                             "{'Delete':{'TableName':'Gab','Key':{'k':{'S':'1'}}}}]}",
                             ERROR_TRANSACTION_CANCELED,
                             CANCELLED "[None, ProvisionedThroughputExceeded]");
    assert_memory_equal(fixture.error.reasons_json.data,
                        "[{\"Code\":\"None\"},{\"Code\":\"ProvisionedThroughputExceeded\","
                        "\"Message\":\"" INDEX_TEXT ".\"}]",
                        fixture.error.reasons_json.len);
    must(&fixture, "Scan", "{'TableName':'Gab','Select':'COUNT'}");
    assert_true(api_fixture_shows(&fixture, "'Count':300,"));
    api_fixture_close(&fixture);
}

static void a_read_of_an_index_asks_the_index(void **state)
{
    (void)state;
    struct api_fixture fixture;
    open_enforced(&fixture);
    create_small_index(&fixture);
    drain_index(&fixture);
    for (int i = 0; i < 201; i++) /* 300 entries of some 10 bytes: 1.5 units. */
        if (!api_fixture_call(&fixture, "Scan",
                              "{'TableName':'Gab','IndexName':'Ind','Select':'COUNT'}"))
            break;
    char query[300];
    snprintf(
        query, sizeof query,
        "{'TableName':'Gab','IndexName':'Ind','Select':'COUNT','KeyConditionExpression':'g = :g',"
        "'ExpressionAttributeValues':{':g':{'S':'x'}}}");
    for (int i = 0; i < 600 && api_fixture_call(&fixture, "Query", query); i++)
        ;
    expect_refused(&fixture, "Query", query, ERROR_PROVISIONED_THROUGHPUT_EXCEEDED, INDEX_TEXT,
                   "[{'reason':'IndexReadProvisionedThroughputExceeded','resource':'" ARN
                   "Gab/index/Ind'}]");
    must(&fixture, "Scan", "{'TableName':'Gab','Select':'COUNT'}");
    api_fixture_close(&fixture);
}

/* --- Keys, maximums and the account --- */

static void a_hot_key_is_refused_beside_others(void **state)
{
    (void)state;
    struct api_fixture fixture;
    open_enforced(&fixture);
    must(&fixture, "CreateTable", "{'TableName':'Tab'," ONLY_KEYS UNITS(40000, 40000) "}");
    for (int i = 0; i < 4; i++)
        put_units(&fixture, "Tab", "a", "", 300);
    expect_provisioned(&fixture, "DeleteItem", KEY "}", "TableWriteKeyRangeThroughputExceeded");
    must(&fixture, "DeleteItem", "{'TableName':'Tab','Key':{'k':{'S':'b'}}}");
    /* And in one batch: only the puts of the hot key stay behind. */
    api_fixture_expect(&fixture, "BatchWriteItem",
                       "{'RequestItems':{'Tab':[{'DeleteRequest':{'Key':{'k':{'S':'a'}}}},"
                       "{'DeleteRequest':{'Key':{'k':{'S':'b'}}}}]}}",
                       "{'UnprocessedItems':{'Tab':[{'DeleteRequest':{'Key':{'k':{'S':'a'}}}}]}}");
    fixture.clock.fixed_ms += 1000;
    must(&fixture, "DeleteItem", KEY "}");
    api_fixture_close(&fixture);
}

static void an_on_demand_table_throttles_beyond_its_level(void **state)
{
    (void)state;
    struct api_fixture fixture;
    char key[16];
    open_enforced(&fixture);
    must(&fixture, "CreateTable",
         "{'TableName':'Tab'," ONLY_KEYS "'BillingMode':'PAY_PER_REQUEST'}");
    for (int i = 0; i < 10; i++) {
        snprintf(key, sizeof key, "%d", i);
        put_units(&fixture, "Tab", key, "", 400);
    }
    expect_refused(&fixture, writes[0][0], writes[0][1], ERROR_THROTTLING, SCALING_TEXT,
                   "[{'reason':'TableWriteKeyRangeThroughputExceeded','resource':'" ARN "Tab'}]");
    api_fixture_close(&fixture);
}

static void the_account_limit_has_an_exception_of_its_own(void **state)
{
    (void)state;
    struct api_fixture fixture;
    api_fixture_open_with(&fixture,
                          &(struct api_options){ .capacity = CAPACITY_ENFORCE,
                                                 .quotas = { .table_write_units = 300 } });
    must(&fixture, "CreateTable",
         "{'TableName':'Tab'," ONLY_KEYS "'BillingMode':'PAY_PER_REQUEST'}");
    put_units(&fixture, "Tab", "b", "", 300);
    expect_refused(&fixture, writes[0][0], writes[0][1], ERROR_REQUEST_LIMIT_EXCEEDED, ACCOUNT_TEXT,
                   "[{'reason':'TableWriteAccountLimitExceeded','resource':'" ARN "Tab'}]");
    api_fixture_close(&fixture);
}

static void maximums_of_on_demand_tables_hold(void **state)
{
    (void)state;
    struct api_fixture fixture;
    open_enforced(&fixture);
    must(
        &fixture, "CreateTable",
        "{'TableName':'Tab'," KEYS "'BillingMode':'PAY_PER_REQUEST','OnDemandThroughput':"
        "{'MaxReadRequestUnits':1,'MaxWriteRequestUnits':5},'GlobalSecondaryIndexes':[{"
        "'IndexName':'Ind','KeySchema':[{'AttributeName':'g','KeyType':'HASH'}],"
        "'Projection':{'ProjectionType':'ALL'},'OnDemandThroughput':{'MaxWriteRequestUnits':1}}]}");
    must(&fixture, "GetItem", KEY ",'ConsistentRead':true}");
    expect_refused(&fixture, "GetItem", KEY "}", ERROR_THROTTLING, MAX_TEXT,
                   "[{'reason':'TableReadMaxOnDemandThroughputExceeded','resource':'" ARN "Tab'}]");
    const char *put = "{'TableName':'Tab','Item':{'k':{'S':'a'},'g':{'S':'x'}}}";
    const char *index_reason =
        "[{'reason':'IndexWriteMaxOnDemandThroughputExceeded','resource':'" ARN "Tab/index/Ind'}]";
    must(&fixture, "PutItem", put);
    /* Captured: single writes answer with the other exception. */
    expect_refused(&fixture, "PutItem", put, ERROR_PROVISIONED_THROUGHPUT_EXCEEDED, INDEX_TEXT,
                   index_reason);
    expect_refused(&fixture, "TransactWriteItems",
                   "{'TransactItems':[{'Put':{'TableName':'Tab','Item':{'k':{'S':'a'},"
                   "'g':{'S':'x'}}}}]}",
                   ERROR_THROTTLING, MAX_TEXT, index_reason);
    put_units(&fixture, "Tab", "b", "", 5);
    expect_refused(&fixture, "DeleteItem", KEY "}", ERROR_THROTTLING, MAX_TEXT,
                   "[{'reason':'TableWriteMaxOnDemandThroughputExceeded','resource':'" ARN
                   "Tab'}]");
    must(&fixture, "UpdateTable",
         "{'TableName':'Tab','OnDemandThroughput':{'MaxWriteRequestUnits':-1}}");
    must(&fixture, "DeleteItem", "{'TableName':'Tab','Key':{'k':{'S':'b'}}}");
    api_fixture_close(&fixture);
}

static void an_index_of_an_on_demand_table_throttles_with_its_text(void **state)
{
    (void)state;
    struct api_fixture fixture;
    char key[16];
    open_enforced(&fixture);
    must(&fixture, "CreateTable",
         "{'TableName':'Tab'," KEYS "'BillingMode':'PAY_PER_REQUEST','WarmThroughput':"
         "{'ReadUnitsPerSecond':30000,'WriteUnitsPerSecond':30000},'GlobalSecondaryIndexes':[{"
         "'IndexName':'Ind','KeySchema':[{'AttributeName':'g','KeyType':'HASH'}],"
         "'Projection':{'ProjectionType':'ALL'}}]}");
    for (int i = 0; i < 3; i++) {
        snprintf(key, sizeof key, "%d", i);
        put_units(&fixture, "Tab", key, ",'g':{'S':'hot'}", 400);
    }
    expect_refused(
        &fixture, "PutItem", "{'TableName':'Tab','Item':{'k':{'S':'z'},'g':{'S':'hot'}}}",
        ERROR_THROTTLING, INDEX_SCALING_TEXT,
        "[{'reason':'IndexWriteKeyRangeThroughputExceeded','resource':'" ARN "Tab/index/Ind'}]");
    must(&fixture, "PutItem", "{'TableName':'Tab','Item':{'k':{'S':'z'},'g':{'S':'cold'}}}");
    api_fixture_close(&fixture);
}

static void raised_throughput_counts_at_once(void **state)
{
    (void)state;
    struct api_fixture fixture;
    open_enforced(&fixture);
    create_small(&fixture);
    drain_writes(&fixture); /* 50 units of debt. */
    must(&fixture, "UpdateTable", "{'TableName':'Tab'," UNITS(1, 1000) "}");
    fixture.clock.fixed_ms += 50;
    expect_provisioned(&fixture, writes[0][0], writes[0][1], WRITE_REASON);
    fixture.clock.fixed_ms += 1;
    must(&fixture, writes[0][0], writes[0][1]);
    api_fixture_close(&fixture);
}

/* --- The meter --- */

struct throttles {
    uint64_t table[METER_DIRECTIONS][METER_REASONS];
    uint64_t index[METER_DIRECTIONS][METER_REASONS];
};

static void collect(void *context, const struct meter_table_reading *table)
{
    struct throttles *found = context;
    if (table->is_pseudo)
        return;
    for (int d = 0; d < METER_DIRECTIONS; d++) {
        for (int r = 0; r < METER_REASONS; r++) {
            found->table[d][r] += table->units[d].throttles[r];
            for (size_t i = 0; i < table->index_count; i++)
                found->index[d][r] += table->indexes[i].units[d].throttles[r];
        }
    }
}

static void the_meter_counts_refused_items_by_reason(void **state)
{
    (void)state;
    struct api_fixture fixture;
    struct throttles found = { 0 };
    open_enforced(&fixture);
    create_small(&fixture);
    create_small_index(&fixture);
    drain_writes(&fixture);
    drain_index(&fixture);
    for (size_t i = 0; i < 5; i++) /* The batch has two items. */
        assert_false(api_fixture_call(&fixture, writes[i][0], writes[i][1]));
    assert_false(
        api_fixture_call(&fixture, "DeleteItem", "{'TableName':'Gab','Key':{'k':{'S':'1'}}}"));
    meter_read(api_meter(fixture.api), 0, collect, &found);
    assert_int_equal(found.table[METER_WRITE][METER_PROVISIONED_THROUGHPUT], 6);
    assert_int_equal(found.index[METER_WRITE][METER_PROVISIONED_THROUGHPUT], 1);
    assert_int_equal(found.table[METER_READ][METER_PROVISIONED_THROUGHPUT], 0);
    api_fixture_close(&fixture);
}

static void collect_units(void *context, const struct meter_table_reading *table)
{
    uint64_t *half_units = context;
    if (!table->is_pseudo)
        *half_units += table->units[METER_WRITE].half_units;
}

static void units_are_counted_unless_capacity_is_off(void **state)
{
    (void)state;
    static const struct {
        enum capacity_setting setting;
        uint64_t half_units;
    } cases[] = {
        { CAPACITY_UNSET, 2 }, { CAPACITY_ACCOUNT, 2 }, { CAPACITY_ENFORCE, 2 }, { CAPACITY_OFF, 0 }
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct api_fixture fixture;
        uint64_t half_units = 0;
        api_fixture_open_with(&fixture, &(struct api_options){ .capacity = cases[i].setting });
        create_small(&fixture);
        api_fixture_expect(&fixture, "PutItem",
                           "{'TableName':'Tab','Item':{'k':{'S':'a'}},"
                           "'ReturnConsumedCapacity':'TOTAL'}",
                           "{'ConsumedCapacity':{'TableName':'Tab','CapacityUnits':1.0}}");
        meter_read(api_meter(fixture.api), 0, collect_units, &half_units);
        assert_int_equal(half_units, cases[i].half_units);
        api_fixture_close(&fixture);
    }
}

/* Each item of a batch counts, and a Query by its partition key. */
static void insights_count_refused_keys(void **state)
{
    (void)state;
    struct api_fixture fixture;
    open_enforced(&fixture);
    create_small(&fixture);
    must(&fixture, "UpdateContributorInsights",
         "{'TableName':'Tab','ContributorInsightsAction':'ENABLE',"
         "'ContributorInsightsMode':'THROTTLED_KEYS'}");
    drain_writes(&fixture);
    for (size_t i = 0; i < 6; i++)
        assert_false(api_fixture_call(&fixture, writes[i][0], writes[i][1]));
    drain_reads(&fixture);
    assert_false(api_fixture_call(&fixture, "Query",
                                  "{'TableName':'Tab','KeyConditionExpression':'k = :k',"
                                  "'ExpressionAttributeValues':{':k':{'S':'a'}}}"));
    must(&fixture, "GetHotKeys", "{'TableName':'Tab','By':'THROTTLED'}");
    assert_true(api_fixture_shows(&fixture, "'Key':{'k':{'S':'a'}},'Value':7.0"));
    assert_true(api_fixture_shows(&fixture, "'Key':{'k':{'S':'b'}},'Value':2.0"));
    api_fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_write_is_refused_with_the_reason),
        cmocka_unit_test(every_read_is_refused_with_the_reason),
        cmocka_unit_test(faults_are_reported_before_throughput),
        cmocka_unit_test(a_tag_of_the_table_decides),
        cmocka_unit_test(a_batch_write_returns_what_was_not_admitted),
        cmocka_unit_test(a_batch_get_returns_keys_that_were_not_admitted),
        cmocka_unit_test(statements_of_a_batch_fail_one_by_one),
        cmocka_unit_test(an_index_pushes_back_writes_of_items_that_it_has),
        cmocka_unit_test(a_transaction_of_which_a_part_is_refused_is_cancelled),
        cmocka_unit_test(a_read_of_an_index_asks_the_index),
        cmocka_unit_test(a_hot_key_is_refused_beside_others),
        cmocka_unit_test(an_on_demand_table_throttles_beyond_its_level),
        cmocka_unit_test(the_account_limit_has_an_exception_of_its_own),
        cmocka_unit_test(maximums_of_on_demand_tables_hold),
        cmocka_unit_test(an_index_of_an_on_demand_table_throttles_with_its_text),
        cmocka_unit_test(raised_throughput_counts_at_once),
        cmocka_unit_test(the_meter_counts_refused_items_by_reason),
        cmocka_unit_test(insights_count_refused_keys),
        cmocka_unit_test(units_are_counted_unless_capacity_is_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
