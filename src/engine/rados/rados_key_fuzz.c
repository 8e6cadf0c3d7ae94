/* rados_key_fuzz.c -- whatever a cluster hands out as a key decodes to what encodes to the same
 * bytes, or is refused; and every key comes back. */
#include <assert.h>
#include "base/arena.h"
#include "engine/rados/rados_key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct bytes input = bytes_of(data, size), key;
    struct partition_id id;
    char text[RADOS_PARTITION_SIZE + 1];
    if (rados_key_decode(arena, input, &key))
        assert(bytes_equal(rados_key_encode(arena, key), input));
    assert(rados_key_decode(arena, rados_key_encode(arena, input), &key));
    assert(bytes_equal(key, input));
    if (rados_key_parse_partition(input, &id)) {
        rados_key_format_partition(&id, text);
        assert(bytes_equal_text(input, text));
    }
    arena_destroy(arena);
    return 0;
}
