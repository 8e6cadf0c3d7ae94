/* replica_stamp.h -- when and where an item of a global table was last written: what decides which
 * of two writes wins, and which items wait to be sent to which region.
 *
 * Both lie in a space of their own beside the items, in the same partition and under the item's
 * key, so the item's latch guards them. Only tables of a group have any.
 *
 * A stamp is a commit time (base/clock.h) and the region that took it; the later one wins, and the
 * region decides between equal times. A deleted item keeps its stamp. An absent stamp is older than
 * all that can still arrive: stamps are removed once every region has everything up to their time.
 *
 * An entry in a region's queue says that the region may lack the item's current state, and which
 * stamp that state had at least. Layout: doc/disk-format.md, "Replication".
 */
#ifndef STATOR_TABLE_REPLICA_STAMP_H
#define STATOR_TABLE_REPLICA_STAMP_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"

struct arena;

enum {
    REPLICA_STAMP_KEY = 'S', /* Then the item's key. */
    REPLICA_QUEUE_KEY = 'W', /* Then the region's id, 4 bytes, and the item's key. */
    REPLICA_STAMP_FORMAT = 1,
    REPLICA_STAMP_SIZE = 1 + 4 + 1 + 8 + 4,
    REPLICA_QUEUE_FORMAT = 1,
    REPLICA_QUEUE_SIZE = 1 + 4 + 8,
};

struct replica_stamp {
    int64_t commit_us; /* 0: there is none, which is older than every other. */
    uint32_t region;   /* replica_region_id */
    bool deleted;
};

/* Whether `a` is later than `b`. */
static inline bool replica_stamp_is_later(const struct replica_stamp *a,
                                          const struct replica_stamp *b)
{
    return a->commit_us != b->commit_us ? a->commit_us > b->commit_us : a->region > b->region;
}

/* Where the stamps and queues of a partition of a table are. */
struct engine_place replica_stamp_place(uint64_t table_id, uint64_t partition_id);
/* Of the item at `item`. Keys live in the arena. */
struct engine_address replica_stamp_address(struct arena *arena, const struct engine_address *item);
struct engine_address replica_queue_address(struct arena *arena, const struct engine_address *item,
                                            uint32_t region);
/* Where the stamps, or a region's entries, begin, and where they end. In the arena. */
struct bytes replica_stamp_first_key(void);
struct bytes replica_stamp_end_key(void);
struct bytes replica_queue_first_key(struct arena *arena, uint32_t region);
struct bytes replica_queue_end_key(struct arena *arena, uint32_t region);
/* The item's key in the key of a stamp or of an entry; `*region` is 0 for a stamp. Borrows it.
 * False for other keys. */
MUST_CHECK bool replica_stamp_decode_key(struct bytes key, uint32_t *region,
                                         struct bytes *item_key);

struct bytes replica_stamp_encode(struct arena *arena, const struct replica_stamp *stamp);
MUST_CHECK bool replica_stamp_decode(struct bytes value, struct replica_stamp *out);
struct bytes replica_queue_encode(struct arena *arena, int64_t commit_us);
MUST_CHECK bool replica_queue_decode(struct bytes value, int64_t *commit_us);

/* The stamp of an item, in a write that holds the item's latch, or in a view. Zero if there is
 * none; ENGINE_CORRUPT, logged, if it is damaged. */
MUST_CHECK enum engine_status replica_stamp_get_for_write(struct arena *arena,
                                                          struct engine_write *write,
                                                          const struct engine_address *item,
                                                          struct replica_stamp *out);
MUST_CHECK enum engine_status replica_stamp_get(struct arena *arena, struct engine_view *view,
                                                const struct engine_address *item,
                                                struct replica_stamp *out);

#endif
