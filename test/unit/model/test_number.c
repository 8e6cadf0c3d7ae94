/* test_number.c -- numbers: text, encoded bytes, order, arithmetic, sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "base/random.h"
#include "model/error.h"
#include "model/number.h"

#define NINES_38 "99999999999999999999999999999999999999"
#define ZEROS_10 "0000000000"
#define ZEROS_50 ZEROS_10 ZEROS_10 ZEROS_10 ZEROS_10 ZEROS_10
#define ZEROS_120 ZEROS_50 ZEROS_50 ZEROS_10 ZEROS_10
#define NOT_A_NUMBER "The parameter cannot be converted to a numeric value"
#define TOO_PRECISE "Attempting to store more than 38 significant digits in a Number"
#define TOO_LARGE                                                                                  \
    "Number overflow. Attempting to store a number with magnitude larger than supported range"
#define TOO_SMALL                                                                                  \
    "Number underflow. Attempting to store a number with magnitude smaller than supported range"

static const struct {
    const char *name, *text, *want, *error;
} parse_cases[] = {
    { "one", "1", "1", NULL },
    { "zero", "0", "0", NULL },
    { "zero has no sign", "-0", "0", NULL },
    { "zero has no exponent", "0e5", "0", NULL },
    { "zero has no fraction", "000.000", "0", NULL },
    { "leading zeros go", "007", "7", NULL },
    { "trailing zeros go", "1.500", "1.5", NULL },
    { "integer zeros stay", "1500", "1500", NULL },
    { "no integer part", ".5", "0.5", NULL },
    { "no fraction", "5.", "5", NULL },
    { "plus sign", "+5", "5", NULL },
    { "minus sign", "-.5", "-0.5", NULL },
    { "exponent", "1e5", "100000", NULL },
    { "exponent with sign", "1E+5", "100000", NULL },
    { "exponent with zeros", "1e-00000000000000000002", "0.01", NULL },
    { "exponent meets fraction", "1.25e1", "12.5", NULL },
    { "odd pair borders", "123.456", "123.456", NULL },
    { "pair of zeros inside", "10001.0001", "10001.0001", NULL },
    { "38 digits", NINES_38, NINES_38, NULL },
    { "38 digits, negative", "-" NINES_38, "-" NINES_38, NULL },
    { "38 digits with a straddling point", "1234567890123456789.1234567890123456789",
      "1234567890123456789.1234567890123456789", NULL },
    { "38 digits and a zero", NINES_38 "0", NINES_38 "0", NULL },
    { "leading zeros do not count", ZEROS_50 NINES_38, NINES_38, NULL },
    { "trailing zeros do not count", "1." ZEROS_50, "1", NULL },
    { "zeros between do not count twice", "0." ZEROS_50 NINES_38, "0." ZEROS_50 NINES_38, NULL },
    { "largest power", "1E125", "1" ZEROS_120 "00000", NULL },
    { "largest", "9.9999999999999999999999999999999999999E125",
      NINES_38 ZEROS_50 ZEROS_10 ZEROS_10 ZEROS_10 "00000000", NULL },
    { "smallest", "1E-130", "0." ZEROS_120 "0000000001", NULL },
    { "smallest with all digits", "1.1111111111111111111111111111111111111E-130",
      "0." ZEROS_120 "00000000011111111111111111111111111111111111111", NULL },
    { "smallest negative", "-1E-130", "-0." ZEROS_120 "0000000001", NULL },
    { "smallest, written out", "0.1E-129", "0." ZEROS_120 "0000000001", NULL },

    { "39 digits", "9" NINES_38, NULL, TOO_PRECISE },
    { "39 digits with zeros between", "1.00000000000000000000000000000000000001", NULL,
      TOO_PRECISE },
    { "precision is judged before range", "9" NINES_38 "E200", NULL, TOO_PRECISE },
    { "precision is judged before range, small", "9" NINES_38 "E-200", NULL, TOO_PRECISE },
    { "above the range", "1E126", NULL, TOO_LARGE },
    { "above the range, digits", "1" ZEROS_120 "000000", NULL, TOO_LARGE },
    { "above the range, negative", "-1E126", NULL, TOO_LARGE },
    { "below the range", "1E-131", NULL, TOO_SMALL },
    { "below the range, digits", "9.99E-131", NULL, TOO_SMALL },
    { "almost the largest exponent", "1e2147483646", NULL, TOO_LARGE },
    { "largest exponent, whose sum overflows", "1e2147483647", NULL, TOO_SMALL },
    { "smallest exponent", "1e-2147483647", NULL, TOO_SMALL },
    { "zero with largest exponent", "0e2147483647", NULL, TOO_LARGE },
    { "zero at the end of the range", "0e125", "0", NULL },
    { "zero past the range", "0e126", NULL, TOO_LARGE },
    { "zero at the beginning of the range", "0e-130", "0", NULL },
    { "zero before the range", "0e-131", NULL, TOO_SMALL },
    { "the fraction of a zero counts", "0.0e126", "0", NULL },
    { "and before the range", "0.0e-130", NULL, TOO_SMALL },

    { "empty", "", NULL, NOT_A_NUMBER },
    { "sign only", "-", NULL, NOT_A_NUMBER ": -" },
    { "two signs", "--1", NULL, NOT_A_NUMBER ": --1" },
    { "point only", ".", NULL, NOT_A_NUMBER ": ." },
    { "two points", "1.2.3", NULL, NOT_A_NUMBER ": 1.2.3" },
    { "exponent without digits", "1e", NULL, NOT_A_NUMBER ": 1e" },
    { "exponent with sign only", "1e+", NULL, NOT_A_NUMBER ": 1e+" },
    { "exponent with point", "1e1.5", NULL, NOT_A_NUMBER ": 1e1.5" },
    { "exponent only", "e5", NULL, NOT_A_NUMBER ": e5" },
    { "exponent behind a point", ".e5", NULL, NOT_A_NUMBER ": .e5" },
    { "space before", " 1", NULL, NOT_A_NUMBER ":  1" },
    { "space behind", "1 ", NULL, NOT_A_NUMBER ": 1 " },
    { "infinity", "Infinity", NULL, NOT_A_NUMBER ": Infinity" },
    { "not a number", "NaN", NULL, NOT_A_NUMBER ": NaN" },
    { "hexadecimal", "0x1", NULL, NOT_A_NUMBER ": 0x1" },
    { "underscore", "1_000", NULL, NOT_A_NUMBER ": 1_000" },
    { "comma", "1,5", NULL, NOT_A_NUMBER ": 1,5" },
    { "type letter", "1f", NULL, NOT_A_NUMBER ": 1f" },
    { "form is judged before precision", NINES_38 "9x", NULL, NOT_A_NUMBER ": " NINES_38 "9x" },
    { "exponent past 31 bits", "1e2147483648", NULL, NOT_A_NUMBER ": 1e2147483648" },
    { "negative exponent past 31 bits", "1e-2147483648", NULL, NOT_A_NUMBER ": 1e-2147483648" },
    { "fraction takes the exponent past 31 bits", "1.5e-2147483647", NULL,
      NOT_A_NUMBER ": 1.5e-2147483647" },
    { "zero with exponent past 31 bits", "0e2147483648", NULL, NOT_A_NUMBER ": 0e2147483648" },
    { "exponent past 64 bits", "1e99999999999999999999", NULL,
      NOT_A_NUMBER ": 1e99999999999999999999" },
};

struct fixture {
    struct arena *arena;
    struct error err;
};

static int setup(void **state)
{
    struct fixture *fixture = malloc(sizeof *fixture);
    fixture->arena = arena_create();
    error_init(&fixture->err, fixture->arena);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

static struct number parsed(struct fixture *fixture, const char *text)
{
    struct number number;
    if (!number_parse(bytes_from_text(text), &number, &fixture->err))
        fail_msg("%s: %.*s", text, BYTES_FMT(fixture->err.message));
    return number;
}

static void text_is_read_as_the_service_reads_it(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(parse_cases); i++) {
        struct bytes text = bytes_from_text(parse_cases[i].text);
        struct number number;
        uint8_t encoded[NUMBER_ENCODED_MAX];
        size_t size;
        char back[NUMBER_TEXT_MAX];

        error_init(&fixture->err, fixture->arena);
        bool ok = number_parse(text, &number, &fixture->err);
        struct error again;
        error_init(&again, fixture->arena);
        assert_int_equal(number_encode_text(text, encoded, &size, &again), ok);
        assert_true(bytes_equal(again.message, fixture->err.message));
        if (ok != (parse_cases[i].error == NULL))
            fail_msg("%s: %.*s", parse_cases[i].name, BYTES_FMT(fixture->err.message));
        if (!ok) {
            assert_int_equal(fixture->err.code, ERROR_VALIDATION);
            if (!bytes_equal_text(fixture->err.message, parse_cases[i].error))
                fail_msg("%s: %.*s", parse_cases[i].name, BYTES_FMT(fixture->err.message));
            continue;
        }
        size_t length = number_format(&number, back);
        if (!bytes_equal_text(bytes_of(back, length), parse_cases[i].want))
            fail_msg("%s: %.*s", parse_cases[i].name, (int)length, back);
        length = number_format_encoded(bytes_of(encoded, size), back);
        assert_true(bytes_equal_text(bytes_of(back, length), parse_cases[i].want));
    }
}

static void a_message_repeats_text_with_nul_whole(void **state)
{
    struct fixture *fixture = *state;
    struct number number;
    assert_false(number_parse(BYTES("1\0002"), &number, &fixture->err));
    assert_true(bytes_equal(fixture->err.message, BYTES(NOT_A_NUMBER ": 1\0002")));
}

/* The worked examples of doc/disk-format.md, "Numbers"; and what a number is charged. */
static const struct {
    const char *text, *hex;
    size_t storage_size;
} encoded_cases[] = {
    { "0", "8000", 1 },
    { "1", "C102", 2 },
    { "-1", "3EFD", 3 },
    { "10", "C114", 2 },
    { "100", "C202", 2 },
    { "123", "C2032E", 3 },
    { "-123", "3DFCD1", 4 },
    { "12345", "C3032F5A", 4 },
    { "1.5", "C10364", 3 },
    { "0.1", "C014", 2 },
    { "0.01", "C002", 2 },
    { "0.0123", "C0032E", 3 },
    { "-0.01", "3FFD", 3 },
    { "100000100", "C503010102", 5 },
    { "0.00000000012", "BC0328", 3 },
    { "1E125", "FF14", 2 },
    { "1E-130", "8002", 2 },
    { "-1E-130", "7FFD", 3 },
    { "-1E125", "00EB", 3 },
    { NINES_38, "D3C7C7C7C7C7C7C7C7C7C7C7C7C7C7C7C7C7C7C6", 20 },
    { "1234567890123456789.1234567890123456789", "CA032F5B87B3032F5B87B31945719DB51945719DB4", 21 },
};

