/* test_collector.c -- which samples of DynamoDB's metrics exist after which calls, by virtual time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/operation.h"
#include "api_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "check/check.h"
#include "cloudwatch/series.h"
#include "cloudwatch/statistic.h"
#include "cloudwatch/ticker.h"
#include "fault/faults.h"

/* A minute that is divisible by five. */
#define START_S INT64_C(1790000100)
static_assert(START_S % 300 == 0, "a sparse minute");

static struct api_fixture fixture;

static void set_time(int64_t second)
{
    atomic_store(&fixture.clock.fixed_ms, second * 1000);
}

static void begin(const struct api_options *options)
{
    api_fixture_open_with(&fixture, options);
    set_time(START_S - 60);
    api_fixture_restart(&fixture, 0); /* The collector begins a minute before. */
    assert_true(api_fixture_call(
        &fixture, "CreateTable",
        "{'TableName':'tab','AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'},"
        "{'AttributeName':'g','AttributeType':'S'}],"
        "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}],"
        "'ProvisionedThroughput':{'ReadCapacityUnits':10,'WriteCapacityUnits':20},"
        "'GlobalSecondaryIndexes':[{'IndexName':'gsi','KeySchema':[{'AttributeName':'g',"
        "'KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'},"
        "'ProvisionedThroughput':{'ReadCapacityUnits':3,'WriteCapacityUnits':4}}]}"));
    set_time(START_S);
    ticker_run(api_ticker(fixture.api));
}

static int set_up(void **state)
{
    (void)state;
    begin(&(struct api_options){ 0 });
    return 0;
}

static int set_up_with_quotas(void **state)
{
    (void)state;
    begin(&(struct api_options){ .quotas = { .table_read_units = 50,
                                             .table_write_units = 60,
                                             .account_read_units = 130,
                                             .account_write_units = 200 } });
    return 0;
}

static int set_up_with_faults(void **state)
{
    (void)state;
    begin(&(struct api_options){ .faults = faults_create(&fixture.clock) });
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&fixture);
    return 0;
}

static struct series_key key_of(const char *name, const char *const *dimensions)
{
    static struct series_dimension out[4];
    struct series_key key = { .namespace = BYTES("AWS/DynamoDB"),
                              .name = bytes_from_text(name),
                              .dimensions = out };
    for (; *dimensions != NULL; dimensions += 2)
        out[key.dimension_count++] = (struct series_dimension){ bytes_from_text(dimensions[0]),
                                                                bytes_from_text(dimensions[1]) };
    return key;
}

#define DIMENSIONS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define OF_TABLE DIMENSIONS("TableName", "tab")
#define OF_INDEX DIMENSIONS("TableName", "tab", "GlobalSecondaryIndexName", "gsi")
#define OF_OPERATION(name) DIMENSIONS("TableName", "tab", "Operation", name)
#define OF_ACCOUNT ((const char *const[]){ NULL })

/* The bin that begins then; count 0: there is none. */
static struct sample_set bin_at(const char *name, const char *const *dimensions, int64_t start_s)
{
    struct arena *arena = arena_create();
    enum engine_status status;
    struct series_reader *reader = series_reader_open(api_series(fixture.api), arena, &status);
    struct series_bins bins;
    struct series_key key = key_of(name, dimensions);
    struct sample_set set = { 0 };
    assert_non_null(reader);
    assert_int_equal(series_read(reader, &key, 60, start_s, start_s + 60, &bins), ENGINE_OK);
    assert_true(bins.count <= 1);
    if (bins.count == 1)
        set = bins.bins[0].set;
    set.histogram = NULL;
    series_reader_close(reader);
    arena_destroy(arena);
    return set;
}

static void expect(const char *name, const char *const *dimensions, int64_t start_s, double count,
                   double sum, double minimum, double maximum)
{
    struct sample_set set = bin_at(name, dimensions, start_s);
    if (set.count != count ||
        (count > 0 && (set.sum != sum || set.minimum != minimum || set.maximum != maximum)))
        fail_msg("%s: got count %g, sum %g, minimum %g, maximum %g", name, set.count, set.sum,
                 set.minimum, set.maximum);
}

static void call(const char *operation, const char *body)
{
    if (!api_fixture_call(&fixture, operation, body))
        fail_msg("%s %s: %.*s", operation, body, BYTES_FMT(fixture.error.message));
}

static void close_minute(int64_t start_s)
{
    set_time(start_s + 61);
    ticker_run(api_ticker(fixture.api));
}

