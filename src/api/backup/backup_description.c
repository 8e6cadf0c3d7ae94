/* backup_description.c -- see backup_description.h.
 *
 * SourceTableFeatureDetails is there even if it is empty; tags, recovery, table class, deletion
 * protection, policies and warm throughput are not part of a backup.
 */
#include "api/backup/backup_description.h"
#include "api/backup/backup_name.h"
#include "api/operation.h"
#include "api/table/table_description.h"
#include "jobs/job_record.h"
#include "json/writer.h"
#include "model/table_definition.h"

static void write_string(struct json_writer *writer, const char *name, struct bytes value)
{
    json_write_name(writer, name);
    json_write_string(writer, value);
}

static void write_text(struct json_writer *writer, const char *name, const char *value)
{
    write_string(writer, name, bytes_from_text(value));
}

static void write_integer(struct json_writer *writer, const char *name, int64_t value)
{
    json_write_name(writer, name);
    json_write_integer(writer, value);
}

static void write_time(struct json_writer *writer, const char *name, int64_t time_ms)
{
    json_write_name(writer, name);
    json_write_seconds(writer, time_ms);
}

/* --- The backup --- */

const char *backup_description_status(const struct job_record *record)
{
    return record->state == JOB_RUNNING ? "CREATING" : "AVAILABLE";
}

static void write_backup(struct json_writer *writer, const struct backup_shown *shown)
{
    write_string(writer, "BackupArn", shown->arn);
    write_string(writer, "BackupName", shown->detail->name);
    write_integer(writer, "BackupSizeBytes", shown->detail->stats.size);
    write_text(writer, "BackupStatus", shown->status);
    write_text(writer, "BackupType", shown->detail->type == BACKUP_USER ? "USER" : "SYSTEM");
    write_time(writer, "BackupCreationDateTime", backup_moment_ms(shown->record, shown->detail));
    if (shown->detail->expires_ms != 0)
        write_time(writer, "BackupExpiryDateTime", shown->detail->expires_ms);
}

void backup_description_write_details(struct json_writer *writer, const struct backup_shown *shown)
{
    json_write_name(writer, "BackupDetails");
    json_open_object(writer);
    write_backup(writer, shown);
    json_close_object(writer);
}

void backup_description_write_summary(struct json_writer *writer, struct api_call *call,
                                      const struct backup_shown *shown)
{
    json_open_object(writer);
    write_string(writer, "TableName", shown->record->table_name);
    write_string(writer, "TableId", shown->record->table_uuid);
    write_string(writer, "TableArn", operation_table_arn(call, shown->record->table_name));
    write_backup(writer, shown);
    json_close_object(writer);
}

/* --- The table --- */

static void write_throughput(struct json_writer *writer, const struct throughput *throughput)
{
    json_write_name(writer, "ProvisionedThroughput");
    json_open_object(writer);
    write_integer(writer, "ReadCapacityUnits", throughput->read_units);
    write_integer(writer, "WriteCapacityUnits", throughput->write_units);
    json_close_object(writer);
}

static void write_on_demand(struct json_writer *writer, const struct unit_pair *max)
{
    if (max->read_units == UNITS_UNSET && max->write_units == UNITS_UNSET)
        return;
    json_write_name(writer, "OnDemandThroughput");
    json_open_object(writer);
    if (max->read_units != UNITS_UNSET)
        write_integer(writer, "MaxReadRequestUnits", max->read_units);
    if (max->write_units != UNITS_UNSET)
        write_integer(writer, "MaxWriteRequestUnits", max->write_units);
    json_close_object(writer);
}

static void write_source(struct json_writer *writer, struct api_call *call,
                         const struct backup_shown *shown)
{
    const struct table_definition *table = &shown->detail->table;
    json_write_name(writer, "SourceTableDetails");
    json_open_object(writer);
    write_string(writer, "TableName", table->name);
    write_string(writer, "TableId", table->uuid);
    write_string(writer, "TableArn", operation_table_arn(call, table->name));
    write_integer(writer, "TableSizeBytes", shown->detail->stats.size);
    table_description_write_key(writer, &table->key.hash, 1, &table->key.range,
                                table->key.has_range ? 1 : 0);
    write_time(writer, "TableCreationDateTime", table->created_ms);
    write_throughput(writer, &table->throughput);
    write_on_demand(writer, &table->on_demand_max);
    write_integer(writer, "ItemCount", shown->detail->stats.item_count);
    write_text(writer, "BillingMode", billing_mode_name(table->billing_mode));
    json_close_object(writer);
}

static void write_indexes(struct json_writer *writer, struct api_call *call,
                          const struct table_definition *table, bool global)
{
    size_t count = 0;
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index_definition *index = &table->indexes[i];
        if (index->global != global)
            continue;
        if (count++ == 0) {
            json_write_name(writer, global ? "GlobalSecondaryIndexes" : "LocalSecondaryIndexes");
            json_open_array(writer);
        }
        json_open_object(writer);
        write_string(writer, "IndexName", index->name);
        table_description_write_key(writer, index->hash, index->hash_count, index->range,
                                    index->range_count);
        table_description_write_projection(writer, call->arena, index);
        if (global) {
            write_throughput(writer, &index->throughput);
            write_on_demand(writer, &index->on_demand_max);
        }
        json_close_object(writer);
    }
    if (count > 0)
        json_close_array(writer);
}

static void write_settings(struct json_writer *writer, struct api_call *call,
                           const struct table_definition *table)
{
    const struct api_options *options = api_options(call->api);
    if (table->stream_enabled) {
        json_write_name(writer, "StreamDescription");
        json_open_object(writer);
        json_write_name(writer, "StreamEnabled");
        json_write_bool(writer, true);
        write_string(writer, "StreamViewType", table->stream_view_type);
        json_close_object(writer);
    }
    if (table->expiry.status != EXPIRY_NONE && table->expiry.status != EXPIRY_REMOVING) {
        json_write_name(writer, "TimeToLiveDescription");
        json_open_object(writer);
        write_text(writer, "TimeToLiveStatus",
                   table->expiry.status == EXPIRY_ACTIVE ? "ENABLED" : "ENABLING");
        write_string(writer, "AttributeName", table->expiry.attribute);
        json_close_object(writer);
    }
    if (table->encryption_given) {
        json_write_name(writer, "SSEDescription");
        json_open_object(writer);
        write_text(writer, "Status", "ENABLED");
        write_text(writer, "SSEType", "KMS");
        write_string(
            writer, "KMSMasterKeyArn",
            table_description_key_arn(call->arena, table, options->region, options->account_id));
        json_close_object(writer);
    }
}

void backup_description_write(struct json_writer *writer, struct api_call *call,
                              const struct backup_shown *shown)
{
    json_write_name(writer, "BackupDescription");
    json_open_object(writer);
    backup_description_write_details(writer, shown);
    write_source(writer, call, shown);
    json_write_name(writer, "SourceTableFeatureDetails");
    json_open_object(writer);
    if (shown->detail->type == BACKUP_USER) { /* Observed: those of SYSTEM backups are empty. */
        write_indexes(writer, call, &shown->detail->table, false);
        write_indexes(writer, call, &shown->detail->table, true);
        write_settings(writer, call, &shown->detail->table);
    }
    json_close_object(writer);
    json_close_object(writer);
}
