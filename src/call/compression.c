/* compression.c -- see compression.h. The only user of zlib. */
#include "call/compression.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include "base/buffer.h"
#include "http/grammar.h"

enum {
    WINDOW_BITS = 15,
    DETECT_FORMAT = 32, /* Added to the window: gzip or zlib, as the header says. */
    GZIP_FORMAT = 16,
    INFLATE_STEP = 64 * 1024,
    /* A client waits for the answer: speed matters more than size. */
    GZIP_LEVEL = 1,
    GZIP_MEMORY_LEVEL = 8,
};

static enum compression_result inflate_all(z_stream *stream, size_t size_max, struct buffer *out)
{
    for (;;) {
        /* One byte more than allowed, to distinguish the limit from more. */
        size_t room = size_max + 1 - out->len;
        size_t step = room < INFLATE_STEP ? room : INFLATE_STEP;
        stream->next_out = buffer_reserve(out, step);
        stream->avail_out = (uInt)step;
        int status = inflate(stream, Z_NO_FLUSH);
        size_t produced = step - stream->avail_out;
        out->len += produced;
        if (out->len > size_max)
            return COMPRESSION_TOO_LARGE;
        if (status == Z_STREAM_END)
            return stream->avail_in == 0 ? COMPRESSION_OK : COMPRESSION_DAMAGED;
        if (status != Z_OK || (produced == 0 && stream->avail_in == 0))
            return COMPRESSION_DAMAGED;
    }
}

enum compression_result compression_inflate(struct arena *arena, struct bytes body, size_t size_max,
                                            struct bytes *out)
{
    z_stream stream = { .next_in = (Bytef *)(uintptr_t)body.data, .avail_in = (uInt)body.len };
    if (body.len != stream.avail_in || inflateInit2(&stream, WINDOW_BITS + DETECT_FORMAT) != Z_OK)
        return COMPRESSION_DAMAGED;
    struct buffer inflated;
    buffer_init(&inflated, arena);
    enum compression_result result = inflate_all(&stream, size_max, &inflated);
    inflateEnd(&stream);
    *out = buffer_bytes(&inflated);
    return result;
}

struct bytes compression_gzip(struct arena *arena, struct bytes body)
{
    assert(body.len <= UINT32_MAX);
    z_stream stream = { .next_in = (Bytef *)(uintptr_t)body.data, .avail_in = (uInt)body.len };
    if (deflateInit2(&stream, GZIP_LEVEL, Z_DEFLATED, WINDOW_BITS + GZIP_FORMAT, GZIP_MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        abort(); /* Out of memory. */
    size_t size_max = deflateBound(&stream, body.len);
    uint8_t *out = arena_alloc(arena, size_max);
    stream.next_out = out;
    stream.avail_out = (uInt)size_max;
    int status = deflate(&stream, Z_FINISH);
    size_t size = stream.total_out;
    deflateEnd(&stream);
    if (status != Z_STREAM_END)
        abort(); /* deflateBound promised room. */
    return bytes_of(out, size);
}

/* --- CRC-32 ---
 *
 * Every answer carries one, and zlib takes a microsecond for four kilobytes. With carry-less
 * multiplication, 64 bytes a step are folded into the 64 behind them, which leaves the remainder of
 * the whole as it was, until 16 bytes stand for all that was folded; zlib continues from there. */

#if defined(__x86_64__)
#define FOLDING __attribute__((target("sse2,pclmul")))
enum { FOLD_SIZE_MIN = 64 };

FOLDING static inline __m128i load(const uint8_t *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

/* Moves `block` forward over the distance that `powers` is of, into `next`. */
FOLDING static inline __m128i fold(__m128i block, __m128i powers, __m128i next)
{
    __m128i low = _mm_clmulepi64_si128(block, powers, 0x00);
    __m128i high = _mm_clmulepi64_si128(block, powers, 0x11);
    return _mm_xor_si128(next, _mm_xor_si128(low, high));
}

/* Takes the multiples of 16 bytes at the start of `body`, which has FOLD_SIZE_MIN at least. Returns
 * zlib's CRC of them and leaves the rest. */
FOLDING static uLong fold_blocks(struct bytes *body)
{
    /* x^(d+32) and x^(d-32) modulo the polynomial, bits reversed, for d of 512 and of 128 bits. */
    const __m128i by_64 = _mm_set_epi64x(0x1C6E41596, 0x154442BD4);
    const __m128i by_16 = _mm_set_epi64x(0x0CCAA009E, 0x1751997D0);
    const uint8_t *at = body->data;
    size_t left = body->len;
    __m128i a = _mm_xor_si128(load(at), _mm_cvtsi32_si128(-1)); /* A CRC begins with all ones. */
    __m128i b = load(at + 16), c = load(at + 32), d = load(at + 48);
    for (at += 64, left -= 64; left >= 64; at += 64, left -= 64) {
        a = fold(a, by_64, load(at));
        b = fold(b, by_64, load(at + 16));
        c = fold(c, by_64, load(at + 32));
        d = fold(d, by_64, load(at + 48));
    }
    a = fold(fold(fold(a, by_16, b), by_16, c), by_16, d);
    for (; left >= 16; at += 16, left -= 16)
        a = fold(a, by_16, load(at));
    uint8_t folded[16];
    memcpy(folded, &a, sizeof folded);
    *body = bytes_of(at, left);
    return crc32_z(0xFFFFFFFF, folded, sizeof folded); /* The ones are in there already. */
}
#endif

uint32_t compression_crc32(struct bytes body)
{
    uLong crc = 0;
#if defined(__x86_64__)
    if (body.len >= FOLD_SIZE_MIN && __builtin_cpu_supports("pclmul"))
        crc = fold_blocks(&body);
#endif
    return (uint32_t)crc32_z(crc, body.data, body.len);
}

bool compression_accepts_gzip(struct bytes accept_encoding)
{
    struct bytes list = accept_encoding;
    while (list.len > 0) {
        struct bytes entry = http_header_next_part(&list, ',');
        struct bytes coding = http_header_next_part(&entry, ';');
        if (!http_header_equal(coding, BYTES("gzip")))
            continue;
        struct bytes weight = http_header_trim(entry);
        return !bytes_equal(weight, BYTES("q=0")) && !bytes_equal(weight, BYTES("q=0.0"));
    }
    return false;
}
