/* op_insight_rules.c -- CloudWatch's GetInsightRuleReport and DescribeInsightRules, for the rules
 * that Contributor Insights makes.
 *
 * A report shows keys, which are item data, so it needs cloudwatch:GetInsightRuleReport on the
 * rule. KeyLabels and Keys have the names of the key's attributes and their values as text, because
 * the service's own form is not documented. */
#include <inttypes.h>
#include <string.h>
#include "api/common_shapes.h"
#include "api/insight/insight_rules.h"
#include "api/insight/key_report.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "base/arena.h"
#include "base/clock.h"
#include "insight/insights.h"
#include "json/writer.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

/* --- GetInsightRuleReport --- */

enum {
    RULE_NAME_SIZE_MAX = INSIGHT_RULE_NAME_SIZE_MAX, /* Names of tables and indexes are longer. */
    CONTRIBUTORS_DEFAULT = 10,
    CONTRIBUTORS_MAX = 25, /* Documented for DynamoDB's rules; others have up to 100. */
    METRICS_MAX = 7,
    PERIOD_S_MAX = 24 * 60 * 60,
};

struct report_request {
    struct bytes rule_name;
    struct shape_integer start_time;
    struct shape_integer end_time;
    struct shape_integer period;
    struct shape_integer max_contributor_count;
    struct shape_list metrics; /* Of struct bytes. */
    struct bytes order_by;
};

static const struct shape time_shape = { .kind = SHAPE_TIMESTAMP, SHAPE_UNBOUNDED };
static const struct shape integer_shape = { .kind = SHAPE_INTEGER, SHAPE_UNBOUNDED };
static const struct shape metrics_shape = { .kind = SHAPE_LIST,
                                            SHAPE_UNBOUNDED,
                                            .element = &common_string };
/* What is missing or wrong is reported in CloudWatch's words, by check_report. */
static const struct shape_field report_fields[] = {
    { SHAPE_FIELD(struct report_request, rule_name, "RuleName", &common_string) },
    { SHAPE_FIELD(struct report_request, start_time, "StartTime", &time_shape) },
    { SHAPE_FIELD(struct report_request, end_time, "EndTime", &time_shape) },
    { SHAPE_FIELD(struct report_request, period, "Period", &integer_shape) },
    { SHAPE_FIELD(struct report_request, max_contributor_count, "MaxContributorCount",
                  &integer_shape) },
    { SHAPE_FIELD(struct report_request, metrics, "Metrics", &metrics_shape) },
    { SHAPE_FIELD(struct report_request, order_by, "OrderBy", &common_string) },
};
static const struct shape report_shape = { SHAPE_STRUCTURE_OF(struct report_request, report_fields),
                                           .type_name = "GetInsightRuleReportInput" };

static bool require(struct api_call *call, bool present, const char *name)
{
    return present || error_set(&call->error, ERROR_CW_MISSING_PARAMETER,
                                "The parameter %s is required.", name);
}

static bool refuse_value(struct api_call *call, const char *name, const char *rule)
{
    return error_set(&call->error, ERROR_CW_INVALID_PARAMETER_VALUE, "The parameter %s %s.", name,
                     rule);
}

static bool check_metrics(struct api_call *call, const struct shape_list *metrics)
{
    if (metrics->count > METRICS_MAX)
        return refuse_value(call, "Metrics", "must have at most 7 elements");
    for (size_t i = 0; i < metrics->kept; i++) {
        if (!insight_rules_find_metric(((const struct bytes *)metrics->elements)[i],
                                       &(enum insight_metric){ 0 }))
            return refuse_value(call, "Metrics.member",
                                "must be one of UniqueContributors, MaxContributorValue, "
                                "SampleCount, Sum, Minimum, Maximum, Average");
    }
    return true;
}

