/* alarm_reason.c -- why an alarm changed its state, as the service words it; see
 * alarm_evaluation.h. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "cloudwatch/alarm_evaluation.h"
#include "json/writer.h"

static const char *const comparison_words[] = {
    [ALARM_GREATER_OR_EQUAL] = "greater than or equal to",
    [ALARM_GREATER] = "greater than",
    [ALARM_LESS] = "less than",
    [ALARM_LESS_OR_EQUAL] = "less than or equal to",
};

static void append_text(struct buffer *out, const char *text)
{
    buffer_append_bytes(out, bytes_from_text(text));
}

static void append_count(struct buffer *out, size_t count)
{
    char text[24];
    snprintf(text, sizeof text, "%zu", count);
    append_text(out, text);
}

static void append_double(struct buffer *out, double value)
{
    char text[JSON_DOUBLE_TEXT_SIZE];
    json_format_double(value, text);
    append_text(out, text);
}

/* "1 datapoint", "2 datapoints" */
static void append_counted(struct buffer *out, size_t count, const char *word)
{
    append_count(out, count);
    append_text(out, word);
    if (count != 1)
        buffer_append_byte(out, 's');
}

/* "21.5 (26/10/23 16:42:00)" */
static void append_point(struct buffer *out, const struct alarm_point *point)
{
    char text[32];
    struct tm time = clock_utc(point->start_s);
    append_double(out, point->value);
    strftime(text, sizeof text, " (%d/%m/%y %H:%M:%S)", &time);
    append_text(out, text);
}

/* The real points on that side of the threshold, as far as they are shown. Returns how many there
 * are. */
static size_t append_points(struct buffer *out, const struct alarm_rule *rule,
                            const struct alarm_evaluation *evaluation, bool breaching)
{
    size_t count = 0;
    append_text(out, "[");
    for (size_t i = 0; i < evaluation->real_count; i++) {
        if (alarm_is_breaching(rule, evaluation->points[i].value) != breaching)
            continue;
        if (count++ >= ALARM_SHOWN_POINTS_MAX)
            continue;
        if (count > 1)
            append_text(out, ", ");
        append_point(out, &evaluation->points[i]);
    }
    append_text(out, "]");
    return count;
}

static size_t count_points(const struct alarm_rule *rule, const struct alarm_evaluation *evaluation,
                           bool breaching)
{
    size_t count = 0;
    for (size_t i = 0; i < evaluation->real_count; i++)
        count += alarm_is_breaching(rule, evaluation->points[i].value) == breaching;
    return count;
}

/* "(minimum 2 datapoints for OK -> ALARM transition)" */
static void append_minimum(struct buffer *out, const struct alarm_rule *rule, bool breaching)
{
    size_t minimum = breaching ? rule->datapoints_to_alarm
                               : rule->evaluation_periods - rule->datapoints_to_alarm + 1;
    append_text(out, " (minimum ");
    append_counted(out, minimum, " datapoint");
    append_text(out, breaching ? " for OK -> ALARM transition)" : " for ALARM -> OK transition)");
}

static void append_crossed(struct buffer *out, const struct alarm_rule *rule,
                           const struct alarm_evaluation *evaluation)
{
    bool breaching = evaluation->state == ALARM_STATE_ALARM;
    size_t count = count_points(rule, evaluation, breaching);
    append_text(out, "Threshold Crossed: ");
    if (rule->has_datapoints_to_alarm) {
        append_count(out, count);
        append_text(out, " out of the last ");
        append_count(out, rule->evaluation_periods);
        append_text(out, " datapoints ");
    } else {
        append_counted(out, count, " datapoint");
        append_text(out, " ");
    }
    append_points(out, rule, evaluation, breaching);
    append_text(out, count == 1 ? " was " : " were ");
    append_text(out, breaching ? "" : "not ");
    append_text(out, comparison_words[rule->comparison]);
    append_text(out, " the threshold (");
    append_double(out, rule->threshold);
    append_text(out, ")");
    if (rule->has_datapoints_to_alarm)
        append_minimum(out, rule, breaching);
    append_text(out, ".");
}

