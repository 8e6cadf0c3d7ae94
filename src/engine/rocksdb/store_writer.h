/* store_writer.h -- the thread that waits where RocksDB makes writers wait.
 *
 * RocksDB slows writers down, or stops them, while flushes or compactions lag behind. A commit does
 * not wait for that: a batch that RocksDB does not take at once is queued here, with its latches,
 * and this thread writes it when RocksDB allows. Writes that need the same addresses wait for its
 * latches; all others continue, and no thread but this one sleeps.
 *
 * The queue is bounded where writes begin: store_writer_is_full.
 */
#ifndef STATOR_ENGINE_ROCKSDB_STORE_WRITER_H
#define STATOR_ENGINE_ROCKSDB_STORE_WRITER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"

struct engine_completion;
struct engine_statistics;
struct store;
struct store_write;
struct store_writer;

enum {
    /* No write begins while so many wait here, or batches of so many bytes. Those that have begun
     * still come, which are as many as there are threads, and waiters at latches. */
    STORE_WRITER_QUEUE_MAX = 1024,
    STORE_WRITER_BYTES_MAX = 64 * 1024 * 1024,
};

/* Starts the thread. NULL if the system has no thread left. */
MUST_CHECK struct store_writer *store_writer_create(struct store *store);
/* Writes all that is queued, then stops. Destroying NULL is allowed. */
void store_writer_destroy(struct store_writer *writer);

/* True if RocksDB has just refused a batch, so that the next one need not try. */
bool store_writer_is_stalled(const struct store_writer *writer);
bool store_writer_is_full(const struct store_writer *writer);
/* Since when the batch that is being written, which is the oldest, is here, by clock_monotonic_ns;
 * 0: there is none. */
int64_t store_writer_busy_since_ns(const struct store_writer *writer);
/* Adds what it did so far. */
void store_writer_read_statistics(const struct store_writer *writer, struct engine_statistics *out);
/* Commits `write` as store_write_commit does. */
void store_writer_queue(struct store_writer *writer, struct store_write *write,
                        struct engine_completion *completion);

#endif
