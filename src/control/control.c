/* control.c -- see control.h. */
#include "control/control.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timed_wait.h"
#include "control/expiry_life.h"
#include "control/index_life.h"
#include "control/insight_life.h"
#include "control/table_life.h"
#include "jobs/backfill.h"
#include "jobs/expiry.h"
#include "log/log_retention.h"
#include "model/table_definition.h"
#include "stream/stream_upkeep.h"
#include "stream/streams.h"
#include "table/server_time.h"
#include "table/token_record.h"
#include "trigger/triggers.h"

struct control_save;

struct control {
    struct control_options options;
    pthread_t thread;
    /* The thread's own. Times are server times. */
    struct index_life index_life;
    struct expiry_life expiry_life;
    struct insight_life insight_life;
    struct log_retention retention; /* Who reads change logs. */
    struct stream_upkeep streams;
    int64_t tokens_due_ms;      /* When old tokens are to be removed. */
    int64_t server_time_due_ms; /* When the server time is to be stored. */
    int64_t server_time_stored_ms;

    struct backfill *backfill;
    struct expiry *expiry;

    pthread_mutex_t mutex; /* Guards what follows. */
    pthread_cond_t changed;
    struct control_task *first;
    struct control_task **last_link;
    unsigned task_count;
    struct control_save *save; /* NULL: none. */
    pthread_cond_t saved;
    bool stopping;
};

/* --- Progress of the backfill --- */

/* Progress that waits to be saved by the control thread. */
struct control_save {
    const struct backfill_progress *progress;
    enum engine_status status;
    bool ended; /* Guarded by the control's mutex. */
};

/* Called on the backfill's thread, of which there is one. */
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
        save->status = expiry_life_save(&control->expiry_life, arena, save->progress);
    else
        save->status = index_life_save(control->options.catalogue, arena, save->progress);
    pthread_mutex_lock(&control->mutex);
    control->save = NULL;
    save->ended = true;
    pthread_cond_signal(&control->saved);
    pthread_mutex_unlock(&control->mutex);
}

/* --- Server time --- */

/* Whether anything stored has a retention period. If not, an idle server need not write. */
static enum engine_status find_retained(struct control *control, bool *out)
{
    *out = streams_count(control->options.streams) > 0;
    return *out ? ENGINE_OK : token_record_find_any(control->options.engine, out);
}

