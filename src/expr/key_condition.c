/* key_condition.c -- see key_condition.h.
 *
 * The text is parsed as any condition; the terms between its ANDs must then compare one whole
 * attribute with values.
 *
 * The service's messages differ for the keys that every table has (one partition key, at most one
 * sort key) and for the multi-attribute keys of an index.
 */
#include "expr/key_condition.h"
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "expr/condition.h"
#include "expr/parser.h"
#include "model/error.h"

#define INVALID "Invalid KeyConditionExpression: "

/* --- Parsing --- */

/* The name of a forbidden operator, for messages; NULL: it is allowed in key conditions. */
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

/* size(path), or size(:value), which the parser has evaluated. */
static bool is_nested_operation(const struct operand *operand)
{
    return operand->type == OPERAND_SIZE || operand->left != NULL;
}

/* Finds the one operand that is an attribute. */
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
                err, INVALID "KeyConditionExpressions cannot have conditions on nested attributes");
        if (found < condition->operand_count)
            return error_validation(err, INVALID "Invalid condition in KeyConditionExpression: "
                                                 "Multiple attribute names used in one condition");
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
                err, INVALID "KeyConditionExpressions must only contain one condition per key");
    }
    terms->count++;
    return true;
}

/* Visits the tree from left to right, an operator before its operands. A condition has at most one
 * term more than operators, which bounds both the terms and the stack. */
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

const struct key_condition *key_condition_compile(struct arena *arena,
                                                  const struct condition *parsed, struct error *err)
{
    struct terms terms = { .arena = arena };
    if (!collect(parsed, &terms, err))
        return NULL;
    struct key_condition *out = arena_alloc(arena, sizeof *out);
    *out = (struct key_condition){ .terms = terms.terms, .term_count = terms.count };
    return out;
}

/* --- Against the keys --- */

static const struct key_term *find_term(const struct key_condition *condition, struct bytes name)
{
    for (size_t i = 0; i < condition->term_count; i++) {
        if (bytes_equal(condition->terms[i].name, name))
            return &condition->terms[i];
    }
    return NULL;
}

static bool is_equality(const struct key_term *term)
{
    return term != NULL && term->type == KEY_TERM_COMPARE && term->comparator == COMPARE_EQUAL;
}

static bool fail_missing(struct bytes name, struct error *err)
{
    return error_validation(err, "Query condition missed key schema element: %.*s",
                            BYTES_FMT(name));
}

static bool fail_unsupported(struct error *err)
{
    return error_validation(err, "Query key condition not supported");
}

static bool check_type(const struct key_term *term, enum value_type type, struct error *err)
{
    if (term->values[0].type == type &&
        (term->type != KEY_TERM_BETWEEN || term->values[1].type == type))
        return true;
    return error_validation(err, "One or more parameter values were invalid: Condition parameter "
                                 "type does not match schema type");
}

static bool check_simple(const struct key_condition *condition,
                         const struct key_condition_schema *schema, struct key_condition_plan *plan,
                         struct error *err)
{
    if (condition->term_count > 2 && condition->is_legacy)
        return error_validation(err, "Conditions can be of length 1 or 2 only");
    if (condition->term_count > 2)
        return error_validation(err,
                                "The number of query conditions (%zu) exceeds the number of key "
                                "attributes defined in the schema (%zu)",
                                condition->term_count, schema->hash_count + schema->range_count);
    const struct key_term *hash = find_term(condition, schema->hash[0].name);
    if (hash == NULL)
        return fail_missing(schema->hash[0].name, err);
    if (!check_type(hash, schema->hash[0].type, err))
        return false;
    if (!is_equality(hash))
        return fail_unsupported(err);
    plan->hash[0] = hash;
    if (condition->term_count == 1)
        return true;
    if (schema->range_count == 0)
        return fail_unsupported(err);
    plan->range[0] = find_term(condition, schema->range[0].name);
    if (plan->range[0] == NULL)
        return fail_missing(schema->range[0].name, err);
    plan->range_count = 1;
    return check_type(plan->range[0], schema->range[0].type, err);
}

/* --- Multi-attribute keys --- */

static void list_name(struct buffer *names, struct bytes name)
{
    if (names->len > 0)
        buffer_append(names, ", ", 2);
    buffer_append_bytes(names, name);
}

static bool check_hashes(const struct key_condition *condition,
                         const struct key_condition_schema *schema, struct key_condition_plan *plan,
                         struct error *err)
{
    struct buffer wrong;
    buffer_init(&wrong, err->arena);
    for (size_t i = 0; i < schema->hash_count; i++) {
        plan->hash[i] = find_term(condition, schema->hash[i].name);
        if (!is_equality(plan->hash[i]))
            list_name(&wrong, schema->hash[i].name);
    }
    if (wrong.len > 0)
        return error_validation(err,
                                "HASH key attributes %.*s must have equality conditions specified "
                                "in the query",
                                BYTES_FMT(buffer_bytes(&wrong)));
    return true;
}

/* All sort key attributes before the last one that has a condition must be equal to a value. */
static bool check_ranges(const struct key_condition *condition,
                         const struct key_condition_schema *schema, struct key_condition_plan *plan,
                         struct error *err)
{
    for (size_t i = 0; i < schema->range_count; i++) {
        plan->range[i] = find_term(condition, schema->range[i].name);
        if (plan->range[i] == NULL)
            continue;
        struct buffer wrong;
        buffer_init(&wrong, err->arena);
        for (size_t before = 0; before < i; before++) {
            if (!is_equality(plan->range[before]))
                list_name(&wrong, schema->range[before].name);
        }
        if (wrong.len > 0)
            return error_validation(err,
                                    "RANGE key attributes %.*s must have equality conditions "
                                    "specified in the query because a condition is present on key "
                                    "attribute %.*s",
                                    BYTES_FMT(buffer_bytes(&wrong)),
                                    BYTES_FMT(schema->range[i].name));
        plan->range_count = i + 1;
    }
    return true;
}

static bool check_multiple(const struct key_condition *condition,
                           const struct key_condition_schema *schema,
                           struct key_condition_plan *plan, struct error *err)
{
    if (condition->term_count > schema->hash_count + schema->range_count)
        return fail_unsupported(err);
    if (!check_hashes(condition, schema, plan, err) || !check_ranges(condition, schema, plan, err))
        return false;
    /* Some term is on no key attribute, so some key attribute has no term. */
    if (condition->term_count > schema->hash_count + plan->range_count)
        return fail_missing(schema->range[plan->range_count].name, err);
    for (size_t i = 0; i < schema->hash_count; i++) {
        if (!check_type(plan->hash[i], schema->hash[i].type, err))
            return false;
    }
    for (size_t i = 0; i < plan->range_count; i++) {
        if (!check_type(plan->range[i], schema->range[i].type, err))
            return false;
    }
    return true;
}

bool key_condition_check(const struct key_condition *condition,
                         const struct key_condition_schema *schema, struct key_condition_plan *plan,
                         struct error *err)
{
    assert(schema->hash_count > 0 && schema->hash_count <= INDEX_HASH_KEYS_MAX);
    assert(schema->range_count <= INDEX_RANGE_KEYS_MAX);
    *plan = (struct key_condition_plan){ .range_count = 0 };
    if (schema->hash_count == 1 && schema->range_count <= 1)
        return check_simple(condition, schema, plan, err);
    return check_multiple(condition, schema, plan, err);
}
