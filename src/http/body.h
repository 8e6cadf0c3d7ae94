/* body.h -- a request's body that is too large for the input buffer, or came in chunks.
 *
 * Grows with what has arrived, never by what was announced: a client that promises 16 MB and
 * sends nothing costs nothing. Not in the arena, where each growth would leave a copy behind.
 */
#ifndef STATOR_HTTP_BODY_H
#define STATOR_HTTP_BODY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct memory_budget;

enum { HTTP_BODY_FIRST_CAPACITY = 64 * 1024 };

/* All zero is empty. */
struct http_body {
    uint8_t *data;
    size_t len;
    size_t capacity;
};

/* The budget is that of all bodies; always the same one. */
void http_body_deinit(struct http_body *body, struct memory_budget *budget);
/* Makes sure there is room behind `len`; doubles, but not beyond `len_max`, which is larger than
 * `len`. The caller writes to data + len and adds to `len`. False if the budget has no room. */
MUST_CHECK bool http_body_reserve(struct http_body *body, struct memory_budget *budget,
                                  size_t len_max);
/* False, and nothing is appended, if the budget has no room. */
MUST_CHECK bool http_body_append(struct http_body *body, struct memory_budget *budget,
                                 struct bytes more);
/* How much it would grow by next. */
size_t http_body_next_size(const struct http_body *body);

#endif
