/* expiry.h -- a thread that deletes items whose time to live has expired.
 *
 * It reads the fronts of the expiry queues (table/expiry_queue.h), so its cost follows the number
 * of expired items. It deletes in small batches of the one write path: each item is read again
 * under its latch, and deleted only if it is still expired. Index entries and change records follow
 * from that, as for any deletion; the records name the service as the author. Tables take turns, a
 * slice each.
 */
#ifndef STATOR_JOBS_EXPIRY_H
#define STATOR_JOBS_EXPIRY_H
#include <stdint.h>
#include "engine/engine.h"

struct catalogue;
struct clock;
struct expiry;
struct meter;
struct table_definition;

enum {
    /* Of one partition, until others have their turn. */
    EXPIRY_SLICE_BATCHES = 256,
    EXPIRY_FAILURE_RETRY_MS = 1000,
    /* A look at all of the past, which may have to step over what was deleted a while ago, is
       followed by so many times its duration without another one. */
    EXPIRY_REST_FACTOR = 50,
};

struct expiry_options {
    struct engine *engine; /* Borrowed, like the next two; must outlive the job. */
    const struct clock *clock;
    struct catalogue *catalogue;
    struct meter *meter; /* Counts what was deleted; NULL: nobody does. Borrowed as well. */
    /* The last second at which items of a global table may expire, `to` or an earlier one: other
     * regions may have renewed them. NULL: `to`. */
    int64_t (*limit)(void *context, const struct table_definition *table, int64_t to);
    void *limit_context;
    int64_t interval_ms; /* From round to round; 0: no thread, the owner calls expiry_run_round. */
};

/* Aborts if no thread can be had. */
struct expiry *expiry_start(const struct expiry_options *options);
/* Ends the thread after its batches under way. Waking is still allowed. */
void expiry_stop(struct expiry *expiry);
void expiry_destroy(struct expiry *expiry); /* It was stopped. */
/* A table's queue has become ACTIVE. Any thread. */
void expiry_wake(struct expiry *expiry);

/* For an owner without a thread: deletes what has expired now. Milliseconds until the next round is
 * due; TIMED_WAIT_FOREVER: there is no queue. */
int64_t expiry_run_round(struct expiry *expiry);

#endif
