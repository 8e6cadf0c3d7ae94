/* job_runner.c -- see job_runner.h. */
#include "jobs/job_runner.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/give_way.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/thread_priority.h"
#include "base/timed_wait.h"
#include "jobs/active_job.h"
#include "jobs/job_tokens.h"

struct kind {
    struct job_kind kind;
    size_t busy_count; /* Jobs that run now. Guarded by the runner's mutex. */
    atomic_uint_fast64_t completed, failed, retries;
};

/* How many records of a kind there are at most: those counted last, and those added since. */
struct room {
    enum job_letter letter; /* 0: not in use. */
    size_t count_max;
    int64_t counted_ns;
};

/* The threads for jobs of some kinds. A thread that has lowered its priority cannot raise it again,
 * so those that may hold latches are others. */
struct crew {
    struct job_runner *runner;
    bool writes_items;      /* As the kinds of its jobs. */
    pthread_cond_t changed; /* With the runner's mutex, which guards what follows. */
    pthread_t threads[JOB_THREADS_MAX];
    size_t thread_count;
    size_t idle_count;
};

struct job_runner {
    struct job_runner_options options;
    struct kind kinds[JOB_KINDS_MAX]; /* Fixed once it has started. */
    size_t kind_count;
    atomic_bool stopping;

    pthread_mutex_t mutex; /* Guards what follows. A leaf: nobody is called under it. */
    struct crew crews[2];  /* By `writes_items`. */
    struct job *first;     /* All active jobs, oldest first. */
    struct job_tokens *tokens;
    struct room rooms[JOB_KINDS_MAX];
    struct random random;
    bool started;
};

/* --- Running --- */

static struct kind *kind_of(struct job_runner *runner, enum job_letter letter)
{
    for (size_t i = 0; i < runner->kind_count; i++) {
        if (runner->kinds[i].kind.letter == letter)
            return &runner->kinds[i];
    }
    return NULL;
}

static struct crew *crew_of(struct job_runner *runner, const struct kind *kind)
{
    return &runner->crews[kind->kind.writes_items];
}

/* Stores the end of a job. Until that succeeds the job is tried again. */
static enum job_result store_end(struct job *job, struct kind *kind, enum job_state state)
{
    if (!job->end_pending)
        job_set_end(job, state);
    enum engine_status status = job_save(job);
    job->end_pending = status != ENGINE_OK;
    if (status == ENGINE_OK)
        return JOB_RESULT_STORED;
    log_write(LOG_ERROR, "jobs", "%s %s: its end cannot be stored: %s", kind->kind.name,
              job->record.id, engine_status_name(status));
    return JOB_RESULT_AGAIN;
}

static enum job_result run_turn(struct job *job, struct kind *kind)
{
    if (job->end_pending)
        return store_end(job, kind, job->record.state);
    if (job->must_reload && active_job_reload(job) != ENGINE_OK)
        return JOB_RESULT_AGAIN;
    enum job_result result = kind->kind.run(job, kind->kind.context);
    switch (result) {
    case JOB_RESULT_COMPLETED:
        return store_end(job, kind, JOB_COMPLETED);
    case JOB_RESULT_FAILED:
        assert(job->failure_code != NULL);
        return store_end(job, kind, JOB_FAILED);
    case JOB_RESULT_CANCELLED:
        return store_end(job, kind, JOB_CANCELLED);
    case JOB_RESULT_STORED:
        assert(job->record.state != JOB_RUNNING);
        return result;
    case JOB_RESULT_AGAIN:
    case JOB_RESULT_STOPPED:
        return result;
    }
    return result;
}

static void report_end(const struct job *job, struct kind *kind)
{
    const struct job_record *record = &job->record;
    if (record->state == JOB_FAILED) {
        atomic_fetch_add(&kind->failed, 1);
        log_write(LOG_WARN, "jobs", "%s %s of table %.*s failed: %s: %s", kind->kind.name,
                  record->id, BYTES_FMT(record->table_name),
                  job->failure_code == NULL ? "" : job->failure_code,
                  job->failure_message == NULL ? "" : job->failure_message);
        return;
    }
    atomic_fetch_add(&kind->completed, 1);
    log_write(LOG_INFO, "jobs", "%s %s of table %.*s: %s after %lld items", kind->kind.name,
              record->id, BYTES_FMT(record->table_name), job_state_name(record->state),
              (long long)job_progress_now(job).items_done);
}

