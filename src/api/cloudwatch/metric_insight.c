/* metric_insight.c -- see metric_insight.h.
 *
 * Asks by the operation that reports a rule, on the same thread and for the same caller. So access,
 * checks and numbers are those of GetInsightRuleReport.
 */
#include "api/cloudwatch/metric_insight.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include "api/cloudwatch/metric_request.h"
#include "api/operation.h"
#include "base/arena.h"
#include "cloudwatch/metric_math.h"
#include "json/reader.h"
#include "json/writer.h"

enum { ANSWER_DEPTH_MAX = 8, NUMBER_SIZE_MAX = 40 };

static void end_report(struct api_call *call)
{
    (void)call; /* It runs on this thread: api_run returns when it has ended. */
}

static void write_request(struct buffer *out, const struct metric_insight *insight,
                          struct bytes rule, struct bytes metric)
{
    struct json_writer json;
    json_writer_init(&json, out);
    json_open_object(&json);
    json_write_name(&json, "RuleName");
    json_write_string(&json, rule);
    json_write_name(&json, "StartTime");
    json_write_integer(&json, insight->start_s);
    json_write_name(&json, "EndTime");
    json_write_integer(&json, insight->end_s);
    json_write_name(&json, "Period");
    json_write_integer(&json, insight->period_s);
    json_write_name(&json, "MaxContributorCount");
    json_write_integer(&json, 1);
    json_write_name(&json, "Metrics");
    json_open_array(&json);
    json_write_string(&json, metric);
    json_close_array(&json);
    json_close_object(&json);
}

/* --- The answer: MetricDatapoints of {"Timestamp":...,"<metric>":...} --- */

struct points {
    int64_t *times;
    double *values;
    size_t count;
};

static bool read_number(struct json_reader *json, double *out)
{
    struct bytes text;
    char digits[NUMBER_SIZE_MAX];
    if (!json_read_number(json, &text) || text.len >= sizeof digits)
        return false;
    memcpy(digits, text.data, text.len);
    digits[text.len] = '\0';
    *out = strtod(digits, NULL);
    return isfinite(*out);
}

static bool read_point(struct json_reader *json, struct points *points)
{
    struct bytes name;
    double time = 0, value = 0;
    bool ok = true;
    json_enter_object(json);
    while (ok && json_next_member(json, &name))
        ok = read_number(json, bytes_equal_text(name, "Timestamp") ? &time : &value);
    points->times[points->count] = (int64_t)time;
    points->values[points->count++] = value;
    return ok && !json_failed(json);
}

static bool read_points(struct arena *arena, struct bytes answer, size_t points_max,
                        struct points *points)
{
    struct json_reader json;
    struct bytes name;
    bool ok = true;
    *points = (struct points){ .times = arena_alloc(arena, points_max * sizeof(int64_t)),
                               .values = arena_alloc(arena, points_max * sizeof(double)) };
    json_reader_init(&json, arena, answer, ANSWER_DEPTH_MAX);
    json_enter_object(&json);
    while (ok && json_next_member(&json, &name)) {
        if (!bytes_equal_text(name, "MetricDatapoints")) {
            json_skip(&json);
            continue;
        }
        json_enter_array(&json);
        while (ok && json_next_element(&json))
            ok = points->count < points_max && read_point(&json, points);
    }
    return ok && json_finish(&json);
}

bool metric_insight_read(void *context, struct bytes rule, struct bytes metric,
                         struct math_value *out, struct metric_math_error *err)
{
    struct metric_insight *insight = context;
    struct api_call *call = insight->call;
    struct buffer body;
    struct points points;
    struct math_series *series = arena_alloc_zeroed(call->arena, sizeof *series);
    if (insight->report_count++ == METRIC_INSIGHT_REPORTS_MAX)
        return metric_math_fail(err, "A request may use INSIGHT_RULE_METRIC %d times at most",
                                METRIC_INSIGHT_REPORTS_MAX);
    buffer_init(&body, call->arena);
    write_request(&body, insight, rule, metric);
    struct api_call report = { .arena = call->arena,
                               .operation = &op_get_insight_rule_report,
                               .body = buffer_bytes(&body),
                               .caller = call->caller,
                               .done = end_report };
    api_run(call->api, &report);
    if (error_is_set(&report.error))
        return metric_math_fail(err, "%.*s", BYTES_FMT(report.error.message));
    size_t points_max = (size_t)((insight->end_s - insight->start_s) / insight->period_s) + 2;
    if (!read_points(call->arena, buffer_bytes(&report.response), points_max, &points))
        return metric_math_fail(err, "The report of rule '%.*s' cannot be read", BYTES_FMT(rule));
    *series = (struct math_series){ .times = points.times,
                                    .values = points.values,
                                    .count = points.count,
                                    .period_s = insight->period_s };
    *out = (struct math_value){ .kind = MATH_SERIES, .series = series, .series_count = 1 };
    return true;
}
