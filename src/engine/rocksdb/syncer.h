/* syncer.h -- group commit: one thread that makes writes durable and then answers them.
 *
 * While one sync runs, the writes that RocksDB takes queue up; the next sync covers them all.
 */
#ifndef STATOR_ENGINE_ROCKSDB_SYNCER_H
#define STATOR_ENGINE_ROCKSDB_SYNCER_H
#include <rocksdb/c.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"

struct engine_completion;
struct engine_statistics;
struct store;
struct syncer;

/* Starts the thread. NULL if the system has no thread left. */
MUST_CHECK struct syncer *syncer_create(struct store *store);
/* Answers all that is queued, then stops. Destroying NULL is allowed. */
void syncer_destroy(struct syncer *syncer);

/* Makes all that RocksDB has taken durable and advances SYNCED. False, with a line in the log, if
 * that failed: what is on the disk is then unknown. For the syncer, and for closing without one. */
MUST_CHECK bool syncer_sync_now(struct store *store);

/* RocksDB has taken `batch`. Call it before the write's latches go. */
void syncer_count_write(struct syncer *syncer, rocksdb_writebatch_t *batch);
/* True if all writes counted so far are durable and published. */
bool syncer_is_caught_up(const struct syncer *syncer);
/* When the round that is under way began, by clock_monotonic_ns; 0: none is. */
int64_t syncer_busy_since_ns(const struct syncer *syncer);
/* Adds what it did so far. */
void syncer_read_statistics(struct syncer *syncer, struct engine_statistics *out);
/* Answers `completion` once all that RocksDB had taken before this call is durable and published.
 */
void syncer_queue(struct syncer *syncer, struct engine_completion *completion);

#endif
