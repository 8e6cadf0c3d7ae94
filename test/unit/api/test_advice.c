/* test_advice.c -- the adviser's rules about requests, indexes and items, and its answer: for each
 * rule a workload that triggers it, and one that just does not.
 *
 * Thresholds are those of doc/advice.md. test_advice_capacity.c has the other rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "advice/advice.h"
#include "advice_fixture.h"
#include "fault/faults.h"

static int set_up(void **state)
{
    (void)state;
    return advice_open((struct api_options){ 0 });
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&advice_db);
    return 0;
}

#define INDEX_ON(name, attribute)                                                                  \
    "{'IndexName':'" name "','KeySchema':[{'AttributeName':'" attribute                            \
    "','KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}"

static void create_indexed(void)
{
    advice_call("CreateTable", TABLE_OF("Tab", ON_DEMAND,
                                        ",{'AttributeName':'g','AttributeType':'S'}" KEYS
                                        ",'GlobalSecondaryIndexes':[" INDEX_ON("Ind", "g") "]"));
}

/* --- Access patterns --- */

#define SCAN "{'TableName':'Tab','Limit':1}"
#define GET "{'TableName':'Tab','Key':{'p':{'S':'k'},'s':{'S':'000000'}}}"

/* More than a scan a minute, on a table of more than a megabyte. */
static void scans_are_reported_by_their_rate(void **state)
{
    (void)state;
    advice_create();
    for (int i = 0; i < 3; i++)
        advice_put(i, 340 * 1024);
    advice_move_clock(2 * ADVICE_MINUTE_MS);
    advice_repeat(3, "Scan", SCAN);
    advice_expect("scan", false); /* 1,020 KB. */
    advice_put(3, 5 * 1024);
    advice_expect("scan", true);
    advice_shows("'Shape':'scan'");
    advice_move_clock(ADVICE_MINUTE_MS); /* Three in three minutes. */
    advice_expect("scan", false);
}

static void scans_are_reported_by_their_share_of_units(void **state)
{
    (void)state;
    advice_create();
    for (int i = 0; i < 4; i++)
        advice_put(i, 350 * 1024);
    advice_move_clock(ADVICE_HOUR_MS - ADVICE_MINUTE_MS);
    advice_repeat(9, "Scan", SCAN);
    advice_expect("scan", false); /* Nobody calls nine scans a pattern. */
    advice_call("Scan", SCAN);
    advice_expect("scan", true);
    advice_repeat(100, "GetItem", GET); /* As many units as ten scans, ten times. */
    advice_expect("scan", false);
}

#define STATEMENT(name)                                                                            \
    "{'Statement':'SELECT * FROM Tab WHERE " name " = ?','Parameters':[{'S':'y'}]}"

static void statements_without_a_key_are_reported(void **state)
{
    (void)state;
    advice_create();
    advice_put(1, 10);
    advice_move_clock(4 * ADVICE_MINUTE_MS);
    advice_repeat(4, "ExecuteStatement", STATEMENT("b"));
    advice_repeat(9, "ExecuteStatement", STATEMENT("p"));
    advice_expect("partiql-scan", false);
    advice_call("ExecuteStatement", STATEMENT("b"));
    advice_expect("partiql-scan", true);
    advice_shows("'Shape':'scan; filter: b = ?'");
}

#define FILTERED                                                                                   \
    "{'TableName':'Tab','KeyConditionExpression':'p = :p','FilterExpression':'b = :b',"            \
    "'ExpressionAttributeValues':{':p':{'S':'k'},':b':{'S':'%s'}}}"

/* Eleven items are read; one or two are returned. */
static void filters_that_drop_nearly_all_are_reported(void **state)
{
    (void)state;
    for (int returned = 1; returned <= 2; returned++) {
        advice_create();
        for (int i = 0; i < 11; i++)
            advice_put(i, i < returned ? 3 : 4);
        for (int i = 0; i < 99; i++)
            advice_call_with("Query", FILTERED, "xxx");
        advice_expect("filter", false); /* Too few calls. */
        advice_call_with("Query", FILTERED, "xxx");
        advice_expect("filter", returned == 1);
        if (returned == 1) {
            advice_shows("'Shape':'key: p = ?; filter: b = ?'");
            advice_shows("'Evidence':{'Calls':100.0,'ItemsRead':1100.0,'ItemsReturned':100.0");
        }
        advice_call("DeleteTable", "{'TableName':'Tab'}");
    }
}

