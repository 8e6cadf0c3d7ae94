/* replica_update.c -- see replica_update.h.
 *
 * Access is decided three times over: UpdateTable here by the declaration of the operation; the
 * action on the replica, of the table of the other region, before anything of the state shows;
 * and by the other region's server, about the servers' own key.
 */
#include "api/table/replica_update.h"
#include <assert.h>
#include "api/operation.h"
#include "api/operation_access.h"
#include "api/stream/stream_operation.h"
#include "api/table/replica_rules.h"
#include "api/table/replica_shapes.h"
#include "api/table/table_operation.h"
#include "api/table/table_shapes.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "control/control.h"
#include "model/error.h"
#include "model/replica_definition.h"
#include "model/table_definition.h"
#include "replica/replica_group.h"
#include "replica/replicas.h"
#include "scaling/scaling.h"
#include "table/catalogue.h"

/* --- Access --- */

static const char *const policy_actions[] = {
    [REPLICA_CREATE] = "CreateTableReplica",
    [REPLICA_UPDATE] = "UpdateTable",
    [REPLICA_DELETE] = "DeleteTableReplica",
    [REPLICA_DISASSOCIATE] = "DisassociateTableReplica",
};

/* Asks about the table in the replica's region. Its policy is there, so only those of the caller
 * decide. */
static bool may(struct api_call *call, struct bytes table_name, enum replica_action_kind kind,
                struct bytes region)
{
    const struct api_options *options = api_options(call->api);
    if (call->caller == NULL)
        return true;
    struct access_question question =
        operation_question(call, policy_actions[kind], table_name, (struct bytes){ 0 }, NULL);
    question.arn =
        arena_printf(call->arena, "arn:aws:dynamodb:%.*s:%s:table/%.*s", BYTES_FMT(region),
                     options->account_id, BYTES_FMT(operation_table_name(table_name)));
    return operation_may(call, &question);
}

/* With strong consistency there are several. */
static bool may_all(struct api_call *call, const struct update_table_request *request)
{
    const struct replica_update_request *const *updates = request->replica_updates.elements;
    for (size_t i = 0; i < request->replica_updates.kept; i++) {
        const struct replica_update_request *update = updates[i];
        if ((update->create != NULL &&
             !may(call, request->table_name, REPLICA_CREATE, update->create->region)) ||
            (update->update != NULL &&
             !may(call, request->table_name, REPLICA_UPDATE, update->update->region)) ||
            (update->remove != NULL &&
             !may(call, request->table_name, REPLICA_DELETE, update->remove->region)) ||
            (update->disassociate != NULL &&
             !may(call, request->table_name, REPLICA_DISASSOCIATE, update->disassociate->region)))
            return false;
    }
    return true;
}

/* --- The state that the rules judge --- */

static bool is_scaled(const struct scaling *scaling, struct bytes resource,
                      enum scaling_dimension dimension)
{
    const struct scaling_id id = { .resource_id = resource, .dimension = dimension };
    size_t first;
    return scaling_find_target(scaling, &id) != NULL &&
           scaling_of_target(scaling, SCALING_POLICY, &id, &first) > 0;
}

/* The first part of the table whose writes are neither on-demand nor scaled; see struct
 * replica_state. */
static struct bytes find_unscaled(struct api_call *call, const struct table_definition *table)
{
    struct scaling *scaling = api_scaling(call->api);
    struct bytes found = { 0 };
    if (table->billing_mode == BILLING_PAY_PER_REQUEST)
        return found;
    scaling_lock(scaling);
    struct bytes resource = arena_printf(call->arena, "table/%.*s", BYTES_FMT(table->name));
    if (!is_scaled(scaling, resource, SCALING_TABLE_WRITE))
        found = BYTES("");
    for (size_t i = 0; i < table->index_count && found.data == NULL; i++) {
        const struct index_definition *index = &table->indexes[i];
        struct bytes name = arena_printf(call->arena, "%.*s/index/%.*s", BYTES_FMT(resource),
                                         BYTES_FMT(index->name));
        if (index->global && !is_scaled(scaling, name, SCALING_INDEX_WRITE))
            found = index->name;
    }
    scaling_unlock(scaling);
    return found;
}

static struct replica_state state_of(struct api_call *call, const struct table_definition *table)
{
    return (struct replica_state){ .table = table, .unscaled = find_unscaled(call, table) };
}

/* --- Overrides --- */

static int64_t units_of(const struct override_request *request, int64_t otherwise)
{
    return request != NULL && request->read_units.present ? request->read_units.value : otherwise;
}

