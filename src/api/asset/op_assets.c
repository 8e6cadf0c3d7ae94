/* op_assets.c -- files that deployments upload: PutObject (uploads in
 * parts, too), AbortMultipartUpload, GetObject, DeleteObject, ListBucket (for ListObjectsV2 and
 * HeadBucket), CreateBucket, GetBucketLocation, GetEncryptionConfiguration.
 *
 * Named as policies name them. Bodies of requests are base64 in JSON; wire/s3.c has S3's own forms.
 * GetObject answers with a line of JSON and the bytes behind it: the answer waits for its client,
 * so it holds them once only.
 */
#include <string.h>
#include "api/asset/asset_request.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/md5.h"
#include "cloudformation/stacks.h"
#include "json/base64.h"
#include "json/utf8.h"
#include "json/writer.h"
#include "table/storage_error.h"

enum { PAGE_MAX = 1000, BUCKET_SIZE_MAX = 63, KEY_SIZE_MAX = 1024 };
enum { RANGE_DIGITS_MAX = 12, ANSWER_SIZE_USUAL = 1024 };

static const struct shape any_text = { .kind = SHAPE_STRING, SHAPE_UNBOUNDED };
static const struct shape any_number = { .kind = SHAPE_INTEGER, SHAPE_UNBOUNDED };
static const struct shape any_boolean = { .kind = SHAPE_BOOLEAN, SHAPE_UNBOUNDED };
static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct asset_request, bucket, "Bucket", &any_text), .required = true },
    { SHAPE_FIELD(struct asset_request, key, "Key", &any_text) },
    { SHAPE_FIELD(struct asset_request, body, "Body", &any_text) },
    { SHAPE_FIELD(struct asset_request, media_type, "ContentType", &any_text) },
    { SHAPE_FIELD(struct asset_request, prefix, "Prefix", &any_text) },
    { SHAPE_FIELD(struct asset_request, delimiter, "Delimiter", &any_text) },
    { SHAPE_FIELD(struct asset_request, token, "ContinuationToken", &any_text) },
    { SHAPE_FIELD(struct asset_request, max_keys, "MaxKeys", &any_number) },
    { SHAPE_FIELD(struct asset_request, range, "Range", &any_text) },
    { SHAPE_FIELD(struct asset_request, without_body, "WithoutBody", &any_boolean) },
    { SHAPE_FIELD(struct asset_request, begins_upload, "BeginsUpload", &any_boolean) },
    { SHAPE_FIELD(struct asset_request, upload_id, "UploadId", &any_text) },
    { SHAPE_FIELD(struct asset_request, part_number, "PartNumber", &any_number) },
};
const struct shape asset_request_shape = { SHAPE_STRUCTURE_OF(struct asset_request, fields),
                                           .type_name = "S3Request" };

/* --- Access --- */

static bool admits_bucket(struct api_call *call, const void *input)
{
    const struct asset_request *request = input;
    const struct bytes parts[] = { BYTES("arn:aws:s3:::"), request->bucket };
    return operation_may_use_arn(call, arena_join(call->arena, parts, COUNT_OF(parts)));
}

static bool admits_object(struct api_call *call, const void *input)
{
    const struct asset_request *request = input;
    struct bytes key = request->key.data == NULL ? BYTES("") : request->key;
    const struct bytes parts[] = { BYTES("arn:aws:s3:::"), request->bucket, BYTES("/"), key };
    return operation_may_use_arn(call, arena_join(call->arena, parts, COUNT_OF(parts)));
}

/* --- Names --- */

/* SAM names its bucket by a stack whose bucket is skipped here, so its name is the logical id. */
static bool check_bucket(struct api_call *call, const struct asset_request *request)
{
    bool exists = bytes_starts_with(request->bucket, BYTES("cdk-")) ||
                  bytes_starts_with(request->bucket, BYTES("aws-sam-cli-")) ||
                  bytes_equal_text(request->bucket, "SamCliSourceBucket");
    if (exists && request->bucket.len <= BUCKET_SIZE_MAX)
        return true;
    return error_set(
        &call->error, ERROR_S3_NO_SUCH_BUCKET,
        "The specified bucket does not exist. stator has buckets for deployments only, "
        "with the prefixes cdk- and aws-sam-cli-.");
}

static bool check_key(struct api_call *call, const struct asset_request *request)
{
    if (request->key.len > 0 && request->key.len <= KEY_SIZE_MAX)
        return true;
    return error_set(&call->error, ERROR_S3_INVALID_ARGUMENT, "A key has 1 to %d bytes",
                     KEY_SIZE_MAX);
}

