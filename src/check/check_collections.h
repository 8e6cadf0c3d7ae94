/* check_collections.h -- the sizes of item collections against what they hold.
 *
 * The items of a collection lie side by side, so its size is summed up while its table's items are
 * walked and compared when the next one begins: one sum is all that is remembered. Then each record
 * is looked at, so that those of collections without items are found too.
 */
#ifndef STATOR_CHECK_CHECK_COLLECTIONS_H
#define STATOR_CHECK_CHECK_COLLECTIONS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/buffer.h"
#include "engine/engine.h"
#include "model/item.h"

struct arena;
struct check_report;
struct table_definition;

/* Fields are this file's own. */
struct check_collections {
    struct engine_view *view;
    struct check_report *report;
    const struct table_definition *table;
    struct arena *arena; /* Holds `prefix`. */
    /* The collection that the last item belongs to; empty: none. */
    struct buffer prefix;
    uint64_t partition;
    int64_t size;
    bool partial; /* Some of it could not be read, so its size is not known. */
};

/* A table without a local index has no collections: all of these then do nothing. */
void check_collections_begin(struct check_collections *check, struct engine_view *view,
                             const struct table_definition *table, struct check_report *report);
/* For each item in the order of the walk. NULL: what is stored under the key is no whole item, or
 * not in its place. `scratch` is used during the call. */
void check_collections_add(struct check_collections *check, const struct engine_place *place,
                           struct bytes key, const struct item *item, struct arena *scratch);
/* The walk broke off: what was summed up of the last collection is not all of it. */
void check_collections_break_off(struct check_collections *check);
/* Compares the last one and walks the records. */
void check_collections_end(struct check_collections *check);

#endif
