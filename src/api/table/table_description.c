/* table_description.c -- a table's definition as the service's TableDescription.
 *
 * Members come in the order of the API reference. Terraform and others compare what they read with
 * what they set, so which members are absent matters as much as their values: an on-demand table
 * shows ProvisionedThroughput with zeros, WarmThroughput is there except in CreateTable's answer,
 * and BillingModeSummary only once a table has been on demand.
 */
#include "api/table/table_description.h"
#include "api/table/replica_description.h"
#include "api/table/throughput_rules.h"
#include "base/arena.h"
#include "base/md5.h"
#include "json/writer.h"

static void write_member_text(struct json_writer *writer, const char *name, const char *text)
{
    json_write_name(writer, name);
    json_write_text(writer, text);
}

static void write_member_string(struct json_writer *writer, const char *name, struct bytes text)
{
    json_write_name(writer, name);
    json_write_string(writer, text);
}

static void write_member_integer(struct json_writer *writer, const char *name, int64_t value)
{
    json_write_name(writer, name);
    json_write_integer(writer, value);
}

/* Nothing for 0, which stands for "never". */
static void write_member_time(struct json_writer *writer, const char *name, int64_t time_ms)
{
    if (time_ms == 0)
        return;
    json_write_name(writer, name);
    json_write_seconds(writer, time_ms);
}

/* --- Keys --- */

static void write_key_element(struct json_writer *writer, const struct key_attribute *attribute,
                              const char *key_type)
{
    json_open_object(writer);
    write_member_string(writer, "AttributeName", attribute->name);
    write_member_text(writer, "KeyType", key_type);
    json_close_object(writer);
}

void table_description_write_key(struct json_writer *writer, const struct key_attribute *hash,
                                 size_t hash_count, const struct key_attribute *range,
                                 size_t range_count)
{
    json_write_name(writer, "KeySchema");
    json_open_array(writer);
    for (size_t i = 0; i < hash_count; i++)
        write_key_element(writer, &hash[i], "HASH");
    for (size_t i = 0; i < range_count; i++)
        write_key_element(writer, &range[i], "RANGE");
    json_close_array(writer);
}

/* The definitions that a key refers to, sorted by name; returns how many. Observed: those of an
 * index that is being deleted go at once. */
static size_t sort_attributes(const struct table_definition *table,
                              const struct key_attribute **sorted)
{
    size_t count = 0;
    for (size_t i = 0; i < table->attribute_count; i++) {
        const struct key_attribute *attribute = &table->attributes[i];
        if (!table_definition_uses_attribute(table, attribute->name))
            continue;
        size_t position = count++;
        for (; position > 0 && bytes_compare(sorted[position - 1]->name, attribute->name) > 0;
             position--)
            sorted[position] = sorted[position - 1];
        sorted[position] = attribute;
    }
    return count;
}

static void write_attributes(struct json_writer *writer, struct arena *arena,
                             const struct table_definition *table)
{
    const struct key_attribute **sorted =
        arena_alloc(arena, table->attribute_count * sizeof(const struct key_attribute *));
    size_t count = sort_attributes(table, sorted);
    json_write_name(writer, "AttributeDefinitions");
    json_open_array(writer);
    for (size_t i = 0; i < count; i++) {
        json_open_object(writer);
        write_member_string(writer, "AttributeName", sorted[i]->name);
        write_member_text(writer, "AttributeType", value_type_name(sorted[i]->type));
        json_close_object(writer);
    }
    json_close_array(writer);
}

/* --- Throughput --- */

static void write_provisioned(struct json_writer *writer, const struct throughput *throughput,
                              int64_t now_ms)
{
    json_write_name(writer, "ProvisionedThroughput");
    json_open_object(writer);
    write_member_time(writer, "LastIncreaseDateTime", throughput->last_increase_ms);
    write_member_time(writer, "LastDecreaseDateTime", throughput->last_decrease_ms);
    write_member_integer(writer, "NumberOfDecreasesToday",
                         throughput_rules_decreases_today(throughput, now_ms));
    write_member_integer(writer, "ReadCapacityUnits", throughput->read_units);
    write_member_integer(writer, "WriteCapacityUnits", throughput->write_units);
    json_close_object(writer);
}

/* UNITS_UNSET and REMOVED are both -1; only what was removed is shown. */
static void write_on_demand(struct json_writer *writer, const struct capacity_shown *shown)
{
    const struct unit_pair *max = &shown->on_demand_max;
    bool has_read = max->read_units != UNITS_UNSET || shown->read_max_removed;
    bool has_write = max->write_units != UNITS_UNSET || shown->write_max_removed;
    if (!has_read && !has_write)
        return;
    json_write_name(writer, "OnDemandThroughput");
    json_open_object(writer);
    if (has_read)
        write_member_integer(writer, "MaxReadRequestUnits", max->read_units);
    if (has_write)
        write_member_integer(writer, "MaxWriteRequestUnits", max->write_units);
    json_close_object(writer);
}

