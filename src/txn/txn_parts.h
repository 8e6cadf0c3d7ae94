/* txn_parts.h -- what a write consists of besides its items; for this folder only.
 *
 * Each part names the addresses it will read, one set per item, and adds its changes to the batch
 * once the decision has set the effects.
 */
#ifndef STATOR_TXN_TXN_PARTS_H
#define STATOR_TXN_TXN_PARTS_H
#include <assert.h>
#include "base/compiler.h"
#include "engine/engine.h"

struct change_log_time;
struct engine_completion;
struct table_stats;
struct txn;
struct txn_item;

/* Of each item: itself and its collection's size; then the head of its change log, that of the
 * partition which its own one is being split off from, and the shard of statistics that counts it,
 * which are shared. */
enum { TXN_OWN_ADDRESSES_PER_ITEM = 2, TXN_SHARED_ADDRESSES_PER_ITEM = 3 };

/* The addresses that a write begins with, or is extended by. */
struct txn_addresses {
    struct engine_address *list;
    size_t count;
    size_t max;
};
static inline void txn_addresses_add(struct txn_addresses *addresses, struct engine_address address)
{
    assert(addresses->count < addresses->max);
    addresses->list[addresses->count++] = address;
}

/* --- The steps of a write, for txn.c and txn_group.c --- */

/* What the decision depends on: at most TXN_OWN_ADDRESSES_PER_ITEM for each item, and one for each
 * record. */
void txn_add_own_addresses(const struct txn *txn, struct txn_addresses *addresses);
/* What the effects, which are known by now, change besides: at most TXN_SHARED_ADDRESSES_PER_ITEM
 * for each item. */
void txn_add_shared_addresses(const struct txn *txn, struct txn_addresses *addresses);
/* Reads what the decision depends on and asks for it. `*changes` if there is something to apply;
 * what was read is held until txn_release. */
MUST_CHECK enum engine_status txn_decide(struct txn *txn, struct engine_write *write,
                                         bool *changes);
/* Puts all that no other txn of the same engine write has a part in. */
MUST_CHECK enum engine_status txn_apply_own(struct txn *txn, struct engine_write *write);
/* Then, with the shared addresses, what is added up over all items of an engine write: `txn` has
 * those of all its txns. */
MUST_CHECK enum engine_status txn_apply_shared(struct txn *txn, struct engine_write *write);
void txn_release(struct txn *txn);
void txn_finish(struct txn *txn, enum engine_status status); /* The txn may be gone then. */
/* Before the commit: `settle` is called, on any thread, once both the commit has ended and the
 * answer is formed, if the decision wants that. Then txn_end_commit for each txn, from the commit's
 * end, and txn_form_answer, by the deciding thread, for those that have an `answer`: others may be
 * gone.
 */
void txn_begin_commit(struct txn *txn,
                      void (*settle)(struct txn *txn, enum engine_status commit_status));
void txn_end_commit(struct txn *txn, enum engine_status status);
void txn_form_answer(struct txn *txn);
/* All of it, in an engine write of its own, now or when it is its turn. */
void txn_attempt(struct txn *txn);
struct txn *txn_of_completion(struct engine_completion *completion);

/* --- The parts --- */

/* Index entries need no latches of their own: their keys hold the item's, whose latch is held. */
void txn_indexes_apply(struct txn *txn, struct txn_item *item, struct engine_write *write);

/* Entries of the expiry queue need none either. Also for an item that is kept: an entry that led
 * here and is not the item's goes. */
void txn_expiry_apply(struct txn *txn, const struct txn_item *item, struct engine_write *write);

/* The records in the change logs of all tables that have one, and the entries in their histories.
 * Takes the write's commit time if there are any. Addresses are those of the logs' heads. */
void txn_changes_add_addresses(const struct txn_item *item, struct txn_addresses *addresses);
MUST_CHECK enum engine_status txn_changes_apply(struct txn *txn, struct engine_write *write);

/* Whether any change goes into a history. Entries need no latches: their keys hold the item's. */
bool txn_history_is_kept(const struct txn *txn);
void txn_history_apply(struct txn *txn, struct engine_write *write, int64_t commit_us);

/* Takes the commit time of a write that holds all it will ever hold; `history`: who reads the state
 * at a moment waits for it (history/history_cut.h). Puts a ceiling if that is due. */
struct change_log_time txn_history_take_time(struct txn *txn, struct engine_write *write,
                                             int64_t after_us, bool history);
/* The write with that time ended: to be called exactly once, whether it was made or not. Without
 * one it does nothing. */
void txn_history_end_time(struct txn *txn, enum engine_status status);

/* The stamps of items of global tables, and their entries in the queues of other regions. Neither
 * needs latches: their keys hold the item's. */
bool txn_replicas_are_stamped(const struct txn *txn);
void txn_replicas_apply(struct txn *txn, struct engine_write *write, int64_t commit_us);

/* The statistics of all tables that the items belong to. Index changes are known by then. Addresses
 * are those of shards that change. */
void txn_stats_add_addresses(const struct txn_item *item, struct txn_addresses *addresses);
MUST_CHECK enum engine_status txn_stats_apply(struct txn *txn, struct engine_write *write);
/* Adds what an item's effect changes in its table's statistics, and in those of each index. */
void txn_stats_add(const struct txn_item *item, struct table_stats *table,
                   struct table_stats *indexes);

/* The sizes of the item collections that the items belong to, for tables with a local index. Unlike
 * the other parts it is read before the decision, which may depend on it. */
void txn_collections_add_addresses(const struct txn_item *item, struct txn_addresses *addresses);
MUST_CHECK enum engine_status txn_collections_read(struct txn *txn, struct engine_write *write);
void txn_collections_apply(struct txn *txn, struct engine_write *write);

/* What the decision reads and stores besides items. */
void txn_records_add_addresses(const struct txn *txn, struct txn_addresses *addresses);
MUST_CHECK enum engine_status txn_records_read(struct txn *txn, struct engine_write *write);
void txn_records_apply(const struct txn *txn, struct engine_write *write);
void txn_records_release(struct txn *txn);

#endif
