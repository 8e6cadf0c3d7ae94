/* number.h -- DynamoDB's numbers: up to 38 decimal digits, 1E-130 to 9.99...E+125, and 0.
 *
 * Two forms. `struct number` is for arithmetic. The encoded form is for storage and keys: memcmp
 * orders it by value, equal values have equal bytes, and it delimits itself. Layout:
 * doc/disk-format.md, "Numbers".
 */
#ifndef STATOR_MODEL_NUMBER_H
#define STATOR_MODEL_NUMBER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/limits.h"

struct error;

/* coefficient x 10^exponent. Canonical: no trailing zero in the coefficient; zero is all zero. */
struct number {
    unsigned __int128 coefficient;
    int16_t exponent;
    bool negative;
};

enum {
    /* Header byte and up to 20 base-100 digits (38 digits that straddle pair borders). */
    NUMBER_ENCODED_MAX = 21,
    /* Sign, "0.", and 130 places of zeros before 38 digits; or 126 integer digits. */
    NUMBER_TEXT_MAX = 1 + 2 + 130 + 38,
};

/* Reads any form the service accepts ("1", "-1.50", "+1e3", ".5"). Sets the service's message for
 * text that is no number, too large, too small or too precise; `err` NULL: no message is made. */
MUST_CHECK bool number_parse(struct bytes text, struct number *out, struct error *err);
/* Plain decimal digits without an exponent, as the service answers. Returns the length. */
size_t number_format(const struct number *number, char out[NUMBER_TEXT_MAX]);

size_t number_encode(const struct number *number, uint8_t out[NUMBER_ENCODED_MAX]);
/* number_parse and number_encode in one step, for reading requests. `*size` is what was written. */
MUST_CHECK bool number_encode_text(struct bytes text, uint8_t out[NUMBER_ENCODED_MAX], size_t *size,
                                   struct error *err);
/* Reads one encoded number from the start of `in`; false if it is not canonical. `*size` is what it
 * took. */
MUST_CHECK bool number_decode(struct bytes in, struct number *out, size_t *size);
/* The length of the encoded number at the start of `in`, 0 if it has no end. Checks nothing else.
 */
size_t number_encoded_size(struct bytes in);
/* number_decode and number_format in one step, for writing answers. `encoded` is canonical. */
size_t number_format_encoded(struct bytes encoded, char out[NUMBER_TEXT_MAX]);
/* What DynamoDB charges for an encoded number (facts: 1 + half the digits, one more if negative).
 */
size_t number_storage_size(struct bytes encoded);

int number_compare(const struct number *a, const struct number *b);
/* Exact to 38 digits; sets the service's message when the result does not fit. */
MUST_CHECK bool number_add(const struct number *a, const struct number *b, struct number *out,
                           struct error *err);
MUST_CHECK bool number_subtract(const struct number *a, const struct number *b, struct number *out,
                                struct error *err);

#endif
