/* timed_wait.h -- waiting for a condition variable with a time-out.
 *
 * Uses CLOCK_MONOTONIC: a step of the wall clock must not change how long a thread waits.
 */
#ifndef STATOR_BASE_TIMED_WAIT_H
#define STATOR_BASE_TIMED_WAIT_H
#include <pthread.h>
#include <stdint.h>

enum { TIMED_WAIT_FOREVER = -1 };

/* The owner calls pthread_cond_destroy. */
void timed_wait_init(pthread_cond_t *condition);
/* The caller holds the mutex. May return early, as pthread_cond_wait may. */
void timed_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t wait_ms);
/* The shorter of two times, either of which may be TIMED_WAIT_FOREVER. */
int64_t timed_wait_sooner(int64_t a_ms, int64_t b_ms);

#endif
