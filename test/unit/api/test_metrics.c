/* test_metrics.c -- CloudWatch's operations on metrics: their rules, orders and texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "api/operation.h"
#include "api_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "cloudwatch/series.h"
#include "cloudwatch/ticker.h"

#define PUT "cloudwatch:PutMetricData"
#define STATISTICS "cloudwatch:GetMetricStatistics"
#define LIST "cloudwatch:ListMetrics"
#define DATA "cloudwatch:GetMetricData"
/* A full minute. */
#define START_S 1790000100

static struct api_fixture fixture;

static int set_up(void **state)
{
    (void)state;
    api_fixture_open(&fixture, 0);
    atomic_store(&fixture.clock.fixed_ms, (int64_t)START_S * 1000 + 30000);
    api_fixture_restart(&fixture, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&fixture);
    return 0;
}

static void put(const char *data)
{
    char body[4096];
    snprintf(body, sizeof body, "{'Namespace':'App','MetricData':[%s]}", data);
    api_fixture_expect(&fixture, PUT, body, "{}");
}

#define WINDOW(seconds) "'StartTime':1790000100,'EndTime':" #seconds ",'Period':60"

static void samples_are_read_back_as_statistics(void **state)
{
    (void)state;
    put("{'MetricName':'m','Value':3,'Unit':'Seconds'},{'MetricName':'m','Values':[1,2],'Counts':"
        "[2,1],'Unit':'Seconds'},"
        "{'MetricName':'m','StatisticValues':{'SampleCount':2,'Sum':10,'Minimum':4,'Maximum':6},"
        "'Unit':'Seconds'}");
    for (int round = 0; round < 2; round++) {
        api_fixture_expect(
            &fixture, STATISTICS,
            "{'Namespace':'App','MetricName':'m'," WINDOW(
                1790000160) ",'Statistics':['SampleCount','Sum','Minimum','Maximum','Average']}",
            "{'Label':'m','Datapoints':[{'Timestamp':1790000100,'SampleCount':6.0,'Sum':17.0,"
            "'Minimum':1.0,'Maximum':6.0,'Average':2.8333333333333335,'Unit':'Seconds'}]}");
        api_fixture_restart(&fixture, 0);
    }
    /* Another unit, or a set of dimensions that was not sent: no data. */
    api_fixture_expect(&fixture, STATISTICS,
                       "{'Namespace':'App','MetricName':'m'," WINDOW(
                           1790000160) ",'Statistics':['Sum'],'Unit':'Count'}",
                       "{'Label':'m','Datapoints':[]}");
    /* EndTime is excluded. */
    api_fixture_expect(&fixture, STATISTICS,
                       "{'Namespace':'App','MetricName':'m','StartTime':1790000040,'EndTime':"
                       "1790000100,'Period':60,'Statistics':['Sum']}",
                       "{'Label':'m','Datapoints':[]}");
    /* A statistic set hides the distribution. */
    api_fixture_expect(
        &fixture, STATISTICS,
        "{'Namespace':'App','MetricName':'m'," WINDOW(1790000160) ",'ExtendedStatistics':['p50']}",
        "{'Label':'m','Datapoints':[]}");
}

static void percentiles_follow_the_values(void **state)
{
    (void)state;
    char values[1200] = "", body[1400];
    for (int i = 1; i <= 100; i++)
        snprintf(values + strlen(values), sizeof values - strlen(values), "%s%d", i > 1 ? "," : "",
                 i);
    snprintf(body, sizeof body, "{'MetricName':'m','Values':[%s]}", values);
    put(body);
    assert_true(api_fixture_call(
        &fixture, STATISTICS,
        "{'Namespace':'App','MetricName':'m'," WINDOW(
            1790000160) ",'ExtendedStatistics':['p0','p50','p99','p100','tc(0%:10%)']}"));
    double p0, p50, p99, p100, tc;
    const char *at = strstr((const char *)fixture.response.data, "\"p0\":");
    assert_non_null(at);
    assert_int_equal(sscanf(at,
                            "\"p0\":%lf,\"p50\":%lf,\"p99\":%lf,\"p100\":%lf,\"tc(0%%:10%%)\":%lf",
                            &p0, &p50, &p99, &p100, &tc),
                     5);
    assert_true(p0 == 1 && p100 == 100 && tc == 10);
    assert_true(p50 > 48 && p50 < 52 && p99 > 96 && p99 <= 100);
}