/* Stored as text, so it must be UTF-8. */
static bool check_media_type(struct api_call *call, const struct asset_request *request)
{
    struct bytes type = request->media_type;
    if (type.len <= STACK_MEDIA_TYPE_SIZE_MAX && utf8_prefix(type, type.len) == type.len)
        return true;
    return error_set(&call->error, ERROR_S3_INVALID_ARGUMENT,
                     "A Content-Type has at most %d bytes, in UTF-8", STACK_MEDIA_TYPE_SIZE_MAX);
}

bool asset_request_check(struct api_call *call, const struct asset_request *request)
{
    return check_bucket(call, request) && check_key(call, request);
}

bool asset_request_check_new(struct api_call *call, const struct asset_request *request)
{
    return asset_request_check(call, request) && check_media_type(call, request);
}

static struct bytes name_of(struct api_call *call, struct bytes bucket, struct bytes key)
{
    const struct bytes parts[] = { bucket, BYTES("/"), key };
    return arena_join(call->arena, parts, COUNT_OF(parts));
}

struct bytes asset_request_name(struct api_call *call, const struct asset_request *request)
{
    return name_of(call, request->bucket, request->key);
}

bool asset_request_failed(struct api_call *call, enum engine_status status)
{
    storage_error_set(&call->error, status, call->operation->name);
    return false;
}

struct bytes asset_request_etag(struct arena *arena, struct bytes bytes)
{
    static const char digits[] = "0123456789abcdef";
    enum { SIZE = 2 * MD5_DIGEST_SIZE + 2 };
    uint8_t digest[MD5_DIGEST_SIZE];
    char *text = arena_alloc(arena, SIZE);
    struct md5 md5;
    md5_init(&md5);
    md5_add(&md5, bytes);
    md5_finish(&md5, digest);
    text[0] = text[SIZE - 1] = '"';
    for (size_t i = 0; i < MD5_DIGEST_SIZE; i++) {
        text[1 + 2 * i] = digits[digest[i] >> 4];
        text[2 + 2 * i] = digits[digest[i] & 15];
    }
    return bytes_of(text, SIZE);
}

/* --- Objects --- */

void asset_request_answer_etag(struct api_call *call, struct bytes etag)
{
    struct json_writer json;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "ETag");
    json_write_string(&json, etag);
    json_close_object(&json);
}

bool asset_request_blob(struct api_call *call, const struct asset_request *request,
                        struct stack_blob *out)
{
    size_t size = 0;
    if (base64_decoded_max(request->body.len) > STACK_ASSET_SIZE_MAX + 3)
        return error_set(&call->error, ERROR_S3_TOO_LARGE,
                         "Your proposed upload exceeds the maximum allowed size");
    uint8_t *bytes = arena_alloc(call->arena, base64_decoded_max(request->body.len) + 1);
    if (!base64_decode(request->body.data == NULL ? BYTES("") : request->body, bytes, &size))
        return error_set(&call->error, ERROR_S3_INVALID_ARGUMENT, "Body is not base64");
    *out = (struct stack_blob){
        .bytes = bytes_of(bytes, size),
        .modified_ms = clock_wall_ms(api_options(call->api)->clock),
        .media_type = request->media_type.len > 0 ? request->media_type : (struct bytes){ 0 },
    };
    return true;
}

static bool put_object(struct api_call *call, const struct asset_request *request)
{
    struct stack_blob blob;
    if (!asset_request_check_new(call, request) || !asset_request_blob(call, request, &blob))
        return false;
    enum engine_status status = stacks_put_asset(api_stacks(call->api), call->arena,
                                                 asset_request_name(call, request), &blob);
    if (status != ENGINE_OK)
        return asset_request_failed(call, status);
    asset_request_answer_etag(call, asset_request_etag(call->arena, blob.bytes));
    return true;
}

/* Uploads in parts need the permission of PutObject, so they are that operation. */
static bool put(struct api_call *call, const struct asset_request *request)
{
    if (request->begins_upload.value)
        return asset_upload_begin(call, request);
    if (request->upload_id.data == NULL)
        return put_object(call, request);
    return request->part_number.present ? asset_upload_put(call, request)
                                        : asset_upload_end(call, request);
}

static bool read_digits(struct bytes *rest, size_t *out)
{
    size_t at = 0;
    *out = 0;
    while (at < rest->len && at < RANGE_DIGITS_MAX && rest->data[at] >= '0' &&
           rest->data[at] <= '9')
        *out = *out * 10 + (size_t)(rest->data[at++] - '0');
    *rest = bytes_of(rest->data + at, rest->len - at);
    return at > 0;
}

/* "bytes=FIRST-LAST", "bytes=FIRST-" or "bytes=-COUNT". A header of another form means the whole
 * file, as RFC 9110 has it. False: none of these bytes are there. */
