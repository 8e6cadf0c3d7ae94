/* restore_job.h -- the job that fills a restored table, from a backup or from a table's history. */
#ifndef STATOR_API_BACKUP_RESTORE_JOB_H
#define STATOR_API_BACKUP_RESTORE_JOB_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "jobs/job_runner.h"
#include "model/table_definition.h"

struct arena;

enum {
    RESTORE_JOBS_MAX = 50, /* The service's own bound on restores at a time. */
    /* A source that cannot be read so often in a row fails the restore, which removes its table:
     * after some minutes, since pauses grow up to JOB_RETRY_LAST_MS. */
    RESTORE_FAILURES_MAX = 12,
};

/* Where the items come from; the `detail` of the job's record. */
struct restore_detail {
    struct bytes backup_id; /* Data NULL: from the history of a table. */
    struct bytes record;    /* The source's record, at the time of the request. */
};
struct bytes restore_detail_encode(struct arena *arena, const struct restore_detail *detail);
MUST_CHECK bool restore_detail_decode(struct arena *arena, const struct job_record *record,
                                      struct restore_detail *out);

/* The `run` of the kind JOB_RESTORE; the context is the api. */
enum job_result restore_job_run(struct job *job, void *context);

#endif
