/* test_authorization.c -- each operation asks for its action, on its resource, with all that it
 * touches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "api_fixture.h"
#include "api/operation.h"
#include "auth/caller.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "policy_fixture.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

#define ARN "arn:aws:dynamodb:eu-west-1:123456789012:table/"
#define USER "arn:aws:iam::123456789012:user/alice"

static const struct bytes username = BYTES("alice");
static const struct policy_key caller_keys[] = { { BYTES("aws:username"), &username, 1 } };

struct fixture {
    struct api_fixture api;
    struct arena *arena;
    struct caller caller;
    const struct policy *policy;
};

static int setup(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){ .arena = arena_create() };
    api_fixture_open(&fixture.api, 0);
    assert_true(api_fixture_call(
        &fixture.api, "CreateTable",
        "{'TableName':'Tab','AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'},"
        "{'AttributeName':'sk','AttributeType':'N'},{'AttributeName':'g','AttributeType':'S'}],"
        "'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'},{'AttributeName':'sk','KeyType':"
        "'RANGE'}],'BillingMode':'PAY_PER_REQUEST','Tags':[{'Key':'team','Value':'blue'}],"
        "'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'KEYS_ONLY'},"
        "'GlobalSecondaryIndexes':[{'IndexName':'Ind','KeySchema':[{'AttributeName':'g',"
        "'KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}]}"));
    fixture.caller = (struct caller){ .arn = BYTES(USER),
                                      .account = BYTES("123456789012"),
                                      .policies = &fixture.policy,
                                      .policy_count = 1,
                                      .keys = caller_keys,
                                      .key_count = COUNT_OF(caller_keys) };
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    api_fixture_close(&fixture->api);
    arena_destroy(fixture->arena);
    return 0;
}

/* The caller has just these statements. */
static void use_policy(struct fixture *fixture, const char *statements)
{
    struct error err;
    arena_reset(fixture->arena);
    error_init(&err, fixture->arena);
    fixture->policy =
        policy_parse(fixture->arena, policy_fixture_document(fixture->arena, statements),
                     POLICY_OF_IDENTITY, &err);
    if (fixture->policy == NULL)
        fail_msg("%s: %.*s", statements, BYTES_FMT(err.message));
    fixture->api.caller = &fixture->caller;
}

/* A ~ stands for a single quote, which the fixture would make a double one. */
static const char *unescape(struct fixture *fixture, const char *body)
{
    struct buffer text;
    buffer_init(&text, fixture->arena);
    for (; *body != '\0'; body++) {
        if (*body == '~')
            buffer_append_bytes(&text, BYTES("\\u0027"));
        else
            buffer_append_byte(&text, (uint8_t)*body);
    }
    buffer_append_byte(&text, 0);
    return (const char *)text.data;
}

/* Is the call let through, however it ends? */
static bool passes(struct fixture *fixture, const char *operation, const char *body)
{
    return api_fixture_call(&fixture->api, operation, unescape(fixture, body)) ||
           fixture->api.error.code != ERROR_ACCESS_DENIED;
}

/* --- Actions and resources --- */

#define KEY(name) "{'pk':{'S':'" name "'},'sk':{'N':'1'}}"
/* Quotes within statements are written ~. */
#define STATEMENT(text) "{'Statement':'" text "'}"
#define TRANSACTION(text) "{'TransactStatements':[{'Statement':'" text "'}]}"
#define STREAM_ARN ARN "Tab/stream/2026-11-15T00:00:00.000"

