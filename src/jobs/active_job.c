/* active_job.c -- see active_job.h. */
#include "jobs/active_job.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "history/history_holds.h"
#include "jobs/job_runner.h"

static char *copy_text(struct bytes text)
{
    char *copy = memory_checked(malloc(text.len + 1));
    if (text.len > 0)
        memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    return copy;
}

static struct bytes keep(struct arena *arena, struct bytes value)
{
    return value.data == NULL ? value : arena_copy(arena, value);
}

/* Without room for a hold the job runs without one: a kind's bound is far below. */
static void add_hold(struct job *job)
{
    struct history_holds *holds = job->options->holds;
    if (holds == NULL || job->record.source_id == 0)
        return;
    job->hold = history_holds_add(holds, job->record.source_id, job->record.hold_us);
    if (job->hold == 0)
        log_write(LOG_ERROR, "jobs", "job %s cannot hold its table: too many are held",
                  job->record.id);
}

struct job *active_job_create(const struct job_runner_options *options, pthread_mutex_t *mutex,
                              const atomic_bool *stopping, const struct job_record *record)
{
    struct job *job = memory_checked(calloc(1, sizeof *job));
    const struct job_progress *progress = &record->progress;
    assert(record->state == JOB_RUNNING);
    job->options = options;
    job->mutex = mutex;
    job->stopping = stopping;
    job->arena = arena_create();
    job->record = *record;
    job->record.table_name = keep(job->arena, record->table_name);
    job->record.table_uuid = keep(job->arena, record->table_uuid);
    job->record.token = keep(job->arena, record->token);
    job->record.request = keep(job->arena, record->request);
    job->record.caller = keep(job->arena, record->caller);
    job->record.detail = keep(job->arena, record->detail);
    job->position = memory_checked(malloc(JOB_POSITION_SIZE_MAX));
    job_set_position(job, record->position);
    job_set_progress(job, progress);
    add_hold(job);
    return job;
}

void active_job_destroy(struct job *job)
{
    if (job->hold != 0)
        history_holds_remove(job->options->holds, job->hold);
    arena_destroy(job->arena);
    free(job->position);
    free(job->detail);
    free(job->failure_code);
    free(job->failure_message);
    free(job);
}

/* --- For the functions of kinds --- */

const struct job_record *job_record(const struct job *job)
{
    return &job->record;
}

struct engine *job_engine(const struct job *job)
{
    return job->options->engine;
}

const struct clock *job_clock(const struct job *job)
{
    return job->options->clock;
}

bool job_is_stopping(const struct job *job)
{
    return job_is_interrupted(job) || job_is_cancelled(job);
}

bool job_is_interrupted(const struct job *job)
{
    return atomic_load_explicit(job->stopping, memory_order_relaxed);
}

bool job_is_cancelled(const struct job *job)
{
    return atomic_load_explicit(&job->cancelled, memory_order_relaxed);
}

unsigned job_failure_count(const struct job *job)
{
    return job->failure_count;
}

void job_set_hold(struct job *job, int64_t at_us)
{
    job->record.hold_us = at_us;
    if (job->hold != 0)
        history_holds_move(job->options->holds, job->hold, at_us);
}

void job_set_position(struct job *job, struct bytes position)
{
    assert(position.len <= JOB_POSITION_SIZE_MAX);
    if (position.len > 0)
        memmove(job->position, position.data, position.len);
    job->record.position = bytes_of(job->position, position.len);
}

void job_set_detail(struct job *job, struct bytes detail)
{
    assert(detail.len <= JOB_DETAIL_SIZE_MAX);
    uint8_t *before = job->detail;
    job->detail = (uint8_t *)copy_text(detail);
    job->record.detail = bytes_of(job->detail, detail.len);
    free(before);
}

static void add(_Atomic int64_t *number, int64_t change)
{
    atomic_fetch_add_explicit(number, change, memory_order_relaxed);
}

