/* trigger_runner.c -- see trigger_runner.h.
 *
 * A turn of a partition: read a batch, call the function, store the position. The position is
 * stored after the call, so a crash delivers a batch twice, never not at all.
 *
 * Nobody waits for a runner whose trigger is removed. It may therefore come to store a position
 * after the removal; the write that would do so finds the trigger's definition gone, and the runner
 * ends.
 */
#include "trigger/trigger_runner.h"
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/log.h"
#include "base/random.h"
#include "base/timed_wait.h"
#include "json/writer.h"
#include "model/arn.h"
#include "http/server.h"
#include "json/utf8.h"
#include "model/error.h"
#include "stream/stream_definition.h"
#include "stream/streams.h"
#include "trigger/dead_letters.h"
#include "trigger/event_filter.h"
#include "trigger/trigger_answer.h"
#include "trigger/trigger_batch.h"
#include "trigger/trigger_definition.h"
#include "trigger/trigger_progress.h"
#include "trigger/trigger_records.h"

struct trigger_runner {
    struct trigger_runner_options options;
    const struct trigger_definition *definition;
    struct outbound_client *client;
    pthread_t thread;

    /* The thread's own. */
    struct arena *arena; /* Of the runner's life: filters, partitions. */
    struct arena *turn_arena;
    struct random random;
    const struct event_filter *filters[TRIGGER_FILTERS_MAX];
    uint64_t *partitions;              /* NULL: not known yet. */
    struct trigger_progress *progress; /* One for each partition. */
    size_t partition_count;
    int64_t poll_ms;

    pthread_mutex_t mutex; /* Guards what follows. */
    pthread_cond_t asked;
    bool stopping; /* Asked to stop. */
    bool stopped;  /* The thread has nothing left to do. */
    bool ended;
    char result[TRIGGER_RESULT_SIZE_MAX];
};

/* What is at hand during a turn of a partition. */
struct turn {
    struct trigger_runner *runner;
    struct arena *arena;
    const struct stream_definition *stream;
    uint64_t partition;
    struct trigger_progress *progress;
    struct trigger_batch batch;
};

static int64_t now_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

static void note_result(struct trigger_runner *runner, const char *word, struct bytes problem)
{
    enum { SHOWN_MAX = TRIGGER_RESULT_SIZE_MAX - 32 };
    int size = (int)utf8_prefix(problem, SHOWN_MAX);
    pthread_mutex_lock(&runner->mutex);
    snprintf(runner->result, sizeof runner->result, "%s%s%.*s", word, size == 0 ? "" : ": ", size,
             (const char *)problem.data);
    pthread_mutex_unlock(&runner->mutex);
}

/* Logs what keeps a trigger from going on. Milliseconds until it is worth trying again. */
static int64_t troubled(struct trigger_runner *runner, const char *doing, const char *reason)
{
    log_write(LOG_ERROR, "trigger", "%.*s: %s: %s", BYTES_FMT(runner->definition->uuid), doing,
              reason);
    return TRIGGER_FAILURE_RETRY_MS;
}

/* The same for one partition; the others go on. */
static int64_t hold_up(struct turn *turn, const char *doing, const char *reason)
{
    int64_t wait_ms = troubled(turn->runner, doing, reason);
    turn->progress->due_ms = now_ms() + wait_ms;
    return wait_ms;
}

/* --- Positions --- */

/* ENGINE_NOT_FOUND if the trigger was removed. */
static enum engine_status store_position(const struct turn *turn, uint64_t next)
{
    struct trigger_runner *runner = turn->runner;
    struct engine_write *write = NULL;
    enum engine_status status = trigger_records_begin(turn->arena, runner->options.engine,
                                                      runner->definition->uuid, &write);
    if (status != ENGINE_OK)
        return status;
    trigger_records_put_position(turn->arena, write, runner->definition->uuid, turn->partition,
                                 next);
    return engine_write_commit_wait(write);
}

/* What keeps a position from being stored. */
static int64_t cannot_store(struct turn *turn, enum engine_status status)
{
    if (status == ENGINE_NOT_FOUND) {
        trigger_runner_ask_to_stop(turn->runner);
        return 0;
    }
    return hold_up(turn, "storing its position", engine_status_name(status));
}

