/* test_index_changes.c -- UpdateTable creates and deletes indexes: its rules, and each step.
 *
 * A step is taken when nobody holds an older version of the table; a test that wants to see a state
 * holds one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>
#include "api/operation.h"
#include "api_fixture.h"
#include "base/compiler.h"
#include "table/catalogue.h"

static struct api_fixture db;

#define INVALID "One or more parameter values were invalid: "
#define IN_USE "Attempt to change a resource which is still in use: "
#define ONE_ACTION                                                                                 \
    INVALID "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate "    \
            "object"
#define ONE_AT_A_TIME                                                                              \
    "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per " \
    "table"
#define CANNOT_READ "Cannot read from backfilling global secondary index: new"

#define DEFINE(name, type) "{'AttributeName':'" name "','AttributeType':'" type "'}"
#define DEFINITIONS(list) "'AttributeDefinitions':[" list "]"
#define KEY(name, type) "{'AttributeName':'" name "','KeyType':'" type "'}"
#define INDEX(name, keys, rest) "{'IndexName':'" name "','KeySchema':[" keys "]," rest "}"
#define ALL "'Projection':{'ProjectionType':'ALL'}"
#define UNITS ",'ProvisionedThroughput':{'ReadCapacityUnits':1,'WriteCapacityUnits':1}"
#define CREATE(name, keys, rest) "{'Create':" INDEX(name, keys, rest) "}"
#define DELETE(name) "{'Delete':{'IndexName':'" name "'}}"
#define UPDATES(list) "'GlobalSecondaryIndexUpdates':[" list "]"
#define TABLE(rest) "{'TableName':'table'," rest "}"
#define CREATE_NEW                                                                                 \
    TABLE(DEFINITIONS(DEFINE("n", "S")) "," UPDATES(CREATE("new", KEY("n", "HASH"), ALL)))
#define DELETE_NEW TABLE(UPDATES(DELETE("new")))
#define IN_ALLOCATION                                                                              \
    IN_USE "Index creation is in resource allocation phase. Retry deletion during backfilling "    \
           "phase or when the index is active. Table: table Index: new"
#define UPDATE(name) TABLE(UPDATES("{'Update':{'IndexName':'" name "'," CAPS "}}"))
#define CAPS "'OnDemandThroughput':{'MaxReadRequestUnits':7}"
#define QUERY_NEW                                                                                  \
    TABLE("'IndexName':'new','KeyConditionExpression':'n = :n',"                                   \
          "'ExpressionAttributeValues':{':n':{'S':'x'}}")

/* --- Helpers --- */

static void call(const char *operation, const char *body)
{
    if (!api_fixture_call(&db, operation, body))
        fail_msg("%s %s\n got: %.*s", operation, body, BYTES_FMT(db.error.message));
}

static void refuse(const char *operation, const char *body, enum error_code code,
                   const char *message)
{
    api_fixture_expect_error(&db, operation, body, code, message);
}

static void assert_shows(const char *text)
{
    if (!api_fixture_shows(&db, text))
        fail_msg("%s is not in\n%.*s", text, BYTES_FMT(db.response));
}

static bool describes(const char *text)
{
    call("DescribeTable", "{'TableName':'table'}");
    return api_fixture_shows(&db, text);
}

/* What comes by itself; a minute is for a machine that does a lot else. */
static void wait_until(bool shown, const char *text)
{
    for (int i = 0; i < 60000 && describes(text) != shown; i++)
        usleep(1000);
    if (describes(text) != shown)
        fail_msg("%s %s\n%.*s", text, shown ? "never came" : "never went", BYTES_FMT(db.response));
}

static void open_table(int64_t transition_ms)
{
    api_fixture_open(&db, transition_ms);
    assert_true(api_fixture_call(
        &db, "CreateTable",
        TABLE(DEFINITIONS(DEFINE("p", "S") "," DEFINE("s", "N") "," DEFINE(
            "o", "S")) ","
                       "'KeySchema':[" KEY("p", "HASH") "," KEY(
                           "s", "RANGE") "],"
                                         "'BillingMode':'PAY_PER_REQUEST',"
                                         "'GlobalSecondaryIndexes':[" INDEX(
                                             "old", KEY("o", "HASH"),
                                             ALL) "],"
                                                  "'LocalSecondaryIndexes':[" INDEX(
                                                      "local",
                                                      KEY("p", "HASH") "," KEY("o", "RANGE"),
                                                      ALL) "]")));
    if (transition_ms == 0)
        return;
    api_fixture_restart(&db, transition_ms);
    wait_until(true, "'TableStatus':'ACTIVE'");
}

