/* split_life.h -- partitions that split: when, and in which steps.
 *
 * A partition of a table with a stream, or another reader of its change log, splits when it is hot
 * or large: the upper half of its hashes becomes a partition of its own (table/partition_map.h),
 * with a log and shards of its own. No data moves, and no request waits for a split.
 *
 *   begin: a version of the table has the new partition, whose split is under way. Writers hold the
 *          heads of both logs. The new one's is not open, so its changes still go to its parent's.
 *   step:  once nobody uses an older version, one batch ends the parent's shard, begins a child of
 *          it in each of the two logs, and makes the new log one of the stream's
 *          (stream_upkeep_split). From then on the new head is open and gets the changes.
 *   end:   a version without the split under way. Its writers hold the new head only.
 *
 * So all changes of an item are in the parent's log up to the shard's end and in the new log from
 * its beginning on, and readers that finish the parent first (consumer/) see them in their order. A
 * crash leaves a split under way. The next run takes the step if the stream does not have the new
 * log yet, and ends the split. If the log was closed meanwhile, there is nothing to divide: a log
 * that is opened later has all partitions.
 *
 * Heat is measured by the heads: records are numbered without gaps, so the difference between two
 * looks is what was written. Size is the table's, divided by its partitions: hashes spread items
 * evenly. A single hot key does not split; SPLIT_LIFE_WIDTH_MIN bounds how often its partition is
 * divided in vain.
 *
 * Control thread only.
 */
#ifndef STATOR_CONTROL_SPLIT_LIFE_H
#define STATOR_CONTROL_SPLIT_LIFE_H
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"

struct arena;
struct catalogue;
struct clock;
struct stream_upkeep;
struct table_definition;

/* A partition with this many hashes or fewer does not split: a 256th of all. */
#define SPLIT_LIFE_WIDTH_MIN (UINT64_C(1) << 56)
enum {
    SPLIT_LIFE_LOOKS = 3, /* At least, while a partition is hot, before it splits. */
    SPLIT_LIFE_INTERVAL_MS_MAX = 60 * 1000,
    SPLIT_LIFE_INTERVAL_MS_MIN = 10,
};

struct split_limits {
    int64_t writes_max; /* Of a partition, per second; 0: none splits for its heat. */
    int64_t heat_ms;    /* How long it must be as hot. */
    int64_t size_max;   /* Of a partition, as DynamoDB counts items; 0: none splits for its size. */
};

struct split_look;
struct split_life {
    struct engine *engine;
    struct catalogue *catalogue;
    struct stream_upkeep *streams;
    const struct clock *clock;
    struct split_limits limits;
    /* The rest starts as zeros. Of the last look at all partitions: */
    int64_t looked_ms; /* Server time; 0: there was none. */
    struct split_look *looks;
    size_t look_count;
};

/* Takes every step that can be taken, and looks for partitions to split when that is due. Returns
 * as table_life_run. */
int64_t split_life_run(struct split_life *life, struct arena *arena);
/* Begins to split the hashes from `first_hash` on off the partition that has them, which begins
 * below. No other split of the table is under way. */
MUST_CHECK enum engine_status split_life_begin(struct split_life *life, struct arena *arena,
                                               const struct table_definition *table,
                                               uint64_t first_hash);
void split_life_deinit(struct split_life *life);

#endif
