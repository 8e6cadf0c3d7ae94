/* key_condition.h -- KeyConditionExpression: its text compiled, and whether it fits the keys of a
 * table or index.
 *
 * A parsed condition lives in the arena and borrows from the text and from what `params` was made
 * of. Errors are ERROR_VALIDATION with the service's message, of the first fault that the service
 * reports.
 */
#ifndef STATOR_EXPR_KEY_CONDITION_H
#define STATOR_EXPR_KEY_CONDITION_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "expr/ast.h"
#include "model/limits.h"

struct arena;
struct error;
struct condition;

/* `parsed` is the text as any condition (condition_parse); the result borrows its values. A caller
 * that reports unused placeholders does so in between: the service does. */
MUST_CHECK const struct key_condition *
key_condition_compile(struct arena *arena, const struct condition *parsed, struct error *err);

/* The key attributes of the table or index, in the order of its key schema. */
struct key_condition_schema {
    struct key_condition_attribute {
        struct bytes name;
        enum value_type type; /* S, N or B */
    } hash[INDEX_HASH_KEYS_MAX], range[INDEX_RANGE_KEYS_MAX];
    size_t hash_count;
    size_t range_count;
};

/* The terms in the order of the schema. */
struct key_condition_plan {
    const struct key_term *hash[INDEX_HASH_KEYS_MAX]; /* One "=" for each. */
    const struct key_term *range[INDEX_RANGE_KEYS_MAX];
    size_t range_count; /* The first ones, without a gap; all but the last are "=". */
};

/* False with the error set if the condition does not fit. The plan borrows the condition's terms.
 */
MUST_CHECK bool key_condition_check(const struct key_condition *condition,
                                    const struct key_condition_schema *schema,
                                    struct key_condition_plan *plan, struct error *err);

#endif
