/* item_shapes.c -- the service model of the operations on one item.
 *
 * The order of each table is the order in which the service reports, which differs from one
 * operation to the next for no visible reason; so do the orders inside the enumerations.
 */
#include "api/item/item_shapes.h"
#include "api/common_shapes.h"
#include "base/compiler.h"

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
    { SHAPE_FIELD(struct put_item_request, table_name, "TableName", &common_item_table_name),
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
static const struct shape_field update_item_fields[] = {
    { SHAPE_FIELD(struct update_item_request, table_name, "TableName", &common_item_table_name),
      .required = true, .alone = true },
    { SHAPE_FIELD(struct update_item_request, key, "Key", &common_item), .required = true },
    RETURN_VALUES_FIELD(struct update_item_request),
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
