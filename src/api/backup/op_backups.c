/* op_backups.c -- CreateBackup, DescribeBackup, DeleteBackup and ListBackups. */
#include "api/backup/backup_description.h"
#include "api/backup/backup_job.h"
#include "api/backup/backup_name.h"
#include "api/backup/backups.h"
#include "api/backup/restore_job.h"
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "api/table/table_operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "jobs/job_runner.h"
#include "json/writer.h"
#include "table/catalogue.h"
#include "table/storage_error.h"

/* --- What they share --- */

static bool fail_store(struct api_call *call, enum engine_status status)
{
    return storage_error_set_for_table(&call->error, status, "backups");
}

static bool refuse_missing(struct api_call *call, const struct backup_arn *arn)
{
    return error_set(&call->error, ERROR_BACKUP_NOT_FOUND, "Backup not found: %.*s",
                     BYTES_FMT(arn->text));
}

/* Loads a backup that clients can see. */
static bool load(struct api_call *call, const struct backup_arn *arn, struct job_record *record,
                 struct backup_detail *detail)
{
    if (!job_record_is_id(arn->id))
        return refuse_missing(call, arn);
    enum engine_status status =
        job_record_load(api_options(call->api)->engine, call->arena, JOB_BACKUP, arn->id, record);
    if (status == ENGINE_NOT_FOUND)
        return refuse_missing(call, arn);
    if (status != ENGINE_OK)
        return fail_store(call, status);
    if (!backup_detail_decode(call->arena, record, detail))
        return fail_store(call, ENGINE_CORRUPT);
    return (backup_is_shown(record, detail) && bytes_equal(record->table_name, arn->table)) ||
           refuse_missing(call, arn);
}

bool backup_operation_find(struct api_call *call, const struct backup_arn *arn,
                           struct job_record *record, struct backup_detail *detail)
{
    return load(call, arn, record, detail);
}

/* Observed: a short ARN breaks no constraint, although the model has one; it is no ARN. */
static const struct shape arn_shape = { .kind = SHAPE_STRING,
                                        .min = SHAPE_NO_MIN,
                                        .max = BACKUP_ARN_SIZE_MAX };

struct backup_arn_request {
    struct bytes backup_arn;
};
static const struct shape_field arn_fields[] = {
    { SHAPE_FIELD(struct backup_arn_request, backup_arn, "BackupArn", &arn_shape),
      .required = true },
};

/* Parses the ARN, then asks about the backup, whether or not there is one. */
static bool may_use(struct api_call *call, struct bytes text, struct backup_arn *arn)
{
    return backup_arn_parse(call, text, arn) &&
           operation_may_use_arn(call, backup_arn_own(call, arn));
}

/* --- CreateBackup --- */

struct create_backup_request {
    struct bytes table_name;
    struct bytes backup_name;
};

static bool is_backup_name(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-' || c == '.'))
            return false;
    }
    return text.len > 0;
}

static const struct shape backup_name_shape = { .kind = SHAPE_STRING,
                                                .min = BACKUP_NAME_SIZE_MIN,
                                                .max = BACKUP_NAME_SIZE_MAX,
                                                .pattern = "[a-zA-Z0-9_.-]+",
                                                .matches = is_backup_name };
static const struct shape_field create_fields[] = {
    { SHAPE_FIELD(struct create_backup_request, table_name, "TableName",
                  &common_existing_table_name),
      .required = true, .alone = true, .absent_text = common_table_name_absent_text },
    { SHAPE_FIELD(struct create_backup_request, backup_name, "BackupName", &backup_name_shape),
      .required = true },
};
static const struct shape create_shape = { SHAPE_STRUCTURE_OF(struct create_backup_request,
                                                              create_fields),
                                           .type_name = "CreateBackupInput" };

/* Observed: a table that is being created is missing for this operation, and one that an import
 * makes cannot be backed up yet. */
