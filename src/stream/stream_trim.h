/* stream_trim.h -- removes the records of a stream that are older than STREAM_RETENTION_MS, and the
 * shards that ended before that. Control thread.
 *
 * Age is server time (base/clock.h), never wall time: a step of the wall clock must not remove
 * records that nobody had the time to read. Sequence numbers have no gaps and server time does not
 * decrease within a log, so a binary search finds the oldest record to keep and one range delete
 * removes everything before it. So trimming costs the same however much there is to trim.
 */
#ifndef STATOR_STREAM_STREAM_TRIM_H
#define STATOR_STREAM_STREAM_TRIM_H
#include "base/compiler.h"
#include "engine/engine.h"
#include "stream/stream_lifecycle.h"

/* One batch per partition that has something to trim. */
MUST_CHECK enum engine_status stream_trim(const struct stream_step *step,
                                          const struct stream_definition *definition);

#endif
