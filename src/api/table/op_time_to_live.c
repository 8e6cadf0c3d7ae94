/* op_time_to_live.c -- UpdateTimeToLive and DescribeTimeToLive. */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/table/table_operation.h"
#include "control/expiry_life.h"
#include "replica/replica_group.h"
#include "json/writer.h"
#include "model/limits.h"
#include "table/catalogue.h"

/* --- UpdateTimeToLive --- */

struct specification {
    struct shape_boolean enabled;
    struct bytes attribute_name;
};

struct update_time_to_live_request {
    struct bytes table_name;
    struct specification *specification;
};

static const struct shape attribute_name_shape = { .kind = SHAPE_STRING,
                                                   .min = 1,
                                                   .max = KEY_ATTRIBUTE_NAME_SIZE_MAX };
static const struct shape_field specification_fields[] = {
    { SHAPE_FIELD(struct specification, attribute_name, "AttributeName", &attribute_name_shape),
      .required = true },
    { SHAPE_FIELD(struct specification, enabled, "Enabled", &common_boolean), .required = true },
};
static const struct shape specification_shape = { SHAPE_STRUCTURE_OF(struct specification,
                                                                     specification_fields),
                                                  .type_name = "TimeToLiveSpecification" };
static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct update_time_to_live_request, table_name, "TableName",
                  &common_existing_table_name),
      .required = true, .alone = true, .absent_text = common_table_name_absent_text },
    { SHAPE_FIELD(struct update_time_to_live_request, specification, "TimeToLiveSpecification",
                  &specification_shape),
      .required = true },
};
static const struct shape request_shape = { SHAPE_STRUCTURE_OF(struct update_time_to_live_request,
                                                               fields),
                                            .type_name = "UpdateTimeToLiveInput" };

/* "Any additional
 * UpdateTimeToLive calls" while a change is under way fail; the service's may take an hour. */
static bool check(struct api_call *call, const struct expiry_definition *expiry,
                  const struct specification *request)
{
    bool is_enabled = expiry->status != EXPIRY_NONE && expiry->status != EXPIRY_REMOVING;
    bool is_changing = expiry->status != EXPIRY_NONE && expiry->status != EXPIRY_ACTIVE;
    if (!is_enabled && !request->enabled.value)
        return error_validation(&call->error, "TimeToLive is already disabled");
    if (is_enabled && !bytes_equal(expiry->attribute, request->attribute_name))
        return error_validation(&call->error,
                                "TimeToLive is active on a different AttributeName: current "
                                "AttributeName is %.*s",
                                BYTES_FMT(expiry->attribute));
    if (is_enabled && request->enabled.value)
        return error_validation(&call->error, "TimeToLive is already enabled");
    if (is_changing)
        return error_validation(
            &call->error, "Time to live has been modified multiple times within a fixed interval");
    return true;
}

/* table_operation_check_idle in the words that this operation has. Observed: it is accepted while a
 * table is UPDATING. */
static bool check_idle(struct api_call *call, const struct table_definition *definition)
{
    enum table_status status = definition->status;
    return status == TABLE_ACTIVE || status == TABLE_UPDATING ||
           error_set(&call->error, ERROR_RESOURCE_IN_USE,
                     "Attempt to change a resource which is still in use: Table %.*s is being %s",
                     BYTES_FMT(definition->name), status == TABLE_CREATING ? "created" : "deleted");
}

/* The replicas of a global table follow, so they must be there. */
static bool check_replicas(struct api_call *call, const struct table_definition *definition)
{
    const struct replica_definition *group = &definition->replicas;
    for (size_t i = 0; i < group->count; i++)
        if (group->members[i].status == REPLICA_CREATING ||
            group->members[i].status == REPLICA_DELETING)
            return error_validation(&call->error,
                                    "Create/Update/Delete of replica is not allowed while the "
                                    "replica is being added to table with name: "
                                    "\xe2\x80\x98%.*s\xe2\x80\x99 in region: "
                                    "\xe2\x80\x98%.*s\xe2\x80\x99.",
                                    BYTES_FMT(definition->name),
                                    BYTES_FMT(group->members[i].region));
    return true;
}

static void answer_update(struct api_call *call, const struct specification *request)
{
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "TimeToLiveSpecification");
    json_open_object(&writer);
    json_write_name(&writer, "Enabled");
    json_write_bool(&writer, request->enabled.value);
    json_write_name(&writer, "AttributeName");
    json_write_string(&writer, request->attribute_name);
    json_close_object(&writer);
    json_close_object(&writer);
}

static bool update(struct api_call *call, const struct specification *request,
                   const struct table *table)
{
    struct table_definition changed = *table_definition(table);
    if (!check_idle(call, &changed) || !check_replicas(call, &changed) ||
        !check(call, &changed.expiry, request))
        return false;
    expiry_life_move(&changed, request->enabled.value ? EXPIRY_ALLOCATING : EXPIRY_REMOVING);
    changed.expiry.attribute = request->attribute_name;
    replica_group_announce(call->arena, &changed, false);
    answer_update(call, request);
    return table_operation_store(call, &changed, "UpdateTimeToLive");
}

static void run_update(struct api_call *call, const void *input)
{
    const struct update_time_to_live_request *request = input;
    struct table *table = table_operation_find(call, request->table_name);
    bool ok = table != NULL && update(call, request->specification, table);
    operation_end(call, ok);
}

const struct operation op_update_time_to_live = { .name = "UpdateTimeToLive",
                                                  .kind = OPERATION_CONTROL,
                                                  .request = &request_shape,
                                                  .asks = OPERATION_ASKS_RESOURCE,
                                                  .run = run_update };

/* --- DescribeTimeToLive --- */

static void answer_describe(struct api_call *call, const struct expiry_definition *expiry)
{
    static const char *const statuses[EXPIRY_STATUS_COUNT] = {
        [EXPIRY_NONE] = "DISABLED",      [EXPIRY_ALLOCATING] = "ENABLING",
        [EXPIRY_FILLING] = "ENABLING",   [EXPIRY_ACTIVE] = "ENABLED",
        [EXPIRY_REMOVING] = "DISABLING",
    };
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "TimeToLiveDescription");
    json_open_object(&writer);
    json_write_name(&writer, "TimeToLiveStatus");
    json_write_text(&writer, statuses[expiry->status]);
    if (expiry->status != EXPIRY_NONE) {
        json_write_name(&writer, "AttributeName");
        json_write_string(&writer, expiry->attribute);
    }
    json_close_object(&writer);
    json_close_object(&writer);
}

static bool check_described(struct api_call *call, enum table_status status)
{
    const char *name = table_status_name(status);
    return (status != TABLE_CREATING && status != TABLE_DELETING) ||
           error_validation(&call->error,
                            "Cannot describe time to live while table is in %s state: Current "
                            "table state is %s",
                            name, name);
}

static void run_describe(struct api_call *call, const void *input)
{
    const struct table_name_request *request = input;
    struct table *table = table_operation_find(call, request->table_name);
    bool ok = table != NULL && check_described(call, table_definition(table)->status);
    if (ok)
        answer_describe(call, &table_definition(table)->expiry);
    operation_end(call, ok);
}

const struct operation op_describe_time_to_live = { .name = "DescribeTimeToLive",
                                                    .kind = OPERATION_DATA,
                                                    .request = &table_name_request_shape,
                                                    .asks = OPERATION_ASKS_RESOURCE,
                                                    .run = run_describe };
