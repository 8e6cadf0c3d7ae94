/* stream_trim.h -- removes the records of a stream that are older than STREAM_RETENTION_MS, and the
 * shards that have none left. Control thread.
 *
 * Sequence numbers have no gaps and times do not fall, so the border is found by halves; what lies
 * before it goes by one range delete. So trimming costs the same however much there is to trim.
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
