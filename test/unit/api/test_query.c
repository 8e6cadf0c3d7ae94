/* test_query.c -- Query: what it refuses, what it answers, and how it pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "api/operation.h"
#include "api_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "model/table_definition.h"
#include "read_fixture.h"
#include "table/catalogue.h"
#include "table/item_address.h"

#define CREATE(name, sort_type)                                                                    \
    "{'TableName':'" name "','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["             \
    "{'AttributeName':'pk','AttributeType':'S'},{'AttributeName':'sk','AttributeType':'" sort_type \
    "'}],'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'},"                                    \
    "{'AttributeName':'sk','KeyType':'RANGE'}]}"

/* ttt: pk and sk are strings, with an index; num: sk is a number; hash: pk only. */
static int set_up(void **state)
{
    static struct api_fixture fixture;
    api_fixture_open(&fixture, 0);
    read_fixture_call(
        &fixture, "CreateTable",
        read_fixture_json(
            "{'TableName':'ttt','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["
            "{'AttributeName':'pk','AttributeType':'S'},{'AttributeName':'sk','AttributeType':'S'},"
            "{'AttributeName':'ik','AttributeType':'S'}],'KeySchema':["
            "{'AttributeName':'pk','KeyType':'HASH'},{'AttributeName':'sk','KeyType':'RANGE'}],"
            "'GlobalSecondaryIndexes':[{'IndexName':'iii','KeySchema':["
            "{'AttributeName':'ik','KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}]}"));
    read_fixture_call(&fixture, "CreateTable", read_fixture_json(CREATE("num", "N")));
    read_fixture_call(
        &fixture, "CreateTable",
        read_fixture_json("{'TableName':'hash','BillingMode':'PAY_PER_REQUEST',"
                          "'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}],"
                          "'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}]}"));
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    api_fixture_close(*state);
    return 0;
}

/* --- Refusals --- */

#define KEY "'KeyConditionExpression':'pk = :p'"
#define VALUES(more) "'ExpressionAttributeValues':{':p':{'S':'a'}" more "}"
#define SORT(condition) "'KeyConditionExpression':'pk = :p AND " condition "'"
#define PK_CONDITION "'pk':{'ComparisonOperator':'EQ','AttributeValueList':[{'S':'a'}]}"
#define KEY_CONDITIONS "'KeyConditions':{" PK_CONDITION "}"
#define START(key) ",'ExclusiveStartKey':{" key "}"
#define INVALID_START "The provided starting key is invalid"
#define SCHEMA_MISMATCH INVALID_START ": The provided key element does not match the schema"
#define PREDICATE "The provided starting key does not match the range key predicate"
#define OUTSIDE "The provided starting key is outside query boundaries based on provided conditions"
#define MIXED(legacy, expressions)                                                                 \
    "Can not use both expression and non-expression parameters in the same request: "              \
    "Non-expression parameters: {" legacy "} Expression parameters: {" expressions "}"
#define EMPTY_KEY(name)                                                                            \
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "   \
    "contain an empty string value. Key: " name

