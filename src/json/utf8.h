/* utf8.h -- the bytes of one character (RFC 3629). */
#ifndef STATOR_JSON_UTF8_H
#define STATOR_JSON_UTF8_H
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

enum { UTF8_SIZE_MAX = 4 };

/* The size of the character that begins at `at` and is not ASCII; 0 if it is not valid: cut by
 * `end`, overlong, a surrogate or above U+10FFFF. `at` is before `end`. */
size_t utf8_size(const uint8_t *at, const uint8_t *end);

/* Writes up to UTF8_SIZE_MAX bytes and returns how many. `character` is at most 0x10FFFF and no
 * surrogate. */
size_t utf8_encode(uint32_t character, uint8_t *out);

/* The size of the longest beginning of `text` that has at most `size_max` bytes and whole, valid
 * characters only. */
size_t utf8_prefix(struct bytes text, size_t size_max);

/* How many UTF-16 units valid text has, as Java counts lengths: two for a character outside the
 * basic plane, whose first byte is F0 or more. */
size_t utf8_utf16_length(struct bytes text);

#endif
