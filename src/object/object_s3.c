/* object_s3.c -- buckets of an S3 server.
 *
 * Small objects are one PUT. Larger ones are uploads in parts, each held in memory, so that sizes
 * and hashes are known and a part can be sent again. The manifests of exports name ETags, so even
 * an upload of one part is made this way: S3 computes another ETag for a PUT.
 *
 * A lost answer is the hard case. Parts, PUTs, deletions and lists can simply be repeated. A
 * repeated CreateMultipartUpload may leave an upload behind, which the next one aborts; a repeated
 * CompleteMultipartUpload may find the upload gone because it has succeeded, so we look at the
 * object.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "base/memory.h"
#include "http/url.h"
#include "object/s3_request.h"
#include "object/s3_xml.h"

enum {
    UPLOAD_ID_SIZE_MAX = 1024,
    /* In each listing of unfinished uploads; those that are left are a few. */
    UPLOADS_PAGES_MAX = 100,
    MD5_HEX_SIZE = 2 * MD5_DIGEST_SIZE,
    NUMBER_SIZE = 24,
    RANGE_SIZE = 64,
    REFUSAL_SIZE_MAX = 64 * 1024,
};

struct part_etag {
    char text[OBJECT_ETAG_SIZE_MAX];
};

struct s3_upload {
    char id[UPLOAD_ID_SIZE_MAX + 1];
    struct part_etag *etags; /* Of the parts, as the server named them. */
    size_t capacity;
    bool maybe_twice; /* The answer to an earlier attempt to begin was lost. */
};

/* --- Buckets --- */

bool object_s3_check_endpoint(const struct object_store_options *options,
                              char message[OBJECT_MESSAGE_MAX])
{
    struct http_url url;
    const char *problem = http_url_parse(bytes_from_text(options->endpoint), &url);
    if (problem == NULL && !bytes_equal_text(url.target, "/"))
        problem = "an S3 endpoint has no path";
    if (problem == NULL && (options->key_file == NULL || options->key_file[0] == '\0'))
        problem = "an S3 endpoint needs a key file";
    if (problem != NULL)
        snprintf(message, OBJECT_MESSAGE_MAX, "%s: %s", options->endpoint, problem);
    return problem == NULL;
}

static bool check(const struct object_store *store, char message[OBJECT_MESSAGE_MAX])
{
    return s3_check_key_file(store->options.key_file, message);
}

/* Letters, digits, dots, hyphens, underscores: nothing that means something in a URL. */
static bool is_bucket_name(const char *name)
{
    return name[0] != '\0' && name[0] != '.' &&
           name[strspn(
               name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] == '\0';
}

static bool open_bucket(struct object_bucket *bucket, struct object_error *err)
{
    if (!is_bucket_name(bucket->name))
        return object_error_set_missing_bucket(err);
    bucket->s3 = s3_session_create(bucket, err);
    return bucket->s3 != NULL;
}

static void close_bucket(struct object_bucket *bucket)
{
    s3_session_destroy(bucket->s3);
}

static void cancel(struct object_bucket *bucket)
{
    s3_session_cancel(bucket->s3);
}

/* "." and ".." are fine for S3, but proxies and servers resolve them in paths. */
static bool check_key(struct bytes key, struct object_error *err)
{
    size_t start = 0;
    bool valid = true;
    for (size_t i = 0; i <= key.len; i++) {
        if (i < key.len && key.data[i] != '/') {
            valid &= key.data[i] >= ' ' && key.data[i] != 0x7F;
            continue;
        }
        struct bytes part = bytes_of(key.data + start, i - start);
        valid &= !bytes_equal_text(part, ".") && !bytes_equal_text(part, "..");
        start = i + 1;
    }
    return valid || object_error_set(err, OBJECT_BAD_KEY,
                                     "The key of an object has control characters, or a part that "
                                     "is \".\" or \"..\"");
}

/* --- ETags --- */

static struct bytes unquoted(struct bytes etag)
{
    if (etag.len >= 2 && etag.data[0] == '"' && etag.data[etag.len - 1] == '"')
        return bytes_of(etag.data + 1, etag.len - 2);
    return etag;
}

static bool is_hex(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t byte = text.data[i], lower = byte | 0x20;
        if (!(byte >= '0' && byte <= '9') && !(lower >= 'a' && lower <= 'f'))
            return false;
    }
    return true;
}

