/* header_text.h -- small pieces of HTTP header values. Everything borrows its argument. */
#ifndef STATOR_WIRE_HEADER_TEXT_H
#define STATOR_WIRE_HEADER_TEXT_H
#include <stdbool.h>
#include "base/bytes.h"

/* Ignoring the case of letters. */
bool header_text_equal(struct bytes a, struct bytes b);
/* Without spaces and tabs around it. */
struct bytes header_text_trim(struct bytes text);
/* Takes the part before the next `separator`, trimmed, off the front of `rest`. */
struct bytes header_text_next(struct bytes *rest, char separator);

#endif
