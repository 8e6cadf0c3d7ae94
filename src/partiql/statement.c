/* statement.c -- see statement.h.
 *
 *   statement = ( select / EXISTS "(" select ")" / insert / update / from / delete ) [ ";" ]
 *   select    = SELECT ( "*" / path *( "," path ) ) FROM table [ "." index ]
 *               [ WHERE condition ] [ ORDER BY name [ ASC / DESC ] *( "," ... ) ]
 *   insert    = INSERT INTO table VALUE map
 *   update    = UPDATE table actions [ WHERE condition ] [ returning ]
 *   from      = FROM table [ WHERE condition ] actions [ returning ]
 *   actions   = 1*( SET path "=" value *( "," ... ) / REMOVE path )
 *   delete    = DELETE FROM table [ WHERE condition ] [ returning ]
 *   returning = RETURNING ( ALL / MODIFIED ) ( OLD / NEW ) "*"
 */
#include "partiql/statement.h"
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "expr/operand_rules.h"
#include "model/error.h"
#include "partiql/statement_parser.h"
#include "partiql/statement_term.h"

/* --- Sources --- */

/* Parses the name of a table, and perhaps of an index. */
static bool source(struct statement_parser *parser, struct statement *out)
{
    size_t parts = 0;
    struct bytes *names[] = { &out->table_name, &out->index_name };
    do {
        if (parts == COUNT_OF(names))
            return statement_parser_fail(
                parser, "A path may contain at most 2 components in the FROM clause");
        if (!statement_parser_name(parser, names[parts++]))
            return false;
    } while (statement_parser_accept(parser, STATEMENT_DOT));
    return true;
}

static bool refuse_alias(struct statement_parser *parser)
{
    if (parser->token.keyword == KEYWORD_AS || statement_parser_is_name(parser))
        return statement_parser_fail(parser, "Aliasing is not supported");
    return true;
}

static bool refuse_index(struct statement_parser *parser, const struct statement *statement)
{
    return statement->index_name.data == NULL ||
           statement_parser_fail(parser, "This operation is not supported on an index");
}

static bool where(struct statement_parser *parser, struct statement *out)
{
    return !statement_parser_accept_keyword(parser, KEYWORD_WHERE) ||
           statement_expression_condition(parser, &out->where);
}

/* --- SELECT --- */

/* The last name of the path, with the indexes behind it. */
static struct bytes column_name(struct arena *arena, const struct path *path)
{
    struct buffer name;
    size_t first = path->step_count - 1;
    while (path->steps[first].name.data == NULL)
        first--;
    if (first == path->step_count - 1)
        return path->steps[first].name;
    buffer_init(&name, arena);
    buffer_append_bytes(&name, path->steps[first].name);
    for (size_t i = first + 1; i < path->step_count; i++)
        buffer_append_bytes(&name, arena_printf(arena, "[%u]", (unsigned)path->steps[i].index));
    return buffer_bytes(&name);
}

struct columns {
    struct projection_column *items;
    size_t count;
    size_t capacity;
};
enum { COLUMNS_CAPACITY_MIN = 8 };

static int compare_names(const void *left, const void *right)
{
    return bytes_compare(*(const struct bytes *)left, *(const struct bytes *)right);
}

/* No two columns have the same name or show the same part of an item. */
static bool check_columns(struct statement_parser *parser, const struct columns *columns)
{
    struct bytes *names = arena_alloc(parser->arena, columns->count * sizeof *names);
    struct path *paths = arena_alloc(parser->arena, columns->count * sizeof *paths);
    struct bytes message;
    for (size_t i = 0; i < columns->count; i++) {
        names[i] = columns->items[i].name;
        paths[i] = columns->items[i].path;
    }
    qsort(names, columns->count, sizeof *names, compare_names);
    for (size_t i = 1; i < columns->count; i++) {
        if (bytes_equal(names[i - 1], names[i]))
            return statement_parser_fail(parser, "Duplicate identifiers in select clause: %.*s",
                                         BYTES_FMT(names[i]));
    }
    return operand_rules_check_all_disjoint(parser->arena, paths, columns->count, &message) ||
           statement_parser_fail_bytes(parser, message);
}

static bool add_column(struct statement_parser *parser, struct columns *columns)
{
    struct projection_column column;
    if (parser->token.type == STATEMENT_END ||
        (parser->token.type == STATEMENT_KEYWORD && !statement_term_call_begins(parser)))
        return statement_parser_unexpected(parser);
    if (!statement_parser_is_name(parser))
        return statement_parser_fail_at(parser, parser->token, "Unexpected path component");
    struct statement_token first = parser->token;
    if (!statement_parser_path(parser, &column.path))
        return false;
    if (parser->token.type == STATEMENT_OPEN)
        return statement_parser_fail_at(parser, first, "Unexpected path component");
    if (!refuse_alias(parser))
        return false;
    column.name = column_name(parser->arena, &column.path);
    if (columns->count == columns->capacity) {
        size_t capacity = columns->capacity == 0 ? COLUMNS_CAPACITY_MIN : columns->capacity * 2;
        columns->items =
            arena_grow(parser->arena, columns->items, columns->capacity * sizeof *columns->items,
                       capacity * sizeof *columns->items);
        columns->capacity = capacity;
    }
    columns->items[columns->count++] = column;
    return true;
}

