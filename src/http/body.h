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

enum { HTTP_BODY_FIRST_CAPACITY = 64 * 1024 };

/* All zero is empty. */
struct http_body {
    uint8_t *data;
    size_t len;
    size_t capacity;
};

void http_body_deinit(struct http_body *body);
/* Makes sure there is room behind `len`; doubles, but not beyond `len_max`, which is larger than
 * `len`. The caller writes to data + len and adds to `len`. */
void http_body_reserve(struct http_body *body, size_t len_max);
void http_body_append(struct http_body *body, struct bytes more);

#endif
