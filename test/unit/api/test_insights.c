/* test_insights.c -- Contributor Insights through the operations: life cycle, counting, reports.
 *
 * The clock stands still at 1700000000000, 20 seconds after a minute has begun. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "api/key_use.h"
#include "api/operation.h"
#include "api_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "check/check.h"
#include "insight/insights.h"
#include "model/number.h"
#include "model/table_definition.h"
#include "table/catalogue.h"
#include "table/item_address.h"

enum { WAIT_MS = 60000, MINUTE_MS = 60 * 1000, HOUR_MS = 60 * MINUTE_MS };

static struct api_fixture db;

#define CREATE                                                                                     \
    "{'TableName':'Tab','BillingMode':'PAY_PER_REQUEST',"                                          \
    "'AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'},"                           \
    "{'AttributeName':'s','AttributeType':'N'},{'AttributeName':'g','AttributeType':'B'}],"        \
    "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'},"                                         \
    "{'AttributeName':'s','KeyType':'RANGE'}],"                                                    \
    "'LocalSecondaryIndexes':[{'IndexName':'Loc','Projection':{'ProjectionType':'ALL'},"           \
    "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'},"                                         \
    "{'AttributeName':'g','KeyType':'RANGE'}]}],"                                                  \
    "'GlobalSecondaryIndexes':[{'IndexName':'Ind','Projection':{'ProjectionType':'ALL'},"          \
    "'KeySchema':[{'AttributeName':'g','KeyType':'HASH'}]}]}"
#define ON "'ContributorInsightsAction':'ENABLE'"
#define OFF "'ContributorInsightsAction':'DISABLE'"
#define OF(rest) "{'TableName':'Tab'," rest "}"
#define SHOWN(status, mode)                                                                        \
    "{'TableName':'Tab','ContributorInsightsStatus':'" status "',"                                 \
    "'ContributorInsightsMode':'" mode "'}"
#define ALL_KEYS "ACCESSED_AND_THROTTLED_KEYS"
#define RULE(kind) "DynamoDBContributorInsights-" kind "-Tab-1700000000000"

static void call(const char *operation, const char *body)
{
    if (!api_fixture_call(&db, operation, body))
        fail_msg("%s %s\n got: %.*s", operation, body, BYTES_FMT(db.error.message));
}

static void assert_shows(const char *text)
{
    if (!api_fixture_shows(&db, text))
        fail_msg("no %s in %.*s", text, BYTES_FMT(db.response));
}

static void wait_for(const char *body, const char *status)
{
    for (int i = 0; i < WAIT_MS; i++) {
        call("DescribeContributorInsights", body);
        if (api_fixture_shows(&db, status))
            return;
        usleep(1000);
    }
    fail_msg("%s never came: %.*s", status, BYTES_FMT(db.response));
}

static int set_up(void **state)
{
    (void)state;
    api_fixture_open(&db, 0);
    call("CreateTable", CREATE);
    return 0;
}

static void fail_on_problem(void *context, const char *line)
{
    (void)context;
    fail_msg("%s", line);
}

static int tear_down(void **state)
{
    (void)state;
    check_store(db.engine, fail_on_problem, NULL);
    api_fixture_close(&db);
    return 0;
}

static void enable(const char *body)
{
    call("UpdateContributorInsights", body);
    wait_for("{'TableName':'Tab'}", "'ENABLED'");
}

static void put(const char *partition_key, int sort_key)
{
    char body[256];
    snprintf(body, sizeof body,
             "{'TableName':'Tab','Item':{'p':{'S':'%s'},'s':{'N':'%d'},'g':{'B':'Z3Jw'}}}",
             partition_key, sort_key);
    call("PutItem", body);
}

static void tick(void)
{
    assert_int_equal(insights_tick(api_insights(db.api), api_catalogue(db.api), db.clock.fixed_ms),
                     ENGINE_OK);
}

/* --- Life cycle --- */

