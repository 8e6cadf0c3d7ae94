/* partiql_plan.h -- which items a SELECT reads, and in which order.
 *
 * Where the condition says what the partition key is, be it one value or several, the statement is
 * a Query of each; a condition on the sort key narrows it. Everything else is a Scan. Either way
 * the whole condition is the filter of what is read.
 */
#ifndef STATOR_API_PARTIQL_PARTIQL_PLAN_H
#define STATOR_API_PARTIQL_PARTIQL_PLAN_H
#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"
#include "model/limits.h"

struct api_call;
struct arena;
struct condition;
struct item_range;
struct key_attribute;
struct read_source;
struct statement;
struct value;

/* Ranges of one statement at most. Conditions that would make more of them only filter. */
enum { PARTIQL_PLAN_RANGES_MAX = 1000 };

struct partiql_plan {
    struct item_range *ranges; /* In the order they are read; in the call's arena. */
    size_t range_count;
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
