/* engine_load.h -- reads the records that a module keeps in memory, once, when it is opened. */
#ifndef STATOR_ENGINE_ENGINE_LOAD_H
#define STATOR_ENGINE_ENGINE_LOAD_H
#include <stdbool.h>
#include "base/compiler.h"
#include "engine/engine.h"

struct arena;

/* Takes one record; the arena is reset after each. False: the record is damaged. */
typedef bool engine_load_entry(void *context, struct arena *arena,
                               const struct engine_entry *entry);

struct engine_load {
    struct engine_range range;
    engine_load_entry *take;
    void *context;
    const char *module; /* Who logs, */
    const char *damage; /* and what, if a record is damaged. */
};

/* Hands over all entries of the range. ENGINE_CORRUPT if one of them is damaged. */
MUST_CHECK enum engine_status engine_load(struct engine *engine, const struct engine_load *load);

#endif