static void insights_are_enabled_and_disabled(void **state)
{
    (void)state;
    api_fixture_expect(&db, "DescribeContributorInsights", "{'TableName':'Tab'}",
                       "{'TableName':'Tab','ContributorInsightsStatus':'DISABLED'}");
    api_fixture_expect(&db, "UpdateContributorInsights", OF(OFF),
                       "{'TableName':'Tab','ContributorInsightsStatus':'DISABLED'}");
    api_fixture_expect(&db, "UpdateContributorInsights", OF(ON), SHOWN("ENABLING", ALL_KEYS));
    api_fixture_expect(
        &db, "DescribeContributorInsights", "{'TableName':'Tab'}",
        "{'TableName':'Tab','ContributorInsightsRuleList':['" RULE("PKC") "','" RULE(
            "PKT") "','" RULE("SKC") "','" RULE("SKT") "'],'ContributorInsightsStatus':'ENABLED',"
                                                       "'ContributorInsightsMode':'" ALL_KEYS
                                                       "','LastUpdateDateTime':1700000000}");
    /* Again: nothing happens. */
    db.clock.fixed_ms += 5000;
    api_fixture_expect(&db, "UpdateContributorInsights", OF(ON), SHOWN("ENABLED", ALL_KEYS));
    call("DescribeContributorInsights", "{'TableName':'Tab'}");
    assert_shows("'LastUpdateDateTime':1700000000}");
    api_fixture_expect(&db, "UpdateContributorInsights", OF(OFF), SHOWN("DISABLING", ALL_KEYS));
    wait_for("{'TableName':'Tab'}", "'DISABLED'");
    api_fixture_expect(&db, "DescribeContributorInsights", "{'TableName':'Tab'}",
                       "{'TableName':'Tab','ContributorInsightsStatus':'DISABLED',"
                       "'ContributorInsightsMode':'" ALL_KEYS "',"
                       "'LastUpdateDateTime':1700000005}");
    api_fixture_expect(&db, "UpdateContributorInsights", OF(OFF), SHOWN("DISABLED", ALL_KEYS));
}

/* Another mode is enabling again; throttle rules keep their names. */
static void the_mode_changes_by_enabling_again(void **state)
{
    (void)state;
    enable(OF(ON));
    db.clock.fixed_ms += 5000;
    api_fixture_expect(&db, "UpdateContributorInsights",
                       OF(ON ",'ContributorInsightsMode':'THROTTLED_KEYS'"),
                       SHOWN("ENABLING", "THROTTLED_KEYS"));
    wait_for("{'TableName':'Tab'}", "'ENABLED'");
    assert_shows("'ContributorInsightsRuleList':['" RULE("PKT") "','" RULE("SKT") "'],");
    api_fixture_expect(&db, "UpdateContributorInsights", OF(ON), SHOWN("ENABLING", ALL_KEYS));
    wait_for("{'TableName':'Tab'}", "'ENABLED'");
    assert_shows("PKC-Tab-1700000005000','" RULE("PKT") "'");
}

