/* scaling_alarms.h -- the alarms of scaling policies: made, replaced and deleted in the engine
 * write that changes the policy.
 *
 * A policy has four alarms (three if it may not scale in), whose thresholds follow from its target
 * value and the capacity at the time. When the capacity changes they are replaced by others with
 * new names.
 */
#ifndef STATOR_API_SCALING_SCALING_ALARMS_H
#define STATOR_API_SCALING_SCALING_ALARMS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"
#include "cloudwatch/alarm_definition.h"
#include "cloudwatch/alarm_tracking.h"
#include "scaling/scaling.h"

struct alarms;
struct alarms_change;
struct arena;

/* Changes of alarms that belong to one scaling_change. */
struct scaling_alarms {
    struct alarms *alarms;
    struct arena *arena;
    struct alarm_definition puts[ALARM_TRACKING_COUNT];
    size_t put_count;
    const struct bytes *deleted[SCALING_POLICIES_PER_TARGET_MAX * ALARM_TRACKING_COUNT];
    size_t deleted_count;
    struct alarms_change *change;
    bool is_full; /* The commit failed because there is no room for more alarms. */
};

void scaling_alarms_init(struct scaling_alarms *changes, struct alarms *alarms,
                         struct arena *arena);
/* The alarms that the policy has are deleted. */
void scaling_alarms_delete(struct scaling_alarms *changes, const struct scaling_policy *policy);
/* Makes the alarms for a capacity, and notes their names in the policy. At most one policy for each
 * struct scaling_alarms. */
void scaling_alarms_make(struct scaling_alarms *changes, struct scaling_policy *policy,
                         struct bytes policy_arn, int64_t capacity);
/* For scaling_change_commit. */
struct scaling_partner scaling_alarms_partner(struct scaling_alarms *changes);

/* Which alarm of the policy has that kind; NULL: none. */
const struct bytes *scaling_alarms_name(const struct scaling_policy *policy,
                                        enum alarm_tracking_kind kind);

#endif
