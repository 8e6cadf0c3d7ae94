/* statement_term.c -- see statement_term.h.
 *
 *   sum  = term *( ( "+" / "-" ) term )
 *   term = path / parameter / literal / call / "(" expression ")"
 */
#include "partiql/statement_term.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "expr/operand_rules.h"
#include "model/value.h"
#include "partiql/statement_parser.h"

static const char *kind_name(const struct statement_parser *parser)
{
    return parser->kind == EXPRESSION_UPDATE ? "Update" : "Condition";
}

bool statement_term_fail_operator(struct statement_parser *parser, struct statement_token token)
{
    return statement_parser_fail(parser, "Unsupported operator in %s Expression. Operator: %.*s",
                                 kind_name(parser),
                                 BYTES_FMT(statement_term_lower_case(parser, token)));
}

bool statement_term_count_operator(struct statement_parser *parser)
{
    struct bytes message;
    return operand_rules_check_operator_count(parser->arena, ++parser->operator_count, &message) ||
           statement_parser_fail_bytes(parser, message);
}

/* --- Terms used as the one or the other --- */

bool statement_term_check_operand(struct statement_parser *parser,
                                  const struct statement_term *term)
{
    if (term->type == TERM_OPERAND)
        return true;
    if (term->type == TERM_MISSING)
        return statement_parser_fail(parser, "MISSING must be compared using IS operator");
    if (term->is_call)
        return statement_parser_fail(parser,
                                     "The function is not allowed to be used this way in an "
                                     "expression; function: %.*s",
                                     BYTES_FMT(statement_parser_text(parser, term->token)));
    return statement_term_fail_operator(parser, term->token);
}

/* A condition of `operands`, checked, becomes the term. */
bool statement_term_set_condition(struct statement_parser *parser, struct condition made,
                                  struct statement_token token, struct statement_term *out)
{
    struct bytes message;
    struct condition *condition = arena_alloc(parser->arena, sizeof *condition);
    *condition = made;
    *out =
        (struct statement_term){ .type = TERM_CONDITION, .condition = condition, .token = token };
    return operand_rules_check_condition(parser->arena, condition, &message) ||
           statement_parser_fail_bytes(parser, message);
}

/* --- Lists of operands --- */

enum { OPERANDS_CAPACITY_MIN = 4 };

void statement_term_add_operand(struct statement_parser *parser,
                                struct statement_operands *operands, const struct operand *operand)
{
    if (operands->count == operands->capacity) {
        size_t capacity = operands->capacity == 0 ? OPERANDS_CAPACITY_MIN : operands->capacity * 2;
        operands->items =
            arena_grow(parser->arena, operands->items, operands->capacity * sizeof *operands->items,
                       capacity * sizeof *operands->items);
        operands->capacity = capacity;
    }
    operands->items[operands->count++] = *operand;
}

/* Terms separated by commas, up to and including the closing token. There may be none. */
bool statement_term_operands(struct statement_parser *parser, enum statement_token_type close,
                             const char *close_sign, struct statement_operands *out)
{
    if (statement_parser_accept(parser, close))
        return true;
    do {
        struct statement_term term;
        if (!statement_term_parse(parser, &term) || !statement_term_check_operand(parser, &term))
            return false;
        statement_term_add_operand(parser, out, &term.operand);
    } while (statement_parser_accept(parser, STATEMENT_COMMA));
    return statement_parser_expect(parser, close, close_sign);
}

/* --- Calls --- */

struct bytes statement_term_lower_case(struct statement_parser *parser, struct statement_token name)
{
    struct bytes text = statement_parser_text(parser, name);
    uint8_t *out = arena_alloc(parser->arena, text.len);
    for (size_t i = 0; i < text.len; i++) {
        bool upper = text.data[i] >= 'A' && text.data[i] <= 'Z';
        out[i] = upper ? (uint8_t)(text.data[i] + ('a' - 'A')) : text.data[i];
    }
    return bytes_of(out, text.len);
}

static bool find_function(struct statement_parser *parser, struct statement_token name,
                          enum function_id *out)
{
    *out = operand_rules_find_function(statement_term_lower_case(parser, name));
    if (*out == FUNCTION_COUNT)
        return statement_parser_fail_at(parser, name, "Unrecognized function: %.*s",
                                        BYTES_FMT(statement_term_lower_case(parser, name)));
    if (operand_rules_function(*out)->kind != parser->kind)
        return statement_parser_fail(parser, "The function is not allowed in %s; function: %s",
                                     parser->kind == EXPRESSION_UPDATE ? "an update expression"
                                                                       : "a condition expression",
                                     operand_rules_function(*out)->name);
    return true;
}

static bool condition_call(struct statement_parser *parser, enum function_id function,
                           const struct statement_operands *operands, struct statement_token name,
                           struct statement_term *out)
{
    struct condition condition = { .type = operand_rules_condition_type(function),
                                   .operands = operands->items,
                                   .operand_count = operands->count };
    bool ok = statement_term_set_condition(parser, condition, name, out);
    out->is_call = true;
    return ok;
}

static bool operand_call(struct statement_parser *parser, enum function_id function,
                         const struct statement_operands *operands, struct statement_term *out)
{
    struct bytes message;
    const struct operand *items = operands->items;
    bool ok;
    if (function == FUNCTION_SIZE)
        ok = operand_rules_size(parser->arena, &items[0], &out->operand, &message);
    else
        ok = operand_rules_combine(parser->arena,
                                   function == FUNCTION_LIST_APPEND ? OPERAND_LIST_APPEND
                                                                    : OPERAND_IF_NOT_EXISTS,
                                   &items[0], &items[1], &out->operand, &message);
    return ok || statement_parser_fail_bytes(parser, message);
}

