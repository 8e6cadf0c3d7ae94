/* condition_resolve.c -- pass 3 of conditions: operands resolved and checked, operators after them.
 */
#include "expr/condition_resolve.h"
#include <assert.h>
#include "base/arena.h"
#include "expr/operand_rules.h"
#include "expr/parser.h"

/* The condition's operands in a row, checked. */
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
    assert(function_get(node->function)->kind == EXPRESSION_CONDITION);
    if (node->function != FUNCTION_SIZE)
        return set_condition(parser, node, function_condition_type(node->function));
    return operand_rules_size(parser->arena, &node->first_child->operand, &node->operand,
                              &message) ||
           parser_fail_bytes(parser, message);
}

/* A tree deeper than the operators that are allowed is never walked: the count is checked first. */
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

bool condition_resolve(struct parser *parser)
{
    for (struct node *node = parser->first; node != NULL; node = node->next) {
        if (!resolve_node(parser, node))
            return false;
    }
    return parser_check_operator_count(parser);
}
