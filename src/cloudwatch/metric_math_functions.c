/* metric_math_functions.c -- the functions of metric math. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "cloudwatch/metric_math_parts.h"

enum { ARGUMENTS_MAX = 4 };

/* A call with its arguments evaluated. */
struct call {
    struct math_run *run;
    struct bytes name;
    struct math_value arguments[ARGUMENTS_MAX];
    size_t count;
};

static bool refuse(const struct call *call)
{
    return metric_math_fail(call->run->err, "The arguments of function '%.*s' are not valid",
                            BYTES_FMT(call->name));
}

static bool is_series(const struct math_value *value)
{
    return value->kind == MATH_SERIES || value->kind == MATH_ARRAY;
}

static struct math_value scalar_of(double value)
{
    return (struct math_value){ .kind = MATH_SCALAR, .scalar = value };
}

/* How many points the window of the request has. */
static int64_t window_points(const struct math_run *run, int64_t period_s)
{
    const struct metric_math_environment *environment = run->environment;
    int64_t size_s = environment->end_s - environment->start_s;
    return size_s <= 0 ? 0 : (size_s + period_s - 1) / period_s;
}

/* --- Each point by itself --- */

static double absolute(double value, const void *context)
{
    (void)context;
    return fabs(value);
}
static double round_up(double value, const void *context)
{
    (void)context;
    return ceil(value);
}
static double round_down(double value, const void *context)
{
    (void)context;
    return floor(value);
}
static double natural_log(double value, const void *context)
{
    (void)context;
    return log(value);
}
static double decimal_log(double value, const void *context)
{
    (void)context;
    return log10(value);
}

static bool call_map(const struct call *call, double (*function)(double, const void *),
                     struct math_value *out)
{
    if (call->count != 1 || !is_series(&call->arguments[0]))
        return refuse(call);
    return math_map(call->run, &call->arguments[0], function, NULL, out);
}

/* --- Many values into one --- */

enum reduction { REDUCE_SUM, REDUCE_AVG, REDUCE_MIN, REDUCE_MAX, REDUCE_STDDEV, REDUCE_COUNT };

/* Of the values that are there; means are of `number` values, where the others are 0. */
static double reduce(enum reduction reduction, const double *values, size_t count, double number)
{
    double sum = 0, least = INFINITY, greatest = -INFINITY, squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
        least = fmin(least, values[i]);
        greatest = fmax(greatest, values[i]);
    }
    double mean = sum / number;
    switch (reduction) {
    case REDUCE_SUM:
        return sum;
    case REDUCE_AVG:
        return mean;
    case REDUCE_MIN:
        return least;
    case REDUCE_MAX:
        return greatest;
    case REDUCE_COUNT:
        return (double)count;
    case REDUCE_STDDEV:
        for (size_t i = 0; i < count; i++)
            squares += (values[i] - mean) * (values[i] - mean);
        squares += (number - (double)count) * mean * mean;
        return sqrt(squares / number);
    }
    assert(false);
    return 0;
}

static bool reduce_series(const struct call *call, enum reduction reduction, struct math_value *out)
{
    const struct math_series *series = call->arguments[0].series;
    double number = (double)series->count;
    if (!metric_math_charge(call->run->points, series->count / METRIC_MATH_STEPS_PER_POINT,
                            call->run->err))
        return false;
    if (reduction == REDUCE_AVG || reduction == REDUCE_STDDEV)
        number = fmax(number, (double)window_points(call->run, series->period_s));
    double value = reduce(reduction, series->values, series->count, number);
    if (series->count == 0 && reduction != REDUCE_COUNT && reduction != REDUCE_SUM)
        value = NAN;
    *out = scalar_of(value);
    return true;
}

/* The smallest time that any series has at or behind its position; INT64_MAX: none. */
static int64_t next_time(const struct math_value *array, const size_t *positions)
{
    int64_t time = INT64_MAX;
    for (size_t i = 0; i < array->series_count; i++) {
        const struct math_series *series = &array->series[i];
        if (positions[i] < series->count && series->times[positions[i]] < time)
            time = series->times[positions[i]];
    }
    return time;
}

