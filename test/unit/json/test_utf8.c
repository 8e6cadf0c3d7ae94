/* test_utf8.c -- the beginning of a text that has whole, valid characters only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
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

/* Characters of one to four bytes, at every place around eight bytes. */
static void lengths_are_counted_in_units_of_utf_16(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t units;
    } characters[] = { { "a", 1 },
                       { "\xC3\xBC", 1 },
                       { "\xE2\x82\xAC", 1 },
                       { "\xEF\xBF\xBD", 1 },
                       { "\xF0\x9F\x98\x80", 2 },
                       { "\xF4\x8F\xBF\xBF", 2 } };
    for (size_t before = 0; before < 20; before++) {
        for (size_t i = 0; i < COUNT_OF(characters); i++) {
            for (size_t k = 0; k < COUNT_OF(characters); k++) {
                char text[64];
                memset(text, 'x', before);
                int size = snprintf(text + before, sizeof text - before, "%s%sx",
                                    characters[i].text, characters[k].text);
                assert_int_equal(utf8_utf16_length(bytes_of(text, before + (size_t)size)),
                                 before + characters[i].units + characters[k].units + 1);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prefix_has_whole_valid_characters),
        cmocka_unit_test(lengths_are_counted_in_units_of_utf_16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
