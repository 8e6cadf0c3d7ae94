/* meter.h -- counts every call: per table, index, operation and outcome.
 *
 * Each thread counts into memory of its own (a shard), found by its thread number and by a slot
 * number in the table's runtime: no hash, no lock, no cache line that another core writes. Whoever
 * reads adds the shards up. Two kinds of numbers are kept:
 *
 * - totals since the server's start, for Prometheus, `stator top` and the adviser;
 * - statistic sets (count, sum, minimum, maximum) for each of the last METER_MINUTES minutes of the
 *   wall clock, the open one included, for CloudWatch.
 *
 * Memory is bounded: `tables_max` tables have counters of their own, and all others share those of
 * METER_OTHER_TABLES. A deleted table's slot is used again when its minutes are
 * over. Never does the meter see keys, items or the names that a request asks for in vain.
 */
#ifndef STATOR_METRIC_METER_H
#define STATOR_METRIC_METER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "metric/capacity_use.h"
#include "metric/histogram.h"
#include "model/error.h"
#include "model/limits.h"
#include "model/table_definition.h"

struct catalogue;
struct clock;
struct meter;
struct table;

enum {
    METER_MINUTES = 4, /* How many minutes are kept, with the open one. */
    /* A minute changes no more this long after its end: a call may just be counting. */
    METER_SETTLE_MS = 1000,
    METER_OPERATIONS_MAX = 192,
    METER_TABLES_DEFAULT = TABLES_MAX,
    METER_TABLES_MAX = 10000,
    /* Indexes of a table that have counters of their own, with those that were deleted lately. */
    METER_INDEXES_MAX = INDEXES_MAX + 15,
    METER_INDEX_READERS_MAX = 4, /* Operations that read indexes: Query, Scan, ExecuteStatement. */
};
#define METER_OTHER_TABLES "(other)" /* No table can have this name. */
#define METER_US_PER_MINUTE INT64_C(60000000)

enum meter_direction {
    METER_READ = CAPACITY_READ,
    METER_WRITE = CAPACITY_WRITE,
    METER_DIRECTIONS,
};

/* Why something was throttled; names as in Prometheus and in the service's reasons. */
enum meter_reason {
    METER_PROVISIONED_THROUGHPUT,
    METER_KEY_RANGE_THROUGHPUT,
    METER_MAX_ON_DEMAND_THROUGHPUT,
    METER_ACCOUNT_LIMIT,
    METER_REASONS,
};
const char *meter_reason_name(enum meter_reason reason); /* "ProvisionedThroughputExceeded" */

/* What a PartiQL request does. A batch or transaction has METER_VERB_SELECT if it reads, and any of
 * the others if it writes. */
enum meter_verb {
    METER_VERB_NONE, /* It is no such request, or its statement was not understood. */
    METER_VERB_SELECT,
    METER_VERB_INSERT,
    METER_VERB_UPDATE,
    METER_VERB_DELETE,
    METER_VERBS,
};

struct meter_operation {
    const char *name;     /* As shown; static. Unique. */
    bool has_user_errors; /* DynamoDB's and its streams' operations: they count as UserErrors. */
    /* Its answers are lists of items or records: minutes show how many, and of what size. */
    bool returns_items;
};

struct meter_options {
    struct catalogue *catalogue;              /* Says which tables there are. Outlives the meter. */
    const struct clock *clock;                /* Whose wall time has the minutes. */
    const struct meter_operation *operations; /* Borrowed. A call names one by its index. */
    size_t operation_count;                   /* At most METER_OPERATIONS_MAX. */
    size_t tables_max;                        /* 0: METER_TABLES_DEFAULT. */
};

struct meter *meter_create(const struct meter_options *options);
/* When no thread counts any more. NULL is allowed. */
void meter_destroy(struct meter *meter);

/* --- Counting: any thread, never waits. ---
 *
 * One exception: a table's or index's first call after the start takes a short lock. */

struct meter_call {
    unsigned operation; /* Index in meter_options.operations. */
    enum error_code error;
    int64_t now_ns; /* clock_monotonic_ns at its end. */
    int64_t elapsed_ns;
    size_t request_size; /* Bodies, in bytes. */
    size_t response_size;
    uint32_t batch_count; /* Items or statements of a batch or transaction; 0: it is none. */
    enum meter_verb verb;
    bool is_throttled; /* By limits, although its error, if any, does not say so. */
    int64_t queue_ns;  /* How much of `elapsed_ns` it waited in queues; for the slow log. */
};

/* Counts a call that has ended, with what it did to its tables. It counts for each of them, or for
 * no table if it has none. */
void meter_count_call(struct meter *meter, const struct meter_call *call,
                      const struct capacity_use *uses, size_t use_count);

/* Counts a call that an injected fault has made fail, for each of its tables. Nothing else of it is
 * counted. `now_ns`: clock_monotonic_ns at its end. */
void meter_count_injected(struct meter *meter, unsigned operation, int64_t now_ns,
                          const struct capacity_use *uses, size_t use_count);

/* Counts an item, or its entry in `index`, that was not served. `index` is one of the table's, or
 * NULL for the table itself. That a whole request was throttled is counted by its outcome. */