static void only_tables_and_global_indexes_have_insights(void **state)
{
    static const struct {
        const char *body, *message;
        enum error_code code;
    } cases[] = {
        { OF(ON ",'IndexName':'Loc'"),
          "Requested resource not found: Index: Loc not found for table: Tab",
          ERROR_RESOURCE_NOT_FOUND },
        { OF(ON ",'IndexName':'None'"),
          "Requested resource not found: Index: None not found for table: Tab",
          ERROR_RESOURCE_NOT_FOUND },
        { "{'TableName':'None'," ON "}", "Requested resource not found: Table: None not found",
          ERROR_RESOURCE_NOT_FOUND },
        { "{'TableName':'Tab'}",
          "1 validation error detected: Value null at 'contributorInsightsAction' failed to "
          "satisfy constraint: Member must not be null",
          ERROR_VALIDATION },
        { OF("'ContributorInsightsAction':'START'"),
          "1 validation error detected: Value 'START' at 'contributorInsightsAction' failed to "
          "satisfy constraint: Member must satisfy enum value set: [ENABLE, DISABLE]",
          ERROR_VALIDATION },
        { OF(ON ",'ContributorInsightsMode':'SOME'"),
          "1 validation error detected: Value 'SOME' at 'contributorInsightsMode' failed to "
          "satisfy constraint: Member must satisfy enum value set: [THROTTLED_KEYS, "
          "ACCESSED_AND_THROTTLED_KEYS]",
          ERROR_VALIDATION },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        api_fixture_expect_error(&db, "UpdateContributorInsights", cases[i].body, cases[i].code,
                                 cases[i].message);
    call("UpdateContributorInsights", OF(ON ",'IndexName':'Ind'"));
    wait_for(OF("'IndexName':'Ind'"), "'ENABLED'");
    assert_shows("['DynamoDBContributorInsights-PKC-Tab-Ind-1700000000000',"
                 "'DynamoDBContributorInsights-PKT-Tab-Ind-1700000000000']");
    call("DescribeContributorInsights", "{'TableName':'Tab'}");
    assert_shows("'DISABLED'");
}

static void lists_show_what_is_not_disabled(void **state)
{
    (void)state;
    call("CreateTable", "{'TableName':'Other','BillingMode':'PAY_PER_REQUEST',"
                        "'AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'}],"
                        "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}]}");
    call("UpdateContributorInsights", "{'TableName':'Other'," ON "}");
    call("UpdateContributorInsights", OF(ON ",'IndexName':'Ind'"));
    enable(OF(ON));
#define ENTRY(names)                                                                               \
    "{" names ",'ContributorInsightsStatus':'ENABLED','ContributorInsightsMode':'" ALL_KEYS "'}"
#define OTHER ENTRY("'TableName':'Other'")
#define TAB ENTRY("'TableName':'Tab'")
#define IND ENTRY("'TableName':'Tab','IndexName':'Ind'")
    api_fixture_expect(&db, "ListContributorInsights", "{}",
                       "{'ContributorInsightsSummaries':[" OTHER "," TAB "," IND "]}");
    api_fixture_expect(&db, "ListContributorInsights", "{'TableName':'Tab'}",
                       "{'ContributorInsightsSummaries':[" TAB "," IND "]}");
    api_fixture_expect(&db, "ListContributorInsights", "{'MaxResults':1}",
                       "{'ContributorInsightsSummaries':[" OTHER "],'NextToken':'Other/'}");
    api_fixture_expect(&db, "ListContributorInsights", "{'MaxResults':1,'NextToken':'Other/'}",
                       "{'ContributorInsightsSummaries':[" TAB "],'NextToken':'Tab/'}");
    api_fixture_expect(&db, "ListContributorInsights", "{'MaxResults':1,'NextToken':'Tab/'}",
                       "{'ContributorInsightsSummaries':[" IND "]}");
}

static void transitions_last_as_long_as_the_setting_says(void **state)
{
    (void)state;
    api_fixture_close(&db);
    api_fixture_open(&db, 3000);
    call("CreateTable", CREATE);
    api_fixture_expect_error(&db, "UpdateContributorInsights", OF(ON), ERROR_VALIDATION,
                             "Table or Index is not in a valid state to update Key Access "
                             "Insights: TableStatus must be ACTIVE to enable ContributorInsights.");
    api_fixture_restart(&db, 4000);
    for (int i = 0; i < WAIT_MS; i++) {
        call("DescribeTable", "{'TableName':'Tab'}");
        if (api_fixture_shows(&db, "'TableStatus':'ACTIVE'"))
            break;
        usleep(1000);
    }
    api_fixture_expect(&db, "UpdateContributorInsights", OF(ON), SHOWN("ENABLING", ALL_KEYS));
    call("DescribeContributorInsights", "{'TableName':'Tab'}");
    assert_shows("'ENABLING'");
    api_fixture_expect(&db, "UpdateContributorInsights", OF(ON), SHOWN("ENABLING", ALL_KEYS));
    put("a", 1);
    call("GetHotKeys", "{'TableName':'Tab'}"); /* It counts already. */
    assert_shows("'Value':6.0");               /* With the local index. */
    api_fixture_restart(&db, 4000);            /* The status survives, and ends. */
    wait_for("{'TableName':'Tab'}", "'ENABLED'");
}

static void more_rules_than_allowed_fail(void **state)
{
    (void)state;
    api_fixture_close(&db);
    api_fixture_open_with(&db, &(struct api_options){ .insight_rules = 5 });
    call("CreateTable", CREATE);
    enable(OF(ON)); /* Four. */
    call("UpdateContributorInsights", OF(ON ",'IndexName':'Ind'"));
    wait_for(OF("'IndexName':'Ind'"), "'FAILED'");
    assert_shows("'FailureException':{'ExceptionName':'LimitExceededException'");
    assert_false(api_fixture_shows(&db, "RuleList"));
    call("UpdateContributorInsights",
         OF(ON ",'IndexName':'Ind','ContributorInsightsMode':'THROTTLED_KEYS'"));
    wait_for(OF("'IndexName':'Ind'"), "'ENABLED'"); /* One more fits. */
}

static void settings_and_counts_survive_a_restart(void **state)
{
    (void)state;
    enable(OF(ON));
    put("a", 1);
    db.clock.fixed_ms += MINUTE_MS;
    tick();
    api_fixture_restart(&db, 1000);
    wait_for("{'TableName':'Tab'}", "'ENABLED'");
    assert_shows(RULE("SKT"));
    call("GetHotKeys", "{'TableName':'Tab'}");
    assert_shows("'Key':{'p':{'S':'a'}},'Value':6.0,'ErrorMax':0.0");
}

static void disabling_removes_what_was_counted(void **state)
{
    (void)state;
    enable(OF(ON));
    put("a", 1);
    db.clock.fixed_ms += MINUTE_MS;
    tick();
    put("a", 1);
    call("UpdateContributorInsights", OF(OFF));
    wait_for("{'TableName':'Tab'}", "'DISABLED'");
    api_fixture_expect_error(&db, "GetHotKeys", "{'TableName':'Tab'}", ERROR_RESOURCE_NOT_FOUND,
                             "Contributor Insights does not count these keys of Tab: enable it by "
                             "UpdateContributorInsights");
    put("a", 2); /* Counted by nobody. */
    enable(OF(ON));
    call("GetHotKeys", "{'TableName':'Tab'}");
    assert_shows("'HotKeys':[]");
}

/* --- Counting --- */

static void hot(const char *rest, const char *expected)
{
    char body[256];
    snprintf(body, sizeof body, "{'TableName':'Tab'%s}", rest);
    call("GetHotKeys", body);
    assert_shows(expected);
}

#define HOT(keys) "'HotKeys':[" keys "]}"
#define KEY(p, value) "{'Key':{'p':{'S':'" p "'}},'Value':" value ",'ErrorMax':0.0}"
#define ITEM(p, s, value)                                                                          \
    "{'Key':{'p':{'S':'" p "'},'s':{'N':'" s "'}},'Value':" value ",'ErrorMax':0.0}"
#define ENTRY_OF(value) "{'Key':{'g':{'B':'Z3Jw'}},'Value':" value ",'ErrorMax':0.0}"

/* Three times write units plus read units. */
static const struct {
    const char *operation, *body;
    const char *keys; /* Of partition keys, */
    const char *items;
    const char *entries; /* and of the global index. */
} accesses[] = {
    { "PutItem", OF("'Item':{'p':{'S':'a'},'s':{'N':'1'},'x':{'S':'y'}}"), KEY("a", "3.0"),
      ITEM("a", "1", "3.0"), "" },
    { "PutItem", OF("'Item':{'p':{'S':'a'},'s':{'N':'1'},'g':{'B':'Z3Jw'}}"), KEY("a", "6.0"),
      ITEM("a", "1", "6.0"), ENTRY_OF("3.0") }, /* The local index costs the table. */
    { "GetItem", OF("'Key':{'p':{'S':'k'},'s':{'N':'1'}}"), KEY("k", "0.5"), ITEM("k", "1", "0.5"),
      "" },
    { "GetItem", OF("'Key':{'p':{'S':'k'},'s':{'N':'1'}},'ConsistentRead':true"), KEY("k", "1.0"),
      ITEM("k", "1", "1.0"), "" },
    { "DeleteItem", OF("'Key':{'p':{'S':'k'},'s':{'N':'1'}}"), KEY("k", "6.0"),
      ITEM("k", "1", "6.0"), ENTRY_OF("3.0") },
    { "UpdateItem",
      OF("'Key':{'p':{'S':'k'},'s':{'N':'1'}},'UpdateExpression':'SET x=:x',"
         "'ExpressionAttributeValues':{':x':{'S':'1'}}"),
      KEY("k", "6.0"), ITEM("k", "1", "6.0"), ENTRY_OF("3.0") },
    { "Query", OF("'KeyConditionExpression':'p=:p','ExpressionAttributeValues':{':p':{'S':'k'}}"),
      KEY("k", "0.5"), "", "" },
    { "Query",
      OF("'KeyConditionExpression':'p=:p','ExpressionAttributeValues':{':p':{'S':'k'}},"
         "'IndexName':'Loc','ScanIndexForward':false"),
      KEY("k", "0.5"), "", "" },
    { "Query",
      OF("'KeyConditionExpression':'g=:g','ExpressionAttributeValues':{':g':{'B':'Z3Jw'}},"
         "'IndexName':'Ind'"),
      "", "", ENTRY_OF("0.5") },
    { "Scan", "{'TableName':'Tab'}", "", "", "" },
    { "ExecuteStatement",
      "{'Statement':'SELECT * FROM Tab WHERE p=? AND s=?',"
      "'Parameters':[{'S':'k'},{'N':'1'}]}",
      "", "", "" },
    { "BatchGetItem",
      "{'RequestItems':{'Tab':{'Keys':[{'p':{'S':'k'},'s':{'N':'1'}},"
      "{'p':{'S':'b'},'s':{'N':'7'}}]}}}",
      KEY("b", "0.5") "," KEY("k", "0.5"), ITEM("b", "7", "0.5") "," ITEM("k", "1", "0.5"), "" },
    { "BatchWriteItem",
      "{'RequestItems':{'Tab':[{'PutRequest':{'Item':{'p':{'S':'b'},'s':{'N':'7'}}}},"
      "{'DeleteRequest':{'Key':{'p':{'S':'b'},'s':{'N':'8'}}}}]}}",
      KEY("b", "6.0"), ITEM("b", "7", "3.0") "," ITEM("b", "8", "3.0"), "" },
    { "TransactGetItems",
      "{'TransactItems':[{'Get':{'TableName':'Tab','Key':{'p':{'S':'k'},'s':{'N':'1'}}}}]}",
      KEY("k", "2.0"), ITEM("k", "1", "2.0"), "" },
    { "TransactWriteItems",
      "{'TransactItems':[{'Put':{'TableName':'Tab','Item':{'p':{'S':'b'},'s':{'N':'7'}}}}]}",
      KEY("b", "6.0"), ITEM("b", "7", "6.0"), "" },
};

static void every_operation_counts_its_items(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(accesses); i++) {
        char expected[512];
        tear_down(NULL);
        set_up(NULL);
        put("k", 1); /* Before anything counts. */
        enable(OF(ON));
        call("UpdateContributorInsights", OF(ON ",'IndexName':'Ind'"));
        wait_for(OF("'IndexName':'Ind'"), "'ENABLED'");
        print_message("%s %s\n", accesses[i].operation, accesses[i].body);
        call(accesses[i].operation, accesses[i].body);
        snprintf(expected, sizeof expected, HOT("%s"), accesses[i].keys);
        hot("", expected);
        snprintf(expected, sizeof expected, HOT("%s"), accesses[i].items);
        hot(",'Of':'ITEMS'", expected);
        snprintf(expected, sizeof expected, HOT("%s"), accesses[i].entries);
        hot(",'IndexName':'Ind'", expected);
    }
}

