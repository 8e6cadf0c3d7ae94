/* lexer.h -- the tokens of an expression: names, #names, :values, numbers, signs and keywords.
 *
 * Nothing is allocated. Keywords are keywords in every kind of expression and in any letter case,
 * as the service has it.
 */
#ifndef STATOR_EXPR_LEXER_H
#define STATOR_EXPR_LEXER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

enum token_type {
    TOKEN_END,
    TOKEN_INVALID, /* One character that begins no token. */
    TOKEN_NAME,    /* Not a keyword; reserved words are names here. */
    TOKEN_NAME_REFERENCE,
    TOKEN_VALUE_REFERENCE,
    TOKEN_NUMBER, /* Digits without a leading zero. */
    TOKEN_EQUAL,
    TOKEN_NOT_EQUAL,
    TOKEN_LESS,
    TOKEN_LESS_EQUAL,
    TOKEN_GREATER,
    TOKEN_GREATER_EQUAL,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_OPEN_BRACKET,
    TOKEN_CLOSE_BRACKET,
    TOKEN_DOT,
    TOKEN_COMMA,
    TOKEN_PLUS,
    TOKEN_MINUS,
    TOKEN_AND,
    TOKEN_OR,
    TOKEN_NOT,
    TOKEN_BETWEEN,
    TOKEN_IN,
    TOKEN_SET,
    TOKEN_REMOVE,
    TOKEN_ADD,
    TOKEN_DELETE,
};

struct token {
    enum token_type type;
    uint32_t start; /* Offsets into the text. */
    uint32_t end;
};

struct lexer {
    struct bytes text;
    uint32_t at; /* Where the next token is looked for. */
};

/* `text` is at most UINT32_MAX bytes long and valid UTF-8. */
static inline void lexer_init(struct lexer *lexer, struct bytes text)
{
    *lexer = (struct lexer){ .text = text };
}

/* At the end of the text, TOKEN_END on this and every later call. */
struct token lexer_next(struct lexer *lexer);

static inline struct bytes lexer_token_text(const struct lexer *lexer, struct token token)
{
    return bytes_of(lexer->text.data + token.start, token.end - token.start);
}

/* Words of the developer guide that an expression may use only behind a #name. */
enum { LEXER_RESERVED_COUNT = 573 };
/* Letter case does not matter. */
bool lexer_is_reserved(struct bytes name);

#endif
