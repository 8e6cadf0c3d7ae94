/* inbox.c -- see inbox.h.
 *
 * Tasks are a stack, which the loop takes as a whole and reverses. Each side first writes its own
 * word and then reads the other's, in one total order (the default of atomic operations): either
 * the poster sees that the loop sleeps, or the loop sees the task.
 */
#include "http/inbox.h"
#include <assert.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "http/server.h"

bool http_inbox_init(struct http_inbox *inbox)
{
    atomic_init(&inbox->newest, NULL);
    atomic_init(&inbox->sleeping, false);
    atomic_init(&inbox->posting, 0);
    inbox->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return inbox->fd >= 0;
}

void http_inbox_deinit(struct http_inbox *inbox)
{
    while (atomic_load(&inbox->posting) > 0)
        sched_yield(); /* It has left its task, and only has to return. */
    if (inbox->fd >= 0)
        close(inbox->fd);
    inbox->fd = -1;
}

void http_inbox_wake(struct http_inbox *inbox)
{
    const uint64_t one = 1;
    /* Fails only if the counter is full, and then the loop wakes up anyway. */
    ssize_t size = write(inbox->fd, &one, sizeof one);
    (void)size;
}

void http_inbox_post(struct http_inbox *inbox, struct http_task *task)
{
    assert(task->run != NULL);
    /* Before the task is visible: the loop may run it and end. */
    atomic_fetch_add(&inbox->posting, 1);
    struct http_task *newest = atomic_load_explicit(&inbox->newest, memory_order_relaxed);
    do
        task->next = newest;
    while (!atomic_compare_exchange_weak(&inbox->newest, &newest, task));
    if (atomic_load(&inbox->sleeping) && atomic_exchange(&inbox->sleeping, false))
        http_inbox_wake(inbox);
    atomic_fetch_sub(&inbox->posting, 1);
}

bool http_inbox_may_sleep(struct http_inbox *inbox)
{
    atomic_store(&inbox->sleeping, true);
    if (atomic_load(&inbox->newest) == NULL)
        return true;
    http_inbox_set_awake(inbox);
    return false;
}

void http_inbox_set_awake(struct http_inbox *inbox)
{
    /* Usually a poster has cleared it, and this line is only read. */
    if (atomic_load_explicit(&inbox->sleeping, memory_order_relaxed))
        atomic_store_explicit(&inbox->sleeping, false, memory_order_relaxed);
}

void http_inbox_clear(struct http_inbox *inbox)
{
    uint64_t count;
    ssize_t size = read(inbox->fd, &count, sizeof count);
    (void)size; /* Nothing there: then nothing is to be cleared. */
}

struct http_task *http_inbox_take(struct http_inbox *inbox)
{
    struct http_task *first = NULL;
    if (atomic_load_explicit(&inbox->newest, memory_order_relaxed) == NULL)
        return NULL;
    struct http_task *task = atomic_exchange(&inbox->newest, NULL);
    while (task != NULL) {
        struct http_task *older = task->next;
        task->next = first;
        first = task;
        task = older;
    }
    return first;
}