static int64_t retry_ms(unsigned failure_count)
{
    int64_t wait_ms = JOB_RETRY_FIRST_MS;
    for (unsigned i = 1; i < failure_count && wait_ms < JOB_RETRY_LAST_MS; i++)
        wait_ms *= 2;
    return wait_ms < JOB_RETRY_LAST_MS ? wait_ms : JOB_RETRY_LAST_MS;
}

static void remove_locked(struct job_runner *runner, struct job *job)
{
    struct job **link = &runner->first;
    while (*link != job)
        link = &(*link)->next;
    *link = job->next;
}

/* Whether a thread may run another job of a kind. */
static bool has_thread_locked(const struct job_runner *runner, const struct kind *wanted)
{
    size_t shared_count = 0;
    for (size_t i = 0; i < runner->kind_count; i++)
        shared_count += runner->kinds[i].busy_count > 1 ? runner->kinds[i].busy_count - 1 : 0;
    return wanted->busy_count == 0 || shared_count < JOB_THREADS_SHARED;
}

/* The crew's next job that is due and may run, or NULL with the milliseconds until one is. */
static struct job *take_due_locked(const struct crew *crew, int64_t *wait_ms)
{
    struct job_runner *runner = crew->runner;
    int64_t now_ns = clock_monotonic_ns();
    *wait_ms = TIMED_WAIT_FOREVER;
    for (struct job *job = runner->first; job != NULL; job = job->next) {
        const struct kind *kind = kind_of(runner, job->record.letter);
        if (job->phase != JOB_WAITING || kind == NULL || crew_of(runner, kind) != crew ||
            !has_thread_locked(runner, kind))
            continue; /* The thread that ends a job looks for the next one. */
        if (job->due_ns <= now_ns)
            return job;
        *wait_ms = timed_wait_sooner(*wait_ms, (job->due_ns - now_ns) / 1000000 + 1);
    }
    return NULL;
}

static void run_job(struct job_runner *runner, struct job *job)
{
    struct kind *kind = kind_of(runner, job->record.letter);
    assert(kind != NULL); /* take_due_locked leaves out jobs of unknown kinds. */
    enum job_result result = run_turn(job, kind);
    bool over = result == JOB_RESULT_STORED;
    if (over)
        report_end(job, kind);
    if (result == JOB_RESULT_AGAIN) {
        job->failure_count++;
        job->must_reload = true;
        atomic_fetch_add(&kind->retries, 1);
    }
    pthread_mutex_lock(&runner->mutex);
    kind->busy_count--;
    job->phase = JOB_WAITING;
    if (result == JOB_RESULT_AGAIN)
        job->due_ns = clock_monotonic_ns() + retry_ms(job->failure_count) * 1000000;
    if (over)
        remove_locked(runner, job);
    pthread_mutex_unlock(&runner->mutex);
    if (over)
        active_job_destroy(job);
}

/* An idle thread of each crew, since the job that has ended may have kept back one of either. */
static void signal_crews_locked(struct job_runner *runner)
{
    for (size_t i = 0; i < COUNT_OF(runner->crews); i++)
        pthread_cond_signal(&runner->crews[i].changed);
}

static void *thread_main(void *context)
{
    struct crew *crew = context;
    struct job_runner *runner = crew->runner;
    pthread_setname_np(pthread_self(), "stator:jobs"); /* For tests of crashes, and people. */
    if (crew->writes_items)
        give_way_set(true);
    else
        thread_priority_lower(JOB_NICENESS);
    pthread_mutex_lock(&runner->mutex);
    while (!atomic_load(&runner->stopping)) {
        int64_t wait_ms;
        struct job *job = take_due_locked(crew, &wait_ms);
        if (job == NULL) {
            crew->idle_count++;
            timed_wait(&crew->changed, &runner->mutex, wait_ms);
            crew->idle_count--;
            continue;
        }
        struct kind *kind = kind_of(runner, job->record.letter);
        assert(kind != NULL);
        job->phase = JOB_BUSY;
        kind->busy_count++;
        pthread_cond_signal(&crew->changed); /* Another one waits for what is due later. */
        pthread_mutex_unlock(&runner->mutex);
        run_job(runner, job);
        pthread_mutex_lock(&runner->mutex);
        signal_crews_locked(runner);
    }
    pthread_mutex_unlock(&runner->mutex);
    return NULL;
}

