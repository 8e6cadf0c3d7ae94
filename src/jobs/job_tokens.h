/* job_tokens.h -- the client tokens of recent jobs, in memory.
 *
 * A request with a token that was used within JOB_TOKEN_LIFETIME_MS repeats that job. Looking for
 * the token must not read records one by one: requests that start jobs run on the control thread.
 * So the runner keeps a digest of each recent token with the id of its job, and whoever asks loads
 * that one record and compares the token itself.
 *
 * The number of entries is bounded by JOB_RECORDS_MAX of each kind, and those that are too old are
 * freed whenever their bucket is used. The caller guards all of it by a mutex.
 */
#ifndef STATOR_JOBS_JOB_TOKENS_H
#define STATOR_JOBS_JOB_TOKENS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "jobs/job_record.h"

struct clock;
struct job_tokens;

enum { JOB_TOKEN_BUCKETS = 4096 }; /* A power of two. */

struct job_tokens *job_tokens_create(const struct clock *clock); /* Borrowed. */
void job_tokens_destroy(struct job_tokens *tokens);              /* NULL is allowed. */

/* Notes the record's token, if it has one that still counts. */
void job_tokens_add(struct job_tokens *tokens, const struct job_record *record);
/* The id of the newest job of the kind with that token. False if there is none. */
MUST_CHECK bool job_tokens_find(struct job_tokens *tokens, enum job_letter letter,
                                struct bytes token, char id[JOB_ID_SIZE + 1]);
/* For tests of the bound. */
size_t job_tokens_count(const struct job_tokens *tokens);

#endif
