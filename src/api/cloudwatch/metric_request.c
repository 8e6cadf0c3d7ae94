/* metric_request.c -- see metric_request.h. */
#include "api/cloudwatch/metric_request.h"
#include <stdarg.h>
#include <stdio.h>
#include "api/operation.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "json/utf8.h"
#include "json/writer.h"
#include "table/storage_error.h"

/* --- Shapes --- */

const struct shape metric_string = { .kind = SHAPE_STRING, SHAPE_UNBOUNDED };
const struct shape metric_double = { .kind = SHAPE_DOUBLE, SHAPE_UNBOUNDED };
const struct shape metric_integer = { .kind = SHAPE_INTEGER, SHAPE_UNBOUNDED };
const struct shape metric_boolean = { .kind = SHAPE_BOOLEAN, SHAPE_UNBOUNDED };
const struct shape metric_timestamp = { .kind = SHAPE_TIMESTAMP, SHAPE_UNBOUNDED };
const struct shape metric_string_list = { .kind = SHAPE_LIST,
                                          .element = &metric_string,
                                          SHAPE_UNBOUNDED };
const struct shape metric_double_list = { .kind = SHAPE_LIST,
                                          .element = &metric_double,
                                          SHAPE_UNBOUNDED };
static const struct shape_field dimension_fields[] = {
    { SHAPE_FIELD(struct dimension_request, name, "Name", &metric_string) },
    { SHAPE_FIELD(struct dimension_request, value, "Value", &metric_string) },
};
static const struct shape dimension_shape = {
    SHAPE_STRUCTURE_OF(struct dimension_request, dimension_fields), .type_name = "Dimension"
};
const struct shape metric_dimension_list = { .kind = SHAPE_LIST,
                                             .element = &dimension_shape,
                                             SHAPE_UNBOUNDED };

/* --- Messages --- */

struct metric_parameter metric_parameter(const char *format, ...)
{
    struct metric_parameter out;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out.text, sizeof out.text, format, arguments);
    va_end(arguments);
    return out;
}

bool metric_missing(struct api_call *call, const char *parameter)
{
    return error_set(&call->error, ERROR_CW_MISSING_PARAMETER, "The parameter %s is required.",
                     parameter);
}

bool metric_invalid(struct api_call *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct bytes message = arena_vprintf(call->arena, format, arguments);
    va_end(arguments);
    return error_set_bytes(&call->error, ERROR_CW_INVALID_PARAMETER_VALUE, message);
}

bool metric_exclusive(struct api_call *call, const char *one, const char *other)
{
    return error_set(&call->error, ERROR_CW_INVALID_PARAMETER_COMBINATION,
                     "The parameters %s and %s are mutually exclusive and you have specified both.",
                     one, other);
}

bool metric_storage_failed(struct api_call *call, enum engine_status status)
{
    storage_error_set_for_table(&call->error, status, operation_name(call->operation));
    if (call->error.code == ERROR_INTERNAL)
        call->error.code = ERROR_CW_INTERNAL;
    return false;
}

/* --- Values --- */

static bool is_ascii(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < 0x20 || text.data[i] > 0x7E)
            return false;
    }
    return true;
}

bool metric_check_name(struct api_call *call, const char *parameter, struct bytes name,
                       size_t length_max)
{
    if (name.data == NULL)
        return metric_missing(call, parameter);
    if (name.len == 0)
        return metric_invalid(call, "The parameter %s must not be empty.", parameter);
    if (utf8_utf16_length(name) > length_max)
        return metric_invalid(call, "The parameter %s must be shorter than %zu characters.",
                              parameter, length_max + 1);
    if (!is_ascii(name))
        return metric_invalid(call, "The parameter %s must contain only ASCII characters.",
                              parameter);
    return true;
}

bool metric_check_unit(struct api_call *call, const char *parameter, struct bytes name,
                       enum unit otherwise, enum unit *out)
{
    struct buffer names;
    if (name.data == NULL) {
        *out = otherwise;
        return true;
    }
    if (unit_parse(name, out))
        return true;
    buffer_init(&names, call->arena);
    for (size_t i = 0; unit_names[i] != NULL; i++) {
        if (i > 0)
            buffer_append_bytes(&names, BYTES(", "));
        buffer_append_bytes(&names, bytes_from_text(unit_names[i]));
    }
    return metric_invalid(call, "The parameter %s must be a value in the set [%.*s].", parameter,
                          BYTES_FMT(buffer_bytes(&names)));
}

