/* op_replica_scaling.c -- DescribeTableReplicaAutoScaling and UpdateTableReplicaAutoScaling.
 *
 * Both are about global tables only: of a regional table the service says the same as of none. What
 * scales a table here is Application Auto Scaling, of each region's server; these operations show
 * that nothing scales a replica by other means, and change nothing.
 */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/table/table_operation.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "json/writer.h"
#include "model/error.h"
#include "model/replica_definition.h"
#include "shape/shape.h"
#include "table/catalogue.h"

#define FAILED "Failed to update settings for global table with name: \xe2\x80\x98%.*s\xe2\x80\x99"

enum { SCALING_REPLICAS_MAX = 64 }; /* Of one request; a group has fewer. */

/* NULL with the error set unless it is a global table, which it no longer is without replicas. */
static struct table *find_global(struct api_call *call, struct bytes name)
{
    struct table *table = operation_find_table(call, name);
    if (table != NULL && table_definition(table)->replicas.count > 0)
        return table;
    error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
              "Global table with name: '%.*s' does not exist.",
              BYTES_FMT(operation_table_name(name)));
    return NULL;
}

/* --- The description --- */

static void write_disabled(struct json_writer *writer, const char *name)
{
    json_write_name(writer, name);
    json_open_object(writer);
    json_write_name(writer, "AutoScalingDisabled");
    json_write_bool(writer, true);
    json_write_name(writer, "ScalingPolicies");
    json_open_array(writer);
    json_close_array(writer);
    json_close_object(writer);
}

static void write_replica(struct json_writer *writer, const struct table_definition *table,
                          const struct replica_member *member)
{
    json_open_object(writer);
    json_write_name(writer, "RegionName");
    json_write_string(writer, member->region);
    json_write_name(writer, "GlobalSecondaryIndexes");
    json_open_array(writer);
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index_definition *index = &table->indexes[i];
        if (!index->global)
            continue;
        json_open_object(writer);
        json_write_name(writer, "IndexName");
        json_write_string(writer, index->name);
        json_write_name(writer, "IndexStatus");
        json_write_text(writer, index_status_name(index->status));
        write_disabled(writer, "ProvisionedReadCapacityAutoScalingSettings");
        write_disabled(writer, "ProvisionedWriteCapacityAutoScalingSettings");
        json_close_object(writer);
    }
    json_close_array(writer);
    write_disabled(writer, "ReplicaProvisionedReadCapacityAutoScalingSettings");
    write_disabled(writer, "ReplicaProvisionedWriteCapacityAutoScalingSettings");
    json_write_name(writer, "ReplicaStatus");
    json_write_text(writer, replica_status_name(member->status));
    json_close_object(writer);
}

/* All regions with the own one, sorted by name. */
static const struct replica_member **sort_members(struct arena *arena,
                                                  const struct replica_definition *group)
{
    const struct replica_member **sorted = arena_alloc(arena, (group->count + 1) * sizeof(*sorted));
    for (size_t i = 0; i <= group->count; i++) {
        const struct replica_member *member = i == 0 ? &group->own : &group->members[i - 1];
        size_t at = i;
        for (; at > 0 && bytes_compare(sorted[at - 1]->region, member->region) > 0; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = member;
    }
    return sorted;
}

static void answer(struct api_call *call, const struct table_definition *table)
{
    const struct replica_member **members = sort_members(call->arena, &table->replicas);
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "TableAutoScalingDescription");
    json_open_object(&writer);
    json_write_name(&writer, "TableName");
    json_write_string(&writer, table->name);
    json_write_name(&writer, "TableStatus");
    json_write_text(&writer, table_status_name(table->status));
    json_write_name(&writer, "Replicas");
    json_open_array(&writer);
    for (size_t i = 0; i <= table->replicas.count; i++)
        write_replica(&writer, table, members[i]);
    json_close_array(&writer);
    json_close_object(&writer);
    json_close_object(&writer);
    operation_succeed(call);
}

/* --- DescribeTableReplicaAutoScaling --- */

static void run_describe(struct api_call *call, const void *input)
{
    const struct table_name_request *request = input;
    struct table *table = find_global(call, request->table_name);
    if (table == NULL)
        operation_fail(call);
    else
        answer(call, table_definition(table));
}

