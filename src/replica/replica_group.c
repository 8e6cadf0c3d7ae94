/* replica_group.c -- see replica_group.h. replica_group_add is in replica_join.c. */
#include "replica/replica_group.h"
#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "base/log.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

struct replica_definition replica_group_copy(struct arena *arena,
                                             const struct replica_definition *group)
{
    struct replica_definition copy = *group;
    copy.members = arena_alloc_zeroed(arena, (group->count + 1) * sizeof *copy.members);
    if (group->count > 0)
        memcpy(copy.members, group->members, group->count * sizeof *copy.members);
    return copy;
}

static struct replica_member *find(struct replica_definition *group, struct bytes region)
{
    for (size_t i = 0; i < group->count; i++)
        if (bytes_equal(group->members[i].region, region))
            return &group->members[i];
    return NULL;
}

/* Every change of the membership is a new epoch, which this region sees through. */
static void begin_epoch(struct replica_definition *group)
{
    group->epoch++;
    group->coordinator = group->own.region;
}

bool replica_group_remove(struct arena *arena, struct table_definition *changed,
                          struct bytes region)
{
    struct replica_definition group = replica_group_copy(arena, &changed->replicas);
    struct replica_member *member = find(&group, region);
    if (member == NULL)
        return false;
    member->status = REPLICA_DELETING;
    begin_epoch(&group);
    changed->replicas = group;
    return true;
}

/* What the member had sent to some of the others only must reach all of them, so each sends all
 * stamps it has once more. */
static void take_out(struct replica_definition *group, struct replica_member *member)
{
    size_t at = (size_t)(member - group->members);
    assert(at < group->count);
    group->count--;
    memmove(member, member + 1, (group->count - at) * sizeof *member);
    for (size_t i = 0; i < group->count; i++)
        group->members[i].is_noted = false;
}

bool replica_group_forget(struct arena *arena, struct table_definition *changed,
                          struct bytes region)
{
    struct replica_definition group = replica_group_copy(arena, &changed->replicas);
    struct replica_member *member = find(&group, region);
    if (member == NULL)
        return false;
    take_out(&group, member);
    if (group.count == 0 && group.own.status == REPLICA_DISASSOCIATING)
        group.own.status = REPLICA_ACTIVE; /* Nobody is left to wait for. */
    begin_epoch(&group);
    changed->replicas = group;
    return true;
}

bool replica_group_disassociate(struct arena *arena, struct table_definition *changed)
{
    struct replica_definition group = replica_group_copy(arena, &changed->replicas);
    if (group.own.status != REPLICA_ACTIVE)
        return false;
    group.own.status = REPLICA_DISASSOCIATING;
    changed->replicas = group;
    return true;
}

void replica_group_leave(struct table_definition *changed)
{
    changed->replicas.count = 0; /* The collector ends the group, */
    if (changed->replicas.own.status != REPLICA_CREATING || changed->status != TABLE_CREATING)
        changed->replicas.own.status = REPLICA_ACTIVE; /* or removes a table that is not filled. */
}

bool replica_group_override(struct arena *arena, struct table_definition *changed,
                            const struct replica_member *wanted)
{
    struct replica_definition group = replica_group_copy(arena, &changed->replicas);
    struct replica_member *member = find(&group, wanted->region);
    if (member == NULL && bytes_equal(group.own.region, wanted->region))
        member = &group.own;
    if (member == NULL)
        return false;
    member->table_class_given = wanted->table_class_given;
    member->table_class = wanted->table_class;
    member->override = wanted->override;
    member->index_overrides = wanted->index_overrides;
    member->index_override_count = wanted->index_override_count;
    begin_epoch(&group);
    changed->replicas = group;
    return true;
}

static void end_overrides(struct replica_member *member)
{
    member->override =
        (struct replica_override){ .read_units = UNITS_UNSET, .on_demand_read_max = UNITS_UNSET };
    member->index_overrides = NULL;
    member->index_override_count = 0;
    member->table_class_given = false;
}

void replica_group_announce(struct arena *arena, struct table_definition *changed,
                            bool overrides_end)
{
    struct replica_definition group = replica_group_copy(arena, &changed->replicas);
    if (!replica_definition_is_group(&group))
        return;
    for (size_t i = 0; overrides_end && i < group.count; i++)
        end_overrides(&group.members[i]);
    if (overrides_end)
        end_overrides(&group.own);
    begin_epoch(&group);
    changed->replicas = group;
}

bool replica_group_is_settled(const struct replica_definition *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->members[i].status == REPLICA_CREATING ||
            group->members[i].status == REPLICA_DELETING)
            return false;
    return group->own.status == REPLICA_ACTIVE;
}

bool replica_group_is_newer(const struct replica_definition *said,
                            const struct replica_definition *known)
{
    if (said->epoch != known->epoch)
        return said->epoch > known->epoch;
    return bytes_compare(said->coordinator, known->coordinator) > 0;
}

bool replica_group_adopt(struct arena *arena, struct table_definition *changed,
                         const struct replica_definition *said)
{
    const struct replica_definition *known = &changed->replicas;
    assert(bytes_equal(said->own.region, known->own.region));
    if (!bytes_equal(said->group_id, known->group_id) || !replica_group_is_newer(said, known))
        return false;
    struct replica_definition group = replica_group_copy(arena, said);
    bool has_lost = false;
    for (size_t i = 0; i < known->count; i++)
        has_lost = has_lost || find(&group, known->members[i].region) == NULL;
    for (size_t i = 0; i < group.count; i++) {
        const struct replica_member *old = replica_definition_find(known, group.members[i].region);
        /* One that was not fed meanwhile, because it was to be deleted, lacks what was written. */
        group.members[i].is_noted =
            old != NULL && replica_member_is_fed(old) && old->is_noted && !has_lost;
    }
    group.own.is_noted = true;
    group.own.may_leave = known->own.may_leave;
    if (known->own.status == REPLICA_DISASSOCIATING && group.own.status == REPLICA_ACTIVE)
        group.own.status = REPLICA_DISASSOCIATING;
    changed->replicas = group;
    return true;
}

/* --- A store that was made from a backup --- */

static bool is_of_group(const struct table_definition *table, void *context)
{
    (void)context;
    return replica_definition_is_group(&table->replicas);
}

static enum engine_status leave(struct catalogue *catalogue, struct arena *arena,
                                const struct table_definition *definition)
{
    struct table_definition changed = table_definition_copy(arena, definition);
    log_write(LOG_WARN, "replica",
              "table %.*s: the store was restored from a backup, so this is no replica any more. "
              "To make it one again, delete it and add it in another region",
              BYTES_FMT(changed.name));
    if (definition->replicas.own.status == REPLICA_CREATING) {
        changed.replicas.count = 0; /* The collector removes the table. */
        return catalogue_update(catalogue, arena, &changed);
    }
    changed.replicas = (struct replica_definition){ 0 };
    return catalogue_remove_replicas(catalogue, arena, &changed);
}

enum engine_status replica_group_leave_all(struct catalogue *catalogue)
{
    enum engine_status status = ENGINE_OK;
    struct arena *arena = arena_create(), *names = arena_create();
    struct bytes after = BYTES("");
    struct table *table;
    while (status == ENGINE_OK &&
           (table = catalogue_find_next(catalogue, after, is_of_group, NULL)) != NULL) {
        after = arena_copy(names, table_definition(table)->name);
        status = leave(catalogue, arena, table_definition(table));
        table_release(table);
        arena_reset(arena);
    }
    arena_destroy(names);
    arena_destroy(arena);
    return status;
}
