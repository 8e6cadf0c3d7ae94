/* item_expressions.c -- see item_expressions.h. */
#include "api/item/item_expressions.h"
#include <assert.h>
#include "api/item/item_shapes.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "expr/ast.h"
#include "expr/condition_parse.h"
#include "expr/legacy.h"
#include "expr/params.h"
#include "expr/path.h"
#include "expr/projection.h"
#include "expr/update_parse.h"
#include "model/table_definition.h"

/* --- Parts of requests, as expr/ takes them --- */

struct expr_params_input item_expressions_params(const struct shape_map *names,
                                                 const struct shape_item *values)
{
    return (struct expr_params_input){
        .names_present = names->present,
        .name_keys = names->names,
        .name_values = names->elements,
        .name_count = names->count,
        .values = values != NULL && values->present ? &values->item : NULL,
    };
}

/* In the older family the service names the placeholder whose value broke a rule. */
bool item_expressions_check_values(struct api_call *call, const struct shape_item *values)
{
    struct bytes attribute = values->rule != NULL ? values->rule->attribute : (struct bytes){ 0 };
    if (attribute.data != NULL && attribute.len == 0)
        return true; /* expr_params_init refuses an empty name. */
    if (operation_check_rule(call, values->rule))
        return true;
    if (attribute.data == NULL || call->error.family != ERROR_FAMILY_OLDER)
        return false;
    struct buffer out; /* The value and the name may hold NUL. */
    buffer_init(&out, call->arena);
    buffer_append_bytes(&out, BYTES("ExpressionAttributeValues contains invalid value: "));
    buffer_append_bytes(&out, call->error.message);
    buffer_append_bytes(&out, BYTES(" for key "));
    buffer_append_bytes(&out, attribute);
    return error_set_bytes(&call->error, ERROR_VALIDATION, buffer_bytes(&out));
}

bool item_expressions_is_too_deep(const struct shape_item *values)
{
    return values->rule != NULL && values->rule->attribute.data == NULL;
}

bool item_expressions_tree(struct api_call *call, struct bytes expression,
                           const struct shape_list *attributes_to_get, struct expr_params *params,
                           const struct path_node **out)
{
    *out = NULL;
    if (expression.data == NULL) {
        if (attributes_to_get->present)
            *out = legacy_update_projection(call->arena, attributes_to_get->elements,
                                            attributes_to_get->count, &call->error);
        return !attributes_to_get->present || *out != NULL;
    }
    const struct projection *projection =
        projection_parse(call->arena, expression, params, &call->error);
    if (projection == NULL)
        return false;
    *out = path_tree_build(call->arena, projection->paths, projection->path_count);
    return true;
}

/* A value of an older parameter: NULL if it is absent. Does nothing once `*ok` is false, which it
 * becomes, with the error set, when the value breaks a rule. */
static const struct value *read_value(struct api_call *call, const struct shape_value *from,
                                      bool *ok)
{
    if (!*ok || !from->present)
        return NULL;
    *ok = operation_check_rule(call, from->rule);
    if (!*ok)
        return NULL;
    struct value *value = arena_alloc(call->arena, sizeof *value);
    *value = value_view(from->encoded);
    return value;
}

bool item_expressions_comparison(struct api_call *call, struct bytes comparison_operator,
                                 const struct shape_list *values, struct legacy_condition *out)
{
    const struct shape_value *elements = values->elements;
    struct value *opened_values = arena_alloc(call->arena, values->count * sizeof *opened_values);
    for (size_t i = 0; i < values->count; i++) {
        if (!operation_check_rule(call, elements[i].rule))
            return false;
        opened_values[i] = value_view(elements[i].encoded);
    }
    out->comparison_operator = comparison_operator;
    out->values_present = values->present;
    out->values = opened_values;
    out->value_count = values->count;
    return true;
}

/* --- Writes of one item --- */

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
    if (!legacy_mix_check(legacy, COUNT_OF(legacy), expressions, COUNT_OF(expressions),
                          &call->error))
        return false;
    if (expressions[0].present || expressions[1].present)
        return true;
    struct expr_params_input input = item_expressions_params(
        &condition->expression_attribute_names, &condition->expression_attribute_values);
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
    bool ok = item_expressions_comparison(call, from->comparison_operator,
                                          &from->attribute_value_list, out);
    out->value = read_value(call, &from->value, &ok);
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
        updates[i].value = read_value(call, &elements[i]->value, &ok);
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
    struct expr_params_input input = item_expressions_params(
        &condition->expression_attribute_names, &condition->expression_attribute_values);
    *out = (struct item_expressions){ 0 };
    return item_expressions_check_values(call, &condition->expression_attribute_values) &&
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
    assert(count > 0);
    struct legacy_mix_parameter legacy = { "AttributesToGet", false };
    struct legacy_mix_parameter expression = { "ProjectionExpression", false };
    for (size_t i = 0; i < count; i++) {
        legacy.present |= requests[i]->attributes_to_get.present;
        expression.present |= requests[i]->projection_expression.data != NULL;
    }
    bool ok = legacy_mix_check(&legacy, 1, &expression, 1, &call->error);
    for (size_t i = 0; i < count && ok; i++) {
        struct expr_params_input input =
            item_expressions_params(&requests[i]->expression_attribute_names, NULL);
        ok = requests[i]->projection_expression.data != NULL ||
             expr_params_check_absent(&input, "ProjectionExpression is null", &call->error);
    }
    return ok;
}

bool item_expressions_projection(struct api_call *call, const struct item_projection *request,
                                 struct expr_params *params, const struct path_node **out)
{
    struct expr_params_input input =
        item_expressions_params(&request->expression_attribute_names, NULL);
    *params = (struct expr_params){ 0 };
    if (request->projection_expression.data != NULL &&
        !expr_params_init(params, call->arena, &input, &call->error))
        return false;
    return item_expressions_tree(call, request->projection_expression, &request->attributes_to_get,
                                 params, out) &&
           expr_params_check_unused(params, call->arena, &call->error);
}
