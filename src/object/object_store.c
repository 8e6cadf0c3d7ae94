/* object_store.c -- see object_store.h: what both kinds of stores have in common. */
#include "object/object_store.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/random.h"
#include "json/utf8.h"
#include "object/object_parts.h"

static bool is_empty(const char *text)
{
    return text == NULL || text[0] == '\0';
}

/* --- Failures --- */

/* What an S3 server says need not be UTF-8, and is shown in JSON and in the log. */
static void clean_text(char *text)
{
    uint8_t *at = (uint8_t *)text;
    const uint8_t *end = at + strlen(text);
    while (at < end) {
        size_t size = *at < 0x80 ? 1 : utf8_size(at, end);
        if (size == 0 || *at < 0x20 || *at == 0x7F)
            *at = '?';
        at += size == 0 ? 1 : size;
    }
}

bool object_error_set(struct object_error *err, enum object_status status, const char *format, ...)
{
    va_list arguments;
    assert(status != OBJECT_OK);
    err->status = status;
    va_start(arguments, format);
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    clean_text(err->text);
    return false;
}

/* Tools show the ids of S3's requests, so a failure has some even if no request was sent. */
static bool set_service_error(struct object_error *err, enum object_status status,
                              const char *message, int http_status, const char *code)
{
    struct random random;
    random_init_from_system(&random);
    return object_error_set(err, status,
                            "%s (Service: Amazon S3; Status Code: %d; Error Code: %s; Request ID: "
                            "%016llX; S3 Extended Request ID: %016llX%016llX; Proxy: null)",
                            message, http_status, code, (unsigned long long)random_next(&random),
                            (unsigned long long)random_next(&random),
                            (unsigned long long)random_next(&random));
}

bool object_error_set_missing_bucket(struct object_error *err)
{
    return set_service_error(err, OBJECT_NO_BUCKET, "The specified bucket does not exist", 404,
                             "NoSuchBucket");
}

bool object_error_set_denied(struct object_error *err)
{
    return set_service_error(err, OBJECT_DENIED, "Access Denied", 403, "AccessDenied");
}

const char *object_failure_code(enum object_status status)
{
    switch (status) {
    case OBJECT_NO_BUCKET:
        return "S3NoSuchBucket";
    case OBJECT_DENIED:
        return "S3AccessDenied";
    case OBJECT_NO_KEY:
        return "S3NoSuchKey";
    case OBJECT_BAD_KEY:
        return "S3InvalidKey";
    case OBJECT_CHANGED:
        return "ObjectModifiedInS3DuringImport";
    case OBJECT_FULL:
        return "S3NoSpace";
    case OBJECT_NO_KMS_KEY:
        return "KmsNotFoundException";
    case OBJECT_UNREACHABLE:
        return "S3Unavailable";
    case OBJECT_OK:
    case OBJECT_CANCELLED:
    case OBJECT_FAILED:
        break;
    }
    return "S3Error";
}

/* --- Stores and buckets --- */

struct object_store *object_store_open(const struct object_store_options *options,
                                       char message[OBJECT_MESSAGE_MAX])
{
    bool has_folder = !is_empty(options->folder), has_endpoint = !is_empty(options->endpoint);
    if (has_folder && has_endpoint) {
        snprintf(message, OBJECT_MESSAGE_MAX, "buckets are either folders or an S3 server's");
        return NULL;
    }
    if (has_endpoint && !object_s3_check_endpoint(options, message))
        return NULL;
    struct object_store *store = memory_checked(malloc(sizeof *store));
    *store = (struct object_store){ .options = *options,
                                    .kind = has_folder     ? &object_folder_kind
                                            : has_endpoint ? &object_s3_kind
                                                           : NULL };
    if (store->options.retry_ms == 0)
        store->options.retry_ms = OBJECT_RETRY_MS;
    if (store->options.part_size == 0)
        store->options.part_size = OBJECT_PART_SIZE;
    return store;
}

void object_store_close(struct object_store *store)
{
    free(store);
}

bool object_store_check(const struct object_store *store, char message[OBJECT_MESSAGE_MAX])
{
    return store->kind == NULL || store->kind->check(store, message);
}

static bool copy_text(struct bytes from, char *to, size_t size_max)
{
    if (from.len > size_max || (from.len > 0 && memchr(from.data, '\0', from.len) != NULL))
        return false;
    if (from.len > 0)
        memcpy(to, from.data, from.len);
    to[from.len] = '\0';
    return true;
}

