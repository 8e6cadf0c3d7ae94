/* alarm_changes.c -- changes of alarms: what goes into the engine write, and into the list behind
 * it. See alarms.h. */
#include <assert.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "cloudwatch/alarm_list.h"

/* What becomes of the list once the write is committed. */
struct staged_alarm {
    struct staged_alarm *next;
    struct bytes name;
    struct bytes record; /* data NULL: deleted. */
    enum alarm_state state;
    int64_t pace_s;
    bool is_due; /* To be evaluated at once. */
};
struct staged_action {
    struct staged_action *next;
    uint64_t number;
    struct bytes target;
};

struct alarms_change {
    struct alarms *alarms;
    struct arena *arena;
    struct engine_write *write;
    int64_t now_ms;
    struct staged_alarm *alarms_staged; /* In their order. */
    struct staged_alarm **last_link;
    struct staged_alarm *last_staged;
    struct staged_action *actions_staged;
    size_t created; /* Alarms that are new. */
    size_t deleted;
    size_t size;         /* Of records that are new, */
    size_t deleted_size; /* and of those that go, with their names. */
    size_t history_added;
    size_t history_removed;
    size_t action_count;
};

struct alarms_change *alarms_change_begin(struct alarms *alarms, struct arena *arena,
                                          struct engine_write *write)
{
    struct alarms_change *change = arena_alloc_zeroed(arena, sizeof *change);
    pthread_mutex_lock(&alarms->mutex);
    *change = (struct alarms_change){ .alarms = alarms,
                                      .arena = arena,
                                      .write = write,
                                      .now_ms = clock_wall_ms(alarms->options.clock) };
    change->last_link = &change->alarms_staged;
    return change;
}

/* Puts into the list what is stored. If that cannot be read, the list stays as it is: the next
 * change of the alarm stores it anew. */