static void two_units_of_a_metric_are_two_points(void **state)
{
    (void)state;
    put("{'MetricName':'m','Value':3,'Unit':'Seconds'},{'MetricName':'m','Value':5}");
    api_fixture_expect(
        &fixture, STATISTICS,
        "{'Namespace':'App','MetricName':'m'," WINDOW(1790000160) ",'Statistics':['Sum']}",
        "{'Label':'m','Datapoints':[{'Timestamp':1790000100,'Sum':5.0,'Unit':'None'},"
        "{'Timestamp':1790000100,'Sum':3.0,'Unit':'Seconds'}]}");
    api_fixture_expect(&fixture, LIST, "{}",
                       "{'Metrics':[{'Namespace':'App','MetricName':'m','Dimensions':[]}]}");
}

static void list_filters_by_at_least_those_dimensions(void **state)
{
    (void)state;
    put("{'MetricName':'m','Value':1,'Dimensions':[{'Name':'B','Value':'2'},{'Name':'A','Value':"
        "'1'}]},{'MetricName':'m','Value':1,'Dimensions':[{'Name':'A','Value':'3'}]},"
        "{'MetricName':'n','Value':1}");
    api_fixture_expect(&fixture, LIST, "{'Dimensions':[{'Name':'A','Value':'1'}]}",
                       "{'Metrics':[{'Namespace':'App','MetricName':'m','Dimensions':[{'Name':'A',"
                       "'Value':'1'},{'Name':'B','Value':'2'}]}]}");
    assert_true(api_fixture_call(&fixture, LIST, "{'Dimensions':[{'Name':'A'}]}"));
    assert_true(api_fixture_shows(&fixture, "'Value':'3'"));
    assert_true(api_fixture_shows(&fixture, "'Value':'2'"));
    api_fixture_expect(&fixture, LIST, "{'MetricName':'n','Namespace':'App'}",
                       "{'Metrics':[{'Namespace':'App','MetricName':'n','Dimensions':[]}]}");
    api_fixture_expect(&fixture, LIST, "{'Namespace':'Other'}", "{'Metrics':[]}");
    /* Not seen for two weeks: not listed, but the data is there. */
    atomic_fetch_add(&fixture.clock.fixed_ms, INT64_C(14) * 86400 * 1000 + 60000);
    api_fixture_expect(&fixture, LIST, "{}", "{'Metrics':[]}");
}

static void lists_are_paged_by_five_hundred(void **state)
{
    (void)state;
    static char body[64 * 1024];
    size_t size = 0;
    for (int i = 0; i < 750; i++)
        size +=
            (size_t)snprintf(body + size, sizeof body - size, "%s{'MetricName':'m%d','Value':1}",
                             i == 0 ? "{'Namespace':'App','MetricData':[" : ",", i);
    snprintf(body + size, sizeof body - size, "]}");
    api_fixture_expect(&fixture, PUT, body, "{}");
    assert_true(api_fixture_call(&fixture, LIST, "{}"));
    assert_true(api_fixture_shows(&fixture, "'m499'"));
    assert_false(api_fixture_shows(&fixture, "'m500'"));
    const char *token = strstr((const char *)fixture.response.data, "\"NextToken\":\"");
    assert_non_null(token);
    char next[100];
    snprintf(next, sizeof next, "{'NextToken':'%.*s'}", (int)strcspn(token + 13, "\""), token + 13);
    assert_true(api_fixture_call(&fixture, LIST, next));
    assert_true(api_fixture_shows(&fixture, "'m749'"));
    assert_false(api_fixture_shows(&fixture, "NextToken"));
    api_fixture_expect_error(&fixture, LIST, "{'NextToken':'x'}", ERROR_CW_INVALID_PARAMETER_VALUE,
                             "Request parameter NextToken is invalid");
}

