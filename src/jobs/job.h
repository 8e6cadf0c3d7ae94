/* job.h -- what background jobs are made of: a thread that does rounds of work and sleeps in
 * between, and writes in small batches, a few of them under way at the same time.
 *
 * A batch is put together while others wait for the disk. Their memory is allocated once, so a
 * job's memory does not grow with the amount of work.
 */
#ifndef STATOR_JOBS_JOB_H
#define STATOR_JOBS_JOB_H
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"
#include "txn/txn.h"

struct arena;
struct clock;

/* --- Threads --- */

/* Fields are job.c's own. */
struct job_thread {
    const char *name;
    int64_t (*run_round)(void *context);
    void *context;
    pthread_t thread;
    pthread_mutex_t mutex; /* Guards what follows. */
    pthread_cond_t changed;
    bool woken;
    bool stopping;
};

/* `run_round` returns in how many milliseconds the next one is due: 0 at once, TIMED_WAIT_FOREVER
 * when woken. `name` is for the log. Aborts if no thread can be had. */
void job_thread_start(struct job_thread *thread, const char *name,
                      int64_t (*run_round)(void *context), void *context);
/* Ends the thread after its round, which should look at job_thread_is_stopping now and then. Waking
 * is still allowed. */
void job_thread_stop(struct job_thread *thread);
void job_thread_deinit(struct job_thread *thread); /* It was stopped. */

/* The next round begins at once. Any thread. */
void job_thread_wake(struct job_thread *thread);
bool job_thread_is_stopping(struct job_thread *thread);

/* --- Batches --- */

enum {
    /* Of one write, which holds the latches of its items: other writers wait for no longer. */
    JOB_BATCH_ITEMS = 64,
    JOB_BATCHES_MAX = 4, /* Under way at the same time. */
};
static_assert((int)JOB_BATCH_ITEMS <= (int)TXN_ITEMS_MAX, "a batch is one write");

struct job_batch {
    struct txn txn; /* The owner adds items, `items[txn.item_count++]`. */
    struct txn_item items[JOB_BATCH_ITEMS];
    struct arena *arena; /* For what the items refer to. */
    const void *context; /* For the decision; the owner's. */
    /* Called when the batch was written, on the thread that ended it; must not wait. NULL: nobody
     * asks. job_batches_take clears it. */
    void (*written)(struct job_batch *batch);

    struct job_batches *batches; /* job.c's own, like what follows. */
    bool under_way;              /* Guarded by the batches' mutex, like what follows. */
    enum engine_status status;   /* How it ended. */
};

/* Fields are job.c's own. */
struct job_batches {
    struct engine *engine;
    const struct clock *clock;
    bool (*decide)(struct txn *txn);
    struct job_batch list[JOB_BATCHES_MAX]; /* Used in turn. */
    size_t next;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
};

/* Engine and clock are borrowed. `decide` is that of every write (txn.h). */
void job_batches_init(struct job_batches *batches, struct engine *engine, const struct clock *clock,
                      bool (*decide)(struct txn *txn));
/* None may be under way. */
void job_batches_deinit(struct job_batches *batches);

static inline struct job_batch *job_batch_of(struct txn *txn)
{
    return (struct job_batch *)((char *)txn - offsetof(struct job_batch, txn));
}

/* An empty batch: the one whose turn it is, once it has ended. `*status` is how it ended. */
struct job_batch *job_batches_take(struct job_batches *batches, enum engine_status *status);
/* Writes a batch that was taken. One without items need not be. */
void job_batches_start(struct job_batch *batch);
/* Waits until none is under way. Returns the first failure that was not returned before. */
MUST_CHECK enum engine_status job_batches_wait(struct job_batches *batches);

#endif
