/* update_parse.c -- the grammar and the meaning of updates.
 *
 *   update  = 1*( SET set *( "," set ) / REMOVE path *( "," path )
 *               / ADD path value *( "," path value ) / DELETE path value *( "," path value ) )
 *   set     = path "=" sum
 *   sum     = operand [ ( "+" / "-" ) operand ] / "(" sum ")"
 *
 * After the words, the service checks all paths to be changed, then the values, both from the last
 * to the first.
 */
#include "expr/update_parse.h"
#include <assert.h>
#include "base/arena.h"
#include "expr/parser.h"
#include "model/value.h"

struct action {
    enum update_action_type type;
    struct node *value; /* NULL: REMOVE. */
    struct node *first; /* Of the value's nodes in the order of completion. */
    struct action *previous;
};

struct update_parser {
    struct parser base;
    struct parser_paths targets; /* One per action. */
    struct action *last;
    unsigned sections; /* Seen so far, one bit each. */
};

static const struct {
    enum token_type token;
    const char *name;
} sections[] = {
    [UPDATE_SET] = { TOKEN_SET, "SET" },
    [UPDATE_REMOVE] = { TOKEN_REMOVE, "REMOVE" },
    [UPDATE_ADD] = { TOKEN_ADD, "ADD" },
    [UPDATE_DELETE] = { TOKEN_DELETE, "DELETE" },
};

/* --- Grammar --- */

static struct node *sum(struct parser *parser)
{
    struct node *left;
    if (parser->token.type == TOKEN_OPEN) {
        if (!parser_enter(parser))
            return NULL;
        left = sum(parser);
        if (left == NULL || !parser_leave_group(parser, left))
            return NULL;
    } else {
        left = parser_operand(parser);
    }
    bool minus = parser->token.type == TOKEN_MINUS;
    if (left == NULL || left->type == NODE_SUM || (!minus && parser->token.type != TOKEN_PLUS))
        return left;
    if (!parser_decide(parser))
        return NULL;
    struct node *node = parser_new_node(parser, NODE_SUM, parser->token);
    node->minus = minus;
    parser_advance(parser);
    struct node *right = parser_operand(parser);
    if (right == NULL)
        return NULL;
    parser_use_as_operand(parser, left);
    parser_use_as_operand(parser, right);
    parser_add_child(node, left);
    parser_add_child(node, right);
    return parser_complete(parser, node);
}

static struct node *set_value(struct parser *parser)
{
    parser->undecided = true;
    struct node *value = sum(parser);
    return value != NULL && parser_decide(parser) ? value : NULL;
}

static struct node *value_reference(struct parser *parser)
{
    if (parser->token.type == TOKEN_VALUE_REFERENCE)
        return parser_operand(parser);
    parser_syntax_error(parser);
    return NULL;
}

static bool parse_action(struct update_parser *update, enum update_action_type type)
{
    struct parser *parser = &update->base;
    struct node *target = parser_path(parser);
    if (target == NULL)
        return false;
    parser_paths_add(&update->targets, target);
    struct action *action = arena_alloc(parser->arena, sizeof *action);
    *action = (struct action){ .type = type, .previous = update->last };
    update->last = action;
    if (type == UPDATE_REMOVE)
        return true;
    parser->first = NULL; /* Only the nodes of this value are to be listed. */
    parser->last = NULL;
    if (type == UPDATE_SET)
        action->value = parser_expect(parser, TOKEN_EQUAL) ? set_value(parser) : NULL;
    else
        action->value = value_reference(parser);
    action->first = parser->first;
    return action->value != NULL;
}

/* False if the current token begins no section. */
static bool section_of(enum token_type token, enum update_action_type *out)
{
    for (enum update_action_type type = 0; type < COUNT_OF(sections); type++) {
        if (sections[type].token == token) {
            *out = type;
            return true;
        }
    }
    return false;
}

static bool parse_sections(struct update_parser *update)
{
    struct parser *parser = &update->base;
    enum update_action_type type;
    while (section_of(parser->token.type, &type)) {
        do {
            parser_advance(parser);
            if (!parse_action(update, type))
                return false;
        } while (parser->token.type == TOKEN_COMMA);
        /* Reported after faults of the section's words. */
        if ((update->sections & (1u << type)) != 0)
            parser_fault(parser, parser->token,
                         "The \"%s\" section can only be used once in an update expression;",
                         sections[type].name);
        update->sections |= 1u << type;
    }
    if (parser->token.type != TOKEN_END || update->last == NULL)
        return parser_syntax_error(parser);
    return true;
}