static size_t unhex(const char *hex, uint8_t *out)
{
    size_t size = 0;
    for (; hex[0] != '\0'; hex += 2) {
        char digits[3] = { hex[0], hex[1], '\0' };
        out[size++] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return size;
}

static void numbers_are_encoded_as_documented(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(encoded_cases); i++) {
        uint8_t want[NUMBER_ENCODED_MAX], got[NUMBER_ENCODED_MAX];
        size_t want_size = unhex(encoded_cases[i].hex, want);
        struct number number = parsed(fixture, encoded_cases[i].text);
        size_t size = number_encode(&number, got);
        if (!bytes_equal(bytes_of(got, size), bytes_of(want, want_size)))
            fail_msg("%s", encoded_cases[i].text);

        struct number back;
        size_t taken;
        assert_true(number_decode(bytes_of(want, want_size), &back, &taken));
        assert_int_equal(taken, want_size);
        assert_int_equal(number_encoded_size(bytes_of(want, want_size)), want_size);
        assert_int_equal(number_compare(&back, &number), 0);
        assert_true(back.coefficient == number.coefficient);
        assert_int_equal(back.exponent, number.exponent);
        assert_int_equal(number_storage_size(bytes_of(want, want_size)),
                         encoded_cases[i].storage_size);
    }
}

