/* give_way.h -- threads with long work let others run every few dozen microseconds.
 *
 * A low priority is not enough. Linux decides who runs when a thread wakes up, and otherwise at the
 * tick, which comes every 1 to 4 ms. A loop that wakes up, or has used up its slice, and at that
 * moment is owed a little less than a thread with long work, waits for the tick, and all its
 * clients with it. So long work calls sched_yield often: then the loop waits for a fraction of a
 * millisecond, whatever the scheduler thinks.
 *
 * Whoever does work that grows with a request counts it here. That costs a load and a branch on
 * threads that do not give way, such as the loops. Nothing may be counted while a lock or a latch
 * is held that others wait for.
 */
#ifndef STATOR_BASE_GIVE_WAY_H
#define STATOR_BASE_GIVE_WAY_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"

enum {
    /* Work between two calls of sched_yield, roughly in nanoseconds. The call takes 0.5 us. */
    GIVE_WAY_EVERY = 48 * 1000,
    GIVE_WAY_ELEMENT = 100, /* An element or a member of a JSON text, its bytes not counted. */
    GIVE_WAY_COMPARISON = 50,
};

/* Of the calling thread. */
struct give_way {
    bool is_on;
    uint64_t work;  /* Since the thread gave way. */
    uint64_t count; /* How often it did. */
};
extern _Thread_local struct give_way give_way_own;

/* From here on the calling thread gives way, or does not, while it counts work. At first a thread
 * does not. */
void give_way_set(bool is_on);

void give_way_count_on(uint64_t work); /* Only give_way_count calls it. */
static inline void give_way_count(uint64_t work)
{
    if (UNLIKELY(give_way_own.is_on))
        give_way_count_on(work);
}

#endif
