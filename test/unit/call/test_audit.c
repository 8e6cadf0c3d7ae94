/* test_audit.c -- how audit lines quote values from clients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "base/random.h"
#include "call/audit.h"

enum { RANDOM_ROUNDS = 20000, RANDOM_SIZE_MAX = 40 };

static const struct {
    const char *rule;
    struct bytes value;
    const char *want;
} cases[] = {
    { "plain text", BYTES("AKIA/2026"), "AKIA/2026" },
    { "an empty value", BYTES(""), "" },
    { "spaces forge no field", BYTES("x result=ok"), "x result=ok" },
    { "quotes forge no field", BYTES("x\" result=\"ok"), "x\\\" result=\\\"ok" },
    { "backslashes hide no quote", BYTES("x\\\" y=\""), "x\\\\\\\" y=\\\"" },
    { "NUL, line feed, escape, delete", BYTES("a\0b\nc\x1B[0m\x7F"), "a\\x00b\\x0Ac\\x1B[0m\\x7F" },
    { "the last control character", BYTES("\x1F "), "\\x1F " },
    { "UTF-8 stays", BYTES("\xC3\x9F\xE2\x82\xAC\xF0\x9F\x98\x80"),
      "\xC3\x9F\xE2\x82\xAC\xF0\x9F\x98\x80" },
    { "what is not UTF-8", BYTES("a\xFF\xC3(\xE2\x82"), "a\\xFF\\xC3(\\xE2\\x82" },
    { "an overlong quote", BYTES("\xC0\xA2"), "\\xC0\\xA2" },
    { "control characters above ASCII", BYTES("\xC2\x80\xC2\x9F\xC2\xA0"),
      "\\xC2\\x80\\xC2\\x9F\xC2\xA0" },
    { "line separators", BYTES("\xE2\x80\xA8\xE2\x80\xA9"), "\\xE2\\x80\\xA8\\xE2\\x80\\xA9" },
    { "the direction of text", BYTES("\xE2\x80\xAE\xE2\x81\xA6\xE2\x81\xA9"),
      "\\xE2\\x80\\xAE\\xE2\\x81\\xA6\\xE2\\x81\\xA9" },
    { "their neighbours stay", BYTES("\xE2\x80\xA7\xE2\x80\xAF\xE2\x81\xA5\xE2\x81\xAA"),
      "\xE2\x80\xA7\xE2\x80\xAF\xE2\x81\xA5\xE2\x81\xAA" },
};

static void a_value_cannot_leave_its_quotes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char want[256];
        struct audit_line line = { 0 };
        audit_line_add(&line, "first", BYTES("1"), 10);
        audit_line_add(&line, "key", cases[i].value, 100);
        snprintf(want, sizeof want, "first=\"1\" key=\"%s\"", cases[i].want);
        if (!bytes_equal_text(bytes_of(line.text, line.size), want))
            fail_msg("%s: %.*s", cases[i].rule, (int)line.size, line.text);
    }
}

static const struct {
    const char *rule;
    struct bytes value;
    size_t size_max;
    const char *want;
} cuts[] = {
    { "at the bound", BYTES("abcd"), 4, "abcd" },
    { "above it", BYTES("abcde"), 4, "abcd\\+1" },
    { "far above it", BYTES("abcdefghijklmn"), 4, "abcd\\+10" },
    { "an escape is whole or left out", BYTES("abc\n"), 6, "abc\\+1" },
    { "an escape at the bound", BYTES("abc\n"), 7, "abc\\x0A" },
    { "a character is whole or left out", BYTES("abc\xE2\x82\xAC"), 5, "abc\\+3" },
    { "a character at the bound", BYTES("abc\xE2\x82\xAC"), 6, "abc\xE2\x82\xAC" },
    { "who writes the mark does not cut", BYTES("a\\+3"), 9, "a\\\\+3" },
};

static void a_long_value_is_cut_and_says_so(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cuts); i++) {
        char want[64];
        struct audit_line line = { 0 };
        audit_line_add(&line, "k", cuts[i].value, cuts[i].size_max);
        snprintf(want, sizeof want, "k=\"%s\"", cuts[i].want);
        if (!bytes_equal_text(bytes_of(line.text, line.size), want))
            fail_msg("%s: %.*s", cuts[i].rule, (int)line.size, line.text);
    }
}

static void no_value_is_longer_than_the_bound(void **state)
{
    static uint8_t value[100000];
    (void)state;
    memset(value, 'x', sizeof value);
    for (size_t over = 0; over < 2; over++) {
        struct audit_line line = { 0 };
        audit_line_add(&line, "k", bytes_of(value, AUDIT_VALUE_SIZE_MAX + over), SIZE_MAX);
        assert_int_equal(line.size, 4 + AUDIT_VALUE_SIZE_MAX + (over == 0 ? 0 : strlen("\\+1")));
    }
    struct audit_line line = { 0 };
    audit_line_add(&line, "k", bytes_of(value, sizeof value), SIZE_MAX);
    assert_int_equal(line.size, 4 + AUDIT_VALUE_SIZE_MAX + strlen("\\+99360"));
}

/* Reads a value back as a tool would. Returns its size, or SIZE_MAX if it does not end with the
 * line. */
static size_t read_back(const char *text, size_t size, uint8_t *out)
{
    size_t count = 0, i = 0;
    for (; i < size && text[i] != '"'; i++) {
        unsigned byte = (uint8_t)text[i];
        if (byte < 0x20 || byte == 0x7F)
            return SIZE_MAX;
        if (text[i] == '\\' && text[i + 1] == 'x') {
            if (sscanf(text + i + 2, "%2x", &byte) != 1)
                return SIZE_MAX;
            i += 3;
        } else if (text[i] == '\\') {
            byte = (uint8_t)text[++i];
        }
        out[count++] = (uint8_t)byte;
    }
    return i + 1 == size ? count : SIZE_MAX;
}

static void every_value_reads_back_as_it_was(void **state)
{
    static const uint8_t likely[] = "\"\\\\x+= \n\xC2\xE2\x80\xA8\x9F";
    struct random random;
    (void)state;
    random_init(&random, 20261116);
    for (int i = 0; i < RANDOM_ROUNDS; i++) {
        uint8_t value[RANDOM_SIZE_MAX], back[AUDIT_LINE_SIZE_MAX];
        struct audit_line line = { 0 };
        size_t size = random_below(&random, RANDOM_SIZE_MAX + 1);
        for (size_t j = 0; j < size; j++)
            value[j] = random_below(&random, 2) == 0 ? likely[random_below(&random, sizeof likely)]
                                                     : (uint8_t)random_next(&random);
        audit_line_add(&line, "k", bytes_of(value, size), AUDIT_VALUE_SIZE_MAX);
        assert_int_equal(read_back(line.text + 3, line.size - 3, back), size);
        assert_memory_equal(back, value, size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_cannot_leave_its_quotes),
        cmocka_unit_test(a_long_value_is_cut_and_says_so),
        cmocka_unit_test(no_value_is_longer_than_the_bound),
        cmocka_unit_test(every_value_reads_back_as_it_was),
    };
    return cmocka_run_group_tests_name("call/audit", tests, NULL, NULL);
}
