/* asset_upload.c -- uploads in parts, as the CLI and the SDKs send files of more than 5 to 8 MB.
 *
 * Parts are files themselves (cloudformation/stacks.h): durable, bounded and forgotten like those.
 * An upload that is begun and never completed is forgotten after a day. */
#include "api/asset/asset_request.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "cloudformation/stacks.h"
#include "json/writer.h"
#include "object/s3_xml.h"

enum { PART_SIZE_MIN = 5 * 1024 * 1024 /* S3's, of all parts but the last. */ };

static bool find_upload(struct api_call *call, const struct asset_request *request,
                        struct stack_blob *out)
{
    enum engine_status status =
        stacks_find_upload(api_stacks(call->api), call->arena, request->upload_id,
                           asset_request_name(call, request), out);
    if (status == ENGINE_NOT_FOUND)
        return error_set(&call->error, ERROR_S3_NO_SUCH_UPLOAD,
                         "The specified upload does not exist. The upload ID may be invalid, or "
                         "the upload may have been aborted or completed.");
    return status == ENGINE_OK || asset_request_failed(call, status);
}

bool asset_upload_begin(struct api_call *call, const struct asset_request *request)
{
    struct json_writer json;
    struct bytes id = uuid_create(call->arena);
    struct stack_blob blob = { .modified_ms = clock_wall_ms(api_options(call->api)->clock) };
    if (request->media_type.len > 0) /* An empty one means none. */
        blob.media_type = request->media_type;
    if (!asset_request_check_new(call, request))
        return false;
    enum engine_status status = stacks_begin_upload(api_stacks(call->api), call->arena, id,
                                                    asset_request_name(call, request), &blob);
    if (status != ENGINE_OK)
        return asset_request_failed(call, status);
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "UploadId");
    json_write_string(&json, id);
    json_close_object(&json);
    return true;
}

bool asset_upload_put(struct api_call *call, const struct asset_request *request)
{
    struct stack_blob upload, part;
    int64_t number = request->part_number.value;
    if (!asset_request_check(call, request))
        return false;
    if (number < 1 || number > STACK_PARTS_MAX)
        return error_set(&call->error, ERROR_S3_INVALID_ARGUMENT,
                         "Part number must be an integer between 1 and %d, inclusive",
                         STACK_PARTS_MAX);
    if (!find_upload(call, request, &upload) || !asset_request_blob(call, request, &part))
        return false;
    part.media_type = (struct bytes){ 0 };
    enum engine_status status = stacks_put_asset(
        api_stacks(call->api), call->arena,
        stacks_part_name(call->arena, request->upload_id, (unsigned)number), &part);
    if (status != ENGINE_OK)
        return asset_request_failed(call, status);
    asset_request_answer_etag(call, asset_request_etag(call->arena, part.bytes));
    return true;
}

/* --- CompleteMultipartUpload --- */

struct part_list {
    struct stacks_part *parts;
    size_t count;
    struct stacks_part next;
    bool is_too_long;
    bool is_wrong;
};

static void read_leaf(void *context, struct bytes parent, struct bytes name, struct bytes text)
{
    struct part_list *list = context;
    if (!bytes_equal_text(parent, "Part"))
        return;
    if (bytes_equal_text(name, "ETag"))
        list->next.etag = text;
    if (!bytes_equal_text(name, "PartNumber"))
        return;
    list->next.number = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9' || list->next.number > STACK_PARTS_MAX) {
            list->is_wrong = true;
            return;
        }
        list->next.number = list->next.number * 10 + (unsigned)(text.data[i] - '0');
    }
}

static void end_element(void *context, struct bytes name)
{
    struct part_list *list = context;
    if (!bytes_equal_text(name, "Part"))
        return;
    list->is_too_long = list->is_too_long || list->count == STACK_PARTS_MAX;
    list->is_wrong = list->is_wrong || list->next.number < 1 ||
                     list->next.number > STACK_PARTS_MAX || list->next.etag.data == NULL;
    if (!list->is_too_long)
        list->parts[list->count++] = list->next;
    list->next = (struct stacks_part){ 0 };
}

