/* number.c -- text, encoded bytes and struct number, converted into one another; sums and order.
 *
 * The meeting point of all three is `struct digits`: the significant decimal digits and the power
 * of ten of the first one. Text and encoded bytes get there and back without long division; only
 * struct number, which arithmetic needs, pays for 128 bits.
 */
#include "model/number.h"
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "model/error.h"
#include "model/limits.h"

enum {
    SIGN_BIT = 0x80, /* Set in the first byte of zero and of positive numbers. */
    PAIR_EXPONENT_MIN = -65,
    PAIR_EXPONENT_MAX = 62,
    PAIRS_MAX = NUMBER_ENCODED_MAX - 1,
    PAIR_BYTE_MAX = 2 * 99 + 1,
};
static_assert(PAIR_EXPONENT_MIN * 2 == NUMBER_EXPONENT_MIN, "the smallest number has an encoding");
static_assert(PAIR_EXPONENT_MAX * 2 + 1 == NUMBER_EXPONENT_MAX, "so has the largest");
static_assert(SIGN_BIT + PAIR_EXPONENT_MAX - PAIR_EXPONENT_MIN == 0xFF, "in one byte, to the full");
static_assert(PAIRS_MAX == (NUMBER_DIGITS_MAX + 2) / 2, "38 digits may touch 20 pairs");

/* --- A number as decimal digits --- */

struct digits {
    /* Most significant first, no zero at either end; zeros up to the end of the array. Two more
     * than a number has, since 20 pairs hold 40 before they are found to be too many. */
    uint8_t digit[NUMBER_DIGITS_MAX + 2];
    unsigned count; /* 0: the number is zero. */
    int exponent;   /* Of the first digit. */
    bool negative;
};

#define NUMBER_OVERFLOW_TEXT                                                                       \
    "Number overflow. Attempting to store a number with magnitude larger than supported range"
#define NUMBER_UNDERFLOW_TEXT                                                                      \
    "Number underflow. Attempting to store a number with magnitude smaller than supported range"

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

static struct number from_digits(const struct digits *digits)
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

static void to_digits(const struct number *number, struct digits *out)
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

/* --- Text to digits --- */

static inline bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

/* The mantissa as it is read: `places` counts the digits since the first that is not zero. */
struct mantissa {
    size_t places;
    size_t integer_places; /* Of these, before the decimal point. */
    size_t leading_zeros;  /* Behind the decimal point, before the first digit that is not zero. */
    size_t fraction_size;  /* All digits behind the point. */
    bool any;
    bool too_precise;
};

/* Reads a run of digits; returns the first byte behind it. */
static const uint8_t *read_run(const uint8_t *at, const uint8_t *end, struct mantissa *mantissa,
                               struct digits *out)
{
    for (; at < end && is_digit(*at); at++) {
        uint8_t digit = (uint8_t)(*at - '0');
        mantissa->any = true;
        if (digit == 0 && mantissa->places == 0)
            continue;
        if (mantissa->places < NUMBER_DIGITS_MAX)
            out->digit[mantissa->places] = digit;
        mantissa->places++;
        if (digit != 0) {
            mantissa->too_precise |= mantissa->places > NUMBER_DIGITS_MAX;
            out->count = (unsigned)mantissa->places; /* Zeros behind the last one are trimmed. */
        }
    }
    return at;
}

static const uint8_t *read_mantissa(const uint8_t *at, const uint8_t *end,
                                    struct mantissa *mantissa, struct digits *out)
{
    at = read_run(at, end, mantissa, out);
    mantissa->integer_places = mantissa->places;
    if (at < end && *at == '.') {
        const uint8_t *fraction = ++at;
        at = read_run(at, end, mantissa, out);
        mantissa->fraction_size = (size_t)(at - fraction);
        if (mantissa->integer_places == 0)
            mantissa->leading_zeros = mantissa->fraction_size - mantissa->places;
    }
    return at;
}

/* Scales beyond this are no numbers at all to the older family, whatever the mantissa: it reads
 * them with Java's BigDecimal. The newer family takes exponents of up to 64 bits. */
