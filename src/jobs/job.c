/* job.c -- see job.h. */
#include "jobs/job.h"
#include <stdlib.h>
#include "base/arena.h"
#include "base/log.h"
#include "base/timed_wait.h"

/* --- Threads --- */

static void *thread_main(void *context)
{
    struct job_thread *thread = context;
    bool stopping = false;
    while (!stopping) {
        int64_t wait_ms = thread->run_round(thread->context);
        pthread_mutex_lock(&thread->mutex);
        if (!thread->woken && !thread->stopping && wait_ms != 0)
            timed_wait(&thread->changed, &thread->mutex, wait_ms);
        thread->woken = false;
        stopping = thread->stopping;
        pthread_mutex_unlock(&thread->mutex);
    }
    return NULL;
}

void job_thread_start(struct job_thread *thread, const char *name,
                      int64_t (*run_round)(void *context), void *context)
{
    *thread = (struct job_thread){ .name = name, .run_round = run_round, .context = context };
    pthread_mutex_init(&thread->mutex, NULL);
    timed_wait_init(&thread->changed);
    if (pthread_create(&thread->thread, NULL, thread_main, thread) != 0) {
        log_write(LOG_ERROR, name, "cannot start a thread");
        abort();
    }
}

void job_thread_stop(struct job_thread *thread)
{
    pthread_mutex_lock(&thread->mutex);
    thread->stopping = true;
    pthread_cond_signal(&thread->changed);
    pthread_mutex_unlock(&thread->mutex);
    pthread_join(thread->thread, NULL);
}

void job_thread_deinit(struct job_thread *thread)
{
    pthread_cond_destroy(&thread->changed);
    pthread_mutex_destroy(&thread->mutex);
}

void job_thread_wake(struct job_thread *thread)
{
    pthread_mutex_lock(&thread->mutex);
    thread->woken = true;
    pthread_cond_signal(&thread->changed);
    pthread_mutex_unlock(&thread->mutex);
}

bool job_thread_is_stopping(struct job_thread *thread)
{
    pthread_mutex_lock(&thread->mutex);
    bool stopping = thread->stopping;
    pthread_mutex_unlock(&thread->mutex);
    return stopping;
}

/* --- Batches --- */

void job_batches_init(struct job_batches *batches, struct engine *engine, const struct clock *clock,
                      bool (*decide)(struct txn *txn))
{
    *batches = (struct job_batches){ .engine = engine, .clock = clock, .decide = decide };
    pthread_mutex_init(&batches->mutex, NULL);
    timed_wait_init(&batches->ended);
    for (int i = 0; i < JOB_BATCHES_MAX; i++) {
        batches->list[i].batches = batches;
        batches->list[i].arena = arena_create();
    }
}

void job_batches_deinit(struct job_batches *batches)
{
    for (int i = 0; i < JOB_BATCHES_MAX; i++)
        arena_destroy(batches->list[i].arena);
    pthread_cond_destroy(&batches->ended);
    pthread_mutex_destroy(&batches->mutex);
}

static void done(struct txn *txn, enum engine_status status)
{
    struct job_batch *batch = job_batch_of(txn);
    struct job_batches *batches = batch->batches;
    if (status == ENGINE_OK && batch->written != NULL)
        batch->written(batch);
    pthread_mutex_lock(&batches->mutex);
    batch->status = status;
    batch->under_way = false;
    pthread_cond_signal(&batches->ended);
    pthread_mutex_unlock(&batches->mutex);
}

/* Waits for what the batch was last used for, and tells once how that ended. */
static enum engine_status wait_for(struct job_batch *batch)
{
    struct job_batches *batches = batch->batches;
    pthread_mutex_lock(&batches->mutex);
    while (batch->under_way)
        pthread_cond_wait(&batches->ended, &batches->mutex);
    enum engine_status status = batch->status;
    batch->status = ENGINE_OK;
    pthread_mutex_unlock(&batches->mutex);
    return status;
}

struct job_batch *job_batches_take(struct job_batches *batches, enum engine_status *status)
{
    struct job_batch *batch = &batches->list[batches->next++ % JOB_BATCHES_MAX];
    *status = wait_for(batch);
    arena_reset(batch->arena);
    batch->written = NULL;
    batch->txn = (struct txn){ .arena = batch->arena,
                               .engine = batches->engine,
                               .clock = batches->clock,
                               .items = batch->items,
                               .decide = batches->decide,
                               .done = done };
    return batch;
}

void job_batches_start(struct job_batch *batch)
{
    pthread_mutex_lock(&batch->batches->mutex);
    batch->under_way = true;
    pthread_mutex_unlock(&batch->batches->mutex);
    txn_start(&batch->txn);
}

enum engine_status job_batches_wait(struct job_batches *batches)
{
    enum engine_status status = ENGINE_OK;
    for (int i = 0; i < JOB_BATCHES_MAX; i++) {
        enum engine_status ended = wait_for(&batches->list[i]);
        if (status == ENGINE_OK)
            status = ended;
    }
    return status;
}
