/* expiry_life.h -- the life cycle of a table's expiry queue, which time to live is based on.
 *
 *   NONE --UpdateTimeToLive, enable-----> ALLOCATING
 *   ALLOCATING --no older version-------> FILLING
 *   FILLING --backfill complete---------> ACTIVE
 *   ACTIVE --UpdateTimeToLive, disable--> REMOVING
 *   REMOVING --no older version---------> NONE, and the queue is removed
 *
 * It is built like the life of an index (index_life.h), for the same reasons. enum expiry_status
 * says what each status asks of writes. jobs/backfill.h fills the queue; jobs/expiry.h deletes
 * expired items while it is ACTIVE.
 */
#ifndef STATOR_CONTROL_EXPIRY_LIFE_H
#define STATOR_CONTROL_EXPIRY_LIFE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"
#include "model/table_definition.h"

struct arena;
struct backfill;
struct backfill_progress;
struct catalogue;
struct expiry;

/* The allowed transitions. */
bool expiry_life_may_move(enum expiry_status from, enum expiry_status to);
/* Moves a definition to its next status, which starts without a position. NONE clears the
 * attribute as well. */
void expiry_life_move(struct table_definition *definition, enum expiry_status to);

struct expiry_life {
    struct catalogue *catalogue;
    struct backfill *backfill;
    struct expiry *expiry;
};
/* Control. Takes every step that can be taken. Returns as table_life_run. */
int64_t expiry_life_run(struct expiry_life *life, struct arena *arena);
/* Control. Stores how far the filling of a queue has come; a complete one becomes ACTIVE. ENGINE_OK
 * also if it is no longer being filled. */
MUST_CHECK enum engine_status expiry_life_save(struct expiry_life *life, struct arena *arena,
                                               const struct backfill_progress *progress);

#endif
