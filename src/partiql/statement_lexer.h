/* statement_lexer.h -- the tokens of a PartiQL statement.
 *
 * Nothing is allocated for a token. White space and comments separate tokens and mean nothing.
 */
#ifndef STATOR_PARTIQL_STATEMENT_LEXER_H
#define STATOR_PARTIQL_STATEMENT_LEXER_H
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

struct arena;

/* The words that a statement may not use as a name unless it quotes them. */
enum statement_keyword {
    KEYWORD_NONE,  /* A name. */
    KEYWORD_OTHER, /* Reserved, but not used by the grammar. */
    KEYWORD_ALL,
    KEYWORD_AND,
    KEYWORD_AS,
    KEYWORD_ASC,
    KEYWORD_BETWEEN,
    KEYWORD_BLOB,
    KEYWORD_BOOL,
    KEYWORD_BOOLEAN,
    KEYWORD_BY,
    KEYWORD_CROSS,
    KEYWORD_DELETE,
    KEYWORD_DESC,
    KEYWORD_DISTINCT,
    KEYWORD_EXISTS,
    KEYWORD_FALSE,
    KEYWORD_FROM,
    KEYWORD_FULL,
    KEYWORD_GROUP,
    KEYWORD_HAVING,
    KEYWORD_IN,
    KEYWORD_INNER,
    KEYWORD_INSERT,
    KEYWORD_INTO,
    KEYWORD_IS,
    KEYWORD_JOIN,
    KEYWORD_LEFT,
    KEYWORD_LIKE,
    KEYWORD_LIMIT,
    KEYWORD_LIST,
    KEYWORD_MISSING,
    KEYWORD_MODIFIED,
    KEYWORD_NEW,
    KEYWORD_NOT,
    KEYWORD_NULL,
    KEYWORD_OLD,
    KEYWORD_OR,
    KEYWORD_NUMERIC,
    KEYWORD_ORDER,
    KEYWORD_PIVOT,
    KEYWORD_REMOVE,
    KEYWORD_RETURNING,
    KEYWORD_RIGHT,
    KEYWORD_SELECT,
    KEYWORD_SET,
    KEYWORD_SIZE,
    KEYWORD_STRING,
    KEYWORD_STRUCT,
    KEYWORD_TRUE,
    KEYWORD_TUPLE,
    KEYWORD_UPDATE,
    KEYWORD_VALUE,
    KEYWORD_WHERE,
};

/* The keyword that a word is, in any letter case. */
enum statement_keyword statement_lexer_keyword(struct bytes word);

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
    enum statement_keyword keyword; /* KEYWORD_NONE except for STATEMENT_KEYWORD. */
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

/* At the end of the text, STATEMENT_END on this and every later call. */
struct statement_token statement_lexer_next(struct statement_lexer *lexer);

static inline struct bytes statement_lexer_text(const struct statement_lexer *lexer,
                                                struct statement_token token)
{
    return bytes_of(lexer->text.data + token.start, token.end - token.start);
}

/* The text that a STATEMENT_QUOTED or STATEMENT_STRING stands for: without its quotes, and with one
 * quote for each two inside. Copied into the arena only if it has such quotes. */
struct bytes statement_lexer_content(const struct statement_lexer *lexer, struct arena *arena,
                                     struct statement_token token);

/* "line:column:length", all in characters and from 1, as the service shows positions. */
struct bytes statement_lexer_place(const struct statement_lexer *lexer, struct arena *arena,
                                   struct statement_token token);

#endif