static const struct {
    const char *name, *hex;
} refused_cases[] = {
    { "nothing", "" },
    { "no digits", "C1" },
    { "no end", "C103" },
    { "no end, negative", "3EFC" },
    { "no end in 21 bytes", "C1030303030303030303030303030303030303030302" },
    { "negative zero", "7FFF" },
    { "zero with an exponent", "C100" },
    { "first pair is zero", "C10102" },
    { "last pair is zero", "C10300" },
    { "pair above 99", "C1C8" },
    { "pair above 99, not last", "C1C902" },
    { "39 digits", "D403C7C7C7C7C7C7C7C7C7C7C7C7C7C7C7C7C7C7C6" },
    { "40 digits", "D415171717171717171717171717171717171717"
                   "1716" },
};

static void bytes_that_are_not_canonical_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused_cases); i++) {
        uint8_t bytes[NUMBER_ENCODED_MAX + 1];
        size_t taken, size = unhex(refused_cases[i].hex, bytes);
        struct number number;
        if (number_decode(bytes_of(bytes, size), &number, &taken))
            fail_msg("%s", refused_cases[i].name);
    }
}

/* Text of up to 38 digits, over the whole range of exponents. */
static void random_number(struct random *random, char *out, size_t size)
{
    char digits[NUMBER_DIGITS_MAX + 1];
    size_t count = 1 + random_below(random, NUMBER_DIGITS_MAX);
    for (size_t i = 0; i < count; i++) {
        /* Long runs of zeros and nines are where encodings go wrong. */
        uint64_t kind = random_below(random, 4);
        digits[i] = (char)('0' + (kind == 0 ? 0 : kind == 1 ? 9 : random_below(random, 10)));
    }
    digits[0] = (char)('1' + random_below(random, 9));
    digits[count] = '\0';
    int first = random_below(random, 2) == 0 ? (int)random_below(random, 256) + NUMBER_EXPONENT_MIN
                                             : (int)random_below(random, 8) - 4;
    snprintf(out, size, "%s%sE%d", random_below(random, 2) == 0 ? "" : "-", digits,
             first - (int)count + 1);
}

