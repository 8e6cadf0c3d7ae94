/* condition.c -- see condition.h.
 *
 * Observed: a comparison with a missing operand, or between values of different types, is false,
 * and therefore `<>` is true; only strings, numbers and binaries have an order; size() of anything
 * that has no size is missing.
 */
#include "expr/condition.h"
#include <assert.h>
#include <string.h>
#include "expr/ast.h"
#include "expr/condition_texts.h"
#include "expr/lookup.h"
#include "json/utf8.h"
#include "model/number.h"

/* --- Operands --- */

static bool size_of(const struct value *value, uint64_t *out, uint64_t *work)
{
    switch (value->type) {
    case VALUE_S:
        *out = utf8_utf16_length(value->data);
        *work += value->data.len;
        return true;
    case VALUE_B:
        *out = value->data.len;
        return true;
    case VALUE_L:
    case VALUE_M:
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        *out = value->count;
        return true;
    default:
        return false;
    }
}

/* A resolved operand; `number` holds the bytes of a size(), which is not stored in the item. */
struct resolved {
    struct value value;
    uint8_t number[NUMBER_ENCODED_MAX];
};

static bool resolve_size(const struct operand *operand, struct lookup *lookup, struct resolved *out)
{
    struct value value;
    uint64_t size;
    if (!lookup_path(lookup, &operand->path, &value) || !size_of(&value, &size, &lookup->work))
        return false;
    struct number number = { .coefficient = size };
    /* Canonical: no trailing zeros in the coefficient. */
    while (number.coefficient != 0 && number.coefficient % 10 == 0) {
        number.coefficient /= 10;
        number.exponent++;
    }
    size_t len = number_encode(&number, out->number);
    out->value = (struct value){ .type = VALUE_N, .data = bytes_of(out->number, len) };
    return true;
}

static bool resolve(const struct operand *operand, struct lookup *lookup, struct resolved *out)
{
    switch (operand->type) {
    case OPERAND_VALUE:
        out->value = operand->value;
        return true;
    case OPERAND_PATH:
        return lookup_path(lookup, &operand->path, &out->value);
    case OPERAND_SIZE:
        return resolve_size(operand, lookup, out);
    default:
        assert(false); /* The others occur only in updates. */
        return false;
    }
}

/* --- Comparisons --- */

/* False if the two have no order. Encoded numbers order by their bytes. */
static bool values_order(const struct value *a, const struct value *b, int *order)
{
    if (a->type != b->type || (a->type != VALUE_S && a->type != VALUE_N && a->type != VALUE_B))
        return false;
    *order = bytes_compare(a->data, b->data);
    return true;
}

static void count_compared(struct lookup *lookup, const struct value *a, const struct value *b)
{
    size_t shared = a->data.len < b->data.len ? a->data.len : b->data.len;
    lookup->work += shared / LOOKUP_WORK_COMPARED_BYTES;
}

static bool compare(struct lookup *lookup, enum comparator comparator, const struct value *a,
                    const struct value *b)
{
    int order;
    count_compared(lookup, a, b);
    if (comparator == COMPARE_EQUAL || comparator == COMPARE_NOT_EQUAL)
        return value_equal(a, b) == (comparator == COMPARE_EQUAL);
    if (!values_order(a, b, &order))
        return false;
    switch (comparator) {
    case COMPARE_LESS:
        return order < 0;
    case COMPARE_LESS_EQUAL:
        return order <= 0;
    case COMPARE_GREATER:
        return order > 0;
    default:
        return order >= 0;
    }
}

static bool compare_operands(const struct condition *condition, struct lookup *lookup)
{
    struct resolved left, right;
    if (!resolve(&condition->operands[0], lookup, &left) ||
        !resolve(&condition->operands[1], lookup, &right))
        return condition->comparator == COMPARE_NOT_EQUAL;
    return compare(lookup, condition->comparator, &left.value, &right.value);
}

static bool is_between(const struct condition *condition, struct lookup *lookup)
{
    struct resolved value, lower, upper;
    return resolve(&condition->operands[0], lookup, &value) &&
           resolve(&condition->operands[1], lookup, &lower) &&
           resolve(&condition->operands[2], lookup, &upper) &&
           compare(lookup, COMPARE_GREATER_EQUAL, &value.value, &lower.value) &&
           compare(lookup, COMPARE_LESS_EQUAL, &value.value, &upper.value);
}

