/* chunked.h -- the body of a request sent in chunks (RFC 9112, 7.1), read strictly.
 *
 * A pure function over bytes, like parser.h. Trailers are parsed to find the end, and ignored.
 */
#ifndef STATOR_HTTP_CHUNKED_H
#define STATOR_HTTP_CHUNKED_H
#include <stdint.h>
#include "base/bytes.h"

enum {
    HTTP_CHUNKED_SIZE_DIGITS_MAX = 16,       /* Hexadecimal, so a size fits 64 bits. */
    HTTP_CHUNKED_EXTENSIONS_SIZE_MAX = 4096, /* Over all chunks of a body. */
    HTTP_CHUNKED_TRAILERS_SIZE_MAX = 8192,
};

enum http_chunked_status {
    HTTP_CHUNKED_MORE,    /* All input was read; the body is incomplete. */
    HTTP_CHUNKED_CONTENT, /* `content` is set; call again. */
    HTTP_CHUNKED_DONE,    /* The body is complete; the rest of the input follows it. */
    HTTP_CHUNKED_REFUSED, /* `refusal` is the status to answer with. */
};

struct http_chunked {
    uint64_t content_size_max;
    uint64_t content_size; /* Of all chunks announced so far. */
    uint64_t chunk_left;   /* Of the current chunk. */
    uint32_t extensions_size;
    uint32_t trailers_size;
    uint8_t size_digits;
    uint8_t state;    /* enum in chunked.c */
    uint16_t refusal; /* 400, 413 or 431. */
};

void http_chunked_init(struct http_chunked *chunked, uint64_t content_size_max);

/* Removes bytes from the front of `input`; `content` borrows from it. DONE and REFUSED are final.
 */
enum http_chunked_status http_chunked_next(struct http_chunked *chunked, struct bytes *input,
                                           struct bytes *content);

#endif
