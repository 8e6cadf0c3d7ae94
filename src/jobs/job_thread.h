/* job_thread.h -- a thread that does rounds of some work, and sleeps in between. */
#ifndef STATOR_JOBS_JOB_THREAD_H
#define STATOR_JOBS_JOB_THREAD_H
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Fields are job_thread.c's own. */
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

/* `run_round` tells in how many milliseconds the next one is due: 0 at once, TIMED_WAIT_FOREVER
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

#endif
