/* item_fuzz.c -- arbitrary bytes as a stored item, with the checksum made right.
 *
 * Without that the checksum would turn every input away. Any item that opens is safe to search and
 * walk; one that is verified is rebuilt from its attributes to the same bytes.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/crc32c.h"
#include "model/item.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FORMAT = 1, COVERED_AT = 5 };

/* The input is what stands behind the checksum. */
static struct bytes seal(struct arena *arena, struct bytes content)
{
    uint8_t *bytes = arena_alloc(arena, COVERED_AT + content.len);
    uint32_t checksum = crc32c(content);
    bytes[0] = FORMAT;
    for (int i = 0; i < 4; i++)
        bytes[1 + i] = (uint8_t)(checksum >> (8 * i));
    memcpy(bytes + COVERED_AT, content.data, content.len);
    return bytes_of(bytes, COVERED_AT + content.len);
}

static void check_rebuilding(struct arena *arena, const struct item *item)
{
    struct item_builder builder;
    struct item_iter iter;
    struct bytes name;
    struct value value, found;
    item_builder_init(&builder, arena);
    item_iter_init(&iter, item);
    while (item_iter_next(&iter, &name, &value)) {
        bool finds = item_find(item, name, &found);
        assert(finds && bytes_equal(found.encoded, value.encoded));
        item_builder_add(&builder, name, value.encoded);
    }
    /* Backwards, so that sorting has to work. */
    for (size_t i = 0; i < builder.count / 2; i++) {
        struct item_attribute swap = builder.attributes[i];
        builder.attributes[i] = builder.attributes[builder.count - 1 - i];
        builder.attributes[builder.count - 1 - i] = swap;
    }
    struct item again = item_builder_finish(&builder);
    assert(bytes_equal(again.encoded, item->encoded));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct bytes content = bytes_of(size == 0 ? (const uint8_t *)"" : data, size);
    struct item item;
    struct value value;
    if (item_open(seal(arena, content), &item)) {
        struct item_iter iter;
        struct bytes name;
        item_iter_init(&iter, &item);
        while (item_iter_next(&iter, &name, &value))
            assert(value.encoded.len > 0);
        (void)item_find(&item, BYTES("pk"), &value);
        if (item_verify(&item))
            check_rebuilding(arena, &item);
    }
    arena_destroy(arena);
    return 0;
}