static void format_hex(const uint8_t digest[MD5_DIGEST_SIZE], char out[MD5_HEX_SIZE + 1])
{
    for (size_t i = 0; i < MD5_DIGEST_SIZE; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

/* The ETag is the content's MD5, unless the server encrypts it with a key of its own. `context` is
 * the digest. */
static bool has_digest(const struct s3_request *request, const struct s3_answer *answer)
{
    char hex[MD5_HEX_SIZE + 1];
    struct bytes etag = unquoted(s3_answer_header(answer, "ETag"));
    struct bytes encryption = s3_answer_header(answer, "x-amz-server-side-encryption");
    if (etag.len != MD5_HEX_SIZE || !is_hex(etag) ||
        bytes_starts_with(encryption, BYTES("aws:kms")))
        return true; /* It tells nothing about the content. */
    format_hex(request->context, hex);
    return strncasecmp((const char *)etag.data, hex, MD5_HEX_SIZE) == 0;
}

/* --- Writing --- */

/* Asks for encryption only if the client has: many servers refuse these headers. */
static void add_encryption(const struct object_bucket *bucket, struct s3_request *request)
{
    if (bucket->encryption == OBJECT_ENCRYPTION_NONE)
        return;
    bool is_kms = bucket->encryption == OBJECT_ENCRYPTION_KMS;
    request->headers[request->header_count++] =
        (struct http_header){ BYTES("x-amz-server-side-encryption"),
                              is_kms ? BYTES("aws:kms") : BYTES("AES256") };
    if (is_kms && bucket->kms_key[0] != '\0')
        request->headers[request->header_count++] =
            (struct http_header){ BYTES("x-amz-server-side-encryption-aws-kms-key-id"),
                                  bytes_from_text(bucket->kms_key) };
}

static bool put(struct object_bucket *bucket, struct bytes key, struct bytes body,
                struct object_error *err)
{
    uint8_t digest[MD5_DIGEST_SIZE];
    struct md5 md5;
    struct s3_answer answer;
    md5_init(&md5);
    md5_add(&md5, body);
    md5_finish(&md5, digest);
    struct s3_request request = {
        .method = "PUT", .key = key, .body = body, .accepts = has_digest, .context = digest
    };
    add_encryption(bucket, &request);
    return s3_send(bucket->s3, &request, &answer, err);
}

static void take_upload_id(void *context, struct bytes parent, struct bytes name, struct bytes text)
{
    struct s3_upload *upload = context;
    if (!bytes_equal_text(parent, "InitiateMultipartUploadResult") ||
        !bytes_equal_text(name, "UploadId") || text.len > UPLOAD_ID_SIZE_MAX)
        return;
    memcpy(upload->id, text.data, text.len);
    upload->id[text.len] = '\0';
}

static void release(struct object_upload *upload)
{
    if (upload->s3 == NULL)
        return;
    free(upload->s3->etags);
    free(upload->s3);
    upload->s3 = NULL;
}

static bool begin(struct object_upload *upload, struct object_error *err)
{
    struct object_bucket *bucket = upload->bucket;
    struct s3_request request = { .method = "POST",
                                  .key = object_upload_key(upload),
                                  .query = { { "uploads", BYTES("") } },
                                  .query_count = 1,
                                  .counts_tries = true,
                                  .answers_xml = true };
    struct s3_answer answer;
    struct arena *arena = arena_create();
    upload->s3 = memory_checked(calloc(1, sizeof *upload->s3));
    const struct s3_xml_visitor visitor = { upload->s3, take_upload_id, NULL };
    add_encryption(bucket, &request);
    bool ok = s3_send(bucket->s3, &request, &answer, err);
    if (ok && (!s3_xml_read(arena, answer.body, &visitor) || upload->s3->id[0] == '\0'))
        ok = object_error_set(err, OBJECT_FAILED, "The S3 server named no upload");
    upload->s3->maybe_twice = answer.tries > 1;
    if (!ok)
        release(upload);
    arena_destroy(arena);
    return ok;
}

static bool put_part(struct object_upload *upload, uint32_t number, struct bytes part,
                     const uint8_t digest[MD5_DIGEST_SIZE], struct object_error *err)
{
    struct s3_upload *s3 = upload->s3;
    char digits[NUMBER_SIZE];
    struct s3_answer answer;
    snprintf(digits, sizeof digits, "%" PRIu32, number);
    struct s3_request request = { .method = "PUT",
                                  .key = object_upload_key(upload),
                                  .query = { { "partNumber", bytes_from_text(digits) },
                                             { "uploadId", bytes_from_text(s3->id) } },
                                  .query_count = 2,
                                  .body = part,
                                  .accepts = has_digest,
                                  .context = digest };
    if (!s3_send(upload->bucket->s3, &request, &answer, err))
        return false;
    struct bytes etag = unquoted(s3_answer_header(&answer, "ETag"));
    if (etag.len == 0 || etag.len >= OBJECT_ETAG_SIZE_MAX)
        return object_error_set(err, OBJECT_FAILED, "The S3 server named no ETag of a part");
    if (number > s3->capacity) {
        s3->capacity = s3->capacity == 0 ? 16 : 2 * s3->capacity;
        s3->etags = memory_checked(realloc(s3->etags, s3->capacity * sizeof *s3->etags));
    }
    snprintf(s3->etags[number - 1].text, OBJECT_ETAG_SIZE_MAX, "%.*s", BYTES_FMT(etag));
    return true;
}

static struct bytes format_parts(struct arena *arena, const struct object_upload *upload)
{
    struct buffer out;
    buffer_init(&out, arena);
    buffer_append_bytes(&out, BYTES("<CompleteMultipartUpload>"));
    for (uint32_t i = 0; i < upload->part_count; i++) {
        const char *etag = upload->s3->etags[i].text;
        buffer_append_bytes(
            &out,
            arena_printf(arena, "<Part><PartNumber>%" PRIu32 "</PartNumber><ETag>&quot;", i + 1));
        for (; *etag != '\0'; etag++)
            if (*etag == '&' || *etag == '<' || *etag == '>')
                buffer_append_bytes(&out, arena_printf(arena, "&#%d;", *etag));
            else
                buffer_append_byte(&out, (uint8_t)*etag);
        buffer_append_bytes(&out, BYTES("&quot;</ETag></Part>"));
    }
    buffer_append_bytes(&out, BYTES("</CompleteMultipartUpload>"));
    return buffer_bytes(&out);
}

static void take_etag(void *context, struct bytes parent, struct bytes name, struct bytes text)
{
    struct object_written *out = context;
    struct bytes etag = unquoted(text);
    /* Ceph's is empty. */
    if (bytes_equal_text(parent, "CompleteMultipartUploadResult") &&
        bytes_equal_text(name, "ETag") && etag.len > 0 && etag.len < sizeof out->etag)
        snprintf(out->etag, sizeof out->etag, "%.*s", BYTES_FMT(etag));
}

static bool stat_object(struct object_bucket *bucket, struct arena *arena, struct bytes key,
                        struct object_entry *out, struct object_error *err);
static bool abort_uploads(struct object_bucket *bucket, struct bytes prefix,
                          struct object_error *err);

/* True if the object is the one that was uploaded. */
static bool is_there(struct object_upload *upload, struct arena *arena,
                     const struct object_written *written)
{
    struct object_entry entry;
    struct object_error ignored;
    return stat_object(upload->bucket, arena, object_upload_key(upload), &entry, &ignored) &&
           entry.size == written->size && bytes_equal_text(entry.etag, written->etag);
}

static bool complete(struct object_upload *upload, struct object_written *out,
                     struct object_error *err)
{
    struct arena *arena = arena_create();
    struct s3_request request = { .method = "POST",
                                  .key = object_upload_key(upload),
                                  .query = { { "uploadId", bytes_from_text(upload->s3->id) } },
                                  .query_count = 1,
                                  .headers = { { BYTES("Content-Type"), BYTES("text/xml") } },
                                  .header_count = 1,
                                  .body = format_parts(arena, upload),
                                  .answers_xml = true };
    const struct s3_xml_visitor visitor = { out, take_etag, NULL };
    struct s3_answer answer;
    struct object_error ignored;
    bool ok = s3_send(upload->bucket->s3, &request, &answer, err);
    if (ok)
        (void)!s3_xml_read(arena, answer.body, &visitor); /* Known to be a document. */
    else if (strcmp(answer.code, "NoSuchUpload") == 0)
        ok = is_there(upload, arena, out);
    if (ok && upload->s3->maybe_twice)
        (void)!abort_uploads(upload->bucket, object_upload_key(upload), &ignored);
    arena_destroy(arena);
    return ok;
}

static bool abort_one(struct object_bucket *bucket, struct bytes key, const char *id,
                      struct object_error *err)
{
    struct s3_request request = { .method = "DELETE",
                                  .key = key,
                                  .query = { { "uploadId", bytes_from_text(id) } },
                                  .query_count = 1 };
    struct s3_answer answer;
    return s3_send(bucket->s3, &request, &answer, err) || err->status == OBJECT_NO_KEY;
}

static void abort_upload(struct object_upload *upload)
{
    struct object_error ignored;
    (void)!abort_one(upload->bucket, object_upload_key(upload), upload->s3->id, &ignored);
}

static bool delete_object(struct object_bucket *bucket, struct bytes key, struct object_error *err)
{
    struct s3_request request = { .method = "DELETE", .key = key };
    struct s3_answer answer;
    return s3_send(bucket->s3, &request, &answer, err) || err->status == OBJECT_NO_KEY;
}

/* --- Reading --- */

static bool parse_number(struct bytes text, uint64_t *out)
{
    enum { DIGITS_MAX = 18 };
    *out = 0;
    if (text.len == 0 || text.len > DIGITS_MAX)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        *out = *out * 10 + (uint64_t)(text.data[i] - '0');
    }
    return true;
}

static bool stat_object(struct object_bucket *bucket, struct arena *arena, struct bytes key,
                        struct object_entry *out, struct object_error *err)
{
    struct s3_request request = { .method = "HEAD", .key = key };
    struct s3_answer answer;
    if (!s3_send(bucket->s3, &request, &answer, err))
        return false;
    struct bytes etag = unquoted(s3_answer_header(&answer, "ETag"));
    *out = (struct object_entry){ .key = arena_copy(arena, key), .etag = arena_copy(arena, etag) };
    if (!parse_number(s3_answer_header(&answer, "Content-Length"), &out->size))
        return object_error_set(err, OBJECT_FAILED, "The S3 server named no size of an object");
    return true;
}

static bool read_object(struct object_bucket *bucket, struct bytes key, struct bytes etag,
                        uint64_t offset, uint8_t *out, size_t size, size_t *read_size,
                        struct object_error *err)
{
    char range[RANGE_SIZE], quoted[OBJECT_ETAG_SIZE_MAX + 3];
    struct s3_answer answer;
    snprintf(range, sizeof range, "bytes=%" PRIu64 "-%" PRIu64, offset, offset + size - 1);
    /* A refusal needs room too. */
    bool is_small = size < REFUSAL_SIZE_MAX;
    struct s3_request request = { .method = "GET",
                                  .key = key,
                                  .headers = { { BYTES("Range"), bytes_from_text(range) } },
                                  .header_count = 1,
                                  .answer_memory = is_small ? NULL : out,
                                  .answer_size_max = is_small ? REFUSAL_SIZE_MAX : size };
    if (etag.data != NULL) {
        snprintf(quoted, sizeof quoted, "\"%.*s\"", BYTES_FMT(etag));
        request.headers[request.header_count++] =
            (struct http_header){ BYTES("If-Match"), bytes_from_text(quoted) };
    }
    if (!s3_send(bucket->s3, &request, &answer, err))
        return answer.status == 416; /* The object ends before the offset. */
    if (answer.status != 206 && offset != 0)
        return object_error_set(err, OBJECT_FAILED,
                                "The S3 server ignores the range that was asked for");
    *read_size = answer.body.len < size ? answer.body.len : size;
    if (is_small)
        memcpy(out, answer.body.data, *read_size);
    return true;
}

/* --- Listing --- */

static int hex_value(uint8_t byte)
{
    uint8_t lower = byte | 0x20;
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* As encoding-type=url writes keys: %XX, and a plus for a space. */
static struct bytes decode_url(struct arena *arena, struct bytes text)
{
    uint8_t *out = arena_alloc(arena, text.len + 1);
    size_t size = 0;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t byte = text.data[i] == '+' ? ' ' : text.data[i];
        if (byte == '%' && i + 2 < text.len && hex_value(text.data[i + 1]) >= 0 &&
            hex_value(text.data[i + 2]) >= 0) {
            byte = (uint8_t)(hex_value(text.data[i + 1]) << 4 | hex_value(text.data[i + 2]));
            i += 2;
        }
        out[size++] = byte;
    }
    return bytes_of(out, size);
}

struct listing {
    struct arena *arena;
    struct bytes after, prefix;
    struct object_page *page;
    struct object_entry entry; /* The one whose elements are being read. */
    bool is_wrong;
};

static void take_entry_field(void *context, struct bytes parent, struct bytes name,
                             struct bytes text)
{
    struct listing *listing = context;
    if (bytes_equal_text(parent, "ListBucketResult")) {
        if (bytes_equal_text(name, "IsTruncated"))
            listing->page->more = bytes_equal_text(text, "true");
        return;
    }
    if (!bytes_equal_text(parent, "Contents"))
        return;
    if (bytes_equal_text(name, "Key"))
        listing->entry.key = decode_url(listing->arena, text);
    else if (bytes_equal_text(name, "ETag"))
        listing->entry.etag = unquoted(text);
    else if (bytes_equal_text(name, "Size"))
        listing->is_wrong |= !parse_number(text, &listing->entry.size);
}

/* A server that lists keys out of order, or again, would make us read forever. */
static void take_entry(void *context, struct bytes name)
{
    struct listing *listing = context;
    struct object_page *page = listing->page;
    if (!bytes_equal_text(name, "Contents"))
        return;
    struct bytes last = page->count > 0 ? page->entries[page->count - 1].key : listing->after;
    struct object_entry entry = listing->entry;
    listing->entry = (struct object_entry){ .etag = BYTES("") };
    if (entry.key.len == 0 || entry.key.len > OBJECT_KEY_SIZE_MAX ||
        page->count == OBJECT_PAGE_ENTRIES_MAX || entry.etag.len >= OBJECT_ETAG_SIZE_MAX ||
        bytes_compare(entry.key, last) <= 0 || !bytes_starts_with(entry.key, listing->prefix)) {
        listing->is_wrong = true;
        return;
    }
    page->entries[page->count++] = entry;
}

static bool list(struct object_bucket *bucket, struct arena *arena, struct bytes prefix,
                 struct bytes after, struct object_page *out, struct object_error *err)
{
    struct s3_request request = { .method = "GET", .answers_xml = true };
    struct listing listing = {
        .arena = arena, .after = after, .prefix = prefix, .page = out, .entry.etag = BYTES("")
    };
    const struct s3_xml_visitor visitor = { &listing, take_entry_field, take_entry };
    struct s3_answer answer;
    request.query[request.query_count++] = (struct s3_parameter){ "encoding-type", BYTES("url") };
    request.query[request.query_count++] = (struct s3_parameter){ "list-type", BYTES("2") };
    request.query[request.query_count++] = (struct s3_parameter){ "prefix", prefix };
    if (after.len > 0)
        request.query[request.query_count++] = (struct s3_parameter){ "start-after", after };
    if (!s3_send(bucket->s3, &request, &answer, err))
        return false;
    out->entries = arena_alloc(arena, OBJECT_PAGE_ENTRIES_MAX * sizeof *out->entries);
    /* Names borrow the document, and the session forgets it. */
    if (!s3_xml_read(arena, arena_copy(arena, answer.body), &visitor) || listing.is_wrong ||
        (out->more && out->count == 0))
        return object_error_set(err, OBJECT_FAILED, "The S3 server's list cannot be used");
    return true;
}

/* --- What uploads have left behind --- */

struct uploads {
    struct arena *arena;
    struct {
        struct bytes key;
        struct bytes id;
    } list[OBJECT_PAGE_ENTRIES_MAX];
    size_t count;
    struct bytes key, id;
};

static void take_upload_field(void *context, struct bytes parent, struct bytes name,
                              struct bytes text)
{
    struct uploads *uploads = context;
    if (!bytes_equal_text(parent, "Upload"))
        return;
    if (bytes_equal_text(name, "Key"))
        uploads->key = decode_url(uploads->arena, text);
    else if (bytes_equal_text(name, "UploadId"))
        uploads->id = text;
}

static void take_upload(void *context, struct bytes name)
{
    struct uploads *uploads = context;
    if (!bytes_equal_text(name, "Upload"))
        return;
    if (uploads->count < OBJECT_PAGE_ENTRIES_MAX && uploads->key.len > 0 && uploads->id.len > 0 &&
        uploads->id.len <= UPLOAD_ID_SIZE_MAX) {
        uploads->list[uploads->count].key = uploads->key;
        uploads->list[uploads->count++].id = uploads->id;
    }
    uploads->key = uploads->id = (struct bytes){ 0 };
}

static bool list_uploads(struct object_bucket *bucket, struct arena *arena, struct bytes prefix,
                         struct uploads *out, struct object_error *err)
{
    struct s3_request request = { .method = "GET",
                                  .query = { { "encoding-type", BYTES("url") },
                                             { "prefix", prefix },
                                             { "uploads", BYTES("") } },
                                  .query_count = 3,
                                  .answers_xml = true };
    const struct s3_xml_visitor visitor = { out, take_upload_field, take_upload };
    struct s3_answer answer;
    *out = (struct uploads){ .arena = arena };
    if (!s3_send(bucket->s3, &request, &answer, err))
        return false;
    if (!s3_xml_read(arena, arena_copy(arena, answer.body), &visitor))
        return object_error_set(err, OBJECT_FAILED, "The S3 server's list cannot be used");
    return true;
}

/* Each page is the first one: the uploads of the page before are gone. */
static bool abort_uploads(struct object_bucket *bucket, struct bytes prefix,
                          struct object_error *err)
{
    struct arena *arena = arena_create();
    bool ok = true, is_key = prefix.len > 0 && prefix.data[prefix.len - 1] != '/';
    for (size_t page = 0; ok && page < UPLOADS_PAGES_MAX; page++) {
        size_t aborted = 0;
        arena_reset(arena);
        struct uploads *uploads = arena_alloc(arena, sizeof *uploads);
        ok = list_uploads(bucket, arena, prefix, uploads, err);
        for (size_t i = 0; ok && i < uploads->count; i++) {
            struct bytes key = uploads->list[i].key;
            if (!bytes_starts_with(key, prefix) || (is_key && !bytes_equal(key, prefix)))
                continue;
            const char *id =
                (const char *)arena_printf(arena, "%.*s", BYTES_FMT(uploads->list[i].id)).data;
            ok = abort_one(bucket, key, id, err);
            aborted++;
        }
        if (!ok || aborted == 0)
            break;
    }
    arena_destroy(arena);
    return ok;
}

const struct object_kind object_s3_kind = {
    .check = check,
    .open = open_bucket,
    .close = close_bucket,
    .cancel = cancel,
    .check_key = check_key,
    .put = put,
    .begin = begin,
    .put_part = put_part,
    .complete = complete,
    .abort = abort_upload,
    .release = release,
    .abort_uploads = abort_uploads,
    .delete = delete_object,
    .stat = stat_object,
    .read = read_object,
    .list = list,
};
