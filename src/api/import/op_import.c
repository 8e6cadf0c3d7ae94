/* op_import.c -- ImportTable, DescribeImport and ListImports. */
#include "api/import/import_job.h"
#include "api/import/import_list.h"
#include "api/import/import_request.h"
#include "api/job_access.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "api/table_job.h"
#include "api/table/index_rules.h"
#include "api/table/quota_rules.h"
#include "api/table/setting_rules.h"
#include "api/table/table_shapes.h"
#include "api/table/throughput_rules.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "jobs/job_record.h"
#include "jobs/job_runner.h"
#include "json/reader.h"
#include "json/writer.h"
#include "model/arn.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "shape/shape_write.h"
#include "table/catalogue.h"
#include "table/storage_error.h"

/* --- Descriptions --- */

static struct bytes import_arn(struct api_call *call, const struct job_record *record)
{
    return arena_printf(call->arena, "%.*s/import/%s",
                        BYTES_FMT(operation_table_arn(call, record->table_name)), record->id);
}

static const char *status_name(enum job_state state)
{
    switch (state) {
    case JOB_RUNNING:
        return "IN_PROGRESS";
    case JOB_COMPLETED:
        return "COMPLETED";
    case JOB_CANCELLED:
        return "CANCELLED";
    default:
        return "FAILED";
    }
}

static void write_log_group(struct json_writer *writer, struct api_call *call)
{
    const struct api_options *options = api_options(call->api);
    json_write_name(writer, "CloudWatchLogGroupArn");
    json_write_string(writer, arena_printf(call->arena,
                                           "arn:aws:logs:%s:%s:log-group:/aws-dynamodb/imports:*",
                                           options->region, options->account_id));
}

/* A member of the stored request as it is. */
static void write_stored(struct json_writer *writer, const char *name, struct bytes detail,
                         struct arena *arena)
{
    struct json_reader reader;
    struct bytes member;
    json_reader_init(&reader, arena, detail, SHAPE_JSON_DEPTH_MAX);
    json_enter_object(&reader);
    while (json_next_member(&reader, &member)) {
        json_peek(&reader);
        const uint8_t *start = reader.at;
        if (!json_skip(&reader))
            return;
        if (bytes_equal_text(member, name)) {
            json_write_name(writer, name);
            json_write_raw(writer, bytes_of(start, (size_t)(reader.at - start)));
        }
    }
}

static void write_counters(struct json_writer *writer, const struct job_record *record)
{
    const struct job_progress *progress = &record->progress;
    if (record->ended_ms != 0) {
        json_write_name(writer, "ProcessedSizeBytes");
        json_write_integer(writer, progress->bytes_done);
    }
    json_write_name(writer, "ProcessedItemCount");
    json_write_integer(writer, progress->items_done + progress->error_count);
    json_write_name(writer, "ImportedItemCount");
    json_write_integer(writer, progress->items_done);
}

static void write_times(struct json_writer *writer, const struct job_record *record)
{
    json_write_name(writer, "StartTime");
    json_write_seconds(writer, record->created_ms);
    if (record->ended_ms != 0) {
        json_write_name(writer, "EndTime");
        json_write_seconds(writer, record->ended_ms);
    }
}

static void write_text(struct json_writer *writer, const char *name, struct bytes text)
{
    if (text.data == NULL)
        return;
    json_write_name(writer, name);
    json_write_string(writer, text);
}

static void write_description(struct json_writer *writer, struct api_call *call,
                              const struct job_record *record)
{
    json_open_object(writer);
    write_text(writer, "ImportArn", import_arn(call, record));
    write_text(writer, "ImportStatus", bytes_from_text(status_name(record->state)));
    write_text(writer, "TableArn", operation_table_arn(call, record->table_name));
    write_text(writer, "TableId", record->table_uuid);
    write_text(writer, "ClientToken", record->token);
    write_stored(writer, "S3BucketSource", record->detail, call->arena);
    json_write_name(writer, "ErrorCount");
    json_write_integer(writer, record->progress.error_count);
    write_log_group(writer, call);
    write_stored(writer, "InputFormat", record->detail, call->arena);
    write_stored(writer, "InputFormatOptions", record->detail, call->arena);
    write_stored(writer, "InputCompressionType", record->detail, call->arena);
    write_stored(writer, "TableCreationParameters", record->detail, call->arena);
    write_times(writer, record);
    write_counters(writer, record);
    if (record->state == JOB_FAILED || record->state == JOB_CANCELLED) {
        write_text(writer, "FailureCode", record->failure_code);
        write_text(writer, "FailureMessage", record->failure_message);
    }
    json_close_object(writer);
}