static const struct {
    const char *operation;
    const char *body;
    const char *action;   /* Whether that is what the operation asks for, */
    const char *resource; /* and of this. */
} asked[] = {
    { "GetItem", "{'TableName':'Tab','Key':" KEY("a") "}", "GetItem", ARN "Tab" },
    { "GetItem", "{'TableName':'" ARN "Tab','Key':" KEY("a") "}", "GetItem", ARN "Tab" },
    { "PutItem", "{'TableName':'Tab','Item':" KEY("a") "}", "PutItem", ARN "Tab" },
    { "UpdateItem", "{'TableName':'Tab','Key':" KEY("a") "}", "UpdateItem", ARN "Tab" },
    { "DeleteItem", "{'TableName':'Tab','Key':" KEY("a") "}", "DeleteItem", ARN "Tab" },
    { "Query",
      "{'TableName':'Tab','KeyConditionExpression':'pk=:p','ExpressionAttributeValues':"
      "{':p':{'S':'a'}}}",
      "Query", ARN "Tab" },
    { "Query",
      "{'TableName':'Tab','IndexName':'Ind','KeyConditionExpression':'g=:p',"
      "'ExpressionAttributeValues':{':p':{'S':'a'}}}",
      "Query", ARN "Tab/index/Ind" },
    { "Scan", "{'TableName':'Tab'}", "Scan", ARN "Tab" },
    { "Scan", "{'TableName':'Tab','IndexName':'Ind'}", "Scan", ARN "Tab/index/Ind" },
    { "BatchGetItem", "{'RequestItems':{'Tab':{'Keys':[" KEY("a") "]}}}", "BatchGetItem",
      ARN "Tab" },
    { "BatchWriteItem", "{'RequestItems':{'Tab':[{'PutRequest':{'Item':" KEY("a") "}}]}}",
      "BatchWriteItem", ARN "Tab" },
    { "TransactGetItems", "{'TransactItems':[{'Get':{'TableName':'Tab','Key':" KEY("a") "}}]}",
      "GetItem", ARN "Tab" },
    { "TransactWriteItems", "{'TransactItems':[{'Put':{'TableName':'Tab','Item':" KEY("a") "}}]}",
      "PutItem", ARN "Tab" },
    { "TransactWriteItems",
      "{'TransactItems':[{'Update':{'TableName':'Tab','Key':" KEY(
          "a") ",'UpdateExpression':'SET x=:x','ExpressionAttributeValues':{':x':{'S':'x'}}}}]}",
      "UpdateItem", ARN "Tab" },
    { "TransactWriteItems", "{'TransactItems':[{'Delete':{'TableName':'Tab','Key':" KEY("a") "}}]}",
      "DeleteItem", ARN "Tab" },
    { "TransactWriteItems",
      "{'TransactItems':[{'ConditionCheck':{'TableName':'Tab','Key':" KEY(
          "a") ",'ConditionExpression':'attribute_exists(pk)'}}]}",
      "ConditionCheckItem", ARN "Tab" },
    { "ExecuteStatement", STATEMENT("SELECT * FROM Tab WHERE pk=~a~"), "PartiQLSelect", ARN "Tab" },
    { "ExecuteStatement", STATEMENT("SELECT * FROM Tab.Ind WHERE g=~a~"), "PartiQLSelect",
      ARN "Tab/index/Ind" },
    { "ExecuteStatement", STATEMENT("INSERT INTO Tab VALUE {~pk~:~a~,~sk~:1}"), "PartiQLInsert",
      ARN "Tab" },
    { "ExecuteStatement", STATEMENT("UPDATE Tab SET x=1 WHERE pk=~a~ AND sk=1"), "PartiQLUpdate",
      ARN "Tab" },
    { "ExecuteStatement", STATEMENT("DELETE FROM Tab WHERE pk=~a~ AND sk=1"), "PartiQLDelete",
      ARN "Tab" },
    { "ExecuteTransaction", TRANSACTION("SELECT * FROM Tab WHERE pk=~a~ AND sk=1"), "PartiQLSelect",
      ARN "Tab" },
    { "ExecuteTransaction", TRANSACTION("UPDATE Tab SET x=1 WHERE pk=~a~ AND sk=1"),
      "PartiQLUpdate", ARN "Tab" },
    { "DescribeTable", "{'TableName':'Tab'}", "DescribeTable", ARN "Tab" },
    { "DescribeTable", "{'TableName':'Absent'}", "DescribeTable", ARN "Absent" },
    { "GetItem", "{'TableName':'Absent','Key':" KEY("a") "}", "GetItem", ARN "Absent" },
    { "CreateTable",
      "{'TableName':'New','AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}],"
      "'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],'BillingMode':'PAY_PER_REQUEST'}",
      "CreateTable", ARN "New" },
    { "UpdateTable", "{'TableName':'Tab','DeletionProtectionEnabled':false}", "UpdateTable",
      ARN "Tab" },
    { "DeleteTable", "{'TableName':'Absent'}", "DeleteTable", ARN "Absent" },
    { "ListTables", "{}", "ListTables", "*" },
    { "DescribeLimits", "{}", "DescribeLimits", "*" },
    { "DescribeEndpoints", "{}", "DescribeEndpoints", "*" },
    { "TagResource", "{'ResourceArn':'" ARN "Tab','Tags':[{'Key':'k','Value':'v'}]}", "TagResource",
      ARN "Tab" },
    { "UntagResource", "{'ResourceArn':'" ARN "Tab','TagKeys':['k']}", "UntagResource", ARN "Tab" },
    { "ListTagsOfResource", "{'ResourceArn':'" ARN "Tab'}", "ListTagsOfResource", ARN "Tab" },
    { "PutResourcePolicy",
      "{'ResourceArn':'" ARN "Tab','Policy':'{\\'Statement\\':{\\'Effect\\':\\'Deny\\',"
      "\\'Principal\\':\\'*\\',\\'Action\\':\\'dynamodb:Nothing\\',\\'Resource\\':\\'*\\'}}'}",
      "PutResourcePolicy", ARN "Tab" },
    { "GetResourcePolicy", "{'ResourceArn':'" ARN "Tab'}", "GetResourcePolicy", ARN "Tab" },
    { "DeleteResourcePolicy", "{'ResourceArn':'" STREAM_ARN "'}", "DeleteResourcePolicy",
      STREAM_ARN },
    { "DescribeContinuousBackups", "{'TableName':'Tab'}", "DescribeContinuousBackups", ARN "Tab" },
    { "UpdateContinuousBackups",
      "{'TableName':'Tab','PointInTimeRecoverySpecification':{'PointInTimeRecoveryEnabled':true}}",
      "UpdateContinuousBackups", ARN "Tab" },
    { "DescribeContributorInsights", "{'TableName':'Tab'}", "DescribeContributorInsights",
      ARN "Tab" },
    { "ListContributorInsights", "{}", "ListContributorInsights", "*" },
    { "DescribeKinesisStreamingDestination", "{'TableName':'Tab'}",
      "DescribeKinesisStreamingDestination", ARN "Tab" },
    { "DescribeTimeToLive", "{'TableName':'Tab'}", "DescribeTimeToLive", ARN "Tab" },
    { "UpdateTimeToLive",
      "{'TableName':'Tab','TimeToLiveSpecification':{'AttributeName':'t','Enabled':true}}",
      "UpdateTimeToLive", ARN "Tab" },
    { "ListTriggers", "{}", "ListTriggers", "*" },
    { "RemoveTrigger", "{'UUID':'x'}", "RemoveTrigger", "*" },
    { "AddTrigger", "{'TableName':'Tab','Url':'http://127.0.0.1:1/'}", "AddTrigger", "*" },
    { "ListStreams", "{'TableName':'Tab'}", "ListStreams", "*" },
    { "DescribeStream", "{'StreamArn':'" STREAM_ARN "'}", "DescribeStream", STREAM_ARN },
    { "GetShardIterator",
      "{'StreamArn':'" STREAM_ARN "','ShardId':'shardId-00000001763164800000-0000000001',"
      "'ShardIteratorType':'LATEST'}",
      "GetShardIterator", STREAM_ARN },
};