static bool projection(struct statement_parser *parser, struct statement *out)
{
    struct columns columns = { .count = 0 };
    if (parser->token.keyword == KEYWORD_DISTINCT)
        return statement_parser_fail(parser, "Unsupported token in expression: DISTINCT");
    if (parser->token.keyword == KEYWORD_VALUE || parser->token.keyword == KEYWORD_PIVOT)
        return statement_parser_fail(parser,
                                     "Select projection doesn't support value or pivot keywords");
    if (statement_parser_accept(parser, STATEMENT_STAR))
        return true;
    do {
        if (!add_column(parser, &columns))
            return false;
    } while (statement_parser_accept(parser, STATEMENT_COMMA));
    if (!check_columns(parser, &columns))
        return false;
    out->columns = columns.items;
    out->column_count = columns.count;
    switch (parser->token.type) {
    case STATEMENT_PLUS:
    case STATEMENT_MINUS:
    case STATEMENT_STAR:
    case STATEMENT_OPERATOR:
        return statement_parser_fail_at(parser, parser->token, "Unexpected path component");
    default:
        return true;
    }
}

/* Clauses that SQL allows behind the source and DynamoDB does not support. */
static bool check_single_source(struct statement_parser *parser)
{
    switch (parser->token.keyword) {
    case KEYWORD_JOIN:
    case KEYWORD_INNER:
    case KEYWORD_LEFT:
    case KEYWORD_RIGHT:
    case KEYWORD_FULL:
    case KEYWORD_CROSS:
        break;
    default:
        if (parser->token.type != STATEMENT_COMMA)
            return refuse_alias(parser);
    }
    return statement_parser_fail(parser, "Only select from a single table or index is supported.");
}

static bool refuse_clauses(struct statement_parser *parser)
{
    switch (parser->token.keyword) {
    case KEYWORD_LIMIT:
        statement_parser_advance(parser);
        return statement_parser_fail_at(parser, parser->token, "Unsupported clause: LIMIT");
    case KEYWORD_GROUP:
        return statement_parser_fail(parser, "Unsupported clause: GROUP BY");
    case KEYWORD_HAVING:
        return statement_parser_fail(parser, "Unsupported clause: HAVING");
    default:
        return true;
    }
}

static bool order(struct statement_parser *parser, struct statement_order *out)
{
    struct path path;
    if (!statement_parser_is_name(parser)) {
        if (parser->token.type == STATEMENT_END || parser->token.type == STATEMENT_KEYWORD)
            return statement_parser_unexpected(parser);
        return statement_parser_fail(
            parser, "Argument to ORDER BY must be of type VariableReference. Type: %.*s",
            BYTES_FMT(statement_parser_text(parser, parser->token)));
    }
    if (!statement_parser_path(parser, &path))
        return false;
    if (path.step_count > 1)
        return statement_parser_fail(
            parser, "Argument to ORDER BY must be of type VariableReference. Type: PATH");
    *out = (struct statement_order){ .name = path.steps[0].name };
    if (!statement_parser_accept_keyword(parser, KEYWORD_ASC))
        out->descending = statement_parser_accept_keyword(parser, KEYWORD_DESC);
    return true;
}

static bool order_by(struct statement_parser *parser, struct statement *out)
{
    struct statement_order *orders = NULL;
    if (!statement_parser_accept_keyword(parser, KEYWORD_ORDER))
        return true;
    if (!statement_parser_expect_keyword(parser, KEYWORD_BY, "BY"))
        return false;
    do {
        orders = arena_grow(parser->arena, orders, out->order_count * sizeof *orders,
                            (out->order_count + 1) * sizeof *orders);
        if (!order(parser, &orders[out->order_count]))
            return false;
        out->order_count++;
    } while (statement_parser_accept(parser, STATEMENT_COMMA));
    out->orders = orders;
    return true;
}

static bool select_from(struct statement_parser *parser, struct statement *out)
{
    statement_parser_advance(parser);
    if (!projection(parser, out) || !statement_parser_expect_keyword(parser, KEYWORD_FROM, "FROM"))
        return false;
    if (parser->token.type == STATEMENT_STRING || parser->token.type == STATEMENT_PARAMETER)
        return statement_parser_fail(parser, "Unexpected from source");
    return source(parser, out) && check_single_source(parser) && where(parser, out) &&
           refuse_clauses(parser) && order_by(parser, out) && refuse_clauses(parser);
}

