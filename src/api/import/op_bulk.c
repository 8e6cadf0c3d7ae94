/* op_bulk.c -- StartBulkPutItems, DescribeBulkOperation, ListBulkOperations, CancelBulkOperation.
 */
#include "api/cancel_job.h"
#include "api/import/bulk_job.h"
#include "api/import/bulk_report.h"
#include "api/import/bulk_request.h"
#include "api/import/import_list.h"
#include "api/import/import_request.h"
#include "api/job_access.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "api/table/table_operation.h"
#include "base/arena.h"
#include "jobs/job_record.h"
#include "jobs/job_runner.h"
#include "json/reader.h"
#include "json/writer.h"
#include "model/table_definition.h"
#include "shape/shape_write.h"
#include "table/catalogue.h"
#include "table/storage_error.h"

/* --- Descriptions --- */

static const char *status_name(struct api_call *call, const struct job_record *record)
{
    switch (record->state) {
    case JOB_RUNNING:
        return job_runner_is_cancelled(api_jobs(call->api), JOB_BULK,
                                       bytes_of(record->id, JOB_ID_SIZE))
                   ? "CANCELLING"
                   : "IN_PROGRESS";
    case JOB_COMPLETED:
        return record->progress.error_count > 0 ? "COMPLETED_WITH_ERRORS" : "COMPLETED";
    case JOB_CANCELLED:
        return "CANCELLED";
    default:
        return "FAILED";
    }
}

static void write_text(struct json_writer *writer, const char *name, struct bytes text)
{
    if (text.data == NULL)
        return;
    json_write_name(writer, name);
    json_write_string(writer, text);
}

static void write_number(struct json_writer *writer, const char *name, int64_t number)
{
    json_write_name(writer, name);
    json_write_integer(writer, number);
}

static void write_head(struct json_writer *writer, struct api_call *call,
                       const struct job_record *record)
{
    write_text(writer, "BulkOperationArn", bulk_job_arn(call->arena, call->api, record));
    write_text(writer, "BulkOperationStatus", bytes_from_text(status_name(call, record)));
}

static void write_times(struct json_writer *writer, const struct job_record *record)
{
    json_write_name(writer, "StartTime");
    json_write_seconds(writer, record->created_ms);
    if (record->ended_ms == 0)
        return;
    json_write_name(writer, "EndTime");
    json_write_seconds(writer, record->ended_ms);
}

static void write_usage(struct json_writer *writer, const struct job_record *record)
{
    struct bulk_usage usage = bulk_job_usage(record);
    json_write_name(writer, "BulkOperationUsage");
    json_open_array(writer);
    json_open_object(writer);
    write_text(writer, "TableName", record->table_name);
    write_number(writer, "BulkPutBytes", (int64_t)(usage.table_bytes + usage.index_bytes));
    json_write_name(writer, "Table");
    json_open_object(writer);
    write_number(writer, "BulkPutBytes", (int64_t)usage.table_bytes);
    json_close_object(writer);
    json_close_object(writer);
    json_close_array(writer);
}

/* The members of the stored request, except for the table's name. */
static void write_request(struct json_writer *writer, struct api_call *call,
                          const struct job_record *record)
{
    struct json_reader reader;
    struct bytes name;
    json_reader_init(&reader, call->arena, record->detail, SHAPE_JSON_DEPTH_MAX);
    json_enter_object(&reader);
    while (json_next_member(&reader, &name)) {
        (void)json_peek(&reader);
        const uint8_t *start = reader.at;
        if (!json_skip(&reader))
            return;
        if (bytes_equal(name, BYTES("TableName")))
            continue;
        json_write_name_bytes(writer, name);
        json_write_raw(writer, bytes_of(start, (size_t)(reader.at - start)));
    }
}