/* Behind "TableName":"ttt". */
static const struct {
    const char *body, *message;
} refusals[] = {
    /* Shape. */
    { KEY "," VALUES("") ",'Limit':0",
      "1 validation error detected: Value at 'Limit' failed to satisfy constraint: Member must "
      "have value greater than or equal to 1" },
    { KEY "," VALUES("") ",'Select':'ALL','ReturnConsumedCapacity':'SOME'",
      "2 validation errors detected: Value 'SOME' at 'returnConsumedCapacity' failed to satisfy "
      "constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]; Value 'ALL' at "
      "'select' failed to satisfy constraint: Member must satisfy enum value set: "
      "[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]" },
    { "'KeyConditions':{'pk':{}}",
      "1 validation error detected: Value null at 'keyConditions.pk.member.comparisonOperator' "
      "failed to satisfy constraint: Member must not be null" },
    { KEY_CONDITIONS ",'AttributesToGet':[]",
      "1 validation error detected: Value '[]' at 'attributesToGet' failed to satisfy constraint: "
      "Member must have length greater than or equal to 1" },
    /* Older and newer parameters. */
    { KEY "," VALUES("") ",'AttributesToGet':['v']",
      MIXED("AttributesToGet", "KeyConditionExpression") },
    { KEY "," KEY_CONDITIONS ",'QueryFilter':{},'ConditionalOperator':'OR',"
          "'AttributesToGet':['v'],'FilterExpression':'f','ProjectionExpression':'p'",
      MIXED("AttributesToGet, QueryFilter, ConditionalOperator, KeyConditions",
            "ProjectionExpression, FilterExpression, KeyConditionExpression") },
    { KEY_CONDITIONS ",'QueryFilter':{},'ProjectionExpression':'p'",
      MIXED("QueryFilter", "ProjectionExpression") },
    { KEY_CONDITIONS ",'ExpressionAttributeNames':{'#a':'b'}",
      "ExpressionAttributeNames can only be specified when using expressions" },
    { KEY_CONDITIONS "," VALUES(""),
      "ExpressionAttributeValues can only be specified when using expressions: FilterExpression "
      "and KeyConditionExpression are null" },
    { "'ProjectionExpression':'a'," VALUES(""),
      "ExpressionAttributeValues can only be specified when using expressions: FilterExpression "
      "and KeyConditionExpression are null" },
    { KEY_CONDITIONS ",'ConditionalOperator':'AND'",
      "ConditionalOperator cannot be used without Filter or Expected" },
    { KEY_CONDITIONS ",'ConditionalOperator':'OR','QueryFilter':{'v':"
                     "{'ComparisonOperator':'NULL'}}",
      "ConditionalOperator can only be used when Filter or Expected has two or more elements" },
    { KEY_CONDITIONS ",'AttributesToGet':['v','v']",
      "One or more parameter values were invalid: Duplicate value in attribute name: v" },
    /* Expressions. */
    { KEY "," VALUES(",':n':{'N':'x'}"),
      "The parameter cannot be converted to a numeric value: x" },
    { KEY "," VALUES("") START("'pk':{'S':'a'},'sk':{'N':'x'}"),
      "The parameter cannot be converted to a numeric value: x" },
    { KEY "," VALUES("") ",'FilterExpression':''",
      "Invalid FilterExpression: The expression can not be empty;" },
    { KEY "," VALUES("") ",'ProjectionExpression':''",
      "Invalid ProjectionExpression: The expression can not be empty;" },
    { "'KeyConditionExpression':''," VALUES(""),
      "Invalid KeyConditionExpression: The expression can not be empty;" },
    { KEY "," VALUES(",':u':{'S':'b'}"),
      "Value provided in ExpressionAttributeValues unused in expressions: keys: {:u}" },
    { KEY "," VALUES("") ",'ExpressionAttributeNames':{'#u':'u'}",
      "Value provided in ExpressionAttributeNames unused in expressions: keys: {#u}" },
    /* Select. */
    { KEY "," VALUES("") ",'Select':'SPECIFIC_ATTRIBUTES'",
      "1 validation error detected: Must specify the AttributesToGet or ProjectionExpression when "
      "choosing to get SPECIFIC_ATTRIBUTES" },
    { KEY "," VALUES("") ",'Select':'ALL_ATTRIBUTES','ProjectionExpression':'v'", ERROR_ENVELOPE
      "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES" },
    { KEY_CONDITIONS ",'Select':'ALL_ATTRIBUTES','AttributesToGet':['v']",
      ERROR_ENVELOPE "Cannot specify the AttributesToGet when choosing to get ALL_ATTRIBUTES" },
    { KEY "," VALUES("") ",'Select':'COUNT','ProjectionExpression':'v'", ERROR_ENVELOPE
      "Cannot specify the ProjectionExpression when choosing to get only the Count" },
    { KEY "," VALUES("") ",'Select':'ALL_PROJECTED_ATTRIBUTES','ProjectionExpression':'v'",
      ERROR_ENVELOPE
      "Cannot specify the ProjectionExpression when choosing to get ALL_PROJECTED_ATTRIBUTES" },
    { KEY "," VALUES("") ",'Select':'ALL_PROJECTED_ATTRIBUTES'",
      ERROR_ENVELOPE "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName" },
    /* The index and the key condition. */
    { KEY "," VALUES("") ",'IndexName':'none'",
      "The table does not have the specified index: none" },
    { KEY "," VALUES("") ",'IndexName':''", "The table does not have the specified index: " },
    { KEY "," VALUES(",':n':{'SS':['b','b']}"),
      "One or more parameter values were invalid: Input collection [\"b\", \"b\"] contains "
      "duplicates." },
    { KEY "," VALUES("") ",'IndexName':'iii'", "Query condition missed key schema element: ik" },
    { "'Limit':1",
      "Either the KeyConditions or KeyConditionExpression parameter must be specified in the "
      "request." },
    { "'KeyConditions':{}",
      "Either the KeyConditions or KeyConditionExpression parameter must be specified in the "
      "request." },
    { KEY "," VALUES("") ",'ProjectionExpression':'pk.a'",
      "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
      "allowed: Key: pk" },
    { "'KeyConditionExpression':'zz = :p'," VALUES(""),
      "Query condition missed key schema element: pk" },
    { "'KeyConditionExpression':'pk < :p'," VALUES(""), "Query key condition not supported" },
    { SORT("sk = :s") "," VALUES(",':s':{'N':'1'}"),
      "One or more parameter values were invalid: Condition parameter type does not match schema "
      "type" },
    { KEY ",'ExpressionAttributeValues':{':p':{'S':''}}", EMPTY_KEY("pk") },
    { SORT("sk = :s") "," VALUES(",':s':{'S':''}"), EMPTY_KEY("sk") },
    { SORT("begins_with(sk, :s)") "," VALUES(",':s':{'S':''}"), EMPTY_KEY("sk") },
    { SORT("sk BETWEEN :s AND :p") "," VALUES(",':s':{'S':''}"), EMPTY_KEY("sk") },
    /* Where to start. */
    { KEY "," VALUES("") ",'ExclusiveStartKey':{}", INVALID_START },
    { KEY "," VALUES("") START("'pk':{'S':'a'}"), INVALID_START },
    { KEY "," VALUES("") START("'pk':{'S':'a'},'sk':{'S':'s'},'v':{'S':'s'}"), INVALID_START },
    { KEY "," VALUES("") START("'pk':{'S':'a'},'v':{'S':'s'}"), SCHEMA_MISMATCH },
    { KEY "," VALUES("") START("'pk':{'S':'a'},'sk':{'N':'1'}"), SCHEMA_MISMATCH },
    { KEY "," VALUES("") START("'pk':{'S':'a'},'sk':{'S':''}"),
      INVALID_START ": " EMPTY_KEY("sk") },
    { KEY "," VALUES("") START("'pk':{'S':'b'},'sk':{'S':'s'}"), OUTSIDE },
    { SORT("sk = :s") "," VALUES(",':s':{'S':'s'}") START("'pk':{'S':'b'},'sk':{'S':'s'}"),
      PREDICATE },
    { SORT("sk = :s") "," VALUES(",':s':{'S':'s'}") START("'pk':{'S':'a'},'sk':{'S':'t'}"),
      PREDICATE },
    { SORT("sk > :s") "," VALUES(",':s':{'S':'s'}") START("'pk':{'S':'a'},'sk':{'S':'s'}"),
      PREDICATE },
    { SORT("sk <= :s") "," VALUES(",':s':{'S':'s'}") START("'pk':{'S':'a'},'sk':{'S':'s'}"),
      PREDICATE },
    { SORT("sk >= :s") ",'ScanIndexForward':false," VALUES(",':s':{'S':'s'}")
          START("'pk':{'S':'a'},'sk':{'S':'s'}"),
      PREDICATE },
    /* The filter. */
    { KEY "," VALUES("") ",'FilterExpression':'sk = :p AND pk = :p'",
      "Filter Expression can only contain non-primary key attributes: Primary key attribute: pk" },
    { KEY "," VALUES(",':n':{'N':'1'}") ",'FilterExpression':'NOT (v = :p OR size(sk) > :n)'",
      "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk" },
    { KEY_CONDITIONS ",'QueryFilter':{'sk':{'ComparisonOperator':'NOT_NULL'}}",
      "QueryFilter can only contain non-primary key attributes: Primary key attribute: sk" },
};

