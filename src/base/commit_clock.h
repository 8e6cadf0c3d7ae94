/* commit_clock.h -- what all threads of a store share about commit times (base/clock.h).
 *
 * Two things besides the newest time that was taken:
 *
 * - The ceiling. Commit times must not be taken twice, even if the process is killed and the wall
 *   clock is set back before it starts again. So the store holds a time that is later than every
 *   commit time in it (history/commit_ceiling.h), and commit times resume there.
 * - The writes under way, i.e. those that may have taken a commit time and are not complete. Who
 *   reads the state at a moment waits for those that may have taken an earlier time
 *   (history/history_cut.h).
 *
 * A write registers before it takes its time. Counters are kept for two epochs, so that a waiter
 * meets an end although new writes keep coming, and in several shards, so that threads that write
 * do not share a cache line.
 */
#ifndef STATOR_BASE_COMMIT_CLOCK_H
#define STATOR_BASE_COMMIT_CLOCK_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"

enum {
    COMMIT_CLOCK_SHARDS = 16,
    COMMIT_CLOCK_LINE_SIZE = 64,
};

/* As large as a cache line. */
struct commit_clock_shard {
    _Atomic uint64_t under_way[2];
    char unused[COMMIT_CLOCK_LINE_SIZE - 2 * sizeof(uint64_t)];
};

/* Zeroed: no commit time was taken yet. Lives as long as the clocks that refer to it. */
struct commit_clock {
    _Atomic int64_t newest_us;
    /* A durable ceiling: a write whose commit time is not below it stores a later one in its own
     * batch, and raises this one when the batch is durable. */
    _Atomic int64_t ceiling_us;
    atomic_uint epoch;
    atomic_bool draining; /* A thread waits in commit_clock_drain. */
    struct commit_clock_shard shards[COMMIT_CLOCK_SHARDS];
};

/* Registers a write that is about to take its commit time. Returns what commit_clock_leave needs;
 * never 0. Any thread; never waits. */
unsigned commit_clock_enter(struct commit_clock *commits);
/* The write is complete, whether it was made or not. Any thread; 0 is ignored. */
void commit_clock_leave(struct commit_clock *commits, unsigned ticket);
/* Waits until all writes that registered before the call are complete. False if that took longer.
 * Not for loops. */
MUST_CHECK bool commit_clock_drain(struct commit_clock *commits, int64_t wait_ms_max);

/* Notes that a stored ceiling is durable. */
void commit_clock_raise_ceiling(struct commit_clock *commits, int64_t ceiling_us);

#endif
