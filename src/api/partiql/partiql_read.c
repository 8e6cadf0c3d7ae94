/* partiql_read.c -- see partiql_read.h.
 *
 * A statement is a Query or a Scan in other words, so it is read by what reads those; only the
 * columns and the way to go on differ.
 */
#include "api/partiql/partiql_read.h"
#include "api/capacity.h"
#include "api/item/item_access.h"
#include "api/operation.h"
#include "api/partiql/partiql_plan.h"
#include "api/partiql/partiql_shapes.h"
#include "api/partiql/partiql_statement.h"
#include "api/partiql/partiql_token.h"
#include "api/item/read_expressions.h"
#include "api/item/item_page.h"
#include "read/read_page.h"
#include "read/read_range.h"
#include "api/item/read_shapes.h"
#include "read/read_source.h"
#include "base/arena.h"
#include "expr/path_tree.h"
#include "json/writer.h"
#include "partiql/statement.h"
#include "table/catalogue.h"
#include "table/item_address.h"

struct partiql_read {
    const struct execute_statement_request *request;
    const struct statement *statement;
    struct read_request read; /* The same as Query and Scan would have it. */
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

/* Goes on where the token says, if there is one. */
static bool start(struct api_call *call, struct partiql_read *read)
{
    struct item_address place;
    struct shape_item *key = &read->read.exclusive_start_key;
    if (read->request->next_token.data == NULL)
        return true;
    if (!partiql_token_parse(call->arena, read->request->next_token, &read->request->statement,
                             &key->item, &call->error))
        return false;
    key->present = true;
    /* A table of that name may have other keys by now. */
    if (!read_source_locate(call->arena, &read->source, &key->item, &place, &call->error))
        return partiql_token_refuse(&call->error);
    read_range_start_behind(call->arena, &read->plan.ranges, &read->plan.range_count,
                            place.address.key);
    return true;
}

static void finish(struct api_call *call, const struct item_page_request *page,
                   struct json_writer *writer, const struct read_page_end *end,
                   const struct capacity_use *use)
{
    const struct execute_statement_request *request = page->context;
    if (end->is_full) {
        json_write_name(writer, "NextToken");
        json_write_string(writer,
                          partiql_token_format(call->arena, &request->statement, &end->last_key));
    }
    capacity_use_write_json(writer, page->request->return_consumed_capacity,
                            page->request->table_name, use);
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

void partiql_read_start(struct api_call *call, const struct execute_statement_request *request,
                        const struct statement *statement)
{
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
        !item_page_check_attributes(call, &read->source, &read->read, &read->expressions) ||
        !start(call, read)) {
        table_release(table);
        operation_fail(call);
        return;
    }
    item_page_start(call, &(struct item_page_request){ .table = table,
                                                       .source = &read->source,
                                                       .request = &read->read,
                                                       .expressions = &read->expressions,
                                                       .ranges = read->plan.ranges,
                                                       .range_count = read->plan.range_count,
                                                       .finish = finish,
                                                       .context = request });
}