enum { SCALE_MAX = 2147483647 };

/* Reads "E+12" if it is there. Returns NULL if it is malformed. INT64_MAX and -INT64_MAX stand for
 * all that do not fit into 64 bits. */
static const uint8_t *read_exponent(const uint8_t *at, const uint8_t *end, int64_t *out)
{
    if (at == end || (*at != 'e' && *at != 'E'))
        return at;
    at++;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end)
        return NULL;
    int64_t exponent = 0;
    for (; at < end && is_digit(*at); at++) {
        if (__builtin_mul_overflow(exponent, 10, &exponent) ||
            __builtin_add_overflow(exponent, *at - '0', &exponent))
            exponent = INT64_MAX;
    }
    *out = negative ? -exponent : exponent;
    return at;
}

static bool not_a_number(struct bytes text, struct error *err)
{
    static const char message[] = "The parameter cannot be converted to a numeric value";
    if (err == NULL)
        return false;
    struct buffer out; /* The text may contain NUL, so no printf. */
    buffer_init(&out, err->arena);
    buffer_append(&out, message, sizeof message - 1);
    if (text.len > 0 || err->family != ERROR_FAMILY_OLDER)
        buffer_append_bytes(&out, BYTES(": "));
    buffer_append_bytes(
        &out, bytes_of(text.data, text.len < REPEATED_TEXT_MAX ? text.len : REPEATED_TEXT_MAX));
    return error_fault_bytes(err, buffer_bytes(&out));
}

static bool is_in_range(int64_t exponent)
{
    return exponent >= NUMBER_EXPONENT_MIN && exponent <= NUMBER_EXPONENT_MAX;
}

/* Texts of requests; those of results of arithmetic have no envelope. */
static bool check_range(int64_t exponent, struct error *err)
{
    if (is_in_range(exponent))
        return true;
    return err != NULL &&
           error_fault(err, "%s", exponent > 0 ? NUMBER_OVERFLOW_TEXT : NUMBER_UNDERFLOW_TEXT);
}

static bool too_precise(struct error *err)
{
    return err != NULL &&
           error_fault(err, "Attempting to store more than %d significant digits in a Number",
                       NUMBER_DIGITS_MAX);
}

static bool parse_digits(struct bytes text, struct digits *out, struct error *err)
{
    const uint8_t *at = text.data;
    const uint8_t *end = text.data + text.len;
    struct mantissa mantissa = { 0 };
    int64_t exponent = 0;

    *out = (struct digits){ 0 };
    if (at < end && (*at == '-' || *at == '+'))
        out->negative = *at++ == '-';
    at = read_mantissa(at, end, &mantissa, out);
    if (!mantissa.any)
        return not_a_number(text, err);
    if (at < end) {
        at = read_exponent(at, end, &exponent);
        if (at != end) /* Also NULL. */
            return not_a_number(text, err);
        if (exponent == INT64_MAX || exponent == -INT64_MAX)
            return not_a_number(text, err);
        /* Far beyond every bound below, so that sums with it do not overflow. */
        if (exponent > INT64_MAX / 2 || exponent < -INT64_MAX / 2)
            exponent /= 2;
        int64_t scale = (int64_t)mantissa.fraction_size - exponent;
        bool is_older = err == NULL || err->family == ERROR_FAMILY_OLDER;
        if (is_older && (scale > SCALE_MAX || scale < -SCALE_MAX))
            return not_a_number(text, err);
    }
    if (out->count == 0) {
        out->negative = false;
        /* Observed: zero has an exponent, which must be in the range. */
        return check_range(exponent - (int64_t)mantissa.fraction_size, err);
    }
    if (mantissa.too_precise)
        return too_precise(err);
    exponent += mantissa.integer_places > 0 ? (int64_t)mantissa.integer_places - 1
                                            : -(int64_t)mantissa.leading_zeros - 1;
    if (exponent == INT32_MAX && err != NULL && err->family == ERROR_FAMILY_OLDER)
        return check_range(INT32_MIN, err); /* Observed: the service's own sum overflows here. */
    if (!check_range(exponent, err))
        return false;
    out->exponent = (int)exponent;
    return true;
}