static int set_up(void **state)
{
    (void)state;
    open_table(0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&db);
    return 0;
}

#define STATUS(name, key, status)                                                                  \
    "'IndexName':'" name "','KeySchema':[{'AttributeName':'" key "','KeyType':'HASH'}],"           \
    "'Projection':{'ProjectionType':'ALL'},'IndexStatus':'" status "',"
#define ALLOCATING STATUS("new", "n", "CREATING") "'Backfilling':false"
#define BACKFILLING STATUS("new", "n", "CREATING") "'Backfilling':true"
#define ACTIVE STATUS("new", "n", "ACTIVE") "'ProvisionedThroughput'"
#define DELETING STATUS("new", "n", "DELETING") "'ProvisionedThroughput'"
#define GONE "'IndexName':'new'"

/* Keeps the current version of the table in use. */
static struct table *hold(void)
{
    struct table *table = catalogue_find(api_catalogue(db.api), BYTES("table"));
    assert_non_null(table);
    return table;
}

/* The index is created up to the backfill, which does not begin before the holder lets go. */
static struct table *hold_backfill(void)
{
    struct table *before = hold();
    call("UpdateTable", CREATE_NEW);
    struct table *allocating = hold();
    table_release(before);
    wait_until(true, BACKFILLING);
    return allocating;
}

static void put(const char *p, int s, const char *rest)
{
    char body[512];
    snprintf(body, sizeof body, TABLE("'Item':{'p':{'S':'%s'},'s':{'N':'%d'}%s}"), p, s, rest);
    call("PutItem", body);
}

/* --- Rules --- */

