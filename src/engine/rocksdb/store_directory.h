/* store_directory.h -- the data directory around RocksDB: rights, lock, format, logs.
 *
 * Beside RocksDB's own files a directory holds FORMAT, the version of all that is stored, and
 * SYNCED (store_synced.h). A backup is not opened for writing; an unfinished copy is not opened at
 * all. doc/disk-format.md, "Data directory".
 */
#ifndef STATOR_ENGINE_ROCKSDB_STORE_DIRECTORY_H
#define STATOR_ENGINE_ROCKSDB_STORE_DIRECTORY_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/compiler.h"
#include "engine/engine.h"
#include "engine/rocksdb/store_synced.h"

enum {
    STORE_DIRECTORY_FORMAT = 1,
    /* Free space without which a store is not opened, besides what its logs take. */
    STORE_DIRECTORY_SPACE_MIN = 4 * 1024 * 1024,
};

struct store_directory {
    int directory; /* Open, and locked for as long as it is; -1: none. */
    char *path;    /* By which RocksDB opens its files. NULL: none. */
    dev_t device;  /* Of the directory, so that another one at `path` is noticed. */
    ino_t inode;
    struct store_synced synced;
};

#define STORE_DIRECTORY_NONE                                                                       \
    ((struct store_directory){ .directory = -1, .synced = STORE_SYNCED_NONE })

/* Creates the directory if it is missing and makes sure that it is ours alone and of a format that
 * we know. Otherwise false, with one line in `message` and nothing left open. */
MUST_CHECK bool store_directory_open(struct store_directory *directory, const char *path,
                                     char message[ENGINE_MESSAGE_MAX]);
/* The same for a directory that must hold a store already and in which nothing changes. Whoever may
 * read it may do so. */
MUST_CHECK bool store_directory_open_read_only(struct store_directory *directory, const char *path,
                                               char message[ENGINE_MESSAGE_MAX]);
/* Lets go of it; closing one that was never opened (STORE_DIRECTORY_NONE) is allowed. */
void store_directory_close(struct store_directory *directory);

/* True if recovering from the logs, or writing out what they hold, leaves some space. */
MUST_CHECK bool store_directory_has_space(const struct store_directory *directory);

/* Adds our own files, FORMAT and SYNCED, to a copy of RocksDB's files that holds every write up to
 * `sequence`. False with errno set. */
MUST_CHECK bool store_directory_finish_copy(const char *path, uint64_t sequence);

/* False if the directory is no longer at its path: removed, renamed, or replaced by another. */
MUST_CHECK bool store_directory_is_in_place(const struct store_directory *directory);
/* False if there is no file of that name. */
MUST_CHECK bool store_directory_has_file(const struct store_directory *directory, const char *name);
MUST_CHECK bool store_directory_has_log(const struct store_directory *directory, uint64_t number);
/* False if the file SYNCED, which is open, no longer has a name. */
MUST_CHECK bool store_directory_has_synced(const struct store_directory *directory);

/* The number of RocksDB's newest write-ahead log; 0: there is none. False if the directory cannot
 * be listed. */
MUST_CHECK bool store_directory_newest_log(const struct store_directory *directory,
                                           uint64_t *newest);
/* Syncs RocksDB's write-ahead logs from outside. False with errno set if that fails. */
MUST_CHECK bool store_directory_sync_logs(const struct store_directory *directory);

/* Fills in "cannot use data directory 'PATH': REASON" and returns false. */
bool store_directory_refuse(char message[ENGINE_MESSAGE_MAX], const char *path, const char *reason,
                            ...) PRINTF_LIKE(3, 4);

#endif
