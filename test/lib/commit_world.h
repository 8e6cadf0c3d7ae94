/* commit_world.h -- several servers on one partitioned store, under a scheduler that a seed or a
 * systematic search decides.
 *
 * Every operation of the store is a step. Before each step the scheduler decides who takes the next
 * one, and what goes wrong with it: a server dies before or after it, its answer is lost although
 * it was applied or was not, it arrives later, perhaps after its server has died, or the store
 * fails. Servers stall for long and resume. Their clocks run at different speeds and jump. In the
 * end all late operations arrive, a server that never fails sweeps all partitions, and the history
 * is checked: commit_history.h, no intent and no record is left, and what the kind of transactions
 * promises.
 */
#ifndef STATOR_TEST_COMMIT_WORLD_H
#define STATOR_TEST_COMMIT_WORLD_H
#include "commit_history.h"
#include "engine/commit/partition_store.h"

enum {
    WORLD_CLIENTS_MAX = 4,
    WORLD_PLANS_MAX = 4,    /* Transactions of a client. */
    WORLD_ATTEMPTS_MAX = 3, /* Of each. */
    WORLD_CHOICES_MAX = 4096,
};

/* What a transaction does with a key. */
enum world_access {
    WORLD_NOTHING,
    WORLD_READ,
    WORLD_PUT,    /* Without reading it. */
    WORLD_DELETE, /* Without reading it. */
    WORLD_READ_PUT,
    WORLD_READ_DELETE,
    WORLD_APPEND,   /* Reads a list and adds an element. */
    WORLD_TRANSFER, /* Of two keys: one unit from the one with more to the other. */
};

struct world_plan {
    enum world_access access[HISTORY_KEYS];
};

struct world_client {
    size_t plan_count;
    struct world_plan plans[WORLD_PLANS_MAX];
    bool sweeps; /* All partitions, before its first transaction and after each. */
};

struct world_options {
    size_t client_count; /* Each with a server of its own. */
    struct world_client clients[WORLD_CLIENTS_MAX];
    size_t faults_max;
    size_t preemptions_max; /* Only of the systematic search. */
    bool bank;              /* Every key begins with 10 units. */
    unsigned bugs;          /* enum partition_bug */
};

struct world; /* Reused for many histories. */
struct world *world_create(void);
void world_destroy(struct world *world);

/* Runs one history and returns NULL, or what is wrong with it. */
const char *world_run_random(struct world *world, const struct world_options *options,
                             uint64_t seed);
/* The systematic search: resets it, and runs the next history. `done` is set after the last one. */
void world_search_begin(struct world *world);
const char *world_search_next(struct world *world, const struct world_options *options, bool *done);

const struct history *world_history(const struct world *world);

/* Of all histories so far, to show that the faults are met. */
struct world_counts {
    uint64_t histories, steps, committed, refused, unknown, deaths, lost_answers, late_applied;
};
struct world_counts world_counts(const struct world *world);

#endif