/* The end of an import is stored in one batch with its table's ACTIVE status, or with the removal
 * of the table, and the table is published or gone after that. Until then the import is shown as
 * under way: who sees that it has ended may use the table, or its name. */
static void wait_for_table(struct api_call *call, struct job_record *record)
{
    if (record->state == JOB_RUNNING)
        return;
    struct table *table = catalogue_find(api_catalogue(call->api), record->table_name);
    if (table == NULL)
        return;
    const struct table_definition *definition = table_definition(table);
    if (definition->status == TABLE_CREATING &&
        bytes_equal_text(definition->origin.job_id, record->id)) {
        record->state = JOB_RUNNING;
        record->ended_ms = 0;
    }
    table_release(table);
}

/* The job may be ahead of its record. */
static void refresh(struct api_call *call, struct job_record *record)
{
    struct job_progress progress;
    wait_for_table(call, record);
    if (record->state == JOB_RUNNING &&
        job_runner_progress(api_jobs(call->api), JOB_IMPORT, bytes_of(record->id, JOB_ID_SIZE),
                            &progress))
        record->progress = progress;
}

static bool answer(struct api_call *call, const struct job_record *record)
{
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "ImportTableDescription");
    write_description(&writer, call, record);
    json_close_object(&writer);
    return true;
}

static bool answer_latest(struct api_call *call, struct job_record *record)
{
    refresh(call, record);
    return answer(call, record);
}

/* --- ImportTable: the rules --- */

static bool check_options(const struct import_table_request *request, struct error *err)
{
    if (request->options == NULL || request->options->csv == NULL ||
        bytes_equal(request->input_format, BYTES("CSV")))
        return true;
    return error_validation(
        err, "Invalid Request: Unsupported InputFormatOptions for the given input format: %.*s.",
        BYTES_FMT(request->input_format));
}

static bool check_indexes(const struct create_table_request *parameters, struct error *err)
{
    const struct shape_list *indexes = &parameters->global_secondary_indexes;
    for (size_t i = 0; i < indexes->kept; i++) {
        const struct index_request *index = ((struct index_request *const *)indexes->elements)[i];
        if (index->warm_throughput != NULL)
            return error_validation(err,
                                    "One or more parameter values were invalid: WarmThroughput is "
                                    "not supported on Global Secondary Indexes via ImportTable");
    }
    return true;
}

/* The table stays CREATING until the job ends that. */
static bool make_draft(struct api_call *call, const struct create_table_request *request,
                       struct table_definition *draft)
{
    int64_t now_ms = clock_wall_ms(api_options(call->api)->clock);
    *draft = (struct table_definition){ .name = request->table_name,
                                        .created_ms = now_ms,
                                        .status = TABLE_CREATING,
                                        .origin = { .kind = TABLE_ORIGIN_IMPORT } };
    if (!throughput_rules_create(request, now_ms, draft, &call->error) ||
        !index_rules_draft(call->arena, request, draft, &call->error) ||
        !setting_rules_create(call->arena, request, draft, &call->error) ||
        !quota_rules_check(call->api, NULL, draft, now_ms, &call->error))
        return false;
    draft->uuid = uuid_create(call->arena);
    return true;
}

/* The request as it is stored: with its defaults, and without the token. */
static struct bytes detail_of(struct api_call *call, const struct import_table_request *request)
{
    struct import_source_request source = *request->source;
    struct import_table_request stored = *request;
    struct json_writer writer;
    struct buffer out;
    if (source.bucket_owner.data == NULL)
        source.bucket_owner = bytes_from_text(api_options(call->api)->account_id);
    if (stored.compression.data == NULL)
        stored.compression = BYTES("NONE");
    stored.client_token = (struct bytes){ 0 };
    stored.source = &source;
    buffer_init(&out, call->arena);
    json_writer_init(&writer, &out);
    shape_write(&writer, &import_table_shape, &stored);
    return buffer_bytes(&out);
}

/* --- ImportTable: repeated requests --- */

static bool refuse_taken(struct api_call *call, struct bytes name)
{
    return error_set(&call->error, ERROR_RESOURCE_IN_USE, "Table already exists: %.*s",
                     BYTES_FMT(name));
}