static void ignore(void *context, const char *line)
{
    (void)context;
    (void)line;
}

static void the_open_minute_shows_at_once_and_is_stored_when_it_is_over(void **state)
{
    (void)state;
    call("PutItem", "{'TableName':'tab','Item':{'p':{'S':'a'},'g':{'S':'x'}}}");
    call("PutItem", "{'TableName':'tab','Item':{'p':{'S':'b'}}}");
    call("GetItem", "{'TableName':'tab','Key':{'p':{'S':'a'}},'ConsistentRead':true}");
    call("GetItem", "{'TableName':'tab','Key':{'p':{'S':'a'}}}");
    call("Query", "{'TableName':'tab','IndexName':'gsi','KeyConditionExpression':'g = :g',"
                  "'ExpressionAttributeValues':{':g':{'S':'x'}}}");
    for (int round = 0; round < 3; round++) {
        expect("ConsumedWriteCapacityUnits", OF_TABLE, START_S, 2, 2, 1, 1);
        expect("ConsumedWriteCapacityUnits", DIMENSIONS("TableName", "tab", "Source", "Customer"),
               START_S, 2, 2, 1, 1);
        expect("ConsumedWriteCapacityUnits", OF_INDEX, START_S, 1, 1, 1, 1);
        expect("ConsumedReadCapacityUnits", OF_TABLE, START_S, 2, 1.5, 0.5, 1);
        expect("ConsumedReadCapacityUnits", OF_INDEX, START_S, 1, 0.5, 0.5, 0.5);
        expect("ReturnedItemCount", OF_OPERATION("Query"), START_S, 1, 1, 1, 1);
        assert_true(bin_at("SuccessfulRequestLatency", OF_OPERATION("PutItem"), START_S).count ==
                    2);
        assert_true(
            bin_at("SuccessfulRequestLatency", OF_OPERATION("GetItem"), START_S).is_distributed);
        if (round == 0)
            close_minute(START_S);
        if (round == 1)
            api_fixture_restart(&fixture, 0);
    }
    /* Fewer dimensions than a series has: nothing. */
    expect("SuccessfulRequestLatency", OF_TABLE, START_S, 0, 0, 0, 0);
}

static void an_active_table_has_zeros_every_minute_and_provisioned_units_every_five(void **state)
{
    (void)state;
    for (int64_t minute = START_S; minute < START_S + 600; minute += 60) {
        close_minute(minute);
        expect("ConsumedReadCapacityUnits", OF_TABLE, minute, 1, 0, 0, 0);
        expect("ConsumedWriteCapacityUnits", OF_INDEX, minute, 1, 0, 0, 0);
        double sparse = minute % 300 == 0 ? 1 : 0;
        expect("ProvisionedReadCapacityUnits", OF_TABLE, minute, sparse, 10, 10, 10);
        expect("ProvisionedWriteCapacityUnits", OF_INDEX, minute, sparse, 4, 4, 4);
        expect("AccountMaxReads", OF_ACCOUNT, minute, sparse, 80000, 80000, 80000);
        expect("OnDemandMaxReadRequestUnits", OF_TABLE, minute, 0, 0, 0, 0);
    }
    double share = 100 * (10.0 + 3.0) / 80000;
    expect("AccountProvisionedReadCapacityUtilization", OF_ACCOUNT, START_S, 1, share, share,
           share);
    assert_int_equal(check_store(fixture.engine, ignore, NULL).problem_count, 0);
}

static void quotas_are_those_of_the_settings(void **state)
{
    (void)state;
    close_minute(START_S);
    expect("AccountMaxReads", OF_ACCOUNT, START_S, 1, 130, 130, 130);
    expect("AccountMaxTableLevelWrites", OF_ACCOUNT, START_S, 1, 60, 60, 60);
    expect("AccountProvisionedReadCapacityUtilization", OF_ACCOUNT, START_S, 1, 10, 10, 10);
    expect("MaxProvisionedTableReadCapacityUtilization", OF_ACCOUNT, START_S, 1, 20, 20, 20);
}

