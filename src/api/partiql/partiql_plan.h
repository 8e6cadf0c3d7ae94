/* partiql_plan.h -- what the condition of a statement says about keys: which item it writes, or
 * which items it reads and in which order.
 *
 * A condition is seen as the terms that its outermost ANDs join. A term that compares a whole key
 * attribute with a value narrows what is read or names what is written. All terms stay in the
 * condition and are evaluated: that a term chose the item makes it true, not superfluous.
 *
 * Where the terms say what the partition key is, be it one value or several, a SELECT is a Query of
 * each; a condition on the sort key narrows it. Everything else is a Scan. Either way the whole
 * condition is the filter of what is read.
 */
#ifndef STATOR_API_PARTIQL_PARTIQL_PLAN_H
#define STATOR_API_PARTIQL_PARTIQL_PLAN_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/limits.h"

struct api_call;
struct arena;
struct condition;
struct error;
struct item;
struct item_range;
struct key_attribute;
struct key_schema;
struct read_source;
struct statement;
struct value;

/* A value that a key attribute is compared with or set to has to have its type. */
MUST_CHECK bool partiql_plan_check_type(const struct key_attribute *attribute,
                                        const struct value *value, struct error *err);

/* The primary key that the condition names, by one equality for each of its attributes. The key
 * lives in the arena. */
MUST_CHECK bool partiql_plan_key(struct arena *arena, const struct condition *where,
                                 const struct key_schema *schema, struct item *key,
                                 struct error *err);

/* What a condition says of the primary key. */
enum partiql_key_form {
    PARTIQL_KEY_OPEN,     /* Not one equality for each attribute. */
    PARTIQL_KEY_WHOLE,    /* One for each, and nothing else. */
    PARTIQL_KEY_AND_MORE, /* One for each, and other terms. */
};
enum partiql_key_form partiql_plan_key_form(struct arena *arena, const struct condition *where,
                                            const struct key_schema *schema);

/* Ranges of one statement at most. Conditions that would make more of them only filter. */
enum { PARTIQL_PLAN_RANGES_MAX = 1000 };

struct partiql_plan {
    struct item_range *ranges; /* In the order they are read; in the call's arena. */
    size_t range_count;
    bool is_query; /* The condition names the partition key; otherwise it is a Scan. */
};

struct partiql_values {
    const struct value *const *items;
    size_t count;
};
/* Every value that some term of the condition compares an attribute of the partition key with, for
 * equality, whatever its type. True if a SELECT reads only partitions of these values; false if it
 * reads all partitions. For decisions about access, which come before the plan. */
bool partiql_plan_partitions(struct arena *arena, const struct condition *where,
                             const struct key_attribute *hash, size_t hash_count,
                             struct partiql_values out[INDEX_HASH_KEYS_MAX]);

/* False with the error set if a key is compared with what it cannot be, or the order is none that
 * the keys have. */
MUST_CHECK bool partiql_plan_make(struct api_call *call, const struct read_source *source,
                                  const struct statement *statement, struct partiql_plan *out);

#endif
