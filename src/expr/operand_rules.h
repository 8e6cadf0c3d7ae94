/* operand_rules.h -- the functions, and what operators and functions demand of their operands, in
 * any grammar.
 *
 * Expressions and PartiQL statements are read by different parsers into the same structures
 * (ast.h); what those may hold is decided here once. The messages are the service's, without the
 * name of the parameter that an expression's parser puts before them; they live in the arena.
 */
#ifndef STATOR_EXPR_OPERAND_RULES_H
#define STATOR_EXPR_OPERAND_RULES_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "expr/ast.h"
#include "model/limits.h"

struct arena;

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
    bool is_operand;           /* Has a value, so that it may be an operand of others. */
    unsigned operand_count;
};

const struct function *operand_rules_function(enum function_id id);
/* FUNCTION_COUNT if there is none of that name. */
enum function_id operand_rules_find_function(struct bytes name);
/* What a function of conditions, other than size(), is compiled to. */
enum condition_type operand_rules_condition_type(enum function_id id);

enum {
    OPERAND_RULES_IN_MAX = 100,
    OPERAND_RULES_OPERATORS_MAX = 300,
    OPERAND_RULES_PATH_STEPS_MAX = NESTING_DEPTH_MAX,
};

/* Those that return bool return false with `*message` set where a rule is broken. */

MUST_CHECK bool operand_rules_check_count(struct arena *arena, enum function_id function,
                                          size_t operand_count, struct bytes *message);
MUST_CHECK bool operand_rules_check_path(struct arena *arena, const struct path *path,
                                         struct bytes *message);
/* Two paths that an update changes or a projection shows; `one` comes first in the text. */
MUST_CHECK bool operand_rules_check_disjoint(struct arena *arena, const struct path *one,
                                             const struct path *two, struct bytes *message);
/* The same for all pairs; the paths are in the order of the text. Of several offending pairs, any
 * may be reported. */
MUST_CHECK bool operand_rules_check_all_disjoint(struct arena *arena, const struct path *paths,
                                                 size_t count, struct bytes *message);
MUST_CHECK bool operand_rules_check_operator_count(struct arena *arena, size_t count,
                                                   struct bytes *message);

/* A condition other than AND, OR and NOT, whose type, comparator and operands are set. Sets the
 * attribute_type that the second operand of a CONDITION_ATTRIBUTE_TYPE names, and the list of a
 * long IN. */
MUST_CHECK bool operand_rules_check_condition(struct arena *arena, struct condition *condition,
                                              struct bytes *message);

/* size(of): OPERAND_SIZE, or the size as a value where `of` is a value; `left` is then set, which
 * distinguishes it from a plain value. */
MUST_CHECK bool operand_rules_size(struct arena *arena, const struct operand *of,
                                   struct operand *out, struct bytes *message);
/* A value of SET: OPERAND_PLUS, OPERAND_MINUS, OPERAND_IF_NOT_EXISTS or OPERAND_LIST_APPEND. The
 * result borrows both operands. */
MUST_CHECK bool operand_rules_combine(struct arena *arena, enum operand_type type,
                                      const struct operand *first, const struct operand *second,
                                      struct operand *out, struct bytes *message);

#endif
