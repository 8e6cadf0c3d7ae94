/* log_limit.h -- how often one kind of line is logged: a token bucket without a lock.
 *
 * For lines that a client, or one broken disk, can cause thousands of times per second. Any thread
 * may use a limit.
 */
#ifndef STATOR_BASE_LOG_LIMIT_H
#define STATOR_BASE_LOG_LIMIT_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"

#define LOG_LIMIT_SECOND_NS INT64_C(1000000000)

struct log_limit {
    int64_t interval_ns;        /* One more line is allowed each time this has passed, */
    int64_t burst;              /* and so many at once after a quiet time. */
    _Atomic int64_t full_at_ns; /* When the bucket will be full again if nobody takes from it. */
    _Atomic uint64_t suppressed;
};

/* A limit of so many lines per second, as an initialiser. */
#define LOG_LIMIT(per_second, burst_max)                                                           \
    {                                                                                              \
        .interval_ns = LOG_LIMIT_SECOND_NS / (per_second), .burst = (burst_max)                    \
    }
void log_limit_init(struct log_limit *limit, int64_t per_second, int64_t burst);

/* True if a line may be logged at `now_ns` of a monotonic clock; `*suppressed` is then the number
 * of lines suppressed since the last one. False counts one more suppressed line. */
MUST_CHECK bool log_limit_take(struct log_limit *limit, int64_t now_ns, uint64_t *suppressed);
/* Returns the number of lines suppressed since the last one that was logged, and resets it. */
uint64_t log_limit_end(struct log_limit *limit);

#endif
