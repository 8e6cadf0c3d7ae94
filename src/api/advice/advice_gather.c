/* advice_gather.c -- see advice_gather.h. */
#include "api/advice/advice_gather.h"
#include <assert.h>
#include <string.h>
#include "advice/advice_history.h"
#include "api/insight/key_report.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "cloudwatch/alarm_definition.h"
#include "cloudwatch/alarms.h"
#include "insight/insight_report.h"
#include "insight/insights.h"
#include "insight/key_summary.h"
#include "table/catalogue.h"
#include "table/storage_error.h"
#include "table/table_runtime.h"
#include "table/table_stats.h"
#include "trigger/triggers.h"

enum { MERGED_KEYS = 1024 };

/* --- Once for all tables --- */

static void add_watched(struct advice_gathering *gathering, size_t *capacity,
                        const struct shape_list *dimensions)
{
    struct alarm_dimension *const *elements = dimensions->elements;
    for (size_t i = 0; i < dimensions->count; i++) {
        if (!bytes_equal_text(elements[i]->name, "TableName"))
            continue;
        if (gathering->watched_count == *capacity) {
            size_t wanted = *capacity * 2 + 16;
            gathering->watched = arena_grow(gathering->call->arena, gathering->watched,
                                            *capacity * sizeof *gathering->watched,
                                            wanted * sizeof *gathering->watched);
            *capacity = wanted;
        }
        gathering->watched[gathering->watched_count++] =
            arena_copy(gathering->call->arena, elements[i]->value);
    }
}

/* Alarms that watch a metric, or an expression over metrics. */
static void read_alarms(struct advice_gathering *gathering)
{
    struct alarms *alarms = api_alarms(gathering->call->api);
    struct arena *scratch = arena_create();
    struct bytes after = { 0 };
    struct alarm alarm;
    size_t capacity = 0;
    while (alarms_next(alarms, scratch, after, &alarm)) {
        const struct alarm_definition *definition = &alarm.definition;
        struct alarm_query *const *queries = definition->metrics.elements;
        add_watched(gathering, &capacity, &definition->dimensions);
        for (size_t i = 0; i < definition->metrics.count; i++) {
            if (queries[i]->metric_stat != NULL && queries[i]->metric_stat->metric != NULL)
                add_watched(gathering, &capacity, &queries[i]->metric_stat->metric->dimensions);
        }
        after = arena_copy(gathering->call->arena, definition->name);
        arena_reset(scratch);
    }
    arena_destroy(scratch);
}

void advice_gathering_init(struct advice_gathering *gathering, struct api_call *call,
                           int64_t since_ms)
{
    struct shape_counter *shapes = api_shapes(call->api);
    *gathering = (struct advice_gathering){ .call = call,
                                            .now_ms = clock_wall_ms(api_options(call->api)->clock),
                                            .since_ms = since_ms };
    if (shapes != NULL)
        gathering->shapes = shape_counter_read(shapes, call->arena, since_ms);
    struct trigger_statistics *triggers = arena_alloc(call->arena, TRIGGERS_MAX * sizeof *triggers);
    gathering->trigger_count =
        triggers_read_statistics(api_triggers(call->api), call->arena, triggers);
    gathering->triggers = triggers;
    read_alarms(gathering);
}

/* --- Keys --- */

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

/* "2026-11-16", "20261116", with or without a time; or seconds or milliseconds since 1970. */
static bool looks_like_time(struct bytes text)
{
    size_t digits = 0, dashes = 0;
    for (size_t i = 0; i < text.len && (is_digit(text.data[i]) || text.data[i] == '-'); i++) {
        digits += is_digit(text.data[i]);
        dashes += text.data[i] == '-';
    }
    bool has_century =
        text.len >= 7 && (memcmp(text.data, "19", 2) == 0 || memcmp(text.data, "20", 2) == 0);
    bool is_date = has_century && digits >= 6 && (dashes == 1 || dashes == 2 || digits == 8);
    bool is_epoch = digits == text.len && (digits == 10 || digits == 13) && text.data[0] == '1';
    return is_date || is_epoch;
}

static bool is_time_key(const struct advice_gathering *gathering,
                        const struct insight_target *target, struct bytes key)
{
    struct key_report_attribute attributes[KEY_REPORT_ATTRIBUTES_MAX];
    size_t count = 0;
    return key_report_read_key(gathering->call, target, INSIGHT_ACCESSED_PARTITION_KEYS, key,
                               attributes, &count) &&
           count > 0 && looks_like_time(attributes[0].text);
}

/* Minutes are kept for a day, so that is how far it looks. */
static int64_t keys_from_ms(const struct advice_gathering *gathering)
{
    int64_t day_ms = gathering->now_ms - INSIGHTS_MINUTES_KEPT_MS;
    return gathering->since_ms > day_ms ? gathering->since_ms : day_ms;
}

