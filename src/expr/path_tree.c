/* path_tree.c -- see path_tree.h. Sorting brings paths with a common beginning together. */
#include "expr/path_tree.h"
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "expr/document_path.h"

struct entry {
    const struct path *path;
    size_t index;
};

static int compare_entries(const void *left, const void *right)
{
    return document_path_compare(((const struct entry *)left)->path,
                                 ((const struct entry *)right)->path);
}

/* How many of the entries share the first one's step at `depth`. */
static size_t group_size(const struct entry *entries, size_t count, size_t depth)
{
    size_t size = 1;
    while (size < count && document_path_steps_equal(&entries[0].path->steps[depth],
                                                     &entries[size].path->steps[depth]))
        size++;
    return size;
}

/* Fills in the children of `node`, which the entries lead through. The depth is that of a path. */
static void add_children(struct arena *arena, struct path_node *node, const struct entry *entries,
                         size_t count, size_t depth)
{
    struct path_node *children = arena_alloc(arena, count * sizeof *children);
    size_t child_count = 0;
    for (size_t at = 0; at < count;) {
        size_t size = group_size(entries + at, count - at, depth);
        const struct path *path = entries[at].path;
        struct path_node *child = &children[child_count++];
        *child = (struct path_node){ .step = path->steps[depth],
                                     .is_end = path->step_count == depth + 1,
                                     .path_index = entries[at].index };
        assert(!child->is_end || size == 1); /* Overlaps were refused. */
        if (!child->is_end)
            add_children(arena, child, entries + at, size, depth + 1);
        at += size;
    }
    node->children = children;
    node->child_count = child_count;
}

const struct path_node *path_tree_build(struct arena *arena, const struct path *paths,
                                        size_t path_count)
{
    struct path_node *root = arena_alloc_zeroed(arena, sizeof *root);
    struct entry *entries = arena_alloc(arena, path_count * sizeof *entries);
    for (size_t i = 0; i < path_count; i++)
        entries[i] = (struct entry){ .path = &paths[i], .index = i };
    if (path_count > 1)
        qsort(entries, path_count, sizeof *entries, compare_entries);
    if (path_count > 0)
        add_children(arena, root, entries, path_count, 0);
    return root;
}
