/* compression.h -- gzip and deflate of bodies, bounded. */
#ifndef STATOR_CALL_COMPRESSION_H
#define STATOR_CALL_COMPRESSION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;

enum compression_result {
    COMPRESSION_OK,
    COMPRESSION_DAMAGED,   /* Invalid, truncated, or followed by other bytes. */
    COMPRESSION_TOO_LARGE, /* Larger than `size_max`; at most that much memory was used. */
};

/* Inflates a gzip or zlib ("deflate") body into the arena. */
MUST_CHECK enum compression_result compression_inflate(struct arena *arena, struct bytes body,
                                                       size_t size_max, struct bytes *out);
/* Compresses into gzip format. */
struct bytes compression_gzip(struct arena *arena, struct bytes body);

/* True if the value of an Accept-Encoding header names gzip with a weight other than zero. */
bool compression_accepts_gzip(struct bytes accept_encoding);

/* zlib's CRC-32, for x-amz-crc32. */
uint32_t compression_crc32(struct bytes body);

#endif
