/* kinesis_runner.c -- see kinesis_runner.h.
 *
 * The thread, the positions and the pauses are the consumer's (consumer/consumer.h). Here is what a
 * turn does: gather a batch, send it, store the position behind what was taken.
 */
#include "kinesis/kinesis_runner.h"
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/timed_wait.h"
#include "consumer/consumer.h"
#include "crypto/sha256.h"
#include "kinesis/kinesis_batch.h"
#include "stream/stream_definition.h"
#include "stream/streams.h"

struct kinesis_runner {
    struct kinesis_runner_options options;
    const struct destination_definition *definition;
    struct kinesis_counters *counters;
    struct kinesis_client *client;
    struct consumer *consumer;
    _Atomic int verdict;   /* enum kinesis_verdict */
    _Atomic int precision; /* enum destination_precision */

    /* Used by the consumer's thread only. */
    struct arena *arena; /* Lives as long as the runner. */
    struct random random;
    struct sha256 *hasher;
    struct kinesis_target target;
    struct kinesis_stream kinesis;
    struct kinesis_batch *batch;
    struct stream *stream; /* During a round; NULL: the log is gone. */
    bool is_known;         /* The Kinesis stream was described. */
    int64_t ask_since_ms, ask_due_ms;
    int64_t ask_failures;
    bool in_trouble; /* The last call failed, which was logged. */
};

/* A turn, and the batch that it is about. */
struct turn {
    struct consumer_turn *consumer;
    struct kinesis_runner *runner;
    struct kinesis_progress *progress;
    struct kinesis_batch *batch;
};

/* --- For people and metrics --- */

/* Logs the first failure of a row. */
static void note_trouble(struct kinesis_runner *runner, struct bytes problem)
{
    if (!runner->in_trouble)
        log_write(LOG_WARN, "kinesis", "%.*s: %.*s; trying again",
                  BYTES_FMT(runner->definition->uuid), BYTES_FMT(problem));
    runner->in_trouble = true;
}

static void note_success(struct kinesis_runner *runner)
{
    if (runner->in_trouble)
        log_write(LOG_INFO, "kinesis", "%.*s: records are delivered again",
                  BYTES_FMT(runner->definition->uuid));
    runner->in_trouble = false;
}

static void note_oldest(struct turn *turn)
{
    _Atomic int64_t *oldest_ms = &turn->runner->counters->oldest_ms;
    int64_t first_ms = turn->batch->records[0].server_ms, known_ms = atomic_load(oldest_ms);
    if (known_ms == 0 || first_ms < known_ms)
        atomic_store(oldest_ms, first_ms);
}

static void forget_oldest(struct turn *turn)
{
    _Atomic int64_t *oldest_ms = &turn->runner->counters->oldest_ms;
    if (turn->batch->count > 0 && atomic_load(oldest_ms) == turn->batch->records[0].server_ms)
        atomic_store(oldest_ms, 0);
}

/* --- Is the Kinesis stream there? --- */

/* What an answer means for a destination that is being enabled. */
static enum kinesis_verdict judge(const struct kinesis_reply *reply,
                                  const struct kinesis_stream *stream)
{
    if (reply->result == KINESIS_OK)
        return stream->is_active ? KINESIS_GOOD : KINESIS_NOT_ACTIVE;
    if (reply->result == KINESIS_NO_KEY)
        return KINESIS_DENIED;
    if (reply->result != KINESIS_REFUSED ||
        bytes_equal_text(reply->exception, "LimitExceededException") ||
        bytes_equal_text(reply->exception, "InternalFailure"))
        return KINESIS_PENDING; /* Try again. */
    return KINESIS_DENIED;
}

/* A stream that is not ready may become so in time. */
static bool may_change(enum kinesis_verdict verdict)
{
    return verdict == KINESIS_PENDING || verdict == KINESIS_NOT_ACTIVE;
}

/* Asks for the stream. Milliseconds until it is worth asking again. A destination that is ACTIVE
 * asks once, for the bound on records, and proceeds whatever the answer is. */