static const struct {
    const char *body;
    enum error_code code;
    const char *message;
} refused[] = {
    /* One creation or deletion in a request, one action for an index. */
    { TABLE(UPDATES(DELETE("old") "," DELETE("xxx"))), ERROR_LIMIT_EXCEEDED, ONE_AT_A_TIME },
    { TABLE(UPDATES(DELETE("old") "," CREATE("new", KEY("n", "HASH"), ALL))), ERROR_LIMIT_EXCEEDED,
      ONE_AT_A_TIME },
    { TABLE(UPDATES(
          "{'Create':" INDEX("new", KEY("n", "HASH"), ALL) ",'Delete':{'IndexName':'old'}}")),
      ERROR_VALIDATION, ONE_ACTION },
    { "{'TableName':'missing'," UPDATES(DELETE("old") "," DELETE("xxx")) "}", ERROR_LIMIT_EXCEEDED,
      ONE_AT_A_TIME },
    { TABLE(UPDATES(DELETE("old") "," CREATE("old", KEY("n", "HASH"), ALL))), ERROR_VALIDATION,
      INVALID "Only one global secondary index update per index is allowed simultaneously. Index: "
              "old" },
    { TABLE(UPDATES("{'Update':{'IndexName':'old'},'Delete':{'IndexName':'old'}}")),
      ERROR_VALIDATION, ONE_ACTION },
    /* What there is. */
    { TABLE(UPDATES(DELETE("xxx"))), ERROR_RESOURCE_NOT_FOUND,
      "Requested resource not found: Index xxx for table table" },
    { TABLE(UPDATES(DELETE("local"))), ERROR_VALIDATION,
      "Cannot delete an index that is not a GlobalSecondaryIndex: local" },
    { TABLE(DEFINITIONS(DEFINE("n", "S")) "," UPDATES(CREATE("old", KEY("n", "HASH"), ALL))),
      ERROR_VALIDATION, "Attempting to create an index which already exists" },
    { TABLE(DEFINITIONS(DEFINE("n", "S")) "," UPDATES(CREATE("local", KEY("n", "HASH"), ALL))),
      ERROR_VALIDATION, "Attempting to create an index which already exists" },
    /* Definitions: the request's own, of what they were before. */
    { TABLE(UPDATES(CREATE("new", KEY("n", "HASH"), ALL))), ERROR_VALIDATION,
      INVALID "AttributeDefinitions is not specified for index: new" },
    { TABLE(UPDATES(CREATE("new", KEY("o", "HASH"), ALL))), ERROR_VALIDATION,
      INVALID "AttributeDefinitions is not specified for index: new" },
    { TABLE(DEFINITIONS(DEFINE("m", "S")) "," UPDATES(CREATE("new", KEY("n", "HASH"), ALL))),
      ERROR_VALIDATION,
      INVALID "Some index key attributes are not defined in AttributeDefinitions. Keys: [n], "
              "AttributeDefinitions: [m]" },
    { TABLE(DEFINITIONS(DEFINE("o", "N")) "," UPDATES(CREATE("new", KEY("o", "HASH"), ALL))),
      ERROR_VALIDATION,
      "invalid attribute, SchemaElement redefined should be of same type as previously defined" },
    { TABLE(DEFINITIONS(DEFINE("n", "S") "," DEFINE("s", "B")) "," UPDATES(
          CREATE("new", KEY("n", "HASH"), ALL))),
      ERROR_VALIDATION,
      "invalid attribute, SchemaElement redefined should be of same type as previously defined" },
    /* The rules of CreateTable. */
    { TABLE(DEFINITIONS(DEFINE("n", "S")) "," UPDATES(CREATE("new", KEY("n", "RANGE"), ALL))),
      ERROR_VALIDATION, "Invalid KeySchema: The first KeySchemaElement is not a HASH key type" },
    { TABLE(DEFINITIONS(DEFINE("n", "S") "," DEFINE("m", "S")) "," UPDATES(
          CREATE("new", KEY("n", "HASH") "," KEY("n", "RANGE"), ALL))),
      ERROR_VALIDATION, "The KeySchema contains multiple key attributes with the same name" },
    { TABLE(DEFINITIONS(DEFINE("n", "S")) "," UPDATES(
          CREATE("new", KEY("n", "HASH"), "'Projection':{'ProjectionType':'INCLUDE'}"))),
      ERROR_VALIDATION,
      INVALID "ProjectionType is INCLUDE, but NonKeyAttributes is not specified" },
    { TABLE(DEFINITIONS(DEFINE("n", "S")) "," UPDATES(CREATE("new", KEY("n", "HASH"), ALL UNITS))),
      ERROR_VALIDATION,
      INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: new "
              "when BillingMode is PAY_PER_REQUEST" },
};

static void each_rule_refuses_in_the_service_s_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        refuse("UpdateTable", refused[i].body, refused[i].code, refused[i].message);
    assert_false(describes(GONE));
}

static void an_index_of_a_provisioned_table_needs_throughput(void **state)
{
    (void)state;
    call("UpdateTable", TABLE("'BillingMode':'PROVISIONED'" UNITS
                              "," UPDATES("{'Update':{'IndexName':'old'" UNITS "}}")));
    refuse("UpdateTable", CREATE_NEW, ERROR_VALIDATION,
           INVALID "Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: "
                   "new");
    call("UpdateTable", TABLE(DEFINITIONS(DEFINE("n", "S")) "," UPDATES(
                            CREATE("new", KEY("n", "HASH"), ALL UNITS))));
    wait_until(true, ACTIVE ":{'NumberOfDecreasesToday':0,'ReadCapacityUnits':1");
}

static void a_table_has_twenty_global_indexes(void **state)
{
    (void)state;
    char body[512], text[64];
    for (int i = 2; i <= 21; i++) {
        snprintf(body, sizeof body,
                 TABLE(DEFINITIONS(DEFINE("n", "S")) "," UPDATES(
                     CREATE("new%d", KEY("n", "HASH"), ALL))),
                 i);
        if (i > 20) {
            refuse("UpdateTable", body, ERROR_LIMIT_EXCEEDED,
                   "Subscriber limit exceeded: Number of global secondary indexes exceeds "
                   "per-table limit of 20");
            break;
        }
        call("UpdateTable", body);
        snprintf(text, sizeof text, "'IndexName':'new%d'", i);
        wait_until(true, text);
        wait_until(false, "'IndexStatus':'CREATING'");
    }
}