#define PAGE_OF(from)                                                                              \
    "{'TableName':'Tab','KeyConditionExpression':'p = :p','FilterExpression':'b = :b','Limit':1,"  \
    "'ExclusiveStartKey':{'p':{'S':'k'},'s':{'S':'" from "'}},"                                    \
    "'ExpressionAttributeValues':{':p':{'S':'k'},':b':{'S':'xxx'}}}"

static void empty_pages_are_reported(void **state)
{
    (void)state;
    advice_create();
    advice_put(1, 4);
    advice_put(2, 3);
    advice_put(3, 4);
    advice_repeat(80, "Query", PAGE_OF("000001"));
    advice_repeat(20, "Query", PAGE_OF("000000")); /* Empty, and more follows. */
    advice_expect("empty-pages", false);
    advice_call("Query", PAGE_OF("000000"));
    advice_expect("empty-pages", true);
}

static void consistent_reads_of_global_indexes_are_reported(void **state)
{
    (void)state;
    create_indexed();
    advice_call("Query", "{'TableName':'Tab','IndexName':'Ind','KeyConditionExpression':'g = :g',"
                         "'ExpressionAttributeValues':{':g':{'S':'x'}}}");
    advice_expect("consistent-index-read", false);
    assert_false(
        api_fixture_call(&advice_db, "Query",
                         "{'TableName':'Tab','IndexName':'Ind','KeyConditionExpression':'g = :g',"
                         "'ConsistentRead':true,'ExpressionAttributeValues':{':g':{'S':'x'}}}"));
    advice_expect("consistent-index-read", true);
    advice_shows("'IndexName':'Ind','Operation':'Query'");
}

static void many_different_scans_are_reported(void **state)
{
    (void)state;
    advice_create();
    for (int i = 0; i < 20; i++)
        advice_call_with("Scan", "{'TableName':'Tab','FilterExpression':'attribute_exists(a%d)'}",
                         i);
    advice_call("Scan", SCAN);
    advice_expect("ad-hoc-queries", false);
    advice_call("Scan", "{'TableName':'Tab','FilterExpression':'attribute_exists(z)'}");
    advice_expect("ad-hoc-queries", true);
}

/* --- Writes --- */

#define COUNT_UP                                                                                   \
    "{'TableName':'Tab','Key':{'p':{'S':'k'},'s':{'S':'000000'}},'UpdateExpression':'ADD n :n',"   \
    "'ExpressionAttributeValues':{':n':{'N':'1'}}}"

static void small_updates_of_large_items_are_reported(void **state)
{
    (void)state;
    advice_create();
    advice_put(0, 8 * 1024 - 40); /* Eight units. */
    advice_repeat(100, "UpdateItem", COUNT_UP);
    advice_expect("large-update", false);
    advice_call("DeleteTable", "{'TableName':'Tab'}");
    advice_create();
    advice_put(0, 8 * 1024); /* Nine. */
    advice_repeat(99, "UpdateItem", COUNT_UP);
    advice_expect("large-update", false);
    advice_call("UpdateItem", COUNT_UP);
    advice_expect("large-update", true);
    advice_shows("'Shape':'update: ADD n'");
}

#define SINGLE                                                                                     \
    "{'TransactItems':[{'Put':{'TableName':'Tab','Item':{'p':{'S':'t'},'s':{'S':'1'}}}}]}"

