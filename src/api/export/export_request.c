/* export_request.c -- see export_request.h. */
#include "api/export/export_request.h"
#include <assert.h>
#include <string.h>
#include "api/common_shapes.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/md5.h"
#include "jobs/job_record.h"
#include "model/error.h"

enum { BUCKET_SIZE_MAX = 255, PREFIX_SIZE_MAX = 1024, KMS_KEY_SIZE_MAX = 2048, OWNER_DIGITS = 12 };

/* --- The shape --- */

static bool is_letter_or_digit(uint8_t byte)
{
    uint8_t lower = byte | 0x20;
    return (byte >= '0' && byte <= '9') || (lower >= 'a' && lower <= 'z');
}

static bool matches_bucket(struct bytes text)
{
    if (text.len < 2 || !is_letter_or_digit(text.data[0]) ||
        !is_letter_or_digit(text.data[text.len - 1]))
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (!is_letter_or_digit(text.data[i]) && strchr("._-", text.data[i]) == NULL)
            return false;
    return memchr(text.data, '\0', text.len) == NULL;
}

static bool matches_token(struct bytes text)
{
    return text.len > 0 && memchr(text.data, '$', text.len) == NULL;
}

static bool matches_owner(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    return text.len == OWNER_DIGITS;
}

static const char *const sse_values[] = { "AES256", "KMS", NULL };
static const char *const format_values[] = { "ION", "DYNAMODB_JSON", NULL };
static const char *const type_values[] = { "FULL_EXPORT", "INCREMENTAL_EXPORT", NULL };
static const char *const view_values[] = { "NEW_AND_OLD_IMAGES", "NEW_IMAGE", NULL };

static const struct shape arn_shape = { .kind = SHAPE_STRING,
                                        .min = 1,
                                        .empty_text = "Invalid TableArn: Invalid Table ARN",
                                        .max = EXPORT_ARN_SIZE_MAX };
static const struct shape time_shape = { .kind = SHAPE_TIMESTAMP, SHAPE_UNBOUNDED };
static const struct shape token_shape = { .kind = SHAPE_STRING,
                                          .min = SHAPE_NO_MIN,
                                          .max = JOB_TOKEN_LENGTH_MAX,
                                          .pattern = "^[^\\$]+$",
                                          .matches = matches_token };
static const struct shape bucket_shape = { .kind = SHAPE_STRING,
                                           .min = SHAPE_NO_MIN,
                                           .max = BUCKET_SIZE_MAX,
                                           .pattern = "^[a-z0-9A-Z]+[\\.\\-\\w]*[a-z0-9A-Z]+$",
                                           .matches = matches_bucket };
static const struct shape owner_shape = {
    .kind = SHAPE_STRING, SHAPE_UNBOUNDED, .pattern = "[0-9]{12}", .matches = matches_owner
};
static const struct shape prefix_shape = { .kind = SHAPE_STRING, .min = 1, .max = PREFIX_SIZE_MAX };
static const struct shape sse_shape = { .kind = SHAPE_STRING,
                                        SHAPE_UNBOUNDED,
                                        .enum_values = sse_values };
static const struct shape kms_key_shape = { .kind = SHAPE_STRING,
                                            .min = 1,
                                            .max = KMS_KEY_SIZE_MAX };
static const struct shape format_shape = { .kind = SHAPE_STRING,
                                           SHAPE_UNBOUNDED,
                                           .enum_values = format_values };
static const struct shape type_shape = { .kind = SHAPE_STRING,
                                         SHAPE_UNBOUNDED,
                                         .enum_values = type_values };
static const struct shape view_shape = { .kind = SHAPE_STRING,
                                         SHAPE_UNBOUNDED,
                                         .enum_values = view_values };

