/* alarm_source.c -- see alarm_source.h. */
#include "cloudwatch/alarm_source.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/memory.h"
#include "cloudwatch/metric_query.h"
#include "cloudwatch/series.h"
#include "cloudwatch/statistic.h"
#include "cloudwatch/unit.h"
#include "model/error.h"

enum { READS_PER_READER_MAX = 256 };

/* One metric that an alarm watches. */
struct watched {
    struct series_key key;
    struct statistic statistic;
    bool ignores_few; /* EvaluateLowSampleCountPercentile is "ignore". */
};

static struct series_key key_of(struct arena *arena, struct bytes namespace, struct bytes name,
                                const struct shape_list *list, struct bytes unit)
{
    struct alarm_dimension *const *dimensions = list->elements;
    struct series_dimension *copies = arena_alloc(arena, (list->kept + 1) * sizeof *copies);
    struct series_key key = { .namespace = namespace,
                              .name = name,
                              .dimensions = copies,
                              .dimension_count = list->kept,
                              .unit = UNIT_ANY };
    for (size_t i = 0; i < list->kept; i++)
        copies[i] =
            (struct series_dimension){ .name = dimensions[i]->name, .value = dimensions[i]->value };
    if (unit.data != NULL && !unit_parse(unit, &key.unit))
        key.unit = UNIT_ANY; /* The shape has excluded it. */
    return key;
}

static bool find_watched(struct arena *arena, const struct alarm_definition *definition,
                         struct watched *out)
{
    const struct alarm_query *query = alarm_definition_watched(definition);
    struct bytes statistic =
        definition->statistic.data != NULL ? definition->statistic : definition->extended_statistic;
    *out = (struct watched){ 0 };
    if (query == NULL) {
        out->key = key_of(arena, definition->namespace, definition->metric_name,
                          &definition->dimensions, definition->unit);
        out->ignores_few =
            bytes_equal_text(definition->evaluate_low_sample_count_percentile, "ignore");
    } else {
        const struct alarm_metric_stat *stat = query->metric_stat;
        if (stat == NULL)
            return false;
        statistic = stat->stat;
        out->key = key_of(arena, stat->metric->namespace, stat->metric->name,
                          &stat->metric->dimensions, stat->unit);
    }
    return statistic_parse(statistic, &out->statistic);
}

/* The service's rule: a percentile needs 10/(1-p) samples in its upper half, 10/p in its lower. */
static bool has_too_few(const struct watched *watched, double sample_count)
{
    if (!watched->ignores_few || watched->statistic.kind != STATISTIC_PERCENTILE)
        return false;
    double share = watched->statistic.high / 100;
    double rest = share >= 0.5 ? 1 - share : share;
    return rest > 0 && sample_count < 10 / rest * (1 - 1e-9); /* 1 - 0.9 is a bit below 0.1. */
}

/* Bins ascend, points descend. Both begin at the same times. */
static void fill_points(const struct watched *watched, const struct series_bins *bins,
                        int64_t period_s, struct alarm_point *points, size_t count)
{
    int64_t first_s = points[count - 1].start_s;
    for (size_t i = 0; i < bins->count; i++) {
        const struct series_bin *bin = &bins->bins[i];
        size_t index = (size_t)((bin->start_s - first_s) / period_s);
        assert(bin->start_s >= first_s && index < count);
        struct alarm_point *point = &points[count - 1 - index];
        point->present = statistic_value(&watched->statistic, &bin->set, &point->value);
        point->sample_count = bin->set.count;
        point->has_too_few = has_too_few(watched, bin->set.count);
    }
}

static bool read_metric(struct series_reader *reader, const struct watched *watched,
                        int64_t period_s, struct alarm_point *points, size_t count)
{
    struct series_bins bins = { 0 };
    if (series_read(reader, &watched->key, period_s, points[count - 1].start_s,
                    points[0].start_s + period_s, &bins) != ENGINE_OK)
        return false;
    fill_points(watched, &bins, period_s, points, count);
    return true;
}

/* --- Expressions --- */

static struct metric_query query_of(struct arena *arena, const struct alarm_query *query)
{
    const struct alarm_metric_stat *stat = query->metric_stat;
    struct metric_query out = { .id = query->id, .expression = query->expression };
    out.period_s = query->period.present ? query->period.value : 0;
    if (stat == NULL)
        return out;
    out.source =
        (struct metric_source){ .key = key_of(arena, stat->metric->namespace, stat->metric->name,
                                              &stat->metric->dimensions, stat->unit),
                                .statistic = stat->stat,
                                .period_s = stat->period.value };
    bool known = statistic_parse(stat->stat, &out.statistic);
    assert(known); /* By alarm_definition_check. */
    return out;
}

/* NULL with `err` set, or if the store cannot be read. */
static const struct math_value *run_queries(struct series_reader *reader, struct arena *arena,
                                            const struct alarm_definition *definition,
                                            int64_t start_s, int64_t end_s,
                                            struct metric_math_error *err)
{
    struct alarm_query *const *given = definition->metrics.elements;
    const struct alarm_query *watched = alarm_definition_watched(definition);
    struct metric_query_run run = { .arena = arena,
                                    .reader = reader,
                                    .count = definition->metrics.kept,
                                    .start_s = start_s,
                                    .end_s = end_s,
                                    .now_s = end_s };
    run.queries = arena_alloc(arena, run.count * sizeof *run.queries);
    for (size_t i = 0; i < run.count; i++)
        run.queries[i] = query_of(arena, given[i]);
    if (!metric_query_run(&run, err))
        return NULL;
    for (size_t i = 0; i < run.count; i++)
        if (given[i] == watched)
            return &run.queries[i].value;
    return NULL;
}

