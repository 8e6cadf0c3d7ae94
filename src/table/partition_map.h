/* partition_map.h -- which partition of a table a hash belongs to.
 *
 * A partition is a range of hashes that has a change log of its own, and so shards of its own in
 * the table's stream. It reaches from one border in the table's definition to the next one. Some
 * borders exist since the table was created (`partitions`). There a place begins as well, which is
 * where items and everything beside them are stored (item_address.h). The other borders come from
 * splits (`splits`): a partition that was split off keeps its items in the place where they were,
 * so a split moves no data.
 *
 * While a split is under way, writers cannot know yet whether the new partition's log is open. They
 * hold the heads of both logs, and the new one's head decides: open, it gets the change, otherwise
 * its parent does (control/split_life.h).
 */
#ifndef STATOR_TABLE_PARTITION_MAP_H
#define STATOR_TABLE_PARTITION_MAP_H
#include <stddef.h>
#include <stdint.h>

struct arena;
struct table_definition;

/* The id of the partition that has the hash. */
uint64_t partition_map_find(const struct table_definition *table, uint64_t hash);
/* The partition that this one is being split off from; 0: its split is not under way. */
uint64_t partition_map_parent(const struct table_definition *table, uint64_t partition);

struct partition_range {
    uint64_t id;
    uint64_t first_hash;
    uint64_t last_hash;
};
/* All partitions in the order of their hashes. The array lives in the arena. */
size_t partition_map_list(struct arena *arena, const struct table_definition *table,
                          struct partition_range **out);

#endif
