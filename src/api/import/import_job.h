/* import_job.h -- the job that fills the table of an ImportTable.
 *
 * The table is CREATING from the request on, and nobody else writes to it. The job reads the
 * objects in the order of their keys and puts the items by jobs/bulk_load.h; its position goes into
 * the same batches, so a restart neither misses nor repeats a record, and the counters are exact.
 * At the end the table becomes ACTIVE. If the bucket cannot be read at all the table is dropped.
 */
#ifndef STATOR_API_IMPORT_IMPORT_JOB_H
#define STATOR_API_IMPORT_IMPORT_JOB_H
#include "jobs/job_runner.h"

struct api;

enum { IMPORT_JOBS_MAX = 50 }; /* The service's. */

/* To be registered with the runner. `api` must outlive it. */
struct job_kind import_job_kind(struct api *api);

#endif
