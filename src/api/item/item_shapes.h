/* item_shapes.h -- the requests of the operations on one item as their shapes read them. */
#ifndef STATOR_API_ITEM_ITEM_SHAPES_H
#define STATOR_API_ITEM_ITEM_SHAPES_H
#include "shape/shape.h"

/* An element of Expected. */
struct expected_attribute {
    struct shape_value value;
    struct shape_boolean exists;
    struct bytes comparison_operator;
    struct shape_list attribute_value_list; /* of struct shape_value */
};

/* What PutItem, UpdateItem and DeleteItem share: the condition and what to tell about it. */
struct condition_request {
    struct bytes condition_expression;
    struct shape_map expression_attribute_names; /* of struct bytes */
    struct shape_item expression_attribute_values;
    struct shape_map expected; /* of struct expected_attribute * */
    struct bytes conditional_operator;
    struct bytes return_values;
    struct bytes return_consumed_capacity;
    struct bytes return_item_collection_metrics;
    struct bytes return_values_on_condition_check_failure;
};

struct put_item_request {
    struct bytes table_name;
    struct shape_item item;
    struct condition_request condition;
};

struct delete_item_request {
    struct bytes table_name;
    struct shape_item key;
    struct condition_request condition;
};

/* An element of AttributeUpdates. */
struct attribute_update_request {
    struct shape_value value;
    struct bytes action;
};

struct update_item_request {
    struct bytes table_name;
    struct shape_item key;
    struct bytes update_expression;
    struct shape_map attribute_updates; /* of struct attribute_update_request * */
    struct condition_request condition;
};

/* Which attributes a read by key shows. */
struct item_projection {
    struct shape_list attributes_to_get; /* of struct bytes */
    struct bytes projection_expression;
    struct shape_map expression_attribute_names; /* of struct bytes */
};

struct get_item_request {
    struct bytes table_name;
    struct shape_item key;
    struct shape_boolean consistent_read;
    struct bytes return_consumed_capacity;
    struct item_projection projection;
};

extern const struct shape put_item_shape;
extern const struct shape delete_item_shape;
extern const struct shape update_item_shape;
extern const struct shape get_item_shape;

/* Parts that the batch operations and the transactions share. */
extern const struct shape item_collection_metrics_shape;
extern const struct shape item_on_check_failure_shape;

#endif
