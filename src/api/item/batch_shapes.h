/* batch_shapes.h -- the requests of the batch operations as their shapes read them. */
#ifndef STATOR_API_ITEM_BATCH_SHAPES_H
#define STATOR_API_ITEM_BATCH_SHAPES_H
#include "api/item/item_shapes.h"
#include "shape/shape.h"

/* BatchGetItem: what to read of one table. */
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
/* BatchWriteItem: exactly one of the two is not NULL, which is the operation's to check. */
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

/* What BatchWriteItem says where RequestItems is missing or empty. */
extern const char batch_write_items_absent_text[];

extern const struct shape batch_get_item_shape;
extern const struct shape batch_write_item_shape;

#endif
