/* metric_label.c -- see metric_label.h. */
#include "api/cloudwatch/metric_label.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "api/operation.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "cloudwatch/metric_math.h"
#include "cloudwatch/metric_query.h"
#include "json/writer.h"

bool metric_label_parse_zone(struct api_call *call, struct bytes text, int64_t *offset_s)
{
    bool is_valid = text.len == 5 && (text.data[0] == '+' || text.data[0] == '-');
    *offset_s = 0;
    if (text.data == NULL)
        return true;
    for (size_t i = 1; i < 5 && is_valid; i++)
        is_valid = isdigit(text.data[i]);
    if (!is_valid)
        return error_validation(&call->error, "LabelOptions.Timezone must look like +0130");
    int64_t hours = (text.data[1] - '0') * 10 + (text.data[2] - '0');
    int64_t minutes = (text.data[3] - '0') * 10 + (text.data[4] - '0');
    *offset_s = (hours * 60 + minutes) * 60 * (text.data[0] == '-' ? -1 : 1);
    return true;
}

/* --- Properties of the points --- */

/* Points that properties are named after. */
struct extremes {
    size_t first, last, least, greatest;
};

static struct extremes find_extremes(const struct math_series *series)
{
    struct extremes found = { .last = series->count - 1 };
    for (size_t i = 1; i < series->count; i++) {
        if (series->values[i] < series->values[found.least])
            found.least = i;
        if (series->values[i] > series->values[found.greatest])
            found.greatest = i;
    }
    return found;
}

static struct bytes number_text(struct arena *arena, double value)
{
    if (value == (double)(int64_t)value && value > -1e15 && value < 1e15)
        return arena_printf(arena, "%" PRId64, (int64_t)value);
    char *text = arena_alloc(arena, JSON_DOUBLE_TEXT_SIZE);
    json_format_double(value, text);
    return bytes_from_text(text);
}

static struct bytes time_text(struct arena *arena, int64_t time_s, int64_t zone_offset_s)
{
    struct tm time = clock_utc(time_s + zone_offset_s);
    char text[32];
    size_t size = strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &time);
    return arena_copy(arena, bytes_of(text, size));
}

/* FIRST, LAST_TIME, MAX_TIME_RELATIVE, ... False: none of these. */
static bool point_property(struct arena *arena, struct bytes name, const struct math_series *series,
                           const struct metric_label_options *options, struct bytes *out)
{
    struct extremes found = find_extremes(series);
    const struct {
        const char *name;
        size_t at;
    } points[] = { { "FIRST", found.first },
                   { "LAST", found.last },
                   { "MIN", found.least },
                   { "MAX", found.greatest } };
    for (size_t i = 0; i < COUNT_OF(points); i++) {
        struct bytes prefix = bytes_from_text(points[i].name);
        if (!bytes_starts_with(name, prefix))
            continue;
        struct bytes rest = bytes_of(name.data + prefix.len, name.len - prefix.len);
        int64_t time_s = series->times[points[i].at];
        if (rest.len == 0)
            *out = number_text(arena, series->values[points[i].at]);
        else if (bytes_equal_text(rest, "_TIME"))
            *out = time_text(arena, time_s, options->zone_offset_s);
        else if (bytes_equal_text(rest, "_TIME_RELATIVE"))
            *out = arena_printf(arena, "%" PRId64 "s", (int64_t)llabs(options->now_s - time_s));
        else
            continue;
        return true;
    }
    return false;
}

static bool value_property(struct arena *arena, struct bytes name, const struct math_series *series,
                           struct bytes *out)
{
    struct extremes found = find_extremes(series);
    const double *values = series->values;
    const int64_t *times = series->times;
    double sum = 0;
    for (size_t i = 0; i < series->count; i++)
        sum += values[i];
    if (bytes_equal_text(name, "SUM"))
        *out = number_text(arena, sum);
    else if (bytes_equal_text(name, "AVG"))
        *out = number_text(arena, sum / (double)series->count);
    else if (bytes_equal_text(name, "FIRST_LAST_RANGE"))
        *out = number_text(arena, values[found.last] - values[found.first]);
    else if (bytes_equal_text(name, "MIN_MAX_RANGE"))
        *out = number_text(arena, values[found.greatest] - values[found.least]);
    else if (bytes_equal_text(name, "FIRST_LAST_TIME_RANGE"))
        *out = arena_printf(arena, "%" PRId64 "s", times[found.last] - times[found.first]);
    else if (bytes_equal_text(name, "MIN_MAX_TIME_RANGE"))
        *out = arena_printf(arena, "%" PRId64 "s",
                            (int64_t)llabs(times[found.greatest] - times[found.least]));
    else
        return false;
    return true;
}

