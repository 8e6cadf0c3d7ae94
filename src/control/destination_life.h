/* destination_life.h -- the life cycle of Kinesis destinations. Control thread.
 *
 * Nothing here remembers what is under way. Each run compares the destinations with the tables and
 * takes the next step, so the next run repeats a step that failed or that a crash cut short:
 *
 *   its table is gone                                        -> remove
 *   ENABLING, and nobody could deliver to it                 -> ENABLE_FAILED
 *   ENABLING, and its table keeps no log for it              -> have the table keep one
 *   ENABLING, and the log holds both images                  -> begin at its heads, run
 *   ENABLING, and Kinesis has said what it thinks            -> ACTIVE or ENABLE_FAILED
 *   UPDATING                                                 -> ACTIVE
 *   ACTIVE, and nothing was delivered for too long           -> DISABLING
 *   DISABLING, and its thread has ended                      -> DISABLED
 *   a table keeps a log, and has no live destination         -> close the log, unless it has a
 * stream
 */
#ifndef STATOR_CONTROL_DESTINATION_LIFE_H
#define STATOR_CONTROL_DESTINATION_LIFE_H
#include <stdint.h>

struct arena;
struct catalogue;
struct clock;
struct destinations;
struct stream_upkeep;

enum {
    DESTINATION_LIFE_STEP_MS = 10, /* While something is under way. */
    DESTINATION_LIFE_RETRY_MS = 1000,
    DESTINATION_LIFE_AGE_INTERVAL_MS = 60 * 1000,
};

struct destination_life {
    struct catalogue *catalogue;
    struct destinations *destinations;
    struct stream_upkeep *streams;
    const struct clock *clock;
    int64_t retention_ms; /* How long a record may wait; 0: for ever. */
};

/* Takes all steps that are due. Returns the milliseconds until the next one may be due, or
 * TIMED_WAIT_FOREVER. Failures are logged. */
int64_t destination_life_run(struct destination_life *life, struct arena *arena);

#endif