static void merge_override(const struct override_request *provisioned,
                           const struct override_request *on_demand, struct replica_override *out)
{
    out->read_units = units_of(provisioned, out->read_units);
    out->on_demand_read_max = units_of(on_demand, out->on_demand_read_max);
}

/* Observed: an index that there is not is passed over in silence. */
static void merge_index(const struct replica_index_request *request,
                        const struct table_definition *table, struct replica_member *member)
{
    const struct index_definition *index = table_definition_index(table, request->index_name);
    size_t at = 0;
    if (index == NULL || !index->global)
        return;
    while (at < member->index_override_count &&
           !bytes_equal(member->index_overrides[at].index_name, request->index_name))
        at++;
    if (at == REPLICA_INDEX_OVERRIDES_MAX)
        return;
    if (at == member->index_override_count)
        member->index_overrides[member->index_override_count++] =
            (struct replica_override){ .index_name = request->index_name,
                                       .read_units = UNITS_UNSET,
                                       .on_demand_read_max = UNITS_UNSET };
    merge_override(request->provisioned, request->on_demand, &member->index_overrides[at]);
}

/* `before`, or a new member, with what the request asks for. */
static struct replica_member merge(struct api_call *call, const struct replica_request *request,
                                   const struct table_definition *table,
                                   const struct replica_member *before)
{
    const struct replica_index_request *const *indexes = request->indexes.elements;
    struct replica_member member = { .region = request->region,
                                     .status = REPLICA_CREATING,
                                     .override = { .read_units = UNITS_UNSET,
                                                   .on_demand_read_max = UNITS_UNSET } };
    enum table_class table_class;
    if (before != NULL)
        member = *before;
    member.index_overrides = arena_alloc_zeroed(call->arena, REPLICA_INDEX_OVERRIDES_MAX *
                                                                 sizeof(*member.index_overrides));
    for (size_t i = 0; i < member.index_override_count; i++)
        member.index_overrides[i] = before->index_overrides[i];
    merge_override(request->provisioned, request->on_demand, &member.override);
    for (size_t i = 0; i < request->indexes.kept; i++)
        merge_index(indexes[i], table, &member);
    if (request->table_class.data != NULL &&
        table_class_parse(request->table_class, &table_class)) {
        member.table_class_given = true;
        member.table_class = (int)table_class;
    }
    return member;
}

/* --- The work --- */

/* Answers, stores the new definition and lets its stream begin. Observed: the answer shows members
 * that are changed or deleted as they were, hence `shown`, and omits a new one, `hidden`. */
static bool finish(struct api_call *call, struct table_definition *changed,
                   const struct table *table, const struct table_definition *shown,
                   struct bytes hidden)
{
    const struct table_answer answer = { .member = "TableDescription",
                                         .definition = shown,
                                         .status = TABLE_UPDATING,
                                         .stats = table,
                                         .hidden_replica = hidden };
    if (!table_operation_answer(call, &answer) ||
        !table_operation_store(call, changed, "UpdateTable"))
        return false;
    operation_release_tables(call); /* The stream opens once nobody holds an older version. */
    control_settle_streams(api_control(call->api), call->arena, changed->log_id);
    return true;
}

static bool refuse_create(struct api_call *call, enum replica_refusal refusal,
                          const struct replica_request *request,
                          const struct table_definition *table, struct bytes problem)
{
    log_write(LOG_WARN, "replica", "adding a replica in %.*s: %.*s", BYTES_FMT(request->region),
              BYTES_FMT(problem));
    switch (refusal) {
    case REPLICA_EXISTS:
        return replica_rules_refuse_existing(table, &call->error);
    case REPLICA_DENIED:
        return error_set(&call->error, ERROR_ACCESS_DENIED,
                         "The server of region %.*s does not admit this server's key",
                         BYTES_FMT(request->region));
    default:
        return error_set(&call->error, ERROR_INTERNAL,
                         "The server of region %.*s cannot make the replica: %.*s",
                         BYTES_FMT(request->region), BYTES_FMT(problem));
    }
}

