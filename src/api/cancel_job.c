/* cancel_job.c -- see cancel_job.h. */
#include "api/cancel_job.h"
#include "api/operation.h"
#include "jobs/job_runner.h"
#include "table/storage_error.h"

bool cancel_job_ask(struct api_call *call, enum job_letter letter, struct bytes id, bool *active)
{
    struct job_runner *jobs = api_jobs(call->api);
    const struct api_options *options = api_options(call->api);
    *active = true;
    if (job_runner_is_cancelled(jobs, letter, id))
        return true;
    enum engine_status status = job_cancel_store(options->engine, options->clock, id);
    if (status == ENGINE_OK) {
        *active = job_runner_cancel(jobs, letter, id);
        if (!*active) /* It has just ended. */
            status = job_cancel_remove(options->engine, id);
    }
    return status == ENGINE_OK || storage_error_set(&call->error, status, call->operation->name);
}
