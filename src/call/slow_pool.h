/* slow_pool.h -- a few threads with bounded queues, for work too slow for an event loop.
 *
 * A request of many megabytes keeps a thread busy for tens of milliseconds: its signature, its
 * JSON, its items. On a loop's thread, every other client of that loop would wait for it.
 *
 * A pool has one of two priorities. Work that decides about writes holds latches, and other writers
 * wait for those, so it needs the priority of the loops. Work that holds no latches yields to them.
 *
 * Tasks are light or heavy, each kind first come, first served. Light ones come first, so that a
 * request of a few hundred KB waits for one of many megabytes at most; but one heavy task runs
 * after every SLOW_POOL_LIGHT_PER_HEAVY light ones.
 *
 * A thread never sleeps for a task that has to wait for something. The task returns and leaves the
 * rest of its work pending, and the thread takes the next task. slow_pool_wake then brings the
 * thread back to the work that it left.
 */
#ifndef STATOR_CALL_SLOW_POOL_H
#define STATOR_CALL_SLOW_POOL_H
#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"

struct slow_pool;

enum {
    SLOW_POOL_WAITING_MAX = 256, /* Tasks of each kind in the queue, besides those that run. */
    SLOW_POOL_LIGHT_PER_HEAVY = 16,
    /* Pieces of work that a thread may have left pending: it takes no new task beyond. Enough for
     * every client of a busy item; requests and their memory have bounds of their own. */
    SLOW_POOL_PENDING_MAX = 256,
    SLOW_POOL_NICENESS = 10, /* Added to the loops': a tenth of their share of a busy processor. */
};

/* Embedded in the caller's own structure; must live until `run` is called. */
struct slow_task {
    void (*run)(struct slow_task *task, void *thread_context);
    bool is_heavy;
    struct slow_task *next; /* Owned by the pool while the task is queued. */
};

enum slow_pool_priority { SLOW_POOL_AS_LOOPS, SLOW_POOL_BELOW_LOOPS };

struct slow_pool_options {
    /* One thread is started for each of these, which must outlive the pool; all are distinct. Fewer
     * threads are enough if the system refuses some. */
    void *const *thread_contexts;
    size_t thread_count;
    enum slow_pool_priority priority;
    /* Continues what tasks of this thread left pending. NULL: they leave nothing. */
    void (*resume)(void *thread_context);
};

/* Aborts if the system refuses all threads. */
struct slow_pool *slow_pool_start(const struct slow_pool_options *options);
/* Waits for running tasks to return and for pending work to end. Queued tasks are passed to
 * `forget`, which may be NULL. Stopping NULL is allowed. */
void slow_pool_stop(struct slow_pool *pool, void (*forget)(struct slow_task *task));

/* False if the queue of its kind is full. From any thread. */
MUST_CHECK bool slow_pool_submit(struct slow_pool *pool, struct slow_task *task);

/* For tasks whose work may outlast their `run`: it begins on the pool's thread and may end on any
 * other. A thread ends only when none of its work is pending. */
void slow_pool_begin_work(struct slow_pool *pool, const void *thread_context);
void slow_pool_end_work(struct slow_pool *pool, const void *thread_context);
/* Has the thread call `resume`, before it takes another task. From any thread; never blocks. The
 * thread has work pending. */
void slow_pool_wake(struct slow_pool *pool, const void *thread_context);

#endif