void meter_count_throttle(struct meter *meter, const struct table *table,
                          const struct index_definition *index, enum meter_direction direction,
                          enum meter_reason reason, uint64_t count);
/* Counts items that time to live has deleted. Their stream records are counted by the next one. */
void meter_count_expired(struct meter *meter, const struct table *table, uint64_t count);
/* Counts records of the table's stream that no call has written. */
void meter_count_stream_records(struct meter *meter, const struct table *table, uint64_t count);

/* --- Reading: any thread that may wait, one at a time. --- */

struct meter_set {
    uint64_t count; /* 0: the others mean nothing. */
    uint64_t sum;
    uint64_t min;
    uint64_t max;
};

/* Of an operation on a table. */
struct meter_operation_reading {
    bool used;                        /* False: everything is zero. */
    uint64_t calls[ERROR_CODE_COUNT]; /* By outcome: ERROR_NONE for successes. */
    struct histogram latency_ns;      /* Of successes. */
    uint64_t request_size;
    uint64_t response_size;
    uint64_t items_read; /* Not of indexes: those are in meter_index_reading. */
    uint64_t items_returned;
    uint64_t items_written;
    struct {                             /* Of the minute asked for. */
        struct meter_set latency_ns;     /* Of successes, as are the next two. */
        struct meter_set returned_items; /* Only of an operation that returns_items. */
        struct meter_set response_size;
        uint64_t system_errors;          /* HTTP 500 and above. */
        uint64_t throttled[METER_VERBS]; /* Requests. */
        uint64_t injected_errors;        /* Requests that a fault has made fail. */
    } minute;
};

struct meter_units_reading {
    uint64_t half_units;
    uint64_t consistent_half_units; /* Of reads by ConsistentRead; a table's with local indexes. */
    uint64_t throttles[METER_REASONS];
    struct {
        /* One sample for each request. A table's includes its local indexes. */
        struct meter_set half_units;
        uint64_t consistent_half_units;
        uint64_t throttles[METER_REASONS];
    } minute;
};

struct meter_index_reading {
    struct bytes name;
    bool exists; /* False: deleted; its minutes are still to be collected. */
    bool global;
    struct meter_units_reading units[METER_DIRECTIONS];
    struct {
        unsigned operation;
        uint64_t items_read;
        uint64_t items_returned;
    } reads[METER_INDEX_READERS_MAX];
    size_t read_count;
    uint64_t changes; /* Entries written. */
    uint64_t moves;   /* Of those: that moved to another key, which costs two writes. */
};

struct meter_table_reading {
    struct bytes name; /* Empty: calls without a table. METER_OTHER_TABLES: the rest. */
    uint64_t id;       /* 0 for those two. */
    /* The table as it is now; NULL: deleted, its minutes are still to be collected; or one of the
     * two above. */
    const struct table_definition *definition;
    bool is_pseudo;                                     /* One of the two above. */
    const struct meter_operation_reading *operations;   /* One for each of meter_options'. */
    struct meter_units_reading units[METER_DIRECTIONS]; /* Of the table itself. */
    const struct meter_index_reading *indexes;
    size_t index_count;
    uint64_t item_sizes[CAPACITY_ITEM_SIZES]; /* Items written with a size up to 2^i bytes, and
                                              above the one before. */
    uint64_t item_size_sum;
    uint64_t large_items;        /* Of those: above CAPACITY_LARGE_ITEM_SIZE, */
    uint64_t huge_items;         /* and above CAPACITY_HUGE_ITEM_SIZE. */
    uint64_t condition_failures; /* Items. */
    uint64_t conflicts;          /* Items. */
    uint64_t conflict_requests;
    uint64_t expired_items;
    uint64_t stream_records;
    struct {
        uint64_t condition_failures;
        struct meter_set conflicts; /* One sample for each request, of its number of items. */
        uint64_t expired_items;
    } minute;
};

/* The minute that is open now, by the wall clock: minutes since 1970. */
int64_t meter_minute(const struct meter *meter);
/* Calls `visit` for every table that was used, in no order, pseudo tables first. `minute` says
 * whose sets are shown, one of the last METER_MINUTES; any other shows zeros. What `visit` is given
 * ends with it; it must not read the meter again. */
void meter_read(struct meter *meter, int64_t minute,
                void (*visit)(void *context, const struct meter_table_reading *table),
                void *context);
/* UserErrors: refused calls of operations that count them, whatever their table. */
struct meter_errors_reading {
    uint64_t user_errors;
    uint64_t minute_user_errors;
};
struct meter_errors_reading meter_read_errors(struct meter *meter, int64_t minute);
/* Adds the numbers of items of an operation's batches, over all tables. */
void meter_read_batches(struct meter *meter, unsigned operation, struct histogram *into);

size_t meter_operation_count(const struct meter *meter);
const struct meter_operation *meter_operation_at(const struct meter *meter, size_t index);
/* How many tables have counters of their own, how many may, and what all counters take in bytes. */
struct meter_occupancy {
    size_t tables;
    size_t tables_max;
    size_t memory;
};
struct meter_occupancy meter_occupancy(struct meter *meter);

#endif
