/* expression_shape.c -- see expression_shape.h.
 *
 * Once the text is full nothing more is visited, so the work is bounded by the size of the text and
 * by the depth of a tree (OPERAND_RULES_OPERATORS_MAX).
 */
#include "advice/expression_shape.h"
#include <assert.h>
#include <string.h>
#include "base/byte_order.h"
#include "base/bytes.h"
#include "expr/ast.h"
#include "expr/path.h"
#include "model/value.h"

#define ELLIPSIS "..."

struct text {
    char *out;
    size_t len;
    bool is_full;
};

enum { TEXT_ROOM = EXPRESSION_SHAPE_SIZE_MAX - (sizeof ELLIPSIS - 1) };

/* All of it or nothing, so that no character is cut. */
static void put_bytes(struct text *text, struct bytes value)
{
    if (text->is_full)
        return;
    if (value.len > TEXT_ROOM - text->len) {
        memcpy(text->out + text->len, ELLIPSIS, sizeof ELLIPSIS - 1);
        text->len += sizeof ELLIPSIS - 1;
        text->is_full = true;
        return;
    }
    memcpy(text->out + text->len, value.data, value.len);
    text->len += value.len;
}

static void put(struct text *text, const char *value)
{
    put_bytes(text, bytes_from_text(value));
}

static void put_path(struct text *text, const struct path *path)
{
    for (size_t i = 0; i < path->step_count && !text->is_full; i++) {
        if (path->steps[i].name.data == NULL) {
            put(text, "[n]");
            continue;
        }
        if (i > 0)
            put(text, ".");
        put_bytes(text, path->steps[i].name);
    }
}

/* An update's sums and list_append nest one operand in another, as deep as the parser allows. */
static void put_operand(struct text *text, const struct operand *operand)
{
    if (text->is_full)
        return;
    switch (operand->type) {
    case OPERAND_PATH:
        put_path(text, &operand->path);
        return;
    case OPERAND_VALUE:
        put(text, "?");
        return;
    case OPERAND_SIZE:
        put(text, "size(");
        put_path(text, &operand->path);
        put(text, ")");
        return;
    case OPERAND_PLUS:
    case OPERAND_MINUS:
        put_operand(text, operand->left);
        put(text, operand->type == OPERAND_PLUS ? " + " : " - ");
        put_operand(text, operand->right);
        return;
    case OPERAND_IF_NOT_EXISTS:
        put(text, "if_not_exists(");
        put_path(text, &operand->path);
        put(text, ", ");
        put_operand(text, operand->right);
        put(text, ")");
        return;
    case OPERAND_LIST_APPEND:
        put(text, "list_append(");
        put_operand(text, operand->left);
        put(text, ", ");
        put_operand(text, operand->right);
        put(text, ")");
        return;
    }
    assert(false);
}

static const char *comparator_text(enum comparator comparator)
{
    static const char *const texts[] = {
        [COMPARE_EQUAL] = " = ",   [COMPARE_NOT_EQUAL] = " <> ",
        [COMPARE_LESS] = " < ",    [COMPARE_LESS_EQUAL] = " <= ",
        [COMPARE_GREATER] = " > ", [COMPARE_GREATER_EQUAL] = " >= ",
    };
    return texts[comparator];
}

static void put_call(struct text *text, const char *name, const struct condition *condition)
{
    put(text, name);
    for (size_t i = 0; i < condition->operand_count && !text->is_full; i++) {
        put(text, i == 0 ? "(" : ", ");
        put_operand(text, &condition->operands[i]);
    }
    put(text, ")");
}

static void put_condition(struct text *text, const struct condition *condition);

/* A chain of the same operator needs no parentheses. */
static void put_side(struct text *text, const struct condition *side, enum condition_type parent)
{
    bool needs_parentheses =
        (side->type == CONDITION_AND || side->type == CONDITION_OR) && side->type != parent;
    if (needs_parentheses)
        put(text, "(");
    put_condition(text, side);
    if (needs_parentheses)
        put(text, ")");
}

/* Terms with operands. An older IN with many values has none: see expr/ast.h. */
static void put_term(struct text *text, const struct condition *condition)
{
    const struct operand *operands = condition->operands;
    switch (condition->type) {
    case CONDITION_COMPARE:
        put_operand(text, &operands[0]);
        put(text, comparator_text(condition->comparator));
        put_operand(text, &operands[1]);
        return;
    case CONDITION_BETWEEN:
        put_operand(text, &operands[0]);
        put(text, " BETWEEN ");
        put_operand(text, &operands[1]);
        put(text, " AND ");
        put_operand(text, &operands[2]);
        return;
    case CONDITION_IN:
        if (condition->operand_count > 0)
            put_operand(text, &operands[0]);
        put(text, " IN (?)");
        return;
    case CONDITION_ATTRIBUTE_EXISTS:
        put_call(text, "attribute_exists", condition);
        return;
    case CONDITION_ATTRIBUTE_NOT_EXISTS:
        put_call(text, "attribute_not_exists", condition);
        return;
    case CONDITION_ATTRIBUTE_TYPE:
        put_call(text, "attribute_type", condition);
        return;
    case CONDITION_BEGINS_WITH:
        put_call(text, "begins_with", condition);
        return;
    case CONDITION_CONTAINS:
        put_call(text, "contains", condition);
        return;
    case CONDITION_AND:
    case CONDITION_OR:
    case CONDITION_NOT:
        break;
    }
    assert(false);
}

