/* log_limit.c -- see log_limit.h.
 *
 * A bucket is stored as the time at which it will be full again. A line moves that time one
 * interval ahead, at most to where an empty bucket would be.
 */
#include "base/log_limit.h"
#include <assert.h>
#include <stdatomic.h>

void log_limit_init(struct log_limit *limit, int64_t per_second, int64_t burst)
{
    assert(per_second > 0 && burst > 0);
    limit->interval_ns = LOG_LIMIT_SECOND_NS / per_second;
    limit->burst = burst;
    atomic_init(&limit->full_at_ns, 0);
    atomic_init(&limit->suppressed, 0);
}

bool log_limit_take(struct log_limit *limit, int64_t now_ns, uint64_t *suppressed)
{
    int64_t full_at = atomic_load(&limit->full_at_ns);
    int64_t next;
    do {
        next = (full_at > now_ns ? full_at : now_ns) + limit->interval_ns;
        if (next - now_ns > limit->burst * limit->interval_ns) {
            atomic_fetch_add(&limit->suppressed, 1);
            return false;
        }
    } while (!atomic_compare_exchange_weak(&limit->full_at_ns, &full_at, next));
    *suppressed = log_limit_end(limit);
    return true;
}

uint64_t log_limit_end(struct log_limit *limit)
{
    return atomic_exchange(&limit->suppressed, 0);
}
