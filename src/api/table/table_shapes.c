/* table_shapes.c -- the service model of CreateTable and UpdateTable.
 *
 * The order of each table is the order in which the service reports; it is not alphabetical, and
 * local and global indexes differ in it. Numbers of OnDemandThroughput and WarmThroughput have no
 * bounds in the model: the rules of the operations check them.
 */
#include "api/table/table_shapes.h"
#include "api/common_shapes.h"
#include "api/table/replica_shapes.h"
#include "api/table/table_name.h"
#include "base/compiler.h"
#include "model/limits.h"
#include "model/table_definition.h"

/* --- Keys --- */

static const struct shape key_attribute_name_shape = { .kind = SHAPE_STRING,
                                                       .min = 1,
                                                       .max = KEY_ATTRIBUTE_NAME_SIZE_MAX };

static const char *const attribute_types[] = { "B", "N", "S", NULL };
static const struct shape attribute_type_shape = { .kind = SHAPE_STRING,
                                                   .enum_values = attribute_types,
                                                   SHAPE_UNBOUNDED };
static const struct shape_field attribute_definition_fields[] = {
    { SHAPE_FIELD(struct attribute_definition_request, attribute_type, "AttributeType",
                  &attribute_type_shape),
      .required = true },
    { SHAPE_FIELD(struct attribute_definition_request, attribute_name, "AttributeName",
                  &key_attribute_name_shape),
      .required = true },
};
static const struct shape attribute_definition_shape = {
    SHAPE_STRUCTURE_OF(struct attribute_definition_request, attribute_definition_fields),
    .type_name = "AttributeDefinition",
};
static const struct shape attribute_definitions_shape = { .kind = SHAPE_LIST,
                                                          .element = &attribute_definition_shape,
                                                          SHAPE_UNBOUNDED };

static const char *const key_types[] = { "HASH", "RANGE", NULL };
static const struct shape key_type_shape = { .kind = SHAPE_STRING,
                                             .enum_values = key_types,
                                             SHAPE_UNBOUNDED };
static const struct shape_field key_schema_element_fields[] = {
    { SHAPE_FIELD(struct key_schema_element_request, attribute_name, "AttributeName",
                  &key_attribute_name_shape),
      .required = true },
    { SHAPE_FIELD(struct key_schema_element_request, key_type, "KeyType", &key_type_shape),
      .required = true },
};
static const struct shape key_schema_element_shape = {
    SHAPE_STRUCTURE_OF(struct key_schema_element_request, key_schema_element_fields),
    .type_name = "KeySchemaElement",
};
/* Of tables and local indexes. */
static const struct shape key_schema_shape = {
    .kind = SHAPE_LIST, .element = &key_schema_element_shape, .min = 1, .max = 2
};
/* Of global indexes, whose rules have texts of their own for too many attributes. */
static const struct shape global_key_schema_shape = {
    .kind = SHAPE_LIST, .element = &key_schema_element_shape, .min = 1, .max = SHAPE_NO_MAX
};

/* --- Throughput --- */

static const struct shape provisioned_units_shape = { .kind = SHAPE_LONG,
                                                      .min = 1,
                                                      .max = SHAPE_NO_MAX };
static const struct shape_field provisioned_throughput_fields[] = {
    { SHAPE_FIELD(struct units_request, write_units, "WriteCapacityUnits",
                  &provisioned_units_shape),
      .required = true },
    { SHAPE_FIELD(struct units_request, read_units, "ReadCapacityUnits", &provisioned_units_shape),
      .required = true },
};
const struct shape table_provisioned_throughput_shape = {
    SHAPE_STRUCTURE_OF(struct units_request, provisioned_throughput_fields),
    .type_name = "ProvisionedThroughput",
};
static const struct shape_field on_demand_throughput_fields[] = {
    { SHAPE_FIELD(struct units_request, read_units, "MaxReadRequestUnits", &common_long) },
    { SHAPE_FIELD(struct units_request, write_units, "MaxWriteRequestUnits", &common_long) },
};
const struct shape table_on_demand_throughput_shape = {
    SHAPE_STRUCTURE_OF(struct units_request, on_demand_throughput_fields),
    .type_name = "OnDemandThroughput",
};
static const struct shape_field warm_throughput_fields[] = {
    { SHAPE_FIELD(struct units_request, read_units, "ReadUnitsPerSecond", &common_long) },
    { SHAPE_FIELD(struct units_request, write_units, "WriteUnitsPerSecond", &common_long) },
};
static const struct shape warm_throughput_shape = {
    SHAPE_STRUCTURE_OF(struct units_request, warm_throughput_fields),
    .type_name = "WarmThroughput",
};