static struct table *find_table(struct api_call *call, struct bytes name_or_arn)
{
    struct bytes name = operation_table_name(name_or_arn);
    struct table *table = operation_find_table(call, name_or_arn);
    if (table == NULL && !operation_is_own(call))
        return NULL;
    if (table != NULL && table_definition(table)->origin.kind == TABLE_ORIGIN_IMPORT) {
        error_set(&call->error, ERROR_CONTINUOUS_BACKUPS_UNAVAILABLE,
                  "Backups are being enabled for the table: %.*s. Please retry later",
                  BYTES_FMT(name));
        return NULL;
    }
    if (table != NULL && table_definition(table)->status != TABLE_CREATING)
        return table;
    error_set(&call->error, ERROR_TABLE_NOT_FOUND, "Table not found: %.*s", BYTES_FMT(name));
    return NULL;
}

/* Removals have no source. They may wait for their bucket for long, and must not keep backups from
 * being made. */
static bool is_creation(void *context, const struct job_record *record)
{
    (void)context;
    return record->letter == JOB_BACKUP && record->source_id != 0;
}

static bool is_removal(void *context, const struct job_record *record)
{
    (void)context;
    return record->letter == JOB_BACKUP && record->source_id == 0;
}

static bool has_room(struct api_call *call)
{
    bool has_room;
    enum engine_status status = job_runner_has_room(api_jobs(call->api), JOB_BACKUP, &has_room);
    if (status != ENGINE_OK)
        return fail_store(call, status);
    if (!has_room)
        return error_set(&call->error, ERROR_LIMIT_EXCEEDED,
                         "Subscriber limit exceeded: There is a limit of %d backups per subscriber",
                         JOB_RECORDS_MAX);
    return job_runner_count(api_jobs(call->api), is_creation, NULL) < BACKUP_JOBS_MAX ||
           error_set(&call->error, ERROR_LIMIT_EXCEEDED,
                     "Subscriber limit exceeded: Only %d backup operations can be done "
                     "simultaneously",
                     BACKUP_JOBS_MAX);
}

static void answer_details(struct api_call *call, const struct backup_shown *shown)
{
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    backup_description_write_details(&writer, shown);
    json_close_object(&writer);
}

/* Keeps the table as it is for the job. What is answered before this request is in it, since this
 * request holds the table, and its data is not removed. Without room the backup is of a few
 * milliseconds later, when the table has a history. */