static void append_filled(struct buffer *out, const struct alarm_rule *rule,
                          const struct alarm_evaluation *evaluation)
{
    size_t missing = evaluation->point_count - evaluation->real_count;
    append_text(out, "Threshold Crossed: ");
    if (evaluation->real_count == 0)
        append_text(out, "no datapoints were");
    else {
        append_counted(out, evaluation->real_count, " datapoint");
        append_text(out, evaluation->real_count == 1 ? " was" : " were");
    }
    append_text(out, " received for ");
    append_counted(out, rule->evaluation_periods, " period");
    append_text(out, " and ");
    append_counted(out, missing, " missing datapoint");
    append_text(out, missing == 1 ? " was treated as [" : " were treated as [");
    append_text(out, rule->missing == ALARM_MISSING_BREACHING ? "Breaching" : "NonBreaching");
    append_text(out, "].");
}

struct bytes alarm_reason_text(struct arena *arena, const struct alarm_rule *rule,
                               const struct alarm_evaluation *evaluation)
{
    struct buffer out;
    assert(evaluation->decides);
    buffer_init(&out, arena);
    switch (evaluation->reason) {
    case ALARM_REASON_CROSSED:
        append_crossed(&out, rule, evaluation);
        break;
    case ALARM_REASON_FILLED:
        append_filled(&out, rule, evaluation);
        break;
    case ALARM_REASON_UNKNOWN:
        append_text(&out, "Insufficient Data: ");
        append_counted(&out, evaluation->point_count, " datapoint");
        append_text(&out, evaluation->point_count == 1 ? " was unknown." : " were unknown.");
        break;
    }
    return buffer_bytes(&out);
}

/* --- For programs --- */

void alarm_format_time(int64_t time_ms, char out[ALARM_TIME_SIZE])
{
    struct tm time = clock_utc(clock_second_of_ms(time_ms));
    unsigned rest_ms = (unsigned)((time_ms % 1000 + 1000) % 1000);
    size_t size = strftime(out, ALARM_TIME_SIZE, "%Y-%m-%dT%H:%M:%S.000+0000", &time);
    assert(size == ALARM_TIME_SIZE - 1);
    out[20] = (char)('0' + rest_ms / 100);
    out[21] = (char)('0' + rest_ms / 10 % 10);
    out[22] = (char)('0' + rest_ms % 10);
}

static void write_time(struct json_writer *json, const char *name, int64_t time_ms)
{
    char text[ALARM_TIME_SIZE];
    alarm_format_time(time_ms, text);
    json_write_name(json, name);
    json_write_text(json, text);
}

static void write_points(struct json_writer *json, const struct alarm_evaluation *evaluation)
{
    json_write_name(json, "evaluatedDatapoints");
    json_open_array(json);
    for (size_t i = 0; i < evaluation->point_count && i < ALARM_SHOWN_POINTS_MAX; i++) {
        const struct alarm_point *point = &evaluation->points[i];
        json_open_object(json);
        write_time(json, "timestamp", point->start_s * 1000);
        if (point->present && point->sample_count > 0) {
            json_write_name(json, "sampleCount");
            json_write_double(json, point->sample_count);
        }
        if (point->present) {
            json_write_name(json, "value");
            json_write_double(json, point->value);
        }
        json_close_object(json);
    }
    json_close_array(json);
}

struct bytes alarm_reason_data(struct arena *arena, const struct alarm_rule *rule,
                               const struct alarm_evaluation *evaluation,
                               const struct alarm_reason_facts *facts)
{
    struct buffer out;
    struct json_writer json;
    size_t shown = evaluation->real_count < ALARM_SHOWN_POINTS_MAX ? evaluation->real_count
                                                                   : ALARM_SHOWN_POINTS_MAX;
    buffer_init(&out, arena);
    json_writer_init(&json, &out);
    json_open_object(&json);
    json_write_name(&json, "version");
    json_write_text(&json, "1.0");
    write_time(&json, "queryDate", facts->query_ms);
    if (evaluation->real_count > 0)
        write_time(&json, "startDate",
                   evaluation->points[evaluation->real_count - 1].start_s * 1000);
    if (facts->unit.data != NULL) {
        json_write_name(&json, "unit");
        json_write_string(&json, facts->unit);
    }
    if (facts->statistic.data != NULL) {
        json_write_name(&json, "statistic");
        json_write_string(&json, facts->statistic);
    }
    json_write_name(&json, "period");
    json_write_integer(&json, facts->period_s);
    json_write_name(&json, "recentDatapoints");
    json_open_array(&json);
    for (size_t i = shown; i > 0; i--)
        json_write_double(&json, evaluation->points[i - 1].value);
    json_close_array(&json);
    json_write_name(&json, "threshold");
    json_write_double(&json, rule->threshold);
    write_points(&json, evaluation);
    json_close_object(&json);
    return buffer_bytes(&out);
}