/* --- Meaning --- */

static bool combine(struct parser *parser, struct node *node, enum operand_type type)
{
    struct bytes message;
    return operand_rules_combine(parser->arena, type, &node->first_child->operand,
                                 &node->last_child->operand, &node->operand, &message) ||
           parser_fail_bytes(parser, message);
}

static bool resolve_node(struct parser *parser, struct node *node)
{
    if (node->type == NODE_PATH || node->type == NODE_VALUE)
        return parser_resolve_leaf(parser, node);
    parser->operator_count++;
    if (node->type == NODE_SUM)
        return combine(parser, node, node->minus ? OPERAND_MINUS : OPERAND_PLUS);
    assert(node->type == NODE_FUNCTION);
    if (!parser_check_operand_count(parser, node))
        return false;
    if (node->function == FUNCTION_IF_NOT_EXISTS)
        return combine(parser, node, OPERAND_IF_NOT_EXISTS);
    assert(node->function == FUNCTION_LIST_APPEND);
    return combine(parser, node, OPERAND_LIST_APPEND);
}

/* ADD and DELETE have special names for types in messages. */
static bool check_section_operand(struct parser *parser, const struct action *action)
{
    static const char *const words[VALUE_TYPE_COUNT] = {
        [VALUE_S] = "STRING",      [VALUE_N] = "NUMBER",      [VALUE_B] = "BINARY",
        [VALUE_BOOL] = "BOOLEAN",  [VALUE_NULL] = "NULL",     [VALUE_L] = "LIST",
        [VALUE_M] = "MAP",         [VALUE_SS] = "STRING_SET", [VALUE_NS] = "NUMBER_SET",
        [VALUE_BS] = "BINARY_SET",
    };
    enum value_type type = action->value->operand.value.type;
    bool set = value_type_is_set(type);
    if (set || (action->type == UPDATE_ADD && type == VALUE_N))
        return true;
    const char *name = sections[action->type].name;
    return parser_fail(parser,
                       "Incorrect operand type for operator or function; operator: %s, operand "
                       "type: %s, typeSet: ALLOWED_FOR_%s_OPERAND",
                       name, words[type], name);
}

static bool resolve_value(struct parser *parser, const struct action *action)
{
    for (struct node *node = action->first; node != NULL; node = node->next) {
        if (!resolve_node(parser, node))
            return false;
    }
    return action->type == UPDATE_SET || action->type == UPDATE_REMOVE ||
           check_section_operand(parser, action);
}

static bool resolve(struct update_parser *update)
{
    struct parser *parser = &update->base;
    if (!parser_paths_resolve(parser, &update->targets))
        return false;
    for (const struct action *action = update->last; action != NULL; action = action->previous) {
        if (!resolve_value(parser, action))
            return false;
    }
    return parser_check_operator_count(parser);
}

static const struct update *compile(const struct update_parser *update)
{
    struct arena *arena = update->base.arena;
    size_t count = update->targets.count;
    struct update_action *actions = arena_alloc(arena, count * sizeof *actions);
    const struct action *from = update->last;
    for (size_t i = count; i-- > 0; from = from->previous) {
        actions[i] = (struct update_action){
            .type = from->type,
            .path = update->targets.paths[i],
            .operand = from->value == NULL ? NULL : &from->value->operand,
        };
    }
    struct update *out = arena_alloc(arena, sizeof *out);
    *out = (struct update){ .actions = actions, .action_count = count };
    return out;
}

const struct update *update_parse(struct arena *arena, struct bytes text,
                                  struct expr_params *params, struct error *err)
{
    struct update_parser update = { .last = NULL };
    if (!parser_init(&update.base, arena, text, "UpdateExpression", EXPRESSION_UPDATE, params, err))
        return NULL;
    parser_paths_init(&update.targets, arena);
    if (!parse_sections(&update) || !parser_check_faults(&update.base) || !resolve(&update))
        return NULL;
    return compile(&update);
}