static void each_operation_asks_for_its_action_on_its_resource(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        char statements[1000];
        char message[1000];
        /* All but that action on that resource: refused, and told what was missing. */
        snprintf(statements, sizeof statements,
                 "{'Effect':'Allow','NotAction':'dynamodb:%s','Resource':'*'}", asked[i].action);
        use_policy(fixture, statements);
        snprintf(message, sizeof message,
                 "User: " USER " is not authorized to perform: dynamodb:%s on resource: %s because "
                 "no identity-based policy allows the dynamodb:%s action",
                 asked[i].action, asked[i].resource, asked[i].action);
        api_fixture_expect_error(&fixture->api, asked[i].operation,
                                 unescape(fixture, asked[i].body), ERROR_ACCESS_DENIED, message);
        /* Just that action on that resource: let through. */
        snprintf(statements, sizeof statements,
                 "{'Effect':'Allow','Action':'dynamodb:%s','Resource':'%s'}", asked[i].action,
                 asked[i].resource);
        use_policy(fixture, statements);
        if (!passes(fixture, asked[i].operation, asked[i].body))
            fail_msg("%s: %.*s", asked[i].operation, BYTES_FMT(fixture->api.error.message));
    }
}

static void every_operation_says_who_may_call_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < operation_count(); i++)
        if (operation_at(i)->asks == OPERATION_ASKS_NOBODY)
            fail_msg("%s", operation_at(i)->name);
}