/* A request whose token was used before. False with an error, or with nothing if it is a new one.
 */
static bool answer_repeated(struct api_call *call, const struct import_table_request *request)
{
    struct job_record record;
    enum engine_status status = job_runner_find_token(api_jobs(call->api), call->arena, JOB_IMPORT,
                                                      request->client_token, &record);
    if (status == ENGINE_NOT_FOUND)
        return false;
    if (status != ENGINE_OK)
        return storage_error_set(&call->error, status, "ImportTable");
    /* Observed: nothing but the name of the table is compared. */
    if (!bytes_equal(record.table_name, request->parameters->table_name))
        return error_set(&call->error, ERROR_IMPORT_CONFLICT,
                         "Import conflict: Duplicate request detected with conflicting parameters");
    return answer_latest(call, &record);
}

/* A table that is not the one being made by an import is in the way, whatever the token. */
static bool check_taken(struct api_call *call, struct bytes name, bool *importing)
{
    struct table *table = catalogue_borrow(api_catalogue(call->api), name);
    *importing = table != NULL && table_definition(table)->status == TABLE_CREATING;
    bool taken = table != NULL && !*importing;
    table_release(table);
    return !taken || refuse_taken(call, name);
}

/* --- ImportTable: a new import --- */

static bool check_room(struct api_call *call)
{
    bool has_room;
    if (!table_job_check_room(call))
        return false;
    if (!job_runner_may_add(api_jobs(call->api), JOB_IMPORT))
        return error_set(&call->error, ERROR_LIMIT_EXCEEDED,
                         "Subscriber limit exceeded: Only %d tables can be created, updated, or "
                         "deleted simultaneously by imports",
                         IMPORT_JOBS_MAX);
    enum engine_status status = job_runner_has_room(api_jobs(call->api), JOB_IMPORT, &has_room);
    if (status != ENGINE_OK)
        return storage_error_set(&call->error, status, "ImportTable");
    return has_room ||
           error_set(&call->error, ERROR_LIMIT_EXCEEDED,
                     "Subscriber limit exceeded: There are too many records of imports. They are "
                     "removed after %d days",
                     JOB_RECORD_LIFETIME_DAYS);
}

static bool start(struct api_call *call, const struct import_table_request *request,
                  struct table_definition *draft)
{
    struct job_record record = job_runner_new_record(api_jobs(call->api), JOB_IMPORT);
    record.token = request->client_token;
    record.detail = detail_of(call, request);
    if (record.detail.len > JOB_DETAIL_SIZE_MAX)
        return error_validation(&call->error, "Invalid Request: The request is too large");
    return job_access_note(call, &record) && table_job_create(call, draft, &record) &&
           answer(call, &record);
}

static bool import_table(struct api_call *call, const struct import_table_request *request)
{
    struct table_definition draft;
    bool importing;
    struct bytes name = request->parameters->table_name;
    if (!check_options(request, &call->error) ||
        !check_indexes(request->parameters, &call->error) ||
        !make_draft(call, request->parameters, &draft) || !check_taken(call, name, &importing))
        return false;
    if (answer_repeated(call, request))
        return true;
    if (error_is_set(&call->error))
        return false;
    if (importing)
        return refuse_taken(call, name);
    return check_room(call) && start(call, request, &draft);
}

static void run_import_table(struct api_call *call, const void *input)
{
    operation_end(call, import_table(call, input));
}

/* The table, and what is read from the bucket. */
static bool admits_import(struct api_call *call, const void *input)
{
    const struct import_table_request *request = input;
    if (call->caller == NULL)
        return true;
    struct bytes bucket = request->source->bucket;
    struct bytes prefix = request->source->key_prefix;
    struct access_question list = {
        .service = "s3",
        .action = "ListBucket",
        .arn = arena_printf(call->arena, "arn:aws:s3:::%.*s", BYTES_FMT(bucket)),
    };
    struct access_question get = {
        .service = "s3",
        .action = "GetObject",
        .arn = arena_printf(call->arena, "arn:aws:s3:::%.*s/%.*s*", BYTES_FMT(bucket),
                            prefix.data == NULL ? 0 : (int)prefix.len,
                            prefix.data == NULL ? "" : (const char *)prefix.data),
    };
    return operation_may_use(call, request->parameters->table_name) && operation_may(call, &list) &&
           operation_may(call, &get);
}

