/* test_reader_strings.c -- strings: escapes, UTF-8 and what is borrowed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "json/reader.h"

static const char bad_escape[] = "a string has an escape that does not exist";
static const char bad_pair[] = "a string has half a surrogate pair";
static const char bad_utf8[] = "a string is not valid UTF-8";
static const char bad_control[] = "a string has a control character without an escape";
static const char unclosed[] = "a string has no closing quote";

/* Texts stand without their quotes. */
static const struct {
    const char *rule;
    struct bytes text, want;
} accepted[] = {
    { "empty", BYTES(""), BYTES("") },
    { "quote", BYTES("\\\""), BYTES("\"") },
    { "backslash", BYTES("\\\\"), BYTES("\\") },
    { "slash", BYTES("\\/"), BYTES("/") },
    { "slash without an escape", BYTES("/"), BYTES("/") },
    { "backspace", BYTES("\\b"), BYTES("\b") },
    { "form feed", BYTES("\\f"), BYTES("\f") },
    { "line feed", BYTES("\\n"), BYTES("\n") },
    { "carriage return", BYTES("\\r"), BYTES("\r") },
    { "tab", BYTES("\\t"), BYTES("\t") },
    { "escapes in a row", BYTES("\\\\\\\"\\n\\n"), BYTES("\\\"\n\n") },
    { "text around an escape", BYTES("before\\nbehind"), BYTES("before\nbehind") },
    { "a character by number", BYTES("\\u0041"), BYTES("A") },
    { "hexadecimal digits in either case", BYTES("\\u00e9\\u00E9"), BYTES("\xC3\xA9\xC3\xA9") },
    { "U+0000 by number", BYTES("a\\u0000b"), BYTES("a\0b") },
    { "the last of one byte", BYTES("\\u007f"), BYTES("\x7F") },
    { "the first of two bytes", BYTES("\\u0080"), BYTES("\xC2\x80") },
    { "the last of two bytes", BYTES("\\u07FF"), BYTES("\xDF\xBF") },
    { "the first of three bytes", BYTES("\\u0800"), BYTES("\xE0\xA0\x80") },
    { "the last below the surrogates", BYTES("\\uD7FF"), BYTES("\xED\x9F\xBF") },
    { "the first above the surrogates", BYTES("\\uE000"), BYTES("\xEE\x80\x80") },
    { "the last of three bytes", BYTES("\\uFFFF"), BYTES("\xEF\xBF\xBF") },
    { "the first pair", BYTES("\\uD800\\uDC00"), BYTES("\xF0\x90\x80\x80") },
    { "a pair", BYTES("\\ud83d\\ude00"), BYTES("\xF0\x9F\x98\x80") },
    { "the last pair", BYTES("\\uDBFF\\uDFFF"), BYTES("\xF4\x8F\xBF\xBF") },
    { "digits behind four digits are text", BYTES("\\u00412"), BYTES("A2") },
    { "U+007F needs no escape", BYTES("\x7F"), BYTES("\x7F") },
    { "the first control that is none", BYTES("\x20"), BYTES("\x20") },
    { "UTF-8: U+0080", BYTES("\xC2\x80"), BYTES("\xC2\x80") },
    { "UTF-8: U+07FF", BYTES("\xDF\xBF"), BYTES("\xDF\xBF") },
    { "UTF-8: U+0800", BYTES("\xE0\xA0\x80"), BYTES("\xE0\xA0\x80") },
    { "UTF-8: U+0FFF", BYTES("\xE0\xBF\xBF"), BYTES("\xE0\xBF\xBF") },
    { "UTF-8: U+1000", BYTES("\xE1\x80\x80"), BYTES("\xE1\x80\x80") },
    { "UTF-8: U+D7FF", BYTES("\xED\x9F\xBF"), BYTES("\xED\x9F\xBF") },
    { "UTF-8: U+E000", BYTES("\xEE\x80\x80"), BYTES("\xEE\x80\x80") },
    { "UTF-8: U+FEFF inside of a string", BYTES("\xEF\xBB\xBF"), BYTES("\xEF\xBB\xBF") },
    { "UTF-8: U+FFFF", BYTES("\xEF\xBF\xBF"), BYTES("\xEF\xBF\xBF") },
    { "UTF-8: U+10000", BYTES("\xF0\x90\x80\x80"), BYTES("\xF0\x90\x80\x80") },
    { "UTF-8: U+3FFFF", BYTES("\xF0\xBF\xBF\xBF"), BYTES("\xF0\xBF\xBF\xBF") },
    { "UTF-8: U+40000", BYTES("\xF1\x80\x80\x80"), BYTES("\xF1\x80\x80\x80") },
    { "UTF-8: U+10FFFF", BYTES("\xF4\x8F\xBF\xBF"), BYTES("\xF4\x8F\xBF\xBF") },
};

