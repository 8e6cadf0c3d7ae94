/* slow_log.h -- the last requests that took long, with what they did. Never keys or values.
 *
 * A ring of fixed size. Only a request above the threshold takes its lock, so fast ones pay one
 * comparison.
 */
#ifndef STATOR_METRIC_SLOW_LOG_H
#define STATOR_METRIC_SLOW_LOG_H
#include <stddef.h>
#include <stdint.h>
#include "metric/capacity_use.h"
#include "metric/meter.h"

struct slow_log;

enum {
    SLOW_LOG_ENTRIES = 256,
    SLOW_LOG_NAME_MAX = 256, /* Of tables and indexes, with a NUL. */
    SLOW_LOG_THRESHOLD_MS = 100,
};

struct slow_request {
    int64_t wall_ms;    /* When it ended. */
    int64_t elapsed_ns; /* 0: an entry that was never used. */
    unsigned operation; /* As in the meter. */
    enum error_code error;
    char table[SLOW_LOG_NAME_MAX]; /* The first one; empty: none. */
    char index[SLOW_LOG_NAME_MAX]; /* The one that was read; empty: the table. */
    uint32_t table_count;
    uint32_t batch_count;
    uint64_t items_read, items_returned, items_written;
    uint64_t read_half_units, write_half_units;
    uint64_t request_size, response_size;
    uint32_t pause_count; /* How often it gave way to others. */
    int64_t queue_ns;     /* How long it waited in queues, before it ran and after a pause. */
};

/* `threshold_ns` 0: nothing is kept. */
struct slow_log *slow_log_create(int64_t threshold_ns);
void slow_log_destroy(struct slow_log *log); /* NULL is allowed. */

int64_t slow_log_threshold_ns(const struct slow_log *log); /* INT64_MAX if nothing is kept. */
/* Any thread. */
void slow_log_note(struct slow_log *log, const struct meter_call *call, int64_t wall_ms,
                   uint32_t pause_count, const struct capacity_use *uses, size_t use_count);
/* Copies the kept ones, the slowest first, at most `max`. Returns how many. */
size_t slow_log_read(struct slow_log *log, struct slow_request *out, size_t max);

#endif
