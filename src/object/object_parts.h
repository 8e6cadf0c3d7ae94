/* object_parts.h -- what the files of object/ share: the two kinds of stores behind one table of
 * functions. Internal to object/. */
#ifndef STATOR_OBJECT_OBJECT_PARTS_H
#define STATOR_OBJECT_OBJECT_PARTS_H
#include <pthread.h>
#include <stdatomic.h>
#include "base/md5.h"
#include "object/object_store.h"

enum { OBJECT_BUCKET_NAME_SIZE_MAX = 255, OBJECT_KMS_KEY_SIZE_MAX = 2048 };

/* The functions of object_store.h, after object_store.c has checked the arguments. */
struct object_kind {
    bool (*check)(const struct object_store *store, char message[OBJECT_MESSAGE_MAX]);
    bool (*open)(struct object_bucket *bucket, struct object_error *err);
    void (*close)(struct object_bucket *bucket);
    void (*cancel)(struct object_bucket *bucket);
    bool (*check_key)(struct bytes key, struct object_error *err);
    bool (*put)(struct object_bucket *bucket, struct bytes key, struct bytes body,
                struct object_error *err);
    bool (*begin)(struct object_upload *upload, struct object_error *err);
    /* `digest` is the part's MD5. Parts are numbered from 1. */
    bool (*put_part)(struct object_upload *upload, uint32_t number, struct bytes part,
                     const uint8_t digest[MD5_DIGEST_SIZE], struct object_error *err);
    /* `out` is filled in; a server may know another ETag. */
    bool (*complete)(struct object_upload *upload, struct object_written *out,
                     struct object_error *err);
    void (*abort)(struct object_upload *upload);   /* Of one that was begun and not completed. */
    void (*release)(struct object_upload *upload); /* What `begin` allocated. */
    bool (*abort_uploads)(struct object_bucket *bucket, struct bytes prefix,
                          struct object_error *err);
    bool (*delete)(struct object_bucket *bucket, struct bytes key, struct object_error *err);
    bool (*stat)(struct object_bucket *bucket, struct arena *arena, struct bytes key,
                 struct object_entry *out, struct object_error *err);
    bool (*read)(struct object_bucket *bucket, struct bytes key, struct bytes etag, uint64_t offset,
                 uint8_t *out, size_t size, size_t *read_size, struct object_error *err);
    bool (*list)(struct object_bucket *bucket, struct arena *arena, struct bytes prefix,
                 struct bytes after, struct object_page *out, struct object_error *err);
};

extern const struct object_kind object_folder_kind;
extern const struct object_kind object_s3_kind;
/* False with one line for people if the endpoint is no URL that can be used. */
MUST_CHECK bool object_s3_check_endpoint(const struct object_store_options *options,
                                         char message[OBJECT_MESSAGE_MAX]);

struct object_store {
    struct object_store_options options;
    const struct object_kind *kind; /* NULL: every bucket is missing. */
};

struct object_bucket {
    struct object_store *store;
    char name[OBJECT_BUCKET_NAME_SIZE_MAX + 1];
    enum object_encryption encryption;
    char kms_key[OBJECT_KMS_KEY_SIZE_MAX + 1]; /* "": the server's default. */
    atomic_bool cancelled;
    bool (*is_cancelled)(void *context); /* As in the options. */
    void *cancel_context;
    int folder;            /* Folders only: the bucket's descriptor. */
    struct s3_session *s3; /* S3 only. */
};

struct folder_upload;
struct s3_upload;

struct object_upload {
    struct object_bucket *bucket;
    uint8_t key[OBJECT_KEY_SIZE_MAX];
    size_t key_size;
    uint8_t *part; /* Bytes that wait until a part is complete. */
    size_t part_size;
    uint32_t part_count; /* Complete ones. */
    struct md5 whole;
    struct md5 parts; /* Of the parts' hashes. */
    uint64_t size;
    bool failed;
    struct folder_upload *file; /* The kind's own. */
    struct s3_upload *s3;
};

static inline struct bytes object_upload_key(const struct object_upload *upload)
{
    return bytes_of(upload->key, upload->key_size);
}

/* By object_bucket_cancel, or by the one who is asked. */
bool object_bucket_is_cancelled(struct object_bucket *bucket);

/* Returns false. */
bool object_error_set(struct object_error *err, enum object_status status, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* The texts of the service, with ids that only look like its own: there was no request to it.
 * Returns false. */
bool object_error_set_missing_bucket(struct object_error *err);
bool object_error_set_denied(struct object_error *err);

#endif