/* Observed: a table that is CREATING shows nothing that it was not asked to warm. */
static void write_warm(struct json_writer *writer, const struct table_description *shown,
                       const struct capacity_shown *capacity, const struct unit_pair *asked)
{
    bool creating = shown->status == TABLE_CREATING;
    if (creating && asked->read_units == UNITS_UNSET && asked->write_units == UNITS_UNSET)
        return;
    json_write_name(writer, "WarmThroughput");
    json_open_object(writer);
    write_member_integer(writer, "ReadUnitsPerSecond", capacity->warm.read_units);
    write_member_integer(writer, "WriteUnitsPerSecond", capacity->warm.write_units);
    write_member_text(writer, "Status", creating || capacity->is_warming ? "UPDATING" : "ACTIVE");
    json_close_object(writer);
}

static void write_mode_summary(struct json_writer *writer, const struct table_description *shown,
                               const char *name, const char *mode_name)
{
    json_write_name(writer, name);
    json_open_object(writer);
    write_member_text(writer, mode_name, billing_mode_name(shown->definition->billing_mode));
    if (shown->status != TABLE_CREATING)
        write_member_time(writer, "LastUpdateToPayPerRequestDateTime", shown->on_demand_since_ms);
    json_close_object(writer);
}

/* Observed: the mode is there a second time, by a name that is in no model. */
static void write_billing_mode(struct json_writer *writer, const struct table_description *shown)
{
    const struct table_definition *table = shown->definition;
    /* Observed: a provisioned table does not show it once it is global. */
    if (!table->billing_mode_given || (table->billing_mode == BILLING_PROVISIONED &&
                                       replica_definition_is_group(&table->replicas)))
        return;
    write_mode_summary(writer, shown, "BillingModeSummary", "BillingMode");
    write_mode_summary(writer, shown, "TableThroughputModeSummary", "TableThroughputMode");
}

/* --- Indexes --- */

/* Observed: names come back sorted. */
static void write_included(struct json_writer *writer, struct arena *arena,
                           const struct index_definition *index)
{
    struct bytes *sorted = arena_alloc(arena, index->included_count * sizeof(*sorted));
    for (size_t i = 0; i < index->included_count; i++) {
        size_t position = i;
        for (; position > 0 && bytes_compare(sorted[position - 1], index->included[i]) > 0;
             position--)
            sorted[position] = sorted[position - 1];
        sorted[position] = index->included[i];
    }
    json_write_name(writer, "NonKeyAttributes");
    json_open_array(writer);
    for (size_t i = 0; i < index->included_count; i++)
        json_write_string(writer, sorted[i]);
    json_close_array(writer);
}

void table_description_write_projection(struct json_writer *writer, struct arena *arena,
                                        const struct index_definition *index)
{
    json_write_name(writer, "Projection");
    json_open_object(writer);
    write_member_text(writer, "ProjectionType", projection_type_name(index->projection));
    if (index->projection == PROJECTION_INCLUDE)
        write_included(writer, arena, index);
    json_close_object(writer);
}

/* Backfilling is shown only while an index is added to a table. */
static void write_index_status(struct json_writer *writer, const struct table_description *shown,
                               const struct index_definition *index, bool is_updating)
{
    static const char *const names[INDEX_STATUS_COUNT] = {
        [INDEX_ACTIVE] = "ACTIVE",
        [INDEX_ALLOCATING] = "CREATING",
        [INDEX_BACKFILLING] = "CREATING",
        [INDEX_DELETING] = "DELETING",
    };
    bool added = index->status == INDEX_ALLOCATING || index->status == INDEX_BACKFILLING;
    const char *status = shown->status == TABLE_CREATING                ? "CREATING"
                         : is_updating && index->status == INDEX_ACTIVE ? "UPDATING"
                                                                        : names[index->status];
    write_member_text(writer, "IndexStatus", status);
    if (!added)
        return;
    json_write_name(writer, "Backfilling");
    json_write_bool(writer, index->status == INDEX_BACKFILLING);
}