/* --- What requests touch --- */

#define OWN                                                                                        \
    "{'Effect':'Allow','Action':'*','Resource':'*','Condition':{'ForAllValues:StringEquals':"      \
    "{'dynamodb:LeadingKeys':['${aws:username}']}}}"
#define NAMES                                                                                      \
    "{'Effect':'Allow','Action':'*','Resource':'*','Condition':{'ForAllValues:StringEquals':"      \
    "{'dynamodb:Attributes':['pk','sk','g','name']},'StringEqualsIfExists':{'dynamodb:Select':"    \
    "'SPECIFIC_ATTRIBUTES','dynamodb:ReturnValues':['NONE','UPDATED_OLD']}}}"
#define IF(condition) "{'Effect':'Allow','Action':'*','Resource':'*','Condition':{" condition "}}"
#define ALICE KEY("alice")
#define BOB KEY("bob")
#define VALUES ",'ExpressionAttributeValues':{':v':{'S':'alice'}}"
#define ITEM(more) "{'pk':{'S':'alice'},'sk':{'N':'1'}" more "}"

static const struct {
    const char *policy;
    const char *operation;
    const char *body;
    bool allowed;
} touched[] = {
    { OWN, "GetItem", "{'TableName':'Tab','Key':" ALICE "}", true },
    { OWN, "GetItem", "{'TableName':'Tab','Key':" BOB "}", false },
    { OWN, "PutItem", "{'TableName':'Tab','Item':" ALICE "}", true },
    { OWN, "PutItem", "{'TableName':'Tab','Item':" BOB "}", false },
    { OWN, "UpdateItem", "{'TableName':'Tab','Key':" BOB "}", false },
    { OWN, "DeleteItem", "{'TableName':'Tab','Key':" BOB "}", false },
    { OWN, "Query", "{'TableName':'Tab','KeyConditionExpression':'pk=:v'" VALUES "}", true },
    { OWN, "Query",
      "{'TableName':'Tab','KeyConditionExpression':'pk=:v','ExpressionAttributeValues':"
      "{':v':{'S':'bob'}}}",
      false },
    { OWN, "Query",
      "{'TableName':'Tab','KeyConditions':{'pk':{'ComparisonOperator':'EQ',"
      "'AttributeValueList':[{'S':'bob'}]}}}",
      false },
    { OWN, "Query",
      "{'TableName':'Tab','IndexName':'Ind','KeyConditionExpression':'g=:v'" VALUES "}", true },
    { OWN, "Query",
      "{'TableName':'Tab','IndexName':'Ind','KeyConditionExpression':'g=:v',"
      "'ExpressionAttributeValues':{':v':{'S':'bob'}}}",
      false },
    { OWN, "BatchGetItem", "{'RequestItems':{'Tab':{'Keys':[" ALICE "]}}}", true },
    { OWN, "BatchGetItem", "{'RequestItems':{'Tab':{'Keys':[" ALICE "," BOB "]}}}", false },
    { OWN, "BatchWriteItem", "{'RequestItems':{'Tab':[{'PutRequest':{'Item':" ALICE "}}]}}", true },
    { OWN, "BatchWriteItem",
      "{'RequestItems':{'Tab':[{'PutRequest':{'Item':" ALICE "}},{'DeleteRequest':{'Key':" BOB
      "}}]}}",
      false },
    { OWN, "TransactGetItems",
      "{'TransactItems':[{'Get':{'TableName':'Tab','Key':" ALICE "}},"
      "{'Get':{'TableName':'Tab','Key':" BOB "}}]}",
      false },
    { OWN, "TransactWriteItems",
      "{'TransactItems':[{'Put':{'TableName':'Tab','Item':" ALICE "}},"
      "{'ConditionCheck':{'TableName':'Tab','Key':" BOB
      ",'ConditionExpression':'attribute_exists(pk)'}}]}",
      false },
    { NAMES, "GetItem", "{'TableName':'Tab','Key':" ALICE ",'ProjectionExpression':'pk'}", true },
    { NAMES, "GetItem", "{'TableName':'Tab','Key':" ALICE ",'AttributesToGet':['name']}", true },
    { NAMES, "GetItem", "{'TableName':'Tab','Key':" ALICE "}", false },
    { NAMES, "GetItem", "{'TableName':'Tab','Key':" ALICE ",'ProjectionExpression':'pk,pay.x'}",
      false },
    { NAMES, "GetItem", "{'TableName':'Tab','Key':" ALICE ",'AttributesToGet':['pay']}", false },
    { NAMES, "PutItem", "{'TableName':'Tab','Item':" ITEM(",'name':{'S':'x'}") "}", true },
    { NAMES, "PutItem", "{'TableName':'Tab','Item':" ITEM(",'pay':{'S':'x'}") "}", false },
    { NAMES, "PutItem",
      "{'TableName':'Tab','Item':" ALICE ",'ConditionExpression':'attribute_exists(pay)'}", false },
    { NAMES, "PutItem", "{'TableName':'Tab','Item':" ALICE ",'Expected':{'pay':{'Exists':false}}}",
      false },
    { NAMES, "PutItem", "{'TableName':'Tab','Item':" ALICE ",'ReturnValues':'ALL_OLD'}", false },
    { NAMES, "UpdateItem",
      "{'TableName':'Tab','Key':" ALICE ",'UpdateExpression':'SET #n=:v',"
      "'ExpressionAttributeNames':{'#n':'name'}" VALUES "}",
      true },
    { NAMES, "UpdateItem",
      "{'TableName':'Tab','Key':" ALICE ",'UpdateExpression':'SET pay=:v'" VALUES "}", false },
    { NAMES, "UpdateItem",
      "{'TableName':'Tab','Key':" ALICE ",'UpdateExpression':'SET g=if_not_exists(pay, :v)'" VALUES
      "}",
      false },
    { NAMES, "UpdateItem", "{'TableName':'Tab','Key':" ALICE ",'UpdateExpression':'REMOVE pay'}",
      false },
    { NAMES, "UpdateItem",
      "{'TableName':'Tab','Key':" ALICE ",'AttributeUpdates':{'pay':{'Action':'DELETE'}}}", false },
    { NAMES, "DeleteItem",
      "{'TableName':'Tab','Key':" ALICE ",'ConditionExpression':'size(pay) > :v',"
      "'ExpressionAttributeValues':{':v':{'N':'1'}}}",
      false },
    { NAMES, "Query",
      "{'TableName':'Tab','KeyConditionExpression':'pk=:v','ProjectionExpression':'pk'" VALUES "}",
      true },
    { NAMES, "Query", "{'TableName':'Tab','KeyConditionExpression':'pk=:v'" VALUES "}", false },
    { NAMES, "Query",
      "{'TableName':'Tab','KeyConditionExpression':'pk=:v','ProjectionExpression':'pk',"
      "'FilterExpression':'pay=:v'" VALUES "}",
      false },
    { NAMES, "Query",
      "{'TableName':'Tab','KeyConditionExpression':'pk=:v','Select':'COUNT'" VALUES "}", false },
    { NAMES, "Scan", "{'TableName':'Tab','ProjectionExpression':'pay'}", false },
    { NAMES, "Scan", "{'TableName':'Tab','AttributesToGet':['pk']}", true },
    { NAMES, "Scan",
      "{'TableName':'Tab','AttributesToGet':['pk'],'ScanFilter':{'pay':{'ComparisonOperator':"
      "'NOT_NULL'}}}",
      false },
    { NAMES, "BatchGetItem",
      "{'RequestItems':{'Tab':{'Keys':[" ALICE "],'ProjectionExpression':'pay'}}}", false },
    { NAMES, "BatchGetItem", "{'RequestItems':{'Tab':{'Keys':[" ALICE "]}}}", false },
    { NAMES, "BatchWriteItem",
      "{'RequestItems':{'Tab':[{'PutRequest':{'Item':" ITEM(",'pay':{'S':'x'}") "}}]}}", false },
    { NAMES, "TransactGetItems",
      "{'TransactItems':[{'Get':{'TableName':'Tab','Key':" ALICE
      ",'ProjectionExpression':'pay'}}]}",
      false },
    { NAMES, "TransactWriteItems",
      "{'TransactItems':[{'Update':{'TableName':'Tab','Key':" ALICE
      ",'UpdateExpression':'SET pay=:v'" VALUES "}}]}",
      false },
    { NAMES, "TransactWriteItems",
      "{'TransactItems':[{'Put':{'TableName':'Tab','Item':" ALICE
      ",'ConditionExpression':'attribute_exists(pk)','ReturnValuesOnConditionCheckFailure':"
      "'ALL_OLD'}}]}",
      false },
    { OWN, "ExecuteStatement", STATEMENT("SELECT * FROM Tab WHERE pk=~alice~"), true },
    { OWN, "ExecuteStatement", STATEMENT("SELECT * FROM Tab WHERE pk=~bob~"), false },
    { OWN, "ExecuteStatement", STATEMENT("SELECT * FROM Tab WHERE pk IN [~alice~,~bob~]"), false },
    { OWN, "ExecuteStatement", STATEMENT("SELECT * FROM Tab.Ind WHERE g=~bob~"), false },
    { OWN, "ExecuteStatement", STATEMENT("INSERT INTO Tab VALUE {~pk~:~bob~,~sk~:7}"), false },
    { OWN, "ExecuteStatement", STATEMENT("UPDATE Tab SET x=1 WHERE pk=~bob~ AND sk=1"), false },
    { OWN, "ExecuteStatement", STATEMENT("DELETE FROM Tab WHERE pk=~bob~ AND sk=1"), false },
    { OWN, "ExecuteTransaction", TRANSACTION("SELECT * FROM Tab WHERE pk=~bob~ AND sk=1"), false },
    { OWN, "ExecuteTransaction", TRANSACTION("DELETE FROM Tab WHERE pk=~bob~ AND sk=1"), false },
    { NAMES, "ExecuteStatement", STATEMENT("SELECT pk FROM Tab WHERE pk=~alice~"), true },
    { NAMES, "ExecuteStatement", STATEMENT("SELECT pay FROM Tab WHERE pk=~alice~"), false },
    { NAMES, "ExecuteStatement", STATEMENT("SELECT * FROM Tab WHERE pk=~alice~"), false },
    { NAMES, "ExecuteStatement", STATEMENT("SELECT pk FROM Tab WHERE pk=~alice~ AND pay=1"),
      false },
    { NAMES, "ExecuteStatement", STATEMENT("UPDATE Tab SET pay=1 WHERE pk=~alice~ AND sk=1"),
      false },
    { NAMES, "ExecuteStatement",
      STATEMENT("DELETE FROM Tab WHERE pk=~alice~ AND sk=1 RETURNING ALL OLD *"), false },
    { NAMES, "ExecuteTransaction", TRANSACTION("SELECT pay FROM Tab WHERE pk=~alice~ AND sk=1"),
      false },
    { IF("'Bool':{'dynamodb:FullTableScan':'false'}"), "ExecuteStatement",
      STATEMENT("SELECT * FROM Tab WHERE pay=1"), false },
    { IF("'Bool':{'dynamodb:FullTableScan':'false'}"), "ExecuteStatement",
      STATEMENT("SELECT * FROM Tab WHERE pk=~alice~"), true },
    { IF("'StringEquals':{'dynamodb:EnclosingOperation':'ExecuteTransaction'}"),
      "ExecuteTransaction", TRANSACTION("DELETE FROM Tab WHERE pk=~alice~ AND sk=1"), true },
    { IF("'Bool':{'dynamodb:FullTableScan':'false'}"), "Scan", "{'TableName':'Tab'}", false },
    { IF("'Bool':{'dynamodb:FullTableScan':'false'}"), "Query",
      "{'TableName':'Tab','KeyConditionExpression':'pk=:v'" VALUES "}", true },
    { IF("'StringEquals':{'dynamodb:EnclosingOperation':'TransactWriteItems'}"), "PutItem",
      "{'TableName':'Tab','Item':" ALICE "}", false },
    { IF("'StringEquals':{'dynamodb:EnclosingOperation':'TransactWriteItems'}"),
      "TransactWriteItems", "{'TransactItems':[{'Put':{'TableName':'Tab','Item':" ALICE "}}]}",
      true },
    { IF("'StringEquals':{'dynamodb:ReturnConsumedCapacity':'NONE'}"), "GetItem",
      "{'TableName':'Tab','Key':" ALICE "}", true },
    { IF("'StringEquals':{'dynamodb:ReturnConsumedCapacity':'NONE'}"), "GetItem",
      "{'TableName':'Tab','Key':" ALICE ",'ReturnConsumedCapacity':'TOTAL'}", false },
    { IF("'StringEquals':{'aws:ResourceTag/team':'blue'}"), "GetItem",
      "{'TableName':'Tab','Key':" ALICE "}", true },
    { IF("'StringEquals':{'aws:ResourceTag/team':'red'}"), "DescribeTable", "{'TableName':'Tab'}",
      false },
};

