/* read_shapes.h -- the requests of Query and Scan as their shapes read them. */
#ifndef STATOR_API_ITEM_READ_SHAPES_H
#define STATOR_API_ITEM_READ_SHAPES_H
#include <stdbool.h>
#include "shape/shape.h"

/* An element of KeyConditions, QueryFilter or ScanFilter. */
struct condition_element {
    struct bytes comparison_operator;
    struct shape_list attribute_value_list; /* of struct shape_value */
};

/* What both share. */
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
    bool is_statement; /* No field: PartiQL has words of its own about indexes. */
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

#endif
