/* partition_map.c -- see partition_map.h. */
#include "table/partition_map.h"
#include <assert.h>
#include "base/arena.h"
#include "model/table_definition.h"

/* The last one that begins at or before the hash; NULL if there is none. */
static const struct partition *last_before(const struct partition *partitions, size_t count,
                                           uint64_t hash)
{
    size_t first = 0;
    while (count > 0) {
        size_t half = count / 2;
        if (partitions[first + half].first_hash <= hash) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first == 0 ? NULL : &partitions[first - 1];
}

uint64_t partition_map_find(const struct table_definition *table, uint64_t hash)
{
    const struct partition *place = last_before(table->partitions, table->partition_count, hash);
    const struct partition *split = last_before(table->splits, table->split_count, hash);
    assert(place != NULL);
    return split != NULL && split->first_hash > place->first_hash ? split->id : place->id;
}

uint64_t partition_map_parent(const struct table_definition *table, uint64_t partition)
{
    if (table->splitting_id != partition)
        return 0;
    for (size_t i = 0; i < table->split_count; i++) {
        if (table->splits[i].id == partition)
            return table->splits[i].parent_id;
    }
    return 0;
}

size_t partition_map_list(struct arena *arena, const struct table_definition *table,
                          struct partition_range **out)
{
    size_t count = table->partition_count + table->split_count, place = 0, split = 0;
    struct partition_range *ranges = arena_alloc(arena, count * sizeof *ranges);
    for (size_t i = 0; i < count; i++) {
        bool is_split = place == table->partition_count ||
                        (split < table->split_count &&
                         table->splits[split].first_hash < table->partitions[place].first_hash);
        const struct partition *next =
            is_split ? &table->splits[split++] : &table->partitions[place++];
        ranges[i] = (struct partition_range){ .id = next->id,
                                              .first_hash = next->first_hash,
                                              .last_hash = UINT64_MAX };
        if (i > 0)
            ranges[i - 1].last_hash = next->first_hash - 1;
    }
    *out = ranges;
    return count;
}
