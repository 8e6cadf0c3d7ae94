/* slow_pool.c -- see slow_pool.h.
 *
 * Each thread sleeps at a condition of its own. A thread with too much pending work does not take a
 * task, so a signal to any one of them might reach one that must not act on it.
 */
#include "call/slow_pool.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include "base/give_way.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/thread_priority.h"

struct slow_thread {
    struct slow_pool *pool;
    void *context;
    pthread_t thread;
    /* Guarded by the pool's mutex: */
    pthread_cond_t changed;
    size_t pending; /* Work that has begun and not ended. */
    bool idle;      /* It sleeps, and was not signalled yet. */
    bool woken;     /* It must call `resume`. */
};

struct queue {
    struct slow_task *first, *last;
    size_t count;
};

struct slow_pool {
    pthread_mutex_t mutex; /* Guards the queues and `stopping`. */
    struct queue light, heavy;
    unsigned light_in_a_row; /* Taken since the last heavy one. */
    bool stopping;

    enum slow_pool_priority priority;
    void (*resume)(void *thread_context);
    size_t thread_count;
    struct slow_thread threads[];
};

static void signal_locked(struct slow_thread *thread)
{
    thread->idle = false;
    pthread_cond_signal(&thread->changed);
}

static bool may_take_task_locked(const struct slow_thread *thread)
{
    const struct slow_pool *pool = thread->pool;
    return (pool->light.first != NULL || pool->heavy.first != NULL) && !pool->stopping &&
           thread->pending < SLOW_POOL_PENDING_MAX;
}

static struct slow_task *take_task_locked(struct slow_pool *pool)
{
    bool is_heavy =
        pool->light.first == NULL ||
        (pool->heavy.first != NULL && pool->light_in_a_row >= SLOW_POOL_LIGHT_PER_HEAVY);
    struct queue *queue = is_heavy ? &pool->heavy : &pool->light;
    struct slow_task *task = queue->first;
    queue->first = task->next;
    queue->count--;
    pool->light_in_a_row = is_heavy ? 0 : pool->light_in_a_row + 1;
    return task;
}

/* Signals a thread that sleeps and may take the first task, if there is one. */
static void signal_taker_locked(struct slow_pool *pool)
{
    for (size_t i = 0; i < pool->thread_count; i++) {
        struct slow_thread *thread = &pool->threads[i];
        if (thread->idle && may_take_task_locked(thread)) {
            signal_locked(thread);
            return;
        }
    }
}

/* Waits until there is something to do. False: the pool is stopping, and nothing is pending.
 * Otherwise `*task` is to be run; NULL: pending work is to be resumed. */
static bool take(struct slow_thread *thread, struct slow_task **task)
{
    struct slow_pool *pool = thread->pool;
    *task = NULL;
    pthread_mutex_lock(&pool->mutex);
    while (!thread->woken && !may_take_task_locked(thread) &&
           !(pool->stopping && thread->pending == 0)) {
        thread->idle = true;
        pthread_cond_wait(&thread->changed, &pool->mutex);
        thread->idle = false;
    }
    bool resumes = thread->woken;
    thread->woken = false;
    if (!resumes && may_take_task_locked(thread))
        *task = take_task_locked(pool);
    signal_taker_locked(
        pool); /* This thread may have been signalled for a task, and is busy now. */
    pthread_mutex_unlock(&pool->mutex);
    return resumes || *task != NULL;
}

static void *run(void *argument)
{
    struct slow_thread *thread = argument;
    struct slow_task *task;
    if (thread->pool->priority == SLOW_POOL_BELOW_LOOPS) {
        thread_priority_lower(SLOW_POOL_NICENESS);
        give_way_set(true);
    }
    while (take(thread, &task)) {
        if (task != NULL)
            task->run(task, thread->context);
        else
            thread->pool->resume(thread->context);
    }
    return NULL;
}

