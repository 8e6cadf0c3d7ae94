/* slow_pool.h -- a few threads with a bounded queue, for work too slow for an event loop.
 *
 * A request of many megabytes keeps a thread busy for tens of milliseconds: its signature, its
 * JSON, its items. On a loop's thread, every other client of that loop would wait for it.
 *
 * A pool has one of two priorities. Work that decides about writes holds latches, and other writers
 * wait for those, so it needs the priority of the loops. Work that holds no latches yields to them.
 */
#ifndef STATOR_CALL_SLOW_POOL_H
#define STATOR_CALL_SLOW_POOL_H
#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"

struct slow_pool;

enum {
    SLOW_POOL_WAITING_MAX = 256, /* Tasks in the queue, not counting those that run. */
    SLOW_POOL_NICENESS = 10, /* Added to the loops': a tenth of their share of a busy processor. */
};

/* Embedded in the caller's own structure; must live until `run` is called. */
struct slow_task {
    void (*run)(struct slow_task *task, void *thread_context);
    struct slow_task *next; /* Owned by the pool while the task is queued. */
};

enum slow_pool_priority { SLOW_POOL_AS_LOOPS, SLOW_POOL_BELOW_LOOPS };

/* Starts one thread for each of the contexts, which must outlive the pool. Fewer threads are enough
 * if the system refuses some; aborts if it refuses all. */
struct slow_pool *slow_pool_start(void *const *thread_contexts, size_t thread_count,
                                  enum slow_pool_priority priority);
/* Waits for running tasks to return. Queued tasks are passed to `forget`, which may be NULL.
 * Stopping NULL is allowed. */
void slow_pool_stop(struct slow_pool *pool, void (*forget)(struct slow_task *task));

/* False if the queue is full. From any thread. */
MUST_CHECK bool slow_pool_submit(struct slow_pool *pool, struct slow_task *task);

#endif
