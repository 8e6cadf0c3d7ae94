/* parser.h -- what the parsers of all expressions share. Private to them.
 *
 * The service looks at an expression in three passes, and the order of its errors shows it:
 *
 * 1. Syntax: the first token that fits nowhere. Redundant parentheses are reported as soon as
 *    they close, unless the grammar still has to find out what they enclose (parser_decide).
 * 2. Words, in the order of the text: reserved words, list indexes out of range, functions that do
 *    not exist or stand in the wrong place.
 * 3. Meaning, operands before operators: #names, :values, types and numbers of operands.
 *
 * One run over the text does 1 and 2: a fault of 2 is kept (parser_fault) until the syntax is known
 * to be correct. Nodes are listed in the order they were completed, operands first, so that 3 is a
 * loop over that list. Recursion follows parentheses and function calls only and is bounded by
 * PARSER_NESTING_MAX; the text's size bounds everything else.
 */
#ifndef STATOR_EXPR_PARSER_H
#define STATOR_EXPR_PARSER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "expr/ast.h"
#include "expr/operand_rules.h"
#include "expr/lexer.h"

struct arena;
struct error;
struct expr_params;

enum {
    PARSER_TEXT_SIZE_MAX = 4096,
    PARSER_LIST_INDEX_MAX = INT32_MAX,
    /* Parentheses and calls open at once. Each pair of parentheses that is not redundant needs an
     * operator of its own, and a call inside another counts as one, so deeper nesting breaks
     * another rule anyway. */
    PARSER_NESTING_MAX = OPERAND_RULES_OPERATORS_MAX + 20,
};

enum node_type {
    /* Operands. */
    NODE_PATH,
    NODE_VALUE,
    NODE_SUM, /* + or -, by `minus`. */
    /* An operand or a condition, depending on the function and its context. */
    NODE_FUNCTION,
    /* Conditions. */
    NODE_COMPARE,
    NODE_BETWEEN,
    NODE_IN,
    NODE_AND,
    NODE_OR,
    NODE_NOT,
};

struct node {
    enum node_type type;
    enum comparator comparator;
    enum function_id function; /* FUNCTION_COUNT: there is none of that name. */
    bool minus;
    bool grouped;       /* Is in parentheses of its own. */
    struct token token; /* Of the operator, function or reference. */
    struct path_step *steps;
    size_t step_count;
    struct node *first_child;
    struct node *last_child;
    size_t child_count;
    struct node *sibling;
    struct node *next; /* In the order of completion. */
    /* Set by pass 3. */
    struct operand operand;
    struct condition condition;
};

struct parser {
    struct arena *arena;
    struct expr_params *params;
    struct error *err;
    const char *parameter; /* "ConditionExpression", ... */
    enum expression_kind kind;
    struct lexer lexer;
    struct token token;    /* The current one. */
    struct token previous; /* TOKEN_END: there was none. */
    struct node *first;    /* In the order of completion. */
    struct node *last;
    unsigned depth;
    unsigned operator_count;
    /* Whether parentheses enclose a condition or an operand is known only after a later token. */
    bool undecided;         /* The current position is in such parentheses. */
    unsigned decided_depth; /* For so many of the open parentheses it is known. */
    bool redundant;         /* Some of the undecided ones are redundant. */
    struct bytes fault;     /* Pass 2: the first in the text; data NULL: none. */
    uint32_t fault_at;
};

/* Checks the text's size and reads the first token. */
MUST_CHECK bool parser_init(struct parser *parser, struct arena *arena, struct bytes text,
                            const char *parameter, enum expression_kind kind,
                            struct expr_params *params, struct error *err);

/* --- Errors. Those that return bool return false, for `return parser_fail(...)`. --- */

bool parser_fail(struct parser *parser, const char *format, ...) PRINTF_LIKE(2, 3);
bool parser_fail_bytes(struct parser *parser, struct bytes message);
/* Reports the current token as a syntax error. */
bool parser_syntax_error(struct parser *parser);
/* Notes a fault of pass 2 at the token `at`, unless there is an earlier one in the text. */
void parser_fault(struct parser *parser, struct token at, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* At the end of the text: reports the fault of pass 2, if any. */
MUST_CHECK bool parser_check_faults(struct parser *parser);
/* After pass 3. */
MUST_CHECK bool parser_check_operator_count(struct parser *parser);

/* --- Pass 1 and 2 --- */

void parser_advance(struct parser *parser);
/* Advances over a token of this type; false with a syntax error if it is another. */
MUST_CHECK bool parser_expect(struct parser *parser, enum token_type type);
/* It is now known what all open parentheses enclose: reports redundant ones found so far. */
MUST_CHECK bool parser_decide(struct parser *parser);
/* True if all open parentheses are decided, though perhaps not the current position. */
bool parser_is_decided_outside(const struct parser *parser);
/* Enters parentheses or a call; advances over the current token, which opens them. */
MUST_CHECK bool parser_enter(struct parser *parser);
/* Leaves parentheses around `inner` at the current token, which must be the closing one. */
MUST_CHECK bool parser_leave_group(struct parser *parser, struct node *inner);

struct node *parser_new_node(struct parser *parser, enum node_type type, struct token token);
void parser_add_child(struct node *parent, struct node *child);
/* Appends the node to the list, behind its operands. Returns it. */
struct node *parser_complete(struct parser *parser, struct node *node);

/* A document path; the current token is its first name. NULL with a syntax error. */
MUST_CHECK struct node *parser_path(struct parser *parser);
/* A path or a call; the current token is a name. */
MUST_CHECK struct node *parser_path_or_call(struct parser *parser);
/* A path, value or call, perhaps in parentheses. */
MUST_CHECK struct node *parser_operand(struct parser *parser);
/* The node is used as a value: notes a fault if it is a function without a value. */
void parser_use_as_operand(struct parser *parser, const struct node *node);

/* --- Pass 3 --- */

struct bytes parser_token_text(const struct parser *parser, struct token token);
/* Resolves the #names of a path and checks its depth. */
MUST_CHECK bool parser_resolve_path(struct parser *parser, struct node *node, struct path *out);
/* NODE_PATH and NODE_VALUE: fills `operand`. */
MUST_CHECK bool parser_resolve_leaf(struct parser *parser, struct node *node);
/* Checks the number of a function's operands. */
MUST_CHECK bool parser_check_operand_count(struct parser *parser, const struct node *node);

/* --- The paths that a projection shows or an update changes --- */

struct parser_paths {
    struct arena *arena;
    struct node **nodes; /* In the order of the text. */
    size_t count;
    size_t capacity;
    struct path *paths; /* Set by parser_paths_resolve. */
};

void parser_paths_init(struct parser_paths *list, struct arena *arena);
void parser_paths_add(struct parser_paths *list, struct node *node);
/* Pass 3: resolves the #names and refuses paths that overlap or conflict, the last path first. */
MUST_CHECK bool parser_paths_resolve(struct parser *parser, struct parser_paths *list);

#endif