struct slow_pool *slow_pool_start(const struct slow_pool_options *options)
{
    assert(options->thread_count > 0);
    struct slow_pool *pool =
        memory_checked(calloc(1, sizeof *pool + options->thread_count * sizeof pool->threads[0]));
    pthread_mutex_init(&pool->mutex, NULL);
    pool->priority = options->priority;
    pool->resume = options->resume;
    /* The mutex keeps threads that have started from looking at the others too early. */
    pthread_mutex_lock(&pool->mutex);
    for (size_t i = 0; i < options->thread_count; i++) {
        struct slow_thread *thread = &pool->threads[pool->thread_count];
        *thread = (struct slow_thread){ .pool = pool, .context = options->thread_contexts[i] };
        pthread_cond_init(&thread->changed, NULL);
        if (pthread_create(&thread->thread, NULL, run, thread) == 0)
            pool->thread_count++;
        else
            pthread_cond_destroy(&thread->changed);
    }
    pthread_mutex_unlock(&pool->mutex);
    if (pool->thread_count == 0) {
        log_write(LOG_ERROR, "call", "cannot start a thread");
        abort();
    }
    return pool;
}

static void forget_all(const struct queue *queue, void (*forget)(struct slow_task *task))
{
    for (struct slow_task *task = queue->first, *next; task != NULL; task = next) {
        next = task->next;
        if (forget != NULL)
            forget(task);
    }
}

void slow_pool_stop(struct slow_pool *pool, void (*forget)(struct slow_task *task))
{
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->mutex);
    pool->stopping = true;
    for (size_t i = 0; i < pool->thread_count; i++)
        signal_locked(&pool->threads[i]);
    pthread_mutex_unlock(&pool->mutex);
    for (size_t i = 0; i < pool->thread_count; i++)
        pthread_join(pool->threads[i].thread, NULL);
    forget_all(&pool->light, forget);
    forget_all(&pool->heavy, forget);
    for (size_t i = 0; i < pool->thread_count; i++)
        pthread_cond_destroy(&pool->threads[i].changed);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

bool slow_pool_submit(struct slow_pool *pool, struct slow_task *task)
{
    assert(task->run != NULL);
    pthread_mutex_lock(&pool->mutex);
    struct queue *queue = task->is_heavy ? &pool->heavy : &pool->light;
    bool accepted = queue->count < SLOW_POOL_WAITING_MAX;
    if (accepted) {
        task->next = NULL;
        if (queue->first == NULL)
            queue->first = task;
        else
            queue->last->next = task;
        queue->last = task;
        queue->count++;
        signal_taker_locked(pool);
    }
    pthread_mutex_unlock(&pool->mutex);
    return accepted;
}

/* --- Pending work --- */

static struct slow_thread *find_thread(struct slow_pool *pool, const void *context)
{
    for (size_t i = 0; i < pool->thread_count; i++) {
        if (pool->threads[i].context == context)
            return &pool->threads[i];
    }
    assert(false);
    return NULL;
}

void slow_pool_begin_work(struct slow_pool *pool, const void *thread_context)
{
    struct slow_thread *thread = find_thread(pool, thread_context);
    pthread_mutex_lock(&pool->mutex);
    assert(pool->resume != NULL && thread->pending < SLOW_POOL_PENDING_MAX);
    thread->pending++;
    pthread_mutex_unlock(&pool->mutex);
}

void slow_pool_end_work(struct slow_pool *pool, const void *thread_context)
{
    struct slow_thread *thread = find_thread(pool, thread_context);
    pthread_mutex_lock(&pool->mutex);
    assert(thread->pending > 0);
    thread->pending--;
    /* It may now take a task again, or end. */
    if (thread->idle && (pool->stopping || may_take_task_locked(thread)))
        signal_locked(thread);
    pthread_mutex_unlock(&pool->mutex);
}

void slow_pool_wake(struct slow_pool *pool, const void *thread_context)
{
    struct slow_thread *thread = find_thread(pool, thread_context);
    pthread_mutex_lock(&pool->mutex);
    assert(thread->pending > 0);
    thread->woken = true;
    signal_locked(thread);
    pthread_mutex_unlock(&pool->mutex);
}
