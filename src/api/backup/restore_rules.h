/* restore_rules.h -- the definition of a restored table: what it takes over from its source, and
 * what the request overrides.
 *
 * Pure: a request that passed its shape and a definition in, a draft out, or the service's message.
 */
#ifndef STATOR_API_BACKUP_RESTORE_RULES_H
#define STATOR_API_BACKUP_RESTORE_RULES_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"
#include "shape/shape.h"

struct arena;
struct encryption_request;
struct error;
struct table_definition;
struct units_request;

/* The members that both requests share. */
struct restore_overrides {
    struct bytes target_table_name;
    struct bytes billing_mode;
    struct shape_list global_indexes; /* of struct index_request *; absent: all, empty: none. */
    struct shape_list local_indexes;  /* of struct index_request *; likewise. */
    struct units_request *provisioned_throughput;
    struct units_request *on_demand_throughput;
    struct encryption_request *encryption;
    struct shape_list vector_indexes; /* Refused unless it is empty. */
};

/* The rows of the requests' shapes. `structure` has a member `overrides`. */
#define RESTORE_OVERRIDE_FIELDS(structure)                                                         \
    { SHAPE_FIELD(structure, overrides.target_table_name, "TargetTableName",                       \
                  &restore_target_shape),                                                          \
      .required = true },                                                                          \
        { SHAPE_FIELD(structure, overrides.billing_mode, "BillingModeOverride",                    \
                      &table_billing_mode_shape) },                                                \
        { SHAPE_FIELD(structure, overrides.global_indexes, "GlobalSecondaryIndexOverride",         \
                      &table_restored_indexes_shape) },                                            \
        { SHAPE_FIELD(structure, overrides.local_indexes, "LocalSecondaryIndexOverride",           \
                      &table_local_indexes_shape) },                                               \
        { SHAPE_FIELD(structure, overrides.provisioned_throughput,                                 \
                      "ProvisionedThroughputOverride", &table_provisioned_throughput_shape) },     \
        { SHAPE_FIELD(structure, overrides.on_demand_throughput, "OnDemandThroughputOverride",     \
                      &table_on_demand_throughput_shape) },                                        \
        { SHAPE_FIELD(structure, overrides.encryption, "SSESpecificationOverride",                 \
                      &table_encryption_shape) },                                                  \
    {                                                                                              \
        SHAPE_FIELD(structure, overrides.vector_indexes, "VectorIndexOverride",                    \
                    &restore_vector_indexes_shape)                                                 \
    }
extern const struct shape restore_target_shape;
extern const struct shape restore_vector_indexes_shape;

/* Makes the draft of a new table. It borrows the source and the request. */
MUST_CHECK bool restore_rules_draft(struct arena *arena, const struct restore_overrides *overrides,
                                    const struct table_definition *source, int64_t now_ms,
                                    struct table_definition *draft, struct error *err);

#endif
