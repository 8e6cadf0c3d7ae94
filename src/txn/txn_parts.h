/* txn_parts.h -- what a write consists of besides its items; for this folder only.
 *
 * Each part names the addresses it will read, one set per item, and adds its changes to the batch
 * once the decision has set the effects.
 */
#ifndef STATOR_TXN_TXN_PARTS_H
#define STATOR_TXN_TXN_PARTS_H
#include "base/compiler.h"
#include "engine/engine.h"

struct figures;
struct txn;
struct txn_item;

/* The addresses that a write begins with. */
struct txn_addresses {
    struct engine_address *list;
    size_t count;
};
static inline void txn_addresses_add(struct txn_addresses *addresses, struct engine_address address)
{
    addresses->list[addresses->count++] = address;
}

/* Index entries need no latches of their own: their keys hold the item's, whose latch is held. */
void txn_indexes_apply(struct txn *txn, struct txn_item *item, struct engine_write *write);

/* Entries of the expiry queue need none either. Also for an item that is kept: an entry that led
 * here and is not the item's goes. */
void txn_expiry_apply(struct txn *txn, const struct txn_item *item, struct engine_write *write);

/* The records in the change logs of all tables that have one. */
void txn_changes_add_addresses(const struct txn_item *item, struct txn_addresses *addresses);
MUST_CHECK enum engine_status txn_changes_apply(struct txn *txn, struct engine_write *write);

/* The figures of all tables that the items belong to. Index changes are known by then. */
void txn_figures_add_addresses(const struct txn_item *item, struct txn_addresses *addresses);
MUST_CHECK enum engine_status txn_figures_apply(struct txn *txn, struct engine_write *write);
/* Adds what an item's effect changes in its table's figures, and in those of each index. */
void txn_figures_add(const struct txn_item *item, struct figures *table, struct figures *indexes);

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