static bool apply_range(struct bytes range, struct bytes *bytes, size_t *first, bool *is_part)
{
    static const struct bytes unit = BYTES("bytes=");
    size_t last = 0, size = bytes->len;
    *is_part = false;
    *first = 0;
    if (range.data == NULL || !bytes_starts_with(range, unit))
        return true;
    struct bytes rest = bytes_of(range.data + unit.len, range.len - unit.len);
    bool has_first = read_digits(&rest, first);
    if (rest.len == 0 || rest.data[0] != '-')
        return true;
    rest = bytes_of(rest.data + 1, rest.len - 1);
    bool has_last = read_digits(&rest, &last);
    if (rest.len > 0 || (!has_first && !has_last) || (has_first && has_last && last < *first)) {
        *first = 0;
        return true;
    }
    if (!has_first) {
        *first = last < size ? size - last : 0;
        last = last == 0 ? 0 : size - 1;
        if (size == 0 || *first == size)
            return false;
    }
    if (*first >= size)
        return false;
    if (!has_last || last >= size)
        last = size - 1;
    *bytes = bytes_of(bytes->data + *first, last - *first + 1);
    *is_part = true;
    return true;
}

static void write_object_answer(struct api_call *call, const struct stack_blob *blob,
                                struct bytes etag, struct bytes range, bool has_body)
{
    struct json_writer json;
    buffer_reserve(&call->response, (has_body ? blob->bytes.len : 0) + ANSWER_SIZE_USUAL);
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "ETag");
    json_write_string(&json, etag);
    json_write_name(&json, "LastModified");
    json_write_integer(&json, blob->modified_ms);
    json_write_name(&json, "Size");
    json_write_integer(&json, (int64_t)blob->bytes.len);
    if (blob->media_type.data != NULL) {
        json_write_name(&json, "ContentType");
        json_write_string(&json, blob->media_type);
    }
    if (range.data != NULL) {
        json_write_name(&json, "ContentRange");
        json_write_string(&json, range);
    }
    json_close_object(&json);
    buffer_append_byte(&call->response, '\n');
    if (has_body)
        buffer_append_bytes(&call->response, blob->bytes);
}

/* The whole file is in `scratch`: the tag is computed from all of it. */
static bool get_with(struct api_call *call, const struct asset_request *request,
                     struct arena *scratch)
{
    struct stack_blob blob;
    struct bytes range = { 0 };
    size_t first;
    bool is_part;
    enum engine_status status =
        stacks_read_asset(api_stacks(call->api), scratch, asset_request_name(call, request), &blob);
    if (status == ENGINE_NOT_FOUND)
        return error_set(&call->error, ERROR_S3_NO_SUCH_KEY, "The specified key does not exist.");
    if (status != ENGINE_OK)
        return asset_request_failed(call, status);
    size_t size = blob.bytes.len;
    struct bytes etag = asset_request_etag(call->arena, blob.bytes);
    if (!apply_range(request->range, &blob.bytes, &first, &is_part))
        return error_set(&call->error, ERROR_S3_INVALID_RANGE,
                         "The requested range is not satisfiable");
    if (is_part)
        range = arena_printf(scratch, "bytes %zu-%zu/%zu", first, first + blob.bytes.len - 1, size);
    write_object_answer(call, &blob, etag, range, !request->without_body.value);
    return true;
}

static bool get(struct api_call *call, const struct asset_request *request)
{
    if (!asset_request_check(call, request))
        return false;
    struct arena *scratch = arena_create();
    bool found = get_with(call, request, scratch);
    arena_destroy(scratch);
    return found;
}

static bool delete_object(struct api_call *call, const struct asset_request *request)
{
    if (!asset_request_check(call, request))
        return false;
    enum engine_status status = stacks_delete_asset(api_stacks(call->api), call->arena,
                                                    name_of(call, request->bucket, request->key));
    if (status != ENGINE_OK)
        return asset_request_failed(call, status);
    buffer_append_bytes(&call->response, BYTES("{}"));
    return true;
}

/* --- Buckets --- */

static void write_object(struct json_writer *json, const struct stack_asset *asset,
                         struct bytes key)
{
    json_open_object(json);
    json_write_name(json, "Key");
    json_write_string(json, key);
    json_write_name(json, "Size");
    json_write_integer(json, (int64_t)asset->size);
    json_write_name(json, "LastModified");
    json_write_integer(json, asset->modified_ms);
    json_close_object(json);
}

/* What a key is grouped by: its beginning up to the first delimiter behind the prefix; data NULL:
 * it stands for itself. */
static struct bytes group_of(const struct asset_request *request, struct bytes key)
{
    size_t skipped = request->prefix.len;
    const uint8_t *found = request->delimiter.len == 0
                               ? NULL
                               : memmem(key.data + skipped, key.len - skipped,
                                        request->delimiter.data, request->delimiter.len);
    if (found == NULL)
        return (struct bytes){ 0 };
    return bytes_of(key.data, (size_t)(found - key.data) + request->delimiter.len);
}