/* --- Digits to encoded bytes --- */

static size_t encode_digits(const struct digits *digits, uint8_t out[NUMBER_ENCODED_MAX])
{
    if (digits->count == 0) {
        out[0] = SIGN_BIT;
        out[1] = 0;
        return 2;
    }
    assert(digits->count <= NUMBER_DIGITS_MAX && digits->digit[digits->count - 1] != 0);
    assert(digits->exponent >= NUMBER_EXPONENT_MIN && digits->exponent <= NUMBER_EXPONENT_MAX);
    /* Negative numbers are the complement, by one exclusive or per byte. */
    uint8_t flip = digits->negative ? 0xFF : 0x00;
    bool alone = digits->exponent % 2 == 0; /* The first digit shares no pair. */
    int biased = (alone ? digits->exponent : digits->exponent - 1) / 2 - PAIR_EXPONENT_MIN;
    size_t size = 0;
    unsigned at = 0;

    out[size++] = (uint8_t)((SIGN_BIT + biased) ^ flip);
    if (alone)
        out[size++] = (uint8_t)((2 * digits->digit[at++] + 1) ^ flip);
    for (; at < digits->count; at += 2) /* A missing last digit reads as zero. */
        out[size++] = (uint8_t)((2 * (digits->digit[at] * 10 + digits->digit[at + 1]) + 1) ^ flip);
    out[size - 1] ^= 1; /* Even: the end. */
    return size;
}

bool number_encode_text(struct bytes text, uint8_t out[NUMBER_ENCODED_MAX], size_t *size,
                        struct error *err)
{
    struct digits digits;
    if (!parse_digits(text, &digits, err))
        return false;
    *size = encode_digits(&digits, out);
    return true;
}

/* --- Encoded bytes to digits and text --- */

size_t number_encoded_size(struct bytes in)
{
    if (in.len == 0)
        return 0;
    uint8_t end_parity = in.data[0] & SIGN_BIT ? 0 : 1;
    size_t limit = in.len < NUMBER_ENCODED_MAX ? in.len : NUMBER_ENCODED_MAX;
    for (size_t i = 1; i < limit; i++) {
        if ((in.data[i] & 1) == end_parity)
            return i + 1;
    }
    return 0;
}

/* Two decimal digits of every pair. Larger than that, so that damaged bytes stay inside. */
static const char pair_text[256] = "00010203040506070809101112131415161718192021222324"
                                   "25262728293031323334353637383940414243444546474849"
                                   "50515253545556575859606162636465666768697071727374"
                                   "75767778798081828384858687888990919293949596979899";

bool number_decode(struct bytes in, struct number *out, size_t *size)
{
    size_t length = number_encoded_size(in);
    if (length == 0)
        return false;
    uint8_t flip = in.data[0] & SIGN_BIT ? 0x00 : 0xFF;
    struct digits digits = { .negative = flip != 0 };
    uint8_t biased = (uint8_t)((in.data[0] ^ flip) - SIGN_BIT);

    *size = length;
    if (length == 2 && (in.data[1] ^ flip) == 0) { /* Zero, which has no exponent and no sign. */
        *out = (struct number){ 0 };
        return biased == 0 && !digits.negative;
    }
    for (size_t i = 1; i < length; i++) {
        uint8_t byte = in.data[i] ^ flip;
        if (byte > PAIR_BYTE_MAX)
            return false;
        unsigned pair = byte / 2u;
        bool first = i == 1, last = i == length - 1;
        if ((first || last) && pair == 0)
            return false;
        if (!first || pair >= 10)
            digits.digit[digits.count++] = (uint8_t)(pair / 10);
        digits.digit[digits.count++] = (uint8_t)(pair % 10);
        if (first)
            digits.exponent = (biased + PAIR_EXPONENT_MIN) * 2 + (pair >= 10);
        if (last && pair % 10 == 0)
            digits.count--;
    }
    if (digits.count > NUMBER_DIGITS_MAX)
        return false;
    *out = from_digits(&digits);
    return true;
}

