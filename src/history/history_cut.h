/* history_cut.h -- makes sure that every change before a moment can be read.
 *
 * Commit times are taken before their batch is in the store, and batches do not reach it in the
 * order of their times. So before anybody reads the state at T: later writes are made to take T or
 * a later time; writes under way that may have an earlier one are waited for; and T is made
 * durable, so that no write takes an earlier time after a restart either. A view that is opened
 * afterwards shows every change before T.
 */
#ifndef STATOR_HISTORY_HISTORY_CUT_H
#define STATOR_HISTORY_HISTORY_CUT_H
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"

struct clock;

/* A write that takes longer than this was refused by then. */
enum { HISTORY_CUT_WAIT_MS = 30 * 1000 };

/* Waits for the disk. `at_us` is at most clock_commit_now_us; that itself is the latest moment
 * there is: all that was answered before the call is before it. ENGINE_BUSY if writes under way did
 * not end within HISTORY_CUT_WAIT_MS. May be repeated: cheap if it has been done. */
MUST_CHECK enum engine_status history_cut(struct engine *engine, const struct clock *clock,
                                          int64_t at_us);

#endif