static bool exists(struct statement_parser *parser, struct statement *out)
{
    statement_parser_advance(parser);
    if (!statement_parser_expect(parser, STATEMENT_OPEN, "("))
        return false;
    if (parser->token.keyword != KEYWORD_SELECT)
        return statement_parser_fail(parser, "Unsupported operation in transaction.");
    out->type = STATEMENT_TYPE_EXISTS;
    return select_from(parser, out) && statement_parser_expect(parser, STATEMENT_CLOSE, ")");
}

/* --- Writes --- */

static const char *const returning_texts[] = {
    [RETURNING_ALL_OLD] = "ALL OLD",
    [RETURNING_MODIFIED_OLD] = "MODIFIED OLD",
    [RETURNING_ALL_NEW] = "ALL NEW",
    [RETURNING_MODIFIED_NEW] = "MODIFIED NEW",
};

static bool returning(struct statement_parser *parser, struct statement *out)
{
    if (!statement_parser_accept_keyword(parser, KEYWORD_RETURNING))
        return true;
    if (out->type == STATEMENT_TYPE_INSERT)
        return statement_parser_fail(parser, "RETURNING is not supported in INSERT");
    bool modified = statement_parser_accept_keyword(parser, KEYWORD_MODIFIED);
    if (!modified && !statement_parser_expect_keyword(parser, KEYWORD_ALL, "ALL or MODIFIED"))
        return false;
    bool old = statement_parser_accept_keyword(parser, KEYWORD_OLD);
    if (!old && !statement_parser_expect_keyword(parser, KEYWORD_NEW, "OLD or NEW"))
        return false;
    if (!statement_parser_expect(parser, STATEMENT_STAR, "*"))
        return false;
    if (parser->token.type == STATEMENT_COMMA)
        return statement_parser_fail(
            parser, "Invalid syntax with multiple returning elements in RETURNING clause");
    out->returning = old ? (modified ? RETURNING_MODIFIED_OLD : RETURNING_ALL_OLD)
                         : (modified ? RETURNING_MODIFIED_NEW : RETURNING_ALL_NEW);
    if (out->type == STATEMENT_TYPE_DELETE && out->returning != RETURNING_ALL_OLD)
        return statement_parser_fail(parser,
                                     "Invalid returning clause: RETURNING %s *. Only RETURNING ALL "
                                     "OLD * is allowed in DELETE statements.",
                                     returning_texts[out->returning]);
    return true;
}

static bool insert(struct statement_parser *parser, struct statement *out)
{
    out->type = STATEMENT_TYPE_INSERT;
    statement_parser_advance(parser);
    if (!statement_parser_expect_keyword(parser, KEYWORD_INTO, "INTO"))
        return false;
    struct statement_token table = parser->token;
    if (!source(parser, out))
        return false;
    if (out->index_name.data != NULL)
        return statement_parser_fail_at(parser, table,
                                        "FROM clause may only contain a single table name in data "
                                        "manipulation statements");
    if (parser->token.keyword == KEYWORD_AS || statement_parser_is_name(parser)) /* An alias. */
        return statement_parser_malformed(parser, "Unexpected token after expression");
    if (statement_parser_accept(parser, STATEMENT_OPEN)) /* (a, b) VALUES (1, 2) */
        return statement_parser_unexpected(parser);
    if (!statement_parser_accept_keyword(parser, KEYWORD_VALUE))
        return statement_parser_unexpected(parser);
    return statement_literal_parse_item(parser, &out->item) && returning(parser, out);
}

struct actions {
    struct update_action *items;
    size_t count;
    size_t capacity;
};
enum { ACTIONS_CAPACITY_MIN = 4 };

static void add_action(struct statement_parser *parser, struct actions *actions,
                       const struct update_action *action)
{
    if (actions->count == actions->capacity) {
        size_t capacity = actions->capacity == 0 ? ACTIONS_CAPACITY_MIN : actions->capacity * 2;
        actions->items =
            arena_grow(parser->arena, actions->items, actions->capacity * sizeof *actions->items,
                       capacity * sizeof *actions->items);
        actions->capacity = capacity;
    }
    actions->items[actions->count++] = *action;
}

static bool check_actions(struct statement_parser *parser, const struct actions *actions)
{
    struct path *paths = arena_alloc(parser->arena, actions->count * sizeof *paths);
    struct bytes message;
    for (size_t i = 0; i < actions->count; i++)
        paths[i] = actions->items[i].path;
    return operand_rules_check_all_disjoint(parser->arena, paths, actions->count, &message) ||
           statement_parser_fail_bytes(parser, message);
}

