/* item_collection.h -- ItemCollectionMetrics: the items of one partition key of a table with a
 * local index, together with that index's entries, are an item collection.
 */
#ifndef STATOR_API_ITEM_COLLECTION_H
#define STATOR_API_ITEM_COLLECTION_H
#include <stdbool.h>
#include "base/bytes.h"

struct item;
struct json_writer;
struct table_definition;

/* Are metrics of this table asked for? `wanted` is ReturnItemCollectionMetrics: absent, NONE or
 * SIZE. Only a table with a local index has any. */
bool item_collection_is_wanted(struct bytes wanted, const struct table_definition *table);
/* Writes the metrics of the collection that an item belongs to. `item` has at least its key. */
void item_collection_write(struct json_writer *writer, const struct table_definition *table,
                           const struct item *item);

#endif
