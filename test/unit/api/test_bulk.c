/* test_bulk.c -- StartBulkPutItems and its kin: conditions, reports, pace, cancelling, restarts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "api/import/bulk_write.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "format/item_reader.h"
#include "import_fixture.h"
#include "jobs/job_record.h"
#include "model/error.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

#define TABLE                                                                                      \
    "{'TableName':'Tab','AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'}],"       \
    "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}],'BillingMode':'PAY_PER_REQUEST',"        \
    "'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'KEYS_ONLY'}}"
#define START(more)                                                                                \
    "{'TableName':'Tab','InputS3Configuration':{'S3Bucket':'in','InputFormat':'DYNAMODB_JSON'},"   \
    "'OutputS3Configuration':{'S3Bucket':'out','S3KeyPrefix':'r','OutputType':['ERROR',"           \
    "'CONDITION_CHECK_FAILURE']}" more "}"

static int open_fixture(void **state)
{
    struct import_fixture *fixture = calloc(1, sizeof *fixture);
    import_fixture_open(fixture, NULL);
    assert_true(api_fixture_call(&fixture->api, "CreateTable", TABLE));
    *state = fixture;
    return 0;
}

static int close_fixture(void **state)
{
    import_fixture_close(*state);
    free(*state);
    return 0;
}

static void start(struct import_fixture *fixture, const char *body)
{
    if (!api_fixture_call(&fixture->api, "StartBulkPutItems", body))
        fail_msg("%.*s", BYTES_FMT(fixture->api.error.message));
    import_fixture_keep_arn(fixture);
}

static const char *report_file(struct import_fixture *fixture, const char *name)
{
    struct bytes path = arena_printf(fixture->api.arena, "buckets/out/r/AWSDynamoDB/%s/%s%c",
                                     strrchr(fixture->arn, '/') + 1, name, 0);
    return import_fixture_file(fixture, (const char *)path.data);
}

static void items_are_put_if_their_conditions_hold(void **state)
{
    struct import_fixture *fixture = *state;
    assert_true(api_fixture_call(&fixture->api, "PutItem",
                                 "{'TableName':'Tab','Item':{'p':{'S':'old'},'v':{'N':'5'}}}"));
    import_fixture_put_text(
        fixture, "1",
        "{\"Item\":{\"p\":{\"S\":\"new\"}},\"ConditionExpression\":\"attribute_not_exists(p)\"}\n"
        "{\"Item\":{\"p\":{\"S\":\"old\"},\"v\":{\"N\":\"4\"}},\"ConditionExpression\":\"#v < :v\","
        "\"ExpressionAttributeNames\":{\"#v\":\"v\"},\"ExpressionAttributeValues\":{\":v\":{\"N\":"
        "\"4\"}}}\n"
        "{\"Item\":{\"q\":{\"S\":\"x\"}}}\n"
        "{\"Item\":{\"p\":{\"S\":\"y\"}},\"ConditionExpression\":\"#v < \"}\n"
        "{\"Item\":{\"p\":{\"S\":\"new\"},\"twice\":{\"BOOL\":true}}}\n");
    start(fixture, START(",'ClientToken':'c'"));
    import_fixture_shows(fixture, "{'BulkOperationDescription':{'BulkOperationArn':'arn:aws:"
                                  "dynamodb:eu-west-1:123456789012:table/Tab/bulk-operation/0170");
    import_fixture_shows(
        fixture, "'ClientToken':'c','InputS3Configuration':{'S3BucketOwner':'123456789012',"
                 "'S3Bucket':'in','InputFormat':'DYNAMODB_JSON','InputCompressionType':'NONE'},"
                 "'OutputS3Configuration':{'S3BucketOwner':'123456789012','S3Bucket':'out',"
                 "'S3KeyPrefix':'r','OutputType':['ERROR','CONDITION_CHECK_FAILURE']},"
                 "'PerformanceTier':'STANDARD','StartTime':1700000000,'ProcessedItemCount':0");
    import_fixture_wait(fixture);
    import_fixture_shows(fixture, "'BulkOperationStatus':'COMPLETED_WITH_ERRORS'");
    import_fixture_shows(fixture, "'ProcessedItemCount':5");
    import_fixture_shows(fixture, "'FailedItemCount':2");
    import_fixture_shows(fixture, "'BulkOperationUsage':[{'TableName':'Tab','BulkPutBytes':14,"
                                  "'Table':{'BulkPutBytes':14}}]");
    api_fixture_expect(&fixture->api, "GetItem", "{'TableName':'Tab','Key':{'p':{'S':'new'}}}",
                       "{'Item':{'p':{'S':'new'},'twice':{'BOOL':true}}}");
    api_fixture_expect(&fixture->api, "GetItem", "{'TableName':'Tab','Key':{'p':{'S':'old'}}}",
                       "{'Item':{'p':{'S':'old'},'v':{'N':'5'}}}");
    const char *errors = report_file(fixture, "error.json");
    assert_non_null(strstr(errors, "\"itemIndex\":2},"));
    assert_non_null(strstr(errors, "Missing the key p in the item"));
    assert_non_null(strstr(errors, "\"itemIndex\":3},"));
    const char *refusals = report_file(fixture, "condition-check-failure.json");
    assert_non_null(strstr(refusals, "\"itemIndex\":1},"));
    assert_non_null(strstr(refusals,
                           "\"item\":{\"p\":{\"S\":\"old\"},\"v\":{\"N\":\"4\"}},"
                           "\"existingItem\":{\"p\":{\"S\":\"old\"},\"v\":{\"N\":\"5\"}}"));
    assert_non_null(strstr(report_file(fixture, "manifest.json"),
                           "\"processedItemCount\":5,\"failedItemCount\":2,\"outputFiles\":[{"
                           "\"outputType\":\"ERROR\",\"s3Key\":\"r/AWSDynamoDB/"));
}

#define PUT_MODEL(mode)                                                                            \
    "{'TableName':'Tab','Mode':'" mode "','Model':'{\\'Entities\\':[{\\'Name\\':\\'User\\',"       \
    "\\'Keys\\':[{\\'PartitionKey\\':\\'U#<id>\\'}]}]}'}"

static void put_model(struct import_fixture *fixture, const char *body)
{
    if (!api_fixture_call(&fixture->api, "PutModel", body))
        fail_msg("%.*s", BYTES_FMT(fixture->api.error.message));
}

/* The first follows the model. The second is not put, by its condition; the third is refused, as
 * its condition makes no sense. The fourth breaks the model. */
