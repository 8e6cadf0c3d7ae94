/* inbox.h -- tasks that other threads leave for a loop, inside http/.
 *
 * No lock: a thread of low priority posts, too, and the loop must not wait for it. With a lock, or
 * with uv_async_send, for which libuv spins until the sender has returned, the loop did: the system
 * call that wakes the loop up is just where the sender loses its processor.
 *
 * The loop says when it is about to sleep, and only then does a task cost a system call: the first
 * one that comes writes to `fd`, which the loop polls.
 */
#ifndef STATOR_HTTP_INBOX_H
#define STATOR_HTTP_INBOX_H
#include <stdatomic.h>
#include <stdbool.h>
#include "base/compiler.h"

struct http_task;

struct http_inbox {
    int fd; /* An eventfd. */
    _Atomic(struct http_task *) newest;
    atomic_bool sleeping; /* The loop may sleep: it must be woken. */
    atomic_uint posting;  /* Calls under way; the inbox cannot go before they return. */
};

/* False if the system has no descriptor left. */
MUST_CHECK bool http_inbox_init(struct http_inbox *inbox);
/* Waits for calls of http_inbox_post to return. Tasks that are left do not run. */
void http_inbox_deinit(struct http_inbox *inbox);

/* --- From any thread --- */

/* The task stays where it is until it is taken. Never blocks. */
void http_inbox_post(struct http_inbox *inbox, struct http_task *task);
/* Wakes the loop up without a task. */
void http_inbox_wake(struct http_inbox *inbox);

/* --- On the loop's thread --- */

/* To be called before the loop sleeps. False: there are tasks, so it must not. */
MUST_CHECK bool http_inbox_may_sleep(struct http_inbox *inbox);
/* To be called when it has woken up. */
void http_inbox_set_awake(struct http_inbox *inbox);
/* To be called when `fd` is readable. */
void http_inbox_clear(struct http_inbox *inbox);
/* All tasks in the order in which they were posted, linked by `next`; NULL: there are none. */
struct http_task *http_inbox_take(struct http_inbox *inbox);

#endif
