/* history_days.h -- which days of a partition's history hold any entries. */
#ifndef STATOR_HISTORY_HISTORY_DAYS_H
#define STATOR_HISTORY_HISTORY_DAYS_H
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"

struct arena;

/* A history has 36 days and those that jobs hold. More than this many are damage: ENGINE_CORRUPT.
 */
enum { HISTORY_DAYS_MAX = 1000 };

struct history_days {
    uint32_t *list; /* Ascending. */
    size_t count;
};
/* Those from `first` to `last`, both included. Lives in the arena. One seek for each day. */
MUST_CHECK enum engine_status history_days_find(struct engine_view *view, struct arena *arena,
                                                const struct engine_place *place, uint32_t first,
                                                uint32_t last, struct history_days *out);

#endif
