/* history_cut.c -- see history_cut.h. */
#include "history/history_cut.h"
#include <assert.h>
#include "base/clock.h"
#include "base/commit_clock.h"
#include "history/commit_ceiling.h"

enum engine_status history_cut(struct engine *engine, const struct clock *clock, int64_t at_us)
{
    assert(at_us > 0);
    clock_raise_commit_us(clock, at_us - 1);
    if (clock->commits != NULL && !commit_clock_drain(clock->commits, HISTORY_CUT_WAIT_MS))
        return ENGINE_BUSY;
    return commit_ceiling_reach(engine, clock, at_us);
}
