/* commit_engine.h -- engine.h over a store that is atomic within a partition only.
 *
 * All of the contract with these differences, which the layers above do not know yet:
 *   - Calls block until the store has answered, so they are nothing for an event loop.
 *   - A view does not keep a state. What it shows is not older than its opening, and all that it
 * has shown held at one moment; once that is not possible any more, because others wrote to what it
 *     has read, it answers ENGINE_CONFLICT, and the caller opens another one. A view that was
 * opened with ENGINE_NEWEST or ENGINE_EVENTUAL shows committed values without that check.
 * engine_view_next_place takes no part in it.
 *   - A commit may answer ENGINE_CONFLICT: another server changed what the write has read.
 *   - There are no statistics, no checkpoints, no caches and no range deletes (engine_plan.c
 * deletes key by key).
 */
#ifndef STATOR_ENGINE_COMMIT_COMMIT_ENGINE_H
#define STATOR_ENGINE_COMMIT_COMMIT_ENGINE_H
#include "engine/commit/commit_core.h"

enum {
    COMMIT_PAGE_ENTRIES = 1024,        /* Of a scan, in one read. */
    COMMIT_PAGE_SIZE = 1024 * 1024,    /* The same in bytes. */
    COMMIT_VIEW_PARTITIONS_MAX = 1024, /* That one strong view reads; then ENGINE_TOO_LARGE. */
};

/* Owns the store, and closes it with the engine or if it fails: NULL with one line in `message`.
 * `server` as in commit_core_init. */
MUST_CHECK struct engine *commit_engine_create(struct partition_store *store,
                                               const struct commit_time *time, uint64_t server,
                                               char message[ENGINE_MESSAGE_MAX]);
/* Sweeps all partitions (commit_core_sweep): a job of every server, now and then. */
MUST_CHECK enum engine_status commit_engine_sweep(struct engine *engine);

#endif
