/* give_way.c -- see give_way.h. */
#include "base/give_way.h"
#include <sched.h>

_Thread_local struct give_way give_way_own;

void give_way_set(bool is_on)
{
    give_way_own.is_on = is_on;
}

void give_way_count_on(uint64_t work)
{
    give_way_own.work += work;
    if (give_way_own.work < GIVE_WAY_EVERY)
        return;
    give_way_own.work = 0;
    give_way_own.count++;
    sched_yield(); /* Cannot fail. */
}
