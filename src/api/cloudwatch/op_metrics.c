/* op_metrics.c -- ListMetrics and GetMetricStatistics. */
#include <inttypes.h>
#include "api/cloudwatch/metric_request.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/clock.h"
#include "cloudwatch/series.h"
#include "cloudwatch/statistic.h"
#include "json/base64.h"
#include "json/writer.h"

static int64_t now_ms(const struct api_call *call)
{
    return clock_wall_ms(api_options(call->api)->clock);
}

/* --- ListMetrics --- */

enum {
    LIST_PAGE = 500,
    LIST_DIMENSIONS_MAX = 10,
    LIST_RECENT_S = 3 * 3600,
    /* The last sample of a series is known to the hour after a restart. */
    LIST_RECENT_SLACK_S = 3600,
};

struct list_metrics_request {
    struct bytes namespace;
    struct bytes metric_name;
    struct shape_list dimensions;
    struct bytes next_token;
    struct bytes recently_active;
    struct shape_boolean include_linked_accounts;
    struct bytes owning_account;
};

static const struct shape_field list_fields[] = {
    { SHAPE_FIELD(struct list_metrics_request, namespace, "Namespace", &metric_string) },
    { SHAPE_FIELD(struct list_metrics_request, metric_name, "MetricName", &metric_string) },
    { SHAPE_FIELD(struct list_metrics_request, dimensions, "Dimensions", &metric_dimension_list) },
    { SHAPE_FIELD(struct list_metrics_request, next_token, "NextToken", &metric_string) },
    { SHAPE_FIELD(struct list_metrics_request, recently_active, "RecentlyActive", &metric_string) },
    { SHAPE_FIELD(struct list_metrics_request, include_linked_accounts, "IncludeLinkedAccounts",
                  &metric_boolean) },
    { SHAPE_FIELD(struct list_metrics_request, owning_account, "OwningAccount", &metric_string) },
};
static const struct shape list_shape = {
    SHAPE_STRUCTURE_OF(struct list_metrics_request, list_fields), .type_name = "ListMetricsInput"
};

/* A token is base64 of the last series that was shown: 8 bytes, big-endian. */
static struct bytes make_token(struct arena *arena, uint64_t position)
{
    uint8_t bytes[8];
    store_u64_be(bytes, position);
    char *text = arena_alloc(arena, base64_encoded_size(sizeof bytes));
    base64_encode(bytes_of(bytes, sizeof bytes), text);
    return bytes_of(text, base64_encoded_size(sizeof bytes));
}

static bool read_token(struct api_call *call, struct bytes token, uint64_t *position)
{
    uint8_t bytes[32];
    size_t size;
    *position = 0;
    if (token.data == NULL)
        return true;
    if (base64_decoded_max(token.len) > sizeof bytes || !base64_decode(token, bytes, &size) ||
        size != 8 || (*position = load_u64_be(bytes)) == 0)
        return metric_invalid(call, "Request parameter NextToken is invalid");
    return true;
}

static bool read_filter(struct api_call *call, const struct list_metrics_request *request,
                        struct series_filter *filter)
{
    struct dimension_request *const *elements = request->dimensions.elements;
    size_t count = request->dimensions.count;
    *filter = (struct series_filter){ .namespace = request->namespace,
                                      .name = request->metric_name,
                                      .dimension_count = count,
                                      .active_since_s = now_ms(call) / 1000 - SERIES_LISTED_S };
    if (request->recently_active.data != NULL) {
        if (!bytes_equal_text(request->recently_active, "PT3H"))
            return metric_invalid(call, "Request parameter recentlyActive value is invalid");
        filter->active_since_s = now_ms(call) / 1000 - LIST_RECENT_S - LIST_RECENT_SLACK_S;
    }
    if (count > LIST_DIMENSIONS_MAX)
        return metric_invalid(call,
                              "The collection Dimensions must not have a size greater than "
                              "%d.",
                              LIST_DIMENSIONS_MAX);
    struct series_dimension *dimensions =
        arena_alloc(call->arena, (count + 1) * sizeof *dimensions);
    for (size_t i = 0; i < count; i++) {
        struct metric_parameter name = metric_parameter("Dimensions.member.%zu.Name", i + 1);
        if (elements[i] == NULL || elements[i]->name.data == NULL)
            return metric_missing(call, name.text);
        dimensions[i] = (struct series_dimension){ elements[i]->name, elements[i]->value };
    }
    filter->dimensions = dimensions;
    return true;
}

static void write_list(struct api_call *call, const struct list_metrics_request *request,
                       const struct series_keys *keys, uint64_t token)
{
    struct json_writer json;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "Metrics");
    json_open_array(&json);
    for (size_t i = 0; i < keys->count; i++)
        metric_write_key(&json, &keys->keys[i]);
    json_close_array(&json);
    if (token != 0) {
        json_write_name(&json, "NextToken");
        json_write_string(&json, make_token(call->arena, token));
    }
    if (request->include_linked_accounts.value) {
        json_write_name(&json, "OwningAccounts");
        json_open_array(&json);
        for (size_t i = 0; i < keys->count; i++)
            json_write_text(&json, api_options(call->api)->account_id);
        json_close_array(&json);
    }
    json_close_object(&json);
}

