/* statement_lexer.c -- see statement_lexer.h. */
#include "partiql/statement_lexer.h"
#include <assert.h>
#include <stddef.h>
#include "base/arena.h"
#include "base/compiler.h"

/* --- Keywords ---
 *
 * PartiQL reserves the words of SQL and a few of its own. Which of them DynamoDB refuses as a name
 * was observed word by word.
 */

enum { WORD_SIZE_MAX = 16 };

/* Sorted. Words that the grammar does not use are KEYWORD_OTHER. */
static const struct {
    char word[WORD_SIZE_MAX];
    enum statement_keyword keyword;
} words[] = {
    { "ABSOLUTE", KEYWORD_OTHER },
    { "ACTION", KEYWORD_OTHER },
    { "ADD", KEYWORD_OTHER },
    { "ALL", KEYWORD_ALL },
    { "ALLOCATE", KEYWORD_OTHER },
    { "ALTER", KEYWORD_OTHER },
    { "AND", KEYWORD_AND },
    { "ANY", KEYWORD_OTHER },
    { "ARE", KEYWORD_OTHER },
    { "AS", KEYWORD_AS },
    { "ASC", KEYWORD_ASC },
    { "ASSERTION", KEYWORD_OTHER },
    { "AT", KEYWORD_OTHER },
    { "AUTHORIZATION", KEYWORD_OTHER },
    { "AVG", KEYWORD_OTHER },
    { "BAG", KEYWORD_OTHER },
    { "BEGIN", KEYWORD_OTHER },
    { "BETWEEN", KEYWORD_BETWEEN },
    { "BIT", KEYWORD_OTHER },
    { "BLOB", KEYWORD_BLOB },
    { "BOOL", KEYWORD_BOOL },
    { "BOOLEAN", KEYWORD_BOOLEAN },
    { "BY", KEYWORD_BY },
    { "CASCADE", KEYWORD_OTHER },
    { "CASCADED", KEYWORD_OTHER },
    { "CASE", KEYWORD_OTHER },
    { "CAST", KEYWORD_OTHER },
    { "CATALOG", KEYWORD_OTHER },
    { "CHAR", KEYWORD_OTHER },
    { "CHARACTER", KEYWORD_OTHER },
    { "CHECK", KEYWORD_OTHER },
    { "CLOB", KEYWORD_OTHER },
    { "CLOSE", KEYWORD_OTHER },
    { "COALESCE", KEYWORD_OTHER },
    { "COLLATE", KEYWORD_OTHER },
    { "COLLATION", KEYWORD_OTHER },
    { "COLUMN", KEYWORD_OTHER },
    { "COMMIT", KEYWORD_OTHER },
    { "CONFLICT", KEYWORD_OTHER },
    { "CONNECT", KEYWORD_OTHER },
    { "CONNECTION", KEYWORD_OTHER },
    { "CONSTRAINT", KEYWORD_OTHER },
    { "CONSTRAINTS", KEYWORD_OTHER },
    { "CONTINUE", KEYWORD_OTHER },
    { "CONVERT", KEYWORD_OTHER },
    { "CORRESPONDING", KEYWORD_OTHER },
    { "COUNT", KEYWORD_OTHER },
    { "CREATE", KEYWORD_OTHER },
    { "CROSS", KEYWORD_CROSS },
    { "CURRENT", KEYWORD_OTHER },
    { "CURSOR", KEYWORD_OTHER },
    { "DATE", KEYWORD_OTHER },
    { "DATE_ADD", KEYWORD_OTHER },
    { "DEALLOCATE", KEYWORD_OTHER },
    { "DEC", KEYWORD_OTHER },
    { "DECIMAL", KEYWORD_OTHER },
    { "DECLARE", KEYWORD_OTHER },
    { "DEFAULT", KEYWORD_OTHER },
    { "DEFERRABLE", KEYWORD_OTHER },
    { "DEFERRED", KEYWORD_OTHER },
    { "DELETE", KEYWORD_DELETE },
    { "DESC", KEYWORD_DESC },
    { "DESCRIBE", KEYWORD_OTHER },
    { "DESCRIPTOR", KEYWORD_OTHER },
    { "DIAGNOSTICS", KEYWORD_OTHER },
    { "DISCONNECT", KEYWORD_OTHER },
    { "DISTINCT", KEYWORD_DISTINCT },
    { "DO", KEYWORD_OTHER },
    { "DOMAIN", KEYWORD_OTHER },
    { "DOUBLE", KEYWORD_OTHER },
    { "DROP", KEYWORD_OTHER },
    { "ELSE", KEYWORD_OTHER },
    { "END", KEYWORD_OTHER },
    { "ESCAPE", KEYWORD_OTHER },
    { "EXCEPT", KEYWORD_OTHER },
    { "EXCEPTION", KEYWORD_OTHER },
    { "EXEC", KEYWORD_OTHER },
    { "EXECUTE", KEYWORD_OTHER },
    { "EXISTS", KEYWORD_EXISTS },
    { "EXTERNAL", KEYWORD_OTHER },
    { "EXTRACT", KEYWORD_OTHER },
    { "FALSE", KEYWORD_FALSE },
    { "FETCH", KEYWORD_OTHER },
    { "FIRST", KEYWORD_OTHER },
    { "FLOAT", KEYWORD_OTHER },
    { "FOR", KEYWORD_OTHER },
    { "FOREIGN", KEYWORD_OTHER },
    { "FOUND", KEYWORD_OTHER },
    { "FROM", KEYWORD_FROM },
    { "FULL", KEYWORD_FULL },
    { "GET", KEYWORD_OTHER },
    { "GLOBAL", KEYWORD_OTHER },
    { "GO", KEYWORD_OTHER },
    { "GOTO", KEYWORD_OTHER },
    { "GRANT", KEYWORD_OTHER },
    { "GROUP", KEYWORD_GROUP },
    { "HAVING", KEYWORD_HAVING },
    { "IDENTITY", KEYWORD_OTHER },
    { "IMMEDIATE", KEYWORD_OTHER },
    { "IN", KEYWORD_IN },
    { "INDEX", KEYWORD_OTHER },
    { "INDICATOR", KEYWORD_OTHER },
    { "INITIALLY", KEYWORD_OTHER },
    { "INNER", KEYWORD_INNER },
    { "INPUT", KEYWORD_OTHER },
    { "INSENSITIVE", KEYWORD_OTHER },
    { "INSERT", KEYWORD_INSERT },
    { "INT", KEYWORD_OTHER },
    { "INTEGER", KEYWORD_OTHER },
    { "INTERSECT", KEYWORD_OTHER },
    { "INTERVAL", KEYWORD_OTHER },
    { "INTO", KEYWORD_INTO },
    { "IS", KEYWORD_IS },
    { "ISOLATION", KEYWORD_OTHER },
    { "JOIN", KEYWORD_JOIN },
    { "KEY", KEYWORD_OTHER },
    { "LANGUAGE", KEYWORD_OTHER },
    { "LAST", KEYWORD_OTHER },
    { "LEFT", KEYWORD_LEFT },
    { "LET", KEYWORD_OTHER },
    { "LEVEL", KEYWORD_OTHER },
    { "LIKE", KEYWORD_LIKE },
    { "LIMIT", KEYWORD_LIMIT },
    { "LIST", KEYWORD_LIST },
    { "LOCAL", KEYWORD_OTHER },
    { "LOWER", KEYWORD_OTHER },
    { "MATCH", KEYWORD_OTHER },
    { "MAX", KEYWORD_OTHER },
    { "MIN", KEYWORD_OTHER },
    { "MISSING", KEYWORD_MISSING },
    { "MODIFIED", KEYWORD_MODIFIED },
    { "MODULE", KEYWORD_OTHER },
    { "NAMES", KEYWORD_OTHER },
    { "NATIONAL", KEYWORD_OTHER },
    { "NATURAL", KEYWORD_OTHER },
    { "NCHAR", KEYWORD_OTHER },
    { "NEW", KEYWORD_NEW },
    { "NEXT", KEYWORD_OTHER },
    { "NO", KEYWORD_OTHER },
    { "NOT", KEYWORD_NOT },
    { "NOTHING", KEYWORD_OTHER },
    { "NULL", KEYWORD_NULL },
    { "NULLIF", KEYWORD_OTHER },
    { "NUMERIC", KEYWORD_NUMERIC },
    { "OF", KEYWORD_OTHER },
    { "OLD", KEYWORD_OLD },
    { "ON", KEYWORD_OTHER },
    { "ONLY", KEYWORD_OTHER },
    { "OPEN", KEYWORD_OTHER },
    { "OPTION", KEYWORD_OTHER },
    { "OR", KEYWORD_OR },
    { "ORDER", KEYWORD_ORDER },
    { "OUTER", KEYWORD_OTHER },
    { "OUTPUT", KEYWORD_OTHER },
    { "OVERLAPS", KEYWORD_OTHER },
    { "PAD", KEYWORD_OTHER },
    { "PARTIAL", KEYWORD_OTHER },
    { "PIVOT", KEYWORD_PIVOT },
    { "POSITION", KEYWORD_OTHER },
    { "PRECISION", KEYWORD_OTHER },
    { "PREPARE", KEYWORD_OTHER },
    { "PRESERVE", KEYWORD_OTHER },
    { "PRIMARY", KEYWORD_OTHER },
    { "PRIOR", KEYWORD_OTHER },
    { "PRIVILEGES", KEYWORD_OTHER },
    { "PROCEDURE", KEYWORD_OTHER },
    { "PUBLIC", KEYWORD_OTHER },
    { "READ", KEYWORD_OTHER },
    { "REAL", KEYWORD_OTHER },
    { "REFERENCES", KEYWORD_OTHER },
    { "RELATIVE", KEYWORD_OTHER },
    { "REMOVE", KEYWORD_REMOVE },
    { "RESTRICT", KEYWORD_OTHER },
    { "RETURNING", KEYWORD_RETURNING },
    { "REVOKE", KEYWORD_OTHER },
    { "RIGHT", KEYWORD_RIGHT },
    { "ROLLBACK", KEYWORD_OTHER },
    { "ROWS", KEYWORD_OTHER },
    { "SCHEMA", KEYWORD_OTHER },
    { "SCROLL", KEYWORD_OTHER },
    { "SECTION", KEYWORD_OTHER },
    { "SELECT", KEYWORD_SELECT },
    { "SESSION", KEYWORD_OTHER },
    { "SET", KEYWORD_SET },
    { "SEXP", KEYWORD_OTHER },
    { "SIZE", KEYWORD_SIZE },
    { "SMALLINT", KEYWORD_OTHER },
    { "SOME", KEYWORD_OTHER },
    { "SPACE", KEYWORD_OTHER },
    { "SQL", KEYWORD_OTHER },
    { "SQLCODE", KEYWORD_OTHER },
    { "SQLERROR", KEYWORD_OTHER },
    { "SQLSTATE", KEYWORD_OTHER },
    { "STRING", KEYWORD_STRING },
    { "STRUCT", KEYWORD_STRUCT },
    { "SUBSTRING", KEYWORD_OTHER },
    { "SUM", KEYWORD_OTHER },
    { "SYMBOL", KEYWORD_OTHER },
    { "TABLE", KEYWORD_OTHER },
    { "TEMPORARY", KEYWORD_OTHER },
    { "THEN", KEYWORD_OTHER },
    { "TIME", KEYWORD_OTHER },
    { "TIMESTAMP", KEYWORD_OTHER },
    { "TO", KEYWORD_OTHER },
    { "TRANSACTION", KEYWORD_OTHER },
    { "TRANSLATE", KEYWORD_OTHER },
    { "TRANSLATION", KEYWORD_OTHER },
    { "TRIM", KEYWORD_OTHER },
    { "TRUE", KEYWORD_TRUE },
    { "TUPLE", KEYWORD_TUPLE },
    { "UNION", KEYWORD_OTHER },
    { "UNIQUE", KEYWORD_OTHER },
    { "UNKNOWN", KEYWORD_OTHER },
    { "UNPIVOT", KEYWORD_OTHER },
    { "UPDATE", KEYWORD_UPDATE },
    { "UPPER", KEYWORD_OTHER },
    { "USAGE", KEYWORD_OTHER },
    { "USER", KEYWORD_OTHER },
    { "USING", KEYWORD_OTHER },
    { "VALUE", KEYWORD_VALUE },
    { "VALUES", KEYWORD_OTHER },
    { "VARCHAR", KEYWORD_OTHER },
    { "VARYING", KEYWORD_OTHER },
    { "VIEW", KEYWORD_OTHER },
    { "WHEN", KEYWORD_OTHER },
    { "WHENEVER", KEYWORD_OTHER },
    { "WHERE", KEYWORD_WHERE },
    { "WITH", KEYWORD_OTHER },
    { "WORK", KEYWORD_OTHER },
    { "WRITE", KEYWORD_OTHER },
    { "ZONE", KEYWORD_OTHER },
};

