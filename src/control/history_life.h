/* history_life.h -- the life cycle of a table's history, which recovery is based on.
 *
 *   NONE --needed------------------> OPENING
 *   OPENING --no older version-----> ACTIVE, complete from now on
 *   OPENING, ACTIVE --not needed---> CLOSING
 *   CLOSING --no older version-----> NONE, and the history is removed
 *
 * A history is needed while recovery is enabled (UpdateContinuousBackups), and while a job reads
 * the table as it was at a moment (history/history_holds.h): so a backup of a table without
 * recovery is of one instant as well, and disabling recovery does not break a job. enum
 * history_status says what each status asks of writes.
 *
 * Days that are older than the recovery period are trimmed, unless a job still reads them.
 */
#ifndef STATOR_CONTROL_HISTORY_LIFE_H
#define STATOR_CONTROL_HISTORY_LIFE_H
#include <stdbool.h>
#include <stdint.h>
#include "model/table_definition.h"

struct arena;
struct catalogue;
struct clock;
struct engine;
struct history_holds;

/* The allowed transitions. */
bool history_life_may_move(enum history_status from, enum history_status to);

enum {
    /* How often old days are looked for. */
    HISTORY_TRIM_INTERVAL_MS = 10 * 60 * 1000,
    /* How soon the end of a job is noticed that kept a history open. */
    HISTORY_HELD_RETRY_MS = 1000,
};

struct history_life {
    struct engine *engine;
    const struct clock *clock;
    struct catalogue *catalogue;
    struct history_holds *holds; /* What jobs read; NULL: there are none. */
    int64_t trim_due_ms;         /* Server time. */
};
/* Control. Takes every step that can be taken, and trims what is due. Returns as table_life_run. */
int64_t history_life_run(struct history_life *life, struct arena *arena);
/* Control. Days are looked for with the next run: a period became shorter. */
void history_life_trim_soon(struct history_life *life);

#endif
