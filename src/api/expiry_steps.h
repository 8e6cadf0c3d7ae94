/* expiry_steps.h -- the life of a table's expiry queue, step by step, from UpdateTimeToLive to
 * UpdateTimeToLive.
 *
 * As with indexes (index_steps.h), each step is a new version of the table, and is taken when
 * nobody uses an older one any more. All of it runs on the control thread.
 */
#ifndef STATOR_API_EXPIRY_STEPS_H
#define STATOR_API_EXPIRY_STEPS_H
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"
#include "model/table_definition.h"

struct api;
struct arena;
struct backfill;
struct backfill_progress;
struct expiry;

/* Moves a definition on to the next status. */
void expiry_steps_set_status(struct table_definition *definition, enum expiry_status status);

/* Takes every step that can be taken. Milliseconds until it is worth looking again, or
 * TIMED_WAIT_FOREVER. */
int64_t expiry_steps_run(struct api *api, struct backfill *backfill, struct arena *arena);

/* Stores how far the filling of a queue has come; one that is complete becomes ACTIVE. ENGINE_OK
 * also if it is no longer being filled. */
MUST_CHECK enum engine_status expiry_steps_save(struct api *api, struct expiry *expiry,
                                                struct arena *arena,
                                                const struct backfill_progress *progress);

#endif