static void write_description(struct json_writer *writer, struct api_call *call,
                              const struct job_record *record)
{
    json_open_object(writer);
    write_head(writer, call, record);
    json_write_name(writer, "TableDetails");
    json_open_array(writer);
    json_open_object(writer);
    write_text(writer, "TableName", record->table_name);
    write_text(writer, "TableId", record->table_uuid);
    json_close_object(writer);
    json_close_array(writer);
    write_text(writer, "ClientToken", record->token);
    write_request(writer, call, record);
    write_times(writer, record);
    write_number(writer, "ProcessedItemCount", record->progress.items_done);
    write_number(writer, "ProcessedInputBytes", record->progress.bytes_done);
    if (record->progress.bytes_total > 0 || record->ended_ms != 0)
        write_number(writer, "TotalInputBytes", record->progress.bytes_total);
    write_number(writer, "FailedItemCount", record->progress.error_count);
    write_usage(writer, record);
    if (record->state == JOB_FAILED || record->state == JOB_CANCELLED) {
        write_text(writer, "FailureCode", record->failure_code);
        write_text(writer, "FailureMessage", record->failure_message);
    }
    json_close_object(writer);
}

static bool answer(struct api_call *call, const struct job_record *record)
{
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "BulkOperationDescription");
    write_description(&writer, call, record);
    json_close_object(&writer);
    return true;
}

/* The job may be ahead of its record. */
static bool answer_latest(struct api_call *call, struct job_record *record)
{
    struct job_progress progress;
    if (record->state == JOB_RUNNING &&
        job_runner_progress(api_jobs(call->api), JOB_BULK, bytes_of(record->id, JOB_ID_SIZE),
                            &progress))
        record->progress = progress;
    return answer(call, record);
}

/* --- StartBulkPutItems --- */

/* The request as it is stored: with its defaults, and without the token. */
static struct bytes detail_of(struct api_call *call, const struct start_bulk_request *request)
{
    struct bytes account = bytes_from_text(api_options(call->api)->account_id);
    struct bulk_input_request input = *request->input;
    struct bulk_output_request output = *request->output;
    struct start_bulk_request stored = *request;
    struct json_writer writer;
    struct buffer out;
    if (input.bucket_owner.data == NULL)
        input.bucket_owner = account;
    if (input.compression.data == NULL)
        input.compression = BYTES("NONE");
    if (output.bucket_owner.data == NULL)
        output.bucket_owner = account;
    if (stored.tier.data == NULL)
        stored.tier = BYTES("STANDARD");
    stored.table_name = operation_table_name(request->table_name);
    stored.client_token = (struct bytes){ 0 };
    stored.input = &input;
    stored.output = &output;
    buffer_init(&out, call->arena);
    json_writer_init(&writer, &out);
    shape_write(&writer, &start_bulk_shape, &stored);
    return buffer_bytes(&out);
}

/* A request whose token was used before. False with an error, or with nothing if it is a new one.
 */
static bool answer_repeated(struct api_call *call, const struct start_bulk_request *request,
                            struct bytes detail)
{
    struct job_record record;
    if (request->client_token.data == NULL)
        return false;
    enum engine_status status = job_runner_find_token(api_jobs(call->api), call->arena, JOB_BULK,
                                                      request->client_token, &record);
    if (status == ENGINE_NOT_FOUND)
        return false;
    if (status != ENGINE_OK)
        return storage_error_set(&call->error, status, "StartBulkPutItems");
    if (!bytes_equal(record.detail, detail))
        return error_set(&call->error, ERROR_IDEMPOTENT_PARAMETER_MISMATCH,
                         "The request uses the same client token as a previous, but non-identical "
                         "request. Do not reuse a client token with different requests, unless the "
                         "requests are identical");
    return answer_latest(call, &record);
}

