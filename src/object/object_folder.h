/* object_folder.h -- names and failures of buckets that are folders. Internal to object/. */
#ifndef STATOR_OBJECT_OBJECT_FOLDER_H
#define STATOR_OBJECT_OBJECT_FOLDER_H
#include <sys/stat.h>
#include "object/object_parts.h"

/* Begins the names of files that are being written. No key has a part that begins with it. */
#define OBJECT_FOLDER_UPLOAD_PREFIX ".stator-upload-"

/* True if it may stand between two slashes of a key. */
bool object_folder_is_part(struct bytes part);
/* By errno; `key` is part of the text. Returns false. */
bool object_folder_fail(struct object_error *err, struct bytes key);

enum { OBJECT_FOLDER_ETAG_SIZE = 64 };
/* Identifies a version of a file. */
void object_folder_etag(const struct stat *state, char out[OBJECT_FOLDER_ETAG_SIZE]);

/* The kind's `list`. */
bool object_folder_list(struct object_bucket *bucket, struct arena *arena, struct bytes prefix,
                        struct bytes after, struct object_page *out, struct object_error *err);

#endif