static enum engine_status store_server_time(struct control *control, int64_t now_ms)
{
    const struct control_options *options = &control->options;
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
    int64_t now_ms = clock_server_ms(control->options.clock);
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

/* --- Old tokens --- */

/* Milliseconds until more tokens are old, or until it is worth trying again. */
static int64_t remove_old_tokens(struct control *control)
{
    const struct control_options *options = &control->options;
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

/* --- Streams --- */

void control_settle_streams(struct control *control, struct arena *arena,
                            const struct table_definition *table)
{
    const struct timespec pause = { .tv_nsec = STREAM_UPKEEP_RETRY_MS * 1000000L };
    for (int waited_ms = 0;; waited_ms += STREAM_UPKEEP_RETRY_MS) {
        stream_upkeep_run(&control->streams, arena, control->options.clock);
        if (table == NULL || !table->stream_enabled ||
            stream_upkeep_is_open(&control->streams, table->log_id) ||
            waited_ms >= CONTROL_SETTLE_MS_MAX)
            return;
        nanosleep(&pause, NULL);
    }
}

enum engine_status control_keep_policies(struct control *control, struct arena *arena)
{
    return stream_upkeep_keep_policies(&control->streams, arena, control->options.clock);
}

enum engine_status control_close_stream(struct control *control, struct arena *arena,
                                        uint64_t log_id)
{
    return stream_upkeep_close(&control->streams, arena, log_id, control->options.clock);
}

/* --- The thread --- */

/* The next task; NULL when a step may be due or the thread is to end. */
static struct control_task *take_task(struct control *control, int64_t wait_ms, bool *stopping)
{
    pthread_mutex_lock(&control->mutex);
    if (control->first == NULL && control->save == NULL && !control->stopping)
        timed_wait(&control->changed, &control->mutex, wait_ms);
    struct control_task *task = control->first;
    if (task != NULL) {
        assert(control->task_count > 0);
        control->first = task->next;
        if (control->first == NULL)
            control->last_link = &control->first;
        control->task_count--;
    }
    *stopping = control->stopping;
    pthread_mutex_unlock(&control->mutex);
    return task;
}

/* Milliseconds until a step is due, or TIMED_WAIT_FOREVER. */
static int64_t run_due(struct control *control, struct arena *arena)
{
    const struct control_options *options = &control->options;
    const struct table_life_pace pace = { .now_ms = clock_wall_ms(options->clock),
                                          .transition_ms = options->transition_ms };
    run_save(control, arena);
    int64_t wait_ms = table_life_run(options->catalogue, arena, &pace);
    wait_ms = timed_wait_sooner(wait_ms, index_life_run(&control->index_life, arena));
    wait_ms = timed_wait_sooner(wait_ms, expiry_life_run(&control->expiry_life, arena));
    wait_ms = timed_wait_sooner(wait_ms, insight_life_run(&control->insight_life, arena, &pace));
    wait_ms =
        timed_wait_sooner(wait_ms, stream_upkeep_run(&control->streams, arena, options->clock));
    wait_ms = timed_wait_sooner(wait_ms, triggers_upkeep(options->triggers));
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
        struct control_task *task = take_task(control, wait_ms, &stopping);
        if (task != NULL)
            task->run(task->context);
        else if (stopping)
            break;
    }
    control->server_time_due_ms = 0; /* So that a clean stop loses nothing. */
    keep_server_time(control);
    arena_destroy(arena);
    return NULL;
}

static void start_jobs(struct control *control)
{
    const struct control_options *options = &control->options;
    control->backfill = backfill_start(&(struct backfill_options){ .engine = options->engine,
                                                                   .clock = options->clock,
                                                                   .catalogue = options->catalogue,
                                                                   .save = save_progress,
                                                                   .context = control });
    control->expiry =
        expiry_start(&(struct expiry_options){ .engine = options->engine,
                                               .clock = options->clock,
                                               .catalogue = options->catalogue,
                                               .meter = options->meter,
                                               .interval_ms = options->expiry_interval_ms });
}

struct control *control_start(const struct control_options *options)
{
    assert(options->engine != NULL && options->clock != NULL && options->catalogue != NULL &&
           options->streams != NULL && options->triggers != NULL && options->insights != NULL);
    struct control *control = memory_checked(calloc(1, sizeof *control));
    control->options = *options;
    control->last_link = &control->first;
    pthread_mutex_init(&control->mutex, NULL);
    timed_wait_init(&control->changed);
    timed_wait_init(&control->saved);
    start_jobs(control);
    control->index_life = (struct index_life){ .engine = options->engine,
                                               .catalogue = options->catalogue,
                                               .backfill = control->backfill };
    control->expiry_life = (struct expiry_life){ .catalogue = options->catalogue,
                                                 .backfill = control->backfill,
                                                 .expiry = control->expiry };
    control->insight_life =
        (struct insight_life){ .catalogue = options->catalogue, .insights = options->insights };
    const struct log_retention_reader streams = stream_upkeep_reader(options->streams);
    log_retention_add(&control->retention, &streams);
    control->streams = (struct stream_upkeep){ .engine = options->engine,
                                               .catalogue = options->catalogue,
                                               .streams = options->streams,
                                               .retention = &control->retention,
                                               .rollover_ms = options->rollover_ms };
    if (pthread_create(&control->thread, NULL, control_main, control) != 0) {
        log_write(LOG_ERROR, "control", "cannot start a thread");
        abort();
    }
    return control;
}

void control_stop(struct control *control)
{
    expiry_stop(control->expiry);
    backfill_stop(control->backfill); /* First, since it may be waiting for the control thread. */
    pthread_mutex_lock(&control->mutex);
    control->stopping = true;
    pthread_cond_signal(&control->changed);
    pthread_mutex_unlock(&control->mutex);
    pthread_join(control->thread, NULL);
    assert(control->first == NULL && control->save == NULL);
    backfill_destroy(control->backfill);
    expiry_destroy(control->expiry);
    pthread_cond_destroy(&control->saved);
    pthread_cond_destroy(&control->changed);
    pthread_mutex_destroy(&control->mutex);
    free(control);
}

bool control_submit(struct control *control, struct control_task *task)
{
    assert(task->run != NULL);
    pthread_mutex_lock(&control->mutex);
    bool accepted = control->task_count < CONTROL_CALLS_MAX;
    if (accepted) {
        task->next = NULL;
        *control->last_link = task;
        control->last_link = &task->next;
        control->task_count++;
        pthread_cond_signal(&control->changed);
    }
    pthread_mutex_unlock(&control->mutex);
    return accepted;
}
