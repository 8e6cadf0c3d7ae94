/* txn_group.h -- the txns of one thread that are carried out together, and those that wait.
 *
 * An event loop finds many requests at once. Those that write wait in the loop's group until it has
 * read them all: then they share one round of latches, one engine batch and one completion, which
 * costs a fraction of one of each for everybody. Each is decided for itself, in the order in which
 * they came, as if the ones before had been carried out; a txn that depends on what another one
 * changes begins a new batch. A txn that needs what somebody else holds waits for it alone, and the
 * others go on. Should a batch fail, its txns are tried again one by one, so that none fails for
 * another's sake.
 *
 * A txn or a batch that waits is resumed on the group's thread: the group has its owner wake it up.
 *
 * A group belongs to one thread.
 */
#ifndef STATOR_TXN_TXN_GROUP_H
#define STATOR_TXN_TXN_GROUP_H
#include <stdbool.h>

struct txn;
struct txn_group;
struct txn_step;

enum {
    /* So many are carried out together: latches are held while all of them are decided, and an
     * engine write has so many addresses. */
    TXN_GROUP_MAX = 28,
    /* How often those that nobody is in the way of are tried together; in the end, each is alone.
     */
    TXN_GROUP_TRIES_MAX = 4,
    TXN_GROUP_BATCHES_KEPT_MAX = 4, /* Spare ones. There are more while more wait. */
    /* So many go on in a row before the thread looks at its other work. */
    TXN_GROUP_STEPS_MAX = 64,
};

/* `wake` is called on any thread, and must lead to one txn_group_resume on the group's; it is not
 * called again before that. It must not block. NULL: the thread may wait, and nothing is resumed.
 */
struct txn_group *txn_group_create(void (*wake)(void *context), void *context);
/* No txn may be under way. Destroying NULL is allowed. */
void txn_group_destroy(struct txn_group *group);

/* Has `txn` carried out by the next txn_group_run, or now if there are many. */
void txn_group_add(struct txn_group *group, struct txn *txn);
/* Carries out all that were added. One that ends at once may lead to further ones: those are too.
 */
void txn_group_run(struct txn_group *group);
/* Goes on with those that had to wait and need not any more. */
void txn_group_resume(struct txn_group *group);

/* For txn_step.c. */
bool txn_group_may_wait(const struct txn_group *group);
/* Has the step go on at the next txn_group_resume. From any thread; never blocks. */
void txn_group_post(struct txn_group *group, struct txn_step *step);

#endif
