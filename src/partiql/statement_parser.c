/* statement_parser.c -- see statement_parser.h. Errors, tokens, names, paths and parameters. */
#include "partiql/statement_parser.h"
#include <assert.h>
#include <stdarg.h>
#include "base/arena.h"
#include "expr/operand_rules.h"
#include "expr/params.h"
#include "model/error.h"
#include "partiql/statement.h"

enum { LIST_INDEX_MAX = INT32_MAX };

/* --- Errors --- */

bool statement_parser_fail_bytes(struct statement_parser *parser, struct bytes message)
{
    return error_set_bytes(parser->err, ERROR_VALIDATION, message);
}

bool statement_parser_fail(struct statement_parser *parser, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct bytes message = arena_vprintf(parser->arena, format, arguments);
    va_end(arguments);
    return statement_parser_fail_bytes(parser, message);
}

bool statement_parser_fail_at(struct statement_parser *parser, struct statement_token token,
                              const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct bytes message = arena_vprintf(parser->arena, format, arguments);
    va_end(arguments);
    struct bytes place = statement_lexer_place(&parser->lexer, parser->arena, token);
    return statement_parser_fail(parser, "%.*s at %.*s", BYTES_FMT(message), BYTES_FMT(place));
}

bool statement_parser_malformed(struct statement_parser *parser, const char *reason)
{
    return statement_parser_fail(parser, STATEMENT_MALFORMED "%s", reason);
}

bool statement_parser_unexpected(struct statement_parser *parser)
{
    return statement_parser_malformed(
        parser, parser->token.type == STATEMENT_KEYWORD ? "Unexpected keyword" : "Unexpected term");
}

/* --- Tokens --- */

void statement_parser_advance(struct statement_parser *parser)
{
    parser->token = statement_lexer_next(&parser->lexer);
}

struct bytes statement_parser_text(const struct statement_parser *parser,
                                   struct statement_token token)
{
    return statement_lexer_text(&parser->lexer, token);
}

bool statement_parser_accept(struct statement_parser *parser, enum statement_token_type type)
{
    if (parser->token.type != type)
        return false;
    statement_parser_advance(parser);
    return true;
}

bool statement_parser_accept_keyword(struct statement_parser *parser,
                                     enum statement_keyword keyword)
{
    if (parser->token.keyword != keyword)
        return false;
    statement_parser_advance(parser);
    return true;
}

static bool fail_expected(struct statement_parser *parser, const char *what)
{
    return statement_parser_fail(parser, STATEMENT_MALFORMED "Expected %s", what);
}

bool statement_parser_expect(struct statement_parser *parser, enum statement_token_type type,
                             const char *sign)
{
    return statement_parser_accept(parser, type) || fail_expected(parser, sign);
}

bool statement_parser_expect_keyword(struct statement_parser *parser,
                                     enum statement_keyword keyword, const char *word)
{
    return statement_parser_accept_keyword(parser, keyword) || fail_expected(parser, word);
}

bool statement_parser_enter(struct statement_parser *parser)
{
    if (parser->depth == STATEMENT_NESTING_MAX)
        return statement_parser_fail(parser, "Nesting Levels have exceeded supported limits");
    parser->depth++;
    return true;
}

void statement_parser_leave(struct statement_parser *parser)
{
    assert(parser->depth > 0);
    parser->depth--;
}

/* --- Names and paths --- */

bool statement_parser_is_name(const struct statement_parser *parser)
{
    return parser->token.type == STATEMENT_NAME || parser->token.type == STATEMENT_QUOTED;
}

static bool check_name(struct statement_parser *parser, struct bytes name)
{
    return name.len > 0 ||
           statement_parser_fail(parser, "Path component cannot be an empty string");
}

bool statement_parser_name(struct statement_parser *parser, struct bytes *out)
{
    if (!statement_parser_is_name(parser))
        return statement_parser_unexpected(parser);
    if (parser->token.type == STATEMENT_NAME)
        *out = statement_parser_text(parser, parser->token);
    else
        *out = statement_lexer_content(&parser->lexer, parser->arena, parser->token);
    statement_parser_advance(parser);
    return check_name(parser, *out);
}