#define RECORDS                                                                                    \
    "{\"Item\":{\"p\":{\"S\":\"U#1\"}}}\n"                                                         \
    "{\"Item\":{\"p\":{\"S\":\"X#1\"}},\"ConditionExpression\":\"attribute_exists(p)\"}\n"         \
    "{\"Item\":{\"p\":{\"S\":\"X#2\"}},\"ConditionExpression\":\"p = \"}\n"                        \
    "{\"Item\":{\"p\":{\"S\":\"X#3\"}}}\n"

static void shows_violations(struct import_fixture *fixture, const char *text)
{
    assert_true(api_fixture_call(&fixture->api, "GetModel", "{'TableName':'Tab'}"));
    import_fixture_shows(fixture, text);
}

static void observing_counts_only_items_that_are_put(void **state)
{
    struct import_fixture *fixture = *state;
    put_model(fixture, PUT_MODEL("OBSERVE"));
    import_fixture_put_text(fixture, "1", RECORDS);
    start(fixture, START(""));
    import_fixture_wait(fixture);
    import_fixture_shows(fixture, "'ProcessedItemCount':4");
    import_fixture_shows(fixture, "'FailedItemCount':1");
    shows_violations(fixture, "'Total':1,'Entries':[{'Rule':'Key','Caller':'bulk operation',");
}

static void enforcing_refuses_items_whose_conditions_hold(void **state)
{
    struct import_fixture *fixture = *state;
    put_model(fixture, PUT_MODEL("ENFORCE"));
    import_fixture_put_text(fixture, "1", RECORDS);
    start(fixture, START(""));
    import_fixture_wait(fixture);
    import_fixture_shows(fixture, "'ProcessedItemCount':4");
    import_fixture_shows(fixture, "'FailedItemCount':2");
    const char *errors = report_file(fixture, "error.json");
    assert_null(strstr(errors, "\"itemIndex\":1},"));
    assert_non_null(strstr(errors, "\"itemIndex\":3},"));
    assert_non_null(strstr(errors, "rule Key: the key follows the templates of no entity"));
    assert_non_null(
        strstr(report_file(fixture, "condition-check-failure.json"), "\"itemIndex\":1},"));
    shows_violations(fixture, "'Total':1,");
    api_fixture_expect(&fixture->api, "Scan", "{'TableName':'Tab'}",
                       "{'Items':[{'p':{'S':'U#1'}}],'Count':1,'ScannedCount':1}");
}