static void each_fault_has_the_words_of_the_service(void **state)
{
    char body[2048];
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        snprintf(body, sizeof body, "{'TableName':'ttt',%s}", refusals[i].body);
        read_fixture_refuse(*state, "Query", body, ERROR_VALIDATION, refusals[i].message);
    }
}

static void a_table_that_is_missing_comes_before_what_depends_on_it(void **state)
{
    read_fixture_refuse(*state, "Query", "{'TableName':'none'}", ERROR_RESOURCE_NOT_FOUND,
                        "Requested resource not found");
    read_fixture_refuse(
        *state, "Query", "{'TableName':'none'," KEY "," VALUES("") ",'FilterExpression':'x ='}",
        ERROR_VALIDATION, "Invalid FilterExpression: Syntax error; token: \"<EOF>\", near: \"=\"");
    read_fixture_refuse(*state, "Query", "{}", ERROR_VALIDATION,
                        "1 validation error detected: Value null at 'tableName' failed to satisfy "
                        "constraint: Member must not be null");
}

static void messages_repeat_a_zero_byte(void **state)
{
    static const char message[] = "The table does not have the specified index: a\0b";
    struct api_fixture *fixture = *state;
    assert_false(api_fixture_call(
        fixture, "Query",
        read_fixture_json("{'TableName':'ttt','IndexName':'a\\u0000b'," KEY "," VALUES("") "}")));
    assert_true(bytes_equal(fixture->error.message, bytes_of(message, sizeof message - 1)));
}

