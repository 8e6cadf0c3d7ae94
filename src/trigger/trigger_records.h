/* trigger_records.h -- where triggers and their positions are stored.
 *
 * A position is the sequence number that a trigger goes on with in a partition of its log: all
 * before it was delivered, refused for good or not asked for.
 */
#ifndef STATOR_TRIGGER_TRIGGER_RECORDS_H
#define STATOR_TRIGGER_TRIGGER_RECORDS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"

struct arena;
struct trigger_definition;

extern const struct engine_place trigger_records_place;

/* Starts a write that holds the trigger's definition, and so keeps others from removing it.
 * ENGINE_NOT_FOUND if it was removed: then nothing of the trigger may be stored any more. */
MUST_CHECK enum engine_status trigger_records_begin(struct arena *arena, struct engine *engine,
                                                    struct bytes uuid, struct engine_write **out);
void trigger_records_put(struct arena *arena, struct engine_write *write,
                         const struct trigger_definition *definition);
/* Removes the definition and all positions, in a write of trigger_records_begin. */
void trigger_records_delete(struct arena *arena, struct engine_write *write, struct bytes uuid);
void trigger_records_put_position(struct arena *arena, struct engine_write *write,
                                  struct bytes uuid, uint64_t partition, uint64_t next);
/* 0 where none is stored: from the oldest record on. ENGINE_CORRUPT, logged, if it is damaged. */
MUST_CHECK enum engine_status trigger_records_position(struct arena *arena,
                                                       struct engine_view *view, struct bytes uuid,
                                                       uint64_t partition, uint64_t *next);

/* What a stored entry is. */
enum trigger_record_kind {
    TRIGGER_RECORD_DEFINITION,
    TRIGGER_RECORD_POSITION,
    TRIGGER_RECORD_NONE
};
struct trigger_record {
    enum trigger_record_kind kind; /* NONE: damaged or unknown. */
    struct bytes uuid;             /* Borrows the key. */
    uint64_t partition;
    uint64_t next;
};
/* The definition, if it is one, is decoded into the arena. */
struct trigger_record trigger_records_open_entry(struct arena *arena,
                                                 const struct engine_entry *entry,
                                                 struct trigger_definition *definition);

#endif
