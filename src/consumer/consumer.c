/* consumer.c -- see consumer.h. */
#include "consumer/consumer.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/timed_wait.h"
#include "consumer/consumer_position.h"
#include "log/log_read.h"
#include "log/shard.h"

struct consumer {
    struct consumer_options options;
    pthread_t thread;

    /* The thread's own. */
    struct arena *arena; /* Of the consumer's life. */
    struct arena *turn_arena;
    uint64_t *partitions; /* Whose positions were read. */
    uint8_t *progress;    /* `progress_size` bytes for each partition. */
    bool *begun;          /* For each: its turn need not wait for its parent's. */
    size_t partition_count;
    int64_t poll_ms;

    pthread_mutex_t mutex; /* Guards what follows. */
    pthread_cond_t asked;
    bool stopping; /* Asked to stop. */
    bool stopped;  /* The thread has nothing left to do. */
    bool ended;
};

int64_t consumer_now_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

int64_t consumer_backoff_ms(int64_t failures, struct random *random)
{
    int64_t bound_ms = CONSUMER_BACKOFF_MIN_MS;
    assert(failures > 0);
    for (int64_t i = 1; i < failures && bound_ms < CONSUMER_BACKOFF_MAX_MS; i++)
        bound_ms *= 2;
    if (bound_ms > CONSUMER_BACKOFF_MAX_MS)
        bound_ms = CONSUMER_BACKOFF_MAX_MS;
    return bound_ms / 2 + (int64_t)random_below(random, (uint64_t)(bound_ms / 2) + 1);
}

/* --- Trouble --- */

static int64_t log_trouble(const struct consumer *consumer, const char *doing, const char *reason)
{
    log_write(LOG_ERROR, consumer->options.area, "%.*s: %s: %s", BYTES_FMT(consumer->options.uuid),
              doing, reason);
    return CONSUMER_FAILURE_RETRY_MS;
}

int64_t consumer_hold_up(const struct consumer_turn *turn, const char *doing, const char *reason)
{
    int64_t wait_ms = log_trouble(turn->consumer, doing, reason);
    turn->progress->due_ms = consumer_now_ms() + wait_ms;
    return wait_ms;
}

int64_t consumer_idle_ms(const struct consumer_turn *turn)
{
    return turn->consumer->poll_ms;
}

/* --- Records --- */

/* The partition's place in arrays of the log. */
static size_t partition_index(const struct consumer_turn *turn)
{
    size_t i = 0;
    while (i + 1 < turn->log->partition_count && turn->log->partitions[i] != turn->partition)
        i++;
    assert(turn->log->partitions[i] == turn->partition);
    return i;
}

/* Sets the cursor to its first record, within the bounds of the log. ENGINE_NOT_FOUND if there is
 * none, and never will be if the log is closed. */
static enum engine_status seek(const struct consumer_turn *turn, struct engine_view *view,
                               struct log_cursor *cursor, uint64_t *lost)
{
    const struct consumer_log *log = turn->log;
    size_t i = log->firsts == NULL && log->ends == NULL ? 0 : partition_index(turn);
    bool from_oldest = cursor->next == 0;
    if (log->firsts != NULL && cursor->next < log->firsts[i])
        cursor->next = log->firsts[i];
    enum engine_status status = log_read_seek(turn->arena, view, cursor, lost);
    if (from_oldest)
        *lost = 0;
    if (status == ENGINE_OK && log->ends != NULL && cursor->next >= log->ends[i])
        return ENGINE_NOT_FOUND;
    return status;
}