static void reload(struct alarms *alarms, struct arena *arena, struct bytes name)
{
    struct engine_view *view = NULL;
    struct engine_value value = { 0 };
    struct alarm alarm;
    struct engine_address address = monitor_address(arena, MONITOR_KEY_ALARM, name);
    enum engine_status status = engine_view_open(alarms->options.engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = engine_view_get(view, &address, &value);
    if (status == ENGINE_NOT_FOUND)
        alarms_apply_locked(alarms, name, (struct bytes){ 0 }, ALARM_STATE_OK, 0, false);
    else if (status == ENGINE_OK && alarm_decode(arena, value.bytes, &alarm))
        alarms_apply_locked(alarms, name, value.bytes, alarm.state,
                            alarm_definition_pace_s(&alarm.definition), true);
    engine_value_release(&value);
    engine_view_close(view);
}

void alarms_change_end(struct alarms_change *change, enum engine_status status)
{
    struct alarms *alarms = change->alarms;
    for (const struct staged_alarm *i = change->alarms_staged; i != NULL; i = i->next) {
        if (status == ENGINE_OK)
            alarms_apply_locked(alarms, i->name, i->record, i->state, i->pace_s, i->is_due);
        else if (status == ENGINE_UNKNOWN)
            reload(alarms, change->arena, i->name);
    }
    /* Of a write that may not have taken place, the delivery finds no action. */
    if (status == ENGINE_OK || status == ENGINE_UNKNOWN) {
        alarms->history_count += change->history_added;
        alarms->history_count -= change->history_removed;
        alarms->history_is_unsure |= status == ENGINE_UNKNOWN;
        for (const struct staged_action *i = change->actions_staged; i != NULL; i = i->next)
            alarm_delivery_add(alarms->delivery, i->number, i->target);
    }
    pthread_mutex_unlock(&alarms->mutex);
}

bool alarms_change_find(struct alarms_change *change, struct bytes name, struct alarm *out)
{
    const struct alarm_entry *entry = alarms_entry_locked(change->alarms, name);
    return entry != NULL && alarms_decode_locked(change->alarms, change->arena, entry, out);
}

/* --- Parts of a change --- */

/* Ascending with time, also when the clock was set back. */
static uint64_t take_number(struct alarms_change *change)
{
    struct alarms *alarms = change->alarms;
    uint64_t now_us = (uint64_t)clock_wall_us(alarms->options.clock);
    alarms->last_number = now_us > alarms->last_number ? now_us : alarms->last_number + 1;
    return alarms->last_number;
}

void alarms_change_add_history(struct alarms_change *change, struct bytes alarm_name,
                               enum alarm_history_type type, struct bytes summary,
                               struct bytes data)
{
    struct alarms *alarms = change->alarms;
    const struct alarm_history entry = { .alarm_name = alarm_name,
                                         .type = type,
                                         .time_ms = change->now_ms,
                                         .summary = summary,
                                         .data = data };
    struct engine_address address =
        monitor_number_address(change->arena, MONITOR_KEY_HISTORY, take_number(change));
    if (alarms->history_count + change->history_added - change->history_removed >=
            alarms->options.history_max &&
        change->history_removed == 0)
        alarm_history_make_room(alarms, change->arena, change->write, &change->history_removed);
    engine_write_put(change->write, &address, alarm_history_encode(change->arena, &entry));
    change->history_added++;
}

static void stage(struct alarms_change *change, struct bytes name, struct bytes record,
                  enum alarm_state state, int64_t pace_s)
{
    struct staged_alarm *staged = arena_alloc(change->arena, sizeof *staged);
    *staged =
        (struct staged_alarm){ .name = name, .record = record, .state = state, .pace_s = pace_s };
    *change->last_link = staged;
    change->last_link = &staged->next;
    change->last_staged = staged;
}

/* Whether the list has room for a record of that size. */
static bool has_room(const struct alarms_change *change, const struct alarm_entry *old, size_t size)
{
    const struct alarms *alarms = change->alarms;
    size_t old_size = old == NULL ? 0 : old->name_size + old->record_size;
    return size <= old_size ||
           alarms->size + change->size + size - old_size - change->deleted_size <=
               alarms->options.alarms_max * ALARMS_SIZE_EACH;
}

enum alarms_result alarms_change_stage(struct alarms_change *change, const struct alarm *alarm)
{
    struct bytes name = alarm->definition.name;
    const struct alarms *alarms = change->alarms;
    const struct alarm_entry *old = alarms_entry_locked(alarms, name);
    if (old == NULL &&
        alarms->count + change->created - change->deleted >= alarms->options.alarms_max)
        return ALARMS_FULL;
    if (alarm_definition_encode(change->arena, &alarm->definition).len > ALARM_DEFINITION_SIZE_MAX)
        return ALARMS_TOO_LARGE;
    struct bytes record = alarm_encode(change->arena, alarm);
    if (!has_room(change, old, name.len + record.len))
        return ALARMS_FULL;
    struct engine_address address = monitor_address(change->arena, MONITOR_KEY_ALARM, name);
    engine_write_put(change->write, &address, record);
    change->created += old == NULL;
    change->size += name.len + record.len;
    stage(change, name, record, alarm->state, alarm_definition_pace_s(&alarm->definition));
    return ALARMS_DONE;
}

void alarms_change_remove_action(struct alarms_change *change, uint64_t number)
{
    struct engine_address address =
        monitor_number_address(change->arena, MONITOR_KEY_ACTION, number);
    engine_write_delete(change->write, &address);
}

/* --- Changes of state --- */

/* An action that is not even tried is noted in the history at once. */
static void stage_action(struct alarms_change *change, const struct alarm_action *action)
{
    bool can_run =
        alarm_action_is_url(action->target) || alarm_action_is_scaling_policy(action->target);
    if (can_run && alarm_delivery_waiting(change->alarms->delivery) + change->action_count <
                       ALARM_DELIVERY_WAITING_MAX) {
        struct staged_action *staged = arena_alloc(change->arena, sizeof *staged);
        *staged = (struct staged_action){ .next = change->actions_staged,
                                          .number = take_number(change),
                                          .target = action->target };
        struct engine_address address =
            monitor_number_address(change->arena, MONITOR_KEY_ACTION, staged->number);
        engine_write_put(change->write, &address, alarm_action_encode(change->arena, action));
        change->actions_staged = staged;
        change->action_count++;
        return;
    }
    const char *problem = can_run ? "too many actions wait to be carried out"
                                  : "this server carries out actions on http and https URLs and on "
                                    "scaling policies only";
    alarms_change_add_history(
        change, action->alarm_name, ALARM_HISTORY_ACTION,
        arena_printf(change->arena, "Failed to execute action %.*s", BYTES_FMT(action->target)),
        alarm_action_data(change->arena, action, problem));
}

enum alarms_result alarms_change_transition(struct alarms_change *change,
                                            const struct alarm *before, struct alarm *after)
{
    struct arena *arena = change->arena;
    after->updated_ms = change->now_ms;
    if (after->state == before->state)
        return alarms_change_stage(change, after);
    after->transitioned_ms = change->now_ms;
    enum alarms_result result = alarms_change_stage(change, after);
    if (result != ALARMS_DONE)
        return result;
    alarms_change_add_history(change, after->definition.name, ALARM_HISTORY_STATE,
                              arena_printf(arena, "Alarm updated from %s to %s",
                                           alarm_state_name(before->state),
                                           alarm_state_name(after->state)),
                              alarm_state_data(arena, before, after));
    const struct alarm_definition *definition = &after->definition;
    const struct shape_list *list = alarm_actions_of(definition, after->state);
    const struct bytes *targets = list->elements;
    if (list->kept == 0 ||
        (definition->actions_enabled.present && !definition->actions_enabled.value))
        return ALARMS_DONE;
    struct alarm_action action = { .alarm_name = definition->name,
                                   .from = before->state,
                                   .state = after->state,
                                   .time_ms = change->now_ms };
    action.message = alarm_message(arena, change->alarms->options.region,
                                   change->alarms->options.account_id, after, before->state);
    for (size_t i = 0; i < list->kept; i++) {
        action.target = targets[i];
        stage_action(change, &action);
    }
    return ALARMS_DONE;
}

/* --- Changes of definitions --- */

static void add_configuration(struct alarms_change *change, const char *type, const char *done,
                              const struct alarm *alarm, const struct alarm *before)
{
    alarms_change_add_history(
        change, alarm->definition.name, ALARM_HISTORY_CONFIGURATION,
        arena_printf(change->arena, "Alarm \"%.*s\" %s", BYTES_FMT(alarm->definition.name), done),
        alarm_configuration_data(change->arena, type, alarm, before));
}

enum alarms_result alarms_change_put(struct alarms_change *change,
                                     const struct alarm_definition *definition)
{
    struct alarm before;
    struct alarm alarm;
    bool exists = alarms_change_find(change, definition->name, &before);
    if (exists)
        alarm = before;
    else
        alarm = (struct alarm){ .state = ALARM_STATE_INSUFFICIENT_DATA,
                                .reason = BYTES("Unchecked: Initial alarm creation"),
                                .updated_ms = change->now_ms,
                                .transitioned_ms = change->now_ms,
                                .tags = definition->tags };
    alarm.definition = *definition;
    alarm.definition.tags = (struct shape_list){ 0 };
    alarm.configured_ms = change->now_ms;
    enum alarms_result result = alarms_change_stage(change, &alarm);
    if (result != ALARMS_DONE)
        return result;
    change->last_staged->is_due = true;
    if (exists)
        add_configuration(change, "Update", "updated", &alarm, &before);
    else
        add_configuration(change, "Create", "created", &alarm, NULL);
    return ALARMS_DONE;
}

void alarms_change_delete(struct alarms_change *change, struct bytes name)
{
    struct alarm alarm;
    if (!alarms_change_find(change, name, &alarm))
        return;
    const struct alarm_entry *entry = alarms_entry_locked(change->alarms, name);
    struct engine_address address = monitor_address(change->arena, MONITOR_KEY_ALARM, name);
    engine_write_delete(change->write, &address);
    change->deleted++;
    change->deleted_size += entry->name_size + entry->record_size;
    stage(change, name, (struct bytes){ 0 }, ALARM_STATE_OK, 0);
    add_configuration(change, "Delete", "deleted", &alarm, NULL);
}

/* --- Whole changes --- */

struct alarms_change *alarms_own_change_begin(struct alarms *alarms, struct arena *arena,
                                              enum engine_status *status)
{
    struct engine_write *write = NULL;
    *status = engine_write_begin(alarms->options.engine, NULL, 0, &write);
    return *status == ENGINE_OK ? alarms_change_begin(alarms, arena, write) : NULL;
}

enum alarms_result alarms_own_change_end(struct alarms_change *change, enum alarms_result result,
                                         enum engine_status *status)
{
    if (result != ALARMS_DONE && result != ALARMS_NOT_FOUND) {
        engine_write_abandon(change->write);
        alarms_change_end(change, ENGINE_CONFLICT);
        return result;
    }
    *status = engine_write_commit_wait(change->write);
    alarms_change_end(change, *status);
    return *status == ENGINE_OK ? result : ALARMS_FAILED;
}

enum alarms_result alarms_put(struct alarms *alarms, struct arena *arena,
                              const struct alarm_definition *definition, enum engine_status *status)
{
    struct alarms_change *change = alarms_own_change_begin(alarms, arena, status);
    if (change == NULL)
        return ALARMS_FAILED;
    return alarms_own_change_end(change, alarms_change_put(change, definition), status);
}

/* A name that comes twice is deleted once. */
static bool is_repeated(const struct bytes *names, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (bytes_equal(names[i], names[index]))
            return true;
    return false;
}

enum alarms_result alarms_delete(struct alarms *alarms, struct arena *arena,
                                 const struct bytes *names, size_t count,
                                 enum engine_status *status)
{
    enum alarms_result result = ALARMS_DONE;
    struct alarms_change *change = alarms_own_change_begin(alarms, arena, status);
    if (change == NULL)
        return ALARMS_FAILED;
    for (size_t i = 0; i < count; i++) {
        if (alarms_entry_locked(alarms, names[i]) == NULL)
            result = ALARMS_NOT_FOUND;
        else if (!is_repeated(names, i))
            alarms_change_delete(change, names[i]);
    }
    return alarms_own_change_end(change, result, status);
}

enum alarms_result alarms_set_state(struct alarms *alarms, struct arena *arena, struct bytes name,
                                    enum alarm_state state, struct bytes reason,
                                    struct bytes reason_data, enum engine_status *status)
{
    enum alarms_result result = ALARMS_NOT_FOUND;
    struct alarm before;
    struct alarms_change *change = alarms_own_change_begin(alarms, arena, status);
    if (change == NULL)
        return ALARMS_FAILED;
    if (alarms_change_find(change, name, &before)) {
        struct alarm after = before;
        after.state = state;
        after.reason = reason;
        after.reason_data = reason_data;
        result = alarms_change_transition(change, &before, &after);
    }
    return alarms_own_change_end(change, result, status);
}

enum alarms_result alarms_enable_actions(struct alarms *alarms, struct arena *arena,
                                         const struct bytes *names, size_t count, bool enabled,
                                         enum engine_status *status)
{
    enum alarms_result result = ALARMS_DONE;
    struct alarms_change *change = alarms_own_change_begin(alarms, arena, status);
    if (change == NULL)
        return ALARMS_FAILED;
    for (size_t i = 0; i < count && result == ALARMS_DONE; i++) {
        struct alarm before;
        if (is_repeated(names, i) || !alarms_change_find(change, names[i], &before))
            continue;
        struct alarm after = before;
        after.definition.actions_enabled =
            (struct shape_boolean){ .present = true, .value = enabled };
        after.configured_ms = change->now_ms;
        result = alarms_change_stage(change, &after);
        if (result == ALARMS_DONE)
            add_configuration(change, "Update", "updated", &after, &before);
    }
    return alarms_own_change_end(change, result, status);
}

enum alarms_result alarms_change_tags(struct alarms *alarms, struct arena *arena, struct bytes name,
                                      const struct alarm_tags_change *tags,
                                      enum engine_status *status)
{
    enum alarms_result result = ALARMS_NOT_FOUND;
    struct alarm alarm;
    struct alarms_change *change = alarms_own_change_begin(alarms, arena, status);
    if (change == NULL)
        return ALARMS_FAILED;
    if (alarms_change_find(change, name, &alarm)) {
        alarm.tags = alarm_tags_apply(arena, &alarm.tags, tags);
        result = alarm.tags.kept > ALARM_TAGS_MAX ? ALARMS_TOO_LARGE
                                                  : alarms_change_stage(change, &alarm);
    }
    return alarms_own_change_end(change, result, status);
}