static bool list_metrics(struct api_call *call, const struct list_metrics_request *request)
{
    struct series_filter filter;
    struct series_keys keys = { 0 };
    uint64_t token;
    if (!read_filter(call, request, &filter) || !read_token(call, request->next_token, &token))
        return false;
    /* No other account is linked with this one. */
    bool is_other = request->owning_account.data != NULL &&
                    !bytes_equal_text(request->owning_account, api_options(call->api)->account_id);
    struct series_reader *reader = metric_open_reader(call);
    if (reader == NULL)
        return false;
    if (is_other)
        token = 0;
    else
        series_list(reader, &filter, LIST_PAGE, &token, &keys);
    series_reader_close(reader);
    write_list(call, request, &keys, token);
    return true;
}

static void run_list_metrics(struct api_call *call, const void *input)
{
    operation_end(call, list_metrics(call, input));
}

const struct operation op_list_metrics = { .name = "ListMetrics",
                                           .service = OPERATION_OF_CLOUDWATCH,
                                           .kind = OPERATION_DATA,
                                           .request = &list_shape,
                                           .asks = OPERATION_ASKS_ACCOUNT,
                                           .waits = OPERATION_WAITS,
                                           .run = run_list_metrics };

/* --- GetMetricStatistics --- */

enum { STATISTICS_MAX = 5, EXTENDED_STATISTICS_MAX = 10, POINTS_MAX = 1440 };

struct get_metric_statistics_request {
    struct bytes namespace;
    struct bytes metric_name;
    struct shape_list dimensions;
    struct shape_integer start_time;
    struct shape_integer end_time;
    struct shape_integer period;
    struct shape_list statistics;          /* of struct bytes */
    struct shape_list extended_statistics; /* of struct bytes */
    struct bytes unit;
};

static const struct shape_field statistics_fields[] = {
    { SHAPE_FIELD(struct get_metric_statistics_request, namespace, "Namespace", &metric_string) },
    { SHAPE_FIELD(struct get_metric_statistics_request, metric_name, "MetricName",
                  &metric_string) },
    { SHAPE_FIELD(struct get_metric_statistics_request, dimensions, "Dimensions",
                  &metric_dimension_list) },
    { SHAPE_FIELD(struct get_metric_statistics_request, start_time, "StartTime",
                  &metric_timestamp) },
    { SHAPE_FIELD(struct get_metric_statistics_request, end_time, "EndTime", &metric_timestamp) },
    { SHAPE_FIELD(struct get_metric_statistics_request, period, "Period", &metric_integer) },
    { SHAPE_FIELD(struct get_metric_statistics_request, statistics, "Statistics",
                  &metric_string_list) },
    { SHAPE_FIELD(struct get_metric_statistics_request, extended_statistics, "ExtendedStatistics",
                  &metric_string_list) },
    { SHAPE_FIELD(struct get_metric_statistics_request, unit, "Unit", &metric_string) },
};
static const struct shape statistics_shape = {
    SHAPE_STRUCTURE_OF(struct get_metric_statistics_request, statistics_fields),
    .type_name = "GetMetricStatisticsInput",
};

struct statistics_plan {
    struct series_key key;
    int64_t start_s, end_s, period_s;
    bool is_extended;
    size_t count;
    struct statistic statistics[EXTENDED_STATISTICS_MAX];
    const struct bytes *names;
};

static bool plan_statistics(struct api_call *call,
                            const struct get_metric_statistics_request *request,
                            struct statistics_plan *plan)
{
    if (request->statistics.count > 0 && request->extended_statistics.count > 0)
        return metric_exclusive(call, "Statistics", "ExtendedStatistics");
    plan->is_extended = request->extended_statistics.count > 0;
    const struct shape_list *list =
        plan->is_extended ? &request->extended_statistics : &request->statistics;
    size_t max = plan->is_extended ? EXTENDED_STATISTICS_MAX : STATISTICS_MAX;
    const char *name = plan->is_extended ? "ExtendedStatistics" : "Statistics";
    if (list->count == 0)
        return error_set(&call->error, ERROR_CW_INVALID_PARAMETER_COMBINATION,
                         "Must specify either Statistics or ExtendedStatistics.");
    if (list->count > max)
        return metric_invalid(call, "The collection %s must not have a size greater than %zu.",
                              name, max);
    plan->count = list->count;
    plan->names = list->elements;
    for (size_t i = 0; i < list->count; i++) {
        struct bytes text = plan->names[i];
        if (plan->is_extended && !statistic_parse_extended(text, &plan->statistics[i]))
            return metric_invalid(call,
                                  "The value %.*s for parameter ExtendedStatistics.member.%zu is "
                                  "not supported.",
                                  (int)(text.len < 64 ? text.len : 64), (const char *)text.data,
                                  i + 1);
        if (!plan->is_extended && !statistic_parse_simple(text, &plan->statistics[i]))
            return metric_invalid(call,
                                  "The parameter Statistics.member.%zu must be a value in the set "
                                  "[SampleCount, Average, Sum, Minimum, Maximum].",
                                  i + 1);
    }
    return true;
}