static void policies_see_all_keys_and_attributes_of_a_request(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(touched); i++) {
        use_policy(fixture, touched[i].policy);
        if (passes(fixture, touched[i].operation, touched[i].body) != touched[i].allowed)
            fail_msg("%zu: %s %s %.*s", i, touched[i].operation, touched[i].body,
                     BYTES_FMT(fixture->api.error.message));
    }
}

/* Copies what stands behind a mark in the last response, up to the next quote. */
static void take(const struct fixture *fixture, const char *mark, char out[500])
{
    struct bytes text = fixture->api.response;
    const uint8_t *at = memmem(text.data, text.len, mark, strlen(mark));
    assert_non_null(at);
    at += strlen(mark);
    const uint8_t *end = memchr(at, '"', (size_t)(text.data + text.len - at));
    snprintf(out, 500, "%.*s", (int)(end - at), (const char *)at);
}

/* An iterator names its stream, and whoever has one may have lost its permission. */
static void records_are_asked_for_by_the_stream_of_their_iterator(void **state)
{
    struct fixture *fixture = *state;
    char arn[500], shard[500], iterator[500], body[2000], statements[1000];
    assert_true(api_fixture_call(&fixture->api, "ListStreams", "{}"));
    take(fixture, "\"StreamArn\":\"", arn);
    snprintf(body, sizeof body, "{'StreamArn':'%s'}", arn);
    assert_true(api_fixture_call(&fixture->api, "DescribeStream", body));
    take(fixture, "\"ShardId\":\"", shard);
    snprintf(body, sizeof body,
             "{'StreamArn':'%s','ShardId':'%s','ShardIteratorType':'TRIM_HORIZON'}", arn, shard);
    assert_true(api_fixture_call(&fixture->api, "GetShardIterator", body));
    take(fixture, "\"ShardIterator\":\"", iterator);
    snprintf(body, sizeof body, "{'ShardIterator':'%s'}", iterator);

    snprintf(statements, sizeof statements,
             "{'Effect':'Allow','Action':'dynamodb:GetRecords','Resource':'%s'}", arn);
    use_policy(fixture, statements);
    assert_true(api_fixture_call(&fixture->api, "GetRecords", body));
    use_policy(fixture, "{'Effect':'Allow','Action':'*','Resource':'" ARN "Tab'}");
    assert_false(passes(fixture, "GetRecords", body));
}