static int64_t ask(struct kinesis_runner *runner, struct arena *arena)
{
    int64_t now_ms = consumer_now_ms();
    if (now_ms < runner->ask_due_ms)
        return runner->ask_due_ms - now_ms;
    struct kinesis_stream stream = { 0 };
    struct kinesis_reply reply =
        kinesis_client_describe(runner->client, arena, &runner->target, &stream);
    if (reply.result == KINESIS_CANCELLED)
        return 0;
    if (reply.result == KINESIS_OK)
        runner->kinesis = stream;
    bool is_enabling = atomic_load(&runner->verdict) == KINESIS_PENDING;
    enum kinesis_verdict verdict = is_enabling ? judge(&reply, &stream) : KINESIS_GOOD;
    bool is_late = now_ms - runner->ask_since_ms >= runner->options.enable_ms_max;
    if (may_change(verdict) && !is_late) {
        note_trouble(runner, reply.result == KINESIS_OK ? BYTES("the Kinesis stream is not ACTIVE")
                                                        : reply.problem);
        int64_t wait_ms = consumer_backoff_ms(++runner->ask_failures, &runner->random);
        int64_t left_ms = runner->ask_since_ms + runner->options.enable_ms_max - now_ms;
        wait_ms = wait_ms < left_ms ? wait_ms : left_ms;
        runner->ask_due_ms = now_ms + wait_ms;
        return wait_ms;
    }
    runner->in_trouble = false;
    runner->is_known = true;
    atomic_store(&runner->verdict,
                 (int)(verdict == KINESIS_PENDING ? KINESIS_NOT_ACTIVE : verdict));
    return 0;
}

/* --- Sending --- */

/* Stores the position, and moves there. */
static int64_t move_to(struct turn *turn, uint64_t next)
{
    int64_t wait_ms;
    if (consumer_store(turn->consumer, next, &wait_ms))
        kinesis_progress_move(turn->progress, next);
    return wait_ms;
}

/* Those that no call would take go with the others of their batch. */
static void count_too_large(struct turn *turn)
{
    uint64_t count = 0;
    for (size_t i = 0; i < turn->batch->count; i++)
        count += turn->batch->records[i].too_large;
    if (count == 0)
        return;
    log_write(LOG_ERROR, "kinesis",
              "%.*s: %" PRIu64 " records are larger than the Kinesis stream takes, and were not "
              "delivered",
              BYTES_FMT(turn->runner->definition->uuid), count);
    atomic_fetch_add(&turn->runner->counters->records_failed, count);
}

/* The rest of the batch is sent again, later. */
static int64_t retry(struct turn *turn, uint64_t next, bool brought_forward)
{
    struct kinesis_progress *progress = turn->progress;
    int64_t wait_ms;
    atomic_fetch_add(&turn->runner->counters->failures, 1);
    if (next > progress->at.next && !consumer_store(turn->consumer, next, &wait_ms))
        return wait_ms;
    kinesis_progress_retry(progress, turn->batch, next);
    progress->failures = brought_forward ? 1 : progress->failures + 1;
    progress->at.due_ms =
        consumer_now_ms() + consumer_backoff_ms(progress->failures, &turn->runner->random);
    return 0;
}

static void count_throttled(struct turn *turn, const enum kinesis_fate fates[])
{
    uint64_t count = 0;
    for (size_t i = 0; i < turn->batch->entry_count; i++)
        count += fates[i] == KINESIS_THROTTLED;
    atomic_fetch_add(&turn->runner->counters->records_throttled, count);
}

