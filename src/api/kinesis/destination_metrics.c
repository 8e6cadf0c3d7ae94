/* destination_metrics.c -- see destination_metrics.h. */
#include "api/kinesis/destination_metrics.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timed_wait.h"
#include "cloudwatch/sample_set.h"
#include "cloudwatch/series.h"
#include "cloudwatch/unit.h"
#include "kinesis/destinations.h"

/* What was stored of a destination so far. */
struct stored_counts {
    char uuid[UUID_TEXT_SIZE];
    uint64_t throttled;
    uint64_t failed;
};

struct destination_metrics {
    struct destinations *destinations;
    struct series_store *store;
    struct stored_counts stored[DESTINATIONS_LIVE_MAX];
    size_t count;
};

struct destination_metrics *destination_metrics_create(struct destinations *destinations,
                                                       struct series_store *store)
{
    struct destination_metrics *metrics = memory_checked(calloc(1, sizeof *metrics));
    metrics->destinations = destinations;
    metrics->store = store;
    return metrics;
}

void destination_metrics_destroy(struct destination_metrics *metrics)
{
    free(metrics);
}

static void add(struct arena *arena, struct series_samples *out, int64_t now_ms,
                struct bytes table_name, const char *name, enum unit unit, struct sample_set set)
{
    struct series_dimension *dimensions = arena_alloc(arena, 2 * sizeof *dimensions);
    dimensions[0] =
        (struct series_dimension){ BYTES("DelegatedOperation"), BYTES("KinesisDataStreams") };
    dimensions[1] = (struct series_dimension){ BYTES("TableName"), table_name };
    const struct series_sample sample = { .key = { .namespace = BYTES("AWS/DynamoDB"),
                                                   .name = bytes_from_text(name),
                                                   .dimensions = dimensions,
                                                   .dimension_count = 2,
                                                   .unit = unit },
                                          .time_s = now_ms / 1000,
                                          .is_own = true,
                                          .set = set };
    series_samples_append(arena, out, &sample);
}

static struct stored_counts find_stored(const struct destination_metrics *metrics,
                                        struct bytes uuid)
{
    struct stored_counts none = { 0 };
    for (size_t i = 0; i < metrics->count; i++)
        if (memcmp(metrics->stored[i].uuid, uuid.data, UUID_TEXT_SIZE) == 0)
            return metrics->stored[i];
    memcpy(none.uuid, uuid.data, UUID_TEXT_SIZE);
    return none;
}

static void collect(struct destination_metrics *metrics, struct arena *arena, int64_t now_ms,
                    struct series_samples *out)
{
    struct destination_statistics statistics[DESTINATIONS_LIVE_MAX];
    struct stored_counts stored[DESTINATIONS_LIVE_MAX];
    size_t count = destinations_read_statistics(metrics->destinations, arena, statistics);
    for (size_t i = 0; i < count; i++) {
        const struct destination_statistics *now = &statistics[i];
        stored[i] = find_stored(metrics, now->uuid);
        uint64_t failed = now->records_failed + now->records_lost;
        if (now->records_throttled > stored[i].throttled)
            add(arena, out, now_ms, now->table_name, "ThrottledPutRecordCount", UNIT_COUNT,
                sample_set_of_value(1, (double)(now->records_throttled - stored[i].throttled)));
        if (failed > stored[i].failed)
            add(arena, out, now_ms, now->table_name, "FailedToReplicateRecordCount", UNIT_COUNT,
                sample_set_of_value(1, (double)(failed - stored[i].failed)));
        add(arena, out, now_ms, now->table_name, "AgeOfOldestUnreplicatedRecord", UNIT_MILLISECONDS,
            sample_set_of_value((double)now->lag_ms, 1));
        stored[i].throttled = now->records_throttled;
        stored[i].failed = failed;
    }
    memcpy(metrics->stored, stored, count * sizeof stored[0]);
    metrics->count = count;
}

int64_t destination_metrics_tick(void *context, int64_t now_ms)
{
    struct destination_metrics *metrics = context;
    struct arena *arena = arena_create();
    struct series_samples samples = { 0 };
    enum engine_status status = ENGINE_OK;
    collect(metrics, arena, now_ms, &samples);
    if (samples.count > 0 && series_write(metrics->store, arena, samples.samples, samples.count,
                                          NULL, NULL, &status) == SERIES_FAILED)
        log_write(LOG_WARN, "kinesis", "storing metrics: %s", engine_status_name(status));
    arena_destroy(arena);
    return TIMED_WAIT_FOREVER;
}
