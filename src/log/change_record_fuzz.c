/* change_record_fuzz.c -- arbitrary bytes as a change record, with the checksums made right.
 *
 * The input is what stands behind the record's checksum. Each item in it is sealed too, as far as
 * its length can be followed. What decodes encodes to the same bytes.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "model/key.h"
#include "log/change_record.h"
#include "log/log_layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { COVERED_AT = 5, ITEMS_AT = 22, LENGTH_SIZE = 4 };

/* Items and records both begin with a format and the checksum of the rest. */
static void seal(uint8_t *bytes, size_t size, uint8_t format)
{
    bytes[0] = format;
    store_u32_le(bytes + 1, crc32c(bytes_of(bytes + COVERED_AT, size - COVERED_AT)));
}

static struct bytes make_record(struct arena *arena, const uint8_t *data, size_t size)
{
    size_t total = COVERED_AT + size;
    uint8_t *record = arena_alloc(arena, total);
    if (size > 0)
        memcpy(record + COVERED_AT, data, size);
    size_t at = ITEMS_AT;
    while (at + LENGTH_SIZE <= total) {
        size_t length = load_u32_le(record + at);
        at += LENGTH_SIZE;
        if (length > total - at)
            break;
        if (length >= COVERED_AT)
            seal(record + at, length, 1);
        at += length;
    }
    seal(record, total, LOG_RECORD_FORMAT);
    return bytes_of(record, total);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct key_schema schema = { .hash = { .name = { (const uint8_t *)"pk", 2 } },
                                              .range = { .name = { (const uint8_t *)"sk", 2 } },
                                              .has_range = true };
    struct arena *arena = arena_create();
    struct bytes encoded = make_record(arena, data, size);
    struct change_record record;
    if (change_record_decode(encoded, &record)) {
        struct item keys = change_record_keys(arena, &schema, &record);
        assert(record.images == 0 || keys.count <= 2);
        assert(change_event_name(record.event) != NULL);
        assert(bytes_equal(change_record_encode(arena, &record), encoded));
    }
    arena_destroy(arena);
    return 0;
}