/* --- GetMetricData --- */

#define STAT(id, name, statistic)                                                                  \
    "{'Id':'" id "','MetricStat':{'Metric':{'Namespace':'App','MetricName':'" name "'},"           \
    "'Period':60,'Stat':'" statistic "'}}"
#define ASK(from, to, queries)                                                                     \
    "{'StartTime':" #from ",'EndTime':" #to ",'MetricDataQueries':[" queries "]}"

static void put_three_minutes(void)
{
    put("{'MetricName':'a','Value':1,'Timestamp':1789999980},"
        "{'MetricName':'a','Value':2,'Timestamp':1790000040},"
        "{'MetricName':'a','Value':3,'Timestamp':1790000100},"
        "{'MetricName':'b','Value':10,'Timestamp':1790000040}");
}

static void metrics_and_expressions_are_answered_together(void **state)
{
    (void)state;
    put_three_minutes();
    api_fixture_expect(
        &fixture, DATA,
        ASK(1789999980, 1790000160,
            "{'Id':'e1','Expression':'a1 + e2','Label':'sum'}," STAT(
                "a1", "a", "Sum") ","
                                  "{'Id':'b1','MetricStat':{'Metric':{'Namespace':'App','"
                                  "MetricName':'b'},'Period':60,"
                                  "'Stat':'Maximum'},'ReturnData':false},{'Id':'e2','Expression':'"
                                  "FILL(b1, 0) * 2'}"),
        "{'MetricDataResults':[{'Id':'a1','Label':'a','Timestamps':[1790000100,1790000040,"
        "1789999980],'Values':[3.0,2.0,1.0],'StatusCode':'Complete'},"
        "{'Id':'e1','Label':'sum','Timestamps':[1790000100,1790000040,1789999980],'Values':[3.0,"
        "22.0,1.0],'StatusCode':'Complete'},{'Id':'e2','Label':'e2','Timestamps':[1790000100,"
        "1790000040,1789999980],'Values':[0.0,20.0,0.0],'StatusCode':'Complete'}],'Messages':[]}");
}

static void pages_cover_the_time_without_gap_or_overlap(void **state)
{
    (void)state;
    put_three_minutes();
    for (int ascends = 0; ascends < 2; ascends++) {
        char token[64] = "", body[1024], seen[512] = "";
        int pages = 0;
        do {
            snprintf(body, sizeof body,
                     "{'StartTime':1789999980,'EndTime':1790000160,'MaxDatapoints':2,'ScanBy':'%s'"
                     "%s%s%s,'MetricDataQueries':[" STAT("a1", "a", "Sum") "," STAT("b1", "b",
                                                                                    "Sum") "]}",
                     ascends ? "TimestampAscending" : "TimestampDescending",
                     token[0] == '\0' ? "" : ",'NextToken':'", token, token[0] == '\0' ? "" : "'");
            assert_true(api_fixture_call(&fixture, DATA, body));
            char text[2048];
            snprintf(text, sizeof text, "%.*s", BYTES_FMT(fixture.response));
            const char *values = strstr(text, "\"Values\":[") + strlen("\"Values\":[");
            snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%.*s ",
                     (int)strcspn(values, "]"), values);
            const char *next = strstr(text, "\"NextToken\":\"");
            token[0] = '\0';
            if (next != NULL)
                snprintf(token, sizeof token, "%.*s", (int)strcspn(next + 13, "\""), next + 13);
            assert_int_equal(next != NULL, api_fixture_shows(&fixture, "'PartialData'"));
            pages++;
        } while (token[0] != '\0');
        assert_int_equal(pages, 3);
        assert_string_equal(seen, ascends ? "1.0 2.0 3.0 " : "3.0 2.0 1.0 ");
    }
}

