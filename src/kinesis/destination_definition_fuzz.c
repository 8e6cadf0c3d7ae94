/* destination_definition_fuzz.c -- arbitrary bytes as the record of a destination, with the
 * checksum made right, and as the ARN of a stream.
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
#include "kinesis/destination_definition.h"

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
    struct destination_definition first, second;
    struct bytes region, name;
    struct item item;
    struct bytes uuid = BYTES("00000000-0000-4000-8000-000000000000");
    if (size > 0 && item_open(seal(arena, bytes_of(data, size)), &item) && item_verify(&item) &&
        destination_definition_decode(arena, uuid, &item, &first)) {
        struct item encoded = destination_definition_encode(arena, &first);
        bool decodes = destination_definition_decode(arena, uuid, &encoded, &second);
        assert(decodes);
        assert(bytes_equal(first.stream_arn, second.stream_arn) && first.status == second.status &&
               first.log_id == second.log_id && first.precision == second.precision);
    }
    if (destination_definition_parse_arn(bytes_of(data, size), &region, &name))
        assert(region.len > 0 && name.len > 0 && name.data + name.len == data + size);
    arena_destroy(arena);
    return 0;
}
