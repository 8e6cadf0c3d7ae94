/* op_execute_transaction.c -- ExecuteTransaction: up to a hundred statements, all reads of one item
 * each as they are at one moment, or all writes and checks, which are done all or not at all.
 *
 * Observed: a statement that is not PartiQL refuses the request with the parser's message; a
 * statement that cannot be executed refuses it with a message that names its index; a key that is
 * missing or of the wrong type cancels the transaction, with a reason for the first such statement
 * only.
 */
#include "api/capacity.h"
#include "api/item/item_access.h"
#include "api/operation.h"
#include "api/partiql/partiql_plan.h"
#include "api/partiql/partiql_statement.h"
#include "api/partiql/partiql_write.h"
#include "api/transaction/transaction.h"
#include "api/transaction/transaction_read.h"
#include "base/arena.h"
#include "json/writer.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "model/value.h"
#include "partiql/statement.h"
#include "table/catalogue.h"

struct statements {
    struct api_call *call;
    const struct execute_transaction_request *request;
    struct statement *list;
    size_t count;
};

static const struct statement_request *request_at(const struct statements *statements, size_t index)
{
    return ((struct statement_request *const *)
                statements->request->transact_statements.elements)[index];
}

/* --- Rules of single statements --- */

/* The fault of a statement, named by its index. */
static bool refuse(struct statements *statements, size_t index, struct bytes message)
{
    return error_validation(&statements->call->error,
                            "Validation failed in TransactStatements[%zu]: %.*s", index,
                            BYTES_FMT(message));
}

static bool parse(struct statements *statements, size_t index)
{
    struct api_call *call = statements->call;
    const struct statement *statement = &statements->list[index];
    if (!partiql_statement_parse(call, request_at(statements, index), &statements->list[index],
                                 &call->error))
        return !bytes_starts_with(call->error.message, BYTES(STATEMENT_MALFORMED)) &&
               refuse(statements, index, call->error.message);
    if (statement->returning != RETURNING_NOTHING)
        return refuse(statements, index,
                      BYTES("RETURNING clause is not supported in ExecuteTransaction."));
    if (statement->index_name.data != NULL)
        return refuse(statements, index,
                      statement->type == STATEMENT_TYPE_EXISTS
                          ? BYTES("Operations on indices are not supported in transactions")
                          : BYTES("Reads on indices are not supported within transactions."));
    return partiql_statement_check_table_name(statement, &call->error) ||
           refuse(statements, index, call->error.message);
}

static bool parse_all(struct statements *statements)
{
    for (size_t i = 0; i < statements->count; i++) {
        if (!partiql_statement_check_values(statements->call, request_at(statements, i)))
            return false;
    }
    for (size_t i = 0; i < statements->count; i++) {
        if (!parse(statements, i))
            return false;
    }
    return true;
}

static bool check_kinds(struct statements *statements)
{
    bool first = partiql_statement_is_read(&statements->list[0]);
    for (size_t i = 1; i < statements->count; i++) {
        if (partiql_statement_is_read(&statements->list[i]) != first)
            return error_validation(&statements->call->error,
                                    "ExecuteTransaction API does not support both read and write "
                                    "operations in the same request.");
    }
    return true;
}

/* Cancels the transaction because of the key of one statement. Returns false. */
static bool cancel(struct statements *statements, size_t index, const struct error *fault)
{
    struct api_call *call = statements->call;
    struct transaction_reason *reasons =
        arena_alloc_zeroed(call->arena, statements->count * sizeof *reasons);
    reasons[index] = transaction_reason_validation(fault);
    return transaction_reasons_cancel(&call->error, reasons, statements->count);
}

