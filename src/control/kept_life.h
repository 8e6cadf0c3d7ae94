/* kept_life.h -- the end of deleted tables that a SYSTEM backup keeps (jobs/kept_table.h).
 *
 * Its record goes KEPT_TABLE_DAYS of server time after the table, and in the same batch its data
 * becomes that of a dropped table, which table_life.h removes. One that a restore reads waits for
 * the restore.
 */
#ifndef STATOR_CONTROL_KEPT_LIFE_H
#define STATOR_CONTROL_KEPT_LIFE_H
#include <stdint.h>

struct arena;
struct catalogue;
struct clock;
struct engine;
struct history_holds;

enum {
    /* How often old ones are looked for. */
    KEPT_LIFE_INTERVAL_MS = 60 * 60 * 1000,
    /* How many go in one run. */
    KEPT_LIFE_REMOVALS_MAX = 100,
};

struct kept_life {
    struct engine *engine;
    const struct clock *clock;
    struct catalogue *catalogue;
    struct history_holds *holds; /* What jobs read; NULL: there are none. */
    int64_t due_ms;              /* Server time. */
};
/* Control. Removes what is old. Milliseconds until it is worth looking again. */
int64_t kept_life_run(struct kept_life *life, struct arena *arena);

#endif
