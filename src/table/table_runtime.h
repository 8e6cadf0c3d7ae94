/* table_runtime.h -- state of a table that lives only while the server runs, shared by all versions
 * of its definition.
 *
 * A `struct table` is one version and immutable; whatever changes while requests run belongs here:
 * counters, token buckets, heat. There is one table_runtime per table and one partition_runtime per
 * partition of the table and of its global indexes. Each version points to them, so a request finds
 * them without a lock (table_runtime and table_partition_runtime of catalogue.h).
 *
 * A table_runtime exists from the creation of its table, or the start of the server, until the data
 * of the dropped table is removed; a partition_runtime exists as long as a version has its
 * partition. Only the catalogue creates and releases them.
 */
#ifndef STATOR_TABLE_TABLE_RUNTIME_H
#define STATOR_TABLE_TABLE_RUNTIME_H
#include <stdatomic.h>
#include <stdint.h>

struct limiter;
/* What a layer above keeps for a table: embedded at the start of its own structure. */
struct table_runtime_part {
    void (*destroy)(struct table_runtime_part *part); /* Called when the runtime goes. */
};

struct table_runtime {
    uint64_t table_id;
    atomic_uint references; /* By versions of the table, and by its removal once dropped. */
    /* Where metric/ counts for the table; 0: nowhere yet. Written once, or hardly more often, so
     * that every core keeps its copy. */
    _Alignas(64) _Atomic uint32_t meter_slot;
    /* What the table admits; NULL until that was asked for. Set once. */
    _Atomic(struct limiter *) limiter;
    /* Counters of keys (insight/insights.h); NULL: none yet. Set once. */
    _Atomic(struct table_runtime_part *) insight;
    /* Violations of the table's model (api/model/model_watch.h); NULL: none yet. Set once. */
    _Atomic(struct table_runtime_part *) model;
    /* The largest item collection that a write has met, in bytes, for the adviser; only of those
     * beyond half of what is allowed. */
    _Atomic int64_t collection_size_max;
};

struct partition_runtime {
    uint64_t partition_id;
    atomic_uint references; /* By versions of the table. */
};

/* With one reference, which is the caller's. */
struct table_runtime *table_runtime_create(uint64_t table_id);
struct table_runtime *table_runtime_acquire(struct table_runtime *runtime);
void table_runtime_release(struct table_runtime *runtime);

struct partition_runtime *partition_runtime_create(uint64_t partition_id);
struct partition_runtime *partition_runtime_acquire(struct partition_runtime *runtime);
void partition_runtime_release(struct partition_runtime *runtime);

#endif
