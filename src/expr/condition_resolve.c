/* condition_resolve.c -- pass 3 of conditions: operands resolved and checked, operators after them.
 *
 * What is checked first differs by operator, as the service's answers show: functions compare
 * their operands with each other before they look at types, BETWEEN does it the other way round.
 */
#include "expr/condition_resolve.h"
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "expr/document_path.h"
#include "expr/parser.h"
#include "json/base64.h"
#include "model/error.h"
#include "model/number.h"
#include "model/value.h"

static const char valid_types[] = "{N,BS,L,B,NULL,M,S,SS,NS,BOOL}";
/* What the service prints for an operand whose type only the item decides. */
static const char any_type[] = "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}";

static struct bytes operator_name(const struct parser *parser, const struct node *node)
{
    switch (node->type) {
    case NODE_FUNCTION:
        return bytes_from_text(parser_function(node->function)->name);
    case NODE_BETWEEN:
        return BYTES("BETWEEN");
    case NODE_IN:
        return BYTES("IN");
    default:
        return parser_token_text(parser, node->token);
    }
}

/* False if only the item decides the operand's type. */
static bool known_type(const struct operand *operand, enum value_type *out)
{
    if (operand->type == OPERAND_PATH)
        return false;
    *out = operand->type == OPERAND_SIZE ? VALUE_N : operand->value.type;
    return true;
}

static bool check_distinct(struct parser *parser, const struct node *node)
{
    const struct node *first = node->first_child;
    if (first->operand.type != OPERAND_PATH)
        return true;
    for (const struct node *other = first->sibling; other != NULL; other = other->sibling) {
        if (other->operand.type == OPERAND_PATH &&
            document_path_equal(&first->operand.path, &other->operand.path))
            return parser_not_distinct(parser, operator_name(parser, node), &first->operand.path);
    }
    return true;
}

/* `allowed`: one bit per value type. */
static bool check_types(struct parser *parser, const struct node *node, unsigned allowed)
{
    for (const struct node *child = node->first_child; child != NULL; child = child->sibling) {
        enum value_type type;
        if (known_type(&child->operand, &type) && (allowed & (1u << type)) == 0)
            return parser_wrong_type(parser, operator_name(parser, node), value_type_name(type));
    }
    return true;
}

enum {
    TYPES_WITH_ORDER = 1u << VALUE_S | 1u << VALUE_N | 1u << VALUE_B,
    TYPES_WITH_PREFIX = 1u << VALUE_S | 1u << VALUE_B,
    TYPES_WITH_SIZE = 1u << VALUE_S | 1u << VALUE_B | 1u << VALUE_L | 1u << VALUE_M |
                      1u << VALUE_SS | 1u << VALUE_NS | 1u << VALUE_BS,
};

/* --- BETWEEN --- */

/* The service shows the number as it was written; its canonical form is what is left of it. */
static struct bytes show_value(struct arena *arena, const struct value *value)
{
    if (value->type == VALUE_N) {
        char text[NUMBER_TEXT_MAX];
        size_t len = number_format_encoded(value->data, text);
        return arena_copy(arena, bytes_of(text, len));
    }
    if (value->type == VALUE_B) {
        size_t len = base64_encoded_size(value->data.len);
        char *text = arena_alloc(arena, len);
        base64_encode(value->data, text);
        return bytes_of(text, len);
    }
    return value->data;
}

static bool fail_bounds(struct parser *parser, const char *rule, const struct value *low,
                        const struct value *high)
{
    return parser_fail(parser,
                       "The BETWEEN operator requires %s; lower bound operand: AttributeValue: "
                       "{%s:%.*s}, upper bound operand: AttributeValue: {%s:%.*s}",
                       rule, value_type_name(low->type), BYTES_FMT(show_value(parser->arena, low)),
                       value_type_name(high->type), BYTES_FMT(show_value(parser->arena, high)));
}

static bool check_bounds(struct parser *parser, const struct node *node)
{
    const struct node *low_node = node->first_child->sibling;
    if (low_node->type != NODE_VALUE || node->last_child->type != NODE_VALUE)
        return true;
    const struct value *low = &low_node->operand.value;
    const struct value *high = &node->last_child->operand.value;
    if (low->type != high->type)
        return fail_bounds(parser, "same data type for lower and upper bounds", low, high);
    /* Strings, binary values and encoded numbers are all ordered by their bytes. */
    if (bytes_compare(low->data, high->data) > 0)
        return fail_bounds(parser, "upper bound to be greater than or equal to lower bound", low,
                           high);
    return true;
}

/* --- Functions --- */

/* The service counts characters as UTF-16 does. */
static uint64_t string_length(struct bytes text)
{
    uint64_t length = 0;
    for (size_t i = 0; i < text.len; i++) {
        if ((text.data[i] & 0xC0) != 0x80)
            length += text.data[i] >= 0xF0 ? 2 : 1;
    }
    return length;
}

