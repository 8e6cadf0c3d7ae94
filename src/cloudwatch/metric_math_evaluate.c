/* metric_math_evaluate.c -- operators: arithmetic, comparisons and logic over scalars and series.
 */
#include <assert.h>
#include <math.h>
#include "base/arena.h"
#include "cloudwatch/metric_math_parts.h"

bool metric_math_charge(size_t *points, size_t count, struct metric_math_error *err)
{
    assert(*points <= METRIC_MATH_POINTS_MAX);
    if (count > METRIC_MATH_POINTS_MAX - *points)
        return metric_math_fail(err, "The expressions of the request make more than %d points",
                                METRIC_MATH_POINTS_MAX);
    *points += count;
    return true;
}

bool math_reserve(struct math_run *run, size_t count, int64_t **times, double **values)
{
    if (!metric_math_charge(run->points, count, run->err))
        return false;
    *times = arena_alloc(run->arena, (count + 1) * sizeof **times);
    *values = arena_alloc(run->arena, (count + 1) * sizeof **values);
    return true;
}

bool math_reserve_series(struct math_run *run, size_t count, struct math_series **out)
{
    if (!metric_math_charge(run->points, count * METRIC_MATH_SERIES_POINTS, run->err))
        return false;
    *out = arena_alloc(run->arena, (count + 1) * sizeof **out);
    return true;
}

struct math_value math_of_series(struct math_run *run, struct math_series series)
{
    struct math_series *copy = arena_alloc(run->arena, sizeof *copy);
    *copy = series;
    return (struct math_value){ .kind = MATH_SERIES, .series = copy, .series_count = 1 };
}

static bool map_series(struct math_run *run, const struct math_series *series,
                       double (*function)(double, const void *), const void *context,
                       struct math_series *out)
{
    int64_t *times;
    double *values;
    size_t count = 0;
    if (!math_reserve(run, series->count, &times, &values))
        return false;
    for (size_t i = 0; i < series->count; i++) {
        double value = function(series->values[i], context);
        if (!isfinite(value))
            continue;
        times[count] = series->times[i];
        values[count++] = value;
    }
    *out = *series;
    out->times = times;
    out->values = values;
    out->count = count;
    out->is_metric = false;
    return true;
}

bool math_map(struct math_run *run, const struct math_value *value,
              double (*function)(double, const void *), const void *context, struct math_value *out)
{
    if (value->kind == MATH_TEXT)
        return metric_math_fail(run->err, "A text cannot be an operand");
    if (value->kind == MATH_SCALAR) {
        *out =
            (struct math_value){ .kind = MATH_SCALAR, .scalar = function(value->scalar, context) };
        return true;
    }
    struct math_series *series;
    if (!math_reserve_series(run, value->series_count, &series))
        return false;
    for (size_t i = 0; i < value->series_count; i++) {
        if (!map_series(run, &value->series[i], function, context, &series[i]))
            return false;
    }
    *out = (struct math_value){ .kind = value->kind,
                                .series = series,
                                .series_count = value->series_count };
    return true;
}

/* --- Two operands --- */

static double apply(enum math_operator operator, double x, double y)
{
    switch (operator) {
    case MATH_OR:
        return x != 0 || y != 0;
    case MATH_AND:
        return x != 0 && y != 0;
    case MATH_EQUAL:
        return x == y;
    case MATH_NOT_EQUAL:
        return x != y;
    case MATH_LESS:
        return x < y;
    case MATH_GREATER:
        return x > y;
    case MATH_LESS_OR_EQUAL:
        return x <= y;
    case MATH_GREATER_OR_EQUAL:
        return x >= y;
    case MATH_ADD:
        return x + y;
    case MATH_SUBTRACT:
        return x - y;
    case MATH_MULTIPLY:
        return x * y;
    case MATH_DIVIDE:
        return x / y;
    case MATH_POWER:
        return pow(x, y);
    case MATH_NO_OPERATOR:
        break;
    }
    assert(false);
    return 0;
}

struct with_scalar {
    enum math_operator operator;
    double scalar;
};

static double apply_left(double value, const void *context)
{
    const struct with_scalar *with = context;
    return apply(with->operator, with->scalar, value);
}

static double apply_right(double value, const void *context)
{
    const struct with_scalar *with = context;
    return apply(with->operator, value, with->scalar);
}

/* All times that either has; what is missing counts as 0. */
static bool combine_series(struct math_run *run, enum math_operator operator,
                           const struct math_series * a, const struct math_series *b,
                           struct math_series *out)
{
    int64_t *times;
    double *values;
    size_t i = 0, k = 0, count = 0;
    if (!math_reserve(run, a->count + b->count, &times, &values))
        return false;
    while (i < a->count || k < b->count) {
        bool has_a = i < a->count && (k == b->count || a->times[i] <= b->times[k]);
        bool has_b = k < b->count && (i == a->count || b->times[k] <= a->times[i]);
        int64_t time = has_a ? a->times[i] : b->times[k];
        double value = apply(operator, has_a ? a->values[i] : 0, has_b ? b->values[k] : 0);
        i += has_a ? 1 : 0;
        k += has_b ? 1 : 0;
        if (!isfinite(value))
            continue;
        times[count] = time;
        values[count++] = value;
    }
    *out = (struct math_series){ .times = times,
                                 .values = values,
                                 .count = count,
                                 .period_s = a->period_s < b->period_s ? a->period_s : b->period_s,
                                 .label = a->label,
                                 .origin = a->origin == b->origin ? a->origin : NULL };
    return true;
}

