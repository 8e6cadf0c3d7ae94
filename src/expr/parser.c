/* parser.c -- see parser.h. The errors, tokens, paths and operands of all expressions. */
#include "expr/parser.h"
#include <assert.h>
#include <stdarg.h>
#include "base/arena.h"
#include "expr/lexer.h"
#include "expr/params.h"
#include "model/error.h"

struct bytes parser_token_text(const struct parser *parser, struct token token)
{
    return lexer_token_text(&parser->lexer, token);
}

/* --- Errors --- */

bool parser_fail(struct parser *parser, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct bytes message = arena_vprintf(parser->arena, format, arguments);
    va_end(arguments);
    return parser_fail_bytes(parser, message);
}

bool parser_fail_bytes(struct parser *parser, struct bytes message)
{
    return error_fault(parser->err, "Invalid %s: %.*s", parser->parameter, BYTES_FMT(message));
}

/* Shows the token between its neighbours, with the white space as it is in the text. */
bool parser_syntax_error(struct parser *parser)
{
    struct bytes text = parser->lexer.text;
    struct lexer ahead = parser->lexer;
    struct token following = lexer_next(&ahead);
    size_t start = parser->previous.type == TOKEN_END ? 0 : parser->previous.start;
    struct bytes token = BYTES("<EOF>");
    if (parser->token.type != TOKEN_END)
        token = parser_token_text(parser, parser->token);
    return parser_fail(parser, "Syntax error; token: \"%.*s\", near: \"%.*s\"", BYTES_FMT(token),
                       BYTES_FMT(bytes_of(text.data + start, following.end - start)));
}

void parser_fault(struct parser *parser, struct token at, const char *format, ...)
{
    if (parser->fault.data != NULL && parser->fault_at <= at.start)
        return;
    va_list arguments;
    va_start(arguments, format);
    parser->fault = arena_vprintf(parser->arena, format, arguments);
    parser->fault_at = at.start;
    va_end(arguments);
}

bool parser_check_faults(struct parser *parser)
{
    if (parser->fault.data == NULL)
        return true;
    return parser_fail_bytes(parser, parser->fault);
}

bool parser_check_operator_count(struct parser *parser)
{
    struct bytes message;
    return operand_rules_check_operator_count(parser->arena, parser->operator_count, &message) ||
           parser_fail_bytes(parser, message);
}

/* --- Tokens and groups --- */

bool parser_init(struct parser *parser, struct arena *arena, struct bytes text,
                 const char *parameter, enum expression_kind kind, struct expr_params *params,
                 struct error *err)
{
    *parser = (struct parser){
        .arena = arena,
        .params = params,
        .err = err,
        .parameter = parameter,
        .kind = kind,
        .previous = { .type = TOKEN_END },
    };
    if (text.len == 0)
        return parser_fail(parser, "The expression can not be empty;");
    /* Observed: of an update the size is not told. */
    if (text.len > PARSER_TEXT_SIZE_MAX && kind == EXPRESSION_UPDATE)
        return parser_fail(parser, "Expression size has exceeded the maximum allowed size;");
    if (text.len > PARSER_TEXT_SIZE_MAX)
        return parser_fail(
            parser, "Expression size has exceeded the maximum allowed size; expression size: %zu",
            text.len);
    lexer_init(&parser->lexer, text);
    parser->token = lexer_next(&parser->lexer);
    return true;
}

void parser_advance(struct parser *parser)
{
    parser->previous = parser->token;
    parser->token = lexer_next(&parser->lexer);
}

bool parser_expect(struct parser *parser, enum token_type type)
{
    if (parser->token.type != type)
        return parser_syntax_error(parser);
    parser_advance(parser);
    return true;
}

static bool fail_redundant(struct parser *parser)
{
    return parser_fail(parser, "The expression has redundant parentheses;");
}

bool parser_decide(struct parser *parser)
{
    parser->undecided = false;
    parser->decided_depth = parser->depth;
    return !parser->redundant || fail_redundant(parser);
}

bool parser_is_decided_outside(const struct parser *parser)
{
    return parser->decided_depth == parser->depth;
}

bool parser_enter(struct parser *parser)
{
    if (parser->depth == PARSER_NESTING_MAX)
        return parser_syntax_error(parser);
    parser->depth++;
    return parser_expect(parser, TOKEN_OPEN);
}

/* Advances over the closing parenthesis. */
static bool leave(struct parser *parser)
{
    if (!parser_expect(parser, TOKEN_CLOSE))
        return false;
    assert(parser->depth > 0);
    parser->depth--;
    if (parser->decided_depth > parser->depth)
        parser->decided_depth = parser->depth;
    return true;
}

bool parser_leave_group(struct parser *parser, struct node *inner)
{
    bool known = !parser->undecided || parser->depth <= parser->decided_depth;
    if (!leave(parser))
        return false;
    if (!inner->grouped) {
        inner->grouped = true;
        return true;
    }
    parser->redundant = true;
    return !known || fail_redundant(parser);
}

