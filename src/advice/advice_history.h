/* advice_history.h -- what the meter showed at the end of each of the last 24 hours.
 *
 * The meter counts since the server's start. To tell what happened within a window, somebody has to
 * remember what it showed when the window began: a few counters for each table, once an hour.
 *
 * Besides it adds up consistent reads in quiet minutes: those of minutes in which nobody wrote to
 * the table, nor in the minute before. They have read items older than a minute, so an eventually
 * consistent read would have shown the same.
 *
 * Memory is bounded: ADVICE_HISTORY_TABLES_MAX tables have a history; for others a window begins
 * with the server's start. Not for event loops. Any other thread may call.
 */
#ifndef STATOR_ADVICE_ADVICE_HISTORY_H
#define STATOR_ADVICE_ADVICE_HISTORY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "metric/meter.h"

struct advice_history;

enum {
    ADVICE_HISTORY_HOURS = 25, /* Snapshots of a table: a whole day lies between the ends. */
    ADVICE_HISTORY_TABLES_MAX = 200,
};

struct advice_index_counts {
    uint64_t id;
    uint64_t half_units[METER_DIRECTIONS];
    uint64_t key_range_throttles[METER_DIRECTIONS];
    uint64_t changes; /* Entries written, */
    uint64_t moves;   /* and of those that moved to another key. */
};

struct advice_counts {
    uint64_t half_units[METER_DIRECTIONS]; /* Of the table itself. */
    uint64_t consistent_half_units;
    uint64_t quiet_half_units; /* Of those, in quiet minutes. */
    uint64_t key_range_throttles[METER_DIRECTIONS];
    /* Items that were written, or refused by a condition or another transaction; by any operation.
     */
    uint64_t writes;
    uint64_t condition_failures;
    uint64_t conflicts;
    uint64_t items_put;
    uint64_t large_items;
    uint64_t huge_items;
    uint64_t stream_reads; /* GetRecords. */
    struct advice_index_counts indexes[INDEXES_MAX];
    size_t index_count;
};

/* `started_ms` is when the meter began to count. It must outlive the history. */
struct advice_history *advice_history_create(struct meter *meter, int64_t started_ms);
void advice_history_destroy(struct advice_history *history); /* NULL is allowed. */

int64_t advice_history_started_ms(const struct advice_history *history);

/* Once a minute, or more often. */
void advice_history_tick(struct advice_history *history, int64_t now_ms);

/* What was counted for a table since the time asked for, or since the latest hour before it that
 * was noted. */
struct advice_window {
    uint64_t table_id; /* Set by the caller. */
    bool has_counts;   /* False: the table was not used since the start, so nothing was counted. */
    struct advice_counts counts;
    int64_t from_ms;
};
void advice_history_read(struct advice_history *history, int64_t from_ms,
                         struct advice_window *windows, size_t count);

#endif
