/* index_steps.h -- the life of an index that UpdateTable creates or deletes, step by step.
 *
 * Each step is a new version of the table, and is taken when nobody uses an older one any more: so
 * writes that hold different versions are never more than one step apart, and what they do to the
 * index fits together (enum index_status). All of it runs on the control thread.
 */
#ifndef STATOR_API_INDEX_STEPS_H
#define STATOR_API_INDEX_STEPS_H
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"

struct api;
struct arena;
struct backfill;
struct backfill_progress;

/* Takes every step that can be taken. Milliseconds until it is worth looking again, or
 * TIMED_WAIT_FOREVER. */
int64_t index_steps_run(struct api *api, struct backfill *backfill, struct arena *arena);

/* Stores how far a backfill has come; an index that is complete becomes ACTIVE. ENGINE_OK also if
 * it is no longer being backfilled. */
MUST_CHECK enum engine_status index_steps_save(struct api *api, struct arena *arena,
                                               const struct backfill_progress *progress);

#endif
