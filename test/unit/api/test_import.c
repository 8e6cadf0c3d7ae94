/* test_import.c -- ImportTable, DescribeImport and ListImports, and what their job leaves behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "api/operation.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "compression/compressor.h"
#include "control/table_life.h"
#include "import_fixture.h"
#include "jobs/job_record.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

static int open_fixture(void **state)
{
    struct import_fixture *fixture = calloc(1, sizeof *fixture);
    import_fixture_open(fixture, NULL);
    *state = fixture;
    return 0;
}

static int close_fixture(void **state)
{
    import_fixture_close(*state);
    free(*state);
    return 0;
}

#define IMPORT_TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

static bool keep(void *context, struct bytes piece)
{
    buffer_append_bytes(context, piece);
    return true;
}

static struct bytes pack(struct arena *arena, enum compressor_kind kind, struct bytes text)
{
    struct buffer out;
    buffer_init(&out, arena);
    struct compressor *compressor = compressor_create(kind, keep, &out);
    assert_true(compressor_write(compressor, text) && compressor_finish(compressor));
    compressor_destroy(compressor);
    return buffer_bytes(&out);
}

/* The counters of a description. */
static void assert_counts(struct import_fixture *fixture, int processed, int imported, int errors)
{
    char text[128];
    snprintf(text, sizeof text, "'ErrorCount':%d,", errors);
    import_fixture_shows(fixture, text);
    snprintf(text, sizeof text, "'ProcessedItemCount':%d,'ImportedItemCount':%d", processed,
             imported);
    import_fixture_shows(fixture, text);
}

static void assert_item(struct import_fixture *fixture, const char *key, const char *item)
{
    char body[256], answer[1024];
    snprintf(body, sizeof body, "{'TableName':'Tab','Key':{'p':{'S':'%s'}}}", key);
    snprintf(answer, sizeof answer, "{'Item':%s}", item);
    api_fixture_expect(&fixture->api, "GetItem", body, answer);
}

static void an_import_describes_itself_and_makes_a_table(void **state)
{
    struct import_fixture *fixture = *state;
    import_fixture_put_text(fixture, "a.json",
                            "{\"Item\":{\"p\":{\"S\":\"k\"},\"n\":{\"N\":\"1\"}}}\n");
    import_fixture_start(fixture, "DYNAMODB_JSON", "");
    import_fixture_shows(fixture, "{'ImportTableDescription':{'ImportArn':'arn:aws:dynamodb:"
                                  "eu-west-1:123456789012:table/Tab/import/01700000000000-");
    import_fixture_shows(
        fixture, "'ImportStatus':'IN_PROGRESS','TableArn':'arn:aws:dynamodb:eu-west-1:123456789012:"
                 "table/Tab','TableId':'");
    import_fixture_shows(
        fixture,
        "','ClientToken':'c-DYNAMODB_JSON','S3BucketSource':{'S3BucketOwner':'123456789012',"
        "'S3Bucket':'in'},'ErrorCount':0,'CloudWatchLogGroupArn':'arn:aws:logs:eu-west-1:"
        "123456789012:log-group:/aws-dynamodb/imports:*','InputFormat':'DYNAMODB_JSON',"
        "'InputCompressionType':'NONE','TableCreationParameters':{'TableName':'Tab',"
        "'AttributeDefinitions':[{'AttributeType':'S','AttributeName':'p'}],'KeySchema':[{"
        "'AttributeName':'p','KeyType':'HASH'}],'BillingMode':'PAY_PER_REQUEST'},'StartTime':"
        "1700000000,'ProcessedItemCount':0,'ImportedItemCount':0}}");
    import_fixture_wait(fixture);
    import_fixture_shows(fixture, "'ImportStatus':'COMPLETED'");
    import_fixture_shows(fixture, "'StartTime':1700000000,'EndTime':1700000000,"
                                  "'ProcessedSizeBytes':39,'ProcessedItemCount':1,"
                                  "'ImportedItemCount':1}}");
    assert_counts(fixture, 1, 1, 0);
    assert_item(fixture, "k", "{'n':{'N':'1'},'p':{'S':'k'}}");
    assert_true(api_fixture_call(&fixture->api, "DescribeTable", "{'TableName':'Tab'}"));
    import_fixture_shows(fixture, "'TableStatus':'ACTIVE'");
    import_fixture_shows(fixture, "'ItemCount':1");
    assert_null(import_fixture_file(fixture, "imports"));
}

