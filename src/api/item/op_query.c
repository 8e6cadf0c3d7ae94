/* op_query.c -- Query and Scan.
 *
 * Query reads the items of one partition key of a table or index, in the order of their sort keys.
 * Scan reads all of them, or one segment, in the order of the hash. Both compile the same
 * expressions by the same rules, in the service's order, and answer by item_page.h.
 */
#include <assert.h>
#include "api/item/item_access.h"
#include "api/item/item_expressions.h"
#include "api/item/item_page.h"
#include "api/item/item_shapes.h"
#include "api/operation.h"
#include "base/arena.h"
#include "expr/ast.h"
#include "expr/condition.h"
#include "expr/condition_parse.h"
#include "expr/key_condition.h"
#include "expr/legacy.h"
#include "model/item.h"
#include "model/table_definition.h"
#include "model/value_json.h"
#include "read/read_range.h"
#include "read/read_source.h"
#include "table/catalogue.h"
#include "table/item_address.h"
#include "table/item_range.h"

/* --- Expressions --- */

/* KeyConditions may be combined with FilterExpression and ProjectionExpression, which are older
 * than KeyConditionExpression. */
static bool check_mix(struct api_call *call, const struct read_request *request,
                      const struct query_request *query)
{
    bool has_key_expression = query != NULL && query->key_condition_expression.data != NULL;
    const struct legacy_mix_parameter legacy[] = {
        { "AttributesToGet", request->attributes_to_get.present },
        { query == NULL ? "ScanFilter" : "QueryFilter", request->filter.present },
        { "ConditionalOperator", request->conditional_operator.data != NULL },
        { "KeyConditions", has_key_expression && query->key_conditions.present },
    };
    const struct legacy_mix_parameter expressions[] = {
        { "ProjectionExpression", request->projection_expression.data != NULL },
        { "FilterExpression", request->filter_expression.data != NULL },
        { "KeyConditionExpression", has_key_expression },
    };
    return legacy_mix_check(legacy, COUNT_OF(legacy), expressions, COUNT_OF(expressions),
                            &call->error);
}

/* A projection uses names but no values, so values need one of the other expressions. */
static bool check_absent(struct api_call *call, const struct read_request *request,
                         const struct query_request *query, struct expr_params_input input)
{
    if (request->filter_expression.data != NULL ||
        (query != NULL && query->key_condition_expression.data != NULL))
        return true;
    if (request->projection_expression.data != NULL)
        input.names_present = false;
    return expr_params_check_absent(&input,
                                    query == NULL
                                        ? "FilterExpression is null"
                                        : "FilterExpression and KeyConditionExpression are null",
                                    &call->error);
}

/* --- Each expression and its older form --- */

/* NULL with the error set where a value breaks a rule. */
static struct legacy_condition *read_conditions(struct api_call *call, const struct shape_map *map)
{
    struct condition_element *const *elements = map->elements;
    struct legacy_condition *conditions =
        arena_alloc_zeroed(call->arena, map->count * sizeof *conditions);
    for (size_t i = 0; i < map->count; i++) {
        conditions[i].name = map->names[i];
        if (!item_expressions_comparison(call, elements[i]->comparison_operator,
                                         &elements[i]->attribute_value_list, &conditions[i]))
            return NULL;
    }
    return conditions;
}

static bool compile_filter(struct api_call *call, const struct read_request *request,
                           struct read_expressions *out)
{
    if (request->filter_expression.data != NULL) {
        out->filter = condition_parse(call->arena, request->filter_expression, "FilterExpression",
                                      &out->params, &call->error);
        return out->filter != NULL;
    }
    const struct shape_map *filter = &request->filter;
    if (filter->count == 0)
        return true;
    const struct legacy_condition *conditions = read_conditions(call, filter);
    if (conditions == NULL)
        return false;
    out->filter = legacy_condition_filter(
        call->arena, conditions, filter->count,
        bytes_equal_text(request->conditional_operator, "OR") ? LEGACY_OR : LEGACY_AND,
        &call->error);
    return out->filter != NULL;
}

/* `*out` stays NULL if there is no expression. */
static bool parse_key_condition(struct api_call *call, const struct query_request *query,
                                struct expr_params *params, const struct condition **out)
{
    *out = NULL;
    if (query == NULL || query->key_condition_expression.data == NULL)
        return true;
    *out = condition_parse(call->arena, query->key_condition_expression, "KeyConditionExpression",
                           params, &call->error);
    return *out != NULL;
}

