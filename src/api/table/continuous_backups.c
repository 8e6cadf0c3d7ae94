/* continuous_backups.c -- see continuous_backups.h. */
#include "api/table/continuous_backups.h"
#include "api/operation.h"
#include "base/clock.h"
#include "json/writer.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

enum {
    MS_PER_SECOND = 1000,
    MS_PER_DAY = 24 * 60 * 60 * MS_PER_SECOND,
    /* "LatestRestorableDateTime is typically 5 minutes before the current time." */
    LATEST_LAG_MS = 5 * 60 * MS_PER_SECOND,
};

struct table *continuous_backups_find(struct api_call *call, struct bytes name_or_arn)
{
    struct bytes name = operation_table_name(name_or_arn);
    struct table *table = catalogue_find(api_catalogue(call->api), name);
    if (table != NULL && table_definition(table)->status != TABLE_DELETING)
        return table;
    table_release(table);
    error_set(&call->error, ERROR_TABLE_NOT_FOUND, "Table not found: %.*s", BYTES_FMT(name));
    return NULL;
}

int64_t continuous_backups_earliest_ms(const struct table_definition *definition, int64_t now_ms)
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
        int64_t earliest_ms = continuous_backups_earliest_ms(definition, now_ms);
        int64_t latest_ms = now_ms - LATEST_LAG_MS;
        json_write_name(writer, "RecoveryPeriodInDays");
        json_write_integer(writer, definition->recovery_days);
        write_time(writer, "EarliestRestorableDateTime", earliest_ms);
        write_time(writer, "LatestRestorableDateTime",
                   latest_ms > earliest_ms ? latest_ms : earliest_ms);
    }
    json_close_object(writer);
}

void continuous_backups_answer(struct api_call *call, const struct table_definition *definition)
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