enum engine_status consumer_read(const struct consumer_turn *turn, struct log_page *page,
                                 struct consumer_found *out)
{
    struct log_cursor cursor = { .log_id = turn->log->log_id,
                                 .partition = turn->partition,
                                 .next = turn->progress->next };
    struct engine_view *view = NULL;
    *out = (struct consumer_found){ .first = cursor.next };
    page->next = cursor.next;
    page->ended = false;
    enum engine_status status =
        engine_view_open(turn->consumer->options.engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = seek(turn, view, &cursor, &out->lost);
    if (status == ENGINE_OK) {
        out->first = cursor.next;
        status = log_read_page(turn->arena, view, &cursor, page);
        assert(status != ENGINE_OK || !page->trimmed); /* The same view has sought it. */
    } else if (status == ENGINE_NOT_FOUND) {
        out->lost = 0;
        out->ended = turn->log->closed;
        status = ENGINE_OK;
    }
    engine_view_close(view);
    return status;
}

/* --- Positions --- */

/* ENGINE_NOT_FOUND if the owner was removed. */
static enum engine_status store_position(const struct consumer_turn *turn, uint64_t next)
{
    const struct consumer_options *options = &turn->consumer->options;
    struct engine_write *write = NULL;
    struct engine_value value = { 0 };
    enum engine_status status = engine_write_begin(options->engine, &options->guard, 1, &write);
    if (status != ENGINE_OK)
        return status;
    status = engine_write_get(write, &options->guard, &value);
    engine_value_release(&value);
    if (status != ENGINE_OK) {
        engine_write_abandon(write);
        return status;
    }
    consumer_position_put(turn->arena, write, options->uuid, turn->partition, next);
    return engine_write_commit_wait(write);
}

bool consumer_store(const struct consumer_turn *turn, uint64_t next, int64_t *wait_ms)
{
    assert(next >= turn->progress->next);
    enum engine_status status = store_position(turn, next);
    *wait_ms = 0;
    if (status == ENGINE_NOT_FOUND)
        consumer_ask_to_stop(turn->consumer);
    else if (status != ENGINE_OK)
        *wait_ms = consumer_hold_up(turn, "storing its position", engine_status_name(status));
    return status == ENGINE_OK;
}

static struct consumer_progress *progress_in(const struct consumer *consumer, uint8_t *list,
                                             size_t index)
{
    return (struct consumer_progress *)(void *)(list + index * consumer->options.progress_size);
}

static struct consumer_progress *progress_at(const struct consumer *consumer, size_t index)
{
    return progress_in(consumer, consumer->progress, index);
}

/* Of all partitions, or of those that were split off since. */
static enum engine_status load_positions(struct consumer *consumer, const struct consumer_log *log)
{
    const struct consumer_options *options = &consumer->options;
    size_t known = consumer->partition_count, count = log->partition_count;
    struct engine_view *view = NULL;
    uint8_t *progress = arena_alloc_zeroed(consumer->arena, count * options->progress_size);
    uint64_t *partitions = arena_alloc(consumer->arena, count * sizeof *partitions);
    bool *begun = arena_alloc_zeroed(consumer->arena, count * sizeof *begun);
    if (known > 0) {
        memcpy(progress, consumer->progress, known * options->progress_size);
        memcpy(begun, consumer->begun, known * sizeof *begun);
    }
    memcpy(partitions, log->partitions, count * sizeof *partitions);
    enum engine_status status = engine_view_open(options->engine, ENGINE_STRONG, &view);
    for (size_t i = known; i < count && status == ENGINE_OK; i++)
        status = consumer_position_get(consumer->turn_arena, view, options->uuid, partitions[i],
                                       &progress_in(consumer, progress, i)->next);
    engine_view_close(view);
    if (status != ENGINE_OK)
        return status;
    consumer->progress = progress;
    consumer->partitions = partitions;
    consumer->begun = begun;
    consumer->partition_count = count;
    return ENGINE_OK;
}

/* --- Parents before children --- */

/* Whether the consumer has read all that lies before `border` in the partition. Not if that one
 * waits for its own parent: it may have no records before the border, and its parent has some. */
static enum engine_status is_past(const struct consumer_turn *turn, struct engine_view *view,
                                  uint64_t partition, uint64_t border, bool *out)
{
    struct consumer *consumer = turn->consumer;
    size_t i = 0;
    while (i < consumer->partition_count && consumer->partitions[i] != partition)
        i++;
    *out = i == consumer->partition_count; /* It is none of the consumer's. */
    if (*out || !consumer->begun[i])
        return ENGINE_OK;
    struct consumer_turn parent = *turn;
    parent.partition = partition;
    parent.progress = progress_at(consumer, i);
    struct log_cursor cursor = { .log_id = turn->log->log_id,
                                 .partition = partition,
                                 .next = parent.progress->next };
    uint64_t lost;
    enum engine_status status = seek(&parent, view, &cursor, &lost);
    *out = status == ENGINE_NOT_FOUND || cursor.next >= border;
    return status == ENGINE_NOT_FOUND ? ENGINE_OK : status;
}

/* Whether the partition may have its turn: not if it was split off another one which the consumer
 * has not read up to there, because changes of the same items lie there. Only a partition without a
 * position has to ask. `*first`: where it begins if it was split off; otherwise 0. */
static enum engine_status may_begin(const struct consumer_turn *turn, bool *out, uint64_t *first)
{
    struct engine_view *view = NULL;
    struct shard *shards;
    size_t count;
    *out = true;
    *first = 0;
    if (turn->progress->next != 0)
        return ENGINE_OK;
    enum engine_status status =
        engine_view_open(turn->consumer->options.engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = shard_list(turn->arena, view, turn->log->log_id, turn->partition, &shards, &count);
    if (status == ENGINE_OK && count > 0 && shard_is_split_off(&shards[0])) {
        *first = shards[0].kept;
        status = is_past(turn, view, shards[0].parent_partition, shards[0].first, out);
    }
    engine_view_close(view);
    return status;
}

/* False if the turn has to wait for so long. A partition that begins behind its parent gets a
 * position at once, so that it never asks again. */
static bool begin_partition(struct consumer_turn *turn, size_t index, int64_t *wait_ms)
{
    struct consumer *consumer = turn->consumer;
    bool may;
    uint64_t first;
    *wait_ms = consumer->poll_ms;
    if (consumer->begun[index])
        return true;
    enum engine_status status = may_begin(turn, &may, &first);
    if (status != ENGINE_OK) {
        *wait_ms = consumer_hold_up(turn, "reading its shards", engine_status_name(status));
        return false;
    }
    if (!may || (first != 0 && !consumer_store(turn, first, wait_ms)))
        return false;
    if (first != 0)
        turn->progress->next = first;
    consumer->begun[index] = true;
    return true;
}

/* --- The thread --- */

/* Waits to be asked, for so long at most. */
static bool is_asked_to_stop(struct consumer *consumer, int64_t wait_ms)
{
    pthread_mutex_lock(&consumer->mutex);
    if (!consumer->stopping && wait_ms != 0)
        timed_wait(&consumer->asked, &consumer->mutex, wait_ms);
    bool stopping = consumer->stopping;
    pthread_mutex_unlock(&consumer->mutex);
    return stopping;
}

static int64_t run_partition(struct consumer *consumer, const struct consumer_log *log,
                             size_t index)
{
    struct consumer_turn turn = { .consumer = consumer,
                                  .arena = consumer->turn_arena,
                                  .log = log,
                                  .partition = consumer->partitions[index],
                                  .progress = progress_at(consumer, index) };
    int64_t wait_ms = turn.progress->due_ms - consumer_now_ms();
    if (wait_ms > 0)
        return wait_ms;
    arena_reset(consumer->turn_arena);
    if (!begin_partition(&turn, index, &wait_ms))
        return wait_ms;
    wait_ms = consumer->options.turn(consumer->options.context, &turn);
    if (turn.found_work)
        consumer->poll_ms = CONSUMER_POLL_MIN_MS;
    return wait_ms;
}

/* A turn for each partition. Milliseconds until the next round; TIMED_WAIT_FOREVER: all ended. */
static int64_t run_round(struct consumer *consumer, const struct consumer_log *log)
{
    int64_t wait_ms = TIMED_WAIT_FOREVER;
    if (consumer->partition_count < log->partition_count) {
        enum engine_status status = load_positions(consumer, log);
        if (status != ENGINE_OK)
            return log_trouble(consumer, "reading its positions", engine_status_name(status));
    }
    for (size_t i = 0; i < consumer->partition_count && !is_asked_to_stop(consumer, 0); i++)
        wait_ms = timed_wait_sooner(wait_ms, run_partition(consumer, log, i));
    if (wait_ms >= consumer->poll_ms) { /* Nothing was there. */
        int64_t longer_ms = consumer->poll_ms * 2;
        consumer->poll_ms = longer_ms < CONSUMER_POLL_MAX_MS ? longer_ms : CONSUMER_POLL_MAX_MS;
    }
    return wait_ms;
}

static void *consumer_main(void *context)
{
    struct consumer *consumer = context;
    const struct consumer_options *options = &consumer->options;
    int64_t wait_ms = 0;
    while (!is_asked_to_stop(consumer, wait_ms)) {
        struct consumer_log log;
        wait_ms = options->find_log(options->context, &log) ? run_round(consumer, &log)
                                                            : TIMED_WAIT_FOREVER;
        options->release_log(options->context);
        pthread_mutex_lock(&consumer->mutex);
        /* A round that is cut short says nothing about the partitions that it did not reach. */
        consumer->ended = wait_ms == TIMED_WAIT_FOREVER && !consumer->stopping;
        pthread_mutex_unlock(&consumer->mutex);
    }
    pthread_mutex_lock(&consumer->mutex);
    consumer->stopped = true;
    pthread_mutex_unlock(&consumer->mutex);
    return NULL;
}

/* --- Starting and stopping --- */

static void destroy(struct consumer *consumer)
{
    pthread_cond_destroy(&consumer->asked);
    pthread_mutex_destroy(&consumer->mutex);
    arena_destroy(consumer->turn_arena);
    arena_destroy(consumer->arena);
    free(consumer);
}

struct consumer *consumer_start(const struct consumer_options *options)
{
    assert(options->progress_size >= sizeof(struct consumer_progress));
    assert(options->progress_size % _Alignof(struct consumer_progress) == 0);
    struct consumer *consumer = memory_checked(calloc(1, sizeof *consumer));
    consumer->options = *options;
    consumer->arena = arena_create();
    consumer->turn_arena = arena_create();
    consumer->poll_ms = CONSUMER_POLL_MIN_MS;
    pthread_mutex_init(&consumer->mutex, NULL);
    timed_wait_init(&consumer->asked);
    if (pthread_create(&consumer->thread, NULL, consumer_main, consumer) == 0)
        return consumer;
    destroy(consumer);
    return NULL;
}

void consumer_ask_to_stop(struct consumer *consumer)
{
    pthread_mutex_lock(&consumer->mutex);
    consumer->stopping = true;
    pthread_cond_signal(&consumer->asked);
    pthread_mutex_unlock(&consumer->mutex);
    consumer->options.interrupt(consumer->options.context);
}

bool consumer_has_stopped(struct consumer *consumer)
{
    pthread_mutex_lock(&consumer->mutex);
    bool stopped = consumer->stopped;
    pthread_mutex_unlock(&consumer->mutex);
    return stopped;
}

bool consumer_has_ended(struct consumer *consumer)
{
    pthread_mutex_lock(&consumer->mutex);
    bool ended = consumer->ended;
    pthread_mutex_unlock(&consumer->mutex);
    return ended;
}

void consumer_stop(struct consumer *consumer)
{
    if (consumer == NULL)
        return;
    consumer_ask_to_stop(consumer);
    pthread_join(consumer->thread, NULL);
    destroy(consumer);
}
