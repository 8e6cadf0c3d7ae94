/* test_alarms.c -- CloudWatch's operations on alarms, dashboards and their tags: rules, texts and
 * pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "api/operation.h"
#include "api_fixture.h"
#include "base/compiler.h"
#include "cloudwatch/ticker.h"

#define PUT "cloudwatch:PutMetricAlarm"
#define DESCRIBE "cloudwatch:DescribeAlarms"
#define HISTORY "cloudwatch:DescribeAlarmHistory"
#define ALARM_ARN(name) "arn:aws:cloudwatch:eu-west-1:123456789012:alarm:" name
#define DASHBOARD_ARN(name) "arn:aws:cloudwatch::123456789012:dashboard/" name
#define START_S 1790000105 /* A full minute, and a bit. */

#define METRIC                                                                                     \
    "'MetricName':'m','Namespace':'App','Statistic':'Sum','Period':60,'EvaluationPeriods':1,"      \
    "'Threshold':5,'ComparisonOperator':'GreaterThanThreshold'"

static struct api_fixture fixture;

static int set_up(void **state)
{
    (void)state;
    api_fixture_open(&fixture, 0);
    atomic_store(&fixture.clock.fixed_ms, (int64_t)START_S * 1000);
    api_fixture_restart(&fixture, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&fixture);
    return 0;
}

static void put(const char *name)
{
    char body[512];
    snprintf(body, sizeof body, "{'AlarmName':'%s'," METRIC "}", name);
    api_fixture_expect(&fixture, PUT, body, "{}");
}

/* A minute later, with that value in it. */
static void tick(double value)
{
    char body[256];
    snprintf(body, sizeof body, "{'Namespace':'App','MetricData':[{'MetricName':'m','Value':%g}]}",
             value);
    api_fixture_expect(&fixture, "cloudwatch:PutMetricData", body, "{}");
    atomic_fetch_add(&fixture.clock.fixed_ms, 60000);
    ticker_run(api_ticker(fixture.api));
}

/* --- PutMetricAlarm --- */

