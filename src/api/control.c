/* control.c -- see control.h. */
#include "api/control.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include "api/expiry_steps.h"
#include "api/index_steps.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/timed_wait.h"
#include "jobs/backfill.h"
#include "jobs/expiry.h"
#include "model/table_definition.h"
#include "stream/stream_upkeep.h"
#include "stream/streams.h"
#include "table/catalogue.h"
#include "table/server_time.h"
#include "table/token_record.h"
#include "trigger/triggers.h"

struct control_save;

struct control {
    struct api *api;
    struct backfill *backfill;
    struct expiry *expiry;
    pthread_t thread;
    /* Server times; the thread's own. */
    int64_t tokens_due_ms;      /* When old tokens are to be removed. */
    int64_t server_time_due_ms; /* When the server time is to be stored. */
    int64_t server_time_stored_ms;
    pthread_mutex_t mutex; /* Guards what follows. */
    pthread_cond_t changed;
    struct api_call *first;
    struct api_call **last_link;
    unsigned call_count;
    struct control_save *save; /* NULL: none. */
    pthread_cond_t saved;
    bool stopping;
};

/* --- Work that falls due --- */

/* Ends the transient status of `table`. */
static enum engine_status finish_transition(struct control *control, struct arena *arena,
                                            const struct table *table)
{
    struct catalogue *catalogue = api_catalogue(control->api);
    struct table_definition changed = *table_definition(table);
    if (changed.status == TABLE_DELETING)
        return catalogue_drop(catalogue, arena, changed.name);
    assert(table_status_may_follow(changed.status, TABLE_ACTIVE));
    changed.status = TABLE_ACTIVE;
    changed.transition_at_ms = 0;
    return catalogue_update(catalogue, arena, &changed);
}

/* Milliseconds until the next transition is due, or TIMED_WAIT_FOREVER. */
static int64_t run_transitions(struct control *control, struct arena *arena)
{
    struct catalogue *catalogue = api_catalogue(control->api);
    for (;;) {
        struct table *table = catalogue_find_transient(catalogue);
        if (table == NULL)
            return TIMED_WAIT_FOREVER;
        const struct api_options *options = api_options(control->api);
        int64_t wait_ms = table_definition(table)->transition_at_ms - clock_wall_ms(options->clock);
        if (wait_ms > options->transition_ms)
            wait_ms = 0; /* The clock was set back, or the setting is another one. */
        enum engine_status status =
            wait_ms > 0 ? ENGINE_OK : finish_transition(control, arena, table);
        table_release(table);
        if (wait_ms > 0)
            return wait_ms;
        if (status != ENGINE_OK) {
            log_write(LOG_ERROR, "control", "end of a table's transition: %s",
                      engine_status_name(status));
            return CONTROL_FAILURE_RETRY_MS;
        }
    }
}

/* Milliseconds until it is worth looking again, or TIMED_WAIT_FOREVER. */
static int64_t remove_dropped(struct control *control, struct arena *arena)
{
    bool waiting = false;
    enum engine_status status = ENGINE_OK;
    while (status == ENGINE_OK)
        status = catalogue_remove_dropped(api_catalogue(control->api), arena, &waiting);
    if (status == ENGINE_END)
        return waiting ? CONTROL_RETRY_MS : TIMED_WAIT_FOREVER;
    log_write(LOG_ERROR, "control", "removal of a dropped table: %s", engine_status_name(status));
    return CONTROL_FAILURE_RETRY_MS;
}

/* Milliseconds until more tokens are old, or until it is worth trying again. */
static int64_t remove_old_tokens(struct control *control)
{
    const struct api_options *options = api_options(control->api);
    int64_t now_ms = clock_server_ms(options->clock);
    if (now_ms < control->tokens_due_ms)
        return control->tokens_due_ms - now_ms;
    enum engine_status status = token_record_remove_old(options->engine, now_ms);
    int64_t wait_ms = token_record_next_removal_ms(now_ms);
    if (status != ENGINE_OK) {
        log_write(LOG_ERROR, "control", "removal of old tokens: %s", engine_status_name(status));
        wait_ms = CONTROL_FAILURE_RETRY_MS;
    }
    control->tokens_due_ms = now_ms + wait_ms;
    return wait_ms;
}