/* `parsed` is the expression, if there is one. */
static bool compile_key_condition(struct api_call *call, const struct query_request *query,
                                  const struct condition *parsed, struct read_expressions *out)
{
    if (parsed != NULL) {
        out->key_condition = key_condition_compile(call->arena, parsed, &call->error);
        return out->key_condition != NULL;
    }
    if (query->key_conditions.count == 0)
        return true;
    const struct legacy_condition *conditions = read_conditions(call, &query->key_conditions);
    if (conditions == NULL)
        return false;
    out->key_condition =
        legacy_condition_keys(call->arena, conditions, query->key_conditions.count, &call->error);
    return out->key_condition != NULL;
}

/* --- Select --- */

static bool check_select(struct api_call *call, const struct read_request *request, bool is_query)
{
    const char *projection = request->attributes_to_get.present            ? "AttributesToGet"
                             : request->projection_expression.data != NULL ? "ProjectionExpression"
                                                                           : NULL;
    /* Observed: of all that Query says, texts about Select alone are behind the envelope. */
    const char *envelope = is_query ? ERROR_ENVELOPE : "";
    bool specific = bytes_equal_text(request->select, "SPECIFIC_ATTRIBUTES");
    bool count = bytes_equal_text(request->select, "COUNT");
    if (specific && projection == NULL)
        return error_validation(&call->error,
                                "%sMust specify the AttributesToGet or ProjectionExpression when "
                                "choosing to get SPECIFIC_ATTRIBUTES",
                                envelope);
    if (projection != NULL && request->select.data != NULL && !specific)
        return error_validation(&call->error, "%sCannot specify the %s when choosing to get %.*s",
                                envelope, projection,
                                BYTES_FMT(count ? BYTES("only the Count") : request->select));
    if (bytes_equal_text(request->select, "ALL_PROJECTED_ATTRIBUTES") &&
        request->index_name.data == NULL)
        return error_validation(&call->error,
                                "%sALL_PROJECTED_ATTRIBUTES can be used only when Querying using "
                                "an IndexName",
                                envelope);
    return true;
}

static bool check_filter_values(struct api_call *call, const struct shape_map *filter)
{
    struct condition_element *const *elements = filter->elements;
    for (size_t i = 0; i < filter->count; i++) {
        const struct shape_list *values = &elements[i]->attribute_value_list;
        for (size_t v = 0; v < values->count; v++) {
            if (!operation_check_rule(call, ((const struct shape_value *)values->elements)[v].rule))
                return false;
        }
    }
    return true;
}

/* Observed: values without a type or with two are reported as faults of the start, others bare. */
static bool check_start_values(struct api_call *call, const struct shape_item *start)
{
    if (operation_check_rule(call, start->rule))
        return true;
    struct bytes message = call->error.message;
    if (bytes_starts_with(message, BYTES("Supplied AttributeValue ")))
        error_validation(&call->error, "The provided starting key is invalid: %.*s",
                         BYTES_FMT(message));
    return false;
}

/* The rules that come before any expression is parsed. `query` is NULL for a Scan. */
static bool check_expressions(struct api_call *call, const struct read_request *request,
                              const struct query_request *query, struct read_expressions *out)
{
    struct expr_params_input input = item_expressions_params(&request->expression_attribute_names,
                                                             &request->expression_attribute_values);
    *out = (struct read_expressions){ .count_only = bytes_equal_text(request->select, "COUNT") };
    return check_mix(call, request, query) && check_absent(call, request, query, input) &&
           item_expressions_check_values(call, &request->expression_attribute_values) &&
           expr_params_init(&out->params, call->arena, &input, &call->error) &&
           check_filter_values(call, &request->filter) &&
           check_start_values(call, &request->exclusive_start_key);
}

/* Then the expressions themselves. What `out` holds lives in the call's arena and borrows the
 * request. */
static bool compile_expressions(struct api_call *call, const struct read_request *request,
                                const struct query_request *query, struct read_expressions *out)
{
    const struct condition *parsed = NULL;
    bool key_is_empty = query != NULL && query->key_condition_expression.data != NULL &&
                        query->key_condition_expression.len == 0;
    if (key_is_empty) /* Observed: reported before an empty filter. */
        return parse_key_condition(call, query, &out->params, &parsed);
    return compile_filter(call, request, out) &&
           item_expressions_tree(call, request->projection_expression, &request->attributes_to_get,
                                 &out->params, &out->projection) &&
           parse_key_condition(call, query, &out->params, &parsed) &&
           expr_params_check_unused(&out->params, call->arena, &call->error) &&
           (query == NULL || compile_key_condition(call, query, parsed, out)) &&
           legacy_condition_check_operator(request->conditional_operator.data != NULL,
                                           request->filter.count, &call->error) &&
           check_select(call, request, query != NULL);
}

