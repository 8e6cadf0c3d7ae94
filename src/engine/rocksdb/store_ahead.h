/* store_ahead.h -- keeps the write-ahead log filled ahead of what is written, for cheaper syncs.
 *
 * A sync of a file that has grown also writes the file's inode, on a file system with a journal by
 * a commit of that. One of a file whose bytes were only replaced writes just those. So the end of
 * RocksDB's newest log is filled with bytes that mean nothing, a chunk at a time, and RocksDB
 * writes over them. See store_ahead.c for why that is safe.
 *
 * It is never needed: whatever fails, or is noticed late, costs speed and nothing else. Its safety
 * rests on how one version of RocksDB writes and recovers its logs (store_ahead.c), so it is done
 * with that version only.
 */
#ifndef STATOR_ENGINE_ROCKSDB_STORE_AHEAD_H
#define STATOR_ENGINE_ROCKSDB_STORE_AHEAD_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"

struct store;
struct store_presence;

enum {
    STORE_AHEAD_CHUNK_SIZE = 256 * 1024,
    /* With less than this left to write over, the next chunk is due. */
    STORE_AHEAD_LEFT_MIN = STORE_AHEAD_CHUNK_SIZE / 2,
    /* Bytes written between two looks at how much is left. */
    STORE_AHEAD_LOOK_SIZE = 32 * 1024,
    /* A sync of more than this gains less than filling costs (measured). */
    STORE_AHEAD_SYNC_SIZE_MAX = 48 * 1024,
    /* A log that has less is not filled: a store that is hardly used stays small. */
    STORE_AHEAD_LOG_SIZE_MIN = 64 * 1024,
    /* Nothing of RocksDB's begins like this; see store_ahead.c. */
    STORE_AHEAD_FILL = 0xFF,
};

/* The version that the crash tests were run with. After an upgrade: read the argument in
 * store_ahead.c against its sources, run `make crash`, then change this. */
#define STORE_AHEAD_PROVED_VERSION "7.8.3"

enum { STORE_AHEAD_VERSION_MAX = 32 };
/* The version of RocksDB in the header that the compiler read: "7.8.3". */
const char *store_ahead_compiled_version(void);
/* The version of the library that wrote the newest options file of the open `directory`, which
 * RocksDB does whenever it opens a store. False if there is none that can be read. */
MUST_CHECK bool store_ahead_running_version(int directory, char out[STORE_AHEAD_VERSION_MAX]);

/* Whether logs may be filled by a program that was compiled for one version and runs with another;
 * NULL: it is not known. Otherwise writes a line to the log. */
MUST_CHECK bool store_ahead_is_proved(const char *compiled, const char *running);

struct store_ahead {
    struct store *store;
    struct store_presence *presence;
    uint64_t written;   /* As of the call before. */
    uint64_t looked_at; /* As of the last look. */
    uint64_t given_up;  /* Number of a log that could not be filled. */
};

/* `presence` is that of the thread that fills, and tells which log is the newest. */
void store_ahead_init(struct store_ahead *ahead, struct store *store,
                      struct store_presence *presence);

/* Call it before a sync. `written`: about how many bytes RocksDB's logs have taken since the store
 * was opened. One thread only. */
void store_ahead_fill(struct store_ahead *ahead, uint64_t written);

#endif