/* --- Indexes --- */

static const char *const projection_types[] = { "ALL", "INCLUDE", "KEYS_ONLY", NULL };
static const struct shape projection_type_shape = { .kind = SHAPE_STRING,
                                                    .enum_values = projection_types,
                                                    SHAPE_UNBOUNDED };
static const struct shape non_key_attributes_shape = { .kind = SHAPE_LIST,
                                                       .element = &key_attribute_name_shape,
                                                       .min = 1,
                                                       .max = INCLUDED_NAMES_PER_INDEX_MAX };
static const struct shape_field projection_fields[] = {
    { SHAPE_FIELD(struct projection_request, projection_type, "ProjectionType",
                  &projection_type_shape) },
    { SHAPE_FIELD(struct projection_request, non_key_attributes, "NonKeyAttributes",
                  &non_key_attributes_shape) },
};
static const struct shape projection_shape = {
    SHAPE_STRUCTURE_OF(struct projection_request, projection_fields),
    .type_name = "Projection",
};

static const struct shape_field local_index_fields[] = {
    { SHAPE_FIELD(struct index_request, index_name, "IndexName", &common_resource_name),
      .required = true },
    { SHAPE_FIELD(struct index_request, key_schema, "KeySchema", &key_schema_shape),
      .required = true },
    { SHAPE_FIELD(struct index_request, projection, "Projection", &projection_shape),
      .required = true },
};
static const struct shape local_index_shape = {
    SHAPE_STRUCTURE_OF(struct index_request, local_index_fields),
    .type_name = "LocalSecondaryIndex",
};
const struct shape table_local_indexes_shape = { .kind = SHAPE_LIST,
                                                 .element = &local_index_shape,
                                                 SHAPE_UNBOUNDED };

/* The rows for throughput, the same wherever a global index is named. */
#define INDEX_THROUGHPUT_FIELDS                                                                    \
    { SHAPE_FIELD(struct index_request, provisioned_throughput, "ProvisionedThroughput",           \
                  &table_provisioned_throughput_shape) },                                          \
        { SHAPE_FIELD(struct index_request, on_demand_throughput, "OnDemandThroughput",            \
                      &table_on_demand_throughput_shape) },                                        \
    {                                                                                              \
        SHAPE_FIELD(struct index_request, warm_throughput, "WarmThroughput",                       \
                    &warm_throughput_shape)                                                        \
    }

static const struct shape global_index_name_shape = { .kind = SHAPE_STRING,
                                                      .min = TABLE_NAME_SIZE_MIN,
                                                      .max = TABLE_NAME_SIZE_MAX,
                                                      .length_first = true,
                                                      .pattern = TABLE_NAME_PATTERN,
                                                      .matches = table_name_matches };
static const struct shape_field global_index_fields[] = {
    { SHAPE_FIELD(struct index_request, key_schema, "KeySchema", &global_key_schema_shape),
      .required = true },
    { SHAPE_FIELD(struct index_request, projection, "Projection", &projection_shape),
      .required = true },
    { SHAPE_FIELD(struct index_request, index_name, "IndexName", &global_index_name_shape),
      .required = true },
    INDEX_THROUGHPUT_FIELDS,
};
static const struct shape global_index_shape = {
    SHAPE_STRUCTURE_OF(struct index_request, global_index_fields),
    .type_name = "GlobalSecondaryIndex",
};
const struct shape table_global_indexes_shape = { .kind = SHAPE_LIST,
                                                  .element = &global_index_shape,
                                                  SHAPE_UNBOUNDED };

