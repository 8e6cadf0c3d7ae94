/* export_job.h -- the job of an export: reads the table as it was, and writes objects.
 *
 * Data files are written one after the other; with each finished one the record says where the next
 * begins. After a crash the unfinished file is aborted and written again, under the same name. The
 * manifests come last: the presence of manifest-summary.json means that the export is complete.
 */
#ifndef STATOR_API_EXPORT_EXPORT_JOB_H
#define STATOR_API_EXPORT_EXPORT_JOB_H
#include "jobs/job_runner.h"

struct object_store;

enum {
    /* At a time; the service's. Those beyond the runner's threads wait. */
    EXPORT_JOBS_MAX = 300,
    /* Lines are gathered to so many bytes before they are compressed. */
    EXPORT_LINES_SIZE = 64 * 1024,
};

struct api;

struct export_job_options {
    struct api *api; /* Decides about access. */
    struct object_store *objects;
    const char *region, *account_id;
};
/* The options must outlive the runner. */
struct job_kind export_job_kind(struct export_job_options *options);

#endif