/* Observed: no stream is needed; one begins, and a stream of another view stays as it is. */
static bool create(struct api_call *call, const struct replica_request *request,
                   const struct table *table)
{
    const struct table_definition *before = table_definition(table);
    struct table_definition changed = table_definition_copy(call->arena, before);
    const struct replica_member wanted = merge(call, request, before, NULL);
    struct bytes problem = { 0 };
    if (api_options(call->api)->loses_writes)
        return error_validation(
            &call->error, "UpdateTable: ReplicaUpdates: this server has the setting durability "
                          "\"os\": a power cut may take back what it has acknowledged, which "
                          "other regions would keep. Use durability \"sync\"");
    if (!changed.stream_enabled) {
        changed.stream_enabled = true;
        changed.stream_view_type = BYTES("NEW_AND_OLD_IMAGES");
        stream_operation_label(call, &changed);
    }
    enum replica_refusal refusal =
        replica_group_add(api_replicas(call->api), call->arena, &wanted, &changed, &problem);
    return refusal == REPLICA_TAKEN ? finish(call, &changed, table, &changed, request->region)
                                    : refuse_create(call, refusal, request, before, problem);
}

static bool change(struct api_call *call, const struct replica_request *request,
                   const struct table *table)
{
    const struct table_definition *before = table_definition(table);
    struct table_definition changed = table_definition_copy(call->arena, before);
    const struct replica_member *member =
        replica_definition_find(&before->replicas, request->region);
    assert(member != NULL); /* By the rules. */
    const struct replica_member wanted = merge(call, request, before, member);
    bool found = replica_group_override(call->arena, &changed, &wanted);
    assert(found);
    return found && finish(call, &changed, table, before, (struct bytes){ 0 });
}

static bool remove_member(struct api_call *call, const struct replica_request *request,
                          const struct table *table)
{
    const struct table_definition *before = table_definition(table);
    struct table_definition changed = table_definition_copy(call->arena, before);
    struct bytes problem = { 0 };
    int64_t now_ms = clock_wall_ms(api_options(call->api)->clock);
    if (!replica_rules_check_source(before, request->region, now_ms, &call->error))
        return false;
    bool found = replica_group_remove(call->arena, &changed, request->region);
    assert(found); /* By the rules. */
    /* A server that cannot be reached now is notified later. */
    enum replica_refusal refusal = replica_group_ask_removal(api_replicas(call->api), call->arena,
                                                             &changed, request->region, &problem);
    if (refusal == REPLICA_BUSY)
        return replica_rules_refuse_unsettled(&call->error);
    if (refusal == REPLICA_PROTECTED)
        return replica_rules_refuse_protected(before, request->region, &call->error);
    if (refusal == REPLICA_FAILED)
        return error_set(&call->error, ERROR_INTERNAL,
                         "The server of region %.*s cannot delete its replica: %.*s",
                         BYTES_FMT(request->region), BYTES_FMT(problem));
    return found && finish(call, &changed, table, before, (struct bytes){ 0 });
}

/* Whether it is asked to delete a replica that is being made or deleted already. */
static bool is_second_removal(const struct replica_action *action,
                              const struct table_definition *table)
{
    const struct replica_member *member =
        action->kind != REPLICA_DELETE
            ? NULL
            : replica_definition_find(&table->replicas, action->replica->region);
    return member != NULL &&
           (member->status == REPLICA_CREATING || member->status == REPLICA_DELETING);
}

/* The way out when a region is lost for good: without it, no change of the table ever ends. */
static bool forget_member(struct api_call *call, const struct replica_request *request,
                          const struct table *table)
{
    const struct table_definition *before = table_definition(table);
    struct table_definition changed = table_definition_copy(call->arena, before);
    struct bytes problem = { 0 };
    enum replica_refusal refusal = replica_group_ask_removal(api_replicas(call->api), call->arena,
                                                             before, request->region, &problem);
    if (refusal == REPLICA_BUSY &&
        replicas_lost_source(api_replicas(call->api), before,
                             replica_definition_find(&before->replicas, request->region)))
        return remove_member(call, request, table); /* Nobody would ever fill it. */
    if (refusal != REPLICA_UNREACHABLE && refusal != REPLICA_UNKNOWN)
        return replica_rules_refuse_unsettled(&call->error);
    bool found = replica_group_forget(call->arena, &changed, request->region);
    assert(found); /* By is_second_removal. */
    log_write(LOG_WARN, "replica", "table %.*s: continues without %.*s, which does not answer",
              BYTES_FMT(before->name), BYTES_FMT(request->region));
    return found && finish(call, &changed, table, before, (struct bytes){ 0 });
}

/* --- Disassociate --- */

static bool all_are_reached(struct api_call *call, const struct table_definition *table)
{
    struct replica_link_state link;
    for (size_t i = 0; i < table->replicas.count; i++)
        if (!replicas_link_state(api_replicas(call->api), table, table->replicas.members[i].region,
                                 &link) ||
            !link.is_reached)
            return false;
    return true;
}