/* Observed: what is missing is reported in the order of local indexes. */
static const struct shape_field restored_index_fields[] = {
    { SHAPE_FIELD(struct index_request, index_name, "IndexName", &global_index_name_shape),
      .required = true },
    { SHAPE_FIELD(struct index_request, key_schema, "KeySchema", &global_key_schema_shape),
      .required = true },
    { SHAPE_FIELD(struct index_request, projection, "Projection", &projection_shape),
      .required = true },
    INDEX_THROUGHPUT_FIELDS,
};
static const struct shape restored_index_shape = {
    SHAPE_STRUCTURE_OF(struct index_request, restored_index_fields),
    .type_name = "GlobalSecondaryIndex",
};
const struct shape table_restored_indexes_shape = { .kind = SHAPE_LIST,
                                                    .element = &restored_index_shape,
                                                    SHAPE_UNBOUNDED };

static const struct shape create_index_shape = {
    SHAPE_STRUCTURE_OF(struct index_request, global_index_fields),
    .type_name = "CreateGlobalSecondaryIndexAction",
};
static const struct shape_field update_index_fields[] = {
    { SHAPE_FIELD(struct index_request, index_name, "IndexName", &common_resource_name),
      .required = true },
    INDEX_THROUGHPUT_FIELDS,
};
static const struct shape update_index_shape = {
    SHAPE_STRUCTURE_OF(struct index_request, update_index_fields),
    .type_name = "UpdateGlobalSecondaryIndexAction",
};
static const struct shape_field delete_index_fields[] = {
    { SHAPE_FIELD(struct index_request, index_name, "IndexName", &common_resource_name),
      .required = true },
};
static const struct shape delete_index_shape = {
    SHAPE_STRUCTURE_OF(struct index_request, delete_index_fields),
    .type_name = "DeleteGlobalSecondaryIndexAction",
};
static const struct shape_field index_update_fields[] = {
    { SHAPE_FIELD(struct index_update_request, update, "Update", &update_index_shape) },
    { SHAPE_FIELD(struct index_update_request, create, "Create", &create_index_shape) },
    { SHAPE_FIELD(struct index_update_request, remove, "Delete", &delete_index_shape) },
};
static const struct shape index_update_shape = {
    SHAPE_STRUCTURE_OF(struct index_update_request, index_update_fields),
    .type_name = "GlobalSecondaryIndexUpdate",
};
static const struct shape index_updates_shape = { .kind = SHAPE_LIST,
                                                  .element = &index_update_shape,
                                                  SHAPE_UNBOUNDED };

/* --- Settings --- */

static const char *const billing_modes[] = { "PROVISIONED", "PAY_PER_REQUEST", NULL };
const struct shape table_billing_mode_shape = { .kind = SHAPE_STRING,
                                                .enum_values = billing_modes,
                                                SHAPE_UNBOUNDED };
static const char *const table_classes[] = { "STANDARD", "STANDARD_INFREQUENT_ACCESS", NULL };
static const char table_class_text[] =
    "Invalid table-class parameter provided. Please try again with a valid table-class value: "
    "[STANDARD, STANDARD_INFREQUENT_ACCESS].";
const struct shape table_class_shape = { .kind = SHAPE_STRING,
                                         .enum_values = table_classes,
                                         .enum_text = table_class_text,
                                         SHAPE_UNBOUNDED };
static const char *const stream_view_types[] = { "OLD_IMAGE", "KEYS_ONLY", "NEW_AND_OLD_IMAGES",
                                                 "NEW_IMAGE", NULL };
static const struct shape stream_view_type_shape = { .kind = SHAPE_STRING,
                                                     .enum_values = stream_view_types,
                                                     SHAPE_UNBOUNDED };
static const struct shape_field stream_fields[] = {
    { SHAPE_FIELD(struct stream_request, stream_enabled, "StreamEnabled", &common_boolean),
      .required = true },
    { SHAPE_FIELD(struct stream_request, stream_view_type, "StreamViewType",
                  &stream_view_type_shape) },
};
static const struct shape stream_shape = {
    SHAPE_STRUCTURE_OF(struct stream_request, stream_fields),
    .type_name = "StreamSpecification",
};
static const char *const sse_types[] = { "AES256", "KMS", NULL };
static const struct shape sse_type_shape = { .kind = SHAPE_STRING,
                                             .enum_values = sse_types,
                                             SHAPE_UNBOUNDED };
static const struct shape kms_key_id_shape = { .kind = SHAPE_STRING,
                                               .min = 1,
                                               .max = SHAPE_NO_MAX };