static bool is_in(const struct condition *condition, struct lookup *lookup)
{
    struct resolved value, candidate;
    if (!resolve(&condition->operands[0], lookup, &value))
        return false;
    if (condition->list != NULL)
        return lookup_values_have(condition->list, &value.value, lookup);
    for (size_t i = 1; i < condition->operand_count; i++)
        if (resolve(&condition->operands[i], lookup, &candidate) &&
            compare(lookup, COMPARE_EQUAL, &value.value, &candidate.value))
            return true;
    return false;
}

/* --- Functions --- */

static bool begins_with(const struct condition *condition, struct lookup *lookup)
{
    struct resolved value, prefix;
    return resolve(&condition->operands[0], lookup, &value) &&
           resolve(&condition->operands[1], lookup, &prefix) &&
           value.value.type == prefix.value.type &&
           (value.value.type == VALUE_S || value.value.type == VALUE_B) &&
           bytes_starts_with(value.value.data, prefix.value.data);
}

/* A substring or subsequence, a member of a set, or an element of a list. */
static bool contains(const struct condition *condition, struct lookup *lookup)
{
    struct resolved value, wanted;
    if (!resolve(&condition->operands[0], lookup, &value) ||
        !resolve(&condition->operands[1], lookup, &wanted))
        return false;
    switch (value.value.type) {
    case VALUE_S:
    case VALUE_B:
        return wanted.value.type == value.value.type &&
               condition_texts_found(lookup, condition, value.value.data, wanted.value.data);
    case VALUE_L:
        return lookup_list_has(lookup, &value.value, &wanted.value);
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        return lookup_set_has(lookup, &value.value, &wanted.value);
    default:
        return false;
    }
}

static bool has_type(const struct condition *condition, struct lookup *lookup)
{
    struct resolved value;
    return resolve(&condition->operands[0], lookup, &value) &&
           value.value.type == condition->attribute_type;
}

static bool exists(const struct condition *condition, struct lookup *lookup)
{
    struct value value;
    return lookup_path(lookup, &condition->operands[0].path, &value);
}

/* Recursion follows the parsed expression, whose depth the parser bounds. */
static bool evaluate(const struct condition *condition, struct lookup *lookup)
{
    lookup->work += LOOKUP_WORK_CONDITION;
    switch (condition->type) {
    case CONDITION_AND:
        return evaluate(condition->left, lookup) && evaluate(condition->right, lookup);
    case CONDITION_OR:
        return evaluate(condition->left, lookup) || evaluate(condition->right, lookup);
    case CONDITION_NOT:
        return !evaluate(condition->left, lookup);
    case CONDITION_COMPARE:
        return compare_operands(condition, lookup);
    case CONDITION_BETWEEN:
        return is_between(condition, lookup);
    case CONDITION_IN:
        return is_in(condition, lookup);
    case CONDITION_ATTRIBUTE_EXISTS:
        return exists(condition, lookup);
    case CONDITION_ATTRIBUTE_NOT_EXISTS:
        return !exists(condition, lookup);
    case CONDITION_ATTRIBUTE_TYPE:
        return has_type(condition, lookup);
    case CONDITION_BEGINS_WITH:
        return begins_with(condition, lookup);
    case CONDITION_CONTAINS:
        return contains(condition, lookup);
    }
    assert(false);
    return false;
}

bool condition_matches(const struct condition *condition, struct lookup *lookup)
{
    assert(condition != NULL);
    lookup->condition = condition;
    return evaluate(condition, lookup);
}

enum comparator condition_turned(enum comparator comparator)
{
    switch (comparator) {
    case COMPARE_LESS:
        return COMPARE_GREATER;
    case COMPARE_LESS_EQUAL:
        return COMPARE_GREATER_EQUAL;
    case COMPARE_GREATER:
        return COMPARE_LESS;
    case COMPARE_GREATER_EQUAL:
        return COMPARE_LESS_EQUAL;
    case COMPARE_EQUAL:
    case COMPARE_NOT_EQUAL:
        return comparator;
    }
    assert(false);
    return comparator;
}

/* Recursion is bounded by the nesting that the parser allows. */
bool condition_mentions(const struct condition *condition, struct bytes name)
{
    if (condition->left != NULL && condition_mentions(condition->left, name))
        return true;
    if (condition->right != NULL && condition_mentions(condition->right, name))
        return true;
    for (size_t i = 0; i < condition->operand_count; i++) {
        const struct operand *operand = &condition->operands[i];
        if (operand->type != OPERAND_VALUE && bytes_equal(operand->path.steps[0].name, name))
            return true;
    }
    return false;
}