static bool check_report(struct api_call *call, const struct report_request *request)
{
    int64_t period_s = request->period.value;
    if (!require(call, request->rule_name.data != NULL, "RuleName") ||
        !require(call, request->start_time.present, "StartTime") ||
        !require(call, request->end_time.present, "EndTime") ||
        !require(call, request->period.present, "Period"))
        return false;
    if (request->rule_name.len < 1 || request->rule_name.len > RULE_NAME_SIZE_MAX)
        return refuse_value(call, "RuleName", "has a wrong length");
    if (request->start_time.value < 0 || request->start_time.value >= request->end_time.value)
        return refuse_value(call, "StartTime", "must be less than the parameter EndTime");
    if (period_s <= 0 || period_s > PERIOD_S_MAX || period_s % 60 != 0)
        return refuse_value(call, "Period", "must be a multiple of 60, up to 86400");
    if ((request->end_time.value - request->start_time.value) / (period_s * 1000) >=
        KEY_REPORT_PERIODS_MAX)
        return error_set(&call->error, ERROR_CW_INVALID_PARAMETER_COMBINATION,
                         "The parameters StartTime, EndTime and Period lead to more than %d "
                         "datapoints.",
                         KEY_REPORT_PERIODS_MAX);
    if (request->max_contributor_count.present &&
        (request->max_contributor_count.value < 1 ||
         request->max_contributor_count.value > CONTRIBUTORS_MAX))
        return refuse_value(call, "MaxContributorCount", "must be from 1 to 25");
    if (request->order_by.data != NULL && !bytes_equal_text(request->order_by, "Sum") &&
        !bytes_equal_text(request->order_by, "Maximum"))
        return refuse_value(call, "OrderBy", "must be Sum or Maximum");
    return check_metrics(call, &request->metrics);
}

static void write_contributor(struct api_call *call, struct json_writer *writer,
                              const struct key_report *report,
                              const struct key_report_contributor *contributor)
{
    struct key_report_attribute attributes[KEY_REPORT_ATTRIBUTES_MAX];
    size_t count;
    if (!key_report_read_key(call, &report->target, report->rule, contributor->key, attributes,
                             &count))
        count = 0;
    json_open_object(writer);
    json_write_name(writer, "Keys");
    json_open_array(writer);
    for (size_t i = 0; i < count; i++)
        json_write_string(writer, attributes[i].text);
    json_close_array(writer);
    json_write_name(writer, "ApproximateAggregateValue");
    json_write_double(writer, key_report_value(report->rule, contributor->weight));
    json_write_name(writer, "Datapoints");
    json_open_array(writer);
    for (size_t i = 0; i < report->period_count; i++) {
        if (contributor->periods[i] == 0)
            continue;
        json_open_object(writer);
        json_write_name(writer, "Timestamp");
        json_write_seconds(writer, report->periods[i].start_ms);
        json_write_name(writer, "ApproximateValue");
        json_write_double(writer, key_report_value(report->rule, contributor->periods[i]));
        json_close_object(writer);
    }
    json_close_array(writer);
    json_close_object(writer);
}

static void write_metrics(struct json_writer *writer, const struct key_report *report,
                          const struct shape_list *metrics)
{
    json_write_name(writer, "MetricDatapoints");
    json_open_array(writer);
    for (size_t i = 0; i < report->period_count && metrics->count > 0; i++) {
        json_open_object(writer);
        json_write_name(writer, "Timestamp");
        json_write_seconds(writer, report->periods[i].start_ms);
        for (enum insight_metric metric = 0; metric < INSIGHT_METRIC_COUNT; metric++) {
            bool wanted = false;
            for (size_t m = 0; m < metrics->kept && !wanted; m++)
                wanted = bytes_equal_text(((const struct bytes *)metrics->elements)[m],
                                          insight_rules_metric_name(metric));
            if (!wanted)
                continue;
            json_write_name(writer, insight_rules_metric_name(metric));
            json_write_double(
                writer, insight_rules_metric_value(report->rule, &report->periods[i], metric));
        }
        json_close_object(writer);
    }
    json_close_array(writer);
}