static void transactions_of_one_item_are_reported(void **state)
{
    (void)state;
    advice_create();
    advice_repeat(99, "TransactWriteItems", SINGLE);
    advice_expect("single-transaction", false); /* Too few calls, although they take all units. */
    advice_call("TransactWriteItems", SINGLE);
    advice_expect("single-transaction", true);
    advice_call("DeleteTable", "{'TableName':'Tab'}");
    advice_create();
    for (int i = 0; i < 18; i++)
        advice_put(i, 100 * 1024 - 100);
    advice_repeat(100, "TransactWriteItems", SINGLE); /* 200 of 2,000 units. */
    advice_expect("single-transaction", false);
    advice_call("TransactWriteItems", SINGLE);
    advice_expect("single-transaction", true);
    advice_call("DeleteTable", "{'TableName':'Tab'}");
    advice_create();
    advice_repeat(
        100, "TransactWriteItems",
        "{'TransactItems':[{'Put':{'TableName':'Tab','Item':{'p':{'S':'t'},'s':{'S':'1'}}}},"
        "{'Put':{'TableName':'Tab','Item':{'p':{'S':'t'},'s':{'S':'2'}}}}]}");
    advice_expect("single-transaction", false);
}

static void failing_conditions_are_reported(void **state)
{
    (void)state;
    advice_create();
    for (int i = 0; i < 95; i++)
        advice_put(0, 3);
    for (int i = 0; i < 6; i++) {
        advice_expect("failed-conditions", false); /* 5 of 100 are not above 5%. */
        assert_false(api_fixture_call(&advice_db, "DeleteItem",
                                      "{'TableName':'Tab','Key':{'p':{'S':'k'},'s':{'S':'000000'}},"
                                      "'ConditionExpression':'attribute_exists(z)'}"));
    }
    advice_expect("failed-conditions", true);
    advice_shows("'Shape':'condition: attribute_exists(z)'");
}

static void put_batch(void)
{
    static char body[25 * 96];
    int size = snprintf(body, sizeof body, "{'RequestItems':{'Tab':[");
    for (int i = 0; i < 25; i++)
        size += snprintf(body + size, sizeof body - (size_t)size,
                         "%s{'PutRequest':{'Item':{'p':{'S':'k'},'s':{'S':'%d'}}}}",
                         i == 0 ? "" : ",", i);
    snprintf(body + size, sizeof body - (size_t)size, "]}}");
    advice_call("BatchWriteItem", body);
}

static void fail_transaction(void)
{
    assert_false(api_fixture_call(
        &advice_db, "TransactWriteItems",
        "{'TransactItems':[{'Delete':{'TableName':'Tab','Key':{'p':{'S':'k'},'s':{'S':'1'}},"
        "'ConditionExpression':'attribute_exists(z)'}},{'Delete':{'TableName':'Tab','Key':{"
        "'p':{'S':'k'},'s':{'S':'2'}},'ConditionExpression':'attribute_exists(z)'}}]}"));
}

/* Failures are items, so what they are compared with are items as well: of 8 batches of 25 and 5
 * transactions with two failures each, which are 13 calls. */
static void failures_are_compared_with_items_not_with_calls(void **state)
{
    (void)state;
    advice_create();
    for (int i = 0; i < 8; i++)
        put_batch();
    for (int i = 0; i < 5; i++)
        fail_transaction();
    advice_expect("failed-conditions", false); /* 10 of 210. */
    fail_transaction();                        /* 12 of 212. */
    advice_expect("failed-conditions", true);
    advice_shows("'Writes':212.0,'ConditionFailures':12.0");
}

static void statements_that_write_count_for_failed_conditions(void **state)
{
    (void)state;
    advice_create();
    for (int i = 0; i < 95; i++)
        advice_call_with(
            "ExecuteStatement",
            "{'Statement':'INSERT INTO Tab VALUE {\\u0027p\\u0027:?,\\u0027s\\u0027:?}',"
            "'Parameters':[{'S':'k'},{'S':'%d'}]}",
            i);
    for (int i = 0; i < 6; i++) {
        advice_expect("failed-conditions", false);
        assert_false(api_fixture_call(&advice_db, "ExecuteStatement",
                                      "{'Statement':'DELETE FROM Tab WHERE p = ? AND s = ? AND z "
                                      "= ?','Parameters':[{'S':'k'},{'S':'1'},{'S':'x'}]}"));
    }
    advice_expect("failed-conditions", true);
}

static struct clock fault_clock;

static int set_up_faults(void **state)
{
    (void)state;
    fault_clock = clock_fixed(ADVICE_START_MS);
    return advice_open((struct api_options){ .faults = faults_create(&fault_clock) });
}