/* Points of other periods than the alarm's are left out. */
static void fill_from_series(const struct math_series *series, int64_t period_s,
                             struct alarm_point *points, size_t count)
{
    int64_t first_s = points[count - 1].start_s;
    for (size_t i = 0; i < series->count; i++) {
        int64_t since_s = series->times[i] - first_s;
        if (since_s < 0 || since_s % period_s != 0 || since_s / period_s >= (int64_t)count)
            continue;
        struct alarm_point *point = &points[count - 1 - (size_t)(since_s / period_s)];
        point->present = true;
        point->value = series->values[i];
    }
}

static bool read_expression(struct series_reader *reader, struct arena *arena,
                            const struct alarm_definition *definition, int64_t period_s,
                            struct alarm_point *points, size_t count)
{
    struct metric_math_error ignored;
    const struct math_value *value =
        run_queries(reader, arena, definition, points[count - 1].start_s,
                    points[0].start_s + period_s, &ignored);
    if (value == NULL || value->kind != MATH_SERIES)
        return false;
    fill_from_series(value->series, period_s, points, count);
    return true;
}

/* --- A round of reads --- */

struct alarm_source {
    struct series_store *store;
    struct arena *arena; /* What the reader keeps. */
    struct series_reader *reader;
    size_t read_count;
};

struct alarm_source *alarm_source_create(struct series_store *store)
{
    struct alarm_source *source = memory_checked(calloc(1, sizeof *source));
    source->store = store;
    source->arena = arena_create();
    return source;
}

void alarm_source_end(void *context)
{
    struct alarm_source *source = context;
    series_reader_close(source->reader);
    source->reader = NULL;
    source->read_count = 0;
    arena_reset(source->arena);
}

void alarm_source_destroy(void *context)
{
    struct alarm_source *source = context;
    if (source == NULL)
        return;
    alarm_source_end(source);
    arena_destroy(source->arena);
    free(source);
}

/* The round's reader. A new one now and then, because it keeps in memory what it has read. */
static struct series_reader *reader_of(struct alarm_source *source)
{
    enum engine_status status;
    if (source->read_count++ == READS_PER_READER_MAX)
        alarm_source_end(source);
    if (source->reader == NULL)
        source->reader = series_reader_open(source->store, source->arena, &status);
    return source->reader;
}

bool alarm_source_read(void *context, struct arena *arena,
                       const struct alarm_definition *definition, int64_t period_s,
                       struct alarm_point *points, size_t count)
{
    struct watched watched;
    struct series_reader *reader = reader_of(context);
    if (reader == NULL)
        return false;
    return find_watched(arena, definition, &watched)
               ? read_metric(reader, &watched, period_s, points, count)
               : read_expression(reader, arena, definition, period_s, points, count);
}

/* --- Checks --- */

/* The service has no SEARCH in alarms. Texts in quotes are skipped. */
static bool uses_search(struct bytes expression)
{
    uint8_t quote = 0;
    for (size_t i = 0; i + 6 <= expression.len; i++) {
        uint8_t symbol = expression.data[i];
        if (quote != 0 || symbol == '\'' || symbol == '"') {
            quote = quote == 0 ? symbol : symbol == quote ? 0 : quote;
            continue;
        }
        if (strncasecmp((const char *)expression.data + i, "SEARCH", 6) == 0)
            return true;
    }
    return false;
}

static bool check_value(const struct math_value *value, const struct alarm_query *watched,
                        struct error *err)
{
    if (value->kind == MATH_SERIES)
        return true;
    if (value->kind == MATH_ARRAY)
        return error_validation(err, "Metrics expression that return multi time series are only "
                                     "allowed for MetricsInsights expression with an ORDER BY "
                                     "clause");
    return error_validation(err, "Error in expression '%.*s': the result is not a time series",
                            BYTES_FMT(watched->id));
}

bool alarm_source_check(struct series_store *store, struct arena *arena,
                        const struct alarm_definition *definition, int64_t now_s, struct error *err)
{
    struct alarm_query *const *queries = definition->metrics.elements;
    struct metric_math_error problem = { .text = "The samples cannot be read" };
    int64_t period_s = alarm_definition_period_s(definition);
    enum engine_status status;
    bool has_expression = false;
    for (size_t i = 0; i < definition->metrics.kept; i++) {
        struct bytes expression = queries[i]->expression;
        has_expression |= expression.data != NULL;
        if (expression.data != NULL && uses_search(expression))
            return error_validation(err,
                                    "Error in expression '%.*s': SEARCH is not supported on "
                                    "Metric Alarms.",
                                    BYTES_FMT(queries[i]->id));
    }
    if (!has_expression)
        return true;
    struct series_reader *reader = series_reader_open(store, arena, &status);
    if (reader == NULL)
        return error_set(err, ERROR_CW_INTERNAL, "%s", problem.text);
    const struct math_value *value =
        run_queries(reader, arena, definition, now_s - period_s, now_s, &problem);
    bool ok = value != NULL ? check_value(value, alarm_definition_watched(definition), err)
                            : error_validation(err, "%s", problem.text);
    series_reader_close(reader);
    return ok;
}
