/* key_condition_check.h -- whether a key condition fits the keys of a table or index. */
#ifndef STATOR_EXPR_KEY_CONDITION_CHECK_H
#define STATOR_EXPR_KEY_CONDITION_CHECK_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "expr/ast.h"
#include "model/limits.h"

struct error;

/* The key attributes of what is queried, in the order of its key schema. */
struct key_condition_schema {
    struct key_condition_attribute {
        struct bytes name;
        enum value_type type; /* S, N or B */
    } hash[INDEX_HASH_KEYS_MAX], range[INDEX_RANGE_KEYS_MAX];
    size_t hash_count;
    size_t range_count;
};

/* The terms put in the order of the schema. */
struct key_condition_plan {
    const struct key_term *hash[INDEX_HASH_KEYS_MAX]; /* One "=" for each. */
    const struct key_term *range[INDEX_RANGE_KEYS_MAX];
    size_t range_count; /* The first ones, without a gap; all but the last are "=". */
};

MUST_CHECK bool key_condition_check(const struct key_condition *condition,
                                    const struct key_condition_schema *schema,
                                    struct key_condition_plan *plan, struct error *err);

#endif
