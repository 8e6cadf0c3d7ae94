/* item_update.h -- what an update makes of an item, with the rules about the result. */
#ifndef STATOR_API_ITEM_ITEM_UPDATE_H
#define STATOR_API_ITEM_ITEM_UPDATE_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct error;
struct item;
struct table_definition;
struct update;

/* Refuses an update of a key attribute. */
MUST_CHECK bool item_update_check_keys(const struct update *update,
                                       const struct table_definition *table, struct error *err);

/* `current` is NULL where no item has the key, which is then what the result is made of. The result
 * lives in the arena. Does not check its size, for which operations have different rules. */
MUST_CHECK bool item_update_apply(struct arena *arena, const struct update *update,
                                  const struct table_definition *table, const struct item *current,
                                  const struct item *key, struct item *out, struct error *err);

/* Whether the result is small enough, alone and with its entries in local indexes. */
bool item_update_fits(struct arena *arena, const struct table_definition *table,
                      const struct item *item);
/* The rule of UpdateItem, which is stricter. `key` are the key attributes alone. */
MUST_CHECK bool item_update_check_size(struct arena *arena, const struct table_definition *table,
                                       const struct update *update, const struct item *key,
                                       const struct item *item, struct error *err);

/* What `item`, from before or after the update, has at the paths that it changes, as JSON in the
 * arena; empty: nothing. */
struct bytes item_update_changed_json(struct arena *arena, const struct update *update,
                                      const struct item *item);

#endif