static int64_t get(const _Atomic int64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

void job_set_totals(struct job *job, int64_t items, int64_t bytes)
{
    atomic_store(&job->items_total, items);
    atomic_store(&job->bytes_total, bytes);
}

void job_count(struct job *job, int64_t items, int64_t bytes, int64_t errors)
{
    add(&job->items_done, items);
    add(&job->bytes_done, bytes);
    add(&job->error_count, errors);
}

void job_set_progress(struct job *job, const struct job_progress *progress)
{
    atomic_store(&job->items_done, progress->items_done);
    atomic_store(&job->items_total, progress->items_total);
    atomic_store(&job->bytes_done, progress->bytes_done);
    atomic_store(&job->bytes_total, progress->bytes_total);
    atomic_store(&job->error_count, progress->error_count);
}

struct job_progress job_progress_now(const struct job *job)
{
    return (struct job_progress){ .items_done = get(&job->items_done),
                                  .items_total = get(&job->items_total),
                                  .bytes_done = get(&job->bytes_done),
                                  .bytes_total = get(&job->bytes_total),
                                  .error_count = get(&job->error_count) };
}

void job_fail(struct job *job, const char *code, const char *format, ...)
{
    char message[JOB_FAILURE_SIZE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    free(job->failure_code);
    free(job->failure_message);
    job->failure_code = copy_text(bytes_from_text(code));
    job->failure_message = copy_text(bytes_from_text(message));
    job->record.failure_code = bytes_from_text(job->failure_code);
    job->record.failure_message = bytes_from_text(job->failure_message);
}

/* A request to cancel comes before, and job_put_record sees it, or is refused. */
static void set_ending(struct job *job, bool ending)
{
    pthread_mutex_lock(job->mutex);
    job->ending = ending;
    pthread_mutex_unlock(job->mutex);
}

void job_set_end(struct job *job, enum job_state state)
{
    assert(state != JOB_RUNNING);
    set_ending(job, true);
    job->record.state = state;
    /* An export begins at a commit time, which may be ahead of the wall clock. */
    int64_t now_ms = clock_wall_ms(job_clock(job));
    job->record.ended_ms = now_ms > job->record.created_ms ? now_ms : job->record.created_ms;
}

void job_unset_end(struct job *job)
{
    job->record.state = JOB_RUNNING;
    job->record.ended_ms = 0;
    set_ending(job, false);
}

void job_encode_record(struct job *job, struct arena *arena, struct engine_address *address,
                       struct bytes *value)
{
    job->record.progress = job_progress_now(job);
    *address = job_record_address(arena, job->record.letter, bytes_from_text(job->record.id));
    *value = job_record_encode(arena, &job->record).encoded;
}

struct job_record job_snapshot(struct job *job, struct arena *arena)
{
    job->record.progress = job_progress_now(job);
    struct job_record record = job->record;
    record.position = keep(arena, job->record.position);
    record.detail = keep(arena, job->record.detail);
    record.failure_code = keep(arena, job->record.failure_code);
    record.failure_message = keep(arena, job->record.failure_message);
    return record;
}

void job_put_record(struct job *job, struct engine_write *write)
{
    struct arena *arena = arena_create();
    struct engine_address address;
    struct bytes value;
    job_encode_record(job, arena, &address, &value);
    engine_write_put(write, &address, value);
    if (job->record.state != JOB_RUNNING && job_is_cancelled(job)) {
        const struct engine_address request =
            job_cancel_address(arena, bytes_of(job->record.id, JOB_ID_SIZE));
        engine_write_delete(write, &request);
    }
    arena_destroy(arena);
}

enum engine_status job_save(struct job *job)
{
    struct engine_write *write = NULL;
    enum engine_status status = engine_write_begin(job_engine(job), NULL, 0, &write);
    if (status != ENGINE_OK)
        return status;
    job_put_record(job, write);
    status = engine_write_commit_wait(write);
    if (status == ENGINE_OK)
        job->failure_count = 0;
    return status;
}

/* --- Repetition --- */

/* Drops a detail that was never stored, too: it is ahead of the position, so work that is repeated
 * would count twice. */
static void reload_detail(struct job *job, struct bytes stored)
{
    if (stored.data != NULL) {
        job_set_detail(job, stored);
        return;
    }
    free(job->detail);
    job->detail = NULL;
    job->record.detail = stored;
}

enum engine_status active_job_reload(struct job *job)
{
    struct arena *arena = arena_create();
    struct job_record stored;
    enum engine_status status = job_record_load(job_engine(job), arena, job->record.letter,
                                                bytes_from_text(job->record.id), &stored);
    if (status == ENGINE_OK) {
        job_set_position(job, stored.position);
        job_set_progress(job, &stored.progress);
        reload_detail(job, stored.detail);
        if (stored.progress.items_done > job->failed_items)
            job->failure_count = 1; /* There was success in between. */
        job->failed_items = stored.progress.items_done;
    }
    job->must_reload = status != ENGINE_OK;
    arena_destroy(arena);
    return status;
}