static void write_index(struct json_writer *writer, struct arena *arena,
                        const struct table_description *shown, struct bytes table_arn,
                        const struct index_definition *index)
{
    json_open_object(writer);
    write_member_string(writer, "IndexName", index->name);
    table_description_write_key(writer, index->hash, index->hash_count, index->range,
                                index->range_count);
    const struct capacity_shown *capacity = &shown->indexes[index - shown->definition->indexes];
    table_description_write_projection(writer, arena, index);
    if (index->global) {
        /* Observed: none while a table is being restored. */
        if (shown->definition->origin.restored_ms == 0)
            write_index_status(writer, shown, index, capacity->is_updating);
        write_provisioned(writer, &capacity->provisioned, shown->now_ms);
    }
    static const struct table_stats none; /* What is being deleted is not counted any more. */
    const struct table_stats *stats = index->status == INDEX_DELETING
                                          ? &none
                                          : &shown->index_stats[index - shown->definition->indexes];
    write_member_integer(writer, "IndexSizeBytes", stats->size);
    write_member_integer(writer, "ItemCount", stats->item_count);
    write_member_string(
        writer, "IndexArn",
        arena_printf(arena, "%.*s/index/%.*s", BYTES_FMT(table_arn), BYTES_FMT(index->name)));
    if (index->global) {
        write_on_demand(writer, capacity);
        write_warm(writer, shown, capacity, &index->warm_throughput);
    }
    json_close_object(writer);
}

/* "If the table is in the DELETING state, no information about indexes will be returned." */
static void write_indexes(struct json_writer *writer, struct arena *arena,
                          const struct table_description *shown, struct bytes table_arn,
                          bool global)
{
    const struct table_definition *table = shown->definition;
    size_t count = 0;
    for (size_t i = 0; i < table->index_count; i++)
        count += table->indexes[i].global == global;
    if (count == 0 || shown->status == TABLE_DELETING)
        return;
    json_write_name(writer, global ? "GlobalSecondaryIndexes" : "LocalSecondaryIndexes");
    json_open_array(writer);
    for (size_t i = 0; i < table->index_count; i++) {
        if (table->indexes[i].global == global)
            write_index(writer, arena, shown, table_arn, &table->indexes[i]);
    }
    json_close_array(writer);
}

/* --- Settings --- */

static void write_stream(struct json_writer *writer, struct arena *arena,
                         const struct table_definition *table, struct bytes table_arn)
{
    if (table->stream_enabled) {
        json_write_name(writer, "StreamSpecification");
        json_open_object(writer);
        json_write_name(writer, "StreamEnabled");
        json_write_bool(writer, true);
        write_member_string(writer, "StreamViewType", table->stream_view_type);
        json_close_object(writer);
    }
    if (table->stream_label.data == NULL)
        return;
    write_member_string(writer, "LatestStreamLabel", table->stream_label);
    write_member_string(writer, "LatestStreamArn",
                        arena_printf(arena, "%.*s/stream/%.*s", BYTES_FMT(table_arn),
                                     BYTES_FMT(table->stream_label)));
}

/* The id of the key that an alias stands for: a UUID of the alias, since there is no key. */
static struct bytes alias_key_id(struct arena *arena, struct bytes alias)
{
    struct md5 md5;
    uint8_t id[MD5_DIGEST_SIZE];
    md5_init(&md5);
    md5_add(&md5, alias);
    md5_finish(&md5, id);
    id[6] = (uint8_t)((id[6] & 0x0f) | 0x30); /* RFC 9562: version 3, ... */
    id[8] = (uint8_t)((id[8] & 0x3f) | 0x80); /* ... of its variant. */
    return arena_printf(arena,
                        "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                        id[0], id[1], id[2], id[3], id[4], id[5], id[6], id[7], id[8], id[9],
                        id[10], id[11], id[12], id[13], id[14], id[15]);
}

/* A key may be given as an ARN, an alias or an id; the service always answers with a key's ARN. */
struct bytes table_description_key_arn(struct arena *arena,
                                       const struct table_definition *definition,
                                       const char *region, const char *account_id)
{
    struct bytes key = definition->encryption_key;
    if (key.data == NULL)
        key = BYTES("alias/aws/dynamodb"); /* The account's default key. */
    if (bytes_starts_with(key, BYTES("arn:")))
        return key;
    if (bytes_starts_with(key, BYTES("alias/")))
        key = alias_key_id(arena, key);
    return arena_printf(arena, "arn:aws:kms:%s:%s:key/%.*s", region, account_id, BYTES_FMT(key));
}

/* Observed: encryption that is being enabled shows no key yet. */
static void write_encryption(struct json_writer *writer, struct arena *arena,
                             const struct table_description *shown)
{
    if (!shown->encrypted->encryption_given && !shown->encryption_changes)
        return;
    json_write_name(writer, "SSEDescription");
    json_open_object(writer);
    write_member_text(writer, "Status", shown->encryption_changes ? "UPDATING" : "ENABLED");
    if (shown->encrypted->encryption_given) {
        write_member_text(writer, "SSEType", "KMS");
        write_member_string(
            writer, "KMSMasterKeyArn",
            table_description_key_arn(arena, shown->encrypted, shown->region, shown->account_id));
    }
    json_close_object(writer);
}

