/* item_record.h -- records of our own that are stored as items: texts and lists of integers.
 *
 * An item brings its encoding, its checksum and room for attributes to come. A list of integers is
 * a binary value of 8 bytes each, big-endian.
 */
#ifndef STATOR_MODEL_ITEM_RECORD_H
#define STATOR_MODEL_ITEM_RECORD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct item;
struct item_builder;

void item_record_add_text(struct item_builder *builder, const char *name, struct bytes text);
void item_record_add_numbers(struct item_builder *builder, const char *name,
                             const uint64_t *numbers, size_t count);

/* Both are false unless the attribute is there, of its type, not empty and within its bound. The
 * results live in the arena. */
MUST_CHECK bool item_record_find_text(struct arena *arena, const struct item *record,
                                      const char *name, size_t size_max, struct bytes *out);
MUST_CHECK bool item_record_find_numbers(struct arena *arena, const struct item *record,
                                         const char *name, size_t count_max, uint64_t **out,
                                         size_t *count);

#endif
