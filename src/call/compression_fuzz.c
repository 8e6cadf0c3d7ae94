/* compression_fuzz.c -- inflating arbitrary bytes stays within its bound, and what we compress
 * inflates to the same bytes.
 */
#include <assert.h>
#include <stdint.h>
#include "base/arena.h"
#include "call/compression.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INFLATED_MAX = 100000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct bytes inflated;
    struct bytes input = bytes_of(data, size);
    if (compression_inflate(arena, input, INFLATED_MAX, &inflated) == COMPRESSION_OK)
        assert(inflated.len <= INFLATED_MAX);

    struct bytes packed = compression_gzip(arena, input);
    enum compression_result result = compression_inflate(arena, packed, size, &inflated);
    assert(result == COMPRESSION_OK);
    assert(bytes_equal(inflated, input));
    if (size > 0) {
        result = compression_inflate(arena, packed, size - 1, &inflated);
        assert(result == COMPRESSION_TOO_LARGE);
    }
    arena_destroy(arena);
    return 0;
}
