/* condition.h -- does an item meet a condition or filter?
 *
 * Evaluated once per candidate item, so it allocates nothing: operands are views of the stored
 * bytes, and equality of any two values is memcmp.
 */
#ifndef STATOR_EXPR_CONDITION_H
#define STATOR_EXPR_CONDITION_H
#include <stdbool.h>
#include "expr/ast.h"
#include "model/value.h"

struct condition;
struct item;
struct path;

/* `item` is NULL when no item has the key: every attribute is then missing. */
bool condition_matches(const struct condition *condition, const struct item *item);

/* The value at a document path; false if there is none. `item` may be NULL. */
bool path_resolve(const struct path *path, const struct item *item, struct value *out);

/* `a < b` is `b > a`. */
enum comparator condition_turned(enum comparator comparator);

#endif
