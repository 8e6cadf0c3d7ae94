/* statement_expression.c -- conditions of WHERE and values of SET.
 *
 *   expression = and-list *( OR and-list )
 *   and-list   = negation *( AND negation )
 *   negation   = *NOT comparison
 *   comparison = sum *( comparator sum / [NOT] BETWEEN sum AND sum / [NOT] IN list / is )
 *   is         = IS [NOT] type
 *
 * expr/operand_rules.c checks the operands of operators, as for expressions.
 */
#include "base/arena.h"
#include "base/compiler.h"
#include "expr/path.h"
#include "model/value.h"
#include "partiql/statement_parser.h"
#include "partiql/statement_term.h"

static void join(struct statement_parser *parser, enum condition_type type,
                 const struct condition *left, const struct condition *right,
                 struct statement_token token, struct statement_term *out)
{
    struct condition *condition = arena_alloc(parser->arena, sizeof *condition);
    *condition = (struct condition){ .type = type, .left = left, .right = right };
    *out =
        (struct statement_term){ .type = TERM_CONDITION, .condition = condition, .token = token };
}

/* --- Comparisons --- */

static bool comparator_of(enum statement_token_type type, enum comparator *out)
{
    switch (type) {
    case STATEMENT_EQUAL:
        *out = COMPARE_EQUAL;
        return true;
    case STATEMENT_NOT_EQUAL:
        *out = COMPARE_NOT_EQUAL;
        return true;
    case STATEMENT_LESS:
        *out = COMPARE_LESS;
        return true;
    case STATEMENT_LESS_EQUAL:
        *out = COMPARE_LESS_EQUAL;
        return true;
    case STATEMENT_GREATER:
        *out = COMPARE_GREATER;
        return true;
    case STATEMENT_GREATER_EQUAL:
        *out = COMPARE_GREATER_EQUAL;
        return true;
    default:
        return false;
    }
}

/* `attribute_exists(a) = true`: a call of a condition may be compared with what it gives. */
static bool compare_call(struct statement_parser *parser, enum comparator comparator,
                         const struct statement_term *right, struct statement_token token,
                         struct statement_term *out)
{
    if (right->type != TERM_OPERAND || right->operand.type != OPERAND_VALUE ||
        right->operand.value.type != VALUE_BOOL || comparator != COMPARE_EQUAL)
        return statement_term_check_operand(parser, out);
    if (!right->operand.value.boolean)
        join(parser, CONDITION_NOT, out->condition, NULL, token, out);
    out->is_call = false;
    return true;
}

static bool compare(struct statement_parser *parser, enum comparator comparator,
                    struct statement_term *out)
{
    struct statement_token token = parser->token;
    struct statement_operands operands = { .count = 0 };
    struct statement_term right;
    statement_parser_advance(parser);
    if (!statement_term_parse(parser, &right))
        return false;
    if (out->type == TERM_CONDITION && out->is_call)
        return compare_call(parser, comparator, &right, token, out);
    if (!statement_term_check_operand(parser, out) || !statement_term_check_operand(parser, &right))
        return false;
    statement_term_add_operand(parser, &operands, &out->operand);
    statement_term_add_operand(parser, &operands, &right.operand);
    struct condition condition = { .type = CONDITION_COMPARE,
                                   .comparator = comparator,
                                   .operands = operands.items,
                                   .operand_count = operands.count };
    return statement_term_set_condition(parser, condition, token, out);
}

static bool between(struct statement_parser *parser, struct statement_token token,
                    struct statement_term *out)
{
    struct statement_operands operands = { .count = 0 };
    struct statement_term low, high;
    if (!statement_term_parse(parser, &low) ||
        !statement_parser_expect_keyword(parser, KEYWORD_AND, "AND") ||
        !statement_term_parse(parser, &high) || !statement_term_check_operand(parser, out) ||
        !statement_term_check_operand(parser, &low) || !statement_term_check_operand(parser, &high))
        return false;
    statement_term_add_operand(parser, &operands, &out->operand);
    statement_term_add_operand(parser, &operands, &low.operand);
    statement_term_add_operand(parser, &operands, &high.operand);
    struct condition condition = { .type = CONDITION_BETWEEN,
                                   .operands = operands.items,
                                   .operand_count = operands.count };
    return statement_term_set_condition(parser, condition, token, out);
}

static bool in(struct statement_parser *parser, struct statement_token token,
               struct statement_term *out)
{
    static const struct {
        enum statement_token_type open, close;
        const char *sign;
    } forms[] = {
        { STATEMENT_OPEN_BRACKET, STATEMENT_CLOSE_BRACKET, "]" },
        { STATEMENT_OPEN, STATEMENT_CLOSE, ")" },
        { STATEMENT_OPEN_BAG, STATEMENT_CLOSE_BAG, ">>" },
    };
    struct statement_operands operands = { .count = 0 };
    if (!statement_term_check_operand(parser, out))
        return false;
    statement_term_add_operand(parser, &operands, &out->operand);
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        if (!statement_parser_accept(parser, forms[i].open))
            continue;
        if (!statement_term_operands(parser, forms[i].close, forms[i].sign, &operands))
            return false;
        break;
    }
    if (operands.count < 2)
        return statement_parser_fail(parser, "IN operator must have a left hand argument of type "
                                             "Variable Reference and right hand argument of type "
                                             "Seq with at least one member");
    struct condition condition = { .type = CONDITION_IN,
                                   .operands = operands.items,
                                   .operand_count = operands.count };
    return statement_term_set_condition(parser, condition, token, out);
}