static int compare_word(struct bytes word, const char *reserved)
{
    for (size_t i = 0; i < word.len; i++) {
        int letter = word.data[i];
        if (letter >= 'a' && letter <= 'z')
            letter += 'A' - 'a';
        if (letter != reserved[i])
            return letter - reserved[i]; /* Also where `reserved` ends. */
    }
    return -reserved[word.len];
}

enum statement_keyword statement_lexer_keyword(struct bytes word)
{
    size_t low = 0, high = COUNT_OF(words);
    if (word.len >= WORD_SIZE_MAX)
        return KEYWORD_NONE;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_word(word, words[middle].word);
        if (order == 0)
            return words[middle].keyword;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return KEYWORD_NONE;
}

/* --- Tokens --- */

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

/* False, with nothing skipped, if the comment has no end. */
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

/* Skips a quoted text. False if it has no end: then everything is skipped. */
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

/* False if the exponent needs more than 32 bits. */
static bool pass_exponent(struct statement_lexer *lexer)
{
    int64_t value = 0;
    for (; is_digit(peek(lexer, 0)); lexer->at++) {
        if (value <= INT32_MAX)
            value = value * 10 + (peek(lexer, 0) - '0');
    }
    return value <= INT32_MAX;
}

/* digits [ "." digits ] [ e [sign] digits ], or without the first digits. False if a letter
 * follows, or the exponent needs more than 32 bits. */
static bool pass_number(struct statement_lexer *lexer)
{
    bool fits = true;
    pass_digits(lexer);
    if (peek(lexer, 0) == '.') {
        lexer->at++;
        pass_digits(lexer);
    }
    if (peek(lexer, 0) == 'e' || peek(lexer, 0) == 'E') {
        uint32_t digits = peek(lexer, 1) == '+' || peek(lexer, 1) == '-' ? 2 : 1;
        if (is_digit(peek(lexer, digits))) {
            lexer->at += digits;
            fits = pass_exponent(lexer);
        }
    }
    return fits && !is_name_part(peek(lexer, 0));
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
    if (c == '/' && peek(lexer, 1) == '*') { /* A comment without an end. */
        lexer->at = (uint32_t)lexer->text.len;
        return STATEMENT_INVALID;
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
        token.keyword = statement_lexer_keyword(statement_lexer_text(lexer, token));
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
