/* item_shapes.c -- the service model of the operations on items.
 *
 * The order of each table is the order in which the service reports, which differs from one
 * operation to the next for no visible reason; so do the orders inside the enumerations.
 *
 * Two rules with special error messages are in the operations' files: those about table names that
 * are keys of a map, and about the number of keys that BatchGetItem reads.
 */
#include "api/item/item_shapes.h"
#include "api/common_shapes.h"
#include "base/compiler.h"
#include "model/limits.h"

/* --- One item --- */

static const struct shape_field expected_attribute_fields[] = {
    { SHAPE_FIELD(struct expected_attribute, value, "Value", &common_attribute_value) },
    { SHAPE_FIELD(struct expected_attribute, exists, "Exists", &common_boolean) },
    { SHAPE_FIELD(struct expected_attribute, comparison_operator, "ComparisonOperator",
                  &common_comparison_operator) },
    { SHAPE_FIELD(struct expected_attribute, attribute_value_list, "AttributeValueList",
                  &common_attribute_value_list) },
};
static const struct shape expected_attribute_shape = {
    SHAPE_STRUCTURE_OF(struct expected_attribute, expected_attribute_fields),
    .type_name = "ExpectedAttributeValue",
};
static const struct shape expected_shape = { .kind = SHAPE_MAP,
                                             .element = &expected_attribute_shape,
                                             SHAPE_UNBOUNDED };

static const char *const return_values_values[] = { "ALL_NEW", "UPDATED_OLD", "ALL_OLD",
                                                    "NONE",    "UPDATED_NEW", NULL };
static const struct shape return_values_shape = { .kind = SHAPE_STRING,
                                                  .enum_values = return_values_values,
                                                  SHAPE_UNBOUNDED };
static const char *const collection_metrics_values[] = { "SIZE", "NONE", NULL };
const struct shape item_collection_metrics_shape = { .kind = SHAPE_STRING,
                                                     .enum_values = collection_metrics_values,
                                                     SHAPE_UNBOUNDED };
static const char *const on_check_failure_values[] = { "ALL_OLD", "NONE", NULL };
const struct shape item_on_check_failure_shape = { .kind = SHAPE_STRING,
                                                   .enum_values = on_check_failure_values,
                                                   SHAPE_UNBOUNDED };

/* The rows of struct condition_request, the same in the requests that hold one, except for the
 * order of the first two. */
#define CAPACITY_FIELD(structure)                                                                  \
    {                                                                                              \
        SHAPE_FIELD(structure, condition.return_consumed_capacity, "ReturnConsumedCapacity",       \
                    &common_return_consumed_capacity)                                              \
    }
#define RETURN_VALUES_FIELD(structure)                                                             \
    {                                                                                              \
        SHAPE_FIELD(structure, condition.return_values, "ReturnValues", &return_values_shape)      \
    }
#define CONDITION_FIELDS(structure)                                                                \
    { SHAPE_FIELD(structure, condition.return_item_collection_metrics,                             \
                  "ReturnItemCollectionMetrics", &item_collection_metrics_shape) },                \
        { SHAPE_FIELD(structure, condition.conditional_operator, "ConditionalOperator",            \
                      &common_conditional_operator) },                                             \
        { SHAPE_FIELD(structure, condition.return_values_on_condition_check_failure,               \
                      "ReturnValuesOnConditionCheckFailure", &item_on_check_failure_shape) },      \
        { SHAPE_FIELD(structure, condition.expected, "Expected", &expected_shape) },               \
        { SHAPE_FIELD(structure, condition.condition_expression, "ConditionExpression",            \
                      &common_string) },                                                           \
        { SHAPE_FIELD(structure, condition.expression_attribute_names, "ExpressionAttributeNames", \
                      &common_attribute_name_map) },                                               \
    {                                                                                              \
        SHAPE_FIELD(structure, condition.expression_attribute_values, "ExpressionAttributeValues", \
                    &common_item)                                                                  \
    }

static const struct shape_field put_item_fields[] = {
    { SHAPE_FIELD(struct put_item_request, table_name, "TableName", &common_put_table_name),
      .required = true, .alone = true },
    { SHAPE_FIELD(struct put_item_request, item, "Item", &common_item), .required = true },
    CAPACITY_FIELD(struct put_item_request),
    RETURN_VALUES_FIELD(struct put_item_request),
    CONDITION_FIELDS(struct put_item_request),
};
const struct shape put_item_shape = { SHAPE_STRUCTURE_OF(struct put_item_request, put_item_fields),
                                      .type_name = "PutItemInput" };

