/* triggers.h -- the list of triggers: stored in the engine, held in memory, each with a runner that
 * delivers its records. For the control thread only (control/control.h), except
 * triggers_names and triggers_read_statistics. */
#ifndef STATOR_TRIGGER_TRIGGERS_H
#define STATOR_TRIGGER_TRIGGERS_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "trigger/trigger_runner.h"

struct arena;
struct stream_definition;
struct trigger_definition;
struct triggers;

enum {
    TRIGGERS_MAX = 64,         /* Each has a thread. Removed ones count until theirs has ended. */
    TRIGGERS_UPKEEP_MS = 1000, /* Between attempts to start runners and to free ended ones. */
};

/* Loads every trigger and starts its runner. NULL with the engine's status if the store cannot be
 * read. */
MUST_CHECK struct triggers *triggers_open(const struct trigger_runner_options *options,
                                          enum engine_status *status);
/* Cancels calls of functions that are under way. Does not wait for a network. Closing NULL is
 * allowed. */
void triggers_close(struct triggers *triggers);

/* Retries to start runners that could not be started, and frees removed triggers whose threads have
 * ended. Returns the milliseconds until there may be more to do, or TIMED_WAIT_FOREVER. */
int64_t triggers_upkeep(struct triggers *triggers);

/* Any thread: which triggers there are, copied into the arena. Returns how many. */
struct trigger_name {
    struct bytes uuid;
    struct bytes table_name;
};
size_t triggers_names(struct triggers *triggers, struct arena *arena,
                      struct trigger_name names[TRIGGERS_MAX]);

/* Any thread: what each has done since the server's start. Returns how many there are; names live
 * in the arena. */
struct trigger_statistics {
    struct bytes uuid;
    struct bytes table_name;
    uint64_t records_delivered;
    uint64_t records_given_up;
    uint64_t dead_letters;
    uint64_t records_lost;
    uint64_t failures;
    int64_t lag_ms; /* The age of the oldest record that is known to wait; 0: none does. */
};
size_t triggers_read_statistics(struct triggers *triggers, struct arena *arena,
                                struct trigger_statistics statistics[TRIGGERS_MAX]);

size_t triggers_count(const struct triggers *triggers);
/* True if no trigger can be added. */
bool triggers_is_full(struct triggers *triggers);
/* In the order of their creation; valid until the next change. */
const struct trigger_definition *triggers_at(const struct triggers *triggers, size_t index);
struct trigger_runner_report triggers_report(const struct triggers *triggers, size_t index,
                                             struct arena *arena);

/* Stores the trigger and its first positions, and starts its runner. Must not be full. */
MUST_CHECK enum engine_status triggers_add(struct triggers *triggers, struct arena *arena,
                                           const struct trigger_definition *definition,
                                           const struct stream_definition *stream);
/* Removes the trigger with its positions and asks its runner to stop, without waiting for it: no
 * call of the function begins once this has returned. ENGINE_NOT_FOUND if there is no such trigger.
 */
MUST_CHECK enum engine_status triggers_remove(struct triggers *triggers, struct arena *arena,
                                              struct bytes uuid);

#endif
