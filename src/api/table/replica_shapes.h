/* replica_shapes.h -- the parts of UpdateTable that are about the replicas of a global table. */
#ifndef STATOR_API_TABLE_REPLICA_SHAPES_H
#define STATOR_API_TABLE_REPLICA_SHAPES_H
#include "base/bytes.h"
#include "shape/shape.h"

/* ProvisionedThroughputOverride and OnDemandThroughputOverride. */
struct override_request {
    struct shape_integer read_units;
};

struct replica_index_request {
    struct bytes index_name;
    struct override_request *provisioned;
    struct override_request *on_demand;
};

/* Create, Update, Delete and Disassociate; each has some of the members. */
struct replica_request {
    struct bytes region;
    struct bytes kms_master_key_id;
    struct override_request *provisioned;
    struct override_request *on_demand;
    struct shape_list indexes; /* of struct replica_index_request * */
    struct bytes table_class;
    struct bytes disassociation_mode;
};

/* An element of ReplicaUpdates: one of the four should be given. */
struct replica_update_request {
    struct replica_request *create;
    struct replica_request *update;
    struct replica_request *remove; /* "Delete" */
    struct replica_request *disassociate;
};

/* An element of GlobalTableWitnessUpdates. */
struct witness_request {
    struct bytes region;
};
struct witness_update_request {
    struct witness_request *create;
    struct witness_request *remove; /* "Delete" */
};

extern const struct shape replica_updates_shape; /* of struct replica_update_request * */
extern const struct shape witness_updates_shape; /* of struct witness_update_request * */
extern const struct shape multi_region_consistency_shape;
extern const struct shape settings_replication_mode_shape;

#endif