static const struct {
    const char *body;
    enum error_code code;
    const char *message;
} faults[] = {
    { "{" METRIC "}", ERROR_VALIDATION,
      "1 validation error detected: Value null at 'alarmName' failed to satisfy constraint: "
      "Member must not be null" },
    { "{'AlarmName':'a','EvaluationPeriods':1,'Threshold':1,'ComparisonOperator':'LessThan'}",
      ERROR_VALIDATION,
      "1 validation error detected: Value 'LessThan' at 'comparisonOperator' failed to satisfy "
      "constraint: Member must satisfy enum value set: [GreaterThanOrEqualToThreshold, "
      "GreaterThanThreshold, LessThanThreshold, LessThanOrEqualToThreshold, "
      "LessThanLowerOrGreaterThanUpperThreshold, LessThanLowerThreshold, "
      "GreaterThanUpperThreshold]" },
    { "{'AlarmName':'a','EvaluationPeriods':1,'Threshold':1,"
      "'ComparisonOperator':'LessThanThreshold'}",
      ERROR_CW_MISSING_PARAMETER, "The parameter MetricName is required." },
    { "{'AlarmName':'a','EvaluationPeriods':1,'ComparisonOperator':'LessThanThreshold',"
      "'MetricName':'m','Namespace':'N','Period':60,'Statistic':'Sum'}",
      ERROR_CW_MISSING_PARAMETER, "The parameter Threshold is required." },
    { "{'AlarmName':'a','EvaluationPeriods':1,'ComparisonOperator':'LessThanThreshold',"
      "'MetricName':'m','Namespace':'N','Period':60,'Threshold':1}",
      ERROR_CW_MISSING_PARAMETER, "The parameter Statistic or ExtendedStatistic is required." },
    { "{'AlarmName':'a','ExtendedStatistic':'p50'," METRIC "}",
      ERROR_CW_INVALID_PARAMETER_COMBINATION,
      "The parameters Statistic and ExtendedStatistic are mutually exclusive and you have "
      "specified both." },
    { "{'AlarmName':'a','EvaluationPeriods':1,'ComparisonOperator':'LessThanThreshold',"
      "'MetricName':'m','Namespace':'N','Period':60,'Threshold':1,'ExtendedStatistic':'x9'}",
      ERROR_CW_INVALID_PARAMETER_VALUE,
      "The value x9 for parameter ExtendedStatistic is not supported." },
    { "{'AlarmName':'a','EvaluationPeriods':1,'ComparisonOperator':'LessThanThreshold',"
      "'MetricName':'m','Namespace':'N','Period':45,'Threshold':1,'Statistic':'Sum'}",
      ERROR_VALIDATION, "Period must be 10, 20, 30 or a multiple of 60" },
    { "{'AlarmName':'a','DatapointsToAlarm':2," METRIC "}", ERROR_VALIDATION,
      "DatapointsToAlarm must be less than or equal to EvaluationPeriods" },
    { "{'AlarmName':'a','EvaluationPeriods':1441,'ComparisonOperator':'LessThanThreshold',"
      "'MetricName':'m','Namespace':'N','Period':60,'Threshold':1,'Statistic':'Sum'}",
      ERROR_VALIDATION,
      "Metrics cannot be checked across more than a day (EvaluationPeriods * Period must be <= "
      "86400)." },
    { "{'AlarmName':'a','TreatMissingData':'never'," METRIC "}", ERROR_VALIDATION,
      "The value never is not supported for TreatMissingData parameter. Supported values are "
      "[breaching, notBreaching, ignore, missing]." },
    { "{'AlarmName':'a','EvaluateLowSampleCountPercentile':'x'," METRIC "}", ERROR_VALIDATION,
      "Option x is not supported. Supported options for parameter "
      "EvaluateLowSampleCountPercentile are evaluate and ignore." },
    { "{'AlarmName':'a','AlarmActions':['x']," METRIC "}", ERROR_VALIDATION,
      "Invalid arn syntax: x" },
    { "{'AlarmName':'a','EvaluationPeriods':1,'ComparisonOperator':'GreaterThanUpperThreshold',"
      "'ThresholdMetricId':'t1','Metrics':[]}",
      ERROR_VALIDATION,
      "Anomaly detection is not supported: ComparisonOperator must compare with a Threshold, "
      "and ThresholdMetricId must be absent." },
    { "{'AlarmName':'a','Metrics':[]," METRIC "}", ERROR_CW_INVALID_PARAMETER_COMBINATION,
      "The parameters Metrics and MetricName are mutually exclusive and you have specified "
      "both." },
    { "{'AlarmName':'a','EvaluationPeriods':1,'Threshold':1,"
      "'ComparisonOperator':'LessThanThreshold','Metrics':[{'Id':'m1','ReturnData':false,"
      "'MetricStat':{'Metric':{'Namespace':'N','MetricName':'m'},'Period':60,'Stat':'Sum'}}]}",
      ERROR_VALIDATION, "Exactly one element of the metrics list should return data." },
    { "{'AlarmName':'a','EvaluationInterval':10," METRIC "}", ERROR_VALIDATION,
      "Alarms on PromQL queries are not supported: EvaluationCriteria and EvaluationInterval "
      "must be absent." },
    { "{'AlarmName':'a','Tags':[{'Key':'k','Value':''},{'Key':'k','Value':''}]," METRIC "}",
      ERROR_CW_INVALID_PARAMETER_VALUE, "Duplicate tag keys are not allowed." },
};

static void rules_of_alarms_have_the_services_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(faults); i++)
        api_fixture_expect_error(&fixture, PUT, faults[i].body, faults[i].code, faults[i].message);
    api_fixture_expect(&fixture, DESCRIBE, "{}", "{'CompositeAlarms':[],'MetricAlarms':[]}");
    api_fixture_expect_error(&fixture, "cloudwatch:PutCompositeAlarm",
                             "{'AlarmName':'a','AlarmRule':'ALARM(b)'}", ERROR_VALIDATION,
                             "Composite alarms are not supported: use metric alarms, whose metric "
                             "math can combine several metrics");
}

