/* txn.h -- the one write path: read the items under their latches, decide, write one batch.
 *
 * Whoever changes items describes which ones and how to decide; everything that must change in
 * the same step (the items, their index entries, change records, histories, expiry times, the sizes
 * of item collections and the table's statistics) is derived here and goes into the same engine
 * batch. What many writes share, statistics and the heads of change logs, is read and changed once
 * all else is decided, so that it is held for a moment only.
 */
#ifndef STATOR_TXN_TXN_H
#define STATOR_TXN_TXN_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/engine.h"
#include "index/index_change.h"
#include "model/item.h"
#include "table/item_address.h"
#include "table/replica_stamp.h"
#include "txn/txn_step.h"

struct arena;
struct clock;
struct table_definition;
struct txn_claim;
struct txn_conflicts;
struct txn_group;

enum {
    TXN_ITEMS_MAX = 100,
    TXN_RECORDS_MAX = 4,
    /* How large the items of a txn may be to be decided about where it was started (`hand_over`): a
     * loop takes a fraction of a millisecond for them. */
    TXN_HAND_OVER_SIZE = 256 * 1024,
    /* How often a decision is repeated after a conflict in an optimistic engine. */
    TXN_ATTEMPTS_MAX = 10,
    /* Of the entries that all items have in all indexes: ENGINE_TOO_LARGE beyond. Whatever can be
       sent in one request fits; only updates of a hundred large items at once do not. */
    TXN_INDEX_ENTRIES_SIZE_MAX = 256 * 1024 * 1024,
};

enum txn_effect {
    TXN_KEEP,
    TXN_PUT,
    TXN_DELETE,
    /* The item stays; entries that an index being built, or an expiry queue being filled, lacks are
       stored. */
    TXN_INDEX,
};

struct txn_item {
    /* Set by the caller. */
    const struct table_definition *table;
    struct item_address place;
    bool by_service; /* The change log tells that the service made this change, not a client. */
    /* The change was made in another region, at `stamp`, and is not sent to any (txn_replicas). A
     * decision that takes it sets `is_taken`, also if the item is what it should be already. For
     * other writes it follows from the effect. */
    bool is_replicated;
    bool is_taken;
    struct replica_stamp stamp;
    /* The expiry queue has an entry for this item: it is deleted unless it is still correct. */
    bool queued;
    int64_t queued_second;

    /* Filled in before a decision; valid only during it. */
    bool exists;
    struct item current;
    /* Of the item collection, with the entries in local indexes; 0 if the table has none. */
    int64_t collection_size;

    /* Set by the decision. TXN_KEEP unless set. */
    enum txn_effect effect;
    struct item replacement; /* TXN_PUT: lives in the arena. */

    bool conflict; /* Set where txn_conflicts found that another transaction has the item. */

    struct engine_value held; /* txn's own: what `current` borrows. */
    /* txn's own: one for each index of the table, derived from the effect; NULL: not yet. */
    struct index_change *index_changes;
};

/* Bytes beside the items, such as an idempotency token's, that the decision depends on. */
struct txn_record {
    struct engine_address address; /* Set by the caller. */

    /* Filled in before a decision; valid only during it. */
    bool exists;
    struct bytes current;

    struct bytes replacement; /* Set by the decision, in the arena; data NULL: kept as it is. */

    bool conflict; /* As an item's. */

    struct engine_value held; /* txn's own. */
};

/* What a commit time that was taken leaves to be done when the write ends; zero: nothing. */
struct txn_commit {
    unsigned ticket;    /* Of commit_clock_enter. */
    int64_t ceiling_us; /* That the write stores. */
};