/* Refuses a filter on a key attribute, which only a Scan may have. `key_names` are those of the
 * source. */
static bool check_filter(struct api_call *call, const struct read_request *request,
                         const struct read_expressions *expressions, const struct bytes *key_names,
                         size_t key_count)
{
    if (expressions->filter == NULL)
        return true;
    for (size_t i = 0; i < key_count; i++) {
        if (condition_mentions(expressions->filter, key_names[i]))
            return error_validation(
                &call->error,
                "%s can only contain non-primary key attributes: Primary key attribute: %.*s",
                request->filter_expression.data != NULL ? "Filter Expression" : "QueryFilter",
                BYTES_FMT(key_names[i]));
    }
    return true;
}

/* --- Query --- */

struct query {
    const struct query_request *request;
    struct read_expressions expressions;
    struct read_source source;
    struct item_range range;
    size_t range_count; /* 0: no item can match. */
};

/* A partition key of a table without a sort key has one item, so no page of a Query can end before
 * another one. */
static bool refuse_start_of_one(struct api_call *call, const struct item *start)
{
    struct buffer text;
    struct item_iter iter;
    struct bytes name;
    struct value value;
    buffer_init(&text, call->arena);
    item_iter_init(&iter, start);
    while (item_iter_next(&iter, &name, &value)) {
        bool scalar = value.type == VALUE_S || value.type == VALUE_N || value.type == VALUE_B;
        struct bytes content = scalar ? value_json_scalar_text(call->arena, &value) : BYTES("");
        buffer_append_bytes(&text, arena_printf(call->arena, "%s%.*s=AttributeValue: {%s:%.*s}",
                                                text.len > 0 ? ", " : "", BYTES_FMT(name),
                                                value_type_name(value.type), BYTES_FMT(content)));
    }
    return error_validation(&call->error,
                            "The provided exclusive start key is invalid: ExclusiveStartKey: "
                            "{%.*s}",
                            BYTES_FMT(buffer_bytes(&text)));
}

