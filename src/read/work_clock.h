/* work_clock.h -- when a read of many items has to pause, and how long it has read.
 *
 * Reading the clock for each item would cost as much as a small item does. So work is counted,
 * roughly in nanoseconds, and the clock is read once per WORK_CLOCK_EVERY of it.
 */
#ifndef STATOR_READ_WORK_CLOCK_H
#define STATOR_READ_WORK_CLOCK_H
#include <stdbool.h>
#include <stdint.h>
#include "base/clock.h"
#include "base/give_way.h"

/* Asked each time the clock is read, with clock_monotonic_ns. */
typedef bool work_clock_pause(const void *context, int64_t now_ns);

struct work_clock {
    work_clock_pause *is_pause_due; /* NULL: never. */
    const void *context;            /* Its argument. */
    uint64_t unclocked;             /* Work since the clock was read. */
    int64_t clocked_ns;             /* When that was; 0: not yet in this slice. */
    int64_t spent_ns;               /* In all slices: from the first reading in each to its last. */
    bool must_pause;
};

enum {
    WORK_CLOCK_EVERY = 32 * 1024,
    /* To step to an item, open it and show it. Its size in bytes is counted besides. */
    WORK_CLOCK_ITEM = 400,
};

/* Begins a slice: the read starts or resumes. */
static inline void work_clock_start(struct work_clock *clock)
{
    clock->must_pause = false;
    clock->clocked_ns = 0;
}

/* An item was read, and took `work` besides WORK_CLOCK_ITEM. */
static inline void work_clock_count(struct work_clock *clock, uint64_t work)
{
    clock->unclocked += WORK_CLOCK_ITEM + work;
    if (clock->unclocked < WORK_CLOCK_EVERY)
        return;
    int64_t now_ns = clock_monotonic_ns();
    give_way_count(clock->unclocked); /* In the background, which reads a page in one go. */
    clock->unclocked = 0;
    clock->must_pause = clock->is_pause_due != NULL && clock->is_pause_due(clock->context, now_ns);
    clock->spent_ns += clock->clocked_ns == 0 ? 0 : now_ns - clock->clocked_ns;
    clock->clocked_ns = now_ns;
}

#endif
