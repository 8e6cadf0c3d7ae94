/* index_life.h -- the life cycle of an index.
 *
 *   (none) --CreateTable--------------> ACTIVE
 *   (none) --UpdateTable, Create------> ALLOCATING
 *   ALLOCATING --no older version-----> BACKFILLING
 *   BACKFILLING --backfill complete---> ACTIVE
 *   BACKFILLING, ACTIVE --Delete------> DELETING
 *   DELETING --no older version-------> removed, with its entries and statistics
 *
 * enum index_status says what each status asks of writes. The arrows with "no older version" are
 * steps of a table's part (table_life.h): they wait until every request works with the status that
 * they start from. jobs/backfill.h fills the index between BACKFILLING and ACTIVE. The rules about
 * which request is allowed when are in api/table/index_rules.h.
 */
#ifndef STATOR_CONTROL_INDEX_LIFE_H
#define STATOR_CONTROL_INDEX_LIFE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"
#include "model/table_definition.h"

struct arena;
struct backfill;
struct backfill_progress;
struct catalogue;

/* The allowed transitions. */
bool index_life_may_move(enum index_status from, enum index_status to);
/* Moves an index to its next status, which starts without a position. */
void index_life_move(struct index_definition *index, enum index_status to);

struct index_life {
    struct engine *engine;
    struct catalogue *catalogue;
    struct backfill *backfill;
};
/* Control. Takes every step that can be taken. Returns as table_life_run. */
int64_t index_life_run(struct index_life *life, struct arena *arena);
/* Control. Stores how far a backfill has come; an index that is complete becomes ACTIVE. ENGINE_OK
 * also if it is no longer being backfilled. */
MUST_CHECK enum engine_status index_life_save(struct catalogue *catalogue, struct arena *arena,
                                              const struct backfill_progress *progress);

#endif