static const struct shape_field encryption_fields[] = {
    { SHAPE_FIELD(struct encryption_request, enabled, "Enabled", &common_boolean) },
    { SHAPE_FIELD(struct encryption_request, sse_type, "SSEType", &sse_type_shape) },
    { SHAPE_FIELD(struct encryption_request, kms_master_key_id, "KMSMasterKeyId",
                  &kms_key_id_shape) },
};
const struct shape table_encryption_shape = {
    SHAPE_STRUCTURE_OF(struct encryption_request, encryption_fields),
    .type_name = "SSESpecification",
};

/* Both are required and bounded, but with texts of their own: setting_rules.c. */
static const struct shape_field tag_fields[] = {
    { SHAPE_FIELD(struct tag_request, key, "Key", &common_string) },
    { SHAPE_FIELD(struct tag_request, value, "Value", &common_string) },
};
static const struct shape tag_shape = { SHAPE_STRUCTURE_OF(struct tag_request, tag_fields),
                                        .type_name = "Tag" };
const struct shape tag_list_shape = { .kind = SHAPE_LIST, .element = &tag_shape, SHAPE_UNBOUNDED };

/* A list whose elements are only counted: the feature is refused as a whole. */
static const struct shape refused_element_shape = {
    .kind = SHAPE_STRUCTURE, .type_name = "Structure", .size = 1, SHAPE_UNBOUNDED
};
static const struct shape refused_list_shape = { .kind = SHAPE_LIST,
                                                 .element = &refused_element_shape,
                                                 SHAPE_UNBOUNDED };

/* --- The requests --- */

static const struct shape_field create_table_fields[] = {
    { SHAPE_FIELD(struct create_table_request, table_name, "TableName", &common_new_table_name),
      .required = true, .alone = true, .absent_text = common_table_name_absent_text },
    { SHAPE_FIELD(struct create_table_request, billing_mode, "BillingMode",
                  &table_billing_mode_shape) },
    { SHAPE_FIELD(struct create_table_request, provisioned_throughput, "ProvisionedThroughput",
                  &table_provisioned_throughput_shape) },
    { SHAPE_FIELD(struct create_table_request, key_schema, "KeySchema", &key_schema_shape),
      .required = true },
    { SHAPE_FIELD(struct create_table_request, attribute_definitions, "AttributeDefinitions",
                  &attribute_definitions_shape),
      .required = true },
    { SHAPE_FIELD(struct create_table_request, global_secondary_indexes, "GlobalSecondaryIndexes",
                  &table_global_indexes_shape) },
    { SHAPE_FIELD(struct create_table_request, local_secondary_indexes, "LocalSecondaryIndexes",
                  &table_local_indexes_shape) },
    { SHAPE_FIELD(struct create_table_request, table_class, "TableClass", &table_class_shape) },
    { SHAPE_FIELD(struct create_table_request, stream_specification, "StreamSpecification",
                  &stream_shape) },
    { SHAPE_FIELD(struct create_table_request, sse_specification, "SSESpecification",
                  &table_encryption_shape) },
    { SHAPE_FIELD(struct create_table_request, tags, "Tags", &tag_list_shape) },
    { SHAPE_FIELD(struct create_table_request, deletion_protection_enabled,
                  "DeletionProtectionEnabled", &common_boolean) },
    { SHAPE_FIELD(struct create_table_request, on_demand_throughput, "OnDemandThroughput",
                  &table_on_demand_throughput_shape) },
    { SHAPE_FIELD(struct create_table_request, warm_throughput, "WarmThroughput",
                  &warm_throughput_shape) },
    { SHAPE_FIELD(struct create_table_request, resource_policy, "ResourcePolicy", &common_string) },
    { SHAPE_FIELD(struct create_table_request, vector_indexes, "VectorIndexes",
                  &refused_list_shape) },
    { SHAPE_FIELD(struct create_table_request, global_table_source_arn, "GlobalTableSourceArn",
                  &common_string) },
    { SHAPE_FIELD(struct create_table_request, global_table_settings_replication_mode,
                  "GlobalTableSettingsReplicationMode", &common_string) },
};
const struct shape create_table_shape = { SHAPE_STRUCTURE_OF(struct create_table_request,
                                                             create_table_fields),
                                          .type_name = "CreateTableInput" };

