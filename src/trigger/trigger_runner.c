/* trigger_runner.c -- see trigger_runner.h.
 *
 * The thread, the positions and the pauses are the consumer's (consumer/consumer.h). Here is what a
 * turn does: read a batch, call the function, store the position.
 */
#include "trigger/trigger_runner.h"
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/timed_wait.h"
#include "consumer/consumer.h"
#include "http/server.h"
#include "json/utf8.h"
#include "json/writer.h"
#include "model/arn.h"
#include "model/error.h"
#include "stream/stream_definition.h"
#include "stream/streams.h"
#include "trigger/dead_letters.h"
#include "trigger/event_filter.h"
#include "trigger/trigger_answer.h"
#include "trigger/trigger_batch.h"
#include "trigger/trigger_definition.h"
#include "trigger/trigger_progress.h"

struct trigger_runner {
    struct trigger_runner_options options;
    const struct trigger_definition *definition;
    struct trigger_counters *counters;
    struct outbound_client *client;
    struct consumer *consumer;

    /* Used by the consumer's thread only. */
    struct arena *arena; /* Holds the filters; lives as long as the runner. */
    struct random random;
    const struct event_filter *filters[TRIGGER_FILTERS_MAX];
    struct stream *stream; /* During a round; NULL: the stream is gone. */

    pthread_mutex_t mutex; /* Guards `result`. */
    char result[TRIGGER_RESULT_SIZE_MAX];
};

/* A turn, and the batch that it is about. */
struct turn {
    struct consumer_turn *consumer;
    struct trigger_runner *runner;
    struct arena *arena;
    struct trigger_progress *progress;
    struct trigger_batch batch;
};

static void note_result(struct trigger_runner *runner, const char *word, struct bytes problem)
{
    enum { SHOWN_MAX = TRIGGER_RESULT_SIZE_MAX - 32 };
    int size = (int)utf8_prefix(problem, SHOWN_MAX);
    pthread_mutex_lock(&runner->mutex);
    snprintf(runner->result, sizeof runner->result, "%s%s%.*s", word, size == 0 ? "" : ": ", size,
             (const char *)problem.data);
    pthread_mutex_unlock(&runner->mutex);
}

/* --- For the metrics --- */

static void note_oldest(struct turn *turn)
{
    _Atomic int64_t *oldest_ms = &turn->runner->counters->oldest_ms;
    int64_t first_ms = turn->batch.records[0].server_ms, known_ms = atomic_load(oldest_ms);
    if (known_ms == 0 || first_ms < known_ms)
        atomic_store(oldest_ms, first_ms);
}

/* The first `count` records of the batch are done with, in one way or the other. */
static void note_done(struct turn *turn, size_t count, _Atomic uint64_t *counter)
{
    struct trigger_counters *counters = turn->runner->counters;
    atomic_fetch_add(counter, count);
    if (count > 0 && atomic_load(&counters->oldest_ms) == turn->batch.records[0].server_ms)
        atomic_store(&counters->oldest_ms, 0);
}

/* Stores the position, and moves there. */
static int64_t move_to(struct turn *turn, uint64_t next)
{
    int64_t wait_ms;
    if (consumer_store(turn->consumer, next, &wait_ms))
        trigger_progress_move(turn->progress, next);
    return wait_ms;
}

/* The position behind the first `count` records of the batch. */
static uint64_t position_behind(const struct trigger_batch *batch, size_t count)
{
    return count == batch->count ? batch->next : batch->records[count].sequence;
}

/* --- Giving up --- */

static void write_dead_letter(struct turn *turn, struct buffer *out, size_t index,
                              const char *condition, int64_t wall_ms)
{
    struct json_writer json;
    json_writer_init(&json, out);
    json_open_object(&json);
    json_write_name(&json, "trigger");
    json_write_string(&json, turn->runner->definition->uuid);
    json_write_name(&json, "condition");
    json_write_text(&json, condition);
    json_write_name(&json, "failures");
    json_write_integer(&json, turn->progress->failures);
    json_write_name(&json, "timestamp");
    json_write_seconds(&json, wall_ms);
    json_write_name(&json, "record");
    json_write_raw(&json, trigger_batch_text(&turn->batch, index));
    json_close_object(&json);
    buffer_append_byte(out, '\n');
}