static void a_batch_of_statements_is_refused_one_by_one(void **state)
{
    struct fixture *fixture = *state;
    use_policy(fixture, OWN);
    assert_true(api_fixture_call(
        &fixture->api, "BatchExecuteStatement",
        unescape(fixture, "{'Statements':[{'Statement':'SELECT * FROM Tab WHERE pk=~alice~ AND "
                          "sk=1'},{'Statement':'SELECT * FROM Tab WHERE pk=~bob~ AND sk=1'}]}")));
    assert_true(api_fixture_shows(&fixture->api, "{'TableName':'Tab'},{"));
    assert_true(api_fixture_shows(&fixture->api, "'Code':'AccessDenied'"));
    assert_true(api_fixture_call(
        &fixture->api, "BatchExecuteStatement",
        unescape(fixture, "{'Statements':[{'Statement':'INSERT INTO Tab VALUE {~pk~:~bob~,"
                          "~sk~:9}'}]}")));
    assert_true(api_fixture_shows(&fixture->api, "'Code':'AccessDenied'"));
    fixture->api.caller = NULL;
    api_fixture_expect(&fixture->api, "GetItem",
                       "{'TableName':'Tab','Key':{'pk':{'S':'bob'},'sk':{'N':'9'}}}", "{}");
}

/* --- Resource policies --- */