static void answer_report(struct api_call *call, const struct key_report *report)
{
    const struct report_request *request = report->context;
    struct key_report_attribute labels[KEY_REPORT_ATTRIBUTES_MAX];
    size_t label_count = key_report_names(&report->target, report->rule, labels);
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "KeyLabels");
    json_open_array(&writer);
    for (size_t i = 0; i < label_count; i++)
        json_write_string(&writer, labels[i].name);
    json_close_array(&writer);
    json_write_name(&writer, "AggregationStatistic");
    json_write_text(&writer, "Sum");
    json_write_name(&writer, "AggregateValue");
    json_write_double(&writer, key_report_value(report->rule, report->total));
    json_write_name(&writer, "ApproximateUniqueCount");
    json_write_integer(&writer, (int64_t)report->distinct);
    json_write_name(&writer, "Contributors");
    json_open_array(&writer);
    for (size_t i = 0; i < report->contributor_count; i++)
        write_contributor(call, &writer, report, &report->contributors[i]);
    json_close_array(&writer);
    write_metrics(&writer, report, &request->metrics);
    json_close_object(&writer);
}

/* "arn:aws:cloudwatch:<region>:<account>:insight-rule/<name>" */
static bool may_read(struct api_call *call, struct bytes rule_name)
{
    const struct api_options *options = api_options(call->api);
    if (rule_name.data == NULL)
        rule_name = BYTES("");
    return operation_may_use_arn(
        call, arena_printf(call->arena, "arn:aws:cloudwatch:%s:%s:insight-rule/%.*s",
                           options->region, options->account_id, BYTES_FMT(rule_name)));
}

static void run_report(struct api_call *call, const void *input)
{
    const struct report_request *request = input;
    struct key_report *report = arena_alloc_zeroed(call->arena, sizeof *report);
    if (!may_read(call, request->rule_name) || !check_report(call, request) ||
        !insight_rules_find(call, request->rule_name, report)) {
        operation_fail(call);
        return;
    }
    report->from_ms = request->start_time.value - request->start_time.value % INSIGHTS_MINUTE_MS;
    report->until_ms = request->end_time.value;
    report->period_ms = request->period.value * 1000;
    report->contributors_max = request->max_contributor_count.present
                                   ? (size_t)request->max_contributor_count.value
                                   : CONTRIBUTORS_DEFAULT;
    report->by_maximum = bytes_equal_text(request->order_by, "Maximum");
    report->has_values = true;
    report->answer = answer_report;
    report->context = request;
    key_report_run(call, report);
}

const struct operation op_get_insight_rule_report = { .name = "GetInsightRuleReport",
                                                      .service = OPERATION_OF_CLOUDWATCH,
                                                      .kind = OPERATION_DATA,
                                                      .request = &report_shape,
                                                      .asks = OPERATION_ASKS_ITSELF,
                                                      .reads_many = true,
                                                      .waits = OPERATION_WAITS,
                                                      .run = run_report };

/* --- DescribeInsightRules --- */

enum { PAGE_MAX = 500 };

struct rules_request {
    struct bytes next_token;
    struct shape_integer max_results;
};

static const struct shape_field rules_fields[] = {
    { SHAPE_FIELD(struct rules_request, next_token, "NextToken", &common_string) },
    { SHAPE_FIELD(struct rules_request, max_results, "MaxResults", &integer_shape) },
};
static const struct shape rules_shape = { SHAPE_STRUCTURE_OF(struct rules_request, rules_fields),
                                          .type_name = "DescribeInsightRulesInput" };

/* A page that is being written. Rules are in the order of tables, targets and kinds; a token is the
 * name of the last rule of the page before. */
struct rules_page {
    struct api_call *call;
    struct json_writer writer;
    struct bytes after; /* data NULL: the start was reached. */
    size_t left;
    bool is_full;
    struct bytes last;
};