static bool is_point_property(struct bytes name)
{
    static const char *const names[] = {
        "SUM",  "AVG",      "MIN",      "MAX",        "FIRST",
        "LAST", "MIN_TIME", "MAX_TIME", "FIRST_TIME", "LAST_TIME"
    };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (bytes_equal_text(name, names[i]))
            return true;
    }
    return false;
}

/* --- PROP('...') --- */

static bool source_property(struct api_call *call, struct bytes name,
                            const struct math_series *series, struct bytes *out)
{
    const struct metric_source *source = series->origin;
    if (bytes_equal_text(name, "AccountId"))
        *out = bytes_from_text(api_options(call->api)->account_id);
    else if (bytes_equal_text(name, "Region"))
        *out = bytes_from_text(api_options(call->api)->region);
    else if (bytes_equal_text(name, "Period"))
        *out = arena_printf(call->arena, "%" PRId64, series->period_s);
    else if (bytes_equal_text(name, "MetricName"))
        *out = source == NULL ? BYTES("--") : source->key.name;
    else if (bytes_equal_text(name, "Namespace"))
        *out = source == NULL ? BYTES("--") : source->key.namespace;
    else if (bytes_equal_text(name, "Stat"))
        *out = source == NULL ? BYTES("--") : source->statistic;
    else if (bytes_starts_with(name, BYTES("Dim."))) {
        struct bytes dimension = bytes_of(name.data + 4, name.len - 4);
        *out = BYTES("--");
        for (size_t i = 0; source != NULL && i < source->key.dimension_count; i++) {
            if (bytes_equal(source->key.dimensions[i].name, dimension))
                *out = source->key.dimensions[i].value;
        }
    } else {
        return false;
    }
    return true;
}

static bool find_property(struct api_call *call, struct bytes name,
                          const struct math_series *series,
                          const struct metric_label_options *options, struct bytes *out)
{
    const struct bytes before = BYTES("PROP('"), behind = BYTES("')");
    if (bytes_equal_text(name, "LABEL")) {
        *out = options->label;
        return true;
    }
    if (bytes_equal_text(name, "DATAPOINT_COUNT")) {
        *out = arena_printf(call->arena, "%zu", series->count);
        return true;
    }
    if (bytes_starts_with(name, before) && name.len > before.len + behind.len &&
        memcmp(name.data + name.len - behind.len, behind.data, behind.len) == 0)
        return source_property(call,
                               bytes_of(name.data + before.len, name.len - before.len - behind.len),
                               series, out);
    if (series->count == 0) {
        *out = BYTES("");
        return is_point_property(name);
    }
    return point_property(call->arena, name, series, options, out) ||
           value_property(call->arena, name, series, out);
}

bool metric_label_expand(struct api_call *call, struct bytes text, const struct math_series *series,
                         const struct metric_label_options *options, struct bytes *out)
{
    struct buffer expanded;
    buffer_init(&expanded, call->arena);
    for (size_t at = 0; at < text.len;) {
        if (text.data[at] != '$' || at + 1 == text.len || text.data[at + 1] != '{') {
            buffer_append_byte(&expanded, text.data[at++]);
            continue;
        }
        const uint8_t *start = text.data + at + 2;
        const uint8_t *end = memchr(start, '}', text.len - at - 2);
        struct bytes value;
        if (end == NULL)
            return error_validation(&call->error, "A dynamic label has no }");
        struct bytes name = bytes_of(start, (size_t)(end - start));
        if (!find_property(call, name, series, options, &value))
            return error_validation(&call->error, "There is no property of labels %.*s",
                                    (int)(name.len < 100 ? name.len : 100),
                                    (const char *)name.data);
        if (value.len > METRIC_LABEL_SIZE_MAX - expanded.len)
            return error_validation(&call->error, "A label becomes longer than %d bytes",
                                    METRIC_LABEL_SIZE_MAX);
        buffer_append_bytes(&expanded, value);
        at = (size_t)(end - text.data) + 1;
    }
    *out = buffer_bytes(&expanded);
    return true;
}
