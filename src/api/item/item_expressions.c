/* item_expressions.c -- see item_expressions.h. */
#include "api/item/item_expressions.h"
#include "api/expression_input.h"
#include "api/item/item_shapes.h"
#include "api/operation.h"
#include "base/arena.h"
#include "expr/ast.h"
#include "expr/condition_parse.h"
#include "expr/legacy_condition.h"
#include "expr/legacy_mix.h"
#include "expr/legacy_update.h"
#include "expr/params.h"
#include "expr/update_parse.h"
#include "model/table_definition.h"

bool item_expressions_check(struct api_call *call, const struct condition_request *condition,
                            const struct update_item_request *update)
{
    const struct legacy_mix_parameter legacy[] = {
        { "AttributeUpdates", update != NULL && update->attribute_updates.present },
        { "Expected", condition->expected.present },
        { "ConditionalOperator", condition->conditional_operator.data != NULL },
    };
    const struct legacy_mix_parameter expressions[] = {
        { "UpdateExpression", update != NULL && update->update_expression.data != NULL },
        { "ConditionExpression", condition->condition_expression.data != NULL },
    };
    if (!(expression_input_is_enveloped(call) ? legacy_mix_check_enveloped : legacy_mix_check)(
            legacy, COUNT_OF(legacy), expressions, COUNT_OF(expressions), &call->error))
        return false;
    if (expressions[0].present || expressions[1].present)
        return true;
    struct expr_params_input input = expression_input_params(
        call, &condition->expression_attribute_names, &condition->expression_attribute_values);
    return expr_params_check_absent(&input,
                                    update == NULL
                                        ? "ConditionExpression is null"
                                        : "UpdateExpression and ConditionExpression are null",
                                    &call->error);
}

/* --- The older forms --- */

static bool fill_condition(struct api_call *call, const struct expected_attribute *from,
                           struct legacy_condition *out)
{
    bool ok = expression_input_comparison(call, from->comparison_operator,
                                          &from->attribute_value_list, out);
    out->value = expression_input_value(call, &from->value, &ok);
    if (from->exists.present)
        out->exists = from->exists.value ? LEGACY_EXISTS_TRUE : LEGACY_EXISTS_FALSE;
    return ok;
}

static bool compile_expected(struct api_call *call, const struct condition_request *request,
                             const struct condition **out)
{
    const struct shape_map *expected = &request->expected;
    struct expected_attribute *const *elements = expected->elements;
    struct legacy_condition *conditions =
        arena_alloc_zeroed(call->arena, expected->count * sizeof *conditions);
    for (size_t i = 0; i < expected->count; i++) {
        conditions[i].name = expected->names[i];
        if (!fill_condition(call, elements[i], &conditions[i]))
            return false;
    }
    *out = legacy_condition_expected(
        call->arena, conditions, expected->count,
        bytes_equal_text(request->conditional_operator, "OR") ? LEGACY_OR : LEGACY_AND,
        &call->error);
    return *out != NULL;
}

static bool compile_attribute_updates(struct api_call *call, const struct shape_map *request,
                                      const struct update **out)
{
    struct attribute_update_request *const *elements = request->elements;
    struct legacy_update *updates =
        arena_alloc_zeroed(call->arena, request->count * sizeof *updates);
    bool ok = true;
    for (size_t i = 0; i < request->count && ok; i++) {
        updates[i].name = request->names[i];
        updates[i].action = elements[i]->action;
        updates[i].value = expression_input_value(call, &elements[i]->value, &ok);
    }
    if (ok)
        *out = legacy_update_translate(call->arena, updates, request->count, &call->error);
    return ok && *out != NULL;
}

/* --- Both forms --- */

static bool compile_update(struct api_call *call, const struct update_item_request *request,
                           struct expr_params *params, const struct update **out)
{
    if (request->update_expression.data == NULL)
        return compile_attribute_updates(call, &request->attribute_updates, out);
    *out = update_parse(call->arena, request->update_expression, params, &call->error);
    return *out != NULL;
}

static bool compile_condition(struct api_call *call, const struct condition_request *request,
                              struct expr_params *params, const struct condition **out)
{
    if (request->expected.count > 0 && !compile_expected(call, request, out))
        return false;
    if (!legacy_condition_check_operator(request->conditional_operator.data != NULL,
                                         request->expected.count, &call->error))
        return false;
    if (request->condition_expression.data == NULL)
        return true;
    *out = condition_parse(call->arena, request->condition_expression, "ConditionExpression",
                           params, &call->error);
    return *out != NULL;
}

bool item_expressions_compile(struct api_call *call, const struct condition_request *condition,
                              const struct update_item_request *update,
                              struct item_expressions *out)
{
    struct expr_params_input input = expression_input_params(
        call, &condition->expression_attribute_names, &condition->expression_attribute_values);
    *out = (struct item_expressions){ 0 };
    return expression_input_check_values(call, &condition->expression_attribute_values) &&
           expr_params_init(&out->params, call->arena, &input, &call->error) &&
           (update == NULL || compile_update(call, update, &out->params, &out->update)) &&
           compile_condition(call, condition, &out->params, &out->condition) &&
           expr_params_check_unused(&out->params, call->arena, &call->error);
}

bool item_expressions_check_keys(struct api_call *call, const struct expr_params *params,
                                 const struct table_definition *table)
{
    const struct bytes names[] = { table->key.hash.name, table->key.range.name };
    return expr_params_check_key_paths(params, names, table->key.has_range ? 2 : 1, &call->error);
}

bool item_expressions_check_projections(struct api_call *call,
                                        const struct item_projection *const *requests, size_t count)
{
    struct legacy_mix_parameter legacy = { "AttributesToGet", false };
    struct legacy_mix_parameter expression = { "ProjectionExpression", false };
    for (size_t i = 0; i < count; i++) {
        legacy.present |= requests[i]->attributes_to_get.present;
        expression.present |= requests[i]->projection_expression.data != NULL;
    }
    bool ok = legacy_mix_check(&legacy, 1, &expression, 1, &call->error);
    for (size_t i = 0; i < count && ok; i++) {
        struct expr_params_input input =
            expression_input_params(call, &requests[i]->expression_attribute_names, NULL);
        ok = requests[i]->projection_expression.data != NULL ||
             expr_params_check_absent(&input, "ProjectionExpression is null", &call->error);
    }
    return ok;
}

bool item_expressions_projection(struct api_call *call, const struct item_projection *request,
                                 struct expr_params *params, const struct path_node **out)
{
    struct expr_params_input input =
        expression_input_params(call, &request->expression_attribute_names, NULL);
    *params = (struct expr_params){ 0 };
    if (request->projection_expression.data != NULL &&
        !expr_params_init(params, call->arena, &input, &call->error))
        return false;
    return expression_input_projection(call, request->projection_expression,
                                       &request->attributes_to_get, params, out) &&
           expr_params_check_unused(params, call->arena, &call->error);
}
