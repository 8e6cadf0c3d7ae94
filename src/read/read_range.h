/* read_range.h -- conditions on the key of a source as ranges of its items or entries. */
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

/* The key of a source: the table's or the index's. */
struct read_key {
    const struct index_definition *index; /* NULL: the table's. */
    struct key_attribute hash[INDEX_HASH_KEYS_MAX];
    struct key_attribute range[INDEX_RANGE_KEYS_MAX];
    size_t hash_count;
    size_t range_count;
};
struct read_key read_range_key(const struct read_source *source);
struct key_condition_schema read_range_schema(const struct read_key *key);

/* Refuses values that no key can have. Their types fit. */
MUST_CHECK bool read_range_check_values(const struct read_key *key,
                                        const struct key_condition_plan *plan, struct error *err);

/* The range that the terms select. False if no item can match. */
MUST_CHECK bool read_range_of_plan(struct arena *arena, const struct read_source *source,
                                   const struct read_key *key,
                                   const struct key_condition_plan *plan, bool reverse,
                                   struct item_range *out);

/* Removes from `ranges`, which are in reading order, everything up to and including `key`; all of
 * them if no range holds the key. */
void read_range_start_behind(struct arena *arena, struct item_range **ranges, size_t *count,
                             struct bytes key);

#endif
