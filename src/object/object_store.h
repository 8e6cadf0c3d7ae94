/* object_store.h -- objects in buckets: those of an S3 server, or folders of this machine.
 *
 * Exports and backups are written here, imports read from here. There are two kinds of stores
 * behind the same calls. Below a folder, a bucket is a sub-folder that somebody has made, and an
 * object is a file: written beside its place, synced, and renamed. At an S3 server, an object is
 * uploaded in parts, and failed requests are repeated with growing pauses for a bounded time.
 * Without either, every bucket is missing.
 *
 * All calls may wait for the disk or the network for a long time, so they belong on threads of
 * jobs, never on loops. A store may be shared by threads. A bucket is one thread's, except that any
 * thread may cancel it.
 *
 * An object appears whole or not at all. What an upload that ended early left behind is removed by
 * object_abort_uploads.
 */
#ifndef STATOR_OBJECT_OBJECT_STORE_H
#define STATOR_OBJECT_OBJECT_STORE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct clock;
struct object_bucket;
struct object_store;
struct object_upload;
struct outbound;

enum {
    OBJECT_KEY_SIZE_MAX = 1024,     /* S3's. */
    OBJECT_KEY_PART_SIZE_MAX = 255, /* Between two slashes; folders only, as the next one. */
    OBJECT_KEY_DEPTH_MAX = 64,
    OBJECT_PART_SIZE = 8 * 1024 * 1024, /* Of an upload. The last one may be smaller. */
    OBJECT_PARTS_MAX = 10000,           /* S3's: an object has at most 78 GiB. */
    OBJECT_PAGE_ENTRIES_MAX = 1000,
    OBJECT_ETAG_SIZE_MAX = 128,
    OBJECT_RETRY_MS = 5 * 60 * 1000, /* For how long a request is repeated. */
    OBJECT_MESSAGE_MAX = 4352,       /* A path and a few words. */
    OBJECT_ERROR_TEXT_MAX = 1024,
};

/* --- Failures --- */

enum object_status {
    OBJECT_OK,
    OBJECT_NO_BUCKET,
    OBJECT_DENIED, /* Also: the bucket is not the named owner's. */
    OBJECT_NO_KEY, /* There is no such object. */
    OBJECT_BAD_KEY,
    OBJECT_CHANGED, /* It is another version than the one asked for. */
    OBJECT_FULL,
    OBJECT_NO_KMS_KEY,  /* The S3 server cannot encrypt with the key that was named. */
    OBJECT_UNREACHABLE, /* The S3 server did not answer, or was too busy, until time was up. */
    OBJECT_CANCELLED,
    OBJECT_FAILED, /* Anything else: the text tells. */
};

struct object_error {
    enum object_status status;
    /* For people, in the words of the service where it has some: "The specified bucket does not
     * exist (Service: Amazon S3; Status Code: 404; ...". Never names credentials. */
    char text[OBJECT_ERROR_TEXT_MAX];
};

/* The code of a job that failed by it: "S3NoSuchBucket", "S3AccessDenied", and codes of our own in
 * the same style. */
const char *object_failure_code(enum object_status status);

/* --- Stores --- */

struct object_store_options {
    const char *folder;   /* Buckets are its sub-folders. NULL or "": none. */
    const char *endpoint; /* "https://host:port", instead of a folder. NULL or "": none. */
    const char *region;   /* Of the endpoint. */
    /* The endpoint's credentials in the format of AWS's tools, the profile "default":
     * aws_access_key_id, aws_secret_access_key and perhaps aws_session_token. Only its owner may
     * read it. It is read with each bucket that is opened, so that keys can be replaced. */
    const char *key_file;
    const char *account;       /* The owner of all buckets. NULL: no owner is checked. */
    struct outbound *outbound; /* With an endpoint. */
    const struct clock *clock;
    int64_t retry_ms; /* 0: OBJECT_RETRY_MS */
    size_t part_size; /* 0: OBJECT_PART_SIZE; tests take less. */
};

/* The texts must outlive it. NULL with one line for people if the options contradict each other, or
 * the URL cannot be used. A folder, endpoint or key file that is missing is no reason: buckets are
 * missing until it is there. */
MUST_CHECK struct object_store *object_store_open(const struct object_store_options *options,
                                                  char message[OBJECT_MESSAGE_MAX]);
/* After its last bucket was closed. Closing NULL is allowed. */
void object_store_close(struct object_store *store);
/* True if what it is configured with can be used now: the folder can be listed, the key file can be
 * read. False with one line for people. Sends nothing. */