static const struct shape_field creation_parameters_fields[] = {
    { SHAPE_FIELD(struct create_table_request, table_name, "TableName", &common_resource_name),
      .required = true },
    { SHAPE_FIELD(struct create_table_request, attribute_definitions, "AttributeDefinitions",
                  &attribute_definitions_shape),
      .required = true },
    { SHAPE_FIELD(struct create_table_request, key_schema, "KeySchema", &key_schema_shape),
      .required = true },
    { SHAPE_FIELD(struct create_table_request, billing_mode, "BillingMode",
                  &table_billing_mode_shape) },
    { SHAPE_FIELD(struct create_table_request, provisioned_throughput, "ProvisionedThroughput",
                  &table_provisioned_throughput_shape) },
    { SHAPE_FIELD(struct create_table_request, on_demand_throughput, "OnDemandThroughput",
                  &table_on_demand_throughput_shape) },
    { SHAPE_FIELD(struct create_table_request, sse_specification, "SSESpecification",
                  &table_encryption_shape) },
    { SHAPE_FIELD(struct create_table_request, global_secondary_indexes, "GlobalSecondaryIndexes",
                  &table_global_indexes_shape) },
    { SHAPE_FIELD(struct create_table_request, vector_indexes, "VectorIndexes",
                  &refused_list_shape) },
};
const struct shape table_creation_parameters_shape = {
    SHAPE_STRUCTURE_OF(struct create_table_request, creation_parameters_fields),
    .type_name = "TableCreationParameters",
};

static const struct shape_field update_table_fields[] = {
    { SHAPE_FIELD(struct update_table_request, table_name, "TableName",
                  &common_existing_table_name),
      .required = true, .alone = true, .absent_text = common_table_name_absent_text },
    { SHAPE_FIELD(struct update_table_request, provisioned_throughput, "ProvisionedThroughput",
                  &table_provisioned_throughput_shape) },
    { SHAPE_FIELD(struct update_table_request, billing_mode, "BillingMode",
                  &table_billing_mode_shape) },
    { SHAPE_FIELD(struct update_table_request, attribute_definitions, "AttributeDefinitions",
                  &attribute_definitions_shape) },
    { SHAPE_FIELD(struct update_table_request, global_secondary_index_updates,
                  "GlobalSecondaryIndexUpdates", &index_updates_shape) },
    { SHAPE_FIELD(struct update_table_request, table_class, "TableClass", &table_class_shape) },
    { SHAPE_FIELD(struct update_table_request, stream_specification, "StreamSpecification",
                  &stream_shape) },
    { SHAPE_FIELD(struct update_table_request, sse_specification, "SSESpecification",
                  &table_encryption_shape) },
    { SHAPE_FIELD(struct update_table_request, deletion_protection_enabled,
                  "DeletionProtectionEnabled", &common_boolean) },
    { SHAPE_FIELD(struct update_table_request, on_demand_throughput, "OnDemandThroughput",
                  &table_on_demand_throughput_shape) },
    { SHAPE_FIELD(struct update_table_request, warm_throughput, "WarmThroughput",
                  &warm_throughput_shape) },
    { SHAPE_FIELD(struct update_table_request, replica_updates, "ReplicaUpdates",
                  &replica_updates_shape) },
    { SHAPE_FIELD(struct update_table_request, multi_region_consistency, "MultiRegionConsistency",
                  &multi_region_consistency_shape) },
    { SHAPE_FIELD(struct update_table_request, global_table_witness_updates,
                  "GlobalTableWitnessUpdates", &witness_updates_shape) },
    { SHAPE_FIELD(struct update_table_request, global_table_settings_replication_mode,
                  "GlobalTableSettingsReplicationMode", &settings_replication_mode_shape) },
    { SHAPE_FIELD(struct update_table_request, disassociation_protection_enabled,
                  "DisassociationProtectionEnabled", &common_boolean) },
    { SHAPE_FIELD(struct update_table_request, vector_index_updates, "VectorIndexUpdates",
                  &refused_list_shape) },
};
const struct shape update_table_shape = { SHAPE_STRUCTURE_OF(struct update_table_request,
                                                             update_table_fields),
                                          .type_name = "UpdateTableInput" };
