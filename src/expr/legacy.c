/* legacy.c -- see legacy.h.
 *
 * The rules of one attribute are checked in the service's order before those of the next attribute.
 * Messages name the attribute only where Expected's own fields contradict each other.
 */
#include "expr/legacy.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "expr/lookup.h"
#include "expr/params.h"
#include "expr/path.h"
#include "model/error.h"
#include "model/limits.h"

/* --- Expressions and older parameters in one request --- */

static void list_present(struct buffer *out, const struct legacy_mix_parameter *parameters,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!parameters[i].present)
            continue;
        if (out->len > 0)
            buffer_append(out, ", ", 2);
        buffer_append(out, parameters[i].name, strlen(parameters[i].name));
    }
}

bool legacy_mix_check(const struct legacy_mix_parameter *legacy, size_t legacy_count,
                      const struct legacy_mix_parameter *expressions, size_t expression_count,
                      struct error *err)
{
    struct buffer left;
    struct buffer right;
    buffer_init(&left, err->arena);
    buffer_init(&right, err->arena);
    list_present(&left, legacy, legacy_count);
    list_present(&right, expressions, expression_count);
    if (left.len == 0 || right.len == 0)
        return true;
    return error_fault(err,
                       "Can not use both expression and non-expression parameters in the "
                       "same request: Non-expression parameters: {%.*s} Expression "
                       "parameters: {%.*s}",
                       BYTES_FMT(buffer_bytes(&left)), BYTES_FMT(buffer_bytes(&right)));
}

/* --- Conditions --- */

#define INVALID "One or more parameter values were invalid: "

enum {
    TYPES_ANY = (1u << VALUE_TYPE_COUNT) - 1,
    TYPES_ORDERED = 1u << VALUE_S | 1u << VALUE_N | 1u << VALUE_B,
    TYPES_PREFIX = 1u << VALUE_S | 1u << VALUE_B,
    TYPES_CONTAINED = TYPES_ORDERED | 1u << VALUE_BOOL | 1u << VALUE_NULL,
    VALUES_UNBOUNDED = 0,
};

enum operator_id {
    OPERATOR_EQ,
    OPERATOR_NE,
    OPERATOR_IN,
    OPERATOR_LE,
    OPERATOR_LT,
    OPERATOR_GE,
    OPERATOR_GT,
    OPERATOR_BETWEEN,
    OPERATOR_NOT_NULL,
    OPERATOR_NULL,
    OPERATOR_CONTAINS,
    OPERATOR_NOT_CONTAINS,
    OPERATOR_BEGINS_WITH,
    OPERATOR_COUNT,
};

static const struct operator_rule {
    const char *name;
    size_t value_count; /* For IN: at least one. */
    unsigned types;     /* One bit per type that the values may have. */
    enum condition_type type;
    enum comparator comparator;
} rules[] = {
    [OPERATOR_EQ] = { "EQ", 1, TYPES_ANY, CONDITION_COMPARE, COMPARE_EQUAL },
    [OPERATOR_NE] = { "NE", 1, TYPES_ANY, CONDITION_COMPARE, COMPARE_NOT_EQUAL },
    [OPERATOR_IN] = { "IN", VALUES_UNBOUNDED, TYPES_ORDERED, CONDITION_IN, COMPARE_EQUAL },
    [OPERATOR_LE] = { "LE", 1, TYPES_ORDERED, CONDITION_COMPARE, COMPARE_LESS_EQUAL },
    [OPERATOR_LT] = { "LT", 1, TYPES_ORDERED, CONDITION_COMPARE, COMPARE_LESS },
    [OPERATOR_GE] = { "GE", 1, TYPES_ORDERED, CONDITION_COMPARE, COMPARE_GREATER_EQUAL },
    [OPERATOR_GT] = { "GT", 1, TYPES_ORDERED, CONDITION_COMPARE, COMPARE_GREATER },
    [OPERATOR_BETWEEN] = { "BETWEEN", 2, TYPES_ORDERED, CONDITION_BETWEEN, COMPARE_EQUAL },
    [OPERATOR_NOT_NULL] = { "NOT_NULL", 0, TYPES_ANY, CONDITION_ATTRIBUTE_EXISTS, COMPARE_EQUAL },
    [OPERATOR_NULL] = { "NULL", 0, TYPES_ANY, CONDITION_ATTRIBUTE_NOT_EXISTS, COMPARE_EQUAL },
    [OPERATOR_CONTAINS] = { "CONTAINS", 1, TYPES_CONTAINED, CONDITION_CONTAINS, COMPARE_EQUAL },
    [OPERATOR_NOT_CONTAINS] = { "NOT_CONTAINS", 1, TYPES_CONTAINED, CONDITION_CONTAINS,
                                COMPARE_EQUAL },
    [OPERATOR_BEGINS_WITH] = { "BEGINS_WITH", 1, TYPES_PREFIX, CONDITION_BEGINS_WITH,
                               COMPARE_EQUAL },
};
static_assert(COUNT_OF(rules) == OPERATOR_COUNT, "each operator has its row");

