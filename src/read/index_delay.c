/* index_delay.c -- see index_delay.h. */
#include "read/index_delay.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include "read/delayed_views.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/timed_wait.h"

struct index_delay {
    struct delayed_views *views;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t stopped;
    bool stopping; /* Guarded by mutex. */
};

/* The wall clock may jump. */
static int64_t now_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

static void *run(void *context)
{
    struct index_delay *delay = context;
    pthread_mutex_lock(&delay->mutex);
    while (!delay->stopping) {
        pthread_mutex_unlock(&delay->mutex);
        int64_t wait_ms = delayed_views_step(delay->views, now_ms());
        pthread_mutex_lock(&delay->mutex);
        if (!delay->stopping)
            timed_wait(&delay->stopped, &delay->mutex, wait_ms);
    }
    pthread_mutex_unlock(&delay->mutex);
    return NULL;
}

struct index_delay *index_delay_start(struct engine *engine, int64_t delay_ms,
                                      enum engine_status *status)
{
    struct delayed_views *views = delayed_views_create(engine, delay_ms, now_ms(), status);
    if (views == NULL)
        return NULL;
    struct index_delay *delay = calloc(1, sizeof *delay);
    if (delay == NULL)
        abort();
    delay->views = views;
    pthread_mutex_init(&delay->mutex, NULL);
    timed_wait_init(&delay->stopped);
    if (pthread_create(&delay->thread, NULL, run, delay) != 0) {
        log_write(LOG_ERROR, "read", "cannot start a thread");
        abort();
    }
    return delay;
}

void index_delay_stop(struct index_delay *delay)
{
    if (delay == NULL)
        return;
    pthread_mutex_lock(&delay->mutex);
    delay->stopping = true;
    pthread_cond_signal(&delay->stopped);
    pthread_mutex_unlock(&delay->mutex);
    pthread_join(delay->thread, NULL);
    pthread_cond_destroy(&delay->stopped);
    pthread_mutex_destroy(&delay->mutex);
    delayed_views_destroy(delay->views);
    free(delay);
}

struct engine_view *index_delay_open_view(struct index_delay *delay)
{
    return delayed_views_open(delay->views, now_ms());
}
