/* op_global_tables.c -- the operations of global tables of version 2017.11.29, which the service no
 * longer creates: they check their parameters, and then say that there is no such table.
 *
 * Nothing is looked up, so the answers reveal nothing about tables.
 */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/table/table_name.h"
#include "json/writer.h"
#include "model/error.h"
#include "model/limits.h"
#include "shape/shape.h"

enum { REPLICA_SETTINGS_MAX = 50, INDEX_SETTINGS_MAX = 20 };

static const struct shape any_text = { .kind = SHAPE_STRING, SHAPE_UNBOUNDED };
static const struct shape name_shape = { .kind = SHAPE_STRING,
                                         .length_text = COMMON_NAME_LENGTH_TEXT,
                                         .min = TABLE_NAME_SIZE_MIN,
                                         .max = TABLE_NAME_SIZE_MAX,
                                         .pattern = TABLE_NAME_PATTERN,
                                         .matches = table_name_matches };

struct region_request {
    struct bytes region;
};
static const struct shape_field region_fields[] = {
    { SHAPE_FIELD(struct region_request, region, "RegionName", &any_text), .required = true },
};
static const struct shape_field optional_region_fields[] = {
    { SHAPE_FIELD(struct region_request, region, "RegionName", &any_text) },
};
static const struct shape member_shape = { SHAPE_STRUCTURE_OF(struct region_request, region_fields),
                                           .type_name = "ReplicaUpdate" };

static void refuse_version(struct api_call *call)
{
    error_validation(&call->error,
                     "One or more parameter values were invalid: DynamoDB global tables version "
                     "2017.11.29 is not supported. We recommend using DynamoDB global tables "
                     "version 2019.11.21, instead of version 2017.11.29 (Legacy).");
    operation_fail(call);
}

static void refuse_absent(struct api_call *call, enum error_code code, const char *before,
                          struct bytes name)
{
    error_set(&call->error, code, "%sGlobal table with name: '%.*s' does not exist.", before,
              BYTES_FMT(name));
    operation_fail(call);
}

/* --- CreateGlobalTable --- */

struct create_request {
    struct bytes name;
    struct shape_list group; /* of struct region_request * */
};
static const struct shape replica_shape = {
    SHAPE_STRUCTURE_OF(struct region_request, optional_region_fields), .type_name = "Replica"
};
static const struct shape group_shape = { .kind = SHAPE_LIST,
                                          .element = &replica_shape,
                                          SHAPE_UNBOUNDED };
static const struct shape_field create_fields[] = {
    { SHAPE_FIELD(struct create_request, name, "GlobalTableName", &name_shape), .required = true },
    { SHAPE_FIELD(struct create_request, group, "ReplicationGroup", &group_shape),
      .required = true },
};
static const struct shape create_shape = { SHAPE_STRUCTURE_OF(struct create_request, create_fields),
                                           .type_name = "CreateGlobalTableInput" };

static void run_create(struct api_call *call, const void *input)
{
    (void)input;
    refuse_version(call);
}

const struct operation op_create_global_table = { .name = "CreateGlobalTable",
                                                  .kind = OPERATION_DATA,
                                                  .request = &create_shape,
                                                  .asks = OPERATION_ASKS_ACCOUNT,
                                                  .run = run_create };

/* --- UpdateGlobalTable --- */

struct replica_update_request {
    struct region_request *create;
    struct region_request *remove;
};
static const struct shape_field replica_update_fields[] = {
    { SHAPE_FIELD(struct replica_update_request, create, "Create", &member_shape) },
    { SHAPE_FIELD(struct replica_update_request, remove, "Delete", &member_shape) },
};
static const struct shape replica_update_shape = {
    SHAPE_STRUCTURE_OF(struct replica_update_request, replica_update_fields),
    .type_name = "ReplicaUpdate",
};
static const struct shape replica_updates_shape = { .kind = SHAPE_LIST,
                                                    .element = &replica_update_shape,
                                                    SHAPE_UNBOUNDED };
