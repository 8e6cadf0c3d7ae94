/* store_space.h -- what is left of the disk: who may still write, and a reserve for deletions.
 *
 * RocksDB stops all writing when the disk is full, deletions too, and its flushes and compactions
 * need space before they give any back. So a store stops earlier: writes that store items or index
 * entries end with ENGINE_FULL while less than a reserve is free; all others go on. And since
 * others may fill the disk as well, the file RESERVE holds as much again; it is given up when a
 * deletion finds the disk full, and made again when there is room. Both are STORE_SPACE_BUFFERS
 * write buffers, which is what may wait to be flushed, but no more than a part of the file system.
 */
#ifndef STATOR_ENGINE_ROCKSDB_STORE_SPACE_H
#define STATOR_ENGINE_ROCKSDB_STORE_SPACE_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"

enum {
    STORE_SPACE_BUFFERS = 2,   /* Write buffers that a reserve has room for. */
    STORE_SPACE_PART = 16,     /* A reserve is at most this part of the file system. */
    STORE_SPACE_LOOK_MS = 100, /* How long a look at the disk is good for. */
    STORE_SPACE_LOOKS = 8,     /* Looks while a reserve is written. */
};

struct store_space {
    int directory; /* Borrowed; -1: a store without a disk, which is never full. */
    uint64_t reserve_size;
    atomic_bool is_short;              /* Only deletions may write. */
    atomic_uint_fast64_t unseen_bytes; /* Written since the last look. */
    atomic_int_fast64_t looked_at_ms;  /* On the monotonic clock. */

    pthread_mutex_t mutex;
    bool has_reserve; /* The file. Guarded by mutex. */
};

/* `directory` is open and stays so, or is -1. */
void store_space_init(struct store_space *space, int directory, size_t write_buffer_size);
/* Leaves the file where it is. */
void store_space_deinit(struct store_space *space);

/* Gives the file up, so that recovery has its space. For a directory without a store_space yet. */
void store_space_give_up(int directory);

/* Whether a batch of `size` bytes may be written; `stores` if it puts items or index entries. One
 * that does not may have the reserve. */
MUST_CHECK bool store_space_admits(struct store_space *space, size_t size, bool stores);
/* Whether only deletions may write, as of the last look. */
bool store_space_is_short(const struct store_space *space);
/* RocksDB found no space: what it needs to go on is given up. */
void store_space_ran_out(struct store_space *space);

#endif
