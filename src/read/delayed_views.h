/* delayed_views.h -- views of the store as it was some time ago, one after the other.
 *
 * A few views are kept open, at even distances in time: as many as it takes to always have one that
 * is as old as wanted, and not much older. Time is passed in, so that a test can set it.
 */
#ifndef STATOR_READ_DELAYED_VIEWS_H
#define STATOR_READ_DELAYED_VIEWS_H
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"

struct delayed_views;

enum {
    /* How many parts the delay has, at most: so much older than wanted a view may be. */
    DELAYED_VIEWS_STEPS = 64,
    /* Those that are younger than the delay, and the one that is old enough. */
    DELAYED_VIEWS_MAX = DELAYED_VIEWS_STEPS + 1,
};

/* Opens the first view. NULL with the engine's status if that fails. */
MUST_CHECK struct delayed_views *delayed_views_create(struct engine *engine, int64_t delay_ms,
                                                      int64_t now_ms, enum engine_status *status);
/* Views that were handed out live on until they are closed. */
void delayed_views_destroy(struct delayed_views *views);

/* Opens one more view if it is time, and closes those that nobody needs any more. Returns in how
 * many milliseconds it will be time again. One thread at a time. */
int64_t delayed_views_step(struct delayed_views *views, int64_t now_ms);

/* The youngest view that is at least as old as the delay; as long as there is none, the oldest.
 * Any thread may call; the caller closes the view. */
struct engine_view *delayed_views_open(struct delayed_views *views, int64_t now_ms);

#endif