static int64_t deliver(struct turn *turn)
{
    struct kinesis_runner *runner = turn->runner;
    struct kinesis_batch *batch = turn->batch;
    enum kinesis_fate fates[KINESIS_RECORDS_MAX];
    struct kinesis_reply reply =
        kinesis_client_put(runner->client, turn->consumer->arena, &runner->target, batch->entries,
                           batch->entry_count, fates);
    if (reply.result == KINESIS_CANCELLED)
        return 0;
    if (reply.result != KINESIS_OK) {
        if (bytes_equal_text(reply.exception, "ProvisionedThroughputExceededException"))
            atomic_fetch_add(&runner->counters->records_throttled, batch->entry_count);
        note_trouble(runner, reply.problem);
        return retry(turn, batch->records[0].sequence, false);
    }
    count_throttled(turn, fates);
    size_t taken = kinesis_batch_settle(batch, fates);
    uint64_t next = kinesis_batch_position(batch);
    atomic_fetch_add(&runner->counters->records_delivered, taken);
    if (next < batch->next) {
        note_trouble(runner, BYTES("the Kinesis stream did not take all records"));
        return retry(turn, next, taken > 0);
    }
    note_success(runner);
    count_too_large(turn);
    forget_oldest(turn);
    return move_to(turn, batch->next);
}

/* --- Turns --- */

static enum engine_status gather(struct turn *turn)
{
    struct kinesis_runner *runner = turn->runner;
    const struct stream_definition *stream = stream_definition(runner->stream);
    struct kinesis_record_form form = {
        .arena = turn->consumer->arena,
        .table_name = runner->definition->table_name,
        .key = &stream->key,
        .region = runner->options.region,
        .log_id = stream->log_id,
        .partition = turn->consumer->partition,
        .has_microseconds = atomic_load(&runner->precision) == DESTINATION_MICROSECOND,
    };
    return kinesis_batch_gather(turn->consumer, turn->progress, &form, runner->hasher,
                                runner->kinesis.record_size_max, turn->batch);
}

static int64_t run_turn(struct turn *turn)
{
    struct kinesis_runner *runner = turn->runner;
    struct kinesis_batch *batch = turn->batch;
    enum engine_status status = gather(turn);
    if (status != ENGINE_OK)
        return consumer_hold_up(turn->consumer, "reading the log", engine_status_name(status));
    if (batch->lost > 0) {
        log_write(LOG_WARN, "kinesis",
                  "%.*s: up to %" PRIu64 " records were trimmed before they were delivered",
                  BYTES_FMT(runner->definition->uuid), batch->lost);
        turn->progress->at.next = batch->first; /* So that this is logged once. */
        atomic_fetch_add(&runner->counters->records_lost, batch->lost);
    }
    if (batch->count == 0) {
        /* Also if the position only entered a new shard: no shard behind it is trimmed. */
        if (batch->next > turn->progress->at.next || batch->lost > 0)
            return move_to(turn, batch->next);
        return batch->ended ? TIMED_WAIT_FOREVER : consumer_idle_ms(turn->consumer);
    }
    turn->consumer->found_work = true;
    note_oldest(turn);
    if (batch->entry_count > 0)
        return deliver(turn);
    count_too_large(turn);
    forget_oldest(turn);
    return move_to(turn, batch->next);
}

/* --- What the consumer calls --- */

static struct kinesis_progress *of_consumer(struct consumer_progress *progress)
{
    static_assert(offsetof(struct kinesis_progress, at) == 0, "the consumer's part comes first");
    return (struct kinesis_progress *)(void *)progress;
}

static int64_t take_turn(void *context, struct consumer_turn *given)
{
    struct kinesis_runner *runner = context;
    if (!runner->is_known) {
        int64_t wait_ms = ask(runner, given->arena);
        if (!runner->is_known)
            return wait_ms;
    }
    if (atomic_load(&runner->verdict) != KINESIS_GOOD)
        return CONSUMER_POLL_MAX_MS; /* The control thread is about to stop the runner. */
    struct turn turn = { .consumer = given,
                         .runner = runner,
                         .progress = of_consumer(given->progress),
                         .batch = runner->batch };
    return run_turn(&turn);
}