static void write_table_class(struct json_writer *writer, const struct table_definition *table)
{
    if (!table->table_class_given)
        return;
    json_write_name(writer, "TableClassSummary");
    json_open_object(writer);
    write_member_text(writer, "TableClass", table_class_name(table->table_class));
    write_member_time(writer, "LastUpdateDateTime", table->table_class_updated_ms);
    json_close_object(writer);
}

/* While the table is being restored, and not after that. */
static void write_restore(struct json_writer *writer, const struct origin_definition *origin)
{
    if (origin->restored_ms == 0)
        return;
    json_write_name(writer, "RestoreSummary");
    json_open_object(writer);
    if (origin->backup_arn.data != NULL)
        write_member_string(writer, "SourceBackupArn", origin->backup_arn);
    if (origin->table_arn.data != NULL)
        write_member_string(writer, "SourceTableArn", origin->table_arn);
    write_member_time(writer, "RestoreDateTime", origin->restored_ms);
    json_write_name(writer, "RestoreInProgress");
    json_write_bool(writer, true);
    json_close_object(writer);
}

/* --- The whole --- */

static void write_settings(struct json_writer *writer, struct arena *arena,
                           const struct table_description *description, struct bytes arn)
{
    write_indexes(writer, arena, description, arn, false);
    write_indexes(writer, arena, description, arn, true);
    write_stream(writer, arena, description->definition, arn);
}

static struct capacity_shown capacity_of(enum billing_mode mode,
                                         const struct throughput *provisioned,
                                         const struct unit_pair *on_demand_max,
                                         const struct unit_pair *warm)
{
    return (struct capacity_shown){ .provisioned = *provisioned,
                                    .on_demand_max = *on_demand_max,
                                    .warm = throughput_rules_warm(mode, provisioned, warm) };
}

void table_description_init(struct table_description *description, enum description_kind kind,
                            const struct table_definition *definition, enum table_status status)
{
    enum billing_mode mode = definition->billing_mode;
    *description = (struct table_description){
        .kind = kind,
        .definition = definition,
        .encrypted = definition,
        .classed = definition,
        .status = status,
        .on_demand_since_ms = definition->on_demand_since_ms,
        .table = capacity_of(mode, &definition->throughput, &definition->on_demand_max,
                             &definition->warm_throughput),
    };
    for (size_t i = 0; i < definition->index_count; i++) {
        const struct index_definition *index = &definition->indexes[i];
        description->indexes[i] =
            capacity_of(mode, &index->throughput, &index->on_demand_max, &index->warm_throughput);
    }
}

void table_description_write(struct json_writer *writer, struct arena *arena,
                             const struct table_description *description)
{
    const struct table_definition *table = description->definition;
    struct bytes arn = arena_printf(arena, "arn:aws:dynamodb:%s:%s:table/%.*s", description->region,
                                    description->account_id, BYTES_FMT(table->name));
    bool whole = description->kind != DESCRIPTION_OF_DELETION;
    json_open_object(writer);
    if (whole)
        write_attributes(writer, arena, table);
    write_member_string(writer, "TableName", table->name);
    if (whole)
        table_description_write_key(writer, &table->key.hash, 1, &table->key.range,
                                    table->key.has_range ? 1 : 0);
    write_member_text(writer, "TableStatus", table_status_name(description->status));
    if (whole)
        write_member_time(writer, "CreationDateTime", table->created_ms);
    write_provisioned(writer, &description->table.provisioned, description->now_ms);
    write_member_integer(writer, "TableSizeBytes", description->stats.size);
    write_member_integer(writer, "ItemCount", description->stats.item_count);
    write_member_string(writer, "TableArn", arn);
    write_member_string(writer, "TableId", table->uuid);
    write_billing_mode(writer, description);
    if (whole)
        write_settings(writer, arena, description, arn);
    write_encryption(writer, arena, description);
    if (whole) {
        replica_description_write(writer, description);
        write_table_class(writer, description->classed);
    }
    write_restore(writer, &table->origin);
    json_write_name(writer, "DeletionProtectionEnabled");
    json_write_bool(writer, table->deletion_protected);
    if (whole) {
        write_on_demand(writer, &description->table);
        write_warm(writer, description, &description->table, &table->warm_throughput);
    }
    json_close_object(writer);
}