/* Makes sure that somebody looks at a new job: an idle thread, or one more. The caller has the
 * usual priority, which a new thread inherits. */
static void wake_locked(struct job_runner *runner, const struct kind *new_kind)
{
    size_t waiting_count = 0;
    if (!runner->started || atomic_load(&runner->stopping) || new_kind == NULL)
        return;
    struct crew *crew = crew_of(runner, new_kind);
    pthread_cond_signal(&crew->changed);
    for (const struct job *job = runner->first; job != NULL; job = job->next) {
        const struct kind *kind = kind_of(runner, job->record.letter);
        waiting_count += job->phase == JOB_WAITING && kind != NULL && crew_of(runner, kind) == crew;
    }
    if (waiting_count <= crew->idle_count || crew->thread_count == JOB_THREADS_MAX)
        return;
    if (pthread_create(&crew->threads[crew->thread_count], NULL, thread_main, crew) == 0)
        crew->thread_count++;
    else if (crew->thread_count == 0)
        log_write(LOG_ERROR, "jobs", "cannot start a thread: jobs wait for the next one");
}

/* --- The runner --- */

static bool load_record(void *context, const struct job_record *record)
{
    struct job_runner *runner = context;
    if (record->state == JOB_RUNNING)
        job_runner_add_stored(runner, record);
    else
        job_tokens_add(runner->tokens, record);
    return true;
}

/* Jobs that were to be cancelled when the server ended. */
static enum engine_status load_cancels(struct job_runner *runner)
{
    enum engine_status status = ENGINE_OK;
    for (struct job *job = runner->first; job != NULL && status == ENGINE_OK; job = job->next) {
        bool cancelled = false;
        status = job_cancel_find(runner->options.engine, bytes_of(job->record.id, JOB_ID_SIZE),
                                 &cancelled);
        atomic_store(&job->cancelled, cancelled);
    }
    return status;
}

struct job_runner *job_runner_open(const struct job_runner_options *options,
                                   enum engine_status *status)
{
    static const enum job_letter letters[] = { JOB_BACKUP, JOB_EXPORT,  JOB_IMPORT,
                                               JOB_BULK,   JOB_RESTORE, JOB_MODEL_SCAN };
    struct job_runner *runner = memory_checked(calloc(1, sizeof *runner));
    runner->options = *options;
    pthread_mutex_init(&runner->mutex, NULL);
    for (size_t i = 0; i < COUNT_OF(runner->crews); i++) {
        runner->crews[i] = (struct crew){ .runner = runner, .writes_items = i == 1 };
        timed_wait_init(&runner->crews[i].changed);
    }
    random_init_from_system(&runner->random);
    runner->tokens = job_tokens_create(options->clock);
    *status = ENGINE_OK;
    for (size_t i = 0; i < COUNT_OF(letters) && *status == ENGINE_OK; i++)
        *status = job_record_visit(
            options->engine, &(struct job_record_query){
                                 .letter = letters[i], .visit = load_record, .context = runner });
    if (*status == ENGINE_OK)
        *status = load_cancels(runner);
    if (*status == ENGINE_OK)
        return runner;
    job_runner_close(runner);
    return NULL;
}

void job_runner_register(struct job_runner *runner, const struct job_kind *kind)
{
    assert(!runner->started && runner->kind_count < JOB_KINDS_MAX && kind->run != NULL);
    assert(kind_of(runner, kind->letter) == NULL);
    runner->kinds[runner->kind_count++].kind = *kind;
}

void job_runner_start(struct job_runner *runner)
{
    pthread_mutex_lock(&runner->mutex);
    assert(!runner->started);
    runner->started = true;
    for (const struct job *job = runner->first; job != NULL; job = job->next)
        wake_locked(runner, kind_of(runner, job->record.letter));
    pthread_mutex_unlock(&runner->mutex);
}

void job_runner_stop(struct job_runner *runner)
{
    pthread_mutex_lock(&runner->mutex);
    atomic_store(&runner->stopping, true);
    for (size_t i = 0; i < COUNT_OF(runner->crews); i++)
        pthread_cond_broadcast(&runner->crews[i].changed);
    pthread_mutex_unlock(&runner->mutex);
    for (size_t i = 0; i < COUNT_OF(runner->crews); i++) {
        struct crew *crew = &runner->crews[i]; /* No thread is added any more. */
        for (size_t j = 0; j < crew->thread_count; j++)
            pthread_join(crew->threads[j], NULL);
        crew->thread_count = 0;
    }
}