/* A series with each element of an array, or two series. */
static bool combine(struct math_run *run, enum math_operator operator, const struct math_value * a,
                    const struct math_value *b, struct math_value *out)
{
    if (a->kind == MATH_ARRAY && b->kind == MATH_ARRAY)
        return metric_math_fail(run->err, "Operations between two arrays of time series are not "
                                          "supported");
    const struct math_value *longer = a->kind == MATH_ARRAY ? a : b;
    size_t count = longer->series_count;
    struct math_series *series;
    if (!math_reserve_series(run, count, &series))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct math_series *x = &a->series[a->kind == MATH_ARRAY ? i : 0];
        const struct math_series *y = &b->series[b->kind == MATH_ARRAY ? i : 0];
        if (!combine_series(run, operator, x, y, &series[i]))
            return false;
        if (longer->kind == MATH_ARRAY)
            series[i].label = longer->series[i].label;
    }
    *out = (struct math_value){ .kind = longer->kind, .series = series, .series_count = count };
    return true;
}

static bool evaluate_binary(struct math_run *run, const struct math_node *node,
                            struct math_value *out)
{
    struct math_value a, b;
    if (!math_evaluate(run, node->first, &a) || !math_evaluate(run, node->first->next, &b))
        return false;
    if (a.kind == MATH_TEXT || b.kind == MATH_TEXT)
        return metric_math_fail(run->err, "A text cannot be an operand");
    if (a.kind == MATH_SCALAR) {
        const struct with_scalar with = { node->operator, a.scalar };
        return math_map(run, &b, apply_left, &with, out);
    }
    if (b.kind == MATH_SCALAR) {
        const struct with_scalar with = { node->operator, b.scalar };
        return math_map(run, &a, apply_right, &with, out);
    }
    return combine(run, node->operator, & a, &b, out);
}

/* --- Nodes --- */

static double negate(double value, const void *context)
{
    (void)context;
    return -value;
}

static bool evaluate_array(struct math_run *run, const struct math_node *node,
                           struct math_value *out)
{
    size_t total = 0, count = 0, part_count = 0;
    for (const struct math_node *child = node->first; child != NULL; child = child->next)
        part_count++;
    struct math_value *parts = arena_alloc(run->arena, (part_count + 1) * sizeof *parts);
    struct math_value *part = parts;
    for (const struct math_node *child = node->first; child != NULL; child = child->next, part++) {
        if (!math_evaluate(run, child, part))
            return false;
        if (part->kind == MATH_SCALAR || part->kind == MATH_TEXT)
            return metric_math_fail(run->err, "An array must contain time series");
        total += part->series_count;
        if (total > METRIC_MATH_SERIES_MAX)
            return metric_math_fail(run->err, "An array has more than %d time series",
                                    METRIC_MATH_SERIES_MAX);
    }
    struct math_series *series;
    if (!math_reserve_series(run, total, &series))
        return false;
    for (size_t i = 0; i < part_count; i++) {
        for (size_t k = 0; k < parts[i].series_count; k++)
            series[count++] = parts[i].series[k];
    }
    *out = (struct math_value){ .kind = MATH_ARRAY, .series = series, .series_count = count };
    return true;
}

bool math_evaluate(struct math_run *run, const struct math_node *node, struct math_value *out)
{
    const struct metric_math_environment *environment = run->environment;
    struct math_value value;
    switch (node->kind) {
    case MATH_NODE_NUMBER:
        *out = (struct math_value){ .kind = MATH_SCALAR, .scalar = node->number };
        return true;
    case MATH_NODE_TEXT:
        *out = (struct math_value){ .kind = MATH_TEXT, .text = node->text };
        return true;
    case MATH_NODE_NAME:
        return environment->resolve(environment->context, node->text, out, run->err);
    case MATH_NODE_ARRAY:
        return evaluate_array(run, node, out);
    case MATH_NODE_NEGATE:
        return math_evaluate(run, node->first, &value) && math_map(run, &value, negate, NULL, out);
    case MATH_NODE_BINARY:
        return evaluate_binary(run, node, out);
    case MATH_NODE_CALL:
        return math_call(run, node, out);
    }
    assert(false);
    return false;
}

bool metric_math_evaluate(struct arena *arena, const struct metric_math *math,
                          const struct metric_math_environment *environment, struct math_value *out,
                          struct metric_math_error *err)
{
    struct math_run run = { .arena = arena, .environment = environment, .err = err };
    run.points = environment->points == NULL ? &run.own_points : environment->points;
    assert(environment->period_s > 0);
    return math_evaluate(&run, math->root, out);
}