static const struct shape_field increment_fields[] = {
    { SHAPE_FIELD(struct export_increment, from, "ExportFromTime", &time_shape) },
    { SHAPE_FIELD(struct export_increment, to, "ExportToTime", &time_shape) },
    { SHAPE_FIELD(struct export_increment, view_type, "ExportViewType", &view_shape) },
};
static const struct shape increment_shape = { SHAPE_STRUCTURE_OF(struct export_increment,
                                                                 increment_fields),
                                              .type_name = "IncrementalExportSpecification" };
static const struct shape_field filter_fields[] = {
    { SHAPE_FIELD(struct export_filter_request, key_condition, "KeyConditionExpression",
                  &common_string) },
    { SHAPE_FIELD(struct export_filter_request, filter, "FilterExpression", &common_string) },
    { SHAPE_FIELD(struct export_filter_request, projection, "ProjectionExpression",
                  &common_string) },
    { SHAPE_FIELD(struct export_filter_request, names, "ExpressionAttributeNames",
                  &common_attribute_name_map) },
    { SHAPE_FIELD(struct export_filter_request, values, "ExpressionAttributeValues",
                  &common_item) },
};
static const struct shape filter_shape = { SHAPE_STRUCTURE_OF(struct export_filter_request,
                                                              filter_fields),
                                           .type_name = "FilterSpecification" };
static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct export_request, table_arn, "TableArn", &arn_shape), .required = true },
    { SHAPE_FIELD(struct export_request, time, "ExportTime", &time_shape) },
    { SHAPE_FIELD(struct export_request, client_token, "ClientToken", &token_shape) },
    { SHAPE_FIELD(struct export_request, bucket, "S3Bucket", &bucket_shape), .required = true },
    { SHAPE_FIELD(struct export_request, bucket_owner, "S3BucketOwner", &owner_shape) },
    { SHAPE_FIELD(struct export_request, prefix, "S3Prefix", &prefix_shape) },
    { SHAPE_FIELD(struct export_request, sse_algorithm, "S3SseAlgorithm", &sse_shape) },
    { SHAPE_FIELD(struct export_request, sse_key, "S3SseKmsKeyId", &kms_key_shape) },
    { SHAPE_FIELD(struct export_request, format, "ExportFormat", &format_shape) },
    { SHAPE_FIELD(struct export_request, type, "ExportType", &type_shape) },
    { SHAPE_FIELD(struct export_request, increment, "IncrementalExportSpecification",
                  &increment_shape) },
    { SHAPE_FIELD(struct export_request, filter, "FilterSpecification", &filter_shape) },
};
const struct shape export_request_shape = { SHAPE_STRUCTURE_OF(struct export_request, fields),
                                            .type_name = "ExportTableToPointInTimeInput" };

enum item_format export_request_format(const struct export_request *request)
{
    return bytes_equal_text(request->format, "ION") ? ITEM_FORMAT_ION : ITEM_FORMAT_DYNAMODB_JSON;
}

/* --- Rules --- */

static bool check_increment(const struct export_request *request, struct error *err)
{
    if (request->increment != NULL && request->type.data == NULL)
        return error_set(err, ERROR_VALIDATION,
                         "Invalid Request: Export Type expected to be Incremental Export when "
                         "incremental export specification is provided");
    if (request->increment != NULL && !export_request_is_incremental(request))
        return error_set(err, ERROR_VALIDATION,
                         "Invalid Request: When Export Type is Full Export , Incremental Export "
                         "Specification should not be provided");
    if (request->increment == NULL && export_request_is_incremental(request))
        return error_set(err, ERROR_VALIDATION,
                         "Invalid Request: Incremental Export Specification expected when export "
                         "type is set as Incremental Export");
    if (request->increment != NULL && !request->increment->from.present)
        return error_set(err, ERROR_VALIDATION,
                         "Invalid Request: ExportFromTime must be provided in "
                         "IncrementalExportSpecification");
    return true;
}

