/* scaling_alarms.c -- see scaling_alarms.h. Names, thresholds and texts are those of the service,
 * as captured in September 2026. */
#include "api/scaling/scaling_alarms.h"
#include <assert.h>
#include "base/arena.h"
#include "cloudwatch/alarms.h"

void scaling_alarms_init(struct scaling_alarms *changes, struct alarms *alarms, struct arena *arena)
{
    *changes = (struct scaling_alarms){ .alarms = alarms, .arena = arena };
}

void scaling_alarms_delete(struct scaling_alarms *changes, const struct scaling_policy *policy)
{
    const struct bytes *names = policy->alarms.elements;
    for (size_t i = 0; i < policy->alarms.count; i++) {
        assert(changes->deleted_count < sizeof changes->deleted / sizeof changes->deleted[0]);
        struct bytes *name = arena_alloc(changes->arena, sizeof *name);
        *name = arena_copy(changes->arena, names[i]);
        changes->deleted[changes->deleted_count++] = name;
    }
}

void scaling_alarms_make(struct scaling_alarms *changes, struct scaling_policy *policy,
                         struct bytes policy_arn, int64_t capacity)
{
    struct scaling_resource resource;
    bool parses = scaling_resource_parse(policy->head.resource_id, &resource);
    assert(parses && changes->put_count == 0);
    const struct alarm_tracking tracking = {
        .table_name = resource.table,
        .index_name = resource.index,
        .is_write = !scaling_dimension_is_read(scaling_id_of(policy).dimension),
        .without_low = policy->disable_scale_in.value,
        .target = policy->target_value.value,
        .capacity = capacity,
        .policy_arn = policy_arn,
        .creator = policy->created_by,
    };
    changes->put_count = alarm_tracking_definitions(changes->arena, &tracking, changes->puts);
    struct bytes *names = arena_alloc(changes->arena, changes->put_count * sizeof *names);
    for (size_t i = 0; i < changes->put_count; i++)
        names[i] = changes->puts[i].name;
    policy->alarms = (struct shape_list){
        .present = true, .count = changes->put_count, .kept = changes->put_count, .elements = names
    };
    policy->alarms_capacity = (struct shape_integer){ true, capacity };
}

static bool add(void *context, struct engine_write *write)
{
    struct scaling_alarms *changes = context;
    changes->change = alarms_change_begin(changes->alarms, changes->arena, write);
    for (size_t i = 0; i < changes->deleted_count; i++)
        alarms_change_delete(changes->change, *changes->deleted[i]);
    enum alarms_result result = ALARMS_DONE;
    for (size_t i = 0; i < changes->put_count && result == ALARMS_DONE; i++)
        result = alarms_change_put(changes->change, &changes->puts[i]);
    changes->is_full = result == ALARMS_FULL;
    return result == ALARMS_DONE;
}

static void end(void *context, enum engine_status status)
{
    struct scaling_alarms *changes = context;
    alarms_change_end(changes->change, status);
}

struct scaling_partner scaling_alarms_partner(struct scaling_alarms *changes)
{
    return (struct scaling_partner){ .context = changes, .add = add, .end = end };
}

const struct bytes *scaling_alarms_name(const struct scaling_policy *policy,
                                        enum alarm_tracking_kind kind)
{
    const struct bytes *names = policy->alarms.elements;
    return (size_t)kind < policy->alarms.count ? &names[kind] : NULL;
}
