/* compressor.h -- gzip and zstd of streams of any size: a piece in, pieces out, in fixed memory.
 *
 * For exports, backups and imports, whose data does not fit in memory; compression.h is for bodies
 * that do. Both directions work on the thread that calls them and hold a few hundred KB, except
 * for zstd's window, which DECOMPRESSOR_WINDOW_LOG_MAX bounds.
 */
#ifndef STATOR_COMPRESSION_COMPRESSOR_H
#define STATOR_COMPRESSION_COMPRESSOR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

enum compressor_kind { COMPRESSOR_NONE, COMPRESSOR_GZIP, COMPRESSOR_ZSTD };

enum {
    /* The largest piece that a sink is given, except with COMPRESSOR_NONE: pieces pass as they
     * are. */
    COMPRESSOR_PIECE_SIZE = 64 * 1024,
    /* zstd's own default: a stream that needs a window above 128 MB is refused. */
    DECOMPRESSOR_WINDOW_LOG_MAX = 27,
};

/* Takes the next piece of output, which is valid during the call only. False stops the stream: the
 * sink failed, and knows why. */
typedef bool compressor_sink(void *context, struct bytes piece);

struct compressor;

/* gzip at level 1, 70 MB/s on a core; zstd at level 1, five times as fast. The owner calls
 * compressor_destroy; destroying NULL is allowed. */
struct compressor *compressor_create(enum compressor_kind kind, compressor_sink *sink,
                                     void *context);
void compressor_destroy(struct compressor *compressor);
/* False once the sink has failed. */
MUST_CHECK bool compressor_write(struct compressor *compressor, struct bytes data);
/* Writes what is held back and the end of the stream; nothing may be written behind it. A stream of
 * no bytes is a whole gzip or zstd file too. */
MUST_CHECK bool compressor_finish(struct compressor *compressor);

struct decompressor;

enum decompressor_status {
    DECOMPRESSOR_INPUT, /* All input was taken; more can come. */
    DECOMPRESSOR_ROOM,  /* `room` is used up; perhaps there is more output without input. */
    DECOMPRESSOR_DAMAGED,
};

struct decompressor *decompressor_create(enum compressor_kind kind);
void decompressor_destroy(struct decompressor *decompressor);
/* Forgets everything: another stream follows. */
void decompressor_reset(struct decompressor *decompressor);
/* Takes bytes from the start of `in` and writes up to `room` bytes, above 0, to `out`. Streams of
 * several members (RFC 1952) or frames are one. After DECOMPRESSOR_DAMAGED only a reset helps. */
MUST_CHECK enum decompressor_status decompressor_run(struct decompressor *decompressor,
                                                     struct bytes *in, uint8_t *out, size_t room,
                                                     size_t *produced);
/* True if the stream may end here: behind a whole member or frame, or before the first byte. */
bool decompressor_complete(const struct decompressor *decompressor);

#endif
