/* op_continuous_backups.c -- UpdateContinuousBackups and DescribeContinuousBackups.
 *
 * Only the setting is there: the table's definition says since when and how far back a table is to
 * be restorable.
 */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/table/table_operation.h"
#include "base/clock.h"
#include "base/log.h"
#include "json/writer.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

/* --- What both share --- */

enum {
    MS_PER_SECOND = 1000,
    MS_PER_DAY = 24 * 60 * 60 * MS_PER_SECOND,
    /* "LatestRestorableDateTime is typically 5 minutes before the current time." */
    LATEST_LAG_MS = 5 * 60 * MS_PER_SECOND,
};

/* NULL with TableNotFoundException, which these operations have in place of
 * ResourceNotFoundException, if there is no such table or it is being deleted. */
static struct table *find_table(struct api_call *call, struct bytes name_or_arn)
{
    struct bytes name = operation_table_name(name_or_arn);
    struct table *table = operation_find_table(call, name_or_arn);
    if (table != NULL && table_definition(table)->status != TABLE_DELETING)
        return table;
    if (operation_is_own(call))
        error_set(&call->error, ERROR_TABLE_NOT_FOUND, "Table not found: %.*s", BYTES_FMT(name));
    return NULL;
}

/* The earliest time the table can be restored to; 0 while recovery is disabled. */
static int64_t earliest_restorable_ms(const struct table_definition *definition, int64_t now_ms)
{
    int64_t since_ms = definition->recovery_since_ms;
    int64_t bound_ms = now_ms - definition->recovery_days * MS_PER_DAY;
    return since_ms == 0 || since_ms > bound_ms ? since_ms : bound_ms;
}

/* Tables are restored to a whole second. */
static void write_time(struct json_writer *writer, const char *name, int64_t time_ms)
{
    json_write_name(writer, name);
    json_write_seconds(writer, time_ms - time_ms % MS_PER_SECOND);
}

static void write_recovery(struct json_writer *writer, const struct table_definition *definition,
                           int64_t now_ms)
{
    json_open_object(writer);
    json_write_name(writer, "PointInTimeRecoveryStatus");
    json_write_text(writer, definition->recovery_since_ms != 0 ? "ENABLED" : "DISABLED");
    if (definition->recovery_since_ms != 0) {
        int64_t earliest_ms = earliest_restorable_ms(definition, now_ms);
        int64_t latest_ms = now_ms - LATEST_LAG_MS;
        json_write_name(writer, "RecoveryPeriodInDays");
        json_write_integer(writer, definition->recovery_days);
        write_time(writer, "EarliestRestorableDateTime", earliest_ms);
        write_time(writer, "LatestRestorableDateTime",
                   latest_ms > earliest_ms ? latest_ms : earliest_ms);
    }
    json_close_object(writer);
}

static void answer(struct api_call *call, const struct table_definition *definition)
{
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "ContinuousBackupsDescription");
    json_open_object(&writer);
    json_write_name(&writer, "ContinuousBackupsStatus");
    json_write_text(&writer, "ENABLED"); /* "... on all tables at table creation." */
    json_write_name(&writer, "PointInTimeRecoveryDescription");
    write_recovery(&writer, definition, clock_wall_ms(api_options(call->api)->clock));
    json_close_object(&writer);
    json_close_object(&writer);
}

/* --- DescribeContinuousBackups --- */

static void run_describe(struct api_call *call, const void *input)
{
    const struct table_name_request *request = input;
    struct table *table = find_table(call, request->table_name);
    bool ok = table != NULL;
    if (ok)
        answer(call, table_definition(table));
    operation_end(call, ok);
}

const struct operation op_describe_continuous_backups = { .name = "DescribeContinuousBackups",
                                                          .kind = OPERATION_DATA,
                                                          .request = &table_name_request_shape,
                                                          .asks = OPERATION_ASKS_RESOURCE,
                                                          .run = run_describe };

/* --- UpdateContinuousBackups --- */

struct recovery_request {
    struct shape_boolean enabled;
    struct shape_integer days;
};

struct update_continuous_backups_request {
    struct bytes table_name;
    struct recovery_request *recovery;
};

static const struct shape days_shape = { .kind = SHAPE_INTEGER,
                                         .min = RECOVERY_DAYS_MIN,
                                         .max = RECOVERY_DAYS_MAX };
static const struct shape_field recovery_fields[] = {
    { SHAPE_FIELD(struct recovery_request, enabled, "PointInTimeRecoveryEnabled", &common_boolean),
      .required = true },
    { SHAPE_FIELD(struct recovery_request, days, "RecoveryPeriodInDays", &days_shape) },
};
static const struct shape recovery_shape = { SHAPE_STRUCTURE_OF(struct recovery_request,
                                                                recovery_fields),
                                             .type_name = "PointInTimeRecoverySpecification" };
static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct update_continuous_backups_request, table_name, "TableName",
                  &common_existing_table_name),
      .required = true, .alone = true, .absent_text = common_table_name_absent_text },
    { SHAPE_FIELD(struct update_continuous_backups_request, recovery,
                  "PointInTimeRecoverySpecification", &recovery_shape),
      .required = true },
};
static const struct shape request_shape = { SHAPE_STRUCTURE_OF(
                                                struct update_continuous_backups_request, fields),
                                            .type_name = "UpdateContinuousBackupsInput" };

static void set_recovery(const struct recovery_request *request, int64_t now_ms,
                         struct table_definition *definition)
{
    /* A longer period does not bring back what the shorter one had given up. */
    int64_t earliest_ms = earliest_restorable_ms(definition, now_ms);
    definition->recovery_since_ms = 0;
    definition->recovery_days = 0;
    if (!request->enabled.value)
        return;
    definition->recovery_since_ms = earliest_ms != 0 ? earliest_ms : now_ms;
    definition->recovery_days = request->days.present ? request->days.value : RECOVERY_DAYS_MAX;
}

static bool update(struct api_call *call, const struct recovery_request *request,
                   const struct table *table)
{
    struct table_definition changed = *table_definition(table);
    if (!request->enabled.value && request->days.present)
        return error_validation(&call->error,
                                "Invalid Request: Cannot specify RecoveryPeriodInDays when "
                                "disabling point-in-time recovery.");
    if (changed.status == TABLE_CREATING)
        return error_set(&call->error, ERROR_CONTINUOUS_BACKUPS_UNAVAILABLE,
                         "Backups are being enabled for the table: %.*s. Please retry later",
                         BYTES_FMT(changed.name));
    set_recovery(request, clock_wall_ms(api_options(call->api)->clock), &changed);
    answer(call, &changed);
    if (!table_operation_store(call, &changed, "UpdateContinuousBackups"))
        return false;
    if (request->enabled.value)
        log_write(LOG_WARN, "api",
                  "point-in-time recovery was enabled for table '%.*s', but nothing is kept yet: "
                  "no table can be restored to an earlier time; use `stator backup`",
                  BYTES_FMT(changed.name));
    return true;
}

static void run_update(struct api_call *call, const void *input)
{
    const struct update_continuous_backups_request *request = input;
    struct table *table = find_table(call, request->table_name);
    bool ok = table != NULL && update(call, request->recovery, table);
    operation_end(call, ok);
}

const struct operation op_update_continuous_backups = { .name = "UpdateContinuousBackups",
                                                        .kind = OPERATION_CONTROL,
                                                        .request = &request_shape,
                                                        .asks = OPERATION_ASKS_RESOURCE,
                                                        .run = run_update };
