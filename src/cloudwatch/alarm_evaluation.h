/* alarm_evaluation.h -- the state of an alarm by its data points. Pure.
 *
 * CloudWatch reads more points than EvaluationPeriods (N): the evaluation range. If it holds N
 * points or more, the newest N decide. Otherwise TreatMissingData says what fills the rest. Its
 * documentation has two tables of examples, which the unit test repeats. Where the state follows
 * from neither the points nor the filling, the alarm keeps the state that it has.
 */
#ifndef STATOR_CLOUDWATCH_ALARM_EVALUATION_H
#define STATOR_CLOUDWATCH_ALARM_EVALUATION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;

/* Stored: values never change. */
enum alarm_state { ALARM_STATE_INSUFFICIENT_DATA, ALARM_STATE_OK, ALARM_STATE_ALARM };
#define ALARM_STATE_COUNT 3u
const char *alarm_state_name(enum alarm_state state); /* "INSUFFICIENT_DATA" */
MUST_CHECK bool alarm_state_parse(struct bytes name, enum alarm_state *out);

enum alarm_comparison {
    ALARM_GREATER_OR_EQUAL,
    ALARM_GREATER,
    ALARM_LESS,
    ALARM_LESS_OR_EQUAL,
};
/* "GreaterThanThreshold"; false for the operators of anomaly detection, and for any other text. */
MUST_CHECK bool alarm_comparison_parse(struct bytes name, enum alarm_comparison *out);

enum alarm_missing {
    ALARM_MISSING, /* The default. */
    ALARM_MISSING_IGNORE,
    ALARM_MISSING_BREACHING,
    ALARM_MISSING_NOT_BREACHING,
};
/* "notBreaching"; data NULL: the default. */
MUST_CHECK bool alarm_missing_parse(struct bytes name, enum alarm_missing *out);

enum {
    ALARM_RANGE_EXTRA = 2, /* Points of the range beyond N. */
    /* Points that reasons show, newest first. */
    ALARM_SHOWN_POINTS_MAX = 100,
};

struct alarm_rule {
    enum alarm_comparison comparison;
    double threshold;
    size_t evaluation_periods;    /* N */
    size_t datapoints_to_alarm;   /* M; at most N. */
    bool has_datapoints_to_alarm; /* It was given, which changes the words of reasons. */
    enum alarm_missing missing;
};

/* One period of the evaluation range. */
struct alarm_point {
    int64_t start_s;
    bool present;
    bool has_too_few; /* Samples for its percentile, where such a point must not count. */
    double value;
    double sample_count; /* 0: not known. */
};

enum alarm_reason {
    ALARM_REASON_CROSSED, /* By real points. */
    ALARM_REASON_FILLED,  /* By real points, if any, and missing ones that count as something. */
    ALARM_REASON_UNKNOWN, /* There are no points. */
};

struct alarm_evaluation {
    bool decides; /* False: the alarm keeps its state; the rest is not set. */
    enum alarm_state state;
    enum alarm_reason reason;
    /* The periods that decided: the real ones, then as many missing ones as were needed, each in
     * descending order of time. In the arena. */
    const struct alarm_point *points;
    size_t point_count;
    size_t real_count;
};

/* How many periods to read for the rule. */
static inline size_t alarm_range(const struct alarm_rule *rule)
{
    return rule->evaluation_periods + ALARM_RANGE_EXTRA;
}

bool alarm_is_breaching(const struct alarm_rule *rule, double value);

/* `range` has alarm_range(rule) points in descending order of time. */
struct alarm_evaluation alarm_evaluate(struct arena *arena, const struct alarm_rule *rule,
                                       const struct alarm_point *range);

/* --- In words --- */

/* Of the metric, for the data of a reason. */
struct alarm_reason_facts {
    int64_t query_ms;
    int64_t period_s;
    struct bytes statistic; /* data NULL: the alarm watches an expression. */
    struct bytes unit;      /* data NULL: none. */
};

/* "Threshold Crossed: 1 datapoint [21.5 (26/10/23 16:42:00)] was greater than the threshold
 * (2.0)." */
struct bytes alarm_reason_text(struct arena *arena, const struct alarm_rule *rule,
                               const struct alarm_evaluation *evaluation);
/* The same for programs: {"version":"1.0","queryDate":...}. */
struct bytes alarm_reason_data(struct arena *arena, const struct alarm_rule *rule,
                               const struct alarm_evaluation *evaluation,
                               const struct alarm_reason_facts *facts);
/* "2026-11-16T10:42:00.000+0000" */
enum { ALARM_TIME_SIZE = sizeof "2026-11-16T10:42:00.000+0000" };
void alarm_format_time(int64_t time_ms, char out[ALARM_TIME_SIZE]);

#endif
