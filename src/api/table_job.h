/* table_job.h -- tables that a job makes: restores and imports.
 *
 * The table is created together with the job's record, CREATING and out of reach, and becomes
 * ACTIVE, or is dropped, in the batch that stores the job's end. So a crash at any moment leaves
 * either a job that resumes, or none and a table that is complete or gone.
 */
#ifndef STATOR_API_TABLE_JOB_H
#define STATOR_API_TABLE_JOB_H
#include <stdbool.h>
#include "base/compiler.h"
#include "jobs/job_runner.h"
#include "model/table_definition.h"

struct api;
struct api_call;
struct table;

/* Control. Whether the name is free and there is room for one more table; otherwise false with the
 * error set. */
MUST_CHECK bool table_job_check_room(struct api_call *call);
/* Control. Stores the draft, whose `origin` has a kind, and the record, then starts the job. The
 * record gets the table's name and TableId. False with call->error set if the store fails. */
MUST_CHECK bool table_job_create(struct api_call *call, struct table_definition *draft,
                                 struct job_record *record);

/* --- On the job's thread --- */

/* The table that the job makes; NULL: it is gone. The caller owes a table_release. */
struct table *table_job_find(struct api *api, const struct job *job);
/* Makes the table ACTIVE and stores the job's end in the same batch: JOB_COMPLETED, or JOB_FAILED
 * after job_fail for an import some of whose items were refused. The caller has released the table.
 * JOB_RESULT_AGAIN if the store fails. */
MUST_CHECK enum job_result table_job_end(struct api *api, struct job *job, enum job_state state);
/* Drops the table and stores the job's failure (job_fail) in the same batch; the same for a table
 * that is gone already. The caller has released the table. */
MUST_CHECK enum job_result table_job_drop(struct api *api, struct job *job);
/* The same for a job that was cancelled: JOB_CANCELLED. */
MUST_CHECK enum job_result table_job_cancel(struct api *api, struct job *job);

#endif
