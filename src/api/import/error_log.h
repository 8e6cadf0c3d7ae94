/* error_log.h -- the file of the records that a job could not take, one JSON text per line.
 *
 * The lines are those that the service writes to CloudWatch Logs. The file of an import is
 * `imports/<id>/error` in the data directory. The job's position has the file's size, so that a job
 * that resumes cuts off what it is about to write again: no line is missing, and none is there
 * twice. Beyond its bound the file tells only that there are more errors.
 */
#ifndef STATOR_API_IMPORT_ERROR_LOG_H
#define STATOR_API_IMPORT_ERROR_LOG_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct error_log;

enum {
    ERROR_LOG_SIZE_MAX = 64 * 1024 * 1024,
    ERROR_LOG_BUFFER_SIZE = 256 * 1024, /* Lines that wait for error_log_sync, about. */
};

struct error_line {
    struct bytes bucket;
    struct bytes key;
    uint64_t index;       /* Of the record within the object. */
    const char *arn_name; /* "importArn" */
    struct bytes arn;
    struct bytes message;
    /* Of an item whose condition was false; data NULL: none. */
    struct bytes item_json;
    struct bytes existing_json;
};

/* `folder` is that of all imports; NULL: there is no file, and lines are forgotten. Nothing is
 * created before the first line. `size`: what was there at the job's position. */
struct error_log *error_log_open(const char *folder, const char *id, const char *name,
                                 uint64_t size);
void error_log_close(struct error_log *log); /* Closing NULL is allowed. */

void error_log_add(struct error_log *log, const struct error_line *line);
/* Writes and syncs all lines. A failure is logged, and the lines are lost: the import continues. */
void error_log_sync(struct error_log *log);
/* The size with all lines that were synced. */
uint64_t error_log_size(const struct error_log *log);
/* Whether so many lines wait that they should be synced. */
bool error_log_is_full(const struct error_log *log);

/* Hands the file to `take`, piece by piece, up to error_log_size. False with errno set, or if
 * `take` returns false. */
MUST_CHECK bool error_log_read(const struct error_log *log,
                               bool (*take)(void *context, struct bytes piece), void *context);

/* Removes the files of jobs that nobody knows any more. `knows` tells by the id. */
void error_log_sweep(const char *folder, bool (*knows)(void *context, const char *id),
                     void *context);

#endif
