/* replica_rules.c -- see replica_rules.h. */
#include "api/table/replica_rules.h"
#include "api/table/replica_shapes.h"
#include "api/table/setting_rules.h"
#include "api/table/table_shapes.h"
#include "base/buffer.h"
#include "model/error.h"
#include "model/replica_definition.h"
#include "model/table_definition.h"
#include "replica/replica_group.h"

#define INVALID_VALUES "One or more parameter values were invalid: "
#define STRONG_TABLES "global tables with MultiRegionConsistency set to STRONG"

static bool asks_for_strong(const struct update_table_request *request)
{
    return bytes_equal_text(request->multi_region_consistency, "STRONG");
}

bool replica_rules_concerns(const struct update_table_request *request)
{
    return request->replica_updates.present || request->multi_region_consistency.data != NULL ||
           request->global_table_witness_updates.present ||
           request->global_table_settings_replication_mode.data != NULL ||
           request->disassociation_protection_enabled.present;
}

/* --- What else is in the request --- */

static bool has_other_members(const struct update_table_request *request)
{
    return request->attribute_definitions.present || request->billing_mode.data != NULL ||
           request->provisioned_throughput != NULL || request->on_demand_throughput != NULL ||
           request->warm_throughput != NULL || request->global_secondary_index_updates.present ||
           request->table_class.data != NULL || request->deletion_protection_enabled.present ||
           request->stream_specification != NULL || request->sse_specification != NULL ||
           request->vector_index_updates.present ||
           request->global_table_settings_replication_mode.data != NULL ||
           request->disassociation_protection_enabled.present;
}

static bool check_alone(const struct update_table_request *request, struct error *err)
{
    if (!has_other_members(request))
        return true;
    if (request->global_table_witness_updates.present)
        return error_validation(err, INVALID_VALUES "Requests that modify replicas or witnesses "
                                                    "must not also modify other fields");
    return error_validation(err, INVALID_VALUES
                            "Replica modification must be the only operation in the request");
}

/* --- Actions --- */

static struct replica_action action_of(const struct replica_update_request *update)
{
    if (update->create != NULL)
        return (struct replica_action){ REPLICA_CREATE, update->create };
    if (update->update != NULL)
        return (struct replica_action){ REPLICA_UPDATE, update->update };
    if (update->remove != NULL)
        return (struct replica_action){ REPLICA_DELETE, update->remove };
    return (struct replica_action){ REPLICA_DISASSOCIATE, update->disassociate };
}

static bool check_kinds(const struct shape_list *list, struct error *err)
{
    const struct replica_update_request *const *updates = list->elements;
    if (list->count > REPLICA_UPDATES_MAX)
        return error_validation(err, "Update table operation with more than one create or delete "
                                     "replica actions not allowed");
    for (size_t i = 0; i < list->kept; i++) {
        int kinds = (updates[i]->create != NULL) + (updates[i]->update != NULL) +
                    (updates[i]->remove != NULL) + (updates[i]->disassociate != NULL);
        if (kinds > 1)
            return error_validation(err, "Update table operation with more than one type of "
                                         "replica actions not allowed.");
        if (kinds == 0)
            return error_validation(err, "There are no actions specified in the Replica Update "
                                         "Action of the request.");
    }
    return true;
}

static bool equal_units(const struct override_request *one, const struct override_request *two)
{
    if (one == NULL || two == NULL)
        return one == two;
    return one->read_units.present == two->read_units.present &&
           one->read_units.value == two->read_units.value;
}

static bool equal_indexes(const struct shape_list *one, const struct shape_list *two)
{
    const struct replica_index_request *const *left = one->elements;
    const struct replica_index_request *const *right = two->elements;
    if (one->count != two->count)
        return false;
    for (size_t i = 0; i < one->kept; i++)
        if (!bytes_equal(left[i]->index_name, right[i]->index_name) ||
            !equal_units(left[i]->provisioned, right[i]->provisioned) ||
            !equal_units(left[i]->on_demand, right[i]->on_demand))
            return false;
    return true;
}

