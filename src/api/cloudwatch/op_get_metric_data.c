/* op_get_metric_data.c -- GetMetricData: many metrics at once, and expressions over them.
 *
 * An answer has at most MaxDatapoints points. If metrics may have more, a page is a part of the
 * time that is asked for, of all of them, and a token names where the next one begins. Expressions
 * need all of the time at once; with them, too many points are refused. How many points expressions
 * have is known only when they have been evaluated: an answer has METRIC_QUERY_POINTS_MAX at most.
 */
#include <ctype.h>
#include <inttypes.h>
#include "api/cloudwatch/metric_insight.h"
#include "api/cloudwatch/metric_label.h"
#include "api/cloudwatch/metric_request.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/clock.h"
#include "cloudwatch/metric_query.h"
#include "json/base64.h"
#include "json/writer.h"

/* --- Shape --- */

struct metric_request {
    struct bytes namespace;
    struct bytes metric_name;
    struct shape_list dimensions;
};
struct metric_stat_request {
    struct metric_request *metric;
    struct shape_integer period;
    struct bytes stat;
    struct bytes unit;
};
struct query_request {
    struct bytes id;
    struct metric_stat_request *metric_stat;
    struct bytes expression;
    struct bytes label;
    struct shape_boolean return_data;
    struct shape_integer period;
    struct bytes account_id;
};
struct label_options_request {
    struct bytes timezone;
};
struct get_metric_data_request {
    struct shape_list queries; /* of struct query_request * */
    struct shape_integer start_time;
    struct shape_integer end_time;
    struct bytes next_token;
    struct bytes scan_by;
    struct shape_integer max_datapoints;
    struct label_options_request *label_options;
};

static const struct shape_field metric_fields[] = {
    { SHAPE_FIELD(struct metric_request, namespace, "Namespace", &metric_string) },
    { SHAPE_FIELD(struct metric_request, metric_name, "MetricName", &metric_string) },
    { SHAPE_FIELD(struct metric_request, dimensions, "Dimensions", &metric_dimension_list) },
};
static const struct shape metric_shape = { SHAPE_STRUCTURE_OF(struct metric_request, metric_fields),
                                           .type_name = "Metric" };
static const struct shape_field metric_stat_fields[] = {
    { SHAPE_FIELD(struct metric_stat_request, metric, "Metric", &metric_shape) },
    { SHAPE_FIELD(struct metric_stat_request, period, "Period", &metric_integer) },
    { SHAPE_FIELD(struct metric_stat_request, stat, "Stat", &metric_string) },
    { SHAPE_FIELD(struct metric_stat_request, unit, "Unit", &metric_string) },
};
static const struct shape metric_stat_shape = {
    SHAPE_STRUCTURE_OF(struct metric_stat_request, metric_stat_fields), .type_name = "MetricStat"
};
static const struct shape_field query_fields[] = {
    { SHAPE_FIELD(struct query_request, id, "Id", &metric_string) },
    { SHAPE_FIELD(struct query_request, metric_stat, "MetricStat", &metric_stat_shape) },
    { SHAPE_FIELD(struct query_request, expression, "Expression", &metric_string) },
    { SHAPE_FIELD(struct query_request, label, "Label", &metric_string) },
    { SHAPE_FIELD(struct query_request, return_data, "ReturnData", &metric_boolean) },
    { SHAPE_FIELD(struct query_request, period, "Period", &metric_integer) },
    { SHAPE_FIELD(struct query_request, account_id, "AccountId", &metric_string) },
};
static const struct shape query_shape = { SHAPE_STRUCTURE_OF(struct query_request, query_fields),
                                          .type_name = "MetricDataQuery" };
static const struct shape queries_shape = { .kind = SHAPE_LIST,
                                            .element = &query_shape,
                                            SHAPE_UNBOUNDED };
static const struct shape_field label_options_fields[] = {
    { SHAPE_FIELD(struct label_options_request, timezone, "Timezone", &metric_string) },
};
static const struct shape label_options_shape = { SHAPE_STRUCTURE_OF(struct label_options_request,
                                                                     label_options_fields),
                                                  .type_name = "LabelOptions" };
