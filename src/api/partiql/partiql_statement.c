/* partiql_statement.c -- see partiql_statement.h. */
#include "api/partiql/partiql_statement.h"
#include "api/operation.h"
#include "api/partiql/partiql_shapes.h"
#include "api/table/table_name.h"
#include "base/arena.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "model/value.h"
#include "partiql/statement_parse.h"
#include "table/token_record.h"

static const struct shape_value *parameter_at(const struct statement_request *request, size_t index)
{
    return (const struct shape_value *)request->parameters.elements + index;
}

bool partiql_statement_check_values(struct api_call *call, const struct statement_request *request)
{
    for (size_t i = 0; i < request->parameters.count; i++) {
        if (!operation_check_rule(call, &parameter_at(request, i)->rule))
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

void partiql_statement_add_hash(struct token_hash *hash, const struct statement_request *request)
{
    token_hash_add(hash, request->statement);
    for (size_t i = 0; i < request->parameters.count; i++)
        token_hash_add(hash, parameter_at(request, i)->encoded);
}
