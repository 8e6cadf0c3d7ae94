/* test_check_report.c -- problems in words, and when to give up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "base/compiler.h"
#include "check/check_report.h"

struct last {
    char line[CHECK_REPORT_LINE_MAX];
    size_t count;
};

static void keep_last(void *context, const char *line)
{
    struct last *last = context;
    last->count++;
    snprintf(last->line, sizeof last->line, "%s", line);
}

static void problems_are_counted_and_handed_on(void **state)
{
    (void)state;
    struct last last = { .count = 0 };
    struct check_report report = { .sink = keep_last, .context = &last };
    check_report_problem(&report, "table %s: %d", "t", 7);
    assert_string_equal(last.line, "table t: 7");
    check_report_problem(&report, "%s", "one\nline\x7F\xFF");
    assert_string_equal(last.line, "one?line??");
    check_report_unreadable(&report, ENGINE_CORRUPT, "table %s", "t");
    assert_string_equal(last.line, "table t: cannot be read: corrupt");
    assert_int_equal(report.problem_count, 3);
    assert_int_equal(last.count, 3);
}

static void a_long_line_is_cut(void **state)
{
    (void)state;
    struct last last = { .count = 0 };
    struct check_report report = { .sink = keep_last, .context = &last };
    char text[2 * CHECK_REPORT_LINE_MAX];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    check_report_problem(&report, "%s", text);
    assert_int_equal(strlen(last.line), CHECK_REPORT_LINE_MAX - 1);
    check_report_unreadable(&report, ENGINE_IO, "%s", text);
    assert_non_null(strstr(last.line, "x: cannot be read: input/output error"));
}

static void so_much_unreadable_ends_the_check(void **state)
{
    (void)state;
    struct last last = { .count = 0 };
    struct check_report report = { .sink = keep_last, .context = &last };
    for (int i = 1; i < CHECK_REPORT_UNREADABLE_MAX; i++)
        check_report_unreadable(&report, ENGINE_IO, "part %d", i);
    for (int i = 0; i < CHECK_REPORT_UNREADABLE_MAX; i++)
        check_report_problem(&report, "a problem of another kind");
    assert_false(check_report_gave_up(&report));
    check_report_unreadable(&report, ENGINE_IO, "the last part");
    assert_true(check_report_gave_up(&report));
    assert_int_equal(report.problem_count, 2 * CHECK_REPORT_UNREADABLE_MAX);
}

static void keys_are_shown_with_their_hash(void **state)
{
    (void)state;
    static const struct {
        struct bytes key;
        const char *want;
    } cases[] = {
        { { (const uint8_t *)"", 0 }, "" },
        { { (const uint8_t *)"short", 5 }, "short" },
        { { (const uint8_t *)"\x01\x23\x45\x67\x89\xAB\xCD\xEF", 8 }, "0123456789abcdef/" },
        { { (const uint8_t *)"\0\0\0\0\0\0\0\1user#1\0\1\\ \xFF", 19 },
          "0000000000000001/user#1\\x00\\x01\\x5c\\x20\\xff" },
    };
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        check_report_format_key(cases[i].key, text);
        assert_string_equal(text, cases[i].want);
    }
}

static void a_long_key_is_cut(void **state)
{
    (void)state;
    uint8_t key[8 + CHECK_REPORT_KEY_SHOWN_MAX + 1] = { 0 };
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    size_t whole = 16 + 1 + 4 * CHECK_REPORT_KEY_SHOWN_MAX;
    check_report_format_key(bytes_of(key, sizeof key - 1), text);
    assert_int_equal(strlen(text), whole);
    check_report_format_key(bytes_of(key, sizeof key), text);
    assert_int_equal(strlen(text), whole + 3);
    assert_string_equal(text + whole - 4, "\\x00...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(problems_are_counted_and_handed_on),
        cmocka_unit_test(a_long_line_is_cut),
        cmocka_unit_test(so_much_unreadable_ends_the_check),
        cmocka_unit_test(keys_are_shown_with_their_hash),
        cmocka_unit_test(a_long_key_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
