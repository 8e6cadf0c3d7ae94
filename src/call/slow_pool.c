/* slow_pool.c -- see slow_pool.h. The queue is first come, first served. */
#include "call/slow_pool.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/log.h"
#include "base/memory.h"

struct slow_thread {
    struct slow_pool *pool;
    void *context;
    pthread_t thread;
};

struct slow_pool {
    pthread_mutex_t mutex; /* Guards the queue and `stopping`. */
    pthread_cond_t changed;
    struct slow_task *first, *last;
    size_t waiting;
    bool stopping;

    enum slow_pool_priority priority;
    size_t thread_count;
    struct slow_thread threads[];
};

/* Waits for a task. NULL: the pool is stopping. */
static struct slow_task *take(struct slow_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    while (pool->first == NULL && !pool->stopping)
        pthread_cond_wait(&pool->changed, &pool->mutex);
    struct slow_task *task = pool->stopping ? NULL : pool->first;
    if (task != NULL) {
        pool->first = task->next;
        pool->waiting--;
    }
    pthread_mutex_unlock(&pool->mutex);
    return task;
}

static void *run(void *argument)
{
    const struct slow_thread *thread = argument;
    struct slow_task *task;
    if (thread->pool->priority == SLOW_POOL_BELOW_LOOPS) {
        /* On Linux a thread has a niceness of its own. Should this fail, loops only get less
         * processor time. */
        id_t self = (id_t)gettid();
        setpriority(PRIO_PROCESS, self, getpriority(PRIO_PROCESS, self) + SLOW_POOL_NICENESS);
    }
    while ((task = take(thread->pool)) != NULL)
        task->run(task, thread->context);
    return NULL;
}

struct slow_pool *slow_pool_start(void *const *thread_contexts, size_t thread_count,
                                  enum slow_pool_priority priority)
{
    assert(thread_count > 0);
    struct slow_pool *pool =
        memory_checked(calloc(1, sizeof *pool + thread_count * sizeof pool->threads[0]));
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->changed, NULL);
    pool->priority = priority;
    for (size_t i = 0; i < thread_count; i++) {
        struct slow_thread *thread = &pool->threads[pool->thread_count];
        *thread = (struct slow_thread){ .pool = pool, .context = thread_contexts[i] };
        if (pthread_create(&thread->thread, NULL, run, thread) == 0)
            pool->thread_count++;
    }
    if (pool->thread_count == 0) {
        log_write(LOG_ERROR, "call", "cannot start a thread");
        abort();
    }
    return pool;
}

void slow_pool_stop(struct slow_pool *pool, void (*forget)(struct slow_task *task))
{
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->mutex);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->mutex);
    for (size_t i = 0; i < pool->thread_count; i++)
        pthread_join(pool->threads[i].thread, NULL);
    for (struct slow_task *task = pool->first, *next; task != NULL; task = next) {
        next = task->next;
        if (forget != NULL)
            forget(task);
    }
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

bool slow_pool_submit(struct slow_pool *pool, struct slow_task *task)
{
    assert(task->run != NULL);
    pthread_mutex_lock(&pool->mutex);
    bool accepted = pool->waiting < SLOW_POOL_WAITING_MAX;
    if (accepted) {
        task->next = NULL;
        if (pool->first == NULL)
            pool->first = task;
        else
            pool->last->next = task;
        pool->last = task;
        pool->waiting++;
        pthread_cond_signal(&pool->changed);
    }
    pthread_mutex_unlock(&pool->mutex);
    return accepted;
}
