/* change_log.h -- the log of a table's changes: one record per change of an item, in the batch
 * that changes it.
 *
 * A log is an owner of its own in the engine, so it outlives its table. It has the table's
 * partitions and those that were split off them. In each partition records are numbered without
 * gaps in commit order, because a writer holds the latch of the partition's head while it takes
 * numbers. The head also says whether the log is open and which images records hold; a table's
 * definition only says where the head is. So a writer with an older definition neither writes into
 * a closed log nor omits a record from an open one. Which partition's log a change belongs to does
 * follow from the definition, so a partition is split only when nobody uses an older one
 * (control/split_life.h).
 *
 * A log is divided into shards (shard.h), which are ranges of sequence numbers. The first number
 * of a shard stands for its opening and has no record, so that even an empty shard has a range.
 *
 * Commit times. An engine write takes one commit time (base/clock.h) for all its records, in all
 * logs of all tables, while it holds the latches of its items and of every head it appends to.
 * Therefore:
 *
 * - Records of one write have the same commit time, and no two writes of a store share one. A
 *   restore to a moment takes a transaction as a whole or not at all.
 * - Within a partition commit times increase with the sequence numbers.
 * - If a write depends on another one, because it read an item that the other one had changed or
 *   because it began after the other one was answered, then its commit time is later, whichever
 *   tables the two changed: the other one took its time before it released its latches. So all
 *   writes up to a moment are a state that clients could have seen.
 * - This holds across restarts, also when a log was removed meanwhile: a server that starts resumes
 *   behind a stored time that is later than all commit times (history/commit_ceiling.h); stores
 * that older versions wrote have none, so it also reads the heads of all logs (streams_open). It
 * holds across steps of the wall clock, too: after a step back, commit times advance by a
 * microsecond per write until wall time catches up.
 *
 * The reverse is not true: a write with a later commit time may become visible before one with an
 * earlier commit time that does not concern it. Before a reader relies on having all records up to
 * a moment, it must commit a write that holds the heads of the logs in question and takes a commit
 * time itself: once that write is durable, all records with earlier times are visible.
 */
#ifndef STATOR_LOG_CHANGE_LOG_H
#define STATOR_LOG_CHANGE_LOG_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"

struct arena;
struct change_record;
struct clock;

/* Where a partition of a log is. */
struct engine_place change_log_place(uint64_t log_id, uint64_t partition);
/* The key is static. */
struct engine_address change_log_head_address(uint64_t log_id, uint64_t partition);
/* The key lives in the arena. */
struct engine_address change_log_record_address(struct arena *arena, uint64_t log_id,
                                                uint64_t partition, uint64_t sequence);
/* The sequence number in a record's key. False if it is not the key of a record. */
MUST_CHECK bool change_log_sequence_of_key(struct bytes key, uint64_t *out);

struct change_log_head {
    bool open;
    unsigned images;      /* enum change_image: what new records hold. */
    uint64_t next;        /* The sequence number that the next record gets. */
    uint64_t shard_first; /* The first one of the newest shard. */
    int64_t commit_us;    /* Commit time of the last record; 0: there was none. */
    int64_t server_ms;    /* Server time of the last record; 0: it has none. */
};

/* Reads a head in a write that holds its address. A log that was never opened, or was removed, has
 * a closed head with zeros. ENGINE_CORRUPT, logged, if the head is damaged. */
MUST_CHECK enum engine_status change_log_read_head(struct engine_write *write,
                                                   const struct engine_address *address,
                                                   struct change_log_head *out);
/* The same in a view. */
MUST_CHECK enum engine_status change_log_view_head(struct engine_view *view,
                                                   const struct engine_address *address,
                                                   struct change_log_head *out);
void change_log_put_head(struct engine_write *write, const struct engine_address *address,
                         const struct change_log_head *head);

/* When a write was made. */
struct change_log_time {
    int64_t commit_us; /* The same in every record of an engine write. */
    int64_t server_ms;
};
/* Takes the times of a write that holds the heads of all logs it will append to. `after_us` is the
 * latest commit time among these heads. */
struct change_log_time change_log_take_time(const struct clock *clock, int64_t after_us);
/* Numbers a record, gives it its times and puts it into the write. The caller puts the head
 * afterwards. `place` is the partition's. */
void change_log_append(struct arena *arena, struct engine_write *write,
                       const struct engine_place *place, struct change_log_head *head,
                       struct change_record *record, const struct change_log_time *time);
/* The latest commit time in the heads of a log, for a server that starts; 0: it has no records.
 * Skips damaged heads: they are logged, and writes that need them fail. */
MUST_CHECK enum engine_status change_log_newest_commit(struct engine_view *view, uint64_t log_id,
                                                       const uint64_t *partitions, size_t count,
                                                       int64_t *commit_us);

#endif