/* ExclusiveStartKey must lie where an earlier page could have ended. */
static bool start_query(struct api_call *call, struct query *query, bool has_condition)
{
    const struct read_request *request = &query->request->read;
    struct item_address place;
    if (!request->exclusive_start_key.present)
        return true;
    if (query->source.index == NULL && query->source.key_count == 1)
        return refuse_start_of_one(call, &request->exclusive_start_key.item);
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

static bool plan_query(struct api_call *call, struct query *query)
{
    assert(query->range_count == 0);
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
    return start_query(call, query, terms.range_count > 0);
}

/* Observed: that a filter names a key is reported before a path into a key. */
static bool check_query_paths(struct api_call *call, const struct query *query)
{
    const struct read_source *source = &query->source;
    const struct read_expressions *expressions = &query->expressions;
    if (expr_params_check_key_paths(&expressions->params, source->key_names, source->own_key_count,
                                    &call->error))
        return true;
    struct error scalars = call->error;
    error_clear(&call->error);
    if (check_filter(call, &query->request->read, expressions, source->key_names,
                     source->own_key_count))
        call->error = scalars;
    return false;
}

static bool prepare_query(struct api_call *call, struct query *query)
{
    const struct read_request *request = &query->request->read;
    const struct read_expressions *expressions = &query->expressions;
    struct read_source *source = &query->source;
    if (expressions->key_condition == NULL)
        return error_validation(&call->error, "Either the KeyConditions or KeyConditionExpression "
                                              "parameter must be specified in the request.");
    return check_query_paths(call, query) && plan_query(call, query) &&
           check_filter(call, request, expressions, source->key_names, source->own_key_count) &&
           read_source_check_filter(call->arena, source, expressions->filter, &call->error) &&
           item_page_check_attributes(call, source, request, expressions);
}

static void run_query(struct api_call *call, const void *input)
{
    struct query *query = arena_alloc(call->arena, sizeof *query);
    *query = (struct query){ .request = input };
    const struct read_request *request = &query->request->read;
    struct table *table = NULL;
    if (!check_expressions(call, request, query->request, &query->expressions) ||
        !compile_expressions(call, request, query->request, &query->expressions) ||
        !item_access_read(call, "Query", table = operation_find_table(call, request->table_name),
                          request, &query->expressions) ||
        !item_page_find_source(call, request, table, &query->source) ||
        !prepare_query(call, query)) {
        operation_fail(call);
        return;
    }
    item_page_start(call, &(struct item_page_request){ .source = &query->source,
                                                       .request = request,
                                                       .expressions = &query->expressions,
                                                       .ranges = &query->range,
                                                       .range_count = query->range_count,
                                                       .is_query = true,
                                                       .finish = item_page_finish });
}

const struct operation op_query = { .name = "Query",
                                    .kind = OPERATION_DATA,
                                    .request = &query_shape,
                                    .family = ERROR_FAMILY_NEWER,
                                    .asks = OPERATION_ASKS_ITSELF,
                                    .reads_many = true,
                                    .only_reads = true,
                                    .run = run_query };

/* --- Scan --- */

static bool check_segment(struct api_call *call, const struct scan_request *request)
{
    const struct shape_integer *segment = &request->segment;
    const struct shape_integer *total = &request->total_segments;
    if (total->present && !segment->present)
        return error_validation(&call->error,
                                "The Segment parameter is required but was not present in the "
                                "request when parameter TotalSegments is present");
    if (segment->present && !total->present)
        return error_validation(&call->error,
                                "The TotalSegments parameter is required but was not present in "
                                "the request when Segment parameter is present");
    if (segment->present && segment->value >= total->value)
        return error_validation(&call->error,
                                "The Segment parameter is zero-based and must be less than "
                                "parameter TotalSegments: Segment: %d is not less than "
                                "TotalSegments: %d",
                                (int)segment->value, (int)total->value);
    return true;
}

struct scan {
    const struct scan_request *request;
    struct read_expressions expressions;
    struct read_source source;
    struct item_range_segment segment;
    struct item_range *ranges;
    size_t range_count;
};

/* ExclusiveStartKey must lie within the segment. Removes the ranges before it. */
static bool start_scan(struct api_call *call, struct scan *scan)
{
    const struct read_request *request = &scan->request->read;
    struct item_address place;
    if (!request->exclusive_start_key.present)
        return true;
    if (!read_source_locate(call->arena, &scan->source, &request->exclusive_start_key.item, &place,
                            &call->error))
        return false;
    if (!item_range_segment_contains(&scan->segment, place.hash))
        return error_validation(&call->error,
                                "The provided starting key is invalid: Invalid ExclusiveStartKey. "
                                "Please use ExclusiveStartKey with correct Segment. "
                                "TotalSegments: %d Segment: %d",
                                (int)scan->segment.total, (int)scan->segment.index);
    read_range_start_behind(call->arena, &scan->ranges, &scan->range_count, place.address.key);
    return true;
}

static bool prepare_scan(struct api_call *call, struct scan *scan)
{
    const struct scan_request *request = scan->request;
    scan->segment = (struct item_range_segment){ .index = 0, .total = 1 };
    if (request->segment.present)
        scan->segment = (struct item_range_segment){
            .index = (uint32_t)request->segment.value,
            .total = (uint32_t)request->total_segments.value,
        };
    scan->range_count = item_range_of_segment(call->arena, scan->source.table, scan->source.index,
                                              &scan->segment, &scan->ranges);
    read_source_fetch_for_filter(call->arena, &scan->source, scan->expressions.filter);
    return start_scan(call, scan) &&
           expr_params_check_key_paths(&scan->expressions.params, scan->source.key_names,
                                       scan->source.own_key_count, &call->error) &&
           item_page_check_attributes(call, &scan->source, &request->read, &scan->expressions);
}

static void run_scan(struct api_call *call, const void *input)
{
    struct scan *scan = arena_alloc(call->arena, sizeof *scan);
    *scan = (struct scan){ .request = input };
    const struct read_request *request = &scan->request->read;
    struct table *table = NULL;
    if (!check_expressions(call, request, NULL, &scan->expressions) ||
        !check_segment(call, scan->request) ||
        !compile_expressions(call, request, NULL, &scan->expressions) ||
        !item_access_read(call, "Scan", table = operation_find_table(call, request->table_name),
                          request, &scan->expressions) ||
        !item_page_find_source(call, request, table, &scan->source) || !prepare_scan(call, scan)) {
        operation_fail(call);
        return;
    }
    item_page_start(call, &(struct item_page_request){ .source = &scan->source,
                                                       .request = request,
                                                       .expressions = &scan->expressions,
                                                       .ranges = scan->ranges,
                                                       .range_count = scan->range_count,
                                                       .finish = item_page_finish });
}

const struct operation op_scan = { .name = "Scan",
                                   .kind = OPERATION_DATA,
                                   .request = &scan_shape,
                                   .asks = OPERATION_ASKS_ITSELF,
                                   .reads_many = true,
                                   .only_reads = true,
                                   .run = run_scan };
