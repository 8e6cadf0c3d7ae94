/* parser.h -- the head of an HTTP/1.x request: request line and headers, read strictly.
 *
 * A pure function over bytes. The head may arrive in any number of pieces, and the buffer may move
 * between calls: the parser keeps offsets from the head's first byte and resumes where it stopped,
 * so it reads each byte once.
 *
 * Refuses whatever a proxy in front could read differently, because that allows request smuggling:
 * bare CR or LF, control bytes, folded lines, white space before a colon, a second Host or
 * Content-Length, Content-Length beside Transfer-Encoding, any coding but exactly "chunked". Also
 * refuses an empty line before a request, which RFC 9112 would allow.
 */
#ifndef STATOR_HTTP_PARSER_H
#define STATOR_HTTP_PARSER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

enum {
    HTTP_PARSER_HEADERS_MAX = 100,            /* 431 beyond. */
    HTTP_PARSER_SIZE_MAX = 1024 * 1024 * 1024 /* Of a head; keeps offsets within 32 bits. */
};

enum http_parser_status {
    HTTP_PARSER_MORE,    /* Valid so far, but incomplete. */
    HTTP_PARSER_DONE,    /* The head is complete: `at` bytes long. */
    HTTP_PARSER_REFUSED, /* `refusal` is the status to answer with. */
};

struct http_span {
    uint32_t at; /* From the head's first byte. */
    uint32_t len;
};

struct http_field {
    struct http_span name;
    struct http_span value; /* Without the white space around it. */
};

struct http_parser {
    uint32_t size_max;
    uint32_t at;        /* The next byte to read; once done, the head's size. */
    uint32_t token_at;  /* The start of the current token. */
    uint8_t state;      /* enum in parser.c */
    uint8_t connection; /* What the Connection headers asked for; enum in parser.c */
    uint16_t refusal;   /* 400, 417, 431, 501 or 505. */
    /* The rest is valid once the head is done. */
    bool version_1_0;
    bool chunked; /* The body comes in chunks. */
    bool expects_continue;
    bool keeps_alive; /* The client wants the connection kept. */
    bool has_host;
    bool has_content_length;
    uint64_t content_length; /* 0 without one; UINT64_MAX if it does not fit 64 bits. */
    struct http_span method;
    struct http_span target;
    uint32_t field_count;
    struct http_field fields[HTTP_PARSER_HEADERS_MAX]; /* In the order sent. */
};

/* For a new head of at most `size_max` bytes, including the empty line at its end. */
void http_parser_init(struct http_parser *parser, size_t size_max);

/* `data` starts with the head's first byte and holds all `size` bytes received so far, at least as
 * many as in the last call. Bytes after the head are ignored. A verdict is final: further calls
 * repeat it. */
enum http_parser_status http_parser_feed(struct http_parser *parser, const uint8_t *data,
                                         size_t size);

static inline struct bytes http_span_bytes(struct http_span span, const uint8_t *data)
{
    return bytes_of(data + span.at, span.len);
}

#endif
