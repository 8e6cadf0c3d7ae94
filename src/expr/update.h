/* update.h -- applies an update's actions to an item.
 *
 * All actions read the item as it was; none sees the effect of another.
 */
#ifndef STATOR_EXPR_UPDATE_H
#define STATOR_EXPR_UPDATE_H
#include <stdbool.h>
#include "base/compiler.h"
#include "model/item.h"

struct arena;
struct error;
struct update;

/* `item` is the current item or, if there is none, its key attributes alone. The result lives in
 * the arena. False with the error set if an action does not fit the item, stores a value too deep
 * in it, or makes it much larger than ITEM_SIZE_MAX; that limit itself is not checked. */
MUST_CHECK bool update_apply(struct arena *arena, const struct update *update,
                             const struct item *item, struct item *out, struct error *err);
/* Sets the error of an item that would become too large. Returns false. */
bool update_refuse_size(struct error *err);

#endif
