/* metric_math_parse.c -- the text of an expression into its tree. */
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "cloudwatch/metric_math_parts.h"

bool metric_math_fail(struct metric_math_error *err, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    for (char *at = err->text; *at != '\0'; at++) { /* A cut may have split a character. */
        if ((unsigned char)*at < 0x20 || (unsigned char)*at > 0x7E)
            *at = '?';
    }
    return false;
}

enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_TEXT, TOKEN_NAME, TOKEN_SIGN };

struct parser {
    struct arena *arena;
    struct bytes text;
    size_t at; /* Behind the token. */
    struct metric_math_error *err;
    unsigned depth;
    size_t node_count;
    bool failed;
    enum token_kind kind;
    struct bytes token; /* Of a text: without quotes and escapes. */
};

static void fail_at(struct parser *parser, const char *what)
{
    if (!parser->failed)
        metric_math_fail(parser->err, "Failed to parse the expression: %s at position %zu", what,
                         parser->at);
    parser->failed = true;
    parser->kind = TOKEN_END;
}

/* --- Tokens --- */

static bool is_name(uint8_t c)
{
    return isalnum(c) || c == '_';
}

static void read_text(struct parser *parser, uint8_t quote)
{
    struct buffer out;
    buffer_init(&out, parser->arena);
    while (parser->at < parser->text.len) {
        uint8_t c = parser->text.data[parser->at++];
        if (c == quote) {
            parser->kind = TOKEN_TEXT;
            parser->token = buffer_bytes(&out);
            return;
        }
        if (c == '\\' && parser->at < parser->text.len && parser->text.data[parser->at] == quote)
            c = parser->text.data[parser->at++];
        buffer_append_byte(&out, c);
    }
    fail_at(parser, "a text has no end");
}

/* Digits, a fraction, an exponent. */
static size_t number_end(struct bytes text, size_t at)
{
    while (at < text.len && (isdigit(text.data[at]) || text.data[at] == '.'))
        at++;
    if (at < text.len && (text.data[at] == 'e' || text.data[at] == 'E')) {
        size_t exponent = at + 1;
        if (exponent < text.len && (text.data[exponent] == '+' || text.data[exponent] == '-'))
            exponent++;
        if (exponent < text.len && isdigit(text.data[exponent])) {
            at = exponent;
            while (at < text.len && isdigit(text.data[at]))
                at++;
        }
    }
    return at;
}

static size_t sign_size(struct bytes text, size_t at)
{
    static const char *const pairs[] = { "==", "!=", "<=", ">=", "&&", "||" };
    for (size_t i = 0; i < COUNT_OF(pairs) && at + 1 < text.len; i++) {
        if (text.data[at] == (uint8_t)pairs[i][0] && text.data[at + 1] == (uint8_t)pairs[i][1])
            return 2;
    }
    return 1;
}

static void next(struct parser *parser)
{
    struct bytes text = parser->text;
    if (parser->failed)
        return;
    while (parser->at < text.len && isspace(text.data[parser->at]))
        parser->at++;
    size_t start = parser->at;
    if (start == text.len) {
        parser->kind = TOKEN_END;
        return;
    }
    uint8_t c = text.data[start];
    if (c == '"' || c == '\'') {
        parser->at++;
        read_text(parser, c);
        return;
    }
    if (isdigit(c) || c == '.') {
        parser->kind = TOKEN_NUMBER;
        parser->at = number_end(text, start);
    } else if (is_name(c)) {
        parser->kind = TOKEN_NAME;
        while (parser->at < text.len && is_name(text.data[parser->at]))
            parser->at++;
    } else {
        parser->kind = TOKEN_SIGN;
        parser->at += sign_size(text, start);
    }
    parser->token = bytes_of(text.data + start, parser->at - start);
}

static bool is_sign(const struct parser *parser, const char *sign)
{
    return parser->kind == TOKEN_SIGN && bytes_equal_text(parser->token, sign);
}

/* --- Operators --- */

static const struct {
    const char *sign;
    enum math_operator operator;
    int precedence;
} operators[] = {
    { "OR", MATH_OR, 1 },
    { "||", MATH_OR, 1 },
    { "AND", MATH_AND, 2 },
    { "&&", MATH_AND, 2 },
    { "==", MATH_EQUAL, 3 },
    { "!=", MATH_NOT_EQUAL, 3 },
    { "<", MATH_LESS, 3 },
    { ">", MATH_GREATER, 3 },
    { "<=", MATH_LESS_OR_EQUAL, 3 },
    { ">=", MATH_GREATER_OR_EQUAL, 3 },
    { "+", MATH_ADD, 4 },
    { "-", MATH_SUBTRACT, 4 },
    { "*", MATH_MULTIPLY, 5 },
    { "/", MATH_DIVIDE, 5 },
    { "^", MATH_POWER, 6 },
};
enum { PRECEDENCE_POWER = 6 };

static int precedence_of(const struct parser *parser, enum math_operator *operator)
{
    if (parser->kind != TOKEN_SIGN && parser->kind != TOKEN_NAME)
        return 0;
    for (size_t i = 0; i < COUNT_OF(operators); i++) {
        if (bytes_equal_text(parser->token, operators[i].sign)) {
            *operator= operators[i].operator;
            return operators[i].precedence;
        }
    }
    return 0;
}

/* --- Nodes --- */

static struct math_node *add_node(struct parser *parser, enum math_node_kind kind)
{
    struct math_node *node = arena_alloc_zeroed(parser->arena, sizeof *node);
    node->kind = kind;
    node->text = BYTES("");
    if (++parser->node_count > METRIC_MATH_NODES_MAX)
        fail_at(parser, "the expression has too many parts");
    return node;
}

static struct math_node *parse_expression(struct parser *parser, int precedence);