static void put_zeros(char *out, size_t *size, int count)
{
    assert(count >= 0);
    memset(out + *size, '0', (size_t)count);
    *size += (size_t)count;
}

/* A positive number, all digits of which are stored, and none behind the point: most are. */
static size_t format_natural(struct bytes encoded, char *out)
{
    const char *first = pair_text + (encoded.data[1] & 0xFE);
    size_t size = first[0] != '0'; /* No zero leads. */
    out[0] = first[0];
    out[size++] = first[1];
    for (size_t i = 2; i < encoded.len; i++, size += 2)
        memcpy(out + size, pair_text + (encoded.data[i] & 0xFE), 2);
    return size;
}

size_t number_format_encoded(struct bytes encoded, char out[NUMBER_TEXT_MAX])
{
    assert(encoded.len >= 2 && encoded.len <= NUMBER_ENCODED_MAX);
    uint8_t flip = encoded.data[0] & SIGN_BIT ? 0x00 : 0xFF;
    int exponent = (encoded.data[0] ^ flip) - SIGN_BIT + PAIR_EXPONENT_MIN;
    size_t size = 0;

    if (flip == 0 && (int)encoded.len == exponent + 2)
        return format_natural(encoded, out);
    if (encoded.len == 2 && encoded.data[0] == SIGN_BIT && encoded.data[1] == 0) {
        out[0] = '0';
        return 1;
    }
    if (flip != 0)
        out[size++] = '-';
    if (exponent < 0) {
        memcpy(out + size, "0.", 2);
        size += 2;
        put_zeros(out, &size, 2 * (-exponent - 1));
    }
    int pairs = (int)encoded.len - 1;
    for (int i = 0; i < pairs; i++) {
        const char *text = pair_text + ((encoded.data[i + 1] ^ flip) & 0xFE);
        if (i == exponent + 1 && i > 0)
            out[size++] = '.';
        if (i > 0 || exponent < 0 || text[0] != '0') /* No zero leads an integer. */
            out[size++] = text[0];
        out[size++] = text[1];
    }
    if (pairs > exponent + 1)
        size -= out[size - 1] == '0'; /* Nor does one end a fraction. */
    else
        put_zeros(out, &size, 2 * (exponent + 1 - pairs));
    assert(size <= NUMBER_TEXT_MAX);
    return size;
}

size_t number_storage_size(struct bytes encoded)
{
    assert(encoded.len >= 2);
    if (encoded.len == 2 && encoded.data[0] == SIGN_BIT && encoded.data[1] == 0)
        return 1;
    return encoded.len + (encoded.data[0] & SIGN_BIT ? 0 : 1);
}

/* --- struct number --- */

bool number_parse(struct bytes text, struct number *out, struct error *err)
{
    struct digits digits;
    if (!parse_digits(text, &digits, err))
        return false;
    *out = from_digits(&digits);
    return true;
}

size_t number_encode(const struct number *number, uint8_t out[NUMBER_ENCODED_MAX])
{
    struct digits digits;
    to_digits(number, &digits);
    return encode_digits(&digits, out);
}

size_t number_format(const struct number *number, char out[NUMBER_TEXT_MAX])
{
    uint8_t encoded[NUMBER_ENCODED_MAX];
    size_t size = number_encode(number, encoded);
    return number_format_encoded(bytes_of(encoded, size), out);
}

/* --- Sums, differences and order ---
 *
 * A sum is formed at the smaller of the two exponents. Both coefficients are below 10^38, so an
 * aligned one that leaves 128 bits (3.4 x 10^38) is so much the larger that the result cannot be
 * exact in 38 digits: no wider type is needed to know.
 */

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

/* Observed: the service calls a result that needs too many digits too large. */
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
    to_digits(&number, &digits);
    if (!is_in_range(digits.exponent))
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
