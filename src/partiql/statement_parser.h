/* statement_parser.h -- what the parts of the statement parser share. Private to them.
 *
 * One pass over the text, by recursive descent: the first fault met is the one reported. Recursion
 * follows parentheses, calls and containers, and is bounded by STATEMENT_NESTING_MAX.
 */
#ifndef STATOR_PARTIQL_STATEMENT_PARSER_H
#define STATOR_PARTIQL_STATEMENT_PARSER_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "expr/ast.h"
#include "expr/operand_rules.h"
#include "partiql/statement_lexer.h"

struct arena;
struct error;
struct expr_params;
struct item;
struct statement_parameters;
struct statement_term;

struct statement_parser {
    struct arena *arena;
    struct error *err;
    struct statement_lexer lexer;
    struct statement_token token; /* The current one. */
    const struct statement_parameters *parameters;
    size_t parameters_used;
    struct expr_params *params; /* Where paths of more than one step are noted. */
    enum expression_kind kind;  /* Of the expression being read: WHERE, or the values of SET. */
    unsigned depth;
    size_t operator_count;
};

/* --- Errors. All return false, for `return statement_parser_fail(...)`. --- */

bool statement_parser_fail(struct statement_parser *parser, const char *format, ...)
    PRINTF_LIKE(2, 3);
bool statement_parser_fail_bytes(struct statement_parser *parser, struct bytes message);
/* The same with the token's position appended. */
bool statement_parser_fail_at(struct statement_parser *parser, struct statement_token token,
                              const char *format, ...) PRINTF_LIKE(3, 4);
/* "Statement wasn't well formed". */
bool statement_parser_malformed(struct statement_parser *parser, const char *reason);
/* The same where the current token begins no term. */
bool statement_parser_unexpected(struct statement_parser *parser);

/* --- Tokens --- */

void statement_parser_advance(struct statement_parser *parser);
struct bytes statement_parser_text(const struct statement_parser *parser,
                                   struct statement_token token);
/* Advances over a token or keyword; false, and nothing passed, if it is another one. */
bool statement_parser_accept(struct statement_parser *parser, enum statement_token_type type);
bool statement_parser_accept_keyword(struct statement_parser *parser,
                                     enum statement_keyword keyword);
/* The same, but any other token is an error. */
MUST_CHECK bool statement_parser_expect(struct statement_parser *parser,
                                        enum statement_token_type type, const char *sign);
MUST_CHECK bool statement_parser_expect_keyword(struct statement_parser *parser,
                                                enum statement_keyword keyword, const char *word);
/* Enters and leaves a level of nesting. */
MUST_CHECK bool statement_parser_enter(struct statement_parser *parser);
void statement_parser_leave(struct statement_parser *parser);

/* --- Parts --- */

/* A name, perhaps quoted. */
bool statement_parser_is_name(const struct statement_parser *parser);
MUST_CHECK bool statement_parser_name(struct statement_parser *parser, struct bytes *out);
/* A document path; the current token is its first name. Its bounds are checked, and it is noted
 * if it has more than one step. */
MUST_CHECK bool statement_parser_path(struct statement_parser *parser, struct path *out);
/* The value of the parameter at the current token. */
MUST_CHECK bool statement_parser_parameter(struct statement_parser *parser, struct value *out);

/* Does the current token begin a literal? */
bool statement_literal_begins(const struct statement_parser *parser);
/* A literal: no parameters and no names inside. */
MUST_CHECK bool statement_literal_parse(struct statement_parser *parser, struct value *out);
/* The value of INSERT: a map of literals and parameters. */
MUST_CHECK bool statement_literal_parse_item(struct statement_parser *parser, struct item *out);

/* An operand or a condition. Recursion to here passes statement_parser_enter. */
MUST_CHECK bool statement_expression_parse(struct statement_parser *parser,
                                           struct statement_term *out);
/* WHERE's condition. */
MUST_CHECK bool statement_expression_condition(struct statement_parser *parser,
                                               const struct condition **out);
/* The value that SET gives to `target`, as an action of an update. */
MUST_CHECK bool statement_expression_assignment(struct statement_parser *parser,
                                                const struct path *target,
                                                struct update_action *out);

#endif