static void labels_tell_metrics_apart_and_show_properties(void **state)
{
    (void)state;
    put("{'MetricName':'m','Value':4,'Dimensions':[{'Name':'Host','Value':'x'},{'Name':'Zone',"
        "'Value':'z'}]},{'MetricName':'m','Value':6,'Dimensions':[{'Name':'Host','Value':'y'},"
        "{'Name':'Zone','Value':'z'}]}");
#define OF_HOST(id, host, label)                                                                   \
    "{'Id':'" id "'," label "'MetricStat':{'Metric':{'Namespace':'App','MetricName':'m',"          \
    "'Dimensions':[{'Name':'Host','Value':'" host "'},{'Name':'Zone','Value':'z'}]},'Period':60,"  \
    "'Stat':'Sum'}}"
    assert_true(
        api_fixture_call(&fixture, DATA,
                         ASK(1790000100, 1790000160,
                             OF_HOST("x", "x", "") "," OF_HOST(
                                 "y", "y", "'Label':'${LABEL}: at most ${MAX} at ${MAX_TIME}',"))));
    assert_true(api_fixture_shows(&fixture, "'Id':'x','Label':'x',"));
    assert_true(api_fixture_shows(&fixture, "'Label':'y: at most 6 at 2026-09-21 14:15:00'"));
    api_fixture_expect_error(&fixture, DATA,
                             ASK(1790000100, 1790000160, OF_HOST("x", "x", "'Label':'${NONE}',")),
                             ERROR_VALIDATION, "There is no property of labels NONE");
}

static void a_rule_of_contributor_insights_is_a_series(void **state)
{
    (void)state;
    char body[1024], rule[128] = "";
    assert_true(api_fixture_call(&fixture, "CreateTable",
                                 "{'TableName':'tab','AttributeDefinitions':[{'AttributeName':'p',"
                                 "'AttributeType':'S'}],'KeySchema':[{'AttributeName':'p','KeyType'"
                                 ":'HASH'}],'BillingMode':'PAY_PER_REQUEST'}"));
    assert_true(api_fixture_call(&fixture, "UpdateContributorInsights",
                                 "{'TableName':'tab','ContributorInsightsAction':'ENABLE'}"));
    for (int i = 0; i < 1000 && rule[0] == '\0'; i++) {
        assert_true(
            api_fixture_call(&fixture, "DescribeContributorInsights", "{'TableName':'tab'}"));
        struct bytes shown = fixture.response;
        const char *at =
            memmem(shown.data, shown.len, "DynamoDBContributor", strlen("DynamoDBContributor"));
        if (at != NULL && api_fixture_shows(&fixture, "'ENABLED'")) {
            const char *end = memchr(at, '"', (size_t)((const char *)shown.data + shown.len - at));
            snprintf(rule, sizeof rule, "%.*s", (int)(end - at), at);
        }
        usleep(1000);
    }
    assert_non_null(strstr(rule, "-PKC-tab-"));
    for (int i = 0; i < 3; i++)
        assert_true(
            api_fixture_call(&fixture, "PutItem", "{'TableName':'tab','Item':{'p':{'S':'hot'}}}"));
    snprintf(body, sizeof body,
             ASK(1790000100, 1790000160,
                 "{'Id':'e','Expression':'INSIGHT_RULE_METRIC(\\u0027%s\\u0027, "
                 "\\u0027MaxContributorValue\\u0027)','Period':60}"),
             rule);
    api_fixture_expect(&fixture, DATA, body,
                       "{'MetricDataResults':[{'Id':'e','Label':'e','Timestamps':[1790000100],"
                       "'Values':[9.0],'StatusCode':'Complete'}],'Messages':[]}");
    api_fixture_expect_error(
        &fixture, DATA,
        ASK(1790000100, 1790000160,
            "{'Id':'e','Expression':'INSIGHT_RULE_METRIC(\\u0027no\\u0027, \\u0027Sum\\u0027)'}"),
        ERROR_VALIDATION, "Error in expression 'e': The rule no does not exist.");
    for (int uses = 20; uses <= 21; uses++) {
        char queries[16384] = "";
        for (int i = 0; i < uses; i++) {
            size_t at = strlen(queries);
            snprintf(queries + at, sizeof queries - at,
                     "%s{'Id':'e%d','Expression':'INSIGHT_RULE_METRIC(\\u0027%s\\u0027, "
                     "\\u0027Sum\\u0027)','Period':60}",
                     i == 0 ? "" : ",", i, rule);
        }
        char large[20000];
        snprintf(large, sizeof large, ASK(1790000100, 1790000160, "%s"), queries);
        if (api_fixture_call(&fixture, DATA, large) != (uses == 20))
            fail_msg("%d: %.*s", uses, BYTES_FMT(fixture.error.message));
    }
    assert_true(bytes_equal_text(fixture.error.message,
                                 "Error in expression 'e20': A request may use "
                                 "INSIGHT_RULE_METRIC 20 times at most"));
}

