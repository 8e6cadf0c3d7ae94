/* compression.h -- gzip and deflate of bodies, bounded. HTTP's "deflate" is zlib's format. */
#ifndef STATOR_COMPRESSION_COMPRESSION_H
#define STATOR_COMPRESSION_COMPRESSION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;

enum compression_result {
    COMPRESSION_OK,
    COMPRESSION_DAMAGED, /* Invalid, truncated, or followed by other bytes. */
    /* Larger than `size_max`; at most that much memory was used. The result is the beginning. */
    COMPRESSION_TOO_LARGE,
};

enum compression_format { COMPRESSION_NONE, COMPRESSION_GZIP, COMPRESSION_DEFLATE };

/* Inflates a body into the arena. A gzip body may have several members (RFC 1952). `format` is not
 * COMPRESSION_NONE. */
MUST_CHECK enum compression_result compression_inflate(struct arena *arena, struct bytes body,
                                                       enum compression_format format,
                                                       size_t size_max, struct bytes *out);
/* `format` is not COMPRESSION_NONE. */
struct bytes compression_deflate(struct arena *arena, struct bytes body,
                                 enum compression_format format);

/* The format for an answer to a request with this Accept-Encoding header, by the service's rules:
 * the highest quality wins, and of equal ones the first. */
enum compression_format compression_choose(struct bytes accept_encoding);

/* The name of a format in Content-Encoding; not of COMPRESSION_NONE. */
struct bytes compression_name(enum compression_format format);
/* The format with that name; COMPRESSION_NONE if we have none. */
enum compression_format compression_find(struct bytes name);

/* zlib's CRC-32, for x-amz-crc32. */
uint32_t compression_crc32(struct bytes body);

#endif
