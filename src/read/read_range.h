/* read_range.h -- what a condition on keys reads: terms on the keys of a source become a range of
 * its items or entries.
 */
#ifndef STATOR_READ_READ_RANGE_H
#define STATOR_READ_READ_RANGE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/key.h"
#include "model/limits.h"

struct arena;
struct error;
struct item_range;
struct key_condition_plan;
struct key_condition_schema;
struct read_source;

/* The key that a condition is on: the table's or the index's. */
struct read_key {
    const struct index_definition *index; /* NULL: the table's. */
    struct key_attribute hash[INDEX_HASH_KEYS_MAX];
    struct key_attribute range[INDEX_RANGE_KEYS_MAX];
    size_t hash_count;
    size_t range_count;
};
struct read_key read_range_key(const struct read_source *source);
struct key_condition_schema read_range_schema(const struct read_key *key);

/* The values of the terms, whose types fit, are values that keys can have. */
MUST_CHECK bool read_range_check_values(const struct read_key *key,
                                        const struct key_condition_plan *plan, struct error *err);

/* False if no item can match. */
MUST_CHECK bool read_range_of_plan(struct arena *arena, const struct read_source *source,
                                   const struct read_key *key,
                                   const struct key_condition_plan *plan, bool reverse,
                                   struct item_range *out);

/* Leaves of ranges in the order they are read what comes behind `key`; none if no range has it. */
void read_range_start_behind(struct arena *arena, struct item_range **ranges, size_t *count,
                             struct bytes key);

#endif
