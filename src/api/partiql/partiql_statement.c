/* partiql_statement.c -- see partiql_statement.h. */
#include "api/partiql/partiql_statement.h"
#include <assert.h>
#include "api/common_shapes.h"
#include "api/item/item_shapes.h"
#include "api/operation.h"
#include "api/table/table_name.h"
#include "api/transaction/transaction.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "json/base64.h"
#include "metric/meter.h"
#include "model/error.h"
#include "model/item.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "model/value.h"
#include "partiql/statement.h"
#include "table/token_record.h"

/* --- Shapes --- */

static const struct shape statement_shape = { .kind = SHAPE_STRING,
                                              .min = 1,
                                              .max = STATEMENT_SIZE_MAX };
static const struct shape parameters_shape = {
    .kind = SHAPE_LIST, .element = &common_attribute_value, .min = 1, .max = SHAPE_NO_MAX
};
/* Observed: an empty NextToken is reported as invalid, not as too short: no minimum. */
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

static const struct shape_field explain_statement_fields[] = {
    { SHAPE_FIELD(struct explain_statement_request, statement.statement.statement, "Statement",
                  &statement_shape) },
    { SHAPE_FIELD(struct explain_statement_request, statement.statement.parameters, "Parameters",
                  &parameters_shape) },
    { SHAPE_FIELD(struct explain_statement_request, statement.statement.consistent_read,
                  "ConsistentRead", &common_boolean) },
    { SHAPE_FIELD(struct explain_statement_request, query, "Query", &query_shape) },
    { SHAPE_FIELD(struct explain_statement_request, scan, "Scan", &scan_shape) },
};
const struct shape explain_statement_shape = { SHAPE_STRUCTURE_OF(struct explain_statement_request,
                                                                  explain_statement_fields),
                                               .type_name = "ExplainStatementInput" };

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

/* --- Statements --- */

static const struct shape_value *parameter_at(const struct statement_request *request, size_t index)
{
    return (const struct shape_value *)request->parameters.elements + index;
}

bool partiql_statement_check_values(struct api_call *call, const struct statement_request *request)
{
    for (size_t i = 0; i < request->parameters.count; i++) {
        if (!operation_check_rule(call, parameter_at(request, i)->rule))
            return false;
    }
    return true;
}

bool partiql_statement_parse(struct api_call *call, const struct statement_request *request,
                             struct statement *out, struct error *err)
{
    size_t count = request->parameters.count;
    struct value *values = arena_alloc(call->arena, count * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = value_view(parameter_at(request, i)->encoded);
    const struct statement_parameters parameters = { .values = values, .count = count };
    return statement_parse(call->arena, request->statement, &parameters, out, err);
}

bool partiql_statement_check_table_name(const struct statement *statement, struct error *err)
{
    struct bytes name = statement->table_name;
    if (table_name_is_arn(name) || (table_name_matches(name) && name.len >= TABLE_NAME_SIZE_MIN &&
                                    name.len <= TABLE_NAME_SIZE_MAX))
        return true;
    return error_validation(err, "Table name should be within the length [3, 255] and only contain "
                                 "'a-z', 'A-Z', '0-9', '-', '_', '.'.");
}

bool partiql_statement_check_paths(const struct statement *statement,
                                   const struct table_definition *table, struct error *err)
{
    const struct bytes names[] = { table->key.hash.name, table->key.range.name };
    return expr_params_check_key_paths(&statement->params, names, table->key.has_range ? 2 : 1,
                                       err);
}

bool partiql_statement_is_read(const struct statement *statement)
{
    return statement->type == STATEMENT_TYPE_SELECT;
}

uint8_t partiql_statement_verb(const struct statement *statement)
{
    switch (statement->type) {
    case STATEMENT_TYPE_SELECT:
        return METER_VERB_SELECT;
    case STATEMENT_TYPE_INSERT:
        return METER_VERB_INSERT;
    case STATEMENT_TYPE_UPDATE:
    case STATEMENT_TYPE_EXISTS: /* A check among writes. */
        return METER_VERB_UPDATE;
    case STATEMENT_TYPE_DELETE:
        return METER_VERB_DELETE;
    }
    assert(false);
    return METER_VERB_NONE;
}

void partiql_statement_add_hash(struct token_hash *hash, const struct statement_request *request)
{
    token_hash_add(hash, request->statement);
    for (size_t i = 0; i < request->parameters.count; i++)
        token_hash_add(hash, parameter_at(request, i)->encoded);
}

/* --- NextToken ---
 *
 * In base64: one byte of version, the fingerprint, and the key in the encoding of items, whose
 * checksum vouches for it.
 */

enum { TOKEN_VERSION = 1, KEY_AT = 1 + sizeof(struct token_hash) };

static struct token_hash fingerprint(const struct statement_request *request)
{
    struct token_hash hash = { { 0 } };
    partiql_statement_add_hash(&hash, request);
    return hash;
}

struct bytes partiql_statement_format_token(struct arena *arena,
                                            const struct statement_request *request,
                                            const struct item *last_key)
{
    struct token_hash hash = fingerprint(request);
    struct buffer out;
    buffer_init(&out, arena);
    buffer_append_byte(&out, TOKEN_VERSION);
    buffer_append(&out, &hash, sizeof hash);
    buffer_append_bytes(&out, last_key->encoded);
    size_t len = base64_encoded_size(out.len);
    assert(len <= STATEMENT_NEXT_TOKEN_SIZE_MAX);
    char *text = arena_alloc(arena, len);
    base64_encode(buffer_bytes(&out), text);
    return bytes_of(text, len);
}

bool partiql_statement_refuse_token(struct error *err)
{
    return error_validation(err, "Invalid NextToken");
}

bool partiql_statement_parse_token(struct arena *arena, struct bytes token,
                                   const struct statement_request *request, struct item *last_key,
                                   struct error *err)
{
    struct token_hash hash = fingerprint(request);
    uint8_t *data = arena_alloc(arena, base64_decoded_max(token.len));
    size_t size;
    if (!base64_decode(token, data, &size) || size < KEY_AT || data[0] != TOKEN_VERSION ||
        !item_open(bytes_of(&data[KEY_AT], size - KEY_AT), last_key) || !item_verify(last_key))
        return partiql_statement_refuse_token(err);
    return memcmp(&data[1], &hash, sizeof hash) == 0 ||
           error_validation(err, "NextToken does not match request");
}