struct steps {
    struct path_step *items;
    size_t count;
};

/* The block is the arena's last one while a path is read, so growing it copies nothing. */
static void add_step(struct statement_parser *parser, struct steps *steps, struct path_step step)
{
    steps->items = arena_grow(parser->arena, steps->items, steps->count * sizeof step,
                              (steps->count + 1) * sizeof step);
    steps->items[steps->count++] = step;
}

static bool fail_index(struct statement_parser *parser, struct statement_token token, bool minus)
{
    return statement_parser_fail_at(
        parser, token, "List index is not within the allowable range; index: [%s%.*s]",
        minus ? "-" : "", BYTES_FMT(statement_parser_text(parser, token)));
}

static bool add_index(struct statement_parser *parser, struct steps *steps, bool minus)
{
    struct statement_token token = parser->token;
    struct bytes digits = statement_parser_text(parser, token);
    uint32_t index = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '9')
            return statement_parser_fail_at(parser, token, "Unexpected path component");
        uint32_t digit = (uint32_t)(digits.data[i] - '0');
        if (index > (LIST_INDEX_MAX - digit) / 10)
            return fail_index(parser, token, minus);
        index = index * 10 + digit;
    }
    if (minus)
        return fail_index(parser, token, minus);
    statement_parser_advance(parser);
    add_step(parser, steps, (struct path_step){ .index = index });
    return true;
}

/* Behind "[": a number, or a name as a string. */
static bool add_element(struct statement_parser *parser, struct steps *steps)
{
    bool minus = statement_parser_accept(parser, STATEMENT_MINUS);
    struct statement_token token = parser->token;
    if (token.type == STATEMENT_NUMBER) {
        if (!add_index(parser, steps, minus))
            return false;
    } else if (token.type == STATEMENT_STRING && !minus) {
        struct bytes name = statement_lexer_content(&parser->lexer, parser->arena, token);
        statement_parser_advance(parser);
        if (!check_name(parser, name))
            return false;
        add_step(parser, steps, (struct path_step){ .name = name });
    } else if (token.type == STATEMENT_STAR) {
        return statement_parser_fail_at(parser, token,
                                        "Wildcard path component like a[*].b are not supported");
    } else {
        return statement_parser_fail_at(parser, token, "Unexpected path component");
    }
    return statement_parser_expect(parser, STATEMENT_CLOSE_BRACKET, "]");
}

static bool add_member(struct statement_parser *parser, struct steps *steps)
{
    struct bytes name;
    if (parser->token.type == STATEMENT_STAR)
        return statement_parser_fail(parser,
                                     "Changing item's hierarchy while reading isn't supported");
    if (parser->token.type == STATEMENT_KEYWORD)
        return statement_parser_malformed(parser, "Invalid path dot component");
    if (!statement_parser_name(parser, &name))
        return false;
    add_step(parser, steps, (struct path_step){ .name = name });
    return true;
}

bool statement_parser_path(struct statement_parser *parser, struct path *out)
{
    struct bytes name, message;
    struct steps steps = { .count = 0 };
    if (!statement_parser_name(parser, &name))
        return false;
    add_step(parser, &steps, (struct path_step){ .name = name });
    for (;;) {
        bool ok;
        if (statement_parser_accept(parser, STATEMENT_DOT))
            ok = add_member(parser, &steps);
        else if (statement_parser_accept(parser, STATEMENT_OPEN_BRACKET))
            ok = add_element(parser, &steps);
        else
            break;
        if (!ok)
            return false;
    }
    *out = (struct path){ .steps = steps.items, .step_count = steps.count };
    if (!operand_rules_check_path(parser->arena, out, &message))
        return statement_parser_fail_bytes(parser, message);
    if (out->step_count > 1)
        expr_params_add_nested(parser->params, parser->arena, name);
    return true;
}

bool statement_parser_parameter(struct statement_parser *parser, struct value *out)
{
    assert(parser->token.type == STATEMENT_PARAMETER);
    statement_parser_advance(parser);
    if (parser->parameters_used == parser->parameters->count)
        return statement_parser_fail(parser,
                                     "Number of parameters in request and statement don't match.");
    *out = parser->parameters->values[parser->parameters_used++];
    return true;
}
