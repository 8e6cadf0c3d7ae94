/* test_statement_lexer.c -- statements cut into words; keywords; places in the text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "partiql/statement_lexer.h"

enum { TOKENS_MAX = 12 };

/* The types in order, up to STATEMENT_END. */
static const struct {
    const char *text;
    enum statement_token_type types[TOKENS_MAX];
} cases[] = {
    { "", { STATEMENT_END } },
    { " \t\r\n", { STATEMENT_END } },
    { "a Z9_ _x $y a$b",
      { STATEMENT_NAME, STATEMENT_NAME, STATEMENT_NAME, STATEMENT_NAME, STATEMENT_NAME,
        STATEMENT_END } },
    { "select SELECT selects",
      { STATEMENT_KEYWORD, STATEMENT_KEYWORD, STATEMENT_NAME, STATEMENT_END } },
    { "key Name date year",
      { STATEMENT_KEYWORD, STATEMENT_NAME, STATEMENT_KEYWORD, STATEMENT_NAME, STATEMENT_END } },
    { "\"a\" \"\" \"a\"\"b\"",
      { STATEMENT_QUOTED, STATEMENT_QUOTED, STATEMENT_QUOTED, STATEMENT_END } },
    { "'a' '' 'a''b'", { STATEMENT_STRING, STATEMENT_STRING, STATEMENT_STRING, STATEMENT_END } },
    { "'a", { STATEMENT_INVALID, STATEMENT_END } },
    { "\"a''", { STATEMENT_INVALID, STATEMENT_END } },
    { "0 1.5 .5 5. 1e3 1.E-3",
      { STATEMENT_NUMBER, STATEMENT_NUMBER, STATEMENT_NUMBER, STATEMENT_NUMBER, STATEMENT_NUMBER,
        STATEMENT_NUMBER, STATEMENT_END } },
    { "1a 1e 2",
      { STATEMENT_INVALID, STATEMENT_NAME, STATEMENT_INVALID, STATEMENT_NAME, STATEMENT_NUMBER,
        STATEMENT_END } },
    { "= <> != < <= > >=",
      { STATEMENT_EQUAL, STATEMENT_NOT_EQUAL, STATEMENT_NOT_EQUAL, STATEMENT_LESS,
        STATEMENT_LESS_EQUAL, STATEMENT_GREATER, STATEMENT_GREATER_EQUAL, STATEMENT_END } },
    { "<<1>>", { STATEMENT_OPEN_BAG, STATEMENT_NUMBER, STATEMENT_CLOSE_BAG, STATEMENT_END } },
    { "()[]{},.:;?",
      { STATEMENT_OPEN, STATEMENT_CLOSE, STATEMENT_OPEN_BRACKET, STATEMENT_CLOSE_BRACKET,
        STATEMENT_OPEN_BRACE, STATEMENT_CLOSE_BRACE, STATEMENT_COMMA, STATEMENT_DOT,
        STATEMENT_COLON, STATEMENT_SEMICOLON, STATEMENT_PARAMETER, STATEMENT_END } },
    { "+-*/%||",
      { STATEMENT_PLUS, STATEMENT_MINUS, STATEMENT_STAR, STATEMENT_OPERATOR, STATEMENT_OPERATOR,
        STATEMENT_OPERATOR, STATEMENT_END } },
    { "a -- b\nc", { STATEMENT_NAME, STATEMENT_NAME, STATEMENT_END } },
    { "a--b", { STATEMENT_NAME, STATEMENT_END } },
    { "a/* b */c", { STATEMENT_NAME, STATEMENT_NAME, STATEMENT_END } },
    { "/**/", { STATEMENT_END } },
    { "/* a", { STATEMENT_INVALID, STATEMENT_END } },
    { "1e2147483647", { STATEMENT_NUMBER, STATEMENT_END } },
    { "1e2147483648", { STATEMENT_INVALID, STATEMENT_END } },
    { "!@`\\",
      { STATEMENT_INVALID, STATEMENT_INVALID, STATEMENT_INVALID, STATEMENT_INVALID,
        STATEMENT_END } },
};

