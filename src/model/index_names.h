/* index_names.h -- which attributes the indexes of a table look at, sorted once per definition.
 *
 * An index refers to its attributes by their positions in one sorted list of names. The attributes
 * of an item are sorted as well, so one walk over the item finds the values for all indexes
 * (index/index_view.h), and a write searches nothing.
 */
#ifndef STATOR_MODEL_INDEX_NAMES_H
#define STATOR_MODEL_INDEX_NAMES_H
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "model/limits.h"

struct arena;
struct table_definition;

/* Positions in index_names.names. */
struct index_positions {
    uint16_t hash[INDEX_HASH_KEYS_MAX];
    uint16_t range[INDEX_RANGE_KEYS_MAX];
    /* What an entry holds, ascending: the keys of index and table, and the included attributes.
     * For an index that projects everything: the keys only. */
    const uint16_t *held;
    size_t held_count;
};

struct index_names {
    const struct bytes *names; /* Distinct, in the order of an item's attributes. */
    size_t count;
    uint16_t table_hash;
    uint16_t table_range;                  /* Only if the table's key has one. */
    const struct index_positions *indexes; /* In the order of the table's. */
};

/* Borrows the names; lives in the arena. NULL for a table without an index. */
const struct index_names *index_names_create(struct arena *arena,
                                             const struct table_definition *table);

#endif
