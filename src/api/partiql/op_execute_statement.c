/* op_execute_statement.c -- ExecuteStatement: one PartiQL statement, which reads a page or writes
 * an item.
 *
 * A SELECT is a Query or a Scan in other words, so the same code reads it (api/item/item_page.h);
 * only the columns and the way to resume differ.
 */
#include <assert.h>
#include "api/admission.h"
#include "api/capacity.h"
#include "api/item/item_access.h"
#include "api/item/item_change.h"
#include "api/item/item_page.h"
#include "api/item/item_shapes.h"
#include "api/operation.h"
#include "api/model/model_watch.h"
#include "api/partiql/partiql_plan.h"
#include "api/partiql/partiql_statement.h"
#include "api/partiql/partiql_write.h"
#include "base/arena.h"
#include "expr/path.h"
#include "json/writer.h"
#include "model/error.h"
#include "partiql/statement.h"
#include "read/read_page.h"
#include "read/read_range.h"
#include "read/read_source.h"
#include "table/catalogue.h"
#include "table/item_address.h"
#include "txn/txn.h"

/* --- SELECT --- */

struct partiql_read {
    const struct execute_statement_request *request;
    const struct statement *statement;
    struct read_request read; /* In the form of Query and Scan. */
    struct read_expressions expressions;
    struct read_source source;
    struct partiql_plan plan;
};

static const struct path_node *column_tree(struct arena *arena, const struct statement *statement)
{
    struct path *paths = arena_alloc(arena, statement->column_count * sizeof *paths);
    for (size_t i = 0; i < statement->column_count; i++)
        paths[i] = statement->columns[i].path;
    return path_tree_build(arena, paths, statement->column_count);
}

static void translate(struct api_call *call, struct partiql_read *read)
{
    const struct statement *statement = read->statement;
    read->read = (struct read_request){
        .table_name = statement->table_name,
        .index_name = statement->index_name,
        .limit = read->request->limit,
        .consistent_read = read->request->statement.consistent_read,
        .return_consumed_capacity = read->request->return_consumed_capacity,
        .is_statement = true,
    };
    read->expressions = (struct read_expressions){
        .filter = statement->where,
        .columns = statement->columns,
        .column_count = statement->column_count,
        .params = statement->params,
    };
    if (statement->column_count > 0)
        read->expressions.projection = column_tree(call->arena, statement);
}

/* Observed: a SELECT that is a Query of an index may name only attributes that the index has, in
 * its condition too. As a Scan it just finds nothing. */
static bool check_filter(struct api_call *call, const struct partiql_read *read)
{
    return !read->plan.is_query || read_source_check_filter(call->arena, &read->source,
                                                            read->expressions.filter, &call->error);
}

/* Resumes where the token says, if there is one. */
static bool resume_at_token(struct api_call *call, struct partiql_read *read)
{
    struct item_address place;
    struct shape_item *key = &read->read.exclusive_start_key;
    if (read->request->next_token.data == NULL)
        return true;
    if (!partiql_statement_parse_token(call->arena, read->request->next_token,
                                       &read->request->statement, &key->item, &call->error))
        return false;
    key->present = true;
    /* The table may have been replaced by one with other keys. */
    if (!read_source_locate(call->arena, &read->source, &key->item, &place, &call->error))
        return partiql_statement_refuse_token(&call->error);
    read_range_start_behind(call->arena, &read->plan.ranges, &read->plan.range_count,
                            place.address.key);
    return true;
}

static void finish(struct api_call *call, const struct item_page_request *page,
                   struct json_writer *writer, const struct read_page_end *end)
{
    const struct execute_statement_request *request = page->context;
    if (end->is_full) {
        json_write_name(writer, "NextToken");
        json_write_string(writer, partiql_statement_format_token(call->arena, &request->statement,
                                                                 &end->last_key));
    }
    capacity_write_json(writer, page->request->return_consumed_capacity, call->uses);
}

