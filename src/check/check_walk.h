/* check_walk.h -- visits every entry of a place, page by page, so that no scan stays open for long.
 */
#ifndef STATOR_CHECK_CHECK_WALK_H
#define STATOR_CHECK_CHECK_WALK_H
#include "base/compiler.h"
#include "engine/engine.h"

enum {
    CHECK_WALK_PAGE_COUNT = 10000,
    CHECK_WALK_PAGE_SIZE = 1024 * 1024,
};

/* The entry is valid during the call. False ends the walk. */
typedef bool check_walk_visitor(void *context, const struct engine_place *place,
                                const struct engine_entry *entry);

/* ENGINE_OK once all entries were visited or the visitor ended it. ENGINE_CORRUPT also for a
 * key so long that no key can name the position behind it. */
MUST_CHECK enum engine_status check_walk(struct engine_view *view, const struct engine_place *place,
                                         check_walk_visitor *visit, void *context);

#endif
