/* export_command.c -- `stator export`: a table into a local file, or into a bucket.
 *
 * Into a file, the command reads the table by Scan, so that neither recovery nor a bucket is needed
 * and formats for people can be written. Into a bucket, the server exports the table as it was at a
 * moment (ExportTableToPointInTime); the command waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "base/file.h"
#include "command/admin_client.h"
#include "command/answer.h"
#include "command/command.h"
#include "command/command_time.h"
#include "command/progress_bar.h"
#include "compression/compressor.h"
#include "format/item_writer.h"
#include "json/reader.h"
#include "json/writer.h"
#include "model/error.h"
#include "model/value_json.h"
#include "shape/shape.h"

enum {
    POLL_US = 500 * 1000,
    COLUMNS_MAX = 1000,
    PATH_SIZE_MAX = 4096,
    FILE_MODE = 0666, /* The process's umask takes away. */
};

struct export
{
    const struct command_call *call;
    struct admin_client_call request; /* Endpoint and authorities. */
    const char *table;
    struct bytes table_arn;
    uint64_t item_count;
    enum item_format format;

    /* A file. */
    int file;
    struct compressor *compressor;
    struct buffer lines;
    struct bytes columns[COLUMNS_MAX]; /* Of CSV. */
    size_t column_count;
    uint64_t done;
    struct progress_bar bar;
};

/* --- Requests --- */

static int send(struct export *export, const char *operation, struct bytes body,
                struct bytes *answer)
{
    export->request.operation = operation;
    export->request.body = body;
    return admin_client_send(export->call->arena, &export->request, answer);
}

static int describe_table(struct export *export)
{
    struct arena *arena = export->call->arena;
    struct bytes table;
    int code = admin_client_describe_table(arena, export->request, export->table, &table);
    if (code != COMMAND_OK)
        return code;
    export->table_arn = answer_text(arena, table, "TableArn");
    export->item_count = (uint64_t)answer_number(arena, table, "ItemCount");
    return COMMAND_OK;
}

/* --- A file --- */

static bool take_piece(void *context, struct bytes piece)
{
    struct export *export = context;
    return file_write(export->file, piece);
}

static void note_column(struct export *export, struct bytes name)
{
    size_t low = 0, high = export->column_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = bytes_compare(export->columns[middle], name);
        if (order == 0)
            return;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (export->column_count == COLUMNS_MAX)
        return;
    memmove(export->columns + low + 1, export->columns + low,
            (export->column_count - low) * sizeof *export->columns);
    export->columns[low] = arena_copy(export->call->arena, name);
    export->column_count++;
}

static bool note_columns(struct export *export, const struct item *item)
{
    struct item_iter iter;
    struct bytes name;
    struct value value;
    item_iter_init(&iter, item);
    while (item_iter_next(&iter, &name, &value))
        note_column(export, name);
    return true;
}

static bool write_item(struct export *export, const struct item *item)
{
    if (export->format == ITEM_FORMAT_CSV)
        item_writer_csv_row(&export->lines, export->columns, export->column_count, item);
    else
        item_writer_item(&export->lines, export->format, item);
    export->done++;
    progress_bar_show(&export->bar, export->done, export->item_count, export->done, 0);
    if (export->lines.len < COMPRESSOR_PIECE_SIZE)
        return true;
    bool ok = compressor_write(export->compressor, buffer_bytes(&export->lines));
    export->lines.len = 0;
    return ok;
}

/* Hands every item of a page on. `*next` is where the next page begins, copied; data NULL: there is
 * none. False if an item could not be handed on, with errno set. */