/* --- Refusals --- */

static const struct {
    const char *operation, *body;
    enum error_code code;
    const char *message;
} refusals[] = {
    { PUT, "{'Namespace':'AWS/EC2','MetricData':[{'MetricName':'m','Value':1}]}",
      ERROR_CW_INVALID_PARAMETER_VALUE, "The value AWS/ for parameter Namespace is invalid." },
    { PUT, "{'MetricData':[{'MetricName':'m','Value':1}]}", ERROR_CW_MISSING_PARAMETER,
      "The parameter Namespace is required." },
    { PUT, "{'Namespace':'App'}", ERROR_CW_MISSING_PARAMETER,
      "At least one MetricDatum object must be present in the request." },
    { PUT, "{'Namespace':'App','MetricData':[{'Value':1}]}", ERROR_CW_MISSING_PARAMETER,
      "The parameter MetricData.member.1.MetricName is required." },
    { PUT, "{'Namespace':'App','MetricData':[{'MetricName':'m','Value':1,'Values':[1]}]}",
      ERROR_CW_INVALID_PARAMETER_COMBINATION,
      "The parameters MetricData.member.1.Value and MetricData.member.1.Values are mutually "
      "exclusive and you have specified both." },
    { PUT, "{'Namespace':'App','MetricData':[{'MetricName':'m'}]}",
      ERROR_CW_INVALID_PARAMETER_COMBINATION, "At least one of the parameters must be specified." },
    { PUT, "{'Namespace':'App','MetricData':[{'MetricName':'m','Value':'NaN'}]}",
      ERROR_CW_INVALID_PARAMETER_VALUE,
      "The value NaN for parameter MetricData.member.1.Value is invalid." },
    { PUT, "{'Namespace':'App','MetricData':[{'MetricName':'m','Values':[1,2],'Counts':[1]}]}",
      ERROR_CW_INVALID_PARAMETER_VALUE,
      "The parameters MetricData.member.1.Values and MetricData.member.1.Counts must be of the "
      "same "
      "size." },
    { PUT,
      "{'Namespace':'App','MetricData':[{'MetricName':'m','Value':1},{'MetricName':'m','Value':1,"
      "'Timestamp':1700000000},{'MetricName':'m','Value':1,'Timestamp':1790007400}]}",
      ERROR_CW_INVALID_PARAMETER_VALUE,
      "The parameter MetricData.member.2.Timestamp must specify a time within the past two weeks.\n"
      "The parameter MetricData.member.3.Timestamp must specify a time no more than two hours in "
      "the future." },
    { PUT,
      "{'Namespace':'App','MetricData':[{'MetricName':'m','Value':1,'Dimensions':[{'Name':'A',"
      "'Value':'1'},{'Name':'A','Value':'2'}]}]}",
      ERROR_CW_INVALID_PARAMETER_VALUE, "No metric may specify the same dimension name twice." },
    { PUT, "{'Namespace':'App','MetricData':[{'MetricName':'m','Value':1,'StorageResolution':5}]}",
      ERROR_CW_INVALID_PARAMETER_VALUE,
      "The parameter MetricData.member.1.StorageResolution must be a value in the set [ 1, 60 ]." },
    { STATISTICS,
      "{'Namespace':'App','MetricName':'m','StartTime':1790000100,'EndTime':1790000100,'Period':60,"
      "'Statistics':['Sum']}",
      ERROR_CW_INVALID_PARAMETER_VALUE,
      "The parameter StartTime must be less than the parameter EndTime." },
    { STATISTICS,
      "{'Namespace':'App','MetricName':'m','StartTime':1789913700,'EndTime':1790000160,'Period':60,"
      "'Statistics':['Sum']}",
      ERROR_CW_INVALID_PARAMETER_COMBINATION,
      "You have requested up to 1441 datapoints, which exceeds the limit of 1440. You may reduce "
      "the datapoints requested by increasing Period, or decreasing the time range." },
    { STATISTICS, "{'Namespace':'App','MetricName':'m'," WINDOW(1790000160) "}",
      ERROR_CW_INVALID_PARAMETER_COMBINATION,
      "Must specify either Statistics or ExtendedStatistics." },
    { STATISTICS,
      "{'Namespace':'App','MetricName':'m'," WINDOW(
          1790000160) ",'Statistics':['Sum'],'ExtendedStatistics':['p9']}",
      ERROR_CW_INVALID_PARAMETER_COMBINATION,
      "The parameters Statistics and ExtendedStatistics are mutually exclusive and you have "
      "specified both." },
    { STATISTICS,
      "{'Namespace':'App','MetricName':'m'," WINDOW(1790000160) ",'ExtendedStatistics':['p101']}",
      ERROR_CW_INVALID_PARAMETER_VALUE,
      "The value p101 for parameter ExtendedStatistics.member.1 is not supported." },
    { STATISTICS,
      "{'Namespace':'App','MetricName':'m','StartTime':1790000100,'EndTime':1790000160,'Period':90,"
      "'Statistics':['Sum']}",
      ERROR_CW_INVALID_PARAMETER_VALUE,
      "The parameter Period must be a value in the set [1, 5, 10, 20, 30] or a multiple of 60." },
    { STATISTICS, "{'Namespace':'App','MetricName':'m'}", ERROR_CW_MISSING_PARAMETER,
      "The parameter StartTime is required." },
    { DATA, ASK(0, 60, STAT("A", "a", "Sum")), ERROR_VALIDATION,
      "The value for parameter MetricDataQueries.member.1.Id is not matching the expected pattern "
      "^[a-z][a-zA-Z0-9_]*$." },
    { DATA, ASK(0, 60, STAT("a", "a", "Sum") "," STAT("a", "b", "Sum")), ERROR_VALIDATION,
      "The values for parameter id in MetricDataQueries are not unique." },
    { DATA, ASK(0, 60, STAT("a", "a", "Wrong")), ERROR_VALIDATION,
      "The value for parameter MetricDataQueries.member.1.MetricStat.Stat is not a valid "
      "statistic." },
    { DATA, ASK(60, 60, STAT("a", "a", "Sum")), ERROR_VALIDATION,
      "The parameter StartTime must not equal parameter EndTime." },
    { DATA, ASK(60, 0, STAT("a", "a", "Sum")), ERROR_VALIDATION,
      "The parameter EndTime must be greater than StartTime." },
    { DATA, ASK(0, 60, "{'Id':'e','Expression':'m9'}"), ERROR_VALIDATION,
      "Error in expression 'e': ID 'm9' not found" },
    { DATA, ASK(0, 60, "{'Id':'e','Expression':'f'},{'Id':'f','Expression':'e'}"), ERROR_VALIDATION,
      "Circular dependency involving 'e'." },
    { DATA, ASK(0, 60, "{'Id':'e','Expression':'1'}"), ERROR_VALIDATION,
      "The expression 'e' must return a time series or array of time series." },
    { DATA,
      "{'StartTime':0,'EndTime':60,'NextToken':'x','MetricDataQueries':[" STAT("a", "a",
                                                                               "Sum") "]}",
      ERROR_CW_INVALID_NEXT_TOKEN, "The NextToken is invalid." },
    { DATA,
      "{'StartTime':0,'EndTime':60,'MaxDatapoints':100801,'MetricDataQueries':[" STAT("a", "a",
                                                                                      "Sum") "]}",
      ERROR_VALIDATION, "The value for parameter MaxDatapoints must be between 1 and 100800." },
};