const struct operation op_describe_table_replica_auto_scaling = {
    .name = "DescribeTableReplicaAutoScaling",
    .kind = OPERATION_DATA,
    .request = &table_name_request_shape,
    .asks = OPERATION_ASKS_RESOURCE,
    .run = run_describe,
};

/* --- UpdateTableReplicaAutoScaling: the request --- */

struct scaling_settings {
    struct shape_integer minimum;
    struct shape_integer maximum;
    struct shape_boolean disabled;
    struct bytes role;
    struct scaling_policy_request *policy;
};
struct scaling_policy_request {
    struct bytes name;
    struct target_request *target;
};
struct target_request {
    struct shape_double value;
};
struct scaling_index {
    struct bytes name;
    struct scaling_settings *settings;
};
struct scaling_replica {
    struct bytes region;
    struct shape_list indexes; /* of struct scaling_index * */
    struct scaling_settings *reads;
};
struct scaling_update {
    struct bytes table_name;
    struct shape_list indexes; /* of struct scaling_index * */
    struct scaling_settings *writes;
    struct shape_list replicas; /* of struct scaling_replica * */
};

static const struct shape units_shape = { .kind = SHAPE_LONG, .min = 1, .max = SHAPE_NO_MAX };
static const struct shape value_shape = { .kind = SHAPE_DOUBLE, SHAPE_UNBOUNDED };
static const struct shape_field target_fields[] = {
    { SHAPE_FIELD(struct target_request, value, "TargetValue", &value_shape), .required = true },
};
static const struct shape target_shape = {
    SHAPE_STRUCTURE_OF(struct target_request, target_fields),
    .type_name = "AutoScalingTargetTrackingScalingPolicyConfigurationUpdate",
};
static const struct shape_field policy_fields[] = {
    { SHAPE_FIELD(struct scaling_policy_request, name, "PolicyName", &common_string) },
    { SHAPE_FIELD(struct scaling_policy_request, target, "TargetTrackingScalingPolicyConfiguration",
                  &target_shape),
      .required = true },
};
static const struct shape policy_shape = {
    SHAPE_STRUCTURE_OF(struct scaling_policy_request, policy_fields),
    .type_name = "AutoScalingPolicyUpdate",
};
static const struct shape_field settings_fields[] = {
    { SHAPE_FIELD(struct scaling_settings, minimum, "MinimumUnits", &units_shape) },
    { SHAPE_FIELD(struct scaling_settings, maximum, "MaximumUnits", &units_shape) },
    { SHAPE_FIELD(struct scaling_settings, disabled, "AutoScalingDisabled", &common_boolean) },
    { SHAPE_FIELD(struct scaling_settings, role, "AutoScalingRoleArn", &common_string) },
    { SHAPE_FIELD(struct scaling_settings, policy, "ScalingPolicyUpdate", &policy_shape) },
};
static const struct shape settings_shape = {
    SHAPE_STRUCTURE_OF(struct scaling_settings, settings_fields),
    .type_name = "AutoScalingSettingsUpdate",
};
static const struct shape_field write_index_fields[] = {
    { SHAPE_FIELD(struct scaling_index, name, "IndexName", &common_resource_name) },
    { SHAPE_FIELD(struct scaling_index, settings, "ProvisionedWriteCapacityAutoScalingUpdate",
                  &settings_shape) },
};
static const struct shape write_index_shape = {
    SHAPE_STRUCTURE_OF(struct scaling_index, write_index_fields),
    .type_name = "GlobalSecondaryIndexAutoScalingUpdate",
};
static const struct shape write_indexes_shape = {
    .kind = SHAPE_LIST, .element = &write_index_shape, .min = 1, .max = SHAPE_NO_MAX
};
static const struct shape_field read_index_fields[] = {
    { SHAPE_FIELD(struct scaling_index, name, "IndexName", &common_resource_name) },
    { SHAPE_FIELD(struct scaling_index, settings, "ProvisionedReadCapacityAutoScalingUpdate",
                  &settings_shape) },
};
static const struct shape read_index_shape = {
    SHAPE_STRUCTURE_OF(struct scaling_index, read_index_fields),
    .type_name = "ReplicaGlobalSecondaryIndexAutoScalingUpdate",
};
static const struct shape read_indexes_shape = { .kind = SHAPE_LIST,
                                                 .element = &read_index_shape,
                                                 SHAPE_UNBOUNDED };
