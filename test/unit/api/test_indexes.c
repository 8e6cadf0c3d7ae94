/* test_indexes.c -- secondary indexes: what writes refuse and cost, what Query and Scan answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "api_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "failing_engine.h"
#include "reference_engine.h"

/* Local: "by-l" (l, KEYS_ONLY), "inc-m" (m, INCLUDE x). Global: "by-g" (g and h, KEYS_ONLY),
 * "all-g" (g, ALL), "multi" (g, m and h, l, INCLUDE x). */
static const char create[] =
    "{'TableName':'ttt','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["
    "{'AttributeName':'p','AttributeType':'S'},{'AttributeName':'s','AttributeType':'S'},"
    "{'AttributeName':'l','AttributeType':'S'},{'AttributeName':'m','AttributeType':'S'},"
    "{'AttributeName':'g','AttributeType':'S'},{'AttributeName':'h','AttributeType':'N'}],"
    "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'},{'AttributeName':'s','KeyType':'RANGE'}],"
    "'LocalSecondaryIndexes':["
    "{'IndexName':'by-l','KeySchema':[{'AttributeName':'p','KeyType':'HASH'},"
    "{'AttributeName':'l','KeyType':'RANGE'}],'Projection':{'ProjectionType':'KEYS_ONLY'}},"
    "{'IndexName':'inc-m','KeySchema':[{'AttributeName':'p','KeyType':'HASH'},"
    "{'AttributeName':'m','KeyType':'RANGE'}],"
    "'Projection':{'ProjectionType':'INCLUDE','NonKeyAttributes':['x']}}],"
    "'GlobalSecondaryIndexes':["
    "{'IndexName':'by-g','KeySchema':[{'AttributeName':'g','KeyType':'HASH'},"
    "{'AttributeName':'h','KeyType':'RANGE'}],'Projection':{'ProjectionType':'KEYS_ONLY'}},"
    "{'IndexName':'all-g','KeySchema':[{'AttributeName':'g','KeyType':'HASH'}],"
    "'Projection':{'ProjectionType':'ALL'}},"
    "{'IndexName':'multi','KeySchema':[{'AttributeName':'g','KeyType':'HASH'},"
    "{'AttributeName':'m','KeyType':'HASH'},{'AttributeName':'h','KeyType':'RANGE'},"
    "{'AttributeName':'l','KeyType':'RANGE'}],"
    "'Projection':{'ProjectionType':'INCLUDE','NonKeyAttributes':['x']}}]}";
/* Without a sort key, and so without local indexes. */
static const char create_one[] =
    "{'TableName':'one','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["
    "{'AttributeName':'p','AttributeType':'S'},{'AttributeName':'g','AttributeType':'S'}],"
    "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}],'GlobalSecondaryIndexes':["
    "{'IndexName':'by-g','KeySchema':[{'AttributeName':'g','KeyType':'HASH'}],"
    "'Projection':{'ProjectionType':'KEYS_ONLY'}}]}";

static int set_up(void **state)
{
    static struct api_fixture fixture;
    api_fixture_open_on(&fixture, failing_engine_create(reference_engine_create()), 0);
    assert_true(api_fixture_call(&fixture, "CreateTable", create));
    assert_true(api_fixture_call(&fixture, "CreateTable", create_one));
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    api_fixture_close(*state);
    return 0;
}

/* --- Writes --- */

#define ITEM(more) "'Item':{'p':{'S':'a'},'s':{'S':'1'}" more "}"
#define KEY "'Key':{'p':{'S':'a'},'s':{'S':'1'}}"
#define SET(name, value)                                                                           \
    KEY ",'UpdateExpression':'SET " name " = :v','ExpressionAttributeValues':{':v':" value "}"
#define MISMATCH(name, expected, actual, index)                                                    \
    "One or more parameter values were invalid: Type mismatch for Index Key " name                 \
    " Expected: " expected " Actual: " actual " IndexName: " index
#define EMPTY(index, name)                                                                         \
    "One or more parameter values are not valid. A value specified for a secondary index key is "  \
    "not supported. The AttributeValue for a key attribute cannot contain an empty string value. " \
    "IndexName: " index ", IndexKey: " name

