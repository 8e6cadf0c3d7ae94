/* job_thread.c -- see job_thread.h. */
#include "jobs/job_thread.h"
#include <stdlib.h>
#include "base/log.h"
#include "base/timed_wait.h"

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
