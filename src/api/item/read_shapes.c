/* read_shapes.c -- the service model of Query and Scan.
 *
 * Observed: IndexName has no shape of its own here; any text is looked for among the indexes.
 */
#include "api/item/read_shapes.h"
#include "api/common_shapes.h"
#include "base/compiler.h"
#include "model/limits.h"

static const struct shape_field condition_element_fields[] = {
    { SHAPE_FIELD(struct condition_element, attribute_value_list, "AttributeValueList",
                  &common_attribute_value_list) },
    { SHAPE_FIELD(struct condition_element, comparison_operator, "ComparisonOperator",
                  &common_comparison_operator),
      .required = true },
};
static const struct shape condition_element_shape = {
    SHAPE_STRUCTURE_OF(struct condition_element, condition_element_fields),
    .type_name = "Condition",
};
static const struct shape conditions_shape = { .kind = SHAPE_MAP,
                                               .element = &condition_element_shape,
                                               SHAPE_UNBOUNDED };

static const char *const select_values[] = { "SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES",
                                             "ALL_PROJECTED_ATTRIBUTES", NULL };
static const struct shape select_shape = { .kind = SHAPE_STRING,
                                           .enum_values = select_values,
                                           SHAPE_UNBOUNDED };
static const struct shape query_limit_shape = {
    .kind = SHAPE_INTEGER, .min = 1, .max = SHAPE_NO_MAX, .bare = true
};
static const struct shape scan_limit_shape = { .kind = SHAPE_INTEGER,
                                               .min = 1,
                                               .max = SHAPE_NO_MAX };
static const struct shape segment_shape = { .kind = SHAPE_INTEGER,
                                            .min = 0,
                                            .max = SCAN_SEGMENTS_MAX - 1 };
static const struct shape total_segments_shape = { .kind = SHAPE_INTEGER,
                                                   .min = 1,
                                                   .max = SCAN_SEGMENTS_MAX };

/* The rows of struct read_request; `filter_name` is what the operation calls the older filter. */
#define READ_FIELDS(structure, filter_name, limit_shape)                                           \
    { SHAPE_FIELD(structure, read.table_name, "TableName", &common_item_table_name),               \
      .required = true },                                                                          \
        { SHAPE_FIELD(structure, read.return_consumed_capacity, "ReturnConsumedCapacity",          \
                      &common_return_consumed_capacity) },                                         \
        { SHAPE_FIELD(structure, read.select, "Select", &select_shape) },                          \
        { SHAPE_FIELD(structure, read.limit, "Limit", limit_shape) },                              \
        { SHAPE_FIELD(structure, read.index_name, "IndexName", &common_string) },                  \
        { SHAPE_FIELD(structure, read.attributes_to_get, "AttributesToGet",                        \
                      &common_attributes_to_get) },                                                \
        { SHAPE_FIELD(structure, read.conditional_operator, "ConditionalOperator",                 \
                      &common_conditional_operator) },                                             \
        { SHAPE_FIELD(structure, read.filter, filter_name, &conditions_shape) },                   \
        { SHAPE_FIELD(structure, read.exclusive_start_key, "ExclusiveStartKey", &common_item) },   \
        { SHAPE_FIELD(structure, read.consistent_read, "ConsistentRead", &common_boolean) },       \
        { SHAPE_FIELD(structure, read.projection_expression, "ProjectionExpression",               \
                      &common_string) },                                                           \
        { SHAPE_FIELD(structure, read.filter_expression, "FilterExpression", &common_string) },    \
        { SHAPE_FIELD(structure, read.expression_attribute_names, "ExpressionAttributeNames",      \
                      &common_attribute_name_map) },                                               \
    {                                                                                              \
        SHAPE_FIELD(structure, read.expression_attribute_values, "ExpressionAttributeValues",      \
                    &common_item)                                                                  \
    }

static const struct shape_field query_fields[] = {
    READ_FIELDS(struct query_request, "QueryFilter", &query_limit_shape),
    { SHAPE_FIELD(struct query_request, scan_index_forward, "ScanIndexForward", &common_boolean) },
    { SHAPE_FIELD(struct query_request, key_condition_expression, "KeyConditionExpression",
                  &common_string) },
    { SHAPE_FIELD(struct query_request, key_conditions, "KeyConditions", &conditions_shape) },
};
const struct shape query_shape = { SHAPE_STRUCTURE_OF(struct query_request, query_fields),
                                   .type_name = "QueryInput" };

static const struct shape_field scan_fields[] = {
    READ_FIELDS(struct scan_request, "ScanFilter", &scan_limit_shape),
    { SHAPE_FIELD(struct scan_request, segment, "Segment", &segment_shape) },
    { SHAPE_FIELD(struct scan_request, total_segments, "TotalSegments", &total_segments_shape) },
};
const struct shape scan_shape = { SHAPE_STRUCTURE_OF(struct scan_request, scan_fields),
                                  .type_name = "ScanInput" };
