/* job_runner.h -- runs long work in the background, and resumes it when the server starts again.
 *
 * A kind of job registers a function. A job is a durable record (job_record.h) that is RUNNING:
 * whoever starts one stores the record and hands it over, and at the start of the server all
 * records that still are RUNNING are taken up again. The function does the work from the record's
 * position on, stores positions as it goes, and says how it ended.
 *
 * Jobs run on a few threads, which are started with the first job; further jobs wait for their
 * turn. So a server without jobs has no thread for them. Their priority is low, so that processors
 * go to requests first; only jobs that write items in use have threads of the usual one, since
 * requests wait for their latches. A job must look at job_is_stopping at least every few hundred
 * milliseconds.
 *
 * While a job is active, i.e. from its record's storage to its end, it holds the table that it
 * reads (job_record's `source_id` and `hold_us`): the data is not removed, the history is not
 * trimmed, and a table without a history gets one. Nobody else has to add holds, also not after a
 * restart.
 *
 * Functions of the runner may be called on any thread unless they say otherwise; those of a job are
 * for the thread that runs it.
 */
#ifndef STATOR_JOBS_JOB_RUNNER_H
#define STATOR_JOBS_JOB_RUNNER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "jobs/job_record.h"

struct arena;
struct clock;
struct history_holds;
struct job;
struct job_runner;

enum {
    JOB_KINDS_MAX = 8,
    /* One job of each kind can always run; these are for further ones, of whichever kind. So long
     * jobs of one kind never keep all others waiting. */
    JOB_THREADS_SHARED = 3,
    JOB_THREADS_MAX = JOB_KINDS_MAX + JOB_THREADS_SHARED,
    /* After a failure that may pass, doubling from the first to the last. */
    JOB_RETRY_FIRST_MS = 200,
    JOB_RETRY_LAST_MS = 30 * 1000,
    JOB_NICENESS = 10, /* Of threads for jobs that write no items in use. */
    /* How often records are counted again while there are JOB_RECORDS_MAX. */
    JOB_RECOUNT_NS = 1000 * 1000 * 1000,
};

/* How a turn of a job ended. */
enum job_result {
    JOB_RESULT_COMPLETED,
    JOB_RESULT_FAILED,    /* After job_fail. */
    JOB_RESULT_CANCELLED, /* job_is_cancelled, and everything is cleaned up. */
    /* The kind stored the end itself, by job_set_end and job_put_record, in a batch of its own. */
    JOB_RESULT_STORED,
    /* Something failed that may pass: after a pause the stored record is read again, since the one
     * in memory may be ahead of it, and the function is called again. */
    JOB_RESULT_AGAIN,
    JOB_RESULT_STOPPED, /* job_is_stopping: to be resumed when the server starts again. */
};

struct job_kind {
    enum job_letter letter;
    const char *name;  /* "restore": for the log and the metrics. */
    size_t active_max; /* How many may be active at a time: job_runner_may_add. */
    /* Does the work from job_record(job)->position on. Called on a thread of the runner. */
    enum job_result (*run)(struct job *job, void *context);
    void *context;
    /* It decides about items that others use, under their latches: its threads have the usual
     * priority. Between decisions its long work gives way (base/give_way.h). */
    bool writes_items;
};

struct job_runner_options {
    struct engine *engine; /* Borrowed, like what follows. */
    const struct clock *clock;
    /* Where active jobs with a `source_id` keep that table's data, and its history from `hold_us`
     * on (history/history_holds.h). NULL: nobody keeps any. */
    struct history_holds *holds;
};

/* Loads the records of jobs that are RUNNING. NULL with the engine's status if they cannot be read.
 * Nothing runs before job_runner_start, but holds are in force. */
MUST_CHECK struct job_runner *job_runner_open(const struct job_runner_options *options,
                                              enum engine_status *status);
/* Before job_runner_start. The kind is copied. Jobs of a kind that nobody registers stay as they
 * are. */
void job_runner_register(struct job_runner *runner, const struct job_kind *kind);
void job_runner_start(struct job_runner *runner);
/* Asks every job to stop, and waits until all threads have ended. */
void job_runner_stop(struct job_runner *runner);
void job_runner_close(struct job_runner *runner); /* Was stopped or never started. NULL: allowed. */

/* --- Starting jobs: on the control thread, so that one request at a time decides --- */

/* A record with an id of its own that is RUNNING since now. The caller fills in the rest. */
struct job_record job_runner_new_record(struct job_runner *runner, enum job_letter letter);
/* The same with a creation time of the caller's choice. */
struct job_record job_runner_new_record_at(struct job_runner *runner, enum job_letter letter,
                                           int64_t created_ms);
/* How many jobs of the kind are active. */
size_t job_runner_active_count(struct job_runner *runner, enum job_letter letter);
/* Whether one more of the kind may be active. */
bool job_runner_may_add(struct job_runner *runner, enum job_letter letter);
/* Whether there are less than JOB_RECORDS_MAX records of the kind. Counts them now and then. */
MUST_CHECK enum engine_status job_runner_has_room(struct job_runner *runner, enum job_letter letter,
                                                  bool *out);