/* Stores that all before `next` is done, and goes on from there. */
static int64_t move_to(struct turn *turn, uint64_t next)
{
    enum engine_status status = store_position(turn, next);
    if (status != ENGINE_OK)
        return cannot_store(turn, status);
    trigger_progress_move(turn->progress, next);
    return 0;
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

/* The reserve of a disk that is nearly full is for deletions. */
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
        return hold_up(turn, "writing dead letters", strerror(errno));
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
                               &turn->batch, turn->partition);
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
        return move_to(turn, turn->batch.next);
    }
    note_result(runner, "PROBLEM",
                answer.words.len == 0
                    ? answer.problem
                    : arena_printf(turn->arena, "%.*s: %.*s", BYTES_FMT(answer.problem),
                                   BYTES_FMT(answer.words)));
    log_write(LOG_WARN, "trigger", "%.*s: %.*s", BYTES_FMT(runner->definition->uuid),
              BYTES_FMT(answer.problem));
    if (answer.outcome == TRIGGER_UNREACHED) {
        trigger_progress_unreached(progress, now_ms(), &runner->random);
    } else {
        enum engine_status status =
            answer.failed == 0 ? ENGINE_OK
                               : store_position(turn, position_behind(&turn->batch, answer.failed));
        if (status != ENGINE_OK)
            return cannot_store(turn, status);
        trigger_progress_fail(progress, runner->definition, &turn->batch, answer.failed, now_ms(),
                              &runner->random);
    }
    return 0;
}

/* --- Turns --- */