static bool reduce_array(const struct call *call, enum reduction reduction, struct math_value *out)
{
    struct math_run *run = call->run;
    const struct math_value *array = &call->arguments[0];
    size_t total = 0, count = 0;
    int64_t period_s = INT64_MAX;
    for (size_t i = 0; i < array->series_count; i++) {
        total += array->series[i].count;
        period_s = array->series[i].period_s < period_s ? array->series[i].period_s : period_s;
    }
    int64_t *times;
    double *values;
    if (!math_reserve(run, total + array->series_count, &times, &values))
        return false;
    size_t *positions =
        arena_alloc_zeroed(run->arena, (array->series_count + 1) * sizeof *positions);
    double *found = arena_alloc(run->arena, (array->series_count + 1) * sizeof *found);
    for (int64_t time; (time = next_time(array, positions)) != INT64_MAX;) {
        size_t found_count = 0;
        if (!metric_math_charge(run->points, array->series_count / METRIC_MATH_STEPS_PER_POINT,
                                run->err))
            return false;
        for (size_t i = 0; i < array->series_count; i++) {
            const struct math_series *series = &array->series[i];
            if (positions[i] < series->count && series->times[positions[i]] == time)
                found[found_count++] = series->values[positions[i]++];
        }
        double value = reduce(reduction, found, found_count, (double)array->series_count);
        if (!isfinite(value))
            continue;
        times[count] = time;
        values[count++] = value;
    }
    *out = math_of_series(run, (struct math_series){ .times = times,
                                                     .values = values,
                                                     .count = count,
                                                     .period_s = array->series_count == 0
                                                                     ? run->environment->period_s
                                                                     : period_s });
    return true;
}

static bool call_reduce(const struct call *call, enum reduction reduction, struct math_value *out)
{
    if (call->count != 1 || !is_series(&call->arguments[0]))
        return refuse(call);
    return call->arguments[0].kind == MATH_SERIES ? reduce_series(call, reduction, out)
                                                  : reduce_array(call, reduction, out);
}

/* --- From point to point --- */

enum difference { DIFFERENCE, DIFFERENCE_TIME, DIFFERENCE_RATE, RUNNING_SUM };

static bool differ(struct math_run *run, enum difference difference,
                   const struct math_series *series, struct math_series *out)
{
    int64_t *times;
    double *values;
    size_t count = 0;
    double running = 0;
    if (!math_reserve(run, series->count, &times, &values))
        return false;
    for (size_t i = 0; i < series->count; i++) {
        double value = series->values[i];
        running += value;
        if (i == 0 && difference != RUNNING_SUM)
            continue;
        double elapsed = i == 0 ? 0 : (double)(series->times[i] - series->times[i - 1]);
        double change = i == 0 ? 0 : value - series->values[i - 1];
        double result = difference == RUNNING_SUM       ? running
                        : difference == DIFFERENCE      ? change
                        : difference == DIFFERENCE_TIME ? elapsed
                                                        : change / elapsed;
        if (!isfinite(result))
            continue;
        times[count] = series->times[i];
        values[count++] = result;
    }
    *out = *series;
    out->times = times;
    out->values = values;
    out->count = count;
    out->is_metric = false;
    return true;
}

/* Applies something to a series or to all of an array. */
static bool for_each(const struct call *call,
                     bool (*function)(const struct call *call, const struct math_series *series,
                                      int which, struct math_series *out),
                     int which, struct math_value *out)
{
    const struct math_value *value = &call->arguments[0];
    struct math_series *series;
    if (!math_reserve_series(call->run, value->series_count, &series))
        return false;
    for (size_t i = 0; i < value->series_count; i++) {
        if (!function(call, &value->series[i], which, &series[i]))
            return false;
    }
    *out = (struct math_value){ .kind = value->kind,
                                .series = series,
                                .series_count = value->series_count };
    return true;
}

static bool differ_each(const struct call *call, const struct math_series *series, int which,
                        struct math_series *out)
{
    return differ(call->run, (enum difference)which, series, out);
}

static bool call_differ(const struct call *call, enum difference difference, struct math_value *out)
{
    if (call->count != 1 || !is_series(&call->arguments[0]))
        return refuse(call);
    return for_each(call, differ_each, (int)difference, out);
}

/* --- The whole window --- */

enum moment {
    MOMENT_MINUTE,
    MOMENT_HOUR,
    MOMENT_DAY,
    MOMENT_DATE,
    MOMENT_MONTH,
    MOMENT_YEAR,
    MOMENT_EPOCH
};