static const struct shape_field replica_fields[] = {
    { SHAPE_FIELD(struct scaling_replica, region, "RegionName", &common_string), .required = true },
    { SHAPE_FIELD(struct scaling_replica, indexes, "ReplicaGlobalSecondaryIndexUpdates",
                  &read_indexes_shape) },
    { SHAPE_FIELD(struct scaling_replica, reads, "ReplicaProvisionedReadCapacityAutoScalingUpdate",
                  &settings_shape) },
};
static const struct shape replica_shape = {
    SHAPE_STRUCTURE_OF(struct scaling_replica, replica_fields),
    .type_name = "ReplicaAutoScalingUpdate",
};
static const struct shape replicas_shape = {
    .kind = SHAPE_LIST, .element = &replica_shape, .min = 1, .max = SHAPE_NO_MAX
};
static const struct shape_field update_fields[] = {
    { SHAPE_FIELD(struct scaling_update, table_name, "TableName", &common_existing_table_name),
      .required = true, .alone = true, .absent_text = common_table_name_absent_text },
    { SHAPE_FIELD(struct scaling_update, indexes, "GlobalSecondaryIndexUpdates",
                  &write_indexes_shape) },
    { SHAPE_FIELD(struct scaling_update, writes, "ProvisionedWriteCapacityAutoScalingUpdate",
                  &settings_shape) },
    { SHAPE_FIELD(struct scaling_update, replicas, "ReplicaUpdates", &replicas_shape) },
};
static const struct shape update_shape = { SHAPE_STRUCTURE_OF(struct scaling_update, update_fields),
                                           .type_name = "UpdateTableReplicaAutoScalingInput" };

/* --- UpdateTableReplicaAutoScaling: the settings, which are judged before the table --- */

static void append_parameter(struct buffer *list, const char *name)
{
    if (buffer_bytes(list).len > 0)
        buffer_append_bytes(list, BYTES(", "));
    buffer_append_bytes(list, BYTES("'"));
    buffer_append_bytes(list, bytes_from_text(name));
    buffer_append_bytes(list, BYTES("'"));
}

/* Names the parameters that are given or those that are not, in the service's order. */
static struct bytes list_parameters(struct arena *arena, const struct scaling_settings *settings,
                                    bool given)
{
    struct buffer list;
    buffer_init(&list, arena);
    if (settings->maximum.present == given)
        append_parameter(&list, "MaximumUnits");
    if ((settings->policy != NULL) == given)
        append_parameter(&list, "ScalingPolicyUpdate");
    if (settings->minimum.present == given)
        append_parameter(&list, "MinimumUnits");
    return buffer_bytes(&list);
}

static bool disables(const struct scaling_settings *settings)
{
    return settings == NULL || (settings->disabled.present && settings->disabled.value);
}

static bool check_settings(struct api_call *call, struct bytes name,
                           const struct scaling_settings *settings)
{
    if (settings == NULL)
        return true;
    struct bytes wrong = list_parameters(call->arena, settings, disables(settings));
    if (wrong.len == 0)
        return true;
    if (disables(settings))
        return error_validation(&call->error,
                                "Failed to update settings for global table with name "
                                "\xe2\x80\x98%.*s\xe2\x80\x99: Parameters %.*s must be left blank "
                                "when disabling auto scaling.",
                                BYTES_FMT(name), BYTES_FMT(wrong));
    return error_validation(&call->error,
                            FAILED ": Parameters %.*s are required unless auto scaling is being "
                                   "disabled.",
                            BYTES_FMT(name), BYTES_FMT(wrong));
}

static bool check_index_settings(struct api_call *call, struct bytes name,
                                 const struct shape_list *list)
{
    const struct scaling_index *const *indexes = list->elements;
    for (size_t i = 0; i < list->kept; i++)
        if (!check_settings(call, name, indexes[i]->settings))
            return false;
    return true;
}

