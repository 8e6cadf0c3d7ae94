/* expression_input.c -- see expression_input.h. */
#include "api/expression_input.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "expr/legacy_condition.h"
#include "expr/legacy_update.h"
#include "expr/path_tree.h"
#include "expr/projection_parse.h"

bool expression_input_is_enveloped(const struct api_call *call)
{
    return call->operation == &op_put_item || call->operation == &op_update_item;
}

struct expr_params_input expression_input_params(const struct api_call *call,
                                                 const struct shape_map *names,
                                                 const struct shape_item *values)
{
    return (struct expr_params_input){
        .enveloped = expression_input_is_enveloped(call),
        .names_present = names->present,
        .name_keys = names->names,
        .name_values = names->elements,
        .name_count = names->count,
        .values = values != NULL && values->present ? &values->item : NULL,
    };
}

/* The service names the placeholder whose value broke a rule, behind the envelope if there is one.
 */
bool expression_input_check_values(struct api_call *call, const struct shape_item *values)
{
    struct bytes attribute = values->rule.attribute;
    if (attribute.data != NULL && attribute.len == 0)
        return true; /* No placeholder has this name: expr_params_init says so. */
    if (operation_check_rule(call, &values->rule))
        return true;
    if (attribute.data == NULL)
        return false;
    struct bytes message = error_without_envelope(call->error.message);
    bool enveloped = message.len < call->error.message.len;
    struct buffer out; /* The value and the name may hold NUL. */
    buffer_init(&out, call->arena);
    if (enveloped)
        buffer_append_bytes(&out, BYTES(ERROR_ENVELOPE));
    buffer_append_bytes(&out, BYTES("ExpressionAttributeValues contains invalid value: "));
    buffer_append_bytes(&out, message);
    buffer_append_bytes(&out, BYTES(" for key "));
    buffer_append_bytes(&out, attribute);
    return error_set_bytes(&call->error, ERROR_VALIDATION, buffer_bytes(&out));
}

bool expression_input_is_too_deep(const struct shape_item *values)
{
    return error_is_set(&values->rule) && values->rule.attribute.data == NULL;
}

bool expression_input_projection(struct api_call *call, struct bytes expression,
                                 const struct shape_list *attributes_to_get,
                                 struct expr_params *params, const struct path_node **out)
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

const struct value *expression_input_value(struct api_call *call, const struct shape_value *from,
                                           bool *ok)
{
    if (!*ok || !from->present)
        return NULL;
    *ok = operation_check_rule(call, &from->rule);
    if (!*ok)
        return NULL;
    struct value *value = arena_alloc(call->arena, sizeof *value);
    *value = value_view(from->encoded);
    return value;
}

bool expression_input_comparison(struct api_call *call, struct bytes comparison_operator,
                                 const struct shape_list *values, struct legacy_condition *out)
{
    const struct shape_value *elements = values->elements;
    struct value *opened_values = arena_alloc(call->arena, values->count * sizeof *opened_values);
    for (size_t i = 0; i < values->count; i++) {
        if (!operation_check_rule(call, &elements[i].rule))
            return false;
        opened_values[i] = value_view(elements[i].encoded);
    }
    out->comparison_operator = comparison_operator;
    out->values_present = values->present;
    out->values = opened_values;
    out->value_count = values->count;
    return true;
}
