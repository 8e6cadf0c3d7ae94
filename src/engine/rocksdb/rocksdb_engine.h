/* rocksdb_engine.h -- the embedded engine: RocksDB on a local disk, or in memory for tests. */
#ifndef STATOR_ENGINE_ROCKSDB_ROCKSDB_ENGINE_H
#define STATOR_ENGINE_ROCKSDB_ROCKSDB_ENGINE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"
#include "engine/engine.h"

enum rocksdb_engine_durability {
    /* A completion means: synced to the disk. */
    ROCKSDB_ENGINE_SYNC,
    /* A completion means: handed to the operating system. Survives a crash of the process, not of
     * the machine. */
    ROCKSDB_ENGINE_OS,
};

struct rocksdb_engine_options {
    const char *directory; /* Created if missing, unless read-only. Not used when in memory. */
    bool in_memory;
    /* The directory must hold a store, and nothing in it changes: neither by opening nor by
     * writing, which is refused. It is locked all the same. */
    bool read_only;
    enum rocksdb_engine_durability durability;
    /* The write-ahead log is not filled ahead (store_ahead.h), whatever the version of RocksDB. */
    bool leaves_log_alone;
    /* How long a write waits for those that have its addresses; 0: for the default. */
    unsigned latch_wait_ms;
    size_t item_cache_size; /* 0: none. */
    engine_form *form;      /* Of the items in it; NULL: they have none. */
    size_t block_cache_size;
    size_t write_buffer_size;
    unsigned open_files_max; /* Table files kept open; 0: ROCKSDB_ENGINE_OPEN_FILES_MAX. */
};

enum {
    ROCKSDB_ENGINE_MESSAGE_MAX = 512,
    /* The default. A write that waits holds no thread, so there is no hurry to refuse it; but a
     * client should hear something before it gives up by itself. */
    ROCKSDB_ENGINE_LATCH_WAIT_MS = 5000,
    ROCKSDB_ENGINE_OPEN_FILES_MAX = 512, /* The rest of the usual limit is for connections. */
};

/* NULL with one line for people in `message` if the directory cannot be used: missing rights, no
 * space, in use by another process, damaged. */
MUST_CHECK struct engine *rocksdb_engine_open(const struct rocksdb_engine_options *options,
                                              char message[ROCKSDB_ENGINE_MESSAGE_MAX]);

#endif