#define PUT_POLICY(statement)                                                                      \
    "{'ResourceArn':'" ARN "Tab','Policy':'{\\'Statement\\':" statement "}'}"

static void a_tables_policy_allows_and_denies(void **state)
{
    struct fixture *fixture = *state;
    static const char get[] = "{'TableName':'Tab','Key':" ALICE "}";
    use_policy(fixture, ALLOW);
    assert_true(api_fixture_call(
        &fixture->api, "PutResourcePolicy",
        PUT_POLICY("{\\'Effect\\':\\'Allow\\',\\'Principal\\':{\\'AWS\\':\\'" USER
                   "\\'},\\'Action\\':\\'dynamodb:GetItem\\',\\'Resource\\':\\'*\\'}")));
    use_policy(fixture, "{'Effect':'Allow','Action':'dynamodb:Nothing','Resource':'*'}");
    assert_true(passes(fixture, "GetItem", get));
    assert_false(passes(fixture, "DeleteItem", get));
    use_policy(fixture, ALLOW);
    assert_true(
        api_fixture_call(&fixture->api, "PutResourcePolicy",
                         PUT_POLICY("{\\'Effect\\':\\'Deny\\',\\'Principal\\':\\'*\\',\\'Action\\':"
                                    "\\'dynamodb:GetItem\\',\\'Resource\\':\\'*\\'}")));
    api_fixture_expect_error(&fixture->api, "GetItem", get, ERROR_ACCESS_DENIED,
                             "User: " USER " is not authorized to perform: dynamodb:GetItem on "
                             "resource: " ARN
                             "Tab with an explicit deny in a resource-based policy");
}