static void faults_are_reported_in_the_services_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refusals); i++)
        api_fixture_expect_error(&fixture, refusals[i].operation, refusals[i].body,
                                 refusals[i].code, refusals[i].message);
    api_fixture_expect(&fixture, LIST, "{}", "{'Metrics':[]}");
}

static void exactly_1440_points_may_be_asked_for(void **state)
{
    (void)state;
    api_fixture_expect(&fixture, STATISTICS,
                       "{'Namespace':'App','MetricName':'m','StartTime':1789913700,'EndTime':"
                       "1790000100,'Period':60,'Statistics':['Sum']}",
                       "{'Label':'m','Datapoints':[]}");
}

/* --- Bounds --- */

static void a_million_names_do_not_grow_beyond_the_setting(void **state)
{
    (void)state;
    enum { BATCH = 1000, BATCHES = 1000, SERIES = 2000 };
    static char body[64 * 1024];
    fixture.options.metrics_series_max = SERIES;
    api_fixture_restart(&fixture, 0);
    size_t refused = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        size_t size = 0;
        for (int i = 0; i < BATCH; i++)
            size += (size_t)snprintf(
                body + size, sizeof body - size, "%s{'MetricName':'n%d','Value':1}",
                i == 0 ? "{'Namespace':'App','MetricData':[" : ",", batch * BATCH + i);
        snprintf(body + size, sizeof body - size, "]}");
        if (api_fixture_call(&fixture, PUT, body))
            continue;
        assert_int_equal(fixture.error.code, ERROR_CW_LIMIT_EXCEEDED);
        refused++;
    }
    struct series_usage usage = series_usage(api_series(fixture.api));
    assert_int_equal(refused, BATCHES - 1);
    assert_int_equal(usage.series_count, SERIES / 2);
    assert_true(usage.names_size <= SERIES * SERIES_NAMES_SIZE_EACH);
    assert_true(usage.size < 100 * SERIES);
    /* The server's own metrics still have room. */
    assert_true(api_fixture_call(&fixture, "CreateTable",
                                 "{'TableName':'tab','AttributeDefinitions':[{'AttributeName':'p',"
                                 "'AttributeType':'S'}],'KeySchema':[{'AttributeName':'p','KeyType'"
                                 ":'HASH'}],'BillingMode':'PAY_PER_REQUEST'}"));
    atomic_fetch_add(&fixture.clock.fixed_ms, 120000);
    ticker_run(api_ticker(fixture.api));
    assert_true(api_fixture_call(&fixture, LIST, "{'Namespace':'AWS/DynamoDB'}"));
    assert_true(api_fixture_shows(&fixture, "'ConsumedReadCapacityUnits'"));
}

