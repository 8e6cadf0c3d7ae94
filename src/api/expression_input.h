/* expression_input.h -- the parts of a request that expressions are made of, as expr/ takes them.
 */
#ifndef STATOR_API_EXPRESSION_INPUT_H
#define STATOR_API_EXPRESSION_INPUT_H
#include <stdbool.h>
#include "shape/shape.h"
#include "base/compiler.h"
#include "expr/params.h"

struct api_call;
struct legacy_condition;
struct path_node;

/* Observed: PutItem and UpdateItem report most faults of expressions behind an envelope, the other
 * operations report them bare. */
bool expression_input_is_enveloped(const struct api_call *call);

/* ExpressionAttributeNames and ExpressionAttributeValues; `values` is NULL where the operation has
 * none. */
struct expr_params_input expression_input_params(const struct api_call *call,
                                                 const struct shape_map *names,
                                                 const struct shape_item *values);
/* Reports a broken value among ExpressionAttributeValues, with the placeholder's name. */
MUST_CHECK bool expression_input_check_values(struct api_call *call,
                                              const struct shape_item *values);

/* Is what is broken the depth of a value? No placeholder is named then. */
bool expression_input_is_too_deep(const struct shape_item *values);

/* ProjectionExpression, or AttributesToGet in its place, as a tree of paths; NULL in `*out`:
 * neither is there. */
MUST_CHECK bool expression_input_projection(struct api_call *call, struct bytes expression,
                                            const struct shape_list *attributes_to_get,
                                            struct expr_params *params,
                                            const struct path_node **out);

/* A value of an older parameter: NULL if it is absent. Does nothing once `*ok` is false, which it
 * becomes, with the error set, when the value breaks a rule. */
const struct value *expression_input_value(struct api_call *call, const struct shape_value *from,
                                           bool *ok);
/* Fills in ComparisonOperator and AttributeValueList of an older condition. */
MUST_CHECK bool expression_input_comparison(struct api_call *call, struct bytes comparison_operator,
                                            const struct shape_list *values,
                                            struct legacy_condition *out);

#endif