static const char *repeated(char letter, size_t count)
{
    static char text[4096];
    assert_true(count < sizeof text);
    memset(text, letter, count);
    text[count] = '\0';
    return text;
}

static void sort_key_values_have_a_size_limit(void **state)
{
    static const struct {
        const char *condition;
        size_t size;
        bool accepted;
    } cases[] = {
        { "sk = :s", 1023, true },
        { "sk = :s", 1024, true },
        { "sk = :s", 1025, false },
        { "begins_with(sk, :s)", 1024, true },
        { "begins_with(sk, :s)", 1025, false },
        { "sk BETWEEN :p AND :s", 1025, false },
    };
    struct api_fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bool ok = api_fixture_call(
            fixture, "Query",
            read_fixture_json("{'TableName':'ttt','KeyConditionExpression':'pk = :p AND %s',"
                              "'ExpressionAttributeValues':{':p':{'S':'a'},':s':{'S':'%s'}}}",
                              cases[i].condition, repeated('s', cases[i].size)));
        assert_int_equal(ok, cases[i].accepted);
        if (!ok)
            assert_true(bytes_equal_text(fixture->error.message,
                                         "One or more parameter values were invalid: Aggregated "
                                         "size of all range keys has exceeded the size limit of "
                                         "1024 bytes"));
    }
}

static void a_partition_key_too_long_to_exist_has_no_items(void **state)
{
    for (size_t size = 2047; size <= 2049; size++) {
        read_fixture_call(*state, "Query",
                          read_fixture_json("{'TableName':'ttt'," KEY
                                            ",'ExpressionAttributeValues':{':p':{'S':'%s'}}}",
                                            repeated('p', size)));
        assert_true(api_fixture_shows(*state, "{\"Items\":[],\"Count\":0,\"ScannedCount\":0}"));
    }
}

/* --- Answers --- */

static void put(struct api_fixture *fixture, const char *item)
{
    read_fixture_call(fixture, "PutItem", read_fixture_json("%s", item));
}