/* The newest job of the kind that was asked for with the token in the last JOB_TOKEN_LIFETIME_MS.
 * ENGINE_NOT_FOUND if there is none. Reads one record at most. */
MUST_CHECK enum engine_status job_runner_find_token(struct job_runner *runner, struct arena *arena,
                                                    enum job_letter letter, struct bytes token,
                                                    struct job_record *out);
/* Stores the record, then queues the job. */
MUST_CHECK enum engine_status job_runner_add(struct job_runner *runner, struct arena *arena,
                                             const struct job_record *record);
/* The same for a record that the caller has stored, in a batch with other things. */
void job_runner_add_stored(struct job_runner *runner, const struct job_record *record);

/* --- Looking at jobs --- */

/* False if the job is not active. The numbers are the latest, ahead of what is stored. */
bool job_runner_progress(struct job_runner *runner, enum job_letter letter, struct bytes id,
                         struct job_progress *out);
/* Asks a job to end with JOB_RESULT_CANCELLED. False if it is not active, or its end is being
 * stored. That the request is not forgotten is up to the caller: job_cancel_store comes first, and
 * job_cancel_remove after false. After true the request is removed with the end of the job. */
bool job_runner_cancel(struct job_runner *runner, enum job_letter letter, struct bytes id);
/* Whether an active job was asked to. */
bool job_runner_is_cancelled(struct job_runner *runner, enum job_letter letter, struct bytes id);

/* How many active jobs satisfy the test, which must not wait, and not call the runner. It may look
 * at what never changes: letter, id, table, source, token and request. */
size_t job_runner_count(struct job_runner *runner,
                        bool (*test)(void *context, const struct job_record *record),
                        void *context);
/* Whether any does. */
bool job_runner_any(struct job_runner *runner,
                    bool (*test)(void *context, const struct job_record *record), void *context);

struct job_kind_counts {
    const char *name;
    uint64_t active;
    uint64_t items; /* Of active jobs, done since they began. */
    uint64_t bytes;
    uint64_t completed; /* Since the server started, like what follows. */
    uint64_t failed;
    uint64_t retries;
};
/* One element for each registered kind. Returns how many. */
size_t job_runner_counts(struct job_runner *runner, struct job_kind_counts out[JOB_KINDS_MAX]);

/* --- For the functions of kinds --- */

/* As stored last, with what was set since. Valid until the function returns; setters change it. */
const struct job_record *job_record(const struct job *job);
struct engine *job_engine(const struct job *job);
const struct clock *job_clock(const struct job *job);

/* The server stops, or the job was cancelled: return soon. */
bool job_is_stopping(const struct job *job);
bool job_is_cancelled(const struct job *job);
/* The server stops, whether or not the job was cancelled: for what a cancelled one cleans up. */
bool job_is_interrupted(const struct job *job);
/* How many turns in a row ended with JOB_RESULT_AGAIN, without a job_save in between: a kind gives
 * up at some number. */
unsigned job_failure_count(const struct job *job);

/* The latest numbers. */
struct job_progress job_progress_now(const struct job *job);

/* Moves the hold of a job whose record had none yet (`hold_us` 0: from whenever the history is
 * complete), to a moment at which it is. To be saved before anything is read. */
void job_set_hold(struct job *job, int64_t at_us);
/* Setters copy, and change memory only until the next job_save or job_put_record. */
void job_set_position(struct job *job, struct bytes position);
void job_set_detail(struct job *job, struct bytes detail);
void job_set_totals(struct job *job, int64_t items, int64_t bytes);
/* Adds to the numbers. */
void job_count(struct job *job, int64_t items, int64_t bytes, int64_t errors);
/* Sets the numbers, for a job that goes back to its position. */
void job_set_progress(struct job *job, const struct job_progress *progress);
/* Why the job is about to fail: a code of the service and a sentence. */
void job_fail(struct job *job, const char *code, const char *format, ...) PRINTF_LIKE(3, 4);
/* The end that is to be stored: state and time. For JOB_RESULT_STORED. */
void job_set_end(struct job *job, enum job_state state);
void job_unset_end(struct job *job); /* It could not be stored: the job is RUNNING again. */

/* Stores the record, and waits for the disk. */
MUST_CHECK enum engine_status job_save(struct job *job);
/* The record as it is to be stored now, for a batch of somebody else. Lives in the arena. */
void job_encode_record(struct job *job, struct arena *arena, struct engine_address *address,
                       struct bytes *value);
/* A copy of the record as it is now, with a position, detail and failure of its own in the arena:
 * for whoever encodes it later, on another thread. */
struct job_record job_snapshot(struct job *job, struct arena *arena);
/* Adds the record to a write, which succeeds or the job returns JOB_RESULT_AGAIN. */
void job_put_record(struct job *job, struct engine_write *write);

#endif
