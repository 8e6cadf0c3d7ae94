/* policy_condition.h -- one test of a statement's Condition: an operator, a context key, values.
 * Private to auth/.
 */
#ifndef STATOR_AUTH_POLICY_CONDITION_H
#define STATOR_AUTH_POLICY_CONDITION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "auth/pattern.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/number.h"

struct arena;
struct error;
struct policy_request;

/* --- Values, by the family of their operator --- */

enum condition_family {
    FAMILY_STRING,
    FAMILY_STRING_IGNORING_CASE,
    FAMILY_STRING_LIKE,
    FAMILY_NUMBER,
    FAMILY_TIME,
    FAMILY_BOOL,
    FAMILY_ARN,
    FAMILY_ADDRESS,
    FAMILY_ABSENCE, /* Null: tests whether the key is absent. */
};

enum { ARN_PARTS = 6, ADDRESS_SIZE_MAX = 16 };

struct address_range {
    uint8_t bytes[ADDRESS_SIZE_MAX];
    unsigned size;        /* 4 or 16. */
    unsigned prefix_bits; /* How many of its bits are compared. */
};

struct condition_value {
    union {
        struct pattern text;
        struct pattern arn[ARN_PARTS]; /* Each part is compared on its own. */
        struct number number;
        int64_t time_ms;
        bool boolean; /* Also of FAMILY_ABSENCE. */
        struct address_range address;
    };
};

/* --- Conditions --- */

enum condition_order {
    CONDITION_EQUAL,
    CONDITION_LESS,
    CONDITION_LESS_OR_EQUAL,
    CONDITION_GREATER,
    CONDITION_GREATER_OR_EQUAL,
};

/* How many of the request's values must pass. */
enum condition_quantifier {
    CONDITION_SINGLE, /* An operator for keys with one value. */
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

/* True if the condition is met. If the request leaves that open, `deny` decides, so that a denial
 * applies and a permission does not. */
bool policy_condition_holds(struct arena *arena, const struct policy_condition *condition,
                            const struct policy_request *request, bool deny);

#endif