struct listing {
    struct bytes *groups; /* Of this page. */
    size_t group_count, key_count;
    struct bytes last; /* The last key or group that is shown; data NULL: none. */
    bool is_cut;
};

/* Keys, apart from those of groups, which it collects. */
static void write_keys(struct api_call *call, const struct asset_request *request,
                       struct json_writer *json, struct listing *out)
{
    size_t room = PAGE_MAX, head = request->bucket.len + 1;
    struct bytes prefix =
        name_of(call, request->bucket, request->prefix.data == NULL ? BYTES("") : request->prefix);
    struct bytes after = { 0 };
    struct stack_asset asset;
    if (request->max_keys.present && request->max_keys.value < PAGE_MAX)
        room = request->max_keys.value < 0 ? 0 : (size_t)request->max_keys.value;
    *out = (struct listing){ .groups = arena_alloc(call->arena, PAGE_MAX * sizeof(struct bytes)),
                             .last = request->token };
    if (request->token.data != NULL)
        after = name_of(call, request->bucket, request->token);
    for (; stacks_next_asset(api_stacks(call->api), call->arena, prefix, after, &asset);
         after = asset.name) {
        struct bytes key = bytes_of(asset.name.data + head, asset.name.len - head);
        struct bytes group = group_of(request, key);
        if (group.data != NULL && bytes_equal(group, out->last))
            continue; /* Shown already, perhaps on the page before. */
        out->is_cut = out->key_count + out->group_count == room;
        if (out->is_cut)
            return;
        out->last = group.data != NULL ? group : key;
        if (group.data != NULL) {
            out->groups[out->group_count++] = group;
        } else {
            write_object(json, &asset, key);
            out->key_count++;
        }
    }
}

static bool list(struct api_call *call, const struct asset_request *request)
{
    struct json_writer json;
    struct listing listing;
    if (!check_bucket(call, request))
        return false;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "Contents");
    json_open_array(&json);
    write_keys(call, request, &json, &listing);
    json_close_array(&json);
    json_write_name(&json, "CommonPrefixes");
    json_open_array(&json);
    for (size_t i = 0; i < listing.group_count; i++)
        json_write_string(&json, listing.groups[i]);
    json_close_array(&json);
    json_write_name(&json, "KeyCount");
    json_write_integer(&json, (int64_t)(listing.key_count + listing.group_count));
    if (listing.is_cut && listing.key_count + listing.group_count > 0) {
        json_write_name(&json, "NextContinuationToken");
        json_write_string(&json, listing.last);
    }
    json_close_object(&json);
    return true;
}

static bool create_bucket(struct api_call *call, const struct asset_request *request)
{
    if (!check_bucket(call, request))
        return false;
    buffer_append_bytes(&call->response, BYTES("{}"));
    return true;
}

static bool get_location(struct api_call *call, const struct asset_request *request)
{
    struct json_writer json;
    if (!check_bucket(call, request))
        return false;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "LocationConstraint");
    json_write_text(&json, api_options(call->api)->region);
    json_close_object(&json);
    return true;
}

static bool get_encryption(struct api_call *call, const struct asset_request *request)
{
    return check_bucket(call, request) &&
           error_set(&call->error, ERROR_S3_NO_ENCRYPTION,
                     "The server side encryption configuration was not found");
}

/* --- Operations --- */

#define OPERATION(identifier, action, asks_about, function)                                        \
    static void run_##identifier(struct api_call *call, const void *input)                         \
    {                                                                                              \
        operation_end(call, function(call, input));                                                \
    }                                                                                              \
    const struct operation op_s3_##identifier = { .name = (action),                                \
                                                  .service = OPERATION_OF_S3,                      \
                                                  .request = &asset_request_shape,                 \
                                                  .asks = OPERATION_ASKS_ITSELF,                   \
                                                  .admits = (asks_about),                          \
                                                  .waits = OPERATION_WAITS,                        \
                                                  .run = run_##identifier };

OPERATION(abort_upload, "AbortMultipartUpload", admits_object, asset_upload_abort)
OPERATION(create_bucket, "CreateBucket", admits_bucket, create_bucket)
OPERATION(delete_object, "DeleteObject", admits_object, delete_object)
OPERATION(get_bucket_location, "GetBucketLocation", admits_bucket, get_location)
OPERATION(get_encryption, "GetEncryptionConfiguration", admits_bucket, get_encryption)
OPERATION(get_object, "GetObject", admits_object, get)
OPERATION(list_bucket, "ListBucket", admits_bucket, list)
OPERATION(put_object, "PutObject", admits_object, put)
