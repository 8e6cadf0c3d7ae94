/* item_range.h -- which stored keys a query or a scan reads, and in which order.
 *
 * A key is encoded parts in a row, each of which delimits itself (doc/disk-format.md, "Item keys").
 * So all keys that agree in their first parts are one range, a condition on the next part narrows
 * it, and what follows that part does not matter: entries of an index, whose keys go on with the
 * base table's key, are read by the same ranges.
 */
#ifndef STATOR_TABLE_ITEM_RANGE_H
#define STATOR_TABLE_ITEM_RANGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "model/limits.h"
#include "model/value.h"

struct arena;
struct index_definition;
struct table_definition;

/* A range of one partition. Its bytes live in the arena it was made in. */
struct item_range {
    struct engine_range engine; /* Without limits. */
    /* The last key that it can hold in its direction, where a condition says so (`<=`, BETWEEN;
     * read backward `>=`, BETWEEN) or the table has no sort key: there is nothing behind that key.
     * Data NULL: unknown. */
    struct bytes end;
};

enum item_range_test {
    ITEM_RANGE_ALL,
    ITEM_RANGE_EQUAL,
    ITEM_RANGE_LESS,
    ITEM_RANGE_LESS_EQUAL,
    ITEM_RANGE_GREATER,
    ITEM_RANGE_GREATER_EQUAL,
    ITEM_RANGE_BETWEEN,
    ITEM_RANGE_BEGINS_WITH, /* S and B only. */
};
/* On the sort key. Values are no longer than SORT_KEY_SIZE_MAX. */
struct item_range_condition {
    enum item_range_test test;
    struct value values[2]; /* The second: BETWEEN's upper bound. */
};

/* What the keys of a range have in common: the whole partition key, at most PARTITION_KEY_SIZE_MAX
 * each part, and perhaps the first attributes of a sort key of several. */
struct item_range_key {
    const struct index_definition *index; /* Whose entries are read; NULL: the table's items. */
    const struct value *hash[INDEX_HASH_KEYS_MAX];
    size_t hash_count;
    const struct value *equal[INDEX_RANGE_KEYS_MAX];
    size_t equal_count;
};
/* The items or entries of one partition key. The condition is on the part behind what `key` has. */
void item_range_of_key(struct arena *arena, const struct table_definition *table,
                       const struct item_range_key *key,
                       const struct item_range_condition *condition, bool reverse,
                       struct item_range *out);

/* One part of a table's items or an index's entries, by the hash of the partition key. All segments
 * of one total hold every item exactly once, and an item never changes its segment. */
struct item_range_segment {
    uint32_t index; /* Below `total`. */
    uint32_t total; /* 1: all of it. */
};
bool item_range_segment_contains(const struct item_range_segment *segment, uint64_t hash);
/* The ranges of a segment in the order of the hash, at most one for each partition. `index` NULL:
 * of the table's items. Returns how many; `*out` lives in the arena. */
size_t item_range_of_segment(struct arena *arena, const struct table_definition *table,
                             const struct index_definition *index,
                             const struct item_range_segment *segment, struct item_range **out);

/* Leaves what comes behind `key` in the direction of the range. False, and the range unchanged, if
 * the range does not hold that key, or holds nothing behind it. */
MUST_CHECK bool item_range_start_behind(struct arena *arena, struct item_range *range,
                                        struct bytes key);

#endif