static void refusals_are_counted_by_their_kind(void **state)
{
    (void)state;
    call("PutItem", "{'TableName':'tab','Item':{'p':{'S':'a'}}}");
    assert_false(api_fixture_call(&fixture, "PutItem",
                                  "{'TableName':'tab','Item':{'p':{'S':'a'}},"
                                  "'ConditionExpression':'attribute_not_exists(p)'}"));
    assert_false(api_fixture_call(&fixture, "GetItem", "{'TableName':'tab','Key':{}}"));
    assert_false(api_fixture_call(&fixture, "GetItem", "{'TableName':'none','Key':{}}"));
    close_minute(START_S);
    expect("ConditionalCheckFailedRequests", OF_TABLE, START_S, 1, 1, 1, 1);
    expect("UserErrors", OF_ACCOUNT, START_S, 2, 2, 1, 1);
    expect("SystemErrors", OF_OPERATION("PutItem"), START_S, 0, 0, 0, 0);
    /* The refused write consumed a unit. */
    expect("ConsumedWriteCapacityUnits", OF_TABLE, START_S, 2, 2, 1, 1);
}

static int tear_down_faults(void **state)
{
    struct faults *faults = fixture.options.faults;
    int result = tear_down(state);
    faults_destroy(faults);
    return result;
}

static void requests_that_a_fault_has_failed_count_apart(void **state)
{
    (void)state;
    call("AddFault", "{'TableName':'tab','Fault':'InternalServerError','Operations':['GetItem']}");
    for (int i = 0; i < 3; i++)
        assert_false(
            api_fixture_call(&fixture, "GetItem", "{'TableName':'tab','Key':{'p':{'S':'a'}}}"));
    call("PutItem", "{'TableName':'tab','Item':{'p':{'S':'a'}}}");
    close_minute(START_S);
    expect("FaultInjectionServiceInducedErrors", OF_OPERATION("GetItem"), START_S, 3, 3, 1, 1);
    expect("FaultInjectionServiceInducedErrors", OF_OPERATION("PutItem"), START_S, 0, 0, 0, 0);
    expect("SystemErrors", OF_OPERATION("GetItem"), START_S, 0, 0, 0, 0);
    expect("SuccessfulRequestLatency", OF_OPERATION("GetItem"), START_S, 0, 0, 0, 0);
}

static void reads_of_a_stream_have_its_label(void **state)
{
    (void)state;
    char body[1024], label[64] = "", iterator[600] = "";
    call("UpdateTable", "{'TableName':'tab','StreamSpecification':{'StreamEnabled':true,"
                        "'StreamViewType':'KEYS_ONLY'}}");
    call("ListStreams", "{}");
    const char *text = (const char *)fixture.response.data;
    const char *at = strstr(text, "\"StreamLabel\":\"");
    snprintf(label, sizeof label, "%.*s", (int)strcspn(at + 15, "\""), at + 15);
    at = strstr(text, "\"StreamArn\":\"");
    char arn[300];
    snprintf(arn, sizeof arn, "%.*s", (int)strcspn(at + 13, "\""), at + 13);
    call("PutItem", "{'TableName':'tab','Item':{'p':{'S':'a'}}}");
    snprintf(body, sizeof body, "{'StreamArn':'%s'}", arn);
    call("DescribeStream", body);
    at = strstr((const char *)fixture.response.data, "\"ShardId\":\"");
    snprintf(body, sizeof body,
             "{'StreamArn':'%s','ShardId':'%.*s','ShardIteratorType':'TRIM_HORIZON'}", arn,
             (int)strcspn(at + 11, "\""), at + 11);
    call("GetShardIterator", body);
    at = strstr((const char *)fixture.response.data, "\"ShardIterator\":\"");
    snprintf(iterator, sizeof iterator, "%.*s", (int)strcspn(at + 17, "\""), at + 17);
    snprintf(body, sizeof body, "{'ShardIterator':'%s'}", iterator);
    call("GetRecords", body);
    double size = (double)fixture.response.len;
    close_minute(START_S);
    const char *const of_stream[] = { "TableName",   "tab", "Operation", "GetRecords",
                                      "StreamLabel", label, NULL };
    struct sample_set records = bin_at("ReturnedRecordsCount", of_stream, START_S);
    assert_true(records.count == 1);
    expect("ReturnedBytes", of_stream, START_S, 1, size, size, size);
    assert_true(bin_at("SuccessfulRequestLatency", of_stream, START_S).count == 1);
}

static void a_minute_that_a_restart_divides_is_added_up(void **state)
{
    (void)state;
    fixture.options.metrics_interval_ms = 1000 * 1000 * 1000; /* A thread that never runs. */
    api_fixture_restart(&fixture, 0);
    call("PutItem", "{'TableName':'tab','Item':{'p':{'S':'a'}}}");
    api_fixture_restart(&fixture, 10000); /* Stores the open minute. */
    call("PutItem", "{'TableName':'tab','Item':{'p':{'S':'a'}}}");
    expect("ConsumedWriteCapacityUnits", OF_TABLE, START_S, 2, 2, 1, 1);
    close_minute(START_S);
    expect("ConsumedWriteCapacityUnits", OF_TABLE, START_S, 2, 2, 1, 1);
    ticker_run(api_ticker(fixture.api));
    expect("ConsumedWriteCapacityUnits", OF_TABLE, START_S, 2, 2, 1, 1);
}