static void a_failed_condition_counts_too(void **state)
{
    (void)state;
    enable(OF(ON));
    assert_false(api_fixture_call(&db, "DeleteItem",
                                  OF("'Key':{'p':{'S':'a'},'s':{'N':'1'}},"
                                     "'ConditionExpression':'attribute_exists(p)'")));
    hot("", HOT(KEY("a", "3.0")));
    assert_false(api_fixture_call(&db, "GetItem", OF("'Key':{'p':{'S':'a'}}"))); /* Not this. */
    hot("", HOT(KEY("a", "3.0")));
}

/* The next change of the admission calls this function. */
static void throttled_keys_have_rules_of_their_own(void **state)
{
    struct item_address place;
    struct error err;
    (void)state;
    enable(OF(ON ",'ContributorInsightsMode':'THROTTLED_KEYS'"));
    put("a", 1); /* Not counted in this mode. */
    struct arena *arena = arena_create();
    struct table *table = catalogue_find(api_catalogue(db.api), BYTES("Tab"));
    struct item_builder builder;
    item_builder_init(&builder, arena);
    struct buffer value;
    buffer_init(&value, arena);
    value_append_string(&value, BYTES("hot"));
    item_builder_add(&builder, BYTES("p"), buffer_bytes(&value));
    buffer_init(&value, arena);
    uint8_t number[NUMBER_ENCODED_MAX];
    size_t size = number_encode(&(struct number){ .coefficient = 1 }, number);
    value_append_number(&value, bytes_of(number, size));
    item_builder_add(&builder, BYTES("s"), buffer_bytes(&value));
    struct item key = item_builder_finish(&builder);
    error_init(&err, arena);
    assert_true(item_address_of_key(arena, table_definition(table), &key, &place, &err));
    struct api_call fake = { .operation = operation_find(OPERATION_OF_DYNAMODB, BYTES("PutItem")),
                             .api = db.api };
    for (int i = 0; i < 7; i++)
        key_use_count_throttled(&fake, table, NULL, place.address.key, true);
    table_release(table);
    arena_destroy(arena);
    hot(",'By':'THROTTLED'", HOT(KEY("hot", "7.0")));
    hot(",'By':'THROTTLED','Of':'ITEMS'", "'Value':7.0");
    assert_false(api_fixture_call(&db, "GetHotKeys", "{'TableName':'Tab'}"));
}

