/* trigger_progress.c -- see trigger_progress.h. */
#include "trigger/trigger_progress.h"
#include <assert.h>
#include "base/clock.h"
#include "trigger/trigger_batch.h"
#include "trigger/trigger_definition.h"

static_assert(TRIGGER_BATCH_SIZE_MAX <= 1 << (TRIGGER_ENDS_MAX - 1),
              "the largest batch can be halved until one record is left");

uint64_t trigger_progress_end(const struct trigger_progress *progress)
{
    return progress->end_count == 0 ? 0 : progress->ends[progress->end_count - 1];
}

int64_t trigger_progress_window_ms(struct trigger_progress *progress,
                                   const struct trigger_definition *definition,
                                   const struct trigger_batch *batch, int64_t now_ms)
{
    if (batch->full || progress->end_count > 0 || definition->window_s == 0)
        return 0;
    if (progress->gathering_since_ms == 0)
        progress->gathering_since_ms = now_ms;
    int64_t left_ms = progress->gathering_since_ms + definition->window_s * 1000 - now_ms;
    return left_ms > 0 ? left_ms : 0;
}

size_t trigger_progress_give_up(const struct trigger_progress *progress,
                                const struct trigger_definition *definition,
                                const struct trigger_batch *batch, const struct clock *clock,
                                enum trigger_give_up *reason)
{
    bool splits = definition->bisect && batch->count > 1;
    *reason = TRIGGER_GIVE_UP_NONE;
    if (definition->retries_max != TRIGGER_UNLIMITED && !splits &&
        progress->failures > definition->retries_max) {
        *reason = TRIGGER_GIVE_UP_RETRIES;
        return batch->count;
    }
    size_t count = 0;
    if (definition->age_max_s != TRIGGER_UNLIMITED) {
        while (count < batch->count && clock_server_age_ms(clock, batch->records[count].server_ms) >
                                           definition->age_max_s * 1000)
            count++;
    }
    if (count > 0)
        *reason = TRIGGER_GIVE_UP_AGE;
    return count;
}

void trigger_progress_move(struct trigger_progress *progress, uint64_t next)
{
    assert(next >= progress->at.next);
    progress->at.next = next;
    while (progress->end_count > 0 && trigger_progress_end(progress) <= next)
        progress->end_count--;
    progress->failures = 0;
    progress->unreached = 0;
    progress->at.due_ms = 0;
    progress->gathering_since_ms = 0;
}

static void push_end(struct trigger_progress *progress, uint64_t end)
{
    assert(progress->end_count < TRIGGER_ENDS_MAX);
    assert(progress->end_count == 0 || end < trigger_progress_end(progress));
    progress->ends[progress->end_count++] = end;
}

void trigger_progress_fail(struct trigger_progress *progress,
                           const struct trigger_definition *definition,
                           const struct trigger_batch *batch, size_t failed, int64_t now_ms,
                           struct random *random)
{
    assert(failed < batch->count);
    if (progress->end_count == 0)
        push_end(progress, batch->next);
    int64_t failures = failed > 0 ? 1 : progress->failures + 1;
    if (failed > 0)
        trigger_progress_move(progress, batch->records[failed].sequence);
    else if (definition->bisect && batch->count > 1) {
        trigger_progress_move(progress, progress->at.next);
        push_end(progress, batch->records[batch->count / 2].sequence);
        return;
    }
    progress->unreached = 0;
    progress->failures = failures;
    progress->at.due_ms = now_ms + consumer_backoff_ms(failures, random);
}

void trigger_progress_unreached(struct trigger_progress *progress, int64_t now_ms,
                                struct random *random)
{
    progress->unreached++;
    progress->at.due_ms = now_ms + consumer_backoff_ms(progress->unreached, random);
}
