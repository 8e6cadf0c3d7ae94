/* lane.h -- a few threads for work that takes long, so that loops are free for the rest.
 *
 * A request of many megabytes keeps a thread busy for tens of milliseconds: its signature, its
 * JSON, its items. On a loop's thread all clients of that loop would wait for it.
 *
 * A lane has one of two priorities. Work that decides about writes holds latches, and whoever waits
 * for those must not wait for the rest of the machine as well: it needs the priority of the loops.
 * Work that holds nothing of the kind gives way to the loops.
 */
#ifndef STATOR_WIRE_LANE_H
#define STATOR_WIRE_LANE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"

struct lane;

enum {
    LANE_WAITING_MAX = 256, /* Beyond the ones that run. */
    LANE_NICENESS = 10,     /* More than the loops': a tenth of their share of a busy processor. */
};

/* Embedded in the caller's own structure; must live until `run` was called. */
struct lane_task {
    void (*run)(struct lane_task *task, void *thread_context);
    struct lane_task *next; /* The lane's own while it holds the task. */
};

enum lane_priority { LANE_LIKE_LOOPS, LANE_GIVES_WAY };

/* One thread for each of the contexts, which must outlive the lane. Aborts if none can be had. */
struct lane *lane_start(void *const *thread_contexts, size_t thread_count,
                        enum lane_priority priority);
/* Ends what runs. What waits is handed to `forget`, which may be NULL. Stopping NULL is allowed. */
void lane_stop(struct lane *lane, void (*forget)(struct lane_task *task));

/* False if too many wait. From any thread. */
MUST_CHECK bool lane_submit(struct lane *lane, struct lane_task *task);

#endif
