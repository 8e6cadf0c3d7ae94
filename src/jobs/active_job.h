/* active_job.h -- a job that is active: its record in memory, with what has changed since it was
 * stored last.
 *
 * For job_runner.c alone, which decides when a job runs. What kinds of jobs may do with theirs is
 * in job_runner.h ("For the functions of kinds"); active_job.c does that, too.
 */
#ifndef STATOR_JOBS_ACTIVE_JOB_H
#define STATOR_JOBS_ACTIVE_JOB_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"
#include "jobs/job_record.h"

struct arena;
struct job_runner_options;

enum job_phase { JOB_WAITING, JOB_BUSY };

struct job {
    const struct job_runner_options *options; /* The runner's, like the next two. */
    pthread_mutex_t *mutex;
    const atomic_bool *stopping;
    struct job *next; /* Guarded by `mutex`, like the next three. */
    enum job_phase phase;
    int64_t due_ns; /* JOB_WAITING: not before this, by clock_monotonic_ns. */
    bool ending;    /* The end is being stored, or was: it cannot be cancelled any more. */
    atomic_bool cancelled;

    /* What follows belongs to the thread that runs the job; the numbers are read by others. */
    struct arena *arena;      /* Holds what `record` borrows, but for the next two. */
    struct job_record record; /* `letter`, `id`, `source_id` and `hold_us` never change. */
    uint8_t *position;        /* JOB_POSITION_SIZE_MAX. */
    uint8_t *detail;          /* NULL: the one in the arena. */
    char *failure_code;
    char *failure_message;
    _Atomic int64_t items_done, items_total, bytes_done, bytes_total, error_count;
    unsigned failure_count;
    uint64_t hold;        /* Of the runner's holds; 0: none. */
    int64_t failed_items; /* How many items were done at the last failure. */
    bool must_reload;     /* A turn failed: what is in memory may be ahead of what is stored. */
    bool end_pending;     /* The end is known and could not be stored yet. */
};

/* Copies the record, which is RUNNING, and holds the table that it names. The other arguments are
 * borrowed: `mutex` guards the fields above, and `stopping` becomes true when the server stops. */
struct job *active_job_create(const struct job_runner_options *options, pthread_mutex_t *mutex,
                              const atomic_bool *stopping, const struct job_record *record);
/* Releases the hold as well. Nobody else may know the job any more. */
void active_job_destroy(struct job *job);
/* Goes back to the stored record after a turn that failed. */
MUST_CHECK enum engine_status active_job_reload(struct job *job);

#endif
