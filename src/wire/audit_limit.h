/* audit_limit.h -- how many lines of one kind may be logged: a token bucket.
 *
 * Any thread may ask at any time; there is no lock.
 */
#ifndef STATOR_WIRE_AUDIT_LIMIT_H
#define STATOR_WIRE_AUDIT_LIMIT_H
#include <stdbool.h>
#include <stdint.h>

struct audit_limit {
    int64_t interval_ns;        /* A line becomes free so often. */
    int64_t burst;              /* So many at once after a quiet time. */
    _Atomic int64_t full_at_ns; /* When the bucket is full again, if nobody takes from it. */
    _Atomic uint64_t suppressed;
};

void audit_limit_init(struct audit_limit *limit, int64_t per_second, int64_t burst);
/* True if a line may be logged at `now_ns`, of a clock that never goes back. `*suppressed` is then
 * how many were not since the last one that was. False if not; it is counted. */
bool audit_limit_take(struct audit_limit *limit, int64_t now_ns, uint64_t *suppressed);
/* How many were suppressed since the last one that was logged; forgets them. */
uint64_t audit_limit_end(struct audit_limit *limit);

#endif
