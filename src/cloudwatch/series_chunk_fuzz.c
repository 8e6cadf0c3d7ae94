/* series_chunk_fuzz.c -- arbitrary bytes as a chunk of samples and as names of a series. What
 * decodes is encoded again, and must be the same bytes. */
#include <assert.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "cloudwatch/series_chunk.h"
#include "cloudwatch/series_identity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The content behind a header with the right checksum: the fuzzer need not find it. */
static struct bytes with_header(struct arena *arena, struct bytes content)
{
    uint8_t *out = arena_alloc(arena, content.len + 5);
    out[0] = SERIES_CHUNK_FORMAT;
    store_u32_le(out + 1, crc32c(content));
    if (content.len > 0)
        memcpy(out + 5, content.data, content.len);
    return bytes_of(out, content.len + 5);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct series_chunk chunk;
    struct series_key key;
    struct bytes stored = with_header(arena, bytes_of(data, size));
    if (series_chunk_decode(arena, stored, SERIES_CHUNK_BINS_MAX, &chunk))
        assert(bytes_equal(series_chunk_encode(arena, &chunk), stored));
    if (series_identity_decode(arena, bytes_of(data, size), &key))
        assert(bytes_equal(series_identity_encode(arena, &key), bytes_of(data, size)));
    arena_destroy(arena);
    return 0;
}
