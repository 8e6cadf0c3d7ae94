/* op_exports.c -- ExportTableToPointInTime, DescribeExport and ListExports.
 *
 * The first one checks the request, stores a job's record and answers; the job does the rest
 * (export_job.h). A bucket that is missing or denied fails the job, not the request: so it is at
 * the service.
 */
#include <string.h>
#include "api/export/export_filter.h"
#include "api/export/export_job.h"
#include "api/export/export_manifest.h"
#include "api/export/export_record.h"
#include "api/export/export_request.h"
#include "api/job_access.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/uuid.h"
#include "control/control.h"
#include "history/history_window.h"
#include "jobs/job_record.h"
#include "jobs/job_runner.h"
#include "json/writer.h"
#include "model/arn.h"
#include "model/table_definition.h"
#include "model/value_json.h"
#include "table/catalogue.h"
#include "table/storage_error.h"
#include "table/table_stats.h"

enum {
    LIST_MAX = 25,
    LIST_DEFAULT = 10,
    EXPORT_ARN_SIZE_MIN = 37,
};

/* --- What exports say about themselves --- */

static void write_text(struct json_writer *writer, const char *name, struct bytes value)
{
    if (value.data == NULL)
        return;
    json_write_name(writer, name);
    json_write_string(writer, value);
}

static void write_time(struct json_writer *writer, const char *name, int64_t time_ms)
{
    json_write_name(writer, name);
    json_write_seconds(writer, time_ms);
}

/* RUNNING is IN_PROGRESS. An export cannot be cancelled. */
static const char *status_name(enum job_state state)
{
    return state == JOB_RUNNING ? "IN_PROGRESS" : state == JOB_COMPLETED ? "COMPLETED" : "FAILED";
}

static struct bytes arn_of(struct api_call *call, const struct job_record *record)
{
    const struct api_options *options = api_options(call->api);
    return export_manifest_arn(call->arena, options->region, options->account_id, record);
}

static void write_filter(struct json_writer *writer, const struct export_filter_request *filter)
{
    json_write_name(writer, "FilterSpecification");
    json_open_object(writer);
    write_text(writer, "KeyConditionExpression", filter->key_condition);
    write_text(writer, "FilterExpression", filter->filter);
    write_text(writer, "ProjectionExpression", filter->projection);
    if (filter->names.present) {
        const struct bytes *elements = filter->names.elements;
        json_write_name(writer, "ExpressionAttributeNames");
        json_open_object(writer);
        for (size_t i = 0; i < filter->names.count; i++) {
            json_write_name_bytes(writer, filter->names.names[i]);
            json_write_string(writer, elements[i]);
        }
        json_close_object(writer);
    }
    if (filter->values.present) {
        json_write_name(writer, "ExpressionAttributeValues");
        item_json_write(writer, &filter->values.item);
    }
    json_close_object(writer);
}

static void write_increment(struct json_writer *writer, const struct export_detail *detail)
{
    json_write_name(writer, "IncrementalExportSpecification");
    json_open_object(writer);
    write_time(writer, "ExportFromTime", detail->from_us / 1000);
    write_time(writer, "ExportToTime", detail->to_us / 1000);
    json_write_name(writer, "ExportViewType");
    json_write_text(writer, export_request_shows_old(&detail->request) ? "NEW_AND_OLD_IMAGES"
                                                                       : "NEW_IMAGE");
    json_close_object(writer);
}

/* What only an export that has ended shows. */
static void write_end(struct api_call *call, struct json_writer *writer,
                      const struct job_record *record, const struct export_detail *detail)
{
    const struct export_names names = { record, detail };
    if (record->state == JOB_RUNNING)
        return;
    write_time(writer, "EndTime", record->ended_ms);
    if (record->state != JOB_COMPLETED) {
        write_text(writer, "FailureCode", record->failure_code);
        write_text(writer, "FailureMessage", record->failure_message);
        return;
    }
    int64_t billed = record->progress.bytes_done;
    if (export_request_is_incremental(&detail->request) && billed < EXPORT_INCREMENT_BILLED_MIN)
        billed = EXPORT_INCREMENT_BILLED_MIN;
    write_text(writer, "ExportManifest",
               export_manifest_key(call->arena, &names, "manifest-summary.json"));
    json_write_name(writer, "BilledSizeBytes");
    json_write_integer(writer, billed);
    json_write_name(writer, "ItemCount");
    json_write_integer(writer, record->progress.items_done);
}

