/* op_put_metric_data.c -- PutMetricData: samples of users' own metrics.
 *
 * Namespaces that begin with "AWS/" are the service's. The answer means that the samples are
 * durable. The service reports all faults of times together, one in each line; every other fault
 * alone.
 */
#include <float.h>
#include <math.h>
#include "api/cloudwatch/metric_request.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "cloudwatch/series.h"
#include "cloudwatch/value_histogram.h"
#include "json/writer.h"

enum {
    DATA_MAX = 1000,
    VALUES_MAX = 150,
    PAST_MAX_MS = 14 * 86400 * 1000,
    FUTURE_MAX_MS = 2 * 3600 * 1000,
};
#define VALUE_MAX 0x1p360

/* --- Shape --- */

struct statistic_set_request {
    struct shape_double sample_count, sum, minimum, maximum;
};
struct datum_request {
    struct bytes metric_name;
    struct shape_list dimensions;
    struct shape_integer timestamp;
    struct shape_double value;
    struct statistic_set_request *statistic_values;
    struct shape_list values; /* of struct shape_double */
    struct shape_list counts; /* of struct shape_double */
    struct bytes unit;
    struct shape_integer storage_resolution;
};
struct entity_request {
    char unused;
};
struct put_metric_data_request {
    struct bytes namespace;
    struct shape_list metric_data;        /* of struct datum_request * */
    struct shape_list entity_metric_data; /* of struct entity_request * */
    struct shape_boolean strict_entity_validation;
};

static const struct shape_field statistic_set_fields[] = {
    { SHAPE_FIELD(struct statistic_set_request, sample_count, "SampleCount", &metric_double) },
    { SHAPE_FIELD(struct statistic_set_request, sum, "Sum", &metric_double) },
    { SHAPE_FIELD(struct statistic_set_request, minimum, "Minimum", &metric_double) },
    { SHAPE_FIELD(struct statistic_set_request, maximum, "Maximum", &metric_double) },
};
static const struct shape statistic_set_shape = { SHAPE_STRUCTURE_OF(struct statistic_set_request,
                                                                     statistic_set_fields),
                                                  .type_name = "StatisticSet" };
static const struct shape_field datum_fields[] = {
    { SHAPE_FIELD(struct datum_request, metric_name, "MetricName", &metric_string) },
    { SHAPE_FIELD(struct datum_request, dimensions, "Dimensions", &metric_dimension_list) },
    { SHAPE_FIELD(struct datum_request, timestamp, "Timestamp", &metric_timestamp) },
    { SHAPE_FIELD(struct datum_request, value, "Value", &metric_double) },
    { SHAPE_FIELD(struct datum_request, statistic_values, "StatisticValues",
                  &statistic_set_shape) },
    { SHAPE_FIELD(struct datum_request, values, "Values", &metric_double_list) },
    { SHAPE_FIELD(struct datum_request, counts, "Counts", &metric_double_list) },
    { SHAPE_FIELD(struct datum_request, unit, "Unit", &metric_string) },
    { SHAPE_FIELD(struct datum_request, storage_resolution, "StorageResolution", &metric_integer) },
};
static const struct shape datum_shape = { SHAPE_STRUCTURE_OF(struct datum_request, datum_fields),
                                          .type_name = "MetricDatum" };
static const struct shape data_shape = { .kind = SHAPE_LIST,
                                         .element = &datum_shape,
                                         SHAPE_UNBOUNDED };
static const struct shape entity_shape = { .kind = SHAPE_STRUCTURE,
                                           .type_name = "EntityMetricData",
                                           .size = sizeof(struct entity_request),
                                           SHAPE_UNBOUNDED };
static const struct shape entities_shape = { .kind = SHAPE_LIST,
                                             .element = &entity_shape,
                                             SHAPE_UNBOUNDED };
static const struct shape_field put_fields[] = {
    { SHAPE_FIELD(struct put_metric_data_request, namespace, "Namespace", &metric_string) },
    { SHAPE_FIELD(struct put_metric_data_request, metric_data, "MetricData", &data_shape) },
    { SHAPE_FIELD(struct put_metric_data_request, entity_metric_data, "EntityMetricData",
                  &entities_shape) },
    { SHAPE_FIELD(struct put_metric_data_request, strict_entity_validation,
                  "StrictEntityValidation", &metric_boolean) },
};
static const struct shape put_shape = { SHAPE_STRUCTURE_OF(struct put_metric_data_request,
                                                           put_fields),
                                        .type_name = "PutMetricDataInput" };

/* --- Values --- */

/* One datum, and what stands before its parameters in messages. */
struct datum {
    struct api_call *call;
    const struct datum_request *given;
    struct metric_parameter prefix; /* "MetricData.member.1." */
};

