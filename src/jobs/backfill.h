/* backfill.h -- a thread that stores the entries of existing items in a new index, or in the expiry
 * queue of a table whose time to live was just enabled.
 *
 * It looks for indexes with the status INDEX_BACKFILLING and queues with EXPIRY_FILLING, and goes
 * through their tables in the order of the stored keys, in small batches of the one write path. An
 * entry that exists already is left alone, so a part may be repeated; the position is stored in the
 * table's definition, and a restart resumes there. Tables take turns, a slice
 * each.
 *
 * The thread does not change the catalogue: a callback does.
 */
#ifndef STATOR_JOBS_BACKFILL_H
#define STATOR_JOBS_BACKFILL_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "engine/engine.h"

struct backfill;
struct catalogue;
struct clock;

enum {
    /* A batch that read as much ends, however many of the items have entries. */
    BACKFILL_BATCH_SIZE = 256 * 1024,
    /* Until the position is stored, and other tables have their turn. */
    BACKFILL_SLICE_BATCHES = 128,
    /* How soon to look again while an older version of a table is in use, or after a failure. */
    BACKFILL_RETRY_MS = 5,
    BACKFILL_FAILURE_RETRY_MS = 1000,
};

/* How far an index or queue has come. Valid during the call. */
enum { BACKFILL_EXPIRY_QUEUE = 0 }; /* In place of an index's id. */
struct backfill_progress {
    struct bytes table_name;
    uint64_t table_id;
    uint64_t index_id;
    bool complete;
    /* What `backfilled` of the index, or `filled` of the queue, is to be, unless complete. */
    struct bytes position;
};

struct backfill_options {
    struct engine *engine; /* Borrowed, like the next two; must outlive the job. */
    const struct clock *clock;
    struct catalogue *catalogue;
    /* Stores the progress, and makes a complete index or queue ACTIVE, unless it is not being
     * filled any more. Called on the job's thread; may wait. */
    enum engine_status (*save)(void *context, const struct backfill_progress *progress);
    void *context;
};

/* Aborts if no thread can be had. */
struct backfill *backfill_start(const struct backfill_options *options);
/* Ends the thread after its batch under way. `save` must still work; waking is still allowed. */
void backfill_stop(struct backfill *backfill);
void backfill_destroy(struct backfill *backfill); /* It was stopped. */
/* There is a new index or queue to be filled. Any thread. */
void backfill_wake(struct backfill *backfill);

#endif
