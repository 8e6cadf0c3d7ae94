/* op_update_continuous_backups.c -- UpdateContinuousBackups. */
#include "api/common_shapes.h"
#include "api/table/continuous_backups.h"
#include "api/operation.h"
#include "api/table/table_operation.h"
#include "base/clock.h"
#include "base/log.h"
#include "model/limits.h"
#include "table/catalogue.h"

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
    int64_t earliest_ms = continuous_backups_earliest_ms(definition, now_ms);
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
    if (changed.status == TABLE_CREATING)
        return error_set(&call->error, ERROR_CONTINUOUS_BACKUPS_UNAVAILABLE,
                         "Backups are being enabled for the table: %.*s. Please retry later",
                         BYTES_FMT(changed.name));
    set_recovery(request, clock_wall_ms(api_options(call->api)->clock), &changed);
    continuous_backups_answer(call, &changed);
    if (!table_operation_store(call, &changed, "UpdateContinuousBackups"))
        return false;
    if (request->enabled.value)
        log_write(LOG_WARN, "api",
                  "point-in-time recovery was enabled for table '%.*s', but nothing is kept yet: "
                  "no table can be restored to an earlier time; use `stator backup`",
                  BYTES_FMT(changed.name));
    return true;
}

static void run(struct api_call *call, const void *input)
{
    const struct update_continuous_backups_request *request = input;
    struct table *table = continuous_backups_find(call, request->table_name);
    bool ok = table != NULL && update(call, request->recovery, table);
    table_release(table);
    operation_end(call, ok);
}

const struct operation op_update_continuous_backups = { .name = "UpdateContinuousBackups",
                                                        .kind = OPERATION_CONTROL,
                                                        .request = &request_shape,
                                                        .asks = OPERATION_ASKS_RESOURCE,
                                                        .run = run };
