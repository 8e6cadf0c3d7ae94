/* partiql_key.h -- what the condition of a statement says about keys.
 *
 * A condition is looked at as the terms that its outermost ANDs join. A term that compares a whole
 * key attribute with a value narrows what is read or names what is written. All terms stay in the
 * condition and are evaluated: that a term chose the item makes it true, not superfluous.
 */
#ifndef STATOR_API_PARTIQL_PARTIQL_KEY_H
#define STATOR_API_PARTIQL_PARTIQL_KEY_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct condition;
struct error;
struct item;
struct key_attribute;
struct key_schema;
struct operand;
struct value;

/* In the order of the text. */
struct partiql_terms {
    const struct condition **items;
    size_t count;
};
/* `where` is NULL where a statement has none. */
struct partiql_terms partiql_key_terms(struct arena *arena, const struct condition *where);

/* Is the operand the whole attribute of that name? */
bool partiql_key_is_attribute(const struct operand *operand, struct bytes name);
/* The value that the term says the attribute is equal to; NULL if it says something else. */
const struct value *partiql_key_equal_value(const struct condition *term, struct bytes name);
MUST_CHECK bool partiql_key_check_type(const struct key_attribute *attribute,
                                       const struct value *value, struct error *err);

/* The primary key that the condition names, by one equality for each of its attributes. The key
 * lives in the arena. */
MUST_CHECK bool partiql_key_of_condition(struct arena *arena, const struct condition *where,
                                         const struct key_schema *schema, struct item *key,
                                         struct error *err);

/* What a condition says of the primary key. */
enum partiql_key_form {
    PARTIQL_KEY_OPEN,     /* Not one equality for each attribute. */
    PARTIQL_KEY_WHOLE,    /* One for each, and nothing else. */
    PARTIQL_KEY_AND_MORE, /* One for each, and other terms. */
};
enum partiql_key_form partiql_key_form_of(struct arena *arena, const struct condition *where,
                                          const struct key_schema *schema);

#endif