static double moment_of(enum moment moment, int64_t time_s)
{
    struct tm utc = clock_utc(time_s);
    switch (moment) {
    case MOMENT_MINUTE:
        return utc.tm_min;
    case MOMENT_HOUR:
        return utc.tm_hour;
    case MOMENT_DAY: /* Monday is 1. */
        return (utc.tm_wday + 6) % 7 + 1;
    case MOMENT_DATE:
        return utc.tm_mday;
    case MOMENT_MONTH:
        return utc.tm_mon + 1;
    case MOMENT_YEAR:
        return utc.tm_year + 1900;
    case MOMENT_EPOCH:
        return (double)time_s;
    }
    assert(false);
    return 0;
}

/* The series with one point for each period of the window, to be filled in. */
static bool reserve_window(struct math_run *run, const struct math_series *series, int64_t **times,
                           double **values, struct math_series *out)
{
    size_t count = (size_t)window_points(run, series->period_s);
    if (!math_reserve(run, count, times, values))
        return false;
    for (size_t i = 0; i < count; i++)
        (*times)[i] = run->environment->start_s + (int64_t)i * series->period_s;
    *out = *series;
    out->times = *times;
    out->values = *values;
    out->count = count;
    out->is_metric = false;
    return true;
}

static bool moment_each(const struct call *call, const struct math_series *series, int which,
                        struct math_series *out)
{
    int64_t *times;
    double *values;
    if (!reserve_window(call->run, series, &times, &values, out))
        return false;
    for (size_t i = 0; i < out->count; i++)
        values[i] = moment_of((enum moment)which, times[i]);
    return true;
}

static bool call_moment(const struct call *call, enum moment moment, struct math_value *out)
{
    if (call->count != 1 || !is_series(&call->arguments[0]))
        return refuse(call);
    return for_each(call, moment_each, (int)moment, out);
}