/* size(:value) is known now. `left` tells that it was no plain value: key conditions refuse it. */
static void fold_size(struct parser *parser, struct node *node, const struct operand *of)
{
    const struct value *value = &of->value;
    uint64_t size = value->count;
    if (value->type == VALUE_S)
        size = string_length(value->data);
    else if (value->type == VALUE_B)
        size = value->data.len;
    struct number number = { .coefficient = size };
    while (number.coefficient != 0 && number.coefficient % 10 == 0) {
        number.coefficient /= 10;
        number.exponent++;
    }
    uint8_t encoded[NUMBER_ENCODED_MAX];
    size_t len = number_encode(&number, encoded);
    struct buffer out;
    buffer_init(&out, parser->arena);
    value_append_number(&out, bytes_of(encoded, len));
    struct bytes bytes = buffer_bytes(&out);
    node->operand.type = OPERAND_VALUE;
    node->operand.left = of;
    bool ok = value_open(&bytes, &node->operand.value);
    assert(ok);
    (void)ok;
}

static bool resolve_size(struct parser *parser, struct node *node)
{
    const struct operand *of = &node->first_child->operand;
    if (!check_types(parser, node, TYPES_WITH_SIZE))
        return false;
    if (of->type == OPERAND_VALUE) {
        fold_size(parser, node, of);
    } else {
        node->operand.type = OPERAND_SIZE;
        node->operand.path = of->path;
    }
    return true;
}

static bool check_path(struct parser *parser, const struct node *node)
{
    if (node->first_child->operand.type == OPERAND_PATH)
        return true;
    return parser_fail(parser,
                       "Operator or function requires a document path; operator or function: %s",
                       parser_function(node->function)->name);
}

static bool check_type_name(struct parser *parser, struct node *node)
{
    const struct operand *name = &node->last_child->operand;
    enum value_type type;
    if (!known_type(name, &type))
        return parser_wrong_type(parser, operator_name(parser, node), any_type);
    if (type != VALUE_S)
        return parser_wrong_type(parser, operator_name(parser, node), value_type_name(type));
    if (!value_type_parse(name->value.data, &node->condition.attribute_type))
        return parser_fail(parser, "Invalid attribute type name found; type: %.*s, valid types: %s",
                           BYTES_FMT(name->value.data), valid_types);
    return true;
}

/* The condition's operands in a row. */
static void set_condition(struct parser *parser, struct node *node, enum condition_type type)
{
    struct operand *operands = arena_alloc(parser->arena, node->child_count * sizeof *operands);
    size_t count = 0;
    for (const struct node *child = node->first_child; child != NULL; child = child->sibling)
        operands[count++] = child->operand;
    node->condition.type = type;
    node->condition.comparator = node->comparator;
    node->condition.operands = operands;
    node->condition.operand_count = count;
}

static bool resolve_function(struct parser *parser, struct node *node)
{
    if (!parser_check_operand_count(parser, node))
        return false;
    bool ok = false;
    enum condition_type type = CONDITION_CONTAINS;
    switch (node->function) {
    case FUNCTION_SIZE:
        return resolve_size(parser, node);
    case FUNCTION_ATTRIBUTE_EXISTS:
        type = CONDITION_ATTRIBUTE_EXISTS;
        ok = check_path(parser, node);
        break;
    case FUNCTION_ATTRIBUTE_NOT_EXISTS:
        type = CONDITION_ATTRIBUTE_NOT_EXISTS;
        ok = check_path(parser, node);
        break;
    case FUNCTION_ATTRIBUTE_TYPE:
        type = CONDITION_ATTRIBUTE_TYPE;
        ok = check_distinct(parser, node) && check_type_name(parser, node);
        break;
    case FUNCTION_BEGINS_WITH:
        type = CONDITION_BEGINS_WITH;
        ok = check_distinct(parser, node) && check_types(parser, node, TYPES_WITH_PREFIX);
        break;
    case FUNCTION_CONTAINS:
        ok = check_distinct(parser, node);
        break;
    default:
        assert(false); /* Refused by pass 2. */
    }
    if (ok)
        set_condition(parser, node, type);
    return ok;
}

/* --- Operators --- */

static bool check_compare(struct parser *parser, const struct node *node)
{
    bool ordered = node->comparator != COMPARE_EQUAL && node->comparator != COMPARE_NOT_EQUAL;
    return (!ordered || check_types(parser, node, TYPES_WITH_ORDER)) &&
           check_distinct(parser, node);
}

static bool check_in(struct parser *parser, const struct node *node)
{
    size_t count = node->child_count - 1;
    if (count > CONDITION_IN_OPERANDS_MAX)
        return parser_fail(
            parser, "The IN operator is provided with too many operands; number of operands: %zu",
            count);
    return check_distinct(parser, node);
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
        if (!check_compare(parser, node))
            return false;
        set_condition(parser, node, CONDITION_COMPARE);
        return true;
    case NODE_BETWEEN:
        if (!check_types(parser, node, TYPES_WITH_ORDER) || !check_distinct(parser, node) ||
            !check_bounds(parser, node))
            return false;
        set_condition(parser, node, CONDITION_BETWEEN);
        return true;
    case NODE_IN:
        if (!check_in(parser, node))
            return false;
        set_condition(parser, node, CONDITION_IN);
        return true;
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
