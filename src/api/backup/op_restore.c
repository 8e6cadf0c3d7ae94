/* op_restore.c -- RestoreTableFromBackup and RestoreTableToPointInTime.
 *
 * Both create a table that is CREATING, together with the record of the job that fills it
 * (restore_job.c), and answer at once.
 */
#include "api/backup/backup_name.h"
#include "api/backup/restore_job.h"
#include "api/backup/restore_rules.h"
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "api/table/quota_rules.h"
#include "api/table/table_name.h"
#include "api/table/table_operation.h"
#include "api/table/table_shapes.h"
#include "api/table_job.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "history/history_window.h"
#include "model/arn.h"
#include "table/catalogue.h"
#include "table/storage_error.h"

#define INVALID "Invalid Request: "

/* --- Access --- */

/* The service authorization reference: a restore needs these of the new table, too. */
static bool may_fill(struct api_call *call, struct bytes target)
{
    static const char *const actions[] = { "BatchWriteItem", "DeleteItem", "GetItem",   "PutItem",
                                           "Query",          "Scan",       "UpdateItem" };
    const struct bytes no_index = { 0 };
    if (call->caller == NULL)
        return true;
    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        struct access_question question =
            operation_question(call, actions[i], target, no_index, NULL);
        if (!operation_may(call, &question))
            return false;
    }
    return true;
}

/* --- The target --- */

static bool check_target(struct api_call *call, struct bytes name)
{
    struct table *table = catalogue_borrow(api_catalogue(call->api), name);
    if (table == NULL)
        return table_job_check_room(call);
    struct bytes backup_arn =
        arena_copy(call->arena, table_definition(table)->origin.backup_arn.data == NULL
                                    ? BYTES("")
                                    : table_definition(table)->origin.backup_arn);
    table_release(table);
    if (backup_arn.len > 0)
        return error_set(&call->error, ERROR_TABLE_IN_USE,
                         "Table: %.*s is already being restored from backup: %.*s", BYTES_FMT(name),
                         BYTES_FMT(backup_arn));
    return error_set(&call->error, ERROR_TABLE_ALREADY_EXISTS, "Table already exists: %.*s",
                     BYTES_FMT(name));
}

/* Of restores at a time, and of their records: clients must not fill the store with them. */
static bool check_count(struct api_call *call)
{
    struct job_runner *jobs = api_jobs(call->api);
    bool has_room;
    if (!job_runner_may_add(jobs, JOB_RESTORE))
        return error_set(&call->error, ERROR_LIMIT_EXCEEDED,
                         "Subscriber limit exceeded: Only %d restore operations can be done "
                         "simultaneously",
                         RESTORE_JOBS_MAX);
    enum engine_status status = job_runner_has_room(jobs, JOB_RESTORE, &has_room);
    if (status != ENGINE_OK)
        return storage_error_set(&call->error, status, "count restores");
    return has_room ||
           error_set(&call->error, ERROR_LIMIT_EXCEEDED,
                     "Subscriber limit exceeded: There are too many records of restores. They are "
                     "removed after %d days",
                     JOB_RECORD_LIFETIME_DAYS);
}

/* Creates the table and starts the job. */
static bool start(struct api_call *call, struct table_definition *draft, struct job_record *record,
                  const struct restore_detail *detail)
{
    record->detail = restore_detail_encode(call->arena, detail);
    if (!table_job_create(call, draft, record))
        return false;
    struct table_answer answer = { .member = "TableDescription",
                                   .definition = draft,
                                   .status = TABLE_CREATING };
    return table_operation_answer(call, &answer);
}

/* --- RestoreTableFromBackup --- */

struct restore_from_backup_request {
    struct bytes backup_arn;
    struct restore_overrides overrides;
};

static const struct shape arn_shape = { .kind = SHAPE_STRING,
                                        .min = SHAPE_NO_MIN,
                                        .max = BACKUP_ARN_SIZE_MAX };
static const struct shape_field from_backup_fields[] = {
    { SHAPE_FIELD(struct restore_from_backup_request, backup_arn, "BackupArn", &arn_shape),
      .required = true },
    RESTORE_OVERRIDE_FIELDS(struct restore_from_backup_request),
};
static const struct shape from_backup_shape = {
    SHAPE_STRUCTURE_OF(struct restore_from_backup_request, from_backup_fields),
    .type_name = "RestoreTableFromBackupInput",
};