static bool check_number(const struct datum *datum, const char *name,
                         const struct shape_double *number)
{
    struct metric_parameter parameter = metric_parameter("%s%s", datum->prefix.text, name);
    if (!number->present)
        return metric_missing(datum->call, parameter.text);
    if (isnan(number->value) || fabs(number->value) > VALUE_MAX)
        return metric_invalid(datum->call, "The value %s for parameter %s is invalid.",
                              isnan(number->value) ? "NaN"
                              : isinf(number->value)
                                  ? (number->value > 0 ? "Infinity" : "-Infinity")
                                  : "beyond 2^360",
                              parameter.text);
    return true;
}

static bool read_statistic_set(const struct datum *datum, struct sample_set *out)
{
    const struct statistic_set_request *given = datum->given->statistic_values;
    if (!check_number(datum, "StatisticValues.SampleCount", &given->sample_count) ||
        !check_number(datum, "StatisticValues.Sum", &given->sum) ||
        !check_number(datum, "StatisticValues.Minimum", &given->minimum) ||
        !check_number(datum, "StatisticValues.Maximum", &given->maximum))
        return false;
    if (given->sample_count.value <= 0)
        return metric_invalid(datum->call,
                              "The parameter %sStatisticValues.SampleCount must be greater than 0.",
                              datum->prefix.text);
    if (given->maximum.value < given->minimum.value)
        return metric_invalid(datum->call,
                              "The parameter %sStatisticValues.Maximum must be greater than "
                              "%sStatisticValues.Minimum.",
                              datum->prefix.text, datum->prefix.text);
    *out = sample_set_of_statistics(given->sample_count.value, given->sum.value,
                                    given->minimum.value, given->maximum.value);
    return true;
}

static bool read_values(const struct datum *datum, struct sample_set *out)
{
    const struct shape_list *values = &datum->given->values, *counts = &datum->given->counts;
    const struct shape_double *value = values->elements, *count = counts->elements;
    if (values->count > VALUES_MAX)
        return metric_invalid(datum->call,
                              "The collection %sValues must not have a size greater than %d.",
                              datum->prefix.text, VALUES_MAX);
    if (counts->present && counts->count != values->count)
        return metric_invalid(datum->call,
                              "The parameters %sValues and %sCounts must be of the "
                              "same size.",
                              datum->prefix.text, datum->prefix.text);
    *out = (struct sample_set){ 0 };
    for (size_t i = 0; i < values->count; i++) {
        struct metric_parameter name = metric_parameter("Values.member.%zu", i + 1);
        struct metric_parameter of_count = metric_parameter("Counts.member.%zu", i + 1);
        double times = counts->present ? count[i].value : 1;
        if (!check_number(datum, name.text, &value[i]) ||
            (counts->present && !check_number(datum, of_count.text, &count[i])))
            return false;
        if (times < 0)
            return metric_invalid(datum->call, "The parameter %s%s must be at least 0.",
                                  datum->prefix.text, of_count.text);
        if (times == 0)
            continue;
        const struct sample_set one = sample_set_of_value(value[i].value, times);
        sample_set_add(datum->call->arena, out, &one);
    }
    return true;
}

/* The samples of a datum, in one of three forms; an empty set if all counts are 0. */
static bool read_set(const struct datum *datum, struct sample_set *out)
{
    const struct datum_request *given = datum->given;
    const char *prefix = datum->prefix.text;
    struct metric_parameter value = metric_parameter("%sValue", prefix);
    struct metric_parameter values = metric_parameter("%sValues", prefix);
    struct metric_parameter set = metric_parameter("%sStatisticValues", prefix);
    if (given->value.present && given->values.present)
        return metric_exclusive(datum->call, value.text, values.text);
    if (given->value.present && given->statistic_values != NULL)
        return metric_exclusive(datum->call, value.text, set.text);
    if (given->counts.present && !given->values.present)
        return error_set(&datum->call->error, ERROR_CW_INVALID_PARAMETER_COMBINATION,
                         "The parameter values must appears when the counts parameter is "
                         "specified.");
    if (given->statistic_values != NULL)
        return read_statistic_set(datum, out); /* Even if there are values: as observed. */
    if (given->value.present) {
        if (!check_number(datum, "Value", &given->value))
            return false;
        *out = sample_set_of_value(given->value.value, 1);
        return true;
    }
    if (given->values.count == 0)
        return error_set(&datum->call->error, ERROR_CW_INVALID_PARAMETER_COMBINATION,
                         "At least one of the parameters must be specified.");
    return read_values(datum, out);
}

/* --- Data --- */

static bool read_datum(const struct datum *datum, struct bytes namespace, int64_t now_ms,
                       struct series_sample *out)
{
    const struct datum_request *given = datum->given;
    struct metric_parameter name = metric_parameter("%sMetricName", datum->prefix.text);
    struct metric_parameter unit = metric_parameter("%sUnit", datum->prefix.text);
    *out = (struct series_sample){ .key = { .namespace = namespace, .name = given->metric_name } };
    if (!metric_check_name(datum->call, name.text, given->metric_name, METRIC_NAME_LENGTH_MAX) ||
        !metric_check_dimensions(datum->call, datum->prefix.text, &given->dimensions, &out->key) ||
        !read_set(datum, &out->set) ||
        !metric_check_unit(datum->call, unit.text, given->unit, UNIT_NONE, &out->key.unit))
        return false;
    int64_t resolution = given->storage_resolution.present ? given->storage_resolution.value : 60;
    if (resolution != 1 && resolution != 60)
        return metric_invalid(datum->call,
                              "The parameter %sStorageResolution must be a value in the set "
                              "[ 1, 60 ].",
                              datum->prefix.text);
    int64_t time_ms = given->timestamp.present ? given->timestamp.value : now_ms;
    out->is_high_resolution = resolution == 1;
    out->time_s = time_ms < 0 ? 0 : time_ms / 1000;
    return true;
}

