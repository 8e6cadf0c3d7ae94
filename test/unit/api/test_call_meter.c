/* test_call_meter.c -- what calls do to tables and indexes is what the meter shows afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "api_fixture.h"
#include "metric/meter.h"
#include "model/table_definition.h"

static struct api_fixture fixture;

static int set_up(void **state)
{
    (void)state;
    api_fixture_open(&fixture, 0);
    assert_true(api_fixture_call(
        &fixture, "CreateTable",
        "{'TableName':'Orders','BillingMode':'PAY_PER_REQUEST',"
        "'AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'},"
        "{'AttributeName':'g','AttributeType':'S'}],"
        "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}],"
        "'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'KEYS_ONLY'},"
        "'GlobalSecondaryIndexes':[{'IndexName':'by_g','KeySchema':["
        "{'AttributeName':'g','KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}]}"));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&fixture);
    return 0;
}

/* --- Reading --- */

struct seen {
    const char *name;
    size_t found;
    struct meter_table_reading table;
    struct meter_index_reading index;
    char index_name[64];
    struct meter_operation_reading *operations;
};
static struct seen seen;

static void look(void *context, const struct meter_table_reading *table)
{
    (void)context;
    if (!bytes_equal_text(table->name, seen.name))
        return;
    size_t size = meter_operation_count(api_meter(fixture.api)) * sizeof *seen.operations;
    seen.found++;
    seen.table = *table;
    memcpy(seen.operations, table->operations, size);
    if (table->index_count > 0)
        seen.index = table->indexes[0];
    snprintf(seen.index_name, sizeof seen.index_name, "%.*s", BYTES_FMT(seen.index.name));
}

static const struct meter_operation_reading *operation(const char *table, const char *name)
{
    struct meter *meter = api_meter(fixture.api);
    size_t count = meter_operation_count(meter);
    free(seen.operations);
    seen = (struct seen){ .name = table, .operations = calloc(count, sizeof *seen.operations) };
    meter_read(meter, meter_minute(meter), look, NULL);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(meter_operation_at(meter, i)->name, name) == 0)
            return &seen.operations[i];
    }
    fail_msg("no operation %s", name);
    return NULL;
}

/* --- Tests --- */

static void writes_and_reads_of_an_index_count_for_it(void **state)
{
    (void)state;
    assert_true(api_fixture_call(&fixture, "PutItem",
                                 "{'TableName':'Orders','Item':{'p':{'S':'1'},'g':{'S':'x'}}}"));
    assert_true(
        api_fixture_call(&fixture, "PutItem", "{'TableName':'Orders','Item':{'p':{'S':'2'}}}"));
    assert_true(api_fixture_call(
        &fixture, "Query",
        "{'TableName':'Orders','IndexName':'by_g','KeyConditionExpression':'g = :g',"
        "'FilterExpression':'p = :p',"
        "'ExpressionAttributeValues':{':g':{'S':'x'},':p':{'S':'other'}}}"));
    const struct meter_operation_reading *put = operation("Orders", "PutItem");
    assert_int_equal(put->calls[ERROR_NONE], 2);
    assert_int_equal(put->items_written, 2);
    assert_int_equal(seen.table.units[METER_WRITE].half_units, 4);
    assert_int_equal(seen.table.units[METER_READ].half_units, 0);
    assert_int_equal(seen.table.index_count, 1);
    assert_string_equal(seen.index_name, "by_g");
    assert_true(seen.index.exists && seen.index.global);
    assert_int_equal(seen.index.units[METER_WRITE].half_units, 2);
    assert_int_equal(seen.index.units[METER_WRITE].minute.half_units.count, 1);
    assert_int_equal(seen.index.units[METER_READ].half_units, 1);
    assert_int_equal(seen.index.read_count, 1);
    assert_int_equal(seen.index.reads[0].items_read, 1);
    assert_int_equal(seen.index.reads[0].items_returned, 0);
    assert_int_equal(seen.table.stream_records, 2);
    assert_int_equal(seen.table.item_sizes[2], 1); /* 4 bytes: p, 1, g, x. */
    assert_int_equal(seen.table.item_sizes[1], 1); /* 2 bytes. */
    assert_int_equal(seen.table.item_size_sum, 6);
    const struct meter_operation_reading *query = operation("Orders", "Query");
    assert_int_equal(query->items_read, 0); /* It read the index. */
    assert_int_equal(query->minute.returned_items.count, 1);
    assert_int_equal(query->minute.returned_items.sum, 0);
}