static bool may_restore_backup(struct api_call *call,
                               const struct restore_from_backup_request *request,
                               struct backup_arn *arn)
{
    struct bytes target = request->overrides.target_table_name;
    return backup_arn_parse(call, request->backup_arn, arn) &&
           operation_may_use_arn(call, backup_arn_own(call, arn)) &&
           operation_may_use(call, target) && may_fill(call, target);
}

static bool admits_from_backup(struct api_call *call, const void *input)
{
    struct backup_arn arn;
    return may_restore_backup(call, input, &arn);
}

static bool check_backup(struct api_call *call, const struct backup_arn *arn,
                         const struct restore_overrides *overrides, const struct job_record *backup)
{
    if (arn->is_other_region && overrides->encryption == NULL)
        return error_validation(&call->error, INVALID "sseSpecificationOverride must be provided "
                                                      "for cross-region restores");
    if (backup->state == JOB_RUNNING)
        return error_set(&call->error, ERROR_BACKUP_IN_USE, "Backup is being created: %.*s",
                         BYTES_FMT(arn->text));
    return true;
}

static bool restore_backup(struct api_call *call, const struct restore_from_backup_request *request,
                           const struct backup_arn *arn, const struct job_record *backup,
                           const struct backup_detail *source)
{
    struct table_definition draft;
    const struct restore_overrides *overrides = &request->overrides;
    int64_t now_ms = clock_wall_ms(api_options(call->api)->clock);
    if (!check_backup(call, arn, overrides, backup) ||
        !restore_rules_draft(call->arena, overrides, &source->table, now_ms, &draft,
                             &call->error) ||
        !check_target(call, draft.name))
        return false;
    if (backup_operation_is_restored(call, arn->id))
        return error_set(&call->error, ERROR_BACKUP_IN_USE,
                         "Backup is being used to restore another table: %.*s",
                         BYTES_FMT(arn->text));
    if (!check_count(call) || !quota_rules_check(call->api, NULL, &draft, now_ms, &call->error))
        return false;
    draft.origin = (struct origin_definition){
        .kind = TABLE_ORIGIN_BACKUP,
        .backup_arn = backup_arn_own(call, arn),
        .table_arn = operation_table_arn(call, source->table.name),
        .restored_ms = backup_moment_ms(backup, source),
    };
    struct job_record record = job_runner_new_record(api_jobs(call->api), JOB_RESTORE);
    record.request = arn->id;
    if (source->type == BACKUP_SYSTEM) /* The dropped table itself is read. */
        record.source_id = source->table.id;
    /* Writes that began before the drop may still end: in the restored table whole or not at all.
     */
    if (source->type == BACKUP_SYSTEM && source->table.history.status == HISTORY_ACTIVE)
        record.hold_us = clock_commit_now_us(api_options(call->api)->clock);
    record.progress.items_total = source->stats.item_count;
    record.progress.bytes_total = source->stats.size;
    const struct restore_detail detail = { .backup_id = arn->id, .record = source->record };
    return start(call, &draft, &record, &detail);
}

static void run_from_backup(struct api_call *call, const void *input)
{
    const struct restore_from_backup_request *request = input;
    struct backup_arn arn;
    struct job_record backup;
    struct backup_detail source;
    operation_end(call, may_restore_backup(call, request, &arn) &&
                            backup_operation_find(call, &arn, &backup, &source) &&
                            restore_backup(call, request, &arn, &backup, &source));
}

const struct operation op_restore_table_from_backup = { .name = "RestoreTableFromBackup",
                                                        .kind = OPERATION_CONTROL,
                                                        .request = &from_backup_shape,
                                                        .asks = OPERATION_ASKS_ITSELF,
                                                        .admits = admits_from_backup,
                                                        .run = run_from_backup };

/* --- RestoreTableToPointInTime --- */

struct restore_to_time_request {
    struct bytes source_table_arn;
    struct bytes source_table_name;
    struct shape_boolean use_latest;
    struct shape_integer restore_ms;
    struct restore_overrides overrides;
};

