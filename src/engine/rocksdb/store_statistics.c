/* store_statistics.c -- see store_statistics.h. */
#include "engine/rocksdb/store_statistics.h"
#include <stdlib.h>
#include "engine/rocksdb/store_cache.h"
#include "engine/rocksdb/store_writer.h"
#include "engine/rocksdb/syncer.h"

struct store_counters *store_counters_create(void)
{
    return store_alloc_lines((THREAD_NUMBERS_MAX + 1) * sizeof(struct store_counters));
}

/* --- Samples --- */

void store_statistics_begin_sample(void)
{
    rocksdb_perfcontext_t *context = rocksdb_perfcontext_create(); /* The thread's own. */
    rocksdb_set_perf_level(rocksdb_enable_count);
    rocksdb_perfcontext_reset(context);
    rocksdb_perfcontext_destroy(context);
}

void store_statistics_end_sample(struct store *store)
{
    struct store_counters *own = &store->counters[thread_number()];
    rocksdb_perfcontext_t *context = rocksdb_perfcontext_create();
    store_counters_add(&own->block_hits_sampled,
                       rocksdb_perfcontext_metric(context, rocksdb_block_cache_hit_count));
    store_counters_add(&own->block_misses_sampled,
                       rocksdb_perfcontext_metric(context, rocksdb_block_read_count));
    rocksdb_perfcontext_destroy(context);
    store_stop_counting();
}

/* --- Reading --- */

static uint64_t property(const struct store *store, const char *name)
{
    uint64_t value = 0;
    return rocksdb_property_int(store->db, name, &value) == 0 ? value : 0;
}

static void add_counters(const struct store *store, struct engine_statistics *out)
{
    for (size_t i = 0; i <= THREAD_NUMBERS_MAX; i++) {
        const struct store_counters *own = &store->counters[i];
        out->item_cache_hits += atomic_load_explicit(&own->item_hits, memory_order_relaxed);
        out->item_cache_misses += atomic_load_explicit(&own->item_misses, memory_order_relaxed);
        out->block_cache_hits_sampled +=
            atomic_load_explicit(&own->block_hits_sampled, memory_order_relaxed);
        out->block_cache_misses_sampled +=
            atomic_load_explicit(&own->block_misses_sampled, memory_order_relaxed);
    }
}

enum { LEVELS = 7 }; /* RocksDB's default. */

static uint64_t count_files(const struct store *store)
{
    uint64_t count = 0;
    char name[] = "rocksdb.num-files-at-level0";
    for (int level = 0; level < LEVELS; level++) {
        name[sizeof name - 2] = (char)('0' + level);
        char *value = rocksdb_property_value(store->db, name);
        count += value == NULL ? 0 : strtoull(value, NULL, 10);
        rocksdb_free(value);
    }
    return count;
}

void store_statistics_read(struct engine *engine, struct engine_statistics *out)
{
    struct store *store = (struct store *)engine;
    add_counters(store, out);
    if (store->syncer != NULL)
        syncer_read_statistics(store->syncer, out);
    if (store->writer != NULL)
        store_writer_read_statistics(store->writer, out);
    if (store->cache != NULL) {
        out->item_cache_size = store_cache_size(store->cache);
        out->item_cache_size_max = store_cache_capacity(store->cache);
    }
    if (store->options->block_cache != NULL) {
        out->block_cache_size = rocksdb_cache_get_usage(store->options->block_cache);
        out->block_cache_size_max = rocksdb_cache_get_capacity(store->options->block_cache);
    }
    out->memtable_size = property(store, "rocksdb.cur-size-all-mem-tables");
    out->file_size = property(store, "rocksdb.total-sst-files-size");
    out->live_size = property(store, "rocksdb.estimate-live-data-size");
    out->file_count = count_files(store);
    out->compactions_running = property(store, "rocksdb.num-running-compactions");
    out->flushes_running = property(store, "rocksdb.num-running-flushes");
    out->compaction_pending_size = property(store, "rocksdb.estimate-pending-compaction-bytes");
    out->is_stalled = out->is_stalled || property(store, "rocksdb.is-write-stopped") != 0;
}