/* --- Rules --- */

/* The rules that names in expressions have, too. */
static bool check_name(struct bytes name, struct error *err)
{
    if (name.len == 0)
        return error_validation(err, "Empty attribute name");
    if (name.len > ATTRIBUTE_NAME_SIZE_MAX)
        return error_fault(err, "Attribute name is too large, must be less than %d bytes",
                           ATTRIBUTE_NAME_SIZE_MAX + 1);
    return true;
}

static bool find_operator(struct bytes name, enum operator_id *out, struct error *err)
{
    for (enum operator_id id = 0; id < OPERATOR_COUNT; id++) {
        if (bytes_equal_text(name, rules[id].name)) {
            *out = id;
            return true;
        }
    }
    return error_fault(err, "Comparison type does not exist in DynamoDB");
}

static bool check_count(enum operator_id id, size_t count, struct error *err)
{
    if (id == OPERATOR_IN ? count > 0 : count == rules[id].value_count)
        return true;
    return error_fault(err, INVALID "Invalid number of argument(s) for the %s ComparisonOperator",
                       rules[id].name);
}

static bool check_types(enum operator_id id, const struct value *values, size_t count,
                        struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        if ((rules[id].types & (1u << values[i].type)) == 0)
            return error_fault(
                err, INVALID "ComparisonOperator %s is not valid for %s AttributeValue type",
                rules[id].name, value_type_name(values[i].type));
    }
    for (size_t i = 1; i < count; i++) {
        if (values[i].type != values[0].type)
            return error_fault(err, INVALID
                               "AttributeValues inside AttributeValueList must be of same type");
    }
    /* Strings, binary values and encoded numbers are all ordered by their bytes. */
    if (id == OPERATOR_BETWEEN && bytes_compare(values[0].data, values[1].data) > 0)
        return error_fault(err, "The BETWEEN condition was provided a range where the lower "
                                "bound is greater than the upper bound");
    return true;
}

/* An operator with its values, from any of the parameters. */
struct comparison {
    enum operator_id id;
    const struct value *values;
    size_t count;
};

static bool read_comparison(const struct legacy_condition *condition, struct comparison *out,
                            struct error *err)
{
    *out = (struct comparison){ .values = condition->values, .count = condition->value_count };
    if (condition->value != NULL) {
        out->values = condition->value;
        out->count = 1;
    }
    return find_operator(condition->comparison_operator, &out->id, err) &&
           check_count(out->id, out->count, err) &&
           check_types(out->id, out->values, out->count, err);
}

static bool fail_for(const struct legacy_condition *condition, const char *rule, struct error *err)
{
    return error_fault(err, INVALID "%s for Attribute: %.*s", rule, BYTES_FMT(condition->name));
}

/* Checks that the fields of one member of Expected fit together. */
static bool check_expected(const struct legacy_condition *condition, struct error *err)
{
    bool has_operator = condition->comparison_operator.data != NULL;
    if (has_operator && condition->exists != LEGACY_EXISTS_ABSENT)
        return fail_for(condition, "Exists and ComparisonOperator cannot be used together", err);
    if (condition->value != NULL && condition->values_present)
        return fail_for(condition, "Value and AttributeValueList cannot be used together", err);
    if (condition->values_present && !has_operator)
        return fail_for(condition, "AttributeValueList can only be used with a ComparisonOperator",
                        err);
    if (has_operator) {
        if (condition->value != NULL || condition->values_present ||
            bytes_equal_text(condition->comparison_operator, "NULL") ||
            bytes_equal_text(condition->comparison_operator, "NOT_NULL"))
            return true;
        return error_fault(err,
                           INVALID "Value or AttributeValueList must be used with "
                                   "ComparisonOperator: %.*s for Attribute: %.*s",
                           BYTES_FMT(condition->comparison_operator), BYTES_FMT(condition->name));
    }
    if (condition->exists == LEGACY_EXISTS_FALSE && condition->value != NULL)
        return fail_for(condition, "Value cannot be used when Exists is false", err);
    if (condition->exists != LEGACY_EXISTS_FALSE && condition->value == NULL)
        return fail_for(condition,
                        condition->exists == LEGACY_EXISTS_TRUE
                            ? "Value must be provided when Exists is true"
                            : "Value must be provided when Exists is null",
                        err);
    return true;
}

