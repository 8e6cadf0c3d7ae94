/* store_touches.h -- how a write's batch changes the cache: which entries it removes, and which new
 * values replace them.
 *
 * A written value is cached if this or another write has read its item lately. So repeated writes
 * of an item, such as a counter, find it without RocksDB.
 */
#ifndef STATOR_ENGINE_ROCKSDB_STORE_TOUCHES_H
#define STATOR_ENGINE_ROCKSDB_STORE_TOUCHES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "engine/rocksdb/store_cache.h"

enum {
    STORE_TOUCHES_KEPT_MAX = 1024, /* A longer list is freed instead of kept for reuse. */
    STORE_TOUCHES_WANTED_MAX = 128,
};

/* All zero is empty. */
struct store_touches {
    struct store_touch *list;
    size_t count;
    size_t capacity;
    uint64_t moment; /* Of the beginning, see store_cache_moment. */
    size_t wanted_count;
    uint64_t wanted[STORE_TOUCHES_WANTED_MAX]; /* Hashes of names. */
};

struct store_touch {
    struct store_cache_touch touch;
    size_t value_at; /* In the batch, with its key before it; 0: no value is kept. */
    size_t value_size;
    size_t key_size;
};

void store_touches_clear(struct store_touches *touches);
void store_touches_deinit(struct store_touches *touches);

/* If the write puts a value of this name, cache it. */
void store_touches_want(struct store_touches *touches, const struct store_cache_name *name);
/* The batch has grown to `batch_size` bytes by putting a value of `value_size` at `name`. */
void store_touches_put(struct store_touches *touches, const struct store_cache_name *name,
                       size_t value_size, size_t batch_size);
void store_touches_delete(struct store_touches *touches, const struct store_cache_name *name);

/* Before RocksDB has the batch. */
void store_touches_begin(struct store_touches *touches, struct store_cache *cache);
/* After it, with the generation counted by then. `batch` is empty if no values are to be kept. */
void store_touches_end(const struct store_touches *touches, struct store_cache *cache,
                       struct bytes batch, uint64_t generation);

#endif
