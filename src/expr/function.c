/* function.c -- see function.h. */
#include "expr/function.h"
#include <assert.h>
#include "base/compiler.h"

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

const struct function *function_get(enum function_id id)
{
    assert(id < FUNCTION_COUNT);
    return &functions[id];
}

enum function_id function_find(struct bytes name)
{
    for (enum function_id id = 0; id < FUNCTION_COUNT; id++) {
        if (bytes_equal_text(name, functions[id].name))
            return id;
    }
    return FUNCTION_COUNT;
}

enum condition_type function_condition_type(enum function_id id)
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
