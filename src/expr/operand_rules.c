/* operand_rules.c -- see operand_rules.h.
 *
 * The order of checks differs by operator, as in the service: functions compare their operands with
 * each other before they check types, BETWEEN does it the other way round.
 */
#include "expr/operand_rules.h"
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "expr/path.h"
#include "expr/lookup.h"
#include "json/base64.h"
#include "json/utf8.h"
#include "model/number.h"
#include "model/value.h"
#include "model/value_json.h"

/* --- Functions --- */

static const struct function functions[] = {
    [FUNCTION_ATTRIBUTE_EXISTS] = { "attribute_exists", EXPRESSION_CONDITION, false, 1 },
    [FUNCTION_ATTRIBUTE_NOT_EXISTS] = { "attribute_not_exists", EXPRESSION_CONDITION, false, 1 },
    [FUNCTION_ATTRIBUTE_TYPE] = { "attribute_type", EXPRESSION_CONDITION, false, 2 },
    [FUNCTION_BEGINS_WITH] = { "begins_with", EXPRESSION_CONDITION, false, 2 },
    [FUNCTION_CONTAINS] = { "contains", EXPRESSION_CONDITION, false, 2 },
    [FUNCTION_SIZE] = { "size", EXPRESSION_CONDITION, true, 1 },
    [FUNCTION_IF_NOT_EXISTS] = { "if_not_exists", EXPRESSION_UPDATE, true, 2 },
    [FUNCTION_LIST_APPEND] = { "list_append", EXPRESSION_UPDATE, false, 2 },
};
static_assert(COUNT_OF(functions) == FUNCTION_COUNT, "each function has its row");

const struct function *operand_rules_function(enum function_id id)
{
    assert(id < FUNCTION_COUNT);
    return &functions[id];
}

enum function_id operand_rules_find_function(struct bytes name)
{
    for (enum function_id id = 0; id < FUNCTION_COUNT; id++) {
        if (bytes_equal_text(name, functions[id].name))
            return id;
    }
    return FUNCTION_COUNT;
}

enum condition_type operand_rules_condition_type(enum function_id id)
{
    switch (id) {
    case FUNCTION_ATTRIBUTE_EXISTS:
        return CONDITION_ATTRIBUTE_EXISTS;
    case FUNCTION_ATTRIBUTE_NOT_EXISTS:
        return CONDITION_ATTRIBUTE_NOT_EXISTS;
    case FUNCTION_ATTRIBUTE_TYPE:
        return CONDITION_ATTRIBUTE_TYPE;
    case FUNCTION_BEGINS_WITH:
        return CONDITION_BEGINS_WITH;
    default:
        assert(id == FUNCTION_CONTAINS);
        return CONDITION_CONTAINS;
    }
}

/* --- Rules --- */

static const char valid_types[] = "{N,BS,L,B,NULL,M,S,SS,NS,BOOL}";
/* The service's name for the type of an operand that depends on the item. */
static const char any_type[] = "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}";

enum {
    TYPES_WITH_ORDER = 1u << VALUE_S | 1u << VALUE_N | 1u << VALUE_B,
    TYPES_WITH_PREFIX = 1u << VALUE_S | 1u << VALUE_B,
    TYPES_WITH_SIZE = 1u << VALUE_S | 1u << VALUE_B | 1u << VALUE_L | 1u << VALUE_M |
                      1u << VALUE_SS | 1u << VALUE_NS | 1u << VALUE_BS,
};

/* The context of the checks of one operator. */
struct check {
    struct arena *arena;
    const char *name; /* The name of the operator or function. */
    struct bytes *message;
};

static bool fail(const struct check *check, const char *format, ...) PRINTF_LIKE(2, 3);
static bool fail(const struct check *check, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    *check->message = arena_vprintf(check->arena, format, arguments);
    va_end(arguments);
    return false;
}

/* --- Counts and paths --- */

