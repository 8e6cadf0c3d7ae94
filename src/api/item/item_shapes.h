/* item_shapes.h -- the requests of the operations on items as their shapes read them. */
#ifndef STATOR_API_ITEM_ITEM_SHAPES_H
#define STATOR_API_ITEM_ITEM_SHAPES_H
#include <stdbool.h>
#include "shape/shape.h"

/* An element of Expected. */
struct expected_attribute {
    struct shape_value value;
    struct shape_boolean exists;
    struct bytes comparison_operator;
    struct shape_list attribute_value_list; /* of struct shape_value */
};

/* The part that PutItem, UpdateItem and DeleteItem share: the condition and what to return. */
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

/* An element of KeyConditions, QueryFilter or ScanFilter. */
struct condition_element {
    struct bytes comparison_operator;
    struct shape_list attribute_value_list; /* of struct shape_value */
};

/* The part that Query and Scan share. */
struct read_request {
    struct bytes table_name;
    struct bytes index_name;
    struct bytes select;
    struct shape_integer limit;
    struct shape_boolean consistent_read;
    struct bytes return_consumed_capacity;
    struct shape_item exclusive_start_key;
    struct bytes projection_expression;
    struct bytes filter_expression;
    struct shape_map expression_attribute_names; /* of struct bytes */
    struct shape_item expression_attribute_values;
    /* The older forms. */
    struct shape_list attributes_to_get; /* of struct bytes */
    struct shape_map filter; /* QueryFilter or ScanFilter; of struct condition_element * */
    struct bytes conditional_operator;
    /* Not part of the JSON: set by PartiQL, whose messages about indexes differ. */
    bool is_statement;
};

struct query_request {
    struct read_request read;
    struct shape_boolean scan_index_forward;
    struct bytes key_condition_expression;
    struct shape_map key_conditions; /* of struct condition_element * */
};

struct scan_request {
    struct read_request read;
    struct shape_integer segment;
    struct shape_integer total_segments;
};

extern const struct shape query_shape;
extern const struct shape scan_shape;

/* BatchGetItem: the reads of one table. */
struct keys_and_attributes {
    struct shape_list keys; /* of struct shape_item */
    struct shape_boolean consistent_read;
    struct item_projection projection;
};

struct batch_get_item_request {
    struct shape_map request_items; /* of struct keys_and_attributes *, by table name or ARN */
    struct bytes return_consumed_capacity;
};

struct put_request {
    struct shape_item item;
};
struct delete_request {
    struct shape_item key;
};
/* BatchWriteItem: exactly one of the two is not NULL, which the operation checks. */
struct write_request {
    struct put_request *put;
    struct delete_request *delete;
};

struct batch_write_item_request {
    /* of struct shape_list of struct write_request *, by table name or ARN */
    struct shape_map request_items;
    struct bytes return_consumed_capacity;
    struct bytes return_item_collection_metrics;
};

/* BatchWriteItem's message if RequestItems is missing or empty. */
extern const char batch_write_items_absent_text[];

extern const struct shape batch_get_item_shape;
extern const struct shape batch_write_item_shape;

#endif