static int set_up_enforced(void **state)
{
    (void)state;
    begin(&(struct api_options){ .capacity = CAPACITY_ENFORCE });
    return 0;
}

/* Sends it until it is throttled: a burst is 300 units of one a second. */
static void exhaust(const char *operation, const char *body)
{
    for (int i = 0; i < 1000; i++) {
        if (api_fixture_call(&fixture, operation, body))
            continue;
        assert_int_equal(fixture.error.code, ERROR_PROVISIONED_THROUGHPUT_EXCEEDED);
        return;
    }
    fail_msg("%s is never throttled", operation);
}

static void throttled_statements_have_a_verb(void **state)
{
    (void)state;
    call("CreateTable",
         "{'TableName':'one','AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'}],"
         "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}],"
         "'ProvisionedThroughput':{'ReadCapacityUnits':1,'WriteCapacityUnits':1}}");
    exhaust("ExecuteStatement",
            "{'Statement':'DELETE FROM one WHERE p = ?','Parameters':[{'S':'x'}]}");
    exhaust("ExecuteStatement",
            "{'Statement':'SELECT * FROM one WHERE p = ?','Parameters':[{'S':'x'}],"
            "'ConsistentRead':true}");
    close_minute(START_S);
#define VERB(verb)                                                                                 \
    DIMENSIONS("TableName", "one", "Operation", "ExecuteStatement", "Verb", "PartiQL" verb)
    expect("ThrottledRequests", VERB("Delete"), START_S, 1, 1, 1, 1);
    expect("ThrottledRequests", VERB("Select"), START_S, 1, 1, 1, 1);
    expect("ThrottledRequests", VERB("Update"), START_S, 0, 0, 0, 0);
    expect("ThrottledRequests", VERB("Insert"), START_S, 0, 0, 0, 0);
    expect("ThrottledRequests", DIMENSIONS("TableName", "one", "Operation", "ExecuteStatement"),
           START_S, 0, 0, 0, 0);
}

static void statements_that_write_return_no_items(void **state)
{
    (void)state;
    call("ExecuteStatement",
         "{'Statement':'INSERT INTO tab VALUE {\\u0027p\\u0027:?}','Parameters':[{'S':'a'}]}");
    call("ExecuteStatement",
         "{'Statement':'SELECT * FROM tab WHERE p = ?','Parameters':[{'S':'a'}]}");
    call("ExecuteStatement",
         "{'Statement':'SELECT * FROM tab WHERE p = ?','Parameters':[{'S':'b'}]}");
    call("ExecuteStatement",
         "{'Statement':'DELETE FROM tab WHERE p = ?','Parameters':[{'S':'a'}]}");
    close_minute(START_S);
    expect("ReturnedItemCount", DIMENSIONS("TableName", "tab", "Operation", "ExecuteStatement"),
           START_S, 2, 1, 0, 1);
}

/* Documented: a request counts if anything of it was throttled, a batch if all of it was. */
static void transactions_and_batches_that_were_throttled_count(void **state)
{
    (void)state;
#define KEYED(name, units)                                                                         \
    "{'TableName':'" name "','AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'}],"  \
    "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}],"                                        \
    "'ProvisionedThroughput':{'ReadCapacityUnits':" units ",'WriteCapacityUnits':" units "}}"
#define PUT(name) "{'Put':{'TableName':'" name "','Item':{'p':{'S':'x'}}}}"
#define STATEMENT(name)                                                                            \
    "{'Statement':'SELECT * FROM " name " WHERE p = ?','Parameters':[{'S':'x'}]}"
    call("CreateTable", KEYED("one", "1"));
    call("CreateTable", KEYED("two", "100"));
    exhaust("PutItem", "{'TableName':'one','Item':{'p':{'S':'x'}}}");
    exhaust("GetItem", "{'TableName':'one','Key':{'p':{'S':'x'}},'ConsistentRead':true}");
    api_fixture_call(&fixture, "TransactWriteItems",
                     "{'TransactItems':[" PUT("one") "," PUT("two") "]}");
    assert_int_equal(fixture.error.code, ERROR_TRANSACTION_CANCELED);
    api_fixture_call(&fixture, "TransactWriteItems", "{'TransactItems':[" PUT("one") "]}");
    assert_int_equal(fixture.error.code, ERROR_PROVISIONED_THROUGHPUT_EXCEEDED);
    call("BatchExecuteStatement", "{'Statements':[" STATEMENT("one") "," STATEMENT("two") "]}");
    call("BatchExecuteStatement", "{'Statements':[" STATEMENT("one") "]}");
    close_minute(START_S);
#define OF(operation) DIMENSIONS("TableName", "one", "Operation", operation)
#define OF_READS(operation)                                                                        \
    DIMENSIONS("TableName", "one", "Operation", operation, "OperationType", "Read")
    expect("ThrottledRequests", OF("TransactWriteItems"), START_S, 2, 2, 1, 1);
    expect("ThrottledRequests", OF_READS("BatchExecuteStatement"), START_S, 1, 1, 1, 1);
}

