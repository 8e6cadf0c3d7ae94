/* read_expressions.c -- see read_expressions.h. */
#include "api/item/read_expressions.h"
#include "api/expression_input.h"
#include "api/operation.h"
#include "api/item/read_shapes.h"
#include "base/arena.h"
#include "expr/ast.h"
#include "expr/condition_parse.h"
#include "expr/key_condition_parse.h"
#include "expr/legacy_condition.h"
#include "expr/legacy_mix.h"

/* KeyConditions are older than KeyConditionExpression, which came after the other expressions: they
 * go together with those. */
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

/* A projection has names but no values, so values need one of the other expressions. */
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
        if (!expression_input_comparison(call, elements[i]->comparison_operator,
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

static bool compile_key_condition(struct api_call *call, const struct query_request *query,
                                  struct read_expressions *out)
{
    if (query->key_condition_expression.data != NULL) {
        out->key_condition = key_condition_parse(call->arena, query->key_condition_expression,
                                                 &out->params, &call->error);
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
    bool specific = bytes_equal_text(request->select, "SPECIFIC_ATTRIBUTES");
    bool count = bytes_equal_text(request->select, "COUNT");
    if (specific && projection == NULL)
        return error_validation(&call->error,
                                "%sMust specify the AttributesToGet or ProjectionExpression when "
                                "choosing to get SPECIFIC_ATTRIBUTES",
                                is_query ? ERROR_ENVELOPE : "");
    if (projection != NULL && request->select.data != NULL && !specific)
        return error_validation(&call->error, "Cannot specify the %s when choosing to get %.*s",
                                projection,
                                BYTES_FMT(count ? BYTES("only the Count") : request->select));
    if (bytes_equal_text(request->select, "ALL_PROJECTED_ATTRIBUTES") &&
        request->index_name.data == NULL)
        return error_validation(&call->error, "ALL_PROJECTED_ATTRIBUTES can be used only when "
                                              "Querying using an IndexName");
    return true;
}

bool read_expressions_check(struct api_call *call, const struct read_request *request,
                            const struct query_request *query, struct read_expressions *out)
{
    struct expr_params_input input = expression_input_params(
        call, &request->expression_attribute_names, &request->expression_attribute_values);
    *out = (struct read_expressions){ .count_only = bytes_equal_text(request->select, "COUNT") };
    return check_mix(call, request, query) && check_absent(call, request, query, input) &&
           expression_input_check_values(call, &request->expression_attribute_values) &&
           expr_params_init(&out->params, call->arena, &input, &call->error) &&
           operation_check_rule(call, &request->exclusive_start_key.rule);
}

bool read_expressions_compile(struct api_call *call, const struct read_request *request,
                              const struct query_request *query, struct read_expressions *out)
{
    return compile_filter(call, request, out) &&
           expression_input_projection(call, request->projection_expression,
                                       &request->attributes_to_get, &out->params,
                                       &out->projection) &&
           (query == NULL || compile_key_condition(call, query, out)) &&
           expr_params_check_unused(&out->params, call->arena, &call->error) &&
           legacy_condition_check_operator(request->conditional_operator.data != NULL,
                                           request->filter.count, &call->error) &&
           check_select(call, request, query != NULL);
}

/* --- Against the keys --- */

/* Recursion is as deep as parsing lets conditions nest. */
static bool mentions(const struct condition *condition, struct bytes name)
{
    if (condition->left != NULL && mentions(condition->left, name))
        return true;
    if (condition->right != NULL && mentions(condition->right, name))
        return true;
    for (size_t i = 0; i < condition->operand_count; i++) {
        const struct operand *operand = &condition->operands[i];
        if (operand->type != OPERAND_VALUE && bytes_equal(operand->path.steps[0].name, name))
            return true;
    }
    return false;
}

bool read_expressions_check_filter(struct api_call *call, const struct read_request *request,
                                   const struct read_expressions *expressions,
                                   const struct bytes *key_names, size_t key_count)
{
    if (expressions->filter == NULL)
        return true;
    for (size_t i = 0; i < key_count; i++) {
        if (mentions(expressions->filter, key_names[i]))
            return error_validation(
                &call->error,
                "%s can only contain non-primary key attributes: Primary key attribute: %.*s",
                request->filter_expression.data != NULL ? "Filter Expression" : "QueryFilter",
                BYTES_FMT(key_names[i]));
    }
    return true;
}
