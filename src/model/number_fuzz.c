/* number_fuzz.c -- numbers from arbitrary text and arbitrary bytes.
 *
 * Text: what is read is written, read again and encoded alike on every way. Bytes: what is accepted
 * is the encoding of the number it decodes to. The order of two halves agrees with subtraction.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "model/error.h"
#include "model/number.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(struct arena *arena, struct bytes text)
{
    struct error err, err_again;
    struct number number, again;
    uint8_t encoded[NUMBER_ENCODED_MAX], encoded_again[NUMBER_ENCODED_MAX];
    char written[NUMBER_TEXT_MAX], written_again[NUMBER_TEXT_MAX];
    size_t size, taken;

    error_init(&err, arena);
    error_init(&err_again, arena);
    bool ok = number_parse(text, &number, &err);
    bool ok_again = number_encode_text(text, encoded, &size, &err_again);
    assert(ok == ok_again && ok == !error_is_set(&err));
    assert(bytes_equal(err.message, err_again.message));
    if (!ok)
        return;
    assert(size <= NUMBER_ENCODED_MAX);
    size_t size_again = number_encode(&number, encoded_again);
    assert(bytes_equal(bytes_of(encoded, size), bytes_of(encoded_again, size_again)));
    size_t length = number_format(&number, written);
    size_t length_again = number_format_encoded(bytes_of(encoded, size), written_again);
    assert(bytes_equal(bytes_of(written, length), bytes_of(written_again, length_again)));
    bool reads_back = number_parse(bytes_of(written, length), &again, &err);
    assert(reads_back && number_compare(&number, &again) == 0);
    bool decodes = number_decode(bytes_of(encoded, size), &again, &taken);
    assert(decodes && taken == size && number_compare(&number, &again) == 0);
}

/* Returns whether the bytes begin with a number. */
static bool check_bytes(struct bytes bytes, struct number *out)
{
    uint8_t encoded[NUMBER_ENCODED_MAX];
    char text[NUMBER_TEXT_MAX];
    size_t taken;
    if (!number_decode(bytes, out, &taken))
        return false;
    assert(taken == number_encoded_size(bytes) && taken <= bytes.len);
    assert(
        bytes_equal(bytes_of(encoded, number_encode(out, encoded)), bytes_of(bytes.data, taken)));
    assert(number_format(out, text) <= NUMBER_TEXT_MAX);
    return true;
}

static void check_pair(struct arena *arena, const struct number *a, const struct number *b)
{
    struct error err;
    struct number difference, sum;
    error_init(&err, arena);
    int order = number_compare(a, b);
    assert((order < 0) == (number_compare(b, a) > 0));
    if (!number_subtract(a, b, &difference, &err))
        return;
    assert((order == 0) == (difference.coefficient == 0));
    assert((order < 0) == difference.negative);
    bool adds = number_add(&difference, b, &sum, &err);
    assert(adds && number_compare(&sum, a) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct number a, b;
    size_t half = size / 2;
    const uint8_t *text = size == 0 ? (const uint8_t *)"" : data;
    check_text(arena, bytes_of(text, size));
    if (check_bytes(bytes_of(text, half), &a) &&
        check_bytes(bytes_of(text + half, size - half), &b))
        check_pair(arena, &a, &b);
    arena_destroy(arena);
    return 0;
}