static void put_condition(struct text *text, const struct condition *condition)
{
    if (text->is_full)
        return;
    switch (condition->type) {
    case CONDITION_AND:
    case CONDITION_OR:
        put_side(text, condition->left, condition->type);
        put(text, condition->type == CONDITION_AND ? " AND " : " OR ");
        put_side(text, condition->right, condition->type);
        return;
    case CONDITION_NOT:
        put(text, "NOT ");
        put_side(text, condition->left, CONDITION_NOT);
        return;
    default:
        put_term(text, condition);
    }
}

static void put_key(struct text *text, const struct key_condition *key)
{
    for (size_t i = 0; i < key->term_count && !text->is_full; i++) {
        const struct key_term *term = &key->terms[i];
        if (i > 0)
            put(text, " AND ");
        if (term->type == KEY_TERM_BEGINS_WITH)
            put(text, "begins_with(");
        put_bytes(text, term->name);
        switch (term->type) {
        case KEY_TERM_COMPARE:
            put(text, comparator_text(term->comparator));
            put(text, "?");
            break;
        case KEY_TERM_BETWEEN:
            put(text, " BETWEEN ? AND ?");
            break;
        case KEY_TERM_BEGINS_WITH:
            put(text, ", ?)");
            break;
        }
    }
}

static void put_update(struct text *text, const struct update *update)
{
    static const char *const words[] = { [UPDATE_SET] = "SET ",
                                         [UPDATE_REMOVE] = "REMOVE ",
                                         [UPDATE_ADD] = "ADD ",
                                         [UPDATE_DELETE] = "DELETE " };
    for (size_t i = 0; i < update->action_count && !text->is_full; i++) {
        const struct update_action *action = &update->actions[i];
        bool begins = i == 0 || action->type != action[-1].type;
        if (i > 0)
            put(text, begins ? " " : ", ");
        if (begins)
            put(text, words[action->type]);
        put_path(text, &action->path);
        if (action->type == UPDATE_SET) {
            put(text, " = ");
            put_operand(text, action->operand);
        }
    }
}

/* Only the first steps: what is below them is a part of one attribute. */
static void put_projection(struct text *text, const struct path_node *root)
{
    for (size_t i = 0; i < root->child_count && !text->is_full; i++) {
        if (i > 0)
            put(text, ", ");
        put_bytes(text, path_node_child_name(root, i));
    }
}

/* A part's title; parts are separated by semicolons. */
static void begin(struct text *text, const char *title)
{
    if (text->len > 0)
        put(text, "; ");
    put(text, title);
}

size_t expression_shape_format(const struct expression_shape *shape,
                               char out[EXPRESSION_SHAPE_SIZE_MAX])
{
    struct text text = { .out = out };
    if (shape->kind == SHAPE_SCAN)
        begin(&text, "scan");
    if (shape->kind == SHAPE_SINGLE_TRANSACTION)
        begin(&text, "one item");
    if (shape->kind == SHAPE_REFUSED_CONSISTENT)
        begin(&text, "consistent read of a global index");
    if (shape->key != NULL) {
        begin(&text, "key: ");
        put_key(&text, shape->key);
    }
    if (shape->update != NULL) {
        begin(&text, "update: ");
        put_update(&text, shape->update);
    }
    if (shape->condition != NULL) {
        begin(&text, "condition: ");
        put_condition(&text, shape->condition);
    }
    if (shape->filter != NULL) {
        begin(&text, "filter: ");
        put_condition(&text, shape->filter);
    }
    if (shape->is_count_only)
        begin(&text, "count");
    if (shape->projection != NULL) {
        begin(&text, "projection: ");
        put_projection(&text, shape->projection);
    }
    assert(text.len <= EXPRESSION_SHAPE_SIZE_MAX);
    return text.len;
}

/* Not a keyed hash: whoever makes two shapes collide has them counted together. */
uint64_t expression_shape_digest(const char *text, size_t size)
{
    const uint64_t factor = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t digest = size * factor;
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint8_t word[sizeof(uint64_t)] = { 0 };
        memcpy(word, text + i, size - i < sizeof word ? size - i : sizeof word);
        digest = (digest ^ load_u64_be(word)) * factor;
        digest ^= digest >> 32;
    }
    return digest;
}
