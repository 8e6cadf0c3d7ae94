/* alarm_ticks.c -- evaluates the alarms that are due; see alarms.h. */
#include <assert.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "cloudwatch/alarm_list.h"

enum { WAIT_MS_MAX = 60000 };

/* Where periods end: with the last whole minute that has settled, or ten seconds, so that periods
 * of any length end as late as possible. The service lets its windows slide the same way. */
static int64_t end_of_periods(int64_t now_ms, int64_t period_s)
{
    int64_t settled_s = clock_second_of_ms(now_ms) - ALARMS_SETTLE_S;
    int64_t step_s = period_s < 60 ? ALARM_HIGH_RESOLUTION_S : 60;
    return settled_s - settled_s % step_s;
}

static const struct alarm_point *read_points(struct alarms *alarms, struct arena *arena,
                                             const struct alarm_definition *definition,
                                             const struct alarm_rule *rule, int64_t now_ms)
{
    int64_t period_s = alarm_definition_period_s(definition);
    int64_t end_s = end_of_periods(now_ms, period_s);
    size_t count = alarm_range(rule);
    struct alarm_point *points = arena_alloc_zeroed(arena, count * sizeof *points);
    for (size_t i = 0; i < count; i++)
        points[i].start_s = end_s - period_s * (int64_t)(i + 1);
    if (points[count - 1].start_s < 0 || !alarms->options.read(alarms->options.read_context, arena,
                                                               definition, period_s, points, count))
        return NULL;
    return points;
}

/* Stores the new state, unless the alarm was changed since it was read. */
static void store_state(struct alarms *alarms, struct arena *arena, uint64_t version,
                        const struct alarm *before, struct alarm *after)
{
    enum engine_status status;
    enum alarms_result result = ALARMS_NOT_FOUND;
    struct alarms_change *change = alarms_own_change_begin(alarms, arena, &status);
    if (change != NULL) {
        struct alarm_entry *entry = alarms_entry_locked(alarms, before->definition.name);
        if (entry != NULL && entry->version == version)
            result = alarms_change_transition(change, before, after);
        result = alarms_own_change_end(change, result, &status);
    }
    if (change == NULL || result == ALARMS_FAILED)
        log_write(LOG_ERROR, "alarm", "%.*s: storing its state: %s",
                  BYTES_FMT(before->definition.name), engine_status_name(status));
}

/* The service repeats scaling actions for as long as the alarm stays in its state. */
static void repeat_scaling(struct alarms *alarms, struct arena *arena, const struct alarm *alarm,
                           int64_t now_ms)
{
    const struct alarm_definition *definition = &alarm->definition;
    const struct shape_list *list = alarm_actions_of(definition, alarm->state);
    const struct bytes *targets = list->elements;
    if (definition->actions_enabled.present && !definition->actions_enabled.value)
        return;
    for (size_t i = 0; i < list->kept; i++) {
        const struct alarm_action action = { .alarm_name = definition->name,
                                             .target = targets[i],
                                             .message = BYTES("{}"),
                                             .from = alarm->state,
                                             .state = alarm->state,
                                             .time_ms = now_ms };
        if (alarm_action_is_scaling_policy(targets[i]))
            alarm_delivery_scale(alarms->delivery, arena, &action, true);
    }
}

static void evaluate(struct alarms *alarms, struct arena *arena, uint64_t version,
                     const struct alarm *alarm, int64_t now_ms)
{
    const struct alarm_definition *definition = &alarm->definition;
    struct alarm_rule rule;
    alarm_definition_rule(definition, &rule);
    const struct alarm_point *points = read_points(alarms, arena, definition, &rule, now_ms);
    if (points == NULL)
        return;
    struct alarm_evaluation result = alarm_evaluate(arena, &rule, points);
    if (!result.decides || result.state == alarm->state) {
        repeat_scaling(alarms, arena, alarm, now_ms);
        return;
    }
    const struct alarm_query *watched = alarm_definition_watched(definition);
    struct alarm_reason_facts facts = { .query_ms = now_ms,
                                        .period_s = alarm_definition_period_s(definition),
                                        .statistic = definition->statistic,
                                        .unit = definition->unit };
    if (facts.statistic.data == NULL)
        facts.statistic = definition->extended_statistic;
    if (watched != NULL && watched->metric_stat != NULL) {
        facts.statistic = watched->metric_stat->stat;
        facts.unit = watched->metric_stat->unit;
    }
    struct alarm after = *alarm;
    after.state = result.state;
    after.reason = alarm_reason_text(arena, &rule, &result);
    after.reason_data = alarm_reason_data(arena, &rule, &result, &facts);
    store_state(alarms, arena, version, alarm, &after);
}

/* Copies the alarm and sets when it is due next. False if it is not due. A time further ahead than
 * the pace means that the clock was set back. */
static bool take_due_locked(struct alarms *alarms, struct arena *arena, struct alarm_entry *entry,
                            int64_t now_s, struct alarm *out)
{
    if (entry->due_s > now_s && entry->due_s <= now_s + entry->pace_s)
        return false;
    int64_t settled_s = now_s - ALARMS_SETTLE_S;
    entry->due_s = now_s - settled_s % entry->pace_s + entry->pace_s;
    return alarms_decode_locked(alarms, arena, entry, out);
}

/* The next alarm that is due, from the cursor on. */
static bool find_due(struct alarms *alarms, struct arena *arena, int64_t now_s, size_t *looked,
                     struct alarm *out, uint64_t *version)
{
    bool found = false;
    pthread_mutex_lock(&alarms->mutex);
    for (; *looked < alarms->count && !found; (*looked)++) {
        if (alarms->cursor >= alarms->count)
            alarms->cursor = 0;
        struct alarm_entry *entry = alarms->entries[alarms->cursor++];
        found = take_due_locked(alarms, arena, entry, now_s, out);
        *version = entry->version;
    }
    pthread_mutex_unlock(&alarms->mutex);
    return found;
}

static int64_t wait_for_due(struct alarms *alarms, int64_t now_ms)
{
    int64_t wait_ms = WAIT_MS_MAX;
    pthread_mutex_lock(&alarms->mutex);
    for (size_t i = 0; i < alarms->count; i++) {
        int64_t due_ms = alarms->entries[i]->due_s * 1000 - now_ms;
        if (due_ms < wait_ms)
            wait_ms = due_ms < 0 ? 0 : due_ms;
    }
    pthread_mutex_unlock(&alarms->mutex);
    return wait_ms;
}

int64_t alarms_tick(struct alarms *alarms, int64_t now_ms)
{
    struct arena *arena = arena_create();
    int64_t began_ns = clock_monotonic_ns();
    struct alarm alarm;
    uint64_t version;
    size_t looked = 0;
    alarm_history_trim(alarms, arena, now_ms);
    for (size_t done = 0; alarms->options.read != NULL && done < ALARMS_TICK_MAX &&
                          clock_monotonic_ns() - began_ns < ALARMS_TICK_NS_MAX;
         done++) {
        arena_reset(arena);
        if (!find_due(alarms, arena, clock_second_of_ms(now_ms), &looked, &alarm, &version))
            break;
        evaluate(alarms, arena, version, &alarm, now_ms);
    }
    if (alarms->options.read_end != NULL)
        alarms->options.read_end(alarms->options.read_context);
    arena_destroy(arena);
    return wait_for_due(alarms, now_ms);
}
