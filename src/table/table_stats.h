/* table_stats.h -- how many items a table and its indexes hold and their size, kept in the batch
 * that changes them.
 *
 * Each partition has LAYOUT_STATS_SHARDS records and an item's hash picks one, so writers of
 * different items rarely meet, nothing is scanned, and the sum is exact after a kill. A shard is
 * one of the addresses a write begins with. It counts its items' index entries too, wherever those
 * are stored: so one record is read and written whatever the number of indexes, and the latches of
 * a write do not depend on which entries its decision will change.
 */
#ifndef STATOR_TABLE_TABLE_STATS_H
#define STATOR_TABLE_TABLE_STATS_H
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"

struct item_address;
struct table_definition;

struct table_stats {
    int64_t item_count;
    int64_t size;
};

/* The shard that counts the item at `address`. */
struct engine_address table_stats_address(const struct item_address *address);
/* Whether one shard counts both. */
bool table_stats_shared(const struct item_address *a, const struct item_address *b);
/* Adds to a shard within a write. `indexes` has one element for each of the table's indexes, in
 * their order. Statistics of an index that `table` does not have are dropped. */
MUST_CHECK enum engine_status table_stats_change(struct engine_write *write,
                                                 const struct table_definition *table,
                                                 const struct engine_address *address,
                                                 const struct table_stats *change,
                                                 const struct table_stats *indexes);
/* Removes the statistics of indexes that `table` does not have. Waits for the disk.
 * No write that counts for such an index may be under way. */
MUST_CHECK enum engine_status table_stats_drop_others(struct engine *engine,
                                                      const struct table_definition *table);
/* The sums of all shards of a table: of its items, and into `indexes`, one for each index of the
 * table, of their entries. */
MUST_CHECK enum engine_status table_stats_sum(struct engine_view *view,
                                              const struct table_definition *table,
                                              struct table_stats *out, struct table_stats *indexes);

#endif
