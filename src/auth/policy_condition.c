/* policy_condition.c -- see policy_condition.h. */
#include "auth/policy_condition.h"
#include "auth/context_key.h"
#include "auth/policy.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "model/error.h"

/* --- From text --- */

static const struct {
    const char *name;
    enum condition_family family;
    enum condition_order order;
    bool negated;
} operators[] = {
    { "StringEquals", FAMILY_STRING, CONDITION_EQUAL, false },
    { "StringNotEquals", FAMILY_STRING, CONDITION_EQUAL, true },
    { "StringEqualsIgnoreCase", FAMILY_STRING_IGNORING_CASE, CONDITION_EQUAL, false },
    { "StringNotEqualsIgnoreCase", FAMILY_STRING_IGNORING_CASE, CONDITION_EQUAL, true },
    { "StringLike", FAMILY_STRING_LIKE, CONDITION_EQUAL, false },
    { "StringNotLike", FAMILY_STRING_LIKE, CONDITION_EQUAL, true },
    { "NumericEquals", FAMILY_NUMBER, CONDITION_EQUAL, false },
    { "NumericNotEquals", FAMILY_NUMBER, CONDITION_EQUAL, true },
    { "NumericLessThan", FAMILY_NUMBER, CONDITION_LESS, false },
    { "NumericLessThanEquals", FAMILY_NUMBER, CONDITION_LESS_OR_EQUAL, false },
    { "NumericGreaterThan", FAMILY_NUMBER, CONDITION_GREATER, false },
    { "NumericGreaterThanEquals", FAMILY_NUMBER, CONDITION_GREATER_OR_EQUAL, false },
    { "DateEquals", FAMILY_TIME, CONDITION_EQUAL, false },
    { "DateNotEquals", FAMILY_TIME, CONDITION_EQUAL, true },
    { "DateLessThan", FAMILY_TIME, CONDITION_LESS, false },
    { "DateLessThanEquals", FAMILY_TIME, CONDITION_LESS_OR_EQUAL, false },
    { "DateGreaterThan", FAMILY_TIME, CONDITION_GREATER, false },
    { "DateGreaterThanEquals", FAMILY_TIME, CONDITION_GREATER_OR_EQUAL, false },
    { "Bool", FAMILY_BOOL, CONDITION_EQUAL, false },
    { "IpAddress", FAMILY_ADDRESS, CONDITION_EQUAL, false },
    { "NotIpAddress", FAMILY_ADDRESS, CONDITION_EQUAL, true },
    /* "The ArnEquals and ArnLike condition operators behave identically." */
    { "ArnEquals", FAMILY_ARN, CONDITION_EQUAL, false },
    { "ArnLike", FAMILY_ARN, CONDITION_EQUAL, false },
    { "ArnNotEquals", FAMILY_ARN, CONDITION_EQUAL, true },
    { "ArnNotLike", FAMILY_ARN, CONDITION_EQUAL, true },
    { "Null", FAMILY_ABSENCE, CONDITION_EQUAL, false },
};

static bool take_prefix(struct bytes *text, struct bytes prefix)
{
    if (!bytes_starts_with(*text, prefix))
        return false;
    *text = bytes_of(text->data + prefix.len, text->len - prefix.len);
    return true;
}

static bool take_suffix(struct bytes *text, struct bytes suffix)
{
    if (text->len < suffix.len ||
        memcmp(text->data + text->len - suffix.len, suffix.data, suffix.len) != 0)
        return false;
    text->len -= suffix.len;
    return true;
}

bool condition_operator_parse(struct bytes name, struct condition_operator *out, struct error *err)
{
    struct bytes rest = name;
    *out = (struct condition_operator){ .quantifier = CONDITION_SINGLE };
    if (take_prefix(&rest, BYTES("ForAllValues:")))
        out->quantifier = CONDITION_FOR_ALL;
    else if (take_prefix(&rest, BYTES("ForAnyValue:")))
        out->quantifier = CONDITION_FOR_ANY;
    out->if_exists = take_suffix(&rest, BYTES("IfExists"));
    for (size_t i = 0; i < COUNT_OF(operators); i++) {
        if (!bytes_equal_text(rest, operators[i].name))
            continue;
        out->family = operators[i].family;
        out->order = operators[i].order;
        out->negated = operators[i].negated;
        /* Null asks for the key itself: neither an end nor a quantifier has a meaning there. */
        if (out->family != FAMILY_ABSENCE || rest.len == name.len)
            return true;
    }
    return error_validation(err, "Unknown condition operator: %.*s", BYTES_FMT(name));
}

