/* latches.h -- which write may decide about an address now.
 *
 * A fixed number of latches; an address belongs to the one that its hash picks. Two addresses may
 * share a latch, which costs a wait, never correctness. A write takes its latches in ascending
 * order and keeps those that it has while it waits for the next one, so writes never wait for one
 * another in a cycle. No thread waits: a write that meets a held latch joins its queue. The write
 * that releases the latch passes it to the first in the queue, takes further latches for that one
 * as far as they are free, and calls its owner back once it holds all. No write overtakes a queue.
 *
 * A queue is served in order, with one exception: a thread passes a latch to its own next write
 * before another thread's, at most LATCHES_PASSES_MAX times in a row. Otherwise a hot item would
 * change threads with every write, and each change wakes a thread up.
 *
 * Latches of spaces that many writes share, statistics and the heads of change logs, come last in
 * that order. So a write can take them last, when everything else is decided.
 *
 * Waits are bounded: a watcher thread ends waits that take too long. It sleeps while none waits.
 */
#ifndef STATOR_ENGINE_LATCHES_H
#define STATOR_ENGINE_LATCHES_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "engine/engine.h"

enum {
    /* A batch of writes holds a hundred of them, and should seldom meet another one's. */
    LATCHES_OWN_COUNT = 16384,
    LATCHES_SHARED_COUNT = 4096, /* Of what many writes share: sixteen for each busy table. */
    LATCHES_COUNT = LATCHES_OWN_COUNT + LATCHES_SHARED_COUNT,
    LATCHES_PASSES_MAX = 16,
    LATCHES_LOOKED_AT_MAX = 64, /* Of a queue, in search for a write of the same thread. */
};

/* The latches of one write: ascending, each once. All zero has none. */
struct latches_held {
    /* Set by the caller before it takes any. Called once if the write had to wait, on any thread
     * and without a lock held: with `taken` if it has all of them now, otherwise with none held.
     * Must not block. */
    void (*ready)(struct latches_held *held, bool taken);
    const void *thread; /* Names the thread that it belongs to; NULL: none. Set by the caller, too.
                         */

    size_t count;  /* How many are held: the first ones. */
    size_t wanted; /* Of how many. */
    uint16_t indexes[ENGINE_WRITE_ADDRESSES_MAX];

    /* While it waits; guarded by the mutex. */
    struct latches_held *next_in_queue;
    struct latches_held *next, *previous; /* Of all that wait, those that began first in front. */
    int64_t give_up_ns;
};

struct latch {
    atomic_uint state;         /* enum latch_state, see latches.c. */
    unsigned passes;           /* Within one thread, in a row. Guarded by mutex. */
    struct latches_held *last; /* Of a ring: its `next_in_queue` is the first. Guarded by mutex. */
};

struct latches {
    struct latch list[LATCHES_COUNT];
    int64_t wait_ns; /* For all latches that a call takes together. */

    /* A leaf. Taken only where somebody waits, or is about to. */
    pthread_mutex_t mutex;
    struct latches_held *first, *last; /* All that wait. */
    bool watched;                      /* The watcher looks at them now and then. */
    bool stopping;
    pthread_cond_t changed; /* `watched` or `stopping` was set. */
    pthread_t watcher;
};

/* False if the system has no thread left. */
MUST_CHECK bool latches_init(struct latches *latches, unsigned wait_ms);
void latches_deinit(struct latches *latches); /* None may be held. */

/* True with all latches of the addresses held. False: `held->ready` will tell, perhaps before this
 * returns, and `held` belongs to the latches until then. */
MUST_CHECK bool latches_take(struct latches *latches, const struct engine_address *addresses,
                             size_t address_count, struct latches_held *held);
/* The same with further addresses, of shared spaces, for a write that has none of those. */
MUST_CHECK bool latches_take_shared(struct latches *latches, const struct engine_address *addresses,
                                    size_t address_count, struct latches_held *held);
/* Never waits. False with none held, and `busy` set for each address whose latch another has; it is
 * set for one at least. */
MUST_CHECK bool latches_try(struct latches *latches, const struct engine_address *addresses,
                            size_t address_count, struct latches_held *held, bool *busy);
/* On any thread. Calls `ready` of those whose turn it is. */
void latches_release(struct latches *latches, struct latches_held *held);
/* True if the latch of `address` is among those held. */
bool latches_cover(const struct latches_held *held, const struct engine_address *address);

#endif
