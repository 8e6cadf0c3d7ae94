/* txn_group.h -- the txns of one thread that are carried out together, and those that wait.
 *
 * An event loop finds many requests at once. Those that write wait in the loop's group until it has
 * read them all: then they share one round of latches, one engine batch and one completion, which
 * costs a fraction of one of each for everybody. Each is decided for itself, in the order in which
 * they came, as if the ones before had been carried out; a txn that depends on what another one
 * changes begins a new batch, and so does one of another partition unless the engine's writes span
 * them freely (ENGINE_SPANS_FREELY). A txn that needs what somebody else holds waits for it alone,
 * and the others go on. Should a batch fail, its txns are tried again one by one, so that none
 * fails for another's sake.
 *
 * A txn or a batch that waits is resumed on the group's thread: the group has its owner wake it up.
 * It does so, too, when large items take long: the rest is carried out when the thread has looked
 * at its other work. Meanwhile the writes of that table are set aside, and those of others pass by:
 * a client that updates a counter does not wait for twenty that update huge items. Each turn goes
 * on with both.
 *
 * A group belongs to one thread.
 */
#ifndef STATOR_TXN_TXN_GROUP_H
#define STATOR_TXN_TXN_GROUP_H
#include <stdbool.h>
#include <stddef.h>

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
    /* What the thread does for its group before it looks at its other work: so much is decided
     * about, in bytes of items before and after; and so many go on that had to wait. A thread that
     * may wait does all. */
    TXN_GROUP_TURN_SIZE_MAX = 256 * 1024,
    TXN_GROUP_STEPS_MAX = 64,
};

/* `wake` is called on any thread, and must lead to one txn_group_resume on the group's, after other
 * work of the thread; it is not called again before that. It must not block, nor call the group.
 * NULL: the thread may wait, and nothing is resumed. */
struct txn_group *txn_group_create(void (*wake)(void *context), void *context);
/* No txn may be under way. Destroying NULL is allowed. */
void txn_group_destroy(struct txn_group *group);

/* Has `txn` carried out by the next txn_group_run, or now if there are many. */
void txn_group_add(struct txn_group *group, struct txn *txn);
/* Carries out all that were added, or as many as take a turn. One that ends at once may lead to
 * further ones: those are too. */
void txn_group_run(struct txn_group *group);
/* Goes on with those that had to wait and need not any more, and with what a turn left. */
void txn_group_resume(struct txn_group *group);

/* For txn.c: so many bytes of items were decided about. */
void txn_group_count(struct txn_group *group, const struct txn *txn, size_t size);
/* For txn_step.c. */
bool txn_group_may_wait(const struct txn_group *group);
/* Has the step go on at the next txn_group_resume. From any thread; never blocks. */
void txn_group_post(struct txn_group *group, struct txn_step *step);

#endif
