/* item_collection.h -- the items of one partition key of a table with a local index, together with
 * that index's entries, are an item collection: its metrics and its limit.
 */
#ifndef STATOR_API_ITEM_ITEM_COLLECTION_H
#define STATOR_API_ITEM_ITEM_COLLECTION_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct api;
struct api_call;
struct item;
struct json_writer;
struct table_definition;
struct txn;
struct txn_item;

/* Are metrics of this table asked for? `wanted` is ReturnItemCollectionMetrics: absent, NONE or
 * SIZE. Only a table with a local index has any. */
bool item_collection_is_wanted(struct bytes wanted, const struct table_definition *table);
/* Writes the metrics of the collection that an item belongs to. `item` has at least its key. */
void item_collection_write(struct json_writer *writer, const struct table_definition *table,
                           const struct item *item, int64_t size);

#define ITEM_COLLECTION_EXCEEDED "Collection size exceeded."
/* Do the effects, all of which are set, make the item's collection larger than collections may be?
 * One that is too large already may still shrink. */
bool item_collection_is_exceeded(const struct api *api, struct txn *txn,
                                 const struct txn_item *item);
/* Refuses a write that makes any of its collections too large. The last rule of a decision. */
MUST_CHECK bool item_collection_check(struct api_call *call, struct txn *txn);

#endif