static bool read_expected(const struct legacy_condition *condition, struct comparison *out,
                          struct error *err)
{
    if (!check_expected(condition, err))
        return false;
    if (condition->comparison_operator.data != NULL)
        return read_comparison(condition, out, err);
    bool absent = condition->exists == LEGACY_EXISTS_FALSE;
    *out = (struct comparison){ absent ? OPERATOR_NULL : OPERATOR_EQ, condition->value,
                                absent ? 0 : 1 };
    return true;
}

/* --- Translation --- */

static struct path attribute_path(struct arena *arena, struct bytes name)
{
    struct path_step *step = arena_alloc(arena, sizeof *step);
    *step = (struct path_step){ .name = name };
    return (struct path){ .steps = step, .step_count = 1 };
}

static struct condition *new_condition(struct arena *arena, enum condition_type type)
{
    struct condition *condition = arena_alloc_zeroed(arena, sizeof *condition);
    condition->type = type;
    return condition;
}

static const struct condition *join(struct arena *arena, enum condition_type type,
                                    const struct condition *left, const struct condition *right)
{
    struct condition *condition = new_condition(arena, type);
    condition->left = left;
    condition->right = right;
    return condition;
}

static const struct condition *translate(struct arena *arena, struct bytes name,
                                         const struct comparison *comparison)
{
    const struct operator_rule *rule = &rules[comparison->id];
    struct lookup_values *list = NULL;
    size_t count = comparison->count;
    if (rule->type == CONDITION_IN)
        list = lookup_values_create(arena, comparison->values, count);
    if (list != NULL)
        count = 0; /* `list` has the values; operands would only take memory. */
    struct operand *operands = arena_alloc_zeroed(arena, (1 + count) * sizeof *operands);
    operands[0].type = OPERAND_PATH;
    operands[0].path = attribute_path(arena, name);
    for (size_t i = 0; i < count; i++) {
        operands[1 + i].type = OPERAND_VALUE;
        operands[1 + i].value = comparison->values[i];
    }
    struct condition *condition = new_condition(arena, rule->type);
    condition->comparator = rule->comparator;
    condition->operands = operands;
    condition->operand_count = 1 + count;
    condition->list = list;
    if (comparison->id != OPERATOR_NOT_CONTAINS)
        return condition;
    /* NOT_CONTAINS fails for a missing attribute. */
    struct condition *exists = new_condition(arena, CONDITION_ATTRIBUTE_EXISTS);
    exists->operands = operands;
    exists->operand_count = 1;
    return join(arena, CONDITION_AND, exists, join(arena, CONDITION_NOT, condition, NULL));
}

/* Joins conditions in pairs, then the pairs, and so on, so that the tree stays flat: its evaluation
 * is recursive, and a request may have very many conditions. */
static const struct condition *join_all(struct arena *arena, enum condition_type type,
                                        const struct condition **conditions, size_t count)
{
    assert(count > 0);
    while (count > 1) {
        size_t joined = 0;
        for (size_t i = 0; i + 1 < count; i += 2)
            conditions[joined++] = join(arena, type, conditions[i], conditions[i + 1]);
        if (count % 2 != 0)
            conditions[joined++] = conditions[count - 1];
        count = joined;
    }
    return conditions[0];
}

static const struct condition *
translate_all(struct arena *arena, const struct legacy_condition *conditions, size_t count,
              enum condition_type junction,
              bool (*read)(const struct legacy_condition *, struct comparison *, struct error *),
              struct error *err)
{
    const struct condition **translated = arena_alloc(arena, count * sizeof *translated);
    for (size_t i = 0; i < count; i++) {
        struct comparison comparison;
        if (!check_name(conditions[i].name, err) || !read(&conditions[i], &comparison, err))
            return NULL;
        translated[i] = translate(arena, conditions[i].name, &comparison);
    }
    return join_all(arena, junction, translated, count);
}