bool export_request_check(const struct export_request *request, struct error *err)
{
    const struct export_filter_request *filter = request->filter;
    if (!check_increment(request, err))
        return false;
    if (request->sse_key.data != NULL && !bytes_equal_text(request->sse_algorithm, "KMS"))
        return error_set(err, ERROR_VALIDATION,
                         "Invalid Request: KMS Key Id is not supported for this encryption type");
    if (filter != NULL && filter->key_condition.data == NULL && filter->filter.data == NULL &&
        filter->projection.data == NULL)
        return error_set(err, ERROR_VALIDATION,
                         "Invalid Request: Invalid FilterSpecification: The specification can not "
                         "be empty");
    return true;
}

static bool refuse_time(struct error *err, const char *text, int64_t time_ms)
{
    char time[CLOCK_TEXT_SIZE];
    clock_format_utc(time_ms, time);
    return error_set(err, ERROR_INVALID_EXPORT_TIME, "%s : %s", text, time);
}

bool export_request_check_window(const struct export_request *request, int64_t created_ms,
                                 int64_t now_ms, int64_t to_ms, struct error *err)
{
    int64_t from_ms = request->increment->from.value;
    /* Times are whole seconds at the service, so the second of the creation counts. */
    if (clock_second_of_ms(from_ms) < clock_second_of_ms(created_ms))
        return refuse_time(err,
                           "Incremental export period from time cannot be less than the table "
                           "creation time",
                           from_ms);
    if (to_ms > now_ms)
        return refuse_time(err,
                           "Incremental export period to time cannot be greater than the current "
                           "time",
                           to_ms);
    if (to_ms - from_ms < EXPORT_WINDOW_MIN_MS)
        return error_set(err, ERROR_INVALID_EXPORT_TIME,
                         "Difference between export period from time and export period to time is "
                         "less than 15 minutes");
    if (to_ms - from_ms > EXPORT_WINDOW_MAX_MS)
        return error_set(err, ERROR_INVALID_EXPORT_TIME,
                         "Difference between export period from time and export period to time is "
                         "greater than 24 hours");
    return true;
}

/* --- Repetitions --- */

/* With its size before it, so that no two lists of fields are the same bytes. */
static void append_field(struct buffer *out, struct bytes value)
{
    int64_t size = value.data == NULL ? -1 : (int64_t)value.len;
    buffer_append(out, &size, sizeof size);
    if (value.data != NULL)
        buffer_append_bytes(out, value);
}

static void append_time(struct buffer *out, const struct shape_integer *time)
{
    append_field(out,
                 time->present ? bytes_of(&time->value, sizeof time->value) : (struct bytes){ 0 });
}

static void append_filter(struct buffer *out, const struct export_filter_request *filter)
{
    const struct bytes *elements = filter->names.elements;
    append_field(out, filter->key_condition);
    append_field(out, filter->filter);
    append_field(out, filter->projection);
    for (size_t i = 0; i < filter->names.count; i++) {
        append_field(out, filter->names.names[i]);
        append_field(out, elements[i]);
    }
    append_field(out, filter->values.present ? filter->values.item.encoded : (struct bytes){ 0 });
}

void export_request_hash(struct arena *arena, const struct export_request *request,
                         uint8_t out[EXPORT_HASH_SIZE])
{
    const struct bytes texts[] = { request->table_arn,     request->bucket,  request->bucket_owner,
                                   request->prefix,        request->sse_key, request->format,
                                   request->sse_algorithm, request->type };
    struct buffer text;
    struct md5 md5;
    buffer_init(&text, arena);
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        append_field(&text, texts[i]);
    append_time(&text, &request->time);
    if (request->increment != NULL) {
        append_time(&text, &request->increment->from);
        append_time(&text, &request->increment->to);
        append_field(&text, request->increment->view_type);
    }
    if (request->filter != NULL)
        append_filter(&text, request->filter);
    md5_init(&md5);
    md5_add(&md5, buffer_bytes(&text));
    static_assert((int)EXPORT_HASH_SIZE == (int)MD5_DIGEST_SIZE, "one hash");
    md5_finish(&md5, out);
}
