/* condition.c -- see condition.h.
 *
 * Observed of the service: a comparison with a missing operand, or between values of different
 * types, is false, and therefore `<>` is true; only strings, numbers and binaries have an order;
 * size() of anything that has no size is missing.
 */
#include "expr/condition.h"
#include <assert.h>
#include <string.h>
#include "expr/ast.h"
#include "json/utf8.h"
#include "model/item.h"
#include "model/number.h"

/* --- Operands --- */

static bool list_element(const struct value *list, uint32_t index, struct value *out)
{
    if (list->type != VALUE_L || index >= list->count)
        return false;
    struct value_iter iter;
    value_iter_init(&iter, list);
    for (uint32_t i = 0; i <= index; i++)
        if (!value_iter_next(&iter, NULL, out))
            return false;
    return true;
}

bool path_resolve(const struct path *path, const struct item *item, struct value *out)
{
    assert(path->step_count > 0 && path->steps[0].name.data != NULL);
    if (item == NULL || !item_find(item, path->steps[0].name, out))
        return false;
    for (size_t i = 1; i < path->step_count; i++) {
        const struct path_step *step = &path->steps[i];
        struct value container = *out;
        bool found = step->name.data == NULL
                         ? list_element(&container, step->index, out)
                         : container.type == VALUE_M && value_map_find(&container, step->name, out);
        if (!found)
            return false;
    }
    return true;
}

static bool size_of(const struct value *value, uint64_t *out)
{
    switch (value->type) {
    case VALUE_S:
        *out = utf8_utf16_length(value->data);
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

/* A resolved operand; `number` holds the one value that is stored nowhere. */
struct resolved {
    struct value value;
    uint8_t number[NUMBER_ENCODED_MAX];
};

static bool resolve_size(const struct operand *operand, const struct item *item,
                         struct resolved *out)
{
    struct value value;
    uint64_t size;
    if (!path_resolve(&operand->path, item, &value) || !size_of(&value, &size))
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

static bool resolve(const struct operand *operand, const struct item *item, struct resolved *out)
{
    switch (operand->type) {
    case OPERAND_VALUE:
        out->value = operand->value;
        return true;
    case OPERAND_PATH:
        return path_resolve(&operand->path, item, &out->value);
    case OPERAND_SIZE:
        return resolve_size(operand, item, out);
    default:
        assert(false); /* The parser puts the others into updates only. */
        return false;
    }
}

/* --- Comparisons --- */

/* Everything behind the type decides; a size has no encoded form of its own, so not `encoded`. */
static bool values_equal(const struct value *a, const struct value *b)
{
    return a->type == b->type && a->count == b->count && a->boolean == b->boolean &&
           bytes_equal(a->data, b->data);
}

/* False if the two have no order. Encoded numbers order by their bytes. */
static bool values_order(const struct value *a, const struct value *b, int *order)
{
    if (a->type != b->type || (a->type != VALUE_S && a->type != VALUE_N && a->type != VALUE_B))
        return false;
    *order = bytes_compare(a->data, b->data);
    return true;
}

static bool compare(enum comparator comparator, const struct value *a, const struct value *b)
{
    int order;
    if (comparator == COMPARE_EQUAL || comparator == COMPARE_NOT_EQUAL)
        return values_equal(a, b) == (comparator == COMPARE_EQUAL);
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

static bool compare_operands(const struct condition *condition, const struct item *item)
{
    struct resolved left, right;
    if (!resolve(&condition->operands[0], item, &left) ||
        !resolve(&condition->operands[1], item, &right))
        return condition->comparator == COMPARE_NOT_EQUAL;
    return compare(condition->comparator, &left.value, &right.value);
}

static bool is_between(const struct condition *condition, const struct item *item)
{
    struct resolved value, lower, upper;
    return resolve(&condition->operands[0], item, &value) &&
           resolve(&condition->operands[1], item, &lower) &&
           resolve(&condition->operands[2], item, &upper) &&
           compare(COMPARE_GREATER_EQUAL, &value.value, &lower.value) &&
           compare(COMPARE_LESS_EQUAL, &value.value, &upper.value);
}

static bool is_in(const struct condition *condition, const struct item *item)
{
    struct resolved value, candidate;
    if (!resolve(&condition->operands[0], item, &value))
        return false;
    for (size_t i = 1; i < condition->operand_count; i++)
        if (resolve(&condition->operands[i], item, &candidate) &&
            values_equal(&value.value, &candidate.value))
            return true;
    return false;
}

/* --- Functions --- */

static bool begins_with(const struct condition *condition, const struct item *item)
{
    struct resolved value, prefix;
    return resolve(&condition->operands[0], item, &value) &&
           resolve(&condition->operands[1], item, &prefix) &&
           value.value.type == prefix.value.type &&
           (value.value.type == VALUE_S || value.value.type == VALUE_B) &&
           bytes_starts_with(value.value.data, prefix.value.data);
}

static bool has_member(const struct value *container, const struct value *wanted)
{
    struct value_iter iter;
    struct value member;
    value_iter_init(&iter, container);
    while (value_iter_next(&iter, NULL, &member))
        if (values_equal(&member, wanted))
            return true;
    return false;
}

/* A substring or subsequence, a member of a set, or an element of a list. */
static bool contains(const struct condition *condition, const struct item *item)
{
    struct resolved value, wanted;
    if (!resolve(&condition->operands[0], item, &value) ||
        !resolve(&condition->operands[1], item, &wanted))
        return false;
    struct bytes haystack = value.value.data, needle = wanted.value.data;
    switch (value.value.type) {
    case VALUE_S:
    case VALUE_B:
        return wanted.value.type == value.value.type &&
               (needle.len == 0 ||
                memmem(haystack.data, haystack.len, needle.data, needle.len) != NULL);
    case VALUE_L:
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        return has_member(&value.value, &wanted.value);
    default:
        return false;
    }
}

static bool has_type(const struct condition *condition, const struct item *item)
{
    struct resolved value;
    return resolve(&condition->operands[0], item, &value) &&
           value.value.type == condition->attribute_type;
}

static bool exists(const struct condition *condition, const struct item *item)
{
    struct value value;
    return path_resolve(&condition->operands[0].path, item, &value);
}

/* Recursion follows the parsed expression, whose depth the parser bounds. */
bool condition_matches(const struct condition *condition, const struct item *item)
{
    switch (condition->type) {
    case CONDITION_AND:
        return condition_matches(condition->left, item) &&
               condition_matches(condition->right, item);
    case CONDITION_OR:
        return condition_matches(condition->left, item) ||
               condition_matches(condition->right, item);
    case CONDITION_NOT:
        return !condition_matches(condition->left, item);
    case CONDITION_COMPARE:
        return compare_operands(condition, item);
    case CONDITION_BETWEEN:
        return is_between(condition, item);
    case CONDITION_IN:
        return is_in(condition, item);
    case CONDITION_ATTRIBUTE_EXISTS:
        return exists(condition, item);
    case CONDITION_ATTRIBUTE_NOT_EXISTS:
        return !exists(condition, item);
    case CONDITION_ATTRIBUTE_TYPE:
        return has_type(condition, item);
    case CONDITION_BEGINS_WITH:
        return begins_with(condition, item);
    case CONDITION_CONTAINS:
        return contains(condition, item);
    }
    assert(false);
    return false;
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