static void every_format_and_compression_is_read(void **state)
{
    struct import_fixture *fixture = *state;
    static const struct {
        const char *format, *more, *text;
        enum compressor_kind kind;
    } cases[] = {
        { "DYNAMODB_JSON", "", "{\"Item\":{\"p\":{\"S\":\"k\"},\"n\":{\"S\":\"1\"}}}\n",
          COMPRESSOR_NONE },
        { "DYNAMODB_JSON", ",'InputCompressionType':'GZIP'",
          "{\"Item\":{\"p\":{\"S\":\"k\"},\"n\":{\"S\":\"1\"}}}\n", COMPRESSOR_GZIP },
        { "ION", ",'InputCompressionType':'ZSTD'", "$ion_1_0 {Item:{p:\"k\",n:\"1\"}}",
          COMPRESSOR_ZSTD },
        { "CSV", "", "n,p\n1,k\n", COMPRESSOR_NONE },
        { "CSV", ",'InputFormatOptions':{'Csv':{'Delimiter':';','HeaderList':['p','n']}}", "k;1\n",
          COMPRESSOR_NONE },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        import_fixture_put(fixture, "data",
                           pack(fixture->api.arena, cases[i].kind, bytes_from_text(cases[i].text)));
        fixture->api.clock.fixed_ms += 9 * 60 * 60 * 1000; /* Tokens are forgotten. */
        import_fixture_run(fixture, cases[i].format, cases[i].more);
        import_fixture_shows(fixture, "'ImportStatus':'COMPLETED'");
        assert_item(fixture, "k", "{'n':{'S':'1'},'p':{'S':'k'}}");
        assert_true(api_fixture_call(&fixture->api, "DeleteTable", "{'TableName':'Tab'}"));
    }
}

static void bad_items_are_counted_and_told_and_bad_lines_end_their_object(void **state)
{
    struct import_fixture *fixture = *state;
    import_fixture_put_text(fixture, "1",
                            "{\"Item\":{\"p\":{\"S\":\"a\"}}}\n"
                            "{\"Item\":{\"q\":{\"S\":\"b\"}}}\n\n"
                            "{\"Item\":{\"p\":{\"N\":\"1\"}}}\n"
                            "{\"Item\":{\"p\":{\"S\":\"c\"}}}\n");
    import_fixture_put_text(fixture, "2",
                            "{\"Item\":{\"p\":{\"S\":\"d\"}}}\n"
                            "nonsense\n"
                            "{\"Item\":{\"p\":{\"S\":\"e\"}}}\n");
    import_fixture_put_text(fixture, "3", "");
    import_fixture_put_text(fixture, "4", "{\"Keys\":{}}\n");
    import_fixture_put_text(fixture, "5/deep", "{\"Item\":{\"p\":{\"S\":\"f\"}}}");
    import_fixture_run(fixture, "DYNAMODB_JSON", "");
    import_fixture_shows(fixture,
                         "'FailureCode':'ItemValidationError','FailureMessage':'Some of the items "
                         "failed validation checks and were not imported. Please check CloudWatch "
                         "error logs for more details.'");
    import_fixture_shows(fixture, "'ImportStatus':'FAILED'");
    assert_counts(fixture, 8, 4, 4);
    assert_item(fixture, "a", "{'p':{'S':'a'}}");
    assert_item(fixture, "c", "{'p':{'S':'c'}}");
    assert_item(fixture, "d", "{'p':{'S':'d'}}");
    api_fixture_expect(&fixture->api, "GetItem", "{'TableName':'Tab','Key':{'p':{'S':'e'}}}", "{}");
    assert_item(fixture, "f", "{'p':{'S':'f'}}");

    const char *id = strrchr(fixture->arn, '/') + 1;
    struct arena *arena = fixture->api.arena;
    struct bytes path = arena_printf(arena, "imports/%s/error%c", id, 0);
    const char *errors = import_fixture_file(fixture, (const char *)path.data);
    assert_non_null(errors);
    static const struct {
        const char *key, *message;
        int index;
    } lines[] = {
        { "1", "One or more parameter values were invalid: Missing the key p in the item", 1 },
        { "1",
          "One or more parameter values were invalid: Type mismatch for key p expected: S "
          "actual: N",
          2 },
        { "2", "The record cannot be read: an object was expected", 1 },
        { "4", "The record cannot be read: it has no Item", 0 },
    };
    struct buffer want;
    buffer_init(&want, arena);
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        buffer_append_bytes(
            &want, arena_printf(arena,
                                "{\"itemS3Pointer\":{\"bucket\":\"in\",\"key\":\"%s\",\"itemIndex\""
                                ":%d},\"importArn\":\"%s\",\"errorMessages\":[\"%s\"]}\n",
                                lines[i].key, lines[i].index, fixture->arn, lines[i].message));
    buffer_append_byte(&want, 0);
    assert_string_equal(errors, (const char *)want.data);
}

