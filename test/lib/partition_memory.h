/* partition_memory.h -- a partitioned store in memory, for tests of engine/commit/.
 *
 * It does what partition_store.h promises, and can be told to break a promise, to prove that the
 * checkers notice.
 */
#ifndef STATOR_TEST_PARTITION_MEMORY_H
#define STATOR_TEST_PARTITION_MEMORY_H
#include "engine/commit/partition_store.h"

enum partition_bug {
    /* Guards on the epoch are ignored, so that late operations take effect: a missing fence. */
    PARTITION_BUG_NO_FENCE = 1 << 0,
    /* Guards on the values that were read are ignored: a skipped comparison. */
    PARTITION_BUG_NO_COMPARISON = 1 << 1,
    /* Guards against others' intents are ignored: their hold on a key is not respected. */
    PARTITION_BUG_HOLD_IGNORED = 1 << 2,
    /* Who looks up a transaction without a record is told that it was aborted, although it may
     * still commit: resolving without deciding. */
    PARTITION_BUG_UNDECIDED = 1 << 3,
    /* Records of committed transactions vanish at once. */
    PARTITION_BUG_NO_RECORD = 1 << 4,
    /* Intents are applied or removed although they belong to another transaction by now. */
    PARTITION_BUG_ANY_INTENT = 1 << 5,
    /* An operation with several changes does only the first. */
    PARTITION_BUG_TORN = 1 << 6,
};

struct partition_memory_counts {
    size_t reads, writes;
};

/* Its `close` frees it. */
struct partition_store *partition_memory_create(bool reverse);
void partition_memory_plant(struct partition_store *store, unsigned bugs);
/* What one write may hold (partition_store.h). */
void partition_memory_limit(struct partition_store *store, size_t changes_max, size_t size_max);
/* From now on, or no more: pages are of two entries, and somebody else changes a partition after
 * each read of it, though never a key that anybody knows. */
void partition_memory_disturb(struct partition_store *store, bool disturbs);
/* For another engine on the same store: it is freed when all have closed it. */
struct partition_store *partition_memory_retain(struct partition_store *store);
/* Forgets everything. */
void partition_memory_clear(struct partition_store *store);
struct partition_memory_counts partition_memory_counts(struct partition_store *store);
/* How many keys begin with this byte, in all partitions. */
size_t partition_memory_count_keys(struct partition_store *store, uint8_t first);

#endif