/* On a disk that is nearly full the reserved space is for deletions, not for dead letters. */
static bool append_dead_letters(const struct turn *turn, struct bytes file, struct bytes lines)
{
    const struct trigger_runner_options *options = &turn->runner->options;
    const struct trigger_outside *outside = &options->outside;
    struct dead_letters letters = { .folder = outside->dead_letter_dir,
                                    .size_max = outside->dead_letters_max != 0
                                                    ? outside->dead_letters_max
                                                    : DEAD_LETTERS_SIZE_MAX };
    enum engine_health health = engine_health(options->engine);
    if (health == ENGINE_HEALTH_FULL || health == ENGINE_HEALTH_LOST) {
        errno = ENOSPC;
        return false;
    }
    return dead_letters_append(turn->arena, &letters, file, lines);
}

static int64_t give_up(struct turn *turn, size_t count, enum trigger_give_up reason)
{
    struct trigger_runner *runner = turn->runner;
    int64_t wall_ms = clock_wall_ms(runner->options.clock);
    const char *condition =
        reason == TRIGGER_GIVE_UP_AGE ? "RecordAgeExceeded" : "RetryAttemptsExhausted";
    struct bytes file = runner->definition->dead_letter_file;
    struct buffer lines;
    buffer_init(&lines, turn->arena);
    log_write(LOG_WARN, "trigger", "%.*s: gave up %zu records: %s",
              BYTES_FMT(runner->definition->uuid), count, condition);
    for (size_t i = 0; file.len > 0 && i < count; i++)
        write_dead_letter(turn, &lines, i, condition, wall_ms);
    if (lines.len > 0 && !append_dead_letters(turn, file, buffer_bytes(&lines)))
        return consumer_hold_up(turn->consumer, "writing dead letters", strerror(errno));
    if (file.len > 0)
        atomic_fetch_add(&runner->counters->dead_letters, count);
    note_done(turn, count, &runner->counters->records_given_up);
    return move_to(turn, position_behind(&turn->batch, count));
}

/* --- Calling the function --- */

static struct trigger_answer call_function(struct turn *turn, bool *stopped)
{
    static const struct http_header headers[] = {
        { { (const uint8_t *)"Content-Type", 12 }, { (const uint8_t *)"application/json", 16 } },
    };
    struct trigger_runner *runner = turn->runner;
    const struct trigger_definition *definition = runner->definition;
    struct outbound_request request = { .method = "POST",
                                        .url = definition->url,
                                        .headers = headers,
                                        .header_count = COUNT_OF(headers),
                                        .body = buffer_bytes(&turn->batch.event),
                                        .timeout_ms = definition->timeout_s * 1000,
                                        .answer_size_max = TRIGGER_EVENT_SIZE_MAX };
    struct outbound_answer answer;
    enum outbound_result result =
        runner->options.outside.send(runner->client, turn->arena, &request, &answer);
    *stopped = result == OUTBOUND_CANCELLED;
    return trigger_answer_read(turn->arena, result, &answer, definition->reports_failures,
                               &turn->batch, turn->consumer->partition);
}