static bool check_table(struct api_call *call, const struct table_definition *table)
{
    if (replica_definition_is_group(&table->replicas))
        return error_validation(&call->error,
                                "Bulk operations are not supported for global tables. Table: %.*s",
                                BYTES_FMT(table->name));
    for (size_t i = 0; i < table->index_count; i++) {
        if (table->indexes[i].status == INDEX_ALLOCATING ||
            table->indexes[i].status == INDEX_BACKFILLING)
            return error_set(&call->error, ERROR_RESOURCE_IN_USE,
                             "Attempt to change a resource which is still in use: An index of the "
                             "table %.*s is being created",
                             BYTES_FMT(table->name));
    }
    return table->status == TABLE_UPDATING || table_operation_check_idle(call, table);
}

static bool check_room(struct api_call *call)
{
    bool has_room;
    if (!job_runner_may_add(api_jobs(call->api), JOB_BULK))
        return error_set(
            &call->error, ERROR_LIMIT_EXCEEDED,
            "Subscriber limit exceeded: Only %d bulk operations can run simultaneously",
            BULK_JOBS_MAX);
    enum engine_status status = job_runner_has_room(api_jobs(call->api), JOB_BULK, &has_room);
    if (status != ENGINE_OK)
        return storage_error_set(&call->error, status, "StartBulkPutItems");
    return has_room ||
           error_set(&call->error, ERROR_LIMIT_EXCEEDED,
                     "Subscriber limit exceeded: There are too many records of bulk operations. "
                     "They are removed after %d days",
                     JOB_RECORD_LIFETIME_DAYS);
}

static bool start(struct api_call *call, const struct start_bulk_request *request)
{
    struct bytes detail = detail_of(call, request);
    struct table *table = table_operation_find(call, request->table_name);
    if (table == NULL)
        return false;
    if (answer_repeated(call, request, detail))
        return true;
    if (error_is_set(&call->error) || !check_table(call, table_definition(table)) ||
        !check_room(call))
        return false;
    struct job_record record = job_runner_new_record(api_jobs(call->api), JOB_BULK);
    record.table_name = table_definition(table)->name;
    record.table_uuid = table_definition(table)->uuid;
    record.token = request->client_token;
    record.detail = detail;
    if (!job_access_note(call, &record))
        return false;
    enum engine_status status = job_runner_add(api_jobs(call->api), call->arena, &record);
    if (status != ENGINE_OK)
        return storage_error_set(&call->error, status, "StartBulkPutItems");
    return answer(call, &record);
}

static void run_start(struct api_call *call, const void *input)
{
    operation_end(call, start(call, input));
}

/* Of all objects whose keys begin so. */
static bool may_on_objects(struct api_call *call, const char *action, struct bytes bucket,
                           struct bytes prefix)
{
    const struct access_question question = {
        .service = "s3",
        .action = action,
        .arn = arena_printf(call->arena, "arn:aws:s3:::%.*s/%.*s*", BYTES_FMT(bucket),
                            BYTES_FMT(prefix)),
    };
    return operation_may(call, &question);
}

static bool admits_start(struct api_call *call, const void *input)
{
    const struct start_bulk_request *request = input;
    if (call->caller == NULL)
        return true;
    struct bytes bucket = request->input->bucket, prefix = request->input->key_prefix;
    const struct access_question list = {
        .service = "s3",
        .action = "ListBucket",
        .arn = arena_printf(call->arena, "arn:aws:s3:::%.*s", BYTES_FMT(bucket)),
    };
    return operation_may_use(call, request->table_name) && operation_may(call, &list) &&
           may_on_objects(call, "GetObject", bucket, prefix.data == NULL ? BYTES("") : prefix) &&
           /* The folder that all are in, so that denials of anything above it count. */
           may_on_objects(call, "PutObject", request->output->bucket,
                          bulk_report_folder(call->arena, request->output));
}

const struct operation op_start_bulk_put_items = { .name = "StartBulkPutItems",
                                                   .kind = OPERATION_CONTROL,
                                                   .request = &start_bulk_shape,
                                                   .asks = OPERATION_ASKS_ITSELF,
                                                   .admits = admits_start,
                                                   .run = run_start };