static const struct shape source_arn_shape = { .kind = SHAPE_STRING, .min = 1, .max = 1024 };
static const struct shape source_name_shape = { .kind = SHAPE_STRING,
                                                .min = TABLE_NAME_SIZE_MIN,
                                                .max = TABLE_NAME_SIZE_MAX,
                                                .pattern = TABLE_NAME_PATTERN,
                                                .matches = table_name_matches };
static const struct shape time_shape = { .kind = SHAPE_TIMESTAMP, SHAPE_UNBOUNDED };
static const struct shape_field to_time_fields[] = {
    { SHAPE_FIELD(struct restore_to_time_request, source_table_arn, "SourceTableArn",
                  &source_arn_shape) },
    { SHAPE_FIELD(struct restore_to_time_request, source_table_name, "SourceTableName",
                  &source_name_shape) },
    { SHAPE_FIELD(struct restore_to_time_request, use_latest, "UseLatestRestorableTime",
                  &common_boolean) },
    { SHAPE_FIELD(struct restore_to_time_request, restore_ms, "RestoreDateTime", &time_shape) },
    RESTORE_OVERRIDE_FIELDS(struct restore_to_time_request),
};
static const struct shape to_time_shape = { SHAPE_STRUCTURE_OF(struct restore_to_time_request,
                                                               to_time_fields),
                                            .type_name = "RestoreTableToPointInTimeInput" };

static bool check_source_arn(struct api_call *call, struct bytes arn)
{
    const struct api_options *options = api_options(call->api);
    if (!bytes_starts_with(arn, BYTES("arn:")))
        return error_validation(&call->error,
                                "One or more parameter values were invalid: ARNs must start with "
                                "'arn:': %.*s",
                                BYTES_FMT(arn));
    if (!table_name_is_arn(arn))
        return error_validation(
            &call->error,
            "One or more parameter values were invalid: sourceTableArn is not a valid ARN");
    return arn_owner_of(arn, options->region, options->account_id) != ARN_OF_OTHER_ACCOUNT ||
           error_validation(&call->error, "This action is only supported by accounts that match "
                                          "the resource owner\xe2\x80\x99s account.");
}

/* The order is the service's: shape and times, source, recovery, time, target. */
static bool check_to_time(struct api_call *call, const struct restore_to_time_request *request)
{
    bool latest = request->use_latest.present && request->use_latest.value;
    if (request->source_table_arn.data != NULL && request->source_table_name.data != NULL)
        return error_validation(&call->error,
                                "Must provide exactly one of: sourceTableArn, sourceTableName");
    if (request->source_table_arn.data == NULL && request->source_table_name.data == NULL)
        return error_validation(&call->error, "The parameter 'TableName' is required but was not "
                                              "present in the request");
    if (latest && request->restore_ms.present)
        return error_validation(&call->error,
                                INVALID "Both RestoreDateTime and UseLatestRestorableTime cannot "
                                        "be set for point-in-time restore request. Please specify "
                                        "either RestoreDateTime time or UseLatestRestorableTime");
    if (!latest && !request->restore_ms.present)
        return error_validation(&call->error,
                                INVALID "Either one of RestoreDateTime or UseLatestRestorableTime "
                                        "must be specified, but not both");
    return request->source_table_arn.data == NULL ||
           check_source_arn(call, request->source_table_arn);
}

static struct bytes source_of(const struct restore_to_time_request *request)
{
    return request->source_table_arn.data != NULL ? request->source_table_arn
                                                  : request->source_table_name;
}

static bool may_restore_time(struct api_call *call, const struct restore_to_time_request *request)
{
    struct bytes target = request->overrides.target_table_name;
    return check_to_time(call, request) && operation_may_use(call, source_of(request)) &&
           operation_may_use(call, target) && may_fill(call, target);
}

static bool admits_to_time(struct api_call *call, const void *input)
{
    return may_restore_time(call, input);
}

static struct table *find_source(struct api_call *call, struct bytes name_or_arn)
{
    struct bytes name = operation_table_name(name_or_arn);
    struct table *table = operation_find_table(call, name_or_arn);
    enum table_status status = table == NULL ? TABLE_CREATING : table_definition(table)->status;
    if (status == TABLE_ACTIVE || status == TABLE_UPDATING)
        return table;
    if (table != NULL || operation_is_own(call))
        error_set(&call->error, ERROR_TABLE_NOT_FOUND, "Table not found: %.*s", BYTES_FMT(name));
    return NULL;
}

