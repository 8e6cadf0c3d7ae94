/* cancel_job.h -- asks a job to end before its work is done. */
#ifndef STATOR_API_CANCEL_JOB_H
#define STATOR_API_CANCEL_JOB_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "jobs/job_record.h"

struct api_call;

/* What `failure_code` and `failure_message` of cancelled jobs say. */
#define CANCEL_JOB_CODE "Cancelled"
#define CANCEL_JOB_MESSAGE "The job was cancelled"

/* The request is durable before the job hears of it, so that a restart does not forget it.
 * `*active` is false if the job has just ended. False with call->error set if the store fails.
 * Waits. */
MUST_CHECK bool cancel_job_ask(struct api_call *call, enum job_letter letter, struct bytes id,
                               bool *active);

#endif
