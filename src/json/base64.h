/* base64.h -- RFC 4648 base64 with padding, strict: no white space, no stray bits. */
#ifndef STATOR_JSON_BASE64_H
#define STATOR_JSON_BASE64_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"

/* Upper bound of what base64_decode writes for `text_len` characters. */
static inline size_t base64_decoded_max(size_t text_len)
{
    return text_len / 4 * 3 + 3;
}
static inline size_t base64_encoded_size(size_t len)
{
    return (len + 2) / 3 * 4;
}

/* False if `text` is not base64. `*size` is what was written to `out`. */
MUST_CHECK bool base64_decode(struct bytes text, uint8_t *out, size_t *size);
/* Writes exactly base64_encoded_size(value.len) characters, no NUL. */
void base64_encode(struct bytes value, char *out);

#endif