static const struct shape_field delete_item_fields[] = {
    { SHAPE_FIELD(struct delete_item_request, table_name, "TableName", &common_item_table_name),
      .required = true },
    { SHAPE_FIELD(struct delete_item_request, key, "Key", &common_item), .required = true },
    CAPACITY_FIELD(struct delete_item_request),
    RETURN_VALUES_FIELD(struct delete_item_request),
    CONDITION_FIELDS(struct delete_item_request),
};
const struct shape delete_item_shape = { SHAPE_STRUCTURE_OF(struct delete_item_request,
                                                            delete_item_fields),
                                         .type_name = "DeleteItemInput" };

static const char *const update_actions[] = { "ADD", "PUT", "DELETE", NULL };
static const struct shape update_action_shape = { .kind = SHAPE_STRING,
                                                  .enum_values = update_actions,
                                                  SHAPE_UNBOUNDED };
static const struct shape_field attribute_update_fields[] = {
    { SHAPE_FIELD(struct attribute_update_request, value, "Value", &common_attribute_value) },
    { SHAPE_FIELD(struct attribute_update_request, action, "Action", &update_action_shape) },
};
static const struct shape attribute_update_shape = {
    SHAPE_STRUCTURE_OF(struct attribute_update_request, attribute_update_fields),
    .type_name = "AttributeValueUpdate",
};
static const struct shape attribute_updates_shape = { .kind = SHAPE_MAP,
                                                      .element = &attribute_update_shape,
                                                      SHAPE_UNBOUNDED };
/* Observed: the list lacks a letter. */
static const struct shape update_return_values_shape = {
    .kind = SHAPE_STRING,
    .enum_values = return_values_values,
    .enum_text = "1 validation error detected: Failed to satisfy constraint: Member must satisfy "
                 "enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]",
    SHAPE_UNBOUNDED,
};
static const struct shape_field update_item_fields[] = {
    { SHAPE_FIELD(struct update_item_request, table_name, "TableName", &common_item_table_name),
      .required = true, .alone = true },
    { SHAPE_FIELD(struct update_item_request, key, "Key", &common_item), .required = true },
    { SHAPE_FIELD(struct update_item_request, condition.return_values, "ReturnValues",
                  &update_return_values_shape) },
    CAPACITY_FIELD(struct update_item_request),
    CONDITION_FIELDS(struct update_item_request),
    { SHAPE_FIELD(struct update_item_request, attribute_updates, "AttributeUpdates",
                  &attribute_updates_shape) },
    { SHAPE_FIELD(struct update_item_request, update_expression, "UpdateExpression",
                  &common_string) },
};
const struct shape update_item_shape = { SHAPE_STRUCTURE_OF(struct update_item_request,
                                                            update_item_fields),
                                         .type_name = "UpdateItemInput", .one_enum_error = true };

static const struct shape_field get_item_fields[] = {
    { SHAPE_FIELD(struct get_item_request, key, "Key", &common_item), .required = true },
    { SHAPE_FIELD(struct get_item_request, table_name, "TableName", &common_item_table_name),
      .required = true },
    { SHAPE_FIELD(struct get_item_request, return_consumed_capacity, "ReturnConsumedCapacity",
                  &common_return_consumed_capacity) },
    { SHAPE_FIELD(struct get_item_request, projection.attributes_to_get, "AttributesToGet",
                  &common_attributes_to_get) },
    { SHAPE_FIELD(struct get_item_request, consistent_read, "ConsistentRead", &common_boolean) },
    { SHAPE_FIELD(struct get_item_request, projection.projection_expression, "ProjectionExpression",
                  &common_string) },
    { SHAPE_FIELD(struct get_item_request, projection.expression_attribute_names,
                  "ExpressionAttributeNames", &common_attribute_name_map) },
};
const struct shape get_item_shape = { SHAPE_STRUCTURE_OF(struct get_item_request, get_item_fields),
                                      .type_name = "GetItemInput" };

/* --- Query and Scan --- */

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

/* The rows of struct read_request; `filter_name` is what the operation calls the older filter.
 * Observed: IndexName has no shape of its own here; any text is accepted and looked up. */
#define READ_FIELDS(structure, filter_name, limit_shape, operator_shape)                           \
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
                      operator_shape) },                                                           \
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
    READ_FIELDS(struct query_request, "QueryFilter", &query_limit_shape,
                &common_query_conditional_operator),
    { SHAPE_FIELD(struct query_request, scan_index_forward, "ScanIndexForward", &common_boolean) },
    { SHAPE_FIELD(struct query_request, key_condition_expression, "KeyConditionExpression",
                  &common_string) },
    { SHAPE_FIELD(struct query_request, key_conditions, "KeyConditions", &conditions_shape) },
};
const struct shape query_shape = { SHAPE_STRUCTURE_OF(struct query_request, query_fields),
                                   .type_name = "QueryInput" };

