/* commit_core.h -- what the transactions of one server share: ids, epochs, and how to settle the
 * intents that a transaction left behind.
 *
 * README.md describes the protocol and why it is safe. In short: a transaction's record in its
 * primary partition decides. It is committed once the record exists. It can never be committed any
 * more once the primary's epoch is above the one that its intents name. Everybody may find out
 * which of the two holds, bring it about, and then settle the intents.
 *
 * All calls block until the store has answered. Any thread may call.
 */
#ifndef STATOR_ENGINE_COMMIT_COMMIT_CORE_H
#define STATOR_ENGINE_COMMIT_COMMIT_CORE_H
#include <pthread.h>
#include <stdatomic.h>
#include "engine/commit/commit_format.h"

enum {
    /* How long others' intents are waited for, by the waiter's own clock, before their transaction
     * is aborted; and the pauses between two looks. */
    COMMIT_PATIENCE_MS = 1000, /* Well above what a commit takes on a busy cluster. */
    COMMIT_PAUSE_MS = 2,       /* The first one; each is twice as long as the one before. */
    COMMIT_PAUSE_MS_MAX = 64,
    COMMIT_PAUSES_MAX = 64, /* Ends the wait if the clock stands still. */
    COMMIT_WAITS_MAX = 16,  /* Transactions waited for at a time; others are waited for next. */
    COMMIT_RESOLUTIONS_MAX = 1024, /* Looks at intents in one read; then ENGINE_BUSY. */
    COMMIT_ATTEMPTS_MAX = 16, /* Of a write that was refused without a change of what it read. */
    COMMIT_TRIES_MAX = 8,     /* Of an operation that may be repeated. */
    /* After this long, a write repeats nothing: it answers what it knows, and leaves its intents to
     * those who meet them and to the sweep. More than one operation may take (RADOS_TIMEOUT_S), so
     * that a lost answer is looked into. */
    COMMIT_WRITE_MS = 40 * 1000,
    COMMIT_EPOCHS_KEPT = 256, /* Partitions whose epoch is known without asking. */
};

/* Time as parameters, so that a test decides. */
struct commit_time {
    int64_t (*now_ms)(void *context); /* By a clock of this server; may do anything. */
    void (*pause)(void *context, unsigned ms);
    void *context;
};
/* CLOCK_MONOTONIC and nanosleep. */
extern const struct commit_time commit_time_system;

struct commit_core {
    struct partition_store *store;
    struct commit_time time;
    uint64_t server; /* Random: the first half of all ids of this server's transactions. */
    atomic_uint_fast64_t transactions;
    pthread_mutex_t mutex; /* A leaf: guards the epochs. */
    struct {
        bool used;
        struct partition_id partition;
        uint64_t epoch;
    } epochs[COMMIT_EPOCHS_KEPT];
};

/* `server` differs for each server, and each time that it is started. */
void commit_core_init(struct commit_core *core, struct partition_store *store,
                      const struct commit_time *time, uint64_t server);
void commit_core_deinit(struct commit_core *core);

/* An id that no transaction ever had. */
struct partition_stamp commit_core_new_id(struct commit_core *core);

/* Epochs seen last. They may be old: a guard finds out. */
bool commit_core_known_epoch(struct commit_core *core, const struct partition_id *partition,
                             uint64_t *epoch);
void commit_core_note_epoch(struct commit_core *core, const struct partition_id *partition,
                            uint64_t epoch);
void commit_core_forget_epoch(struct commit_core *core, const struct partition_id *partition);

/* One operation. */
enum partition_status commit_core_run(struct commit_core *core, struct arena *arena,
                                      struct partition_operation *operation);
/* What a caller of the engine learns about an operation that did not succeed. */
enum engine_status commit_core_status(enum partition_status status);

/* By this server's clock. */
bool commit_core_is_late(struct commit_core *core, int64_t deadline_ms);

/* Makes sure that operations which are guarded by `epoch` can take effect no more. False if that
 * could not be found out before the deadline. */
MUST_CHECK bool commit_core_fence(struct commit_core *core, struct arena *arena,
                                  const struct partition_id *partition, uint64_t epoch,
                                  int64_t deadline_ms);

enum commit_outcome {
    COMMIT_PENDING,   /* May still be committed. */
    COMMIT_COMMITTED, /* For good. */
    COMMIT_ABORTED,   /* For good. Also: committed, and nobody can meet an intent of it any more. */
};
/* What became of a transaction of which somebody has met an intent. */
MUST_CHECK enum engine_status commit_core_look_up(struct commit_core *core, struct arena *arena,
                                                  const struct commit_intent *intent,
                                                  enum commit_outcome *out);

/* Since when a read has waited for which transactions. Zeroed at first. */
struct commit_waiter {
    struct {
        struct partition_stamp id;
        int64_t since_ms;
        unsigned pauses; /* 0: free. */
    } waits[COMMIT_WAITS_MAX];
    unsigned looks; /* At intents of any transaction. */
};
/* One step towards the end of an intent that was met at `name`: settles it if its transaction is
 * decided, otherwise pauses, or aborts the transaction if that took too long. The caller then reads
 * the key again. */
MUST_CHECK enum engine_status commit_core_resolve(struct commit_core *core, struct arena *arena,
                                                  struct commit_waiter *waiter,
                                                  const struct partition_id *partition,
                                                  struct bytes name,
                                                  const struct commit_intent *intent);
/* Applies a decision to one intent: PARTITION_OK, or PARTITION_REFUSED if it is gone. */
enum partition_status commit_core_settle(struct commit_core *core, struct arena *arena,
                                         const struct partition_id *partition, struct bytes name,
                                         const struct commit_intent *intent, bool committed);

/* Settles all intents in a partition, and all records in it with their intents elsewhere. For a
 * partition where nothing is under way this leaves nothing behind; others may go on meanwhile. */
MUST_CHECK enum engine_status commit_core_sweep(struct commit_core *core,
                                                const struct partition_id *partition);

#endif
