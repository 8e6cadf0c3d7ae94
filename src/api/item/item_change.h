/* item_change.h -- what a write makes of an item and of its item collection: the rules about the
 * result, and what the answer shows of it.
 *
 * The items of one partition key of a table with a local index, together with that index's entries,
 * are an item collection.
 */
#ifndef STATOR_API_ITEM_ITEM_CHANGE_H
#define STATOR_API_ITEM_ITEM_CHANGE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct api;
struct api_call;
struct arena;
struct error;
struct item;
struct json_writer;
struct table_definition;
struct txn;
struct txn_item;
struct update;

/* Refuses an update of a key attribute. */
MUST_CHECK bool item_change_check_keys(const struct update *update,
                                       const struct table_definition *table, struct error *err);

/* True if an update that meets no item leaves none: all that it does is delete. Observed: an update
 * without any action creates the item. */
bool item_change_creates_nothing(const struct update *update);

/* Applies an update. `current` is NULL if no item has the key; the result is then made from `key`.
 * It lives in the arena. Its size is not checked, because operations have different rules. */
MUST_CHECK bool item_change_apply_update(struct arena *arena, const struct update *update,
                                         const struct table_definition *table,
                                         const struct item *current, const struct item *key,
                                         struct item *out, struct error *err);

/* True if the result is small enough, alone and with its entries in local indexes. */
bool item_change_fits(struct arena *arena, const struct table_definition *table,
                      const struct item *item);
/* The rule of UpdateItem, which is stricter. `key` are the key attributes alone. */
MUST_CHECK bool item_change_check_update_size(struct arena *arena,
                                              const struct table_definition *table,
                                              const struct update *update, const struct item *key,
                                              const struct item *item, struct error *err);

/* An item as JSON, in the arena. */
struct bytes item_change_item_json(struct arena *arena, const struct item *item);
/* The parts of `item`, before or after the update, at the paths that the update changes, as JSON in
 * the arena; empty if there are none. */
struct bytes item_change_updated_json(struct arena *arena, const struct update *update,
                                      const struct item *item);

/* Are metrics of this table asked for? `wanted` is ReturnItemCollectionMetrics: absent, NONE or
 * SIZE. Only a table with a local index has any. */
bool item_change_wants_collection(struct bytes wanted, const struct table_definition *table);
/* Writes the metrics of the collection that an item belongs to. `item` has at least its key. */
void item_change_write_collection(struct json_writer *writer, const struct table_definition *table,
                                  const struct item *item, int64_t size);

#define ITEM_CHANGE_COLLECTION_EXCEEDED "Collection size exceeded."
/* True if the effects, all of which are set, make the item's collection larger than the limit. A
 * collection that is already too large may still shrink. */
bool item_change_exceeds_collection(const struct api *api, struct txn *txn,
                                    const struct txn_item *item);
/* Refuses a write that makes any of its collections too large. The last rule of a decision. */
MUST_CHECK bool item_change_check_collections(struct api_call *call, struct txn *txn);

#endif
