/* collector.c -- when which minutes are collected; see collector.h. What is collected:
 * table_metrics.c and account_metrics.c. */
#include "cloudwatch/collector.h"
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "cloudwatch/collection.h"
#include "cloudwatch/latency_memory.h"
#include "cloudwatch/series.h"
#include "metric/meter.h"

enum {
    MINUTE_S = 60,
    MINUTE_MS = 60 * 1000,
    /* A clock that was set back by more than this starts a new count of minutes. Within it, minutes
     * that were stored already are not stored again. */
    STEP_BACK_MINUTES_MAX = 10,
};

struct collector {
    struct collector_options options;
    uint64_t run;
    uint64_t step;
    int64_t started_minute;
    /* Guarded by the store, which a round and a reader hold: */
    int64_t next_minute; /* All before it are stored. */
    struct latency_memory *latencies;
    /* A batch that is to be stored; count 0: none. */
    struct arena *arena;
    struct series_samples batch;
};

static int64_t now_ms(const struct collector *collector)
{
    return clock_wall_ms(collector->options.clock);
}

static struct collection begin_collection(struct collector *collector, struct arena *arena,
                                          int64_t minute, struct series_samples *out)
{
    return (struct collection){
        .arena = arena,
        .out = out,
        .meter = collector->options.meter,
        .catalogue = collector->options.catalogue,
        .latencies = collector->latencies,
        .minute = minute,
        .time_s = minute * MINUTE_S,
        .account_units_max = collector->options.account_units_max,
        .table_units_max = collector->options.table_units_max,
    };
}

/* What readers see of the minutes that are not stored. */
static void show_live(void *context, struct arena *arena, struct series_samples *out)
{
    struct collector *collector = context;
    int64_t open = now_ms(collector) / MINUTE_MS;
    for (size_t i = 0; i < collector->batch.count; i++)
        series_samples_append(arena, out, &collector->batch.samples[i]);
    int64_t first = collector->next_minute;
    if (first < open - METER_MINUTES + 1)
        first = open - METER_MINUTES + 1;
    for (int64_t minute = first; minute <= open; minute++) {
        struct collection collection = begin_collection(collector, arena, minute, out);
        collection.is_over = minute < open;
        collection.skips_zeros = minute >= open || minute <= collector->started_minute;
        collection_run(&collection);
    }
}

struct collector *collector_create(const struct collector_options *options)
{
    struct collector *collector = memory_checked(calloc(1, sizeof *collector));
    struct random random;
    random_init_from_system(&random);
    collector->options = *options;
    collector->run = random_next(&random);
    collector->started_minute = now_ms(collector) / MINUTE_MS;
    collector->next_minute = collector->started_minute;
    collector->latencies = latency_memory_create();
    collector->arena = arena_create();
    series_store_set_live(options->store, show_live, collector);
    return collector;
}

void collector_destroy(struct collector *collector)
{
    if (collector == NULL)
        return;
    series_store_set_live(collector->options.store, NULL, NULL);
    latency_memory_destroy(collector->latencies);
    arena_destroy(collector->arena);
    free(collector);
}

/* Stores the batch that was collected. */
static enum engine_status store_batch(struct collector *collector)
{
    const struct series_position position = { .run = collector->run, .step = collector->step };
    enum engine_status status;
    size_t refused = 0;
    struct arena *arena = arena_create();
    if (collector->batch.count == 0) {
        arena_destroy(arena);
        return ENGINE_OK;
    }
    enum series_outcome outcome =
        series_write(collector->options.store, arena, collector->batch.samples,
                     collector->batch.count, &position, &refused, &status);
    arena_destroy(arena);
    if (outcome == SERIES_FAILED)
        return status;
    if (outcome == SERIES_FULL)
        log_write(LOG_WARN, "metrics", "%zu metrics found no room: raise metrics-series-max",
                  refused);
    collector->batch = (struct series_samples){ 0 };
    arena_reset(collector->arena);
    return ENGINE_OK;
}

/* `is_last`: of this round. Until then all minutes share the latencies since the last round. */
static void collect(struct collector *collector, int64_t minute, bool is_over, bool is_last)
{
    struct collection collection =
        begin_collection(collector, collector->arena, minute, &collector->batch);
    assert(collector->batch.count == 0);
    collection.is_over = is_over;
    collection.skips_zeros = !is_over || minute == collector->started_minute;
    collection.is_final = is_last;
    if (is_last)
        latency_memory_begin(collector->latencies);
    collection_run(&collection);
    if (is_last)
        latency_memory_end(collector->latencies);
    collector->next_minute = minute + 1;
    collector->step++;
}

static enum engine_status store_until(struct collector *collector, int64_t end, int64_t open)
{
    enum engine_status status = store_batch(collector); /* What failed the last time. */
    if (open + STEP_BACK_MINUTES_MAX < collector->next_minute)
        collector->next_minute = open;
    if (collector->next_minute < open - METER_MINUTES + 1)
        collector->next_minute = open - METER_MINUTES + 1; /* The meter has no more. */
    while (status == ENGINE_OK && collector->next_minute < end) {
        int64_t minute = collector->next_minute;
        collect(collector, minute, minute < open, minute + 1 == end);
        status = store_batch(collector);
    }
    return status;
}

enum engine_status collector_run(struct collector *collector)
{
    int64_t now = now_ms(collector);
    series_store_hold(collector->options.store);
    enum engine_status status =
        store_until(collector, (now - METER_SETTLE_MS) / MINUTE_MS, now / MINUTE_MS);
    series_store_release(collector->options.store);
    return status;
}

enum engine_status collector_flush(struct collector *collector)
{
    int64_t open = now_ms(collector) / MINUTE_MS;
    series_store_hold(collector->options.store);
    enum engine_status status = store_until(collector, open + 1, open);
    series_store_release(collector->options.store);
    return status;
}
