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
#include "control/destination_life.h"
#include "control/expiry_life.h"
#include "control/history_life.h"
#include "control/index_life.h"
#include "control/insight_life.h"
#include "control/kept_life.h"
#include "control/split_life.h"
#include "control/table_life.h"
#include "jobs/backfill.h"
#include "jobs/expiry.h"
#include "jobs/job_record.h"
#include "kinesis/destinations.h"
#include "log/log_retention.h"
#include "model/table_definition.h"
#include "stream/stream_upkeep.h"
#include "stream/streams.h"
#include "table/catalogue.h"
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
    struct history_life history_life;
    struct kept_life kept_life;
    struct insight_life insight_life;
    struct log_retention retention; /* Who reads change logs. */
    struct stream_upkeep streams;
    struct destination_life destination_life;
    struct split_life split_life;
    int64_t tokens_due_ms; /* When old tokens are to be removed. */
    int64_t jobs_due_ms;   /* When records of old jobs are to be removed. */
    struct job_record_sweep sweep;
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
    assert(!save->ended);
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
    enum engine_status status = ENGINE_OK;
    *out = streams_count(control->options.streams) > 0;
    if (!*out)
        status = token_record_find_any(control->options.engine, out);
    if (status == ENGINE_OK && !*out)
        status = job_record_find_any(control->options.engine, out);
    return status;
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

/* --- Records of old jobs --- */

/* Milliseconds until it is worth looking again. */
static int64_t remove_old_jobs(struct control *control)
{
    const struct control_options *options = &control->options;
    int64_t now_ms = clock_server_ms(options->clock);
    bool more;
    if (now_ms < control->jobs_due_ms)
        return control->jobs_due_ms - now_ms;
    enum engine_status status =
        job_record_remove_old(options->engine, options->clock, &control->sweep, &more);
    /* After a failure too: a damaged record would fail every time. */
    int64_t wait_ms = status == ENGINE_OK && more ? 0 : CONTROL_JOB_RECORDS_INTERVAL_MS;
    if (status != ENGINE_OK)
        log_write(LOG_ERROR, "control", "removal of old jobs: %s", engine_status_name(status));
    control->jobs_due_ms = now_ms + wait_ms;
    return wait_ms;
}

/* --- Streams --- */

void control_settle_streams(struct control *control, struct arena *arena, uint64_t log_id)
{
    const struct timespec pause = { .tv_nsec = STREAM_UPKEEP_RETRY_MS * 1000000L };
    for (int waited_ms = 0;; waited_ms += STREAM_UPKEEP_RETRY_MS) {
        /* A log opens only after a split under way, of the table's last log, has ended. */
        split_life_run(&control->split_life, arena);
        stream_upkeep_run(&control->streams, arena, control->options.clock);
        if (log_id == 0 || stream_upkeep_is_open(&control->streams, log_id) ||
            waited_ms >= CONTROL_SETTLE_MS_MAX)
            return;
        nanosleep(&pause, NULL);
    }
}

/* --- Histories --- */

static bool history_is_settled(struct control *control, struct bytes table_name)
{
    struct table *table = catalogue_find(control->options.catalogue, table_name);
    enum history_status status =
        table == NULL ? HISTORY_NONE : table_definition(table)->history.status;
    bool needed = table != NULL && table_definition(table)->recovery_days != 0;
    table_release(table);
    return status == HISTORY_ACTIVE || (status == HISTORY_NONE && !needed);
}

