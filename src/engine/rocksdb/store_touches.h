/* store_touches.h -- what a write's batch means to the cache: which entries must go, and which new
 * values take their place.
 *
 * A value is kept right when it is written if its item was read before, lately, by this or another
 * write: writes of the same items, as counters are, then find them without RocksDB.
 */
#ifndef STATOR_ENGINE_ROCKSDB_STORE_TOUCHES_H
#define STATOR_ENGINE_ROCKSDB_STORE_TOUCHES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "engine/rocksdb/store_cache.h"

enum {
    STORE_TOUCHES_KEPT_MAX = 1024, /* A longer list is given back rather than kept for reuse. */
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

/* The value of this name, should the write put one, is worth keeping. */
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
