/* commit_clock.c -- see commit_clock.h. */
#include "base/commit_clock.h"
#include <assert.h>
#include <time.h>
#include "base/clock.h"
#include "base/thread_number.h"

enum { PAUSE_NS = 200 * 1000 };

/* Without the fence a processor might take the commit time before others see the registration, and
 * a waiter could miss a write with an earlier time. The waiter raises the newest time, passes its
 * own fence and then reads the counters: either it sees the registration, or the write takes a time
 * that is not below. */
unsigned commit_clock_enter(struct commit_clock *commits)
{
    unsigned shard = thread_number() % COMMIT_CLOCK_SHARDS;
    unsigned epoch = atomic_load_explicit(&commits->epoch, memory_order_relaxed) & 1;
    atomic_fetch_add_explicit(&commits->shards[shard].under_way[epoch], 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    return 1 + shard * 2 + epoch;
}

void commit_clock_leave(struct commit_clock *commits, unsigned ticket)
{
    if (ticket == 0)
        return;
    assert(ticket <= 2 * COMMIT_CLOCK_SHARDS);
    _Atomic uint64_t *counter = &commits->shards[(ticket - 1) / 2].under_way[(ticket - 1) % 2];
    uint64_t before = atomic_fetch_sub_explicit(counter, 1, memory_order_release);
    assert(before > 0);
    (void)before;
}

static bool is_empty(struct commit_clock *commits, unsigned epoch)
{
    for (size_t i = 0; i < COMMIT_CLOCK_SHARDS; i++)
        if (atomic_load_explicit(&commits->shards[i].under_way[epoch], memory_order_acquire) != 0)
            return false;
    return true;
}

/* False if it is too late. */
static bool pause_until(int64_t until_ns)
{
    const struct timespec pause = { .tv_nsec = PAUSE_NS };
    if (clock_monotonic_ns() >= until_ns)
        return false;
    nanosleep(&pause, NULL);
    return true;
}

/* Both epochs may hold writes from before the call: a thread reads the epoch and registers in two
 * steps. So both are emptied, one after the other, each while new writes register in the other. Two
 * threads at a time would undo that for each other. */
bool commit_clock_drain(struct commit_clock *commits, int64_t wait_ms_max)
{
    int64_t until_ns = clock_monotonic_ns() + wait_ms_max * 1000000;
    bool in_time = true;
    while (atomic_exchange(&commits->draining, true)) {
        if (!pause_until(until_ns))
            return false;
    }
    for (int round = 0; round < 2 && in_time; round++) {
        unsigned emptied = atomic_fetch_add(&commits->epoch, 1) & 1;
        atomic_thread_fence(memory_order_seq_cst);
        while (in_time && !is_empty(commits, emptied))
            in_time = pause_until(until_ns);
    }
    atomic_store(&commits->draining, false);
    return in_time;
}

void commit_clock_raise_ceiling(struct commit_clock *commits, int64_t ceiling_us)
{
    int64_t known_us = atomic_load_explicit(&commits->ceiling_us, memory_order_relaxed);
    while (known_us < ceiling_us &&
           !atomic_compare_exchange_weak_explicit(&commits->ceiling_us, &known_us, ceiling_us,
                                                  memory_order_relaxed, memory_order_relaxed))
        continue;
}
