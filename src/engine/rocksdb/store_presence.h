/* store_presence.h -- notices that the data directory was removed or replaced under the server.
 *
 * A process does not notice when its open files are deleted: it writes and syncs as before, and the
 * data is lost when it ends. So the syncer checks between each sync and the acknowledgements that
 * depend on it: a write whose sync began after the removal is not acknowledged. The watch
 * (store_watch.h) checks too, for stores that are idle or do not sync.
 *
 * A lost store stays lost until the process ends, and acknowledges no write: RocksDB opens files by
 * their path and may have read or written in a directory that is not its own.
 */
#ifndef STATOR_ENGINE_ROCKSDB_STORE_PRESENCE_H
#define STATOR_ENGINE_ROCKSDB_STORE_PRESENCE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"

struct store;

/* Belongs to one thread. */
struct store_presence {
    struct store *store;
    uint64_t version; /* RocksDB's count of its changes when the directory was last listed. */
    uint64_t log;     /* Number of the newest write-ahead log. 0: none is known. */
};

/* How often the directory is listed before a log counts as removed: RocksDB may delete and create
 * logs while it is listed. */
enum { STORE_PRESENCE_LISTS_MAX = 3 };

void store_presence_init(struct store_presence *presence, struct store *store);

/* The number of the newest write-ahead log; 0 if none is known. */
uint64_t store_presence_log(struct store_presence *presence);

/* Checks what acknowledged writes depend on: the directory and the newest log. False once the store
 * is lost. */
MUST_CHECK bool store_presence_check(struct store_presence *presence);
/* Also checks the other files without which a restart would fail. */
MUST_CHECK bool store_presence_check_all(struct store_presence *presence);

#endif
