/* index_delay.h -- reads of global indexes that lag behind their tables on purpose.
 *
 * The service's global indexes are eventually consistent; here they are never behind, so a program
 * that wrongly relies on that works until it meets the service. With a delay, Query and Scan of a
 * global index show the store as it was at least that long ago. A thread keeps the old views.
 */
#ifndef STATOR_READ_INDEX_DELAY_H
#define STATOR_READ_INDEX_DELAY_H
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"

struct index_delay;

/* NULL with the engine's status if no view can be opened. Aborts if no thread can be had. */
MUST_CHECK struct index_delay *index_delay_start(struct engine *engine, int64_t delay_ms,
                                                 enum engine_status *status);
void index_delay_stop(struct index_delay *delay); /* Stopping NULL is allowed. */

/* The view to read global indexes by. Any thread may call; the caller closes it. */
struct engine_view *index_delay_open_view(struct index_delay *delay);

#endif