static const struct shape_field scan_fields[] = {
    READ_FIELDS(struct scan_request, "ScanFilter", &scan_limit_shape, &common_conditional_operator),
    { SHAPE_FIELD(struct scan_request, segment, "Segment", &segment_shape) },
    { SHAPE_FIELD(struct scan_request, total_segments, "TotalSegments", &total_segments_shape) },
};
const struct shape scan_shape = { SHAPE_STRUCTURE_OF(struct scan_request, scan_fields),
                                  .type_name = "ScanInput" };

/* --- Batches --- */

static const struct shape keys_shape = { .kind = SHAPE_LIST,
                                         .element = &common_item,
                                         SHAPE_UNBOUNDED };
static const struct shape_field keys_and_attributes_fields[] = {
    { SHAPE_FIELD(struct keys_and_attributes, keys, "Keys", &keys_shape), .required = true },
    { SHAPE_FIELD(struct keys_and_attributes, projection.attributes_to_get, "AttributesToGet",
                  &common_attributes_to_get) },
    { SHAPE_FIELD(struct keys_and_attributes, consistent_read, "ConsistentRead", &common_boolean) },
    { SHAPE_FIELD(struct keys_and_attributes, projection.projection_expression,
                  "ProjectionExpression", &common_string) },
    { SHAPE_FIELD(struct keys_and_attributes, projection.expression_attribute_names,
                  "ExpressionAttributeNames", &common_attribute_name_map) },
};
static const struct shape keys_and_attributes_shape = {
    SHAPE_STRUCTURE_OF(struct keys_and_attributes, keys_and_attributes_fields),
    .type_name = "KeysAndAttributes",
};
static const struct shape batch_get_map_shape = { .kind = SHAPE_MAP,
                                                  .element = &keys_and_attributes_shape,
                                                  SHAPE_UNBOUNDED };
static const struct shape_field batch_get_item_fields[] = {
    { SHAPE_FIELD(struct batch_get_item_request, return_consumed_capacity, "ReturnConsumedCapacity",
                  &common_return_consumed_capacity) },
    { SHAPE_FIELD(struct batch_get_item_request, request_items, "RequestItems",
                  &batch_get_map_shape),
      .required = true },
};
const struct shape batch_get_item_shape = { SHAPE_STRUCTURE_OF(struct batch_get_item_request,
                                                               batch_get_item_fields),
                                            .type_name = "BatchGetItemInput" };

static const struct shape_field put_request_fields[] = {
    { SHAPE_FIELD(struct put_request, item, "Item", &common_item), .required = true },
};
static const struct shape put_request_shape = {
    SHAPE_STRUCTURE_OF(struct put_request, put_request_fields), .type_name = "PutRequest"
};
static const struct shape_field delete_request_fields[] = {
    { SHAPE_FIELD(struct delete_request, key, "Key", &common_item), .required = true },
};
static const struct shape delete_request_shape = {
    SHAPE_STRUCTURE_OF(struct delete_request, delete_request_fields), .type_name = "DeleteRequest"
};
static const struct shape_field write_request_fields[] = {
    { SHAPE_FIELD(struct write_request, put, "PutRequest", &put_request_shape) },
    { SHAPE_FIELD(struct write_request, delete, "DeleteRequest", &delete_request_shape) },
};
static const struct shape write_request_shape = {
    SHAPE_STRUCTURE_OF(struct write_request, write_request_fields), .type_name = "WriteRequest"
};
static const struct shape write_requests_shape = {
    .kind = SHAPE_LIST, .element = &write_request_shape, .min = 1, .max = BATCH_WRITE_REQUESTS_MAX
};
static const struct shape batch_write_map_shape = { .kind = SHAPE_MAP,
                                                    .element = &write_requests_shape,
                                                    SHAPE_UNBOUNDED };
const char batch_write_items_absent_text[] =
    "The requestItems parameter is required for BatchWriteItem";

static const struct shape_field batch_write_item_fields[] = {
    { SHAPE_FIELD(struct batch_write_item_request, return_consumed_capacity,
                  "ReturnConsumedCapacity", &common_return_consumed_capacity) },
    { SHAPE_FIELD(struct batch_write_item_request, return_item_collection_metrics,
                  "ReturnItemCollectionMetrics", &item_collection_metrics_shape) },
    { SHAPE_FIELD(struct batch_write_item_request, request_items, "RequestItems",
                  &batch_write_map_shape),
      .required = true, .absent_text = batch_write_items_absent_text },
};
const struct shape batch_write_item_shape = { SHAPE_STRUCTURE_OF(struct batch_write_item_request,
                                                                 batch_write_item_fields),
                                              .type_name = "BatchWriteItemInput" };
