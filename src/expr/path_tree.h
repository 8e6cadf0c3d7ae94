/* path_tree.h -- several document paths as one tree, so that an item is walked once for all.
 *
 * No path is the beginning of another (the parsers refuse overlaps), so a node is either the end
 * of one path or has children; all children of a node are names or all are indexes.
 */
#ifndef STATOR_EXPR_PATH_TREE_H
#define STATOR_EXPR_PATH_TREE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "expr/ast.h"

struct arena;

struct path_node {
    struct path_step step;
    bool is_end;
    size_t path_index;                /* is_end: which of the paths ends here. */
    const struct path_node *children; /* Sorted by name or by index. */
    size_t child_count;
    /* In place of children that are all names and ends: names[name_order[0]] is the first of them.
     * A request has room for millions, for which nodes would take too much. NULL: see children. */
    const struct bytes *names;
    const uint32_t *name_order;
};

/* The root stands for the item; its step has no meaning. */
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
