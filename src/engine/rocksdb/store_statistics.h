/* store_statistics.h -- counts reads per thread, and collects what engine_statistics tells. */
#ifndef STATOR_ENGINE_ROCKSDB_STORE_STATISTICS_H
#define STATOR_ENGINE_ROCKSDB_STORE_STATISTICS_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/thread_number.h"
#include "engine/rocksdb/store.h"

/* Of one thread, in a cache line of its own. The threads without a number share the last ones and
 * may lose a few counts. */
struct store_counters {
    _Alignas(STORE_LINE_SIZE) _Atomic uint64_t item_hits;
    _Atomic uint64_t item_misses;
    _Atomic uint64_t block_gets;
    _Atomic uint64_t block_hits_sampled;
    _Atomic uint64_t block_misses_sampled;
};

/* One for each thread. */
struct store_counters *store_counters_create(void);

static inline void store_counters_add(_Atomic uint64_t *counter, uint64_t value)
{
    uint64_t before = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, before + value, memory_order_relaxed);
}

/* A read has asked the item cache. */
static inline void store_count_item_read(struct store *store, bool hit)
{
    struct store_counters *own = &store->counters[thread_number()];
    store_counters_add(hit ? &own->item_hits : &own->item_misses, 1);
}

/* A read is about to ask RocksDB. True: count the blocks it reads, by store_statistics_end_sample
 * afterwards. */
static inline bool store_begin_sample(struct store *store)
{
    struct store_counters *own = &store->counters[thread_number()];
    store_counters_add(&own->block_gets, 1);
    return atomic_load_explicit(&own->block_gets, memory_order_relaxed) %
               ENGINE_BLOCK_SAMPLE_RATE ==
           0;
}
void store_statistics_begin_sample(void);
void store_statistics_end_sample(struct store *store);

/* For struct engine_ops. */
void store_statistics_read(struct engine *engine, struct engine_statistics *out);

#endif
