/* op_query.c -- Query: the items of one partition key of a table or index, in the order of their
 * sort keys. */
#include "api/item/item_access.h"
#include "api/operation.h"
#include "api/item/read_expressions.h"
#include "api/item/item_page.h"
#include "read/read_range.h"
#include "api/item/read_shapes.h"
#include "read/read_source.h"
#include "base/arena.h"
#include "expr/key_condition_check.h"
#include "table/catalogue.h"
#include "table/item_address.h"
#include "table/item_range.h"

/* --- What to read --- */

struct query {
    const struct query_request *request;
    struct read_expressions expressions;
    struct read_source source;
    struct item_range range;
    size_t range_count; /* 0: no item can match. */
};

/* ExclusiveStartKey must lie where the pages before could have ended. */
static bool start(struct api_call *call, struct query *query, bool has_condition)
{
    const struct read_request *request = &query->request->read;
    struct item_address place;
    if (!request->exclusive_start_key.present)
        return true;
    if (request->exclusive_start_key.item.count != query->source.key_count)
        return error_validation(&call->error, "The provided starting key is invalid");
    if (!read_source_locate(call->arena, &query->source, &request->exclusive_start_key.item, &place,
                            &call->error))
        return false;
    if (query->range_count == 1 &&
        item_range_start_behind(call->arena, &query->range, place.address.key))
        return true;
    return error_validation(&call->error,
                            has_condition
                                ? "The provided starting key does not match the range key predicate"
                                : "The provided starting key is outside query boundaries based on "
                                  "provided conditions");
}

static bool plan(struct api_call *call, struct query *query)
{
    const struct shape_boolean *forward = &query->request->scan_index_forward;
    const struct read_key key = read_range_key(&query->source);
    const struct key_condition_schema schema = read_range_schema(&key);
    struct key_condition_plan terms;
    if (!key_condition_check(query->expressions.key_condition, &schema, &terms, &call->error) ||
        !read_range_check_values(&key, &terms, &call->error))
        return false;
    if (read_range_of_plan(call->arena, &query->source, &key, &terms,
                           forward->present && !forward->value, &query->range))
        query->range_count = 1;
    return start(call, query, terms.range_count > 0);
}

static bool prepare(struct api_call *call, struct query *query)
{
    const struct read_request *request = &query->request->read;
    const struct read_expressions *expressions = &query->expressions;
    struct read_source *source = &query->source;
    if (expressions->key_condition == NULL)
        return error_validation(&call->error, "Either the KeyConditions or KeyConditionExpression "
                                              "parameter must be specified in the request.");
    return expr_params_check_key_paths(&expressions->params, source->key_names,
                                       source->own_key_count, &call->error) &&
           plan(call, query) &&
           read_expressions_check_filter(call, request, expressions, source->key_names,
                                         source->own_key_count) &&
           read_source_check_filter(call->arena, source, expressions->filter, &call->error) &&
           item_page_check_attributes(call, source, request, expressions);
}

static void run(struct api_call *call, const void *input)
{
    struct query *query = arena_alloc(call->arena, sizeof *query);
    *query = (struct query){ .request = input };
    const struct read_request *request = &query->request->read;
    struct table *table = NULL;
    if (!read_expressions_check(call, request, query->request, &query->expressions) ||
        !read_expressions_compile(call, request, query->request, &query->expressions) ||
        !item_access_read(call, table = operation_find_table(call, request->table_name), request,
                          &query->expressions) ||
        !item_page_find_source(call, request, table, &query->source) || !prepare(call, query)) {
        table_release(table);
        operation_fail(call);
        return;
    }
    item_page_start(call, &(struct item_page_request){ .table = table,
                                                       .source = &query->source,
                                                       .request = request,
                                                       .expressions = &query->expressions,
                                                       .ranges = &query->range,
                                                       .range_count = query->range_count,
                                                       .finish = item_page_finish });
}

const struct operation op_query = { .name = "Query",
                                    .kind = OPERATION_DATA,
                                    .request = &query_shape,
                                    .asks = OPERATION_ASKS_ITSELF,
                                    .reads_many = true,
                                    .run = run };
