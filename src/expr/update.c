/* update.c -- see update.h.
 *
 * First every action is worked out against the old item: what is to stand at its path. Then the
 * item is built anew along the tree of the paths; whatever no path leads into is copied as it
 * stands.
 */
#include "expr/update.h"
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "expr/ast.h"
#include "expr/lookup.h"
#include "expr/path_tree.h"
#include "model/error.h"
#include "model/number.h"
#include "model/value.h"

/* What is to stand at a path. */
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

static bool append_lists(struct updater *updater, const struct value *left,
                         const struct value *right, struct value *out)
{
    if (left->type != VALUE_L || right->type != VALUE_L)
        return fail_type(updater);
    struct buffer elements, list;
    buffer_init(&elements, updater->arena);
    buffer_init(&list, updater->arena);
    buffer_append_bytes(&elements, left->data);
    buffer_append_bytes(&elements, right->data);
    value_append_container(&list, VALUE_L, left->count + right->count, buffer_bytes(&elements));
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
        return evaluate_both(updater, operand, &left, &right) &&
               append_lists(updater, &left, &right, out);
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

static struct edit set_edit(struct arena *arena, enum value_type type, uint32_t count,
                            const struct buffer *members)
{
    if (count == 0)
        return (struct edit){ .type = EDIT_REMOVE }; /* There are no empty sets. */
    struct buffer set;
    buffer_init(&set, arena);
    value_append_container(&set, type, count, buffer_bytes(members));
    return (struct edit){ .type = EDIT_STORE, .encoded = buffer_bytes(&set) };
}

/* Both sets are sorted, so one pass finds what is in either (`subtract` false) or in the first one
 * only. */
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
    return set_edit(arena, first->type, count, &members);
}

/* --- Actions --- */

static bool work_out_add(struct updater *updater, const struct update_action *action,
                         struct edit *edit)
{
    const struct value *added = &action->operand->value;
    struct value current, sum;
    if (!lookup_path(&updater->lookup, &action->path, &current)) {
        *edit = (struct edit){ .type = EDIT_STORE, .encoded = added->encoded };
        return true;
    }
    if (value_type_is_set(current.type) && current.type == added->type) {
        *edit = merge_sets(updater->arena, &current, added, false);
        return true;
    }
    if (!calculate(updater, &current, added, false, &sum))
        return false;
    *edit = (struct edit){ .type = EDIT_STORE, .encoded = sum.encoded };
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
    *edit = merge_sets(updater->arena, &current, taken, true);
    return true;
}

/* What the path leads into must be there, and be a map or a list as the last step needs it. */
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

