/* statement_lexer.c -- see statement_lexer.h. */
#include "partiql/statement_lexer.h"
#include <assert.h>
#include "base/arena.h"
#include "base/compiler.h"

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_start(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

static bool is_name_part(int c)
{
    return is_name_start(c) || is_digit(c);
}

/* The byte `ahead` of the next one; -1 behind the end. */
static int peek(const struct statement_lexer *lexer, uint32_t ahead)
{
    size_t at = (size_t)lexer->at + ahead;
    return at < lexer->text.len ? lexer->text.data[at] : -1;
}

static void skip_line(struct statement_lexer *lexer)
{
    while (peek(lexer, 0) != -1 && peek(lexer, 0) != '\n')
        lexer->at++;
}

/* False, and nothing skipped, if the comment has no end. */
static bool skip_comment(struct statement_lexer *lexer)
{
    uint32_t start = lexer->at;
    for (lexer->at += 2; peek(lexer, 0) != -1; lexer->at++) {
        if (peek(lexer, 0) == '*' && peek(lexer, 1) == '/') {
            lexer->at += 2;
            return true;
        }
    }
    lexer->at = start;
    return false;
}

static void skip_space(struct statement_lexer *lexer)
{
    for (;;) {
        int c = peek(lexer, 0);
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
            lexer->at++;
        else if (c == '-' && peek(lexer, 1) == '-')
            skip_line(lexer);
        else if (c != '/' || peek(lexer, 1) != '*' || !skip_comment(lexer))
            return;
    }
}

/* Passes a quoted text. False if it has no end: then everything is passed. */
static bool pass_quoted(struct statement_lexer *lexer, int quote)
{
    for (lexer->at++; peek(lexer, 0) != -1; lexer->at++) {
        if (peek(lexer, 0) != quote)
            continue;
        lexer->at++;
        if (peek(lexer, 0) != quote)
            return true;
    }
    return false;
}

static void pass_digits(struct statement_lexer *lexer)
{
    while (is_digit(peek(lexer, 0)))
        lexer->at++;
}

/* digits [ "." digits ] [ e [sign] digits ], or without the first digits. False if a letter
 * follows. */
static bool pass_number(struct statement_lexer *lexer)
{
    pass_digits(lexer);
    if (peek(lexer, 0) == '.') {
        lexer->at++;
        pass_digits(lexer);
    }
    if (peek(lexer, 0) == 'e' || peek(lexer, 0) == 'E') {
        uint32_t digits = peek(lexer, 1) == '+' || peek(lexer, 1) == '-' ? 2 : 1;
        if (is_digit(peek(lexer, digits))) {
            lexer->at += digits;
            pass_digits(lexer);
        }
    }
    return !is_name_part(peek(lexer, 0));
}

static const struct {
    char text[3];
    enum statement_token_type type;
} signs[] = {
    /* The longer ones first. */
    { "<<", STATEMENT_OPEN_BAG },    { ">>", STATEMENT_CLOSE_BAG },
    { "<=", STATEMENT_LESS_EQUAL },  { ">=", STATEMENT_GREATER_EQUAL },
    { "<>", STATEMENT_NOT_EQUAL },   { "!=", STATEMENT_NOT_EQUAL },
    { "||", STATEMENT_OPERATOR },    { "?", STATEMENT_PARAMETER },
    { "(", STATEMENT_OPEN },         { ")", STATEMENT_CLOSE },
    { "[", STATEMENT_OPEN_BRACKET }, { "]", STATEMENT_CLOSE_BRACKET },
    { "{", STATEMENT_OPEN_BRACE },   { "}", STATEMENT_CLOSE_BRACE },
    { ",", STATEMENT_COMMA },        { ".", STATEMENT_DOT },
    { ":", STATEMENT_COLON },        { ";", STATEMENT_SEMICOLON },
    { "*", STATEMENT_STAR },         { "+", STATEMENT_PLUS },
    { "-", STATEMENT_MINUS },        { "/", STATEMENT_OPERATOR },
    { "%", STATEMENT_OPERATOR },     { "=", STATEMENT_EQUAL },
    { "<", STATEMENT_LESS },         { ">", STATEMENT_GREATER },
};

static enum statement_token_type pass_sign(struct statement_lexer *lexer)
{
    for (size_t i = 0; i < COUNT_OF(signs); i++) {
        if (peek(lexer, 0) != signs[i].text[0] ||
            (signs[i].text[1] != '\0' && peek(lexer, 1) != signs[i].text[1]))
            continue;
        lexer->at += signs[i].text[1] != '\0' ? 2 : 1;
        return signs[i].type;
    }
    lexer->at++;
    return STATEMENT_INVALID;
}

static enum statement_token_type pass_token(struct statement_lexer *lexer)
{
    int c = peek(lexer, 0);
    if (c == -1)
        return STATEMENT_END;
    if (c == '\'' || c == '"') {
        if (!pass_quoted(lexer, c))
            return STATEMENT_INVALID;
        return c == '"' ? STATEMENT_QUOTED : STATEMENT_STRING;
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(lexer, 1))))
        return pass_number(lexer) ? STATEMENT_NUMBER : STATEMENT_INVALID;
    if (!is_name_start(c))
        return pass_sign(lexer);
    while (is_name_part(peek(lexer, 0)))
        lexer->at++;
    return STATEMENT_NAME;
}

struct statement_token statement_lexer_next(struct statement_lexer *lexer)
{
    skip_space(lexer);
    struct statement_token token = { .start = lexer->at };
    token.type = pass_token(lexer);
    token.end = lexer->at;
    if (token.type == STATEMENT_NAME) {
        token.keyword = statement_keyword_find(statement_lexer_text(lexer, token));
        if (token.keyword != KEYWORD_NONE)
            token.type = STATEMENT_KEYWORD;
    }
    return token;
}

struct bytes statement_lexer_content(const struct statement_lexer *lexer, struct arena *arena,
                                     struct statement_token token)
{
    assert(token.type == STATEMENT_QUOTED || token.type == STATEMENT_STRING);
    struct bytes quoted = statement_lexer_text(lexer, token);
    struct bytes inside = bytes_of(quoted.data + 1, quoted.len - 2);
    uint8_t quote = quoted.data[0];
    if (inside.len == 0 || memchr(inside.data, quote, inside.len) == NULL)
        return inside;
    uint8_t *out = arena_alloc(arena, inside.len);
    size_t size = 0;
    for (size_t i = 0; i < inside.len; i++) {
        out[size++] = inside.data[i];
        if (inside.data[i] == quote)
            i++; /* The second of two. */
    }
    return bytes_of(out, size);
}

static size_t characters(const uint8_t *from, const uint8_t *to)
{
    size_t count = 0;
    for (; from < to; from++)
        count += (*from & 0xC0) != 0x80;
    return count;
}

struct bytes statement_lexer_place(const struct statement_lexer *lexer, struct arena *arena,
                                   struct statement_token token)
{
    const uint8_t *text = lexer->text.data;
    const uint8_t *line = text;
    size_t line_number = 1;
    for (uint32_t i = 0; i < token.start; i++) {
        if (text[i] == '\n') {
            line_number++;
            line = &text[i + 1];
        }
    }
    return arena_printf(arena, "%zu:%zu:%zu", line_number, characters(line, &text[token.start]) + 1,
                        characters(&text[token.start], &text[token.end]));
}