static bool check_form(struct statements *statements, size_t index,
                       const struct table_definition *table)
{
    const struct statement *statement = &statements->list[index];
    enum partiql_key_form form =
        partiql_plan_key_form(statements->call->arena, statement->where, &table->key);
    if (statement->type == STATEMENT_TYPE_SELECT && form != PARTIQL_KEY_WHOLE)
        return refuse(statements, index,
                      BYTES("Select statements within ExecuteTransaction must specify the primary "
                            "key in the where clause."));
    if (statement->type == STATEMENT_TYPE_EXISTS && form != PARTIQL_KEY_AND_MORE)
        return refuse(statements, index,
                      BYTES("EXISTS() must contain a single item read with additional condition"));
    return true;
}

/* --- Access --- */

static bool shows_item(const struct statements *statements, size_t index)
{
    return bytes_equal_text(request_at(statements, index)->return_values_on_condition_check_failure,
                            "ALL_OLD");
}

/* Decided for every statement before an error reveals anything about a table. */
static bool find_tables(struct statements *statements)
{
    struct api_call *call = statements->call;
    operation_expect_tables(call, statements->count);
    for (size_t i = 0; i < statements->count; i++) {
        const struct statement *statement = &statements->list[i];
        size_t table = batch_find_table(call, statement->table_name);
        const struct item_access_statement asked = {
            .statement = statement,
            .table = call->uses[table].table,
            .return_consumed_capacity = statements->request->return_consumed_capacity,
            .in_transaction = true,
            .shows_item_on_failure = shows_item(statements, i),
        };
        if (!item_access_statement(call, &asked))
            return false;
    }
    return true;
}

/* NULL with the error set if a statement's table does not exist. */
static const struct table_definition *table_of(struct statements *statements, size_t index)
{
    struct api_call *call = statements->call;
    size_t table = batch_find_table(call, statements->list[index].table_name);
    if (!operation_check_table(call, call->uses[table].table))
        return NULL;
    return call->uses[table].definition;
}

/* --- Reads --- */

static bool make_read(struct statements *statements, size_t index,
                      const struct table_definition *table, struct transaction_read *out)
{
    const struct statement *statement = &statements->list[index];
    struct arena *arena = statements->call->arena;
    struct item *key = arena_alloc(arena, sizeof *key);
    struct error fault;
    error_init(&fault, arena);
    *out = (struct transaction_read){ .table_name = statement->table_name,
                                      .key = key,
                                      .columns = statement->columns,
                                      .column_count = statement->column_count,
                                      .params = statement->params };
    return check_form(statements, index, table) &&
           (partiql_plan_key(arena, statement->where, &table->key, key, &fault) ||
            cancel(statements, index, &fault));
}

static bool start_reads(struct statements *statements)
{
    struct api_call *call = statements->call;
    struct transaction_read *reads = arena_alloc(call->arena, statements->count * sizeof *reads);
    for (size_t i = 0; i < statements->count; i++) {
        const struct table_definition *table = table_of(statements, i);
        if (table == NULL || !make_read(statements, i, table, &reads[i]))
            return false;
    }
    const struct transaction_read_start start = {
        .reads = reads,
        .read_count = statements->count,
        .return_consumed_capacity = statements->request->return_consumed_capacity,
        .was_asked = true,
    };
    transaction_read_start(call, &start);
    return true;
}

/* --- Writes --- */

static enum transaction_kind kind_of(enum statement_type type)
{
    switch (type) {
    case STATEMENT_TYPE_INSERT:
        return TRANSACTION_PUT;
    case STATEMENT_TYPE_UPDATE:
        return TRANSACTION_UPDATE;
    case STATEMENT_TYPE_DELETE:
        return TRANSACTION_DELETE;
    case STATEMENT_TYPE_SELECT:
    case STATEMENT_TYPE_EXISTS:
        break;
    }
    return TRANSACTION_CHECK;
}

