/* model_diff.h -- what leads from one model, or from live tables, to another model. */
#ifndef STATOR_SCHEMA_MODEL_DIFF_H
#define STATOR_SCHEMA_MODEL_DIFF_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"

struct arena;
struct model_file;
struct model_table;

enum { MODEL_STEPS_MAX = 10000 };

struct model_step {
    struct bytes text;               /* A sentence without a full stop. */
    const char *operation;           /* "UpdateTable"; NULL: it cannot be done in place. */
    struct bytes body;               /* Of the request. */
    const struct model_table *table; /* That the request is about. */
};

/* The steps in the order in which they are to be done; in the arena. `with_entities`: also what has
 * become of entities, which live tables do not tell. Tables that only `from` has are left alone. */
struct model_step *model_diff(struct arena *arena, const struct model_file *from,
                              const struct model_file *to, bool with_entities, size_t *count);

#endif
