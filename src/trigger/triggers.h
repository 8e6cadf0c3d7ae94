/* triggers.h -- the triggers there are: stored in the engine, held in memory, each with the thread
 * that delivers its records. For the control thread only (api/control.h). */
#ifndef STATOR_TRIGGER_TRIGGERS_H
#define STATOR_TRIGGER_TRIGGERS_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "trigger/trigger_runner.h"

struct stream_definition;
struct trigger_definition;
struct triggers;

enum {
    TRIGGERS_MAX = 64,        /* Each has a thread. */
    TRIGGERS_RETRY_MS = 1000, /* Between attempts to start one. */
};

/* Loads every trigger and has it run. NULL with the engine's status if the store cannot be read. */
MUST_CHECK struct triggers *triggers_open(const struct trigger_runner_options *options,
                                          enum engine_status *status);
/* Calls of functions that are under way are broken off. Closing NULL is allowed. */
void triggers_close(struct triggers *triggers);

/* Tries again to run those for which the system had no thread. Milliseconds until it is worth
 * another attempt, or TIMED_WAIT_FOREVER. */
int64_t triggers_run_refused(struct triggers *triggers);

size_t triggers_count(const struct triggers *triggers);
/* In the order of their creation; valid until the next change. */
const struct trigger_definition *triggers_at(const struct triggers *triggers, size_t index);
struct trigger_runner_report triggers_report(const struct triggers *triggers, size_t index,
                                             struct arena *arena);

/* Stores the trigger and where it begins in its stream, and has it run. There must be less than
 * TRIGGERS_MAX. */
MUST_CHECK enum engine_status triggers_add(struct triggers *triggers, struct arena *arena,
                                           const struct trigger_definition *definition,
                                           const struct stream_definition *stream);
/* Stops it and removes it with its positions. ENGINE_NOT_FOUND if there is none of that name. */
MUST_CHECK enum engine_status triggers_remove(struct triggers *triggers, struct arena *arena,
                                              struct bytes uuid);

#endif
