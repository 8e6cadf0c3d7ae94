/* history_item.h -- one item as it was at a moment, and its versions.
 *
 * For reads by key, in a view that the caller has opened: what a view shows is complete for all
 * that was answered before it was opened. Who needs all changes before a moment that others share
 * calls history_cut first (history_cut.h).
 */
#ifndef STATOR_HISTORY_HISTORY_ITEM_H
#define STATOR_HISTORY_HISTORY_ITEM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"
#include "model/item.h"

struct arena;
struct item_address;
struct table_definition;

/* The item's state at a moment, in the arena. `*exists` false: there was none. */
MUST_CHECK enum engine_status history_item_at(struct engine_view *view, struct arena *arena,
                                              const struct table_definition *table,
                                              const struct item_address *address, int64_t at_us,
                                              bool *exists, struct item *out);

/* One change of the item. */
struct history_version {
    int64_t commit_us;
    bool by_service; /* It expired. */
    bool had_old, has_new;
    struct item old_image, new_image;
};

struct history_versions_query {
    int64_t from_us; /* Commit times from here on, */
    int64_t to_us;   /* up to here, exclusive. */
    size_t count_max;
    size_t size_max; /* Of the images; the version that reaches it is the last one. */
};
struct history_versions {
    struct history_version *list; /* The newest first. */
    size_t count;
    bool more; /* There may be earlier ones: ask with `to_us` at the last one's commit time. */
};
/* The versions of an item, in the arena. */
MUST_CHECK enum engine_status history_item_versions(struct engine_view *view, struct arena *arena,
                                                    const struct table_definition *table,
                                                    const struct item_address *address,
                                                    const struct history_versions_query *query,
                                                    struct history_versions *out);

#endif