static void included_names_count_over_all_indexes(void **state)
{
    (void)state;
    char body[1024], names[512] = "";
    size_t len = 0;
    for (int i = 0; i < 20; i++)
        len += (size_t)snprintf(names + len, sizeof names - len, "%s'x%d'", i == 0 ? "" : ",", i);
    for (int i = 1; i <= 6; i++) {
        snprintf(body, sizeof body,
                 TABLE(DEFINITIONS(DEFINE("n", "S")) "," UPDATES(
                     CREATE("new%d", KEY("n", "HASH"),
                            "'Projection':{'ProjectionType':'INCLUDE','NonKeyAttributes':[%s]}"))),
                 i, i < 6 ? names : "'x0'");
        if (i < 6) {
            call("UpdateTable", body);
            wait_until(false, "'IndexStatus':'CREATING'");
        } else {
            refuse("UpdateTable", body, ERROR_VALIDATION,
                   INVALID "Number of projected attributes in all indexes exceeds limit of 100");
        }
    }
}

/* --- Steps --- */

static void an_index_is_created_step_by_step(void **state)
{
    (void)state;
    put("a", 1, ",'n':{'S':'x'}");
    struct table *before = hold();
    call("UpdateTable", CREATE_NEW);
    assert_shows("'TableStatus':'UPDATING'");
    assert_shows(ALLOCATING);
    assert_true(describes(ALLOCATING)); /* And stays so. */
    assert_shows("'TableStatus':'ACTIVE'");
    refuse("Query", QUERY_NEW, ERROR_VALIDATION, CANNOT_READ);
    refuse("UpdateTable", DELETE_NEW, ERROR_RESOURCE_IN_USE, IN_ALLOCATION);

    struct table *allocating = hold();
    table_release(before);
    wait_until(true, BACKFILLING);
    refuse("Query", QUERY_NEW, ERROR_VALIDATION, CANNOT_READ);
    refuse("Scan", TABLE("'IndexName':'new'"), ERROR_VALIDATION, CANNOT_READ);

    table_release(allocating);
    wait_until(true, ACTIVE);
    assert_false(api_fixture_shows(&db, "'Backfilling'"));
    assert_shows("'IndexSizeBytes':7,'ItemCount':1");
    api_fixture_expect(&db, "Query", QUERY_NEW,
                       "{'Items':[{'n':{'S':'x'},'p':{'S':'a'},'s':{'N':'1'}}],'Count':1,"
                       "'ScannedCount':1}");
}

static void nothing_else_changes_while_an_index_does(void **state)
{
    (void)state;
    struct table *held = hold_backfill();
    refuse("UpdateTable", CREATE_NEW, ERROR_RESOURCE_IN_USE,
           IN_USE "Index is being created.  Table: table Index: new");
    refuse("UpdateTable",
           TABLE(DEFINITIONS(DEFINE("n", "S")) "," UPDATES(CREATE("two", KEY("n", "HASH"), ALL))),
           ERROR_LIMIT_EXCEEDED, ONE_AT_A_TIME);
    refuse("UpdateTable", TABLE(UPDATES(DELETE("old"))), ERROR_LIMIT_EXCEEDED, ONE_AT_A_TIME);
    refuse("DeleteTable", "{'TableName':'table'}", ERROR_RESOURCE_IN_USE,
           IN_USE "Cannot delete table while indexes are being created, updated, or deleted.");
    /* Its throughput and that of others may be changed. */
    call("UpdateTable", TABLE(UPDATES("{'Update':{'IndexName':'new','OnDemandThroughput':"
                                      "{'MaxReadRequestUnits':7}}},"
                                      "{'Update':{'IndexName':'old','OnDemandThroughput':"
                                      "{'MaxReadRequestUnits':8}}}")));
    table_release(held);
    wait_until(true, ACTIVE);
    assert_shows("'MaxReadRequestUnits':7");
    assert_shows("'MaxReadRequestUnits':8");
    call("DeleteTable", "{'TableName':'table'}");
}