static void random_numbers_keep_their_value_and_their_order(void **state)
{
    struct fixture *fixture = *state;
    struct random seeds;
    random_init_from_system(&seeds);
    uint64_t seed = random_next(&seeds);
    printf("seed %llu\n", (unsigned long long)seed);
    struct random random;
    random_init(&random, seed);
    for (int round = 0; round < 20000; round++) {
        char text[2][NUMBER_TEXT_MAX];
        uint8_t encoded[2][NUMBER_ENCODED_MAX];
        size_t size[2];
        struct number number[2], zero = { 0 }, difference, back;
        for (int i = 0; i < 2; i++) {
            random_number(&random, text[i], sizeof text[i]);
            number[i] = parsed(fixture, text[i]);
            size[i] = number_encode(&number[i], encoded[i]);
            size_t taken;
            assert_true(number_decode(bytes_of(encoded[i], size[i]), &back, &taken));
            char plain[NUMBER_TEXT_MAX + 1];
            plain[number_format(&back, plain)] = '\0';
            struct number again = parsed(fixture, plain);
            assert_int_equal(number_compare(&again, &number[i]), 0);
        }
        /* The sign of the difference is an independent witness of the order. */
        if (!number_subtract(&number[0], &number[1], &difference, &fixture->err))
            continue;
        int order = difference.coefficient == 0 ? 0 : difference.negative ? -1 : 1;
        int got = bytes_compare(bytes_of(encoded[0], size[0]), bytes_of(encoded[1], size[1]));
        assert_int_equal((got > 0) - (got < 0), order);
        if (number_add(&difference, &number[1], &back, &fixture->err))
            assert_int_equal(number_compare(&back, &number[0]), 0);
        assert_true(number_add(&number[0], &zero, &back, &fixture->err));
        assert_int_equal(number_compare(&back, &number[0]), 0);
    }
}

static void a_ladder_of_numbers_sorts_by_bytes(void **state)
{
    static const char *const ladder[] = {
        "-" NINES_38 "E88",
        "-1E125",
        "-100.01",
        "-100",
        "-99.99",
        "-99",
        "-10",
        "-9.9",
        "-1.01",
        "-1.0001",
        "-1",
        "-0.99",
        "-0.1",
        "-0.01",
        "-1E-129",
        "-1.1E-130",
        "-1E-130",
        "0",
        "1E-130",
        "1.1E-130",
        "1E-129",
        "0.01",
        "0.0101",
        "0.1",
        "0.99",
        "1",
        "1.0001",
        "1.01",
        "1.1",
        "2",
        "9.9",
        "10",
        "99",
        "99.99",
        "100",
        "100.01",
        "1E125",
        NINES_38 "E88",
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i + 1 < COUNT_OF(ladder); i++) {
        for (size_t j = i + 1; j < COUNT_OF(ladder); j++) {
            struct number low = parsed(fixture, ladder[i]), high = parsed(fixture, ladder[j]);
            if (number_compare(&low, &high) >= 0 || number_compare(&high, &low) <= 0)
                fail_msg("%s, %s", ladder[i], ladder[j]);
        }
    }
}