static enum engine_status gather(struct turn *turn)
{
    struct trigger_runner *runner = turn->runner;
    struct trigger_source source = {
        .stream = turn->stream,
        .arn = arn_of_stream(turn->arena, runner->options.region, runner->options.account_id,
                             turn->stream->table_name, turn->stream->label),
        .region = runner->options.region,
        .filters = runner->filters,
        .filter_count = runner->definition->filter_count,
        .batch_size = (size_t)runner->definition->batch_size,
    };
    struct engine_view *view = NULL;
    enum engine_status status = engine_view_open(runner->options.engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status =
            trigger_batch_gather(turn->arena, view, &source, turn->partition, turn->progress->next,
                                 trigger_progress_end(turn->progress), &turn->batch);
    engine_view_close(view);
    return status;
}

/* Milliseconds until the partition's next turn; TIMED_WAIT_FOREVER: it is over. */
static int64_t run_turn(struct turn *turn)
{
    struct trigger_runner *runner = turn->runner;
    struct trigger_progress *progress = turn->progress;
    struct trigger_batch *batch = &turn->batch;
    enum engine_status status = gather(turn);
    if (status != ENGINE_OK)
        return hold_up(turn, "reading its stream", engine_status_name(status));
    if (batch->lost > 0) {
        log_write(LOG_WARN, "trigger",
                  "%.*s: up to %" PRIu64 " records were trimmed before they were delivered",
                  BYTES_FMT(runner->definition->uuid), batch->lost);
        progress->next = batch->first; /* So that this is said once. */
    }
    if (batch->count == 0) {
        if (batch->next > batch->first || batch->lost > 0)
            return move_to(turn, batch->next);
        return batch->ended ? TIMED_WAIT_FOREVER : runner->poll_ms;
    }
    int64_t window_ms = trigger_progress_window_ms(progress, runner->definition, batch, now_ms());
    if (window_ms > 0)
        return window_ms < TRIGGER_POLL_MAX_MS ? window_ms : TRIGGER_POLL_MAX_MS;
    enum trigger_give_up reason;
    size_t count = trigger_progress_give_up(progress, runner->definition, batch,
                                            runner->options.clock, &reason);
    runner->poll_ms = TRIGGER_POLL_MIN_MS;
    return count > 0 ? give_up(turn, count, reason) : deliver(turn);
}

static int64_t run_partition(struct trigger_runner *runner, const struct stream_definition *stream,
                             size_t index)
{
    struct turn turn = { .runner = runner,
                         .arena = runner->turn_arena,
                         .stream = stream,
                         .partition = runner->partitions[index],
                         .progress = &runner->progress[index] };
    int64_t wait_ms = turn.progress->due_ms - now_ms();
    if (wait_ms > 0)
        return wait_ms;
    arena_reset(runner->turn_arena);
    return run_turn(&turn);
}

/* --- The thread --- */

/* Reads where the trigger stands. */
static enum engine_status load_positions(struct trigger_runner *runner,
                                         const struct stream_definition *stream)
{
    size_t count = stream->partition_count;
    struct engine_view *view = NULL;
    enum engine_status status = engine_view_open(runner->options.engine, ENGINE_STRONG, &view);
    struct trigger_progress *progress = arena_alloc_zeroed(runner->arena, count * sizeof *progress);
    for (size_t i = 0; i < count && status == ENGINE_OK; i++)
        status = trigger_records_position(runner->turn_arena, view, runner->definition->uuid,
                                          stream->partitions[i], &progress[i].next);
    engine_view_close(view);
    if (status != ENGINE_OK)
        return status;
    runner->partitions = arena_alloc(runner->arena, count * sizeof *runner->partitions);
    memcpy(runner->partitions, stream->partitions, count * sizeof *runner->partitions);
    runner->progress = progress;
    runner->partition_count = count;
    return ENGINE_OK;
}

/* Waits to be asked, for so long at most. */
static bool is_asked_to_stop(struct trigger_runner *runner, int64_t wait_ms)
{
    pthread_mutex_lock(&runner->mutex);
    if (!runner->stopping && wait_ms != 0)
        timed_wait(&runner->asked, &runner->mutex, wait_ms);
    bool stopping = runner->stopping;
    pthread_mutex_unlock(&runner->mutex);
    return stopping;
}

/* A turn for each partition. Milliseconds until the next round; TIMED_WAIT_FOREVER: it is over. */
static int64_t run_round(struct trigger_runner *runner, const struct stream_definition *stream)
{
    int64_t wait_ms = TIMED_WAIT_FOREVER;
    if (runner->partitions == NULL) {
        enum engine_status status = load_positions(runner, stream);
        if (status != ENGINE_OK)
            return troubled(runner, "reading its positions", engine_status_name(status));
    }
    for (size_t i = 0; i < runner->partition_count && !is_asked_to_stop(runner, 0); i++)
        wait_ms = timed_wait_sooner(wait_ms, run_partition(runner, stream, i));
    if (wait_ms >= runner->poll_ms) { /* Nothing was there. */
        int64_t longer_ms = runner->poll_ms * 2;
        runner->poll_ms = longer_ms < TRIGGER_POLL_MAX_MS ? longer_ms : TRIGGER_POLL_MAX_MS;
    }
    return wait_ms;
}

static void *runner_main(void *context)
{
    struct trigger_runner *runner = context;
    const struct trigger_definition *definition = runner->definition;
    int64_t wait_ms = 0;
    while (!is_asked_to_stop(runner, wait_ms)) {
        struct stream *stream =
            streams_find(runner->options.streams, definition->table_name, definition->label);
        wait_ms =
            stream == NULL ? TIMED_WAIT_FOREVER : run_round(runner, stream_definition(stream));
        stream_release(stream);
        pthread_mutex_lock(&runner->mutex);
        runner->ended = wait_ms == TIMED_WAIT_FOREVER;
        pthread_mutex_unlock(&runner->mutex);
    }
    pthread_mutex_lock(&runner->mutex);
    runner->stopped = true;
    pthread_mutex_unlock(&runner->mutex);
    return NULL;
}

/* What was stored has been checked when it was read. */
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

static void destroy(struct trigger_runner *runner)
{
    outbound_client_destroy(runner->client);
    pthread_cond_destroy(&runner->asked);
    pthread_mutex_destroy(&runner->mutex);
    arena_destroy(runner->turn_arena);
    arena_destroy(runner->arena);
    free(runner);
}

struct trigger_runner *trigger_runner_start(const struct trigger_runner_options *options,
                                            const struct trigger_definition *definition,
                                            char message[OUTBOUND_MESSAGE_MAX])
{
    struct trigger_runner *runner = calloc(1, sizeof *runner);
    if (runner == NULL)
        abort();
    runner->options = *options;
    runner->definition = definition;
    runner->arena = arena_create();
    runner->turn_arena = arena_create();
    runner->poll_ms = TRIGGER_POLL_MIN_MS;
    random_init_from_system(&runner->random);
    pthread_mutex_init(&runner->mutex, NULL);
    note_result(runner, "No records processed", BYTES(""));
    timed_wait_init(&runner->asked);
    snprintf(message, OUTBOUND_MESSAGE_MAX, "no thread is left");
    runner->client = outbound_client_create(options->outside.network, message);
    if (runner->client != NULL && prepare(runner) &&
        pthread_create(&runner->thread, NULL, runner_main, runner) == 0)
        return runner;
    destroy(runner);
    return NULL;
}

void trigger_runner_ask_to_stop(struct trigger_runner *runner)
{
    pthread_mutex_lock(&runner->mutex);
    runner->stopping = true;
    pthread_cond_signal(&runner->asked);
    pthread_mutex_unlock(&runner->mutex);
    outbound_client_cancel(runner->client);
}

bool trigger_runner_has_stopped(struct trigger_runner *runner)
{
    pthread_mutex_lock(&runner->mutex);
    bool stopped = runner->stopped;
    pthread_mutex_unlock(&runner->mutex);
    return stopped;
}

void trigger_runner_stop(struct trigger_runner *runner)
{
    if (runner == NULL)
        return;
    trigger_runner_ask_to_stop(runner);
    pthread_join(runner->thread, NULL);
    destroy(runner);
}

struct trigger_runner_report trigger_runner_report(struct trigger_runner *runner,
                                                   struct arena *arena)
{
    pthread_mutex_lock(&runner->mutex);
    struct trigger_runner_report report = {
        .ended = runner->ended, .result = arena_copy(arena, bytes_from_text(runner->result))
    };
    pthread_mutex_unlock(&runner->mutex);
    return report;
}