bool metric_check_period(struct api_call *call, const char *parameter,
                         const struct shape_integer *period)
{
    int64_t value = period->value;
    if (!period->present)
        return metric_missing(call, parameter);
    if (value == 1 || value == 5 || value == 10 || value == 20 || value == 30 ||
        (value >= 60 && value % 60 == 0 && value <= METRIC_PERIOD_MAX_S))
        return true;
    return metric_invalid(call,
                          "The parameter %s must be a value in the set [1, 5, 10, 20, 30] or a "
                          "multiple of 60.",
                          parameter);
}

bool metric_check_dimensions(struct api_call *call, const char *prefix,
                             const struct shape_list *dimensions, struct series_key *out)
{
    struct dimension_request *const *elements = dimensions->elements;
    if (dimensions->count > SERIES_DIMENSIONS_MAX)
        return metric_invalid(call,
                              "The collection %sDimensions must not have a size greater than "
                              "%d.",
                              prefix, SERIES_DIMENSIONS_MAX);
    struct series_dimension *checked =
        arena_alloc(call->arena, (dimensions->count + 1) * sizeof *checked);
    for (size_t i = 0; i < dimensions->count; i++) {
        struct dimension_request nothing = { 0 };
        const struct dimension_request *given = elements[i] == NULL ? &nothing : elements[i];
        struct metric_parameter name =
            metric_parameter("%sDimensions.member.%zu.Name", prefix, i + 1);
        struct metric_parameter value =
            metric_parameter("%sDimensions.member.%zu.Value", prefix, i + 1);
        if (!metric_check_name(call, name.text, given->name, METRIC_NAME_LENGTH_MAX) ||
            !metric_check_name(call, value.text, given->value, METRIC_DIMENSION_VALUE_LENGTH_MAX))
            return false;
        if (given->name.data[0] == ':')
            return metric_invalid(call, "The parameter %s must not begin with a colon.", name.text);
        for (size_t k = 0; k < i; k++) {
            if (bytes_equal(checked[k].name, given->name))
                return metric_invalid(call, "No metric may specify the same dimension name twice.");
        }
        checked[i] = (struct series_dimension){ .name = given->name, .value = given->value };
    }
    out->dimensions = checked;
    out->dimension_count = dimensions->count;
    return true;
}

bool metric_check_key(struct api_call *call, const char *prefix, struct bytes namespace,
                      struct bytes name, const struct shape_list *dimensions,
                      struct series_key *out)
{
    struct metric_parameter of_namespace = metric_parameter("%sNamespace", prefix);
    struct metric_parameter of_name = metric_parameter("%sMetricName", prefix);
    *out = (struct series_key){ .namespace = namespace, .name = name };
    if (!metric_check_name(call, of_namespace.text, namespace, METRIC_NAME_LENGTH_MAX) ||
        !metric_check_name(call, of_name.text, name, METRIC_NAME_LENGTH_MAX))
        return false;
    if (namespace.data[0] == ':')
        return metric_invalid(call, "The value %.*s for parameter %s is invalid.",
                              BYTES_FMT(namespace), of_namespace.text);
    return metric_check_dimensions(call, prefix, dimensions, out);
}

/* --- Time --- */

int64_t metric_round_start(int64_t start_ms, int64_t now_ms, int64_t period_s)
{
    int64_t start_s = start_ms < 0 ? 0 : start_ms / 1000;
    int64_t age_s = (now_ms - start_ms) / 1000;
    int64_t step_s = 60;
    if (age_s > SERIES_RETENTION_300S_S)
        step_s = 3600;
    else if (age_s > SERIES_RETENTION_60S_S)
        step_s = 300;
    else if (period_s < 60 && age_s <= SERIES_RETENTION_1S_S)
        step_s = period_s;
    return start_s - start_s % step_s;
}

int64_t metric_round_end(int64_t end_ms)
{
    return end_ms <= 0 ? 0 : (end_ms - 1) / 1000 + 1;
}

/* --- Samples --- */

struct series_reader *metric_open_reader(struct api_call *call)
{
    enum engine_status status;
    struct series_reader *reader = series_reader_open(api_series(call->api), call->arena, &status);
    if (reader == NULL)
        metric_storage_failed(call, status);
    return reader;
}

void metric_write_key(struct json_writer *json, const struct series_key *key)
{
    json_open_object(json);
    json_write_name(json, "Namespace");
    json_write_string(json, key->namespace);
    json_write_name(json, "MetricName");
    json_write_string(json, key->name);
    json_write_name(json, "Dimensions");
    json_open_array(json);
    for (size_t i = 0; i < key->dimension_count; i++) {
        json_open_object(json);
        json_write_name(json, "Name");
        json_write_string(json, key->dimensions[i].name);
        json_write_name(json, "Value");
        json_write_string(json, key->dimensions[i].value);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}
