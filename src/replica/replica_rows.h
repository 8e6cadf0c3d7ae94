/* replica_rows.h -- the rows that wait in the queue of a peer: gathered, and taken out of it.
 *
 * For this folder only. */
#ifndef STATOR_REPLICA_REPLICA_ROWS_H
#define STATOR_REPLICA_REPLICA_ROWS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "replica/replicas.h"
#include "table/item_address.h"

struct arena;
struct table_definition;

/* A row as it is sent, and what its entry in the queue said. */
struct replica_waiting {
    struct item_address place;
    struct bytes entry; /* The entry's value. */
    struct replica_row row;
    bool is_sent; /* Something is there to be sent. */
};

/* A walk through the queue of a peer in one partition. */
struct replica_walk {
    struct engine *engine;
    const struct table_definition *table;
    uint64_t partition;
    uint32_t region;
    uint8_t position[ENGINE_KEY_SIZE_MAX / 8]; /* Where it resumes; keys are far shorter. */
    size_t position_size;                      /* 0: at the start. */
    bool ended;
};

struct replica_page {
    struct replica_waiting list[REPLICA_ROWS_MAX];
    size_t count;
    size_t size; /* Of items and keys. */
};
/* The next page, as it is now; everything lives in the arena. */
MUST_CHECK enum engine_status replica_rows_gather(struct arena *arena, struct replica_walk *walk,
                                                  struct replica_page *page);
/* Takes out the entries of a page that nothing was added to since. */
MUST_CHECK enum engine_status replica_rows_settle(struct arena *arena, struct engine *engine,
                                                  uint32_t region, const struct replica_page *page);

/* Queues all stamps of a table for a region, and with `everything` all items. */
MUST_CHECK enum engine_status replica_rows_queue_all(struct arena *arena, struct engine *engine,
                                                     const struct table_definition *table,
                                                     uint32_t region, bool everything,
                                                     bool (*is_stopping)(void *context),
                                                     void *context);

/* Removes some stamps of a partition that are not later than `low_us`, from `walk` on, and looks at
 * REPLICA_COLLECT_MAX at most. */
MUST_CHECK enum engine_status replica_rows_collect(struct arena *arena, struct replica_walk *walk,
                                                   int64_t low_us, uint64_t *removed);

/* Whether entries wait for regions that are no members any more. */
MUST_CHECK enum engine_status replica_rows_find_strangers(struct arena *arena,
                                                          struct engine *engine,
                                                          const struct table_definition *table,
                                                          bool *found);
/* Removes those entries. No write may be under way with a definition that has other members, and
 * no region may join meanwhile. */
MUST_CHECK enum engine_status replica_rows_remove_strangers(struct arena *arena,
                                                            struct engine *engine,
                                                            const struct table_definition *table);

#endif
