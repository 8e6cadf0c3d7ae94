/* index_delay.c -- see index_delay.h. */
#include "read/index_delay.h"
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/timed_wait.h"

/* --- Views --- */

struct taken_view {
    struct engine_view *view;
    int64_t taken_ms;
};

struct delayed_views {
    struct engine *engine;
    int64_t delay_ms;
    int64_t step_ms;
    pthread_mutex_t mutex; /* Guards the members below, which only delayed_views_step changes. */
    struct taken_view taken[DELAYED_VIEWS_MAX]; /* The oldest first. Never empty. */
    size_t count;
};

/* A view of the present that any thread may use; NULL if the engine fails. */
static struct engine_view *take_view(struct engine *engine, enum engine_status *status)
{
    struct engine_view *view = NULL;
    *status = engine_view_open(engine, ENGINE_STRONG, &view);
    if (*status != ENGINE_OK)
        return NULL;
    struct engine_view *shared = engine_view_share(view);
    engine_view_close(view);
    return shared;
}

struct delayed_views *delayed_views_create(struct engine *engine, int64_t delay_ms, int64_t now_ms,
                                           enum engine_status *status)
{
    assert(delay_ms > 0);
    struct taken_view first = { .view = take_view(engine, status), .taken_ms = now_ms };
    if (first.view == NULL)
        return NULL;
    struct delayed_views *views = calloc(1, sizeof *views);
    if (views == NULL)
        abort();
    views->engine = engine;
    views->delay_ms = delay_ms;
    views->step_ms = (delay_ms + DELAYED_VIEWS_STEPS - 1) / DELAYED_VIEWS_STEPS;
    pthread_mutex_init(&views->mutex, NULL);
    views->taken[views->count++] = first;
    return views;
}

void delayed_views_destroy(struct delayed_views *views)
{
    if (views == NULL)
        return;
    for (size_t i = 0; i < views->count; i++)
        engine_view_close(views->taken[i].view);
    pthread_mutex_destroy(&views->mutex);
    free(views);
}

/* The index of the view to read at this time. */
static size_t find_locked(const struct delayed_views *views, int64_t now_ms)
{
    assert(views->count > 0);
    size_t index = views->count - 1;
    while (index > 0 && now_ms - views->taken[index].taken_ms < views->delay_ms)
        index--;
    return index;
}

/* Removes the views that are older than the one to read now. Returns how many. */
static size_t take_out_locked(struct delayed_views *views, int64_t now_ms,
                              struct engine_view *out[DELAYED_VIEWS_MAX])
{
    size_t count = find_locked(views, now_ms);
    for (size_t i = 0; i < count; i++)
        out[i] = views->taken[i].view;
    views->count -= count;
    for (size_t i = 0; i < views->count; i++)
        views->taken[i] = views->taken[i + count];
    assert(views->count > 0); /* The one to read now stays. */
    return count;
}

int64_t delayed_views_step(struct delayed_views *views, int64_t now_ms)
{
    assert(views->count > 0 && views->step_ms > 0);
    struct engine_view *out[DELAYED_VIEWS_MAX];
    enum engine_status status;
    int64_t passed_ms = now_ms - views->taken[views->count - 1].taken_ms;
    if (passed_ms < views->step_ms)
        return views->step_ms - passed_ms;
    struct taken_view next = { .view = take_view(views->engine, &status), .taken_ms = now_ms };
    if (status != ENGINE_OK)
        log_write(LOG_ERROR, "read", "view for delayed reads: %s", engine_status_name(status));
    pthread_mutex_lock(&views->mutex);
    size_t out_count = take_out_locked(views, now_ms, out);
    if (next.view != NULL) {
        assert(views->count < DELAYED_VIEWS_MAX);
        views->taken[views->count++] = next;
    }
    pthread_mutex_unlock(&views->mutex);
    for (size_t i = 0; i < out_count; i++)
        engine_view_close(out[i]);
    return views->step_ms;
}

struct engine_view *delayed_views_open(struct delayed_views *views, int64_t now_ms)
{
    pthread_mutex_lock(&views->mutex);
    struct engine_view *view = engine_view_share(views->taken[find_locked(views, now_ms)].view);
    pthread_mutex_unlock(&views->mutex);
    return view;
}

/* --- The thread --- */

struct index_delay {
    struct delayed_views *views;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t stopped;
    bool stopping; /* Guarded by mutex. */
};

/* A step of the wall clock must not change the delay. */
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
