/* item_expressions.h -- a request's expressions, or their older forms, compiled.
 *
 * One place for the rules that tie these parameters together, in the service's order: mixing the
 * two forms, placeholders without an expression, then each expression, then unused placeholders.
 */
#ifndef STATOR_API_ITEM_ITEM_EXPRESSIONS_H
#define STATOR_API_ITEM_ITEM_EXPRESSIONS_H
#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"
#include "expr/params.h"
#include "shape/shape.h"

struct api_call;
struct condition;
struct condition_request;
struct item_projection;
struct legacy_condition;
struct path_node;
struct table_definition;
struct update;
struct update_item_request;

/* PutItem, DeleteItem, UpdateItem: the first rules, checked before those of the item. `update` is
 * NULL for the first two. */
MUST_CHECK bool item_expressions_check(struct api_call *call,
                                       const struct condition_request *condition,
                                       const struct update_item_request *update);

struct item_expressions {
    const struct condition *condition; /* NULL: none. */
    const struct update *update;       /* UpdateItem: never NULL, perhaps empty. */
    struct expr_params params;
};
MUST_CHECK bool item_expressions_compile(struct api_call *call,
                                         const struct condition_request *condition,
                                         const struct update_item_request *update,
                                         struct item_expressions *out);

/* The last rule, which needs the table: no path leads into a key attribute. */
MUST_CHECK bool item_expressions_check_keys(struct api_call *call, const struct expr_params *params,
                                            const struct table_definition *table);

/* GetItem, BatchGetItem: the first rules of the projections of a request. Observed: in one
 * BatchGetItem, either all projections or none have the older form. */
MUST_CHECK bool item_expressions_check_projections(struct api_call *call,
                                                   const struct item_projection *const *requests,
                                                   size_t count);
/* A projection that passed them, as a tree of paths; NULL in `*out`: the whole item. */
MUST_CHECK bool item_expressions_projection(struct api_call *call,
                                            const struct item_projection *request,
                                            struct expr_params *params,
                                            const struct path_node **out);

/* ExpressionAttributeNames and ExpressionAttributeValues; `values` is NULL where the operation has
 * none. */
struct expr_params_input item_expressions_params(const struct shape_map *names,
                                                 const struct shape_item *values);
/* Reports a broken value among ExpressionAttributeValues, with the placeholder's name. */
MUST_CHECK bool item_expressions_check_values(struct api_call *call,
                                              const struct shape_item *values);

/* True if the broken rule is about the depth of a value. No placeholder is named then. */
bool item_expressions_is_too_deep(const struct shape_item *values);

/* ProjectionExpression, or AttributesToGet in its place, as a tree of paths; `*out` is NULL if both
 * are absent. */
MUST_CHECK bool item_expressions_tree(struct api_call *call, struct bytes expression,
                                      const struct shape_list *attributes_to_get,
                                      struct expr_params *params, const struct path_node **out);

/* Fills in ComparisonOperator and AttributeValueList of an older condition. */
MUST_CHECK bool item_expressions_comparison(struct api_call *call, struct bytes comparison_operator,
                                            const struct shape_list *values,
                                            struct legacy_condition *out);

#endif