/* --- IS --- */

/* IS MISSING of a value in the statement is always false, which a comparison of the value with
 * itself expresses. */
static void is_missing(struct statement_parser *parser, struct condition *condition)
{
    struct statement_operands operands = { .count = 0 };
    if (condition->operands[0].type == OPERAND_PATH) {
        condition->type = CONDITION_ATTRIBUTE_NOT_EXISTS;
        return;
    }
    statement_term_add_operand(parser, &operands, &condition->operands[0]);
    statement_term_add_operand(parser, &operands, &condition->operands[0]);
    *condition = (struct condition){ .type = CONDITION_COMPARE,
                                     .comparator = COMPARE_NOT_EQUAL,
                                     .operands = operands.items,
                                     .operand_count = operands.count };
}

/* `token` is the IS. */
static bool is_type(struct statement_parser *parser, struct statement_token token,
                    struct condition *condition)
{
    static const struct {
        enum statement_keyword keyword;
        enum value_type type;
    } types[] = {
        { KEYWORD_NULL, VALUE_NULL }, { KEYWORD_BOOL, VALUE_BOOL }, { KEYWORD_BOOLEAN, VALUE_BOOL },
        { KEYWORD_STRING, VALUE_S },  { KEYWORD_LIST, VALUE_L },    { KEYWORD_STRUCT, VALUE_M },
        { KEYWORD_TUPLE, VALUE_M },   { KEYWORD_NUMERIC, VALUE_N }, { KEYWORD_BLOB, VALUE_B },
    };
    if (statement_parser_accept_keyword(parser, KEYWORD_MISSING)) {
        is_missing(parser, condition);
        return true;
    }
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        if (statement_parser_accept_keyword(parser, types[i].keyword)) {
            condition->type = CONDITION_ATTRIBUTE_TYPE;
            condition->attribute_type = types[i].type;
            return true;
        }
    }
    if (parser->token.type != STATEMENT_KEYWORD)
        return statement_parser_unexpected(parser);
    return statement_parser_fail_at(
        parser, token,
        "Unsupported data type for IS operator: %.*s. Supported data types are [MISSING, NULL, "
        "BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST]",
        BYTES_FMT(statement_parser_text(parser, parser->token)));
}

static bool is(struct statement_parser *parser, struct statement_token token,
               struct statement_term *out)
{
    struct statement_operands operands = { .count = 0 };
    bool negated = statement_parser_accept_keyword(parser, KEYWORD_NOT);
    if (out->type != TERM_OPERAND || !out->is_plain)
        return statement_parser_fail(parser, "The left hand side argument to IS must be a Variable "
                                             "Reference, Literal, or Path");
    statement_term_add_operand(parser, &operands, &out->operand);
    struct condition *condition = arena_alloc_zeroed(parser->arena, sizeof *condition);
    condition->operands = operands.items;
    condition->operand_count = operands.count;
    if (!is_type(parser, token, condition))
        return false;
    *out =
        (struct statement_term){ .type = TERM_CONDITION, .condition = condition, .token = token };
    if (negated)
        join(parser, CONDITION_NOT, condition, NULL, token, out);
    return !negated || statement_term_count_operator(parser);
}

/* --- Between AND, OR and NOT --- */

/* BETWEEN, IN, both perhaps behind NOT, and IS. `*found` is false if none of them follows. */
static bool word_comparison(struct statement_parser *parser, struct statement_term *out,
                            bool *found)
{
    bool negated = statement_parser_accept_keyword(parser, KEYWORD_NOT);
    struct statement_token token = parser->token;
    bool ok;
    *found = true;
    if (statement_parser_accept_keyword(parser, KEYWORD_BETWEEN)) {
        ok = between(parser, token, out);
    } else if (statement_parser_accept_keyword(parser, KEYWORD_IN)) {
        ok = in(parser, token, out);
    } else if (token.keyword == KEYWORD_LIKE) {
        return statement_term_fail_operator(parser, token);
    } else if (negated) {
        return statement_parser_unexpected(parser);
    } else if (statement_parser_accept_keyword(parser, KEYWORD_IS)) {
        ok = is(parser, token, out);
    } else {
        *found = false;
        return true;
    }
    if (!ok || !negated)
        return ok;
    join(parser, CONDITION_NOT, out->condition, NULL, token, out);
    return statement_term_count_operator(parser);
}

