/* shape_counter.h -- how often which expressions were used, by the hour, in bounded memory.
 *
 * Counters are divided into shards. A thread counts into the first one that nobody is using; if all
 * are in use, the event is only counted as missed. So counting never waits. Each shard is a hash
 * table whose places hold a few shapes each: in a full place the shape that was used least gives
 * way, and what it had counted is added to that of the others. A client that sends a million
 * different expressions therefore costs no memory beyond the bound, and it displaces mostly its
 * own.
 *
 * Never values: see expression_shape.h.
 */
#ifndef STATOR_ADVICE_SHAPE_COUNTER_H
#define STATOR_ADVICE_SHAPE_COUNTER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "advice/expression_shape.h"
#include "base/bytes.h"

struct arena;
struct shape_counter;

enum {
    SHAPE_COUNTER_SHARDS = 8,
    SHAPE_COUNTER_WAYS = 8,   /* Shapes of one place. */
    SHAPE_COUNTER_HOURS = 25, /* The open one, and a day. */
    SHAPE_COUNTER_SHAPES_DEFAULT = 2048,
    SHAPE_COUNTER_SHAPES_MAX = 65536,
};
#define SHAPE_COUNTER_HOUR_MS INT64_C(3600000)

struct shape_counts {
    uint64_t calls; /* That succeeded, or failed by their condition. */
    uint64_t condition_failures;
    uint64_t items_read;
    uint64_t items_returned;
    uint64_t empty_pages; /* Nothing was returned, and there was more to read. */
    uint64_t half_units;  /* Of table and indexes. */
    uint64_t request_size;
    uint64_t put_size; /* Of items put. */
};

/* `shapes_max`: kept in memory, over all shards; at least one place of each shard is. */
struct shape_counter *shape_counter_create(size_t shapes_max);
void shape_counter_destroy(struct shape_counter *counter); /* NULL is allowed. */

struct shape_event {
    uint64_t table_id;
    const char *operation; /* Static, compared by its address. */
    const struct expression_shape *shape;
    struct shape_counts counts;
    int64_t wall_ms;
};
/* Any thread; never waits. */
void shape_counter_count(struct shape_counter *counter, const struct shape_event *event);

/* One shape, over all shards. */
struct shape_use {
    uint64_t table_id;
    uint64_t index_id; /* 0: the table. */
    const char *operation;
    enum expression_shape_kind kind;
    bool has_filter;
    bool is_projected;        /* Only some attributes were asked for, or only the count. */
    uint32_t projected_count; /* How many. */
    struct bytes text;
    int64_t first_ms; /* First seen; since then it was never displaced. */
    int64_t last_ms;
    struct shape_counts counts;
};
struct shape_uses {
    struct shape_use *uses; /* Those of a table, and of an index, in a row. */
    size_t count;
    struct shape_counts other; /* Of shapes that gave way. */
    uint64_t missed;           /* Calls that were not counted at all, since the start. */
    size_t memory;
};
/* What was counted in hours that end after `from_ms`. The result lives in the arena. */
struct shape_uses shape_counter_read(struct shape_counter *counter, struct arena *arena,
                                     int64_t from_ms);
/* What all shapes may occupy. */
size_t shape_counter_memory_max(size_t shapes_max);

#endif