/* Observed: actions are judged one after the other, each by its path first. */
static bool work_out(struct updater *updater, const struct update_action *action, struct edit *edit)
{
    struct value value;
    if (!check_path(updater, &action->path))
        return false;
    switch (action->type) {
    case UPDATE_SET:
        if (!evaluate(updater, action->operand, &value))
            return false;
        *edit = (struct edit){ .type = EDIT_STORE, .encoded = value.encoded };
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

/* What stands at a node afterwards: EDIT_KEEP leaves `current`, which is NULL if nothing is there.
 */
static bool rebuild(struct updater *updater, const struct path_node *node,
                    const struct value *current, struct edit *out);

static void append_map_member(struct buffer *out, uint32_t *count, struct bytes name,
                              struct bytes encoded)
{
    value_append_length_prefixed(out, name);
    buffer_append_bytes(out, encoded);
    ++*count;
}

/* Members and children are both sorted by name: one merge. */
static bool rebuild_map(struct updater *updater, const struct path_node *node,
                        const struct value *map, struct buffer *out)
{
    struct value_iter iter;
    struct value member;
    struct bytes name;
    struct buffer members;
    uint32_t count = 0;
    size_t next = 0;
    buffer_init(&members, updater->arena);
    value_iter_init(&iter, map);
    bool has_member = value_iter_next(&iter, &name, &member);
    while (has_member || next < node->child_count) {
        const struct path_node *child = next < node->child_count ? &node->children[next] : NULL;
        int order = child == NULL ? -1 : !has_member ? 1 : bytes_compare(name, child->step.name);
        struct edit edit = { .type = EDIT_KEEP };
        if (order >= 0 && !rebuild(updater, child, order == 0 ? &member : NULL, &edit))
            return false;
        if (edit.type == EDIT_STORE)
            append_map_member(&members, &count, child->step.name, edit.encoded);
        else if (edit.type == EDIT_KEEP && order <= 0)
            append_map_member(&members, &count, name, member.encoded);
        if (order <= 0)
            has_member = value_iter_next(&iter, &name, &member);
        if (order >= 0)
            next++;
    }
    value_append_container(out, VALUE_M, count, buffer_bytes(&members));
    return true;
}

/* Indexes speak of the list as it was; those past its end are appended in their order. */
static bool rebuild_list(struct updater *updater, const struct path_node *node,
                         const struct value *list, struct buffer *out)
{
    struct value_iter iter;
    struct value element;
    struct buffer elements;
    uint32_t index = 0, count = 0;
    size_t next = 0;
    buffer_init(&elements, updater->arena);
    value_iter_init(&iter, list);
    bool has_element = value_iter_next(&iter, NULL, &element);
    while (has_element || next < node->child_count) {
        const struct path_node *child = next < node->child_count ? &node->children[next] : NULL;
        bool touched = child != NULL && (!has_element || child->step.index == index);
        struct edit edit = { .type = EDIT_KEEP };
        if (touched && !rebuild(updater, child, has_element ? &element : NULL, &edit))
            return false;
        if (edit.type == EDIT_STORE || (edit.type == EDIT_KEEP && has_element)) {
            buffer_append_bytes(&elements,
                                edit.type == EDIT_STORE ? edit.encoded : element.encoded);
            count++;
        }
        if (has_element) {
            has_element = value_iter_next(&iter, NULL, &element);
            index++;
        }
        if (touched)
            next++;
    }
    value_append_container(out, VALUE_L, count, buffer_bytes(&elements));
    return true;
}

/* Recursion follows the paths, whose length the parser bounds. */
static bool rebuild(struct updater *updater, const struct path_node *node,
                    const struct value *current, struct edit *out)
{
    if (node->is_end) {
        *out = updater->edits[node->path_index];
        return true;
    }
    bool list = path_node_has_index_children(node);
    if (current == NULL || current->type != (list ? VALUE_L : VALUE_M))
        return fail_path(updater);
    struct buffer encoded;
    buffer_init(&encoded, updater->arena);
    if (!(list ? rebuild_list : rebuild_map)(updater, node, current, &encoded))
        return false;
    *out = (struct edit){ .type = EDIT_STORE, .encoded = buffer_bytes(&encoded) };
    return true;
}

static bool rebuild_item(struct updater *updater, const struct path_node *root, struct item *out)
{
    struct item_builder builder;
    struct item_iter iter;
    struct bytes name;
    struct value value;
    size_t next = 0;
    item_builder_init(&builder, updater->arena);
    item_iter_init(&iter, updater->item);
    bool has_attribute = item_iter_next(&iter, &name, &value);
    while (has_attribute || next < root->child_count) {
        const struct path_node *child = next < root->child_count ? &root->children[next] : NULL;
        int order = child == NULL ? -1 : !has_attribute ? 1 : bytes_compare(name, child->step.name);
        struct edit edit = { .type = EDIT_KEEP };
        if (order >= 0 && !rebuild(updater, child, order == 0 ? &value : NULL, &edit))
            return false;
        if (edit.type == EDIT_STORE)
            item_builder_add(&builder, child->step.name, edit.encoded);
        else if (edit.type == EDIT_KEEP && order <= 0)
            item_builder_add(&builder, name, value.encoded);
        if (order <= 0)
            has_attribute = item_iter_next(&iter, &name, &value);
        if (order >= 0)
            next++;
    }
    *out = item_builder_finish(&builder);
    return true;
}

bool update_apply(struct arena *arena, const struct update *update, const struct item *item,
                  struct item *out, struct error *err)
{
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
    return rebuild_item(&updater, path_tree_build(arena, paths, update->action_count), out);
}
