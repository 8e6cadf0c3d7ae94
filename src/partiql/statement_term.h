/* statement_term.h -- operands, calls and parentheses within a statement's expressions. Private to
 * the parser.
 *
 * The grammar does not distinguish operands from conditions, because PartiQL does not; the caller
 * refuses the one where it needs the other.
 */
#ifndef STATOR_PARTIQL_STATEMENT_TERM_H
#define STATOR_PARTIQL_STATEMENT_TERM_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "expr/ast.h"
#include "partiql/statement_lexer.h"

struct statement_parser;

enum term_type { TERM_OPERAND, TERM_CONDITION, TERM_MISSING };

struct statement_term {
    enum term_type type;
    struct operand operand;            /* TERM_OPERAND */
    const struct condition *condition; /* TERM_CONDITION */
    bool is_plain;                     /* A path, a parameter or a literal. */
    bool is_call;
    struct statement_token token; /* The operator, the function's name, or the first token. */
};

/* Terms joined by + and -, in SET only. */
MUST_CHECK bool statement_term_parse(struct statement_parser *parser, struct statement_term *out);
/* "(" follows a name or keyword. */
bool statement_term_call_begins(const struct statement_parser *parser);
/* A token's text in lower case, as functions are named and operators shown. */
struct bytes statement_term_lower_case(struct statement_parser *parser,
                                       struct statement_token name);

/* Refuses a term that is no operand. */
MUST_CHECK bool statement_term_check_operand(struct statement_parser *parser,
                                             const struct statement_term *term);
/* Makes a term of the condition after checking its operands. */
MUST_CHECK bool statement_term_set_condition(struct statement_parser *parser, struct condition made,
                                             struct statement_token token,
                                             struct statement_term *out);
/* Refuses an operator. Returns false. */
bool statement_term_fail_operator(struct statement_parser *parser, struct statement_token token);
/* Counts one more operator, and refuses too many. */
MUST_CHECK bool statement_term_count_operator(struct statement_parser *parser);

struct statement_operands {
    struct operand *items;
    size_t count;
    size_t capacity;
};
void statement_term_add_operand(struct statement_parser *parser,
                                struct statement_operands *operands, const struct operand *operand);
/* Operands separated by commas, up to and including the closing token. There may be none. */
MUST_CHECK bool statement_term_operands(struct statement_parser *parser,
                                        enum statement_token_type close, const char *close_sign,
                                        struct statement_operands *out);
/* Copies an operand to the arena, so that others can point to it. */
const struct operand *statement_term_keep(struct statement_parser *parser,
                                          const struct operand *operand);

#endif