static void write_description(struct api_call *call, const struct job_record *record,
                              const struct export_detail *detail)
{
    const struct export_request *request = &detail->request;
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "ExportDescription");
    json_open_object(&writer);
    write_text(&writer, "ExportArn", arn_of(call, record));
    json_write_name(&writer, "ExportStatus");
    json_write_text(&writer, status_name(record->state));
    write_time(&writer, "StartTime", record->created_ms);
    write_end(call, &writer, record, detail);
    write_text(&writer, "TableArn", request->table_arn);
    write_text(&writer, "TableId", record->table_uuid);
    if (!export_request_is_incremental(request))
        write_time(&writer, "ExportTime", detail->to_us / 1000);
    write_text(&writer, "ClientToken", record->token);
    write_text(&writer, "S3Bucket", request->bucket);
    write_text(&writer, "S3BucketOwner", request->bucket_owner);
    write_text(&writer, "S3Prefix", request->prefix);
    write_text(&writer, "S3SseAlgorithm",
               request->sse_algorithm.data != NULL ? request->sse_algorithm : BYTES("AES256"));
    write_text(&writer, "S3SseKmsKeyId", request->sse_key);
    write_text(&writer, "ExportFormat",
               request->format.data != NULL ? request->format : BYTES("DYNAMODB_JSON"));
    write_text(&writer, "ExportType", request->type); /* Only as sent. */
    if (request->increment != NULL)
        write_increment(&writer, detail);
    if (request->filter != NULL)
        write_filter(&writer, request->filter);
    json_write_name(&writer, "DestinationType"); /* In no model, but in the service's answers. */
    json_write_text(&writer, "S3");
    json_close_object(&writer);
    json_close_object(&writer);
}

static bool describe(struct api_call *call, const struct job_record *record)
{
    struct export_detail detail;
    if (!export_detail_decode(call->arena, record, &detail)) {
        log_write(LOG_ERROR, "export", "the record of the export %s is damaged", record->id);
        return error_set(&call->error, ERROR_INTERNAL, "Internal server error");
    }
    write_description(call, record, &detail);
    return true;
}

/* --- ExportTableToPointInTime --- */

/* An ARN of a table, and nothing else. */
static bool check_table_arn(struct api_call *call, struct bytes arn)
{
    const struct api_options *options = api_options(call->api);
    struct bytes name = operation_table_name(arn);
    if (!bytes_starts_with(arn, BYTES("arn:")) || bytes_equal(name, arn))
        return error_validation(&call->error, "One or more parameter values were invalid: "
                                              "tableArn is not a valid ARN");
    if (name.len == 0 || memchr(name.data, '/', name.len) != NULL)
        return error_validation(&call->error, "Invalid Request: Table ARN is invalid.");
    if (arn_owner_of(arn, options->region, options->account_id) == ARN_OF_OTHER_ACCOUNT)
        return error_set(&call->error, ERROR_ACCESS_DENIED, "Access is denied");
    return true;
}

/* Besides the export itself, the caller must be allowed to write the objects. It is asked about the
 * folder that they are all in, so that denials of anything above it count. */
static bool admits_export(struct api_call *call, const void *input)
{
    const struct export_request *request = input;
    static const char *const actions[] = { "PutObject", "AbortMultipartUpload" };
    if (!operation_may_use(call, request->table_arn))
        return false;
    struct bytes folder = export_manifest_folder(call->arena, request->prefix);
    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        const struct access_question question = {
            .service = "s3",
            .action = actions[i],
            .arn = arena_printf(call->arena, "arn:aws:s3:::%.*s/%.*s*", BYTES_FMT(request->bucket),
                                BYTES_FMT(folder)),
        };
        if (!operation_may(call, &question))
            return false;
    }
    return true;
}