static void expect(struct parser *parser, const char *sign)
{
    if (is_sign(parser, sign))
        next(parser);
    else
        fail_at(parser, sign[0] == ')' ? "a ) is missing" : "a ] is missing");
}

static void parse_arguments(struct parser *parser, struct math_node *node, const char *end)
{
    struct math_node **link = &node->first;
    if (is_sign(parser, end)) {
        next(parser);
        return;
    }
    while (!parser->failed) {
        *link = parse_expression(parser, 1);
        link = &(*link)->next;
        node->argument_count++;
        if (!is_sign(parser, ","))
            break;
        next(parser);
    }
    expect(parser, end);
}

static struct math_node *parse_number(struct parser *parser)
{
    struct math_node *node = add_node(parser, MATH_NODE_NUMBER);
    char text[64];
    char *end;
    if (parser->token.len >= sizeof text) {
        fail_at(parser, "a number is too long");
        return node;
    }
    memcpy(text, parser->token.data, parser->token.len);
    text[parser->token.len] = '\0';
    node->number = strtod(text, &end);
    if (*end != '\0' || !isfinite(node->number))
        fail_at(parser, "a number is not valid");
    next(parser);
    return node;
}

/* Words that functions take as arguments. Ids begin with a lower-case letter. */
static bool is_word(struct bytes name)
{
    static const char *const words[] = { "REPEAT", "LINEAR", "ASC", "DESC",
                                         "AVG",    "MIN",    "MAX", "SUM" };
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (bytes_equal_text(name, words[i]))
            return true;
    }
    return false;
}

static struct math_node *parse_name(struct parser *parser)
{
    struct math_node *node = add_node(parser, MATH_NODE_NAME);
    node->text = parser->token;
    next(parser);
    if (is_sign(parser, "(")) {
        node->kind = MATH_NODE_CALL;
        next(parser);
        parse_arguments(parser, node, ")");
    } else if (is_word(node->text)) {
        node->kind = MATH_NODE_TEXT;
    }
    return node;
}

static struct math_node *parse_operand(struct parser *parser)
{
    struct math_node *node;
    if (is_sign(parser, "-") || is_sign(parser, "+")) {
        bool negates = is_sign(parser, "-");
        next(parser);
        struct math_node *operand = parse_expression(parser, PRECEDENCE_POWER);
        if (!negates)
            return operand;
        node = add_node(parser, MATH_NODE_NEGATE);
        node->first = operand;
        return node;
    }
    if (is_sign(parser, "(")) {
        next(parser);
        node = parse_expression(parser, 1);
        expect(parser, ")");
        return node;
    }
    if (is_sign(parser, "[")) {
        next(parser);
        node = add_node(parser, MATH_NODE_ARRAY);
        parse_arguments(parser, node, "]");
        return node;
    }
    if (parser->kind == TOKEN_NUMBER)
        return parse_number(parser);
    if (parser->kind == TOKEN_NAME)
        return parse_name(parser);
    node = add_node(parser, MATH_NODE_TEXT);
    if (parser->kind == TOKEN_TEXT) {
        node->text = parser->token;
        next(parser);
    } else {
        fail_at(parser, "a value is missing");
    }
    return node;
}

/* Operators of at least that precedence. A power binds to the right. */
static struct math_node *parse_expression(struct parser *parser, int precedence)
{
    if (++parser->depth > METRIC_MATH_DEPTH_MAX)
        fail_at(parser, "the expression is nested too deeply");
    struct math_node *left =
        parser->failed ? add_node(parser, MATH_NODE_NUMBER) : parse_operand(parser);
    while (!parser->failed) {
        enum math_operator operator= MATH_NO_OPERATOR;
        int found = precedence_of(parser, &operator);
        if (found == 0 || found < precedence)
            break;
        next(parser);
        struct math_node *node = add_node(parser, MATH_NODE_BINARY);
        node->operator= operator;
        node->first = left;
        left->next = parse_expression(parser, operator== MATH_POWER ? found : found + 1);
        left = node;
    }
    parser->depth--;
    return left;
}

const struct metric_math *metric_math_parse(struct arena *arena, struct bytes text,
                                            struct metric_math_error *err)
{
    struct metric_math *math = arena_alloc(arena, sizeof *math);
    struct parser parser = { .arena = arena, .text = text, .err = err };
    if (text.len > METRIC_MATH_SIZE_MAX) {
        metric_math_fail(err, "The expression is longer than %d characters", METRIC_MATH_SIZE_MAX);
        return NULL;
    }
    next(&parser);
    math->root = parse_expression(&parser, 1);
    if (!parser.failed && parser.kind != TOKEN_END)
        fail_at(&parser, "something unexpected follows");
    return parser.failed ? NULL : math;
}

/* --- Walking: recursion is bounded by METRIC_MATH_DEPTH_MAX, and by nodes to the left --- */

static void visit_ids(const struct math_node *node, void (*visit)(void *context, struct bytes id),
                      void *context)
{
    if (node->kind == MATH_NODE_NAME)
        visit(context, node->text);
    for (const struct math_node *child = node->first; child != NULL; child = child->next)
        visit_ids(child, visit, context);
}

void metric_math_visit_ids(const struct metric_math *math,
                           void (*visit)(void *context, struct bytes id), void *context)
{
    visit_ids(math->root, visit, context);
}

static bool uses_metrics(const struct math_node *node)
{
    bool uses = node->kind == MATH_NODE_CALL && bytes_equal_text(node->text, "METRICS");
    for (const struct math_node *child = node->first; child != NULL && !uses; child = child->next)
        uses = uses_metrics(child);
    return uses;
}

bool metric_math_uses_metrics(const struct metric_math *math)
{
    return uses_metrics(math->root);
}
