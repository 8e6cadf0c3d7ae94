/* backfill.h -- a thread that gives the items of a table their entries in an index that is new.
 *
 * It looks for indexes with the status INDEX_BACKFILLING and goes through their tables in the order
 * of the stored keys, in small batches of the one write path. An entry that is there already is
 * left alone, so nothing is lost by doing a part twice; where to go on is a part of the index's
 * definition, and a restart goes on there. Tables take turns, a slice each.
 *
 * The thread does not change the catalogue: it has that done by a callback.
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
    /* Of one write, which holds the latches of its items: other writers wait for no longer. */
    BACKFILL_BATCH_ITEMS = 64,
    /* A batch that read as much ends, however many of the items have entries. */
    BACKFILL_BATCH_SIZE = 256 * 1024,
    /* Under way at the same time: one is read while others wait for the disk. */
    BACKFILL_BATCHES_MAX = 4,
    /* Until the position is stored, and other tables have their turn. */
    BACKFILL_SLICE_BATCHES = 128,
    /* How soon to look again while an older version of a table is in use, or after a failure. */
    BACKFILL_RETRY_MS = 5,
    BACKFILL_FAILURE_RETRY_MS = 1000,
};

/* How far an index has come. Valid during the call. */
struct backfill_progress {
    struct bytes table_name;
    uint64_t table_id;
    uint64_t index_id;
    bool complete;
    struct bytes position; /* What index_definition.backfilled is to be, unless complete. */
};

struct backfill_options {
    struct engine *engine; /* Borrowed, like the next two; must outlive the job. */
    const struct clock *clock;
    struct catalogue *catalogue;
    /* Stores the progress, and makes a complete index ACTIVE, unless the index is not
     * INDEX_BACKFILLING any more. Called on the job's thread; may wait. */
    enum engine_status (*save)(void *context, const struct backfill_progress *progress);
    void *context;
};

/* Aborts if no thread can be had. */
struct backfill *backfill_start(const struct backfill_options *options);
/* Ends the thread after its batch under way. `save` must still work; waking is still allowed. */
void backfill_stop(struct backfill *backfill);
void backfill_destroy(struct backfill *backfill); /* It was stopped. */
/* An index has become INDEX_BACKFILLING. Any thread. */
void backfill_wake(struct backfill *backfill);

#endif
