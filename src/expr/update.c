/* update.c -- see update.h.
 *
 * First every action is evaluated against the old item, which gives the new value at its path. Then
 * the item is rebuilt along the tree of the paths; everything that no path leads into is copied
 * unchanged.
 *
 * A short expression may name one large value hundreds of times. So the sizes of new values are
 * added up, and no more values are built once no item could hold them. The remaining actions are
 * still checked, because their errors take precedence.
 */
#include "expr/update.h"
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "expr/ast.h"
#include "expr/lookup.h"
#include "expr/path.h"
#include "model/error.h"
#include "model/limits.h"
#include "model/number.h"
#include "model/value.h"

/* No item of ITEM_SIZE_MAX holds names and values of more encoded bytes: a value takes at most four
 * for each byte of its size and for the one byte that its name, or its position in a list, adds. */
enum { STORED_SIZE_MAX = 4 * ITEM_SIZE_MAX };

/* The new value at a path. */
enum edit_type { EDIT_STORE, EDIT_REMOVE, EDIT_KEEP };
struct edit {
    enum edit_type type;
    struct bytes encoded; /* EDIT_STORE */
};

struct updater {
    struct arena *arena;
    const struct item *item;
    struct lookup lookup;     /* In the item. */
    const struct edit *edits; /* By the action's index. */
    /* The size of the values that the edits so far store, with their names. */
    size_t stored_size;
    bool is_legacy;
    struct error *err;
};

static bool fail_type(struct updater *updater)
{
    if (updater->is_legacy)
        return error_validation(updater->err, "Type mismatch for attribute to update");
    return error_validation(updater->err,
                            "An operand in the update expression has an incorrect data type");
}

static bool fail_path(struct updater *updater)
{
    return error_validation(updater->err, "The document path provided in the update expression is "
                                          "invalid for update");
}

bool update_refuse_size(struct error *err)
{
    return error_validation(err, "Item size to update has exceeded the maximum allowed size");
}

/* True if no item can hold the values made so far and so many bytes more. */
static bool is_too_large(const struct updater *updater, size_t more)
{
    return updater->stored_size + more > STORED_SIZE_MAX;
}

/* --- Operands of SET --- */

static bool evaluate(struct updater *updater, const struct operand *operand, struct value *out);

static struct value number_value(struct arena *arena, const struct number *number)
{
    uint8_t encoded[NUMBER_ENCODED_MAX];
    size_t size = number_encode(number, encoded);
    struct buffer buffer;
    buffer_init(&buffer, arena);
    value_append_number(&buffer, bytes_of(encoded, size));
    return value_view(buffer_bytes(&buffer));
}

static bool decoded_number(const struct value *value, struct number *out)
{
    size_t size;
    return value->type == VALUE_N && number_decode(value->data, out, &size);
}

static bool calculate(struct updater *updater, const struct value *left, const struct value *right,
                      bool subtract, struct value *out)
{
    struct number a, b, result;
    if (!decoded_number(left, &a) || !decoded_number(right, &b))
        return fail_type(updater);
    if (!(subtract ? number_subtract : number_add)(&a, &b, &result, updater->err))
        return false;
    *out = number_value(updater->arena, &result);
    return true;
}

/* Appends the elements of a list, whose lists may be appended ones themselves: all of them go into
 * one buffer, because nested calls would copy the innermost again and again. */
static bool append_lists(struct updater *updater, const struct operand *operand,
                         struct buffer *elements, uint32_t *count);

static bool append_operand(struct updater *updater, const struct operand *operand,
                           struct buffer *elements, uint32_t *count, bool *is_list)
{
    struct value value;
    bool found = false;
    *is_list = true;
    while (operand->type == OPERAND_IF_NOT_EXISTS && !found) {
        found = lookup_path(&updater->lookup, &operand->path, &value);
        if (!found)
            operand = operand->right;
    }
    if (!found && operand->type == OPERAND_LIST_APPEND)
        return append_lists(updater, operand, elements, count);
    if (!found && !evaluate(updater, operand, &value))
        return false;
    *is_list = value.type == VALUE_L;
    if (!*is_list || is_too_large(updater, elements->len))
        return true;
    buffer_append_bytes(elements, value.data);
    *count += value.count;
    return true;
}

static bool append_lists(struct updater *updater, const struct operand *operand,
                         struct buffer *elements, uint32_t *count)
{
    bool left_is_list, right_is_list;
    return append_operand(updater, operand->left, elements, count, &left_is_list) &&
           append_operand(updater, operand->right, elements, count, &right_is_list) &&
           ((left_is_list && right_is_list) || fail_type(updater));
}

