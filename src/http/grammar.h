/* grammar.h -- the text of HTTP messages (RFC 9110): classes of characters, headers, and the parts
 * of their values.
 *
 * Pure functions over bytes, for servers and clients alike. Results borrow their arguments.
 */
#ifndef STATOR_HTTP_GRAMMAR_H
#define STATOR_HTTP_GRAMMAR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

/* --- Characters --- */

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

/* The same for HTTP_GRAMMAR_TOKEN, faster for names of headers. */
size_t http_grammar_skip_name(const uint8_t *data, size_t at, size_t end);

/* The first index in [at, end) whose byte is not allowed in a header value: a control byte other
 * than the tab. `end` if there is none. */
size_t http_grammar_skip_value(const uint8_t *data, size_t at, size_t end);
/* How many bytes are not allowed in a header value. */
size_t http_grammar_count_controls(const uint8_t *data, size_t size);

static inline bool http_grammar_is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t';
}

static inline bool http_grammar_is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

/* --- Headers --- */

struct http_header {
    struct bytes name;  /* As sent; names differ in case, so compare with http_header_equal. */
    struct bytes value; /* Without the white space around it. */
};

/* Ignores the case of ASCII letters. */
bool http_header_equal(struct bytes a, struct bytes b);
/* Removes spaces and tabs at both ends. */
struct bytes http_header_trim(struct bytes text);
/* Splits the part before the next `separator` off the front of `rest`, and trims it. */
struct bytes http_header_next_part(struct bytes *rest, char separator);

#endif
