/* scaling_decide.h -- what a policy wants, and when a scheduled action fires. Pure.
 *
 * Target tracking keeps consumption near a share of the capacity: the wanted capacity is the
 * consumption divided by the target value, rounded up, within the target's bounds. It is asked for
 * only while an alarm of the policy is in ALARM, and not within a cooldown.
 */
#ifndef STATOR_SCALING_SCALING_DECIDE_H
#define STATOR_SCALING_SCALING_DECIDE_H
#include <stdbool.h>
#include <stdint.h>
#include "scaling/scaling_objects.h"

enum scaling_verdict {
    SCALING_STAY,
    SCALING_SET, /* The capacity becomes `capacity`. */
    /* An alarm asks for a change that cannot be: shown by IncludeNotScaledActivities. */
    SCALING_AT_MAX,
    SCALING_AT_MIN,
    SCALING_AS_DESIRED,
};

struct scaling_situation {
    const struct scaling_target *target;
    const struct scaling_policy *policy;
    int64_t capacity;        /* Now. */
    double consumed_units_s; /* Per second, in the last whole minute. */
    bool is_high, is_low;    /* Whether the policy's alarms are in ALARM. */
    int64_t now_ms;
};

enum scaling_verdict scaling_decide(const struct scaling_situation *situation, int64_t *capacity);
/* "AlreadyAtMaxCapacity"; NULL for verdicts that have no such code. */
const char *scaling_verdict_code(enum scaling_verdict verdict);

/* The first time after `after_ms` at which the action fires; absent: never. */
struct shape_integer scaling_action_next(const struct scaling_action *action, int64_t after_ms);

#endif
