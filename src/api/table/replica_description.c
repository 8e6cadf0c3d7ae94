/* replica_description.c -- see replica_description.h.
 *
 * Observed: Replicas has the other regions only, in the order in which they were added. An entry
 * names every global index, even one without overrides, and has WarmThroughput once it is ACTIVE.
 * It has neither an ARN nor a percentage. An override is what a region has that differs from this
 * one's value, so one with the same value is not shown.
 */
#include "api/table/replica_description.h"
#include "api/table/table_description.h"
#include "json/writer.h"
#include "model/replica_definition.h"

#define MODE "ENABLED_WITH_OVERRIDES"

static void write_text(struct json_writer *writer, const char *name, const char *text)
{
    json_write_name(writer, name);
    json_write_text(writer, text);
}

static void write_string(struct json_writer *writer, const char *name, struct bytes text)
{
    json_write_name(writer, name);
    json_write_string(writer, text);
}

static void write_integer(struct json_writer *writer, const char *name, int64_t value)
{
    json_write_name(writer, name);
    json_write_integer(writer, value);
}

static void write_units(struct json_writer *writer, const char *name, const char *unit,
                        int64_t units)
{
    json_write_name(writer, name);
    json_open_object(writer);
    write_integer(writer, unit, units);
    json_close_object(writer);
}

/* `here` is this region's value. */
static void write_override(struct json_writer *writer, const struct replica_override *override,
                           enum billing_mode mode, const struct capacity_shown *here)
{
    if (override == NULL)
        return;
    if (mode == BILLING_PROVISIONED && override->read_units != UNITS_UNSET &&
        override->read_units != here->provisioned.read_units)
        write_units(writer, "ProvisionedThroughputOverride", "ReadCapacityUnits",
                    override->read_units);
    if (mode == BILLING_PAY_PER_REQUEST && override->on_demand_read_max != UNITS_UNSET &&
        override->on_demand_read_max != here->on_demand_max.read_units)
        write_units(writer, "OnDemandThroughputOverride", "MaxReadRequestUnits",
                    override->on_demand_read_max);
}

static void write_warm(struct json_writer *writer, const struct unit_pair *warm)
{
    json_write_name(writer, "WarmThroughput");
    json_open_object(writer);
    write_integer(writer, "ReadUnitsPerSecond", warm->read_units);
    write_integer(writer, "WriteUnitsPerSecond", warm->write_units);
    write_text(writer, "Status", "ACTIVE");
    json_close_object(writer);
}

static const struct replica_override *index_override(const struct replica_member *member,
                                                     struct bytes index_name)
{
    for (size_t i = 0; i < member->index_override_count; i++)
        if (bytes_equal(member->index_overrides[i].index_name, index_name))
            return &member->index_overrides[i];
    return NULL;
}

static void write_indexes(struct json_writer *writer, const struct table_description *shown,
                          const struct replica_member *member)
{
    const struct table_definition *table = shown->definition;
    bool any = false;
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index_definition *index = &table->indexes[i];
        if (!index->global)
            continue;
        if (!any) {
            json_write_name(writer, "GlobalSecondaryIndexes");
            json_open_array(writer);
        }
        any = true;
        json_open_object(writer);
        write_string(writer, "IndexName", index->name);
        write_override(writer, index_override(member, index->name), table->billing_mode,
                       &shown->indexes[i]);
        if (member->status == REPLICA_ACTIVE)
            write_warm(writer, &shown->indexes[i].warm);
        json_close_object(writer);
    }
    if (any)
        json_close_array(writer);
}

static void write_member(struct json_writer *writer, const struct table_description *shown,
                         const struct replica_member *member)
{
    const struct table_definition *table = shown->definition;
    json_open_object(writer);
    write_string(writer, "RegionName", member->region);
    write_text(writer, "ReplicaStatus", replica_status_name(member->status));
    write_override(writer, &member->override, table->billing_mode, &shown->table);
    if (member->status == REPLICA_ACTIVE)
        write_warm(writer, &shown->table.warm);
    write_indexes(writer, shown, member);
    if (member->table_class_given && member->table_class != (int)table->table_class) {
        json_write_name(writer, "ReplicaTableClassSummary");
        json_open_object(writer);
        write_text(writer, "TableClass", table_class_name((enum table_class)member->table_class));
        json_close_object(writer);
    }
    write_text(writer, "GlobalTableSettingsReplicationMode", MODE);
    json_close_object(writer);
}

void replica_description_write(struct json_writer *writer,
                               const struct table_description *description)
{
    const struct replica_definition *group = &description->definition->replicas;
    if (group->count == 0) /* Of a regional table, or of one whose group is about to end. */
        return;
    write_text(writer, "GlobalTableVersion", "2019.11.21");
    json_write_name(writer, "Replicas");
    json_open_array(writer);
    for (size_t i = 0; i < group->count; i++)
        if (!bytes_equal(group->members[i].region, description->hidden_replica))
            write_member(writer, description, &group->members[i]);
    json_close_array(writer);
    write_text(writer, "GlobalTableSettingsReplicationMode", MODE);
    json_write_name(writer, "DisassociationProtectionEnabled");
    json_write_bool(writer, !group->own.may_leave);
}