MUST_CHECK bool object_store_check(const struct object_store *store,
                                   char message[OBJECT_MESSAGE_MAX]);

/* --- Buckets --- */

enum object_encryption { OBJECT_ENCRYPTION_NONE, OBJECT_ENCRYPTION_AES256, OBJECT_ENCRYPTION_KMS };

struct object_bucket_options {
    struct bytes name;
    struct bytes owner; /* An account; data NULL: any. */
    /* What to ask the S3 server for. Folders are as encrypted as their disk. */
    enum object_encryption encryption;
    struct bytes kms_key; /* data NULL: the server's default. */
    /* Asked now and then by calls that wait, on the thread that made them: true cancels the bucket,
     * as object_bucket_cancel does. NULL: nobody is asked. */
    bool (*is_cancelled)(void *context);
    void *cancel_context;
};

/* Copies the options. With an S3 server nothing is sent before the first call that follows. NULL
 * with OBJECT_NO_BUCKET, OBJECT_DENIED or OBJECT_FAILED. */
MUST_CHECK struct object_bucket *object_bucket_open(struct object_store *store,
                                                    const struct object_bucket_options *options,
                                                    struct object_error *err);
/* Closing NULL is allowed. Its uploads were finished or aborted. */
void object_bucket_close(struct object_bucket *bucket);
/* Any thread. A call that waits ends soon with OBJECT_CANCELLED, and so do all later ones. */
void object_bucket_cancel(struct object_bucket *bucket);

/* --- Writing. Each object replaces one of the same key. --- */

/* A small object, in one request. */
MUST_CHECK bool object_put(struct object_bucket *bucket, struct bytes key, struct bytes body,
                           struct object_error *err);

/* A large object, part by part. NULL if it cannot be begun. One at a time for a bucket. */
MUST_CHECK struct object_upload *object_upload_begin(struct object_bucket *bucket, struct bytes key,
                                                     struct object_error *err);
/* After a failure the upload can only be aborted. */
MUST_CHECK bool object_upload_write(struct object_upload *upload, struct bytes data,
                                    struct object_error *err);

struct object_written {
    uint64_t size;
    uint8_t md5[16]; /* Of the whole content. */
    /* As S3 computes it for uploads in parts, whatever the kind of the store: the MD5 of the parts'
     * MD5s, a hyphen, and their number. */
    char etag[48];
};
/* The object is there, durable, when it returns true. In either case the upload is gone. */
MUST_CHECK bool object_upload_finish(struct object_upload *upload, struct object_written *out,
                                     struct object_error *err);
/* Leaves nothing behind, unless the server cannot be reached. Aborting NULL is allowed. */
void object_upload_abort(struct object_upload *upload);

/* Removes what uploads of earlier runs have left: of all objects of a folder if `prefix` ends with
 * a slash, otherwise of the object that has this key. Nobody may be uploading such an object. */
MUST_CHECK bool object_abort_uploads(struct object_bucket *bucket, struct bytes prefix,
                                     struct object_error *err);

/* An object that is missing already is fine. */
MUST_CHECK bool object_delete(struct object_bucket *bucket, struct bytes key,
                              struct object_error *err);

/* --- Reading --- */

struct object_entry {
    struct bytes key;
    uint64_t size;
    struct bytes etag; /* Another one if the content was replaced; otherwise opaque. */
};

/* False with OBJECT_NO_KEY if there is none. */
MUST_CHECK bool object_stat(struct object_bucket *bucket, struct arena *arena, struct bytes key,
                            struct object_entry *out, struct object_error *err);

/* Reads up to `size` bytes at `offset`; fewer only at the object's end. False with OBJECT_CHANGED
 * if its ETag is not `etag`; data NULL: whatever it is. */
MUST_CHECK bool object_read(struct object_bucket *bucket, struct bytes key, struct bytes etag,
                            uint64_t offset, uint8_t *out, size_t size, size_t *read_size,
                            struct object_error *err);

struct object_page {
    struct object_entry *entries; /* At most OBJECT_PAGE_ENTRIES_MAX, by the bytes of their keys. */
    size_t count;
    bool more; /* Another page follows: list again after the last key. */
};
/* The objects whose keys begin with `prefix`, which may end anywhere, and are after `after`. They
 * live in the arena. Names that cannot be keys, and links, are left out. */
MUST_CHECK bool object_list(struct object_bucket *bucket, struct arena *arena, struct bytes prefix,
                            struct bytes after, struct object_page *out, struct object_error *err);

#endif