static void an_alarm_is_described_as_it_was_put(void **state)
{
    (void)state;
    api_fixture_expect(&fixture, PUT,
                       "{'AlarmName':'a','AlarmDescription':'d','OKActions':['" ALARM_ARN(
                           "x") "'],'Dimensions':[{'Name':'k','Value':'v'}],'Unit':'Seconds',"
                                "'TreatMissingData':'ignore'," METRIC "}",
                       "{}");
    api_fixture_expect(
        &fixture, DESCRIBE, "{'AlarmNames':['a','absent']}",
        "{'CompositeAlarms':[],'MetricAlarms':[{'AlarmName':'a','AlarmDescription':'d',"
        "'ActionsEnabled':true,'OKActions':['" ALARM_ARN(
            "x") "'],'AlarmActions':[],'InsufficientDataActions':[],'MetricName':'m','Namespace':"
                 "'App','Statistic':'Sum','Dimensions':[{'Name':'k','Value':'v'}],'Period':60,"
                 "'Unit':'Seconds','EvaluationPeriods':1,'Threshold':5.0,'ComparisonOperator':"
                 "'GreaterThanThreshold','TreatMissingData':'ignore','AlarmArn':'" ALARM_ARN(
                     "a") "','AlarmConfigurationUpdatedTimestamp':1790000105,'StateValue':"
                          "'INSUFFICIENT_DATA','StateReason':'Unchecked: Initial alarm creation',"
                          "'StateUpdatedTimestamp':1790000105,'StateTransitionedTimestamp':"
                          "1790000105}]}");
}

/* --- Evaluation through the store of samples --- */

static void an_alarm_follows_its_metric(void **state)
{
    (void)state;
    put("a");
    tick(7);
    api_fixture_call(&fixture, DESCRIBE, "{'StateValue':'ALARM'}");
    assert_true(api_fixture_shows(&fixture, "'StateReason':'Threshold Crossed: 1 datapoint [7.0 "
                                            "(21/09/26 14:15:00)] was greater than the threshold "
                                            "(5.0).'"));
    assert_true(api_fixture_shows(&fixture, "'StateTransitionedTimestamp':1790000165"));
    tick(5);
    api_fixture_expect(&fixture, DESCRIBE, "{'StateValue':'ALARM'}",
                       "{'CompositeAlarms':[],'MetricAlarms':[]}");
    api_fixture_restart(&fixture, 0);
    api_fixture_call(&fixture, HISTORY, "{'AlarmName':'a','HistoryItemType':'StateUpdate'}");
    assert_true(api_fixture_shows(&fixture, "'HistorySummary':'Alarm updated from ALARM to OK'"));
    assert_true(api_fixture_shows(&fixture, "from INSUFFICIENT_DATA to ALARM"));
    assert_true(api_fixture_shows(&fixture, "sampleCount"));
}

static void a_percentile_of_few_samples_changes_nothing_if_asked(void **state)
{
    (void)state;
    api_fixture_expect(&fixture, PUT,
                       "{'AlarmName':'p','MetricName':'m','Namespace':'App','ExtendedStatistic':"
                       "'p90','Period':60,'EvaluationPeriods':1,'Threshold':5,"
                       "'ComparisonOperator':'GreaterThanThreshold',"
                       "'EvaluateLowSampleCountPercentile':'ignore'}",
                       "{}");
    tick(7); /* 1 sample; p90 needs 100. */
    api_fixture_call(&fixture, DESCRIBE, "{}");
    assert_true(api_fixture_shows(&fixture, "'StateValue':'INSUFFICIENT_DATA'"));
    api_fixture_expect(&fixture, "cloudwatch:PutMetricData",
                       "{'Namespace':'App','MetricData':[{'MetricName':'m','Values':[7],"
                       "'Counts':[99]}]}",
                       "{}");
    tick(7);
    api_fixture_call(&fixture, DESCRIBE, "{}");
    assert_true(api_fixture_shows(&fixture, "'StateValue':'ALARM'"));
}

#define MATH(expression)                                                                           \
    "{'AlarmName':'e','EvaluationPeriods':1,'Threshold':0.1,'ComparisonOperator':"                 \
    "'GreaterThanThreshold','Metrics':[{'Id':'m1','ReturnData':false,'MetricStat':{'Metric':"      \
    "{'Namespace':'App','MetricName':'m'},'Period':60,'Stat':'Sum'}},{'Id':'e1','Expression':"     \
    "'" expression "'}]}"

