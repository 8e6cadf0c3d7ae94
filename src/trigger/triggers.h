/* triggers.h -- the triggers there are: stored in the engine, held in memory, each with the thread
 * that delivers its records. For the control thread only (control/control.h). */
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
    TRIGGERS_MAX = 64,         /* Each has a thread; those that are leaving count. */
    TRIGGERS_UPKEEP_MS = 1000, /* Between attempts to start a thread, and looks for ended ones. */
};

/* Loads every trigger and has it run. NULL with the engine's status if the store cannot be read. */
MUST_CHECK struct triggers *triggers_open(const struct trigger_runner_options *options,
                                          enum engine_status *status);
/* Calls of functions that are under way are broken off, and nobody waits for a network. Closing
 * NULL is allowed. */
void triggers_close(struct triggers *triggers);

/* Tries again to run those for which the system had no thread or files, and frees those that were
 * removed once their threads have ended. Milliseconds until there may be more to do, or
 * TIMED_WAIT_FOREVER.
 */
int64_t triggers_upkeep(struct triggers *triggers);

size_t triggers_count(const struct triggers *triggers);
/* Whether there can be no further one. */
bool triggers_is_full(struct triggers *triggers);
/* In the order of their creation; valid until the next change. */
const struct trigger_definition *triggers_at(const struct triggers *triggers, size_t index);
struct trigger_runner_report triggers_report(const struct triggers *triggers, size_t index,
                                             struct arena *arena);

/* Stores the trigger and where it begins in its stream, and has it run. They must not be full. */
MUST_CHECK enum engine_status triggers_add(struct triggers *triggers, struct arena *arena,
                                           const struct trigger_definition *definition,
                                           const struct stream_definition *stream);
/* Removes it with its positions, and has its thread end, without waiting for that: no call of the
 * function begins once this has returned. ENGINE_NOT_FOUND if there is none of that name. */
MUST_CHECK enum engine_status triggers_remove(struct triggers *triggers, struct arena *arena,
                                              struct bytes uuid);

#endif