/* Behind "TableName":"ttt", of the items s0 to s3 of partition key "a". */
static const struct {
    const char *body, *response;
} answers[] = {
    { KEY "," VALUES("") ",'ProjectionExpression':'sk'",
      "{'Items':[{'sk':{'S':'s0'}},{'sk':{'S':'s1'}},{'sk':{'S':'s2'}},{'sk':{'S':'s3'}}],"
      "'Count':4,'ScannedCount':4}" },
    { KEY "," VALUES("") ",'ProjectionExpression':'sk','ScanIndexForward':false,'Limit':2",
      "{'Items':[{'sk':{'S':'s3'}},{'sk':{'S':'s2'}}],'Count':2,'ScannedCount':2,"
      "'LastEvaluatedKey':{'pk':{'S':'a'},'sk':{'S':'s2'}}}" },
    { KEY "," VALUES("") ",'Limit':1",
      "{'Items':[{'m':{'M':{'x':{'N':'0'},'y':{'S':'y'}}},'pk':{'S':'a'},'sk':{'S':'s0'},"
      "'v':{'N':'0'}}],'Count':1,'ScannedCount':1,"
      "'LastEvaluatedKey':{'pk':{'S':'a'},'sk':{'S':'s0'}}}" },
    { KEY "," VALUES("") ",'Select':'COUNT'", "{'Count':4,'ScannedCount':4}" },
    { KEY "," VALUES("") ",'Select':'COUNT','Limit':4",
      "{'Count':4,'ScannedCount':4,'LastEvaluatedKey':{'pk':{'S':'a'},'sk':{'S':'s3'}}}" },
    { KEY "," VALUES("") ",'Select':'COUNT','Limit':5", "{'Count':4,'ScannedCount':4}" },
    /* Limit counts items before the filter. */
    { KEY "," VALUES(
          ",':v':{'N':'2'}") ",'FilterExpression':'v >= :v','Limit':3,'ProjectionExpression':'v'",
      "{'Items':[{'v':{'N':'2'}}],'Count':1,'ScannedCount':3,"
      "'LastEvaluatedKey':{'pk':{'S':'a'},'sk':{'S':'s2'}}}" },
    { KEY "," VALUES(",':v':{'N':'9'}") ",'FilterExpression':'m.x >= :v'",
      "{'Items':[],'Count':0,'ScannedCount':4}" },
    { KEY "," VALUES("") ",'ProjectionExpression':'m.x, #z','ExpressionAttributeNames':{'#z':'z'},"
                         "'Limit':1,'Select':'SPECIFIC_ATTRIBUTES'",
      "{'Items':[{'m':{'M':{'x':{'N':'0'}}}}],'Count':1,'ScannedCount':1,"
      "'LastEvaluatedKey':{'pk':{'S':'a'},'sk':{'S':'s0'}}}" },
    { "'KeyConditions':{" PK_CONDITION ",'sk':{'ComparisonOperator':'BETWEEN',"
      "'AttributeValueList':[{'S':'s1'},{'S':'s2'}]}},'AttributesToGet':['sk']",
      "{'Items':[{'sk':{'S':'s1'}},{'sk':{'S':'s2'}}],'Count':2,'ScannedCount':2}" },
    { KEY_CONDITIONS ",'AttributesToGet':['v'],'ConditionalOperator':'OR','QueryFilter':{"
                     "'v':{'ComparisonOperator':'LT','AttributeValueList':[{'N':'1'}]},"
                     "'m':{'ComparisonOperator':'NULL'}}",
      "{'Items':[{'v':{'N':'0'}}],'Count':1,'ScannedCount':4}" },
    /* KeyConditions go with all newer parameters but their own. */
    { KEY_CONDITIONS ",'FilterExpression':'v < :v','ProjectionExpression':'v',"
                     "'ExpressionAttributeValues':{':v':{'N':'1'}}",
      "{'Items':[{'v':{'N':'0'}}],'Count':1,'ScannedCount':4}" },
    /* The last key possible needs no going on; of `=` it is told all the same. */
    { SORT("sk <= :s") ",'Limit':2,'Select':'COUNT'," VALUES(",':s':{'S':'s1'}"),
      "{'Count':2,'ScannedCount':2}" },
    { SORT("sk >= :s") ",'ScanIndexForward':false,'Limit':2,'Select':'COUNT'," VALUES(
          ",':s':{'S':'s2'}"),
      "{'Count':2,'ScannedCount':2}" },
    { SORT("sk = :s") ",'Limit':1,'Select':'COUNT'," VALUES(",':s':{'S':'s1'}"),
      "{'Count':1,'ScannedCount':1,'LastEvaluatedKey':{'pk':{'S':'a'},'sk':{'S':'s1'}}}" },
    { SORT("sk = :s") ",'Select':'COUNT'," VALUES(",':s':{'S':'s1'}")
          START("'pk':{'S':'a'},'sk':{'S':'s1'}"),
      "{'Count':0,'ScannedCount':0}" },
    /* A starting key need not exist. */
    { KEY "," VALUES("") ",'ProjectionExpression':'sk'" START("'pk':{'S':'a'},'sk':{'S':'s11'}"),
      "{'Items':[{'sk':{'S':'s2'}},{'sk':{'S':'s3'}}],'Count':2,'ScannedCount':2}" },
    { KEY "," VALUES("") ",'Select':'COUNT','ReturnConsumedCapacity':'TOTAL'",
      "{'Count':4,'ScannedCount':4,'ConsumedCapacity':{'TableName':'ttt','CapacityUnits':0.5}}" },
    { KEY "," VALUES("") ",'Select':'COUNT','ReturnConsumedCapacity':'INDEXES',"
                         "'ConsistentRead':true",
      "{'Count':4,'ScannedCount':4,'ConsumedCapacity':{'TableName':'ttt','CapacityUnits':1.0,"
      "'Table':{'CapacityUnits':1.0}}}" },
};

