/* test_table_name.c -- names and ARNs of tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "api/table/table_name.h"
#include "base/compiler.h"
#include "model/limits.h"

static const struct {
    const char *text;
    bool is_name, is_arn;
} cases[] = {
    { "abc", true, false },
    { "a", true, false },
    { "AZaz09_.-", true, false },
    { "", false, false },
    { "a b", false, false },
    { "a/b", false, false },
    { "\xC3\xA9", false, false },
    { "arn:aws:dynamodb:us-east-1:000000000000:table/abc", false, true },
    { "arn:aws-cn:dynamodb:cn-north-1:1:table/AZaz09_.-", false, true },
    { "arn:aws:dynamodb:us-east-1:000000000000:table/ab", false, false },
    { "arn:aws:dynamodb:us-east-1:000000000000:table/", false, false },
    { "arn:aws:dynamodb:us-east-1:000000000000:table", false, false },
    { "arn:aws:dynamodb:us-east-1:000000000000:table/abc/index/x", false, false },
    { "arn:aws:dynamodb:us-east-1:000000000000:index/abc", false, false },
    { "arn:aws:dynamodb:us-east-1::table/abc", false, false },
    { "arn:aws:dynamodb::000000000000:table/abc", false, false },
    { "arn::dynamodb:us-east-1:000000000000:table/abc", false, false },
    { "arn:aws:s3:us-east-1:000000000000:table/abc", false, false },
    { "urn:aws:dynamodb:us-east-1:000000000000:table/abc", false, false },
    { "arn:aws:dynamodb:us-east-1", false, false },
    { "arn:", false, false },
};

static void names_and_arns_are_told_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bytes text = bytes_from_text(cases[i].text);
        if (table_name_matches(text) != cases[i].is_name)
            fail_msg("name: %s", cases[i].text);
        if (table_name_is_arn(text) != cases[i].is_arn)
            fail_msg("ARN: %s", cases[i].text);
    }
}

/* An ARN of `size` bytes whose table's name has `name_size`. */
static bool is_arn_of(size_t size, size_t name_size)
{
    static const char start[] = "arn:aws:dynamodb:us-east-1:";
    static const char kind[] = ":table/";
    static char text[TABLE_ARN_SIZE_MAX + 1];
    assert_true(size <= sizeof(text));
    memset(text, '1', sizeof(text));
    memcpy(text, start, sizeof(start) - 1);
    memcpy(text + size - name_size - (sizeof(kind) - 1), kind, sizeof(kind) - 1);
    return table_name_is_arn(bytes_of(text, size));
}

static void sizes_are_checked_at_below_and_above_their_limits(void **state)
{
    (void)state;
    for (size_t size = TABLE_ARN_SIZE_MAX - 1; size <= TABLE_ARN_SIZE_MAX + 1; size++)
        assert_int_equal(is_arn_of(size, 10), size <= TABLE_ARN_SIZE_MAX);
    for (size_t size = TABLE_NAME_SIZE_MAX - 1; size <= TABLE_NAME_SIZE_MAX + 1; size++)
        assert_int_equal(is_arn_of(400, size), size <= TABLE_NAME_SIZE_MAX);
    for (size_t size = TABLE_NAME_SIZE_MIN - 1; size <= TABLE_NAME_SIZE_MIN + 1; size++)
        assert_int_equal(is_arn_of(100, size), size >= TABLE_NAME_SIZE_MIN);
}

static void only_the_empty_text_differs_without_the_plus(void **state)
{
    (void)state;
    assert_true(table_name_has_only_name_bytes(BYTES("")));
    assert_true(table_name_has_only_name_bytes(BYTES("a-1")));
    assert_false(table_name_has_only_name_bytes(BYTES("a 1")));
}

static void a_stream_arn_is_a_table_arn_and_a_label(void **state)
{
    (void)state;
#define TABLE_ARN "arn:aws:dynamodb:us-east-1:000000000000:table/abc"
    static const struct {
        const char *text, *table_arn, *label; /* NULL: none. */
    } streams[] = {
        { TABLE_ARN "/stream/2015-05-11T21:21:33.291", TABLE_ARN, "2015-05-11T21:21:33.291" },
        { TABLE_ARN "/stream/a/stream/b", TABLE_ARN, "a/stream/b" },
        { TABLE_ARN "/stream/", NULL, NULL },
        { TABLE_ARN "/stream", NULL, NULL },
        { TABLE_ARN, NULL, NULL },
        { "abc/stream/x", NULL, NULL },
        { "/stream/x", NULL, NULL },
        { "", NULL, NULL },
    };
    for (size_t i = 0; i < COUNT_OF(streams); i++) {
        struct bytes table_arn, label;
        bool is_stream =
            table_name_split_stream_arn(bytes_from_text(streams[i].text), &table_arn, &label);
        if (is_stream != (streams[i].label != NULL))
            fail_msg("%s", streams[i].text);
        if (is_stream) {
            assert_true(bytes_equal_text(table_arn, streams[i].table_arn));
            assert_true(bytes_equal_text(label, streams[i].label));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_arns_are_told_apart),
        cmocka_unit_test(sizes_are_checked_at_below_and_above_their_limits),
        cmocka_unit_test(only_the_empty_text_differs_without_the_plus),
        cmocka_unit_test(a_stream_arn_is_a_table_arn_and_a_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