static enum condition_type junction_of(enum legacy_operator conditional_operator)
{
    return conditional_operator == LEGACY_OR ? CONDITION_OR : CONDITION_AND;
}

const struct condition *legacy_condition_expected(struct arena *arena,
                                                  const struct legacy_condition *conditions,
                                                  size_t count,
                                                  enum legacy_operator conditional_operator,
                                                  struct error *err)
{
    return translate_all(arena, conditions, count, junction_of(conditional_operator), read_expected,
                         err);
}

const struct condition *
legacy_condition_filter(struct arena *arena, const struct legacy_condition *conditions,
                        size_t count, enum legacy_operator conditional_operator, struct error *err)
{
    return translate_all(arena, conditions, count, junction_of(conditional_operator),
                         read_comparison, err);
}

bool legacy_condition_check_operator(bool present, size_t condition_count, struct error *err)
{
    if (!present || condition_count > 1)
        return true;
    return error_fault(
        err, condition_count == 0
                 ? "ConditionalOperator cannot be used without Filter or Expected"
                 : "ConditionalOperator can only be used when Filter or Expected has two or more "
                   "elements");
}

/* --- KeyConditions --- */

static bool make_term(const struct legacy_condition *condition, struct key_term *out,
                      struct error *err)
{
    struct comparison comparison;
    if (!read_comparison(condition, &comparison, err))
        return false;
    *out =
        (struct key_term){ .name = condition->name, .comparator = rules[comparison.id].comparator };
    switch (comparison.id) {
    case OPERATOR_EQ:
    case OPERATOR_LE:
    case OPERATOR_LT:
    case OPERATOR_GE:
    case OPERATOR_GT:
        out->type = KEY_TERM_COMPARE;
        break;
    case OPERATOR_BETWEEN:
        out->type = KEY_TERM_BETWEEN;
        out->values[1] = comparison.values[1];
        break;
    case OPERATOR_BEGINS_WITH:
        out->type = KEY_TERM_BEGINS_WITH;
        break;
    default:
        return error_validation(err,
                                "Attempted conditional constraint is not an indexable operation");
    }
    out->values[0] = comparison.values[0];
    return true;
}

const struct key_condition *legacy_condition_keys(struct arena *arena,
                                                  const struct legacy_condition *conditions,
                                                  size_t count, struct error *err)
{
    struct key_term *terms = arena_alloc(arena, count * sizeof *terms);
    for (size_t i = 0; i < count; i++) {
        if (!make_term(&conditions[i], &terms[i], err))
            return NULL;
    }
    struct key_condition *out = arena_alloc(arena, sizeof *out);
    *out = (struct key_condition){ .terms = terms, .term_count = count, .is_legacy = true };
    return out;
}

/* --- AttributeUpdates --- */

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

static bool translate_update(struct arena *arena, const struct legacy_update *from,
                             const struct operand **none, struct update_action *out,
                             struct error *err)
{
    struct bytes action = from->action.data == NULL ? BYTES("PUT") : from->action;
    bool delete = bytes_equal_text(action, "DELETE");
    if (!check_name(from->name, err))
        return false;
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
        if (!translate_update(arena, &updates[i], &none, &actions[i], err))
            return NULL;
    }
    struct update *out = arena_alloc(arena, sizeof *out);
    *out = (struct update){ .actions = actions, .action_count = count, .is_legacy = true };
    return out;
}

/* --- AttributesToGet --- */

enum { NAMES_LOOKED_AT_FIRST = 1024 };

/* By name, equal ones in the order of the request. */
static int compare_names(const void *left, const void *right, void *context)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct bytes *const *names = context;
    int order = bytes_compare((*names)[a], (*names)[b]);
    if (order != 0)
        return order;
    return a < b ? -1 : a > b;
}

/* Sorts the indexes of `count` names by name. Returns the index of the first name that repeats an
 * earlier one; `count` if there is none. */
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

/* A request has room for millions of names. If there are so many, most may be equal, so a few are
 * sorted first. */
const struct path_node *legacy_update_projection(struct arena *arena, const struct bytes *names,
                                                 size_t count, struct error *err)
{
    assert(count <= UINT32_MAX); /* Requests are smaller by far. */
    for (size_t i = 0; i < count; i++) {
        if (!check_name(names[i], err))
            return NULL;
    }
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
