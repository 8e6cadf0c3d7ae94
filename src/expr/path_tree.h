/* path_tree.h -- several document paths as one tree, so that an item is walked once for all.
 *
 * No path is the beginning of another (the parsers refuse overlaps), so a node is either the end
 * of one path or has children; all children of a node are names or all are indexes.
 */
#ifndef STATOR_EXPR_PATH_TREE_H
#define STATOR_EXPR_PATH_TREE_H
#include <stdbool.h>
#include <stddef.h>
#include "expr/ast.h"

struct arena;

struct path_node {
    struct path_step step;
    bool is_end;
    size_t path_index;                /* is_end: which of the paths ends here. */
    const struct path_node *children; /* Sorted by name or by index. */
    size_t child_count;
};

/* The root stands for the item; its step has no meaning. */
const struct path_node *path_tree_build(struct arena *arena, const struct path *paths,
                                        size_t path_count);

static inline bool path_node_has_index_children(const struct path_node *node)
{
    return node->child_count > 0 && node->children[0].step.name.data == NULL;
}

#endif