static void a_clock_that_is_set_back_counts_nothing_twice(void **state)
{
    (void)state;
    call("PutItem", "{'TableName':'tab','Item':{'p':{'S':'a'}}}");
    close_minute(START_S);
    set_time(START_S + 5);
    ticker_run(api_ticker(fixture.api));
    expect("ConsumedWriteCapacityUnits", OF_TABLE, START_S, 1, 1, 1, 1);
    close_minute(START_S);
    expect("ConsumedWriteCapacityUnits", OF_TABLE, START_S, 1, 1, 1, 1);
    set_time(START_S + 86400); /* And far ahead: the gap stays empty. */
    ticker_run(api_ticker(fixture.api));
    call("PutItem", "{'TableName':'tab','Item':{'p':{'S':'a'}}}");
    close_minute(START_S + 86400);
    expect("ConsumedWriteCapacityUnits", OF_TABLE, START_S + 86400, 1, 1, 1, 1);
    expect("ConsumedWriteCapacityUnits", OF_TABLE, START_S + 43200, 0, 0, 0, 0);
}

/* A day of virtual time, one write a minute, with restarts: every write is counted once. */
static void a_day_adds_up_over_restarts(void **state)
{
    (void)state;
    enum { MINUTES = 1440 };
    fixture.options.metrics_interval_ms = 1000 * 1000 * 1000; /* A thread that never runs. */
    api_fixture_restart(&fixture, 0);
    for (int64_t minute = 0; minute < MINUTES; minute++) {
        set_time(START_S + minute * 60 + 5);
        ticker_run(api_ticker(fixture.api));
        call("PutItem", "{'TableName':'tab','Item':{'p':{'S':'a'}}}");
        if (minute % 97 == 0)
            api_fixture_restart(&fixture, 1000);
    }
    close_minute(START_S + (MINUTES - 1) * 60);
    call("cloudwatch:GetMetricStatistics",
         "{'Namespace':'AWS/DynamoDB','MetricName':'ConsumedWriteCapacityUnits','Dimensions':"
         "[{'Name':'TableName','Value':'tab'}],'StartTime':1790000100,'EndTime':1790086500,"
         "'Period':86400,'Statistics':['Sum','Maximum']}");
    assert_true(api_fixture_shows(&fixture, "'Sum':1440.0,'Maximum':1.0,'Unit':'Count'"));
    assert_int_equal(check_store(fixture.engine, ignore, NULL).problem_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_day_adds_up_over_restarts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_open_minute_shows_at_once_and_is_stored_when_it_is_over,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            an_active_table_has_zeros_every_minute_and_provisioned_units_every_five, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(requests_that_a_fault_has_failed_count_apart,
                                        set_up_with_faults, tear_down_faults),
        cmocka_unit_test_setup_teardown(quotas_are_those_of_the_settings, set_up_with_quotas,
                                        tear_down),
        cmocka_unit_test_setup_teardown(refusals_are_counted_by_their_kind, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_of_a_stream_have_its_label, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_minute_that_a_restart_divides_is_added_up, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(throttled_statements_have_a_verb, set_up_enforced,
                                        tear_down),
        cmocka_unit_test_setup_teardown(statements_that_write_return_no_items, set_up, tear_down),
        cmocka_unit_test_setup_teardown(transactions_and_batches_that_were_throttled_count,
                                        set_up_enforced, tear_down),
        cmocka_unit_test_setup_teardown(a_clock_that_is_set_back_counts_nothing_twice, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
