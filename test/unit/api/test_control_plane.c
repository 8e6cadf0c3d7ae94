/* test_control_plane.c -- listing, deleting, tagging and the transient statuses of tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <time.h>
#include "api_fixture.h"
#include "base/compiler.h"
#include "model/limits.h"

static struct api_fixture db;

static int set_up(void **state)
{
    (void)state;
    api_fixture_open(&db, 0);
    return 0;
}

enum { TRANSITION_MS = 60000 };

static int set_up_slow(void **state)
{
    (void)state;
    api_fixture_open(&db, TRANSITION_MS);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&db);
    return 0;
}

#define INVALID "One or more parameter values were invalid: "
#define CREATE(name, rest)                                                                         \
    "{'TableName':'" name "','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["             \
    "{'AttributeName':'a','AttributeType':'S'}],'KeySchema':[{'AttributeName':'a','KeyType':"      \
    "'HASH'}]" rest "}"

static void create(const char *body)
{
    if (!api_fixture_call(&db, "CreateTable", body))
        fail_msg("%s\n got: %.*s", body, BYTES_FMT(db.error.message));
}

/* --- Features that a table never has, but tools ask for --- */

#define WITH_INDEXES                                                                               \
    "{'TableName':'abc','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["                  \
    "{'AttributeName':'a','AttributeType':'S'},{'AttributeName':'b','AttributeType':'S'}],"        \
    "'KeySchema':[{'AttributeName':'a','KeyType':'HASH'},"                                         \
    "{'AttributeName':'b','KeyType':'RANGE'}],"                                                    \
    "'LocalSecondaryIndexes':[{'IndexName':'lsi','Projection':{'ProjectionType':'ALL'},"           \
    "'KeySchema':[{'AttributeName':'a','KeyType':'HASH'},"                                         \
    "{'AttributeName':'b','KeyType':'RANGE'}]}],"                                                  \
    "'GlobalSecondaryIndexes':[{'IndexName':'gsi','Projection':{'ProjectionType':'ALL'},"          \
    "'KeySchema':[{'AttributeName':'b','KeyType':'HASH'}]}]}"