static void values_that_cannot_be_index_keys_are_refused(void **state)
{
    static const struct {
        const char *operation, *body, *message;
    } cases[] = {
        { "PutItem", "{'TableName':'ttt'," ITEM(",'g':{'N':'1'}") "}",
          MISMATCH("g", "S", "N", "all-g") },
        { "PutItem", "{'TableName':'ttt'," ITEM(",'l':{'S':''}") "}", EMPTY("by-l", "l") },
        /* The table's key comes first, the index before the condition. */
        { "PutItem", "{'TableName':'ttt','Item':{'p':{'S':'a'},'s':{'N':'1'},'g':{'N':'1'}}}",
          "One or more parameter values were invalid: Type mismatch for key s expected: S actual: "
          "N" },
        { "PutItem",
          "{'TableName':'ttt'," ITEM(
              ",'g':{'N':'1'}") ",'ConditionExpression':'attribute_exists(p)'}",
          MISMATCH("g", "S", "N", "all-g") },
        { "UpdateItem", "{'TableName':'ttt'," SET("h", "{'S':'1'}") "}",
          MISMATCH("h", "N", "S", "by-g") },
        { "UpdateItem", "{'TableName':'ttt'," SET("g", "{'S':''}") "}",
          "One or more parameter values are not valid. The update expression attempted to update a "
          "secondary index key to a value that is not supported. The AttributeValue for a key "
          "attribute cannot contain an empty string value." },
        { "BatchWriteItem",
          "{'RequestItems':{'ttt':[{'PutRequest':{" ITEM(",'g':{'N':'1'}") "}}]}}",
          MISMATCH("g", "S", "N", "all-g") },
        { "BatchWriteItem", "{'RequestItems':{'ttt':[{'PutRequest':{" ITEM(",'g':{'S':''}") "}}]}}",
          EMPTY("all-g", "g") },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        api_fixture_expect_error(*state, cases[i].operation, cases[i].body, ERROR_VALIDATION,
                                 cases[i].message);
    api_fixture_expect_error(
        *state, "UpdateItem",
        "{'TableName':'ttt'," SET("h", "{'S':'1'}") ",'ConditionExpression':'attribute_exists(p)'}",
        ERROR_CONDITIONAL_CHECK_FAILED, "The conditional request failed");
    api_fixture_expect(*state, "Scan", "{'TableName':'ttt'}",
                       "{'Items':[],'Count':0,'ScannedCount':0}");
}

#define CAPACITY(total, table, rest)                                                               \
    "{'ConsumedCapacity':{'TableName':'ttt','CapacityUnits':" total                                \
    ",'Table':{'CapacityUnits':" table "}" rest "}}"
#define LOCAL(list) ",'LocalSecondaryIndexes':{" list "}"
#define GLOBAL(list) ",'GlobalSecondaryIndexes':{" list "}"
#define UNITS(name, units) "'" name "':{'CapacityUnits':" units "}"

/* 1,500 bytes: two write units. */
#define HUNDRED                                                                                    \
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"  \
    "123456789"
#define LONG                                                                                       \
    HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED        \
        HUNDRED HUNDRED HUNDRED HUNDRED

static void each_index_costs_what_changes_in_it(void **state)
{
    static const struct {
        const char *operation, *body, *response; /* In this order, on one item. */
    } steps[] = {
        { "PutItem", ITEM(""), CAPACITY("1.0", "1.0", "") },
        { "PutItem", ITEM(",'l':{'S':'l'},'g':{'S':'g'},'h':{'N':'1'}"),
          CAPACITY("4.0", "1.0",
                   LOCAL(UNITS("by-l", "1.0"))
                       GLOBAL(UNITS("by-g", "1.0") "," UNITS("all-g", "1.0"))) },
        /* The same again: the table is written, no index is. */
        { "PutItem", ITEM(",'l':{'S':'l'},'g':{'S':'g'},'h':{'N':'1'}"),
          CAPACITY("1.0", "1.0", "") },
        /* Only what is projected counts. */
        { "UpdateItem", SET("x", "{'S':'" LONG "'}"),
          CAPACITY("4.0", "2.0", GLOBAL(UNITS("all-g", "2.0"))) },
        { "UpdateItem", SET("m", "{'S':'m'}"),
          CAPACITY("8.0", "2.0",
                   LOCAL(UNITS("inc-m", "2.0"))
                       GLOBAL(UNITS("all-g", "2.0") "," UNITS("multi", "2.0"))) },
        /* Another key is two writes, each of its own size. */
        { "UpdateItem", SET("h", "{'N':'2'}"),
          CAPACITY(
              "10.0", "2.0",
              GLOBAL(UNITS("by-g", "2.0") "," UNITS("all-g", "2.0") "," UNITS("multi", "4.0"))) },
        { "UpdateItem",
          KEY ",'UpdateExpression':'SET h = :v REMOVE x','ExpressionAttributeValues':"
              "{':v':{'N':'3'}}",
          CAPACITY("11.0", "2.0",
                   LOCAL(UNITS("inc-m", "2.0")) GLOBAL(
                       UNITS("by-g", "2.0") "," UNITS("all-g", "2.0") "," UNITS("multi", "3.0"))) },
        /* A sparse key goes. */
        { "UpdateItem", KEY ",'UpdateExpression':'REMOVE g'",
          CAPACITY(
              "4.0", "1.0",
              GLOBAL(UNITS("by-g", "1.0") "," UNITS("all-g", "1.0") "," UNITS("multi", "1.0"))) },
        { "DeleteItem", KEY,
          CAPACITY("3.0", "1.0", LOCAL(UNITS("by-l", "1.0") "," UNITS("inc-m", "1.0"))) },
        { "DeleteItem", KEY, CAPACITY("1.0", "1.0", "") },
    };
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        char body[4096];
        snprintf(body, sizeof body, "{'TableName':'ttt','ReturnConsumedCapacity':'INDEXES',%s}",
                 steps[i].body);
        api_fixture_expect(*state, steps[i].operation, body, steps[i].response);
    }
    api_fixture_expect(*state, "PutItem",
                       "{'TableName':'ttt','ReturnConsumedCapacity':'TOTAL'," ITEM(
                           ",'l':{'S':'l'},'g':{'S':'g'},'h':{'N':'1'}") "}",
                       "{'ConsumedCapacity':{'TableName':'ttt','CapacityUnits':4.0}}");
}

