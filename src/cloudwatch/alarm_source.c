/* alarm_source.c -- see alarm_source.h. */
#include "cloudwatch/alarm_source.h"
#include <assert.h>
#include "base/arena.h"
#include "cloudwatch/series.h"
#include "cloudwatch/statistic.h"
#include "cloudwatch/unit.h"

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

bool alarm_source_read(void *context, struct arena *arena,
                       const struct alarm_definition *definition, int64_t period_s,
                       struct alarm_point *points, size_t count)
{
    struct watched watched;
    struct series_bins bins = { 0 };
    enum engine_status status;
    if (!find_watched(arena, definition, &watched))
        return false;
    struct series_reader *reader = series_reader_open(context, arena, &status);
    if (reader == NULL)
        return false;
    status = series_read(reader, &watched.key, period_s, points[count - 1].start_s,
                         points[0].start_s + period_s, &bins);
    if (status == ENGINE_OK)
        fill_points(&watched, &bins, period_s, points, count);
    series_reader_close(reader);
    return status == ENGINE_OK;
}
