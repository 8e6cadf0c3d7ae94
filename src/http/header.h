/* header.h -- a header of an HTTP message, and how its value is taken apart.
 *
 * Pure functions over text, for servers and clients alike. What they return borrows the argument.
 */
#ifndef STATOR_HTTP_HEADER_H
#define STATOR_HTTP_HEADER_H
#include <stdbool.h>
#include "base/bytes.h"

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
