/* consumer.h -- follows a change log: a thread that goes through the partitions of a log, each from
 * its stored position on, and lets its owner work on the records.
 *
 * The owner knows what to do with records. The consumer knows where to resume, when to look again,
 * what to do if the store fails, and when to stop. Triggers and Kinesis destinations own consumers;
 * replication will be the next owner.
 *
 * A turn is about one partition: the owner reads records (consumer_read), works on them, and stores
 * the position behind those that are done (consumer_store). The position is stored after the work,
 * so a crash repeats work but never skips it. A partition that waits for a retry holds up those
 * that were split off it, until its records before the split are done, and no others.
 *
 * Nobody waits for a consumer whose owner is removed. It may therefore come to store a position
 * after the removal. The write that would do so holds the record that defines the owner (`guard`)
 * and finds it gone; then nothing is stored, and the consumer stops. The removal must delete that
 * record in a write that holds it.
 */
#ifndef STATOR_CONSUMER_CONSUMER_H
#define STATOR_CONSUMER_CONSUMER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"

struct arena;
struct consumer;
struct log_page;
struct random;

enum {
    /* How soon to look for new records: at first, and after nothing came for a while. */
    CONSUMER_POLL_MIN_MS = 10,
    CONSUMER_POLL_MAX_MS = 250,
    CONSUMER_FAILURE_RETRY_MS = 1000, /* After a failure of the store. */
    /* How long to wait before work is repeated: after one failure, and after many. */
    CONSUMER_BACKOFF_MIN_MS = 100,
    CONSUMER_BACKOFF_MAX_MS = 30000,
};

/* Where a consumer stands in a partition. */
struct consumer_progress {
    uint64_t next;  /* The record to read next; 0: the oldest one. */
    int64_t due_ms; /* No turn before this time on the monotonic clock. */
};

/* The log to follow. */
struct consumer_log {
    uint64_t log_id;
    /* While a consumer lives, partitions that were split off others are added at the end. */
    const uint64_t *partitions;
    size_t partition_count;
    /* For each partition, the numbers of the first record to read and of the first one that is
     * none of the consumer's any more. Shards begin with both. NULL: there is no such bound. */
    const uint64_t *firsts;
    const uint64_t *ends;
    bool closed; /* Nothing will be appended before the end. */
};

struct consumer_turn {
    struct consumer *consumer;
    struct arena *arena; /* Reset before each turn. */
    const struct consumer_log *log;
    uint64_t partition;
    struct consumer_progress *progress; /* Begins a structure of `progress_size`. */
    bool found_work;                    /* The owner sets it: look again soon. */
};

struct consumer_options {
    struct engine *engine;
    const char *area;            /* For log lines: "trigger". */
    struct bytes uuid;           /* Of the owner: names it in the store and in log lines. */
    struct engine_address guard; /* The record that defines the owner. */
    /* Of the owner's own structure for a partition, which begins with a struct consumer_progress.
     * It starts as zeros, but for the stored position. */
    size_t progress_size;

    /* Called on the consumer's thread, but for `interrupt`. */
    void *context;
    /* Finds the log before each round. What it fills in is valid until release_log, which follows
     * whatever this returns. False: the log is gone. */
    bool (*find_log)(void *context, struct consumer_log *out);
    void (*release_log)(void *context);
    /* A turn. Returns the milliseconds until the partition's next turn, which may come sooner;
     * consumer_idle_ms where no record was found; TIMED_WAIT_FOREVER where none will ever be. */
    int64_t (*turn)(void *context, struct consumer_turn *turn);
    /* Ends whatever a turn is waiting for, now and from now on. Any thread. */
    void (*interrupt)(void *context);
};

/* What the options point to must outlive the consumer. NULL if the system has no thread for it. */
MUST_CHECK struct consumer *consumer_start(const struct consumer_options *options);
/* Does not wait for the thread. Any thread. */
void consumer_ask_to_stop(struct consumer *consumer);
/* True if the thread has ended, so that consumer_stop will not wait. */
bool consumer_has_stopped(struct consumer *consumer);
/* Asks the thread to stop, waits for it and frees the consumer. Stopping NULL is allowed. */
void consumer_stop(struct consumer *consumer);
/* True if all partitions have ended, and all of their records were consumed. Any thread. */
bool consumer_has_ended(struct consumer *consumer);

/* --- During a turn --- */

struct consumer_found {
    uint64_t first; /* The position, or the first record behind it that was not trimmed. */
    uint64_t lost;  /* Up to so many records were trimmed before the consumer came to them. */
    bool ended;     /* Nothing is behind the position, and nothing ever will be. */
};
/* Reads a page from the partition's position on. Sets the page's `next`, which is the position
 * where nothing was read. */
MUST_CHECK enum engine_status consumer_read(const struct consumer_turn *turn, struct log_page *page,
                                            struct consumer_found *out);
/* Stores durably that the consumer is done with everything before `next`; the caller then sets the
 * progress. False if that failed, or the owner was removed: then the turn is to return `*wait_ms`.
 */
MUST_CHECK bool consumer_store(const struct consumer_turn *turn, uint64_t next, int64_t *wait_ms);
/* Logs what keeps the partition from going on, and delays its next turn. Returns the milliseconds
 * until then. */
int64_t consumer_hold_up(const struct consumer_turn *turn, const char *doing, const char *reason);
int64_t consumer_idle_ms(const struct consumer_turn *turn);

/* How long to wait after so many failures in a row: doubles, up to a bound, with chance in it so
 * that many consumers do not come back at the same time. */
int64_t consumer_backoff_ms(int64_t failures, struct random *random);
/* The monotonic clock of due times. */
int64_t consumer_now_ms(void);

#endif