static const struct {
    const char *rule;
    struct bytes text;
    const char *failure;
} refused[] = {
    { "an unknown escape", BYTES("\\x"), bad_escape },
    { "an upper-case escape", BYTES("\\N"), bad_escape },
    { "an upper-case U", BYTES("\\U0041"), bad_escape },
    { "a single quote has no escape", BYTES("\\'"), bad_escape },
    { "an escaped zero byte", BYTES("\\\0"), bad_escape },
    { "an escaped line feed", BYTES("\\\n"), bad_escape },
    { "three digits", BYTES("\\u041"), bad_escape },
    { "no digits", BYTES("\\u"), bad_escape },
    { "a digit that is none: g", BYTES("\\u00g1"), bad_escape },
    { "a digit that is none: /", BYTES("\\u00/1"), bad_escape },
    { "a digit that is none: :", BYTES("\\u00:1"), bad_escape },
    { "a digit that is none: @", BYTES("\\u00@1"), bad_escape },
    { "a digit that is none: `", BYTES("\\u00`1"), bad_escape },
    { "a digit that is none: sign", BYTES("\\u+041"), bad_escape },
    { "a digit that is none: space", BYTES("\\u 041"), bad_escape },
    { "a high surrogate alone", BYTES("\\uD800"), bad_pair },
    { "a high surrogate before text", BYTES("\\uDBFFabcdef"), bad_pair },
    { "a high surrogate before another escape", BYTES("\\uD83D\\n12345"), bad_pair },
    { "a high surrogate before no surrogate", BYTES("\\uD83D\\u0041"), bad_pair },
    { "a high surrogate before a high one", BYTES("\\uD83D\\uD83D"), bad_pair },
    { "a high surrogate before E000", BYTES("\\uD83D\\uE000"), bad_pair },
    { "a high surrogate before a broken escape", BYTES("\\uD83D\\uDExx"), bad_pair },
    { "a low surrogate alone", BYTES("\\uDC00"), bad_pair },
    { "a low surrogate before a high one", BYTES("\\uDE00\\uD83D"), bad_pair },
    { "the last low surrogate", BYTES("\\uDFFF"), bad_pair },
    { "a zero byte", BYTES("\0"), bad_control },
    { "a tab", BYTES("\t"), bad_control },
    { "a line feed", BYTES("\n"), bad_control },
    { "the last control", BYTES("\x1F"), bad_control },
    { "UTF-8: a byte that only continues", BYTES("\x80"), bad_utf8 },
    { "UTF-8: the last byte that only continues", BYTES("\xBF"), bad_utf8 },
    { "UTF-8: overlong U+0000", BYTES("\xC0\x80"), bad_utf8 },
    { "UTF-8: overlong U+007F", BYTES("\xC1\xBF"), bad_utf8 },
    { "UTF-8: two bytes cut", BYTES("\xC2"), bad_utf8 },
    { "UTF-8: second of two too low", BYTES("\xC2\x7F"), bad_utf8 },
    { "UTF-8: second of two too high", BYTES("\xDF\xC0"), bad_utf8 },
    { "UTF-8: overlong U+07FF", BYTES("\xE0\x9F\xBF"), bad_utf8 },
    { "UTF-8: three bytes cut", BYTES("\xE2\x82"), bad_utf8 },
    { "UTF-8: second of three too low", BYTES("\xE1\x7F\x80"), bad_utf8 },
    { "UTF-8: second of three too high", BYTES("\xEF\xC0\x80"), bad_utf8 },
    { "UTF-8: third of three too low", BYTES("\xE2\x82\x7F"), bad_utf8 },
    { "UTF-8: third of three too high", BYTES("\xE2\x82\xC0"), bad_utf8 },
    { "UTF-8: the first surrogate", BYTES("\xED\xA0\x80"), bad_utf8 },
    { "UTF-8: the last surrogate", BYTES("\xED\xBF\xBF"), bad_utf8 },
    { "UTF-8: overlong U+FFFF", BYTES("\xF0\x8F\xBF\xBF"), bad_utf8 },
    { "UTF-8: four bytes cut", BYTES("\xF0\x9F\x98"), bad_utf8 },
    { "UTF-8: second of four too low", BYTES("\xF1\x7F\x80\x80"), bad_utf8 },
    { "UTF-8: second of four too high", BYTES("\xF3\xC0\x80\x80"), bad_utf8 },
    { "UTF-8: third of four too low", BYTES("\xF0\x9F\x7F\x80"), bad_utf8 },
    { "UTF-8: third of four too high", BYTES("\xF0\x9F\xC0\x80"), bad_utf8 },
    { "UTF-8: fourth of four too low", BYTES("\xF0\x9F\x98\x7F"), bad_utf8 },
    { "UTF-8: fourth of four too high", BYTES("\xF0\x9F\x98\xC0"), bad_utf8 },
    { "UTF-8: U+110000", BYTES("\xF4\x90\x80\x80"), bad_utf8 },
    { "UTF-8: U+140000", BYTES("\xF5\x80\x80\x80"), bad_utf8 },
    { "UTF-8: five bytes", BYTES("\xF8\x88\x80\x80\x80"), bad_utf8 },
    { "UTF-8: the byte FE", BYTES("\xFE"), bad_utf8 },
    { "UTF-8: the byte FF", BYTES("\xFF"), bad_utf8 },
    { "Latin-1", BYTES("caf\xE9"), bad_utf8 },
};

