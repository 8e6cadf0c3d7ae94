/* item_write.h -- what PutItem, DeleteItem and their kin share: one item, one decision, one answer.
 */
#ifndef STATOR_API_ITEM_ITEM_WRITE_H
#define STATOR_API_ITEM_ITEM_WRITE_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "api/item/item_expressions.h"
#include "txn/txn.h"

struct api_call;
struct arena;
struct condition_request;
struct error;
struct update_item_request;
struct table;
struct table_definition;

struct item_write {
    struct txn txn;
    struct txn_item item;
    struct api_call *call;
    struct table *table; /* Held until the call ends. */
    const void *request;
    const struct condition_request *condition_request;
    const struct item *key; /* Has at least the key attributes. */
    struct item_expressions expressions;
    /* Called if the condition holds. Sets the item's effect and writes the whole response, or sets
     * call->error and returns false. May run more than once: call->response is empty each time. */
    bool (*decide)(struct item_write *write);
};

/* The first checks: expressions that may not stand together, then `rule`, the broken rule, if any,
 * of the attribute values sent. `update` is NULL but for UpdateItem. */
MUST_CHECK bool item_write_check(struct api_call *call, const struct condition_request *condition,
                                 const struct update_item_request *update,
                                 const struct error *rule);
/* PutItem and DeleteItem know fewer ReturnValues than UpdateItem. */
MUST_CHECK bool item_write_check_return_values(struct api_call *call, struct bytes return_values);

/* What to start with; a plain value. */
struct item_write_start {
    struct bytes table_name; /* As sent. */
    const void *request;
    const struct condition_request *condition_request;
    const struct item *key; /* Has at least the key attributes. */
    /* How `key` says where the item lives: item_address_of_item or item_address_of_key. */
    bool (*locate)(struct arena *arena, const struct table_definition *table,
                   const struct item *key, struct item_address *out, struct error *err);
    /* The operation's rules that need the table, judged once the item was located. May be NULL. */
    bool (*check)(struct api_call *call, const struct table_definition *table, const void *request,
                  const struct item_expressions *expressions);
    struct item_expressions expressions;
    bool (*decide)(struct item_write *write);
};
/* Finds the table and the item's place, runs the write and ends the call. */
void item_write_start(struct api_call *call, const struct item_write_start *start);

/* The answer: an object with Attributes, if `attributes` (JSON) is not empty, ConsumedCapacity and
 * ItemCollectionMetrics. The item's effect is set. */
void item_write_answer(struct item_write *write, struct bytes attributes, struct bytes table_name);
/* The old item as JSON if ReturnValues is ALL_OLD and there was one; else empty. */
struct bytes item_write_old_item(struct item_write *write);
/* An item as JSON, in the arena. */
struct bytes item_write_item_json(struct arena *arena, const struct item *item);

#endif