static void answers_hold_what_was_asked_for(void **state)
{
    char body[2048];
    for (int i = 0; i < 4; i++) {
        snprintf(body, sizeof body,
                 "{'TableName':'ttt','Item':{'pk':{'S':'a'},'sk':{'S':'s%d'},'v':{'N':'%d'},"
                 "'m':{'M':{'x':{'N':'%d'},'y':{'S':'y'}}}}}",
                 i, i, i);
        put(*state, body);
    }
    put(*state, "{'TableName':'ttt','Item':{'pk':{'S':'b'},'sk':{'S':'s0'}}}");
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        snprintf(body, sizeof body, "{'TableName':'ttt',%s}", answers[i].body);
        read_fixture_expect(*state, "Query", body, answers[i].response);
    }
}

static void a_table_without_sort_key_has_one_item_to_a_query(void **state)
{
    put(*state, "{'TableName':'hash','Item':{'pk':{'S':'a'}}}");
    read_fixture_expect(*state, "Query", "{'TableName':'hash'," KEY "," VALUES("") "}",
                        "{'Items':[{'pk':{'S':'a'}}],'Count':1,'ScannedCount':1}");
    read_fixture_expect(*state, "Query",
                        "{'TableName':'hash','Limit':1,'Select':'COUNT'," KEY "," VALUES("") "}",
                        "{'Count':1,'ScannedCount':1}");
    read_fixture_refuse(*state, "Query",
                        "{'TableName':'hash'," KEY "," VALUES("") START("'pk':{'S':'b'}") "}",
                        ERROR_VALIDATION,
                        "The provided exclusive start key is invalid: ExclusiveStartKey: "
                        "{pk=AttributeValue: {S:b}}");
    read_fixture_refuse(*state, "Query", "{'TableName':'hash'," SORT("sk = :p") "," VALUES("") "}",
                        ERROR_VALIDATION, "Query key condition not supported");
}

/* --- Paging --- */

enum { PAGED_ITEMS = 24 };

/* Which of the numbers from 0 on a condition holds; `end` and `reverse_end`: the last one that it
 * may hold, read forward or backward, so that a full page ends there for good; -1: unknown. */
static const struct {
    const char *condition;
    int first, last;
    int end, reverse_end;
} paged[] = {
    { "", 0, PAGED_ITEMS - 1, -1, -1 },
    { " AND sk < :s", 0, 16, -1, -1 },
    { " AND sk <= :s", 0, 17, 17, -1 },
    { " AND sk > :s", 18, PAGED_ITEMS - 1, -1, -1 },
    { " AND sk >= :s", 17, PAGED_ITEMS - 1, -1, 17 },
    { " AND sk BETWEEN :r AND :s", 3, 17, 17, 3 },
};

