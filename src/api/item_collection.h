/* item_collection.h -- the items of one partition key of a table with a local index, together with
 * that index's entries, are an item collection: its metrics and its limit.
 */
#ifndef STATOR_API_ITEM_COLLECTION_H
#define STATOR_API_ITEM_COLLECTION_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct api_call;
struct item;
struct json_writer;
struct table_definition;
struct txn;

/* Are metrics of this table asked for? `wanted` is ReturnItemCollectionMetrics: absent, NONE or
 * SIZE. Only a table with a local index has any. */
bool item_collection_is_wanted(struct bytes wanted, const struct table_definition *table);
/* Writes the metrics of the collection that an item belongs to. `item` has at least its key. */
void item_collection_write(struct json_writer *writer, const struct table_definition *table,
                           const struct item *item, int64_t size);

/* Refuses a write that makes a collection larger than collections may be. The last rule of a
 * decision: all effects are set. One that is too large already may still shrink. */
MUST_CHECK bool item_collection_check(struct api_call *call, struct txn *txn);

#endif
