/* latency_memory.h -- what the meter's latency histograms were when they were last stored.
 *
 * The meter counts latencies since the server's start. The distribution of a minute is the
 * difference from the last time. Remembers only buckets that are not empty, of the tables and
 * operations that the meter has; forgets those that it does not show any more.
 */
#ifndef STATOR_CLOUDWATCH_LATENCY_MEMORY_H
#define STATOR_CLOUDWATCH_LATENCY_MEMORY_H
#include <stdint.h>
#include "metric/histogram.h"

struct latency_memory;

struct latency_memory *latency_memory_create(void);
void latency_memory_destroy(struct latency_memory *memory);

/* Replaces a histogram of a table's operation by its difference from what is remembered. */
void latency_memory_subtract(const struct latency_memory *memory, uint64_t table_id,
                             unsigned operation, struct histogram *histogram);
/* Remembers it, in a round that begins with latency_memory_begin; latency_memory_end forgets all
 * that the round did not name. */
void latency_memory_begin(struct latency_memory *memory);
void latency_memory_set(struct latency_memory *memory, uint64_t table_id, unsigned operation,
                        const struct histogram *histogram);
void latency_memory_end(struct latency_memory *memory);

#endif