static void an_alarm_follows_an_expression(void **state)
{
    static const struct {
        const char *body;
        const char *message;
    } rows[] = {
        { MATH("m1/"), NULL },
        { MATH("m2*2"), "Error in expression ~e1~: ID ~m2~ not found" },
        { MATH("e1+m1"), "Circular dependency involving ~e1~." },
        { MATH("search(m1)"),
          "Error in expression ~e1~: SEARCH is not supported on Metric Alarms." },
        { MATH("3"), "Error in expression ~e1~: the result is not a time series" },
        { MATH("METRICS()"),
          "Metrics expression that return multi time series are only allowed for MetricsInsights "
          "expression with an ORDER BY clause" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char message[256];
        snprintf(message, sizeof message, "%s", rows[i].message == NULL ? "" : rows[i].message);
        for (char *at = strchr(message, '~'); at != NULL; at = strchr(at, '~'))
            *at = '\'';
        assert_false(api_fixture_call(&fixture, PUT, rows[i].body));
        assert_int_equal(fixture.error.code, ERROR_VALIDATION);
        if (message[0] != '\0' && !bytes_equal_text(fixture.error.message, message))
            fail_msg("%s: %.*s", rows[i].body, BYTES_FMT(fixture.error.message));
    }
    api_fixture_expect(&fixture, PUT, MATH("m1/PERIOD(m1)"), "{}");
    tick(7); /* 7/60 is above 0.1. */
    api_fixture_call(&fixture, DESCRIBE, "{}");
    assert_true(api_fixture_shows(&fixture, "'StateValue':'ALARM'"));
    assert_true(api_fixture_shows(&fixture, "'Expression':'m1/PERIOD(m1)'"));
    assert_true(api_fixture_shows(&fixture, "1 datapoint [0.11666666666666667 (21/09/26"));
    tick(6);
    api_fixture_call(&fixture, DESCRIBE, "{}");
    assert_true(api_fixture_shows(&fixture, "'StateValue':'OK'"));
}

/* --- Lists --- */

static void token_of(char out[128])
{
    const char *text = (const char *)fixture.response.data;
    const char *at = memmem(text, fixture.response.len, "\"NextToken\":\"", 13);
    out[0] = '\0';
    if (at != NULL)
        sscanf(at + 13, "%100[^\"]", out);
}

static size_t count_of(const char *text)
{
    size_t count = 0;
    const char *at = (const char *)fixture.response.data;
    const char *end = at + fixture.response.len;
    while ((at = memmem(at, (size_t)(end - at), text, strlen(text))) != NULL) {
        at++;
        count++;
    }
    return count;
}

static void pages_show_every_alarm_once(void **state)
{
    (void)state;
    char name[32], body[256], token[128] = "";
    size_t shown = 0;
    for (int i = 0; i < 23; i++) {
        snprintf(name, sizeof name, "x-%02d", i);
        put(name);
    }
    put("x-");
    put("y");
    for (int page = 0; page < 4; page++) {
        snprintf(body, sizeof body, "{'AlarmNamePrefix':'x-','MaxRecords':7%s%s%s}",
                 token[0] == '\0' ? "" : ",'NextToken':'", token, token[0] == '\0' ? "" : "'");
        assert_true(api_fixture_call(&fixture, DESCRIBE, body));
        shown += count_of("\"AlarmName\"");
        token_of(token);
        assert_int_equal(token[0] != '\0', page < 3);
    }
    assert_int_equal(shown, 24);
    api_fixture_expect_error(&fixture, DESCRIBE, "{'NextToken':'#'}", ERROR_CW_INVALID_NEXT_TOKEN,
                             "The value for parameter NextToken is invalid.");
    api_fixture_expect_error(&fixture, HISTORY, "{'NextToken':'AAAA'}", ERROR_CW_INVALID_NEXT_TOKEN,
                             "The value for parameter NextToken is invalid.");
    assert_true(api_fixture_call(&fixture, DESCRIBE, "{'AlarmTypes':['CompositeAlarm']}"));
    assert_int_equal(count_of("\"AlarmName\""), 0);
    assert_true(api_fixture_call(&fixture, HISTORY, "{'MaxRecords':20}"));
    assert_int_equal(count_of("\"AlarmType\""), 20);
    token_of(token);
    snprintf(body, sizeof body, "{'MaxRecords':20,'NextToken':'%s'}", token);
    assert_true(api_fixture_call(&fixture, HISTORY, body));
    assert_int_equal(count_of("\"AlarmType\""), 5);
}

static void alarms_are_found_by_metric_and_by_action(void **state)
{
    (void)state;
    put("a");
    api_fixture_expect(&fixture, PUT,
                       "{'AlarmName':'b','AlarmActions':['http://127.0.0.1/x'],'Dimensions':"
                       "[{'Name':'k','Value':'v'},{'Name':'l','Value':'w'}]," METRIC "}",
                       "{}");
#define FOR_METRIC(rest) "{'MetricName':'m','Namespace':'App'" rest "}"
    static const struct {
        const char *body;
        const char *found;
    } rows[] = {
        { FOR_METRIC(""), "\"AlarmName\":\"a\"" },
        { FOR_METRIC(",'Dimensions':[{'Name':'l','Value':'w'},{'Name':'k','Value':'v'}]"),
          "\"AlarmName\":\"b\"" },
        { FOR_METRIC(",'Dimensions':[{'Name':'k','Value':'v'}]"), NULL },
        { FOR_METRIC(",'Statistic':'Sum','Period':60"), "\"AlarmName\":\"a\"" },
        { FOR_METRIC(",'Statistic':'Average'"), NULL },
        { FOR_METRIC(",'Period':300"), NULL },
        { FOR_METRIC(",'Unit':'Count'"), NULL },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_true(api_fixture_call(&fixture, "cloudwatch:DescribeAlarmsForMetric", rows[i].body));
        assert_int_equal(count_of("\"AlarmName\""), rows[i].found != NULL);
        assert_true(rows[i].found == NULL || count_of(rows[i].found) == 1);
    }
    assert_true(api_fixture_call(&fixture, DESCRIBE, "{'ActionPrefix':'http:'}"));
    assert_int_equal(count_of("\"AlarmName\":\"b\""), 1);
    assert_int_equal(count_of("\"AlarmName\""), 1);
}

/* --- States, actions and deletion --- */

static void states_are_set_and_alarms_deleted(void **state)
{
    (void)state;
    put("a");
    put("b");
    api_fixture_expect(&fixture, "cloudwatch:SetAlarmState",
                       "{'AlarmName':'a','StateValue':'ALARM','StateReason':'test',"
                       "'StateReasonData':'{\\'k\\':1}'}",
                       "{}");
    api_fixture_call(&fixture, DESCRIBE, "{'AlarmNames':['a']}");
    assert_true(api_fixture_shows(&fixture, "'StateReason':'test'"));
    api_fixture_expect_error(&fixture, "cloudwatch:SetAlarmState",
                             "{'AlarmName':'a','StateValue':'OK','StateReason':'',"
                             "'StateReasonData':'{'}",
                             ERROR_CW_INVALID_FORMAT, "Data was not syntactically valid JSON.");
    api_fixture_expect_error(&fixture, "cloudwatch:SetAlarmState",
                             "{'AlarmName':'x','StateValue':'OK','StateReason':''}",
                             ERROR_CW_RESOURCE_NOT_FOUND, "Alarm x does not exist");
    api_fixture_expect(&fixture, "cloudwatch:DisableAlarmActions", "{'AlarmNames':['a','x']}",
                       "{}");
    api_fixture_call(&fixture, DESCRIBE, "{'AlarmNames':['a']}");
    assert_true(api_fixture_shows(&fixture, "'ActionsEnabled':false"));
    api_fixture_expect(&fixture, "cloudwatch:EnableAlarmActions", "{'AlarmNames':['a']}", "{}");
    api_fixture_expect(&fixture, "cloudwatch:DeleteAlarms", "{'AlarmNames':['a','x','a']}", "{}");
    api_fixture_expect_error(&fixture, "cloudwatch:DeleteAlarms", "{'AlarmNames':['a']}",
                             ERROR_CW_RESOURCE_NOT_FOUND, "Alarm a does not exist");
    api_fixture_call(&fixture, DESCRIBE, "{}");
    assert_int_equal(count_of("\"AlarmName\""), 1);
}

static void alarms_have_a_bound(void **state)
{
    (void)state;
    struct api_fixture small;
    api_fixture_open_with(&small, &(struct api_options){ .alarms_max = 1, .dashboards_max = 1 });
    api_fixture_expect(&small, PUT, "{'AlarmName':'a'," METRIC "}", "{}");
    api_fixture_expect_error(&small, PUT, "{'AlarmName':'b'," METRIC "}",
                             ERROR_CW_LIMIT_EXCEEDED_FAULT,
                             "There is no room for more alarms: delete some, or raise alarms-max");
    api_fixture_expect(&small, "cloudwatch:PutDashboard",
                       "{'DashboardName':'a','DashboardBody':'{\\'widgets\\':[]}'}",
                       "{'DashboardValidationMessages':[]}");
    api_fixture_expect_error(
        &small, "cloudwatch:PutDashboard",
        "{'DashboardName':'b','DashboardBody':'{\\'widgets\\':[]}'}", ERROR_CW_LIMIT_EXCEEDED,
        "There is no room for more dashboards: delete some, or raise dashboards-max");
    api_fixture_close(&small);
}

/* --- Dashboards and tags --- */

static void dashboards_are_kept(void **state)
{
    (void)state;
    api_fixture_expect(&fixture, "cloudwatch:PutDashboard",
                       "{'DashboardName':'d','DashboardBody':'{ \\'widgets\\':[]}'}",
                       "{'DashboardValidationMessages':[]}");
    api_fixture_expect(&fixture, "cloudwatch:GetDashboard", "{'DashboardName':'d'}",
                       "{'DashboardArn':'" DASHBOARD_ARN(
                           "d") "','DashboardBody':'{ \\'widgets\\':[]}','DashboardName':'d'}");
    api_fixture_expect(&fixture, "cloudwatch:ListDashboards", "{'DashboardNamePrefix':'d'}",
                       "{'DashboardEntries':[{'DashboardName':'d','DashboardArn':'" DASHBOARD_ARN(
                           "d") "','LastModified':1790000105,'Size':15}]}");
    api_fixture_expect(&fixture, "cloudwatch:ListDashboards", "{'DashboardNamePrefix':'x'}",
                       "{'DashboardEntries':[]}");
    api_fixture_expect_error(&fixture, "cloudwatch:PutDashboard",
                             "{'DashboardName':'d','DashboardBody':'{\\'widgets\\':[{}]}'}",
                             ERROR_CW_DASHBOARD_INVALID,
                             "The dashboard body is invalid, there are 2 validation errors:\n[\n"
                             "  {\n    \"dataPath\": \"/widgets/0\",\n    \"message\": \"Should "
                             "have required property 'type'\"\n  },\n  {\n    \"dataPath\": "
                             "\"/widgets/0\",\n    \"message\": \"Should have required property "
                             "'properties'\"\n  }\n]");
    api_fixture_expect_error(&fixture, "cloudwatch:PutDashboard",
                             "{'DashboardName':'a b','DashboardBody':'{}'}",
                             ERROR_CW_INVALID_PARAMETER_VALUE,
                             "The value a b for field DashboardName contains invalid characters. "
                             "It can only contain alphanumerics, dash (-) and underscore (_).\n");
    api_fixture_expect_error(&fixture, "cloudwatch:DeleteDashboards",
                             "{'DashboardNames':['d','e']}", ERROR_CW_RESOURCE_NOT_FOUND,
                             "Dashboard e does not exist");
    api_fixture_expect(&fixture, "cloudwatch:DeleteDashboards", "{'DashboardNames':['d']}", "{}");
    api_fixture_expect_error(&fixture, "cloudwatch:GetDashboard", "{'DashboardName':'d'}",
                             ERROR_CW_RESOURCE_NOT_FOUND, "Dashboard d does not exist");
}

static void check_tags(const char *arn)
{
    char body[512];
    snprintf(body, sizeof body,
             "{'ResourceARN':'%s','Tags':[{'Key':'k','Value':'v'},{'Key':'l','Value':''}]}", arn);
    api_fixture_expect(&fixture, "cloudwatch:TagResource", body, "{}");
    snprintf(body, sizeof body, "{'ResourceARN':'%s','Tags':[{'Key':'k','Value':'w'}]}", arn);
    api_fixture_expect(&fixture, "cloudwatch:TagResource", body, "{}");
    snprintf(body, sizeof body, "{'ResourceARN':'%s'}", arn);
    api_fixture_restart(&fixture, 0);
    api_fixture_expect(&fixture, "cloudwatch:ListTagsForResource", body,
                       "{'Tags':[{'Key':'k','Value':'w'},{'Key':'l','Value':''}]}");
    snprintf(body, sizeof body, "{'ResourceARN':'%s','TagKeys':['k','x']}", arn);
    api_fixture_expect(&fixture, "cloudwatch:UntagResource", body, "{}");
    snprintf(body, sizeof body, "{'ResourceARN':'%s'}", arn);
    api_fixture_expect(&fixture, "cloudwatch:ListTagsForResource", body,
                       "{'Tags':[{'Key':'l','Value':''}]}");
}

static void alarms_and_dashboards_have_tags(void **state)
{
    (void)state;
    put("a");
    api_fixture_expect(&fixture, "cloudwatch:PutDashboard",
                       "{'DashboardName':'d','DashboardBody':'{\\'widgets\\':[]}'}",
                       "{'DashboardValidationMessages':[]}");
    check_tags(ALARM_ARN("a"));
    check_tags(DASHBOARD_ARN("d"));
    put("a"); /* An update keeps them. */
    api_fixture_expect(&fixture, "cloudwatch:ListTagsForResource",
                       "{'ResourceARN':'" ALARM_ARN("a") "'}", "{'Tags':[{'Key':'l','Value':''}]}");
    api_fixture_expect_error(&fixture, "cloudwatch:ListTagsForResource",
                             "{'ResourceARN':'" ALARM_ARN("x") "'}", ERROR_CW_NO_SUCH_RESOURCE,
                             "The resource " ALARM_ARN("x") " does not exist.");
    api_fixture_expect_error(&fixture, "cloudwatch:ListTagsForResource", "{'ResourceARN':'x'}",
                             ERROR_CW_INVALID_PARAMETER_VALUE, "Invalid ARN: x");
}

/* A store with a record that cannot be read again is not opened. */
static void the_longest_tags_survive_a_restart(void **state)
{
    static const char *const starts[] = {
        "{'AlarmName':'a'," METRIC ",'Tags':[",
        "{'DashboardName':'d','DashboardBody':'{\\'widgets\\':[]}','Tags':[",
    };
    static const char *const operations[] = { PUT, "cloudwatch:PutDashboard" };
    static char body[200 * 1024];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(starts); i++) {
        size_t at = (size_t)snprintf(body, sizeof body, "%s", starts[i]);
        for (int tag = 0; tag < 50; tag++) {
            at += (size_t)snprintf(body + at, sizeof body - at, "%s{'Key':'%02d",
                                   tag == 0 ? "" : ",", tag);
            for (int n = 2; n < 128; n++)
                at += (size_t)snprintf(body + at, sizeof body - at, "\\u0001");
            at += (size_t)snprintf(body + at, sizeof body - at, "','Value':'");
            for (int n = 0; n < 256; n++)
                at += (size_t)snprintf(body + at, sizeof body - at, "\\u0001");
            at += (size_t)snprintf(body + at, sizeof body - at, "'}");
        }
        snprintf(body + at, sizeof body - at, "]}");
        assert_true(api_fixture_call(&fixture, operations[i], body));
    }
    api_fixture_restart(&fixture, 0);
    assert_true(api_fixture_call(&fixture, "cloudwatch:ListTagsForResource",
                                 "{'ResourceARN':'" ALARM_ARN("a") "'}"));
    assert_true(api_fixture_shows(&fixture, "'Key':'49\\u0001"));
    assert_true(api_fixture_call(&fixture, "cloudwatch:ListTagsForResource",
                                 "{'ResourceARN':'" DASHBOARD_ARN("d") "'}"));
    assert_true(api_fixture_shows(&fixture, "'Key':'49\\u0001"));
}

int main(void)
{
#define ALARM_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        ALARM_TEST(rules_of_alarms_have_the_services_words),
        ALARM_TEST(an_alarm_is_described_as_it_was_put),
        ALARM_TEST(an_alarm_follows_its_metric),
        ALARM_TEST(a_percentile_of_few_samples_changes_nothing_if_asked),
        ALARM_TEST(an_alarm_follows_an_expression),
        ALARM_TEST(pages_show_every_alarm_once),
        ALARM_TEST(alarms_are_found_by_metric_and_by_action),
        ALARM_TEST(states_are_set_and_alarms_deleted),
        ALARM_TEST(alarms_have_a_bound),
        ALARM_TEST(dashboards_are_kept),
        ALARM_TEST(alarms_and_dashboards_have_tags),
        ALARM_TEST(the_longest_tags_survive_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
