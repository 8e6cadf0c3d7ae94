/* audit_limit.c -- see audit_limit.h.
 *
 * The bucket is stored as the time at which it will be full again. A line moves that time one
 * interval ahead, and may not move it further ahead than an empty bucket would be.
 */
#include "wire/audit_limit.h"
#include <assert.h>
#include <stdatomic.h>

#define SECOND_NS INT64_C(1000000000)

void audit_limit_init(struct audit_limit *limit, int64_t per_second, int64_t burst)
{
    assert(per_second > 0 && burst > 0);
    limit->interval_ns = SECOND_NS / per_second;
    limit->burst = burst;
    atomic_init(&limit->full_at_ns, 0);
    atomic_init(&limit->suppressed, 0);
}

bool audit_limit_take(struct audit_limit *limit, int64_t now_ns, uint64_t *suppressed)
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
    *suppressed = audit_limit_end(limit);
    return true;
}

uint64_t audit_limit_end(struct audit_limit *limit)
{
    return atomic_exchange(&limit->suppressed, 0);
}