static bool may_read(struct api_call *call, const struct partiql_read *read,
                     const struct table *table)
{
    const struct item_access_statement asked = {
        .statement = read->statement,
        .table = table,
        .return_consumed_capacity = read->read.return_consumed_capacity,
    };
    return item_access_statement(call, &asked);
}

static void read_start(struct api_call *call, const struct execute_statement_request *request,
                       const struct statement *statement)
{
    assert(partiql_statement_is_read(statement));
    struct partiql_read *read = arena_alloc(call->arena, sizeof *read);
    *read = (struct partiql_read){ .request = request, .statement = statement };
    struct table *table = NULL;
    translate(call, read);
    if (!partiql_statement_check_table_name(statement, &call->error) ||
        !may_read(call, read, table = operation_find_table(call, statement->table_name)) ||
        !item_page_find_source(call, &read->read, table, &read->source) ||
        !expr_params_check_key_paths(&read->expressions.params, read->source.key_names,
                                     read->source.own_key_count, &call->error) ||
        !partiql_plan_make(call, &read->source, statement, &read->plan) ||
        !check_filter(call, read) ||
        !item_page_check_attributes(call, &read->source, &read->read, &read->expressions) ||
        !resume_at_token(call, read)) {
        operation_fail(call);
        return;
    }
    item_page_start(call, &(struct item_page_request){ .source = &read->source,
                                                       .request = &read->read,
                                                       .expressions = &read->expressions,
                                                       .ranges = read->plan.ranges,
                                                       .range_count = read->plan.range_count,
                                                       .is_query = read->plan.is_query,
                                                       .finish = finish,
                                                       .context = request });
}

/* --- INSERT, UPDATE and DELETE --- */

/* A statement that writes. Lives in the call's arena until the call ends. */
struct statement_write {
    struct txn txn;
    struct txn_item item;
    struct api_call *call;
    const struct execute_statement_request *request;
    struct partiql_write write;
    struct partiql_returned returned;
};

static struct statement_write *of_txn(struct txn *txn)
{
    return (struct statement_write *)((char *)txn - offsetof(struct statement_write, txn));
}

static void write_answer(struct txn *txn)
{
    struct statement_write *write = of_txn(txn);
    struct bytes returned = partiql_write_returned_json(write->call->arena, &write->returned);
    struct json_writer writer;
    json_writer_init(&writer, &write->call->response);
    json_open_object(&writer);
    json_write_name(&writer, "Items");
    json_open_array(&writer);
    if (returned.len > 0)
        json_write_raw(&writer, returned);
    json_close_array(&writer);
    capacity_write_json(&writer, write->request->return_consumed_capacity, write->call->uses);
    json_close_object(&writer);
}

static void write_refused_item(struct txn *txn)
{
    struct statement_write *write = of_txn(txn);
    write->call->error.item_json = item_change_item_json(write->call->arena, &write->returned.item);
}

/* An answer with an item is written when the latches are gone, for which others wait. */
static void answer(struct statement_write *write)
{
    capacity_use_add_write(write->call->uses, &write->txn, &write->item);
    if (write->returned.is_any)
        write->txn.answer = write_answer;
    else
        write_answer(&write->txn);
}

static bool shows_item_on_failure(const struct statement_write *write)
{
    return bytes_equal_text(write->request->statement.return_values_on_condition_check_failure,
                            "ALL_OLD");
}

static bool decide(struct txn *txn)
{
    struct statement_write *write = of_txn(txn);
    struct api_call *call = write->call;
    buffer_init(&call->response, call->arena);
    error_clear(&call->error);
    admission_forget(call, 0);
    capacity_use_clear(call->uses);
    if (partiql_write_decide(call->arena, &write->write, &write->item, &write->returned,
                             &call->error) &&
        model_watch_check(call, &write->item, &call->error) &&
        item_change_check_collections(call, txn) &&
        (admission_decided(call, call->uses, &write->item) || admission_fail(call))) {
        answer(write);
        return true;
    }
    partiql_write_count_refused(&write->write, &write->item, &call->error, call->uses);
    if (call->error.code == ERROR_CONDITIONAL_CHECK_FAILED && write->item.exists &&
        shows_item_on_failure(write)) {
        write->returned.item = item_copy(call->arena, &write->item.current);
        txn->answer = write_refused_item;
    }
    return false;
}