static bool equal_requests(const struct replica_request *one, const struct replica_request *two)
{
    return bytes_equal(one->region, two->region) &&
           bytes_equal(one->kms_master_key_id, two->kms_master_key_id) &&
           bytes_equal(one->table_class, two->table_class) &&
           equal_units(one->provisioned, two->provisioned) &&
           equal_units(one->on_demand, two->on_demand) &&
           equal_indexes(&one->indexes, &two->indexes);
}

/* Observed: the same Create twice counts once. */
static bool check_pair(const struct replica_action *one, const struct replica_action *two,
                       bool several, struct error *err)
{
    bool same_region = bytes_equal(one->replica->region, two->replica->region);
    if (one->kind == REPLICA_CREATE && two->kind == REPLICA_CREATE &&
        equal_requests(one->replica, two->replica))
        return true;
    if (one->kind == two->kind && (same_region || one->kind == REPLICA_UPDATE))
        return error_validation(err, "Cannot target multiple regions with the same action");
    if (several && one->kind == two->kind)
        return true;
    bool moves = (one->kind == REPLICA_CREATE || one->kind == REPLICA_DELETE) &&
                 (two->kind == REPLICA_CREATE || two->kind == REPLICA_DELETE);
    if (moves)
        return error_validation(err, "Update table operation with more than one create or delete "
                                     "replica actions not allowed");
    return error_validation(
        err, "Update table operation with more than one type of replica actions not allowed.");
}

/* `several`: strong consistency, which makes and ends all replicas in one request. */
static bool check_pairs(const struct shape_list *list, bool several, struct error *err)
{
    const struct replica_update_request *const *updates = list->elements;
    for (size_t i = 0; i < list->kept; i++) {
        const struct replica_action one = action_of(updates[i]);
        for (size_t j = 0; j < i; j++) {
            const struct replica_action two = action_of(updates[j]);
            if (!check_pair(&one, &two, several, err))
                return false;
        }
    }
    return true;
}

/* --- Strong consistency --- */

/* The names that the service lists are those that the request does not have. */
static bool refuse_consistency_alone(struct error *err)
{
    return error_validation(err,
                            "At least one of ProvisionedThroughput, BillingMode, "
                            "UpdateStreamEnabled, GlobalSecondaryIndexUpdates, SSESpecification, "
                            "ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, "
                            "DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or "
                            "TableClass is required");
}

static const struct witness_update_request *witness_of(const struct update_table_request *request)
{
    const struct witness_update_request *const *updates =
        request->global_table_witness_updates.elements;
    return request->global_table_witness_updates.kept > 0 ? updates[0] : NULL;
}

static size_t count_creates(const struct shape_list *list)
{
    const struct replica_update_request *const *updates = list->elements;
    size_t count = 0;
    for (size_t i = 0; i < list->kept; i++) {
        bool repeated = false;
        for (size_t j = 0; j < i; j++)
            repeated |= updates[i]->create != NULL && updates[j]->create != NULL &&
                        bytes_equal(updates[i]->create->region, updates[j]->create->region);
        count += updates[i]->create != NULL && !repeated;
    }
    return count;
}

static bool check_strong(const struct update_table_request *request, const char *own_region,
                         struct error *err)
{
    const struct replica_update_request *const *updates = request->replica_updates.elements;
    const struct witness_update_request *witness = witness_of(request);
    bool adds_witness = witness != NULL && witness->create != NULL;
    size_t creates = count_creates(&request->replica_updates);
    if (request->multi_region_consistency.data != NULL) {
        for (size_t i = 0; i < request->replica_updates.kept; i++)
            if (updates[i]->create == NULL)
                return error_validation(err, "Only Replica Create actions are supported when "
                                             "MultiRegionConsistency parameter is provided.");
    }
    if (adds_witness && !asks_for_strong(request))
        return error_validation(err, "MultiRegionConsistency must be set as STRONG when "
                                     "GlobalTableWitnessUpdates parameter is present.");
    if (!asks_for_strong(request))
        return true;
    if (creates + adds_witness != 2 || creates == 0)
        return error_validation(err, "Unsupported replica count for " STRONG_TABLES ".");
    if (!adds_witness)
        return true;
    for (size_t i = 0; i < request->replica_updates.kept; i++)
        if (bytes_equal(updates[i]->create->region, witness->create->region))
            return error_validation(err, "Cannot target multiple regions with the same action");
    return !bytes_equal_text(witness->create->region, own_region) ||
           error_validation(err, "Cannot add a witness in the same region as an existing replica "
                                 "when creating a global table with MultiRegionConsistency set to "
                                 "STRONG.");
}

