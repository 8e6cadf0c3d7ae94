/* legacy_update.c -- see legacy_update.h. */
#include "expr/legacy_update.h"
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "expr/path_tree.h"
#include "model/error.h"

#define INVALID "One or more parameter values were invalid: "

static struct path attribute_path(struct arena *arena, struct bytes name)
{
    struct path_step *step = arena_alloc(arena, sizeof *step);
    *step = (struct path_step){ .name = name };
    return (struct path){ .steps = step, .step_count = 1 };
}

static struct operand *value_operand(struct arena *arena, const struct value *value)
{
    struct operand *operand = arena_alloc_zeroed(arena, sizeof *operand);
    operand->type = OPERAND_VALUE;
    operand->value = *value;
    return operand;
}

static const struct operand *empty_list(struct arena *arena)
{
    struct buffer empty;
    buffer_init(&empty, arena);
    value_append_container(&empty, VALUE_L, 0, BYTES(""));
    struct value none = value_view(buffer_bytes(&empty));
    return value_operand(arena, &none);
}

/* ADD of a list, which only AttributeUpdates has: its elements go behind those of the attribute,
 * list_append(if_not_exists(attribute, []), value). All of a request share one `none`. */
static const struct operand *append_operand(struct arena *arena, struct path path,
                                            const struct value *value, const struct operand **none)
{
    if (*none == NULL)
        *none = empty_list(arena);
    struct operand *old = arena_alloc_zeroed(arena, sizeof *old);
    old->type = OPERAND_IF_NOT_EXISTS;
    old->path = path;
    old->right = *none;
    struct operand *append = arena_alloc_zeroed(arena, sizeof *append);
    append->type = OPERAND_LIST_APPEND;
    append->left = old;
    append->right = value_operand(arena, value);
    return append;
}

static bool translate(struct arena *arena, const struct legacy_update *from,
                      const struct operand **none, struct update_action *out, struct error *err)
{
    struct bytes action = from->action.data == NULL ? BYTES("PUT") : from->action;
    bool delete = bytes_equal_text(action, "DELETE");
    *out = (struct update_action){ .path = attribute_path(arena, from->name) };
    if (from->value == NULL) {
        out->type = UPDATE_REMOVE;
        return delete ||
               error_validation(err, INVALID "Only DELETE action is allowed when no attribute "
                                             "value is specified");
    }
    enum value_type type = from->value->type;
    if (delete &&!value_type_is_set(type))
        return error_validation(err,
                                INVALID "DELETE action with value is not supported for the type %s",
                                value_type_name(type));
    bool add = bytes_equal_text(action, "ADD");
    if (add && type != VALUE_N && type != VALUE_L && !value_type_is_set(type))
        return error_validation(err, INVALID "ADD action is not supported for the type %s",
                                value_type_name(type));
    if (add && type == VALUE_L) {
        out->type = UPDATE_SET;
        out->operand = append_operand(arena, out->path, from->value, none);
        return true;
    }
    out->type = delete ? UPDATE_DELETE : add ? UPDATE_ADD : UPDATE_SET;
    out->operand = value_operand(arena, from->value);
    return true;
}

const struct update *legacy_update_translate(struct arena *arena,
                                             const struct legacy_update *updates, size_t count,
                                             struct error *err)
{
    struct update_action *actions = arena_alloc(arena, count * sizeof *actions);
    const struct operand *none = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!translate(arena, &updates[i], &none, &actions[i], err))
            return NULL;
    }
    struct update *out = arena_alloc(arena, sizeof *out);
    *out = (struct update){ .actions = actions, .action_count = count, .is_legacy = true };
    return out;
}

/* --- AttributesToGet --- */

enum { NAMES_LOOKED_AT_FIRST = 1024 };

/* By name, and equal ones as they stand. */
static int compare_names(const void *left, const void *right, void *context)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct bytes *const *names = context;
    int order = bytes_compare((*names)[a], (*names)[b]);
    if (order != 0)
        return order;
    return a < b ? -1 : a > b;
}

/* Sorts the numbers of `count` names. Returns that of the first which stands in the list before;
 * `count` if there is none. */
static size_t sort_names(uint32_t *order, const struct bytes *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, count, sizeof *order, compare_names, &names);
    size_t first = count;
    for (size_t i = 1; i < count; i++) {
        if (order[i] < first && bytes_equal(names[order[i - 1]], names[order[i]]))
            first = order[i];
    }
    return first;
}

/* A request has room for millions of names. Of so many most may be the same, so a few are sorted
 * first. */
const struct path_node *legacy_update_projection(struct arena *arena, const struct bytes *names,
                                                 size_t count, struct error *err)
{
    assert(count <= UINT32_MAX); /* Requests are smaller by far. */
    uint32_t *order = arena_alloc(arena, count * sizeof *order);
    size_t sorted = 0, repeated;
    do {
        sorted = sorted == 0 ? NAMES_LOOKED_AT_FIRST : sorted * 4;
        if (sorted > count)
            sorted = count;
        repeated = sort_names(order, names, sorted);
    } while (repeated == sorted && sorted < count);
    if (repeated < sorted) {
        error_validation(err, INVALID "Duplicate value in attribute name: %.*s",
                         BYTES_FMT(names[repeated]));
        return NULL;
    }
    struct path_node *root = arena_alloc(arena, sizeof *root);
    *root = (struct path_node){ .names = names, .name_order = order, .child_count = count };
    return root;
}