/* --- Reports --- */

#define REPORT(rule, rest)                                                                         \
    "{'RuleName':'" rule "','StartTime':1699999200,'EndTime':1700003000,'Period':60" rest "}"

static void reports_have_contributors_and_their_datapoints(void **state)
{
    (void)state;
    enable(OF(ON));
    put("a", 1);
    put("b", 1);
    put("a", 2);
    db.clock.fixed_ms += 2 * MINUTE_MS;
    tick();
    put("a", 2); /* Unchanged, so the local index costs nothing. */
    call("GetItem", OF("'Key':{'p':{'S':'c'},'s':{'N':'1'}}"));
    api_fixture_expect(&db, "cloudwatch:GetInsightRuleReport", REPORT(RULE("PKC"), ""),
                       "{'KeyLabels':['p'],'AggregationStatistic':'Sum','AggregateValue':21.5,"
                       "'ApproximateUniqueCount':3,'Contributors':["
                       "{'Keys':['a'],'ApproximateAggregateValue':15.0,'Datapoints':["
                       "{'Timestamp':1699999980,'ApproximateValue':12.0},"
                       "{'Timestamp':1700000100,'ApproximateValue':3.0}]},"
                       "{'Keys':['b'],'ApproximateAggregateValue':6.0,'Datapoints':["
                       "{'Timestamp':1699999980,'ApproximateValue':6.0}]},"
                       "{'Keys':['c'],'ApproximateAggregateValue':0.5,'Datapoints':["
                       "{'Timestamp':1700000100,'ApproximateValue':0.5}]}],'MetricDatapoints':[]}");
    api_fixture_expect(&db, "cloudwatch:GetInsightRuleReport",
                       REPORT(RULE("SKC"),
                              ",'MaxContributorCount':1,'OrderBy':'Maximum',"
                              "'Metrics':['MaxContributorValue','Sum','UniqueContributors',"
                              "'SampleCount','Minimum','Maximum','Average']"),
                       "{'KeyLabels':['p','s'],'AggregationStatistic':'Sum','AggregateValue':21.5,"
                       "'ApproximateUniqueCount':4,'Contributors':["
                       "{'Keys':['a','1'],'ApproximateAggregateValue':6.0,'Datapoints':["
                       "{'Timestamp':1699999980,'ApproximateValue':6.0}]}],'MetricDatapoints':["
                       "{'Timestamp':1699999980,'UniqueContributors':3.0,'MaxContributorValue':6.0,"
                       "'SampleCount':3.0,'Average':6.0,'Sum':18.0,'Minimum':6.0,'Maximum':6.0},"
                       "{'Timestamp':1700000100,'UniqueContributors':2.0,'MaxContributorValue':3.0,"
                       "'SampleCount':2.0,'Average':1.75,'Sum':3.5,'Minimum':0.5,'Maximum':3.0}]}");
}

