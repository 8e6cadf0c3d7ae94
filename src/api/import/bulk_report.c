/* bulk_report.c -- see bulk_report.h. */
#include "api/import/bulk_report.h"
#include "api/export/export_manifest.h"
#include <stdio.h>
#include "api/import/bulk_request.h"
#include "api/import/error_log.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "json/writer.h"

struct part {
    const char *type;
    const char *name;
    struct error_log *log;
};

struct bytes bulk_report_folder(struct arena *arena, const struct bulk_output_request *output)
{
    return export_manifest_folder(arena, output->key_prefix);
}

static struct bytes key_of(struct arena *arena, const struct bulk_report *report, const char *name)
{
    struct bytes folder = bulk_report_folder(arena, report->output);
    return arena_printf(arena, "%.*s%s/%s", BYTES_FMT(folder), report->id, name);
}

struct upload {
    struct object_upload *upload;
    struct object_error *err;
};

static bool upload_piece(void *context, struct bytes piece)
{
    struct upload *upload = context;
    return object_upload_write(upload->upload, piece, upload->err);
}

static bool upload_part(struct object_bucket *bucket, struct bytes key, struct error_log *log,
                        struct object_error *err)
{
    struct object_written written;
    struct upload upload = { .upload = object_upload_begin(bucket, key, err), .err = err };
    if (upload.upload == NULL)
        return false;
    if (error_log_read(log, upload_piece, &upload))
        return object_upload_finish(upload.upload, &written, err);
    if (err->status == OBJECT_OK) {
        err->status = OBJECT_FAILED;
        snprintf(err->text, sizeof err->text, "The notes of the operation cannot be read");
    }
    object_upload_abort(upload.upload);
    return false;
}

static struct bytes manifest_of(struct arena *arena, const struct bulk_report *report,
                                const struct part *parts, size_t count)
{
    struct json_writer writer;
    struct buffer out;
    buffer_init(&out, arena);
    json_writer_init(&writer, &out);
    json_open_object(&writer);
    json_write_name(&writer, "bulkOperationArn");
    json_write_string(&writer, report->arn);
    json_write_name(&writer, "processedItemCount");
    json_write_integer(&writer, (int64_t)report->processed);
    json_write_name(&writer, "failedItemCount");
    json_write_integer(&writer, (int64_t)report->failed);
    json_write_name(&writer, "outputFiles");
    json_open_array(&writer);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].log == NULL)
            continue;
        json_open_object(&writer);
        json_write_name(&writer, "outputType");
        json_write_text(&writer, parts[i].type);
        json_write_name(&writer, "s3Key");
        json_write_string(&writer, key_of(arena, report, parts[i].name));
        json_close_object(&writer);
    }
    json_close_array(&writer);
    json_close_object(&writer);
    return buffer_bytes(&out);
}

bool bulk_report_write(const struct bulk_report *report, struct object_error *err)
{
    const struct part parts[] = {
        { "ERROR", "error.json", report->errors },
        { "CONDITION_CHECK_FAILURE", "condition-check-failure.json", report->refusals },
    };
    const struct bulk_output_request *output = report->output;
    const struct object_bucket_options options = {
        .name = output->bucket,
        .owner = output->bucket_owner,
        .encryption = output->sse_algorithm.data == NULL                 ? OBJECT_ENCRYPTION_NONE
                      : bytes_equal(output->sse_algorithm, BYTES("KMS")) ? OBJECT_ENCRYPTION_KMS
                                                                         : OBJECT_ENCRYPTION_AES256,
        .kms_key = output->sse_key,
        .is_cancelled = report->is_stopping,
        .cancel_context = report->context,
    };
    struct arena *arena = arena_create();
    struct object_bucket *bucket =
        report->store == NULL ? NULL : object_bucket_open(report->store, &options, err);
    if (report->store == NULL) {
        err->status = OBJECT_NO_BUCKET;
        snprintf(err->text, sizeof err->text, "The specified bucket does not exist");
    }
    bool ok = bucket != NULL;
    for (size_t i = 0; i < COUNT_OF(parts) && ok; i++) {
        if (parts[i].log != NULL)
            ok = upload_part(bucket, key_of(arena, report, parts[i].name), parts[i].log, err);
    }
    ok = ok && object_put(bucket, key_of(arena, report, "manifest.json"),
                          manifest_of(arena, report, parts, COUNT_OF(parts)), err);
    object_bucket_close(bucket);
    arena_destroy(arena);
    return ok;
}