static bool evaluate_lists(struct updater *updater, const struct operand *operand,
                           struct value *out)
{
    struct buffer list;
    uint32_t count = 0;
    buffer_init(&list, updater->arena);
    if (!append_lists(updater, operand, &list, &count))
        return false;
    value_wrap_container(&list, 0, VALUE_L, count);
    buffer_trim(&list); /* There may be hundreds of thousands of lists. */
    *out = value_view(buffer_bytes(&list));
    return true;
}

static bool evaluate_both(struct updater *updater, const struct operand *operand,
                          struct value *left, struct value *right)
{
    return evaluate(updater, operand->left, left) && evaluate(updater, operand->right, right);
}

/* Recursion follows the parsed expression, whose depth the parser bounds. */
static bool evaluate(struct updater *updater, const struct operand *operand, struct value *out)
{
    struct value left, right;
    switch (operand->type) {
    case OPERAND_VALUE:
        *out = operand->value;
        return true;
    case OPERAND_PATH:
        return lookup_path(&updater->lookup, &operand->path, out) ||
               error_validation(updater->err, "The provided expression refers to an attribute that "
                                              "does not exist in the item");
    case OPERAND_IF_NOT_EXISTS:
        return lookup_path(&updater->lookup, &operand->path, out) ||
               evaluate(updater, operand->right, out);
    case OPERAND_PLUS:
    case OPERAND_MINUS:
        return evaluate_both(updater, operand, &left, &right) &&
               calculate(updater, &left, &right, operand->type == OPERAND_MINUS, out);
    case OPERAND_LIST_APPEND:
        return evaluate_lists(updater, operand, out);
    case OPERAND_SIZE:
        break;
    }
    assert(false); /* size() belongs to conditions. */
    return false;
}

/* --- ADD and DELETE on sets --- */

static void append_member(struct buffer *out, enum value_type set, const struct value *member)
{
    if (set == VALUE_NS)
        buffer_append_bytes(out, member->data);
    else
        value_append_length_prefixed(out, member->data);
}

/* `members` become the set. */
static struct edit set_edit(enum value_type type, uint32_t count, struct buffer *members)
{
    if (count == 0)
        return (struct edit){ .type = EDIT_REMOVE }; /* There are no empty sets. */
    value_wrap_container(members, 0, type, count);
    buffer_trim(members);
    return (struct edit){ .type = EDIT_STORE, .encoded = buffer_bytes(members) };
}

/* Union, or difference if `subtract`, in one pass: both sets are sorted. */
static struct edit merge_sets(struct arena *arena, const struct value *first,
                              const struct value *second, bool subtract)
{
    struct value_iter first_iter, second_iter;
    struct value a, b;
    struct buffer members;
    uint32_t count = 0;
    buffer_init(&members, arena);
    value_iter_init(&first_iter, first);
    value_iter_init(&second_iter, second);
    bool has_a = value_iter_next(&first_iter, NULL, &a);
    bool has_b = value_iter_next(&second_iter, NULL, &b);
    while (has_a || has_b) {
        int order = !has_a ? 1 : !has_b ? -1 : bytes_compare(a.data, b.data);
        if (order < 0 || !subtract) {
            append_member(&members, first->type, order <= 0 ? &a : &b);
            count++;
        }
        if (order <= 0)
            has_a = value_iter_next(&first_iter, NULL, &a);
        if (order >= 0)
            has_b = value_iter_next(&second_iter, NULL, &b);
    }
    return set_edit(first->type, count, &members);
}

/* A set that is so many times larger than the other is searched instead of walked: a request may
 * subtract one large set from hundreds of small ones. */
enum { ASKED_IF_LARGER_BY = 16 };

static struct edit subtract_sets(struct updater *updater, const struct value *first,
                                 const struct value *second)
{
    struct value_iter iter;
    struct value member;
    struct buffer members;
    uint32_t count = 0;
    if (second->count / ASKED_IF_LARGER_BY < first->count)
        return merge_sets(updater->arena, first, second, true);
    buffer_init(&members, updater->arena);
    value_iter_init(&iter, first);
    while (value_iter_next(&iter, NULL, &member)) {
        if (lookup_set_has(&updater->lookup, second, &member))
            continue;
        append_member(&members, first->type, &member);
        count++;
    }
    return set_edit(first->type, count, &members);
}

/* --- Actions --- */

