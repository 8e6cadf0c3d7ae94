/* partition_store.h -- a store that is atomic within a partition and nowhere else.
 *
 * The smaller contract below engine/commit/, shaped after what RADOS does for one object without
 * classes of our own. A partition maps ordered byte keys to values. One operation concerns one
 * partition, and either happens as a whole or not at all:
 *   - a write has guards and changes. All guards must hold, otherwise nothing changes. On RADOS it
 *     is one compound write of omap_cmp, omap_set and omap_rm_keys.
 *   - a read has keys and ranges, all of one moment, and the partition's version. On RADOS it is
 *     one compound read, and the version is the object's.
 * The first write to a partition creates it.
 *
 * Every value begins with a stamp of PARTITION_STAMP_SIZE bytes, followed by at least one byte
 * below 0x7F. A guard names the stamp alone, so that nobody sends a value to compare it: the store
 * compares `stamp < value < stamp + 0x7F`, which RADOS does by a GT and an LT, with bytes that may
 * be signed. A missing key compares as empty there, and a stored value is never empty, so absence
 * can be compared too.
 *
 * Keys may hold any byte. A store whose keys are C strings escapes them so that order is kept.
 */
#ifndef STATOR_ENGINE_COMMIT_PARTITION_STORE_H
#define STATOR_ENGINE_COMMIT_PARTITION_STORE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct partition_store;

enum { PARTITION_STAMP_SIZE = 16 };

/* Two families of numbers that know nothing of each other. The values are stored. */
enum partition_kind {
    PARTITION_SYSTEM = 's', /* Of the catalogue and other records of the server itself. */
    PARTITION_TABLES = 't', /* Of tables and global indexes. */
};

struct partition_id {
    enum partition_kind kind;
    uint64_t number;
};

struct partition_stamp {
    uint8_t bytes[PARTITION_STAMP_SIZE];
};

enum partition_status {
    PARTITION_OK,      /* Done, and durable. */
    PARTITION_REFUSED, /* A guard did not hold; nothing was changed and never will be. */
    /* The answer was lost: the operation has happened, will happen at any later time, or will never
     * happen. Only of writes. */
    PARTITION_UNKNOWN,
    PARTITION_FULL,    /* No space; nothing was changed. */
    PARTITION_FAILED,  /* The store could not be reached; nothing was changed and never will be. */
    PARTITION_CORRUPT, /* What is stored there cannot be read. */
};

struct partition_guard {
    struct bytes key;
    bool absent; /* There must be no such key; otherwise there must be one with this stamp. */
    struct partition_stamp stamp;
};

struct partition_change {
    struct bytes key;
    struct bytes value; /* data NULL: the key is removed, if it is there. */
};

struct partition_entry {
    struct bytes key;
    struct bytes value;
};

struct partition_range {
    struct bytes first; /* Inclusive. */
    struct bytes last;  /* Exclusive. */
    bool reverse;       /* From the end of the range down; only if the store can. */
    size_t count_max;   /* Above 0. A store may answer fewer, but at least one if there is one. */
    size_t bytes_max;   /* Stop once keys and values reach this size; 0: no limit. */
    /* Entries whose keys share so many first bytes are alike: by them, a store may guess how large
     * they are. */
    size_t alike_size;
    /* The answer, in the arena. */
    struct partition_entry *entries;
    size_t count;
    bool more; /* There may be entries behind the last one. */
};

struct partition_operation {
    struct partition_id partition;
    bool is_write;
    /* Of a read. */
    const struct bytes *keys;
    size_t key_count;
    struct bytes *values; /* One for each key, set by the store, in the arena; data NULL: absent. */
    struct partition_range *ranges;
    size_t range_count;
    uint64_t version; /* Set by the store: differs after every write that changed the partition. */
    /* Of a write. */
    const struct partition_guard *guards;
    size_t guard_count;
    const struct partition_change *changes; /* Each key once. */
    size_t change_count;
    enum partition_status status; /* Set by the store. */
};

struct partition_store_ops {
    bool reverse; /* Ranges can be read backward. */
    /* Of one write: its changes, and the bytes of its guards and changes. */
    size_t changes_max;
    size_t size_max;
    /* Carries out the operations side by side, in any order, and returns when all are answered.
     * Blocks. Answers are allocated in the arena. A reader sees every write that was answered
     * before the read was sent. */
    void (*run)(struct partition_store *store, struct arena *arena,
                struct partition_operation *operations, size_t count);
    /* The first partition behind `after` (NULL: of all) that was ever written to, in the order of
     * kind and number. PARTITION_REFUSED if there is none. */
    enum partition_status (*next_partition)(struct partition_store *store,
                                            const struct partition_id *after,
                                            struct partition_id *out);
    void (*close)(struct partition_store *store);
};

/* Embedded first in the store's own structure. Any thread may call. */
struct partition_store {
    const struct partition_store_ops *ops;
};

static inline int partition_id_compare(const struct partition_id *a, const struct partition_id *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return 0;
}

static inline bool partition_stamp_equal(const struct partition_stamp *a,
                                         const struct partition_stamp *b)
{
    return memcmp(a->bytes, b->bytes, PARTITION_STAMP_SIZE) == 0;
}

#endif
