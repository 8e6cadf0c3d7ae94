/* trigger_definition_fuzz.c -- arbitrary bytes as the record of a trigger, with the checksum made
 * right.
 *
 * The input is what stands behind the item's checksum. What decodes, encodes and decodes again, is
 * the same record.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "trigger/trigger_definition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ITEM_FORMAT = 1, COVERED_AT = 5 };

static struct bytes seal(struct arena *arena, struct bytes content)
{
    uint8_t *bytes = arena_alloc(arena, COVERED_AT + content.len);
    bytes[0] = ITEM_FORMAT;
    store_u32_le(bytes + 1, crc32c(content));
    memcpy(bytes + COVERED_AT, content.data, content.len);
    return bytes_of(bytes, COVERED_AT + content.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct bytes content = bytes_of(size == 0 ? (const uint8_t *)"" : data, size);
    const struct bytes uuid = BYTES("00000000-0000-4000-8000-000000000000");
    struct item item;
    struct trigger_definition definition, again;
    if (item_open(seal(arena, content), &item) &&
        trigger_definition_decode(arena, uuid, &item, &definition)) {
        struct item encoded = trigger_definition_encode(arena, &definition);
        bool decodes = trigger_definition_decode(arena, uuid, &encoded, &again);
        assert(decodes);
        struct item encoded_again = trigger_definition_encode(arena, &again);
        assert(bytes_equal(encoded.encoded, encoded_again.encoded));
    }
    arena_destroy(arena);
    return 0;
}