/* --- Regions --- */

static bool knows_region(const struct replica_regions *regions, struct bytes name)
{
    if (bytes_equal_text(name, regions->own))
        return true;
    for (size_t i = 0; i < regions->peer_count; i++)
        if (bytes_equal(regions->peers[i], name))
            return true;
    return false;
}

static bool refuse_region(const struct replica_regions *regions, struct bytes name,
                          struct error *err)
{
    struct buffer list;
    buffer_init(&list, err->arena);
    buffer_append_bytes(&list, bytes_from_text(regions->own));
    for (size_t i = 0; i < regions->peer_count; i++) {
        buffer_append_bytes(&list, BYTES(", "));
        buffer_append_bytes(&list, regions->peers[i]);
    }
    return error_validation(err,
                            "Region %.*s is not supported. The latest version of global tables "
                            "are only supported in the following regions: [%.*s]",
                            BYTES_FMT(name), BYTES_FMT(buffer_bytes(&list)));
}

static bool check_region(const struct replica_regions *regions, const struct replica_action *action,
                         struct error *err)
{
    struct bytes name = action->replica->region;
    bool own = bytes_equal_text(name, regions->own);
    if (name.data == NULL) /* Observed for Create; the shapes of the others require it. */
        return error_validation(err, "One or more parameter values were invalid");
    if (name.len == 0 && action->kind == REPLICA_CREATE)
        return error_set(err, ERROR_ACCESS_DENIED, "No region is named for the replica");
    if (name.len == 0)
        return refuse_region(regions, name, err);
    if (action->kind == REPLICA_DISASSOCIATE)
        return own || error_validation(err, INVALID_VALUES "RegionName of Disassociate must be the "
                                                           "region that the request is sent to");
    if (own)
        return error_validation(err, "Cannot add or delete the local region through "
                                     "ReplicaUpdates. Use CreateTable, DeleteTable, or UpdateTable "
                                     "as required.");
    if (action->kind == REPLICA_CREATE && !knows_region(regions, name))
        return refuse_region(regions, name, err);
    return true;
}

static bool has_change(const struct replica_request *request)
{
    return request->kms_master_key_id.data != NULL || request->provisioned != NULL ||
           request->on_demand != NULL || request->indexes.count > 0 ||
           request->table_class.data != NULL;
}

/* --- The rules that do not depend on the table --- */

bool replica_rules_check(const struct update_table_request *request,
                         const struct replica_regions *regions, struct replica_action *action,
                         struct error *err)
{
    const struct replica_update_request *const *updates = request->replica_updates.elements;
    const struct witness_update_request *witness = witness_of(request);
    bool ends_strong = witness != NULL && witness->remove != NULL;
    if (!check_alone(request, err))
        return false;
    if (request->replica_updates.count == 0)
        return request->multi_region_consistency.data != NULL ? refuse_consistency_alone(err)
                                                              : setting_rules_refuse_nothing(err);
    if (!check_kinds(&request->replica_updates, err) || !check_strong(request, regions->own, err) ||
        !check_pairs(&request->replica_updates, asks_for_strong(request) || ends_strong, err))
        return false;
    for (size_t i = 0; i < request->replica_updates.kept; i++) {
        const struct replica_action one = action_of(updates[i]);
        if (!check_region(regions, &one, err))
            return false;
        if (one.kind == REPLICA_UPDATE && !has_change(one.replica))
            return error_validation(err, "There are no actions specified in the Replica Update "
                                         "Action of the request.");
    }
    *action = action_of(updates[0]);
    return true;
}

/* --- Disassociation protection --- */