static void a_batch_adds_up_what_its_writes_cost_and_tells_collections_once(void **state)
{
    api_fixture_expect(
        *state, "BatchWriteItem",
        "{'ReturnConsumedCapacity':'INDEXES','ReturnItemCollectionMetrics':'SIZE','RequestItems':"
        "{'ttt':[{'PutRequest':{'Item':{'p':{'S':'a'},'s':{'S':'1'},'l':{'S':'1'}}}},"
        "{'PutRequest':{'Item':{'p':{'S':'a'},'s':{'S':'6'},'l':{'S':'1'}}}},"
        "{'DeleteRequest':{'Key':{'p':{'S':'b'},'s':{'S':'6'}}}}],"
        "'one':[{'PutRequest':{'Item':{'p':{'S':'a'},'g':{'S':'1'}}}}]}}",
        "{'UnprocessedItems':{},"
        "'ItemCollectionMetrics':{'ttt':[{'ItemCollectionKey':{'p':{'S':'a'}},"
        "'SizeEstimateRangeGB':[0.0,1.0]},{'ItemCollectionKey':{'p':{'S':'b'}},"
        "'SizeEstimateRangeGB':[0.0,1.0]}]},"
        "'ConsumedCapacity':[{'TableName':'one','CapacityUnits':2.0,'Table':{'CapacityUnits':1.0},"
        "'GlobalSecondaryIndexes':{'by-g':{'CapacityUnits':1.0}}},"
        "{'TableName':'ttt','CapacityUnits':5.0,'Table':{'CapacityUnits':3.0},"
        "'LocalSecondaryIndexes':{'by-l':{'CapacityUnits':2.0}}}]}");
}

static void item_collections_belong_to_tables_with_a_local_index(void **state)
{
    static const char *const metrics = "{'ItemCollectionMetrics':{'ItemCollectionKey':{'p':{'S':"
                                       "'a'}},'SizeEstimateRangeGB':[0.0,1.0]}}";
    api_fixture_expect(*state, "PutItem",
                       "{'TableName':'ttt','ReturnItemCollectionMetrics':'SIZE'," ITEM("") "}",
                       metrics);
    api_fixture_expect(
        *state, "UpdateItem",
        "{'TableName':'ttt','ReturnItemCollectionMetrics':'SIZE'," SET("x", "{'S':'x'}") "}",
        metrics);
    api_fixture_expect(*state, "DeleteItem",
                       "{'TableName':'ttt','ReturnItemCollectionMetrics':'SIZE'," KEY "}", metrics);
    api_fixture_expect(*state, "DeleteItem",
                       "{'TableName':'ttt','ReturnItemCollectionMetrics':'NONE'," KEY "}", "{}");
    api_fixture_expect(
        *state, "PutItem",
        "{'TableName':'one','ReturnItemCollectionMetrics':'SIZE','Item':{'p':{'S':'a'}}}", "{}");
}

/* --- Statistics --- */

