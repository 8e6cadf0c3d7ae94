/* delayed_views.c -- see delayed_views.h. */
#include "read/delayed_views.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include "base/log.h"

struct taken_view {
    struct engine_view *view;
    int64_t taken_ms;
};

struct delayed_views {
    struct engine *engine;
    int64_t delay_ms;
    int64_t step_ms;
    pthread_mutex_t mutex; /* Guards what follows, which delayed_views_step alone changes. */
    struct taken_view taken[DELAYED_VIEWS_MAX]; /* The oldest first. Never empty. */
    size_t count;
};

/* A view of now for whichever thread; NULL if there is none. */
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

/* Which one to read by now. */
static size_t find_locked(const struct delayed_views *views, int64_t now_ms)
{
    size_t index = views->count - 1;
    while (index > 0 && now_ms - views->taken[index].taken_ms < views->delay_ms)
        index--;
    return index;
}

/* Takes out the views that are older than the one to read by now. Returns how many. */
static size_t take_out_locked(struct delayed_views *views, int64_t now_ms,
                              struct engine_view *out[DELAYED_VIEWS_MAX])
{
    size_t count = find_locked(views, now_ms);
    for (size_t i = 0; i < count; i++)
        out[i] = views->taken[i].view;
    views->count -= count;
    for (size_t i = 0; i < views->count; i++)
        views->taken[i] = views->taken[i + count];
    return count;
}

int64_t delayed_views_step(struct delayed_views *views, int64_t now_ms)
{
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