/* --- Nodes --- */

struct node *parser_new_node(struct parser *parser, enum node_type type, struct token token)
{
    struct node *node = arena_alloc_zeroed(parser->arena, sizeof *node);
    node->type = type;
    node->token = token;
    return node;
}

void parser_add_child(struct node *parent, struct node *child)
{
    assert(child->sibling == NULL && child != parent);
    if (parent->last_child == NULL)
        parent->first_child = child;
    else
        parent->last_child->sibling = child;
    parent->last_child = child;
    parent->child_count++;
}

struct node *parser_complete(struct parser *parser, struct node *node)
{
    assert(node->next == NULL && node != parser->last);
    if (parser->last == NULL)
        parser->first = node;
    else
        parser->last->next = node;
    parser->last = node;
    return node;
}

/* --- Paths --- */

static void add_step(struct parser *parser, struct node *node, struct path_step step)
{
    /* The block is the arena's last one while a path is read, so growing it copies nothing. */
    node->steps = arena_grow(parser->arena, node->steps, node->step_count * sizeof step,
                             (node->step_count + 1) * sizeof step);
    node->steps[node->step_count++] = step;
}

/* The #name of a reference stays a token until pass 3. */
static void add_name(struct parser *parser, struct node *node, struct token token)
{
    struct bytes name = parser_token_text(parser, token);
    if (token.type == TOKEN_NAME && lexer_is_reserved(name))
        parser_fault(parser, token, "Attribute name is a reserved keyword; reserved keyword: %.*s",
                     BYTES_FMT(name));
    add_step(parser, node, (struct path_step){ .name = name });
}

static void add_index(struct parser *parser, struct node *node, struct token token)
{
    struct bytes digits = parser_token_text(parser, token);
    uint32_t index = 0;
    for (size_t i = 0; i < digits.len; i++) {
        uint32_t digit = (uint32_t)(digits.data[i] - '0');
        if (index > (PARSER_LIST_INDEX_MAX - digit) / 10) {
            parser_fault(parser, token,
                         "List index is not within the allowable range; index: [%.*s]",
                         BYTES_FMT(digits));
            index = 0;
            break;
        }
        index = index * 10 + digit;
    }
    add_step(parser, node, (struct path_step){ .index = index });
}

static bool is_name(struct token token)
{
    return token.type == TOKEN_NAME || token.type == TOKEN_NAME_REFERENCE;
}

static bool add_member(struct parser *parser, struct node *node)
{
    parser_advance(parser);
    if (!is_name(parser->token))
        return parser_syntax_error(parser);
    add_name(parser, node, parser->token);
    parser_advance(parser);
    return true;
}

static bool add_element(struct parser *parser, struct node *node)
{
    parser_advance(parser);
    if (parser->token.type != TOKEN_NUMBER)
        return parser_syntax_error(parser);
    struct token number = parser->token;
    parser_advance(parser);
    if (!parser_expect(parser, TOKEN_CLOSE_BRACKET))
        return false;
    add_index(parser, node, number);
    return true;
}

/* The parser is behind `first`. */
static struct node *path_from(struct parser *parser, struct token first)
{
    struct node *node = parser_new_node(parser, NODE_PATH, first);
    add_name(parser, node, first);
    for (;;) {
        bool ok;
        if (parser->token.type == TOKEN_DOT)
            ok = add_member(parser, node);
        else if (parser->token.type == TOKEN_OPEN_BRACKET)
            ok = add_element(parser, node);
        else
            return parser_complete(parser, node);
        if (!ok)
            return NULL;
    }
}

struct node *parser_path(struct parser *parser)
{
    struct token first = parser->token;
    if (!is_name(first)) {
        parser_syntax_error(parser);
        return NULL;
    }
    parser_advance(parser);
    return path_from(parser, first);
}

/* --- Operands --- */

void parser_use_as_operand(struct parser *parser, const struct node *node)
{
    if (node->type != NODE_FUNCTION || node->function == FUNCTION_COUNT ||
        operand_rules_function(node->function)->is_operand)
        return;
    parser_fault(parser, node->token,
                 "The function is not allowed to be used this way in an expression; function: %s",
                 operand_rules_function(node->function)->name);
}

static void check_function(struct parser *parser, const struct node *node)
{
    if (node->function == FUNCTION_COUNT)
        parser_fault(parser, node->token, "Invalid function name; function: %.*s",
                     BYTES_FMT(parser_token_text(parser, node->token)));
    else if (operand_rules_function(node->function)->kind != parser->kind)
        parser_fault(parser, node->token, "The function is not allowed in %s; function: %s",
                     parser->kind == EXPRESSION_UPDATE ? "an update expression"
                                                       : "a condition expression",
                     operand_rules_function(node->function)->name);
}