static const struct shape_field data_fields[] = {
    { SHAPE_FIELD(struct get_metric_data_request, queries, "MetricDataQueries", &queries_shape) },
    { SHAPE_FIELD(struct get_metric_data_request, start_time, "StartTime", &metric_timestamp) },
    { SHAPE_FIELD(struct get_metric_data_request, end_time, "EndTime", &metric_timestamp) },
    { SHAPE_FIELD(struct get_metric_data_request, next_token, "NextToken", &metric_string) },
    { SHAPE_FIELD(struct get_metric_data_request, scan_by, "ScanBy", &metric_string) },
    { SHAPE_FIELD(struct get_metric_data_request, max_datapoints, "MaxDatapoints",
                  &metric_integer) },
    { SHAPE_FIELD(struct get_metric_data_request, label_options, "LabelOptions",
                  &label_options_shape) },
};
static const struct shape data_shape = { SHAPE_STRUCTURE_OF(struct get_metric_data_request,
                                                            data_fields),
                                         .type_name = "GetMetricDataInput" };

/* --- The plan --- */

struct data_plan {
    struct query_request *const *given;
    struct metric_query *queries;
    struct bytes *labels; /* Automatic ones, of metrics. */
    size_t count;
    bool has_expression;
    bool ascends;
    int64_t points_max;
    int64_t start_s, end_s; /* Of the whole request, */
    int64_t from_s, to_s;   /* and of this page. */
    int64_t period_max_s;
    int64_t zone_offset_s;
    int64_t now_ms;
};

static bool is_id(struct bytes id)
{
    if (id.len == 0 || id.len > METRIC_NAME_LENGTH_MAX || !islower(id.data[0]))
        return false;
    for (size_t i = 1; i < id.len; i++) {
        if (!isalnum(id.data[i]) && id.data[i] != '_')
            return false;
    }
    return true;
}

static bool plan_metric(struct api_call *call, const struct query_request *given, size_t index,
                        struct metric_query *query)
{
    const struct metric_stat_request *stat = given->metric_stat;
    struct metric_parameter prefix =
        metric_parameter("MetricDataQueries.member.%zu.MetricStat.", index + 1);
    struct metric_parameter metric = metric_parameter("%sMetric.", prefix.text);
    struct metric_parameter period = metric_parameter("%sPeriod", prefix.text);
    struct metric_parameter name = metric_parameter("%sStat", prefix.text);
    struct metric_parameter unit = metric_parameter("%sUnit", prefix.text);
    static const struct metric_request nothing;
    const struct metric_request *named = stat->metric == NULL ? &nothing : stat->metric;
    if (!metric_check_key(call, metric.text, named->namespace, named->metric_name,
                          &named->dimensions, &query->source.key) ||
        !metric_check_period(call, period.text, &stat->period))
        return false;
    if (stat->stat.data == NULL)
        return metric_missing(call, name.text);
    if (!statistic_parse(stat->stat, &query->statistic))
        return error_validation(&call->error,
                                "The value for parameter %s is not a valid statistic.", name.text);
    query->source.statistic = stat->stat;
    query->source.period_s = stat->period.value;
    return metric_check_unit(call, unit.text, stat->unit, UNIT_ANY, &query->source.key.unit);
}