static void a_token_names_one_operation(void **state)
{
    struct import_fixture *fixture = *state;
    char first[sizeof fixture->arn];
    start(fixture, START(",'ClientToken':'c'"));
    memcpy(first, fixture->arn, sizeof first);
    import_fixture_wait(fixture);
    import_fixture_shows(fixture, "'BulkOperationStatus':'COMPLETED'");
    start(fixture, START(",'ClientToken':'c'"));
    assert_string_equal(fixture->arn, first);
    assert_false(api_fixture_call(&fixture->api, "StartBulkPutItems",
                                  START(",'ClientToken':'c','PerformanceTier':'ACCELERATED'")));
    assert_int_equal(fixture->api.error.code, ERROR_IDEMPOTENT_PARAMETER_MISMATCH);
    start(fixture, START(""));
    assert_string_not_equal(fixture->arn, first);
    import_fixture_wait(fixture);
    assert_true(api_fixture_call(&fixture->api, "ListBulkOperations", "{'MaxResults':1}"));
    import_fixture_shows(fixture, "'NextToken':'");
    import_fixture_shows(fixture, "{'BulkOperationsSummaryList':[{'BulkOperationArn':'");
}

static void what_cannot_be_started_is_refused(void **state)
{
    struct import_fixture *fixture = *state;
    api_fixture_expect_error(
        &fixture->api, "StartBulkPutItems",
        "{'TableName':'Absent','InputS3Configuration':{'S3Bucket':'in','InputFormat':'ION'},"
        "'OutputS3Configuration':{'S3Bucket':'out','OutputType':['ERROR']}}",
        ERROR_RESOURCE_NOT_FOUND, "Requested resource not found: Table: Absent not found");
    assert_false(
        api_fixture_call(&fixture->api, "StartBulkPutItems", START(",'MaxWriteRequestUnits':1")));
    assert_int_equal(fixture->api.error.code, ERROR_VALIDATION);
    start(fixture,
          "{'TableName':'Tab','InputS3Configuration':{'S3Bucket':'none','InputFormat':'ION'},"
          "'OutputS3Configuration':{'S3Bucket':'out','OutputType':['ERROR']}}");
    import_fixture_wait(fixture);
    import_fixture_shows(fixture, "'BulkOperationStatus':'FAILED'");
    import_fixture_shows(fixture, "'FailureCode':'S3NoSuchBucket'");
    static const char *const operations[] = { "DescribeBulkOperation", "CancelBulkOperation" };
    for (size_t i = 0; i < COUNT_OF(operations); i++) {
        assert_false(api_fixture_call(&fixture->api, operations[i],
                                      "{'BulkOperationArn':'arn:aws:dynamodb:eu-west-1:"
                                      "123456789012:table/Tab/bulk-operation/nothing'}"));
        assert_int_equal(fixture->api.error.code, ERROR_RESOURCE_NOT_FOUND);
    }
}

enum { MANY = 2000 };

