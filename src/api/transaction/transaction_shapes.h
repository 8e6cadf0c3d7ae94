/* transaction_shapes.h -- the requests of TransactWriteItems and TransactGetItems as their shapes
 * read them.
 */
#ifndef STATOR_API_TRANSACTION_TRANSACTION_SHAPES_H
#define STATOR_API_TRANSACTION_TRANSACTION_SHAPES_H
#include "api/item/item_shapes.h"
#include "shape/shape.h"

/* Exactly one is not NULL, which is the operation's to check. All are read into the same structure,
 * of which each uses what it has; `key` of a Put is its Item. */
struct transact_write_item {
    struct update_item_request *condition_check;
    struct update_item_request *put;
    struct update_item_request *delete;
    struct update_item_request *update;
};

struct transact_write_items_request {
    struct shape_list transact_items; /* of struct transact_write_item * */
    struct bytes client_request_token;
    struct bytes return_consumed_capacity;
    struct bytes return_item_collection_metrics;
};

struct transact_get_item {
    struct get_item_request *get;
};

struct transact_get_items_request {
    struct shape_list transact_items; /* of struct transact_get_item * */
    struct bytes return_consumed_capacity;
};

extern const struct shape transact_write_items_shape;
extern const struct shape transact_get_items_shape;
/* ExecuteTransaction has the same. */
extern const struct shape transaction_token_shape;

#endif