/* `filler` ASCII characters, then `text`, in quotes: the mistake or the escape then lies at every
 * place in a step of the scanning loop. */
static struct bytes quoted(struct arena *arena, size_t filler, struct bytes text)
{
    uint8_t *out = arena_alloc(arena, filler + text.len + 2);
    memset(out, 'x', filler + 1);
    out[0] = '"';
    memcpy(out + 1 + filler, text.data, text.len);
    out[filler + text.len + 1] = '"';
    return bytes_of(out, filler + text.len + 2);
}

enum { FILLER_MAX = 35 };

static void valid_strings_are_read_at_every_place(void **state)
{
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(accepted); i++) {
        for (size_t filler = 0; filler <= FILLER_MAX; filler++) {
            struct json_reader reader;
            struct bytes value;
            json_reader_init(&reader, arena, quoted(arena, filler, accepted[i].text), 0);
            if (!json_read_string(&reader, &value) || !json_finish(&reader))
                fail_msg("%s: %s", accepted[i].rule, reader.failure);
            assert_int_equal(value.len, filler + accepted[i].want.len);
            assert_memory_equal(value.data + filler, accepted[i].want.data, accepted[i].want.len);
        }
    }
}

static void broken_strings_are_refused_at_every_place(void **state)
{
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        for (size_t filler = 0; filler <= FILLER_MAX; filler++) {
            struct bytes text = quoted(arena, filler, refused[i].text);
            struct json_reader reader, skipper;
            struct bytes value;
            json_reader_init(&reader, arena, text, 0);
            json_reader_init(&skipper, arena, text, 0);
            if (json_read_string(&reader, &value))
                fail_msg("accepted: %s", refused[i].rule);
            assert_string_equal(reader.failure, refused[i].failure);
            assert_false(json_skip(&skipper));
            assert_string_equal(skipper.failure, refused[i].failure);
            assert_int_equal(json_offset(&skipper), json_offset(&reader));
        }
    }
}

