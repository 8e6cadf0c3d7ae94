/* compressor.c -- see compressor.h. The only user of libzstd. */
#include "compression/compressor.h"
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

enum {
    GZIP_WINDOW = 15 + 16, /* zlib's argument for the largest window in gzip's format. */
    GZIP_LEVEL = 1,
    GZIP_MEMORY_LEVEL = 8,
    ZSTD_LEVEL = 1,
};

struct compressor {
    enum compressor_kind kind;
    compressor_sink *sink;
    void *context;
    bool failed;
    bool finished;
    z_stream gzip;
    ZSTD_CCtx *zstd;
    uint8_t piece[COMPRESSOR_PIECE_SIZE];
};

struct compressor *compressor_create(enum compressor_kind kind, compressor_sink *sink,
                                     void *context)
{
    struct compressor *compressor = calloc(1, sizeof *compressor);
    if (compressor == NULL)
        abort();
    compressor->kind = kind;
    compressor->sink = sink;
    compressor->context = context;
    if (kind == COMPRESSOR_GZIP &&
        deflateInit2(&compressor->gzip, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        abort(); /* Out of memory. */
    if (kind == COMPRESSOR_ZSTD) {
        compressor->zstd = ZSTD_createCCtx();
        if (compressor->zstd == NULL ||
            ZSTD_isError(
                ZSTD_CCtx_setParameter(compressor->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL)) ||
            ZSTD_isError(ZSTD_CCtx_setParameter(compressor->zstd, ZSTD_c_checksumFlag, 1)))
            abort();
    }
    return compressor;
}

void compressor_destroy(struct compressor *compressor)
{
    if (compressor == NULL)
        return;
    if (compressor->kind == COMPRESSOR_GZIP)
        deflateEnd(&compressor->gzip);
    ZSTD_freeCCtx(compressor->zstd);
    free(compressor);
}

static bool emit(struct compressor *compressor, struct bytes piece)
{
    if (piece.len > 0 && !compressor->sink(compressor->context, piece))
        compressor->failed = true;
    return !compressor->failed;
}

/* `flush` is Z_NO_FLUSH or Z_FINISH. */
static bool run_gzip(struct compressor *compressor, struct bytes data, int flush)
{
    z_stream *stream = &compressor->gzip;
    assert(data.len <= UINT_MAX);
    stream->next_in = (Bytef *)(uintptr_t)data.data;
    stream->avail_in = (uInt)data.len;
    for (;;) {
        stream->next_out = compressor->piece;
        stream->avail_out = sizeof compressor->piece;
        int status = deflate(stream, flush);
        assert(status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR);
        size_t size = sizeof compressor->piece - stream->avail_out;
        if (!emit(compressor, bytes_of(compressor->piece, size)))
            return false;
        if (status == Z_STREAM_END || (flush == Z_NO_FLUSH && stream->avail_out > 0))
            return true;
    }
}

static bool run_zstd(struct compressor *compressor, struct bytes data, ZSTD_EndDirective end)
{
    ZSTD_inBuffer in = { .src = data.data, .size = data.len };
    for (;;) {
        ZSTD_outBuffer out = { .dst = compressor->piece, .size = sizeof compressor->piece };
        size_t rest = ZSTD_compressStream2(compressor->zstd, &out, &in, end);
        if (ZSTD_isError(rest))
            abort(); /* Out of memory: there is no other failure of a compressor. */
        if (!emit(compressor, bytes_of(compressor->piece, out.pos)))
            return false;
        if (end == ZSTD_e_end ? rest == 0 : in.pos == in.size)
            return true;
    }
}

bool compressor_write(struct compressor *compressor, struct bytes data)
{
    assert(!compressor->finished);
    if (compressor->failed)
        return false;
    if (data.len == 0)
        return true;
    if (compressor->kind == COMPRESSOR_GZIP)
        return run_gzip(compressor, data, Z_NO_FLUSH);
    if (compressor->kind == COMPRESSOR_ZSTD)
        return run_zstd(compressor, data, ZSTD_e_continue);
    return emit(compressor, data);
}

bool compressor_finish(struct compressor *compressor)
{
    assert(!compressor->finished);
    if (compressor->failed)
        return false;
    compressor->finished = true;
    if (compressor->kind == COMPRESSOR_GZIP)
        return run_gzip(compressor, BYTES(""), Z_FINISH);
    if (compressor->kind == COMPRESSOR_ZSTD)
        return run_zstd(compressor, BYTES(""), ZSTD_e_end);
    return true;
}

/* --- Decompressing --- */

struct decompressor {
    enum compressor_kind kind;
    bool damaged;
    bool between; /* No member or frame is open. */
    z_stream gzip;
    ZSTD_DCtx *zstd;
};

struct decompressor *decompressor_create(enum compressor_kind kind)
{
    struct decompressor *decompressor = calloc(1, sizeof *decompressor);
    if (decompressor == NULL)
        abort();
    decompressor->kind = kind;
    decompressor->between = true;
    if (kind == COMPRESSOR_GZIP && inflateInit2(&decompressor->gzip, GZIP_WINDOW) != Z_OK)
        abort();
    if (kind == COMPRESSOR_ZSTD) {
        decompressor->zstd = ZSTD_createDCtx();
        if (decompressor->zstd == NULL ||
            ZSTD_isError(ZSTD_DCtx_setParameter(decompressor->zstd, ZSTD_d_windowLogMax,
                                                DECOMPRESSOR_WINDOW_LOG_MAX)))
            abort();
    }
    return decompressor;
}

void decompressor_destroy(struct decompressor *decompressor)
{
    if (decompressor == NULL)
        return;
    if (decompressor->kind == COMPRESSOR_GZIP)
        inflateEnd(&decompressor->gzip);
    ZSTD_freeDCtx(decompressor->zstd);
    free(decompressor);
}

void decompressor_reset(struct decompressor *decompressor)
{
    decompressor->damaged = false;
    decompressor->between = true;
    if (decompressor->kind == COMPRESSOR_GZIP && inflateReset(&decompressor->gzip) != Z_OK)
        abort();
    if (decompressor->kind == COMPRESSOR_ZSTD &&
        ZSTD_isError(ZSTD_DCtx_reset(decompressor->zstd, ZSTD_reset_session_only)))
        abort();
}

bool decompressor_complete(const struct decompressor *decompressor)
{
    return decompressor->between && !decompressor->damaged;
}

static enum decompressor_status damaged(struct decompressor *decompressor)
{
    decompressor->damaged = true;
    return DECOMPRESSOR_DAMAGED;
}

static enum decompressor_status run_gunzip(struct decompressor *decompressor, struct bytes *in,
                                           uint8_t *out, size_t room, size_t *produced)
{
    z_stream *stream = &decompressor->gzip;
    stream->next_out = out;
    stream->avail_out = room > UINT_MAX ? UINT_MAX : (uInt)room;
    const uInt room_taken = stream->avail_out;
    stream->next_in = (Bytef *)(uintptr_t)in->data;
    stream->avail_in = in->len > UINT_MAX ? UINT_MAX : (uInt)in->len;
    const uInt in_taken = stream->avail_in;
    int status = Z_OK;
    while (stream->avail_in > 0 || !decompressor->between) {
        decompressor->between = false;
        status = inflate(stream, Z_NO_FLUSH);
        if (status == Z_STREAM_END) {
            decompressor->between = true;
            if (inflateReset(stream) != Z_OK) /* Another member may follow; inflate checks it. */
                abort();
        } else if (status != Z_OK) {
            break;
        }
        if (stream->avail_out == 0)
            break;
    }
    *produced = room_taken - stream->avail_out;
    *in = bytes_of(stream->next_in, in->len - (in_taken - stream->avail_in));
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        return damaged(decompressor);
    return stream->avail_out == 0 || in->len > 0 ? DECOMPRESSOR_ROOM : DECOMPRESSOR_INPUT;
}

static enum decompressor_status run_unzstd(struct decompressor *decompressor, struct bytes *in,
                                           uint8_t *out, size_t room, size_t *produced)
{
    ZSTD_inBuffer from = { .src = in->data, .size = in->len };
    ZSTD_outBuffer to = { .dst = out, .size = room };
    /* Where the output has room left, everything that could be written was. */
    while (to.pos < to.size && (from.pos < from.size || !decompressor->between)) {
        size_t taken = from.pos, written = to.pos;
        size_t rest = ZSTD_decompressStream(decompressor->zstd, &to, &from);
        if (ZSTD_isError(rest)) {
            *produced = to.pos;
            return damaged(decompressor);
        }
        decompressor->between = rest == 0;
        if (from.pos == taken && to.pos == written)
            break;
    }
    *produced = to.pos;
    *in = bytes_of((const uint8_t *)from.src + from.pos, in->len - from.pos);
    return to.pos == to.size ? DECOMPRESSOR_ROOM : DECOMPRESSOR_INPUT;
}

enum decompressor_status decompressor_run(struct decompressor *decompressor, struct bytes *in,
                                          uint8_t *out, size_t room, size_t *produced)
{
    assert(room > 0);
    *produced = 0;
    if (decompressor->damaged)
        return DECOMPRESSOR_DAMAGED;
    if (decompressor->kind == COMPRESSOR_GZIP)
        return run_gunzip(decompressor, in, out, room, produced);
    if (decompressor->kind == COMPRESSOR_ZSTD)
        return run_unzstd(decompressor, in, out, room, produced);
    *produced = in->len < room ? in->len : room;
    if (*produced > 0)
        memcpy(out, in->data, *produced);
    *in = bytes_of(*produced > 0 ? in->data + *produced : in->data, in->len - *produced);
    return in->len > 0 ? DECOMPRESSOR_ROOM : DECOMPRESSOR_INPUT;
}
