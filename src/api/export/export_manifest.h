/* export_manifest.h -- the names and the manifests of an export's objects, as the service has them.
 */
#ifndef STATOR_API_EXPORT_EXPORT_MANIFEST_H
#define STATOR_API_EXPORT_EXPORT_MANIFEST_H
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

struct arena;
struct export_detail;
struct job_record;

struct export_names {
    const struct job_record *record;
    const struct export_detail *detail;
};

/* "<prefix>/AWSDynamoDB/", which the keys of all objects begin with. A prefix that ends in a slash
 * gets no second one: a folder has no empty names. Data NULL: there is none. */
struct bytes export_manifest_folder(struct arena *arena, struct bytes prefix);
/* "<prefix>/AWSDynamoDB/<id>/<name>" */
struct bytes export_manifest_key(struct arena *arena, const struct export_names *names,
                                 const char *name);
/* The key of the data file of that number. It follows from the export's id alone, so that a file
 * that a crash left half written is found again. Incremental exports share one folder. */
struct bytes export_manifest_data_key(struct arena *arena, const struct export_names *names,
                                      size_t number);

/* manifest-files.json: a line for each file. */
struct bytes export_manifest_files(struct arena *arena, const struct export_names *names);

struct export_summary {
    const char *region, *account_id;
    int64_t end_ms;
    int64_t item_count;
    int64_t billed_size;
};
/* manifest-summary.json: one line. */
struct bytes export_manifest_summary(struct arena *arena, const struct export_names *names,
                                     const struct export_summary *summary);
/* The content of a .md5 file: the MD5 in base64. */
struct bytes export_manifest_md5(struct arena *arena, struct bytes text);

/* "arn:aws:dynamodb:<region>:<account>:table/<table>/export/<id>" */
struct bytes export_manifest_arn(struct arena *arena, const char *region, const char *account_id,
                                 const struct job_record *record);

/* What the service bills: the size of the items, at least 10 MB of an incremental export. */
enum { EXPORT_INCREMENT_BILLED_MIN = 10000000 };

#endif