bool replica_rules_check_protection(const struct update_table_request *request,
                                    const struct table_definition *table, struct error *err)
{
    struct update_table_request rest = *request;
    rest.disassociation_protection_enabled = (struct shape_boolean){ 0 };
    if (has_other_members(&rest))
        return error_validation(err, INVALID_VALUES "DisassociationProtectionEnabled must be the "
                                                    "only parameter to be updated");
    return replica_definition_is_group(&table->replicas) ||
           error_validation(err, INVALID_VALUES
                            "DisassociationProtectionEnabled is only for a replica of a global "
                            "table");
}

/* --- State --- */

bool replica_rules_refuse_unsettled(struct error *err)
{
    return error_set(err, ERROR_RESOURCE_IN_USE,
                     "The resource which you are attempting to change is in use.");
}

bool replica_rules_check_settled(const struct table_definition *table, struct error *err)
{
    return replica_group_is_settled(&table->replicas) || replica_rules_refuse_unsettled(err);
}

static bool refuse_second_create(const struct table_definition *table, struct error *err)
{
    const struct replica_definition *group = &table->replicas;
    struct buffer list;
    buffer_init(&list, err->arena);
    buffer_append_bytes(&list, group->own.region);
    for (size_t i = 0; i < group->count; i++) {
        buffer_append_bytes(&list, BYTES(", "));
        buffer_append_bytes(&list, group->members[i].region);
    }
    return error_set(err, ERROR_RESOURCE_IN_USE,
                     "Global table with name: %.*s already exists with replicas in regions: %.*s.",
                     BYTES_FMT(table->name), BYTES_FMT(buffer_bytes(&list)));
}

static bool check_strong_state(const struct update_table_request *request,
                               const struct replica_action *action,
                               const struct replica_state *state, struct error *err)
{
    const struct witness_update_request *witness = witness_of(request);
    if (request->multi_region_consistency.data != NULL && state->table->replicas.count > 0)
        return error_validation(
            err, "MultiRegionConsistency parameter is unsupported on existing global table");
    if (!state->is_strong)
        return witness == NULL || asks_for_strong(request) ||
               error_validation(err, "MultiRegionConsistency must be set as STRONG when "
                                     "GlobalTableWitnessUpdates parameter is present.");
    if (action->kind == REPLICA_CREATE)
        return error_validation(
            err, "Cannot add replicas to a global table with strong MultiRegionConsistency");
    if (witness != NULL && witness->remove != NULL &&
        !bytes_equal(witness->remove->region, state->witness))
        return error_validation(err,
                                "Update global table operation failed because one or more "
                                "witnesses were not part of the global table. Please retry the "
                                "request without these witnesses: [%.*s].",
                                BYTES_FMT(witness->remove->region));
    if (action->kind != REPLICA_DELETE)
        return true;
    if (request->replica_updates.count < state->table->replicas.count)
        return error_validation(
            err, "Deletion of only one table replica is not supported for " STRONG_TABLES ".");
    return state->witness.data == NULL || witness != NULL ||
           error_validation(err, "Update table delete operation does not include all witnesses.");
}

/* The service's answer to a region that has no strong consistency. */
static bool check_strong_regions(const struct update_table_request *request,
                                 const struct replica_state *state, struct error *err)
{
    const struct replica_update_request *const *updates = request->replica_updates.elements;
    const struct witness_update_request *witness = witness_of(request);
    struct buffer list;
    if (!asks_for_strong(request) || state->engine_is_shared)
        return true;
    buffer_init(&list, err->arena);
    for (size_t i = 0; i < request->replica_updates.kept; i++) {
        if (i > 0)
            buffer_append_bytes(&list, BYTES(", "));
        buffer_append_bytes(&list, updates[i]->create->region);
    }
    if (witness != NULL && witness->create != NULL) {
        buffer_append_bytes(&list, BYTES(", "));
        buffer_append_bytes(&list, witness->create->region);
    }
    return error_validation(err, "Unsupported Region(s) specified for " STRONG_TABLES ": [%.*s].",
                            BYTES_FMT(buffer_bytes(&list)));
}

