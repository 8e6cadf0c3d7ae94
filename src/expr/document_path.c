/* document_path.c -- see document_path.h. */
#include "expr/document_path.h"
#include "base/arena.h"
#include "base/buffer.h"

static bool is_index(const struct path_step *step)
{
    return step->name.data == NULL;
}

bool document_path_steps_equal(const struct path_step *a, const struct path_step *b)
{
    if (is_index(a) || is_index(b))
        return is_index(a) && is_index(b) && a->index == b->index;
    return bytes_equal(a->name, b->name);
}

enum path_relation document_path_relation(const struct path *a, const struct path *b)
{
    size_t shared = a->step_count < b->step_count ? a->step_count : b->step_count;
    for (size_t i = 0; i < shared; i++) {
        if (!document_path_steps_equal(&a->steps[i], &b->steps[i]))
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

int document_path_compare(const struct path *a, const struct path *b)
{
    for (size_t i = 0; i < a->step_count && i < b->step_count; i++) {
        int order = compare_steps(&a->steps[i], &b->steps[i]);
        if (order != 0)
            return order;
    }
    return a->step_count < b->step_count ? -1 : a->step_count > b->step_count;
}

bool document_path_equal(const struct path *a, const struct path *b)
{
    return a->step_count == b->step_count && document_path_relation(a, b) == PATHS_OVERLAP;
}

struct bytes document_path_format(struct arena *arena, const struct path *path)
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