static bool comparison(struct statement_parser *parser, struct statement_term *out)
{
    if (!statement_term_parse(parser, out))
        return false;
    for (;;) {
        enum comparator comparator;
        bool found = true;
        if (comparator_of(parser->token.type, &comparator)) {
            if (!compare(parser, comparator, out))
                return false;
        } else if (!word_comparison(parser, out, &found)) {
            return false;
        }
        if (!found)
            return true;
        if (!statement_term_count_operator(parser))
            return false;
    }
}

static bool negation(struct statement_parser *parser, struct statement_term *out)
{
    struct statement_token token = parser->token;
    size_t count = 0;
    for (; statement_parser_accept_keyword(parser, KEYWORD_NOT); count++) {
        if (!statement_term_count_operator(parser))
            return false;
    }
    if (!comparison(parser, out))
        return false;
    if (count > 0 && out->type != TERM_CONDITION)
        return statement_parser_fail(parser, "The argument to NOT must be a Type or Expression");
    for (; count > 0; count--)
        join(parser, CONDITION_NOT, out->condition, NULL, token, out);
    return true;
}

/* Parses parts that `keyword` joins. */
static bool junction(struct statement_parser *parser, enum statement_keyword keyword,
                     enum condition_type type,
                     bool (*part)(struct statement_parser *, struct statement_term *),
                     struct statement_term *out)
{
    if (!part(parser, out))
        return false;
    for (;;) {
        struct statement_token token = parser->token;
        struct statement_term right;
        if (!statement_parser_accept_keyword(parser, keyword))
            return true;
        if (!part(parser, &right) || !statement_term_count_operator(parser))
            return false;
        if (out->type != TERM_CONDITION || right.type != TERM_CONDITION)
            return statement_parser_fail(parser, "The arguments to AND/OR must be Expressions");
        join(parser, type, out->condition, right.condition, token, out);
    }
}

static bool and_list(struct statement_parser *parser, struct statement_term *out)
{
    return junction(parser, KEYWORD_AND, CONDITION_AND, negation, out);
}

/* Recursion from here to here passes statement_parser_enter. */
bool statement_expression_parse(struct statement_parser *parser, struct statement_term *out)
{
    return junction(parser, KEYWORD_OR, CONDITION_OR, and_list, out);
}

bool statement_expression_condition(struct statement_parser *parser, const struct condition **out)
{
    struct statement_term root;
    parser->kind = EXPRESSION_CONDITION;
    parser->operator_count = 0;
    if (!statement_expression_parse(parser, &root))
        return false;
    if (root.type != TERM_CONDITION)
        return statement_parser_fail(parser, "WHERE clause must contain an expression that "
                                             "resolves to a boolean");
    *out = root.condition;
    return true;
}

/* --- SET --- */

static const struct set_function {
    const char *name;
    const char *shown;
    enum update_action_type type;
} set_functions[] = {
    { "set_add", "SET_ADD", UPDATE_ADD },
    { "set_delete", "SET_DELETE", UPDATE_DELETE },
};

/* SET a = set_add(a, <<1>>): the ADD and DELETE of update expressions. */
static bool set_call(struct statement_parser *parser, const struct set_function *function,
                     const struct path *target, struct update_action *out)
{
    struct statement_token name = parser->token;
    struct statement_operands operands = { .count = 0 };
    statement_parser_advance(parser);
    statement_parser_advance(parser);
    struct statement_token first = parser->token;
    if (!statement_term_operands(parser, STATEMENT_CLOSE, ")", &operands))
        return false;
    if (operands.count != 2)
        return statement_parser_fail_at(parser, name, "%s must have exactly two arguments",
                                        function->shown);
    if (operands.items[0].type != OPERAND_PATH || !path_equal(&operands.items[0].path, target))
        return statement_parser_fail_at(parser, name,
                                        "The first argument to %s must equal the assignment value",
                                        function->shown);
    if (operands.items[1].type != OPERAND_VALUE || !value_type_is_set(operands.items[1].value.type))
        return statement_parser_fail_at(parser, first,
                                        "The second argument to %s must be a value with type SET",
                                        function->shown);
    *out = (struct update_action){ .type = function->type,
                                   .path = *target,
                                   .operand = statement_term_keep(parser, &operands.items[1]) };
    return statement_term_count_operator(parser);
}

bool statement_expression_assignment(struct statement_parser *parser, const struct path *target,
                                     struct update_action *out)
{
    struct statement_term value;
    enum comparator comparator;
    parser->kind = EXPRESSION_UPDATE;
    if (statement_term_call_begins(parser)) {
        struct bytes name = statement_term_lower_case(parser, parser->token);
        for (size_t i = 0; i < COUNT_OF(set_functions); i++) {
            if (bytes_equal_text(name, set_functions[i].name))
                return set_call(parser, &set_functions[i], target, out);
        }
    }
    if (!statement_term_parse(parser, &value) || !statement_term_check_operand(parser, &value))
        return false;
    if (comparator_of(parser->token.type, &comparator))
        return statement_term_fail_operator(parser, parser->token);
    *out = (struct update_action){ .type = UPDATE_SET,
                                   .path = *target,
                                   .operand = statement_term_keep(parser, &value.operand) };
    return true;
}