/* The threads of replication let the region go once nothing waits (replica_collect.c). Asked for
 * once more while a region does not answer, it goes at once: without that, the table could never be
 * changed again if that region is lost. */
static bool disassociate(struct api_call *call, const struct table *table)
{
    const struct table_definition *before = table_definition(table);
    struct table_definition changed = table_definition_copy(call->arena, before);
    if (!replica_group_disassociate(call->arena, &changed)) {
        if (all_are_reached(call, before))
            return replica_rules_refuse_unsettled(&call->error);
        log_write(LOG_WARN, "replica", "table %.*s: leaves regions that do not answer",
                  BYTES_FMT(before->name));
        replica_group_leave(&changed);
    }
    return finish(call, &changed, table, &changed, (struct bytes){ 0 });
}

static bool is_second_departure(const struct replica_action *action,
                                const struct table_definition *table)
{
    return action->kind == REPLICA_DISASSOCIATE &&
           table->replicas.own.status == REPLICA_DISASSOCIATING;
}

static bool protect(struct api_call *call, const struct update_table_request *request,
                    const struct table *table)
{
    const struct table_definition *before = table_definition(table);
    struct table_definition changed = table_definition_copy(call->arena, before);
    if (!replica_rules_check_protection(request, before, &call->error) ||
        !replica_rules_check_settled(before, &call->error))
        return false;
    changed.replicas.own.may_leave = !request->disassociation_protection_enabled.value;
    return finish(call, &changed, table, &changed, (struct bytes){ 0 });
}

/* --- Settings of a global table --- */

static bool refuse_unsupported(struct api_call *call, const char *field)
{
    return error_validation(&call->error, "UpdateTable: %s is not supported yet", field);
}

/* Only replicas in other accounts have a choice, and a server has one account. */
static bool update_settings(struct api_call *call, const struct update_table_request *request)
{
    struct bytes mode = request->global_table_settings_replication_mode;
    struct table *table = table_operation_find(call, request->table_name);
    if (table == NULL)
        return false;
    bool regional = !replica_definition_is_group(&table_definition(table)->replicas);
    if (regional && bytes_equal_text(mode, "ENABLED_WITH_OVERRIDES"))
        return error_validation(&call->error,
                                "Value 'ENABLED_WITH_OVERRIDES' at "
                                "'GlobalTableSettingsReplicationMode' failed to satisfy "
                                "constraint: Only ENABLED and DISABLED settings replication are "
                                "supported for a Regional Table.");
    if (mode.data != NULL)
        return refuse_unsupported(call, "GlobalTableSettingsReplicationMode");
    return table_operation_check_idle(call, table_definition(table)) &&
           protect(call, request, table);
}

static bool is_about_members(const struct update_table_request *request)
{
    return request->replica_updates.present || request->multi_region_consistency.data != NULL ||
           request->global_table_witness_updates.present;
}

bool replica_update_run(struct api_call *call, const struct update_table_request *request)
{
    const struct api_options *options = api_options(call->api);
    const struct replica_regions regions = { .own = options->region,
                                             .peers = options->peer_regions,
                                             .peer_count = options->peer_region_count };
    struct replica_action action;
    struct table *table;
    assert(replica_rules_concerns(request));
    if (!is_about_members(request))
        return update_settings(call, request);
    if (!replica_rules_check(request, &regions, &action, &call->error) || !may_all(call, request) ||
        (table = table_operation_find(call, request->table_name)) == NULL)
        return false;
    const struct table_definition *definition = table_definition(table);
    const struct replica_state state = state_of(call, definition);
    if (!table_operation_check_idle(call, definition))
        return false;
    if (is_second_removal(&action, definition))
        return forget_member(call, action.replica, table);
    if (is_second_departure(&action, definition))
        return disassociate(call, table);
    if (!replica_rules_check_state(request, &action, &state, &call->error))
        return false;
    if (action.replica->kms_master_key_id.data != NULL)
        return refuse_unsupported(call, "ReplicaUpdates: KMSMasterKeyId");
    switch (action.kind) {
    case REPLICA_CREATE:
        return create(call, action.replica, table);
    case REPLICA_UPDATE:
        return change(call, action.replica, table);
    case REPLICA_DELETE:
        return remove_member(call, action.replica, table);
    case REPLICA_DISASSOCIATE:
        break;
    }
    return disassociate(call, table);
}
