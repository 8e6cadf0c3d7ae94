/* partiql_shapes.h -- the requests of the PartiQL operations as their shapes read them. */
#ifndef STATOR_API_PARTIQL_PARTIQL_SHAPES_H
#define STATOR_API_PARTIQL_PARTIQL_SHAPES_H
#include "shape/shape.h"

/* What a statement comes with, wherever it stands. */
struct statement_request {
    struct bytes statement;
    struct shape_list parameters;         /* of struct shape_value */
    struct shape_boolean consistent_read; /* Not in ExecuteTransaction. */
    struct bytes return_values_on_condition_check_failure;
};

struct execute_statement_request {
    struct statement_request statement;
    struct bytes next_token;
    struct shape_integer limit;
    struct bytes return_consumed_capacity;
};

struct batch_execute_statement_request {
    struct shape_list statements; /* of struct statement_request * */
    struct bytes return_consumed_capacity;
};

struct execute_transaction_request {
    struct shape_list transact_statements; /* of struct statement_request * */
    struct bytes client_request_token;
    struct bytes return_consumed_capacity;
};

extern const struct shape execute_statement_shape;
extern const struct shape batch_execute_statement_shape;
extern const struct shape execute_transaction_shape;

#endif
