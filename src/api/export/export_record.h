/* export_record.h -- what an export keeps in its job's record: the request, the table as it was,
 * the moment that is exported, the files that are written and where the next one begins.
 *
 * Layout: doc/disk-format-recovery.md, "Exports".
 */
#ifndef STATOR_API_EXPORT_EXPORT_RECORD_H
#define STATOR_API_EXPORT_EXPORT_RECORD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "api/export/export_request.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/item.h"
#include "model/table_definition.h"

struct arena;
struct job_record;

enum {
    /* The request's JSON and the table's definition together. */
    EXPORT_REQUEST_SIZE_MAX = 400 * 1024,
    /* Of an export, at most EXPORT_FILE_SIZE each: about 1.7 TB. */
    EXPORT_FILES_MAX = 7000,
    EXPORT_FILE_SIZE = 256 * 1024 * 1024, /* Compressed. A larger file is cut. */
};

/* Plain bytes: stored as they are. */
struct export_file {
    uint8_t items[8]; /* Big-endian. */
    uint8_t md5[16];
    char etag[48]; /* With a NUL. */
};

struct export_detail {
    struct export_request request; /* Read from `body`. */
    struct bytes body;             /* As the client sent it. */
    struct item table_record;
    struct table_definition table; /* Of it. */
    /* Commit times: an export of the state at `to_us`, or of the changes in [from_us, to_us). */
    int64_t from_us;
    int64_t to_us;
    const struct export_file *files;
    size_t file_count;
};

/* Everything that the detail refers to lives in the arena, or in the record. False if the record's
 * detail is damaged. */
MUST_CHECK bool export_detail_decode(struct arena *arena, const struct job_record *record,
                                     struct export_detail *out);
struct bytes export_detail_encode(struct arena *arena, const struct export_detail *detail);

struct export_position {
    uint64_t partition; /* The first one that is not finished. */
    int64_t items;      /* In all files so far. */
    int64_t bytes;      /* Of these items. */
    struct bytes key;   /* The last one in the files; empty: none of this partition. */
};
/* An empty text is the beginning. */
MUST_CHECK bool export_position_decode(struct bytes text, struct export_position *out);
struct bytes export_position_encode(struct arena *arena, const struct export_position *position);

#endif