static bool check_all_settings(struct api_call *call, const struct scaling_update *request)
{
    const struct scaling_replica *const *replicas = request->replicas.elements;
    struct bytes name = operation_table_name(request->table_name);
    if (!check_settings(call, name, request->writes) ||
        !check_index_settings(call, name, &request->indexes))
        return false;
    for (size_t i = 0; i < request->replicas.kept; i++)
        if (!check_settings(call, name, replicas[i]->reads) ||
            !check_index_settings(call, name, &replicas[i]->indexes))
            return false;
    return true;
}

/* --- UpdateTableReplicaAutoScaling: regions and indexes --- */

static bool check_replicas(struct api_call *call, const struct scaling_update *request,
                           struct bytes name)
{
    const struct scaling_replica *const *replicas = request->replicas.elements;
    if (request->replicas.count > SCALING_REPLICAS_MAX)
        return error_validation(&call->error, FAILED " because there are more than %d updates.",
                                BYTES_FMT(name), SCALING_REPLICAS_MAX);
    for (size_t i = 0; i < request->replicas.kept; i++) {
        struct bytes region = replicas[i]->region;
        for (size_t j = 0; j < i; j++)
            if (bytes_equal(replicas[j]->region, region))
                return error_validation(&call->error,
                                        FAILED " because the regions: "
                                               "\xe2\x80\x98[%.*s]\xe2\x80\x99 were specified more "
                                               "than once.",
                                        BYTES_FMT(name), BYTES_FMT(region));
        if (replicas[i]->reads == NULL && replicas[i]->indexes.count == 0)
            return error_validation(&call->error,
                                    FAILED " because at least one update parameter must be "
                                           "specified for region: \xe2\x80\x98%.*s\xe2\x80\x99.",
                                    BYTES_FMT(name), BYTES_FMT(region));
    }
    return true;
}

static bool has_global_index(const struct table_definition *table, struct bytes name)
{
    const struct index_definition *index = table_definition_index(table, name);
    return index != NULL && index->global;
}

static bool check_regions(struct api_call *call, const struct scaling_update *request,
                          const struct table_definition *table)
{
    const struct scaling_replica *const *replicas = request->replicas.elements;
    const struct replica_definition *group = &table->replicas;
    for (size_t i = 0; i < request->replicas.kept; i++) {
        struct bytes region = replicas[i]->region;
        if (!bytes_equal(region, group->own.region) &&
            replica_definition_find(group, region) == NULL)
            return error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                             FAILED " because a replica does not exist in regions: "
                                    "\xe2\x80\x98[%.*s]\xe2\x80\x99.",
                             BYTES_FMT(table->name), BYTES_FMT(region));
    }
    return true;
}

static bool check_indexes(struct api_call *call, const struct scaling_update *request,
                          const struct table_definition *table)
{
    const struct scaling_index *const *indexes = request->indexes.elements;
    const struct scaling_replica *const *replicas = request->replicas.elements;
    for (size_t i = 0; i < request->indexes.kept; i++)
        if (!has_global_index(table, indexes[i]->name))
            return error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                             FAILED " because the global secondary indexes with names: "
                                    "\xe2\x80\x98[%.*s]\xe2\x80\x99 do not exist.",
                             BYTES_FMT(table->name), BYTES_FMT(indexes[i]->name));
    for (size_t i = 0; i < request->replicas.kept; i++) {
        const struct scaling_index *const *own = replicas[i]->indexes.elements;
        for (size_t j = 0; j < replicas[i]->indexes.kept; j++)
            if (!has_global_index(table, own[j]->name))
                return error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                                 FAILED " because a global secondary index with name: "
                                        "\xe2\x80\x98%.*s\xe2\x80\x99 does not exist in region: "
                                        "\xe2\x80\x98%.*s\xe2\x80\x99.",
                                 BYTES_FMT(table->name), BYTES_FMT(own[j]->name),
                                 BYTES_FMT(replicas[i]->region));
    }
    return true;
}

/* --- UpdateTableReplicaAutoScaling: what is set --- */

