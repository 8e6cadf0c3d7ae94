/* http_response_fuzz.c -- an answer means the same however it is cut into pieces.
 *
 * The first byte is the size of the pieces, the rest is what a server sends.
 */
#include <assert.h>
#include <stdint.h>
#include "base/arena.h"
#include "http/response.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BODY_SIZE_MAX = 256 };

static enum http_response_status feed(struct http_response *response, struct arena *arena,
                                      struct bytes text, size_t piece_size)
{
    http_response_init(response, arena, BODY_SIZE_MAX);
    for (size_t at = 0; at < text.len; at += piece_size) {
        size_t left = text.len - at;
        http_response_feed(response,
                           bytes_of(text.data + at, left < piece_size ? left : piece_size));
    }
    return http_response_end(response);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct arena *arena = arena_create();
    struct bytes text = bytes_of(data + 1, size - 1);
    struct http_response whole, pieces;
    enum http_response_status verdict = feed(&whole, arena, text, text.len + 1);
    assert(verdict != HTTP_RESPONSE_MORE);
    assert(feed(&pieces, arena, text, (size_t)data[0] + 1) == verdict);
    if (verdict == HTTP_RESPONSE_DONE) {
        assert(whole.status >= 200 && whole.status <= 599 && whole.status == pieces.status);
        assert(whole.body.len <= BODY_SIZE_MAX);
        assert(bytes_equal(buffer_bytes(&whole.body), buffer_bytes(&pieces.body)));
        assert(bytes_equal(http_response_header(&whole, "x"), http_response_header(&pieces, "X")));
    }
    arena_destroy(arena);
    return 0;
}