static void an_unchanged_item_writes_no_stream_record(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_true(
            api_fixture_call(&fixture, "PutItem", "{'TableName':'Orders','Item':{'p':{'S':'1'}}}"));
    assert_int_equal(operation("Orders", "PutItem")->items_written, 3);
    assert_int_equal(seen.table.stream_records, 1);
}

static void a_failed_condition_counts_and_costs(void **state)
{
    (void)state;
    assert_false(api_fixture_call(&fixture, "PutItem",
                                  "{'TableName':'Orders','Item':{'p':{'S':'1'}},"
                                  "'ConditionExpression':'attribute_exists(p)'}"));
    const struct meter_operation_reading *put = operation("Orders", "PutItem");
    assert_int_equal(put->calls[ERROR_CONDITIONAL_CHECK_FAILED], 1);
    assert_int_equal(put->calls[ERROR_NONE], 0);
    assert_int_equal(seen.table.condition_failures, 1);
    assert_int_equal(seen.table.minute.condition_failures, 1);
    assert_int_equal(seen.table.units[METER_WRITE].half_units, 2);
    assert_int_equal(seen.table.stream_records, 0);
    assert_int_equal(meter_read_errors(api_meter(fixture.api), 0).user_errors, 0);
}

static void put(const char *key, size_t size)
{
    char body[4096];
    assert_true(size < sizeof body - 128);
    snprintf(body, sizeof body, "{'TableName':'Orders','Item':{'p':{'S':'%s'},'b':{'S':'%0*d'}}}",
             key, (int)size, 0);
    assert_true(api_fixture_call(&fixture, "PutItem", body));
}

/* Documented: by the larger of the item that there is and the one that would be there. */
static void a_failed_condition_costs_the_larger_item(void **state)
{
    (void)state;
    char body[4096];
    put("1", 1100);
    int64_t before = 4;
    assert_int_equal(operation("Orders", "PutItem")->items_written, 1);
    assert_int_equal(seen.table.units[METER_WRITE].half_units, before);
    snprintf(body, sizeof body,
             "{'TableName':'Orders','Item':{'p':{'S':'1'},'b':{'S':'%0*d'}},"
             "'ConditionExpression':'attribute_not_exists(p)'}",
             3000, 0);
    assert_false(api_fixture_call(&fixture, "PutItem", body));
    operation("Orders", "PutItem");
    assert_int_equal(seen.table.units[METER_WRITE].half_units, before += 6);
    assert_false(api_fixture_call(&fixture, "PutItem",
                                  "{'TableName':'Orders','Item':{'p':{'S':'1'}},"
                                  "'ConditionExpression':'attribute_not_exists(p)'}"));
    assert_false(api_fixture_call(&fixture, "DeleteItem",
                                  "{'TableName':'Orders','Key':{'p':{'S':'1'}},"
                                  "'ConditionExpression':'attribute_not_exists(p)'}"));
    operation("Orders", "PutItem");
    assert_int_equal(seen.table.units[METER_WRITE].half_units, before + 8);
    assert_int_equal(seen.table.condition_failures, 3);
}

/* The answer shows nothing of it. */
static void a_failed_statement_of_a_batch_counts_and_costs(void **state)
{
    (void)state;
    put("1", 1100);
    assert_true(api_fixture_call(
        &fixture, "BatchExecuteStatement",
        "{'ReturnConsumedCapacity':'TOTAL','Statements':["
        "{'Statement':'DELETE FROM Orders WHERE p=\\u00271\\u0027 AND g=\\u0027no\\u0027'},"
        "{'Statement':'UPDATE Orders SET x=1 WHERE p=\\u00272\\u0027'},"
        "{'Statement':'DELETE FROM Orders WHERE p=\\u00273\\u0027'}]}"));
    assert_true(api_fixture_shows(
        &fixture, "'ConsumedCapacity':[{'TableName':'Orders','CapacityUnits':1.0}]"));
    const struct meter_operation_reading *batch = operation("Orders", "BatchExecuteStatement");
    assert_int_equal(batch->calls[ERROR_NONE], 1);
    assert_int_equal(seen.table.condition_failures, 2);
    assert_int_equal(seen.table.units[METER_WRITE].half_units, 4 + 4 + 2 + 2);
}