static int tear_down_faults(void **state)
{
    struct faults *faults = advice_db.options.faults;
    int result = tear_down(state);
    faults_destroy(faults);
    return result;
}

#define CONDITIONAL(name)                                                                          \
    "{'TableName':'Tab','Key':{'p':{'S':'k'},'s':{'S':'000000'}},"                                 \
    "'ConditionExpression':'attribute_exists(" name ")'}"

/* Failures that were injected are nobody's design, in the meter and in shapes alike. */
static void injected_failures_of_conditions_are_not_counted(void **state)
{
    (void)state;
    advice_create();
    for (int i = 0; i < 95; i++)
        advice_put(0, 3);
    for (int i = 0; i < 6; i++)
        assert_false(api_fixture_call(&advice_db, "DeleteItem", CONDITIONAL("z")));
    advice_call("AddFault", "{'TableName':'Tab','Fault':'ConditionalCheckFailed'}");
    for (int i = 0; i < 50; i++)
        assert_false(api_fixture_call(&advice_db, "DeleteItem", CONDITIONAL("p")));
    advice_expect("failed-conditions", true);
    advice_shows("'FailuresOfShape':6.0,'CallsOfShape':6.0,'Writes':101.0,'ConditionFailures':6.0");
}

/* --- Indexes --- */

#define PUT_INDEXED "{'TableName':'Tab','Item':{'p':{'S':'%d'},'s':{'S':'1'},'g':{'S':'%d'}}}"

static void an_index_is_unused_after_30_days_and_not_earlier(void **state)
{
    (void)state;
    create_indexed();
    advice_call_with("PutItem", PUT_INDEXED, 1, 1);
    advice_pass_hours(30 * 24 - 1);
    advice_expect("unused-index", false);
    advice_expect_unjudged("unused-index", true);
    advice_call_with("PutItem", PUT_INDEXED, 2, 1);
    advice_pass_hours(1);
    advice_expect("unused-index", true);
    advice_call("Query", "{'TableName':'Tab','IndexName':'Ind','KeyConditionExpression':'g = :g',"
                         "'ExpressionAttributeValues':{':g':{'S':'x'}}}");
    advice_pass_hours(1);
    advice_expect("unused-index", false);
    advice_expect_unjudged("unused-index", false); /* It was judged: somebody reads it. */
}

/* The server was not running: that there are no reads is not known. */
static void no_data_is_not_taken_for_zero(void **state)
{
    (void)state;
    create_indexed();
    advice_call_with("PutItem", PUT_INDEXED, 1, 1);
    advice_pass_hours(24);
    api_fixture_restart(&advice_db, 30 * (24 * ADVICE_HOUR_MS));
    advice_call_with("PutItem", PUT_INDEXED, 2, 1);
    advice_pass_hours(2);
    advice_expect("unused-index", false);
    advice_expect_unjudged("unused-index", true);
    advice_shows("there are samples of less than 90% of the last 30 days");
}

/* An index that took another's name has not been unused before it was there. */
static void a_new_index_of_an_old_name_is_young(void **state)
{
    (void)state;
    create_indexed();
    advice_call_with("PutItem", PUT_INDEXED, 1, 1);
    advice_pass_hours(31 * 24);
    advice_call(
        "UpdateTable",
        "{'TableName':'Tab','GlobalSecondaryIndexUpdates':[{'Delete':{'IndexName':'Ind'}}]}");
    for (int i = 0;
         i < 10000 &&
         !api_fixture_call(
             &advice_db, "UpdateTable",
             "{'TableName':'Tab','AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'},"
             "{'AttributeName':'s','AttributeType':'S'},{'AttributeName':'g','AttributeType':'S'}],"
             "'GlobalSecondaryIndexUpdates':[{'Create':" INDEX_ON("Ind", "g") "}]}");
         i++)
        usleep(1000);
    for (int i = 0; i < 10000; i++) {
        advice_call("DescribeTable", "{'TableName':'Tab'}");
        if (api_fixture_shows(&advice_db, "'IndexStatus':'ACTIVE'"))
            break;
        usleep(1000);
    }
    advice_call_with("PutItem", PUT_INDEXED, 2, 1);
    advice_pass_hours(2);
    advice_expect("unused-index", false);
    advice_expect_unjudged("unused-index", true);
    advice_shows("the index is younger than 30 days, or than the window asked for");
}

