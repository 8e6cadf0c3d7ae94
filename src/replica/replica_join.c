/* replica_join.c -- see replica_join.h, and replica_group_add in replica_group.h. */
#include "replica/replica_join.h"
#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "model/table_definition.h"
#include "replica/replica_client.h"
#include "replica/replica_group.h"
#include "replica/replica_message.h"
#include "replica/replicas.h"

bool replica_join_view(struct arena *arena, const struct table_definition *said,
                       struct bytes region, struct replica_definition *out)
{
    const struct replica_definition *group = &said->replicas;
    const struct replica_member *own = replica_definition_find(group, region);
    if (own == NULL)
        return false;
    *out = *group;
    out->own = *own;
    out->own.is_noted = true;
    out->members = arena_alloc_zeroed(arena, group->count * sizeof *out->members);
    out->members[0] = group->own;
    out->members[0].may_leave = out->own.may_leave = false; /* Each region's own. */
    if (out->members[0].status == REPLICA_DISASSOCIATING)
        out->members[0].status = REPLICA_ACTIVE; /* It is a member until it is gone. */
    out->count = 1;
    for (size_t i = 0; i < group->count; i++)
        if (&group->members[i] != own)
            out->members[out->count++] = group->members[i];
    assert(out->count == group->count);
    return true;
}

static void draft_index(struct index_definition *index)
{
    index->id = 0;
    index->partitions = NULL;
    index->partition_count = 0;
    index->status = INDEX_ACTIVE; /* There are no items to fill it with. */
    index->backfilled = (struct bytes){ 0 };
    index->insight = (struct insight_definition){ 0 };
    index->insight_rules = 0;
    index->created_ms = 0;
}

static bool is_kept(const struct index_definition *index)
{
    return index->status != INDEX_DELETING;
}

struct table_definition replica_join_draft(struct arena *arena, const struct table_definition *said,
                                           const struct replica_definition *group)
{
    struct table_definition draft = table_definition_copy(arena, said);
    size_t count = 0;
    for (size_t i = 0; i < draft.index_count; i++) {
        if (!is_kept(&draft.indexes[i]))
            continue;
        draft.indexes[count] = draft.indexes[i];
        draft_index(&draft.indexes[count++]);
    }
    draft.index_count = count;
    draft.index_names = NULL;
    draft.id = draft.log_id = 0;
    draft.partitions = NULL;
    draft.partition_count = 0;
    draft.transition_at_ms = 0;
    draft.origin = (struct origin_definition){ 0 };
    draft.deletion_protected = false;
    draft.feeds_kinesis = false;
    draft.stream_label = (struct bytes){ 0 };
    draft.recovery_since_ms = draft.recovery_days = 0;
    draft.history = (struct history_definition){ 0 };
    draft.resource_policy = draft.stream_policy = (struct resource_policy){ 0 };
    draft.stream_policy_label = (struct bytes){ 0 };
    draft.insight = (struct insight_definition){ 0 };
    draft.insight_rules = 0;
    draft.counts_keys = false;
    draft.model = (struct model_definition){ 0 };
    draft.entity_rules = NULL;
    draft.tags = draft.stream_tags = (struct tag_list){ 0 };
    draft.capacity = CAPACITY_UNSET;
    if (draft.expiry.status == EXPIRY_REMOVING)
        draft.expiry = (struct expiry_definition){ 0 };
    else if (draft.expiry.status != EXPIRY_NONE)
        draft.expiry.status = EXPIRY_ACTIVE; /* There are no items to fill its queue with. */
    draft.expiry.filled = (struct bytes){ 0 };
    draft.status = TABLE_CREATING;
    draft.replicas = *group;
    for (size_t i = 0; i < draft.replicas.count; i++)
        draft.replicas.members[i].is_noted = true; /* There is nothing to tell them. */
    return draft;
}

/* --- Adding a region --- */

/* The group with the newcomer. */
static struct replica_definition extend(struct arena *arena, const struct replicas_options *options,
                                        const struct replica_member *wanted,
                                        const struct replica_definition *before)
{
    int64_t now_ms = clock_wall_ms(options->clock);
    struct replica_definition group = replica_group_copy(arena, before);
    if (!replica_definition_is_group(&group)) {
        group.group_id = uuid_create(arena);
        group.own = (struct replica_member){ .region = options->region,
                                             .id = replica_region_id(options->region),
                                             .status = REPLICA_ACTIVE,
                                             .added_ms = now_ms,
                                             .is_noted = true,
                                             .override = { .read_units = UNITS_UNSET,
                                                           .on_demand_read_max = UNITS_UNSET } };
    }
    struct replica_member *member = &group.members[group.count++];
    *member = *wanted;
    member->id = replica_region_id(wanted->region);
    member->status = REPLICA_CREATING;
    member->added_ms = now_ms;
    member->source = group.own.region;
    member->is_noted = false;
    group.epoch++;
    group.coordinator = group.own.region;
    return group;
}

