/* txn_group.h -- the txns of one thread that are carried out together.
 *
 * An event loop finds many requests at once. Those that write wait in the loop's group until it has
 * read them all: then they share one round of latches, one engine batch and one completion, which
 * costs a fraction of one of each for everybody. Each is decided for itself, in the order in which
 * they came, as if the ones before had been carried out; a txn that depends on what another one
 * changes begins a new batch. Should a batch fail, its txns are tried again one by one, so that
 * none fails for another's sake.
 *
 * A group belongs to one thread.
 */
#ifndef STATOR_TXN_TXN_GROUP_H
#define STATOR_TXN_TXN_GROUP_H

struct txn;
struct txn_group;

enum {
    /* So many wait at most: latches are held while all of them are decided, and an engine write has
     * so many addresses. */
    TXN_GROUP_MAX = 28,
};

struct txn_group *txn_group_create(void);
void txn_group_destroy(struct txn_group *group); /* None may wait. Destroying NULL is allowed. */

/* Has `txn` carried out by the next txn_group_run, or now if there are many. */
void txn_group_add(struct txn_group *group, struct txn *txn);
/* Carries out all that wait. One that ends at once may lead to further ones: those are too. */
void txn_group_run(struct txn_group *group);

#endif
