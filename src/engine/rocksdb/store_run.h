/* store_run.h -- the entries of a run as the cache holds them: one block of bytes, in memory only.
 *
 * The count of entries, the offset of each, then the entries: size of the key, size of the value,
 * key and value. Keys are those within the place, as scans hand them out. A block without any
 * bytes stands for a run that is too large to be kept, so that nobody tries again.
 */
#ifndef STATOR_ENGINE_ROCKSDB_STORE_RUN_H
#define STATOR_ENGINE_ROCKSDB_STORE_RUN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"

enum {
    STORE_RUN_SIZE_MAX = 64 * 1024, /* Of the entries; a larger run is read from RocksDB. */
    STORE_RUN_ENTRIES_MAX = 1024,
};

/* Gathers a run's entries. All zero is empty. */
struct store_run_builder {
    uint8_t *data;
    size_t size;
    size_t capacity;
    uint32_t count;
    uint32_t offsets[STORE_RUN_ENTRIES_MAX];
};

/* In the order of the keys. False if the run is too large. */
MUST_CHECK bool store_run_add(struct store_run_builder *builder, const struct engine_entry *entry);
/* The block; lives until store_run_deinit. */
struct bytes store_run_finish(struct store_run_builder *builder);
void store_run_deinit(struct store_run_builder *builder);

/* Blocks here are not empty and aligned to 4 bytes. */
size_t store_run_count(struct bytes block);
struct engine_entry store_run_at(struct bytes block, size_t index);
/* The first entry whose key is not below `key`; the count if there is none. */
size_t store_run_search(struct bytes block, struct bytes key);

#endif
