/* policy_condition.h -- one test of a statement's Condition: an operator, a context key, values.
 * Private to auth/.
 */
#ifndef STATOR_AUTH_POLICY_CONDITION_H
#define STATOR_AUTH_POLICY_CONDITION_H
#include <stdbool.h>
#include <stddef.h>
#include "auth/pattern.h"
#include "auth/condition_value.h"
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct error;
struct policy_request;

enum condition_order {
    CONDITION_EQUAL,
    CONDITION_LESS,
    CONDITION_LESS_OR_EQUAL,
    CONDITION_GREATER,
    CONDITION_GREATER_OR_EQUAL,
};

/* How many of the request's values must pass. */
enum condition_quantifier {
    CONDITION_SINGLE, /* The operator is made for keys of one value. */
    CONDITION_FOR_ALL,
    CONDITION_FOR_ANY,
};

struct condition_operator {
    enum condition_family family;
    enum condition_order order;
    bool negated; /* Passes what equals none of the values. */
    bool if_exists;
    enum condition_quantifier quantifier;
};

struct policy_condition {
    struct condition_operator op;
    struct bytes key;
    unsigned list; /* The enum policy_list that the key is; 0: none. */
    const struct condition_value *values;
    size_t count;
};

/* "ForAllValues:StringLikeIfExists" and its like. */
MUST_CHECK bool condition_operator_parse(struct bytes name, struct condition_operator *out,
                                         struct error *err);
/* The texts must outlive the condition. */
MUST_CHECK bool policy_condition_parse(struct arena *arena, const struct condition_operator *op,
                                       struct bytes key, const struct bytes *texts, size_t count,
                                       bool variables, struct policy_condition *out,
                                       struct error *err);

/* Whoever asks wants to know whether a statement applies. Where the request leaves it open, `deny`
 * decides: a denial then applies, and a permission does not. */
bool policy_condition_holds(struct arena *arena, const struct policy_condition *condition,
                            const struct policy_request *request, bool deny);

#endif
