/* partiql_shapes.c -- the service model of the PartiQL operations.
 *
 * Observed: a NextToken that is empty is invalid like any other that is none, so its shape has no
 * minimum.
 */
#include "api/partiql/partiql_shapes.h"
#include "api/common_shapes.h"
#include "api/item/item_shapes.h"
#include "api/transaction/transaction_shapes.h"
#include "base/compiler.h"
#include "model/limits.h"

static const struct shape statement_shape = { .kind = SHAPE_STRING,
                                              .min = 1,
                                              .max = STATEMENT_SIZE_MAX };
static const struct shape parameters_shape = {
    .kind = SHAPE_LIST, .element = &common_attribute_value, .min = 1, .max = SHAPE_NO_MAX
};
static const struct shape next_token_shape = { .kind = SHAPE_STRING,
                                               .min = SHAPE_NO_MIN,
                                               .max = STATEMENT_NEXT_TOKEN_SIZE_MAX };
static const struct shape limit_shape = { .kind = SHAPE_INTEGER, .min = 1, .max = SHAPE_NO_MAX };

static const struct shape_field execute_statement_fields[] = {
    { SHAPE_FIELD(struct execute_statement_request, statement.statement, "Statement",
                  &statement_shape),
      .required = true },
    { SHAPE_FIELD(struct execute_statement_request, statement.parameters, "Parameters",
                  &parameters_shape) },
    { SHAPE_FIELD(struct execute_statement_request, statement.consistent_read, "ConsistentRead",
                  &common_boolean) },
    { SHAPE_FIELD(struct execute_statement_request, next_token, "NextToken", &next_token_shape) },
    { SHAPE_FIELD(struct execute_statement_request, return_consumed_capacity,
                  "ReturnConsumedCapacity", &common_return_consumed_capacity) },
    { SHAPE_FIELD(struct execute_statement_request, limit, "Limit", &limit_shape) },
    { SHAPE_FIELD(struct execute_statement_request,
                  statement.return_values_on_condition_check_failure,
                  "ReturnValuesOnConditionCheckFailure", &item_on_check_failure_shape) },
};
const struct shape execute_statement_shape = { SHAPE_STRUCTURE_OF(struct execute_statement_request,
                                                                  execute_statement_fields),
                                               .type_name = "ExecuteStatementInput" };

static const struct shape_field batch_statement_fields[] = {
    { SHAPE_FIELD(struct statement_request, statement, "Statement", &statement_shape),
      .required = true },
    { SHAPE_FIELD(struct statement_request, parameters, "Parameters", &parameters_shape) },
    { SHAPE_FIELD(struct statement_request, consistent_read, "ConsistentRead", &common_boolean) },
    { SHAPE_FIELD(struct statement_request, return_values_on_condition_check_failure,
                  "ReturnValuesOnConditionCheckFailure", &item_on_check_failure_shape) },
};
static const struct shape batch_statement_shape = {
    SHAPE_STRUCTURE_OF(struct statement_request, batch_statement_fields),
    .type_name = "BatchStatementRequest",
};
static const struct shape batch_statements_shape = {
    .kind = SHAPE_LIST, .element = &batch_statement_shape, .min = 1, .max = BATCH_STATEMENTS_MAX
};
static const struct shape_field batch_execute_statement_fields[] = {
    { SHAPE_FIELD(struct batch_execute_statement_request, statements, "Statements",
                  &batch_statements_shape),
      .required = true },
    { SHAPE_FIELD(struct batch_execute_statement_request, return_consumed_capacity,
                  "ReturnConsumedCapacity", &common_return_consumed_capacity) },
};
const struct shape batch_execute_statement_shape = {
    SHAPE_STRUCTURE_OF(struct batch_execute_statement_request, batch_execute_statement_fields),
    .type_name = "BatchExecuteStatementInput",
};

static const struct shape_field transact_statement_fields[] = {
    { SHAPE_FIELD(struct statement_request, statement, "Statement", &statement_shape),
      .required = true },
    { SHAPE_FIELD(struct statement_request, parameters, "Parameters", &parameters_shape) },
    { SHAPE_FIELD(struct statement_request, return_values_on_condition_check_failure,
                  "ReturnValuesOnConditionCheckFailure", &item_on_check_failure_shape) },
};
static const struct shape transact_statement_shape = {
    SHAPE_STRUCTURE_OF(struct statement_request, transact_statement_fields),
    .type_name = "ParameterizedStatement",
};
static const struct shape transact_statements_shape = { .kind = SHAPE_LIST,
                                                        .element = &transact_statement_shape,
                                                        .min = 1,
                                                        .max = TRANSACTION_ACTIONS_MAX };
static const struct shape_field execute_transaction_fields[] = {
    { SHAPE_FIELD(struct execute_transaction_request, transact_statements, "TransactStatements",
                  &transact_statements_shape),
      .required = true },
    { SHAPE_FIELD(struct execute_transaction_request, client_request_token, "ClientRequestToken",
                  &transaction_token_shape) },
    { SHAPE_FIELD(struct execute_transaction_request, return_consumed_capacity,
                  "ReturnConsumedCapacity", &common_return_consumed_capacity) },
};
const struct shape execute_transaction_shape = {
    SHAPE_STRUCTURE_OF(struct execute_transaction_request, execute_transaction_fields),
    .type_name = "ExecuteTransactionInput",
};