static bool read_page(struct export *export, struct arena *arena, struct bytes page,
                      bool (*take)(struct export *export, const struct item *item),
                      struct buffer *next)
{
    struct json_reader reader;
    struct bytes name;
    bool ok = true;
    next->len = 0;
    json_reader_init(&reader, arena, page, SHAPE_JSON_DEPTH_MAX);
    json_enter_object(&reader);
    while (ok && json_next_member(&reader, &name)) {
        struct error rule, err;
        error_init(&rule, arena);
        error_init(&err, arena);
        if (bytes_equal_text(name, "Items")) {
            json_enter_array(&reader);
            while (ok && json_next_element(&reader)) {
                struct item item;
                errno = EPROTO;
                ok = item_json_read(&reader, arena, &item, &rule, &err) && take(export, &item);
            }
        } else if (bytes_equal_text(name, "LastEvaluatedKey")) {
            json_peek(&reader);
            size_t first = json_offset(&reader);
            json_skip(&reader);
            buffer_append(next, page.data + first, json_offset(&reader) - first);
        } else {
            json_skip(&reader);
        }
    }
    if (ok && json_failed(&reader)) {
        errno = EPROTO;
        ok = false;
    }
    return ok;
}

static struct bytes scan_body(struct arena *arena, const char *table, struct bytes start)
{
    struct buffer body;
    struct json_writer json;
    buffer_init(&body, arena);
    json_writer_init(&json, &body);
    json_open_object(&json);
    json_write_name(&json, "TableName");
    json_write_text(&json, table);
    json_write_name(&json, "ConsistentRead");
    json_write_bool(&json, true);
    if (start.len > 0) {
        json_write_name(&json, "ExclusiveStartKey");
        json_write_raw(&json, start);
    }
    json_close_object(&json);
    return buffer_bytes(&body);
}

static int scan(struct export *export, const char *where,
                bool (*take)(struct export *export, const struct item *item))
{
    struct arena *page_arena = arena_create();
    struct buffer start;
    int code = COMMAND_OK;
    buffer_init(&start, export->call->arena);
    do {
        struct bytes answer;
        arena_reset(page_arena);
        export->request.operation = "Scan";
        export->request.body =
            arena_copy(page_arena, scan_body(page_arena, export->table, buffer_bytes(&start)));
        code = admin_client_send(page_arena, &export->request, &answer);
        if (code == COMMAND_OK && !read_page(export, page_arena, answer, take, &start))
            code = command_fail(COMMAND_FAILED, where, strerror(errno));
    } while (code == COMMAND_OK && start.len > 0);
    arena_destroy(page_arena);
    return code;
}

static void read_columns(struct export *export, const char *list)
{
    while (*list != '\0') {
        size_t size = strcspn(list, ",");
        if (size > 0 && export->column_count < COLUMNS_MAX)
            export->columns[export->column_count++] = bytes_of(list, size);
        list += size + (list[size] == ',');
    }
}

/* CSV needs its columns before the first row: named, or all that any item has. */
static int find_columns(struct export *export, const char *where)
{
    const char *columns = command_value_of(export->call, "columns");
    if (columns != NULL) {
        read_columns(export, columns);
        return COMMAND_OK;
    }
    int code = scan(export, where, note_columns);
    if (code == COMMAND_OK && export->column_count == COLUMNS_MAX)
        return command_fail(COMMAND_FAILED, export->table,
                            "the items have too many attributes: name some with --columns");
    return code;
}

static enum compressor_kind compression_of(const char *path)
{
    size_t size = strlen(path);
    if (size > 3 && strcmp(path + size - 3, ".gz") == 0)
        return COMPRESSOR_GZIP;
    return size > 4 && strcmp(path + size - 4, ".zst") == 0 ? COMPRESSOR_ZSTD : COMPRESSOR_NONE;
}

static int write_file(struct export *export, const char *path)
{
    int code = COMMAND_OK;
    export->compressor = compressor_create(compression_of(path), take_piece, export);
    buffer_init(&export->lines, export->call->arena);
    if (export->format == ITEM_FORMAT_CSV) {
        code = find_columns(export, path);
        item_writer_csv_header(&export->lines, export->columns, export->column_count);
    }
    progress_bar_init(&export->bar, false);
    if (code == COMMAND_OK)
        code = scan(export, path, write_item);
    if (code == COMMAND_OK &&
        (!compressor_write(export->compressor, buffer_bytes(&export->lines)) ||
         !compressor_finish(export->compressor)))
        code = command_fail(COMMAND_FAILED, path, strerror(errno));
    progress_bar_end(&export->bar);
    compressor_destroy(export->compressor);
    return code;
}

