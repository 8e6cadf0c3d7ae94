/* test_lexer.c -- expressions cut into words; reserved words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "expr/lexer.h"

enum { TOKENS_MAX = 12 };

/* The types in order, up to TOKEN_END. */
static const struct {
    const char *text;
    enum token_type types[TOKENS_MAX];
} cases[] = {
    { "", { TOKEN_END } },
    { " \t\r\n", { TOKEN_END } },
    { "a Z9_ x_", { TOKEN_NAME, TOKEN_NAME, TOKEN_NAME, TOKEN_END } },
    { "_a", { TOKEN_INVALID, TOKEN_NAME, TOKEN_END } },
    { "#a #1 #_ #",
      { TOKEN_NAME_REFERENCE, TOKEN_NAME_REFERENCE, TOKEN_NAME_REFERENCE, TOKEN_INVALID,
        TOKEN_END } },
    { ":a:1", { TOKEN_VALUE_REFERENCE, TOKEN_VALUE_REFERENCE, TOKEN_END } },
    { ":-", { TOKEN_INVALID, TOKEN_MINUS, TOKEN_END } },
    { "0 10 01 00 1a",
      { TOKEN_NUMBER, TOKEN_NUMBER, TOKEN_NUMBER, TOKEN_NUMBER, TOKEN_NUMBER, TOKEN_NUMBER,
        TOKEN_NUMBER, TOKEN_NAME, TOKEN_END } },
    { "= <> < <= > >=",
      { TOKEN_EQUAL, TOKEN_NOT_EQUAL, TOKEN_LESS, TOKEN_LESS_EQUAL, TOKEN_GREATER,
        TOKEN_GREATER_EQUAL, TOKEN_END } },
    { "=<=><", { TOKEN_EQUAL, TOKEN_LESS_EQUAL, TOKEN_GREATER, TOKEN_LESS, TOKEN_END } },
    { "()[].,+-",
      { TOKEN_OPEN, TOKEN_CLOSE, TOKEN_OPEN_BRACKET, TOKEN_CLOSE_BRACKET, TOKEN_DOT, TOKEN_COMMA,
        TOKEN_PLUS, TOKEN_MINUS, TOKEN_END } },
    { "and Or NOT between iN",
      { TOKEN_AND, TOKEN_OR, TOKEN_NOT, TOKEN_BETWEEN, TOKEN_IN, TOKEN_END } },
    { "set REMOVE Add delete", { TOKEN_SET, TOKEN_REMOVE, TOKEN_ADD, TOKEN_DELETE, TOKEN_END } },
    { "ands an AND1 betweens", { TOKEN_NAME, TOKEN_NAME, TOKEN_NAME, TOKEN_NAME, TOKEN_END } },
    { "$!\"'\v\f",
      { TOKEN_INVALID, TOKEN_INVALID, TOKEN_INVALID, TOKEN_INVALID, TOKEN_INVALID, TOKEN_INVALID,
        TOKEN_END } },
    { "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"
      "a",
      { TOKEN_INVALID, TOKEN_INVALID, TOKEN_INVALID, TOKEN_NAME, TOKEN_END } },
};

static void text_is_cut_into_tokens(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lexer lexer;
        lexer_init(&lexer, bytes_from_text(cases[i].text));
        for (size_t j = 0;; j++) {
            struct token token = lexer_next(&lexer);
            if (token.type != cases[i].types[j])
                fail_msg("\"%s\", token %zu: %d", cases[i].text, j, token.type);
            if (token.type == TOKEN_END)
                break;
        }
    }
}

static void tokens_know_their_place(void **state)
{
    (void)state;
    struct lexer lexer;
    lexer_init(&lexer, BYTES(" ab >= \xC3\xA9 :v1 "));
    static const char *const want[] = { "ab", ">=", "\xC3\xA9", ":v1" };
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        struct token token = lexer_next(&lexer);
        assert_true(bytes_equal_text(lexer_token_text(&lexer, token), want[i]));
    }
    for (int i = 0; i < 2; i++) {
        struct token end = lexer_next(&lexer);
        assert_int_equal(end.type, TOKEN_END);
        assert_int_equal(end.start, 14);
        assert_int_equal(end.end, 14);
    }
}

static void a_zero_byte_is_a_character_like_others(void **state)
{
    (void)state;
    struct lexer lexer;
    lexer_init(&lexer, bytes_of("a\0b", 3));
    assert_int_equal(lexer_next(&lexer).type, TOKEN_NAME);
    assert_int_equal(lexer_next(&lexer).type, TOKEN_INVALID);
    assert_int_equal(lexer_next(&lexer).type, TOKEN_NAME);
    assert_int_equal(lexer_next(&lexer).type, TOKEN_END);
}

static void reserved_words_are_found_in_any_letter_case(void **state)
{
    (void)state;
    static const char *const reserved[] = { "ABORT", "abort",  "Name", "sIZE",          "ttl",
                                            "by",    "status", "ZONE", "LOCALTIMESTAMP" };
    static const char *const free_words[] = {
        "",    "a",   "abor",  "aborts", "namesake",        "zones", "_name", "pk",      "sk",
        "ZZZ", "abs", "NAME ", "na me",  "localtimestamps", "`y",    "n@me",  "N\xC1ME", "n{me"
    };
    for (size_t i = 0; i < COUNT_OF(reserved); i++)
        assert_true(lexer_is_reserved(bytes_from_text(reserved[i])));
    for (size_t i = 0; i < COUNT_OF(free_words); i++)
        assert_false(lexer_is_reserved(bytes_from_text(free_words[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_cut_into_tokens),
        cmocka_unit_test(tokens_know_their_place),
        cmocka_unit_test(a_zero_byte_is_a_character_like_others),
        cmocka_unit_test(reserved_words_are_found_in_any_letter_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
