/* grammar.h -- the character classes of HTTP (RFC 9110), shared by the head and the chunk parser.
 */
#ifndef STATOR_HTTP_GRAMMAR_H
#define STATOR_HTTP_GRAMMAR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

enum http_grammar_class {
    HTTP_GRAMMAR_TOKEN = 1,  /* Methods and header names. */
    HTTP_GRAMMAR_TARGET = 2, /* Visible ASCII without '#': a fragment is never sent. */
    HTTP_GRAMMAR_HOST = 4,   /* Name, address in brackets, port. */
};
extern const uint8_t http_grammar_classes[256];

/* The first index in [at, end) whose byte is not of `class`; `end` if all are. */
static inline size_t http_grammar_skip(const uint8_t *data, size_t at, size_t end,
                                       enum http_grammar_class class)
{
    while (at < end && (http_grammar_classes[data[at]] & class) != 0)
        at++;
    return at;
}

/* The first index in [at, end) whose byte may not stand in a header value: a control byte other
 * than the tab. `end` if there is none. */
size_t http_grammar_skip_value(const uint8_t *data, size_t at, size_t end);

static inline bool http_grammar_is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t';
}

static inline bool http_grammar_is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

#endif