static unsigned list_of(struct bytes key)
{
    if (context_key_equal(key, BYTES("dynamodb:LeadingKeys")))
        return POLICY_LEADING_KEYS;
    return context_key_equal(key, BYTES("dynamodb:Attributes")) ? POLICY_ATTRIBUTES : 0;
}

bool policy_condition_parse(struct arena *arena, const struct condition_operator *op,
                            struct bytes key, const struct bytes *texts, size_t count,
                            bool variables, struct policy_condition *out, struct error *err)
{
    struct condition_value *values = arena_alloc(arena, count * sizeof *values);
    if (!context_key_is_known(key))
        return error_validation(err, "Unknown condition key: %.*s", BYTES_FMT(key));
    if (count == 0)
        return error_validation(err, "A condition on %.*s has no values", BYTES_FMT(key));
    for (size_t i = 0; i < count; i++)
        if (!condition_value_parse(arena, op->family, texts[i], variables, &values[i]))
            return error_validation(err, "A condition on %.*s has an invalid value: %.*s",
                                    BYTES_FMT(key), BYTES_FMT(texts[i]));
    *out = (struct policy_condition){
        .op = *op, .key = key, .list = list_of(key), .values = values, .count = count
    };
    return true;
}

/* --- Tests --- */

static bool in_order(enum condition_order order, enum value_result result)
{
    switch (order) {
    case CONDITION_EQUAL:
        return result == RESULT_EQUAL;
    case CONDITION_LESS:
        return result == RESULT_LESS;
    case CONDITION_LESS_OR_EQUAL:
        return result == RESULT_LESS || result == RESULT_EQUAL;
    case CONDITION_GREATER:
        return result == RESULT_GREATER;
    case CONDITION_GREATER_OR_EQUAL:
        return result == RESULT_GREATER || result == RESULT_EQUAL;
    }
    return false;
}

/* One value of the request: does it stand in that order to some value of the policy, or, negated,
 * to none? */
static bool value_passes(struct arena *arena, const struct policy_condition *condition,
                         struct bytes text, const struct policy_request *request, bool deny)
{
    bool unresolved = false;
    for (size_t i = 0; i < condition->count; i++) {
        enum value_result result = condition_value_compare(arena, condition->op.family,
                                                           &condition->values[i], text, request);
        if (in_order(condition->op.order, result))
            return !condition->op.negated;
        unresolved = unresolved || result == RESULT_UNRESOLVED;
    }
    return unresolved ? deny : condition->op.negated;
}

static bool is_wanted_absent(const struct policy_condition *condition, bool absent)
{
    for (size_t i = 0; i < condition->count; i++)
        if (condition->values[i].boolean == absent)
            return true;
    return false;
}

/* An unknown value may be any: it passes where every value would, and where that denies. */
static bool unknown_value_passes(const struct policy_condition *condition, bool deny)
{
    bool passes = deny;
    for (size_t i = 0; i < condition->count && !passes; i++)
        passes = condition->op.family == FAMILY_STRING_LIKE && !condition->op.negated &&
                 pattern_matches_everything(&condition->values[i].text);
    return passes;
}

bool policy_condition_holds(struct arena *arena, const struct policy_condition *condition,
                            const struct policy_request *request, bool deny)
{
    const struct condition_operator *op = &condition->op;
    const struct policy_key *key = context_key_find(request, condition->key);
    bool has_unknown = (condition->list & request->lists_with_unknown_values) != 0;
    bool absent = key == NULL && !has_unknown;
    if (op->family == FAMILY_ABSENCE)
        return is_wanted_absent(condition, absent);
    if (absent)
        return op->if_exists || op->quantifier == CONDITION_FOR_ALL ||
               (op->quantifier == CONDITION_SINGLE && op->negated);
    /* What an operator for one value means for several is not defined. */
    bool any_is_enough =
        op->quantifier == CONDITION_FOR_ANY || (op->quantifier == CONDITION_SINGLE && deny);
    if (has_unknown && unknown_value_passes(condition, deny) == any_is_enough)
        return any_is_enough;
    for (size_t i = 0; key != NULL && i < key->count; i++)
        if (value_passes(arena, condition, key->values[i], request, deny) == any_is_enough)
            return any_is_enough;
    return !any_is_enough;
}
