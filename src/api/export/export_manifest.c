/* export_manifest.c -- see export_manifest.h. The order of members is that of the service's guide.
 */
#include "api/export/export_manifest.h"
#include <stdbool.h>
#include <stdio.h>
#include "api/export/export_record.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte_order.h"
#include "base/clock.h"
#include "base/md5.h"
#include "jobs/job_record.h"
#include "json/base64.h"
#include "json/writer.h"
#include "model/arn.h"

enum { NAME_SIZE = 26, TIME_SIZE = sizeof "2020-11-04T07:28:34.028Z" };

/* --- Names --- */

struct bytes export_manifest_folder(struct arena *arena, struct bytes prefix)
{
    if (prefix.data == NULL)
        prefix = BYTES("");
    bool joins = prefix.len > 0 && prefix.data[prefix.len - 1] != '/';
    return arena_printf(arena, "%.*s%sAWSDynamoDB/", BYTES_FMT(prefix), joins ? "/" : "");
}

static struct bytes folder_of(struct arena *arena, const struct export_names *names)
{
    return export_manifest_folder(arena, names->detail->request.prefix);
}

struct bytes export_manifest_key(struct arena *arena, const struct export_names *names,
                                 const char *name)
{
    const struct bytes parts[] = { folder_of(arena, names), bytes_from_text(names->record->id),
                                   BYTES("/"), bytes_from_text(name) };
    return arena_join(arena, parts, sizeof parts / sizeof *parts);
}

/* 16 bytes in base32, small letters. */
static void format_name(struct arena *arena, const struct job_record *record, size_t number,
                        char out[NAME_SIZE + 1])
{
    static const char symbols[] = "abcdefghijklmnopqrstuvwxyz234567";
    uint8_t digest[MD5_DIGEST_SIZE];
    struct md5 md5;
    md5_init(&md5);
    md5_add(&md5,
            arena_printf(arena, "%s %.*s %zu", record->id, BYTES_FMT(record->table_uuid), number));
    md5_finish(&md5, digest);
    unsigned bits = 0, bit_count = 0;
    size_t next = 0;
    for (size_t i = 0; i < NAME_SIZE; i++) {
        if (bit_count < 5) {
            bits = bits << 8 | (next < sizeof digest ? digest[next++] : 0);
            bit_count += 8;
        }
        bit_count -= 5;
        out[i] = symbols[bits >> bit_count & 31];
    }
    out[NAME_SIZE] = '\0';
}

struct bytes export_manifest_data_key(struct arena *arena, const struct export_names *names,
                                      size_t number)
{
    const struct export_request *request = &names->detail->request;
    const char *extension = export_request_format(request) == ITEM_FORMAT_ION ? "ion" : "json";
    char name[NAME_SIZE + 1];
    format_name(arena, names->record, number, name);
    struct bytes file = arena_printf(arena, "data/%s.%s.gz", name, extension);
    if (!export_request_is_incremental(request))
        return export_manifest_key(arena, names, (const char *)file.data);
    const struct bytes parts[] = { folder_of(arena, names), file };
    return arena_join(arena, parts, sizeof parts / sizeof *parts);
}

struct bytes export_manifest_arn(struct arena *arena, const char *region, const char *account_id,
                                 const struct job_record *record)
{
    struct bytes table = arn_of_table(arena, region, account_id, record->table_name);
    return arena_printf(arena, "%.*s/export/%s", BYTES_FMT(table), record->id);
}

/* --- Manifests --- */

static struct bytes base64_of(struct arena *arena, struct bytes value)
{
    char *text = arena_alloc(arena, base64_encoded_size(value.len));
    base64_encode(value, text);
    return bytes_of(text, base64_encoded_size(value.len));
}

struct bytes export_manifest_md5(struct arena *arena, struct bytes text)
{
    uint8_t digest[MD5_DIGEST_SIZE];
    struct md5 md5;
    md5_init(&md5);
    md5_add(&md5, text);
    md5_finish(&md5, digest);
    return base64_of(arena, bytes_of(digest, sizeof digest));
}