static bool indexes_only_disable(const struct shape_list *list)
{
    const struct scaling_index *const *indexes = list->elements;
    for (size_t i = 0; i < list->kept; i++)
        if (!disables(indexes[i]->settings))
            return false;
    return true;
}

/* The parameters that set something. Observed for tables: by the names that the operations of
 * version 2017.11.29 gave them, which are assumed for indexes too. */
static struct bytes list_set(struct arena *arena, const struct scaling_update *request)
{
    const struct scaling_replica *const *replicas = request->replicas.elements;
    bool reads = false, read_indexes = false;
    struct buffer list;
    buffer_init(&list, arena);
    for (size_t i = 0; i < request->replicas.kept; i++) {
        reads |= !disables(replicas[i]->reads);
        read_indexes |= !indexes_only_disable(&replicas[i]->indexes);
    }
    if (!disables(request->writes))
        append_parameter(&list, "GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate");
    if (!indexes_only_disable(&request->indexes))
        append_parameter(&list, "GlobalTableGlobalSecondaryIndexSettingsUpdate");
    if (reads)
        append_parameter(&list, "ReplicaProvisionedReadCapacityAutoScalingSettingsUpdate");
    if (read_indexes)
        append_parameter(&list, "ReplicaGlobalSecondaryIndexSettingsUpdate");
    return buffer_bytes(&list);
}

static bool refuse_on_demand(struct api_call *call, const struct table_definition *table,
                             struct bytes parameters)
{
    const struct replica_member **members = sort_members(call->arena, &table->replicas);
    struct buffer list;
    buffer_init(&list, call->arena);
    for (size_t i = 0; i <= table->replicas.count; i++) {
        struct bytes region = arena_copy(call->arena, members[i]->region);
        uint8_t *upper = arena_alloc(call->arena, region.len);
        for (size_t j = 0; j < region.len; j++)
            upper[j] = region.data[j] >= 'a' && region.data[j] <= 'z'
                           ? (uint8_t)(region.data[j] - 'a' + 'A')
                           : region.data[j];
        buffer_append_bytes(&list, arena_printf(call->arena, "%s'%.*s'", i > 0 ? ", " : "",
                                                BYTES_FMT(bytes_of(upper, region.len))));
    }
    return error_validation(&call->error,
                            "Failed to update global table with name "
                            "\xe2\x80\x98%.*s\xe2\x80\x98. Replicas %.*s BillingMode is "
                            "PayPerRequest. You must convert table's BillingMode to PROVISIONED to "
                            "set parameters: %.*s.",
                            BYTES_FMT(table->name), BYTES_FMT(buffer_bytes(&list)),
                            BYTES_FMT(parameters));
}

/* Observed: to disable what is disabled is always possible. */
static bool check_update(struct api_call *call, const struct scaling_update *request,
                         const struct table_definition *table)
{
    if (request->writes == NULL && request->indexes.count == 0 && request->replicas.count == 0)
        return error_validation(&call->error,
                                FAILED " because at least one update parameter must be specified.",
                                BYTES_FMT(table->name));
    if (!check_replicas(call, request, table->name) || !check_regions(call, request, table) ||
        !check_indexes(call, request, table))
        return false;
    struct bytes parameters = list_set(call->arena, request);
    if (parameters.len == 0)
        return true;
    if (table->billing_mode == BILLING_PAY_PER_REQUEST)
        return refuse_on_demand(call, table, parameters);
    return error_validation(&call->error, "UpdateTableReplicaAutoScaling: scaling is set by "
                                          "Application Auto Scaling in each region");
}

static void run_update(struct api_call *call, const void *input)
{
    const struct scaling_update *request = input;
    struct table *table = NULL;
    if (check_all_settings(call, request))
        table = find_global(call, request->table_name);
    if (table == NULL || !check_update(call, request, table_definition(table)))
        operation_fail(call);
    else
        answer(call, table_definition(table));
}

const struct operation op_update_table_replica_auto_scaling = {
    .name = "UpdateTableReplicaAutoScaling",
    .kind = OPERATION_DATA,
    .request = &update_shape,
    .asks = OPERATION_ASKS_RESOURCE,
    .run = run_update,
};
