/* engine_plan.h -- how engine.c answers what an engine cannot do by itself. Private to this folder.
 *
 * Without ENGINE_REVERSE, a backward scan reads its range forward, keeps the entries at the end of
 * it and hands them out from the last to the first; then it reads what is left of the range again.
 * Memory is bounded, time is not: a range costs one pass for each ENGINE_PLAN_KEPT_SIZE of it. An
 * engine that serves large ranges should learn to scan backward.
 *
 * Without ENGINE_RANGE_DELETE, a range is deleted key by key: see engine_write_delete_range.
 */
#ifndef STATOR_ENGINE_ENGINE_PLAN_H
#define STATOR_ENGINE_ENGINE_PLAN_H
#include "base/compiler.h"
#include "engine/engine.h"

enum {
    /* What a backward scan keeps: so many entries, or so many bytes, which is a page of the API. */
    ENGINE_PLAN_KEPT_MAX = 1024,
    ENGINE_PLAN_KEPT_SIZE = 1024 * 1024,
};

/* Never fails: the reads happen with the first step. */
struct engine_scan *engine_plan_reverse_scan(struct engine_view *view,
                                             const struct engine_range *range);

/* Add a delete for each key that a view opened now shows. ENGINE_TOO_LARGE if there are more than
 * ENGINE_RANGE_KEYS_MAX. */
MUST_CHECK enum engine_status engine_plan_delete_range(struct engine_write *write,
                                                       const struct engine_place *place,
                                                       struct bytes first, struct bytes last);
MUST_CHECK enum engine_status engine_plan_delete_owner(struct engine_write *write, uint64_t owner);

#endif
