/* update.h -- an item with an update's actions applied.
 *
 * All actions read the item as it was; none sees what another one does.
 */
#ifndef STATOR_EXPR_UPDATE_H
#define STATOR_EXPR_UPDATE_H
#include <stdbool.h>
#include "base/compiler.h"
#include "model/item.h"

struct arena;
struct error;
struct update;

/* `item` is the one to change; for an item that does not exist yet, one of its key attributes
 * alone. The result lives in the arena. False with the service's words where an action does not
 * fit the item, puts a value too deep into it, or makes it larger than ITEM_SIZE_MAX by far; that
 * limit itself is not checked. */
MUST_CHECK bool update_apply(struct arena *arena, const struct update *update,
                             const struct item *item, struct item *out, struct error *err);
/* Tells that an item would become too large; returns false. */
bool update_refuse_size(struct error *err);

#endif
