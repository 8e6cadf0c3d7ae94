/* metric_math.h -- CloudWatch's metric math: expressions over time series, such as "m1/PERIOD(m1)".
 *
 * A pure library. It is given the series that an expression names by callbacks, and knows no store,
 * clock or request. Everything lives in the arena. Texts, nesting, nodes, and the points that all
 * evaluations of a request make together are bounded.
 *
 * How missing points count is as the service was observed to do it: arithmetic between two series
 * takes a missing point as 0, SUM and its like over an array skip them (but AVG and STDDEV divide
 * by the number of series), and AVG and STDDEV of one series divide by the number of periods of the
 * window. Points that are not finite are dropped.
 */
#ifndef STATOR_CLOUDWATCH_METRIC_MATH_H
#define STATOR_CLOUDWATCH_METRIC_MATH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct metric_math; /* A parsed expression. */

enum {
    METRIC_MATH_SIZE_MAX = 2048,
    METRIC_MATH_DEPTH_MAX = 32,
    METRIC_MATH_NODES_MAX = 1024,
    METRIC_MATH_SERIES_MAX = 1000,            /* Of an array. */
    METRIC_MATH_POINTS_MAX = 4 * 1000 * 1000, /* That the evaluations of a request make. */
    METRIC_MATH_SERIES_POINTS = 5,            /* What a series counts besides its points. */
    METRIC_MATH_STEPS_PER_POINT = 8,          /* Reading takes time alone, and counts for less. */
    METRIC_MATH_MESSAGE_MAX = 256,
};

/* What is wrong, in the service's words where they are known. */
struct metric_math_error {
    char text[METRIC_MATH_MESSAGE_MAX]; /* Without what the client named, if that is not ASCII. */
};

struct math_series {
    const int64_t *times; /* Seconds since 1970, ascending. */
    const double *values; /* Finite. */
    size_t count;
    int64_t period_s;
    bool is_metric;     /* Not the result of an expression: PERIOD takes no other. */
    struct bytes label; /* Of an element of an array; data NULL: none. */
    const void *origin; /* The caller's own, of the series that it came from; NULL: of several. */
};

enum math_kind { MATH_SCALAR, MATH_SERIES, MATH_ARRAY, MATH_TEXT };
struct math_value {
    enum math_kind kind;
    double scalar;
    struct bytes text;
    const struct math_series *series; /* One, or those of an array. */
    size_t series_count;
};

/* All callbacks return false with `err` set. Results live in the evaluation's arena. */
struct metric_math_environment {
    void *context;
    int64_t start_s; /* The window that is asked for. */
    int64_t end_s;
    int64_t period_s; /* Of series that have no other. */
    size_t *points;   /* Made so far by all evaluations of the request; NULL: by this one only. */
    /* A series, or an array, by its id: "m1". */
    bool (*resolve)(void *context, struct bytes id, struct math_value *out,
                    struct metric_math_error *err);
    /* METRICS(): all metrics, not expressions, whose ids hold the text. */
    bool (*metrics)(void *context, struct bytes part, struct math_value *out,
                    struct metric_math_error *err);
    /* SEARCH("query", "statistic", period); period 0: not given. NULL: refused. */
    bool (*search)(void *context, struct bytes query, struct bytes statistic, int64_t period_s,
                   struct math_value *out, struct metric_math_error *err);
    /* INSIGHT_RULE_METRIC("rule", "metric"). NULL: refused. */
    bool (*insight)(void *context, struct bytes rule, struct bytes metric, struct math_value *out,
                    struct metric_math_error *err);
};

/* NULL with `err` set. Borrows `text`. */
MUST_CHECK const struct metric_math *metric_math_parse(struct arena *arena, struct bytes text,
                                                       struct metric_math_error *err);
/* The ids that the expression names are visited; METRICS() and SEARCH are not ids. For checks
 * before anything is evaluated. */
void metric_math_visit_ids(const struct metric_math *math,
                           void (*visit)(void *context, struct bytes id), void *context);
/* Whether METRICS() occurs, which depends on all metrics. */
bool metric_math_uses_metrics(const struct metric_math *math);
/* Any kind of value. */
MUST_CHECK bool metric_math_evaluate(struct arena *arena, const struct metric_math *math,
                                     const struct metric_math_environment *environment,
                                     struct math_value *out, struct metric_math_error *err);

/* Counts points or series that a caller makes for an expression. False with `err` set if there are
 * too many. */
MUST_CHECK bool metric_math_charge(size_t *points, size_t count, struct metric_math_error *err);

bool metric_math_fail(struct metric_math_error *err, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
