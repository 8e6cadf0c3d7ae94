/* store_options.h -- how RocksDB is set up: each choice and its reason. */
#ifndef STATOR_ENGINE_ROCKSDB_STORE_OPTIONS_H
#define STATOR_ENGINE_ROCKSDB_STORE_OPTIONS_H
#include <rocksdb/c.h>

struct engine_options;

/* The options and what they share ownership of. Must outlive the database. */
struct store_options {
    rocksdb_options_t *db;
    rocksdb_cache_t *block_cache;
    rocksdb_env_t *memory; /* NULL: a real disk. */
};

struct store_options *store_options_create(const struct engine_options *options);
void store_options_destroy(struct store_options *options);

#endif