struct object_bucket *object_bucket_open(struct object_store *store,
                                         const struct object_bucket_options *options,
                                         struct object_error *err)
{
    const char *account = store->options.account;
    if (store->kind == NULL) {
        object_error_set_missing_bucket(err);
        return NULL;
    }
    if (options->owner.data != NULL && account != NULL &&
        !bytes_equal_text(options->owner, account)) {
        object_error_set_denied(err);
        return NULL;
    }
    struct object_bucket *bucket = memory_checked(calloc(1, sizeof *bucket));
    bucket->store = store;
    bucket->encryption = options->encryption;
    bucket->folder = -1;
    bucket->is_cancelled = options->is_cancelled;
    bucket->cancel_context = options->cancel_context;
    atomic_init(&bucket->cancelled, false);
    if (!copy_text(options->name, bucket->name, OBJECT_BUCKET_NAME_SIZE_MAX) ||
        !copy_text(options->kms_key, bucket->kms_key, OBJECT_KMS_KEY_SIZE_MAX)) {
        object_error_set_missing_bucket(err);
        free(bucket);
        return NULL;
    }
    if (!store->kind->open(bucket, err)) {
        free(bucket);
        return NULL;
    }
    return bucket;
}

void object_bucket_close(struct object_bucket *bucket)
{
    if (bucket == NULL)
        return;
    bucket->store->kind->close(bucket);
    free(bucket);
}

void object_bucket_cancel(struct object_bucket *bucket)
{
    atomic_store(&bucket->cancelled, true);
    bucket->store->kind->cancel(bucket);
}

bool object_bucket_is_cancelled(struct object_bucket *bucket)
{
    if (bucket->is_cancelled != NULL && bucket->is_cancelled(bucket->cancel_context))
        atomic_store(&bucket->cancelled, true);
    return atomic_load(&bucket->cancelled);
}

/* --- Calls --- */

static bool check_call(struct object_bucket *bucket, struct object_error *err)
{
    if (object_bucket_is_cancelled(bucket))
        return object_error_set(err, OBJECT_CANCELLED, "the work was cancelled");
    return true;
}

/* Before any call with a key: what S3 accepts, and what the kind of the store accepts. */
static bool check_key(struct object_bucket *bucket, struct bytes key, struct object_error *err)
{
    if (key.len == 0 || key.len > OBJECT_KEY_SIZE_MAX)
        return object_error_set(err, OBJECT_BAD_KEY,
                                "A key of an object has from 1 to %d bytes, and this one has %zu",
                                OBJECT_KEY_SIZE_MAX, key.len);
    return check_call(bucket, err) && bucket->store->kind->check_key(key, err);
}

static bool is_utf8(struct bytes text)
{
    return text.len == 0 || utf8_prefix(text, text.len) == text.len;
}

/* Keys are text, and so are ETags: both are stored and shown as such. */
static bool check_entry(const struct object_entry *entry, struct object_error *err)
{
    if (!is_utf8(entry->key))
        return object_error_set(err, OBJECT_BAD_KEY,
                                "The bucket has an object whose key is not UTF-8: %.*s",
                                (int)entry->key.len, (const char *)entry->key.data);
    return is_utf8(entry->etag) ||
           object_error_set(err, OBJECT_FAILED, "The ETag of an object is not UTF-8");
}

bool object_put(struct object_bucket *bucket, struct bytes key, struct bytes body,
                struct object_error *err)
{
    return check_key(bucket, key, err) && bucket->store->kind->put(bucket, key, body, err);
}

bool object_delete(struct object_bucket *bucket, struct bytes key, struct object_error *err)
{
    return check_key(bucket, key, err) && bucket->store->kind->delete (bucket, key, err);
}

bool object_stat(struct object_bucket *bucket, struct arena *arena, struct bytes key,
                 struct object_entry *out, struct object_error *err)
{
    return check_key(bucket, key, err) && bucket->store->kind->stat(bucket, arena, key, out, err) &&
           check_entry(out, err);
}

bool object_read(struct object_bucket *bucket, struct bytes key, struct bytes etag, uint64_t offset,
                 uint8_t *out, size_t size, size_t *read_size, struct object_error *err)
{
    assert(size > 0);
    *read_size = 0;
    return check_key(bucket, key, err) &&
           bucket->store->kind->read(bucket, key, etag, offset, out, size, read_size, err);
}

