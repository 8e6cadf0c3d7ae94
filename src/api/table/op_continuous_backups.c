/* op_continuous_backups.c -- UpdateContinuousBackups and DescribeContinuousBackups.
 *
 * The table's definition says since when and how far back the table is to be restorable;
 * control/history_life.h makes it so, and history/history_window.h says what holds now.
 */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/table/table_operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "control/control.h"
#include "history/history_window.h"
#include "json/writer.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

/* --- What both share --- */

enum { US_PER_MS = 1000 };

/* NULL with TableNotFoundException, which these operations have in place of
 * ResourceNotFoundException, if there is no such table or it is being deleted. */
static struct table *find_table(struct api_call *call, struct bytes name_or_arn)
{
    struct bytes name = operation_table_name(name_or_arn);
    struct table *table = operation_find_table(call, name_or_arn);
    if (table != NULL && table_definition(table)->status != TABLE_DELETING &&
        !table_operation_is_restoring(table))
        return table;
    if (operation_is_own(call))
        error_set(&call->error, ERROR_TABLE_NOT_FOUND, "Table not found: %.*s", BYTES_FMT(name));
    return NULL;
}

static void write_time(struct json_writer *writer, const char *name, int64_t time_ms)
{
    json_write_name(writer, name);
    json_write_seconds(writer, time_ms);
}

static void write_recovery(struct json_writer *writer, const struct api_options *options,
                           const struct table_definition *definition)
{
    json_open_object(writer);
    json_write_name(writer, "PointInTimeRecoveryStatus");
    json_write_text(writer, definition->recovery_days != 0 ? "ENABLED" : "DISABLED");
    if (definition->recovery_days != 0) {
        const struct history_window window = history_window(definition, options->clock);
        json_write_name(writer, "RecoveryPeriodInDays");
        json_write_integer(writer, definition->recovery_days);
        write_time(writer, "EarliestRestorableDateTime", history_window_earliest_ms(&window));
        write_time(writer, "LatestRestorableDateTime",
                   history_window_latest_ms(&window, options->recovery_lag_ms));
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
    write_recovery(&writer, api_options(call->api), definition);
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

static int64_t round_up_to_ms(int64_t time_us)
{
    return (time_us + US_PER_MS - 1) / US_PER_MS;
}

/* A longer period does not bring back what the shorter one had given up. Whatever was kept before
 * recovery was disabled does not come back either. */
static void set_recovery(const struct recovery_request *request, const struct clock *clock,
                         struct table_definition *definition)
{
    int64_t since_us = clock_commit_now_us(clock);
    if (definition->recovery_days != 0)
        since_us = history_window(definition, clock).earliest_us;
    definition->recovery_since_ms = 0;
    definition->recovery_days = 0;
    if (!request->enabled.value)
        return;
    definition->recovery_since_ms = round_up_to_ms(since_us);
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
    set_recovery(request, api_options(call->api)->clock, &changed);
    return table_operation_store(call, &changed, "UpdateContinuousBackups");
}

static void run_update(struct api_call *call, const void *input)
{
    const struct update_continuous_backups_request *request = input;
    struct table *table = find_table(call, request->table_name);
    bool ok = table != NULL && update(call, request->recovery, table);
    if (ok) {
        struct bytes name = arena_copy(call->arena, table_definition(table)->name);
        operation_release_tables(call);
        control_settle_history(api_control(call->api), call->arena, name);
        table = catalogue_find(api_catalogue(call->api), name);
        answer(call, table_definition(table)); /* Nobody else drops tables meanwhile. */
        table_release(table);
    }
    operation_end(call, ok);
}

const struct operation op_update_continuous_backups = { .name = "UpdateContinuousBackups",
                                                        .kind = OPERATION_CONTROL,
                                                        .request = &request_shape,
                                                        .asks = OPERATION_ASKS_RESOURCE,
                                                        .run = run_update };
