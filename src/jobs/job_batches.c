/* job_batches.c -- see job_batches.h. */
#include "jobs/job_batches.h"
#include "base/arena.h"
#include "base/timed_wait.h"

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