/* Written beside its place, synced and renamed, so that a file with this name is whole. */
static int export_to_file(struct export *export, const char *path)
{
    char beside[PATH_SIZE_MAX];
    if (strcmp(path, "-") == 0) {
        export->file = STDOUT_FILENO;
        return write_file(export, path);
    }
    if (snprintf(beside, sizeof beside, "%s.part", path) >= (int)sizeof beside)
        return command_fail(COMMAND_MISUSED, path, "the path is too long");
    export->file =
        file_open_at(AT_FDCWD, beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, FILE_MODE);
    if (export->file < 0)
        return command_fail(COMMAND_FAILED, beside, strerror(errno));
    int code = write_file(export, path);
    if (code == COMMAND_OK && (fsync(export->file) != 0 || rename(beside, path) != 0))
        code = command_fail(COMMAND_FAILED, path, strerror(errno));
    if (code != COMMAND_OK)
        unlink(beside);
    file_close(export->file);
    return code;
}

/* --- A bucket --- */

static bool write_time(struct json_writer *json, const char *name, const char *text)
{
    int64_t time_ms;
    if (!command_time_parse(text, &time_ms))
        return false;
    json_write_name(json, name);
    json_write_seconds(json, time_ms);
    return true;
}

/* False if a time cannot be read. */
static bool write_request(struct export *export, struct json_writer *json)
{
    const struct command_call *call = export->call;
    const char *prefix = command_value_of(call, "prefix"), *at = command_value_of(call, "at"),
               *from = command_value_of(call, "from");
    bool ok = true;
    json_open_object(json);
    json_write_name(json, "TableArn");
    json_write_string(json, export->table_arn);
    json_write_name(json, "S3Bucket");
    json_write_text(json, command_value_of(call, "bucket"));
    if (prefix != NULL) {
        json_write_name(json, "S3Prefix");
        json_write_text(json, prefix);
    }
    json_write_name(json, "ExportFormat");
    json_write_text(json, item_format_name(export->format));
    if (from != NULL) {
        json_write_name(json, "ExportType");
        json_write_text(json, "INCREMENTAL_EXPORT");
        json_write_name(json, "IncrementalExportSpecification");
        json_open_object(json);
        ok = write_time(json, "ExportFromTime", from) &&
             (at == NULL || write_time(json, "ExportToTime", at));
        json_close_object(json);
    } else if (at != NULL) {
        ok = write_time(json, "ExportTime", at);
    }
    json_close_object(json);
    return ok;
}

/* The export's job, as ListJobs shows it. */
struct export_job {
    struct arena *arena;
    struct bytes arn; /* Ends with the job's id. */
    uint64_t done, total;
};

static void keep_job(void *context, struct bytes element)
{
    struct export_job *job = context;
    struct bytes id = answer_text(job->arena, element, "JobId");
    if (id.len == 0 || id.len > job->arn.len ||
        !bytes_equal(bytes_of(job->arn.data + job->arn.len - id.len, id.len), id))
        return;
    job->done = (uint64_t)answer_number(job->arena, element, "ItemsDone");
    job->total = (uint64_t)answer_number(job->arena, element, "ItemsTotal");
}

/* DescribeExport tells no numbers before the end. Servers other than stator do not know ListJobs,
 * and a key may lack the right: then there is no bar. */
static void show_progress(struct export *export, struct arena *arena, struct bytes arn)
{
    struct export_job job = { .arena = arena, .arn = arn };
    struct admin_client_refusal refusal = { 0 };
    struct admin_client_call request = export->request;
    struct bytes answer;
    if (!export->bar.is_shown)
        return;
    request.operation = "ListJobs";
    request.body = BYTES("{\"Kind\":\"export\",\"Active\":true,\"MaxResults\":100}");
    request.refusal = &refusal;
    if (admin_client_send(arena, &request, &answer) != COMMAND_OK) {
        progress_bar_end(&export->bar);
        return;
    }
    answer_visit(arena, answer_json(arena, answer, "Jobs"), keep_job, &job);
    if (job.total > 0 || job.done > 0)
        progress_bar_show(&export->bar, job.done, job.total, job.done, 0);
}

