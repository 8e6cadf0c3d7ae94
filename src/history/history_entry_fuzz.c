/* history_entry_fuzz.c -- arbitrary bytes as an entry of a history, with the checksums made right.
 *
 * The first byte of the input is how long the key is; the key follows, then what stands behind the
 * entry's checksum. What decodes encodes to the same bytes.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "history/history_entry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { COVERED_AT = 5 };

/* Items and entries both begin with a format and the checksum of the rest. */
static void seal(uint8_t *bytes, size_t size)
{
    bytes[0] = 1;
    store_u32_le(bytes + 1, crc32c(bytes_of(bytes + COVERED_AT, size - COVERED_AT)));
}

static void try_key(struct arena *arena, struct bytes bytes)
{
    struct history_key key;
    if (history_key_decode(bytes, &key))
        assert(bytes_equal(history_key_encode(arena, key.item_key, key.commit_us), bytes));
}

static void try_entry(struct arena *arena, struct bytes covered)
{
    size_t total = COVERED_AT + covered.len;
    uint8_t *bytes = arena_alloc(arena, total);
    struct history_entry entry;
    if (covered.len > 0)
        memcpy(bytes + COVERED_AT, covered.data, covered.len);
    if (total >= HISTORY_ENTRY_ITEM_AT + COVERED_AT)
        seal(bytes + HISTORY_ENTRY_ITEM_AT, total - HISTORY_ENTRY_ITEM_AT);
    seal(bytes, total);
    if (history_entry_decode(bytes_of(bytes, total), &entry))
        assert(bytes_equal(history_entry_encode(arena, &entry), bytes_of(bytes, total)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct arena *arena = arena_create();
    size_t key_size = data[0] < size - 1 ? data[0] : size - 1;
    try_key(arena, bytes_of(data + 1, key_size));
    try_entry(arena, bytes_of(data + 1 + key_size, size - 1 - key_size));
    arena_destroy(arena);
    return 0;
}