/* Conditions come without what validates those of requests. */
static void odd_conditions_are_refused_one_by_one(void **state)
{
    struct import_fixture *fixture = *state;
    static const char *const odd[] = {
        "\"ConditionExpression\":\"\"",
        "\"ConditionExpression\":null,\"ExpressionAttributeNames\":{\"#a\":\"a\"}",
        "\"ConditionExpression\":\"#a = #a\",\"ExpressionAttributeNames\":{\"#a\":null}",
        "\"ConditionExpression\":\"#a = #a\",\"ExpressionAttributeNames\":{\"#a\":\"\"}",
        "\"ConditionExpression\":\"#a = #a\",\"ExpressionAttributeNames\":{\"#a\":{}}",
        "\"ConditionExpression\":\"#a = #a\",\"ExpressionAttributeNames\":{\"#a\":[\"a\"]}",
        "\"ConditionExpression\":\"#a = #a\",\"ExpressionAttributeNames\":{}",
        "\"ConditionExpression\":\"#a = #a\",\"ExpressionAttributeNames\":{\"a\":\"a\"}",
        "\"ConditionExpression\":\"a = :v\",\"ExpressionAttributeValues\":{}",
        "\"ConditionExpression\":\"a = :v\",\"ExpressionAttributeValues\":{\":v\":null}",
        "\"ConditionExpression\":\"a = :v\",\"ExpressionAttributeValues\":{\":v\":{}}",
        "\"ConditionExpression\":\"a = :v\",\"ExpressionAttributeValues\":{\":v\":{\"N\":\"x\"}}",
        "\"ConditionExpression\":\"a = :v\",\"ExpressionAttributeValues\":{\":v\":{\"SS\":[]}}",
        ("\"ConditionExpression\":\"a = :v\",\"ExpressionAttributeValues\":{\":v\":{\"S\":\"x\"},"
         "\":w\":{\"S\":\"x\"}}"),
        "\"ConditionExpression\":\"p.q = p[0]\"",
        "\"ConditionExpression\":\"size(\"",
    };
    struct arena *arena = arena_create();
    struct buffer text;
    char counted[64];
    buffer_init(&text, arena);
    for (size_t i = 0; i < COUNT_OF(odd); i++)
        buffer_append_bytes(
            &text, arena_printf(arena, "{\"Item\":{\"p\":{\"S\":\"%zu\"}},%s}\n", i, odd[i]));
    buffer_append_bytes(&text, BYTES("{\"Item\":{\"p\":{\"S\":\"good\"}}}\n"));
    import_fixture_put(fixture, "odd", buffer_bytes(&text));
    arena_destroy(arena);
    start(fixture, START(""));
    import_fixture_wait(fixture);
    import_fixture_shows(fixture, "'BulkOperationStatus':'COMPLETED_WITH_ERRORS'");
    snprintf(counted, sizeof counted, "'FailedItemCount':%zu", COUNT_OF(odd));
    import_fixture_shows(fixture, counted);
    api_fixture_expect(&fixture->api, "Scan", "{'TableName':'Tab'}",
                       "{'Items':[{'p':{'S':'good'}}],'Count':1,'ScannedCount':1}");
}

/* A record that is refused takes memory as long as its batch. */
static void a_batch_is_full_when_it_has_read_enough(void **state)
{
    enum { RECORD_SIZE = 100 * 1000, RECORDS_MAX = 200 };
    struct import_fixture *fixture = *state;
    struct arena *arena = arena_create();
    struct table *table = catalogue_find(api_catalogue(fixture->api.api), BYTES("Tab"));
    struct bulk_write *write = bulk_write_create(
        &(struct bulk_write_options){ .api = fixture->api.api,
                                      .table_name = BYTES("Tab"),
                                      .table_uuid = table_definition(table)->uuid });
    struct bytes text = arena_printf(arena,
                                     "{\"Item\":{\"p\":{\"S\":\"a\"},\"v\":{\"S\":\"%0*d\"}},"
                                     "\"ConditionExpression\":\"size(\"}\n",
                                     RECORD_SIZE, 0);
    struct item_reader *reader = item_reader_create(
        &(struct item_reader_options){ .format = ITEM_FORMAT_DYNAMODB_JSON, .conditions = true });
    enum bulk_add added = BULK_ADD_BAD;
    size_t count = 0;
    for (; added == BULK_ADD_BAD && count < RECORDS_MAX; count++) {
        struct item_record record;
        struct error err;
        error_init(&err, arena);
        item_reader_start(reader);
        item_reader_feed(reader, text);
        assert_int_equal(item_reader_next(reader, arena, &record), ITEM_READER_ITEM);
        added = bulk_write_add(write, &record, BYTES("key"), &err);
    }
    assert_int_equal(added, BULK_ADD_FULL);
    assert_in_range(count, BULK_WRITE_READ_SIZE / RECORD_SIZE,
                    BULK_WRITE_READ_SIZE / RECORD_SIZE + 2);
    item_reader_destroy(reader);
    bulk_write_destroy(write);
    table_release(table);
    /* And all records are counted. */
    struct buffer many;
    buffer_init(&many, arena);
    for (size_t i = 0; i < 2 * count; i++)
        buffer_append_bytes(&many, text);
    import_fixture_put(fixture, "bad", buffer_bytes(&many));
    arena_destroy(arena);
    start(fixture, START(""));
    import_fixture_wait(fixture);
    char counted[64];
    snprintf(counted, sizeof counted, "'FailedItemCount':%zu", 2 * count);
    import_fixture_shows(fixture, counted);
}

