/* figures.h -- how many items a table and its indexes hold and their size, kept in the batch that
 * changes them.
 *
 * Each partition has LAYOUT_FIGURES_SHARDS records and an item's hash picks one, so writers of
 * different items rarely meet, nothing is scanned, and the sum is exact after a kill. A shard is
 * one of the addresses a write begins with. It counts its items' index entries too, wherever those
 * are stored: so one record is read and written whatever the number of indexes, and the latches of
 * a write do not depend on which entries its decision will change.
 */
#ifndef STATOR_TABLE_FIGURES_H
#define STATOR_TABLE_FIGURES_H
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"

struct item_place;
struct table_definition;

struct figures {
    int64_t item_count;
    int64_t size;
};

/* The shard that counts the item at `place`. */
struct engine_address figures_address(const struct item_place *place);
/* Whether one shard counts both. */
bool figures_shared(const struct item_place *a, const struct item_place *b);
/* Adds to a shard within a write. `indexes` has one element for each of the table's indexes, in
 * their order. Figures of an index that `table` does not have are dropped. */
MUST_CHECK enum engine_status figures_change(struct engine_write *write,
                                             const struct table_definition *table,
                                             const struct engine_address *address,
                                             const struct figures *change,
                                             const struct figures *indexes);
/* Drops, for good, the figures of indexes that `table` does not have. Waits for the disk. Whoever
 * still counts for such an index must be gone. */
MUST_CHECK enum engine_status figures_drop_others(struct engine *engine,
                                                  const struct table_definition *table);
/* The sums of all shards of a table: of its items, and into `indexes` of each index's entries. */
MUST_CHECK enum engine_status figures_sum(struct engine_view *view,
                                          const struct table_definition *table, struct figures *out,
                                          struct figures *indexes);

#endif