static void the_wrong_compression_is_one_error_of_each_object(void **state)
{
    struct import_fixture *fixture = *state;
    struct bytes text = BYTES("{\"Item\":{\"p\":{\"S\":\"a\"}}}\n");
    import_fixture_put(fixture, "1", pack(fixture->api.arena, COMPRESSOR_GZIP, text));
    import_fixture_put(fixture, "2", text);
    import_fixture_run(fixture, "DYNAMODB_JSON", "");
    assert_counts(fixture, 2, 1, 1);
    import_fixture_shows(fixture, "'FailureCode':'ItemValidationError'");
}

static void a_bucket_that_cannot_be_read_fails_the_import_and_leaves_no_table(void **state)
{
    struct import_fixture *fixture = *state;
    static const struct {
        const char *source, *code;
    } cases[] = {
        { "{'S3Bucket':'missing'}", "'FailureCode':'S3NoSuchBucket'" },
        { "{'S3Bucket':'in','S3BucketOwner':'999999999999'}", "'FailureCode':'S3AccessDenied'" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char more[256];
        snprintf(more, sizeof more, ",'S3BucketSource':%s,'ClientToken':'t%zu'", cases[i].source,
                 i);
        import_fixture_run(fixture, "DYNAMODB_JSON", more);
        import_fixture_shows(fixture, "'ImportStatus':'FAILED'");
        import_fixture_shows(fixture, cases[i].code);
        import_fixture_shows(fixture, "'TableId':'");
        assert_counts(fixture, 0, 0, 0);
        api_fixture_expect_error(&fixture->api, "DescribeTable", "{'TableName':'Tab'}",
                                 ERROR_RESOURCE_NOT_FOUND,
                                 "Requested resource not found: Table: Tab not found");
    }
}

static void a_prefix_selects_keys_and_one_without_objects_makes_an_empty_table(void **state)
{
    struct import_fixture *fixture = *state;
    import_fixture_put_text(fixture, "data", "{\"Item\":{\"p\":{\"S\":\"a\"}}}\n");
    import_fixture_put_text(fixture, "data2/x", "{\"Item\":{\"p\":{\"S\":\"b\"}}}\n");
    import_fixture_put_text(fixture, "other", "nonsense\n");
    import_fixture_run(fixture, "DYNAMODB_JSON",
                       ",'S3BucketSource':{'S3Bucket':'in','S3KeyPrefix':'data'}");
    import_fixture_shows(fixture, "'ImportStatus':'COMPLETED'");
    assert_counts(fixture, 2, 2, 0);
    assert_true(api_fixture_call(&fixture->api, "DeleteTable", "{'TableName':'Tab'}"));
    import_fixture_run(
        fixture, "DYNAMODB_JSON",
        ",'ClientToken':'2','S3BucketSource':{'S3Bucket':'in','S3KeyPrefix':'none'}");
    import_fixture_shows(fixture, "'ImportStatus':'COMPLETED'");
    assert_counts(fixture, 0, 0, 0);
    assert_true(api_fixture_call(&fixture->api, "DescribeTable", "{'TableName':'Tab'}"));
    import_fixture_shows(fixture, "'TableStatus':'ACTIVE'");
}

static void repeated_keys_overwrite_and_index_entries_follow(void **state)
{
    struct import_fixture *fixture = *state;
    import_fixture_put_text(fixture, "1",
                            "{\"Item\":{\"p\":{\"S\":\"a\"},\"g\":{\"S\":\"old\"}}}\n"
                            "{\"Item\":{\"p\":{\"S\":\"b\"},\"g\":{\"S\":\"x\"}}}\n"
                            "{\"Item\":{\"p\":{\"S\":\"a\"},\"g\":{\"S\":\"new\"}}}\n"
                            "{\"Item\":{\"p\":{\"S\":\"c\"},\"g\":{\"N\":\"1\"}}}\n");
    import_fixture_run(
        fixture, "DYNAMODB_JSON",
        ",'TableCreationParameters':{'TableName':'Tab','AttributeDefinitions':[{'AttributeName':'p'"
        ","
        "'AttributeType':'S'},{'AttributeName':'g','AttributeType':'S'}],'KeySchema':[{"
        "'AttributeName':'p','KeyType':'HASH'}],'BillingMode':'PAY_PER_REQUEST',"
        "'GlobalSecondaryIndexes':[{'IndexName':'ind','KeySchema':[{'AttributeName':'g','KeyType':"
        "'HASH'}],'Projection':{'ProjectionType':'ALL'}}]}");
    assert_counts(fixture, 4, 3, 1);
    api_fixture_expect(&fixture->api, "Scan", "{'TableName':'Tab','Select':'COUNT'}",
                       "{'Count':2,'ScannedCount':2}");
    api_fixture_expect(&fixture->api, "Scan",
                       "{'TableName':'Tab','IndexName':'ind','Select':'COUNT'}",
                       "{'Count':2,'ScannedCount':2}");
    api_fixture_expect(&fixture->api, "Query",
                       "{'TableName':'Tab','IndexName':'ind','KeyConditionExpression':'g = :g',"
                       "'ExpressionAttributeValues':{':g':{'S':'new'}}}",
                       "{'Items':[{'g':{'S':'new'},'p':{'S':'a'}}],'Count':1,'ScannedCount':1}");
    assert_true(api_fixture_call(&fixture->api, "DescribeTable", "{'TableName':'Tab'}"));
    import_fixture_shows(fixture, "'ItemCount':2");
}

/* --- Tokens and names --- */

static void a_token_names_one_import(void **state)
{
    struct import_fixture *fixture = *state;
    char first[sizeof fixture->arn];
    import_fixture_run(fixture, "DYNAMODB_JSON", "");
    memcpy(first, fixture->arn, sizeof first);
    const char *body = "{'ClientToken':'c-DYNAMODB_JSON','S3BucketSource':{'S3Bucket':'in'},"
                       "'InputFormat':'ION','TableCreationParameters':{'TableName':'%s',"
                       "'AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'}],"
                       "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}],'BillingMode':"
                       "'PAY_PER_REQUEST'}}";
    char same[1024], other[1024];
    snprintf(same, sizeof same, body, "Tab");
    snprintf(other, sizeof other, body, "Uab");
    api_fixture_expect_error(&fixture->api, "ImportTable", same, ERROR_RESOURCE_IN_USE,
                             "Table already exists: Tab");
    api_fixture_expect_error(
        &fixture->api, "ImportTable", other, ERROR_IMPORT_CONFLICT,
        "Import conflict: Duplicate request detected with conflicting parameters");
    assert_true(api_fixture_call(&fixture->api, "DeleteTable", "{'TableName':'Tab'}"));
    assert_true(api_fixture_call(&fixture->api, "ImportTable", same));
    import_fixture_shows(fixture, first + strlen("arn:aws:dynamodb:"));
    import_fixture_shows(fixture, "'ImportStatus':'COMPLETED'");
    import_fixture_shows(fixture, "'InputFormat':'DYNAMODB_JSON'");
    api_fixture_expect_error(&fixture->api, "DescribeTable", "{'TableName':'Tab'}",
                             ERROR_RESOURCE_NOT_FOUND,
                             "Requested resource not found: Table: Tab not found");
    fixture->api.clock.fixed_ms += 8 * 60 * 60 * 1000; /* And no longer. */
    assert_true(api_fixture_call(&fixture->api, "ImportTable", other));
    import_fixture_shows(fixture, "table/Uab/import/");
}

/* Of the longest tokens, every character takes three bytes. */
static void a_record_holds_the_longest_token(void **state)
{
    struct import_fixture *fixture = *state;
    enum { LENGTH = 1024 };
    char token[3 * (LENGTH + 1) + 1], import[5000], other[5000];
    for (size_t i = 0; i <= LENGTH; i++)
        memcpy(token + 3 * i, "\xE2\x82\xAC", 4);
    const char *body = "{'ClientToken':'%.*s','S3BucketSource':{'S3Bucket':'in'},"
                       "'InputFormat':'ION','TableCreationParameters':{'TableName':'Tab',"
                       "'AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'}],"
                       "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}],'BillingMode':"
                       "'PAY_PER_REQUEST'}}";
    snprintf(import, sizeof import, body, 3 * (LENGTH + 1), token);
    assert_false(api_fixture_call(&fixture->api, "ImportTable", import));
    assert_int_equal(fixture->api.error.code, ERROR_VALIDATION);
    snprintf(import, sizeof import, body, 3 * LENGTH, token);
    assert_true(api_fixture_call(&fixture->api, "ImportTable", import));
    import_fixture_keep_arn(fixture);
    import_fixture_wait(fixture);
    import_fixture_shows(fixture, "'ImportStatus':'COMPLETED'");
    /* Exports have records of the same kind. */
    snprintf(other, sizeof other,
             "{'ClientToken':'%s','S3Bucket':'out','TableArn':"
             "'arn:aws:dynamodb:eu-west-1:123456789012:table/Tab'}",
             token);
    assert_false(api_fixture_call(&fixture->api, "ExportTableToPointInTime", other));
    assert_int_equal(fixture->api.error.code, ERROR_VALIDATION);
}

static void requests_that_break_a_rule_are_refused(void **state)
{
    struct import_fixture *fixture = *state;
    static const struct {
        const char *body, *message;
        enum error_code code;
    } cases[] = {
        { "{'S3BucketSource':{'S3Bucket':'in'},'InputFormat':'ION','TableCreationParameters':{"
          "'TableName':'Tab','AttributeDefinitions':[],'KeySchema':[{'AttributeName':'p','KeyType':"
          "'HASH'}]}}",
          "1 validation error detected: Value null at 'clientToken' failed to satisfy constraint: "
          "Member "
          "must not be null",
          ERROR_VALIDATION },
        { "{'ClientToken':'x','S3BucketSource':{'S3Bucket':'in'},'InputFormat':'ION',"
          "'InputFormatOptions':{'Csv':{'Delimiter':','}},'TableCreationParameters':{'TableName':"
          "'Tab','AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'}],'KeySchema':[{"
          "'AttributeName':'p','KeyType':'HASH'}],'BillingMode':'PAY_PER_REQUEST'}}",
          "Invalid Request: Unsupported InputFormatOptions for the given input format: ION.",
          ERROR_VALIDATION },
        { "{'ClientToken':'x','S3BucketSource':{'S3Bucket':'in'},'InputFormat':'CSV',"
          "'TableCreationParameters':{'TableName':'Tab','AttributeDefinitions':[{'AttributeName':"
          "'p','AttributeType':'S'}],'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}]}}",
          "One or more parameter values were invalid: ReadCapacityUnits and WriteCapacityUnits "
          "must "
          "both be specified when BillingMode is PROVISIONED",
          ERROR_VALIDATION },
        { "{'ClientToken':'x','S3BucketSource':{'S3Bucket':'in'},'InputFormat':'CSV',"
          "'TableCreationParameters':{'TableName':'Tab','AttributeDefinitions':[{'AttributeName':"
          "'p','AttributeType':'S'}],'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}],"
          "'BillingMode':'PAY_PER_REQUEST','GlobalSecondaryIndexes':[{'IndexName':'ind',"
          "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}],'Projection':{'ProjectionType':"
          "'ALL'},'WarmThroughput':{'ReadUnitsPerSecond':1}}]}}",
          "One or more parameter values were invalid: WarmThroughput is not supported on Global "
          "Secondary Indexes via ImportTable",
          ERROR_VALIDATION },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        api_fixture_expect_error(&fixture->api, "ImportTable", cases[i].body, cases[i].code,
                                 cases[i].message);
    api_fixture_expect_error(&fixture->api, "DescribeImport",
                             "{'ImportArn':'arn:aws:dynamodb:eu-west-1:123456789012:table/Tab'}",
                             ERROR_VALIDATION, "Invalid Import ARN");
    api_fixture_expect_error(
        &fixture->api, "DescribeImport",
        "{'ImportArn':'arn:aws:dynamodb:eu-west-1:123456789012:table/Tab/import/"
        "01700000000000-0123abcd'}",
        ERROR_IMPORT_NOT_FOUND,
        "Import not found: arn:aws:dynamodb:eu-west-1:123456789012:table/Tab/import/"
        "01700000000000-0123abcd");
}

static void imports_are_listed_newest_first_in_pages(void **state)
{
    struct import_fixture *fixture = *state;
    api_fixture_expect(&fixture->api, "ListImports", "{}", "{'ImportSummaryList':[]}");
    for (int i = 0; i < 3; i++) {
        char more[64];
        snprintf(more, sizeof more, ",'ClientToken':'t%d'", i);
        fixture->api.clock.fixed_ms += 1000;
        import_fixture_run(fixture, "CSV", more);
        assert_true(api_fixture_call(&fixture->api, "DeleteTable", "{'TableName':'Tab'}"));
    }
    assert_true(api_fixture_call(&fixture->api, "ListImports", "{'PageSize':2}"));
    import_fixture_shows(fixture, "'ImportStatus':'COMPLETED','TableArn':'arn:aws:dynamodb:"
                                  "eu-west-1:123456789012:table/Tab','S3BucketSource':{"
                                  "'S3BucketOwner':'123456789012','S3Bucket':'in'},"
                                  "'CloudWatchLogGroupArn':'arn:aws:logs:eu-west-1:123456789012:"
                                  "log-group:/aws-dynamodb/imports:*','InputFormat':'CSV',"
                                  "'StartTime':1700000003,'EndTime':1700000003}");
    import_fixture_shows(fixture, "'StartTime':1700000002");
    assert_false(api_fixture_shows(&fixture->api, "'StartTime':1700000001"));
    const char *token =
        memmem(fixture->api.response.data, fixture->api.response.len, "NextToken\":\"", 12);
    assert_non_null(token);
    char body[256];
    snprintf(body, sizeof body, "{'PageSize':2,'NextToken':'%.112s'}", token + 12);
    assert_true(api_fixture_call(&fixture->api, "ListImports", body));
    import_fixture_shows(fixture, "'StartTime':1700000001");
    assert_false(api_fixture_shows(&fixture->api, "NextToken"));
    api_fixture_expect(&fixture->api, "ListImports",
                       "{'TableArn':'arn:aws:dynamodb:eu-west-1:123456789012:table/Other'}",
                       "{'ImportSummaryList':[]}");
    snprintf(body, sizeof body, "{'NextToken':'%0112d'}", 7);
    assert_false(api_fixture_call(&fixture->api, "ListImports", body));
}

/* --- Restarts, and objects that change --- */

enum { MANY = 3000 };

static void an_import_whose_request_is_damaged_fails(void **state)
{
    struct import_fixture *fixture = *state;
    struct job_record record;
    import_fixture_put_text(fixture, "a", "{\"Item\":{\"p\":{\"S\":\"a\"}}}\n");
    import_fixture_run(fixture, "DYNAMODB_JSON", "");
    struct bytes id = bytes_from_text(strrchr(fixture->arn, '/') + 1);
    assert_int_equal(
        job_record_load(fixture->api.engine, fixture->api.arena, JOB_IMPORT, id, &record),
        ENGINE_OK);
    record.state = JOB_RUNNING;
    record.ended_ms = 0;
    record.detail = BYTES("{");
    assert_int_equal(job_record_store(fixture->api.engine, fixture->api.arena, &record), ENGINE_OK);
    api_fixture_restart(&fixture->api, 1);
    for (int i = 0; i < 5000 && record.state == JOB_RUNNING; i++) {
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        assert_int_equal(
            job_record_load(fixture->api.engine, fixture->api.arena, JOB_IMPORT, id, &record),
            ENGINE_OK);
    }
    assert_int_equal(record.state, JOB_FAILED);
}

static void put_many(struct import_fixture *fixture, const char *key)
{
    struct arena *arena = arena_create();
    struct buffer text;
    buffer_init(&text, arena);
    for (int i = 0; i < MANY; i++) {
        bool bad = i % 100 == 7;
        buffer_append_bytes(&text, arena_printf(arena, "{\"Item\":{\"%s\":{\"S\":\"%s-%d\"}}}\n",
                                                bad ? "q" : "p", key, i));
    }
    import_fixture_put(fixture, key, buffer_bytes(&text));
    arena_destroy(arena);
}

static size_t count_lines(const char *text)
{
    size_t count = 0;
    for (; text != NULL && (text = strchr(text, '\n')) != NULL; text++)
        count++;
    return count;
}

static void an_import_that_is_interrupted_resumes_without_a_gap_or_a_repetition(void **state)
{
    struct import_fixture *fixture = *state;
    put_many(fixture, "a");
    put_many(fixture, "b");
    put_many(fixture, "c");
    import_fixture_start(fixture, "DYNAMODB_JSON", "");
    for (int i = 0; i < 12; i++)
        api_fixture_restart(&fixture->api, 1);
    import_fixture_wait(fixture);
    assert_counts(fixture, 3 * MANY, 3 * (MANY - MANY / 100), 3 * (MANY / 100));
    const char *id = strrchr(fixture->arn, '/') + 1;
    struct bytes path = arena_printf(fixture->api.arena, "imports/%s/error%c", id, 0);
    assert_int_equal(count_lines(import_fixture_file(fixture, (const char *)path.data)),
                     3 * (MANY / 100));
    assert_true(api_fixture_call(&fixture->api, "DescribeTable", "{'TableName':'Tab'}"));
    char count[64];
    snprintf(count, sizeof count, "'ItemCount':%d", 3 * (MANY - MANY / 100));
    import_fixture_shows(fixture, count);
}

static void publish(struct import_fixture *fixture, struct table_definition *definition)
{
    assert_int_equal(
        catalogue_update(api_catalogue(fixture->api.api), fixture->api.arena, definition),
        ENGINE_OK);
}

/* Between the end of an import in the store and the publication of its table. */
static void an_import_is_under_way_until_its_table_is_published(void **state)
{
    static const struct {
        const char *format, *line, *end;
    } cases[] = {
        { "DYNAMODB_JSON", "{\"Item\":{\"p\":{\"S\":\"k\"}}}\n", "'ImportStatus':'COMPLETED'" },
        { "ION", "$ion_1_0 {Item:{p:1.}}\n", "'ImportStatus':'FAILED'" },
    };
    struct import_fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char body[1200];
        struct arena *arena = arena_create();
        fixture->api.clock.fixed_ms += 1000; /* So that it is the newest in the list. */
        import_fixture_put_text(fixture, "a.json", cases[i].line);
        import_fixture_run(fixture, cases[i].format, "");
        import_fixture_shows(fixture, cases[i].end);
        struct table *table = catalogue_find(api_catalogue(fixture->api.api), BYTES("Tab"));
        assert_non_null(table);
        struct table_definition changed = table_definition_copy(arena, table_definition(table));
        changed.status = TABLE_CREATING;
        changed.origin =
            (struct origin_definition){ .kind = TABLE_ORIGIN_IMPORT,
                                        .job_id = bytes_from_text(strrchr(fixture->arn, '/') + 1) };
        publish(fixture, &changed);
        snprintf(body, sizeof body, "{'ImportArn':'%s'}", fixture->arn);
        for (int list = 0; list <= 1; list++) {
            const char *operation = list ? "ListImports" : "DescribeImport";
            assert_true(api_fixture_call(&fixture->api, operation, list ? "{'PageSize':1}" : body));
            import_fixture_shows(fixture, "'ImportStatus':'IN_PROGRESS'");
            assert_false(api_fixture_shows(&fixture->api, "'EndTime'"));
        }
        table_life_end_origin(&changed);
        publish(fixture, &changed);
        assert_true(api_fixture_call(&fixture->api, "DescribeImport", body));
        import_fixture_shows(fixture, cases[i].end);
        import_fixture_shows(fixture, "'EndTime'");
        table_release(table); /* The copy borrows its texts. */
        assert_true(api_fixture_call(&fixture->api, "DeleteTable", "{'TableName':'Tab'}"));
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IMPORT_TEST(an_import_describes_itself_and_makes_a_table),
        IMPORT_TEST(every_format_and_compression_is_read),
        IMPORT_TEST(bad_items_are_counted_and_told_and_bad_lines_end_their_object),
        IMPORT_TEST(the_wrong_compression_is_one_error_of_each_object),
        IMPORT_TEST(a_bucket_that_cannot_be_read_fails_the_import_and_leaves_no_table),
        IMPORT_TEST(a_prefix_selects_keys_and_one_without_objects_makes_an_empty_table),
        IMPORT_TEST(repeated_keys_overwrite_and_index_entries_follow),
        IMPORT_TEST(a_token_names_one_import),
        IMPORT_TEST(a_record_holds_the_longest_token),
        IMPORT_TEST(requests_that_break_a_rule_are_refused),
        IMPORT_TEST(imports_are_listed_newest_first_in_pages),
        IMPORT_TEST(an_import_is_under_way_until_its_table_is_published),
        IMPORT_TEST(an_import_whose_request_is_damaged_fails),
        IMPORT_TEST(an_import_that_is_interrupted_resumes_without_a_gap_or_a_repetition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
