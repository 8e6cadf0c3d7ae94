/* trigger_progress.h -- how a trigger goes through a partition of its stream: which batch is
 * retried, when, and which records are given up. Pure: no clock of its own, no sockets, no storage.
 *
 * Records are delivered in order, so a batch that fails holds up what is behind it. Its end is
 * fixed by the first failure: a retry is the same batch. To bisect a batch, the end of its first
 * half is pushed on a stack; a half that is done pops its end, and the other half is next.
 */
#ifndef STATOR_TRIGGER_TRIGGER_PROGRESS_H
#define STATOR_TRIGGER_TRIGGER_PROGRESS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "consumer/consumer.h"

struct clock;
struct random;
struct trigger_batch;
struct trigger_definition;

enum {
    /* A batch of TRIGGER_BATCH_SIZE_MAX halved until one record is left, and its own end. */
    TRIGGER_ENDS_MAX = 15,
};

struct trigger_progress {
    struct consumer_progress at;
    uint64_t ends[TRIGGER_ENDS_MAX];
    size_t end_count;
    int64_t failures;  /* How often the function has failed with this batch. */
    int64_t unreached; /* How often in a row it could not be called. */
    /* When the batch that waits to become full was first seen; 0: none waits. */
    int64_t gathering_since_ms;
};

/* Where the batch has to end; 0: nowhere. */
uint64_t trigger_progress_end(const struct trigger_progress *progress);

/* How long to wait for more records; 0: the batch is to be delivered. */
int64_t trigger_progress_window_ms(struct trigger_progress *progress,
                                   const struct trigger_definition *definition,
                                   const struct trigger_batch *batch, int64_t now_ms);

enum trigger_give_up { TRIGGER_GIVE_UP_NONE, TRIGGER_GIVE_UP_RETRIES, TRIGGER_GIVE_UP_AGE };
/* How many records at the front to give up, and why. Their age is server time. */
size_t trigger_progress_give_up(const struct trigger_progress *progress,
                                const struct trigger_definition *definition,
                                const struct trigger_batch *batch, const struct clock *clock,
                                enum trigger_give_up *reason);

/* Everything before `next` is done. */
void trigger_progress_move(struct trigger_progress *progress, uint64_t next);
/* The function failed with the batch, from the record `failed` on. Those before it are done, and
 * the position moves to it. A trigger that bisects does not retry the same batch but halves it at
 * once, which does not count as a retry. */
void trigger_progress_fail(struct trigger_progress *progress,
                           const struct trigger_definition *definition,
                           const struct trigger_batch *batch, size_t failed, int64_t now_ms,
                           struct random *random);
/* The function could not be called. This does not count as a retry either. */
void trigger_progress_unreached(struct trigger_progress *progress, int64_t now_ms,
                                struct random *random);

#endif