static void create_with_indexes(int count)
{
    char indexes[2048] = "", attributes[1024] = "";
    for (int i = 0; i < count; i++) {
        size_t at = strlen(indexes);
        /* The last two have the same partition key. */
        int key = i == count - 1 ? count - 2 : i;
        snprintf(indexes + at, sizeof indexes - at,
                 "%s{'IndexName':'Ind%d','KeySchema':[{'AttributeName':'g%d','KeyType':'HASH'}],"
                 "'Projection':{'ProjectionType':'KEYS_ONLY'}}",
                 i == 0 ? "" : ",", i, key);
        at = strlen(attributes);
        if (key == i)
            snprintf(attributes + at, sizeof attributes - at,
                     ",{'AttributeName':'g%d','AttributeType':'S'}", i);
    }
    advice_call_with("CreateTable",
                     TABLE_OF("Tab", ON_DEMAND, "%s" KEYS ",'GlobalSecondaryIndexes':[%s]"),
                     attributes, indexes);
}

static void many_indexes_that_overlap_are_reported(void **state)
{
    (void)state;
    for (int count = 5; count <= 6; count++) {
        create_with_indexes(count);
        advice_call("GetItem", GET);
        advice_expect("many-indexes", count == 6);
        advice_call("DeleteTable", "{'TableName':'Tab'}");
    }
}

/* Ten entries with ten attributes each; four or five of them are asked for. */
static void a_wide_projection_is_reported_if_few_attributes_are_read(void **state)
{
    (void)state;
    for (int used = 4; used <= 5; used++) {
        create_indexed();
        for (int i = 0; i < 10; i++)
            advice_call_with(
                "PutItem",
                "{'TableName':'Tab','Item':{'p':{'S':'%d'},'s':{'S':'1'},'g':{'S':'x'},"
                "'a':{'S':'a'},'b':{'S':'b'},'c':{'S':'c'},'d':{'S':'d'},'e':{'S':'e'},"
                "'f':{'S':'f'},'h':{'S':'h'}}}",
                i);
        for (int i = 0; i < 100; i++) {
            if (i == 99)
                advice_expect("wide-projection", false); /* Too few calls. */
            advice_call_with(
                "Query",
                "{'TableName':'Tab','IndexName':'Ind','KeyConditionExpression':'g = :g',"
                "'ProjectionExpression':'a,b,c,d%s','ExpressionAttributeValues':{':g':{'S':'x'}}}",
                used == 5 ? ",e" : "");
        }
        advice_expect("wide-projection", used == 4);
        if (used == 4) { /* Somebody reads it as a whole. */
            advice_call("Scan", "{'TableName':'Tab','IndexName':'Ind'}");
            advice_expect("wide-projection", false);
        }
        advice_call("DeleteTable", "{'TableName':'Tab'}");
    }
}

static void an_index_key_that_moves_is_reported(void **state)
{
    (void)state;
    create_indexed();
    for (int i = 0; i < 50; i++)
        advice_call_with("PutItem", PUT_INDEXED, i, 1);
    for (int i = 0; i < 50; i++)
        advice_call_with("PutItem", PUT_INDEXED, i, 2);
    advice_expect("moving-index-key", false); /* Half of the changes are not more than half. */
    advice_call_with("PutItem", PUT_INDEXED, 1, 3);
    advice_expect("moving-index-key", true);
    advice_shows("'EntriesWritten':101.0,'EntriesMoved':51.0");
}

static int set_up_small_collections(void **state)
{
    (void)state;
    return advice_open((struct api_options){ .item_collection_size_max = 10000 });
}