/* --- DescribeBulkOperation, CancelBulkOperation --- */

static bool find_operation(struct api_call *call, struct bytes arn, struct job_record *record)
{
    enum engine_status status = ENGINE_NOT_FOUND;
    if (arn.len > JOB_ID_SIZE) {
        struct bytes id = bytes_of(arn.data + arn.len - JOB_ID_SIZE, JOB_ID_SIZE);
        if (job_record_is_id(id))
            status =
                job_record_load(api_options(call->api)->engine, call->arena, JOB_BULK, id, record);
    }
    if (status == ENGINE_OK && bytes_equal(arn, bulk_job_arn(call->arena, call->api, record)))
        return true;
    if (status != ENGINE_OK && status != ENGINE_NOT_FOUND)
        return storage_error_set(&call->error, status, "DescribeBulkOperation");
    return error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                     "Requested resource not found: Bulk operation not found: %.*s",
                     BYTES_FMT(arn));
}

static void run_describe(struct api_call *call, const void *input)
{
    const struct bulk_arn_request *request = input;
    struct job_record record;
    operation_end(call, operation_may_use_arn(call, request->arn) &&
                            find_operation(call, request->arn, &record) &&
                            answer_latest(call, &record));
}

const struct operation op_describe_bulk_operation = { .name = "DescribeBulkOperation",
                                                      .kind = OPERATION_DATA,
                                                      .request = &describe_bulk_shape,
                                                      .asks = OPERATION_ASKS_ITSELF,
                                                      .waits = OPERATION_WAITS,
                                                      .run = run_describe };

static bool cancel(struct api_call *call, const struct bulk_arn_request *request)
{
    struct job_record record;
    struct json_writer writer;
    bool active = false;
    if (!operation_may_use_arn(call, request->arn) || !find_operation(call, request->arn, &record))
        return false;
    struct bytes id = bytes_of(record.id, JOB_ID_SIZE);
    if (record.state == JOB_RUNNING) {
        if (!cancel_job_ask(call, JOB_BULK, id, &active))
            return false;
        if (!active && !find_operation(call, request->arn, &record))
            return false;
    }
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    write_text(&writer, "BulkOperationArn", request->arn);
    write_text(&writer, "BulkOperationStatus",
               active ? BYTES("CANCELLING") : bytes_from_text(status_name(call, &record)));
    json_close_object(&writer);
    return true;
}

static void run_cancel(struct api_call *call, const void *input)
{
    operation_end(call, cancel(call, input));
}

const struct operation op_cancel_bulk_operation = { .name = "CancelBulkOperation",
                                                    .kind = OPERATION_DATA,
                                                    .request = &cancel_bulk_shape,
                                                    .asks = OPERATION_ASKS_ITSELF,
                                                    .is_audited = true,
                                                    .waits = OPERATION_WAITS,
                                                    .run = run_cancel };

/* --- ListBulkOperations --- */

static void write_summary(struct json_writer *writer, struct api_call *call,
                          const struct job_record *record)
{
    write_head(writer, call, record);
    write_times(writer, record);
}

static bool list(struct api_call *call, const struct list_bulk_request *request)
{
    return import_list_answer(call, &(struct import_list){ .operation = "ListBulkOperations",
                                                           .member = "BulkOperationsSummaryList",
                                                           .letter = JOB_BULK,
                                                           .page_size = request->max_results,
                                                           .next_token = request->next_token,
                                                           .write = write_summary });
}

static void run_list(struct api_call *call, const void *input)
{
    operation_end(call, list(call, input));
}

const struct operation op_list_bulk_operations = { .name = "ListBulkOperations",
                                                   .kind = OPERATION_DATA,
                                                   .request = &list_bulk_shape,
                                                   .asks = OPERATION_ASKS_ACCOUNT,
                                                   .waits = OPERATION_WAITS,
                                                   .run = run_list };
