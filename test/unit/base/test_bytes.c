/* test_bytes.c -- comparing runs of bytes that may hold NUL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "base/compiler.h"

/* In ascending order. */
static const struct bytes ordered[] = {
    BYTES(""),   BYTES("\0"), BYTES("\0\0"), BYTES("a"),    BYTES("a\0"),  BYTES("aa"),
    BYTES("ab"), BYTES("b"),  BYTES("\x7F"), BYTES("\x80"), BYTES("\xFF"), BYTES("\xFF\0"),
};

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

static void order_is_by_unsigned_bytes_and_prefixes_come_first(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(ordered); i++) {
        for (size_t j = 0; j < COUNT_OF(ordered); j++) {
            assert_int_equal(sign(bytes_compare(ordered[i], ordered[j])), (i > j) - (i < j));
            assert_int_equal(bytes_equal(ordered[i], ordered[j]), i == j);
        }
    }
}

static void absent_bytes_equal_empty_ones(void **state)
{
    struct bytes absent = { NULL, 0 };
    (void)state;
    assert_true(bytes_equal(absent, BYTES("")));
    assert_int_equal(bytes_compare(absent, BYTES("")), 0);
    assert_true(bytes_compare(absent, BYTES("a")) < 0);
    assert_true(bytes_starts_with(BYTES("a"), absent));
    assert_true(bytes_starts_with(absent, absent));
}

static void text_is_compared_whole(void **state)
{
    (void)state;
    assert_true(bytes_equal_text(BYTES("abc"), "abc"));
    assert_true(bytes_equal_text(BYTES(""), ""));
    assert_false(bytes_equal_text(BYTES("ab"), "abc"));
    assert_false(bytes_equal_text(BYTES("abc"), "ab"));
    assert_false(bytes_equal_text(BYTES("abc\0"), "abc"));
}

static void a_prefix_is_no_longer_than_the_value(void **state)
{
    (void)state;
    assert_true(bytes_starts_with(BYTES("abc"), BYTES("")));
    assert_true(bytes_starts_with(BYTES("abc"), BYTES("ab")));
    assert_true(bytes_starts_with(BYTES("abc"), BYTES("abc")));
    assert_false(bytes_starts_with(BYTES("abc"), BYTES("abcd")));
    assert_false(bytes_starts_with(BYTES("abc"), BYTES("b")));
    assert_false(bytes_starts_with(BYTES(""), BYTES("a")));
    assert_true(bytes_starts_with(BYTES("a\0b"), BYTES("a\0")));
}

static void literals_keep_their_zero_bytes_and_lose_the_last(void **state)
{
    (void)state;
    assert_int_equal(BYTES("a\0b").len, 3);
    assert_int_equal(BYTES("").len, 0);
    assert_non_null(BYTES("").data);
    assert_int_equal(bytes_from_text("abc").len, 3);
}

static void bytes_print_up_to_their_length(void **state)
{
    char out[16];
    (void)state;
    snprintf(out, sizeof out, "<%.*s>", BYTES_FMT(bytes_of("abcdef", 3)));
    assert_string_equal(out, "<abc>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_by_unsigned_bytes_and_prefixes_come_first),
        cmocka_unit_test(absent_bytes_equal_empty_ones),
        cmocka_unit_test(text_is_compared_whole),
        cmocka_unit_test(a_prefix_is_no_longer_than_the_value),
        cmocka_unit_test(literals_keep_their_zero_bytes_and_lose_the_last),
        cmocka_unit_test(bytes_print_up_to_their_length),
    };
    return cmocka_run_group_tests_name("base/bytes", tests, NULL, NULL);
}