/* The schema that rules of CloudWatch have, for what DynamoDB's count. */
static void write_definition(struct json_writer *writer, struct api_call *call,
                             const struct insight_target *target, enum insight_rule rule)
{
    struct key_report_attribute labels[KEY_REPORT_ATTRIBUTES_MAX];
    struct buffer text;
    struct json_writer inner;
    size_t count = key_report_names(target, rule, labels);
    buffer_init(&text, call->arena);
    json_writer_init(&inner, &text);
    json_open_object(&inner);
    json_write_name(&inner, "Schema");
    json_open_object(&inner);
    json_write_name(&inner, "Name");
    json_write_text(&inner, "DynamoDBContributorInsights");
    json_write_name(&inner, "Version");
    json_write_integer(&inner, 1);
    json_close_object(&inner);
    json_write_name(&inner, "Contribution");
    json_open_object(&inner);
    json_write_name(&inner, "Keys");
    json_open_array(&inner);
    for (size_t i = 0; i < count; i++)
        json_write_string(&inner, labels[i].name);
    json_close_array(&inner);
    json_write_name(&inner, "ValueOf");
    json_write_text(&inner, insight_rule_is_of_throttles(rule) ? "ThrottleCount"
                                                               : "ConsumedThroughputUnits");
    json_close_object(&inner);
    json_write_name(&inner, "AggregateOn");
    json_write_text(&inner, "Sum");
    json_close_object(&inner);
    json_write_name(writer, "Definition");
    json_write_string(writer, buffer_bytes(&text));
}

static bool show_rule(void *context, const struct table *table, const struct insight_target *target,
                      enum insight_rule rule, struct bytes name)
{
    struct rules_page *page = context;
    (void)table;
    if (page->after.data != NULL) {
        if (bytes_equal(name, page->after))
            page->after = (struct bytes){ 0 };
        return true;
    }
    if (page->left == 0) {
        page->is_full = true;
        return false;
    }
    page->left--;
    page->last = name;
    json_open_object(&page->writer);
    json_write_name(&page->writer, "Name");
    json_write_string(&page->writer, name);
    json_write_name(&page->writer, "State");
    json_write_text(&page->writer, "ENABLED");
    json_write_name(&page->writer, "Schema");
    json_write_text(&page->writer, "{\"Name\":\"DynamoDBContributorInsights\",\"Version\":1}");
    write_definition(&page->writer, page->call, target, rule);
    json_write_name(&page->writer, "ManagedRule");
    json_write_bool(&page->writer, true);
    json_close_object(&page->writer);
    return true;
}

static bool answer_rules(struct api_call *call, const struct rules_request *request)
{
    struct rules_page page = { .call = call, .after = request->next_token, .left = PAGE_MAX };
    if (request->max_results.present) {
        if (request->max_results.value < 1 || request->max_results.value > PAGE_MAX)
            return refuse_value(call, "MaxResults", "must be from 1 to 500");
        page.left = (size_t)request->max_results.value;
    }
    json_writer_init(&page.writer, &call->response);
    json_open_object(&page.writer);
    json_write_name(&page.writer, "InsightRules");
    json_open_array(&page.writer);
    insight_rules_each(call, show_rule, &page);
    json_close_array(&page.writer);
    if (page.after.data != NULL)
        return error_set(&call->error, ERROR_CW_INVALID_NEXT_TOKEN,
                         "The next token is invalid, or its rule is gone.");
    if (page.is_full) {
        json_write_name(&page.writer, "NextToken");
        json_write_string(&page.writer, page.last);
    }
    json_close_object(&page.writer);
    return true;
}

static void run_rules(struct api_call *call, const void *input)
{
    operation_end(call, answer_rules(call, input));
}

const struct operation op_describe_insight_rules = { .name = "DescribeInsightRules",
                                                     .service = OPERATION_OF_CLOUDWATCH,
                                                     .kind = OPERATION_DATA,
                                                     .request = &rules_shape,
                                                     .asks = OPERATION_ASKS_ACCOUNT,
                                                     .run = run_rules };