/* The current token is the name, and "(" follows. */
static bool call(struct statement_parser *parser, struct statement_term *out)
{
    struct statement_token name = parser->token;
    enum function_id function;
    struct statement_operands operands = { .count = 0 };
    struct bytes message;
    *out = (struct statement_term){ .type = TERM_OPERAND, .is_call = true, .token = name };
    if (name.keyword != KEYWORD_NONE && name.keyword != KEYWORD_SIZE &&
        name.keyword != KEYWORD_EXISTS)
        return statement_parser_fail_at(parser, name, "Unsupported token in expression: %.*s",
                                        BYTES_FMT(statement_parser_text(parser, name)));
    if (!find_function(parser, name, &function) || !statement_parser_enter(parser))
        return false;
    statement_parser_advance(parser);
    statement_parser_advance(parser);
    if (!statement_term_operands(parser, STATEMENT_CLOSE, ")", &operands))
        return false;
    statement_parser_leave(parser);
    if (!operand_rules_check_count(parser->arena, function, operands.count, &message))
        return statement_parser_fail_bytes(parser, message);
    if (operand_rules_function(function)->kind == EXPRESSION_CONDITION && function != FUNCTION_SIZE)
        return condition_call(parser, function, &operands, name, out);
    return (parser->kind == EXPRESSION_CONDITION || statement_term_count_operator(parser)) &&
           operand_call(parser, function, &operands, out);
}

bool statement_term_call_begins(const struct statement_parser *parser)
{
    struct statement_lexer ahead = parser->lexer;
    return (parser->token.type == STATEMENT_NAME || parser->token.type == STATEMENT_KEYWORD) &&
           parser->token.keyword != KEYWORD_NOT &&
           statement_lexer_next(&ahead).type == STATEMENT_OPEN;
}

/* --- Terms --- */

static bool group(struct statement_parser *parser, struct statement_term *out)
{
    statement_parser_advance(parser);
    if (!statement_parser_enter(parser) || !statement_expression_parse(parser, out) ||
        !statement_parser_expect(parser, STATEMENT_CLOSE, ")"))
        return false;
    statement_parser_leave(parser);
    return true;
}

static bool plain_term(struct statement_parser *parser, struct statement_term *out)
{
    *out =
        (struct statement_term){ .type = TERM_OPERAND, .is_plain = true, .token = parser->token };
    if (statement_parser_is_name(parser)) {
        out->operand.type = OPERAND_PATH;
        return statement_parser_path(parser, &out->operand.path);
    }
    out->operand.type = OPERAND_VALUE;
    if (parser->token.type == STATEMENT_PARAMETER)
        return statement_parser_parameter(parser, &out->operand.value);
    return statement_literal_parse(parser, &out->operand.value);
}

/* A sign here must belong to a number. */
static bool signed_term(struct statement_parser *parser, struct statement_term *out)
{
    struct statement_lexer ahead = parser->lexer;
    enum statement_token_type next = statement_lexer_next(&ahead).type;
    if (next == STATEMENT_NUMBER || next == STATEMENT_OPEN)
        return plain_term(parser, out);
    return statement_parser_fail(
        parser,
        "Incorrect number of operands for operator or function; operator or function: %.*s, number "
        "of operands: 1",
        BYTES_FMT(statement_parser_text(parser, parser->token)));
}

static bool term(struct statement_parser *parser, struct statement_term *out)
{
    if (statement_term_call_begins(parser))
        return call(parser, out);
    if (parser->token.type == STATEMENT_OPEN)
        return group(parser, out);
    if (parser->token.type == STATEMENT_PLUS || parser->token.type == STATEMENT_MINUS)
        return signed_term(parser, out);
    if (parser->token.keyword == KEYWORD_MISSING) {
        *out = (struct statement_term){ .type = TERM_MISSING, .token = parser->token };
        statement_parser_advance(parser);
        return true;
    }
    if (statement_parser_is_name(parser) || parser->token.type == STATEMENT_PARAMETER ||
        statement_literal_begins(parser))
        return plain_term(parser, out);
    return statement_parser_unexpected(parser);
}

/* Operands that are pointed to must not move. */
const struct operand *statement_term_keep(struct statement_parser *parser,
                                          const struct operand *operand)
{
    struct operand *kept = arena_alloc(parser->arena, sizeof *kept);
    *kept = *operand;
    return kept;
}

static bool is_arithmetic(enum statement_token_type type)
{
    return type == STATEMENT_PLUS || type == STATEMENT_MINUS || type == STATEMENT_STAR ||
           type == STATEMENT_OPERATOR;
}

bool statement_term_parse(struct statement_parser *parser, struct statement_term *out)
{
    if (!term(parser, out))
        return false;
    while (is_arithmetic(parser->token.type)) {
        struct statement_token token = parser->token;
        struct statement_term right;
        struct bytes message;
        if (parser->kind == EXPRESSION_CONDITION ||
            (token.type != STATEMENT_PLUS && token.type != STATEMENT_MINUS))
            return statement_term_fail_operator(parser, token);
        statement_parser_advance(parser);
        if (!term(parser, &right) || !statement_term_check_operand(parser, out) ||
            !statement_term_check_operand(parser, &right) || !statement_term_count_operator(parser))
            return false;
        struct operand left = out->operand;
        *out = (struct statement_term){ .type = TERM_OPERAND, .token = token };
        if (!operand_rules_combine(
                parser->arena, token.type == STATEMENT_PLUS ? OPERAND_PLUS : OPERAND_MINUS,
                statement_term_keep(parser, &left), statement_term_keep(parser, &right.operand),
                &out->operand, &message))
            return statement_parser_fail_bytes(parser, message);
    }
    return true;
}
