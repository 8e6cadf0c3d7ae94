/* catalogue_record.h -- where the catalogue's records are, and those that hold nothing but ids.
 *
 * A table's record is its definition (model/table_definition.h). Layout: doc/disk-format.md,
 * "Catalogue".
 */
#ifndef STATOR_TABLE_CATALOGUE_RECORD_H
#define STATOR_TABLE_CATALOGUE_RECORD_H
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "engine/engine.h"

struct arena;

extern const struct engine_place catalogue_record_place;

/* `kind` is the first byte of the key: LAYOUT_KEY_*. The key lives in the arena. */
struct engine_address catalogue_record_address(struct arena *arena, uint8_t kind,
                                               struct bytes rest);
struct engine_address catalogue_record_dropped_address(struct arena *arena, uint64_t table_id);

/* An item whose only attribute, "ids", is a binary of big-endian ids. */
struct bytes catalogue_record_encode_ids(struct arena *arena, const uint64_t *ids, size_t count);
/* The ids' bytes, at least eight and a multiple of them; NULL data if the record is damaged. */
struct bytes catalogue_record_decode_ids(struct bytes record);

#endif