static bool plan_query(struct api_call *call, struct data_plan *plan, size_t index)
{
    const struct query_request *given = plan->given[index];
    struct metric_query *query = &plan->queries[index];
    size_t member = index + 1;
    if (given == NULL || !is_id(given->id))
        return error_validation(&call->error,
                                "The value for parameter MetricDataQueries.member.%zu.Id is not "
                                "matching the expected pattern ^[a-z][a-zA-Z0-9_]*$.",
                                member);
    for (size_t i = 0; i < index; i++) {
        if (bytes_equal(plan->given[i]->id, given->id))
            return error_validation(&call->error, "The values for parameter id in "
                                                  "MetricDataQueries are not unique.");
    }
    struct metric_parameter expression =
        metric_parameter("MetricDataQueries.member.%zu.Expression", member);
    struct metric_parameter stat =
        metric_parameter("MetricDataQueries.member.%zu.MetricStat", member);
    struct metric_parameter period =
        metric_parameter("MetricDataQueries.member.%zu.Period", member);
    *query = (struct metric_query){ .id = given->id, .expression = given->expression };
    if (given->expression.data != NULL && given->metric_stat != NULL)
        return error_validation(&call->error,
                                "The parameters %s and %s are mutually exclusive and you have "
                                "specified both.",
                                expression.text, stat.text);
    if (given->period.present && !metric_check_period(call, period.text, &given->period))
        return false;
    query->period_s = given->period.value;
    if (given->metric_stat != NULL)
        return plan_metric(call, given, index, query);
    if (given->expression.data == NULL)
        return error_validation(&call->error, "Either %s or %s must be specified.", expression.text,
                                stat.text);
    plan->has_expression = true;
    return true;
}

static bool plan_times(struct api_call *call, const struct get_metric_data_request *request,
                       struct data_plan *plan)
{
    int64_t period_min_s = INT64_MAX;
    if (!request->start_time.present)
        return metric_missing(call, "StartTime");
    if (!request->end_time.present)
        return metric_missing(call, "EndTime");
    if (request->start_time.value == request->end_time.value)
        return error_validation(&call->error,
                                "The parameter StartTime must not equal parameter EndTime.");
    if (request->start_time.value > request->end_time.value)
        return error_validation(&call->error,
                                "The parameter EndTime must be greater than StartTime.");
    for (size_t i = 0; i < plan->count; i++) {
        int64_t period_s = plan->queries[i].source.period_s;
        if (period_s > 0 && period_s < period_min_s)
            period_min_s = period_s;
        if (period_s > plan->period_max_s)
            plan->period_max_s = period_s;
        if (plan->queries[i].period_s > plan->period_max_s) /* Of an expression. */
            plan->period_max_s = plan->queries[i].period_s;
    }
    plan->start_s = metric_round_start(request->start_time.value, plan->now_ms, period_min_s);
    plan->end_s = metric_round_end(request->end_time.value);
    return true;
}

static bool plan_options(struct api_call *call, const struct get_metric_data_request *request,
                         struct data_plan *plan)
{
    plan->points_max = METRIC_QUERY_POINTS_MAX;
    if (request->max_datapoints.present)
        plan->points_max = request->max_datapoints.value;
    if (plan->points_max < 1 || plan->points_max > METRIC_QUERY_POINTS_MAX)
        return error_validation(&call->error,
                                "The value for parameter MaxDatapoints must be "
                                "between 1 and %d.",
                                METRIC_QUERY_POINTS_MAX);
    struct bytes scan_by = request->scan_by;
    plan->ascends = scan_by.data != NULL && bytes_equal_text(scan_by, "TimestampAscending");
    if (scan_by.data != NULL && !plan->ascends && !bytes_equal_text(scan_by, "TimestampDescending"))
        return error_validation(&call->error, "The parameter ScanBy must be a value in the set "
                                              "[TimestampDescending, TimestampAscending].");
    return metric_label_parse_zone(
        call,
        request->label_options == NULL ? (struct bytes){ 0 } : request->label_options->timezone,
        &plan->zone_offset_s);
}

/* --- Pages --- */

/* How many points the metrics may have in so many seconds. */
static int64_t points_of(const struct data_plan *plan, int64_t seconds)
{
    int64_t points = 0;
    for (size_t i = 0; i < plan->count; i++) {
        int64_t period_s = plan->queries[i].source.period_s;
        if (period_s > 0)
            points += (seconds + period_s - 1) / period_s;
    }
    return points;
}