/* --- Work of the job --- */

/* Progress that waits to be saved by the control thread. */
struct control_save {
    const struct backfill_progress *progress;
    enum engine_status status;
    bool ended; /* Guarded by the control's mutex. */
};

/* On the job's thread, of which there is one. */
static enum engine_status save_progress(void *context, const struct backfill_progress *progress)
{
    struct control *control = context;
    struct control_save save = { .progress = progress };
    pthread_mutex_lock(&control->mutex);
    assert(control->save == NULL);
    control->save = &save;
    pthread_cond_signal(&control->changed);
    while (!save.ended)
        pthread_cond_wait(&control->saved, &control->mutex);
    pthread_mutex_unlock(&control->mutex);
    return save.status;
}

static void run_save(struct control *control, struct arena *arena)
{
    pthread_mutex_lock(&control->mutex);
    struct control_save *save = control->save;
    pthread_mutex_unlock(&control->mutex);
    if (save == NULL)
        return;
    if (save->progress->index_id == BACKFILL_EXPIRY_QUEUE)
        save->status = expiry_steps_save(control->api, control->expiry, arena, save->progress);
    else
        save->status = index_steps_save(control->api, arena, save->progress);
    pthread_mutex_lock(&control->mutex);
    control->save = NULL;
    save->ended = true;
    pthread_cond_signal(&control->saved);
    pthread_mutex_unlock(&control->mutex);
}

/* Milliseconds until there is more to do for a stream, or TIMED_WAIT_FOREVER. */
static int64_t keep_streams(struct control *control, struct arena *arena)
{
    return stream_upkeep_run(api_stream_upkeep(control->api), arena,
                             api_options(control->api)->clock);
}

/* --- Server time --- */

/* Whether anything is kept for a certain server time. If not, an idle server need not write. */
static enum engine_status find_retained(struct control *control, bool *out)
{
    *out = streams_count(api_streams(control->api)) > 0;
    return *out ? ENGINE_OK : token_record_find_any(api_options(control->api)->engine, out);
}

static enum engine_status store_server_time(struct control *control, int64_t now_ms)
{
    const struct api_options *options = api_options(control->api);
    bool retained;
    enum engine_status status = find_retained(control, &retained);
    if (status != ENGINE_OK || !retained || now_ms == control->server_time_stored_ms)
        return status;
    const struct server_time time = { .origin_ms = options->clock->server_origin_ms,
                                      .position_ms = now_ms };
    status = server_time_store(options->engine, &time);
    if (status == ENGINE_OK)
        control->server_time_stored_ms = now_ms;
    return status;
}

/* Milliseconds until the server time is to be stored again. */
static int64_t keep_server_time(struct control *control)
{
    int64_t now_ms = clock_server_ms(api_options(control->api)->clock);
    if (now_ms < control->server_time_due_ms)
        return control->server_time_due_ms - now_ms;
    enum engine_status status = store_server_time(control, now_ms);
    int64_t wait_ms = SERVER_TIME_STORE_INTERVAL_MS;
    if (status != ENGINE_OK) {
        log_write(LOG_ERROR, "control", "storing the server time: %s", engine_status_name(status));
        wait_ms = CONTROL_FAILURE_RETRY_MS;
    }
    control->server_time_due_ms = now_ms + wait_ms;
    return wait_ms;
}

/* --- The thread --- */

/* The next call; NULL when something else may be due or the thread is to end. */
static struct api_call *take_call(struct control *control, int64_t wait_ms, bool *stopping)
{
    pthread_mutex_lock(&control->mutex);
    if (control->first == NULL && control->save == NULL && !control->stopping)
        timed_wait(&control->changed, &control->mutex, wait_ms);
    struct api_call *call = control->first;
    if (call != NULL) {
        control->first = call->next;
        if (control->first == NULL)
            control->last_link = &control->first;
        control->call_count--;
    }
    *stopping = control->stopping;
    pthread_mutex_unlock(&control->mutex);
    return call;
}

