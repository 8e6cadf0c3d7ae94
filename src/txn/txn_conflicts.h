/* txn_conflicts.h -- claims on items, for servers that refuse conflicts instead of waiting.
 *
 * The engine serializes writes, so clients see only a short wait. The service refuses instead, and
 * this lets applications test their retries. A transaction claims its items from its start to its
 * end; a second transaction or a single write that meets one of them ends with ENGINE_CONFLICT at
 * once. Claims are on the items themselves, not on the engine's latches, which unrelated items
 * share.
 */
#ifndef STATOR_TXN_TXN_CONFLICTS_H
#define STATOR_TXN_TXN_CONFLICTS_H
#include <stdbool.h>
#include "base/compiler.h"
#include "engine/engine.h"

struct txn;
struct txn_conflicts; /* Opaque. Any thread may use it. */

/* What a transaction has claimed; lives in its arena until its end. */
struct txn_claim {
    struct engine_address address;
    struct txn_claim *next;
};

struct txn_conflicts *txn_conflicts_create(void);
/* No transaction may be under way. Destroying NULL is allowed. */
void txn_conflicts_destroy(struct txn_conflicts *conflicts);

/* Is anything at this address claimed? For reads. */
bool txn_conflicts_has(struct txn_conflicts *conflicts, const struct engine_address *address);

/* For txn.c. Claims what a transaction has, or only looks for a single write. False with `conflict`
 * set for the items, and for the records, that another has; then nothing is claimed. */
MUST_CHECK bool txn_conflicts_enter(struct txn_conflicts *conflicts, struct txn *txn);
void txn_conflicts_leave(struct txn_conflicts *conflicts, struct txn *txn);

#endif