/* The least time of which all metrics have whole bins: a multiple of every period. */
static int64_t page_unit(const struct data_plan *plan)
{
    int64_t unit = 60;
    for (size_t i = 0; i < plan->count; i++) {
        int64_t period_s = plan->queries[i].source.period_s, a = unit, b = period_s;
        if (period_s == 0)
            continue;
        while (b != 0) { /* Their greatest common divisor. */
            int64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (unit / a > METRIC_PERIOD_MAX_S / period_s)
            return METRIC_PERIOD_MAX_S; /* No page is shorter than all of the time. */
        unit = unit / a * period_s;
    }
    return unit;
}

/* A token is base64 of the time at which the next page begins: 8 bytes, big-endian. */
static bool read_token(struct api_call *call, struct bytes token, const struct data_plan *plan,
                       int64_t *out)
{
    uint8_t bytes[32];
    size_t size;
    if (base64_decoded_max(token.len) <= sizeof bytes && base64_decode(token, bytes, &size) &&
        size == 8) {
        *out = (int64_t)load_u64_be(bytes);
        if (*out >= plan->start_s && *out <= plan->end_s &&
            (*out - plan->start_s) % page_unit(plan) == 0)
            return true;
    }
    return error_set(&call->error, ERROR_CW_INVALID_NEXT_TOKEN, "The NextToken is invalid.");
}

static struct bytes make_token(struct arena *arena, int64_t time_s)
{
    uint8_t bytes[8];
    store_u64_be(bytes, (uint64_t)time_s);
    char *text = arena_alloc(arena, base64_encoded_size(sizeof bytes));
    base64_encode(bytes_of(bytes, sizeof bytes), text);
    return bytes_of(text, base64_encoded_size(sizeof bytes));
}

/* Chooses the part of the time that this page shows. Sets `next` to the token's time, or -1. */
static bool plan_page(struct api_call *call, const struct get_metric_data_request *request,
                      struct data_plan *plan, int64_t *next)
{
    int64_t from_s = plan->start_s, to_s = plan->end_s, position = 0;
    *next = -1;
    if (request->next_token.data != NULL) {
        if (!read_token(call, request->next_token, plan, &position))
            return false;
        from_s = plan->ascends ? position : from_s;
        to_s = plan->ascends ? to_s : position;
    }
    int64_t points = points_of(plan, to_s - from_s), unit = page_unit(plan);
    if (points > plan->points_max) {
        int64_t units = plan->points_max / points_of(plan, unit);
        int64_t size = units * unit;
        if (plan->has_expression || units == 0)
            return error_validation(&call->error,
                                    "You have requested up to %" PRId64 " datapoints, which "
                                    "exceeds the limit of %" PRId64 ". You may reduce the "
                                    "datapoints requested by increasing Period, or decreasing the "
                                    "time range.",
                                    points, plan->points_max);
        if (plan->ascends) {
            *next = to_s = from_s + size;
        } else { /* So that the pages before have whole units. */
            int64_t whole = (to_s - plan->start_s - 1) / unit * unit;
            from_s = plan->start_s + whole - (size - unit);
            *next = from_s > plan->start_s ? from_s : -1;
            from_s = from_s > plan->start_s ? from_s : plan->start_s;
        }
    }
    plan->from_s = from_s;
    plan->to_s = to_s;
    return true;
}

/* --- The answer --- */

static bool write_points(struct json_writer *json, const struct math_series *series, bool ascends)
{
    json_write_name(json, "Timestamps");
    json_open_array(json);
    for (size_t i = 0; i < series->count; i++)
        json_write_seconds(json, series->times[ascends ? i : series->count - 1 - i] * 1000);
    json_close_array(json);
    json_write_name(json, "Values");
    json_open_array(json);
    for (size_t i = 0; i < series->count; i++)
        json_write_double(json, series->values[ascends ? i : series->count - 1 - i]);
    json_close_array(json);
    return true;
}

/* The label of one series of a query, as the request or the service names it. */
static bool label_series(struct api_call *call, const struct data_plan *plan, size_t index,
                         const struct math_series *series, bool is_array, struct bytes *out)
{
    const struct query_request *given = plan->given[index];
    struct bytes own = is_array && series->label.data != NULL ? series->label : given->id;
    if (given->metric_stat != NULL)
        own = plan->labels[index];
    const struct metric_label_options options = { .label = own,
                                                  .zone_offset_s = plan->zone_offset_s,
                                                  .now_s = plan->now_ms / 1000 };
    *out = own;
    if (given->label.data == NULL)
        return true;
    if (!metric_label_expand(call, given->label, series, &options, out))
        return false;
    bool names_own = memmem(given->label.data, given->label.len, "${LABEL}", 8) != NULL;
    if (is_array && !names_own && own.len > 0)
        *out = arena_printf(call->arena, "%.*s%s%.*s", BYTES_FMT(*out), out->len > 0 ? " " : "",
                            BYTES_FMT(own));
    return true;
}

static bool is_other_account(const struct api_call *call, const struct query_request *given)
{
    return given->account_id.data != NULL &&
           !bytes_equal_text(given->account_id, api_options(call->api)->account_id);
}

static void write_forbidden(struct json_writer *json)
{
    json_write_name(json, "Messages");
    json_open_array(json);
    json_open_object(json);
    json_write_name(json, "Code");
    json_write_text(json, "Forbidden");
    json_write_name(json, "Value");
    json_write_text(json, "Access denied when getting data - please check that this account and "
                          "the requested metric account are linked");
    json_close_object(json);
    json_close_array(json);
}

static bool write_result(struct api_call *call, struct json_writer *json,
                         const struct data_plan *plan, size_t index,
                         const struct math_series *series, bool is_array, bool is_paged)
{
    struct bytes label;
    bool is_forbidden = is_other_account(call, plan->given[index]);
    static const struct math_series empty;
    if (!label_series(call, plan, index, series, is_array, &label))
        return false;
    json_open_object(json);
    json_write_name(json, "Id");
    json_write_string(json, plan->given[index]->id);
    json_write_name(json, "Label");
    json_write_string(json, label);
    write_points(json, is_forbidden ? &empty : series, plan->ascends);
    json_write_name(json, "StatusCode");
    json_write_text(json, is_forbidden ? "Forbidden" : is_paged ? "PartialData" : "Complete");
    if (is_forbidden)
        write_forbidden(json);
    json_close_object(json);
    return true;
}

static bool write_query(struct api_call *call, struct json_writer *json,
                        const struct data_plan *plan, size_t index, bool is_paged)
{
    const struct math_value *value = &plan->queries[index].value;
    if (value->kind == MATH_SCALAR || value->kind == MATH_TEXT)
        return error_validation(&call->error,
                                "The expression '%.*s' must return a time series or array of time "
                                "series.",
                                BYTES_FMT(plan->queries[index].id));
    for (size_t i = 0; i < value->series_count; i++) {
        if (!write_result(call, json, plan, index, &value->series[i], value->kind == MATH_ARRAY,
                          is_paged))
            return false;
    }
    return true;
}

static bool is_shown(const struct query_request *given)
{
    return !given->return_data.present || given->return_data.value;
}

/* An expression that names another one has its points, however often that is done. */
static bool check_size(struct api_call *call, const struct data_plan *plan)
{
    size_t points = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const struct math_value *value = &plan->queries[i].value;
        if (!is_shown(plan->given[i]))
            continue;
        for (size_t k = 0; k < value->series_count; k++)
            points += value->series[k].count;
    }
    if (points <= METRIC_QUERY_POINTS_MAX)
        return true;
    return error_validation(&call->error,
                            "You have requested %zu datapoints, which exceeds the limit of %d. You "
                            "may reduce the datapoints requested by increasing Period, or "
                            "decreasing the time range.",
                            points, METRIC_QUERY_POINTS_MAX);
}