/* Milliseconds until something is due, or TIMED_WAIT_FOREVER. */
static int64_t run_due(struct control *control, struct arena *arena)
{
    run_save(control, arena);
    int64_t wait_ms = run_transitions(control, arena);
    wait_ms = timed_wait_sooner(wait_ms, index_steps_run(control->api, control->backfill, arena));
    wait_ms = timed_wait_sooner(wait_ms, expiry_steps_run(control->api, control->backfill, arena));
    wait_ms = timed_wait_sooner(wait_ms, remove_dropped(control, arena));
    wait_ms = timed_wait_sooner(wait_ms, keep_streams(control, arena));
    wait_ms = timed_wait_sooner(wait_ms, triggers_upkeep(api_triggers(control->api)));
    wait_ms = timed_wait_sooner(wait_ms, keep_server_time(control));
    return timed_wait_sooner(wait_ms, remove_old_tokens(control));
}

static void *control_main(void *context)
{
    struct control *control = context;
    struct arena *arena = arena_create();
    for (;;) {
        int64_t wait_ms = run_due(control, arena);
        arena_reset(arena);
        bool stopping;
        struct api_call *call = take_call(control, wait_ms, &stopping);
        if (call != NULL)
            call->operation->run(call, call->request);
        else if (stopping)
            break;
    }
    control->server_time_due_ms = 0; /* So that a clean stop loses nothing. */
    keep_server_time(control);
    arena_destroy(arena);
    return NULL;
}

struct control *control_start(struct api *api)
{
    struct control *control = calloc(1, sizeof *control);
    if (control == NULL)
        abort();
    control->api = api;
    control->last_link = &control->first;
    pthread_mutex_init(&control->mutex, NULL);
    timed_wait_init(&control->changed);
    timed_wait_init(&control->saved);
    control->backfill =
        backfill_start(&(struct backfill_options){ .engine = api_options(api)->engine,
                                                   .clock = api_options(api)->clock,
                                                   .catalogue = api_catalogue(api),
                                                   .save = save_progress,
                                                   .context = control });
    control->expiry = expiry_start(
        &(struct expiry_options){ .engine = api_options(api)->engine,
                                  .clock = api_options(api)->clock,
                                  .catalogue = api_catalogue(api),
                                  .interval_ms = api_options(api)->expiry_interval_ms });
    if (pthread_create(&control->thread, NULL, control_main, control) != 0) {
        log_write(LOG_ERROR, "control", "cannot start a thread");
        abort();
    }
    return control;
}

void control_stop(struct control *control)
{
    expiry_stop(control->expiry);
    backfill_stop(control->backfill); /* Before this thread, for which it may wait. */
    pthread_mutex_lock(&control->mutex);
    control->stopping = true;
    pthread_cond_signal(&control->changed);
    pthread_mutex_unlock(&control->mutex);
    pthread_join(control->thread, NULL);
    backfill_destroy(control->backfill);
    expiry_destroy(control->expiry);
    pthread_cond_destroy(&control->saved);
    pthread_cond_destroy(&control->changed);
    pthread_mutex_destroy(&control->mutex);
    free(control);
}

void control_submit(struct control *control, struct api_call *call)
{
    pthread_mutex_lock(&control->mutex);
    bool accepted = control->call_count < CONTROL_CALLS_MAX;
    if (accepted) {
        call->next = NULL;
        *control->last_link = call;
        control->last_link = &call->next;
        control->call_count++;
        pthread_cond_signal(&control->changed);
    }
    pthread_mutex_unlock(&control->mutex);
    if (accepted)
        return;
    error_set(&call->error, ERROR_LIMIT_EXCEEDED,
              "Subscriber limit exceeded: Only %d tables can be created, updated, or deleted "
              "simultaneously",
              CONTROL_CALLS_MAX);
    operation_fail(call);
}