bool object_list(struct object_bucket *bucket, struct arena *arena, struct bytes prefix,
                 struct bytes after, struct object_page *out, struct object_error *err)
{
    *out = (struct object_page){ 0 };
    /* No key begins with it. */
    if (prefix.len > OBJECT_KEY_SIZE_MAX)
        return true;
    if (!check_call(bucket, err) ||
        !bucket->store->kind->list(bucket, arena, prefix, after, out, err))
        return false;
    for (size_t i = 0; i < out->count; i++) {
        if (!check_entry(&out->entries[i], err))
            return false;
    }
    return true;
}

bool object_abort_uploads(struct object_bucket *bucket, struct bytes prefix,
                          struct object_error *err)
{
    return check_call(bucket, err) && bucket->store->kind->abort_uploads(bucket, prefix, err);
}

/* --- Uploads --- */

struct object_upload *object_upload_begin(struct object_bucket *bucket, struct bytes key,
                                          struct object_error *err)
{
    if (!check_key(bucket, key, err))
        return NULL;
    struct object_upload *upload = memory_checked(calloc(1, sizeof *upload));
    upload->bucket = bucket;
    memcpy(upload->key, key.data, key.len);
    upload->key_size = key.len;
    md5_init(&upload->whole);
    md5_init(&upload->parts);
    if (!bucket->store->kind->begin(upload, err)) {
        free(upload);
        return NULL;
    }
    upload->part = memory_checked(malloc(bucket->store->options.part_size));
    return upload;
}

static void release(struct object_upload *upload)
{
    upload->bucket->store->kind->release(upload);
    free(upload->part);
    free(upload);
}

static bool put_part(struct object_upload *upload, struct object_error *err)
{
    uint8_t digest[MD5_DIGEST_SIZE];
    struct bytes part = bytes_of(upload->part, upload->part_size);
    struct md5 md5;
    if (!check_call(upload->bucket, err))
        return false;
    if (upload->part_count == OBJECT_PARTS_MAX)
        return object_error_set(err, OBJECT_FAILED, "an object has at most %d parts",
                                OBJECT_PARTS_MAX);
    md5_init(&md5);
    md5_add(&md5, part);
    md5_finish(&md5, digest);
    if (!upload->bucket->store->kind->put_part(upload, upload->part_count + 1, part, digest, err))
        return false;
    md5_add(&upload->parts, bytes_of(digest, sizeof digest));
    upload->part_count++;
    upload->part_size = 0;
    return true;
}

bool object_upload_write(struct object_upload *upload, struct bytes data, struct object_error *err)
{
    const size_t part_size_max = upload->bucket->store->options.part_size;
    assert(!upload->failed);
    md5_add(&upload->whole, data);
    upload->size += data.len;
    while (data.len > 0) {
        size_t room = part_size_max - upload->part_size;
        size_t taken = data.len < room ? data.len : room;
        memcpy(upload->part + upload->part_size, data.data, taken);
        upload->part_size += taken;
        data = bytes_of(data.data + taken, data.len - taken);
        if (upload->part_size == part_size_max && !put_part(upload, err)) {
            upload->failed = true;
            return false;
        }
    }
    return true;
}

static void fill_written(struct object_upload *upload, struct object_written *out)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t digest[MD5_DIGEST_SIZE];
    char hex[2 * MD5_DIGEST_SIZE + 1] = "";
    out->size = upload->size;
    static_assert(sizeof out->md5 == MD5_DIGEST_SIZE, "one hash");
    md5_finish(&upload->whole, out->md5);
    md5_finish(&upload->parts, digest);
    for (size_t i = 0; i < sizeof digest; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    snprintf(out->etag, sizeof out->etag, "%s-%u", hex, (unsigned)upload->part_count);
}

bool object_upload_finish(struct object_upload *upload, struct object_written *out,
                          struct object_error *err)
{
    assert(!upload->failed);
    /* An upload has at least one part, though it may be empty. */
    bool complete = (upload->part_size == 0 && upload->part_count > 0) || put_part(upload, err);
    if (complete) {
        fill_written(upload, out);
        complete = check_call(upload->bucket, err) &&
                   upload->bucket->store->kind->complete(upload, out, err);
    }
    if (!complete)
        upload->bucket->store->kind->abort(upload);
    release(upload);
    return complete;
}

void object_upload_abort(struct object_upload *upload)
{
    if (upload == NULL)
        return;
    upload->bucket->store->kind->abort(upload);
    release(upload);
}