static void describe_table_counts_the_entries_of_each_index(void **state)
{
    struct api_fixture *fixture = *state;
    static const char *const bodies[] = {
        "{'TableName':'ttt'," ITEM(",'g':{'S':'g'},'h':{'N':'1'}") "}",
        "{'TableName':'ttt','Item':{'p':{'S':'b'},'s':{'S':'1'},'g':{'S':'g'},'x':{'S':'xx'}}}",
        "{'TableName':'ttt','Item':{'p':{'S':'c'},'s':{'S':'1'},'l':{'S':'lll'}}}",
    };
    for (size_t i = 0; i < COUNT_OF(bodies); i++)
        assert_true(api_fixture_call(fixture, "PutItem", bodies[i]));
    for (int restarted = 0; restarted <= 1; restarted++) {
        static const char *const stats[] = {
            "'TableSizeBytes':26,'ItemCount':3,",
            "'IndexSizeBytes':8,'ItemCount':1,"
            "'IndexArn':'arn:aws:dynamodb:eu-west-1:123456789012:table/ttt/index/by-l'",
            "'IndexSizeBytes':9,'ItemCount':1,"
            "'IndexArn':'arn:aws:dynamodb:eu-west-1:123456789012:table/ttt/index/by-g'",
            "'IndexSizeBytes':18,'ItemCount':2,"
            "'IndexArn':'arn:aws:dynamodb:eu-west-1:123456789012:table/ttt/index/all-g'",
            "'IndexSizeBytes':0,'ItemCount':0,"
            "'IndexArn':'arn:aws:dynamodb:eu-west-1:123456789012:table/ttt/index/multi'",
        };
        assert_true(api_fixture_call(fixture, "DescribeTable", "{'TableName':'ttt'}"));
        for (size_t i = 0; i < COUNT_OF(stats); i++) {
            if (!api_fixture_shows(fixture, stats[i]))
                fail_msg("%s\n%.*s", stats[i], BYTES_FMT(fixture->response));
        }
        api_fixture_restart(fixture, 0);
    }
}

/* --- Reads --- */

/* Three items of one index key, one more of another, and one in no index. */
/* Of the two with equal keys in each index, 1 comes before 6: by the hash of the table's key, which
 * would put 2 before 1. */
static void fill(struct api_fixture *fixture)
{
    static const char *const items[] = {
        "'p':{'S':'a'},'s':{'S':'1'},'l':{'S':'l'},'m':{'S':'m'},'g':{'S':'g'},'h':{'N':'1'},"
        "'x':{'S':'xx'},'y':{'S':'yy'}",
        "'p':{'S':'a'},'s':{'S':'6'},'l':{'S':'l'},'m':{'S':'m'},'g':{'S':'g'},'h':{'N':'1'},"
        "'x':{'S':'xx'},'y':{'S':'yy'}",
        "'p':{'S':'b'},'s':{'S':'1'},'l':{'S':'k'},'m':{'S':'m'},'g':{'S':'g'},'h':{'N':'-1'}",
        "'p':{'S':'b'},'s':{'S':'6'},'g':{'S':'f'},'h':{'N':'1'}",
        "'p':{'S':'c'},'s':{'S':'1'}",
    };
    for (size_t i = 0; i < COUNT_OF(items); i++) {
        char body[512];
        snprintf(body, sizeof body, "{'TableName':'ttt','Item':{%s}}", items[i]);
        assert_true(api_fixture_call(fixture, "PutItem", body));
    }
}

static void expect_read(struct api_fixture *fixture, const char *operation, const char *rest,
                        const char *response)
{
    char body[1024];
    snprintf(body, sizeof body, "{'TableName':'ttt',%s}", rest);
    api_fixture_expect(fixture, operation, body, response);
}

#define QUERY(index, condition, values)                                                            \
    "'IndexName':'" index "','KeyConditionExpression':'" condition                                 \
    "','ExpressionAttributeValues':{" values "}"
#define G "':g':{'S':'g'}"
#define A "':a':{'S':'a'}"
#define BY_G(p, s, h) "{'g':{'S':'g'},'h':{'N':'" h "'},'p':{'S':'" p "'},'s':{'S':'" s "'}}"
#define BY_L(s) "{'l':{'S':'l'},'p':{'S':'a'},'s':{'S':'" s "'}}"
#define WHOLE(s)                                                                                   \
    "{'g':{'S':'g'},'h':{'N':'1'},'l':{'S':'l'},'m':{'S':'m'},'p':{'S':'a'},'s':{'S':'" s          \
    "'},'x':{'S':'xx'},'y':{'S':'yy'}}"