/* Reads all pages and compares them with the numbers from `first` to `last`. */
static void check_pages(struct api_fixture *fixture, size_t index, int limit, bool forward)
{
    static struct read_fixture_page page;
    const char *condition = paged[index].condition;
    char start[READ_FIXTURE_KEY_MAX + 32] = "";
    char want[16];
    int next = forward ? paged[index].first : paged[index].last;
    int left = paged[index].last - paged[index].first + 1;
    int end = forward ? paged[index].end : paged[index].reverse_end;
    bool more = true;
    while (more) {
        read_fixture_call(
            fixture, "Query",
            read_fixture_json("{'TableName':'num','Limit':%d,'ScanIndexForward':%s,"
                              "'KeyConditionExpression':'pk = :p%s','ExpressionAttributeValues':{"
                              "%s%s':p':{'S':'a'}}%s}",
                              limit, forward ? "true" : "false", condition,
                              strstr(condition, ":s") != NULL ? "':s':{'N':'17'}," : "",
                              strstr(condition, ":r") != NULL ? "':r':{'N':'3'}," : "", start));
        read_fixture_page(fixture, &page);
        int expected = left < limit ? left : limit;
        assert_int_equal(page.count, expected);
        assert_int_equal(page.scanned_count, expected);
        assert_int_equal(page.value_count, expected);
        for (int i = 0; i < expected; i++) {
            snprintf(want, sizeof want, "%d", next);
            assert_string_equal(page.values[i], want);
            next += forward ? 1 : -1;
        }
        left -= expected;
        int last = next - (forward ? 1 : -1);
        more = page.last_key[0] != '\0';
        assert_int_equal(more, expected == limit && last != end);
        snprintf(start, sizeof start, ",'ExclusiveStartKey':%s", page.last_key);
    }
    assert_int_equal(left, 0);
}

static void pages_of_every_limit_hold_every_item_once(void **state)
{
    char body[256];
    for (int i = 0; i < PAGED_ITEMS; i++) {
        snprintf(body, sizeof body,
                 "{'TableName':'num','Item':{'pk':{'S':'a'},'sk':{'N':'%d'},'v':{'S':'%d'}}}", i,
                 i);
        put(*state, body);
    }
    put(*state, "{'TableName':'num','Item':{'pk':{'S':'b'},'sk':{'N':'5'},'v':{'S':'x'}}}");
    for (size_t index = 0; index < COUNT_OF(paged); index++) {
        for (int limit = 1; limit <= PAGED_ITEMS + 1; limit++) {
            check_pages(*state, index, limit, true);
            check_pages(*state, index, limit, false);
        }
    }
}

/* --- One megabyte --- */

enum { QUARTER = 256 * 1024, KEY_SIZE = 2 + 1 + 2 + 2 + 1 };

/* The item's names and values take `size` bytes. */
static void put_sized(struct api_fixture *fixture, int number, size_t size)
{
    static char text[QUARTER + 1];
    memset(text, 'x', size - KEY_SIZE);
    text[size - KEY_SIZE] = '\0';
    read_fixture_call(fixture, "PutItem",
                      read_fixture_json("{'TableName':'num','Item':{'pk':{'S':'a'},"
                                        "'sk':{'N':'%d'},'w':{'S':'%s'}}}",
                                        number, text));
}

static void a_page_ends_behind_the_item_that_reaches_one_megabyte(void **state)
{
    for (int i = 1; i <= 6; i++)
        put_sized(*state, i, QUARTER);
    read_fixture_expect(
        *state, "Query",
        "{'TableName':'num','Select':'COUNT','ReturnConsumedCapacity':'TOTAL'," KEY
        "," VALUES("") "}",
        "{'Count':4,'ScannedCount':4,'LastEvaluatedKey':{'pk':{'S':'a'},'sk':{'N':'4'}},"
        "'ConsumedCapacity':{'TableName':'num','CapacityUnits':128.0}}");
    put_sized(*state, 2, QUARTER - 1); /* One byte below. */
    read_fixture_expect(
        *state, "Query", "{'TableName':'num','Select':'COUNT'," KEY "," VALUES("") "}",
        "{'Count':5,'ScannedCount':5,'LastEvaluatedKey':{'pk':{'S':'a'},'sk':{'N':'5'}}}");
    put_sized(*state, 2, QUARTER);
    read_fixture_expect(
        *state, "Query", /* Before the filter, and told even though nothing passed. */
        "{'TableName':'num','Select':'COUNT','FilterExpression':'attribute_exists(z)'," KEY
        "," VALUES("") "}",
        "{'Count':0,'ScannedCount':4,'LastEvaluatedKey':{'pk':{'S':'a'},'sk':{'N':'4'}}}");
    read_fixture_expect(
        *state, "Query",
        "{'TableName':'num','Select':'COUNT','ScanIndexForward':false," KEY "," VALUES("") "}",
        "{'Count':4,'ScannedCount':4,'LastEvaluatedKey':{'pk':{'S':'a'},'sk':{'N':'3'}}}");
    read_fixture_expect(*state, "Query",
                        "{'TableName':'num','Select':'COUNT'," KEY "," VALUES("")
                            START("'pk':{'S':'a'},'sk':{'N':'4'}") "}",
                        "{'Count':2,'ScannedCount':2}");
}