bool replica_rules_refuse_existing(const struct table_definition *table, struct error *err)
{
    return error_validation(err,
                            "Failed to create a the new replica of table with name: "
                            "\xe2\x80\x98%.*s\xe2\x80\x99 because one or more replicas already "
                            "existed as tables.",
                            BYTES_FMT(table->name));
}

static bool check_member(const struct replica_action *action, const struct replica_state *state,
                         struct error *err)
{
    struct bytes region = action->replica->region;
    const struct replica_member *member = replica_definition_find(&state->table->replicas, region);
    if (action->kind == REPLICA_CREATE) {
        if (member == NULL)
            return true;
        if (member->status == REPLICA_CREATING)
            return refuse_second_create(state->table, err);
        return replica_rules_refuse_existing(state->table, err);
    }
    return member != NULL ||
           error_validation(err,
                            "Update global table operation failed because one or more replicas "
                            "were not part of the global table. Please retry the request without "
                            "these replicas: [%.*s].",
                            BYTES_FMT(region));
}

static bool check_units(const struct replica_action *action, const struct table_definition *table,
                        struct error *err)
{
    const struct replica_request *replica = action->replica;
    const struct replica_index_request *const *indexes = replica->indexes.elements;
    bool provisioned = replica->provisioned != NULL, on_demand = replica->on_demand != NULL;
    for (size_t i = 0; i < replica->indexes.kept; i++) {
        provisioned |= indexes[i]->provisioned != NULL;
        on_demand |= indexes[i]->on_demand != NULL;
    }
    /* Observed: a Create may have it. */
    if (provisioned && table->billing_mode == BILLING_PAY_PER_REQUEST &&
        action->kind == REPLICA_UPDATE)
        return error_validation(err, "Neither ReadCapacityUnits nor WriteCapacityUnits can be "
                                     "specified when BillingMode is PAY_PER_REQUEST");
    if (on_demand && table->billing_mode == BILLING_PROVISIONED)
        return error_validation(err, "MaxReadRequestUnits for OnDemandThroughput cannot be "
                                     "specified when the table BillingMode is PROVISIONED");
    return true;
}

static bool check_capacity(const struct replica_state *state, struct error *err)
{
    if (state->table->billing_mode == BILLING_PAY_PER_REQUEST || state->unscaled.data == NULL)
        return true;
    return error_validation(err,
                            "%s write capacity should either be Pay-Per-Request or AutoScaled.",
                            state->unscaled.len == 0 ? "Table" : "GSI");
}

/* Observed: a table with a key of its own needs one in each region, and no other table may have
 * one. The key of a replica that is there never changes. */
static bool check_key(const struct replica_action *action, const struct table_definition *table,
                      struct error *err)
{
    struct bytes key = action->replica->kms_master_key_id;
    bool own = table->encryption_given && table->encryption_key.data != NULL;
    bool given = key.data != NULL;
    if (action->kind == REPLICA_UPDATE ? given : own ? !given : given && !table->encryption_given)
        return error_validation(err, INVALID_VALUES
                                "KMSMasterKeyId must be specified for each replica.");
    return !given || (own && !bytes_equal_text(key, "alias/aws/dynamodb")) ||
           error_validation(err, INVALID_VALUES "All replica keys must either be Customer Managed "
                                                "CMK or AWS Managed CMK.");
}

/* The service's words are not known; these are like those about deletion protection. */
static bool check_unprotected(const struct table_definition *table, struct error *err)
{
    return table->replicas.own.may_leave ||
           error_validation(err,
                            "Cannot disassociate table %.*s in region %.*s because it has "
                            "disassociation protection enabled. Disable disassociation protection "
                            "first.",
                            BYTES_FMT(table->name), BYTES_FMT(table->replicas.own.region));
}