struct bytes export_manifest_files(struct arena *arena, const struct export_names *names)
{
    struct buffer out;
    buffer_init(&out, arena);
    for (size_t i = 0; i < names->detail->file_count; i++) {
        const struct export_file *file = &names->detail->files[i];
        struct json_writer writer;
        json_writer_init(&writer, &out);
        json_open_object(&writer);
        json_write_name(&writer, "itemCount");
        json_write_integer(&writer, (int64_t)load_u64_be(file->items));
        json_write_name(&writer, "md5Checksum");
        json_write_string(&writer, base64_of(arena, bytes_of(file->md5, sizeof file->md5)));
        json_write_name(&writer, "etag");
        json_write_text(&writer, file->etag);
        json_write_name(&writer, "dataFileS3Key");
        json_write_string(&writer, export_manifest_data_key(arena, names, i));
        json_close_object(&writer);
        buffer_append_byte(&out, '\n');
    }
    return buffer_bytes(&out);
}

static void write_member(struct json_writer *writer, const char *name, struct bytes value)
{
    json_write_name(writer, name);
    if (value.data == NULL)
        json_write_null(writer);
    else
        json_write_string(writer, value);
}

static void write_time(struct json_writer *writer, const char *name, int64_t time_ms)
{
    char text[TIME_SIZE + 40];
    int64_t second = clock_second_of_ms(time_ms);
    struct tm parts = clock_utc(second);
    size_t size = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + size, sizeof text - size, ".%03dZ", (int)(time_ms - second * 1000));
    json_write_name(writer, name);
    json_write_text(writer, text);
}

struct bytes export_manifest_summary(struct arena *arena, const struct export_names *names,
                                     const struct export_summary *summary)
{
    const struct job_record *record = names->record;
    const struct export_detail *detail = names->detail;
    const struct export_request *request = &detail->request;
    const bool is_incremental = export_request_is_incremental(request);
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, arena);
    json_writer_init(&writer, &out);
    json_open_object(&writer);
    write_member(&writer, "version", is_incremental ? BYTES("2023-08-01") : BYTES("2020-06-30"));
    write_member(&writer, "exportArn",
                 export_manifest_arn(arena, summary->region, summary->account_id, record));
    write_time(&writer, "startTime", record->created_ms);
    write_time(&writer, "endTime", summary->end_ms);
    write_member(&writer, "tableArn", request->table_arn);
    write_member(&writer, "tableId", record->table_uuid);
    if (is_incremental) {
        write_time(&writer, "exportFromTime", detail->from_us / 1000);
        write_time(&writer, "exportToTime", detail->to_us / 1000);
    } else {
        write_time(&writer, "exportTime", detail->to_us / 1000);
    }
    write_member(&writer, "s3Bucket", request->bucket);
    write_member(&writer, "s3Prefix", request->prefix);
    write_member(&writer, "s3SseAlgorithm",
                 request->sse_algorithm.data == NULL ? BYTES("AES256") : request->sse_algorithm);
    write_member(&writer, "s3SseKmsKeyId", request->sse_key);
    write_member(&writer, "manifestFilesS3Key",
                 export_manifest_key(arena, names, "manifest-files.json"));
    json_write_name(&writer, "billedSizeBytes");
    json_write_integer(&writer, summary->billed_size);
    json_write_name(&writer, "itemCount");
    json_write_integer(&writer, summary->item_count);
    write_member(&writer, "outputFormat",
                 request->format.data == NULL ? BYTES("DYNAMODB_JSON") : request->format);
    if (is_incremental)
        write_member(&writer, "outputView",
                     export_request_shows_old(request) ? BYTES("NEW_AND_OLD_IMAGES")
                                                       : BYTES("NEW_IMAGE"));
    write_member(&writer, "exportType",
                 is_incremental ? BYTES("INCREMENTAL_EXPORT") : BYTES("FULL_EXPORT"));
    json_close_object(&writer);
    return buffer_bytes(&out);
}
