/* bulk_job.h -- the job of StartBulkPutItems: puts the items of objects into a table in use.
 *
 * Items go through txn/ (bulk_write.h), position and counters with them. Records that cannot be
 * taken, and items whose condition was false, are noted in files beside those of imports and
 * uploaded with a manifest at the end. After a crash the notes about false conditions of the last
 * batch may be missing; everything else is exact.
 */
#ifndef STATOR_API_IMPORT_BULK_JOB_H
#define STATOR_API_IMPORT_BULK_JOB_H
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "jobs/job_runner.h"

struct api;
struct arena;

enum { BULK_JOBS_MAX = 50 };

struct job_kind bulk_job_kind(struct api *api);

/* How many bytes were put, as a record's position tells. */
struct bulk_usage {
    uint64_t table_bytes;
    uint64_t index_bytes;
};
struct bulk_usage bulk_job_usage(const struct job_record *record);
/* "<table's ARN>/bulk-operation/<id>" */
struct bytes bulk_job_arn(struct arena *arena, struct api *api, const struct job_record *record);

#endif
