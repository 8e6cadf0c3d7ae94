/* document_path.h -- document paths compared with each other and shown in messages. */
#ifndef STATOR_EXPR_DOCUMENT_PATH_H
#define STATOR_EXPR_DOCUMENT_PATH_H
#include <stdbool.h>
#include "base/bytes.h"
#include "expr/ast.h"

struct arena;

enum path_relation {
    PATHS_DISJOINT,
    PATHS_OVERLAP,  /* The same, or one leads into the other. */
    PATHS_CONFLICT, /* One takes for a map what the other takes for a list. */
};

enum path_relation document_path_relation(const struct path *a, const struct path *b);
/* Negative, zero or positive: step by step, indexes before names, a beginning first. So paths that
 * are not disjoint come together: where any of those sorted are not, some two neighbours are not.
 */
int document_path_compare(const struct path *a, const struct path *b);
bool document_path_steps_equal(const struct path_step *a, const struct path_step *b);
bool document_path_equal(const struct path *a, const struct path *b);

/* As the service shows a path: [a, [0], b]. */
struct bytes document_path_format(struct arena *arena, const struct path *path);

#endif
