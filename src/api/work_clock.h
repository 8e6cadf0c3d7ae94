/* work_clock.h -- when a call that reads many items has to pause, and how long it has read.
 *
 * Looking at the clock for each item would cost as much as a small item does. So work is counted,
 * roughly in nanoseconds, and the clock is looked at when enough has come together.
 */
#ifndef STATOR_API_WORK_CLOCK_H
#define STATOR_API_WORK_CLOCK_H
#include <stdbool.h>
#include <stdint.h>
#include "api/api.h"
#include "base/clock.h"

struct work_clock {
    uint64_t unclocked; /* Work since the clock was looked at. */
    int64_t clocked_ns; /* When that was; 0: not yet in this slice. */
    int64_t spent_ns;   /* From the first look in each slice to the last one. */
    bool must_pause;
};

enum {
    WORK_CLOCK_EVERY = 32 * 1024,
    WORK_CLOCK_ITEM =
        400, /* To step to an item, open it and show it; and as much as it has bytes. */
};

/* A call that begins, or goes on. */
static inline void work_clock_start(struct work_clock *clock)
{
    clock->must_pause = false;
    clock->clocked_ns = 0;
}

/* An item was read, and took `work` besides WORK_CLOCK_ITEM. */
static inline void work_clock_count(struct work_clock *clock, const struct api_call *call,
                                    uint64_t work)
{
    clock->unclocked += WORK_CLOCK_ITEM + work;
    if (clock->unclocked < WORK_CLOCK_EVERY)
        return;
    int64_t now_ns = clock_monotonic_ns();
    clock->unclocked = 0;
    clock->must_pause = call->paused != NULL &&
                        (now_ns >= call->pause_at_ns || call->response.len >= call->pause_at_size);
    clock->spent_ns += clock->clocked_ns == 0 ? 0 : now_ns - clock->clocked_ns;
    clock->clocked_ns = now_ns;
}

#endif
