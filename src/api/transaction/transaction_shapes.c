/* transaction_shapes.c -- the service model of TransactWriteItems and TransactGetItems. */
#include "api/transaction/transaction_shapes.h"
#include "api/common_shapes.h"
#include "base/compiler.h"
#include "model/limits.h"

const struct shape transaction_token_shape = { .kind = SHAPE_STRING,
                                               .min = 1,
                                               .max = TRANSACTION_TOKEN_SIZE_MAX };

/* The rows that all actions share. */
#define ACTION_FIELDS                                                                              \
    { SHAPE_FIELD(struct update_item_request, table_name, "TableName", &common_item_table_name),   \
      .required = true },                                                                          \
        { SHAPE_FIELD(struct update_item_request, condition.expression_attribute_names,            \
                      "ExpressionAttributeNames", &common_attribute_name_map) },                   \
        { SHAPE_FIELD(struct update_item_request, condition.expression_attribute_values,           \
                      "ExpressionAttributeValues", &common_item) },                                \
    {                                                                                              \
        SHAPE_FIELD(struct update_item_request,                                                    \
                    condition.return_values_on_condition_check_failure,                            \
                    "ReturnValuesOnConditionCheckFailure", &item_on_check_failure_shape)           \
    }
#define KEY_FIELD(json_name)                                                                       \
    {                                                                                              \
        SHAPE_FIELD(struct update_item_request, key, json_name, &common_item), .required = true    \
    }
#define CONDITION_FIELD                                                                            \
    SHAPE_FIELD(struct update_item_request, condition.condition_expression, "ConditionExpression", \
                &common_string)

static const struct shape_field condition_check_fields[] = {
    KEY_FIELD("Key"),
    ACTION_FIELDS,
    { CONDITION_FIELD, .required = true },
};
static const struct shape condition_check_shape = {
    SHAPE_STRUCTURE_OF(struct update_item_request, condition_check_fields),
    .type_name = "ConditionCheck",
};

static const struct shape_field put_fields[] = {
    KEY_FIELD("Item"),
    ACTION_FIELDS,
    { CONDITION_FIELD },
};
static const struct shape put_shape = { SHAPE_STRUCTURE_OF(struct update_item_request, put_fields),
                                        .type_name = "Put" };

static const struct shape_field delete_fields[] = {
    KEY_FIELD("Key"),
    ACTION_FIELDS,
    { CONDITION_FIELD },
};
static const struct shape delete_shape = {
    SHAPE_STRUCTURE_OF(struct update_item_request, delete_fields), .type_name = "Delete"
};

static const struct shape_field update_fields[] = {
    KEY_FIELD("Key"),
    { SHAPE_FIELD(struct update_item_request, update_expression, "UpdateExpression",
                  &common_string),
      .required = true },
    ACTION_FIELDS,
    { CONDITION_FIELD },
};
static const struct shape update_shape = {
    SHAPE_STRUCTURE_OF(struct update_item_request, update_fields), .type_name = "Update"
};

static const struct shape_field transact_write_item_fields[] = {
    { SHAPE_FIELD(struct transact_write_item, condition_check, "ConditionCheck",
                  &condition_check_shape) },
    { SHAPE_FIELD(struct transact_write_item, put, "Put", &put_shape) },
    { SHAPE_FIELD(struct transact_write_item, delete, "Delete", &delete_shape) },
    { SHAPE_FIELD(struct transact_write_item, update, "Update", &update_shape) },
};
static const struct shape transact_write_item_shape = {
    SHAPE_STRUCTURE_OF(struct transact_write_item, transact_write_item_fields),
    .type_name = "TransactWriteItem",
};
static const struct shape transact_write_list_shape = { .kind = SHAPE_LIST,
                                                        .element = &transact_write_item_shape,
                                                        .min = 1,
                                                        .max = TRANSACTION_ACTIONS_MAX };
static const struct shape_field transact_write_items_fields[] = {
    { SHAPE_FIELD(struct transact_write_items_request, transact_items, "TransactItems",
                  &transact_write_list_shape),
      .required = true },
    { SHAPE_FIELD(struct transact_write_items_request, return_consumed_capacity,
                  "ReturnConsumedCapacity", &common_return_consumed_capacity) },
    { SHAPE_FIELD(struct transact_write_items_request, return_item_collection_metrics,
                  "ReturnItemCollectionMetrics", &item_collection_metrics_shape) },
    { SHAPE_FIELD(struct transact_write_items_request, client_request_token, "ClientRequestToken",
                  &transaction_token_shape) },
};
const struct shape transact_write_items_shape = {
    SHAPE_STRUCTURE_OF(struct transact_write_items_request, transact_write_items_fields),
    .type_name = "TransactWriteItemsInput",
};

static const struct shape_field get_fields[] = {
    { SHAPE_FIELD(struct get_item_request, key, "Key", &common_item), .required = true },
    { SHAPE_FIELD(struct get_item_request, table_name, "TableName", &common_item_table_name),
      .required = true },
    { SHAPE_FIELD(struct get_item_request, projection.projection_expression, "ProjectionExpression",
                  &common_string) },
    { SHAPE_FIELD(struct get_item_request, projection.expression_attribute_names,
                  "ExpressionAttributeNames", &common_attribute_name_map) },
};
static const struct shape get_shape = { SHAPE_STRUCTURE_OF(struct get_item_request, get_fields),
                                        .type_name = "Get" };
static const struct shape_field transact_get_item_fields[] = {
    { SHAPE_FIELD(struct transact_get_item, get, "Get", &get_shape), .required = true },
};
static const struct shape transact_get_item_shape = {
    SHAPE_STRUCTURE_OF(struct transact_get_item, transact_get_item_fields),
    .type_name = "TransactGetItem",
};
static const struct shape transact_get_list_shape = { .kind = SHAPE_LIST,
                                                      .element = &transact_get_item_shape,
                                                      .min = 1,
                                                      .max = TRANSACTION_ACTIONS_MAX };
static const struct shape_field transact_get_items_fields[] = {
    { SHAPE_FIELD(struct transact_get_items_request, transact_items, "TransactItems",
                  &transact_get_list_shape),
      .required = true },
    { SHAPE_FIELD(struct transact_get_items_request, return_consumed_capacity,
                  "ReturnConsumedCapacity", &common_return_consumed_capacity) },
};
const struct shape transact_get_items_shape = {
    SHAPE_STRUCTURE_OF(struct transact_get_items_request, transact_get_items_fields),
    .type_name = "TransactGetItemsInput",
};
