/* refusal_pace.h -- how long a refusal for throttling waits before it is sent.
 *
 * A client that retries at once is refused thousands of times a second, and each refusal costs a
 * loop as much as a GetItem. So a loop sends the first refusals of each period at once, and those
 * beyond REFUSAL_PACE_DELAY_MS later. A client has one request under way on a connection, so it is
 * refused 50 times a second then. SDKs wait for 50 ms and more before they retry, and do not
 * notice.
 *
 * Belongs to the loop's thread. Pure: the time is a parameter.
 */
#ifndef STATOR_CALL_REFUSAL_PACE_H
#define STATOR_CALL_REFUSAL_PACE_H
#include <stdint.h>

enum {
    REFUSAL_PACE_PERIOD_MS = 100,
    REFUSAL_PACE_AT_ONCE_MAX = 20, /* Of a loop in one period. */
    REFUSAL_PACE_DELAY_MS = 20,
};

/* All zero before the first refusal. */
struct refusal_pace {
    int64_t period; /* Number of the current one. */
    uint32_t count; /* Refusals sent at once in it. */
};

/* Counts a refusal, and returns by how much to delay it: 0 or REFUSAL_PACE_DELAY_MS. */
int64_t refusal_pace_delay_ms(struct refusal_pace *pace, int64_t now_ms);

#endif