static void an_insert_of_an_item_that_exists_costs(void **state)
{
    (void)state;
    put("1", 1100);
    static const char insert[] =
        "'INSERT INTO Orders VALUE {\\u0027p\\u0027:\\u00271\\u0027,\\u0027b\\u0027:1}'";
    char body[512];
    snprintf(body, sizeof body, "{'Statement':%s}", insert);
    assert_false(api_fixture_call(&fixture, "ExecuteStatement", body));
    assert_int_equal(fixture.error.code, ERROR_DUPLICATE_ITEM);
    snprintf(body, sizeof body,
             "{'ReturnConsumedCapacity':'TOTAL','Statements':[{'Statement':%s}]}", insert);
    assert_true(api_fixture_call(&fixture, "BatchExecuteStatement", body));
    assert_true(api_fixture_shows(&fixture, "'ConsumedCapacity':[]"));
    assert_int_equal(operation("Orders", "ExecuteStatement")->calls[ERROR_DUPLICATE_ITEM], 1);
    assert_int_equal(seen.table.condition_failures, 0); /* The caller has set no condition. */
    assert_int_equal(seen.table.units[METER_WRITE].half_units, 4 + 4 + 4);
}

static void a_cancelled_page_costs_what_it_read(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++) {
        char key[16];
        snprintf(key, sizeof key, "%03d", i);
        put(key, 3900);
    }
    assert_true(api_fixture_call(&fixture, "Scan", "{'TableName':'Orders'}"));
    operation("Orders", "Scan");
    int64_t page = (int64_t)seen.table.units[METER_READ].half_units;
    fixture.pauses = fixture.cancels = true;
    assert_false(api_fixture_call(&fixture, "Scan", "{'TableName':'Orders'}"));
    const struct meter_operation_reading *scan = operation("Orders", "Scan");
    assert_int_equal(scan->calls[ERROR_REQUEST_TIMEOUT], 1);
    int64_t cancelled = (int64_t)seen.table.units[METER_READ].half_units - page;
    assert_in_range(cancelled, 1, page - 1);
}

static void a_cancelled_transaction_counts_per_item(void **state)
{
    (void)state;
    assert_false(api_fixture_call(
        &fixture, "TransactWriteItems",
        "{'TransactItems':[{'Put':{'TableName':'Orders','Item':{'p':{'S':'1'},'g':{'S':'x'}}}},"
        "{'ConditionCheck':{'TableName':'Orders','Key':{'p':{'S':'2'}},"
        "'ConditionExpression':'attribute_exists(p)'}},"
        "{'Delete':{'TableName':'Orders','Key':{'p':{'S':'3'}},"
        "'ConditionExpression':'attribute_exists(p)'}}]}"));
    const struct meter_operation_reading *write = operation("Orders", "TransactWriteItems");
    assert_int_equal(write->calls[ERROR_TRANSACTION_CANCELED], 1);
    assert_int_equal(seen.table.condition_failures, 2);
    /* Twice a unit for each of three items; nothing of the index. */
    assert_int_equal(seen.table.units[METER_WRITE].half_units, 12);
    assert_int_equal(seen.table.units[METER_WRITE].minute.half_units.count, 1);
    assert_int_equal(seen.table.index_count, 0);
    assert_int_equal(seen.table.stream_records, 0);
    static struct histogram batches;
    memset(&batches, 0, sizeof batches);
    struct meter *meter = api_meter(fixture.api);
    for (unsigned i = 0; i < meter_operation_count(meter); i++)
        meter_read_batches(meter, i, &batches);
    assert_int_equal(batches.count, 1);
    assert_int_equal(batches.sum, 3);
}

