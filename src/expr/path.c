/* path.c -- see path.h. */
#include "expr/path.h"
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/buffer.h"

static bool is_index(const struct path_step *step)
{
    return step->name.data == NULL;
}

bool path_steps_equal(const struct path_step *a, const struct path_step *b)
{
    if (is_index(a) || is_index(b))
        return is_index(a) && is_index(b) && a->index == b->index;
    return bytes_equal(a->name, b->name);
}

enum path_relation path_relate(const struct path *a, const struct path *b)
{
    size_t shared = a->step_count < b->step_count ? a->step_count : b->step_count;
    for (size_t i = 0; i < shared; i++) {
        if (!path_steps_equal(&a->steps[i], &b->steps[i]))
            return is_index(&a->steps[i]) == is_index(&b->steps[i]) ? PATHS_DISJOINT
                                                                    : PATHS_CONFLICT;
    }
    return PATHS_OVERLAP;
}

static int compare_steps(const struct path_step *a, const struct path_step *b)
{
    if (is_index(a) != is_index(b))
        return is_index(a) ? -1 : 1;
    if (is_index(a))
        return a->index < b->index ? -1 : a->index > b->index;
    return bytes_compare(a->name, b->name);
}

int path_compare(const struct path *a, const struct path *b)
{
    for (size_t i = 0; i < a->step_count && i < b->step_count; i++) {
        int order = compare_steps(&a->steps[i], &b->steps[i]);
        if (order != 0)
            return order;
    }
    return a->step_count < b->step_count ? -1 : a->step_count > b->step_count;
}

bool path_equal(const struct path *a, const struct path *b)
{
    return a->step_count == b->step_count && path_relate(a, b) == PATHS_OVERLAP;
}

struct bytes path_format(struct arena *arena, const struct path *path)
{
    struct buffer out;
    buffer_init(&out, arena);
    buffer_append_byte(&out, '[');
    for (size_t i = 0; i < path->step_count; i++) {
        if (i > 0)
            buffer_append(&out, ", ", 2);
        if (is_index(&path->steps[i]))
            buffer_append_bytes(&out, arena_printf(arena, "[%u]", path->steps[i].index));
        else
            buffer_append_bytes(&out, path->steps[i].name);
    }
    buffer_append_byte(&out, ']');
    return buffer_bytes(&out);
}

/* --- Trees: sorting makes paths with a common beginning neighbours --- */

struct entry {
    const struct path *path;
    size_t index;
};

static int compare_entries(const void *left, const void *right)
{
    return path_compare(((const struct entry *)left)->path, ((const struct entry *)right)->path);
}

/* How many of the entries share the first one's step at `depth`. */
static size_t group_size(const struct entry *entries, size_t count, size_t depth)
{
    assert(count > 0 && depth < entries[0].path->step_count);
    size_t size = 1;
    while (size < count &&
           path_steps_equal(&entries[0].path->steps[depth], &entries[size].path->steps[depth]))
        size++;
    return size;
}

/* Fills in the children of `node`, through which the entries pass. Recursion is as deep as a path
 * is long. */
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