static enum engine_status keep_view(struct api_call *call, struct bytes id)
{
    struct engine_view *view = NULL;
    if (!backups_has_room(api_backups(call->api)))
        return ENGINE_OK;
    enum engine_status status =
        engine_view_open(api_options(call->api)->engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        backups_keep_view(api_backups(call->api), id, engine_view_move(view));
    return status;
}

static bool add_job(struct api_call *call, const struct job_record *record)
{
    struct bytes id = bytes_of(record->id, JOB_ID_SIZE);
    enum engine_status status = record->hold_us == 0 ? keep_view(call, id) : ENGINE_OK;
    if (status == ENGINE_OK)
        status = job_runner_add(api_jobs(call->api), call->arena, record);
    if (status == ENGINE_OK)
        return true;
    engine_view_close(backups_take_view(api_backups(call->api), id));
    return fail_store(call, status);
}

static bool create(struct api_call *call, const struct create_backup_request *request,
                   const struct table *table)
{
    const struct table_definition *definition = table_definition(table);
    struct table_stats indexes[INDEXES_MAX];
    struct backup_detail detail = { .name = request->backup_name, .table = *definition };
    struct job_record record = job_runner_new_record(api_jobs(call->api), JOB_BACKUP);
    if (!operation_table_stats(call, table, &detail.stats, indexes))
        return false;
    detail.record = table_definition_encode(call->arena, definition).encoded;
    record.table_name = definition->name;
    record.table_uuid = definition->uuid;
    record.source_id = definition->id;
    if (definition->history.status == HISTORY_ACTIVE)
        record.hold_us = clock_commit_now_us(api_options(call->api)->clock);
    record.progress.items_total = detail.stats.item_count;
    record.progress.bytes_total = detail.stats.size;
    record.detail = backup_detail_encode(call->arena, &detail);
    const struct backup_shown shown = { .record = &record,
                                        .detail = &detail,
                                        .arn = backup_arn_of(call, definition->name,
                                                             bytes_of(record.id, JOB_ID_SIZE)),
                                        .status = "CREATING" };
    answer_details(call, &shown);
    return add_job(call, &record);
}

static void run_create(struct api_call *call, const void *input)
{
    const struct create_backup_request *request = input;
    struct table *table = find_table(call, request->table_name);
    operation_end(call, table != NULL && has_room(call) && create(call, request, table));
}

const struct operation op_create_backup = { .name = "CreateBackup",
                                            .kind = OPERATION_CONTROL,
                                            .request = &create_shape,
                                            .asks = OPERATION_ASKS_RESOURCE,
                                            .run = run_create };

/* --- DescribeBackup --- */

static const struct shape describe_shape = {
    SHAPE_STRUCTURE_OF(struct backup_arn_request, arn_fields), .type_name = "DescribeBackupInput"
};

static void answer_description(struct api_call *call, const struct backup_shown *shown)
{
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    backup_description_write(&writer, call, shown);
    json_close_object(&writer);
}

static void run_describe(struct api_call *call, const void *input)
{
    const struct backup_arn_request *request = input;
    struct backup_arn arn;
    struct job_record record;
    struct backup_detail detail;
    bool ok = may_use(call, request->backup_arn, &arn) && load(call, &arn, &record, &detail);
    if (ok)
        answer_description(call,
                           &(struct backup_shown){ .record = &record,
                                                   .detail = &detail,
                                                   .arn = arn.text,
                                                   .status = backup_description_status(&record) });
    operation_end(call, ok);
}

const struct operation op_describe_backup = { .name = "DescribeBackup",
                                              .kind = OPERATION_DATA,
                                              .request = &describe_shape,
                                              .asks = OPERATION_ASKS_ITSELF,
                                              .waits = OPERATION_WAITS,
                                              .run = run_describe };

/* --- DeleteBackup --- */

static const struct shape delete_shape = {
    SHAPE_STRUCTURE_OF(struct backup_arn_request, arn_fields), .type_name = "DeleteBackupInput"
};

/* The tables that active jobs make of a backup. */
struct restores {
    struct arena *arena;
    struct bytes backup_id;
    struct bytes tables[RESTORE_JOBS_MAX];
    size_t count;
};

static bool note_restore(void *context, const struct job_record *record)
{
    struct restores *restores = context;
    bool is_one = record->letter == JOB_RESTORE && restores->count < RESTORE_JOBS_MAX &&
                  bytes_equal(record->request, restores->backup_id);
    if (is_one)
        restores->tables[restores->count++] = arena_copy(restores->arena, record->table_name);
    return is_one;
}

/* A job is active for a moment after its table became ACTIVE. A client that waited for the table
 * must not be refused for that. */
bool backup_operation_is_restored(struct api_call *call, struct bytes id)
{
    struct restores restores = { .arena = call->arena, .backup_id = id };
    bool found = false;
    (void)job_runner_count(api_jobs(call->api), note_restore, &restores);
    for (size_t i = 0; i < restores.count && !found; i++) {
        struct table *table = catalogue_find(api_catalogue(call->api), restores.tables[i]);
        found = table != NULL && table_definition(table)->status == TABLE_CREATING;
        table_release(table);
    }
    return found;
}

static bool check_deletable(struct api_call *call, const struct backup_arn *arn,
                            const struct job_record *record, const struct backup_detail *detail)
{
    char time[CLOCK_TEXT_SIZE];
    clock_format_utc(detail->expires_ms, time);
    if (detail->type == BACKUP_SYSTEM)
        return error_validation(&call->error,
                                "Invalid Request: User is not allowed to delete the system backup "
                                "with arn %.*s. It will automatically expire on %s",
                                BYTES_FMT(arn->text), time);
    if (record->state == JOB_RUNNING)
        return error_set(&call->error, ERROR_BACKUP_IN_USE, "Backup is being created: %.*s",
                         BYTES_FMT(arn->text));
    return !backup_operation_is_restored(call, arn->id) ||
           error_set(&call->error, ERROR_BACKUP_IN_USE,
                     "Backup is being used to restore table: %.*s", BYTES_FMT(arn->text));
}

/* For clients the backup is gone at once. A job removes its files, and its record last. */
static bool delete (struct api_call *call, const struct backup_arn *arn, struct job_record *record,
                    struct backup_detail *detail)
{
    if (!check_deletable(call, arn, record, detail))
        return false;
    if (job_runner_count(api_jobs(call->api), is_removal, NULL) >= BACKUP_REMOVALS_MAX)
        return error_set(&call->error, ERROR_LIMIT_EXCEEDED,
                         "Subscriber limit exceeded: The files of %d deleted backups are still to "
                         "be removed. Check that the bucket of backups can be reached",
                         BACKUP_REMOVALS_MAX);
    answer_description(
        call, &(struct backup_shown){
                  .record = record, .detail = detail, .arn = arn->text, .status = "DELETED" });
    detail->deleting = true;
    record->detail = backup_detail_encode(call->arena, detail);
    record->state = JOB_RUNNING;
    record->ended_ms = 0;
    record->source_id = 0;
    record->hold_us = 0;
    enum engine_status status = job_runner_add(api_jobs(call->api), call->arena, record);
    return status == ENGINE_OK || fail_store(call, status);
}

static bool admits_delete(struct api_call *call, const void *input)
{
    const struct backup_arn_request *request = input;
    struct backup_arn arn;
    return may_use(call, request->backup_arn, &arn);
}

static void run_delete(struct api_call *call, const void *input)
{
    const struct backup_arn_request *request = input;
    struct backup_arn arn;
    struct job_record record;
    struct backup_detail detail;
    operation_end(call, may_use(call, request->backup_arn, &arn) &&
                            load(call, &arn, &record, &detail) &&
                            delete (call, &arn, &record, &detail));
}

const struct operation op_delete_backup = { .name = "DeleteBackup",
                                            .kind = OPERATION_CONTROL,
                                            .request = &delete_shape,
                                            .asks = OPERATION_ASKS_ITSELF,
                                            .admits = admits_delete,
                                            .run = run_delete };

/* --- ListBackups --- */

enum { LIST_LIMIT_MAX = 100 };

struct list_backups_request {
    struct bytes table_name;
    struct shape_integer limit;
    struct shape_integer lower_ms;
    struct shape_integer upper_ms;
    struct bytes start_arn;
    struct bytes backup_type;
};

static const struct shape start_arn_shape = { .kind = SHAPE_STRING,
                                              .min = BACKUP_ARN_SIZE_MIN,
                                              .max = BACKUP_ARN_SIZE_MAX };
static const struct shape limit_shape = { .kind = SHAPE_INTEGER, .min = 1, .max = LIST_LIMIT_MAX };
static const struct shape time_shape = { .kind = SHAPE_TIMESTAMP, SHAPE_UNBOUNDED };
static const char *const backup_types[] = { "ALL", "AWS_BACKUP", "USER", "SYSTEM", NULL };
static const struct shape backup_type_shape = { .kind = SHAPE_STRING,
                                                .enum_values = backup_types,
                                                SHAPE_UNBOUNDED };
static const struct shape_field list_fields[] = {
    { SHAPE_FIELD(struct list_backups_request, table_name, "TableName",
                  &common_existing_table_name) },
    { SHAPE_FIELD(struct list_backups_request, limit, "Limit", &limit_shape) },
    { SHAPE_FIELD(struct list_backups_request, lower_ms, "TimeRangeLowerBound", &time_shape) },
    { SHAPE_FIELD(struct list_backups_request, upper_ms, "TimeRangeUpperBound", &time_shape) },
    { SHAPE_FIELD(struct list_backups_request, start_arn, "ExclusiveStartBackupArn",
                  &start_arn_shape) },
    { SHAPE_FIELD(struct list_backups_request, backup_type, "BackupType", &backup_type_shape) },
};
static const struct shape list_shape = {
    SHAPE_STRUCTURE_OF(struct list_backups_request, list_fields), .type_name = "ListBackupsInput"
};

/* A page that is being filled. */
struct listing {
    struct api_call *call;
    struct json_writer writer;
    struct arena *scratch;   /* Of one record at a time. */
    struct bytes table_name; /* Data NULL: all. */
    bool wants_user, wants_system;
    size_t room;
    bool more;
    bool damaged;
    struct bytes last_arn;
};

static bool visit(void *context, const struct job_record *record)
{
    struct listing *list = context;
    struct backup_detail detail;
    arena_reset(list->scratch);
    if (!backup_detail_decode(list->scratch, record, &detail)) {
        list->damaged = true;
        return false;
    }
    bool wanted = detail.type == BACKUP_USER ? list->wants_user : list->wants_system;
    if (!wanted || !backup_is_shown(record, &detail) ||
        (list->table_name.data != NULL && !bytes_equal(list->table_name, record->table_name)))
        return true;
    list->more = list->room == 0; /* There is one behind the page. */
    if (list->more)
        return false;
    list->room--;
    list->last_arn =
        backup_arn_of(list->call, record->table_name, bytes_of(record->id, JOB_ID_SIZE));
    const struct backup_shown shown = { .record = record,
                                        .detail = &detail,
                                        .arn = list->last_arn,
                                        .status = backup_description_status(record) };
    backup_description_write_summary(&list->writer, list->call, &shown);
    return true;
}

static bool check_list(struct api_call *call, const struct list_backups_request *request,
                       struct job_record_query *query)
{
    struct backup_arn start;
    if (request->lower_ms.present && request->upper_ms.present &&
        request->lower_ms.value > request->upper_ms.value)
        return error_validation(&call->error,
                                "One or more parameter values were invalid: Time range lower bound "
                                "must be less than or equal to upper bound");
    if (request->lower_ms.present)
        query->first_ms = request->lower_ms.value;
    if (request->upper_ms.present)
        query->end_ms = request->upper_ms.value > 0 ? request->upper_ms.value : 1;
    if (request->start_arn.data == NULL)
        return true;
    if (!backup_arn_parse(call, request->start_arn, &start))
        return false;
    query->after = start.id;
    return !start.is_other_region ||
           error_validation(&call->error, "Invalid Request: The supplied ExclusiveStartBackupArn "
                                          "does not match the region");
}

static bool list(struct api_call *call, const struct list_backups_request *request,
                 const struct job_record_query *query)
{
    struct listing *list = query->context;
    json_writer_init(&list->writer, &call->response);
    json_open_object(&list->writer);
    json_write_name(&list->writer, "BackupSummaries");
    json_open_array(&list->writer);
    /* A bound of 0 would be none at all. */
    bool is_empty = request->upper_ms.present && request->upper_ms.value <= 0;
    enum engine_status status =
        is_empty ? ENGINE_OK : job_record_visit(api_options(call->api)->engine, query);
    if (status == ENGINE_OK && list->damaged)
        status = ENGINE_CORRUPT;
    if (status != ENGINE_OK)
        return fail_store(call, status);
    json_close_array(&list->writer);
    if (list->more) {
        json_write_name(&list->writer, "LastEvaluatedBackupArn");
        json_write_string(&list->writer, list->last_arn);
    }
    json_close_object(&list->writer);
    return true;
}

static void run_list(struct api_call *call, const void *input)
{
    const struct list_backups_request *request = input;
    struct bytes type = request->backup_type.data == NULL ? BYTES("USER") : request->backup_type;
    bool all = bytes_equal_text(type, "ALL");
    struct listing listing = { .call = call,
                               .scratch = arena_create(),
                               .wants_user = all || bytes_equal_text(type, "USER"),
                               .wants_system = all || bytes_equal_text(type, "SYSTEM"),
                               .room = request->limit.present ? (size_t)request->limit.value
                                                              : LIST_LIMIT_MAX };
    struct job_record_query query = { .letter = JOB_BACKUP, .visit = visit, .context = &listing };
    if (request->table_name.data != NULL)
        listing.table_name = operation_table_name(request->table_name);
    bool ok = check_list(call, request, &query) && list(call, request, &query);
    arena_destroy(listing.scratch);
    operation_end(call, ok);
}

const struct operation op_list_backups = { .name = "ListBackups",
                                           .kind = OPERATION_DATA,
                                           .request = &list_shape,
                                           .asks = OPERATION_ASKS_ACCOUNT,
                                           .waits = OPERATION_WAITS,
                                           .run = run_list };
