/* store_watch.h -- the thread that watches a store's disk, so that no other thread waits for it.
 *
 * It measures the free space, creates and deletes the file RESERVE, notices that the data directory
 * was removed, and finds out whether a store that refused a write takes writes again.
 */
#ifndef STATOR_ENGINE_ROCKSDB_STORE_WATCH_H
#define STATOR_ENGINE_ROCKSDB_STORE_WATCH_H
#include "base/compiler.h"

struct store;
struct store_watch;

enum {
    STORE_WATCH_IDLE_MS = 1000, /* Between two rounds of a healthy store without writes. */
    STORE_WATCH_BUSY_MS = 100,  /* After a round that found writes, or a problem. */
};

/* Starts the thread. NULL if the system has no thread left. */
MUST_CHECK struct store_watch *store_watch_create(struct store *store);
/* Stops it. Destroying NULL is allowed. */
void store_watch_destroy(struct store_watch *watch);

/* Starts the next round now. From any thread; never waits. NULL is allowed. */
void store_watch_wake(struct store_watch *watch);

#endif
