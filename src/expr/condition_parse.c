/* condition_parse.c -- the grammar of conditions.
 *
 *   condition  = and-list *( OR and-list )
 *   and-list   = negation *( AND negation )
 *   negation   = *NOT ( "(" condition ")" / call / operand comparison )
 *   comparison = comparator operand / BETWEEN operand AND operand / IN "(" operand *( "," operand )
 * ")"
 *
 * "(" may open a condition or an operand. Their content is read as a condition that may turn out to
 * be just an operand; the token behind them decides. Until then redundant parentheses are only
 * noted, because the service finds a later syntax error first.
 */
#include "expr/condition_parse.h"
#include <assert.h>
#include "base/arena.h"
#include "expr/operand_rules.h"
#include "expr/parser.h"

static struct node *condition(struct parser *parser, bool operand_allowed);

static bool is_condition(const struct node *node)
{
    return node->type >= NODE_COMPARE;
}

/* The node is used as a condition: notes a fault if it is a function that has a value. */
static void use_as_condition(struct parser *parser, const struct node *node)
{
    if (node->type == NODE_FUNCTION && node->function != FUNCTION_COUNT &&
        operand_rules_function(node->function)->is_operand)
        parser_fault(
            parser, node->token,
            "The function is not allowed to be used this way in an expression; function: %s",
            operand_rules_function(node->function)->name);
}

/* --- Comparisons --- */

/* The type of the comparison that the token begins; false if it begins none. */
static bool comparison_type(enum token_type token, enum node_type *type,
                            enum comparator *comparator)
{
    static const struct {
        enum token_type token;
        enum node_type type;
        enum comparator comparator;
    } rows[] = {
        { TOKEN_EQUAL, NODE_COMPARE, COMPARE_EQUAL },
        { TOKEN_NOT_EQUAL, NODE_COMPARE, COMPARE_NOT_EQUAL },
        { TOKEN_LESS, NODE_COMPARE, COMPARE_LESS },
        { TOKEN_LESS_EQUAL, NODE_COMPARE, COMPARE_LESS_EQUAL },
        { TOKEN_GREATER, NODE_COMPARE, COMPARE_GREATER },
        { TOKEN_GREATER_EQUAL, NODE_COMPARE, COMPARE_GREATER_EQUAL },
        { TOKEN_BETWEEN, NODE_BETWEEN, COMPARE_EQUAL },
        { TOKEN_IN, NODE_IN, COMPARE_EQUAL },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].token == token) {
            *type = rows[i].type;
            *comparator = rows[i].comparator;
            return true;
        }
    }
    return false;
}

static bool add_operand(struct parser *parser, struct node *node)
{
    struct node *operand = parser_operand(parser);
    if (operand == NULL)
        return false;
    parser_use_as_operand(parser, operand);
    parser_add_child(node, operand);
    return true;
}

static bool add_list(struct parser *parser, struct node *node)
{
    if (!parser_expect(parser, TOKEN_OPEN) || !add_operand(parser, node))
        return false;
    while (parser->token.type == TOKEN_COMMA) {
        parser_advance(parser);
        if (!add_operand(parser, node))
            return false;
    }
    return parser_expect(parser, TOKEN_CLOSE);
}

/* The rest of a comparison, from its operator on. */
static struct node *comparison(struct parser *parser, struct node *left, enum node_type type,
                               enum comparator comparator)
{
    if (!parser_decide(parser))
        return NULL;
    parser_use_as_operand(parser, left);
    struct node *node = parser_new_node(parser, type, parser->token);
    node->comparator = comparator;
    parser_add_child(node, left);
    parser_advance(parser);
    bool ok;
    if (type == NODE_IN)
        ok = add_list(parser, node);
    else if (type == NODE_BETWEEN)
        ok = add_operand(parser, node) && parser_expect(parser, TOKEN_AND) &&
             add_operand(parser, node);
    else
        ok = add_operand(parser, node);
    return ok ? parser_complete(parser, node) : NULL;
}

/* --- Operands of AND, OR and NOT --- */

/* Parentheses, a call or an operand: what a condition can begin with. */
static struct node *leading_unit(struct parser *parser)
{
    if (parser->token.type != TOKEN_OPEN)
        return parser_operand(parser);
    if (!parser_enter(parser))
        return NULL;
    struct node *inner = condition(parser, true);
    return inner != NULL && parser_leave_group(parser, inner) ? inner : NULL;
}

/* Returns an operand only if `operand_allowed` and parentheses close behind it. */
static struct node *primary(struct parser *parser, bool operand_allowed)
{
    parser->undecided = true;
    struct node *unit = leading_unit(parser);
    if (unit == NULL || is_condition(unit))
        return unit;
    enum node_type type;
    enum comparator comparator;
    if (comparison_type(parser->token.type, &type, &comparator))
        return comparison(parser, unit, type, comparator);
    /* It may still be an operand, if parentheses around it are undecided. */
    if (unit->type == NODE_FUNCTION)
        return !parser_is_decided_outside(parser) || parser_decide(parser) ? unit : NULL;
    if (operand_allowed && parser->token.type == TOKEN_CLOSE)
        return unit;
    parser_syntax_error(parser);
    return NULL;
}

