/* function.h -- the functions of conditions and updates. */
#ifndef STATOR_EXPR_FUNCTION_H
#define STATOR_EXPR_FUNCTION_H
#include <stdbool.h>
#include "base/bytes.h"
#include "expr/ast.h"

enum function_id {
    FUNCTION_ATTRIBUTE_EXISTS,
    FUNCTION_ATTRIBUTE_NOT_EXISTS,
    FUNCTION_ATTRIBUTE_TYPE,
    FUNCTION_BEGINS_WITH,
    FUNCTION_CONTAINS,
    FUNCTION_SIZE,
    FUNCTION_IF_NOT_EXISTS,
    FUNCTION_LIST_APPEND,
    FUNCTION_COUNT,
};

enum expression_kind { EXPRESSION_CONDITION, EXPRESSION_UPDATE, EXPRESSION_PROJECTION };

struct function {
    const char *name;
    enum expression_kind kind; /* Where it may be used. */
    bool is_operand;           /* Has a value, so that it may stand inside others. */
    unsigned operand_count;
};

const struct function *function_get(enum function_id id);
/* FUNCTION_COUNT if there is none of that name. */
enum function_id function_find(struct bytes name);
/* What a function of conditions, other than size(), is compiled to. */
enum condition_type function_condition_type(enum function_id id);

#endif