static int64_t deliver(struct turn *turn)
{
    struct trigger_runner *runner = turn->runner;
    struct trigger_progress *progress = turn->progress;
    bool stopped;
    struct trigger_answer answer = call_function(turn, &stopped);
    if (stopped)
        return 0;
    if (answer.outcome == TRIGGER_DELIVERED) {
        note_result(runner, "OK", BYTES(""));
        note_done(turn, turn->batch.count, &runner->counters->records_delivered);
        return move_to(turn, turn->batch.next);
    }
    atomic_fetch_add(&runner->counters->failures, 1);
    note_done(turn, answer.failed, &runner->counters->records_delivered);
    note_result(runner, "PROBLEM",
                answer.words.len == 0
                    ? answer.problem
                    : arena_printf(turn->arena, "%.*s: %.*s", BYTES_FMT(answer.problem),
                                   BYTES_FMT(answer.words)));
    log_write(LOG_WARN, "trigger", "%.*s: %.*s", BYTES_FMT(runner->definition->uuid),
              BYTES_FMT(answer.problem));
    if (answer.outcome == TRIGGER_UNREACHED) {
        trigger_progress_unreached(progress, consumer_now_ms(), &runner->random);
        return 0;
    }
    int64_t wait_ms;
    if (answer.failed > 0 &&
        !consumer_store(turn->consumer, position_behind(&turn->batch, answer.failed), &wait_ms))
        return wait_ms;
    trigger_progress_fail(progress, runner->definition, &turn->batch, answer.failed,
                          consumer_now_ms(), &runner->random);
    return 0;
}

/* --- Turns --- */

static enum engine_status gather(struct turn *turn)
{
    struct trigger_runner *runner = turn->runner;
    const struct stream_definition *stream = stream_definition(runner->stream);
    struct trigger_source source = {
        .stream = stream,
        .arn = arn_of_stream(turn->arena, runner->options.region, runner->options.account_id,
                             stream->table_name, stream->label),
        .region = runner->options.region,
        .filters = runner->filters,
        .filter_count = runner->definition->filter_count,
        .batch_size = (size_t)runner->definition->batch_size,
    };
    return trigger_batch_gather(turn->consumer, &source, trigger_progress_end(turn->progress),
                                &turn->batch);
}

static int64_t run_turn(struct turn *turn)
{
    struct trigger_runner *runner = turn->runner;
    struct trigger_progress *progress = turn->progress;
    struct trigger_batch *batch = &turn->batch;
    enum engine_status status = gather(turn);
    if (status != ENGINE_OK)
        return consumer_hold_up(turn->consumer, "reading its stream", engine_status_name(status));
    if (batch->lost > 0) {
        log_write(LOG_WARN, "trigger",
                  "%.*s: up to %" PRIu64 " records were trimmed before they were delivered",
                  BYTES_FMT(runner->definition->uuid), batch->lost);
        progress->at.next = batch->first; /* So that this is logged once. */
        atomic_fetch_add(&runner->counters->records_lost, batch->lost);
    }
    if (batch->count == 0) {
        /* Also if the position only entered a new shard: once the old one is trimmed, the numbers
         * in between would count as lost records. 0 means the oldest record and loses none. */
        bool entered = progress->at.next != 0 && batch->first > progress->at.next;
        if (batch->next > batch->first || entered || batch->lost > 0)
            return move_to(turn, batch->next);
        return batch->ended ? TIMED_WAIT_FOREVER : consumer_idle_ms(turn->consumer);
    }
    int64_t window_ms =
        trigger_progress_window_ms(progress, runner->definition, batch, consumer_now_ms());
    if (window_ms > 0)
        return window_ms < CONSUMER_POLL_MAX_MS ? window_ms : CONSUMER_POLL_MAX_MS;
    enum trigger_give_up reason;
    size_t count = trigger_progress_give_up(progress, runner->definition, batch,
                                            runner->options.clock, &reason);
    turn->consumer->found_work = true;
    note_oldest(turn);
    return count > 0 ? give_up(turn, count, reason) : deliver(turn);
}

/* --- What the consumer calls --- */

static struct trigger_progress *of_consumer(struct consumer_progress *progress)
{
    static_assert(offsetof(struct trigger_progress, at) == 0, "the consumer's part comes first");
    return (struct trigger_progress *)(void *)progress;
}

static int64_t take_turn(void *context, struct consumer_turn *given)
{
    struct turn turn = { .consumer = given,
                         .runner = context,
                         .arena = given->arena,
                         .progress = of_consumer(given->progress) };
    return run_turn(&turn);
}

