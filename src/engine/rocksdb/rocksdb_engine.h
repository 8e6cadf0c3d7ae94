/* rocksdb_engine.h -- the embedded engine: RocksDB on a local disk, or in memory for tests. */
#ifndef STATOR_ENGINE_ROCKSDB_ROCKSDB_ENGINE_H
#define STATOR_ENGINE_ROCKSDB_ROCKSDB_ENGINE_H
#include "base/compiler.h"
#include "engine/engine.h"

/* As engine_open, which finds it in the registry. */
MUST_CHECK struct engine *rocksdb_engine_open(const struct engine_options *options,
                                              char message[ENGINE_MESSAGE_MAX]);

#endif
