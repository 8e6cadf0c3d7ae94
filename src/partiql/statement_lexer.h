/* statement_lexer.h -- the words and signs of a PartiQL statement.
 *
 * The caller holds one token and asks for the next; nothing is allocated. White space and comments
 * stand between tokens and mean nothing.
 */
#ifndef STATOR_PARTIQL_STATEMENT_LEXER_H
#define STATOR_PARTIQL_STATEMENT_LEXER_H
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "partiql/statement_keyword.h"

struct arena;

enum statement_token_type {
    STATEMENT_END,
    STATEMENT_INVALID, /* Begins no token, or a string or comment without an end. */
    STATEMENT_KEYWORD,
    STATEMENT_NAME,
    STATEMENT_QUOTED, /* "name" */
    STATEMENT_STRING, /* 'text' */
    STATEMENT_NUMBER, /* Without a sign. */
    STATEMENT_PARAMETER,
    STATEMENT_OPEN,
    STATEMENT_CLOSE,
    STATEMENT_OPEN_BRACKET,
    STATEMENT_CLOSE_BRACKET,
    STATEMENT_OPEN_BRACE,
    STATEMENT_CLOSE_BRACE,
    STATEMENT_OPEN_BAG,  /* << */
    STATEMENT_CLOSE_BAG, /* >> */
    STATEMENT_COMMA,
    STATEMENT_DOT,
    STATEMENT_COLON,
    STATEMENT_SEMICOLON,
    STATEMENT_STAR,
    STATEMENT_PLUS,
    STATEMENT_MINUS,
    STATEMENT_OPERATOR, /* One that DynamoDB does not support: / % || */
    STATEMENT_EQUAL,
    STATEMENT_NOT_EQUAL,
    STATEMENT_LESS,
    STATEMENT_LESS_EQUAL,
    STATEMENT_GREATER,
    STATEMENT_GREATER_EQUAL,
};

struct statement_token {
    enum statement_token_type type;
    enum statement_keyword keyword; /* KEYWORD_NONE but for STATEMENT_KEYWORD. */
    uint32_t start;                 /* Offsets into the text. */
    uint32_t end;
};

struct statement_lexer {
    struct bytes text;
    uint32_t at; /* Where the next token is looked for. */
};

/* `text` is at most UINT32_MAX bytes long and valid UTF-8. */
static inline void statement_lexer_init(struct statement_lexer *lexer, struct bytes text)
{
    *lexer = (struct statement_lexer){ .text = text };
}

/* STATEMENT_END once and for ever at the end. */
struct statement_token statement_lexer_next(struct statement_lexer *lexer);

static inline struct bytes statement_lexer_text(const struct statement_lexer *lexer,
                                                struct statement_token token)
{
    return bytes_of(lexer->text.data + token.start, token.end - token.start);
}

/* What a STATEMENT_QUOTED or STATEMENT_STRING stands for: without its quotes, and with one quote
 * for each two inside. Copied into the arena only where it has such. */
struct bytes statement_lexer_content(const struct statement_lexer *lexer, struct arena *arena,
                                     struct statement_token token);

/* "line:column:length", all in characters and from 1, as the service names a place. */
struct bytes statement_lexer_place(const struct statement_lexer *lexer, struct arena *arena,
                                   struct statement_token token);

#endif