/* An export with the same token. False with the error set if it asks for something else; `*found`
 * if the call was answered. */
static bool find_repetition(struct api_call *call, const struct export_request *request,
                            const uint8_t hash[EXPORT_HASH_SIZE], bool *found)
{
    struct job_record record;
    *found = false;
    if (request->client_token.data == NULL)
        return true;
    enum engine_status status = job_runner_find_token(api_jobs(call->api), call->arena, JOB_EXPORT,
                                                      request->client_token, &record);
    if (status == ENGINE_NOT_FOUND)
        return true;
    if (status != ENGINE_OK) {
        storage_error_set(&call->error, status, "find an export by its token");
        return false;
    }
    if (!bytes_equal(record.request, bytes_of(hash, EXPORT_HASH_SIZE)))
        return error_set(&call->error, ERROR_EXPORT_CONFLICT,
                         "Export conflict: Duplicate request detected with conflicting "
                         "parameters");
    *found = true;
    return describe(call, &record);
}

/* The moments that are exported, as commit times. */
static bool choose_times(struct api_call *call, const struct export_request *request,
                         const struct table_definition *table, struct export_detail *detail)
{
    const struct clock *clock = api_options(call->api)->clock;
    const int64_t now_us = clock_commit_now_us(clock), now_ms = (now_us + 999) / 1000;
    bool is_incremental = export_request_is_incremental(request);
    const struct history_definition *history = &table->history;
    detail->from_us = 0;
    /* The next millisecond, so that everything that was answered is in, and the time that is shown
     * is the one that counts. */
    detail->to_us = now_ms * 1000;
    if (is_incremental) {
        if (request->increment->to.present)
            detail->to_us = request->increment->to.value * 1000;
        if (!export_request_check_window(request, table->created_ms, now_ms, detail->to_us / 1000,
                                         &call->error))
            return false;
        detail->from_us = request->increment->from.value * 1000;
    } else if (request->time.present) {
        detail->to_us = request->time.value * 1000;
    }
    if (table->recovery_since_ms == 0)
        return error_set(&call->error, ERROR_POINT_IN_TIME_RECOVERY_UNAVAILABLE,
                         "Point in time recovery is not enabled for table '%.*s'",
                         BYTES_FMT(table->name));
    if (history->status != HISTORY_ACTIVE)
        return error_set(&call->error, ERROR_INVALID_EXPORT_TIME,
                         "Point in Time Recovery is not available for specified export time");
    int64_t first_us = is_incremental ? detail->from_us : detail->to_us;
    const struct history_window window = history_window(table, clock);
    if (first_us < window.earliest_us ||
        (is_incremental ? detail->to_us > now_ms * 1000
                        : request->time.present && !history_window_has(&window, detail->to_us)))
        return error_set(&call->error, ERROR_INVALID_EXPORT_TIME, "Export Time is invalid");
    return true;
}

static bool make_detail(struct api_call *call, const struct export_request *request,
                        const struct table *table, struct export_detail *out)
{
    const struct table_definition *definition = table_definition(table);
    struct export_filter filter;
    *out = (struct export_detail){ .request = *request, .body = call->body };
    if (!choose_times(call, request, definition, out) ||
        !export_filter_compile(call->arena, definition, request->filter, &filter, &call->error))
        return false;
    out->table_record = table_definition_encode(call->arena, definition);
    if (out->body.len + out->table_record.encoded.len > EXPORT_REQUEST_SIZE_MAX)
        return error_validation(&call->error,
                                "Invalid Request: The request and the table's definition have more "
                                "than %d bytes",
                                EXPORT_REQUEST_SIZE_MAX);
    out->body = arena_copy(call->arena, call->body);
    return true;
}