struct update_request {
    struct bytes name;
    struct shape_list updates; /* of struct replica_update_request * */
};
static const struct shape_field update_fields[] = {
    { SHAPE_FIELD(struct update_request, name, "GlobalTableName", &name_shape), .required = true },
    { SHAPE_FIELD(struct update_request, updates, "ReplicaUpdates", &replica_updates_shape),
      .required = true },
};
static const struct shape update_shape = { SHAPE_STRUCTURE_OF(struct update_request, update_fields),
                                           .type_name = "UpdateGlobalTableInput" };

/* Observed: of no action, and of one that does nothing. */
static void refuse_update(struct api_call *call)
{
    error_validation(&call->error, "One or more parameter values were invalid");
    operation_fail(call);
}

static void run_update(struct api_call *call, const void *input)
{
    const struct update_request *request = input;
    struct replica_update_request *const *updates = request->updates.elements;
    if (request->updates.count == 0) {
        refuse_update(call);
        return;
    }
    for (size_t i = 0; i < request->updates.kept; i++) {
        if (updates[i]->create == NULL && updates[i]->remove == NULL) {
            refuse_update(call);
            return;
        }
    }
    for (size_t i = 0; i < request->updates.kept; i++) {
        if (updates[i]->create != NULL) {
            refuse_version(call);
            return;
        }
    }
    refuse_absent(call, ERROR_GLOBAL_TABLE_NOT_FOUND, "", request->name);
}

const struct operation op_update_global_table = { .name = "UpdateGlobalTable",
                                                  .kind = OPERATION_DATA,
                                                  .request = &update_shape,
                                                  .asks = OPERATION_ASKS_ACCOUNT,
                                                  .run = run_update };

/* --- DescribeGlobalTable, DescribeGlobalTableSettings --- */

struct name_request {
    struct bytes name;
};
static const struct shape_field name_fields[] = {
    { SHAPE_FIELD(struct name_request, name, "GlobalTableName", &name_shape), .required = true },
};
static const struct shape describe_shape = { SHAPE_STRUCTURE_OF(struct name_request, name_fields),
                                             .type_name = "DescribeGlobalTableInput" };
static const struct shape describe_settings_shape = {
    SHAPE_STRUCTURE_OF(struct name_request, name_fields),
    .type_name = "DescribeGlobalTableSettingsInput",
};

static void run_describe(struct api_call *call, const void *input)
{
    const struct name_request *request = input;
    refuse_absent(call, ERROR_GLOBAL_TABLE_NOT_FOUND, "Global table not found: ", request->name);
}

const struct operation op_describe_global_table = { .name = "DescribeGlobalTable",
                                                    .kind = OPERATION_DATA,
                                                    .request = &describe_shape,
                                                    .asks = OPERATION_ASKS_ACCOUNT,
                                                    .run = run_describe };

static void run_settings(struct api_call *call, const void *input)
{
    const struct name_request *request = input;
    refuse_absent(call, ERROR_GLOBAL_TABLE_NOT_FOUND, "", request->name);
}

const struct operation op_describe_global_table_settings = { .name = "DescribeGlobalTableSettings",
                                                             .kind = OPERATION_DATA,
                                                             .request = &describe_settings_shape,
                                                             .asks = OPERATION_ASKS_ACCOUNT,
                                                             .run = run_settings };

/* --- UpdateGlobalTableSettings --- */

struct settings_request {
    struct name_request target; /* First, for run_settings. */
    struct bytes billing_mode;
    struct shape_integer write_units;
    struct shape_list indexes;  /* of struct index_settings_request * */
    struct shape_list replicas; /* of struct region_request * */
};
struct index_settings_request {
    struct bytes name;
    struct shape_integer write_units;
};
static const char *const billing_modes[] = { "PROVISIONED", "PAY_PER_REQUEST", NULL };
static const struct shape billing_mode_shape = { .kind = SHAPE_STRING,
                                                 .enum_values = billing_modes,
                                                 SHAPE_UNBOUNDED };
