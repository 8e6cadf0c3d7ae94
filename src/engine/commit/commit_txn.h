/* commit_txn.h -- one transaction over any number of partitions: read, decide, change, commit.
 *
 * Optimistic: reads hold nothing. A commit succeeds only if everything that was read is still as it
 * was, at the one moment at which all changes take effect. README.md says how.
 *
 * Lives in its owner's arena. One thread at a time.
 */
#ifndef STATOR_ENGINE_COMMIT_COMMIT_TXN_H
#define STATOR_ENGINE_COMMIT_COMMIT_TXN_H
#include "engine/commit/commit_core.h"

struct commit_entry {
    struct bytes name; /* Space and key. */
    size_t part;       /* Of the transaction's parts. */
    size_t next;       /* Of the same part; SIZE_MAX: none. */
    size_t next_in_bucket;
    bool wanted;     /* To be read. */
    bool is_read;    /* Then these hold: */
    bool is_present; /* - there was a value */
    struct partition_stamp stamp;
    struct bytes payload;
    uint64_t version; /* - of the partition */
    enum commit_change change;
    struct bytes new_payload;
};

struct commit_part {
    struct partition_id id;
    size_t first, last; /* Entries. */
    bool has_epoch;
    bool has_changes;
    uint64_t epoch;
};

enum { COMMIT_TXN_BUCKETS = 64 };

struct commit_txn {
    struct commit_core *core;
    struct arena *arena;
    struct commit_entry *entries;
    size_t entry_count, entry_capacity;
    size_t buckets[COMMIT_TXN_BUCKETS]; /* First entry of each. */
    struct commit_part *parts;
    size_t part_count, part_capacity;
    unsigned fetches;
    int64_t deadline_ms; /* Nothing is repeated after it: COMMIT_WRITE_MS. */
    /* Once it is committed in several partitions, until commit_txn_finish. */
    bool needs_finish;
    struct partition_stamp id;
    size_t primary;
};

/* Its time begins to run. */
void commit_txn_init(struct commit_txn *txn, struct commit_core *core, struct arena *arena);

/* Says that the address will be read, so that one call of commit_txn_fetch reads all side by side.
 */
void commit_txn_want(struct commit_txn *txn, const struct engine_address *address);
/* Reads what was wanted and not read yet. ENGINE_BUSY if intents of others stayed for too long. */
MUST_CHECK enum engine_status commit_txn_fetch(struct commit_txn *txn);
/* Wants and fetches it if need be. The payload stays valid with the arena. `version` is that of the
 * partition when it was read. */
MUST_CHECK enum engine_status commit_txn_get(struct commit_txn *txn,
                                             const struct engine_address *address,
                                             struct bytes *payload, uint64_t *version);

/* The bytes are copied. The last change of an address wins. */
void commit_txn_put(struct commit_txn *txn, const struct engine_address *address,
                    struct bytes payload);
void commit_txn_delete(struct commit_txn *txn, const struct engine_address *address);

/* ENGINE_OK: durable and visible to all. ENGINE_UNKNOWN: took place or not; it will not take place
 * any later, unless the store could not be reached. Any other status: did not and will not take
 * place; ENGINE_CONFLICT if what was read has changed, ENGINE_BUSY if others were in the way until
 * its time was over. Once for each transaction. */
MUST_CHECK enum engine_status commit_txn_commit(struct commit_txn *txn);
/* Settles the transaction's own intents, after its owner was answered. Tries once: what it does not
 * settle, those who meet it do, and the sweep. */
void commit_txn_finish(struct commit_txn *txn);

#endif
