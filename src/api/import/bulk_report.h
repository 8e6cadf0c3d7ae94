/* bulk_report.h -- what a bulk operation leaves in its output bucket.
 *
 *     <prefix>/AWSDynamoDB/<id>/error.json                     one line for each record refused
 *     <prefix>/AWSDynamoDB/<id>/condition-check-failure.json   one for each item not written
 *     <prefix>/AWSDynamoDB/<id>/manifest.json                  written last
 *
 * The service's layout is not known: doc/differences.md.
 */
#ifndef STATOR_API_IMPORT_BULK_REPORT_H
#define STATOR_API_IMPORT_BULK_REPORT_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "object/object_store.h"

struct arena;
struct bulk_output_request;
struct error_log;

struct bulk_report {
    struct object_store *store;
    const struct bulk_output_request *output;
    const char *id;
    struct bytes arn;
    struct error_log *errors;   /* Synced; NULL: not asked for. */
    struct error_log *refusals; /* The same. */
    uint64_t processed;
    uint64_t failed;
    bool (*is_stopping)(void *context); /* The server stops: do not wait for the bucket's. */
    void *context;
};

/* What the keys of all of them begin with: "prefix/AWSDynamoDB/". */
struct bytes bulk_report_folder(struct arena *arena, const struct bulk_output_request *output);

/* Bears repetition: objects are replaced. */
MUST_CHECK bool bulk_report_write(const struct bulk_report *report, struct object_error *err);

#endif
