/* log_retention.h -- which records of a change log are kept: those that some reader still needs.
 *
 * Each kind of reader registers here and says, for each log, from which time or number on it needs
 * the records. Trimming keeps the union: it goes up to the minimum over all readers. Streams need
 * 24 hours. A reader that must not miss a record, such as replication, names its position instead
 * of a time, and so holds trimming up for as long as it lags behind.
 *
 * Age is server time (base/clock.h), never wall time: a step of the wall clock must not remove
 * records that nobody had the time to read. Sequence numbers have no gaps and server time does not
 * decrease within a log, so a binary search finds the oldest record to keep and one range delete
 * removes everything before it. Trimming costs the same however much there is to trim.
 *
 * Control thread only.
 */
#ifndef STATOR_LOG_LOG_RETENTION_H
#define STATOR_LOG_LOG_RETENTION_H
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"

struct arena;

enum { LOG_RETENTION_READERS_MAX = 8 };

/* What a reader needs of a partition's log. A record may be trimmed if it is before both. */
struct log_need {
    int64_t server_ms; /* Records of this server time and later; INT64_MAX: none for their age. */
    /* Records of this number and later; UINT64_MAX: none for their number. A reader that has read
     * all of a closed log says so by UINT64_MAX; until then the log is not removed. */
    uint64_t sequence;
};

struct log_retention_reader {
    const char *name;
    /* What the reader needs at the server time `now_ms`. */
    struct log_need (*need)(void *context, uint64_t log_id, uint64_t partition, int64_t now_ms);
    void *context;
};

/* Starts as zeros. */
struct log_retention {
    struct log_retention_reader readers[LOG_RETENTION_READERS_MAX];
    size_t count;
};

/* Copies the reader. `context` must outlive the retention. */
void log_retention_add(struct log_retention *retention, const struct log_retention_reader *reader);
/* The minimum over all readers, of which there is at least one. */
struct log_need log_retention_need(const struct log_retention *retention, uint64_t log_id,
                                   uint64_t partition, int64_t now_ms);

struct log_trim {
    struct engine *engine;
    struct arena *arena;
    const struct log_retention *retention;
    int64_t now_ms;    /* Server time. */
    int64_t origin_ms; /* The server time of whatever was stored without one. */
};
/* Removes the records that no reader needs, and the closed shards that have only such records: one
 * batch per partition that has something to remove. */
MUST_CHECK enum engine_status log_retention_trim(const struct log_trim *trim, uint64_t log_id,
                                                 const uint64_t *partitions, size_t count);
/* Milliseconds until the whole log, which was closed at the server time `closed_ms`, may be
 * removed; 0: now. Where a reader's position is in the way, it is worth asking again after that
 * time. */
int64_t log_retention_wait_ms(const struct log_trim *trim, uint64_t log_id,
                              const uint64_t *partitions, size_t count, int64_t closed_ms);

#endif
