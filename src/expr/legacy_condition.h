/* legacy_condition.h -- Expected, QueryFilter, ScanFilter and KeyConditions as compiled
 * expressions.
 *
 * The older parameters become the same structures that the parsers make, so that there is one
 * evaluator. Results live in the arena and borrow from the input.
 */
#ifndef STATOR_EXPR_LEGACY_CONDITION_H
#define STATOR_EXPR_LEGACY_CONDITION_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "expr/ast.h"
#include "model/value.h"

struct arena;
struct error;

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

/* ConditionalOperator may stand only beside two conditions or more. */
MUST_CHECK bool legacy_condition_check_operator(bool present, size_t condition_count,
                                                struct error *err);

#endif
