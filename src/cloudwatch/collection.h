/* collection.h -- the samples of DynamoDB's metrics of one minute: for collector.c alone.
 *
 * What exists with which dimensions, and when: every minute of an active table its consumed units,
 * zeros included; every fifth minute what is provisioned; the rest only if it happened.
 */
#ifndef STATOR_CLOUDWATCH_COLLECTION_H
#define STATOR_CLOUDWATCH_COLLECTION_H
#include <stdbool.h>
#include <stdint.h>
#include "cloudwatch/sample_set.h"
#include "cloudwatch/unit.h"

struct arena;
struct catalogue;
struct latency_memory;
struct meter;
struct series_dimension;
struct series_samples;
struct table_definition;

enum { COLLECTION_SPARSE_MINUTES = 5 };

struct collection {
    struct arena *arena;
    struct series_samples *out;
    struct meter *meter;
    struct catalogue *catalogue;
    struct latency_memory *latencies;
    int64_t minute;
    int64_t time_s;   /* Its first second. */
    bool is_over;     /* The minute is not open any more. */
    bool skips_zeros; /* A later collection of the same minute may bring more. */
    bool is_final;    /* The latencies of this one are remembered. */
    /* See struct collector_options. */
    const int64_t *account_units_max;
    const int64_t *table_units_max;
    /* Ids of tables whose consumption was added. */
    uint64_t *seen;
    size_t seen_count;
    size_t seen_capacity;
};

void collection_run(struct collection *collection);

/* Adds a sample of AWS/DynamoDB. The dimensions are copied; their texts are not. */
void collection_add(struct collection *collection, const char *name, enum unit unit,
                    const struct series_dimension *dimensions, size_t dimension_count,
                    const struct sample_set *set);

/* table_metrics.c: what the meter has counted for each table. */
void table_metrics_collect(struct collection *collection);
/* account_metrics.c: what is provisioned and what an account may use; and the zeros. */
void account_metrics_collect(struct collection *collection);

struct meter_table_reading;
/* Adds the consumed units of a table and its global indexes: `reading` NULL, none. */
void table_metrics_add_consumed(struct collection *collection,
                                const struct table_definition *definition,
                                const struct meter_table_reading *reading);
#endif