static void a_large_item_collection_is_reported(void **state)
{
    (void)state;
    advice_call(
        "CreateTable",
        TABLE_OF("Tab", ON_DEMAND,
                 ",{'AttributeName':'l','AttributeType':'S'}" KEYS
                 ",'LocalSecondaryIndexes':[{'IndexName':'Loc','KeySchema':["
                 "{'AttributeName':'p','KeyType':'HASH'},{'AttributeName':'l','KeyType':'RANGE'}],"
                 "'Projection':{'ProjectionType':'KEYS_ONLY'}}]"));
    advice_put(1, 4500);
    advice_expect("large-collection", false);
    advice_put(2, 600);
    advice_expect("large-collection", true);
}

/* --- Items --- */

static void large_items_are_reported(void **state)
{
    (void)state;
    advice_create();
    for (int i = 0; i < 99; i++)
        advice_put(i, 3);
    advice_put(100, 101 * 1024);
    advice_expect("large-items", false); /* One in a hundred. */
    advice_put(101, 101 * 1024);
    advice_expect("large-items", true);
    advice_call("DeleteTable", "{'TableName':'Tab'}");
    advice_create();
    for (int i = 0; i < 100; i++)
        advice_put(i, 3);
    advice_put(100, 300 * 1024 - 20);
    advice_expect("large-items", false);
    advice_put(101, 300 * 1024);
    advice_expect("large-items", true);
}

static void put_expiring(int key, int64_t time_s)
{
    advice_call_with(
        "PutItem",
        "{'TableName':'Tab','Item':{'p':{'S':'%d'},'s':{'S':'1'},'created':{'N':'1500000000'},"
        "'expires_at':{'N':'%lld'}}}",
        key, (long long)time_s);
}

static void items_past_their_time_are_reported_unless_expiry_is_on(void **state)
{
    (void)state;
    advice_create();
    for (int i = 0; i < 10; i++)
        put_expiring(i, ADVICE_START_MS / 1000 + (i < 2 ? -1 : 1000));
    advice_expect("expired-items", false); /* 20%, and `created` says nothing. */
    put_expiring(2, ADVICE_START_MS / 1000 - 1);
    advice_expect("expired-items", true);
    advice_shows("the attribute expires_at is a time in the past");
    advice_call("UpdateTimeToLive", "{'TableName':'Tab','TimeToLiveSpecification':{'Enabled':true,"
                                    "'AttributeName':'expires_at'}}");
    advice_expect("expired-items", false);
}

static void rules_about_items_say_that_there_were_too_few(void **state)
{
    static const char *const names[] = { "expired-items", "long-names", "unit-border" };
    (void)state;
    advice_create();
    for (size_t i = 0; i < 3; i++)
        advice_expect_unjudged(names[i], false); /* An empty table has no such problem. */
    for (int i = 0; i < 9; i++)
        advice_put(i, 3);
    for (size_t i = 0; i < 3; i++)
        advice_expect_unjudged(names[i], true);
    advice_put(9, 3);
    for (size_t i = 0; i < 3; i++)
        advice_expect_unjudged(names[i], false);
    for (int i = 0; i < 10; i++) /* Now three of them fill the page that is looked at. */
        advice_put(i, 399 * 1024);
    for (size_t i = 0; i < 3; i++)
        advice_expect_unjudged(names[i], true);
    advice_shows("fewer than 10 items were looked at");
}

/* Names are three of ten bytes, or of nine. */
static void long_names_are_reported(void **state)
{
    (void)state;
    for (int size = 6; size >= 5; size--) {
        advice_create();
        for (int i = 0; i < 10; i++)
            advice_call_with(
                "PutItem",
                "{'TableName':'Tab','Item':{'p':{'S':'%d'},'s':{'S':'%.*s'},'b':{'S':'x'}}}", i,
                size - 1, "xxxxxxxx");
        advice_expect("long-names", size == 5);
        advice_call("DeleteTable", "{'TableName':'Tab'}");
    }
}

static void items_barely_above_a_unit_are_reported(void **state)
{
    (void)state;
    advice_create();
    for (int i = 0; i < 10; i++) /* 3 + 1 + 6 bytes of names and keys. */
        advice_put(i, 1024 - 10 + (i < 3 ? 99 : 100));
    advice_expect("unit-border", false);
    advice_put(3, 1024 - 10 + 1);
    advice_expect("unit-border", true);
}

/* --- The answer --- */

