/* key_condition_check.c -- see key_condition_check.h.
 *
 * The service words its refusals differently for the keys every table has (one partition key, at
 * most one sort key) and for the multi-attribute keys of an index.
 */
#include "expr/key_condition_check.h"
#include "base/buffer.h"
#include "model/error.h"

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
    if (condition->term_count > 2)
        return error_validation(err, "Conditions can be of length 1 or 2 only");
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
    *plan = (struct key_condition_plan){ .range_count = 0 };
    if (schema->hash_count == 1 && schema->range_count <= 1)
        return check_simple(condition, schema, plan, err);
    return check_multiple(condition, schema, plan, err);
}