static void capacity_is_rounded_up_once_for_the_page(void **state)
{
    static const struct {
        size_t size;
        const char *strong, *eventual;
    } cases[] = {
        { 2048, "1.0", "0.5" },
        { 2049, "2.0", "1.0" },
        { 6144, "3.0", "1.5" },
        { 6145, "4.0", "2.0" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        put_sized(*state, 1, cases[i].size);
        put_sized(*state, 2, cases[i].size % 2 == 0 ? cases[i].size : cases[i].size - 1);
        for (int strong = 0; strong <= 1; strong++) {
            char want[256];
            snprintf(want, sizeof want, "\"CapacityUnits\":%s}",
                     strong ? cases[i].strong : cases[i].eventual);
            read_fixture_call(*state, "Query",
                              read_fixture_json("{'TableName':'num','ConsistentRead':%s,"
                                                "'ReturnConsumedCapacity':'TOTAL'," KEY
                                                "," VALUES("") "}",
                                                strong ? "true" : "false"));
            assert_true(api_fixture_shows(*state, want));
        }
    }
}

/* --- Damage --- */

static void a_damaged_item_is_an_internal_error_and_never_left_out(void **state)
{
    struct api_fixture *fixture = *state;
    put(fixture, "{'TableName':'hash','Item':{'pk':{'S':'a'}}}");
    struct table *table = catalogue_find(api_catalogue(fixture->api), BYTES("hash"));
    struct arena *arena = arena_create();
    struct item_builder builder;
    struct buffer value;
    struct item_address place;
    struct engine_write *write = NULL;
    struct error err;
    error_init(&err, arena);
    item_builder_init(&builder, arena);
    buffer_init(&value, arena);
    value_append_string(&value, BYTES("a"));
    item_builder_add(&builder, BYTES("pk"), buffer_bytes(&value));
    struct item key = item_builder_finish(&builder);
    assert_true(item_address_of_key(arena, table_definition(table), &key, &place, &err));
    assert_int_equal(engine_write_begin(fixture->engine, &place.address, 1, &write), ENGINE_OK);
    engine_write_put(write, &place.address, BYTES("damaged"));
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    table_release(table);
    arena_destroy(arena);
    read_fixture_refuse(fixture, "Query", "{'TableName':'hash'," KEY "," VALUES("") "}",
                        ERROR_INTERNAL, "Internal server error");
    read_fixture_refuse(fixture, "Scan", "{'TableName':'hash','Select':'COUNT'}", ERROR_INTERNAL,
                        "Internal server error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(each_fault_has_the_words_of_the_service),
        TEST(a_table_that_is_missing_comes_before_what_depends_on_it),
        TEST(messages_repeat_a_zero_byte),
        TEST(sort_key_values_have_a_size_limit),
        TEST(a_partition_key_too_long_to_exist_has_no_items),
        TEST(answers_hold_what_was_asked_for),
        TEST(a_table_without_sort_key_has_one_item_to_a_query),
        TEST(pages_of_every_limit_hold_every_item_once),
        TEST(a_page_ends_behind_the_item_that_reaches_one_megabyte),
        TEST(capacity_is_rounded_up_once_for_the_page),
        TEST(a_damaged_item_is_an_internal_error_and_never_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
