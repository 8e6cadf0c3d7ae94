/* store_space.h -- free disk space: which writes are still allowed, and a reserve for deletions.
 *
 * RocksDB stops all writing when the disk is full, deletions too, and its flushes and compactions
 * need space before they give any back. So a store stops earlier: writes that store items or index
 * entries end with ENGINE_FULL while less than a reserve is free; all others continue. Because
 * other processes may fill the disk as well, the file RESERVE occupies as much again. It is deleted
 * when a deletion finds the disk full, and created again when there is room. Both have the size of
 * STORE_SPACE_BUFFERS write buffers, which is what may wait to be flushed, but at most a part of
 * the file system.
 *
 * Writers only ask the file system how much is free. The file is created and deleted by the thread
 * of store_watch.h, because that may wait for the disk.
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
    STORE_SPACE_LOOK_MS = 100, /* How long a measured value is used. */
    STORE_SPACE_LOOKS = 8,     /* Measurements while a reserve is written. */
};

struct store_watch;

struct store_space {
    int directory; /* Borrowed; -1: a store without a disk, which is never full. */
    uint64_t reserve_size;
    atomic_bool is_short;              /* Only deletions may write. */
    atomic_uint_fast64_t unseen_bytes; /* Written since the last look. */
    atomic_int_fast64_t looked_at_ms;  /* On the monotonic clock. */
    atomic_bool has_reserve;           /* The file. Changed by the watch, and before it runs. */
    atomic_bool gives_up;              /* The watch is to delete the file. */
    struct store_watch *watch;         /* Woken when it is; NULL: nobody is. */

    pthread_mutex_t mutex; /* One look at a time. Writers do not wait for it. */
};

/* `directory` is open and stays so, or is -1. Creates the file, if there is room for it. */
void store_space_init(struct store_space *space, int directory, size_t write_buffer_size);
/* Leaves the file where it is. */
void store_space_deinit(struct store_space *space);

/* Deletes the file, so that recovery has its space. For a directory without a store_space yet. */
void store_space_give_up(int directory);

/* True if a batch of `size` bytes may be written; `stores` if it puts items or index entries. Other
 * batches may use the reserve. */
MUST_CHECK bool store_space_admits(struct store_space *space, size_t size, bool stores);
/* True if only deletions may write, as of the last measurement. */
bool store_space_is_short(const struct store_space *space);
/* RocksDB found no space: the watch will delete the reserve. */
void store_space_ran_out(struct store_space *space);

/* Measures the free space, and creates or deletes the file if needed. For the watch's thread: it
 * may wait for the disk. */
void store_space_tend(struct store_space *space);

#endif
