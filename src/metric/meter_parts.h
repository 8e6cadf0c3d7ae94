/* meter_parts.h -- how the meter's counters lie in memory. For meter*.c only.
 *
 * A slot is a number that a table has in the meter. Slot METER_SLOT_NONE counts calls without a
 * table, METER_SLOT_OTHER all tables beyond the bound. The registry says which table and which
 * indexes have which slot; a lock guards it. A shard has counters for the slots that its thread
 * has used.
 *
 * Only a shard's thread writes its counters, by relaxed stores; whoever reads may see one of two
 * related counters a moment before the other. Counters carry the id of their table or index. When a
 * slot has passed to another table, the thread that next counts in it finds the wrong id, clears
 * the counters and only then writes the new id; a reader skips counters with another id.
 */
#ifndef STATOR_METRIC_METER_PARTS_H
#define STATOR_METRIC_METER_PARTS_H
#include <pthread.h>
#include <stdatomic.h>
#include "base/thread_number.h"
#include "metric/meter.h"

enum {
    METER_SLOT_NONE,
    METER_SLOT_OTHER,
    METER_SLOT_FIRST_TABLE,
    METER_CACHE_PLACES = 32, /* A power of two. */
    METER_PAGE_TABLES = 64,
    METER_PAGE_OPERATIONS = 8,
    METER_OPERATION_PAGES = METER_OPERATIONS_MAX / METER_PAGE_OPERATIONS,
    /* On average, what a table's counters may take over all threads. */
    METER_MEMORY_PER_TABLE = 32 * 1024,
};

typedef _Atomic uint64_t meter_counter;

static inline void meter_add(meter_counter *counter, uint64_t value)
{
    uint64_t before = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, before + value, memory_order_relaxed);
}
static inline uint64_t meter_get(const meter_counter *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* The minimum is kept as the maximum of its complement, so that zeros are an empty set. */
struct meter_set_counters {
    meter_counter count, sum, max, inverse_min;
};

/* The counters of a minute begin with its number, by which meter_minute_begin recycles them. */
struct meter_operation_minute {
    _Atomic int64_t minute;
    struct meter_set_counters latency_ns, returned_items, response_size;
    meter_counter system_errors, injected_errors, throttled[METER_VERBS];
};

struct meter_operation_counters {
    meter_counter successes;
    _Atomic(meter_counter *) failures; /* ERROR_CODE_COUNT of them; NULL: none yet. */
    struct histogram_recorder latency_ns;
    meter_counter request_size, response_size, items_read, items_returned, items_written;
    struct meter_operation_minute minutes[METER_MINUTES];
};

struct meter_operation_page {
    _Atomic(struct meter_operation_counters *) operations[METER_PAGE_OPERATIONS];
};

struct meter_units_minute {
    _Atomic int64_t minute;
    struct meter_set_counters half_units;
    meter_counter consistent_half_units;
    meter_counter throttles[METER_REASONS];
};

struct meter_units_counters {
    meter_counter half_units;
    meter_counter consistent_half_units; /* Of reads; a table's with its local indexes. */
    meter_counter throttles[METER_REASONS];
    struct meter_units_minute minutes[METER_MINUTES];
};

struct meter_index_counters {
    _Atomic uint64_t id;
    struct meter_units_counters units[METER_DIRECTIONS];
    struct {
        meter_counter operation; /* Plus 1; 0: free. */
        meter_counter items_read, items_returned;
    } reads[METER_INDEX_READERS_MAX];
    meter_counter changes, moves;
};

struct meter_table_minute {
    _Atomic int64_t minute;
    meter_counter condition_failures, expired_items;
    struct meter_set_counters conflicts;
};

struct meter_table_counters {
    _Atomic uint64_t id; /* 0 for the two pseudo tables. */
    _Atomic(struct meter_operation_page *) operations[METER_OPERATION_PAGES];
    struct meter_units_counters units[METER_DIRECTIONS];
    _Atomic(struct meter_index_counters *) indexes[METER_INDEXES_MAX]; /* As in the registry. */
    meter_counter item_sizes[CAPACITY_ITEM_SIZES], item_size_sum, large_items, huge_items;
    meter_counter condition_failures, conflicts, conflict_requests, expired_items, stream_records;
    struct meter_table_minute minutes[METER_MINUTES];
};

struct meter_table_page {
    _Atomic(struct meter_table_counters *) tables[METER_PAGE_TABLES];
};

struct meter_errors_minute {
    _Atomic int64_t minute;
    meter_counter user_errors;
};

/* Where the thread found the counters of a table and operation lately. */
struct meter_cached {
    uint64_t table_id; /* 0: nothing. */
    struct meter_table_counters *table;
    struct meter_operation_counters *operation;
    uint32_t operation_number;
    uint32_t slot;
};

struct meter_shard {
    /* The thread's own: the minute that is open until `minute_until_ns` of the monotonic clock. */
    int64_t minute;
    int64_t minute_until_ns;
    struct meter_cached cache[METER_CACHE_PLACES];
    meter_counter user_errors;
    struct meter_errors_minute errors[METER_MINUTES];
    _Atomic(struct histogram_recorder *) batches[METER_OPERATIONS_MAX];
    _Atomic(struct meter_table_page *) pages[]; /* meter->page_count */
};

/* --- The registry --- */

struct meter_slot_index {
    uint64_t id; /* 0: free. */
    char *name;
    bool global;
    int64_t missing_since; /* The minute in which it was first seen to be gone; 0: it is there. */
};

struct meter_slot {
    uint64_t id; /* 0: free. */
    char *name;
    int64_t missing_since;
    struct meter_slot_index *indexes; /* METER_INDEXES_MAX; NULL: none yet. */
};

struct meter {
    struct meter_options options;
    bool clock_is_virtual; /* Its time does not follow the monotonic clock. */
    size_t slot_count;
    size_t page_count;
    size_t memory_max;
    atomic_size_t memory;
    atomic_size_t free_slots; /* Also read without the lock, as a hint. */
    struct meter_slot *slots; /* Guarded by `lock`, as all of the registry. */
    size_t slots_reached;     /* All behind these were never taken. */
    pthread_mutex_t lock;
    pthread_mutex_t read_lock;   /* One reader at a time; taken before `lock`. */
    pthread_mutex_t shared_lock; /* Of the last shard, which threads without a number share. */
    _Atomic(struct meter_shard *) shards[THREAD_NUMBERS_MAX + 1];
};

/* meter_slots.c */

/* The slot of a table, which its runtime notes for the next time. */
uint32_t meter_slots_take(struct meter *meter, const struct table *table);
/* Whether the slot is still that table's. */
bool meter_slots_has(struct meter *meter, uint32_t slot, uint64_t table_id);
/* Where the counters of an index lie among those of its table; `definition` has it. */
size_t meter_slots_take_index(struct meter *meter, uint32_t slot,
                              const struct table_definition *definition,
                              const struct index_definition *index);
/* Frees the slots of tables and indexes that are gone, when nobody asks for their minutes any more.
 * Under the read lock, so that nobody is reading them. */
void meter_slots_sweep(struct meter *meter);
void meter_slots_deinit(struct meter *meter);

/* meter.c */
int64_t meter_wall_minute(const struct meter *meter);

#endif