/* Clients must not fill the store with records. */
static bool check_room(struct api_call *call)
{
    bool has_room;
    enum engine_status status = job_runner_has_room(api_jobs(call->api), JOB_EXPORT, &has_room);
    if (status != ENGINE_OK)
        return storage_error_set(&call->error, status, "count exports");
    if (!has_room)
        return error_set(&call->error, ERROR_LIMIT_EXCEEDED,
                         "Subscriber limit exceeded: There are too many records of exports. They "
                         "are removed after %d days",
                         JOB_RECORD_LIFETIME_DAYS);
    if (!job_runner_may_add(api_jobs(call->api), JOB_EXPORT))
        return error_set(&call->error, ERROR_LIMIT_EXCEEDED,
                         "Subscriber limit exceeded: Only %d exports can be done simultaneously",
                         EXPORT_JOBS_MAX);
    return true;
}

static bool add_job(struct api_call *call, const struct table *table,
                    const struct export_detail *detail, const uint8_t hash[EXPORT_HASH_SIZE],
                    struct job_record *record)
{
    struct job_runner *jobs = api_jobs(call->api);
    const struct table_definition *definition = table_definition(table);
    struct table_stats stats, indexes[INDEXES_MAX];
    bool is_incremental = export_request_is_incremental(&detail->request);
    int64_t created_ms = clock_wall_ms(api_options(call->api)->clock);
    if (is_incremental)
        created_ms -= created_ms % 1000; /* As at the service. */
    else if (!detail->request.time.present)
        created_ms = detail->to_us / 1000;
    if (!check_room(call) || !operation_table_stats(call, table, &stats, indexes))
        return false;
    *record = job_runner_new_record_at(jobs, JOB_EXPORT, created_ms);
    record->table_name = definition->name;
    record->table_uuid = definition->uuid;
    record->source_id = definition->id;
    record->hold_us = is_incremental ? detail->from_us : detail->to_us;
    record->token = detail->request.client_token.data != NULL ? detail->request.client_token
                                                              : uuid_create(call->arena);
    record->request = bytes_of(hash, EXPORT_HASH_SIZE);
    record->detail = export_detail_encode(call->arena, detail);
    if (!is_incremental && detail->request.filter == NULL) {
        record->progress.items_total = stats.item_count;
        record->progress.bytes_total = stats.size;
    }
    if (!job_access_note(call, record))
        return false;
    /* Later writes take later times: what is answered after this request is not in the export. Only
     * now, since a request that is refused changes nothing. */
    clock_raise_commit_us(api_options(call->api)->clock, detail->to_us - 1);
    enum engine_status status = job_runner_add(jobs, call->arena, record);
    if (status != ENGINE_OK)
        storage_error_set(&call->error, status, "store an export");
    return status == ENGINE_OK;
}

static bool start_export(struct api_call *call, const struct export_request *request)
{
    uint8_t hash[EXPORT_HASH_SIZE];
    struct export_detail detail;
    struct job_record record;
    bool is_repetition;
    export_request_hash(call->arena, request, hash);
    if (!check_table_arn(call, request->table_arn) ||
        !export_request_check(request, &call->error) ||
        !find_repetition(call, request, hash, &is_repetition))
        return false;
    if (is_repetition)
        return true;
    const struct table *table = operation_find_table(call, request->table_arn);
    if (table == NULL || table_definition(table)->status == TABLE_CREATING ||
        table_definition(table)->status == TABLE_DELETING)
        return error_set(&call->error, ERROR_TABLE_NOT_FOUND, "Table not found: %.*s",
                         BYTES_FMT(request->table_arn));
    if (!make_detail(call, request, table, &detail) ||
        !add_job(call, table, &detail, hash, &record))
        return false;
    write_description(call, &record, &detail);
    return true;
}

static void run_export(struct api_call *call, const void *input)
{
    operation_end(call, start_export(call, input));
}