static void put_many(struct import_fixture *fixture, int count, const char *condition)
{
    struct arena *arena = arena_create();
    struct buffer text;
    buffer_init(&text, arena);
    for (int i = 0; i < count; i++)
        buffer_append_bytes(
            &text, arena_printf(arena, "{\"Item\":{\"p\":{\"S\":\"%d\"}}%s}\n", i, condition));
    import_fixture_put(fixture, "many", buffer_bytes(&text));
    arena_destroy(arena);
}

/* Each condition is evaluated once: a record that was put before a restart and read again would be
 * refused. */
static void an_operation_that_is_interrupted_evaluates_no_condition_twice(void **state)
{
    struct import_fixture *fixture = *state;
    put_many(fixture, MANY, ",\"ConditionExpression\":\"attribute_not_exists(p)\"");
    start(fixture, START(""));
    for (int i = 0; i < 10; i++)
        api_fixture_restart(&fixture->api, 1);
    import_fixture_wait(fixture);
    import_fixture_shows(fixture, "'BulkOperationStatus':'COMPLETED'");
    import_fixture_shows(fixture, "'ProcessedItemCount':2000");
    assert_string_equal(report_file(fixture, "condition-check-failure.json"), "");
    api_fixture_expect(&fixture->api, "Scan", "{'TableName':'Tab','Select':'COUNT'}",
                       "{'Count':2000,'ScannedCount':2000}");
}

static void a_pace_is_kept_and_a_cancelled_operation_stops(void **state)
{
    struct import_fixture *fixture = *state;
    put_many(fixture, MANY, "");
    int64_t started_ns = clock_monotonic_ns();
    start(fixture, START(",'MaxWriteRequestUnits':1024"));
    import_fixture_wait(fixture);
    assert_true(clock_monotonic_ns() - started_ns > 1500 * INT64_C(1000000)); /* 2000 / 1024 s */
    put_many(fixture, 10 * MANY, "");                                         /* Twenty seconds. */
    start(fixture, START(",'MaxWriteRequestUnits':1024"));
    char body[1200];
    snprintf(body, sizeof body, "{'BulkOperationArn':'%s'}", fixture->arn);
    do /* Until it writes. */
        assert_true(api_fixture_call(&fixture->api, "DescribeBulkOperation", body));
    while (api_fixture_shows(&fixture->api, "'ProcessedItemCount':0"));
    assert_true(api_fixture_call(&fixture->api, "CancelBulkOperation", body));
    import_fixture_shows(fixture, "'BulkOperationStatus':'CANCELLING'}");
    import_fixture_wait(fixture);
    import_fixture_shows(fixture, "'BulkOperationStatus':'CANCELLED'");
    import_fixture_shows(fixture, "'FailureCode':'Cancelled','FailureMessage':'The bulk operation "
                                  "was cancelled'}");
    /* It has not hurried through the rest of its objects. */
    assert_false(api_fixture_shows(&fixture->api, "'ProcessedItemCount':20000"));
    assert_true(api_fixture_call(&fixture->api, "CancelBulkOperation", body));
    import_fixture_shows(fixture, "'BulkOperationStatus':'CANCELLED'}");
}

/* The answer CANCELLING is a promise, whatever happens to the server. */
static void a_restart_does_not_forget_that_an_operation_is_to_be_cancelled(void **state)
{
    struct import_fixture *fixture = *state;
    put_many(fixture, MANY, "");
    start(fixture, START(",'MaxWriteRequestUnits':1024"));
    const char *id = strrchr(fixture->arn, '/') + 1;
    /* As after a crash between the request and the end of the job: nobody told the job. */
    assert_int_equal(
        job_cancel_store(fixture->api.engine, fixture->api.options.clock, bytes_from_text(id)),
        ENGINE_OK);
    api_fixture_restart(&fixture->api, 1);
    import_fixture_wait(fixture);
    import_fixture_shows(fixture, "'BulkOperationStatus':'CANCELLED'");
    bool found;
    assert_int_equal(job_cancel_find(fixture->api.engine, bytes_from_text(id), &found), ENGINE_OK);
    assert_false(found);
}