static void every_control_character_needs_an_escape(void **state)
{
    for (unsigned byte = 0; byte < 0x100; byte++) {
        const uint8_t text[] = { '"', (uint8_t)byte, '"' };
        struct json_reader reader;
        struct bytes value;
        json_reader_init(&reader, *state, bytes_of(text, sizeof text), 0);
        bool plain = byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
        assert_int_equal(json_read_string(&reader, &value) && json_finish(&reader), plain);
    }
}

static void a_string_is_closed(void **state)
{
    struct arena *arena = *state;
    for (size_t filler = 0; filler <= FILLER_MAX; filler++) {
        struct bytes text = quoted(arena, filler, BYTES(""));
        struct json_reader reader;
        struct bytes value;
        /* An exact copy, so that a byte read too far is noticed. */
        json_reader_init(&reader, arena, arena_copy(arena, bytes_of(text.data, text.len - 1)), 0);
        assert_false(json_read_string(&reader, &value));
        assert_string_equal(reader.failure, unclosed);
    }
}

static void a_backslash_does_not_end_the_text(void **state)
{
    struct json_reader reader;
    struct bytes value;
    json_reader_init(&reader, *state, arena_copy(*state, BYTES("\"\\")), 0);
    assert_false(json_read_string(&reader, &value));
    assert_string_equal(reader.failure, bad_escape);
    json_reader_init(&reader, *state, BYTES("\"\\\""), 0);
    assert_false(json_read_string(&reader, &value));
    assert_string_equal(reader.failure, unclosed);
}

static void strings_without_escapes_are_borrowed(void **state)
{
    struct bytes text = BYTES("{\"name\":\"caf\xC3\xA9 and more than sixteen bytes\"}");
    struct json_reader reader;
    struct bytes name, value;
    json_reader_init(&reader, *state, text, 1);
    assert_true(json_enter_object(&reader));
    assert_true(json_next_member(&reader, &name));
    assert_ptr_equal(name.data, text.data + 2);
    assert_true(json_read_string(&reader, &value));
    assert_ptr_equal(value.data, text.data + 9);
}

static void strings_with_escapes_are_copied(void **state)
{
    struct bytes text = BYTES("{\"na\\u006de\":\"a\\tb\"}");
    struct json_reader reader;
    struct bytes name, value;
    json_reader_init(&reader, *state, text, 1);
    assert_true(json_enter_object(&reader));
    assert_true(json_next_member(&reader, &name));
    assert_true(bytes_equal_text(name, "name"));
    assert_true(name.data < text.data || name.data >= text.data + text.len);
    assert_true(json_read_string(&reader, &value));
    assert_true(bytes_equal_text(value, "a\tb"));
    assert_true(value.data < text.data || value.data >= text.data + text.len);
}

static int set_up(void **state)
{
    *state = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    arena_destroy(*state);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(valid_strings_are_read_at_every_place),
        TEST(broken_strings_are_refused_at_every_place),
        TEST(every_control_character_needs_an_escape),
        TEST(a_string_is_closed),
        TEST(a_backslash_does_not_end_the_text),
        TEST(strings_without_escapes_are_borrowed),
        TEST(strings_with_escapes_are_copied),
    };
    return cmocka_run_group_tests_name("json/reader strings", tests, NULL, NULL);
}