static bool make_action(struct statements *statements, size_t index,
                        const struct table_definition *table, struct transaction_action *out)
{
    const struct statement *statement = &statements->list[index];
    struct arena *arena = statements->call->arena;
    struct partiql_write *write = arena_alloc(arena, sizeof *write);
    struct error fault;
    error_init(&fault, arena);
    if (!check_form(statements, index, table))
        return false;
    if (!partiql_write_prepare(arena, statement, table, write, &fault))
        return cancel(statements, index, &fault);
    *out = (struct transaction_action){
        .kind = kind_of(statement->type),
        .table_name = statement->table_name,
        .key = &write->key,
        .expressions = { .condition = write->condition,
                         .update = statement->update,
                         .params = statement->params },
        .shows_item = shows_item(statements, index),
    };
    if (statement->type == STATEMENT_TYPE_INSERT) {
        out->shows_item = false;
        out->refusal =
            (struct transaction_reason){ .code = "DuplicateItem",
                                         .message = bytes_from_text(partiql_write_duplicate_text) };
    }
    return true;
}

/* Observed: writes have no responses, but the list of them. */
static void write_responses(struct json_writer *writer)
{
    json_write_name(writer, "Responses");
    json_open_array(writer);
    json_close_array(writer);
}

static size_t payload_size(const struct statement_request *request)
{
    const struct shape_value *parameters = request->parameters.elements;
    size_t size = request->statement.len;
    for (size_t i = 0; i < request->parameters.count; i++) {
        struct value value = value_view(parameters[i].encoded);
        size += value_size(&value);
    }
    return size;
}

static bool check_size(const struct statements *statements)
{
    size_t size = 0;
    for (size_t i = 0; i < statements->count; i++)
        size += payload_size(request_at(statements, i));
    return size <= TRANSACTION_SIZE_MAX ||
           error_validation(&statements->call->error,
                            "Transaction payload size cannot exceed 4MB. Payload Size: %zu", size);
}

static bool start_writes(struct statements *statements)
{
    struct api_call *call = statements->call;
    struct transaction_action *actions =
        arena_alloc(call->arena, statements->count * sizeof *actions);
    if (!check_size(statements))
        return false;
    for (size_t i = 0; i < statements->count; i++) {
        const struct table_definition *table = table_of(statements, i);
        if (table == NULL || !make_action(statements, i, table, &actions[i]))
            return false;
    }
    struct transaction_start start = {
        .actions = actions,
        .action_count = statements->count,
        .token = { .text = statements->request->client_request_token,
                   .scope = LAYOUT_TOKEN_STATEMENTS },
        .return_consumed_capacity = statements->request->return_consumed_capacity,
        .was_asked = true,
        .write_members = write_responses,
    };
    for (size_t i = 0; i < statements->count && start.token.text.data != NULL; i++) {
        partiql_statement_add_hash(&start.token.hash, request_at(statements, i));
        token_hash_add(&start.token.hash,
                       request_at(statements, i)->return_values_on_condition_check_failure);
    }
    transaction_start(call, &start);
    return true;
}

/* --- The operation --- */

static void run(struct api_call *call, const void *input)
{
    const struct execute_transaction_request *request = input;
    size_t count = request->transact_statements.count;
    struct statements statements = {
        .call = call,
        .request = request,
        .list = arena_alloc(call->arena, count * sizeof *statements.list),
        .count = count,
    };
    bool known = parse_all(&statements) && check_kinds(&statements);
    if (known)
        call->verb = partiql_statement_verb(&statements.list[0]);
    bool started = known && find_tables(&statements) &&
                   (partiql_statement_is_read(&statements.list[0]) ? start_reads(&statements)
                                                                   : start_writes(&statements));
    if (!started)
        operation_fail(call);
}

const struct operation op_execute_transaction = { .name = "ExecuteTransaction",
                                                  .kind = OPERATION_DATA,
                                                  .request = &execute_transaction_shape,
                                                  .asks = OPERATION_ASKS_ITSELF,
                                                  .reads_many = true,
                                                  .hides_keys = true,
                                                  .run = run };