void control_settle_history(struct control *control, struct arena *arena, struct bytes table_name)
{
    enum { PAUSE_MS = 2 };
    const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };
    history_life_trim_soon(&control->history_life);
    for (int waited_ms = 0;; waited_ms += PAUSE_MS) {
        history_life_run(&control->history_life, arena);
        if (history_is_settled(control, table_name) || waited_ms >= CONTROL_SETTLE_MS_MAX)
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
    wait_ms = timed_wait_sooner(wait_ms, history_life_run(&control->history_life, arena));
    wait_ms = timed_wait_sooner(wait_ms, kept_life_run(&control->kept_life, arena));
    wait_ms = timed_wait_sooner(wait_ms, insight_life_run(&control->insight_life, arena, &pace));
    /* Before the streams, because a log opens only after a split under way has ended. */
    wait_ms = timed_wait_sooner(wait_ms, split_life_run(&control->split_life, arena));
    wait_ms =
        timed_wait_sooner(wait_ms, stream_upkeep_run(&control->streams, arena, options->clock));
    wait_ms = timed_wait_sooner(wait_ms, triggers_upkeep(options->triggers));
    if (options->destinations != NULL)
        wait_ms =
            timed_wait_sooner(wait_ms, destination_life_run(&control->destination_life, arena));
    wait_ms = timed_wait_sooner(wait_ms, keep_server_time(control));
    wait_ms = timed_wait_sooner(wait_ms, remove_old_jobs(control));
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
                                               .limit = options->expiry_limit,
                                               .limit_context = options->expiry_limit_context,
                                               .interval_ms = options->expiry_interval_ms });
}

static void start_destinations(struct control *control)
{
    const struct control_options *options = &control->options;
    if (options->destinations == NULL)
        return;
    const struct log_retention_reader reader = destinations_reader(options->destinations);
    log_retention_add(&control->retention, &reader);
    control->destination_life =
        (struct destination_life){ .catalogue = options->catalogue,
                                   .destinations = options->destinations,
                                   .streams = &control->streams,
                                   .clock = options->clock,
                                   .retention_ms = options->kinesis_retention_ms };
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
    control->history_life = (struct history_life){ .engine = options->engine,
                                                   .clock = options->clock,
                                                   .catalogue = options->catalogue,
                                                   .holds = options->holds };
    control->kept_life = (struct kept_life){ .engine = options->engine,
                                             .clock = options->clock,
                                             .catalogue = options->catalogue,
                                             .holds = options->holds };
    control->insight_life =
        (struct insight_life){ .catalogue = options->catalogue, .insights = options->insights };
    const struct log_retention_reader streams = stream_upkeep_reader(options->streams);
    log_retention_add(&control->retention, &streams);
    control->streams = (struct stream_upkeep){ .engine = options->engine,
                                               .catalogue = options->catalogue,
                                               .streams = options->streams,
                                               .retention = &control->retention,
                                               .rollover_ms = options->rollover_ms };
    control->split_life = (struct split_life){ .engine = options->engine,
                                               .catalogue = options->catalogue,
                                               .streams = &control->streams,
                                               .clock = options->clock,
                                               .limits = options->splits };
    start_destinations(control);
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
    split_life_deinit(&control->split_life);
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

/* --- Waiting for a task --- */

enum { FULL_RETRY_MS = 10 };

struct control_wait {
    struct control_task task;
    void (*run)(void *context);
    void *context;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool ended; /* Guarded by the mutex. */
};

static void run_waited(void *context)
{
    struct control_wait *wait = context;
    wait->run(wait->context);
    pthread_mutex_lock(&wait->mutex);
    wait->ended = true;
    pthread_cond_signal(&wait->changed); /* Under the mutex: the waiter frees both. */
    pthread_mutex_unlock(&wait->mutex);
}

void control_run(struct control *control, void (*run)(void *context), void *context)
{
    assert(run != NULL);
    const struct timespec pause = { .tv_nsec = FULL_RETRY_MS * 1000000L };
    struct control_wait wait = { .run = run, .context = context };
    assert(!pthread_equal(pthread_self(), control->thread));
    wait.task = (struct control_task){ .run = run_waited, .context = &wait };
    pthread_mutex_init(&wait.mutex, NULL);
    timed_wait_init(&wait.changed);
    while (!control_submit(control, &wait.task))
        nanosleep(&pause, NULL);
    pthread_mutex_lock(&wait.mutex);
    while (!wait.ended)
        pthread_cond_wait(&wait.changed, &wait.mutex);
    pthread_mutex_unlock(&wait.mutex);
    pthread_cond_destroy(&wait.changed);
    pthread_mutex_destroy(&wait.mutex);
}