/* The parser is behind `name`; the current token opens the parentheses. */
static struct node *call(struct parser *parser, struct token name)
{
    struct node *node = parser_new_node(parser, NODE_FUNCTION, name);
    node->function = operand_rules_find_function(parser_token_text(parser, name));
    check_function(parser, node);
    if (!parser_enter(parser))
        return NULL;
    for (;;) {
        struct node *operand = parser_operand(parser);
        if (operand == NULL)
            return NULL;
        parser_use_as_operand(parser, operand);
        parser_add_child(node, operand);
        if (parser->token.type != TOKEN_COMMA)
            break;
        parser_advance(parser);
    }
    return leave(parser) ? parser_complete(parser, node) : NULL;
}

struct node *parser_path_or_call(struct parser *parser)
{
    struct token first = parser->token;
    parser_advance(parser);
    if (first.type == TOKEN_NAME && parser->token.type == TOKEN_OPEN)
        return call(parser, first);
    return path_from(parser, first);
}

struct node *parser_operand(struct parser *parser)
{
    struct token token = parser->token;
    if (is_name(token))
        return parser_path_or_call(parser);
    if (token.type == TOKEN_VALUE_REFERENCE) {
        parser_advance(parser);
        return parser_complete(parser, parser_new_node(parser, NODE_VALUE, token));
    }
    if (token.type != TOKEN_OPEN) {
        parser_syntax_error(parser);
        return NULL;
    }
    if (!parser_enter(parser))
        return NULL;
    struct node *inner = parser_operand(parser);
    return inner != NULL && parser_leave_group(parser, inner) ? inner : NULL;
}

/* --- Pass 3 --- */

bool parser_resolve_path(struct parser *parser, struct node *node, struct path *out)
{
    struct bytes message;
    *out = (struct path){ .steps = node->steps, .step_count = node->step_count };
    if (!operand_rules_check_path(parser->arena, out, &message))
        return parser_fail_bytes(parser, message);
    for (size_t i = 0; i < node->step_count; i++) {
        struct bytes *name = &node->steps[i].name;
        if (name->data == NULL || name->data[0] != '#')
            continue;
        if (!expr_params_find_name(parser->params, *name, name))
            return parser_fail(parser,
                               "An expression attribute name used in the document path is not "
                               "defined; attribute name: %.*s",
                               BYTES_FMT(*name));
    }
    return true;
}

bool parser_resolve_leaf(struct parser *parser, struct node *node)
{
    if (node->type == NODE_PATH) {
        node->operand.type = OPERAND_PATH;
        if (!parser_resolve_path(parser, node, &node->operand.path))
            return false;
        if (node->step_count > 1)
            expr_params_add_nested(parser->params, parser->arena, node->steps[0].name);
        return true;
    }
    assert(node->type == NODE_VALUE);
    node->operand.type = OPERAND_VALUE;
    struct bytes key = parser_token_text(parser, node->token);
    if (!expr_params_find_value(parser->params, key, &node->operand.value))
        return parser_fail(parser,
                           "An expression attribute value used in expression is not defined; "
                           "attribute value: %.*s",
                           BYTES_FMT(key));
    return true;
}

bool parser_check_operand_count(struct parser *parser, const struct node *node)
{
    struct bytes message;
    return operand_rules_check_count(parser->arena, node->function, node->child_count, &message) ||
           parser_fail_bytes(parser, message);
}

/* --- Lists of paths --- */

enum { CAPACITY_MIN = 8 };

void parser_paths_init(struct parser_paths *list, struct arena *arena)
{
    *list = (struct parser_paths){ .arena = arena };
}

void parser_paths_add(struct parser_paths *list, struct node *node)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? CAPACITY_MIN : list->capacity * 2;
        list->nodes = arena_grow(list->arena, list->nodes, list->capacity * sizeof *list->nodes,
                                 capacity * sizeof *list->nodes);
        list->capacity = capacity;
    }
    list->nodes[list->count++] = node;
}

/* Reports the same pair as the service: the last path that is not disjoint from a later one, and
 * the first of those. Every pair is compared, but only for a request that is refused. */
static bool report_pair(struct parser *parser, const struct path *paths, size_t count)
{
    struct bytes message = BYTES("");
    for (size_t i = count; i-- > 0;) {
        for (size_t later = i + 1; later < count; later++) {
            if (!operand_rules_check_disjoint(parser->arena, &paths[i], &paths[later], &message))
                return parser_fail_bytes(parser, message);
        }
    }
    assert(false); /* There is such a pair. */
    return false;
}

bool parser_paths_resolve(struct parser *parser, struct parser_paths *list)
{
    size_t first = list->count; /* The paths from here on are resolved. */
    bool ok = true;
    struct bytes message;
    list->paths = arena_alloc(list->arena, list->count * sizeof *list->paths);
    while (first > 0 && ok) {
        ok = parser_resolve_path(parser, list->nodes[first - 1], &list->paths[first - 1]);
        first -= ok;
    }
    /* Paths behind one that cannot be resolved are checked before it. */
    const struct path *resolved = list->paths + first;
    size_t count = list->count - first;
    if (!operand_rules_check_all_disjoint(list->arena, resolved, count, &message))
        return report_pair(parser, resolved, count);
    return ok;
}
