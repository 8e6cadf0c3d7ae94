/* compression.c -- see compression.h. The only user of zlib. */
#include "wire/compression.h"
#include <stdlib.h>
#include <zlib.h>
#include "base/buffer.h"

enum {
    WINDOW_BITS = 15,
    DETECT_FORMAT = 32, /* Added to the window: gzip or zlib, by the header. */
    GZIP_FORMAT = 16,
    INFLATE_STEP = 64 * 1024,
    /* Answers are compressed while a client waits: speed before size. */
    GZIP_LEVEL = 1,
    GZIP_MEMORY_LEVEL = 8,
};

static enum compression_result inflate_all(z_stream *stream, size_t size_max, struct buffer *out)
{
    for (;;) {
        /* One byte more than allowed tells "exactly the limit" from "beyond it". */
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

uint32_t compression_crc32(struct bytes body)
{
    return (uint32_t)crc32_z(0, body.data, body.len);
}
