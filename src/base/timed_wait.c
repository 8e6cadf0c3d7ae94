/* timed_wait.c -- see timed_wait.h. */
#include "base/timed_wait.h"
#include <assert.h>
#include "base/clock.h"

void timed_wait_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

void timed_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t wait_ms)
{
    assert(wait_ms >= 0 || wait_ms == TIMED_WAIT_FOREVER);
    if (wait_ms == TIMED_WAIT_FOREVER) {
        pthread_cond_wait(condition, mutex);
        return;
    }
    struct timespec until = clock_monotonic_after_ms(wait_ms);
    pthread_cond_timedwait(condition, mutex, &until);
}

int64_t timed_wait_sooner(int64_t a_ms, int64_t b_ms)
{
    if (a_ms == TIMED_WAIT_FOREVER || b_ms == TIMED_WAIT_FOREVER)
        return a_ms == TIMED_WAIT_FOREVER ? b_ms : a_ms;
    return a_ms < b_ms ? a_ms : b_ms;
}
