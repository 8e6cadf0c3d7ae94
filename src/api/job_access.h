/* job_access.h -- decisions about access that a job asks for, perhaps long after its request.
 *
 * The request is asked about what it names: a table, a bucket and a prefix. What lies below a
 * prefix is known to the job only, and a policy may deny some of it. So the record of the job notes
 * who asked for it, and the job decides about each object before it reads or writes it, and about
 * each item before it shows it. As at the service, a denial ends the job, with S3AccessDenied.
 *
 * What is stored of the caller, and which policies count later: stored_caller.h.
 *
 * One thread at a time, that of the job.
 */
#ifndef STATOR_API_JOB_ACCESS_H
#define STATOR_API_JOB_ACCESS_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct api;
struct api_call;
struct item;
struct job_access;
struct job_record;
struct table;

/* Notes the call's caller, if there is one, in a record that is about to be stored. False with an
 * error: the headers of the request are larger than a record may be. */
MUST_CHECK bool job_access_note(struct api_call *call, struct job_record *record);

/* For one turn of a job. Where callers are not distinguished everything is allowed. */
struct job_access *job_access_open(struct api *api, const struct job_record *record);
void job_access_close(struct job_access *access); /* Closing NULL is allowed. */

/* Whether an action of S3 on an object is allowed: "GetObject". */
bool job_access_may_use(struct job_access *access, const char *action, struct bytes bucket,
                        struct bytes key);
/* Whether an item may be shown, as by GetItem without a projection. */
bool job_access_may_show(struct job_access *access, const struct table *table,
                         const struct item *item);

#endif
