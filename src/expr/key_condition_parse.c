/* key_condition_parse.c -- a condition on keys is a condition of few forms.
 *
 * The text is parsed as any condition; the terms between its ANDs must then compare one whole
 * attribute with values.
 */
#include "expr/key_condition_parse.h"
#include <assert.h>
#include "base/arena.h"
#include "expr/condition.h"
#include "expr/condition_parse.h"
#include "expr/parser.h"
#include "model/error.h"

/* What the service calls it in messages; NULL: key conditions may use it. */
static const char *refused_operator(const struct condition *condition)
{
    switch (condition->type) {
    case CONDITION_COMPARE:
        return condition->comparator == COMPARE_NOT_EQUAL ? "<>" : NULL;
    case CONDITION_AND:
    case CONDITION_BETWEEN:
    case CONDITION_BEGINS_WITH:
        return NULL;
    case CONDITION_OR:
        return "OR";
    case CONDITION_NOT:
        return "NOT";
    case CONDITION_IN:
        return "IN";
    case CONDITION_ATTRIBUTE_EXISTS:
        return "attribute_exists";
    case CONDITION_ATTRIBUTE_NOT_EXISTS:
        return "attribute_not_exists";
    case CONDITION_ATTRIBUTE_TYPE:
        return "attribute_type";
    case CONDITION_CONTAINS:
        return "contains";
    }
    assert(false);
    return NULL;
}

/* size(path), or size(:value), which is folded already. */
static bool is_nested_operation(const struct operand *operand)
{
    return operand->type == OPERAND_SIZE || operand->left != NULL;
}

/* The one operand that is an attribute. */
static bool find_attribute(const struct condition *condition, size_t *index, struct error *err)
{
    size_t found = condition->operand_count;
    for (size_t i = 0; i < condition->operand_count; i++) {
        const struct operand *operand = &condition->operands[i];
        if (is_nested_operation(operand))
            return error_validation(err,
                                    "KeyConditionExpressions cannot contain nested operations");
        if (operand->type == OPERAND_VALUE && i == 0 && condition->type != CONDITION_COMPARE)
            return error_validation(err,
                                    "Invalid condition in KeyConditionExpression: %s operator must "
                                    "have the key attribute as its first operand",
                                    condition->type == CONDITION_BETWEEN ? "BETWEEN"
                                                                         : "begins_with");
        if (operand->type != OPERAND_PATH)
            continue;
        if (operand->path.step_count > 1)
            return error_validation(
                err, "KeyConditionExpressions cannot have conditions on nested attributes");
        if (found < condition->operand_count)
            return error_validation(err, "Invalid condition in KeyConditionExpression: Multiple "
                                         "attribute names used in one condition");
        found = i;
    }
    if (found == condition->operand_count)
        return error_validation(
            err, "Invalid condition in KeyConditionExpression: No key attribute specified");
    *index = found;
    return true;
}

static bool make_term(const struct condition *condition, struct key_term *out, struct error *err)
{
    size_t attribute = 0;
    if (!find_attribute(condition, &attribute, err))
        return false;
    const struct operand *operands = condition->operands;
    *out = (struct key_term){ .name = operands[attribute].path.steps[0].name };
    if (condition->type == CONDITION_COMPARE) {
        out->type = KEY_TERM_COMPARE;
        out->comparator =
            attribute == 0 ? condition->comparator : condition_turned(condition->comparator);
        out->values[0] = operands[1 - attribute].value;
        return true;
    }
    assert(attribute == 0);
    bool between = condition->type == CONDITION_BETWEEN;
    out->type = between ? KEY_TERM_BETWEEN : KEY_TERM_BEGINS_WITH;
    out->values[0] = operands[1].value;
    if (between)
        out->values[1] = operands[2].value;
    return true;
}

struct terms {
    struct arena *arena;
    struct key_term *terms;
    size_t count;
    size_t capacity;
};
enum { TERMS_CAPACITY_MIN = 2 };

static bool add_term(struct terms *terms, const struct condition *condition, struct error *err)
{
    if (terms->count == terms->capacity) {
        size_t capacity = terms->capacity == 0 ? TERMS_CAPACITY_MIN : terms->capacity * 2;
        terms->terms =
            arena_grow(terms->arena, terms->terms, terms->capacity * sizeof *terms->terms,
                       capacity * sizeof *terms->terms);
        terms->capacity = capacity;
    }
    struct key_term *term = &terms->terms[terms->count];
    if (!make_term(condition, term, err))
        return false;
    for (size_t i = 0; i < terms->count; i++) {
        if (bytes_equal(terms->terms[i].name, term->name))
            return error_validation(
                err, "KeyConditionExpressions must only contain one condition per key");
    }
    terms->count++;
    return true;
}

/* From left to right, an operator before what it joins. Between its operators a condition has at
 * most one term more than there are of them, which bounds both the terms and what waits. */
static bool collect(const struct condition *root, struct terms *terms, struct error *err)
{
    const struct condition *waiting[OPERAND_RULES_OPERATORS_MAX + 1];
    size_t count = 0;
    waiting[count++] = root;
    while (count > 0) {
        const struct condition *condition = waiting[--count];
        const char *refused = refused_operator(condition);
        if (refused != NULL)
            return error_validation(err, "Invalid operator used in KeyConditionExpression: %s",
                                    refused);
        if (condition->type == CONDITION_AND) {
            assert(count + 2 <= COUNT_OF(waiting));
            waiting[count++] = condition->right;
            waiting[count++] = condition->left;
        } else if (!add_term(terms, condition, err)) {
            return false;
        }
    }
    return true;
}

const struct key_condition *key_condition_parse(struct arena *arena, struct bytes text,
                                                struct expr_params *params, struct error *err)
{
    const struct condition *root =
        condition_parse(arena, text, "KeyConditionExpression", params, err);
    if (root == NULL)
        return NULL;
    struct terms terms = { .arena = arena };
    if (!collect(root, &terms, err))
        return NULL;
    struct key_condition *out = arena_alloc(arena, sizeof *out);
    *out = (struct key_condition){ .terms = terms.terms, .term_count = terms.count };
    return out;
}
