/* refusal_pace.c -- see refusal_pace.h. */
#include "call/refusal_pace.h"

int64_t refusal_pace_delay_ms(struct refusal_pace *pace, int64_t now_ms)
{
    int64_t period = now_ms / REFUSAL_PACE_PERIOD_MS;
    if (pace->period != period)
        *pace = (struct refusal_pace){ .period = period };
    if (pace->count >= REFUSAL_PACE_AT_ONCE_MAX)
        return REFUSAL_PACE_DELAY_MS;
    pace->count++;
    return 0;
}
