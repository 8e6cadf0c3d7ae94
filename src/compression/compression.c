/* compression.c -- see compression.h. The only user of zlib. */
#include "compression/compression.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include "base/buffer.h"
#include "base/give_way.h"
#include "http/grammar.h"

enum {
    WINDOW_BITS = 15,
    GZIP_FORMAT = 16, /* Added to the window; zlib's own format otherwise. */
    INFLATE_STEP = 64 * 1024,
    /* A client waits for the answer: speed matters more than size. */
    DEFLATE_LEVEL = 1,
    DEFLATE_MEMORY_LEVEL = 8,
    DEFLATE_STEP = 4 * 1024,
    /* What a byte costs, in nanoseconds: one that is compressed, and one that is inflated. */
    DEFLATE_WORK = 12,
    INFLATE_WORK = 3,
};

/* zlib's argument for a format. */
static int window_bits(enum compression_format format)
{
    assert(format != COMPRESSION_NONE);
    return format == COMPRESSION_GZIP ? WINDOW_BITS + GZIP_FORMAT : WINDOW_BITS;
}

static enum compression_result inflate_all(z_stream *stream, enum compression_format format,
                                           size_t size_max, struct buffer *out)
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
        give_way_count(produced * INFLATE_WORK);
        if (out->len > size_max)
            return COMPRESSION_TOO_LARGE;
        if (status == Z_STREAM_END && stream->avail_in == 0)
            return COMPRESSION_OK;
        if (status == Z_STREAM_END) {
            /* Another member follows, whose header inflate checks. */
            if (format != COMPRESSION_GZIP || inflateReset(stream) != Z_OK)
                return COMPRESSION_DAMAGED;
        } else if (status != Z_OK || (produced == 0 && stream->avail_in == 0)) {
            return COMPRESSION_DAMAGED;
        }
    }
}

enum compression_result compression_inflate(struct arena *arena, struct bytes body,
                                            enum compression_format format, size_t size_max,
                                            struct bytes *out)
{
    z_stream stream = { .next_in = (Bytef *)(uintptr_t)body.data, .avail_in = (uInt)body.len };
    if (body.len != stream.avail_in || inflateInit2(&stream, window_bits(format)) != Z_OK)
        return COMPRESSION_DAMAGED;
    struct buffer inflated;
    buffer_init(&inflated, arena);
    enum compression_result result = inflate_all(&stream, format, size_max, &inflated);
    inflateEnd(&stream);
    *out = buffer_bytes(&inflated);
    return result;
}

/* The output, for which there is room, does not depend on the steps. */
static int deflate_all(z_stream *stream, size_t size)
{
    for (; size > DEFLATE_STEP; size -= DEFLATE_STEP) {
        stream->avail_in = DEFLATE_STEP;
        if (deflate(stream, Z_NO_FLUSH) != Z_OK || stream->avail_in > 0)
            return Z_BUF_ERROR;
        give_way_count((uint64_t)DEFLATE_STEP * DEFLATE_WORK);
    }
    stream->avail_in = (uInt)size;
    return deflate(stream, Z_FINISH);
}

struct bytes compression_deflate(struct arena *arena, struct bytes body,
                                 enum compression_format format)
{
    assert(body.len <= UINT32_MAX);
    z_stream stream = { .next_in = (Bytef *)(uintptr_t)body.data };
    if (deflateInit2(&stream, DEFLATE_LEVEL, Z_DEFLATED, window_bits(format), DEFLATE_MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        abort(); /* Out of memory. */
    size_t size_max = deflateBound(&stream, body.len);
    uint8_t *out = arena_alloc(arena, size_max);
    stream.next_out = out;
    stream.avail_out = (uInt)size_max;
    int status = deflate_all(&stream, body.len);
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

/* --- The format of an answer --- */

/* Qualities are counted in millionths; further digits are ignored. */
enum { QUALITY_ONE = 1000000 };

struct bytes compression_name(enum compression_format format)
{
    assert(format != COMPRESSION_NONE);
    return format == COMPRESSION_GZIP ? BYTES("gzip") : BYTES("deflate");
}

enum compression_format compression_find(struct bytes name)
{
    if (http_header_equal(name, BYTES("gzip")))
        return COMPRESSION_GZIP;
    return http_header_equal(name, BYTES("deflate")) ? COMPRESSION_DEFLATE : COMPRESSION_NONE;
}

/* Observed: a quality above 1 counts as 1, a negative one as 0, and an unreadable one as 1. */
static uint32_t read_quality(struct bytes text)
{
    bool negative = text.len > 0 && text.data[0] == '-', has_digits = false, has_dot = false;
    uint32_t value = 0, unit = QUALITY_ONE;
    for (size_t i = negative ? 1 : 0; i < text.len; i++) {
        uint8_t byte = text.data[i];
        if (byte == '.' && !has_dot) {
            has_dot = true;
            continue;
        }
        if (!http_grammar_is_digit(byte))
            return QUALITY_ONE;
        has_digits = true;
        if (has_dot)
            unit /= 10;
        /* Before the dot, any digit but 0 makes it 1 at least. */
        if (value < QUALITY_ONE)
            value += (uint32_t)(byte - '0') * unit;
    }
    if (!has_digits)
        return QUALITY_ONE;
    return negative ? 0 : value < QUALITY_ONE ? value : QUALITY_ONE;
}

/* Of the parameters of one entry: the first `q` counts. */
static uint32_t find_quality(struct bytes parameters)
{
    while (parameters.len > 0) {
        struct bytes value = http_header_next_part(&parameters, ';');
        struct bytes name = http_header_next_part(&value, '=');
        if (http_header_equal(name, BYTES("q")))
            return read_quality(http_header_trim(value));
    }
    return QUALITY_ONE;
}

/* What the header says about one name; quality 0 if it does not accept it. */
struct offer {
    bool is_named;
    uint32_t quality;
    size_t position;
};

static void note_offer(struct offer *offer, uint32_t quality, size_t position)
{
    if (!offer->is_named || quality > offer->quality)
        *offer = (struct offer){ true, quality, position };
}

enum compression_format compression_choose(struct bytes accept_encoding)
{
    struct offer gzip = { 0 }, deflate = { 0 }, rest = { 0 };
    struct bytes list = accept_encoding;
    for (size_t position = 0; list.len > 0; position++) {
        struct bytes entry = http_header_next_part(&list, ',');
        struct bytes name = http_header_next_part(&entry, ';');
        enum compression_format format = compression_find(name);
        if (format == COMPRESSION_GZIP)
            note_offer(&gzip, find_quality(entry), position);
        else if (format == COMPRESSION_DEFLATE)
            note_offer(&deflate, find_quality(entry), position);
        else if (bytes_equal_text(name, "*"))
            note_offer(&rest, find_quality(entry), position);
    }
    /* "*" stands for gzip, or for deflate if gzip is named with less. */
    if (!gzip.is_named)
        gzip = rest;
    else if (gzip.quality < rest.quality && !deflate.is_named)
        deflate = rest;
    if (gzip.quality == 0 && deflate.quality == 0)
        return COMPRESSION_NONE;
    if (gzip.quality != deflate.quality)
        return gzip.quality > deflate.quality ? COMPRESSION_GZIP : COMPRESSION_DEFLATE;
    return gzip.position < deflate.position ? COMPRESSION_GZIP : COMPRESSION_DEFLATE;
}