void job_runner_close(struct job_runner *runner)
{
    if (runner == NULL)
        return;
    assert(runner->crews[0].thread_count == 0 && runner->crews[1].thread_count == 0);
    while (runner->first != NULL) {
        struct job *job = runner->first;
        runner->first = job->next;
        active_job_destroy(job);
    }
    job_tokens_destroy(runner->tokens);
    for (size_t i = 0; i < COUNT_OF(runner->crews); i++)
        pthread_cond_destroy(&runner->crews[i].changed);
    pthread_mutex_destroy(&runner->mutex);
    free(runner);
}

/* --- Starting jobs --- */

struct job_record job_runner_new_record_at(struct job_runner *runner, enum job_letter letter,
                                           int64_t created_ms)
{
    const struct clock *clock = runner->options.clock;
    struct job_record record = { .letter = letter,
                                 .state = JOB_RUNNING,
                                 .created_ms = created_ms,
                                 .created_server_ms = clock_server_ms(clock) };
    uint32_t salt = 0;
    pthread_mutex_lock(&runner->mutex);
    while (salt == 0) /* Those of SYSTEM backups. */
        salt = (uint32_t)random_next(&runner->random);
    pthread_mutex_unlock(&runner->mutex);
    job_record_make_id(record.created_ms, salt, record.id);
    return record;
}

struct job_record job_runner_new_record(struct job_runner *runner, enum job_letter letter)
{
    return job_runner_new_record_at(runner, letter, clock_wall_ms(runner->options.clock));
}

size_t job_runner_active_count(struct job_runner *runner, enum job_letter letter)
{
    size_t count = 0;
    pthread_mutex_lock(&runner->mutex);
    for (const struct job *job = runner->first; job != NULL; job = job->next)
        count += job->record.letter == letter;
    pthread_mutex_unlock(&runner->mutex);
    return count;
}

bool job_runner_may_add(struct job_runner *runner, enum job_letter letter)
{
    const struct kind *kind = kind_of(runner, letter);
    return kind != NULL && job_runner_active_count(runner, letter) < kind->kind.active_max;
}

static struct room *find_room_locked(struct job_runner *runner, enum job_letter letter)
{
    size_t i = 0;
    while (i + 1 < JOB_KINDS_MAX && runner->rooms[i].letter != 0 &&
           runner->rooms[i].letter != letter)
        i++;
    struct room *room = &runner->rooms[i];
    assert(room->letter == 0 || room->letter == letter); /* There are fewer kinds than rooms. */
    if (room->letter == 0)
        *room = (struct room){ .letter = letter, .count_max = JOB_RECORDS_MAX };
    return room;
}

enum engine_status job_runner_has_room(struct job_runner *runner, enum job_letter letter, bool *out)
{
    int64_t now_ns = clock_monotonic_ns();
    size_t count;
    pthread_mutex_lock(&runner->mutex);
    const struct room *room = find_room_locked(runner, letter);
    bool known = room->count_max < JOB_RECORDS_MAX ||
                 (room->counted_ns != 0 && now_ns - room->counted_ns < JOB_RECOUNT_NS);
    *out = room->count_max < JOB_RECORDS_MAX;
    pthread_mutex_unlock(&runner->mutex);
    if (known)
        return ENGINE_OK;
    enum engine_status status = job_record_count(runner->options.engine, letter, &count);
    if (status != ENGINE_OK)
        return status;
    pthread_mutex_lock(&runner->mutex);
    *find_room_locked(runner, letter) =
        (struct room){ .letter = letter, .count_max = count, .counted_ns = now_ns };
    pthread_mutex_unlock(&runner->mutex);
    *out = count < JOB_RECORDS_MAX;
    return ENGINE_OK;
}

enum engine_status job_runner_find_token(struct job_runner *runner, struct arena *arena,
                                         enum job_letter letter, struct bytes token,
                                         struct job_record *out)
{
    char id[JOB_ID_SIZE + 1];
    pthread_mutex_lock(&runner->mutex);
    bool found = job_tokens_find(runner->tokens, letter, token, id);
    pthread_mutex_unlock(&runner->mutex);
    if (!found)
        return ENGINE_NOT_FOUND;
    enum engine_status status =
        job_record_load(runner->options.engine, arena, letter, bytes_of(id, JOB_ID_SIZE), out);
    return status == ENGINE_OK && !bytes_equal(out->token, token) ? ENGINE_NOT_FOUND : status;
}

