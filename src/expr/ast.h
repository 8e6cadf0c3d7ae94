/* ast.h -- compiled expressions: every #name and :value resolved.
 *
 * Plain values in the request's arena, read by the evaluators and never changed. The older
 * parameters (Expected, AttributeUpdates, KeyConditions, ...) are translated into the same
 * structures, so there is one evaluator for both.
 */
#ifndef STATOR_EXPR_AST_H
#define STATOR_EXPR_AST_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "model/value.h"

struct lookup_values;

/* a.b[3].c: the first step is always a name. */
struct path_step {
    struct bytes name; /* data NULL: an index. */
    uint32_t index;
};
struct path {
    const struct path_step *steps;
    size_t step_count;
};

enum operand_type {
    OPERAND_PATH,
    OPERAND_VALUE,
    OPERAND_SIZE, /* size(path): conditions only. */
    /* Values of SET only. */
    OPERAND_PLUS,
    OPERAND_MINUS,
    OPERAND_IF_NOT_EXISTS, /* The value at `path`, or `right` if there is none. */
    OPERAND_LIST_APPEND,
};
struct operand {
    enum operand_type type;
    struct path path;   /* PATH, SIZE, IF_NOT_EXISTS */
    struct value value; /* VALUE */
    const struct operand *left;
    const struct operand *right;
};

enum comparator {
    COMPARE_EQUAL,
    COMPARE_NOT_EQUAL,
    COMPARE_LESS,
    COMPARE_LESS_EQUAL,
    COMPARE_GREATER,
    COMPARE_GREATER_EQUAL,
};

enum condition_type {
    CONDITION_AND,
    CONDITION_OR,
    CONDITION_NOT,     /* `left` only. */
    CONDITION_COMPARE, /* operands[0] comparator operands[1] */
    CONDITION_BETWEEN, /* operands[0] BETWEEN operands[1] AND operands[2] */
    CONDITION_IN,      /* operands[0] IN (operands[1], ...) */
    CONDITION_ATTRIBUTE_EXISTS,
    CONDITION_ATTRIBUTE_NOT_EXISTS,
    CONDITION_ATTRIBUTE_TYPE, /* operands[0] is of `attribute_type`. */
    CONDITION_BEGINS_WITH,
    CONDITION_CONTAINS,
};
struct condition {
    enum condition_type type;
    enum comparator comparator;
    enum value_type attribute_type;
    const struct condition *left; /* AND, OR, NOT */
    const struct condition *right;
    const struct operand *operands; /* The others. */
    size_t operand_count;
    /* IN: its values, if there are many (lookup.h). NULL: see `operands`. An older parameter with
     * many values has no operands. */
    struct lookup_values *list;
};

struct projection {
    const struct path *paths; /* In the order of the text; none overlaps another. */
    size_t path_count;
};

/* A part of an item that is shown under a name of its own: PartiQL's SELECT a.b shows it as b. */
struct projection_column {
    struct bytes name;
    struct path path;
};

enum update_action_type { UPDATE_SET, UPDATE_REMOVE, UPDATE_ADD, UPDATE_DELETE };
struct update_action {
    enum update_action_type type;
    struct path path;
    const struct operand *operand; /* SET: what to store; ADD, DELETE: a value; REMOVE: NULL. */
};
struct update {
    const struct update_action *actions; /* In the order of the text; no two paths overlap. */
    size_t action_count;
    bool is_legacy; /* From AttributeUpdates, whose messages about wrong types differ. */
};

/* One term of a key condition: `name` = / < / ... / BETWEEN / begins_with. */
enum key_term_type { KEY_TERM_COMPARE, KEY_TERM_BETWEEN, KEY_TERM_BEGINS_WITH };
struct key_term {
    struct bytes name;
    enum key_term_type type;
    enum comparator comparator; /* Never COMPARE_NOT_EQUAL. */
    struct value values[2];     /* The second: BETWEEN's upper bound. */
};
struct key_condition {
    const struct key_term *terms; /* In the order of the text, one per attribute. */
    size_t term_count;
    bool is_legacy; /* From KeyConditions. */
};

#endif