static bool find_log(void *context, struct consumer_log *out)
{
    struct trigger_runner *runner = context;
    runner->stream = streams_find(runner->options.streams, runner->definition->table_name,
                                  runner->definition->label);
    if (runner->stream == NULL)
        return false;
    const struct stream_definition *stream = stream_definition(runner->stream);
    *out = (struct consumer_log){ .log_id = stream->log_id,
                                  .partitions = stream->partitions,
                                  .partition_count = stream->partition_count,
                                  .firsts = stream->firsts,
                                  .ends = stream->ends,
                                  .closed = stream->status == STREAM_DISABLED };
    return true;
}

static void release_log(void *context)
{
    struct trigger_runner *runner = context;
    stream_release(runner->stream);
    runner->stream = NULL;
}

static void interrupt(void *context)
{
    struct trigger_runner *runner = context;
    outbound_client_cancel(runner->client);
}

/* --- Starting and stopping --- */

/* Parses the filters. They were checked when the trigger was added and when it was loaded. */
static bool prepare(struct trigger_runner *runner)
{
    const struct trigger_definition *definition = runner->definition;
    struct error ignored;
    error_init(&ignored, runner->arena);
    for (size_t i = 0; i < definition->filter_count; i++) {
        runner->filters[i] = event_filter_parse(runner->arena, definition->filters[i], &ignored);
        if (runner->filters[i] == NULL)
            return false;
    }
    return true;
}

static struct consumer *start_consumer(struct trigger_runner *runner)
{
    struct bytes uuid = runner->definition->uuid;
    return consumer_start(
        &(struct consumer_options){ .engine = runner->options.engine,
                                    .area = "trigger",
                                    .uuid = uuid,
                                    .guard = trigger_definition_address(runner->arena, uuid),
                                    .progress_size = sizeof(struct trigger_progress),
                                    .context = runner,
                                    .find_log = find_log,
                                    .release_log = release_log,
                                    .turn = take_turn,
                                    .interrupt = interrupt });
}

static void destroy(struct trigger_runner *runner)
{
    outbound_client_destroy(runner->client);
    pthread_mutex_destroy(&runner->mutex);
    arena_destroy(runner->arena);
    free(runner);
}

struct trigger_runner *trigger_runner_start(const struct trigger_runner_options *options,
                                            const struct trigger_definition *definition,
                                            struct trigger_counters *counters,
                                            char message[OUTBOUND_MESSAGE_MAX])
{
    struct trigger_runner *runner = memory_checked(calloc(1, sizeof *runner));
    runner->options = *options;
    runner->definition = definition;
    runner->counters = counters;
    runner->arena = arena_create();
    random_init_from_system(&runner->random);
    pthread_mutex_init(&runner->mutex, NULL);
    note_result(runner, "No records processed", BYTES(""));
    snprintf(message, OUTBOUND_MESSAGE_MAX, "no thread is left");
    runner->client = outbound_client_create(options->outside.network, message);
    if (runner->client != NULL && prepare(runner))
        runner->consumer = start_consumer(runner);
    if (runner->consumer != NULL)
        return runner;
    destroy(runner);
    return NULL;
}

void trigger_runner_ask_to_stop(struct trigger_runner *runner)
{
    consumer_ask_to_stop(runner->consumer);
}

bool trigger_runner_has_stopped(struct trigger_runner *runner)
{
    return consumer_has_stopped(runner->consumer);
}

void trigger_runner_stop(struct trigger_runner *runner)
{
    if (runner == NULL)
        return;
    consumer_stop(runner->consumer);
    destroy(runner);
}

struct trigger_runner_report trigger_runner_report(struct trigger_runner *runner,
                                                   struct arena *arena)
{
    struct trigger_runner_report report = { .ended = consumer_has_ended(runner->consumer) };
    pthread_mutex_lock(&runner->mutex);
    report.result = arena_copy(arena, bytes_from_text(runner->result));
    pthread_mutex_unlock(&runner->mutex);
    return report;
}
