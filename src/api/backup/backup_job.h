/* backup_job.h -- the job that makes the files of a backup, or removes those of a deleted one. */
#ifndef STATOR_API_BACKUP_BACKUP_JOB_H
#define STATOR_API_BACKUP_BACKUP_JOB_H
#include "jobs/job_runner.h"

enum {
    BACKUP_JOBS_MAX = 300, /* That are made at a time. */
    /* Deleted backups whose files are still to be removed, since the bucket cannot be reached. */
    BACKUP_REMOVALS_MAX = 1000,
    /* A store of backups that fails so often in a row fails the backup. Pauses grow up to
     * JOB_RETRY_LAST_MS, so that takes some minutes. */
    BACKUP_FAILURES_MAX = 12,
    /* How long to wait for the history of a table that has none to be opened. */
    BACKUP_HISTORY_WAIT_MS = 300,
};

/* The `run` of the kind JOB_BACKUP; the context is the api. */
enum job_result backup_job_run(struct job *job, void *context);

#endif
