/* metric_math_parts.h -- the tree of an expression: for metric_math*.c only. */
#ifndef STATOR_CLOUDWATCH_METRIC_MATH_PARTS_H
#define STATOR_CLOUDWATCH_METRIC_MATH_PARTS_H
#include "cloudwatch/metric_math.h"

enum math_node_kind {
    MATH_NODE_NUMBER,
    MATH_NODE_TEXT,
    MATH_NODE_NAME,
    MATH_NODE_ARRAY,
    MATH_NODE_NEGATE,
    MATH_NODE_BINARY,
    MATH_NODE_CALL,
};

enum math_operator {
    MATH_NO_OPERATOR,
    MATH_OR,
    MATH_AND,
    MATH_EQUAL,
    MATH_NOT_EQUAL,
    MATH_LESS,
    MATH_GREATER,
    MATH_LESS_OR_EQUAL,
    MATH_GREATER_OR_EQUAL,
    MATH_ADD,
    MATH_SUBTRACT,
    MATH_MULTIPLY,
    MATH_DIVIDE,
    MATH_POWER,
};

struct math_node {
    enum math_node_kind kind;
    enum math_operator operator; /* MATH_NODE_BINARY */
    double number;
    struct bytes text; /* Of a text, a name, or the function that is called. */
    struct math_node *first;
    struct math_node *next; /* The next operand or argument of the same node. */
    size_t argument_count;
};

struct metric_math {
    const struct math_node *root;
};

/* An evaluation under way. */
struct math_run {
    struct arena *arena;
    const struct metric_math_environment *environment;
    struct metric_math_error *err;
    size_t own_points; /* If nobody else counts them. */
    size_t *points;    /* Made so far. */
};

/* metric_math_evaluate.c */
MUST_CHECK bool math_evaluate(struct math_run *run, const struct math_node *node,
                              struct math_value *out);
/* Room for the points of a new series; false: too many. */
MUST_CHECK bool math_reserve(struct math_run *run, size_t count, int64_t **times, double **values);
/* The same for the series of a new array. */
MUST_CHECK bool math_reserve_series(struct math_run *run, size_t count, struct math_series **out);
struct math_value math_of_series(struct math_run *run, struct math_series series);
/* Applies a function to a scalar or to each point; points that are not finite go. */
MUST_CHECK bool math_map(struct math_run *run, const struct math_value *value,
                         double (*function)(double value, const void *context), const void *context,
                         struct math_value *out);

/* metric_math_functions.c */
MUST_CHECK bool math_call(struct math_run *run, const struct math_node *node,
                          struct math_value *out);

#endif