bool operand_rules_check_count(struct arena *arena, enum function_id function, size_t operand_count,
                               struct bytes *message)
{
    struct check check = { arena, operand_rules_function(function)->name, message };
    if (operand_count == operand_rules_function(function)->operand_count)
        return true;
    return fail(&check,
                "Incorrect number of operands for operator or function; operator or function: %s, "
                "number of operands: %zu",
                check.name, operand_count);
}

bool operand_rules_check_path(struct arena *arena, const struct path *path, struct bytes *message)
{
    struct check check = { arena, NULL, message };
    return path->step_count <= OPERAND_RULES_PATH_STEPS_MAX ||
           fail(&check, "The document path has too many nesting levels; nesting levels: %zu",
                path->step_count);
}

bool operand_rules_check_disjoint(struct arena *arena, const struct path *one,
                                  const struct path *two, struct bytes *message)
{
    assert(one->step_count > 0 && two->step_count > 0);
    struct check check = { arena, NULL, message };
    enum path_relation relation = path_relate(one, two);
    return relation == PATHS_DISJOINT ||
           fail(&check,
                "Two document paths %s with each other; must remove or rewrite one of these paths; "
                "path one: %.*s, path two: %.*s",
                relation == PATHS_OVERLAP ? "overlap" : "conflict",
                BYTES_FMT(path_format(arena, one)), BYTES_FMT(path_format(arena, two)));
}

static int compare_paths(const void *left, const void *right)
{
    return path_compare(*(const struct path *const *)left, *(const struct path *const *)right);
}

bool operand_rules_check_all_disjoint(struct arena *arena, const struct path *paths, size_t count,
                                      struct bytes *message)
{
    const struct path **sorted = arena_alloc(arena, count * sizeof(*sorted));
    for (size_t i = 0; i < count; i++)
        sorted[i] = &paths[i];
    if (count > 1)
        qsort(sorted, count, sizeof(*sorted), compare_paths);
    for (size_t i = 1; i < count; i++) {
        bool in_order = sorted[i - 1] < sorted[i];
        if (!operand_rules_check_disjoint(arena, sorted[in_order ? i - 1 : i],
                                          sorted[in_order ? i : i - 1], message))
            return false;
    }
    return true;
}

bool operand_rules_check_operator_count(struct arena *arena, size_t count, struct bytes *message)
{
    struct check check = { arena, NULL, message };
    /* The service reports no larger number than this. */
    return count <= OPERAND_RULES_OPERATORS_MAX ||
           fail(&check, "The expression contains too many operators; operator count: %d",
                OPERAND_RULES_OPERATORS_MAX + 1);
}

/* --- Operands --- */

/* False if the operand's type depends on the item. */
static bool known_type(const struct operand *operand, enum value_type *out)
{
    if (operand->type == OPERAND_PATH)
        return false;
    *out = operand->type == OPERAND_SIZE ? VALUE_N : operand->value.type;
    return true;
}

static bool fail_type(const struct check *check, const char *type_name)
{
    return fail(check,
                "Incorrect operand type for operator or function; operator or function: %s, "
                "operand type: %s",
                check->name, type_name);
}

static bool fail_distinct(const struct check *check, const struct path *path)
{
    return fail(check,
                "The first operand must be distinct from the remaining operands for this operator "
                "or function; operator: %s, first operand: %.*s",
                check->name, BYTES_FMT(path_format(check->arena, path)));
}

static bool require_path(const struct check *check, const struct operand *operand)
{
    return operand->type == OPERAND_PATH ||
           fail(check, "Operator or function requires a document path; operator or function: %s",
                check->name);
}

static bool check_distinct(const struct check *check, const struct condition *condition)
{
    const struct operand *first = &condition->operands[0];
    if (first->type != OPERAND_PATH)
        return true;
    for (size_t i = 1; i < condition->operand_count; i++) {
        const struct operand *other = &condition->operands[i];
        if (other->type == OPERAND_PATH && path_equal(&first->path, &other->path))
            return fail_distinct(check, &first->path);
    }
    return true;
}

/* `allowed`: one bit per value type. */
static bool check_type(const struct check *check, const struct operand *operand, unsigned allowed)
{
    enum value_type type;
    return !known_type(operand, &type) || (allowed & (1u << type)) != 0 ||
           fail_type(check, value_type_name(type));
}