const struct operation op_export_table_to_point_in_time = { .name = "ExportTableToPointInTime",
                                                            .kind = OPERATION_CONTROL,
                                                            .request = &export_request_shape,
                                                            .asks = OPERATION_ASKS_ITSELF,
                                                            .admits = admits_export,
                                                            .run = run_export };

/* --- DescribeExport --- */

struct describe_export_request {
    struct bytes arn;
};

static const struct shape export_arn_shape = { .kind = SHAPE_STRING,
                                               .min = EXPORT_ARN_SIZE_MIN,
                                               .max = EXPORT_ARN_SIZE_MAX };
static const struct shape_field describe_fields[] = {
    { SHAPE_FIELD(struct describe_export_request, arn, "ExportArn", &export_arn_shape),
      .required = true },
};
static const struct shape describe_shape = { SHAPE_STRUCTURE_OF(struct describe_export_request,
                                                                describe_fields),
                                             .type_name = "DescribeExportInput" };

/* "<table's ARN>/export/<id>" */
static bool parse_export_arn(struct bytes arn, struct bytes *table_arn, struct bytes *id)
{
    static const struct bytes mark = BYTES("/export/");
    const uint8_t *found = memmem(arn.data, arn.len, mark.data, mark.len);
    if (found == NULL || !bytes_starts_with(arn, BYTES("arn:")))
        return false;
    *table_arn = bytes_of(arn.data, (size_t)(found - arn.data));
    *id = bytes_of(found + mark.len, arn.len - table_arn->len - mark.len);
    struct bytes name = operation_table_name(*table_arn);
    return !bytes_equal(name, *table_arn) && job_record_is_id(*id);
}

static bool admits_describe(struct api_call *call, const void *input)
{
    const struct describe_export_request *request = input;
    return operation_may_use_arn(call, request->arn);
}

static bool show_export(struct api_call *call, struct bytes arn)
{
    struct bytes table_arn, id;
    struct job_record record;
    const struct api_options *options = api_options(call->api);
    if (!parse_export_arn(arn, &table_arn, &id))
        return error_validation(&call->error, "Invalid Export ARN");
    enum arn_owner owner = arn_owner_of(arn, options->region, options->account_id);
    if (owner == ARN_OF_OTHER_ACCOUNT)
        return error_set(&call->error, ERROR_ACCESS_DENIED, "Access is denied");
    if (owner == ARN_OF_OTHER_REGION)
        return error_set(&call->error, ERROR_EXPORT_NOT_FOUND,
                         "Export not found: Invalid export arn");
    enum engine_status status =
        job_record_load(options->engine, call->arena, JOB_EXPORT, id, &record);
    if (status != ENGINE_OK && status != ENGINE_NOT_FOUND) {
        storage_error_set(&call->error, status, "read an export");
        return false;
    }
    if (status == ENGINE_NOT_FOUND || !bytes_equal(arn_of(call, &record), arn))
        return error_set(&call->error, ERROR_EXPORT_NOT_FOUND,
                         "Export not found: Export not found: %.*s", BYTES_FMT(arn));
    return describe(call, &record);
}

static void run_describe(struct api_call *call, const void *input)
{
    const struct describe_export_request *request = input;
    operation_end(call, show_export(call, request->arn));
}

const struct operation op_describe_export = { .name = "DescribeExport",
                                              .kind = OPERATION_DATA,
                                              .request = &describe_shape,
                                              .asks = OPERATION_ASKS_ITSELF,
                                              .admits = admits_describe,
                                              .waits = OPERATION_WAITS,
                                              .run = run_describe };

/* --- ListExports --- */

struct list_exports_request {
    struct bytes table_arn;
    struct shape_integer max_results;
    struct bytes next_token;
};

static const struct shape list_arn_shape = { .kind = SHAPE_STRING,
                                             .min = 1,
                                             .max = EXPORT_ARN_SIZE_MAX };