static enum engine_status open_keys(struct advice_gather *gather,
                                    const struct insight_target *target, struct advice_keys *out)
{
    const struct advice_gathering *gathering = gather->gathering;
    struct insights *insights = api_insights(gathering->call->api);
    int64_t from_ms = keys_from_ms(gathering);
    enum engine_status status = ENGINE_OK;
    gather->pieces = insight_report_open(
        gather->scratch,
        &(struct insight_report_options){ .insights = insights,
                                          .runtime = table_runtime(gather->table),
                                          .target = insight_target_id(target),
                                          .rule = INSIGHT_ACCESSED_PARTITION_KEYS,
                                          .from_ms = from_ms - from_ms % INSIGHTS_MINUTE_MS,
                                          .until_ms = gathering->now_ms + INSIGHTS_MINUTE_MS,
                                          .wall_ms = gathering->now_ms },
        &status);
    if (gather->pieces == NULL)
        return status;
    gather->merged = key_summary_create(MERGED_KEYS, insights_seed(insights));
    *out = (struct advice_keys){ .is_enabled = true, .from_ms = from_ms };
    return ENGINE_OK;
}

static void close_keys(struct advice_gather *gather)
{
    key_summary_destroy(gather->merged);
    insight_report_close(gather->pieces);
    gather->merged = NULL;
    gather->pieces = NULL;
}

static void add_piece(struct advice_gather *gather, const struct key_summary *piece,
                      struct advice_keys *out)
{
    struct insight_contributor top;
    key_summary_merge(gather->merged, piece);
    out->minutes++;
    if (insight_report_top(piece, &top, 1) == 0)
        return;
    double units = key_report_value(INSIGHT_ACCESSED_PARTITION_KEYS, top.weight);
    out->top_minute = units > out->top_minute ? units : out->top_minute;
}

static void sum_up_keys(struct advice_gather *gather, const struct insight_target *target,
                        struct advice_keys *out)
{
    struct key_summary *merged = gather->merged;
    struct insight_contributor top;
    out->total =
        key_report_value(INSIGHT_ACCESSED_PARTITION_KEYS, space_saving_total(merged->keys));
    out->distinct = hyperloglog_estimate(&merged->distinct);
    if (insight_report_top(merged, &top, 1) == 0)
        return;
    out->top = key_report_value(INSIGHT_ACCESSED_PARTITION_KEYS, top.weight);
    out->top_is_time = is_time_key(gather->gathering, target, top.key);
}

/* Opens the counters of keys, or reads a minute of them. ENGINE_END: nothing is left. */
static enum engine_status step_keys(struct advice_gather *gather,
                                    const struct index_definition *index, struct advice_keys *out)
{
    const struct insight_target target = { .table = gather->out->definition, .index = index };
    const struct key_summary *piece;
    int64_t time_ms;
    if ((insight_target_rules(&target) & 1U << INSIGHT_ACCESSED_PARTITION_KEYS) == 0)
        return ENGINE_END;
    if (gather->pieces == NULL)
        return open_keys(gather, &target, out);
    enum engine_status status = insight_report_next(gather->pieces, &time_ms, &piece);
    if (status == ENGINE_OK)
        add_piece(gather, piece, out);
    if (status == ENGINE_END)
        sum_up_keys(gather, &target, out);
    return status;
}

/* --- The rest --- */

static bool gather_stats(const struct advice_gathering *gathering, const struct table *table,
                         struct advice_table *out)
{
    struct table_stats stats, indexes[INDEXES_MAX];
    if (!operation_table_stats(gathering->call, table, &stats, indexes))
        return false;
    out->has_stats = true;
    out->item_count = stats.item_count;
    out->size = stats.size;
    for (size_t i = 0; i < out->definition->index_count; i++) {
        out->index_counts[i] = indexes[i].item_count;
        out->index_sizes[i] = indexes[i].size;
    }
    return true;
}

/* Those of a table follow one another. */
static void gather_shapes(const struct advice_gathering *gathering, struct advice_table *out)
{
    const struct shape_uses *shapes = &gathering->shapes;
    int64_t day_ms = gathering->now_ms - 24 * SHAPE_COUNTER_HOUR_MS;
    int64_t from_ms = gathering->since_ms > day_ms ? gathering->since_ms : day_ms;
    from_ms -= from_ms % SHAPE_COUNTER_HOUR_MS;
    out->counts_shapes = api_counts_shapes(gathering->call->api);
    out->shapes_from_ms = from_ms > out->started_ms ? from_ms : out->started_ms;
    if (out->definition->created_ms > out->shapes_from_ms)
        out->shapes_from_ms = out->definition->created_ms;
    for (size_t i = 0; i < shapes->count; i++) {
        if (shapes->uses[i].table_id != out->definition->id)
            continue;
        if (out->shape_count++ == 0)
            out->shapes = &shapes->uses[i];
    }
}

