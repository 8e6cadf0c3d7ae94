/* test_scan.c -- Scan: what it refuses, how it pages, and how segments divide a table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api_fixture.h"
#include "base/compiler.h"
#include "read_fixture.h"

enum { ITEMS = 40 };

/* ttt: partition key pk; its items have a string `v` with their number. */
static int set_up(void **state)
{
    static struct api_fixture fixture;
    api_fixture_open(&fixture, 0);
    read_fixture_call(
        &fixture, "CreateTable",
        read_fixture_json("{'TableName':'ttt','BillingMode':'PAY_PER_REQUEST',"
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

static void put(struct api_fixture *fixture, int number)
{
    read_fixture_call(fixture, "PutItem",
                      read_fixture_json("{'TableName':'ttt','Item':{'pk':{'S':'key %d'},"
                                        "'v':{'S':'%d'},'n':{'N':'%d'}}}",
                                        number, number, number));
}

static void put_all(struct api_fixture *fixture)
{
    for (int i = 0; i < ITEMS; i++)
        put(fixture, i);
}

/* --- Refusals --- */

#define INVALID_START "The provided starting key is invalid"
#define SCHEMA_MISMATCH INVALID_START ": The provided key element does not match the schema"

/* Behind "TableName":"ttt". */
static const struct {
    const char *body, *message;
} refusals[] = {
    { ",'Limit':0",
      "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must "
      "have value greater than or equal to 1" },
    { ",'TotalSegments':0,'Segment':0",
      "1 validation error detected: Value '0' at 'totalSegments' failed to satisfy constraint: "
      "Member must have value greater than or equal to 1" },
    { ",'TotalSegments':1000001,'Segment':0",
      "1 validation error detected: Value '1000001' at 'totalSegments' failed to satisfy "
      "constraint: Member must have value less than or equal to 1000000" },
    { ",'TotalSegments':1,'Segment':-1",
      "1 validation error detected: Value '-1' at 'segment' failed to satisfy constraint: Member "
      "must have value greater than or equal to 0" },
    { ",'TotalSegments':1000000,'Segment':1000000",
      "1 validation error detected: Value '1000000' at 'segment' failed to satisfy constraint: "
      "Member must have value less than or equal to 999999" },
    { ",'ScanFilter':{'v':{'ComparisonOperator':'IS'}}",
      "1 validation error detected: Value 'IS' at 'scanFilter.v.member.comparisonOperator' failed "
      "to satisfy constraint: Member must satisfy enum value set: [IN, NULL, BETWEEN, LT, "
      "NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, CONTAINS]" },
    { ",'FilterExpression':'f','ScanFilter':{},'AttributesToGet':['v'],'ConditionalOperator':'OR',"
      "'ProjectionExpression':'p'",
      "Can not use both expression and non-expression parameters in the same request: "
      "Non-expression parameters: {AttributesToGet, ScanFilter, ConditionalOperator} Expression "
      "parameters: {ProjectionExpression, FilterExpression}" },
    { ",'ExpressionAttributeValues':{':p':{'S':'a'}}",
      "ExpressionAttributeValues can only be specified when using expressions: FilterExpression is "
      "null" },
    { ",'ExpressionAttributeNames':{'#p':'a'}",
      "ExpressionAttributeNames can only be specified when using expressions" },
    { ",'TotalSegments':2",
      "The Segment parameter is required but was not present in the request when parameter "
      "TotalSegments is present" },
    { ",'Segment':1",
      "The TotalSegments parameter is required but was not present in the request when Segment "
      "parameter is present" },
    { ",'TotalSegments':2,'Segment':2",
      "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: "
      "2 is not less than TotalSegments: 2" },
    { ",'FilterExpression':''", "Invalid FilterExpression: The expression can not be empty;" },
    { ",'ConditionalOperator':'OR'",
      "ConditionalOperator cannot be used without Filter or Expected" },
    { ",'Select':'SPECIFIC_ATTRIBUTES'",
      "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
      "SPECIFIC_ATTRIBUTES" },
    { ",'Select':'COUNT','AttributesToGet':['v']",
      "Cannot specify the AttributesToGet when choosing to get only the Count" },
    { ",'Select':'ALL_PROJECTED_ATTRIBUTES'",
      "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName" },
    { ",'IndexName':'none'", "The table does not have the specified index: none" },
    { ",'ExclusiveStartKey':{}", SCHEMA_MISMATCH },
    { ",'ExclusiveStartKey':{'pk':{'N':'1'}}", SCHEMA_MISMATCH },
    { ",'ExclusiveStartKey':{'v':{'S':'1'}}", SCHEMA_MISMATCH },
    { ",'ExclusiveStartKey':{'pk':{'S':'1'},'v':{'S':'1'}}", SCHEMA_MISMATCH },
    { ",'ExclusiveStartKey':{'pk':{'N':'x'}}",
      "The parameter cannot be converted to a numeric value: x" },
    { ",'ExclusiveStartKey':{'pk':{'S':''}}",
      INVALID_START ": One or more parameter values are not valid. The AttributeValue for a key "
                    "attribute cannot contain an empty string value. Key: pk" },
    { ",'FilterExpression':'pk.a = pk[0]'",
      "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
      "allowed: Key: pk" },
};

static void each_fault_has_the_words_of_the_service(void **state)
{
    char body[1024];
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        snprintf(body, sizeof body, "{'TableName':'ttt'%s}", refusals[i].body);
        read_fixture_refuse(*state, "Scan", body, ERROR_VALIDATION, refusals[i].message);
    }
    read_fixture_refuse(*state, "Scan", "{'TableName':'none'}", ERROR_RESOURCE_NOT_FOUND,
                        "Requested resource not found");
}

/* --- Answers --- */

static void answers_hold_what_was_asked_for(void **state)
{
    static const struct {
        const char *body, *response;
    } answers[] = {
        { "", "{'Items':[{'n':{'N':'7'},'pk':{'S':'key 7'},'v':{'S':'7'}}],'Count':1,"
              "'ScannedCount':1}" },
        { ",'Limit':1", "{'Items':[{'n':{'N':'7'},'pk':{'S':'key 7'},'v':{'S':'7'}}],'Count':1,"
                        "'ScannedCount':1,'LastEvaluatedKey':{'pk':{'S':'key 7'}}}" },
        { ",'Limit':2,'Select':'COUNT'", "{'Count':1,'ScannedCount':1}" },
        /* A filter may be on the key. */
        { ",'FilterExpression':'pk = :p','ExpressionAttributeValues':{':p':{'S':'key 7'}},"
          "'ProjectionExpression':'n'",
          "{'Items':[{'n':{'N':'7'}}],'Count':1,'ScannedCount':1}" },
        { ",'ScanFilter':{'pk':{'ComparisonOperator':'BEGINS_WITH',"
          "'AttributeValueList':[{'S':'x'}]}},'AttributesToGet':['pk']",
          "{'Items':[],'Count':0,'ScannedCount':1}" },
        { ",'ScanFilter':{}", "{'Items':[{'n':{'N':'7'},'pk':{'S':'key 7'},'v':{'S':'7'}}],"
                              "'Count':1,'ScannedCount':1}" },
        { ",'ExclusiveStartKey':{'pk':{'S':'key 7'}}", "{'Items':[],'Count':0,'ScannedCount':0}" },
        { ",'Select':'COUNT','ReturnConsumedCapacity':'INDEXES','ConsistentRead':true",
          "{'Count':1,'ScannedCount':1,'ConsumedCapacity':{'TableName':'ttt','CapacityUnits':1.0,"
          "'Table':{'CapacityUnits':1.0}}}" },
    };
    char body[512];
    read_fixture_expect(*state, "Scan", "{'TableName':'ttt','ReturnConsumedCapacity':'TOTAL'}",
                        "{'Items':[],'Count':0,'ScannedCount':0,'ConsumedCapacity':{"
                        "'TableName':'ttt','CapacityUnits':0.5}}");
    put(*state, 7);
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        snprintf(body, sizeof body, "{'TableName':'ttt'%s}", answers[i].body);
        read_fixture_expect(*state, "Scan", body, answers[i].response);
    }
}

/* --- Pages and segments --- */

/* Reads all pages of a segment and notes in `segment_of` where each item was met: at most once. */
static size_t read_segment(struct api_fixture *fixture, int segment, int total, int limit,
                           int *segment_of)
{
    static struct read_fixture_page page;
    char start[READ_FIXTURE_KEY_MAX + 32] = "";
    size_t count = 0;
    do {
        read_fixture_call(fixture, "Scan",
                          read_fixture_json("{'TableName':'ttt','Segment':%d,'TotalSegments':%d,"
                                            "'Limit':%d%s}",
                                            segment, total, limit, start));
        read_fixture_page(fixture, &page);
        assert_int_equal(page.count, page.value_count);
        assert_int_equal(page.scanned_count, page.value_count);
        assert_int_equal(page.last_key[0] != '\0', page.count == (size_t)limit);
        for (size_t i = 0; i < page.value_count; i++) {
            int number = (int)strtol(page.values[i], NULL, 10);
            assert_true(number >= 0 && number < ITEMS);
            assert_int_equal(segment_of[number], -1);
            segment_of[number] = segment;
        }
        count += page.count;
        snprintf(start, sizeof start, ",'ExclusiveStartKey':%s", page.last_key);
    } while (page.last_key[0] != '\0');
    return count;
}

static void read_table(struct api_fixture *fixture, int total, int limit, int *segment_of)
{
    for (int i = 0; i < ITEMS; i++)
        segment_of[i] = -1;
    for (int segment = 0; segment < total; segment++)
        read_segment(fixture, segment, total, limit, segment_of);
}

static void pages_of_every_limit_hold_every_item_once(void **state)
{
    int segment_of[ITEMS];
    put_all(*state);
    for (int limit = 1; limit <= ITEMS + 1; limit++) {
        read_table(*state, 1, limit, segment_of);
        for (int i = 0; i < ITEMS; i++)
            assert_int_equal(segment_of[i], 0);
    }
}

static void segments_hold_every_item_once(void **state)
{
    static const int totals[] = { 2, 3, 4, 5, 7, 16, 100 };
    int segment_of[ITEMS];
    put_all(*state);
    for (size_t i = 0; i < COUNT_OF(totals); i++) {
        for (int limit = 1; limit <= 5; limit += 2) {
            read_table(*state, totals[i], limit, segment_of);
            for (int item = 0; item < ITEMS; item++)
                assert_int_not_equal(segment_of[item], -1);
        }
    }
}

static void an_item_stays_in_its_segment_while_others_come_and_go(void **state)
{
    int before[ITEMS], after[ITEMS];
    put_all(*state);
    read_table(*state, 7, 100, before);
    for (int i = 0; i < ITEMS; i += 2)
        read_fixture_call(*state, "DeleteItem",
                          read_fixture_json("{'TableName':'ttt','Key':{'pk':{'S':'key %d'}}}", i));
    read_table(*state, 7, 100, after);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(after[i], i % 2 == 0 ? -1 : before[i]);
    put_all(*state);
    read_table(*state, 7, 100, after);
    assert_memory_equal(after, before, sizeof after);
}

static void a_start_outside_of_the_segment_is_refused(void **state)
{
    int segment_of[ITEMS];
    char body[256];
    char message[256];
    put_all(*state);
    read_table(*state, 3, 100, segment_of);
    for (int segment = 0; segment < 3; segment++) {
        if (segment == segment_of[0])
            continue;
        snprintf(body, sizeof body,
                 "{'TableName':'ttt','Segment':%d,'TotalSegments':3,"
                 "'ExclusiveStartKey':{'pk':{'S':'key 0'}}}",
                 segment);
        snprintf(message, sizeof message,
                 INVALID_START ": Invalid ExclusiveStartKey. Please use ExclusiveStartKey with "
                               "correct Segment. TotalSegments: 3 Segment: %d",
                 segment);
        read_fixture_refuse(*state, "Scan", body, ERROR_VALIDATION, message);
    }
}

static void a_table_has_up_to_a_million_segments(void **state)
{
    static const struct {
        int segment, total;
    } accepted[] = {
        { 0, 1 }, { 0, 999999 }, { 999998, 999999 }, { 0, 1000000 }, { 999999, 1000000 }
    };
    int segment_of[ITEMS];
    put_all(*state);
    for (size_t i = 0; i < COUNT_OF(accepted); i++) {
        for (int item = 0; item < ITEMS; item++)
            segment_of[item] = -1;
        size_t count = read_segment(*state, accepted[i].segment, accepted[i].total, 10, segment_of);
        assert_int_equal(count, accepted[i].total == 1 ? ITEMS : 0);
    }
}

static void a_page_ends_behind_the_item_that_reaches_one_megabyte(void **state)
{
    enum { SIZE = 256 * 1024, KEY_SIZE = 2 + 1 + 1 };
    static char text[SIZE];
    static struct read_fixture_page page;
    memset(text, 'x', SIZE - KEY_SIZE);
    for (int i = 0; i < 9; i++)
        read_fixture_call(*state, "PutItem",
                          read_fixture_json("{'TableName':'ttt','Item':{'pk':{'S':'%d'},"
                                            "'w':{'S':'%s'}}}",
                                            i, text));
    static const size_t counts[] = { 4, 4, 1 };
    char start[READ_FIXTURE_KEY_MAX + 32] = "";
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        read_fixture_call(*state, "Scan",
                          read_fixture_json("{'TableName':'ttt','Select':'COUNT',"
                                            "'FilterExpression':'attribute_not_exists(w)'%s}",
                                            start));
        read_fixture_page(*state, &page);
        assert_int_equal(page.scanned_count, counts[i]);
        assert_int_equal(page.count, 0);
        assert_int_equal(page.last_key[0] != '\0', i < 2);
        snprintf(start, sizeof start, ",'ExclusiveStartKey':%s", page.last_key);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(each_fault_has_the_words_of_the_service),
        TEST(answers_hold_what_was_asked_for),
        TEST(pages_of_every_limit_hold_every_item_once),
        TEST(segments_hold_every_item_once),
        TEST(an_item_stays_in_its_segment_while_others_come_and_go),
        TEST(a_start_outside_of_the_segment_is_refused),
        TEST(a_table_has_up_to_a_million_segments),
        TEST(a_page_ends_behind_the_item_that_reaches_one_megabyte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