static void store(struct updater *updater, struct edit *edit, struct bytes encoded)
{
    *edit = (struct edit){ .type = EDIT_STORE, .encoded = encoded };
    updater->stored_size += encoded.len;
}

static bool work_out_add(struct updater *updater, const struct update_action *action,
                         struct edit *edit)
{
    const struct value *added = &action->operand->value;
    struct value current, sum;
    if (!lookup_path(&updater->lookup, &action->path, &current)) {
        store(updater, edit, added->encoded);
        return true;
    }
    if (value_type_is_set(current.type) && current.type == added->type) {
        *edit = (struct edit){ .type = EDIT_KEEP };
        if (!is_too_large(updater, 0))
            *edit = merge_sets(updater->arena, &current, added, false);
        updater->stored_size += edit->encoded.len;
        return true;
    }
    if (!calculate(updater, &current, added, false, &sum))
        return false;
    store(updater, edit, sum.encoded);
    return true;
}

static bool work_out_delete(struct updater *updater, const struct update_action *action,
                            struct edit *edit)
{
    const struct value *taken = &action->operand->value;
    struct value current;
    if (!lookup_path(&updater->lookup, &action->path, &current)) {
        *edit = (struct edit){ .type = EDIT_KEEP };
        return true;
    }
    if (!value_type_is_set(current.type) || current.type != taken->type)
        return fail_type(updater);
    *edit = subtract_sets(updater, &current, taken);
    return true;
}

/* The parent of the path must exist, and be a map or a list as the last step requires. */
static bool check_path(struct updater *updater, const struct path *path)
{
    struct value parent;
    struct path above = { .steps = path->steps, .step_count = path->step_count - 1 };
    if (above.step_count == 0)
        return true;
    enum value_type needed = path->steps[above.step_count].name.data == NULL ? VALUE_L : VALUE_M;
    return (lookup_path(&updater->lookup, &above, &parent) && parent.type == needed) ||
           fail_path(updater);
}

/* Observed: actions are checked one after the other, each path first. */
static bool work_out(struct updater *updater, const struct update_action *action, struct edit *edit)
{
    struct value value;
    if (!check_path(updater, &action->path))
        return false;
    if (action->type == UPDATE_SET)
        updater->stored_size += action->path.steps[action->path.step_count - 1].name.len;
    switch (action->type) {
    case UPDATE_SET:
        if (!evaluate(updater, action->operand, &value))
            return false;
        store(updater, edit, value.encoded);
        return true;
    case UPDATE_REMOVE:
        *edit = (struct edit){ .type = EDIT_REMOVE };
        return true;
    case UPDATE_ADD:
        return work_out_add(updater, action, edit);
    case UPDATE_DELETE:
        return work_out_delete(updater, action, edit);
    }
    assert(false);
    return false;
}

/* --- Building anew --- */

/* Decides what becomes of the value at a node, and with EDIT_STORE appends the new one to `out`.
 * EDIT_KEEP leaves `current`, which is NULL if there is none. */
static bool rebuild(struct updater *updater, const struct path_node *node,
                    const struct value *current, struct buffer *out, enum edit_type *type);

/* Members and children are both sorted by name: one merge. */
static bool rebuild_map(struct updater *updater, const struct path_node *node,
                        const struct value *map, struct buffer *out)
{
    struct value_iter iter;
    struct value member;
    struct bytes name;
    size_t start = out->len, next = 0;
    uint32_t count = 0;
    value_iter_init(&iter, map);
    bool has_member = value_iter_next(&iter, &name, &member);
    while (has_member || next < node->child_count) {
        const struct path_node *child = next < node->child_count ? &node->children[next] : NULL;
        int order = child == NULL ? -1 : !has_member ? 1 : bytes_compare(name, child->step.name);
        enum edit_type type = EDIT_KEEP;
        size_t at = out->len;
        value_append_length_prefixed(out, order <= 0 ? name : child->step.name);
        if (order >= 0 && !rebuild(updater, child, order == 0 ? &member : NULL, out, &type))
            return false;
        if (type == EDIT_KEEP && order <= 0)
            buffer_append_bytes(out, member.encoded);
        if (type == EDIT_STORE || (type == EDIT_KEEP && order <= 0))
            count++;
        else
            out->len = at;
        if (order <= 0)
            has_member = value_iter_next(&iter, &name, &member);
        if (order >= 0)
            next++;
    }
    value_wrap_container(out, start, VALUE_M, count);
    return true;
}

