/* compression_fuzz.c -- inflating arbitrary bytes stays within its bound, what we compress
 * inflates to the same bytes, and any Accept-Encoding leads to one of the formats.
 */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "base/arena.h"
#include "compression/compression.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INFLATED_MAX = 100000 };

static void check_format(struct arena *arena, struct bytes input, enum compression_format format)
{
    struct bytes inflated;
    if (compression_inflate(arena, input, format, INFLATED_MAX, &inflated) == COMPRESSION_OK)
        assert(inflated.len <= INFLATED_MAX);

    struct bytes packed = compression_deflate(arena, input, format);
    enum compression_result result =
        compression_inflate(arena, packed, format, input.len, &inflated);
    assert(result == COMPRESSION_OK);
    assert(bytes_equal(inflated, input));
    if (input.len > 0) {
        result = compression_inflate(arena, packed, format, input.len - 1, &inflated);
        assert(result == COMPRESSION_TOO_LARGE);
    }
}

/* A format is chosen only if the header names it, or everything. */
static void check_choice(struct bytes header)
{
    enum compression_format format = compression_choose(header);
    bool has_rest = header.len > 0 && memchr(header.data, '*', header.len) != NULL;
    assert(format <= COMPRESSION_DEFLATE);
    assert(format == COMPRESSION_NONE || has_rest || header.len >= compression_name(format).len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct bytes input = bytes_of(data, size);
    check_format(arena, input, COMPRESSION_GZIP);
    check_format(arena, input, COMPRESSION_DEFLATE);
    check_choice(input);
    arena_destroy(arena);
    return 0;
}
