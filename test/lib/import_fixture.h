/* import_fixture.h -- a database with buckets in a folder, for imports and bulk operations. */
#ifndef STATOR_TEST_IMPORT_FIXTURE_H
#define STATOR_TEST_IMPORT_FIXTURE_H
#include <stdbool.h>
#include "api_fixture.h"
#include "base/bytes.h"
#include "scratch.h"

struct import_fixture {
    struct api_fixture api;
    char root[SCRATCH_PATH_MAX];
    char buckets[SCRATCH_PATH_MAX];
    char imports[SCRATCH_PATH_MAX];
    struct object_store *store;
    char arn[1100]; /* Of the last import or operation. */
};

/* The bucket "in" and "out" are there, and empty. `options` may be NULL. */
void import_fixture_open(struct import_fixture *fixture, const struct api_options *options);
void import_fixture_close(struct import_fixture *fixture);

/* Puts an object into the bucket "in"; the key may have slashes. */
void import_fixture_put(struct import_fixture *fixture, const char *key, struct bytes content);
void import_fixture_put_text(struct import_fixture *fixture, const char *key, const char *text);
/* What a file below the fixture's folder holds, with a NUL; NULL: there is none. In the arena. */
const char *import_fixture_file(struct import_fixture *fixture, const char *path);

/* ImportTable into the table T with the key p (S), of objects in "in"; `more` are further members
 * of the request, each behind a comma. Fails the test if it is refused. */
void import_fixture_start(struct import_fixture *fixture, const char *format, const char *more);
/* Keeps the ARN that the last answer shows first. */
void import_fixture_keep_arn(struct import_fixture *fixture);
/* Calls the operation, DescribeImport or DescribeBulkOperation, until it shows no IN_PROGRESS. */
void import_fixture_wait(struct import_fixture *fixture);
/* Both. */
void import_fixture_run(struct import_fixture *fixture, const char *format, const char *more);
/* Fails the test unless the last answer shows the text, with ' for ". */
void import_fixture_shows(struct import_fixture *fixture, const char *text);

#endif