static bool find_log(void *context, struct consumer_log *out)
{
    struct kinesis_runner *runner = context;
    runner->stream = streams_find_log(runner->options.streams, runner->definition->log_id);
    if (runner->stream == NULL)
        return false;
    const struct stream_definition *stream = stream_definition(runner->stream);
    *out = (struct consumer_log){ .log_id = stream->log_id,
                                  .partitions = stream->partitions,
                                  .partition_count = stream->partition_count,
                                  .closed = stream->status == STREAM_DISABLED };
    return true;
}

static void release_log(void *context)
{
    struct kinesis_runner *runner = context;
    stream_release(runner->stream);
    runner->stream = NULL;
}

static void interrupt(void *context)
{
    struct kinesis_runner *runner = context;
    kinesis_client_cancel(runner->client);
}

/* --- Starting and stopping --- */

static struct consumer *start_consumer(struct kinesis_runner *runner)
{
    struct bytes uuid = runner->definition->uuid;
    return consumer_start(
        &(struct consumer_options){ .engine = runner->options.engine,
                                    .area = "kinesis",
                                    .uuid = uuid,
                                    .guard = destination_definition_address(runner->arena, uuid),
                                    .progress_size = sizeof(struct kinesis_progress),
                                    .context = runner,
                                    .find_log = find_log,
                                    .release_log = release_log,
                                    .turn = take_turn,
                                    .interrupt = interrupt });
}

static void destroy(struct kinesis_runner *runner)
{
    kinesis_client_destroy(runner->client);
    sha256_destroy(runner->hasher);
    arena_destroy(runner->arena);
    free(runner->batch);
    free(runner);
}

struct kinesis_runner *kinesis_runner_start(const struct kinesis_runner_options *options,
                                            const struct destination_definition *definition,
                                            struct kinesis_counters *counters,
                                            char message[OUTBOUND_MESSAGE_MAX])
{
    assert(definition->log_id != 0);
    struct kinesis_runner *runner = memory_checked(calloc(1, sizeof *runner));
    runner->options = *options;
    if (runner->options.enable_ms_max == 0)
        runner->options.enable_ms_max = KINESIS_ENABLE_MS_MAX;
    runner->definition = definition;
    runner->counters = counters;
    runner->arena = arena_create();
    runner->batch = memory_checked(calloc(1, sizeof *runner->batch));
    runner->hasher = sha256_create();
    runner->ask_since_ms = consumer_now_ms();
    runner->kinesis.record_size_max = 1024 * 1024;
    random_init_from_system(&runner->random);
    bool is_enabling = definition->status == DESTINATION_ENABLING;
    atomic_init(&runner->verdict, is_enabling ? KINESIS_PENDING : KINESIS_GOOD);
    atomic_init(&runner->precision, definition->precision);
    bool is_arn = destination_definition_parse_arn(definition->stream_arn, &runner->target.region,
                                                   &runner->target.stream_name);
    snprintf(message, OUTBOUND_MESSAGE_MAX, "no thread is left");
    runner->client =
        is_arn ? kinesis_client_create(&runner->options.outside, options->clock, message) : NULL;
    if (runner->client != NULL)
        runner->consumer = start_consumer(runner);
    if (runner->consumer != NULL)
        return runner;
    destroy(runner);
    return NULL;
}

enum kinesis_verdict kinesis_runner_verdict(const struct kinesis_runner *runner)
{
    return (enum kinesis_verdict)atomic_load(&runner->verdict);
}

void kinesis_runner_set_precision(struct kinesis_runner *runner,
                                  enum destination_precision precision)
{
    atomic_store(&runner->precision, precision);
}

void kinesis_runner_ask_to_stop(struct kinesis_runner *runner)
{
    consumer_ask_to_stop(runner->consumer);
}

bool kinesis_runner_has_stopped(struct kinesis_runner *runner)
{
    return consumer_has_stopped(runner->consumer);
}

void kinesis_runner_stop(struct kinesis_runner *runner)
{
    if (runner == NULL)
        return;
    consumer_stop(runner->consumer);
    destroy(runner);
}