static void a_table_named_twice_is_one_request(void **state)
{
    (void)state;
    assert_true(api_fixture_call(
        &fixture, "TransactGetItems",
        "{'TransactItems':[{'Get':{'TableName':'Orders','Key':{'p':{'S':'1'}}}},"
        "{'Get':{'TableName':'arn:aws:dynamodb:eu-west-1:123456789012:table/Orders',"
        "'Key':{'p':{'S':'2'}}}}]}"));
    assert_int_equal(operation("Orders", "TransactGetItems")->calls[ERROR_NONE], 1);
    assert_int_equal(seen.table.units[METER_READ].half_units, 8);
}

static void a_request_for_no_table_makes_no_series(void **state)
{
    (void)state;
    assert_false(
        api_fixture_call(&fixture, "GetItem", "{'TableName':'Nowhere','Key':{'p':{'S':'1'}}}"));
    assert_int_equal(operation("", "GetItem")->calls[ERROR_RESOURCE_NOT_FOUND], 1);
    operation("Nowhere", "GetItem");
    assert_int_equal(seen.found, 0);
    assert_int_equal(meter_read_errors(api_meter(fixture.api), 0).user_errors, 1);
}

static void get_records_counts_with_its_table(void **state)
{
    (void)state;
    assert_true(
        api_fixture_call(&fixture, "PutItem", "{'TableName':'Orders','Item':{'p':{'S':'1'}}}"));
    assert_true(api_fixture_call(&fixture, "ListStreams", "{}"));
    char arn[256] = "", body[512], shard[128] = "", iterator[400] = "";
    const char *at = memmem(fixture.response.data, fixture.response.len, "\"StreamArn\":\"", 13);
    assert_non_null(at);
    assert_int_equal(sscanf(at, "\"StreamArn\":\"%255[^\"]", arn), 1);
    size_t records = 0;
    snprintf(body, sizeof body, "{'StreamArn':'%s'}", arn);
    assert_true(api_fixture_call(&fixture, "DescribeStream", body));
    char *described = strndup((const char *)fixture.response.data, fixture.response.len);
    for (char *next = described; (next = strstr(next, "\"ShardId\":\"")) != NULL; next++) {
        assert_int_equal(sscanf(next, "\"ShardId\":\"%127[^\"]", shard), 1);
        snprintf(body, sizeof body,
                 "{'StreamArn':'%s','ShardId':'%s','ShardIteratorType':'TRIM_HORIZON'}", arn,
                 shard);
        assert_true(api_fixture_call(&fixture, "GetShardIterator", body));
        char *text = strndup((const char *)fixture.response.data, fixture.response.len);
        assert_int_equal(sscanf(text, "{\"ShardIterator\":\"%399[^\"]", iterator), 1);
        free(text);
        snprintf(body, sizeof body, "{'ShardIterator':'%s'}", iterator);
        assert_true(api_fixture_call(&fixture, "GetRecords", body));
        records++;
    }
    free(described);
    const struct meter_operation_reading *read = operation("Orders", "GetRecords");
    assert_int_equal(read->calls[ERROR_NONE], records);
    assert_int_equal(read->minute.returned_items.sum, 1);
    assert_int_equal(read->minute.response_size.count, records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define API_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        API_TEST(writes_and_reads_of_an_index_count_for_it),
        API_TEST(an_unchanged_item_writes_no_stream_record),
        API_TEST(a_failed_condition_counts_and_costs),
        API_TEST(a_failed_condition_costs_the_larger_item),
        API_TEST(a_failed_statement_of_a_batch_counts_and_costs),
        API_TEST(an_insert_of_an_item_that_exists_costs),
        API_TEST(a_cancelled_page_costs_what_it_read),
        API_TEST(a_cancelled_transaction_counts_per_item),
        API_TEST(a_table_named_twice_is_one_request),
        API_TEST(a_request_for_no_table_makes_no_series),
        API_TEST(get_records_counts_with_its_table),
#undef API_TEST
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    free(seen.operations);
    return failures;
}
