/* store_mark.h -- the file SYNCED: a lower bound of what was made durable.
 *
 * RocksDB takes a log or a manifest that was cut short for one whose end had not been synced, and
 * opens the store without what is missing. The mark says how far both had been synced, so that the
 * two can be told apart. It is not synced itself: after a power cut it may be an older one, never
 * one that says too much. doc/disk-format.md, "Data directory".
 */
#ifndef STATOR_ENGINE_ROCKSDB_STORE_MARK_H
#define STATOR_ENGINE_ROCKSDB_STORE_MARK_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"

/* The beginning of one of RocksDB's manifests. */
struct store_manifest {
    uint64_t number; /* In its name. 0: there is none. */
    uint64_t size;
    uint32_t crc; /* CRC-32C of the first `size` bytes. */
};

struct store_mark {
    int file;                     /* SYNCED, open; -1: none. */
    int manifest;                 /* The store's manifest, open; -1: none. */
    struct store_manifest synced; /* What is durable of it. */
};

#define STORE_MARK_NONE ((struct store_mark){ .file = -1, .manifest = -1 })

enum store_mark_state {
    STORE_MARK_MISSING, /* No file, or nothing in it yet. */
    STORE_MARK_DAMAGED,
    STORE_MARK_READ,
};

/* Opens SYNCED in the open `directory`. False with errno set. To read it only, it need not be
 * there. */
MUST_CHECK bool store_mark_open(struct store_mark *mark, int directory);
void store_mark_open_read_only(struct store_mark *mark, int directory);
void store_mark_close(struct store_mark *mark);

/* The manifest that the directory's CURRENT names, up to `size_max`. False if there is none that
 * can be read; opening the store will then say why. */
MUST_CHECK bool store_mark_find_manifest(int directory, uint64_t size_max,
                                         struct store_manifest *out);

/* The store is open: from now on the mark also follows its manifest. */
void store_mark_follow_manifest(struct store_mark *mark, int directory);

/* Every write up to RocksDB's sequence number `sequence` is durable. */
void store_mark_move(struct store_mark *mark, uint64_t sequence);

/* What the mark says. `manifest` has number 0 if it says nothing of one, as marks did once. */
MUST_CHECK enum store_mark_state store_mark_read(const struct store_mark *mark, uint64_t *sequence,
                                                 struct store_manifest *manifest);

#endif
