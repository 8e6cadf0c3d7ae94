/* batch_shapes.c -- the service model of the batch operations.
 *
 * What the service words in its own way stands in the operations' files: the names of tables, which
 * are keys of a map here, and the number of keys that BatchGetItem reads.
 */
#include "api/item/batch_shapes.h"
#include "api/common_shapes.h"
#include "base/compiler.h"
#include "model/limits.h"

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
