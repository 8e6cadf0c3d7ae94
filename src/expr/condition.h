/* condition.h -- evaluates a condition or filter on an item.
 *
 * Evaluated once per candidate item: operands are views of the stored bytes, equality of any two
 * values is memcmp, and only a lookup in very large items takes memory.
 */
#ifndef STATOR_EXPR_CONDITION_H
#define STATOR_EXPR_CONDITION_H
#include <stdbool.h>
#include "base/bytes.h"
#include "expr/ast.h"

struct condition;
struct lookup;

/* Does the lookup's item match? Without an item, every attribute is missing. */
bool condition_matches(const struct condition *condition, struct lookup *lookup);

/* Does it look at this attribute, or into it? */
bool condition_mentions(const struct condition *condition, struct bytes name);

/* `a < b` is `b > a`. */
enum comparator condition_turned(enum comparator comparator);

#endif
