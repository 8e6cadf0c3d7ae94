/* replication_metrics.c -- see replication_metrics.h. */
#include "api/replica/replication_metrics.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/timed_wait.h"
#include "cloudwatch/sample_set.h"
#include "cloudwatch/series.h"
#include "cloudwatch/unit.h"
#include "model/table_definition.h"
#include "replica/replicas.h"
#include "table/catalogue.h"

#define US_PER_MS 1e3

static bool is_global(const struct table_definition *table, void *context)
{
    (void)context;
    return table->replicas.count > 0;
}

static void add(struct arena *arena, struct series_samples *out, int64_t now_ms,
                const struct table_definition *table, struct bytes region,
                const struct replica_latency *latency)
{
    struct series_dimension *dimensions = arena_alloc(arena, 2 * sizeof *dimensions);
    dimensions[0] =
        (struct series_dimension){ BYTES("ReceivingRegion"), arena_copy(arena, region) };
    dimensions[1] = (struct series_dimension){ BYTES("TableName"), arena_copy(arena, table->name) };
    const struct series_sample sample = {
        .key = { .namespace = BYTES("AWS/DynamoDB"),
                 .name = BYTES("ReplicationLatency"),
                 .dimensions = dimensions,
                 .dimension_count = 2,
                 .unit = UNIT_MILLISECONDS },
        .time_s = now_ms / 1000,
        .is_own = true,
        .set = sample_set_of_statistics((double)latency->count, (double)latency->sum_us / US_PER_MS,
                                        (double)latency->min_us / US_PER_MS,
                                        (double)latency->max_us / US_PER_MS),
    };
    series_samples_append(arena, out, &sample);
}

static void collect(struct api *api, struct arena *arena, int64_t now_ms,
                    struct series_samples *out)
{
    struct bytes after = BYTES("");
    struct table *table;
    while ((table = catalogue_find_next(api_catalogue(api), after, is_global, NULL)) != NULL) {
        const struct table_definition *definition = table_definition(table);
        after = arena_copy(arena, definition->name);
        for (size_t i = 0; i < definition->replicas.count; i++) {
            struct bytes region = definition->replicas.members[i].region;
            struct replica_latency latency;
            if (replicas_take_latency(api_replicas(api), definition, region, &latency))
                add(arena, out, now_ms, definition, region, &latency);
        }
        table_release(table);
    }
}

int64_t replication_metrics_tick(void *context, int64_t now_ms)
{
    struct api *api = context;
    struct arena *arena = arena_create();
    struct series_samples samples = { 0 };
    enum engine_status status = ENGINE_OK;
    collect(api, arena, now_ms, &samples);
    if (samples.count > 0 && series_write(api_series(api), arena, samples.samples, samples.count,
                                          NULL, NULL, &status) == SERIES_FAILED)
        log_write(LOG_WARN, "replica", "storing metrics: %s", engine_status_name(status));
    arena_destroy(arena);
    return TIMED_WAIT_FOREVER;
}
