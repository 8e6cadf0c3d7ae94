/* legacy.h -- the parameters that are older than expressions, as compiled expressions: Expected,
 * QueryFilter, ScanFilter, KeyConditions, AttributeUpdates and AttributesToGet.
 *
 * They become the same structures that the parsers make, so that there is one evaluator. Results
 * live in the arena and borrow from the input.
 */
#ifndef STATOR_EXPR_LEGACY_H
#define STATOR_EXPR_LEGACY_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "expr/ast.h"
#include "model/value.h"

struct arena;
struct error;
struct path_node;

/* A parameter of the request and whether it was sent. The message names them in the order given.
 * The service's orders: AttributesToGet, AttributeUpdates, QueryFilter or ScanFilter, Expected,
 * ConditionalOperator, KeyConditions; and ProjectionExpression, UpdateExpression,
 * FilterExpression, ConditionExpression, KeyConditionExpression. */
struct legacy_mix_parameter {
    const char *name;
    bool present;
};

/* Refuses requests that mix the older parameters with expressions. */
MUST_CHECK bool legacy_mix_check(const struct legacy_mix_parameter *legacy, size_t legacy_count,
                                 const struct legacy_mix_parameter *expressions,
                                 size_t expression_count, struct error *err);
/* One member of Expected, QueryFilter, ScanFilter or KeyConditions. */
struct legacy_condition {
    struct bytes name;
    struct bytes comparison_operator; /* data NULL: absent. */
    bool values_present;              /* AttributeValueList was given, though it may be empty. */
    const struct value *values;
    size_t value_count;
    /* Expected only. */
    const struct value *value; /* NULL: absent. */
    enum legacy_exists { LEGACY_EXISTS_ABSENT, LEGACY_EXISTS_FALSE, LEGACY_EXISTS_TRUE } exists;
};

enum legacy_operator { LEGACY_AND, LEGACY_OR }; /* ConditionalOperator; AND where absent. */

/* `conditions` sorted by name. `count` is at least 1. */
MUST_CHECK const struct condition *
legacy_condition_expected(struct arena *arena, const struct legacy_condition *conditions,
                          size_t count, enum legacy_operator conditional_operator,
                          struct error *err);
/* QueryFilter and ScanFilter. */
MUST_CHECK const struct condition *
legacy_condition_filter(struct arena *arena, const struct legacy_condition *conditions,
                        size_t count, enum legacy_operator conditional_operator, struct error *err);
MUST_CHECK const struct key_condition *
legacy_condition_keys(struct arena *arena, const struct legacy_condition *conditions, size_t count,
                      struct error *err);

/* ConditionalOperator requires two conditions or more. */
MUST_CHECK bool legacy_condition_check_operator(bool present, size_t condition_count,
                                                struct error *err);

/* One member of AttributeUpdates. */
struct legacy_update {
    struct bytes name;
    struct bytes action;       /* "PUT", "ADD", "DELETE"; data NULL: absent, which means PUT. */
    const struct value *value; /* NULL: absent. */
};

/* `updates` sorted by name. The result and `updates` may be empty. */
MUST_CHECK const struct update *legacy_update_translate(struct arena *arena,
                                                        const struct legacy_update *updates,
                                                        size_t count, struct error *err);

/* AttributesToGet as a tree of paths: each name is one whole attribute, dots and brackets included.
 * Borrows `names`. */
MUST_CHECK const struct path_node *legacy_update_projection(struct arena *arena,
                                                            const struct bytes *names, size_t count,
                                                            struct error *err);

#endif