static void done(struct txn *txn, enum engine_status status)
{
    operation_end_engine(of_txn(txn)->call, status);
}

static bool prepare_write(struct api_call *call, const struct statement *statement,
                          struct statement_write *write)
{
    if (!partiql_statement_check_table_name(statement, &call->error))
        return false;
    const struct table *table = operation_find_table(call, statement->table_name);
    const struct item_access_statement asked = {
        .statement = statement,
        .table = table,
        .return_consumed_capacity = write->request->return_consumed_capacity,
        .shows_item_on_failure = shows_item_on_failure(write),
    };
    if (!item_access_statement(call, &asked) || !operation_check_table(call, table))
        return false;
    write->item.table = table_definition(table);
    return partiql_write_prepare(call->arena, statement, write->item.table, &write->write,
                                 &call->error) &&
           partiql_write_locate(call->arena, &write->write, write->item.table, &write->item.place,
                                &call->error);
}

/* ExplainStatement: what would be written. */
static void answer_plan(struct api_call *call, const struct statement_write *write)
{
    static const char *const operations[] = { [STATEMENT_TYPE_INSERT] = "PutItem",
                                              [STATEMENT_TYPE_UPDATE] = "UpdateItem",
                                              [STATEMENT_TYPE_DELETE] = "DeleteItem" };
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "Operation");
    json_write_text(&writer, operations[write->write.statement->type]);
    json_write_name(&writer, "TableName");
    json_write_string(&writer, write->item.table->name);
    json_close_object(&writer);
    operation_succeed(call);
}

static void write_start(struct api_call *call, const struct execute_statement_request *request,
                        const struct statement *statement)
{
    assert(!partiql_statement_is_read(statement));
    struct statement_write *write = arena_alloc(call->arena, sizeof *write);
    *write = (struct statement_write){
        .call = call,
        .request = request,
    };
    operation_txn_init(&write->txn, call);
    write->txn.items = &write->item;
    write->txn.item_count = 1;
    write->txn.conflicts = api_conflicts(call->api);
    write->txn.decide = decide;
    write->txn.done = done;
    bool is_ready = prepare_write(call, statement, write);
    if (is_ready && call->operation == &op_explain_statement) {
        answer_plan(call, write);
        return;
    }
    if (is_ready &&
        (admission_write(call, call->uses, &write->item.place) || admission_fail(call))) {
        txn_start(&write->txn);
        return;
    }
    operation_fail(call);
}

/* --- The operation --- */

static bool check(struct api_call *call, const struct execute_statement_request *request,
                  struct statement *statement)
{
    if (!partiql_statement_check_values(call, &request->statement) ||
        !partiql_statement_parse(call, &request->statement, statement, &call->error))
        return false;
    if (statement->type == STATEMENT_TYPE_EXISTS)
        return error_validation(&call->error,
                                "EXISTS can only be used in ExecuteTransaction write requests.");
    if (!partiql_statement_is_read(statement) && request->next_token.data != NULL)
        return error_validation(&call->error, "NextToken is only valid on a SELECT statement");
    return true;
}

static void run(struct api_call *call, const void *input)
{
    const struct execute_statement_request *request = input;
    struct statement *statement = arena_alloc(call->arena, sizeof *statement);
    if (!check(call, request, statement)) {
        operation_fail(call);
        return;
    }
    call->verb = partiql_statement_verb(statement);
    if (partiql_statement_is_read(statement))
        read_start(call, request, statement);
    else
        write_start(call, request, statement);
}

const struct operation op_execute_statement = { .name = "ExecuteStatement",
                                                .kind = OPERATION_DATA,
                                                .request = &execute_statement_shape,
                                                .asks = OPERATION_ASKS_ITSELF,
                                                .reads_many = true,
                                                .hides_keys = true,
                                                .run = run };
