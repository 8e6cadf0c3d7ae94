/* test_utf8.c -- the beginning of a text that has whole, valid characters only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "json/utf8.h"

static const struct {
    const char *name;
    struct bytes text;
    size_t size_max;
    size_t want;
} rows[] = {
    { "empty", BYTES(""), 8, 0 },
    { "short text is whole", BYTES("abc"), 8, 3 },
    { "at the limit", BYTES("abc"), 3, 3 },
    { "cut", BYTES("abcd"), 3, 3 },
    { "a character is not cut", BYTES("ab\xC3\xA9"), 3, 2 },
    { "one that fits stays", BYTES("ab\xC3\xA9"), 4, 4 },
    { "nor is one of four bytes", BYTES("\xF0\x9F\x98\x80"), 3, 0 },
    { "ends before what is not valid",
      BYTES("ab\xFF"
            "cd"),
      8, 2 },
    { "ends before a character that the text cuts", BYTES("ab\xC3"), 8, 2 },
};

static void a_prefix_has_whole_valid_characters(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (utf8_prefix(rows[i].text, rows[i].size_max) != rows[i].want)
            fail_msg("%s: %zu", rows[i].name, utf8_prefix(rows[i].text, rows[i].size_max));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_prefix_has_whole_valid_characters) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
