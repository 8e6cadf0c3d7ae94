/* table_shapes.h -- the requests of CreateTable and UpdateTable as their shapes read them. */
#ifndef STATOR_API_TABLE_TABLE_SHAPES_H
#define STATOR_API_TABLE_TABLE_SHAPES_H
#include "shape/shape.h"

struct attribute_definition_request {
    struct bytes attribute_name;
    struct bytes attribute_type;
};

struct key_schema_element_request {
    struct bytes attribute_name;
    struct bytes key_type;
};

struct projection_request {
    struct bytes projection_type;
    struct shape_list non_key_attributes; /* of struct bytes */
};

/* ProvisionedThroughput, OnDemandThroughput and WarmThroughput: what is absent was not given. */
struct units_request {
    struct shape_integer read_units;
    struct shape_integer write_units;
};

/* A local or global index; local ones have no throughput. */
struct index_request {
    struct bytes index_name;
    struct shape_list key_schema; /* of struct key_schema_element_request * */
    struct projection_request *projection;
    struct units_request *provisioned_throughput;
    struct units_request *on_demand_throughput;
    struct units_request *warm_throughput;
};

/* GlobalSecondaryIndexUpdates: one of the three is given. */
struct index_update_request {
    struct index_request *update;
    struct index_request *create;
    struct index_request *remove; /* "Delete" */
};

struct stream_request {
    struct shape_boolean stream_enabled;
    struct bytes stream_view_type;
};

struct encryption_request {
    struct shape_boolean enabled;
    struct bytes sse_type;
    struct bytes kms_master_key_id;
};

struct tag_request {
    struct bytes key;
    struct bytes value;
};

struct create_table_request {
    struct bytes table_name;
    struct shape_list attribute_definitions;    /* of struct attribute_definition_request * */
    struct shape_list key_schema;               /* of struct key_schema_element_request * */
    struct shape_list local_secondary_indexes;  /* of struct index_request * */
    struct shape_list global_secondary_indexes; /* of struct index_request * */
    struct bytes billing_mode;
    struct units_request *provisioned_throughput;
    struct units_request *on_demand_throughput;
    struct units_request *warm_throughput;
    struct bytes table_class;
    struct shape_boolean deletion_protection_enabled;
    struct stream_request *stream_specification;
    struct encryption_request *sse_specification;
    struct shape_list tags; /* of struct tag_request * */
    struct bytes resource_policy;
    /* Not supported yet; read so that they can be refused. */
    struct shape_list vector_indexes;
    struct bytes global_table_source_arn;
    struct bytes global_table_settings_replication_mode;
};

struct update_table_request {
    struct bytes table_name;
    struct shape_list attribute_definitions; /* of struct attribute_definition_request * */
    struct bytes billing_mode;
    struct units_request *provisioned_throughput;
    struct units_request *on_demand_throughput;
    struct units_request *warm_throughput;
    struct shape_list global_secondary_index_updates; /* of struct index_update_request * */
    struct bytes table_class;
    struct shape_boolean deletion_protection_enabled;
    struct stream_request *stream_specification;
    struct encryption_request *sse_specification;
    struct shape_list replica_updates; /* of struct replica_update_request * */
    struct bytes multi_region_consistency;
    struct shape_list global_table_witness_updates; /* of struct witness_update_request * */
    struct bytes global_table_settings_replication_mode;
    struct shape_boolean disassociation_protection_enabled;
    /* Not supported yet; read so that they can be refused. */
    struct shape_list vector_index_updates;
};

extern const struct shape create_table_shape;
extern const struct shape update_table_shape;
/* TableCreationParameters of imports: a part of CreateTable's, in struct create_table_request.
 * What it does not name, such as local indexes, is not read. */
extern const struct shape table_creation_parameters_shape;
extern const struct shape tag_list_shape; /* of struct tag_request * */
/* Parts that restores and imports share. */
extern const struct shape table_billing_mode_shape;
extern const struct shape table_class_shape;
extern const struct shape table_provisioned_throughput_shape;
extern const struct shape table_on_demand_throughput_shape;
extern const struct shape table_local_indexes_shape;
extern const struct shape table_global_indexes_shape;
extern const struct shape table_restored_indexes_shape; /* Global ones, of a restore. */
extern const struct shape table_encryption_shape;

#endif