static const struct {
    const char *a, *b, *sum, *error;
} sum_cases[] = {
    { "1", "2", "3", NULL },
    { "1", "-1", "0", NULL },
    { "0", "-5", "-5", NULL },
    { "-5", "0", "-5", NULL },
    { "5", "5", "10", NULL },
    { "0.1", "0.2", "0.3", NULL },
    { "1", "-2", "-1", NULL },
    { "-1000", "999.9", "-0.1", NULL },
    { NINES_38, "1", "100000000000000000000000000000000000000", NULL },
    { NINES_38, NINES_38, NULL, TOO_LARGE },
    { NINES_38, "2", NULL, TOO_LARGE },
    { NINES_38, "0.1", NULL, TOO_LARGE },
    { "1E38", "-1", NINES_38, NULL },
    { "-1E38", "1", "-" NINES_38, NULL },
    { "1E38", "1", NULL, TOO_LARGE },
    { "2E38", "-1", NULL, TOO_LARGE },
    { "9E38", "-" NINES_38, NULL, TOO_LARGE },
    { "34E37", NINES_38, NULL, TOO_LARGE }, /* Past 128 bits by the sum alone. */
    { "1E100", "1", NULL, TOO_LARGE },
    { "1", "1E-130", NULL, TOO_LARGE },
    { "9E125", "1E125", NULL, TOO_LARGE },
    { "-9.9E125", "-9E125", NULL, TOO_LARGE },
    { "9.9E125", "-9E125", "9E124", NULL },
    { NINES_38 "E87", "1E87", "1E125", NULL },
    { NINES_38 "E88", "1E88", NULL, TOO_LARGE },
    { "1E-130", "-1E-130", "0", NULL },
    { "1.5E-129", "-1.4E-129", "1E-130", NULL },
    { "1.5E-130", "-1.4E-130", NULL, TOO_SMALL },
    { "1.1111111111111111111111111111111111111E-100",
      "-1.1111111111111111111111111111111111110E-100", NULL, TOO_SMALL },
};

static void sums_are_exact_or_refused(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(sum_cases); i++) {
        struct number a = parsed(fixture, sum_cases[i].a), b = parsed(fixture, sum_cases[i].b);
        struct number minus_b = b;
        minus_b.negative = b.coefficient != 0 && !b.negative;
        for (int way = 0; way < 3; way++) {
            struct number sum;
            error_init(&fixture->err, fixture->arena);
            bool ok = way == 0   ? number_add(&a, &b, &sum, &fixture->err)
                      : way == 1 ? number_add(&b, &a, &sum, &fixture->err)
                                 : number_subtract(&a, &minus_b, &sum, &fixture->err);
            if (ok != (sum_cases[i].error == NULL))
                fail_msg("%s + %s: %.*s", sum_cases[i].a, sum_cases[i].b,
                         BYTES_FMT(fixture->err.message));
            if (!ok) {
                assert_true(bytes_equal_text(fixture->err.message, sum_cases[i].error));
                continue;
            }
            struct number want = parsed(fixture, sum_cases[i].sum);
            assert_true(sum.coefficient == want.coefficient);
            assert_int_equal(sum.exponent, want.exponent);
            assert_int_equal(sum.negative, want.negative);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(text_is_read_as_the_service_reads_it, setup, teardown),
        cmocka_unit_test_setup_teardown(a_message_repeats_text_with_nul_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_are_encoded_as_documented, setup, teardown),
        cmocka_unit_test(bytes_that_are_not_canonical_are_refused),
        cmocka_unit_test_setup_teardown(random_numbers_keep_their_value_and_their_order, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_ladder_of_numbers_sorts_by_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(sums_are_exact_or_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
