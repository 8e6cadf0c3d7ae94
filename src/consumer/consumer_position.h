/* consumer_position.h -- how far a consumer has read each partition of its log, stored durably.
 *
 * A position is the sequence number that the consumer reads next: it is done with all records
 * before it. Positions lie beside the records that define consumers, under the consumer's UUID.
 * Layout: doc/disk-format.md, "Triggers".
 */
#ifndef STATOR_CONSUMER_CONSUMER_POSITION_H
#define STATOR_CONSUMER_CONSUMER_POSITION_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "base/uuid.h"
#include "engine/engine.h"

struct arena;

enum {
    /* First byte of the key; then the UUID and the partition, big-endian. */
    CONSUMER_POSITION_KEY = 'P',
    /* First byte of the keys of definitions, which lie in the same place; then the UUID. */
    CONSUMER_TRIGGER_KEY = 'D',
    CONSUMER_DESTINATION_KEY = 'K', /* Of Kinesis. */
    CONSUMER_POSITION_KEY_SIZE = 1 + UUID_TEXT_SIZE + 8,
    CONSUMER_POSITION_FORMAT = 1,
    CONSUMER_POSITION_SIZE = 1 + 4 + 8,
};

/* Where positions and the definitions of their owners are. */
extern const struct engine_place consumer_position_place;

void consumer_position_put(struct arena *arena, struct engine_write *write, struct bytes uuid,
                           uint64_t partition, uint64_t next);
/* 0 where none is stored: the oldest record is next. ENGINE_CORRUPT, logged, if it is damaged. */
MUST_CHECK enum engine_status consumer_position_get(struct arena *arena, struct engine_view *view,
                                                    struct bytes uuid, uint64_t partition,
                                                    uint64_t *next);
/* Removes the positions of all partitions. */
void consumer_position_delete_all(struct arena *arena, struct engine_write *write,
                                  struct bytes uuid);

struct consumer_position {
    struct bytes uuid; /* Borrows the key. */
    uint64_t partition;
    uint64_t next;
};
/* The position that a stored entry holds. False if it holds none, or a damaged one. */
MUST_CHECK bool consumer_position_open_entry(const struct engine_entry *entry,
                                             struct consumer_position *out);

#endif
