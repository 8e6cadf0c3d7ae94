/* body.h -- a request's body that is too large for the input buffer, or came in chunks.
 *
 * Grows with what has arrived, never by what was announced: a client that promises 16 MB and
 * sends nothing costs nothing. Not in the arena, where each growth would leave a copy behind.
 */
#ifndef STATOR_HTTP_BODY_H
#define STATOR_HTTP_BODY_H
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

struct memory_budget;

enum { HTTP_BODY_FIRST_CAPACITY = 64 * 1024 };

/* All zero is empty. */
struct http_body {
    uint8_t *data;
    size_t len;
    size_t capacity;
};

/* Gives back what was taken of the budget for it: its capacity. */
void http_body_deinit(struct http_body *body, struct memory_budget *budget);
/* By how much it has to grow for `more` bytes; 0: there is room. Doubles, but never beyond
 * `len_max`, which `more` does not pass. */
size_t http_body_growth(const struct http_body *body, size_t more, size_t len_max);
/* The caller has taken `size` of the budget. */
void http_body_grow(struct http_body *body, size_t size);
/* There must be room. */
void http_body_append(struct http_body *body, struct bytes more);

#endif