/* Of an item collection of 2,000 bytes three items of 600 bytes fit. */
static void an_item_collection_does_not_outgrow_its_limit(void **state)
{
    struct import_fixture *fixture = calloc(1, sizeof *fixture);
    (void)state;
    import_fixture_open(fixture, &(struct api_options){ .item_collection_size_max = 2000 });
    assert_true(api_fixture_call(
        &fixture->api, "CreateTable",
        "{'TableName':'Tab','AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'},"
        "{'AttributeName':'s','AttributeType':'S'},{'AttributeName':'l','AttributeType':'S'}],"
        "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'},{'AttributeName':'s','KeyType':"
        "'RANGE'}],'BillingMode':'PAY_PER_REQUEST','LocalSecondaryIndexes':[{'IndexName':'Loc',"
        "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'},{'AttributeName':'l','KeyType':"
        "'RANGE'}],'Projection':{'ProjectionType':'KEYS_ONLY'}}]}"));
    struct arena *arena = arena_create();
    struct buffer text;
    buffer_init(&text, arena);
    for (int i = 0; i < 6; i++)
        buffer_append_bytes(
            &text, arena_printf(arena,
                                "{\"Item\":{\"p\":{\"S\":\"%s\"},\"s\":{\"S\":\"%d\"},\"v\":{\"S\":"
                                "\"%0600d\"}}}\n",
                                i == 5 ? "other" : "a", i, 0));
    import_fixture_put(fixture, "1", buffer_bytes(&text));
    start(fixture, START(""));
    import_fixture_wait(fixture);
    import_fixture_shows(fixture, "'BulkOperationStatus':'COMPLETED_WITH_ERRORS'");
    import_fixture_shows(fixture, "'ProcessedItemCount':6");
    import_fixture_shows(fixture, "'FailedItemCount':2");
    const char *errors = report_file(fixture, "error.json");
    assert_non_null(strstr(errors, "\"itemIndex\":3},"));
    assert_non_null(strstr(errors, "\"itemIndex\":4},"));
    assert_non_null(strstr(errors, "[\"Collection size exceeded.\"]"));
    api_fixture_expect(&fixture->api, "Scan", "{'TableName':'Tab','Select':'COUNT'}",
                       "{'Count':4,'ScannedCount':4}");
    arena_destroy(arena);
    import_fixture_close(fixture);
    free(fixture);
}

static void a_table_that_is_deleted_meanwhile_ends_the_operation(void **state)
{
    struct import_fixture *fixture = *state;
    put_many(fixture, MANY, "");
    start(fixture, START(",'MaxWriteRequestUnits':1024"));
    assert_true(api_fixture_call(&fixture->api, "DeleteTable", "{'TableName':'Tab'}"));
    import_fixture_wait(fixture);
    import_fixture_shows(fixture, "'BulkOperationStatus':'FAILED'");
    import_fixture_shows(fixture, "'FailureCode':'TableNotFound'");
}

#define BULK_TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BULK_TEST(items_are_put_if_their_conditions_hold),
        BULK_TEST(observing_counts_only_items_that_are_put),
        BULK_TEST(enforcing_refuses_items_whose_conditions_hold),
        BULK_TEST(odd_conditions_are_refused_one_by_one),
        BULK_TEST(a_batch_is_full_when_it_has_read_enough),
        BULK_TEST(a_token_names_one_operation),
        BULK_TEST(what_cannot_be_started_is_refused),
        BULK_TEST(an_operation_that_is_interrupted_evaluates_no_condition_twice),
        BULK_TEST(a_pace_is_kept_and_a_cancelled_operation_stops),
        BULK_TEST(a_table_that_is_deleted_meanwhile_ends_the_operation),
        BULK_TEST(a_restart_does_not_forget_that_an_operation_is_to_be_cancelled),
        cmocka_unit_test(an_item_collection_does_not_outgrow_its_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