/* The moment that is asked for. It may lie in what is left of the current second. */
static bool find_moment(struct api_call *call, const struct restore_to_time_request *request,
                        const struct table_definition *source, int64_t *at_us)
{
    const struct clock *clock = api_options(call->api)->clock;
    struct history_window window = history_window(source, clock);
    char time[CLOCK_TEXT_SIZE], earliest[CLOCK_TEXT_SIZE], latest[CLOCK_TEXT_SIZE];
    *at_us = clock_commit_now_us(clock);
    if (!request->restore_ms.present)
        return true;
    int64_t asked_ms = request->restore_ms.value;
    if (asked_ms >= 0 && asked_ms < INT64_MAX / 1000 &&
        history_window_has(&window, asked_ms * 1000)) {
        *at_us = asked_ms * 1000;
        return true;
    }
    clock_format_utc(asked_ms, time);
    clock_format_utc(history_window_earliest_ms(&window), earliest);
    clock_format_utc(history_window_latest_ms(&window, 0), latest);
    return error_set(&call->error, ERROR_INVALID_RESTORE_TIME,
                     "RestoreDateTime '%s' must be within EarliestRestorableDateTime '%s' and "
                     "LatestRestorableDateTime '%s'",
                     time, earliest, latest);
}

static bool check_recovery(struct api_call *call, const struct table_definition *source)
{
    return (source->recovery_since_ms != 0 && source->history.status == HISTORY_ACTIVE) ||
           error_set(&call->error, ERROR_POINT_IN_TIME_RECOVERY_UNAVAILABLE,
                     "Point in time recovery is not enabled for table '%.*s'",
                     BYTES_FMT(source->name));
}

static bool restore_time(struct api_call *call, const struct restore_to_time_request *request,
                         const struct table *table)
{
    struct table_definition draft;
    struct table_stats stats, indexes[INDEXES_MAX];
    int64_t at_us;
    const struct table_definition *source = table_definition(table);
    int64_t now_ms = clock_wall_ms(api_options(call->api)->clock);
    if (!check_recovery(call, source) || !find_moment(call, request, source, &at_us) ||
        !restore_rules_draft(call->arena, &request->overrides, source, now_ms, &draft,
                             &call->error) ||
        !check_target(call, draft.name) || !check_count(call) ||
        !quota_rules_check(call->api, NULL, &draft, now_ms, &call->error) ||
        !operation_table_stats(call, table, &stats, indexes))
        return false;
    draft.origin = (struct origin_definition){
        .kind = TABLE_ORIGIN_TIME,
        .table_arn = operation_table_arn(call, source->name),
        .restored_ms = request->restore_ms.present ? request->restore_ms.value : at_us / 1000,
    };
    struct job_record record = job_runner_new_record(api_jobs(call->api), JOB_RESTORE);
    record.source_id = source->id;
    record.hold_us = at_us;
    record.progress.items_total = stats.item_count; /* About as many as now. */
    record.progress.bytes_total = stats.size;
    const struct restore_detail detail = {
        .record = table_definition_encode(call->arena, source).encoded,
    };
    /* Later writes take later times: what is answered after this request is not in the table. Only
     * now, since a request that is refused changes nothing. */
    clock_raise_commit_us(api_options(call->api)->clock, at_us - 1);
    return start(call, &draft, &record, &detail);
}

static void run_to_time(struct api_call *call, const void *input)
{
    const struct restore_to_time_request *request = input;
    struct table *table = NULL;
    operation_end(call, may_restore_time(call, request) &&
                            (table = find_source(call, source_of(request))) != NULL &&
                            restore_time(call, request, table));
}

const struct operation op_restore_table_to_point_in_time = { .name = "RestoreTableToPointInTime",
                                                             .kind = OPERATION_CONTROL,
                                                             .request = &to_time_shape,
                                                             .asks = OPERATION_ASKS_ITSELF,
                                                             .admits = admits_to_time,
                                                             .run = run_to_time };