void job_runner_add_stored(struct job_runner *runner, const struct job_record *record)
{
    struct job *job =
        active_job_create(&runner->options, &runner->mutex, &runner->stopping, record);
    pthread_mutex_lock(&runner->mutex);
    struct job **link = &runner->first;
    while (*link != NULL)
        link = &(*link)->next;
    *link = job;
    job_tokens_add(runner->tokens, record);
    struct room *room = find_room_locked(runner, record->letter);
    room->count_max++;
    wake_locked(runner, kind_of(runner, record->letter));
    pthread_mutex_unlock(&runner->mutex);
}

enum engine_status job_runner_add(struct job_runner *runner, struct arena *arena,
                                  const struct job_record *record)
{
    enum engine_status status = job_record_store(runner->options.engine, arena, record);
    if (status == ENGINE_OK)
        job_runner_add_stored(runner, record);
    return status;
}

/* --- Looking at jobs --- */

static struct job *find_locked(struct job_runner *runner, enum job_letter letter, struct bytes id)
{
    for (struct job *job = runner->first; job != NULL; job = job->next) {
        if (job->record.letter == letter && bytes_equal_text(id, job->record.id))
            return job;
    }
    return NULL;
}

bool job_runner_progress(struct job_runner *runner, enum job_letter letter, struct bytes id,
                         struct job_progress *out)
{
    pthread_mutex_lock(&runner->mutex);
    const struct job *job = find_locked(runner, letter, id);
    if (job != NULL)
        *out = job_progress_now(job);
    pthread_mutex_unlock(&runner->mutex);
    return job != NULL;
}

bool job_runner_is_cancelled(struct job_runner *runner, enum job_letter letter, struct bytes id)
{
    pthread_mutex_lock(&runner->mutex);
    const struct job *job = find_locked(runner, letter, id);
    bool cancelled = job != NULL && job_is_cancelled(job);
    pthread_mutex_unlock(&runner->mutex);
    return cancelled;
}

bool job_runner_cancel(struct job_runner *runner, enum job_letter letter, struct bytes id)
{
    pthread_mutex_lock(&runner->mutex);
    struct job *job = find_locked(runner, letter, id);
    bool active = job != NULL && !job->ending;
    if (active) {
        atomic_store(&job->cancelled, true);
        job->due_ns = 0;
        signal_crews_locked(runner);
    }
    pthread_mutex_unlock(&runner->mutex);
    return active;
}

size_t job_runner_count(struct job_runner *runner,
                        bool (*test)(void *context, const struct job_record *record), void *context)
{
    size_t count = 0;
    pthread_mutex_lock(&runner->mutex);
    for (const struct job *job = runner->first; job != NULL; job = job->next)
        count += test(context, &job->record);
    pthread_mutex_unlock(&runner->mutex);
    return count;
}

bool job_runner_any(struct job_runner *runner,
                    bool (*test)(void *context, const struct job_record *record), void *context)
{
    return job_runner_count(runner, test, context) > 0;
}

size_t job_runner_counts(struct job_runner *runner, struct job_kind_counts out[JOB_KINDS_MAX])
{
    for (size_t i = 0; i < runner->kind_count; i++) {
        struct kind *kind = &runner->kinds[i];
        out[i] = (struct job_kind_counts){ .name = kind->kind.name,
                                           .completed = atomic_load(&kind->completed),
                                           .failed = atomic_load(&kind->failed),
                                           .retries = atomic_load(&kind->retries) };
    }
    pthread_mutex_lock(&runner->mutex);
    for (const struct job *job = runner->first; job != NULL; job = job->next) {
        const struct kind *kind = kind_of(runner, job->record.letter);
        if (kind == NULL)
            continue;
        struct job_kind_counts *counts = &out[kind - runner->kinds];
        counts->active++;
        const struct job_progress progress = job_progress_now(job);
        counts->items += (uint64_t)progress.items_done;
        counts->bytes += (uint64_t)progress.bytes_done;
    }
    pthread_mutex_unlock(&runner->mutex);
    return runner->kind_count;
}