/* Metrics first, then expressions, each in the request's order: as the service does. */
static bool write_answer(struct api_call *call, const struct data_plan *plan, int64_t next)
{
    struct json_writer json;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "MetricDataResults");
    json_open_array(&json);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < plan->count; i++) {
            const struct query_request *given = plan->given[i];
            if (is_shown(given) && (given->metric_stat != NULL) == (round == 0) &&
                !write_query(call, &json, plan, i, next >= 0))
                return false;
        }
    }
    json_close_array(&json);
    if (next >= 0) {
        json_write_name(&json, "NextToken");
        json_write_string(&json, make_token(call->arena, next));
    }
    json_write_name(&json, "Messages");
    json_open_array(&json);
    json_close_array(&json);
    json_close_object(&json);
    return true;
}

/* --- Running --- */

static void label_metrics(struct api_call *call, struct data_plan *plan)
{
    const struct metric_source **sources =
        arena_alloc(call->arena, (plan->count + 1) * sizeof *sources);
    struct bytes *labels = arena_alloc(call->arena, (plan->count + 1) * sizeof *labels);
    size_t count = 0, at = 0;
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->given[i]->metric_stat != NULL)
            sources[count++] = &plan->queries[i].source;
    }
    metric_query_label(call->arena, sources, count, labels);
    plan->labels = arena_alloc_zeroed(call->arena, (plan->count + 1) * sizeof *plan->labels);
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->given[i]->metric_stat != NULL)
            plan->labels[i] = labels[at++];
    }
}