/* Indexes refer to the old list; elements past its end are appended in the order of their indexes.
 */
static bool rebuild_list(struct updater *updater, const struct path_node *node,
                         const struct value *list, struct buffer *out)
{
    struct value_iter iter;
    struct value element;
    uint32_t index = 0, count = 0;
    size_t start = out->len, next = 0;
    value_iter_init(&iter, list);
    bool has_element = value_iter_next(&iter, NULL, &element);
    while (has_element || next < node->child_count) {
        const struct path_node *child = next < node->child_count ? &node->children[next] : NULL;
        bool touched = child != NULL && (!has_element || child->step.index == index);
        enum edit_type type = EDIT_KEEP;
        if (touched && !rebuild(updater, child, has_element ? &element : NULL, out, &type))
            return false;
        if (type == EDIT_KEEP && has_element)
            buffer_append_bytes(out, element.encoded);
        if (type == EDIT_STORE || (type == EDIT_KEEP && has_element))
            count++;
        if (has_element) {
            has_element = value_iter_next(&iter, NULL, &element);
            index++;
        }
        if (touched)
            next++;
    }
    value_wrap_container(out, start, VALUE_L, count);
    return true;
}

/* Recursion follows the paths, whose length the parser bounds. */
static bool rebuild(struct updater *updater, const struct path_node *node,
                    const struct value *current, struct buffer *out, enum edit_type *type)
{
    bool list = path_node_has_index_children(node);
    *type = EDIT_STORE;
    if (!node->is_end) {
        if (current == NULL || current->type != (list ? VALUE_L : VALUE_M))
            return fail_path(updater);
        return (list ? rebuild_list : rebuild_map)(updater, node, current, out);
    }
    const struct edit *edit = &updater->edits[node->path_index];
    *type = edit->type;
    if (edit->type == EDIT_STORE)
        buffer_append_bytes(out, edit->encoded);
    return true;
}

static bool rebuild_item(struct updater *updater, const struct path_node *root, struct item *out)
{
    struct item_edit item;
    struct buffer encoded; /* Of one attribute at a time. */
    item_edit_init(&item, updater->arena, updater->item);
    buffer_init(&encoded, updater->arena);
    for (size_t i = 0; i < root->child_count; i++) {
        const struct path_node *child = &root->children[i];
        struct value current, stored;
        enum edit_type type;
        bool has_current = item_edit_take(&item, child->step.name, &current);
        encoded.len = 0;
        if (!rebuild(updater, child, has_current ? &current : NULL, &encoded, &type))
            return false;
        if (type == EDIT_STORE) {
            stored = value_view(buffer_bytes(&encoded));
            item_edit_put(&item, child->step.name, &stored);
        } else if (type == EDIT_KEEP && has_current) {
            item_edit_put(&item, child->step.name, &current);
        }
    }
    *out = item_edit_finish(&item);
    return true;
}

/* A value that is stored inside others may be too deep there. All other values are as deep as
 * before. */
static bool check_depth(struct updater *updater, const struct update *update)
{
    for (size_t i = 0; i < update->action_count; i++) {
        size_t above = update->actions[i].path.step_count - 1;
        const struct edit *edit = &updater->edits[i];
        if (above == 0 || edit->type != EDIT_STORE)
            continue;
        if (above >= NESTING_DEPTH_MAX ||
            !value_verify(edit->encoded, NESTING_DEPTH_MAX - (unsigned)above))
            return error_validation(updater->err,
                                    "Nesting Levels have exceeded supported limits: Attributes in "
                                    "the item have nested levels beyond supported limit");
    }
    return true;
}

bool update_apply(struct arena *arena, const struct update *update, const struct item *item,
                  struct item *out, struct error *err)
{
    assert(item != NULL);
    struct edit *edits = arena_alloc(arena, update->action_count * sizeof *edits);
    struct path *paths = arena_alloc(arena, update->action_count * sizeof *paths);
    struct updater updater = {
        .arena = arena, .item = item, .edits = edits, .is_legacy = update->is_legacy, .err = err
    };
    lookup_init(&updater.lookup, arena, item);
    for (size_t i = 0; i < update->action_count; i++) {
        paths[i] = update->actions[i].path;
        if (!work_out(&updater, &update->actions[i], &edits[i]))
            return false;
    }
    if (is_too_large(&updater, 0))
        return update_refuse_size(err);
    if (!check_depth(&updater, update))
        return false;
    return rebuild_item(&updater, path_tree_build(arena, paths, update->action_count), out);
}