static enum replica_refusal judge(const struct replica_reply *reply,
                                  const struct replica_said *said, struct bytes *problem)
{
    *problem = reply->problem;
    if (!reply->reached)
        return REPLICA_UNREACHABLE;
    if (reply->status == 200)
        return said->is_gone ? REPLICA_GONE : REPLICA_TAKEN;
    if (bytes_equal_text(reply->exception, "ResourceInUseException"))
        return REPLICA_EXISTS;
    if (bytes_equal_text(reply->exception, "ValidationException"))
        return REPLICA_PROTECTED;
    return bytes_equal_text(reply->exception, "AccessDeniedException") ||
                   bytes_equal_text(reply->exception, "UnrecognizedClientException") ||
                   bytes_equal_text(reply->exception, "MissingAuthenticationTokenException")
               ? REPLICA_DENIED
               : REPLICA_FAILED;
}

/* Sends the definition to the server of another region. */
static enum replica_refusal tell(const struct replicas_options *options, struct arena *arena,
                                 const struct replica_peer *peer,
                                 const struct table_definition *table, bool makes,
                                 struct bytes *problem)
{
    char message[OUTBOUND_MESSAGE_MAX];
    struct replica_said said = { 0 };
    struct replica_client *client =
        replica_client_create(&options->outside, options->clock, peer, message);
    if (client == NULL) {
        *problem = arena_copy(arena, bytes_from_text(message));
        return REPLICA_UNREACHABLE;
    }
    struct replica_reply reply = replica_client_call(
        client, arena, "ReplicateSettings",
        replica_message_table(arena, options->region, peer->region, table, makes), REPLICA_ASK_MS);
    replica_client_destroy(client);
    if (reply.status == 200 && !replica_message_read(arena, reply.body, &said))
        reply.status = 0;
    return judge(&reply, &said, problem);
}

enum replica_refusal replica_group_add(struct replicas *replicas, struct arena *arena,
                                       const struct replica_member *wanted,
                                       struct table_definition *changed, struct bytes *problem)
{
    const struct replica_peer *peer =
        replicas == NULL ? NULL : replicas_find_peer(replicas, wanted->region);
    *problem = BYTES("");
    if (peer == NULL || replicas_get_options(replicas)->outside.network == NULL)
        return REPLICA_UNKNOWN;
    const struct replicas_options *options = replicas_get_options(replicas);
    if (replica_region_id(wanted->region) == replica_region_id(options->region) ||
        changed->replicas.count >= REPLICAS_MAX || changed->hash != TABLE_HASH_MD5) {
        *problem = changed->hash != TABLE_HASH_MD5
                       ? BYTES("the table was made by a version that orders items in another way; "
                               "copy its items into a new table")
                       : BYTES("the group has too many members");
        return REPLICA_FAILED;
    }
    struct table_definition said_to = *changed;
    said_to.replicas = extend(arena, options, wanted, &changed->replicas);
    enum replica_refusal refusal = tell(options, arena, peer, &said_to, true, problem);
    if (refusal == REPLICA_TAKEN)
        changed->replicas = said_to.replicas;
    return refusal;
}

/* --- Removing one --- */

enum replica_refusal replica_group_ask_removal(struct replicas *replicas, struct arena *arena,
                                               const struct table_definition *changed,
                                               struct bytes region, struct bytes *problem)
{
    const struct replica_peer *peer = replicas_find_peer(replicas, region);
    *problem = BYTES("");
    if (peer == NULL || replicas_get_options(replicas)->outside.network == NULL)
        return REPLICA_UNKNOWN;
    enum replica_refusal refusal =
        tell(replicas_get_options(replicas), arena, peer, changed, false, problem);
    if (refusal == REPLICA_TAKEN)
        return REPLICA_BUSY; /* It has answered, and still has the table. */
    return refusal == REPLICA_GONE ? REPLICA_TAKEN : refusal;
}