static struct node *negation(struct parser *parser, bool operand_allowed)
{
    struct token first = parser->token;
    size_t count = 0;
    for (; parser->token.type == TOKEN_NOT; count++) {
        if (!parser_decide(parser))
            return NULL;
        parser_advance(parser);
    }
    struct node *inner = primary(parser, operand_allowed && count == 0);
    for (; inner != NULL && count > 0; count--) {
        use_as_condition(parser, inner);
        struct node *node = parser_new_node(parser, NODE_NOT, first);
        parser_add_child(node, inner);
        inner = parser_complete(parser, node);
    }
    return inner;
}

/* Joins `left` with what follows the current token, which is AND or OR. */
static struct node *join(struct parser *parser, enum node_type type, struct node *left,
                         struct node *(*next)(struct parser *, bool))
{
    struct token token = parser->token;
    if (!parser_decide(parser))
        return NULL;
    use_as_condition(parser, left);
    parser_advance(parser);
    struct node *right = next(parser, false);
    if (right == NULL)
        return NULL;
    use_as_condition(parser, right);
    struct node *node = parser_new_node(parser, type, token);
    parser_add_child(node, left);
    parser_add_child(node, right);
    return parser_complete(parser, node);
}

static struct node *and_list(struct parser *parser, bool operand_allowed)
{
    struct node *left = negation(parser, operand_allowed);
    while (left != NULL && parser->token.type == TOKEN_AND)
        left = join(parser, NODE_AND, left, negation);
    return left;
}

static struct node *condition(struct parser *parser, bool operand_allowed)
{
    struct node *left = and_list(parser, operand_allowed);
    while (left != NULL && parser->token.type == TOKEN_OR)
        left = join(parser, NODE_OR, left, and_list);
    return left;
}

/* --- Pass 3: operands resolved and checked, operators after them --- */

/* Sets the condition's type and operands, and checks them. */
static bool set_condition(struct parser *parser, struct node *node, enum condition_type type)
{
    struct operand *operands = arena_alloc(parser->arena, node->child_count * sizeof *operands);
    struct bytes message;
    size_t count = 0;
    for (const struct node *child = node->first_child; child != NULL; child = child->sibling)
        operands[count++] = child->operand;
    node->condition.type = type;
    node->condition.comparator = node->comparator;
    node->condition.operands = operands;
    node->condition.operand_count = count;
    return operand_rules_check_condition(parser->arena, &node->condition, &message) ||
           parser_fail_bytes(parser, message);
}

static bool resolve_function(struct parser *parser, struct node *node)
{
    struct bytes message;
    if (!parser_check_operand_count(parser, node))
        return false;
    /* Pass 2 refused the functions of other expressions. */
    assert(operand_rules_function(node->function)->kind == EXPRESSION_CONDITION);
    if (node->function != FUNCTION_SIZE)
        return set_condition(parser, node, operand_rules_condition_type(node->function));
    return operand_rules_size(parser->arena, &node->first_child->operand, &node->operand,
                              &message) ||
           parser_fail_bytes(parser, message);
}

/* A tree that is too deep is never walked: the number of operators is checked first. */
static void set_junction(struct node *node, enum condition_type type)
{
    node->condition.type = type;
    node->condition.left = &node->first_child->condition;
    if (type != CONDITION_NOT)
        node->condition.right = &node->last_child->condition;
}

static bool resolve_operator(struct parser *parser, struct node *node)
{
    switch (node->type) {
    case NODE_COMPARE:
        return set_condition(parser, node, CONDITION_COMPARE);
    case NODE_BETWEEN:
        return set_condition(parser, node, CONDITION_BETWEEN);
    case NODE_IN:
        return set_condition(parser, node, CONDITION_IN);
    case NODE_AND:
        set_junction(node, CONDITION_AND);
        return true;
    case NODE_OR:
        set_junction(node, CONDITION_OR);
        return true;
    default:
        assert(node->type == NODE_NOT);
        set_junction(node, CONDITION_NOT);
        return true;
    }
}

static bool resolve_node(struct parser *parser, struct node *node)
{
    if (node->type == NODE_PATH || node->type == NODE_VALUE)
        return parser_resolve_leaf(parser, node);
    /* Measured at the service: calls do not count as operators here. */
    if (node->type == NODE_FUNCTION)
        return resolve_function(parser, node);
    parser->operator_count++;
    return resolve_operator(parser, node);
}

static bool resolve_all(struct parser *parser)
{
    for (struct node *node = parser->first; node != NULL; node = node->next) {
        if (!resolve_node(parser, node))
            return false;
    }
    return parser_check_operator_count(parser);
}

const struct condition *condition_parse(struct arena *arena, struct bytes text,
                                        const char *parameter, struct expr_params *params,
                                        struct error *err)
{
    struct parser parser;
    if (!parser_init(&parser, arena, text, parameter, EXPRESSION_CONDITION, params, err))
        return NULL;
    struct node *root = condition(&parser, false);
    if (root == NULL)
        return NULL;
    if (parser.token.type != TOKEN_END) {
        parser_syntax_error(&parser);
        return NULL;
    }
    if (!parser_decide(&parser))
        return NULL;
    use_as_condition(&parser, root);
    if (!parser_check_faults(&parser) || !resolve_all(&parser))
        return NULL;
    return &root->condition;
}