static void gather_others(const struct advice_gathering *gathering, const struct table *table,
                          struct advice_table *out)
{
    struct bytes name = out->definition->name;
    for (size_t i = 0; i < gathering->watched_count; i++)
        out->alarm_count += bytes_equal(gathering->watched[i], name);
    for (size_t i = 0; i < gathering->trigger_count; i++) {
        const struct trigger_statistics *trigger = &gathering->triggers[i];
        double lag_s = (double)trigger->lag_ms / 1000;
        if (!bytes_equal(trigger->table_name, name))
            continue;
        out->trigger_count++;
        out->stream_lag_s = lag_s > out->stream_lag_s ? lag_s : out->stream_lag_s;
    }
    out->collection_size_max = atomic_load(&table_runtime(table)->collection_size_max);
    out->collection_size_limit = api_options(gathering->call->api)->item_collection_size_max;
}

/* --- Steps --- */

void advice_gather_begin(struct advice_gather *gather, const struct advice_gathering *gathering,
                         const struct table *table, struct advice_table *out)
{
    *gather = (struct advice_gather){ .gathering = gathering,
                                      .table = table,
                                      .out = out,
                                      .arena = arena_create(),
                                      .scratch = arena_create() };
    out->definition = table_definition(table);
    out->now_ms = gathering->now_ms;
    out->since_ms = gathering->since_ms;
    out->started_ms = advice_history_started_ms(api_advice_history(gathering->call->api));
    /* Counting began with the table, if it is younger than the server. */
    if (out->window.from_ms < out->definition->created_ms)
        out->window.from_ms = out->definition->created_ms;
    gather_shapes(gathering, out);
    gather_others(gathering, table, out);
}

/* Goes to the next index, or to the next stage. */
static void go_ahead(struct advice_gather *gather)
{
    close_keys(gather);
    arena_reset(gather->scratch);
    if (gather->stage != ADVICE_GATHER_STATS &&
        gather->resource++ < gather->out->definition->index_count)
        return;
    gather->resource = 0;
    gather->stage++;
    advice_gather_close_samples(gather);
}

static bool step_resource(struct advice_gather *gather, const struct index_definition *index)
{
    struct advice_table *out = gather->out;
    size_t at = gather->resource - 1; /* Of an index. */
    bool ok = true;
    if (gather->stage == ADVICE_GATHER_KEYS) {
        enum engine_status status =
            step_keys(gather, index, index == NULL ? &out->keys : &out->index_keys[at]);
        if (status == ENGINE_OK)
            return true;
        ok = status == ENGINE_END ||
             storage_error_set(&gather->gathering->call->error, status, "GetAdvice");
    } else if (gather->stage == ADVICE_GATHER_USAGE) {
        ok =
            advice_gather_usage(gather, index, index == NULL ? &out->usage : &out->index_usage[at]);
    } else if (index == NULL ||
               (index->status == INDEX_ACTIVE && index->projection == PROJECTION_ALL)) {
        ok = advice_gather_items(gather, index,
                                 index == NULL ? &out->sample : &out->index_samples[at]);
    }
    go_ahead(gather);
    return ok;
}

enum advice_gather_status advice_gather_step(struct advice_gather *gather)
{
    const struct table_definition *definition = gather->out->definition;
    const struct index_definition *index =
        gather->resource == 0 ? NULL : &definition->indexes[gather->resource - 1];
    bool ok = true;
    assert(gather->stage != ADVICE_GATHER_END);
    if (gather->stage == ADVICE_GATHER_STATS) {
        ok = gather_stats(gather->gathering, gather->table, gather->out);
        go_ahead(gather);
    } else if (index != NULL && !index->global) {
        go_ahead(gather); /* A local index is a part of its table. */
    } else {
        ok = step_resource(gather, index);
    }
    if (!ok)
        return ADVICE_GATHER_FAILED;
    return gather->stage == ADVICE_GATHER_END ? ADVICE_GATHER_DONE : ADVICE_GATHER_GOES_ON;
}

void advice_gather_pause(struct advice_gather *gather)
{
    if (gather->pieces != NULL)
        insight_report_pause(gather->pieces);
    advice_gather_close_samples(gather);
}

void advice_gather_end(struct advice_gather *gather)
{
    close_keys(gather);
    advice_gather_close_samples(gather);
    arena_destroy(gather->scratch);
    arena_destroy(gather->arena);
}
