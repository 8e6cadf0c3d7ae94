/* number_arithmetic.c -- exact sums and differences, and the order of numbers.
 *
 * A sum is formed at the smaller of the two exponents. Both coefficients are below 10^38, so an
 * aligned one that leaves 128 bits (3.4 x 10^38) is so much the larger that the result cannot be
 * exact in 38 digits: no wider type is needed to know.
 */
#include <assert.h>
#include "model/error.h"
#include "model/number.h"
#include "model/number_digits.h"

#define TEN_TO_19 UINT64_C(10000000000000000000)
#define TEN_TO_38 ((unsigned __int128)TEN_TO_19 * TEN_TO_19)
enum { HALF_DIGITS = 19 };

static uint64_t read_decimal(const uint8_t *digit, unsigned count)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < count; i++)
        value = value * 10 + digit[i];
    return value;
}

struct number number_from_digits(const struct digits *digits)
{
    if (digits->count == 0)
        return (struct number){ 0 };
    assert(digits->count <= NUMBER_DIGITS_MAX);
    struct number number = { .negative = digits->negative };
    if (digits->count <= HALF_DIGITS) {
        number.coefficient = read_decimal(digits->digit, digits->count);
    } else {
        unsigned low = digits->count - HALF_DIGITS;
        number.coefficient = read_decimal(digits->digit, low);
        number.coefficient *= TEN_TO_19;
        number.coefficient += read_decimal(digits->digit + low, HALF_DIGITS);
    }
    number.exponent = (int16_t)(digits->exponent - (int)digits->count + 1);
    return number;
}

/* Writes the decimal digits backwards from `end`; returns how many. */
static unsigned write_decimal(uint64_t value, uint8_t *end)
{
    unsigned count = 0;
    for (; value > 0; value /= 10)
        end[-(int)++count] = (uint8_t)(value % 10);
    return count;
}

void number_to_digits(const struct number *number, struct digits *out)
{
    assert(number->coefficient < TEN_TO_38);
    uint8_t reversed[NUMBER_DIGITS_MAX] = { 0 };
    uint8_t *end = reversed + NUMBER_DIGITS_MAX;
    unsigned count;

    if (number->coefficient < TEN_TO_19) {
        count = write_decimal((uint64_t)number->coefficient, end);
    } else {
        write_decimal((uint64_t)(number->coefficient % TEN_TO_19), end);
        count = HALF_DIGITS +
                write_decimal((uint64_t)(number->coefficient / TEN_TO_19), end - HALF_DIGITS);
    }
    *out = (struct digits){ .count = count, .negative = number->negative };
    for (unsigned i = 0; i < count; i++)
        out->digit[i] = end[(int)i - (int)count];
    if (count > 0)
        out->exponent = number->exponent + (int)count - 1;
}

int number_compare(const struct number *a, const struct number *b)
{
    uint8_t a_bytes[NUMBER_ENCODED_MAX], b_bytes[NUMBER_ENCODED_MAX];
    size_t a_size = number_encode(a, a_bytes);
    size_t b_size = number_encode(b, b_bytes);
    return bytes_compare(bytes_of(a_bytes, a_size), bytes_of(b_bytes, b_size));
}

/* False if the product leaves 128 bits. */
static bool scale_up(unsigned __int128 *coefficient, int places)
{
    for (; places > 0; places--) {
        if (__builtin_mul_overflow(*coefficient, 10u, coefficient))
            return false;
    }
    return true;
}

/* Observed: a result that needs too many digits is told to be too large. */
static bool overflow(struct error *err)
{
    return error_validation(err, NUMBER_OVERFLOW_TEXT);
}

/* Brings an exact result into canonical form, or says why it is no number. */
static bool normalize(unsigned __int128 coefficient, int exponent, bool negative,
                      struct number *out, struct error *err)
{
    if (coefficient == 0) {
        *out = (struct number){ 0 };
        return true;
    }
    for (; coefficient % 10 == 0; coefficient /= 10)
        exponent++;
    if (coefficient >= TEN_TO_38)
        return overflow(err);
    struct digits digits;
    struct number number = { coefficient, (int16_t)exponent, negative };
    number_to_digits(&number, &digits);
    if (!number_is_in_range(digits.exponent))
        return digits.exponent > 0 ? overflow(err) : error_validation(err, NUMBER_UNDERFLOW_TEXT);
    *out = number;
    return true;
}

bool number_add(const struct number *a, const struct number *b, struct number *out,
                struct error *err)
{
    if (a->coefficient == 0 || b->coefficient == 0) {
        *out = a->coefficient == 0 ? *b : *a;
        return true;
    }
    const struct number *high = a->exponent >= b->exponent ? a : b;
    const struct number *low = high == a ? b : a;
    unsigned __int128 left = high->coefficient, right = low->coefficient, result;

    /* `low` ends in a digit that is not zero, and nothing of `high` reaches down there: whatever
     * leaves 128 bits here leaves 38 digits too, even after subtracting. */
    if (!scale_up(&left, high->exponent - low->exponent))
        return overflow(err);
    if (high->negative != low->negative) {
        bool swap = left < right;
        result = swap ? right - left : left - right;
        return normalize(result, low->exponent, swap ? low->negative : high->negative, out, err);
    }
    if (__builtin_add_overflow(left, right, &result))
        return overflow(err);
    return normalize(result, low->exponent, low->negative, out, err);
}

bool number_subtract(const struct number *a, const struct number *b, struct number *out,
                     struct error *err)
{
    struct number negated = *b;
    negated.negative = b->coefficient != 0 && !b->negative;
    return number_add(a, &negated, out, err);
}
