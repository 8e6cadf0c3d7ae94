/* store_synced.h -- the file SYNCED: up to where log and manifest are known to be durable.
 *
 * RocksDB cannot tell a log or a manifest that lost synced bytes from one whose end was never
 * synced: it opens the store without the missing part. The position in this file tells them apart.
 * The file itself is not synced: after a power cut it may hold an older position, never one that
 * claims too much. doc/disk-format.md, "Data directory".
 */
#ifndef STATOR_ENGINE_ROCKSDB_STORE_SYNCED_H
#define STATOR_ENGINE_ROCKSDB_STORE_SYNCED_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"

/* The beginning of one of RocksDB's manifests. */
struct store_manifest {
    uint64_t number; /* In its name. 0: there is none. */
    uint64_t size;
    uint32_t crc; /* CRC-32C of the first `size` bytes. */
};

struct store_synced {
    int file;                              /* SYNCED, open; -1: none. */
    int manifest;                          /* The store's manifest, open; -1: none. */
    struct store_manifest manifest_synced; /* How much of it is durable. */
};

#define STORE_SYNCED_NONE ((struct store_synced){ .file = -1, .manifest = -1 })

enum store_synced_state {
    STORE_SYNCED_MISSING, /* No file, or nothing in it yet. */
    STORE_SYNCED_DAMAGED,
    STORE_SYNCED_READ,
};

/* Opens SYNCED in the open `directory`. False with errno set. To read it only, it need not be
 * there. */
MUST_CHECK bool store_synced_open(struct store_synced *synced, int directory);
void store_synced_open_read_only(struct store_synced *synced, int directory);
void store_synced_close(struct store_synced *synced);

/* The manifest that the directory's CURRENT names, up to `size_max`. False if there is none that
 * can be read; opening the store will then say why. */
MUST_CHECK bool store_synced_find_manifest(int directory, uint64_t size_max,
                                           struct store_manifest *out);

/* The store is open: from now on the position also covers its manifest. */
void store_synced_follow_manifest(struct store_synced *synced, int directory);

/* Every write up to RocksDB's sequence number `sequence` is durable. */
void store_synced_advance(struct store_synced *synced, uint64_t sequence);

/* What the file says. `manifest` has number 0 if it says nothing about one, as the first versions
 * of stator wrote it. */
MUST_CHECK enum store_synced_state store_synced_read(const struct store_synced *synced,
                                                     uint64_t *sequence,
                                                     struct store_manifest *manifest);

#endif