static bool check_types(const struct check *check, const struct condition *condition,
                        unsigned allowed)
{
    for (size_t i = 0; i < condition->operand_count; i++) {
        if (!check_type(check, &condition->operands[i], allowed))
            return false;
    }
    return true;
}

/* --- BETWEEN --- */

static bool fail_bounds(const struct check *check, const char *rule, const struct value *low,
                        const struct value *high)
{
    return fail(check,
                "The BETWEEN operator requires %s; lower bound operand: AttributeValue: {%s:%.*s}, "
                "upper bound operand: AttributeValue: {%s:%.*s}",
                rule, value_type_name(low->type),
                BYTES_FMT(value_json_scalar_text(check->arena, low)), value_type_name(high->type),
                BYTES_FMT(value_json_scalar_text(check->arena, high)));
}

static bool is_plain_value(const struct operand *operand)
{
    return operand->type == OPERAND_VALUE && operand->left == NULL;
}

static bool check_bounds(const struct check *check, const struct condition *condition)
{
    const struct operand *operands = condition->operands;
    if (!is_plain_value(&operands[1]) || !is_plain_value(&operands[2]))
        return true;
    const struct value *low = &operands[1].value;
    const struct value *high = &operands[2].value;
    if (low->type != high->type)
        return fail_bounds(check, "same data type for lower and upper bounds", low, high);
    /* Strings, binary values and encoded numbers are all ordered by their bytes. */
    if (bytes_compare(low->data, high->data) > 0)
        return fail_bounds(check, "upper bound to be greater than or equal to lower bound", low,
                           high);
    return true;
}

/* --- Conditions --- */

static bool name_type(const struct check *check, struct condition *condition)
{
    const struct operand *name = &condition->operands[1];
    enum value_type type;
    if (!known_type(name, &type))
        return fail_type(check, any_type);
    if (type != VALUE_S)
        return fail_type(check, value_type_name(type));
    if (!value_type_parse(name->value.data, &condition->attribute_type))
        return fail(check, "Invalid attribute type name found; type: %.*s, valid types: %s",
                    BYTES_FMT(name->value.data), valid_types);
    return true;
}

static bool check_compare(const struct check *check, const struct condition *condition)
{
    bool ordered =
        condition->comparator != COMPARE_EQUAL && condition->comparator != COMPARE_NOT_EQUAL;
    return (!ordered || check_types(check, condition, TYPES_WITH_ORDER)) &&
           check_distinct(check, condition);
}

static bool check_in(const struct check *check, const struct condition *condition)
{
    size_t count = condition->operand_count - 1;
    if (count > OPERAND_RULES_IN_MAX)
        return fail(check,
                    "The IN operator is provided with too many operands; number of operands: %zu",
                    count);
    return check_distinct(check, condition);
}

static const char *condition_name(const struct condition *condition)
{
    static const char *const comparators[] = {
        [COMPARE_EQUAL] = "=",       [COMPARE_NOT_EQUAL] = "<>", [COMPARE_LESS] = "<",
        [COMPARE_LESS_EQUAL] = "<=", [COMPARE_GREATER] = ">",    [COMPARE_GREATER_EQUAL] = ">=",
    };
    switch (condition->type) {
    case CONDITION_COMPARE:
        return comparators[condition->comparator];
    case CONDITION_BETWEEN:
        return "BETWEEN";
    case CONDITION_IN:
        return "IN";
    case CONDITION_ATTRIBUTE_EXISTS:
        return operand_rules_function(FUNCTION_ATTRIBUTE_EXISTS)->name;
    case CONDITION_ATTRIBUTE_NOT_EXISTS:
        return operand_rules_function(FUNCTION_ATTRIBUTE_NOT_EXISTS)->name;
    case CONDITION_ATTRIBUTE_TYPE:
        return operand_rules_function(FUNCTION_ATTRIBUTE_TYPE)->name;
    case CONDITION_BEGINS_WITH:
        return operand_rules_function(FUNCTION_BEGINS_WITH)->name;
    case CONDITION_CONTAINS:
        return operand_rules_function(FUNCTION_CONTAINS)->name;
    case CONDITION_AND:
    case CONDITION_OR:
    case CONDITION_NOT:
        break;
    }
    assert(false); /* They have no operands. */
    return "";
}