static bool point_at(const struct math_series *series, int64_t time, double *out)
{
    size_t low = 0, high = series->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (series->times[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    *out = 0;
    if (low == series->count || series->times[low] != time)
        return false;
    *out = series->values[low];
    return true;
}

/* The value for a time without a point, between the points before and behind it. */
static bool fill_value(const struct math_value *filler, const struct math_series *series, size_t at,
                       int64_t time, double *out)
{
    if (filler->kind == MATH_SCALAR) {
        *out = filler->scalar;
        return isfinite(*out);
    }
    if (filler->kind == MATH_SERIES)
        return point_at(filler->series, time, out);
    if (at == 0)
        return false;
    if (bytes_equal_text(filler->text, "REPEAT")) {
        *out = series->values[at - 1];
        return true;
    }
    if (at == series->count)
        return false;
    double part = (double)(time - series->times[at - 1]) /
                  (double)(series->times[at] - series->times[at - 1]);
    *out = series->values[at - 1] + (series->values[at] - series->values[at - 1]) * part;
    return true;
}

static bool fill_each(const struct call *call, const struct math_series *series, int which,
                      struct math_series *out)
{
    int64_t *times;
    double *values;
    size_t at = 0, count = 0;
    (void)which;
    if (!reserve_window(call->run, series, &times, &values, out))
        return false;
    for (size_t i = 0; i < out->count; i++) {
        int64_t time = times[i];
        while (at < series->count && series->times[at] < time)
            at++;
        bool exists = at < series->count && series->times[at] == time;
        if (!exists && !fill_value(&call->arguments[1], series, at, time, &values[count]))
            continue;
        if (exists)
            values[count] = series->values[at];
        times[count++] = time;
    }
    out->count = count;
    return true;
}

static bool call_fill(const struct call *call, struct math_value *out)
{
    const struct math_value *filler = &call->arguments[1];
    if (call->count != 2 || !is_series(&call->arguments[0]) || filler->kind == MATH_ARRAY ||
        (filler->kind == MATH_TEXT && !bytes_equal_text(filler->text, "REPEAT") &&
         !bytes_equal_text(filler->text, "LINEAR")))
        return refuse(call);
    return for_each(call, fill_each, 0, out);
}

static bool call_time_series(const struct call *call, struct math_value *out)
{
    struct math_run *run = call->run;
    struct math_series series = { .period_s = run->environment->period_s };
    int64_t *times;
    double *values;
    if (call->count != 1 || call->arguments[0].kind != MATH_SCALAR)
        return refuse(call);
    if (!reserve_window(run, &series, &times, &values, &series))
        return false;
    if (!isfinite(call->arguments[0].scalar))
        series.count = 0;
    for (size_t i = 0; i < series.count; i++)
        values[i] = call->arguments[0].scalar;
    *out = math_of_series(run, series);
    return true;
}

/* --- IF --- */

static bool call_if_scalar(const struct call *call, struct math_value *out)
{
    size_t chosen = call->arguments[0].scalar != 0 ? 1 : 2;
    if (chosen >= call->count) {
        *out = math_of_series(call->run,
                              (struct math_series){ .period_s = call->run->environment->period_s });
        return true;
    }
    *out = call->arguments[chosen];
    return true;
}

/* At each point of the condition, one of the two; without a third argument, only where it holds. */
static bool call_if(const struct call *call, struct math_value *out)
{
    if (call->count < 2 || call->count > 3)
        return refuse(call);
    for (size_t i = 0; i < call->count; i++) {
        if (call->arguments[i].kind == MATH_ARRAY || call->arguments[i].kind == MATH_TEXT)
            return refuse(call);
    }
    if (call->arguments[0].kind == MATH_SCALAR)
        return call_if_scalar(call, out);
    const struct math_series *condition = call->arguments[0].series;
    int64_t *times;
    double *values;
    size_t count = 0;
    if (!math_reserve(call->run, condition->count, &times, &values))
        return false;
    for (size_t i = 0; i < condition->count; i++) {
        size_t chosen = condition->values[i] != 0 ? 1 : 2;
        if (chosen >= call->count)
            continue;
        const struct math_value *branch = &call->arguments[chosen];
        double value = branch->scalar;
        /* A series that lacks the point counts as 0, unless the other choice is a number. */
        if (branch->kind == MATH_SERIES && !point_at(branch->series, condition->times[i], &value) &&
            chosen == 2 && call->arguments[1].kind == MATH_SCALAR)
            continue;
        if (!isfinite(value))
            continue;
        times[count] = condition->times[i];
        values[count++] = value;
    }
    *out = math_of_series(call->run, (struct math_series){ .times = times,
                                                           .values = values,
                                                           .count = count,
                                                           .period_s = condition->period_s });
    return true;
}

/* --- Arrays --- */

struct ranked {
    const struct math_series *series;
    double value;
    size_t place; /* Keeps the order of equals. */
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *one = a, *other = b;
    if (one->value != other->value)
        return one->value < other->value ? -1 : 1;
    return one->place < other->place ? -1 : 1;
}

static bool find_reduction(struct bytes name, enum reduction *out)
{
    static const char *const names[] = { "SUM", "AVG", "MIN", "MAX" };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (bytes_equal_text(name, names[i])) {
            *out = (enum reduction)i;
            return true;
        }
    }
    return false;
}

/* SORT(array, statistic, ASC or DESC[, limit]) */
static bool call_sort(const struct call *call, struct math_value *out)
{
    const struct math_value *array = &call->arguments[0], *order = &call->arguments[2];
    enum reduction reduction = REDUCE_SUM;
    if (call->count < 3 || array->kind != MATH_ARRAY || call->arguments[1].kind != MATH_TEXT ||
        order->kind != MATH_TEXT || !find_reduction(call->arguments[1].text, &reduction) ||
        (!bytes_equal_text(order->text, "ASC") && !bytes_equal_text(order->text, "DESC")))
        return refuse(call);
    size_t limit = array->series_count;
    if (call->count == 4) {
        double wanted = call->arguments[3].scalar;
        if (call->arguments[3].kind != MATH_SCALAR || !(wanted >= 1) || wanted != floor(wanted))
            return refuse(call);
        limit = wanted < (double)limit ? (size_t)wanted : limit;
    }
    struct math_series *series;
    if (!math_reserve_series(call->run, array->series_count, &series)) /* Of which some remain. */
        return false;
    struct ranked *ranked =
        arena_alloc(call->run->arena, (array->series_count + 1) * sizeof *ranked);
    bool ascends = bytes_equal_text(order->text, "ASC");
    for (size_t i = 0; i < array->series_count; i++) {
        const struct math_series *one = &array->series[i];
        double value =
            one->count == 0 ? 0 : reduce(reduction, one->values, one->count, (double)one->count);
        ranked[i] = (struct ranked){ one, ascends ? value : -value, i };
    }
    qsort(ranked, array->series_count, sizeof *ranked, compare_ranked);
    for (size_t i = 0; i < limit; i++)
        series[i] = *ranked[i].series;
    *out = (struct math_value){ .kind = MATH_ARRAY, .series = series, .series_count = limit };
    return true;
}

static bool is_whole(const struct math_value *value)
{
    return value->kind == MATH_SCALAR && value->scalar >= 0 && value->scalar <= 1e6 &&
           value->scalar == floor(value->scalar);
}

/* SLICE(array, first[, behind the last]) */
static bool call_slice(const struct call *call, struct math_value *out)
{
    const struct math_value *array = &call->arguments[0];
    if (call->count < 2 || call->count > 3 || array->kind != MATH_ARRAY ||
        !is_whole(&call->arguments[1]) || (call->count == 3 && !is_whole(&call->arguments[2])))
        return refuse(call);
    size_t first = (size_t)call->arguments[1].scalar;
    size_t last = call->count == 3 ? (size_t)call->arguments[2].scalar : array->series_count;
    last = last < array->series_count ? last : array->series_count;
    first = first < last ? first : last;
    *out = (struct math_value){ .kind = MATH_ARRAY,
                                .series = array->series + first,
                                .series_count = last - first };
    return true;
}

static bool call_element(const struct call *call, bool is_last, struct math_value *out)
{
    const struct math_value *array = &call->arguments[0];
    if (call->count != 1 || array->kind != MATH_ARRAY)
        return refuse(call);
    if (array->series_count == 0)
        *out = math_of_series(call->run,
                              (struct math_series){ .period_s = call->run->environment->period_s });
    else
        *out = math_of_series(call->run, array->series[is_last ? array->series_count - 1 : 0]);
    return true;
}

static bool call_remove_empty(const struct call *call, struct math_value *out)
{
    const struct math_value *array = &call->arguments[0];
    if (call->count != 1 || array->kind != MATH_ARRAY)
        return refuse(call);
    struct math_series *series;
    size_t count = 0;
    if (!math_reserve_series(call->run, array->series_count, &series))
        return false;
    for (size_t i = 0; i < array->series_count; i++) {
        if (array->series[i].count > 0)
            series[count++] = array->series[i];
    }
    *out = (struct math_value){ .kind = MATH_ARRAY, .series = series, .series_count = count };
    return true;
}

/* --- Questions about series --- */

static bool call_period(const struct call *call, struct math_value *out)
{
    const struct math_value *value = &call->arguments[0];
    if (call->count != 1 || value->kind != MATH_SERIES || !value->series->is_metric)
        return refuse(call);
    *out = scalar_of((double)value->series->period_s);
    return true;
}

static bool call_metric_count(const struct call *call, struct math_value *out)
{
    if (call->count != 1 || call->arguments[0].kind != MATH_ARRAY)
        return refuse(call);
    *out = scalar_of((double)call->arguments[0].series_count);
    return true;
}

static bool call_metrics(const struct call *call, struct math_value *out)
{
    const struct metric_math_environment *environment = call->run->environment;
    if (call->count > 1 || (call->count == 1 && call->arguments[0].kind != MATH_TEXT))
        return refuse(call);
    return environment->metrics(environment->context,
                                call->count == 1 ? call->arguments[0].text : BYTES(""), out,
                                call->run->err);
}

static bool call_search(const struct call *call, struct math_value *out)
{
    const struct metric_math_environment *environment = call->run->environment;
    if (call->count < 2 || call->count > 3 || call->arguments[0].kind != MATH_TEXT ||
        call->arguments[1].kind != MATH_TEXT ||
        (call->count == 3 && !is_whole(&call->arguments[2])))
        return refuse(call);
    if (environment->search == NULL)
        return metric_math_fail(call->run->err, "SEARCH is not supported here");
    return environment->search(
        environment->context, call->arguments[0].text, call->arguments[1].text,
        call->count == 3 ? (int64_t)call->arguments[2].scalar : 0, out, call->run->err);
}

static bool call_insight(const struct call *call, struct math_value *out)
{
    const struct metric_math_environment *environment = call->run->environment;
    if (call->count != 2 || call->arguments[0].kind != MATH_TEXT ||
        call->arguments[1].kind != MATH_TEXT)
        return refuse(call);
    if (environment->insight == NULL)
        return metric_math_fail(call->run->err, "INSIGHT_RULE_METRIC is not supported here");
    return environment->insight(environment->context, call->arguments[0].text,
                                call->arguments[1].text, out, call->run->err);
}

/* --- By name --- */

static bool call_named(const struct call *call, struct math_value *out, bool *found)
{
    static const struct {
        const char *name;
        bool (*call)(const struct call *call, struct math_value *out);
    } functions[] = {
        { "FILL", call_fill },
        { "IF", call_if },
        { "SORT", call_sort },
        { "SLICE", call_slice },
        { "PERIOD", call_period },
        { "METRICS", call_metrics },
        { "SEARCH", call_search },
        { "INSIGHT_RULE_METRIC", call_insight },
        { "TIME_SERIES", call_time_series },
        { "REMOVE_EMPTY", call_remove_empty },
        { "METRIC_COUNT", call_metric_count },
    };
    for (size_t i = 0; i < COUNT_OF(functions); i++) {
        if (bytes_equal_text(call->name, functions[i].name)) {
            *found = true;
            return functions[i].call(call, out);
        }
    }
    return false;
}

static bool call_family(const struct call *call, struct math_value *out, bool *found)
{
    static const struct {
        const char *name;
        double (*function)(double, const void *);
    } maps[] = { { "ABS", absolute },
                 { "CEIL", round_up },
                 { "FLOOR", round_down },
                 { "LOG", natural_log },
                 { "LOG10", decimal_log } };
    static const char *const reductions[] = {
        [REDUCE_SUM] = "SUM", [REDUCE_AVG] = "AVG",       [REDUCE_MIN] = "MIN",
        [REDUCE_MAX] = "MAX", [REDUCE_STDDEV] = "STDDEV", [REDUCE_COUNT] = "DATAPOINT_COUNT"
    };
    static const char *const differences[] = { [DIFFERENCE] = "DIFF",
                                               [DIFFERENCE_TIME] = "DIFF_TIME",
                                               [DIFFERENCE_RATE] = "RATE",
                                               [RUNNING_SUM] = "RUNNING_SUM" };
    static const char *const moments[] = {
        "MINUTE", "HOUR", "DAY", "DATE", "MONTH", "YEAR", "EPOCH"
    };
    *found = true;
    for (size_t i = 0; i < COUNT_OF(maps); i++) {
        if (bytes_equal_text(call->name, maps[i].name))
            return call_map(call, maps[i].function, out);
    }
    for (size_t i = 0; i < COUNT_OF(reductions); i++) {
        if (bytes_equal_text(call->name, reductions[i]))
            return call_reduce(call, (enum reduction)i, out);
    }
    for (size_t i = 0; i < COUNT_OF(differences); i++) {
        if (bytes_equal_text(call->name, differences[i]))
            return call_differ(call, (enum difference)i, out);
    }
    for (size_t i = 0; i < COUNT_OF(moments); i++) {
        if (bytes_equal_text(call->name, moments[i]))
            return call_moment(call, (enum moment)i, out);
    }
    if (bytes_equal_text(call->name, "FIRST") || bytes_equal_text(call->name, "LAST"))
        return call_element(call, bytes_equal_text(call->name, "LAST"), out);
    *found = false;
    return false;
}

static bool is_elsewhere(struct bytes name)
{
    static const char *const names[] = { "ANOMALY_DETECTION_BAND", "DB_PERF_INSIGHTS", "LAMBDA",
                                         "SERVICE_QUOTA" };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (bytes_equal_text(name, names[i]))
            return true;
    }
    return false;
}

bool math_call(struct math_run *run, const struct math_node *node, struct math_value *out)
{
    struct call call = { .run = run, .name = node->text };
    bool found = false;
    if (is_elsewhere(node->text))
        return metric_math_fail(run->err, "Function '%.*s' is not supported",
                                BYTES_FMT(node->text));
    for (const struct math_node *child = node->first; child != NULL; child = child->next) {
        if (call.count == ARGUMENTS_MAX)
            return refuse(&call);
        if (!math_evaluate(run, child, &call.arguments[call.count++]))
            return false;
    }
    bool ok = call_named(&call, out, &found);
    if (!found)
        ok = call_family(&call, out, &found);
    if (!found)
        return metric_math_fail(run->err, "Function '%.*s' not found", BYTES_FMT(node->text));
    return ok;
}