static void entries_are_read_in_the_order_of_the_index(void **state)
{
    fill(*state);
    expect_read(*state, "Query", QUERY("by-g", "g = :g", G),
                "{'Items':[" BY_G("b", "1", "-1") "," BY_G("a", "1", "1") "," BY_G(
                    "a", "6", "1") "],'Count':3,'ScannedCount':3}");
    expect_read(*state, "Query", QUERY("by-g", "g = :g", G) ",'ScanIndexForward':false",
                "{'Items':[" BY_G("a", "6", "1") "," BY_G("a", "1", "1") "," BY_G(
                    "b", "1", "-1") "],'Count':3,'ScannedCount':3}");
    expect_read(
        *state, "Query", QUERY("by-g", "g = :g AND h > :h", G ",':h':{'N':'0'}"),
        "{'Items':[" BY_G("a", "1", "1") "," BY_G("a", "6", "1") "],'Count':2,'ScannedCount':2}");
    expect_read(*state, "Query", QUERY("by-l", "p = :a", A),
                "{'Items':[" BY_L("1") "," BY_L("6") "],'Count':2,'ScannedCount':2}");
    expect_read(*state, "Query", QUERY("all-g", "g = :g", G) ",'Select':'COUNT'",
                "{'Count':3,'ScannedCount':3}");
    expect_read(*state, "Query",
                QUERY("multi", "g = :g AND m = :m AND h = :h AND begins_with(l, :l)",
                      G ",':m':{'S':'m'},':h':{'N':'1'},':l':{'S':'l'}") ",'Limit':1",
                "{'Items':[{'g':{'S':'g'},'h':{'N':'1'},'l':{'S':'l'},'m':{'S':'m'},'p':{'S':'a'},"
                "'s':{'S':'1'},'x':{'S':'xx'}}],'Count':1,'ScannedCount':1,'LastEvaluatedKey':"
                "{'g':{'S':'g'},'m':{'S':'m'},'h':{'N':'1'},'l':{'S':'l'},'p':{'S':'a'},"
                "'s':{'S':'1'}}}");
    expect_read(*state, "Query",
                QUERY("multi", "g = :g AND m = :m AND h < :h",
                      G ",':m':{'S':'m'},':h':{'N':'1'}") ",'Select':'COUNT'",
                "{'Count':1,'ScannedCount':1}");
}

/* Two entries of the same index key, one to a page. */
static void equal_keys_are_not_lost_between_pages(void **state)
{
    fill(*state);
#define LIMITED QUERY("by-g", "g = :g AND h = :h", G ",':h':{'N':'1'}") ",'Limit':1"
#define LAST(s) "'LastEvaluatedKey':{'g':{'S':'g'},'h':{'N':'1'},'p':{'S':'a'},'s':{'S':'" s "'}}"
#define GO_ON(s)                                                                                   \
    ",'ExclusiveStartKey':{'s':{'S':'" s "'},'p':{'S':'a'},'h':{'N':'1'},'g':{'S':'g'}}"
    static const struct {
        const char *start, *items;
    } pages[] = {
        { "", "'Items':[" BY_G("a", "1", "1") "],'Count':1,'ScannedCount':1," LAST("1") },
        { GO_ON("1"), "'Items':[" BY_G("a", "6", "1") "],'Count':1,'ScannedCount':1," LAST("6") },
        { GO_ON("6"), "'Items':[],'Count':0,'ScannedCount':0" },
        { ",'ScanIndexForward':false",
          "'Items':[" BY_G("a", "6", "1") "],'Count':1,'ScannedCount':1," LAST("6") },
        { ",'ScanIndexForward':false" GO_ON("6"),
          "'Items':[" BY_G("a", "1", "1") "],'Count':1,'ScannedCount':1," LAST("1") },
        { ",'ScanIndexForward':false" GO_ON("1"), "'Items':[],'Count':0,'ScannedCount':0" },
    };
    for (size_t i = 0; i < COUNT_OF(pages); i++) {
        char body[512], response[512];
        snprintf(body, sizeof body, LIMITED "%s", pages[i].start);
        snprintf(response, sizeof response, "{%s}", pages[i].items);
        expect_read(*state, "Query", body, response);
    }
}

