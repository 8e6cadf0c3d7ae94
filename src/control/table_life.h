/* table_life.h -- the life cycle of a table, and how the lives of its parts proceed.
 *
 *   (none) --CreateTable--> CREATING --due--> ACTIVE
 *   (none) --restore, import--> CREATING --the job ends--> ACTIVE, or dropped if it failed
 *   ACTIVE --UpdateTable--> UPDATING --due--> ACTIVE
 *   ACTIVE --DeleteTable--> DELETING --due--> dropped --unreferenced--> removed
 *
 * A replica of a global table is CREATING until it is filled, and may be deleted before.
 *
 * A request moves a table into a transient status; table_life_run ends that status when it is due.
 * Where transitions take no time, no transient status is ever stored. A dropped table is no longer
 * found by its name; its data is removed once no request refers to any version of it.
 *
 * Everything that changes the catalogue runs on the control thread (control.h).
 */
#ifndef STATOR_CONTROL_TABLE_LIFE_H
#define STATOR_CONTROL_TABLE_LIFE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"
#include "model/table_definition.h"

struct arena;
struct catalogue;

/* The allowed transitions. */
bool table_life_may_move(enum table_status from, enum table_status to);

/* Whether the table may become DELETING now: also a replica that is still being filled. */
bool table_life_may_delete(const struct table_definition *definition);

/* When a transient status begins, and how long it lasts; 0: it ends at once. */
struct table_life_pace {
    int64_t now_ms; /* Wall clock. */
    int64_t transition_ms;
};
/* Moves a definition to a transient status, or to ACTIVE if transitions take no time. A definition
 * that is to become CREATING is a draft, which has no status yet. */
void table_life_begin(struct table_definition *definition, enum table_status transient,
                      const struct table_life_pace *pace);
/* Ends the CREATING of a table that a job has filled: it becomes ACTIVE, and nothing tells it from
 * others. The caller stores it. */
void table_life_end_origin(struct table_definition *definition);
/* Control. Stores DELETING, or drops the table if transitions take no time. */
MUST_CHECK enum engine_status table_life_delete(struct catalogue *catalogue, struct arena *arena,
                                                const struct table_definition *definition,
                                                const struct table_life_pace *pace);

/* Control. Ends every transient status that is due, then removes the data of dropped tables that
 * nobody refers to. Returns the milliseconds until there is more to do, or TIMED_WAIT_FOREVER.
 * Failures are logged and tried again. */
int64_t table_life_run(struct catalogue *catalogue, struct arena *arena,
                       const struct table_life_pace *pace);

/* A part of a table (an index, its expiry queue) whose life proceeds by new versions of the table.
 * A step is taken only while no older version is referenced: so requests that hold different
 * versions are never more than one step apart, and what they write fits together. */
struct table_life_part {
    const char *name; /* For the log. */
    bool (*has_step)(const struct table_definition *definition, void *context);
    /* Takes one step of a definition that has one. */
    enum engine_status (*take_step)(void *context, struct arena *arena,
                                    const struct table_definition *definition);
    void *context;
};
/* Control. Takes a step for each table that has one and may take it. Returns as table_life_run. */
int64_t table_life_run_part(struct catalogue *catalogue, struct arena *arena,
                            const struct table_life_part *part);

#endif
