/* index_delay.h -- reads of global indexes that lag behind their tables on purpose.
 *
 * The service's global indexes are eventually consistent; here they are never behind, so a program
 * that wrongly relies on that works until it meets the service. With a delay, Query and Scan of a
 * global index show the store as it was at least that long ago. A thread keeps views of it open, at
 * even distances in time: as many as it takes to always have one that is old enough, and not much
 * older.
 */
#ifndef STATOR_READ_INDEX_DELAY_H
#define STATOR_READ_INDEX_DELAY_H
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"

struct index_delay;

/* NULL with the engine's status if no view can be opened. Aborts if no thread can be started. */
MUST_CHECK struct index_delay *index_delay_start(struct engine *engine, int64_t delay_ms,
                                                 enum engine_status *status);
void index_delay_stop(struct index_delay *delay); /* Stopping NULL is allowed. */

/* The view to read global indexes by. Any thread may call; the caller closes it. */
struct engine_view *index_delay_open_view(struct index_delay *delay);

/* --- The views, without the thread: time is a parameter, so that a test can set it --- */

struct delayed_views;

enum {
    /* The delay is divided into at most this many steps; a view may be one step too old. */
    DELAYED_VIEWS_STEPS = 64,
    /* Those that are younger than the delay, and the one that is old enough. */
    DELAYED_VIEWS_MAX = DELAYED_VIEWS_STEPS + 1,
};

/* Opens the first view. NULL with the engine's status if that fails. */
MUST_CHECK struct delayed_views *delayed_views_create(struct engine *engine, int64_t delay_ms,
                                                      int64_t now_ms, enum engine_status *status);
/* Views that were handed out stay valid until they are closed. */
void delayed_views_destroy(struct delayed_views *views);

/* Opens one more view if it is time, and closes those that are not needed any more. Returns in how
 * many milliseconds it will be time again. One thread at a time. */
int64_t delayed_views_step(struct delayed_views *views, int64_t now_ms);

/* The youngest view that is at least as old as the delay; as long as there is none, the oldest.
 * Any thread may call; the caller closes the view. */
struct engine_view *delayed_views_open(struct delayed_views *views, int64_t now_ms);

#endif