static const struct shape units_shape = { .kind = SHAPE_LONG, .min = 1, .max = SHAPE_NO_MAX };
static const struct shape_field index_settings_fields[] = {
    { SHAPE_FIELD(struct index_settings_request, name, "IndexName", &common_resource_name),
      .required = true },
    { SHAPE_FIELD(struct index_settings_request, write_units, "ProvisionedWriteCapacityUnits",
                  &units_shape) },
};
static const struct shape index_settings_shape = {
    SHAPE_STRUCTURE_OF(struct index_settings_request, index_settings_fields),
    .type_name = "GlobalTableGlobalSecondaryIndexSettingsUpdate",
};
static const struct shape index_settings_list_shape = {
    .kind = SHAPE_LIST, .element = &index_settings_shape, .min = 1, .max = INDEX_SETTINGS_MAX
};
static const struct shape replica_settings_shape = {
    SHAPE_STRUCTURE_OF(struct region_request, region_fields),
    .type_name = "ReplicaSettingsUpdate",
};
static const struct shape replica_settings_list_shape = {
    .kind = SHAPE_LIST, .element = &replica_settings_shape, .min = 1, .max = REPLICA_SETTINGS_MAX
};
static const struct shape_field settings_fields[] = {
    { SHAPE_FIELD(struct settings_request, target.name, "GlobalTableName", &name_shape),
      .required = true },
    { SHAPE_FIELD(struct settings_request, billing_mode, "GlobalTableBillingMode",
                  &billing_mode_shape) },
    { SHAPE_FIELD(struct settings_request, write_units, "GlobalTableProvisionedWriteCapacityUnits",
                  &units_shape) },
    { SHAPE_FIELD(struct settings_request, indexes, "GlobalTableGlobalSecondaryIndexSettingsUpdate",
                  &index_settings_list_shape) },
    { SHAPE_FIELD(struct settings_request, replicas, "ReplicaSettingsUpdate",
                  &replica_settings_list_shape) },
};
static const struct shape settings_shape = { SHAPE_STRUCTURE_OF(struct settings_request,
                                                                settings_fields),
                                             .type_name = "UpdateGlobalTableSettingsInput" };

const struct operation op_update_global_table_settings = { .name = "UpdateGlobalTableSettings",
                                                           .kind = OPERATION_DATA,
                                                           .request = &settings_shape,
                                                           .asks = OPERATION_ASKS_ACCOUNT,
                                                           .run = run_settings };

/* --- ListGlobalTables --- */

struct list_request {
    struct bytes start;
    struct shape_integer limit;
    struct bytes region;
};
static const struct shape limit_shape = { .kind = SHAPE_INTEGER, .min = 1, .max = SHAPE_NO_MAX };
static const struct shape_field list_fields[] = {
    { SHAPE_FIELD(struct list_request, start, "ExclusiveStartGlobalTableName",
                  &common_resource_name) },
    { SHAPE_FIELD(struct list_request, limit, "Limit", &limit_shape) },
    { SHAPE_FIELD(struct list_request, region, "RegionName", &any_text) },
};
static const struct shape list_shape = { SHAPE_STRUCTURE_OF(struct list_request, list_fields),
                                         .type_name = "ListGlobalTablesInput" };

static void run_list(struct api_call *call, const void *input)
{
    (void)input;
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "GlobalTables");
    json_open_array(&writer);
    json_close_array(&writer);
    json_close_object(&writer);
    operation_succeed(call);
}

const struct operation op_list_global_tables = { .name = "ListGlobalTables",
                                                 .kind = OPERATION_DATA,
                                                 .request = &list_shape,
                                                 .asks = OPERATION_ASKS_ACCOUNT,
                                                 .run = run_list };