static bool run_queries(struct api_call *call, const struct data_plan *plan)
{
    struct series_reader *reader = metric_open_reader(call);
    struct metric_math_error problem;
    struct metric_insight insight = { .call = call,
                                      .start_s = plan->from_s,
                                      .end_s = plan->to_s,
                                      .period_s =
                                          plan->period_max_s < 60 ? 60 : plan->period_max_s };
    if (reader == NULL)
        return false;
    struct metric_query_run run = { .arena = call->arena,
                                    .reader = reader,
                                    .queries = plan->queries,
                                    .count = plan->count,
                                    .start_s = plan->from_s,
                                    .end_s = plan->to_s,
                                    .now_s = plan->now_ms / 1000,
                                    .insight = metric_insight_read,
                                    .insight_context = &insight };
    bool ok = metric_query_run(&run, &problem);
    series_reader_close(reader);
    if (ok)
        return true;
    if (run.status != ENGINE_OK)
        return metric_storage_failed(call, run.status);
    return error_validation(&call->error, "%s", problem.text);
}

static bool get_data(struct api_call *call, const struct get_metric_data_request *request)
{
    struct data_plan plan = { .given = request->queries.elements,
                              .count = request->queries.count,
                              .now_ms = clock_wall_ms(api_options(call->api)->clock) };
    int64_t next;
    if (!request->queries.present)
        return metric_missing(call, "MetricDataQueries");
    if (plan.count == 0 || plan.count > METRIC_QUERIES_MAX)
        return error_validation(&call->error,
                                "The collection MetricDataQueries must have a size "
                                "between 1 and %d.",
                                METRIC_QUERIES_MAX);
    plan.queries = arena_alloc(call->arena, plan.count * sizeof *plan.queries);
    for (size_t i = 0; i < plan.count; i++) {
        if (!plan_query(call, &plan, i))
            return false;
    }
    if (!plan_times(call, request, &plan) || !plan_options(call, request, &plan) ||
        !plan_page(call, request, &plan, &next))
        return false;
    label_metrics(call, &plan);
    return run_queries(call, &plan) && check_size(call, &plan) && write_answer(call, &plan, next);
}

static void run_get_data(struct api_call *call, const void *input)
{
    operation_end(call, get_data(call, input));
}

const struct operation op_get_metric_data = { .name = "GetMetricData",
                                              .service = OPERATION_OF_CLOUDWATCH,
                                              .kind = OPERATION_DATA,
                                              .request = &data_shape,
                                              .asks = OPERATION_ASKS_ACCOUNT,
                                              .waits = OPERATION_WAITS,
                                              .run = run_get_data };
