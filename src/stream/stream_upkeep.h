/* stream_upkeep.h -- brings streams in line with their tables' definitions and the time: opens and
 * closes them, rolls their shards over, trims and removes them. Control thread.
 *
 * Nothing here remembers what is under way. Each run compares what the catalogue says with what is
 * there and takes the next step, so a step that failed, or that a crash cut short, is taken by the
 * next run:
 *
 *   a table needs a log, and there is no stream of it          -> announce
 *   ENABLING, and nobody uses an older definition any more      -> open
 *   ENABLED, and readers of the log need other images           -> tell the heads
 *   ENABLED, and it is time                                     -> roll over
 *   ENABLED, and its table is gone or has another log or none   -> close
 *   DISABLED, and its table still names it                      -> take it out of the definition
 *   DISABLED, and no reader of the log needs its records        -> remove
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
struct streams;

enum {
    STREAM_UPKEEP_RETRY_MS = 1, /* Until nobody uses an older definition: a request's time. */
    STREAM_UPKEEP_FAILURE_RETRY_MS = 1000,
    STREAM_UPKEEP_TRIM_INTERVAL_MS = 10 * 60 * 1000,
};

/* Streams as a reader of change logs: they need STREAM_RETENTION_MS. */
extern const struct log_retention_reader stream_upkeep_reader;

struct stream_upkeep {
    struct engine *engine;
    struct catalogue *catalogue;
    struct streams *streams;
    const struct log_retention *retention; /* With stream_upkeep_reader among its readers. */
    int64_t rollover_ms;                   /* How long a shard is open; 0: for good. */
    int64_t next_trim_ms;                  /* Server time; 0: at once. */
};

/* Does what is due. Milliseconds until it is worth looking again, or TIMED_WAIT_FOREVER. Failures
 * are logged. */
int64_t stream_upkeep_run(struct stream_upkeep *upkeep, struct arena *arena,
                          const struct clock *clock);
/* Whether the stream of that log is open. */
bool stream_upkeep_is_open(const struct stream_upkeep *upkeep, uint64_t log_id);
/* Closes the stream of that log, if it has one that is open, before its table's definition loses
 * it: so no change is logged behind one that is not. */
MUST_CHECK enum engine_status stream_upkeep_close(struct stream_upkeep *upkeep, struct arena *arena,
                                                  uint64_t log_id, const struct clock *clock);

#endif