/* As an earlier version stored it. No call is under way, so the catalogue may be changed. */
static void store_policy(struct fixture *fixture, struct bytes text)
{
    struct catalogue *catalogue = api_catalogue(fixture->api.api);
    struct table *table = catalogue_find(catalogue, BYTES("Tab"));
    struct table_definition changed = *table_definition(table);
    changed.resource_policy = (struct resource_policy){ .text = text, .revision = 1 };
    assert_int_equal(catalogue_update(catalogue, fixture->arena, &changed), ENGINE_OK);
    table_release(table);
}

static void a_tables_policy_that_cannot_be_enforced_is_refused_or_denies(void **state)
{
    struct fixture *fixture = *state;
    for (int enforced = 0; enforced < 2; enforced++) {
        use_policy(fixture, ALLOW);
        if (!enforced)
            fixture->api.caller = NULL;
        api_fixture_expect_error(&fixture->api, "PutResourcePolicy", PUT_POLICY("{}"),
                                 ERROR_VALIDATION,
                                 "One or more parameter values were invalid: Invalid policy "
                                 "document: A statement has no Effect");
    }
    store_policy(fixture, BYTES("{\"Statement\":{}}"));
    assert_false(passes(fixture, "GetItem", "{'TableName':'Tab','Key':" ALICE "}"));
    assert_true(passes(fixture, "ListTables", "{}"));
}

static void a_new_tables_policy_and_tags_need_permissions_of_their_own(void **state)
{
#define CREATE(more)                                                                               \
    "{'TableName':'New','AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}],"      \
    "'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],'BillingMode':'PAY_PER_REQUEST'" more   \
    "}"
    static const char self_allowing[] =
        CREATE(",'ResourcePolicy':'{\\'Statement\\':{\\'Effect\\':\\'Allow\\',\\'Principal\\':"
               "\\'*\\',\\'Action\\':\\'*\\',\\'Resource\\':\\'*\\'}}'");
    struct fixture *fixture = *state;
    use_policy(fixture, "{'Effect':'Allow','Action':'dynamodb:CreateTable','Resource':'*'}");
    assert_false(passes(fixture, "CreateTable", self_allowing));
    assert_false(passes(fixture, "CreateTable", CREATE(",'Tags':[{'Key':'team','Value':'blue'}]")));
    assert_true(passes(fixture, "CreateTable", CREATE("")));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_operation_asks_for_its_action_on_its_resource),
        TEST(every_operation_says_who_may_call_it),
        TEST(policies_see_all_keys_and_attributes_of_a_request),
        TEST(a_batch_of_statements_is_refused_one_by_one),
        TEST(records_are_asked_for_by_the_stream_of_their_iterator),
        TEST(a_tables_policy_allows_and_denies),
        TEST(a_tables_policy_that_cannot_be_enforced_is_refused_or_denies),
        TEST(a_new_tables_policy_and_tags_need_permissions_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