static void counters_of_a_window_leave_out_what_was_before(void **state)
{
    (void)state;
    advice_create();
    for (int i = 0; i < 10; i++)
        advice_put(i, 101 * 1024);
    advice_expect("large-items", true);
    advice_pass_hours(26);
    advice_put(1, 3);
    advice_expect("large-items", false);
    advice_call_with("GetAdvice", "{'StartTime':%lld}", (long long)(ADVICE_START_MS / 1000 - 3600));
    advice_shows("'Rule':'large-items'"); /* Of a longer window, all that is known is counted. */
}

static void shapes_of_other_hours_are_left_out(void **state)
{
    (void)state;
    advice_create();
    advice_put(1, 10);
    advice_move_clock(ADVICE_MINUTE_MS);
    advice_repeat(5, "ExecuteStatement", STATEMENT("b"));
    advice_expect("partiql-scan", true);
    advice_pass_hours(2);
    advice_call_with("GetAdvice", "{'StartTime':%lld}",
                     (long long)(atomic_load(&advice_db.clock.fixed_ms) / 1000 - 60));
    assert_false(api_fixture_shows(&advice_db, "'Rule':'partiql-scan'"));
}

static void pages_follow_one_another(void **state)
{
    (void)state;
    for (int i = 0; i < 12; i++)
        advice_call_with("CreateTable", TABLE_OF("Tab%02d", ON_DEMAND, KEYS), i);
    advice_call("GetAdvice", "{}");
    advice_shows("'LastEvaluatedTableName':'Tab09'");
    advice_call("GetAdvice", "{'ExclusiveStartTableName':'Tab09'}");
    advice_shows("'Tables':['Tab10','Tab11']");
    assert_false(api_fixture_shows(&advice_db, "LastEvaluatedTableName"));
    advice_call("GetAdvice", "{'TableName':'Tab03'}");
    advice_shows("'Tables':['Tab03']");
    advice_shows("'PriceList':{'Version':'20260831092318','Date':'2026-09-06'");
    api_fixture_expect_error(&advice_db, "GetAdvice", "{'TableName':'Absent'}",
                             ERROR_RESOURCE_NOT_FOUND,
                             "Requested resource not found: Table: Absent not found");
    api_fixture_expect_error(&advice_db, "GetAdvice", "{'StartTime':4000000000}", ERROR_VALIDATION,
                             "StartTime must be in the past");
}

/* A page ends with the table that brings it to fifty tables and indexes. */
static void a_page_has_about_fifty_tables_and_indexes(void **state)
{
    (void)state;
    static char indexes[20 * 128], attributes[20 * 64];
    int size = 0, attribute_size = 0;
    for (int i = 0; i < 20; i++) {
        size += snprintf(indexes + size, sizeof indexes - (size_t)size,
                         "%s{'IndexName':'Ind%d','KeySchema':[{'AttributeName':'g%d','KeyType':"
                         "'HASH'}],'Projection':{'ProjectionType':'KEYS_ONLY'}}",
                         i == 0 ? "" : ",", i, i);
        attribute_size +=
            snprintf(attributes + attribute_size, sizeof attributes - (size_t)attribute_size,
                     ",{'AttributeName':'g%d','AttributeType':'S'}", i);
    }
    for (int i = 0; i < 3; i++)
        advice_call_with("CreateTable",
                         TABLE_OF("Tab%d", ON_DEMAND, "%s" KEYS ",'GlobalSecondaryIndexes':[%s]"),
                         i, attributes, indexes);
    advice_call("CreateTable", TABLE_OF("Tab3", ON_DEMAND, KEYS));
    advice_call("GetAdvice", "{'Limit':25}"); /* 21, 42, 63. */
    advice_shows("'Tables':['Tab0','Tab1','Tab2']");
    advice_shows("'LastEvaluatedTableName':'Tab2'");
    advice_call("GetAdvice", "{'Limit':25,'ExclusiveStartTableName':'Tab0'}"); /* 21, 42, 43. */
    advice_shows("'Tables':['Tab1','Tab2','Tab3']");
    assert_false(api_fixture_shows(&advice_db, "LastEvaluatedTableName"));
}