bool operand_rules_check_condition(struct arena *arena, struct condition *condition,
                                   struct bytes *message)
{
    struct check check = { arena, condition_name(condition), message };
    switch (condition->type) {
    case CONDITION_COMPARE:
        return check_compare(&check, condition);
    case CONDITION_BETWEEN:
        return check_types(&check, condition, TYPES_WITH_ORDER) &&
               check_distinct(&check, condition) && check_bounds(&check, condition);
    case CONDITION_IN:
        condition->list =
            lookup_values_of_operands(arena, condition->operands + 1, condition->operand_count - 1);
        return check_in(&check, condition);
    case CONDITION_ATTRIBUTE_EXISTS:
    case CONDITION_ATTRIBUTE_NOT_EXISTS:
        return require_path(&check, &condition->operands[0]);
    case CONDITION_ATTRIBUTE_TYPE:
        return check_distinct(&check, condition) && name_type(&check, condition);
    case CONDITION_BEGINS_WITH:
        return check_distinct(&check, condition) &&
               check_types(&check, condition, TYPES_WITH_PREFIX);
    default:
        assert(condition->type == CONDITION_CONTAINS);
        return check_distinct(&check, condition);
    }
}

/* --- Operands made of others --- */

/* size(:value) can be evaluated now. */
static struct value size_value(struct arena *arena, const struct value *value)
{
    uint64_t size = value->count;
    if (value->type == VALUE_S)
        size = utf8_utf16_length(value->data);
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
    buffer_init(&out, arena);
    value_append_number(&out, bytes_of(encoded, len));
    return value_view(buffer_bytes(&out));
}

bool operand_rules_size(struct arena *arena, const struct operand *of, struct operand *out,
                        struct bytes *message)
{
    struct check check = { arena, operand_rules_function(FUNCTION_SIZE)->name, message };
    if (!check_type(&check, of, TYPES_WITH_SIZE))
        return false;
    if (of->type == OPERAND_VALUE)
        *out = (struct operand){ .type = OPERAND_VALUE,
                                 .value = size_value(arena, &of->value),
                                 .left = of };
    else
        *out = (struct operand){ .type = OPERAND_SIZE, .path = of->path };
    return true;
}

static bool combine_if_not_exists(const struct check *check, const struct operand *first,
                                  const struct operand *second, struct operand *out)
{
    if (!require_path(check, first))
        return false;
    if (second->type == OPERAND_PATH && path_equal(&first->path, &second->path))
        return fail_distinct(check, &first->path);
    *out = (struct operand){
        .type = OPERAND_IF_NOT_EXISTS,
        .path = first->path,
        .right = second,
    };
    return true;
}

/* A type that depends on the item or on another operator is checked during evaluation. */
static bool check_value(const struct check *check, const struct operand *operand,
                        enum value_type needed)
{
    return operand->type != OPERAND_VALUE || operand->value.type == needed ||
           fail_type(check, value_type_name(operand->value.type));
}

bool operand_rules_combine(struct arena *arena, enum operand_type type, const struct operand *first,
                           const struct operand *second, struct operand *out, struct bytes *message)
{
    struct check check = { arena, type == OPERAND_PLUS ? "+" : "-", message };
    enum value_type needed = VALUE_N;
    if (type == OPERAND_IF_NOT_EXISTS) {
        check.name = operand_rules_function(FUNCTION_IF_NOT_EXISTS)->name;
        return combine_if_not_exists(&check, first, second, out);
    }
    if (type == OPERAND_LIST_APPEND) {
        check.name = operand_rules_function(FUNCTION_LIST_APPEND)->name;
        needed = VALUE_L;
    }
    if (!check_value(&check, first, needed) || !check_value(&check, second, needed))
        return false;
    *out = (struct operand){ .type = type, .left = first, .right = second };
    return true;
}
