/* stream_upkeep.h -- the life cycle of streams: opens and closes them as their tables' definitions
 * ask, rolls their shards over, trims and removes them. Control thread.
 *
 * Nothing here remembers what is under way. Each run compares the catalogue with the streams and
 * takes the next step, so the next run repeats a step that failed or that a crash cut short:
 *
 *   a table needs a log, and there is no stream of it          -> announce
 *   ENABLING, and nobody uses an older definition any more      -> open
 *   ENABLED and shown, and its table's stream was disabled      -> detach the stream
 *   ENABLED and hidden, and its table has a stream              -> attach the stream
 *   ENABLED, and readers of the log need other images           -> set the heads
 *   ENABLED, and it is time                                     -> roll over
 *   ENABLED, and its table is gone or has another log or none   -> close
 *   any, and its policy in the table's definition has changed   -> copy it
 *   DISABLED, and its table still names it                      -> remove it from the definition
 *   DISABLED, and no reader of the log needs its records        -> remove
 *   detached, and 24 hours have passed                          -> remove
 */
#ifndef STATOR_STREAM_STREAM_UPKEEP_H
#define STATOR_STREAM_STREAM_UPKEEP_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"

struct arena;
struct catalogue;
struct clock;
struct log_retention;
struct log_retention_reader;
struct stream_definition;
struct streams;

enum {
    STREAM_UPKEEP_RETRY_MS = 1, /* While requests still use an older definition. */
    STREAM_UPKEEP_FAILURE_RETRY_MS = 1000,
    STREAM_UPKEEP_TRIM_INTERVAL_MS = 10 * 60 * 1000,
};

/* Streams as a reader of change logs: they need STREAM_RETENTION_MS of a log that a client can see.
 * `streams` must outlive it. */
struct log_retention_reader stream_upkeep_reader(struct streams *streams);

struct stream_upkeep {
    struct engine *engine;
    struct catalogue *catalogue;
    struct streams *streams;
    const struct log_retention *retention; /* With stream_upkeep_reader's among its readers. */
    int64_t rollover_ms;                   /* How long a shard is open; 0: for good. */
    int64_t next_trim_ms;                  /* Server time; 0: at once. */
};

/* Takes all steps that are due. Returns the milliseconds until the next one may be due, or
 * TIMED_WAIT_FOREVER. Failures are logged. */
int64_t stream_upkeep_run(struct stream_upkeep *upkeep, struct arena *arena,
                          const struct clock *clock);
/* Copies the policies that have changed to the streams. A failure is the first one's; the next run
 * tries again. */
MUST_CHECK enum engine_status stream_upkeep_keep_policies(struct stream_upkeep *upkeep,
                                                          struct arena *arena,
                                                          const struct clock *clock);
/* True if the stream of that log is open. */
bool stream_upkeep_is_open(const struct stream_upkeep *upkeep, uint64_t log_id);
/* Splits the log of a partition: ends its shard, begins two children of that shard, one in the same
 * log and one in the log of `child`, which opens with it, and makes that one of the stream's
 * partitions. `log` is ENABLED and does not have it yet. Nobody may use a definition of the table
 * without the split. */
MUST_CHECK enum engine_status stream_upkeep_split(struct stream_upkeep *upkeep, struct arena *arena,
                                                  const struct clock *clock,
                                                  const struct stream_definition *log,
                                                  uint64_t parent, uint64_t child);
/* Closes the stream of that log if it is open. To be called before the table's definition loses the
 * log, so that the log has no gap. */
MUST_CHECK enum engine_status stream_upkeep_close(struct stream_upkeep *upkeep, struct arena *arena,
                                                  uint64_t log_id, const struct clock *clock);

#endif