/* Between tables and indexes, and between the minutes of keys; what was begun is finished, or
 * released. */
static void a_call_pauses_between_its_steps(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        advice_call_with("CreateTable",
                         TABLE_OF("Tab%d", ON_DEMAND,
                                  ",{'AttributeName':'g','AttributeType':'S'}" KEYS
                                  ",'GlobalSecondaryIndexes':[" INDEX_ON("Ind", "g") "]"),
                         i);
    advice_call("PutItem", "{'TableName':'Tab1','Item':{'p':{'S':'a'},'s':{'S':'1'},'g':{'S':'x'},"
                           "'ttl':{'N':'1500000000'}}}");
    advice_pass_hours(2);
    advice_call("GetAdvice", "{}");
    char *at_once = strndup((const char *)advice_db.response.data, advice_db.response.len);
    advice_db.pauses = true;
    advice_call("GetAdvice", "{}");
    assert_int_equal(advice_db.response.len, strlen(at_once));
    assert_memory_equal(advice_db.response.data, at_once, strlen(at_once));
    /* Each table: its statistics; itself and its index in each of three stages. */
    assert_int_equal(advice_db.pause_count, 3 * (1 + 3 * 2));
    free(at_once);
    advice_db.cancels = true;
    assert_false(api_fixture_call(&advice_db, "GetAdvice", "{}"));
    advice_db.pauses = advice_db.cancels = false;
}

static void values_never_show(void **state)
{
    (void)state;
    advice_create();
    for (int i = 0; i < 100; i++)
        advice_call_with("Query", FILTERED, "secret");
    advice_call("GetAdvice", "{}");
    assert_false(api_fixture_shows(&advice_db, "secret"));
}

static int set_up_without_shapes(void **state)
{
    (void)state;
    api_fixture_open(&advice_db, 0);
    return 0;
}

static void without_shapes_nothing_is_said_about_them(void **state)
{
    (void)state;
    advice_create();
    advice_call("Scan", SCAN);
    advice_expect_unjudged("scan", true);
    advice_shows("the setting advice-shapes is 0");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(scans_are_reported_by_their_rate),
        TEST(scans_are_reported_by_their_share_of_units),
        TEST(statements_without_a_key_are_reported),
        TEST(filters_that_drop_nearly_all_are_reported),
        TEST(empty_pages_are_reported),
        TEST(consistent_reads_of_global_indexes_are_reported),
        TEST(many_different_scans_are_reported),
        TEST(small_updates_of_large_items_are_reported),
        TEST(transactions_of_one_item_are_reported),
        TEST(failing_conditions_are_reported),
        TEST(failures_are_compared_with_items_not_with_calls),
        TEST(statements_that_write_count_for_failed_conditions),
        cmocka_unit_test_setup_teardown(injected_failures_of_conditions_are_not_counted,
                                        set_up_faults, tear_down_faults),
        TEST(an_index_is_unused_after_30_days_and_not_earlier),
        TEST(no_data_is_not_taken_for_zero),
        TEST(a_new_index_of_an_old_name_is_young),
        TEST(many_indexes_that_overlap_are_reported),
        TEST(a_wide_projection_is_reported_if_few_attributes_are_read),
        TEST(an_index_key_that_moves_is_reported),
        cmocka_unit_test_setup_teardown(a_large_item_collection_is_reported,
                                        set_up_small_collections, tear_down),
        TEST(large_items_are_reported),
        TEST(items_past_their_time_are_reported_unless_expiry_is_on),
        TEST(rules_about_items_say_that_there_were_too_few),
        TEST(long_names_are_reported),
        TEST(items_barely_above_a_unit_are_reported),
        TEST(counters_of_a_window_leave_out_what_was_before),
        TEST(shapes_of_other_hours_are_left_out),
        TEST(pages_follow_one_another),
        TEST(a_page_has_about_fifty_tables_and_indexes),
        TEST(a_call_pauses_between_its_steps),
        TEST(values_never_show),
        cmocka_unit_test_setup_teardown(without_shapes_nothing_is_said_about_them,
                                        set_up_without_shapes, tear_down),
        cmocka_unit_test(advice_every_rule_was_seen_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