static void text_is_cut_into_tokens(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct statement_lexer lexer;
        statement_lexer_init(&lexer, bytes_from_text(cases[i].text));
        for (size_t j = 0;; j++) {
            struct statement_token token = statement_lexer_next(&lexer);
            if (token.type != cases[i].types[j])
                fail_msg("\"%s\", token %zu: %d", cases[i].text, j, (int)token.type);
            if (token.type == STATEMENT_END)
                break;
        }
        assert_int_equal(statement_lexer_next(&lexer).type, STATEMENT_END);
    }
}

static void two_quotes_inside_quotes_are_one(void **state)
{
    static const char *const contents[][2] = {
        { "'a'", "a" },       { "''", "" },
        { "'a''b'", "a'b" },  { "''''", "'" },
        { "'''a'''", "'a'" }, { "\"a\"\"b\"", "a\"b" },
        { "\"a'\"", "a'" },   { "'\xC3\xA9'", "\xC3\xA9" },
    };
    struct arena *arena = arena_create();
    (void)state;
    for (size_t i = 0; i < COUNT_OF(contents); i++) {
        struct statement_lexer lexer;
        statement_lexer_init(&lexer, bytes_from_text(contents[i][0]));
        struct statement_token token = statement_lexer_next(&lexer);
        if (!bytes_equal_text(statement_lexer_content(&lexer, arena, token), contents[i][1]))
            fail_msg("%s", contents[i][0]);
    }
    arena_destroy(arena);
}

static void a_place_is_line_column_and_length_in_characters(void **state)
{
    struct statement_lexer lexer;
    struct arena *arena = arena_create();
    (void)state;
    statement_lexer_init(&lexer, BYTES("a '\xC3\xA9\xC3\xA9' bcd\n  'x'"));
    static const char *const places[] = { "1:1:1", "1:3:4", "1:8:3", "2:3:3", "2:6:0" };
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        struct statement_token token = statement_lexer_next(&lexer);
        struct bytes place = statement_lexer_place(&lexer, arena, token);
        if (!bytes_equal_text(place, places[i]))
            fail_msg("token %zu: %.*s", i, BYTES_FMT(place));
    }
    arena_destroy(arena);
}

static void keywords_are_found_in_any_letter_case_and_whole(void **state)
{
    (void)state;
    assert_int_equal(statement_lexer_keyword(BYTES("SeLeCt")), KEYWORD_SELECT);
    assert_int_equal(statement_lexer_keyword(BYTES("absolute")), KEYWORD_OTHER); /* The first. */
    assert_int_equal(statement_lexer_keyword(BYTES("zone")), KEYWORD_OTHER);     /* The last. */
    assert_int_equal(statement_lexer_keyword(BYTES("date_add")), KEYWORD_OTHER);
    assert_int_equal(statement_lexer_keyword(BYTES("date_")), KEYWORD_NONE);
    assert_int_equal(statement_lexer_keyword(BYTES("selec")), KEYWORD_NONE);
    assert_int_equal(statement_lexer_keyword(BYTES("selectx")), KEYWORD_NONE);
    assert_int_equal(statement_lexer_keyword(BYTES("")), KEYWORD_NONE);
    assert_int_equal(statement_lexer_keyword(BYTES("corresponding")), KEYWORD_OTHER);
    assert_int_equal(statement_lexer_keyword(BYTES("aaaaaaaaaaaaaaa")), KEYWORD_NONE);
    assert_int_equal(statement_lexer_keyword(BYTES("aaaaaaaaaaaaaaaa")), KEYWORD_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_cut_into_tokens),
        cmocka_unit_test(two_quotes_inside_quotes_are_one),
        cmocka_unit_test(a_place_is_line_column_and_length_in_characters),
        cmocka_unit_test(keywords_are_found_in_any_letter_case_and_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