static bool plan_times(struct api_call *call, const struct get_metric_statistics_request *request,
                       struct statistics_plan *plan)
{
    if (!request->start_time.present)
        return metric_missing(call, "StartTime");
    if (!request->end_time.present)
        return metric_missing(call, "EndTime");
    if (!metric_check_period(call, "Period", &request->period))
        return false;
    if (request->start_time.value >= request->end_time.value)
        return metric_invalid(call,
                              "The parameter StartTime must be less than the parameter EndTime.");
    plan->period_s = request->period.value;
    plan->start_s = metric_round_start(request->start_time.value, now_ms(call), plan->period_s);
    plan->end_s = metric_round_end(request->end_time.value);
    int64_t points = (plan->end_s - plan->start_s + plan->period_s - 1) / plan->period_s;
    if (points > POINTS_MAX)
        return error_set(&call->error, ERROR_CW_INVALID_PARAMETER_COMBINATION,
                         "You have requested up to %" PRId64 " datapoints, which exceeds the limit "
                         "of %d. You may reduce the datapoints requested by increasing Period, or "
                         "decreasing the time range.",
                         points, POINTS_MAX);
    return true;
}

static void write_values(struct json_writer *json, const struct statistics_plan *plan,
                         const struct sample_set *set)
{
    if (plan->is_extended) {
        json_write_name(json, "ExtendedStatistics");
        json_open_object(json);
    }
    for (size_t i = 0; i < plan->count; i++) {
        double value;
        if (!statistic_value(&plan->statistics[i], set, &value))
            continue;
        json_write_name_bytes(json, plan->names[i]);
        json_write_double(json, value);
    }
    if (plan->is_extended)
        json_close_object(json);
}

/* Whether the set tells any of the statistics: percentiles need its distribution. */
static bool has_values(const struct statistics_plan *plan, const struct sample_set *set)
{
    double value;
    for (size_t i = 0; i < plan->count; i++) {
        if (statistic_value(&plan->statistics[i], set, &value))
            return true;
    }
    return false;
}

static bool write_points(struct api_call *call, struct series_reader *reader,
                         struct json_writer *json, const struct statistics_plan *plan)
{
    enum unit units[UNIT_KIND_COUNT];
    size_t unit_count = series_units(reader, &plan->key, units);
    for (size_t i = 0; i < unit_count; i++) {
        struct series_key key = plan->key;
        struct series_bins bins;
        if (key.unit != UNIT_ANY && key.unit != units[i])
            continue;
        key.unit = units[i];
        enum engine_status status =
            series_read(reader, &key, plan->period_s, plan->start_s, plan->end_s, &bins);
        if (status != ENGINE_OK)
            return metric_storage_failed(call, status);
        for (size_t k = 0; k < bins.count; k++) {
            if (!has_values(plan, &bins.bins[k].set))
                continue;
            json_open_object(json);
            json_write_name(json, "Timestamp");
            json_write_seconds(json, bins.bins[k].start_s * 1000);
            write_values(json, plan, &bins.bins[k].set);
            json_write_name(json, "Unit");
            json_write_text(json, unit_name(units[i]));
            json_close_object(json);
        }
    }
    return true;
}

static bool get_statistics(struct api_call *call,
                           const struct get_metric_statistics_request *request)
{
    struct statistics_plan plan;
    struct json_writer json;
    if (!metric_check_key(call, "", request->namespace, request->metric_name, &request->dimensions,
                          &plan.key) ||
        !plan_times(call, request, &plan) || !plan_statistics(call, request, &plan) ||
        !metric_check_unit(call, "Unit", request->unit, UNIT_ANY, &plan.key.unit))
        return false;
    struct series_reader *reader = metric_open_reader(call);
    if (reader == NULL)
        return false;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "Label");
    json_write_string(&json, request->metric_name);
    json_write_name(&json, "Datapoints");
    json_open_array(&json);
    bool ok = write_points(call, reader, &json, &plan);
    json_close_array(&json);
    json_close_object(&json);
    series_reader_close(reader);
    return ok;
}

static void run_get_statistics(struct api_call *call, const void *input)
{
    operation_end(call, get_statistics(call, input));
}

const struct operation op_get_metric_statistics = { .name = "GetMetricStatistics",
                                                    .service = OPERATION_OF_CLOUDWATCH,
                                                    .kind = OPERATION_DATA,
                                                    .request = &statistics_shape,
                                                    .asks = OPERATION_ASKS_ACCOUNT,
                                                    .waits = OPERATION_WAITS,
                                                    .run = run_get_statistics };