const struct operation op_import_table = { .name = "ImportTable",
                                           .kind = OPERATION_CONTROL,
                                           .request = &import_table_shape,
                                           .asks = OPERATION_ASKS_ITSELF,
                                           .admits = admits_import,
                                           .run = run_import_table };

/* --- DescribeImport --- */

/* The table's name and the id within "<table's ARN>/import/<id>". */
static bool parse_arn(struct bytes arn, struct bytes *name, struct bytes *id)
{
    struct bytes marker = BYTES("/import/");
    if (arn.len < JOB_ID_SIZE + marker.len)
        return false;
    *id = bytes_of(arn.data + arn.len - JOB_ID_SIZE, JOB_ID_SIZE);
    struct bytes rest = bytes_of(arn.data, arn.len - JOB_ID_SIZE);
    if (!job_record_is_id(*id) ||
        !bytes_equal(bytes_of(rest.data + rest.len - marker.len, marker.len), marker))
        return false;
    struct bytes table_arn = bytes_of(rest.data, rest.len - marker.len);
    *name = operation_table_name(table_arn);
    return name->len < table_arn.len && name->len > 0;
}

static bool describe_import(struct api_call *call, struct bytes arn)
{
    const struct api_options *options = api_options(call->api);
    struct job_record record;
    struct bytes name, id;
    if (!parse_arn(arn, &name, &id))
        return error_validation(&call->error, "Invalid Import ARN");
    if (arn_owner_of(arn, options->region, options->account_id) == ARN_OF_OTHER_ACCOUNT)
        return error_set(&call->error, ERROR_ACCESS_DENIED, "Access is denied");
    enum engine_status status =
        job_record_load(options->engine, call->arena, JOB_IMPORT, id, &record);
    if (status == ENGINE_OK && bytes_equal(arn, import_arn(call, &record)))
        return answer_latest(call, &record);
    if (status != ENGINE_OK && status != ENGINE_NOT_FOUND)
        return storage_error_set(&call->error, status, "DescribeImport");
    return error_set(&call->error, ERROR_IMPORT_NOT_FOUND, "Import not found: %.*s",
                     BYTES_FMT(arn));
}

static bool admits_describe(struct api_call *call, const void *input)
{
    const struct import_arn_request *request = input;
    return operation_may_use_arn(call, request->arn);
}

static void run_describe_import(struct api_call *call, const void *input)
{
    const struct import_arn_request *request = input;
    operation_end(call, admits_describe(call, request) && describe_import(call, request->arn));
}

const struct operation op_describe_import = { .name = "DescribeImport",
                                              .kind = OPERATION_DATA,
                                              .request = &describe_import_shape,
                                              .asks = OPERATION_ASKS_ITSELF,
                                              .waits = OPERATION_WAITS,
                                              .run = run_describe_import };

/* --- ListImports --- */

static void write_summary(struct json_writer *writer, struct api_call *call,
                          const struct job_record *stored)
{
    struct job_record record = *stored;
    wait_for_table(call, &record);
    write_text(writer, "ImportArn", import_arn(call, &record));
    write_text(writer, "ImportStatus", bytes_from_text(status_name(record.state)));
    write_text(writer, "TableArn", operation_table_arn(call, record.table_name));
    write_stored(writer, "S3BucketSource", record.detail, call->arena);
    write_log_group(writer, call);
    write_stored(writer, "InputFormat", record.detail, call->arena);
    write_times(writer, &record);
}

static bool list_imports(struct api_call *call, const struct list_imports_request *request)
{
    struct import_list list = { .operation = "ListImports",
                                .member = "ImportSummaryList",
                                .letter = JOB_IMPORT,
                                .page_size = request->page_size,
                                .next_token = request->next_token,
                                .write = write_summary };
    if (request->table_arn.data != NULL)
        list.table_name = operation_table_name(request->table_arn);
    return import_list_answer(call, &list);
}

static void run_list_imports(struct api_call *call, const void *input)
{
    operation_end(call, list_imports(call, input));
}

const struct operation op_list_imports = { .name = "ListImports",
                                           .kind = OPERATION_DATA,
                                           .request = &list_imports_shape,
                                           .asks = OPERATION_ASKS_ACCOUNT,
                                           .waits = OPERATION_WAITS,
                                           .run = run_list_imports };