static void a_local_index_fetches_what_it_does_not_have(void **state)
{
#define READ_CAPACITY(total, table, index)                                                         \
    "'ConsumedCapacity':{'TableName':'ttt','CapacityUnits':" total                                 \
    ",'Table':{'CapacityUnits':" table "},'LocalSecondaryIndexes':{'by-l':{'CapacityUnits':" index \
    "}}}"
    fill(*state);
    const struct {
        const char *rest, *response;
    } cases[] = {
        { ",'Select':'ALL_ATTRIBUTES','ConsistentRead':true",
          "{'Items':[" WHOLE("1") "," WHOLE("6") "],'Count':2,'ScannedCount':2," READ_CAPACITY(
              "3.0", "2.0", "1.0") "}" },
        { ",'ProjectionExpression':'y'",
          "{'Items':[{'y':{'S':'yy'}},{'y':{'S':'yy'}}],'Count':2,'ScannedCount':2," READ_CAPACITY(
              "1.5", "1.0", "0.5") "}" },
        { ",'ProjectionExpression':'s'",
          "{'Items':[{'s':{'S':'1'}},{'s':{'S':'6'}}],'Count':2,'ScannedCount':2," READ_CAPACITY(
              "0.5", "0.0", "0.5") "}" },
        /* Whatever a filter leaves. */
        { ",'ProjectionExpression':'y','FilterExpression':'s = :a'",
          "{'Items':[],'Count':0,'ScannedCount':2," READ_CAPACITY("1.5", "1.0", "0.5") "}" },
        { ",'Select':'ALL_PROJECTED_ATTRIBUTES','Limit':1",
          "{'Items':[" BY_L("1") "],'Count':1,'ScannedCount':1,'LastEvaluatedKey':{'p':{'S':'a'},"
                                 "'l':{'S':'l'},'s':{'S':'1'}}," READ_CAPACITY("0.5", "0.0",
                                                                               "0.5") "}" },
        { ",'Select':'COUNT'",
          "{'Count':2,'ScannedCount':2," READ_CAPACITY("0.5", "0.0", "0.5") "}" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char body[512];
        snprintf(body, sizeof body,
                 QUERY("by-l", "p = :a", A) ",'ReturnConsumedCapacity':'INDEXES'%s", cases[i].rest);
        expect_read(*state, "Query", body, cases[i].response);
    }
    expect_read(*state, "Scan",
                "'IndexName':'by-l','Select':'ALL_ATTRIBUTES','ExclusiveStartKey':{'p':{'S':'a'},"
                "'l':{'S':'l'},'s':{'S':'1'}},'Limit':1",
                "{'Items':[" WHOLE("6") "],'Count':1,'ScannedCount':1,'LastEvaluatedKey':"
                                        "{'p':{'S':'a'},'l':{'S':'l'},'s':{'S':'6'}}}");
}

/* A Query refuses such a filter. */
static void a_scan_s_filter_may_name_what_the_index_does_not_have(void **state)
{
    fill(*state);
#define FILTERED(index, filter)                                                                    \
    "'IndexName':'" index "','FilterExpression':'" filter                                          \
    "','ExpressionAttributeValues':{':y':{'S':'yy'}}"
    const struct {
        const char *body, *response;
    } cases[] = {
        /* Fetched for the filter, but not shown. */
        { FILTERED("by-l", "y = :y AND s <> :y") ",'ReturnConsumedCapacity':'INDEXES'",
          "{'Items':[" BY_L("1") "," BY_L("6") "],'Count':2,'ScannedCount':3," READ_CAPACITY(
              "2.0", "1.5", "0.5") "}" },
        { FILTERED("by-l", "y < :y") ",'ReturnConsumedCapacity':'INDEXES'",
          "{'Items':[],'Count':0,'ScannedCount':3," READ_CAPACITY("2.0", "1.5", "0.5") "}" },
        { FILTERED("by-l", "y = :y") ",'Select':'COUNT'", "{'Count':2,'ScannedCount':3}" },
        { FILTERED("by-l", "y = :y") ",'Select':'ALL_ATTRIBUTES'",
          "{'Items':[" WHOLE("1") "," WHOLE("6") "],'Count':2,'ScannedCount':3}" },
        { FILTERED("by-l", "s = :y") ",'ReturnConsumedCapacity':'INDEXES'",
          "{'Items':[],'Count':0,'ScannedCount':3," READ_CAPACITY("0.5", "0.0", "0.5") "}" },
        { FILTERED("by-g", "y = :y"), "{'Items':[],'Count':0,'ScannedCount':4}" },
        { FILTERED("all-g", "y = :y") ",'Select':'COUNT'", "{'Count':2,'ScannedCount':4}" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        expect_read(*state, "Scan", cases[i].body, cases[i].response);
}

static void an_index_is_scanned_whole_and_in_segments(void **state)
{
    struct api_fixture *fixture = *state;
    fill(fixture);
    expect_read(fixture, "Scan", "'IndexName':'by-g','Select':'COUNT'",
                "{'Count':4,'ScannedCount':4}");
    expect_read(fixture, "Scan", "'IndexName':'by-l','Select':'COUNT'",
                "{'Count':3,'ScannedCount':3}");
    for (int global = 0; global <= 1; global++) {
        unsigned found = 0;
        for (int segment = 0; segment < 5; segment++) {
            char body[256];
            snprintf(body, sizeof body,
                     "{'TableName':'ttt','IndexName':'%s','TotalSegments':5,'Segment':%d}",
                     global ? "all-g" : "inc-m", segment);
            assert_true(api_fixture_call(fixture, "Scan", body));
            for (unsigned count = 1; count <= 4; count++) {
                char text[32];
                snprintf(text, sizeof text, "'Count':%u,", count);
                found += api_fixture_shows(fixture, text) ? count : 0;
            }
        }
        assert_int_equal(found, global ? 4 : 3);
    }
}

#define STARTING(key) ",'ExclusiveStartKey':{" key "}"
#define INVALID "One or more parameter values were invalid: "
#define ON_G QUERY("by-g", "g = :g", G)
#define SCHEMA "The provided key element does not match the schema"

/* Behind "TableName":"ttt". */
static const struct {
    const char *operation, *body, *message;
} read_refusals[] = {
    { "Query", QUERY("none", "g = :g", G), "The table does not have the specified index: none" },
    { "Query", ON_G ",'ConsistentRead':true",
      "Consistent reads are not supported on global secondary indexes" },
    { "Scan", "'IndexName':'all-g','ConsistentRead':true",
      "Consistent reads are not supported on global secondary indexes" },
    /* Before the condition is looked at. */
    { "Query", QUERY("by-g", "q = :g", G) ",'ConsistentRead':true",
      "Consistent reads are not supported on global secondary indexes" },
    { "Query", ON_G ",'Select':'ALL_ATTRIBUTES'",
      INVALID "Select type ALL_ATTRIBUTES is not supported for global secondary index by-g "
              "because its projection type is not ALL" },
    { "Scan", "'IndexName':'by-g','Select':'ALL_ATTRIBUTES'",
      INVALID "Select type ALL_ATTRIBUTES is not supported for global secondary index by-g "
              "because its projection type is not ALL" },
    { "Query", ON_G ",'ProjectionExpression':'p, y.a, x'",
      INVALID "Global secondary index by-g does not project [x, y]" },
    { "Query",
      QUERY("by-g", "g = :g", G ",':x':{'S':'x'}") ",'FilterExpression':'x = :x AND p = :x'",
      INVALID "Secondary index by-g does not project one or more filter attributes: [x]" },
    /* Before the attributes to show. */
    { "Query",
      QUERY("by-g", "g = :g",
            G ",':x':{'S':'x'}") ",'FilterExpression':'x = :x','ProjectionExpression':'y'",
      INVALID "Secondary index by-g does not project one or more filter attributes: [x]" },
    { "Query", QUERY("by-l", "p = :a", A ",':x':{'S':'x'}") ",'FilterExpression':'x = :x'",
      INVALID "Secondary index by-l does not project one or more filter attributes: [x]" },
    { "Query", QUERY("by-g", "g = :g", G ",':x':{'N':'1'}") ",'FilterExpression':'h = :x'",
      "Filter Expression can only contain non-primary key attributes: Primary key attribute: "
      "h" },
    { "Query", QUERY("by-l", "p = :a AND s = :x", A ",':x':{'S':'x'}"),
      "Query condition missed key schema element: l" },
    { "Query", QUERY("by-g", "g = :g", "':g':{'S':''}"), EMPTY("by-g", "g") },
    { "Query", QUERY("by-l", "p = :a AND l > :l", A ",':l':{'S':''}"), EMPTY("by-l", "l") },
    { "Query", QUERY("multi", "g = :g", G),
      "HASH key attributes m must have equality conditions specified in the query" },
    /* Starting keys. */
    { "Query", ON_G STARTING("'g':{'S':'g'},'h':{'N':'1'}"),
      "The provided starting key is invalid" },
    { "Scan", "'IndexName':'by-g'" STARTING("'g':{'S':'g'},'h':{'N':'1'}"),
      "The provided starting key is invalid" },
    { "Query", ON_G STARTING("'g':{'S':'g'},'h':{'S':'1'},'p':{'S':'a'},'s':{'S':'1'}"), SCHEMA },
    { "Scan",
      "'IndexName':'by-g'" STARTING("'g':{'N':'1'},'h':{'N':'1'},'p':{'S':'a'},'s':{'S':'1'}"),
      SCHEMA },
    { "Query", ON_G STARTING("'g':{'S':'g'},'h':{'N':'1'},'p':{'N':'1'},'s':{'S':'1'}"),
      "The provided starting key is invalid: " SCHEMA },
    { "Query", ON_G STARTING("'g':{'S':'g'},'h':{'N':'1'},'p':{'S':'a'},'z':{'S':'1'}"),
      "The provided starting key is invalid: " SCHEMA },
    { "Scan",
      "'IndexName':'by-g'" STARTING("'g':{'S':''},'h':{'N':'1'},'p':{'S':'a'},'s':{'S':'1'}"),
      "The provided starting key is invalid: " EMPTY("all-g", "g") },
    { "Query", ON_G STARTING("'g':{'S':'q'},'h':{'N':'1'},'p':{'S':'a'},'s':{'S':'1'}"),
      "The provided starting key is outside query boundaries based on provided conditions" },
    { "Query",
      QUERY("by-g", "g = :g AND h > :h", G ",':h':{'N':'5'}")
          STARTING("'g':{'S':'g'},'h':{'N':'1'},'p':{'S':'a'},'s':{'S':'1'}"),
      "The provided starting key does not match the range key predicate" },
};

static void reads_that_an_index_cannot_answer_are_refused(void **state)
{
    fill(*state);
    for (size_t i = 0; i < COUNT_OF(read_refusals); i++) {
        char body[512];
        snprintf(body, sizeof body, "{'TableName':'ttt',%s}", read_refusals[i].body);
        api_fixture_expect_error(*state, read_refusals[i].operation, body, ERROR_VALIDATION,
                                 read_refusals[i].message);
    }
}

static void a_filter_on_an_index_may_name_the_table_s_key(void **state)
{
    fill(*state);
    expect_read(*state, "Query",
                QUERY("by-g", "g = :g", G ",':p':{'S':'b'}") ",'FilterExpression':'p = :p'",
                "{'Items':[" BY_G("b", "1", "-1") "],'Count':1,'ScannedCount':3}");
}

/* --- Failures --- */

/* Makes the call with its first, second, ... engine call failing, until it succeeds. */
static void sweep(struct api_fixture *fixture, const char *operation, const char *body,
                  const char *scan)
{
    bool struck = true;
    for (uint64_t call = 1; struck; call++) {
        failing_engine_set(fixture->engine,
                           &(struct failing_engine_plan){ .call = call, .status = ENGINE_IO });
        bool ok = api_fixture_call(fixture, operation, body);
        struck = failing_engine_struck(fixture->engine);
        failing_engine_set(fixture->engine, &(struct failing_engine_plan){ 0 });
        assert_int_equal(ok, !struck);
        if (!struck)
            break;
        assert_int_equal(fixture->error.code, ERROR_INTERNAL);
        if (scan != NULL)
            expect_read(fixture, "Scan", "'IndexName':'by-g','Select':'COUNT'", scan);
    }
}

static void a_failure_leaves_the_index_as_it_was(void **state)
{
    static const char *const put = "{'TableName':'ttt'," ITEM(",'g':{'S':'g'},'h':{'N':'1'}") "}";
    static const char *const none = "{'Count':0,'ScannedCount':0}";
    static const char *const one = "{'Count':1,'ScannedCount':1}";
    sweep(*state, "PutItem", put, none);
    expect_read(*state, "Scan", "'IndexName':'by-g','Select':'COUNT'", one);
    sweep(*state, "UpdateItem", "{'TableName':'ttt'," SET("h", "{'N':'2'}") "}", one);
    sweep(*state, "DeleteItem", "{'TableName':'ttt'," KEY "}", one);
    expect_read(*state, "Scan", "'IndexName':'by-g','Select':'COUNT'", none);
}

static void a_failure_while_reading_an_index_is_an_internal_error(void **state)
{
    fill(*state);
    sweep(*state, "Query", "{'TableName':'ttt'," QUERY("by-l", "p = :a", A) "}", NULL);
    sweep(*state, "Query",
          "{'TableName':'ttt','Select':'ALL_ATTRIBUTES'," QUERY("by-l", "p = :a", A) "}", NULL);
    sweep(*state, "Scan", "{'TableName':'ttt','IndexName':'multi'}", NULL);
    sweep(*state, "DescribeTable", "{'TableName':'ttt'}", NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_that_cannot_be_index_keys_are_refused),
        TEST(each_index_costs_what_changes_in_it),
        TEST(a_batch_adds_up_what_its_writes_cost_and_tells_collections_once),
        TEST(item_collections_belong_to_tables_with_a_local_index),
        TEST(describe_table_counts_the_entries_of_each_index),
        TEST(entries_are_read_in_the_order_of_the_index),
        TEST(equal_keys_are_not_lost_between_pages),
        TEST(a_local_index_fetches_what_it_does_not_have),
        TEST(a_scan_s_filter_may_name_what_the_index_does_not_have),
        TEST(an_index_is_scanned_whole_and_in_segments),
        TEST(reads_that_an_index_cannot_answer_are_refused),
        TEST(a_filter_on_an_index_may_name_the_table_s_key),
        TEST(a_failure_leaves_the_index_as_it_was),
        TEST(a_failure_while_reading_an_index_is_an_internal_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