/* Embedded in the caller's own structure; lives until `done` was called. */
struct txn {
    struct arena *arena; /* Used by whichever thread runs the decision. */
    struct engine *engine;
    const struct clock *clock; /* Tells when a change was made. */
    struct txn_item *items;    /* Distinct places. */
    size_t item_count;
    struct txn_record *records; /* Distinct from the items' places; NULL: none. */
    size_t record_count;
    struct txn_conflicts *conflicts; /* NULL: wait for others. */
    /* Of the calling thread, which goes on while the txn waits; NULL: carried out at once, and the
     * thread waits. */
    struct txn_group *group;
    bool is_transaction; /* With `conflicts`: others meet its items until it ends. */
    /* Looks at all items and sets their effects, or returns false to change nothing. May run more
     * than once, so it starts from scratch each time. Runs under the latches, on the calling thread
     * if there is a group: it must not wait. */
    bool (*decide)(struct txn *txn);
    /* A decision may set this to have the rest of its answer formed once the latches are gone; NULL
     * before each. Called on the thread of the decision, after what was read has been released, and
     * before `done`, which waits for it. Perhaps in vain: `done` may tell of a failure, and a
     * decision may still be repeated. */
    void (*answer)(struct txn *txn);
    /* For a thread that must not be kept busy, which has a group: called instead of a decision,
     * with nothing begun, if the txn has several items, and they have more than TXN_HAND_OVER_SIZE
     * as they are stored. Whoever takes the txn over owes a txn_continue or a txn_forget, on any
     * thread. NULL: it is decided where it was started, whatever its size. */
    void (*hand_over)(struct txn *txn, void *context);
    void *hand_over_context;
    /* Called exactly once, on any thread, perhaps before txn_start returns: with ENGINE_OK when the
     * effects, or what a refusal was based on, are durable; with ENGINE_CONFLICT if a transaction
     * has one of the items (`conflicts`), or others changed them again and again; with ENGINE_BUSY
     * if others were in the way for too long, or ENGINE_TOO_LARGE, and nothing was done. Must not
     * block. */
    void (*done)(struct txn *txn, enum engine_status status);

    struct engine_completion completion; /* txn's own, like what follows. */
    struct txn_step step;
    struct txn *next;        /* In the group, and in a batch of it. */
    struct txn *next_answer; /* Of the batch's txns that have one. */
    /* With `answer`: the commit and the answer. The second of them to end goes on with `settle`. */
    atomic_uint ends_left;
    enum engine_status commit_status;
    void (*settle)(struct txn *txn, enum engine_status commit_status);
    unsigned attempts;
    bool is_large;            /* It must be handed over. */
    struct txn_claim *claims; /* With `conflicts`. */
    size_t claim_count;
    struct engine_write *write;     /* While it is decided and applied. */
    enum engine_status read_status; /* What failed during the decision. */
    size_t index_entries_size;      /* Of those that were derived. */
    struct txn_commit commit;
};

/* Whether the item's effect changes its data. Documented: a PutItem or UpdateItem that changes no
 * data of an item writes no stream record. */
bool txn_item_is_changed(const struct txn_item *item);

/* What an item's effect does to its table's indexes, one element each, in their order. For a
 * decision that has set the effect, and does not change it any more, and tells what it costs.
 * Entries of an index that is being built are read; should that fail, so will the write, as it will
 * where the entries take too much memory: the changes may then be none. */
const struct index_change *txn_index_changes(struct txn *txn, struct txn_item *item);

/* The size of the item's collection once the effects of all items took place. For a decision that
 * has set them and does not change them any more. The table has a local index. */
int64_t txn_collection_size_after(struct txn *txn, const struct txn_item *item);
/* Whether the item has an item collection, and is the first of the txn's that belongs to it: for
 * whoever looks at each collection once. */
bool txn_collection_is_first(const struct txn *txn, const struct txn_item *item);
/* Whether two items are of one item collection, or would be if their table had any. */
bool txn_collection_is_shared(const struct txn_item *a, const struct txn_item *b);

/* The caller has set the first part; the rest is zero. */
void txn_start(struct txn *txn);

/* Goes on with a txn that was handed over, on a thread with that group or, NULL, on one that may
 * wait. It is not handed over again. */
void txn_continue(struct txn *txn, struct txn_group *group);
/* Ends one that was handed over, with nothing done; `done` is not called. */
void txn_forget(struct txn *txn);

#endif