static const struct shape max_results_shape = { .kind = SHAPE_INTEGER, .min = 1, .max = LIST_MAX };
static const struct shape next_token_shape = { .kind = SHAPE_STRING, SHAPE_UNBOUNDED };
static const struct shape_field list_fields[] = {
    { SHAPE_FIELD(struct list_exports_request, table_arn, "TableArn", &list_arn_shape) },
    { SHAPE_FIELD(struct list_exports_request, max_results, "MaxResults", &max_results_shape) },
    { SHAPE_FIELD(struct list_exports_request, next_token, "NextToken", &next_token_shape) },
};
static const struct shape list_shape = {
    SHAPE_STRUCTURE_OF(struct list_exports_request, list_fields), .type_name = "ListExportsInput"
};

struct listing {
    struct api_call *call;
    struct json_writer writer;
    struct bytes table_uuid; /* Only its exports; data NULL: all. */
    size_t count, count_max;
    char last[JOB_ID_SIZE + 1];
    bool more;
};

static bool list_export(void *context, const struct job_record *record)
{
    struct listing *listing = context;
    struct export_detail detail;
    if (listing->table_uuid.data != NULL && !bytes_equal(record->table_uuid, listing->table_uuid))
        return true;
    if (listing->count == listing->count_max) {
        listing->more = true;
        return false;
    }
    bool is_incremental = export_detail_decode(listing->call->arena, record, &detail) &&
                          export_request_is_incremental(&detail.request);
    json_open_object(&listing->writer);
    write_text(&listing->writer, "ExportArn", arn_of(listing->call, record));
    json_write_name(&listing->writer, "ExportStatus");
    json_write_text(&listing->writer, status_name(record->state));
    json_write_name(&listing->writer, "ExportType");
    json_write_text(&listing->writer, is_incremental ? "INCREMENTAL_EXPORT" : "FULL_EXPORT");
    json_close_object(&listing->writer);
    memcpy(listing->last, record->id, sizeof listing->last);
    listing->count++;
    return true;
}

/* Of a table that is gone there is nothing to list. */
static bool find_table_uuid(struct api_call *call, struct bytes arn, struct bytes *out)
{
    const struct table *table = operation_find_table(call, arn);
    *out = table == NULL ? BYTES("") : table_definition(table)->uuid;
    return true;
}

static bool list_exports(struct api_call *call, const struct list_exports_request *request)
{
    struct listing listing = { .call = call,
                               .count_max = request->max_results.present
                                                ? (size_t)request->max_results.value
                                                : LIST_DEFAULT };
    struct job_record_query query = { .letter = JOB_EXPORT,
                                      .after = request->next_token,
                                      .newest_first = true,
                                      .visit = list_export,
                                      .context = &listing };
    if (request->next_token.data != NULL && !job_record_is_id(request->next_token))
        return error_validation(&call->error,
                                "Invalid Request: Provided nextToken is invalid: %.*s",
                                BYTES_FMT(request->next_token));
    if (request->table_arn.data != NULL &&
        (!check_table_arn(call, request->table_arn) ||
         !find_table_uuid(call, request->table_arn, &listing.table_uuid)))
        return false;
    json_writer_init(&listing.writer, &call->response);
    json_open_object(&listing.writer);
    json_write_name(&listing.writer, "ExportSummaries");
    json_open_array(&listing.writer);
    enum engine_status status = job_record_visit(api_options(call->api)->engine, &query);
    if (status != ENGINE_OK) {
        storage_error_set(&call->error, status, "list exports");
        return false;
    }
    json_close_array(&listing.writer);
    if (listing.more)
        write_text(&listing.writer, "NextToken", bytes_from_text(listing.last));
    json_close_object(&listing.writer);
    return true;
}

static void run_list(struct api_call *call, const void *input)
{
    operation_end(call, list_exports(call, input));
}

const struct operation op_list_exports = { .name = "ListExports",
                                           .kind = OPERATION_DATA,
                                           .request = &list_shape,
                                           .asks = OPERATION_ASKS_ACCOUNT,
                                           .waits = OPERATION_WAITS,
                                           .run = run_list };