bool replica_rules_check_state(const struct update_table_request *request,
                               const struct replica_action *action,
                               const struct replica_state *state, struct error *err)
{
    const struct replica_member *member =
        replica_definition_find(&state->table->replicas, action->replica->region);
    bool again = action->kind == REPLICA_CREATE && member != NULL;
    if (action->kind == REPLICA_DISASSOCIATE && state->table->replicas.count == 0)
        return error_validation(err,
                                "Update global table operation failed because one or more "
                                "replicas were not part of the global table. Please retry the "
                                "request without these replicas: [%.*s].",
                                BYTES_FMT(action->replica->region));
    if (action->kind == REPLICA_DISASSOCIATE && !check_unprotected(state->table, err))
        return false;
    if (!again && !replica_rules_check_settled(state->table, err))
        return false;
    /* The last group is still ending: its stamps are not removed yet. */
    if (action->kind == REPLICA_CREATE && replica_definition_is_group(&state->table->replicas) &&
        state->table->replicas.count == 0)
        return replica_rules_refuse_unsettled(err);
    if (!check_strong_state(request, action, state, err) ||
        (action->kind != REPLICA_DISASSOCIATE && !check_member(action, state, err)) ||
        !check_units(action, state->table, err))
        return false;
    if (action->kind == REPLICA_CREATE && !check_capacity(state, err))
        return false;
    if (action->kind == REPLICA_DELETE || action->kind == REPLICA_DISASSOCIATE)
        return true;
    return check_key(action, state->table, err) &&
           (action->kind != REPLICA_CREATE || check_strong_regions(request, state, err));
}

/* --- Other requests about a global table --- */

bool replica_rules_check_update(const struct update_table_request *request,
                                const struct table_definition *table, struct error *err)
{
    if (!replica_definition_is_group(&table->replicas))
        return true;
    if (!replica_rules_check_settled(table, err))
        return false;
    bool disables = request->stream_specification != NULL &&
                    !request->stream_specification->stream_enabled.value;
    return !disables || table->replicas.count == 0 ||
           error_validation(err, INVALID_VALUES
                            "Disabling Stream is not allowed for a Global Table replica.");
}

bool replica_rules_ends_overrides(const struct update_table_request *request)
{
    return request->billing_mode.data != NULL || request->provisioned_throughput != NULL ||
           request->on_demand_throughput != NULL || request->table_class.data != NULL ||
           request->global_secondary_index_updates.count > 0;
}

bool replica_rules_is_shared(const struct update_table_request *request)
{
    return replica_rules_ends_overrides(request) || request->warm_throughput != NULL ||
           request->sse_specification != NULL;
}

bool replica_rules_check_source(const struct table_definition *table, struct bytes region,
                                int64_t now_ms, struct error *err)
{
    const struct replica_definition *group = &table->replicas;
    bool is_source =
        bytes_equal(group->own.source, region) && now_ms - group->own.added_ms < REPLICA_SOURCE_MS;
    for (size_t i = 0; i < group->count; i++)
        is_source |= bytes_equal(group->members[i].source, region) &&
                     now_ms - group->members[i].added_ms < REPLICA_SOURCE_MS;
    return !is_source ||
           error_validation(err, "Replica cannot be deleted because it has acted as a source "
                                 "region for new replica(s) being added to the table in the last "
                                 "24 hours.");
}

bool replica_rules_refuse_protected(const struct table_definition *table, struct bytes region,
                                    struct error *err)
{
    return error_validation(err,
                            "Cannot delete table %.*s in region %.*s because it has deletion "
                            "protection enabled. Disable deletion protection first.",
                            BYTES_FMT(table->name), BYTES_FMT(region));
}

bool replica_rules_check_delete(const struct table_definition *table, int64_t now_ms,
                                struct error *err)
{
    const struct replica_definition *group = &table->replicas;
    if (!replica_definition_is_group(group))
        return true;
    if (group->own.status == REPLICA_CREATING && group->count > 0)
        return error_set(err, ERROR_RESOURCE_IN_USE,
                         "Attempt to change a resource which is still in use: Table: %.*s is being "
                         "used.",
                         BYTES_FMT(table->name));
    /* Nobody needs it who is being deleted, or cannot be reached to be. */
    bool is_last = true;
    for (size_t i = 0; i < group->count; i++)
        is_last = is_last && group->members[i].status == REPLICA_DELETING;
    return is_last || (replica_rules_check_settled(table, err) &&
                       replica_rules_check_source(table, group->own.region, now_ms, err));
}