/* Stores the open minute while a report is under way. */
static void tick_between(struct api_fixture *fixture)
{
    fixture->clock.fixed_ms += MINUTE_MS;
    tick();
}

static void reports_pause_and_show_one_moment(void **state)
{
    (void)state;
    enable(OF(ON));
    for (int i = 0; i < 5; i++) {
        put("a", i);
        db.clock.fixed_ms += MINUTE_MS;
        tick();
    }
    put("a", 5);
    db.pauses = true;
    call("cloudwatch:GetInsightRuleReport", REPORT(RULE("PKC"), ""));
    assert_true(db.pause_count >= 6);
    assert_shows("'AggregateValue':36.0");
    db.between = tick_between;
    call("cloudwatch:GetInsightRuleReport", REPORT(RULE("PKC"), ""));
    assert_shows("'AggregateValue':36.0");
    db.between = NULL;
    db.cancels = true;
    assert_false(api_fixture_call(&db, "cloudwatch:GetInsightRuleReport", REPORT(RULE("PKC"), "")));
    db.cancels = false;
    db.pauses = false;
}

static void wrong_reports_are_refused(void **state)
{
#define TIMES "'StartTime':60,'EndTime':120,"
#define BAD_VALUE(text) "The parameter " text ".", ERROR_CW_INVALID_PARAMETER_VALUE
    static const struct {
        const char *body, *message;
        enum error_code code;
    } cases[] = {
        { "{" TIMES "'Period':60}", "The parameter RuleName is required.",
          ERROR_CW_MISSING_PARAMETER },
        { "{'RuleName':'r','EndTime':1,'Period':60}", "The parameter StartTime is required.",
          ERROR_CW_MISSING_PARAMETER },
        { "{'RuleName':'r','StartTime':1,'Period':60}", "The parameter EndTime is required.",
          ERROR_CW_MISSING_PARAMETER },
        { "{'RuleName':'r'," TIMES "'MaxContributorCount':3}", "The parameter Period is required.",
          ERROR_CW_MISSING_PARAMETER },
        { "{'RuleName':'r','StartTime':60,'EndTime':60,'Period':60}",
          BAD_VALUE("StartTime must be less than the parameter EndTime") },
        { "{'RuleName':'r'," TIMES "'Period':61}",
          BAD_VALUE("Period must be a multiple of 60, up to 86400") },
        { "{'RuleName':'r'," TIMES "'Period':9223372036854775800}",
          BAD_VALUE("Period must be a multiple of 60, up to 86400") },
        { "{'RuleName':'r'," TIMES "'Period':0}",
          BAD_VALUE("Period must be a multiple of 60, up to 86400") },
        { "{'RuleName':'r'," TIMES "'Period':60,'MaxContributorCount':26}",
          BAD_VALUE("MaxContributorCount must be from 1 to 25") },
        { "{'RuleName':'r'," TIMES "'Period':60,'MaxContributorCount':0}",
          BAD_VALUE("MaxContributorCount must be from 1 to 25") },
        { "{'RuleName':'r'," TIMES "'Period':60,'OrderBy':'Average'}",
          BAD_VALUE("OrderBy must be Sum or Maximum") },
        { "{'RuleName':'r'," TIMES "'Period':60,'Metrics':['Median']}",
          BAD_VALUE("Metrics.member must be one of UniqueContributors, MaxContributorValue, "
                    "SampleCount, Sum, Minimum, Maximum, Average") },
        { "{'RuleName':'r','StartTime':0,'EndTime':86400,'Period':60}",
          "The parameters StartTime, EndTime and Period lead to more than 1440 datapoints.",
          ERROR_CW_INVALID_PARAMETER_COMBINATION },
        { "{'RuleName':'r','StartTime':1,'EndTime':86400,'Period':60}",
          "The rule r does not exist.", ERROR_CW_NO_SUCH_RESOURCE },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        api_fixture_expect_error(&db, "cloudwatch:GetInsightRuleReport", cases[i].body,
                                 cases[i].code, cases[i].message);
}

static void rules_are_described_page_by_page(void **state)
{
    (void)state;
    api_fixture_expect(&db, "cloudwatch:DescribeInsightRules", "{}", "{'InsightRules':[]}");
    enable(OF(ON));
    call("cloudwatch:DescribeInsightRules", "{}");
    assert_shows("{'Name':'" RULE("PKC") "','State':'ENABLED'");
    assert_shows("'ManagedRule':true");
    assert_shows(RULE("SKT"));
    call("cloudwatch:DescribeInsightRules", "{'MaxResults':3}");
    assert_shows("'NextToken':'" RULE("SKC") "'");
    assert_false(api_fixture_shows(&db, RULE("SKT")));
    call("cloudwatch:DescribeInsightRules", "{'NextToken':'" RULE("SKC") "'}");
    assert_shows("{'InsightRules':[{'Name':'" RULE("SKT") "'");
    api_fixture_expect_error(&db, "cloudwatch:DescribeInsightRules", "{'NextToken':'x'}",
                             ERROR_CW_INVALID_NEXT_TOKEN,
                             "The next token is invalid, or its rule is gone.");
    api_fixture_expect_error(&db, "cloudwatch:DescribeInsightRules", "{'MaxResults':501}",
                             ERROR_CW_INVALID_PARAMETER_VALUE,
                             "The parameter MaxResults must be from 1 to 500.");
}

static void dropped_tables_and_indexes_take_their_counts_along(void **state)
{
    (void)state;
    enable(OF(ON));
    call("UpdateContributorInsights", OF(ON ",'IndexName':'Ind'"));
    put("a", 1);
    db.clock.fixed_ms += MINUTE_MS;
    tick();
    call("UpdateTable", OF("'GlobalSecondaryIndexUpdates':[{'Delete':{'IndexName':'Ind'}}]"));
    for (int i = 0; i < WAIT_MS &&
                    api_fixture_call(&db, "DescribeContributorInsights", OF("'IndexName':'Ind'"));
         i++)
        usleep(1000);
    put("a", 2);
    db.clock.fixed_ms += MINUTE_MS;
    tick();
    check_store(db.engine, fail_on_problem, NULL);
    call("DeleteTable", "{'TableName':'Tab'}");
    tick();
    call("CreateTable", CREATE);
    call("DescribeContributorInsights", "{'TableName':'Tab'}");
    assert_shows("'DISABLED'");
}

/* A report waits for the counters' locks, and takes megabytes that no connection accounts for. */
static void reports_run_on_no_loop(void **state)
{
    (void)state;
    assert_int_equal(operation_waits(&op_get_insight_rule_report), OPERATION_WAITS);
    assert_int_equal(operation_waits(&op_get_hot_keys), OPERATION_WAITS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(insights_are_enabled_and_disabled),
        TEST(the_mode_changes_by_enabling_again),
        TEST(only_tables_and_global_indexes_have_insights),
        TEST(lists_show_what_is_not_disabled),
        TEST(transitions_last_as_long_as_the_setting_says),
        TEST(more_rules_than_allowed_fail),
        TEST(settings_and_counts_survive_a_restart),
        TEST(disabling_removes_what_was_counted),
        TEST(every_operation_counts_its_items),
        TEST(a_failed_condition_counts_too),
        TEST(throttled_keys_have_rules_of_their_own),
        TEST(reports_have_contributors_and_their_datapoints),
        TEST(reports_pause_and_show_one_moment),
        TEST(reports_run_on_no_loop),
        TEST(wrong_reports_are_refused),
        TEST(rules_are_described_page_by_page),
        TEST(dropped_tables_and_indexes_take_their_counts_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