/* All data with a time out of bounds, one in each line. */
static bool check_times(struct api_call *call, const struct shape_list *data, int64_t now_ms)
{
    struct datum_request *const *elements = data->elements;
    struct buffer message;
    buffer_init(&message, call->arena);
    for (size_t i = 0; i < data->count; i++) {
        if (elements[i] == NULL || !elements[i]->timestamp.present)
            continue;
        int64_t time_ms = elements[i]->timestamp.value;
        const char *rule = time_ms < now_ms - PAST_MAX_MS ? "within the past two weeks"
                           : time_ms > now_ms + FUTURE_MAX_MS
                               ? "no more than two hours in the future"
                               : NULL;
        if (rule == NULL)
            continue;
        buffer_append_bytes(&message,
                            arena_printf(call->arena,
                                         "%sThe parameter MetricData.member.%zu.Timestamp must "
                                         "specify a time %s.",
                                         message.len == 0 ? "" : "\n", i + 1, rule));
    }
    if (message.len == 0)
        return true;
    return error_set_bytes(&call->error, ERROR_CW_INVALID_PARAMETER_VALUE, buffer_bytes(&message));
}

static bool check_request(struct api_call *call, const struct put_metric_data_request *request)
{
    struct bytes namespace = request->namespace;
    if (!metric_check_name(call, "Namespace", namespace, METRIC_NAME_LENGTH_MAX))
        return false;
    if (bytes_starts_with(namespace, BYTES("AWS/")))
        return metric_invalid(call, "The value AWS/ for parameter Namespace is invalid.");
    if (namespace.data[0] == ':')
        return metric_invalid(call, "The value %.*s for parameter Namespace is invalid.",
                              BYTES_FMT(namespace));
    if (request->entity_metric_data.count > 0)
        return metric_invalid(call, "EntityMetricData is not supported: put the metrics into "
                                    "MetricData");
    if (request->metric_data.count == 0)
        return error_set(&call->error, ERROR_CW_MISSING_PARAMETER,
                         "At least one MetricDatum object must be present in the request.");
    if (request->metric_data.count > DATA_MAX)
        return metric_invalid(
            call, "The collection MetricData must not have a size greater than %d.", DATA_MAX);
    return true;
}

static bool store(struct api_call *call, const struct series_sample *samples, size_t count)
{
    enum engine_status status;
    size_t refused = 0;
    enum series_outcome outcome =
        series_write(api_series(call->api), call->arena, samples, count, NULL, &refused, &status);
    if (outcome == SERIES_FAILED)
        return metric_storage_failed(call, status);
    if (outcome == SERIES_FULL)
        return error_set(&call->error, ERROR_CW_LIMIT_EXCEEDED,
                         "%zu of %zu samples were not stored: there is no room for more metrics of "
                         "your own. Raise metrics-series-max, half of which is for them, or use "
                         "fewer names and dimensions",
                         refused, count);
    return true;
}

static bool put(struct api_call *call, const struct put_metric_data_request *request)
{
    int64_t now_ms = clock_wall_ms(api_options(call->api)->clock);
    struct datum_request *const *elements = request->metric_data.elements;
    size_t count = 0;
    if (!check_request(call, request))
        return false;
    struct series_sample *samples =
        arena_alloc(call->arena, request->metric_data.count * sizeof *samples);
    for (size_t i = 0; i < request->metric_data.count; i++) {
        static const struct datum_request nothing;
        const struct datum datum = { .call = call,
                                     .given = elements[i] == NULL ? &nothing : elements[i],
                                     .prefix = metric_parameter("MetricData.member.%zu.", i + 1) };
        if (!read_datum(&datum, request->namespace, now_ms, &samples[count]))
            return false;
        count += samples[count].set.count > 0 ? 1 : 0;
    }
    if (!check_times(call, &request->metric_data, now_ms))
        return false;
    if (!store(call, samples, count))
        return false;
    buffer_append_bytes(&call->response, BYTES("{}"));
    return true;
}

static void run_put(struct api_call *call, const void *input)
{
    operation_end(call, put(call, input));
}

const struct operation op_put_metric_data = { .name = "PutMetricData",
                                              .service = OPERATION_OF_CLOUDWATCH,
                                              .kind = OPERATION_DATA,
                                              .request = &put_shape,
                                              .asks = OPERATION_ASKS_ACCOUNT,
                                              .waits = OPERATION_WAITS,
                                              .run = run_put };