static bool read_list(struct api_call *call, struct bytes document, struct part_list *out)
{
    const struct s3_xml_visitor visitor = { .context = out, .leaf = read_leaf, .end = end_element };
    *out = (struct part_list){ .parts = arena_alloc(call->arena,
                                                    STACK_PARTS_MAX * sizeof out->parts[0]) };
    if (!s3_xml_read(call->arena, document, &visitor) || out->count == 0 || out->is_wrong ||
        out->is_too_long)
        return error_set(&call->error, ERROR_S3_MALFORMED_XML,
                         "The XML you provided was not well-formed or did not validate against "
                         "our published schema");
    for (size_t i = 1; i < out->count; i++)
        if (out->parts[i].number <= out->parts[i - 1].number)
            return error_set(&call->error, ERROR_S3_INVALID_PART_ORDER,
                             "The list of parts was not in ascending order. The parts list must "
                             "be specified in order by part number.");
    return true;
}

static bool refuse_part(struct api_call *call)
{
    return error_set(&call->error, ERROR_S3_INVALID_PART,
                     "One or more of the specified parts could not be found.  The part may not "
                     "have been uploaded, or the specified entity tag may not match the part's "
                     "entity tag.");
}

/* Clients send tags with quotes or without. */
static bool is_etag(struct bytes claimed, struct bytes etag)
{
    return bytes_equal(claimed, etag) ||
           bytes_equal(claimed, bytes_of(etag.data + 1, etag.len - 2));
}

static bool check_parts(struct api_call *call, const struct asset_request *request,
                        struct part_list *list)
{
    size_t size = 0;
    if (!stacks_find_parts(api_stacks(call->api), call->arena, request->upload_id, list->parts,
                           list->count))
        return refuse_part(call);
    for (size_t i = 0; i < list->count; i++) {
        size += list->parts[i].size;
        if (i + 1 < list->count && list->parts[i].size < PART_SIZE_MIN)
            return error_set(&call->error, ERROR_S3_TOO_SMALL,
                             "Your proposed upload is smaller than the minimum allowed size");
        if (size > STACK_ASSET_SIZE_MAX)
            return error_set(&call->error, ERROR_S3_TOO_LARGE,
                             "Your proposed upload exceeds the maximum allowed size");
    }
    for (size_t i = 0; i < list->count; i++) {
        struct arena *scratch = arena_create();
        struct stack_blob part;
        enum engine_status status =
            stacks_read_asset(api_stacks(call->api), scratch, list->parts[i].name, &part);
        bool matches = status == ENGINE_OK &&
                       is_etag(list->parts[i].etag, asset_request_etag(scratch, part.bytes));
        arena_destroy(scratch);
        if (!matches)
            return status == ENGINE_OK || status == ENGINE_NOT_FOUND
                       ? refuse_part(call)
                       : asset_request_failed(call, status);
    }
    return true;
}

bool asset_upload_end(struct api_call *call, const struct asset_request *request)
{
    struct stack_blob document, upload;
    struct part_list list;
    if (!asset_request_check(call, request) || !find_upload(call, request, &upload) ||
        !asset_request_blob(call, request, &document) || !read_list(call, document.bytes, &list) ||
        !check_parts(call, request, &list))
        return false;
    struct stack_blob blob = { .modified_ms = clock_wall_ms(api_options(call->api)->clock),
                               .media_type = upload.media_type };
    enum engine_status status =
        stacks_end_upload(api_stacks(call->api), call->arena, request->upload_id,
                          asset_request_name(call, request), list.parts, list.count, &blob);
    if (status == ENGINE_NOT_FOUND)
        return refuse_part(call);
    if (status != ENGINE_OK)
        return asset_request_failed(call, status);
    asset_request_answer_etag(call, asset_request_etag(call->arena, blob.bytes));
    return true;
}

bool asset_upload_abort(struct api_call *call, const struct asset_request *request)
{
    struct stack_blob upload;
    if (!asset_request_check(call, request) || !find_upload(call, request, &upload))
        return false;
    enum engine_status status =
        stacks_abort_upload(api_stacks(call->api), call->arena, request->upload_id);
    if (status != ENGINE_OK)
        return asset_request_failed(call, status);
    buffer_append_bytes(&call->response, BYTES("{}"));
    return true;
}