static void contributor_insights_are_disabled(void **state)
{
    (void)state;
    create(WITH_INDEXES);
    api_fixture_expect(&db, "DescribeContributorInsights", "{'TableName':'abc'}",
                       "{'TableName':'abc','ContributorInsightsStatus':'DISABLED'}");
    api_fixture_expect(
        &db, "DescribeContributorInsights",
        "{'TableName':'arn:aws:dynamodb:eu-west-1:123456789012:table/abc','IndexName':'gsi'}",
        "{'TableName':'abc','IndexName':'gsi','ContributorInsightsStatus':'DISABLED'}");
    static const struct {
        const char *body, *message;
        enum error_code code;
    } cases[] = {
        { "{'TableName':'abc','IndexName':'lsi'}",
          "Requested resource not found: Index: lsi not found for table: abc",
          ERROR_RESOURCE_NOT_FOUND },
        { "{'TableName':'abc','IndexName':'none'}",
          "Requested resource not found: Index: none not found for table: abc",
          ERROR_RESOURCE_NOT_FOUND },
        { "{'TableName':'none','IndexName':'gsi'}",
          "Requested resource not found: Table: none not found", ERROR_RESOURCE_NOT_FOUND },
        { "{'TableName':'abc','IndexName':'ab'}",
          "IndexName must be at least 3 characters long and at most 255 characters long",
          ERROR_VALIDATION },
        { "{}", "The parameter 'TableName' is required but was not present in the request",
          ERROR_VALIDATION },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        api_fixture_expect_error(&db, "DescribeContributorInsights", cases[i].body, cases[i].code,
                                 cases[i].message);
}

static void contributor_insights_are_listed_for_no_table(void **state)
{
    (void)state;
    create(WITH_INDEXES);
    static const char *const bodies[] = { "{}", "{'TableName':'abc'}",
                                          "{'TableName':'abc','MaxResults':99}",
                                          "{'MaxResults':100}" };
    for (size_t i = 0; i < COUNT_OF(bodies); i++)
        api_fixture_expect(&db, "ListContributorInsights", bodies[i],
                           "{'ContributorInsightsSummaries':[]}");
    api_fixture_expect_error(&db, "ListContributorInsights", "{'MaxResults':101}", ERROR_VALIDATION,
                             "1 validation error detected: Value '101' at 'maxResults' failed to "
                             "satisfy constraint: Member must have value less than or equal to "
                             "100");
    api_fixture_expect_error(&db, "ListContributorInsights", "{'NextToken':'x'}", ERROR_VALIDATION,
                             "Invalid NextToken");
    api_fixture_expect_error(&db, "ListContributorInsights", "{'TableName':'none'}",
                             ERROR_RESOURCE_NOT_FOUND,
                             "Requested resource not found: Table: none not found");
}

static void a_table_streams_to_no_kinesis_stream_at_first(void **state)
{
    (void)state;
    create(WITH_INDEXES);
    api_fixture_expect(&db, "DescribeKinesisStreamingDestination",
                       "{'TableName':'arn:aws:dynamodb:eu-west-1:123456789012:table/abc'}",
                       "{'TableName':'abc','KinesisDataStreamDestinations':[]}");
    api_fixture_expect_error(&db, "DescribeKinesisStreamingDestination", "{'TableName':'none'}",
                             ERROR_RESOURCE_NOT_FOUND,
                             "Requested resource not found: Table: none not found");
}

/* --- Listing --- */

static void tables_are_listed_in_byte_order_page_by_page(void **state)
{
    (void)state;
    static const char *const bodies[] = { CREATE("bbb", ""), CREATE("Zzz", ""), CREATE("aaa", ""),
                                          CREATE("aaa-1", ""), CREATE("aaa.", "") };
    for (size_t i = 0; i < COUNT_OF(bodies); i++)
        create(bodies[i]);
    static const struct {
        const char *body, *response;
    } cases[] = {
        { "{}", "{'TableNames':['Zzz','aaa','aaa-1','aaa.','bbb']}" },
        { "{'Limit':5}", "{'TableNames':['Zzz','aaa','aaa-1','aaa.','bbb']}" },
        { "{'Limit':4}",
          "{'TableNames':['Zzz','aaa','aaa-1','aaa.'],'LastEvaluatedTableName':'aaa.'}" },
        { "{'Limit':1}", "{'TableNames':['Zzz'],'LastEvaluatedTableName':'Zzz'}" },
        { "{'Limit':1,'ExclusiveStartTableName':'Zzz'}",
          "{'TableNames':['aaa'],'LastEvaluatedTableName':'aaa'}" },
        { "{'Limit':1,'ExclusiveStartTableName':'aaa.'}", "{'TableNames':['bbb']}" },
        { "{'ExclusiveStartTableName':'aab'}", "{'TableNames':['bbb']}" }, /* Need not exist. */
        { "{'ExclusiveStartTableName':'bbb'}", "{'TableNames':[]}" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        api_fixture_expect(&db, "ListTables", cases[i].body, cases[i].response);
}

static void a_page_holds_a_hundred_names(void **state)
{
    (void)state;
    for (unsigned i = 0; i <= LIST_TABLES_PAGE_MAX; i++) {
        char body[256];
        snprintf(body, sizeof(body), CREATE("table%03u", ""), i);
        create(body);
        if (i + 2 < LIST_TABLES_PAGE_MAX)
            continue;
        assert_true(api_fixture_call(&db, "ListTables", "{}"));
        assert_int_equal(api_fixture_shows(&db, "'LastEvaluatedTableName':'table099'"),
                         i >= LIST_TABLES_PAGE_MAX);
    }
}

/* --- Describing and deleting --- */

static void unknown_tables_are_not_found(void **state)
{
    (void)state;
    static const char *const operations[] = { "DescribeTable", "DeleteTable" };
    for (size_t i = 0; i < COUNT_OF(operations); i++)
        api_fixture_expect_error(&db, operations[i], "{'TableName':'missing'}",
                                 ERROR_RESOURCE_NOT_FOUND,
                                 "Requested resource not found: Table: missing not found");
}

static void a_protected_table_stays(void **state)
{
    (void)state;
    create(CREATE("abc", ",'DeletionProtectionEnabled':true"));
    api_fixture_expect_error(&db, "DeleteTable", "{'TableName':'abc'}", ERROR_VALIDATION,
                             "Resource cannot be deleted as it is currently protected against "
                             "deletion. Disable deletion protection first.");
    assert_true(api_fixture_call(&db, "UpdateTable",
                                 "{'TableName':'abc','DeletionProtectionEnabled':false}"));
    assert_true(api_fixture_call(&db, "DeleteTable", "{'TableName':'abc'}"));
    api_fixture_expect(&db, "ListTables", "{}", "{'TableNames':[]}");
}

static void a_deleted_table_shows_no_indexes(void **state)
{
    (void)state;
    create(CREATE("abc", ",'GlobalSecondaryIndexes':[{'IndexName':'gsi','KeySchema':["
                         "{'AttributeName':'a','KeyType':'HASH'}],'Projection':"
                         "{'ProjectionType':'ALL'}}]"));
    assert_true(api_fixture_shows(&db, "GlobalSecondaryIndexes"));
    assert_true(api_fixture_call(&db, "DeleteTable", "{'TableName':'abc'}"));
    assert_true(api_fixture_shows(&db, "'TableStatus':'DELETING'"));
    assert_false(api_fixture_shows(&db, "GlobalSecondaryIndexes"));
}

static void a_description_counts_items(void **state)
{
    (void)state;
    create(CREATE("abc", ""));
    assert_true(api_fixture_call(&db, "PutItem", "{'TableName':'abc','Item':{'a':{'S':'four'}}}"));
    assert_true(api_fixture_call(&db, "DescribeTable", "{'TableName':'abc'}"));
    assert_true(api_fixture_shows(&db, "'TableSizeBytes':5,'ItemCount':1,"));
}

/* --- Transient statuses --- */

/* What is due when the database opens is done in the background. */
static void wait_for(const char *text)
{
    for (int tries = 0; tries < 500; tries++) {
        if (api_fixture_call(&db, "DescribeTable", "{'TableName':'abc'}")
                ? api_fixture_shows(&db, text)
                : text[0] == '\0')
            return;
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    }
    fail_msg("never came: %s", text);
}

#define IN_USE(what)                                                                               \
    "Attempt to change a resource which is still in use: Table is being " what ": abc"

#define PROTECT "{'TableName':'abc','DeletionProtectionEnabled':false}"
#define RECLASS "{'TableName':'abc','TableClass':'STANDARD_INFREQUENT_ACCESS'}"

static void expect_in_use(const char *message)
{
    api_fixture_expect_error(&db, "UpdateTable", PROTECT, ERROR_RESOURCE_IN_USE, message);
    api_fixture_expect_error(&db, "DeleteTable", "{'TableName':'abc'}", ERROR_RESOURCE_IN_USE,
                             message);
}

/* Observed: some changes are accepted meanwhile, and do not end the status. */
static void expect_updating(void)
{
    static const char *const accepted[] = {
        PROTECT,
        "{'TableName':'abc','WarmThroughput':{'ReadUnitsPerSecond':12001}}",
    };
    for (size_t i = 0; i < COUNT_OF(accepted); i++) {
        assert_true(api_fixture_call(&db, "UpdateTable", accepted[i]));
        assert_true(api_fixture_shows(&db, "'TableStatus':'UPDATING'"));
    }
    assert_true(api_fixture_call(&db, "UpdateTable",
                                 "{'TableName':'abc','SSESpecification':{'Enabled':true}}"));
    assert_true(api_fixture_shows(&db, "'TableStatus':'ACTIVE'"));
    assert_true(api_fixture_call(&db, "DescribeTable", "{'TableName':'abc'}"));
    assert_true(api_fixture_shows(&db, "'TableStatus':'UPDATING'"));
    api_fixture_expect_error(&db, "UpdateTable", RECLASS, ERROR_RESOURCE_IN_USE, IN_USE("updated"));
    api_fixture_expect_error(&db, "DeleteTable", "{'TableName':'abc'}", ERROR_RESOURCE_IN_USE,
                             "Attempt to change a resource which is still in use: Table: abc is in "
                             "the process of being updated.");
}

static void a_table_in_transition_cannot_be_changed(void **state)
{
    (void)state;
    create(CREATE("abc", ""));
    api_fixture_restart(&db, TRANSITION_MS - 1);
    expect_in_use(IN_USE("created"));
    api_fixture_restart(&db, 1);
    wait_for("'TableStatus':'ACTIVE'");

    assert_true(api_fixture_call(&db, "UpdateTable", RECLASS));
    assert_true(api_fixture_call(&db, "DescribeTable", "{'TableName':'abc'}"));
    assert_true(api_fixture_shows(&db, "'TableStatus':'UPDATING'"));
    expect_updating();
    api_fixture_restart(&db, TRANSITION_MS);
    wait_for("'TableStatus':'ACTIVE'");

    assert_true(api_fixture_call(&db, "DeleteTable", "{'TableName':'abc'}"));
    assert_true(api_fixture_call(&db, "DescribeTable", "{'TableName':'abc'}"));
    assert_true(api_fixture_shows(&db, "'TableStatus':'DELETING'"));
    expect_in_use(IN_USE("deleted"));
    api_fixture_expect_error(&db, "CreateTable", CREATE("abc", ""), ERROR_RESOURCE_IN_USE,
                             "Table already exists: abc");
    api_fixture_restart(&db, TRANSITION_MS);
    wait_for("");
}

/* --- Tags --- */

#define ARN "arn:aws:dynamodb:eu-west-1:123456789012:table/abc"
#define NO_RESOURCE(arn) INVALID "Provided Arn is not a DynamoDB resource arn: " arn

static const struct {
    const char *operation, *body;
    enum error_code code;
    const char *message;
} tag_refusals[] = {
    { "TagResource", "{}", ERROR_VALIDATION, "Invalid TableArn" },
    { "UntagResource", "{'ResourceArn':''}", ERROR_VALIDATION, "Invalid TableArn" },
    { "ListTagsOfResource", "{}", ERROR_VALIDATION, "Invalid TableArn" },
    { "TagResource", "{'ResourceArn':'abc'}", ERROR_VALIDATION,
      INVALID "ARNs must start with 'arn:': abc" },
    { "UntagResource", "{'ResourceArn':'" ARN ";'}", ERROR_VALIDATION, NO_RESOURCE(ARN ";") },
    { "ListTagsOfResource", "{'ResourceArn':'arn:aws:s3:eu-west-1:123456789012:table/abc'}",
      ERROR_VALIDATION, NO_RESOURCE("arn:aws:s3:eu-west-1:123456789012:table/abc") },
    { "ListTagsOfResource", "{'ResourceArn':'arn:aws:dynamodb:eu-west-1:123456789012:index/abc'}",
      ERROR_VALIDATION, NO_RESOURCE("arn:aws:dynamodb:eu-west-1:123456789012:index/abc") },
    { "ListTagsOfResource", "{'ResourceArn':'" ARN "/index/gsi'}", ERROR_VALIDATION,
      INVALID "Invalid resource arn provided, only table or stream is accepted. Provided resource "
              "arn: " ARN "/index/gsi" },
    { "TagResource", "{'ResourceArn':'" ARN "'}", ERROR_VALIDATION,
      "Atleast one Tag needs to be provided as Input." },
    { "TagResource", "{'ResourceArn':'" ARN "','Tags':[]}", ERROR_VALIDATION,
      "Atleast one Tag needs to be provided as Input." },
    { "UntagResource", "{'ResourceArn':'" ARN "','TagKeys':[]}", ERROR_VALIDATION,
      "Atleast one Tag Key needs to be provided as Input." },
    { "TagResource", "{'ResourceArn':'" ARN "','Tags':[{'Key':'aws:x','Value':'v'}]}",
      ERROR_VALIDATION, "Tag Key cannot be prefixed with aws:, Key: aws:x" },
    { "TagResource", "{'ResourceArn':'" ARN "d','Tags':[{'Key':'k','Value':'v'}]}",
      ERROR_RESOURCE_NOT_FOUND, "Requested resource not found: ResourceArn: " ARN "d not found" },
    { "UntagResource", "{'ResourceArn':'" ARN "d','TagKeys':['k']}", ERROR_RESOURCE_NOT_FOUND,
      "Requested resource not found" },
    { "ListTagsOfResource", "{'ResourceArn':'" ARN "d'}", ERROR_RESOURCE_NOT_FOUND,
      "Requested resource not found: ResourceArn: " ARN "d not found" },
};

static void tag_rules_refuse_in_the_service_s_words(void **state)
{
    (void)state;
    create(CREATE("abc", ""));
    for (size_t i = 0; i < COUNT_OF(tag_refusals); i++)
        api_fixture_expect_error(&db, tag_refusals[i].operation, tag_refusals[i].body,
                                 tag_refusals[i].code, tag_refusals[i].message);
}

static void tags_are_added_replaced_removed_and_listed_by_key(void **state)
{
    (void)state;
    create(CREATE("abc", ""));
    static const struct {
        const char *operation, *body, *tags;
    } steps[] = {
        { "TagResource",
          "{'ResourceArn':'" ARN "','Tags':[{'Key':'b','Value':'1'},{'Key':'a','Value':''}]}",
          "{'Tags':[{'Key':'a','Value':''},{'Key':'b','Value':'1'}]}" },
        { "TagResource",
          "{'ResourceArn':'" ARN "','Tags':[{'Key':'b','Value':'4'},{'Key':'c','Value':'3'}]}",
          "{'Tags':[{'Key':'a','Value':''},{'Key':'b','Value':'4'},{'Key':'c','Value':'3'}]}" },
        { "UntagResource", "{'ResourceArn':'" ARN "','TagKeys':['b','missing','b']}",
          "{'Tags':[{'Key':'a','Value':''},{'Key':'c','Value':'3'}]}" },
        { "UntagResource", "{'ResourceArn':'" ARN "','TagKeys':['c','a']}", "{'Tags':[]}" },
    };
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        api_fixture_expect(&db, steps[i].operation, steps[i].body, "");
        api_fixture_expect(&db, "ListTagsOfResource", "{'ResourceArn':'" ARN "'}", steps[i].tags);
    }
}

static void fifty_tags_are_the_most(void **state)
{
    (void)state;
    create(CREATE("abc", ""));
    char body[256];
    for (unsigned i = 0; i < TAGS_MAX; i++) {
        snprintf(body, sizeof(body), "{'ResourceArn':'" ARN "','Tags':[{'Key':'k%u','Value':''}]}",
                 i);
        api_fixture_expect(&db, "TagResource", body, "");
    }
    api_fixture_expect(&db, "TagResource",
                       "{'ResourceArn':'" ARN "','Tags':[{'Key':'k7','Value':'again'}]}", "");
    api_fixture_expect_error(&db, "TagResource",
                             "{'ResourceArn':'" ARN "','Tags':[{'Key':'more','Value':''}]}",
                             ERROR_VALIDATION,
                             "Number of Tags exceed the current limit for the provided "
                             "ResourceArn");
}

/* --- Constants --- */

static void limits_and_endpoints_are_told(void **state)
{
    (void)state;
    api_fixture_expect(&db, "DescribeLimits", "{}",
                       "{'AccountMaxReadCapacityUnits':80000,'AccountMaxWriteCapacityUnits':80000,"
                       "'TableMaxReadCapacityUnits':40000,'TableMaxWriteCapacityUnits':40000}");
    api_fixture_expect(&db, "DescribeEndpoints", "{}",
                       "{'Endpoints':[{'Address':'localhost','CachePeriodInMinutes':1440}]}");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* A stack looks at the tags of its table, then deletes it: by then others may have made another
 * table of that name. */
static void a_table_is_deleted_by_its_id_if_the_caller_gives_one(void **state)
{
    (void)state;
    create(CREATE("abc", ""));
    db.own_table_id = BYTES("01234567-89ab-4def-8123-456789abcdef");
    api_fixture_expect_error(&db, "DeleteTable", "{'TableName':'abc'}", ERROR_RESOURCE_NOT_FOUND,
                             "Requested resource not found: Table: abc not found");
    db.own_table_id = (struct bytes){ 0 };
    assert_true(api_fixture_call(&db, "DeleteTable", "{'TableName':'abc'}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(contributor_insights_are_disabled),
        TEST(contributor_insights_are_listed_for_no_table),
        TEST(a_table_streams_to_no_kinesis_stream_at_first),
        TEST(tables_are_listed_in_byte_order_page_by_page),
        TEST(a_page_holds_a_hundred_names),
        TEST(unknown_tables_are_not_found),
        TEST(a_protected_table_stays),
        TEST(a_table_is_deleted_by_its_id_if_the_caller_gives_one),
        TEST(a_deleted_table_shows_no_indexes),
        TEST(a_description_counts_items),
        cmocka_unit_test_setup_teardown(a_table_in_transition_cannot_be_changed, set_up_slow,
                                        tear_down),
        TEST(tag_rules_refuse_in_the_service_s_words),
        TEST(tags_are_added_replaced_removed_and_listed_by_key),
        TEST(fifty_tags_are_the_most),
        TEST(limits_and_endpoints_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
