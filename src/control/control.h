/* control.h -- the control thread: all changes of the catalogue, one at a time.
 *
 * CreateTable and its kin are rare and wait for the disk, which an event loop must not. On one
 * thread they need no locks among themselves. The thread runs the tasks that others submit; between
 * two tasks it takes the steps that are due:
 *
 *   - the life cycles of tables (table_life.h), indexes (index_life.h), expiry queues
 *     (expiry_life.h), histories (history_life.h), Contributor Insights (insight_life.h) and
 *     streams (stream/stream_upkeep.h) and Kinesis destinations (destination_life.h), and the end
 *     of backups of deleted tables (kept_life.h);
 *   - the upkeep of triggers, the removal of old idempotency tokens and records of jobs, and
 *     storing the server time (table/server_time.h), at intervals and when it stops.
 *
 * It also owns the two jobs that go through tables (jobs/backfill.h, jobs/expiry.h): they change
 * items by themselves and leave changes of the catalogue to this thread.
 */
#ifndef STATOR_CONTROL_CONTROL_H
#define STATOR_CONTROL_CONTROL_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "control/split_life.h"
#include "engine/engine.h"

struct arena;
struct catalogue;
struct clock;
struct control;
struct destinations;
struct history_holds;
struct insights;
struct streams;
struct table_definition;
struct triggers;

enum {
    /* The service's own bound on control-plane operations under way. */
    CONTROL_CALLS_MAX = 500,
    /* When a step is tried again: while an older version of a table is still referenced, and after
       a failed write. */
    CONTROL_RETRY_MS = 20,
    CONTROL_JOB_RETRY_MS = 1000, /* While a job reads a dropped table: for minutes, perhaps. */
    CONTROL_FAILURE_RETRY_MS = 1000,
    /* How often records of jobs that ended long ago are looked for. */
    CONTROL_JOB_RECORDS_INTERVAL_MS = 3600000,
    /* How long control_settle_streams waits for requests that began before it. */
    CONTROL_SETTLE_MS_MAX = 1000,
};

/* Pointers are borrowed and must outlive the thread. */
struct control_options {
    struct engine *engine;
    const struct clock *clock;
    struct catalogue *catalogue;
    struct streams *streams;
    struct insights *insights;
    struct triggers *triggers;         /* For the control thread only, from here on. */
    struct destinations *destinations; /* The same; NULL: there are none. */
    int64_t kinesis_retention_ms;      /* How long a record may wait for delivery; 0: for ever. */
    int64_t transition_ms;       /* How long CREATING, UPDATING and DELETING last; 0: not at all. */
    int64_t rollover_ms;         /* How long a shard of a stream is open; 0: for good. */
    struct split_limits splits;  /* When partitions split. */
    struct meter *meter;         /* Counts expired items; NULL: nobody does. */
    struct history_holds *holds; /* What jobs read is kept; NULL: there are none. */
    int64_t expiry_interval_ms;  /* How often expired items are deleted; 0: never. */
    /* Of expiry_options. */
    int64_t (*expiry_limit)(void *context, const struct table_definition *table, int64_t to);
    void *expiry_limit_context;
};

/* Aborts if no threads can be had: there is no server without it. */
struct control *control_start(const struct control_options *options);
/* Runs all queued tasks, then ends the thread. */
void control_stop(struct control *control);

/* Owned by whoever submits it, until `run` is called. */
struct control_task {
    void (*run)(void *context);
    void *context;
    struct control_task *next; /* The queue's. */
};
/* Queues a task; they run in the order of submission. False, and the task is not queued, if
 * CONTROL_CALLS_MAX are waiting. Any thread. */
MUST_CHECK bool control_submit(struct control *control, struct control_task *task);

/* Runs a function on the control thread and waits for its end: for threads of jobs, which may.
 * Waits for its turn while the queue is full. Not for the control thread itself. */
void control_run(struct control *control, void (*run)(void *context), void *context);

/* --- For tasks --- */

/* Brings streams in line with their tables. Returns when the log is open, so that every later write
 * is in it; after CONTROL_SETTLE_MS_MAX it stops waiting and the log is opened soon after. 0: waits
 * for no log. The task must not hold an older version of the table, nor parts of its definition. */
void control_settle_streams(struct control *control, struct arena *arena, uint64_t log_id);
/* Brings histories in line with their tables. Returns when that of the table has reached its end:
 * it is ACTIVE or gone; after CONTROL_SETTLE_MS_MAX it stops waiting, and the rest follows soon
 * after. Old days go soon as well. The task must not hold an older version of the table. */
void control_settle_history(struct control *control, struct arena *arena, struct bytes table_name);
/* Copies the policies of streams to the streams' own records, where they outlive the definition of
 * the table. */
MUST_CHECK enum engine_status control_keep_policies(struct control *control, struct arena *arena);
/* Closes the stream of a log if it is open. To be called before the table's definition loses the
 * log, so that the stream has no gap. */
MUST_CHECK enum engine_status control_close_stream(struct control *control, struct arena *arena,
                                                   uint64_t log_id);

#endif
