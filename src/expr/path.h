/* path.h -- document paths: compared with each other, shown in messages, and several of them as one
 * tree, so that an item is walked once for all.
 */
#ifndef STATOR_EXPR_PATH_H
#define STATOR_EXPR_PATH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "expr/ast.h"

struct arena;

enum path_relation {
    PATHS_DISJOINT,
    PATHS_OVERLAP,  /* The same, or one leads into the other. */
    PATHS_CONFLICT, /* One takes for a map what the other takes for a list. */
};

enum path_relation path_relate(const struct path *a, const struct path *b);
/* Negative, zero or positive: step by step, indexes before names, a prefix before what it is a
 * prefix of. So if any two of several sorted paths are not disjoint, two neighbours are not. */
int path_compare(const struct path *a, const struct path *b);
bool path_steps_equal(const struct path_step *a, const struct path_step *b);
bool path_equal(const struct path *a, const struct path *b);

/* As the service shows a path: [a, [0], b]. */
struct bytes path_format(struct arena *arena, const struct path *path);

/* --- Trees ---
 *
 * No path is the beginning of another (the parsers refuse overlaps), so a node is either the end of
 * one path or has children; all children of a node are names or all are indexes.
 */

struct path_node {
    struct path_step step;
    bool is_end;
    size_t path_index;                /* is_end: which of the paths ends here. */
    const struct path_node *children; /* Sorted by name or by index. */
    size_t child_count;
    /* In place of children that are all names and ends: names[name_order[0]] is the first of them.
     * A request has room for millions, for which nodes would take too much memory. NULL: the
     * children are in `children`. */
    const struct bytes *names;
    const uint32_t *name_order;
};

/* The root represents the item; its step has no meaning. */
const struct path_node *path_tree_build(struct arena *arena, const struct path *paths,
                                        size_t path_count);

static inline bool path_node_has_index_children(const struct path_node *node)
{
    return node->child_count > 0 && node->names == NULL && node->children[0].step.name.data == NULL;
}

/* Of children that are names. */
static inline struct bytes path_node_child_name(const struct path_node *node, size_t index)
{
    return node->names != NULL ? node->names[node->name_order[index]]
                               : node->children[index].step.name;
}

#endif