static int wait_for_export(struct export *export, struct bytes description)
{
    struct arena *arena = export->call->arena;
    struct bytes arn = answer_text(arena, description, "ExportArn");
    struct bytes body = arena_printf(arena, "{\"ExportArn\":\"%.*s\"}", BYTES_FMT(arn));
    struct arena *answers = arena_create();
    int code = COMMAND_OK;
    progress_bar_init(&export->bar, false);
    for (;;) {
        struct bytes status = answer_text(answers, description, "ExportStatus"), answer;
        if (!bytes_equal_text(status, "IN_PROGRESS"))
            progress_bar_end(&export->bar);
        if (bytes_equal_text(status, "COMPLETED")) {
            printf("%.*s\n", BYTES_FMT(answer_text(answers, description, "ExportManifest")));
            code = command_flush();
            break;
        }
        if (bytes_equal_text(status, "FAILED")) {
            struct bytes why = answer_text(answers, description, "FailureMessage");
            struct bytes what = answer_text(answers, description, "FailureCode");
            fprintf(stderr, "stator: %.*s: %.*s\n", BYTES_FMT(what), BYTES_FMT(why));
            code = COMMAND_FAILED;
            break;
        }
        show_progress(export, answers, arn);
        usleep(POLL_US);
        arena_reset(answers);
        export->request.operation = "DescribeExport";
        export->request.body = body;
        code = admin_client_send(answers, &export->request, &answer);
        if (code != COMMAND_OK)
            break;
        description = answer_json(answers, answer, "ExportDescription");
    }
    progress_bar_end(&export->bar);
    arena_destroy(answers);
    return code;
}

static int export_to_bucket(struct export *export)
{
    struct arena *arena = export->call->arena;
    struct bytes answer;
    struct buffer body;
    struct json_writer json;
    buffer_init(&body, arena);
    json_writer_init(&json, &body);
    if (!write_request(export, &json))
        return command_fail(COMMAND_MISUSED, "--at and --from",
                            "take seconds since 1970, or 2026-11-15T12:00:00Z");
    int code = send(export, "ExportTableToPointInTime", buffer_bytes(&body), &answer);
    if (code != COMMAND_OK)
        return code;
    return wait_for_export(export, answer_json(arena, answer, "ExportDescription"));
}

/* --- The command --- */

static const struct {
    const char *word;
    enum item_format format;
} formats[] = {
    { "dynamodb-json", ITEM_FORMAT_DYNAMODB_JSON },
    { "ion", ITEM_FORMAT_ION },
    { "json", ITEM_FORMAT_PLAIN_JSON },
    { "csv", ITEM_FORMAT_CSV },
};

static bool choose_format(struct export *export)
{
    const char *word = command_value_of(export->call, "format");
    export->format = ITEM_FORMAT_DYNAMODB_JSON;
    if (word == NULL)
        return true;
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        export->format = formats[i].format;
        if (strcmp(word, formats[i].word) == 0)
            return true;
    }
    return false;
}

int export_command(const struct command_call *call)
{
    const char *out = command_value_of(call, "out"), *bucket = command_value_of(call, "bucket");
    struct export *export = arena_alloc_zeroed(call->arena, sizeof *export);
    *export = (struct export){
        .call = call,
        .table = call->words[0],
        .request = admin_client_call_of(call, NULL),
    };
    if ((out == NULL) == (bucket == NULL))
        return command_fail(COMMAND_MISUSED, "export", "needs either --out or --bucket");
    if (!choose_format(export))
        return command_fail(COMMAND_MISUSED, "--format", "is dynamodb-json, ion, json or csv");
    if (bucket != NULL &&
        (export->format == ITEM_FORMAT_CSV || export->format == ITEM_FORMAT_PLAIN_JSON))
        return command_fail(COMMAND_MISUSED, "--format",
                            "of an export to a bucket is dynamodb-json or ion");
    if (out != NULL &&
        (command_value_of(call, "at") != NULL || command_value_of(call, "from") != NULL))
        return command_fail(COMMAND_MISUSED, "--at and --from",
                            "are for exports to a bucket: a file has the table as it is now");
    int code = describe_table(export);
    if (code != COMMAND_OK)
        return code;
    return out != NULL ? export_to_file(export, out) : export_to_bucket(export);
}
