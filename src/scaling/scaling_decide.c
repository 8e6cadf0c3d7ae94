/* scaling_decide.c -- see scaling_decide.h. */
#include "scaling/scaling_decide.h"
#include <assert.h>
#include <math.h>
#include "base/clock.h"
#include "scaling/schedule.h"
#include "scaling/time_zone.h"

static int64_t clamp(int64_t value, int64_t min, int64_t max)
{
    return value < min ? min : value > max ? max : value;
}

static int64_t wanted(const struct scaling_situation *situation)
{
    const struct scaling_target *target = situation->target;
    double share = situation->policy->target_value.value / 100;
    double units = ceil(situation->consumed_units_s / share);
    if (!(units < (double)target->max.value))
        return target->max.value;
    return clamp((int64_t)units, target->min.value, target->max.value);
}

static bool is_cooling(const struct shape_integer *last_ms, const struct shape_integer *cooldown_s,
                       int64_t now_ms)
{
    int64_t cooldown_ms = cooldown_s->present ? cooldown_s->value * 1000 : 0;
    return last_ms->present && now_ms - last_ms->value < cooldown_ms;
}

enum scaling_verdict scaling_decide(const struct scaling_situation *situation, int64_t *capacity)
{
    const struct scaling_target *target = situation->target;
    const struct scaling_policy *policy = situation->policy;
    *capacity = wanted(situation);
    if (situation->is_high && !target->out_suspended.value) {
        if (situation->capacity >= target->max.value)
            return SCALING_AT_MAX;
        if (*capacity <= situation->capacity)
            return SCALING_AS_DESIRED;
        return is_cooling(&policy->last_out_ms, &policy->out_cooldown_s, situation->now_ms)
                   ? SCALING_STAY
                   : SCALING_SET;
    }
    if (situation->is_low && !target->in_suspended.value && !policy->disable_scale_in.value) {
        if (situation->capacity <= target->min.value)
            return SCALING_AT_MIN;
        if (*capacity >= situation->capacity)
            return SCALING_AS_DESIRED;
        bool cools = is_cooling(&policy->last_in_ms, &policy->in_cooldown_s, situation->now_ms) ||
                     is_cooling(&policy->last_out_ms, &policy->in_cooldown_s, situation->now_ms);
        return cools ? SCALING_STAY : SCALING_SET;
    }
    return SCALING_STAY;
}

const char *scaling_verdict_code(enum scaling_verdict verdict)
{
    switch (verdict) {
    case SCALING_AT_MAX:
        return "AlreadyAtMaxCapacity";
    case SCALING_AT_MIN:
        return "AlreadyAtMinCapacity";
    case SCALING_AS_DESIRED:
        return "AlreadyAtDesiredCapacity";
    case SCALING_STAY:
    case SCALING_SET:
        break;
    }
    return NULL;
}

struct shape_integer scaling_action_next(const struct scaling_action *action, int64_t after_ms)
{
    struct schedule schedule;
    struct bytes name = action->time_zone.data == NULL ? BYTES("UTC") : action->time_zone;
    struct time_zone *zone = time_zone_open(name);
    const struct shape_integer *start =
        action->start_ms.present ? &action->start_ms : &action->head.created_ms;
    int64_t start_s = clock_second_of_ms(start->value);
    int64_t after_s = clock_second_of_ms(after_ms);
    int64_t next_s = SCHEDULE_NEVER;
    if (action->start_ms.present && after_s < start_s)
        after_s = start_s - 1;
    if (zone != NULL && schedule_parse(action->schedule, &schedule))
        next_s = schedule_next(&schedule, zone, start_s, after_s);
    time_zone_close(zone);
    if (next_s == SCHEDULE_NEVER ||
        (action->end_ms.present && next_s >= clock_second_of_ms(action->end_ms.value)))
        return (struct shape_integer){ .present = false };
    return (struct shape_integer){ .present = true, .value = next_s * 1000 };
}