static void an_index_is_deleted_step_by_step(void **state)
{
    (void)state;
    put("a", 1, ",'n':{'S':'x'}");
    call("UpdateTable", CREATE_NEW);
    wait_until(true, ACTIVE);
    struct table *held = hold();
    call("UpdateTable", DELETE_NEW);
    assert_shows("'TableStatus':'UPDATING'");
    assert_shows(DELETING);
    assert_true(describes(DELETING)); /* And stays so. */
    assert_false(api_fixture_shows(&db, DEFINE("n", "S")));
    refuse("Query", QUERY_NEW, ERROR_VALIDATION,
           "The table does not have the specified index: new");
    refuse("UpdateTable", DELETE_NEW, ERROR_RESOURCE_IN_USE,
           IN_USE "Index is being deleted.  Table: table Index: new");
    refuse("UpdateTable", CREATE_NEW, ERROR_RESOURCE_IN_USE,
           IN_USE "Index is being deleted.  Table: table Index: new");
    refuse("UpdateTable", TABLE(UPDATES(DELETE("old"))), ERROR_LIMIT_EXCEEDED, ONE_AT_A_TIME);
    refuse("DeleteTable", "{'TableName':'table'}", ERROR_RESOURCE_IN_USE,
           IN_USE "Cannot delete table while indexes are being created, updated, or deleted.");
    put("a", 2, ",'n':{'N':'1'}"); /* What it asked of its keys does not hold any more. */

    table_release(held);
    wait_until(false, GONE);
    assert_shows("[" DEFINE("o", "S") "," DEFINE("p", "S") "," DEFINE("s", "N") "]");
    refuse("UpdateTable", DELETE_NEW, ERROR_RESOURCE_NOT_FOUND,
           "Requested resource not found: Index new for table table");
}

static void an_index_can_be_deleted_while_it_is_backfilled(void **state)
{
    (void)state;
    put("a", 1, ",'n':{'S':'x'}");
    struct table *held = hold_backfill();
    put("a", 2, ",'n':{'S':'x'}");
    call("UpdateTable", DELETE_NEW);
    assert_true(describes(DELETING));
    table_release(held);
    wait_until(false, GONE);
    /* Another one of that name begins with nothing. */
    call("UpdateTable", CREATE_NEW);
    wait_until(true, ACTIVE);
    assert_shows("'IndexSizeBytes':14,'ItemCount':2");
}

static void an_attribute_that_is_used_elsewhere_stays_defined(void **state)
{
    (void)state;
    call("UpdateTable", TABLE(DEFINITIONS(DEFINE("o", "S") "," DEFINE("unused", "S")) "," UPDATES(
                            CREATE("new", KEY("o", "HASH"), ALL))));
    wait_until(true, STATUS("new", "o", "ACTIVE"));
    assert_shows("[" DEFINE("o", "S") "," DEFINE("p", "S") "," DEFINE("s", "N") "]");
    call("UpdateTable", DELETE_NEW);
    wait_until(false, GONE);
    assert_shows("[" DEFINE("o", "S") "," DEFINE("p", "S") "," DEFINE("s", "N") "]");
}

static void items_that_cannot_be_keys_are_skipped_and_later_refused(void **state)
{
    (void)state;
    put("a", 1, ",'n':{'S':'x'}");
    put("a", 2, ",'n':{'N':'1'}");
    put("a", 3, ",'n':{'S':''}");
    put("a", 4, "");
    call("UpdateTable", CREATE_NEW);
    wait_until(true, ACTIVE);
    assert_shows("'IndexSizeBytes':7,'ItemCount':1");
    refuse("PutItem", TABLE("'Item':{'p':{'S':'b'},'s':{'N':'1'},'n':{'N':'1'}}"), ERROR_VALIDATION,
           INVALID "Type mismatch for Index Key n Expected: S Actual: N IndexName: new");
}

static void expect_refused(const char *change, const char *message)
{
    refuse("UpdateTable", change, ERROR_RESOURCE_IN_USE, message);
}

