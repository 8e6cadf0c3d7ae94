/* rados_store.h -- a partition_store in a pool of a Ceph cluster, over librados.
 *
 * A partition is one object, and its keys are the object's omap. README.md says how each promise of
 * partition_store.h is kept, and which errors mean what.
 */
#ifndef STATOR_ENGINE_RADOS_RADOS_STORE_H
#define STATOR_ENGINE_RADOS_RADOS_STORE_H
#include "engine/commit/partition_store.h"

enum {
    /* Of one write. Each change may come with three comparisons, and librados counts the parts of
     * an operation in 16 bits. A cluster refuses a write of 90 MB (osd_max_write_size). */
    RADOS_CHANGES_MAX = 8192,
    RADOS_WRITE_PARTS_MAX = 60000,
    RADOS_WRITE_SIZE_MAX = 32 * 1024 * 1024,
    /* Of one call of `run`, under way at the same time. librados itself would block at 1024. */
    RADOS_OPERATIONS_AT_ONCE = 64,
    /* A range is read until this size if the caller names none. How many entries that is, the store
     * guesses from the last pages of the partition (rados_page.h). */
    RADOS_PAGE_SIZE = 1024 * 1024,
    RADOS_PAGE_ENTRIES_MAX = 512,    /* A cluster answers at most 1,024. */
    RADOS_PAGE_ENTRIES_UNKNOWN = 32, /* Before anything is known of the partition. */
    RADOS_TIMEOUT_S = 30,
    RADOS_NAME_SIZE_MAX = 128, /* Of pools, users and spaces. */
};

struct rados_options {
    const char *conf;   /* The cluster's configuration file. */
    const char *user;   /* Without "client."; NULL: admin. Its keyring is named in `conf`. */
    const char *pool;   /* Must exist and be replicated: pools of erasure codes have no omap. */
    const char *space;  /* The pool's namespace, so that stores can share a pool; NULL: "stator". */
    unsigned timeout_s; /* Of each operation, and of connecting; 0: RADOS_TIMEOUT_S. */
};

enum { RADOS_MESSAGE_MAX = 512 };
/* NULL with one line for people in `message`: the library is missing, the file cannot be read, the
 * cluster does not answer or refuses the user, there is no such pool, or what is stored there is of
 * another version. `close` of its ops frees it, and waits for nothing. */
MUST_CHECK struct partition_store *rados_store_open(const struct rados_options *options,
                                                    char message[RADOS_MESSAGE_MAX]);

/* Operations that were sent since it was opened, those on the list of partitions included. */
struct rados_counts {
    uint64_t reads, writes;
};
struct rados_counts rados_store_counts(struct partition_store *store);

#endif
