/* alarm_evaluation.c -- see alarm_evaluation.h. */
#include "cloudwatch/alarm_evaluation.h"
#include <assert.h>
#include "base/arena.h"
#include "base/compiler.h"

static const char *const state_names[ALARM_STATE_COUNT] = {
    [ALARM_STATE_INSUFFICIENT_DATA] = "INSUFFICIENT_DATA",
    [ALARM_STATE_OK] = "OK",
    [ALARM_STATE_ALARM] = "ALARM",
};
static const char *const comparison_names[] = {
    [ALARM_GREATER_OR_EQUAL] = "GreaterThanOrEqualToThreshold",
    [ALARM_GREATER] = "GreaterThanThreshold",
    [ALARM_LESS] = "LessThanThreshold",
    [ALARM_LESS_OR_EQUAL] = "LessThanOrEqualToThreshold",
};
static const char *const missing_names[] = {
    [ALARM_MISSING] = "missing",
    [ALARM_MISSING_IGNORE] = "ignore",
    [ALARM_MISSING_BREACHING] = "breaching",
    [ALARM_MISSING_NOT_BREACHING] = "notBreaching",
};

static bool find_name(const char *const *names, size_t count, struct bytes name, size_t *out)
{
    for (*out = 0; *out < count; (*out)++)
        if (bytes_equal_text(name, names[*out]))
            return true;
    return false;
}

const char *alarm_state_name(enum alarm_state state)
{
    assert(state < ALARM_STATE_COUNT);
    return state_names[state];
}

bool alarm_state_parse(struct bytes name, enum alarm_state *out)
{
    size_t index;
    if (!find_name(state_names, COUNT_OF(state_names), name, &index))
        return false;
    *out = (enum alarm_state)index;
    return true;
}

bool alarm_comparison_parse(struct bytes name, enum alarm_comparison *out)
{
    size_t index;
    if (!find_name(comparison_names, COUNT_OF(comparison_names), name, &index))
        return false;
    *out = (enum alarm_comparison)index;
    return true;
}

bool alarm_missing_parse(struct bytes name, enum alarm_missing *out)
{
    size_t index = ALARM_MISSING;
    if (name.data != NULL && !find_name(missing_names, COUNT_OF(missing_names), name, &index))
        return false;
    *out = (enum alarm_missing)index;
    return true;
}

bool alarm_is_breaching(const struct alarm_rule *rule, double value)
{
    switch (rule->comparison) {
    case ALARM_GREATER_OR_EQUAL:
        return value >= rule->threshold;
    case ALARM_GREATER:
        return value > rule->threshold;
    case ALARM_LESS:
        return value < rule->threshold;
    case ALARM_LESS_OR_EQUAL:
        return value <= rule->threshold;
    }
    return false;
}

/* The points that decide: the newest N real ones; if there are fewer, all of them and as many
 * missing periods as are needed, the newest first. */
static void choose_points(struct arena *arena, const struct alarm_rule *rule,
                          const struct alarm_point *range, struct alarm_evaluation *out)
{
    size_t wanted = rule->evaluation_periods;
    struct alarm_point *points = arena_alloc(arena, wanted * sizeof *points);
    for (size_t i = 0; i < alarm_range(rule) && out->point_count < wanted; i++)
        if (range[i].present)
            points[out->point_count++] = range[i];
    out->real_count = out->point_count;
    for (size_t i = 0; i < alarm_range(rule) && out->point_count < wanted; i++)
        if (!range[i].present)
            points[out->point_count++] = range[i];
    assert(out->point_count == wanted && out->real_count <= wanted);
    out->points = points;
}

/* The age of a point in periods: 1 is the newest of the range. */
static size_t age_of(const struct alarm_rule *rule, const struct alarm_point *range,
                     const struct alarm_point *point)
{
    for (size_t i = 0; i < alarm_range(rule); i++)
        if (range[i].start_s == point->start_s)
            return i + 1;
    return 0;
}

/* Where some points are missing and nothing fills them. The tables of the documentation: a point
 * that does not breach means OK; breaching ones alone mean ALARM once the oldest of them is M
 * periods old ("premature alarm state"), but not if missing points are to be ignored. */
static bool decide_unfilled(const struct alarm_rule *rule, const struct alarm_point *range,
                            size_t breaching, struct alarm_evaluation *out)
{
    if (breaching >= rule->datapoints_to_alarm) {
        out->state = ALARM_STATE_ALARM;
        return true;
    }
    if (breaching < out->real_count) {
        out->state = ALARM_STATE_OK;
        return true;
    }
    if (rule->missing == ALARM_MISSING_IGNORE)
        return false;
    if (out->real_count == 0) {
        out->state = ALARM_STATE_INSUFFICIENT_DATA;
        out->reason = ALARM_REASON_UNKNOWN;
        return true;
    }
    out->state = ALARM_STATE_ALARM;
    return age_of(rule, range, &out->points[out->real_count - 1]) >= rule->datapoints_to_alarm;
}

struct alarm_evaluation alarm_evaluate(struct arena *arena, const struct alarm_rule *rule,
                                       const struct alarm_point *range)
{
    struct alarm_evaluation result = { .reason = ALARM_REASON_CROSSED };
    size_t breaching = 0;
    assert(rule->datapoints_to_alarm >= 1 && rule->datapoints_to_alarm <= rule->evaluation_periods);
    choose_points(arena, rule, range, &result);
    for (size_t i = 0; i < result.real_count; i++) {
        if (result.points[i].has_too_few)
            return (struct alarm_evaluation){ .decides = false };
        breaching += alarm_is_breaching(rule, result.points[i].value);
    }
    size_t filled = result.point_count - result.real_count;
    if (filled > 0 && rule->missing == ALARM_MISSING_BREACHING)
        breaching += filled;
    bool unfilled =
        filled > 0 && (rule->missing == ALARM_MISSING || rule->missing == ALARM_MISSING_IGNORE);
    if (unfilled) {
        result.decides = decide_unfilled(rule, range, breaching, &result);
        return result;
    }
    if (filled > 0)
        result.reason = ALARM_REASON_FILLED;
    result.state = breaching >= rule->datapoints_to_alarm ? ALARM_STATE_ALARM : ALARM_STATE_OK;
    result.decides = true;
    return result;
}