/* Observed in 2026. Changes beside others: test_update_table.c. */
static void a_change_beside_an_index_is_refused_with_what_is_under_way(void **state)
{
    (void)state;
    const char *const units = TABLE("'BillingMode':'PROVISIONED','ProvisionedThroughput':"
                                    "{'ReadCapacityUnits':1,'WriteCapacityUnits':1}");
    const char *const stream = TABLE("'StreamSpecification':{'StreamEnabled':true,"
                                     "'StreamViewType':'KEYS_ONLY'}");
    api_fixture_close(&db);
    open_table(1000);
    call("UpdateTable", CREATE_NEW);
    assert_true(describes(ALLOCATING));
    expect_refused(units, IN_USE "Can't change table IOPS when an index is being created. "
                                 "Table: table Indexes: [new]");
    expect_refused(stream, IN_USE "Can't change stream status when an index is being created. "
                                  "Table: table Indexes: [new]");
    expect_refused(TABLE(CAPS), IN_USE "OnDemandThroughput cannot be updated while index creation "
                                       "is in progress for indexes: [new]");
    expect_refused(TABLE("'TableClass':'STANDARD_INFREQUENT_ACCESS'"),
                   IN_USE "Table is being updated: table");
    expect_refused(UPDATE("new"), IN_USE "Index is being created but is not backfilling yet.  "
                                         "Table: table Index: new");
    expect_refused(CREATE_NEW, IN_USE "Index is being created.  Table: table Index: new");
    refuse("UpdateTable", TABLE(UPDATES(DELETE("old"))), ERROR_LIMIT_EXCEEDED, ONE_AT_A_TIME);
    refuse("DeleteTable", "{'TableName':'table'}", ERROR_RESOURCE_IN_USE,
           IN_USE "Cannot delete table while indexes are being created, updated, or deleted.");
    call("UpdateTable", UPDATE("old"));
    call("UpdateTable", TABLE("'BillingMode':'PAY_PER_REQUEST'")); /* As it is. */
    assert_true(describes(ALLOCATING));

    api_fixture_restart(&db, 1000); /* The transition ends. */
    wait_until(true, ACTIVE);
    call("UpdateTable", DELETE_NEW);
    assert_true(describes(DELETING));
    expect_refused(units, IN_USE "Can't change table IOPS when an index is being deleted. "
                                 "Table: table Indexes: [new]");
    expect_refused(TABLE(CAPS), IN_USE "OnDemandThroughput cannot be updated while index deletion "
                                       "is in progress for indexes: [new]");
    expect_refused(UPDATE("new"), IN_USE "Index is being deleted.  Table: table Index: new");
    refuse("DeleteTable", "{'TableName':'table'}", ERROR_RESOURCE_IN_USE,
           IN_USE "Cannot delete table while indexes are being created, updated, or deleted.");
    call("UpdateTable", UPDATE("old"));
}

static void a_restart_goes_on_where_it_was(void **state)
{
    (void)state;
    enum { ITEMS = 300 };
    api_fixture_close(&db);
    open_table(1000);
    for (int i = 0; i < ITEMS; i++)
        put("a", i, ",'n':{'S':'x'}");
    call("UpdateTable", CREATE_NEW);
    assert_true(describes(ALLOCATING));
    assert_shows("'TableStatus':'UPDATING'");
    refuse("UpdateTable", DELETE_NEW, ERROR_RESOURCE_IN_USE, IN_ALLOCATION);
    api_fixture_restart(&db, 500);
    assert_true(describes(ALLOCATING));
    api_fixture_restart(&db, 500);
    api_fixture_restart(&db, 0); /* Perhaps in the middle. */
    wait_until(true, ACTIVE);
    assert_shows("'ItemCount':300,'IndexArn':"
                 "'arn:aws:dynamodb:eu-west-1:123456789012:table/table/index/new'");
    call("UpdateTable", DELETE_NEW);
    api_fixture_restart(&db, 0);
    assert_true(describes(DELETING));
    api_fixture_restart(&db, 1000);
    wait_until(false, GONE);
}

#define STEP_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STEP_TEST(each_rule_refuses_in_the_service_s_words),
        STEP_TEST(an_index_of_a_provisioned_table_needs_throughput),
        STEP_TEST(a_table_has_twenty_global_indexes),
        STEP_TEST(included_names_count_over_all_indexes),
        STEP_TEST(an_index_is_created_step_by_step),
        STEP_TEST(nothing_else_changes_while_an_index_does),
        STEP_TEST(an_index_is_deleted_step_by_step),
        STEP_TEST(an_index_can_be_deleted_while_it_is_backfilled),
        STEP_TEST(an_attribute_that_is_used_elsewhere_stays_defined),
        STEP_TEST(items_that_cannot_be_keys_are_skipped_and_later_refused),
        STEP_TEST(a_change_beside_an_index_is_refused_with_what_is_under_way),
        STEP_TEST(a_restart_goes_on_where_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
