/* lane.c -- see lane.h. A queue, first come first served. */
#include "wire/lane.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/log.h"
#include "base/memory.h"

struct lane_thread {
    struct lane *lane;
    void *context;
    pthread_t thread;
};

struct lane {
    pthread_mutex_t mutex; /* Guards what follows, but for the threads. */
    pthread_cond_t changed;
    struct lane_task *first, *last;
    size_t waiting;
    bool stopping;

    enum lane_priority priority;
    size_t thread_count;
    struct lane_thread threads[];
};

/* NULL: the lane stops. */
static struct lane_task *take(struct lane *lane)
{
    pthread_mutex_lock(&lane->mutex);
    while (lane->first == NULL && !lane->stopping)
        pthread_cond_wait(&lane->changed, &lane->mutex);
    struct lane_task *task = lane->stopping ? NULL : lane->first;
    if (task != NULL) {
        lane->first = task->next;
        lane->waiting--;
    }
    pthread_mutex_unlock(&lane->mutex);
    return task;
}

static void *run(void *argument)
{
    const struct lane_thread *thread = argument;
    struct lane_task *task;
    if (thread->lane->priority == LANE_GIVES_WAY) {
        /* On Linux this is the thread's own. A failure costs the loops a little time. */
        id_t self = (id_t)gettid();
        setpriority(PRIO_PROCESS, self, getpriority(PRIO_PROCESS, self) + LANE_NICENESS);
    }
    while ((task = take(thread->lane)) != NULL)
        task->run(task, thread->context);
    return NULL;
}

struct lane *lane_start(void *const *thread_contexts, size_t thread_count,
                        enum lane_priority priority)
{
    struct lane *lane =
        memory_checked(calloc(1, sizeof *lane + thread_count * sizeof lane->threads[0]));
    pthread_mutex_init(&lane->mutex, NULL);
    pthread_cond_init(&lane->changed, NULL);
    lane->priority = priority;
    for (size_t i = 0; i < thread_count; i++) {
        struct lane_thread *thread = &lane->threads[lane->thread_count];
        *thread = (struct lane_thread){ .lane = lane, .context = thread_contexts[i] };
        if (pthread_create(&thread->thread, NULL, run, thread) == 0)
            lane->thread_count++;
    }
    if (lane->thread_count == 0) {
        log_write(LOG_ERROR, "wire", "cannot start a thread");
        abort();
    }
    return lane;
}

void lane_stop(struct lane *lane, void (*forget)(struct lane_task *task))
{
    if (lane == NULL)
        return;
    pthread_mutex_lock(&lane->mutex);
    lane->stopping = true;
    pthread_cond_broadcast(&lane->changed);
    pthread_mutex_unlock(&lane->mutex);
    for (size_t i = 0; i < lane->thread_count; i++)
        pthread_join(lane->threads[i].thread, NULL);
    for (struct lane_task *task = lane->first, *next; task != NULL; task = next) {
        next = task->next;
        if (forget != NULL)
            forget(task);
    }
    pthread_cond_destroy(&lane->changed);
    pthread_mutex_destroy(&lane->mutex);
    free(lane);
}

bool lane_submit(struct lane *lane, struct lane_task *task)
{
    pthread_mutex_lock(&lane->mutex);
    bool accepted = lane->waiting < LANE_WAITING_MAX;
    if (accepted) {
        task->next = NULL;
        if (lane->first == NULL)
            lane->first = task;
        else
            lane->last->next = task;
        lane->last = task;
        lane->waiting++;
        pthread_cond_signal(&lane->changed);
    }
    pthread_mutex_unlock(&lane->mutex);
    return accepted;
}
