/* capacity_use.h -- what a call did to one of its tables, in items and capacity units.
 *
 * api/capacity.h fills it while a call runs; the meter counts it when the call ends. Units are
 * counted in halves, because an eventually consistent read costs half a unit.
 */
#ifndef STATOR_METRIC_CAPACITY_USE_H
#define STATOR_METRIC_CAPACITY_USE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "model/table_definition.h"

struct arena;
struct key_use;
struct limiter;
struct table;

enum {
    /* Sizes of items are counted by powers of two: up to 1 byte, 2 bytes, ... 512 KB. */
    CAPACITY_ITEM_SIZES = 20,
    /* Larger items are counted as such: they are slow to read and near the limit of 400 KB. */
    CAPACITY_LARGE_ITEM_SIZE = 100 * 1024,
    CAPACITY_HUGE_ITEM_SIZE = 300 * 1024,
};

enum capacity_kind { CAPACITY_READ, CAPACITY_WRITE };

/* What a call did with one partition key of a table or index whose limits are enforced. */
struct capacity_key {
    struct capacity_key *next;
    uint64_t id;  /* Of the table or index. */
    uint64_t key; /* The hash of the partition key. */
    int64_t half_units;
};

/* No call both reads and writes for its caller. */
struct capacity_use {
    struct table *table;     /* Held until the call has ended; NULL: there is none of that name. */
    struct bytes table_name; /* As the request has it: a name or an ARN. */
    /* The version whose indexes are counted: that of `table`, or a newer one that the call holds
     * under another name. NULL: there is no table. */
    const struct table_definition *definition;
    struct limiter *limiter;          /* Limits that are enforced; NULL: none. */
    bool is_asked;                    /* It has limits that are enforced, or faults. */
    struct arena *key_arena;          /* The call's: where keys are noted. */
    struct capacity_key *keys;        /* With a limiter: in no order. */
    struct key_use *key_uses;         /* Where keys are counted: see api/key_use.h. */
    enum capacity_kind kind;          /* Of the units. */
    bool is_transaction;              /* Which cost more, and are shown by kind as well. */
    bool is_consistent;               /* Reads with ConsistentRead; not those of transactions. */
    uint32_t read_count;              /* Items and index entries that were read for the answer. */
    uint32_t returned_count;          /* How many of those passed the filter. */
    uint32_t written_count;           /* Items put or deleted. */
    uint32_t condition_failure_count; /* Items whose condition failed. */
    uint32_t conflict_count;          /* Items that another transaction had. */
    uint32_t stream_record_count;     /* Records that the write appends to the table's stream. */
    uint32_t put_count;               /* Items put. 0: the next two mean nothing. */
    /* Items put with a size of up to 2^i bytes, and above the one before; and their sum. */
    uint8_t size_counts[CAPACITY_ITEM_SIZES];
    uint64_t put_size;
    uint32_t large_count; /* Items put above CAPACITY_LARGE_ITEM_SIZE, and how many of those */
    uint32_t huge_count;  /* above CAPACITY_HUGE_ITEM_SIZE. */
    int64_t table_half_units;
    int64_t index_half_units[INDEXES_MAX]; /* In the order of the definition's indexes; no more. */
    /* Entries that were written, and how many of those moved to another key: a write each for the
     * old and the new place. In the same order. */
    uint8_t index_changes[INDEXES_MAX];
    uint8_t index_moves[INDEXES_MAX];
};

#endif