static bool set(struct statement_parser *parser, struct actions *actions)
{
    do {
        struct path target;
        struct update_action action;
        if (!statement_parser_path(parser, &target) ||
            !statement_parser_expect(parser, STATEMENT_EQUAL, "=") ||
            !statement_expression_assignment(parser, &target, &action))
            return false;
        add_action(parser, actions, &action);
    } while (statement_parser_accept(parser, STATEMENT_COMMA));
    return true;
}

static bool remove_path(struct statement_parser *parser, struct actions *actions)
{
    struct update_action action = { .type = UPDATE_REMOVE };
    if (!statement_parser_path(parser, &action.path))
        return false;
    add_action(parser, actions, &action);
    return true;
}

static bool changes(struct statement_parser *parser, struct statement *out)
{
    struct actions actions = { .count = 0 };
    for (;;) {
        bool ok;
        if (statement_parser_accept_keyword(parser, KEYWORD_SET))
            ok = set(parser, &actions);
        else if (statement_parser_accept_keyword(parser, KEYWORD_REMOVE))
            ok = remove_path(parser, &actions);
        else
            break;
        if (!ok)
            return false;
    }
    if (actions.count == 0)
        return statement_parser_malformed(parser, "Expected data manipulation");
    if (!check_actions(parser, &actions))
        return false;
    struct update *made = arena_alloc(parser->arena, sizeof *made);
    *made = (struct update){ .actions = actions.items, .action_count = actions.count };
    out->update = made;
    return true;
}

static bool update(struct statement_parser *parser, struct statement *out)
{
    out->type = STATEMENT_TYPE_UPDATE;
    statement_parser_advance(parser);
    return source(parser, out) && refuse_alias(parser) && changes(parser, out) &&
           where(parser, out) && returning(parser, out) && refuse_index(parser, out);
}

/* The same with the table and the condition in front. */
static bool update_from(struct statement_parser *parser, struct statement *out)
{
    out->type = STATEMENT_TYPE_UPDATE;
    statement_parser_advance(parser);
    return source(parser, out) && refuse_alias(parser) && where(parser, out) &&
           changes(parser, out) && returning(parser, out) && refuse_index(parser, out);
}

static bool delete_from(struct statement_parser *parser, struct statement *out)
{
    out->type = STATEMENT_TYPE_DELETE;
    statement_parser_advance(parser);
    return statement_parser_expect_keyword(parser, KEYWORD_FROM, "FROM") && source(parser, out) &&
           refuse_alias(parser) && where(parser, out) && returning(parser, out) &&
           refuse_index(parser, out);
}

/* --- Statements --- */

static bool statement(struct statement_parser *parser, struct statement *out)
{
    switch (parser->token.keyword) {
    case KEYWORD_SELECT:
        out->type = STATEMENT_TYPE_SELECT;
        return select_from(parser, out);
    case KEYWORD_EXISTS:
        return exists(parser, out);
    case KEYWORD_INSERT:
        return insert(parser, out);
    case KEYWORD_UPDATE:
        return update(parser, out);
    case KEYWORD_FROM:
        return update_from(parser, out);
    case KEYWORD_DELETE:
        return delete_from(parser, out);
    default:
        return statement_parser_malformed(parser, "Expected data manipulation");
    }
}

/* The service reads all tokens before it parses any, and says nothing of those that are none. */
static bool fail_if_token_is_invalid(struct statement_parser *parser)
{
    while (parser->token.type != STATEMENT_END && parser->token.type != STATEMENT_INVALID)
        statement_parser_advance(parser);
    if (parser->token.type == STATEMENT_INVALID)
        statement_parser_malformed(parser, "");
    return false;
}

bool statement_parse(struct arena *arena, struct bytes text,
                     const struct statement_parameters *parameters, struct statement *out,
                     struct error *err)
{
    const struct expr_params_input no_placeholders = { .names_present = false };
    *out = (struct statement){ .type = STATEMENT_TYPE_SELECT };
    bool ok = expr_params_init(&out->params, arena, &no_placeholders, err);
    assert(ok); /* Both maps are absent, which is always valid. */
    (void)ok;
    struct statement_parser parser = {
        .arena = arena, .err = err, .parameters = parameters, .params = &out->params
    };
    statement_lexer_init(&parser.lexer, text);
    statement_parser_advance(&parser);
    if (!statement(&parser, out))
        return fail_if_token_is_invalid(&parser);
    statement_parser_accept(&parser, STATEMENT_SEMICOLON);
    if (parser.token.type == STATEMENT_END)
        return true;
    statement_parser_malformed(&parser, "Unexpected token after expression");
    return fail_if_token_is_invalid(&parser);
}