/* So many expressions that are all alike, over 28 days. */
static bool ask_often(int count, const char *expression, bool is_shown)
{
    static char body[512 * 1024];
    size_t size = (size_t)snprintf(
        body, sizeof body,
        "{'StartTime':1787580960,'EndTime':1790000160,"
        "'MetricDataQueries':[" STAT(
            "m1", "a", "Sum") ","
                              "{'Id':'f','Expression':'FILL(m1, 0)','ReturnData':false}");
    for (int i = 0; i < count; i++)
        size += (size_t)snprintf(body + size, sizeof body - size,
                                 ",{'Id':'e%d','Expression':'%s','Period':60,'ReturnData':%s}", i,
                                 expression, is_shown ? "true" : "false");
    snprintf(body + size, sizeof body - size, "]}");
    return api_fixture_call(&fixture, DATA, body);
}

/* What one expression may take, five hundred of a request must not take each. */
static void all_expressions_of_a_request_have_one_bound(void **state)
{
#define EIGHT_SUMS "SUM(f)+SUM(f)+SUM(f)+SUM(f)+SUM(f)+SUM(f)+SUM(f)+SUM(f)"
#define COUNT_METRICS "METRIC_COUNT(METRICS())"
#define SEARCH(words) "SUM(SEARCH(\\u0027" words "\\u0027, \\u0027Sum\\u0027, 60))"
    static const struct {
        const char *expression;
        int allowed;
        size_t megabytes;
        bool is_shown;
        const char *message; /* One more is refused. */
    } rows[] = {
        { SEARCH("none"), 100, 8, false,
          "Error in expression 'e100': A request may use SEARCH 100 times at most" },
        { SEARCH("{App}"), 10, 8, false,
          "Error in expression 'e10': The searches of a request may find 5000 metrics at most" },
        { "FILL(m1, 0)", 98, 128, false,
          "Error in expression 'e98': The expressions of the request make more than 4000000 "
          "points" },
        { COUNT_METRICS "+" COUNT_METRICS "+" COUNT_METRICS "+" COUNT_METRICS, 396, 128, false,
          NULL },
        { "m1 * METRIC_COUNT([m1, m1, m1, m1, m1, m1, m1, m1, m1, m1])", 498, 128, false, NULL },
        { "f * (" EIGHT_SUMS "+" EIGHT_SUMS ")", 32, 128, false,
          "Error in expression 'e32': The expressions of the request make more than 4000000 "
          "points" },
        { "f", 2, 128, true,
          "You have requested 120966 datapoints, which exceeds the limit of 100800. You may reduce "
          "the datapoints requested by increasing Period, or decreasing the time range." },
    };
    (void)state;
    put_three_minutes();
    static char body[64 * 1024];
    size_t size = 0;
    for (int i = 0; i < 1000; i++)
        size +=
            (size_t)snprintf(body + size, sizeof body - size, "%s{'MetricName':'n%d','Value':1}",
                             i == 0 ? "{'Namespace':'App','MetricData':[" : ",", i);
    snprintf(body + size, sizeof body - size, "]}");
    api_fixture_expect(&fixture, PUT, body, "{}");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (!ask_often(rows[i].allowed, rows[i].expression, rows[i].is_shown))
            fail_msg("%zu: %.*s", i, BYTES_FMT(fixture.error.message));
        if (arena_held_size(fixture.arena) > rows[i].megabytes * 1024 * 1024)
            fail_msg("%zu: %zu bytes", i, arena_held_size(fixture.arena));
        if (rows[i].message == NULL)
            continue;
        if (ask_often(rows[i].allowed + 1, rows[i].expression, rows[i].is_shown) ||
            !bytes_equal_text(fixture.error.message, rows[i].message))
            fail_msg("%zu: %.*s", i, BYTES_FMT(fixture.error.message));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(samples_are_read_back_as_statistics),
        TEST(percentiles_follow_the_values),
        TEST(two_units_of_a_metric_are_two_points),
        TEST(list_filters_by_at_least_those_dimensions),
        TEST(lists_are_paged_by_five_hundred),
        TEST(metrics_and_expressions_are_answered_together),
        TEST(pages_cover_the_time_without_gap_or_overlap),
        TEST(labels_tell_metrics_apart_and_show_properties),
        TEST(a_rule_of_contributor_insights_is_a_series),
        TEST(faults_are_reported_in_the_services_words),
        TEST(exactly_1440_points_may_be_asked_for),
        TEST(a_million_names_do_not_grow_beyond_the_setting),
        TEST(all_expressions_of_a_request_have_one_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
