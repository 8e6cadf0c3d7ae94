/* scaling_driver.c -- see scaling_driver.h. */
#include "api/scaling/scaling_driver.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "api/operation.h"
#include "api/scaling/scaling_alarms.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timed_wait.h"
#include "base/uuid.h"
#include "cloudwatch/alarm_record.h"
#include "cloudwatch/alarms.h"
#include "cloudwatch/series.h"
#include "model/table_definition.h"
#include "scaling/scaling.h"
#include "scaling/scaling_decide.h"
#include "table/catalogue.h"

enum { READS_PER_READER_MAX = 256, ROUND_MS = 60 * 1000 };
#define POLICY_CAUSE "monitor alarm " /* Prefix of the cause of a policy's change. */

struct scaling_driver {
    struct api *api;
    /* With the scaling locked: */
    bool has_recovered; /* Activities that a restart interrupted were completed. */
    size_t under_way;   /* Calls of UpdateTable. */
};

/* One round, or one completed change. */
struct turn {
    struct scaling_driver *driver;
    struct scaling *scaling;
    struct arena *arena;
    int64_t now_ms;
    /* Opened for the first target that asks, because that costs as much as reading many. */
    struct series_reader *reader;
    struct arena *reader_arena;
    size_t read_count;
};

/* An UpdateTable call under way. */
struct update_call {
    struct api_call base;
    struct scaling_driver *driver;
    struct bytes activity_id; /* In the call's arena. */
};

struct scaling_driver *scaling_driver_create(struct api *api)
{
    struct scaling_driver *driver = memory_checked(calloc(1, sizeof *driver));
    driver->api = api;
    return driver;
}

void scaling_driver_destroy(struct scaling_driver *driver)
{
    free(driver);
}

/* --- What the table has --- */

struct provisioned {
    int64_t read_units, write_units;
    int64_t units; /* Of the target's dimension. */
};

/* False: there is no such table or index, or it is on demand, or about to change. */
static bool find_provisioned(const struct turn *turn, const struct scaling_id *id,
                             struct provisioned *out)
{
    struct scaling_resource resource;
    bool found = scaling_resource_parse(id->resource_id, &resource);
    assert(found);
    struct table *table = catalogue_borrow(api_catalogue(turn->driver->api), resource.table);
    if (table == NULL)
        return false;
    const struct table_definition *definition = table_definition(table);
    const struct throughput *throughput = &definition->throughput;
    if (resource.index.data != NULL) {
        const struct index_definition *index = table_definition_index(definition, resource.index);
        found = index != NULL && index->global && index->status == INDEX_ACTIVE;
        throughput = found ? &index->throughput : NULL;
    }
    found = found && definition->billing_mode == BILLING_PROVISIONED &&
            definition->status == TABLE_ACTIVE;
    if (found)
        *out = (struct provisioned){
            .read_units = throughput->read_units,
            .write_units = throughput->write_units,
            .units = scaling_dimension_is_read(id->dimension) ? throughput->read_units
                                                              : throughput->write_units,
        };
    table_release(table);
    return found;
}

static void close_reader(struct turn *turn)
{
    series_reader_close(turn->reader);
    turn->reader = NULL;
    turn->read_count = 0;
    arena_destroy(turn->reader_arena);
    turn->reader_arena = NULL;
}

/* A new one now and then, because it keeps in memory what it has read. */
static struct series_reader *reader_of(struct turn *turn)
{
    enum engine_status status;
    if (turn->read_count++ == READS_PER_READER_MAX)
        close_reader(turn);
    if (turn->reader_arena == NULL)
        turn->reader_arena = arena_create();
    if (turn->reader == NULL)
        turn->reader =
            series_reader_open(api_series(turn->driver->api), turn->reader_arena, &status);
    return turn->reader;
}

/* Units per second in the last whole minute. False if there are no samples, as after a time in
 * which the server did not run: idle tables have samples of 0. */
static bool find_consumed(struct turn *turn, const struct scaling_id *id, double *units_s)
{
    struct scaling_resource resource;
    struct series_dimension dimensions[2];
    struct series_bins bins = { 0 };
    bool parses = scaling_resource_parse(id->resource_id, &resource);
    assert(parses);
    struct series_key key = {
        .namespace = BYTES("AWS/DynamoDB"),
        .name = scaling_dimension_is_read(id->dimension) ? BYTES("ConsumedReadCapacityUnits")
                                                         : BYTES("ConsumedWriteCapacityUnits"),
        .dimensions = dimensions,
        .unit = UNIT_ANY,
    };
    dimensions[key.dimension_count++] =
        (struct series_dimension){ BYTES("TableName"), resource.table };
    if (resource.index.data != NULL)
        dimensions[key.dimension_count++] =
            (struct series_dimension){ BYTES("GlobalSecondaryIndexName"), resource.index };
    int64_t minute_s = turn->now_ms / 60000 * 60;
    struct series_reader *reader = reader_of(turn);
    if (reader == NULL ||
        series_read(reader, &key, 60, minute_s - 60, minute_s, &bins) != ENGINE_OK ||
        bins.count == 0)
        return false;
    *units_s = bins.bins[0].set.sum / 60;
    return true;
}

/* --- Activities --- */

static const char *direction_name(enum scaling_dimension dimension)
{
    return scaling_dimension_is_read(dimension) ? "read" : "write";
}

static bool is_about(const struct scaling_activity *activity, const struct scaling_id *id)
{
    struct scaling_id own = scaling_id_of(activity);
    return own.dimension == id->dimension && bytes_equal(own.resource_id, id->resource_id);
}

/* One that outlasts the object, which is gone after a commit. */
static struct scaling_id lasting_id_of(const struct turn *turn, const void *object)
{
    struct scaling_id id = scaling_id_of(object);
    id.resource_id = arena_copy(turn->arena, id.resource_id);
    return id;
}

/* NULL if there is none. */
static const struct scaling_activity *newest_activity(const struct turn *turn,
                                                      const struct scaling_id *id)
{
    for (size_t i = scaling_count(turn->scaling, SCALING_ACTIVITY); i > 0; i--) {
        const struct scaling_activity *activity =
            scaling_at(turn->scaling, SCALING_ACTIVITY, i - 1);
        if (is_about(activity, id))
            return activity;
    }
    return NULL;
}

static bool has_status(const struct scaling_activity *activity, const char *status)
{
    return activity != NULL && bytes_equal_text(activity->status, status);
}

static struct scaling_activity new_activity(const struct turn *turn, const struct scaling_id *id)
{
    return (struct scaling_activity){ .head = { .resource_id = id->resource_id,
                                                .dimension = { true, id->dimension },
                                                .uuid = uuid_create(turn->arena),
                                                .created_ms = { true, turn->now_ms } } };
}

static bool commit(const struct turn *turn, struct scaling_change *change,
                   const struct scaling_partner *partner)
{
    enum engine_status status = scaling_change_commit(change, turn->now_ms, partner);
    if (status != ENGINE_OK)
        log_write(LOG_ERROR, "scaling", "cannot store a change: %s", engine_status_name(status));
    return status == ENGINE_OK;
}

/* --- Changing the capacity --- */

static void end_update(struct api_call *call);

static struct bytes update_body(const struct turn *turn, const struct scaling_id *id,
                                const struct provisioned *before, int64_t units)
{
    struct scaling_resource resource;
    bool is_read = scaling_dimension_is_read(id->dimension);
    long long reads = is_read ? units : before->read_units;
    long long writes = is_read ? before->write_units : units;
    bool parses = scaling_resource_parse(id->resource_id, &resource);
    assert(parses);
    if (resource.index.data == NULL)
        return arena_printf(turn->arena,
                            "{\"TableName\":\"%.*s\",\"ProvisionedThroughput\":"
                            "{\"ReadCapacityUnits\":%lld,\"WriteCapacityUnits\":%lld}}",
                            BYTES_FMT(resource.table), reads, writes);
    return arena_printf(turn->arena,
                        "{\"TableName\":\"%.*s\",\"GlobalSecondaryIndexUpdates\":[{\"Update\":"
                        "{\"IndexName\":\"%.*s\",\"ProvisionedThroughput\":"
                        "{\"ReadCapacityUnits\":%lld,\"WriteCapacityUnits\":%lld}}}]}",
                        BYTES_FMT(resource.table), BYTES_FMT(resource.index), reads, writes);
}

/* The activity of a change. A change into the bounds that failed and is tried again stays the same
 * activity: one that is refused for days must not push all others out of the list. */
static struct scaling_activity activity_of(const struct turn *turn, const struct scaling_id *id,
                                           int64_t units, struct bytes cause, bool is_settling)
{
    const struct scaling_activity *newest = newest_activity(turn, id);
    struct scaling_activity activity = new_activity(turn, id);
    if (is_settling && has_status(newest, "Failed") && newest->capacity.value == units &&
        bytes_equal(newest->cause, cause))
        activity.head = newest->head;
    return activity;
}

/* Stores the activity and, unless NULL, the target that was compared with its bounds. With the
 * scaling locked. The call is submitted after the unlock, since it may end at once. */
static struct update_call *begin_change(const struct turn *turn, const struct scaling_id *id,
                                        const struct provisioned *before, int64_t units,
                                        struct bytes cause, const struct scaling_target *settled)
{
    struct scaling_change change;
    struct scaling_activity activity = activity_of(turn, id, units, cause, settled != NULL);
    struct bytes activity_id = arena_copy(turn->arena, activity.head.uuid);
    activity.description = arena_printf(turn->arena, "Setting %s capacity units to %lld.",
                                        direction_name(id->dimension), (long long)units);
    activity.cause = cause;
    activity.status = BYTES("InProgress");
    activity.capacity = (struct shape_integer){ true, units };
    scaling_change_init(&change, turn->scaling, turn->arena);
    scaling_change_put(&change, SCALING_ACTIVITY, &activity);
    if (settled != NULL)
        scaling_change_put(&change, SCALING_TARGET, settled);
    if (!commit(turn, &change, NULL))
        return NULL;
    struct update_call *call = memory_checked(calloc(1, sizeof *call));
    struct arena *arena = arena_create();
    turn->driver->under_way++;
    call->driver = turn->driver;
    call->activity_id = arena_copy(arena, activity_id);
    call->base = (struct api_call){
        .arena = arena,
        .operation = operation_find(OPERATION_OF_DYNAMODB, BYTES("UpdateTable")),
        .body = arena_copy(arena, update_body(turn, id, before, units)),
        .own_units =
            scaling_dimension_is_read(id->dimension) ? API_OWN_READ_UNITS : API_OWN_WRITE_UNITS,
        .done = end_update,
    };
    return call;
}

static void run_update(struct update_call *call)
{
    if (call != NULL)
        api_run(call->driver->api, &call->base);
}

/* A change that was to move the capacity into its bounds and failed is tried again: nothing else
 * would. False if the bounds need no further look. */
static bool find_unsettled(const struct turn *turn, const struct scaling_activity *failed,
                           struct scaling_target *out)
{
    struct scaling_id id = scaling_id_of(failed);
    const struct scaling_target *target = scaling_find_target(turn->scaling, &id);
    if (target == NULL || target->unsettled.data != NULL ||
        bytes_starts_with(failed->cause, BYTES(POLICY_CAUSE)))
        return false;
    *out = *target;
    out->unsettled = arena_copy(turn->arena, failed->cause);
    return true;
}

/* Stores how a change ended. With the scaling locked. */
static void finish_activity(const struct turn *turn, const struct scaling_activity *activity,
                            bool succeeded, struct bytes problem)
{
    struct scaling_change change;
    struct scaling_activity draft = *activity;
    struct scaling_id id = lasting_id_of(turn, activity);
    long long units = activity->capacity.value;
    size_t first;
    draft.end_ms = (struct shape_integer){ true, turn->now_ms };
    draft.status = succeeded ? BYTES("Successful") : BYTES("Failed");
    draft.message =
        succeeded
            ? arena_printf(turn->arena,
                           "Successfully set %s capacity units to %lld. Change successfully "
                           "fulfilled by dynamodb.",
                           direction_name(id.dimension), units)
            : arena_printf(turn->arena, "Failed to set %s capacity units to %lld. Reason: %.*s",
                           direction_name(id.dimension), units, BYTES_FMT(problem));
    scaling_change_init(&change, turn->scaling, turn->arena);
    scaling_change_put(&change, SCALING_ACTIVITY, &draft);
    struct scaling_policy policy;
    struct scaling_target target;
    if (!succeeded && find_unsettled(turn, activity, &target))
        scaling_change_put(&change, SCALING_TARGET, &target);
    if (succeeded && scaling_of_target(turn->scaling, SCALING_POLICY, &id, &first) > 0) {
        policy = *(const struct scaling_policy *)scaling_at(turn->scaling, SCALING_POLICY, first);
        struct shape_integer now = { true, turn->now_ms };
        if (policy.alarms_capacity.present && units > policy.alarms_capacity.value)
            policy.last_out_ms = now;
        else
            policy.last_in_ms = now;
        scaling_change_put(&change, SCALING_POLICY, &policy);
    }
    if (commit(turn, &change, NULL))
        scaling_count_action(turn->scaling, &id, succeeded ? SCALING_SUCCESSFUL : SCALING_FAILED);
}

static const struct scaling_activity *find_activity(const struct turn *turn, struct bytes id)
{
    for (size_t i = scaling_count(turn->scaling, SCALING_ACTIVITY); i > 0; i--) {
        const struct scaling_activity *activity =
            scaling_at(turn->scaling, SCALING_ACTIVITY, i - 1);
        if (bytes_equal(id, activity->head.uuid))
            return activity;
    }
    return NULL;
}

static struct turn open_turn(struct scaling_driver *driver)
{
    return (struct turn){ .driver = driver,
                          .scaling = api_scaling(driver->api),
                          .arena = arena_create(),
                          .now_ms = clock_wall_ms(api_options(driver->api)->clock) };
}

static void close_turn(struct turn *turn)
{
    close_reader(turn);
    arena_destroy(turn->arena);
}

/* The `done` of UpdateTable. */
static void end_update(struct api_call *base)
{
    struct update_call *call = (struct update_call *)base;
    struct turn turn = open_turn(call->driver);
    scaling_lock(turn.scaling);
    assert(call->driver->under_way > 0);
    call->driver->under_way--;
    const struct scaling_activity *activity = find_activity(&turn, call->activity_id);
    if (activity != NULL)
        finish_activity(&turn, activity, !error_is_set(&base->error), base->error.message);
    scaling_unlock(turn.scaling);
    close_turn(&turn);
    arena_destroy(base->arena);
    free(call);
}

/* --- Steps of a round; each with the scaling locked --- */

static struct bytes *list_interrupted(const struct turn *turn, size_t *count)
{
    size_t total = scaling_count(turn->scaling, SCALING_ACTIVITY);
    struct bytes *ids = arena_alloc(turn->arena, (total + 1) * sizeof *ids);
    *count = 0;
    for (size_t i = 0; i < total; i++) {
        const struct scaling_activity *activity = scaling_at(turn->scaling, SCALING_ACTIVITY, i);
        if (has_status(activity, "InProgress"))
            ids[(*count)++] = arena_copy(turn->arena, activity->head.uuid);
    }
    return ids;
}

/* Completes the activities whose end was not stored, because the server stopped or the store
 * failed: nothing else would change their targets again. Whether the change has happened, the table
 * tells. Not while a call is under way, whose activity is in progress in earnest. Each commit may
 * remove old activities, so indexes do not last. */
static void recover(const struct turn *turn, bool again)
{
    size_t count;
    if ((turn->driver->has_recovered && !again) || turn->driver->under_way > 0)
        return;
    turn->driver->has_recovered = true;
    const struct bytes *ids = list_interrupted(turn, &count);
    for (size_t i = 0; i < count; i++) {
        const struct scaling_activity *activity = find_activity(turn, ids[i]);
        struct provisioned found;
        if (activity == NULL)
            continue;
        struct scaling_id id = scaling_id_of(activity);
        bool happened =
            find_provisioned(turn, &id, &found) && found.units == activity->capacity.value;
        finish_activity(turn, activity, happened, BYTES("The change was interrupted."));
    }
}

/* Writes the bounds of an action that is due into its target. */
static void fire_action(const struct turn *turn, const struct scaling_action *action)
{
    struct scaling_id id = scaling_id_of(action);
    const struct scaling_target *before = scaling_find_target(turn->scaling, &id);
    struct scaling_action next = *action;
    struct scaling_change change;
    struct scaling_target target;
    scaling_change_init(&change, turn->scaling, turn->arena);
    next.next_ms = scaling_action_next(action, turn->now_ms);
    scaling_change_put(&change, SCALING_ACTION, &next);
    if (before != NULL && !before->scheduled_suspended.value) {
        target = *before;
        if (action->min.present)
            target.min = action->min;
        if (action->max.present)
            target.max = action->max;
        if (target.max.value < target.min.value && action->min.present)
            target.max = target.min;
        else if (target.max.value < target.min.value)
            target.min = target.max;
        target.unsettled = arena_printf(turn->arena, "scheduled action name %.*s was triggered",
                                        BYTES_FMT(action->head.name));
        scaling_change_put(&change, SCALING_TARGET, &target);
    }
    (void)commit(turn, &change, NULL);
}

static void fire_actions(const struct turn *turn)
{
    for (size_t i = 0; i < scaling_count(turn->scaling, SCALING_ACTION); i++) {
        const struct scaling_action *action = scaling_at(turn->scaling, SCALING_ACTION, i);
        if (action->next_ms.present && action->next_ms.value <= turn->now_ms)
            fire_action(turn, action);
    }
}

/* Compares the capacity with the bounds. That this was done is stored together with the change that
 * follows, so that a crash in between loses neither. */
static struct update_call *settle(const struct turn *turn, const struct scaling_target *target,
                                  const struct provisioned *found)
{
    struct scaling_id id = lasting_id_of(turn, target);
    struct scaling_target settled = *target;
    int64_t min = target->min.value, max = target->max.value;
    int64_t units = found->units < min ? min : found->units > max ? max : found->units;
    struct bytes cause = arena_copy(turn->arena, target->unsettled);
    if (cause.len == 0)
        cause = arena_printf(turn->arena, "%s capacity was set to %lld",
                             units == min ? "minimum" : "maximum", (long long)units);
    settled.unsettled = (struct bytes){ 0 };
    if (units != found->units)
        return begin_change(turn, &id, found, units, cause, &settled);
    struct scaling_change change;
    scaling_change_init(&change, turn->scaling, turn->arena);
    scaling_change_put(&change, SCALING_TARGET, &settled);
    (void)commit(turn, &change, NULL);
    return NULL;
}

/* True if the policy's alarms were made for another capacity and are replaced. */
static bool renew_alarms(const struct turn *turn, const struct scaling_policy *policy,
                         int64_t capacity)
{
    if (policy->alarms_capacity.present && policy->alarms_capacity.value == capacity)
        return false;
    const struct api_options *options = api_options(turn->driver->api);
    struct scaling_alarms *alarms = arena_alloc(turn->arena, sizeof *alarms);
    struct scaling_policy draft = *policy;
    struct scaling_change change;
    struct bytes arn = arena_printf(
        turn->arena,
        "arn:aws:autoscaling:%s:%s:scalingPolicy:%.*s:resource/dynamodb/%.*s:policyName/%.*s",
        options->region, options->account_id, BYTES_FMT(policy->head.uuid),
        BYTES_FMT(policy->head.resource_id), BYTES_FMT(policy->head.name));
    scaling_alarms_init(alarms, api_alarms(turn->driver->api), turn->arena);
    scaling_alarms_delete(alarms, policy);
    scaling_alarms_make(alarms, &draft, arn, capacity);
    const struct scaling_partner partner = scaling_alarms_partner(alarms);
    scaling_change_init(&change, turn->scaling, turn->arena);
    scaling_change_put(&change, SCALING_POLICY, &draft);
    (void)commit(turn, &change, &partner);
    return true;
}

static bool is_alarmed(const struct turn *turn, const struct scaling_policy *policy,
                       enum alarm_tracking_kind kind)
{
    const struct bytes *name = scaling_alarms_name(policy, kind);
    struct alarm alarm;
    return name != NULL && alarms_find(api_alarms(turn->driver->api), turn->arena, *name, &alarm) &&
           alarm.state == ALARM_STATE_ALARM && alarm.definition.actions_enabled.value;
}

/* The same code in a row is reported once. */
static void note_not_scaled(const struct turn *turn, const struct scaling_situation *situation,
                            const char *code)
{
    struct scaling_id id = lasting_id_of(turn, situation->target);
    const struct scaling_activity *newest = newest_activity(turn, &id);
    struct scaling_change change;
    if (newest != NULL && newest->not_scaled_reason.data != NULL &&
        bytes_equal_text(newest->not_scaled_reason, code))
        return;
    struct scaling_activity activity = new_activity(turn, &id);
    activity.description = BYTES("Attempting to scale due to alarm triggered");
    activity.cause = arena_printf(
        turn->arena, POLICY_CAUSE "%.*s in state ALARM triggered policy %.*s",
        BYTES_FMT(*scaling_alarms_name(situation->policy, situation->is_high ? ALARM_TRACKING_HIGH
                                                                             : ALARM_TRACKING_LOW)),
        BYTES_FMT(situation->policy->head.name));
    activity.status = BYTES("Unfulfilled");
    activity.end_ms = activity.head.created_ms;
    activity.not_scaled_reason = bytes_from_text(code);
    activity.current = (struct shape_integer){ true, situation->capacity };
    activity.min = situation->target->min;
    activity.max = situation->target->max;
    scaling_change_init(&change, turn->scaling, turn->arena);
    scaling_change_put(&change, SCALING_ACTIVITY, &activity);
    if (commit(turn, &change, NULL))
        scaling_count_action(turn->scaling, &id, SCALING_UNFULFILLED);
}

static struct update_call *follow_policy(struct turn *turn, const struct scaling_target *target,
                                         const struct scaling_policy *policy,
                                         const struct provisioned *found)
{
    struct scaling_id id = scaling_id_of(target);
    int64_t units;
    struct scaling_situation situation = {
        .target = target,
        .policy = policy,
        .capacity = found->units,
        .is_high = is_alarmed(turn, policy, ALARM_TRACKING_HIGH),
        .is_low = is_alarmed(turn, policy, ALARM_TRACKING_LOW),
        .now_ms = turn->now_ms,
    };
    if ((!situation.is_high && !situation.is_low) ||
        !find_consumed(turn, &id, &situation.consumed_units_s))
        return NULL;
    enum scaling_verdict verdict = scaling_decide(&situation, &units);
    if (scaling_verdict_code(verdict) != NULL)
        note_not_scaled(turn, &situation, scaling_verdict_code(verdict));
    if (verdict != SCALING_SET)
        return NULL;
    enum alarm_tracking_kind kind = situation.is_high ? ALARM_TRACKING_HIGH : ALARM_TRACKING_LOW;
    struct bytes cause =
        arena_printf(turn->arena, POLICY_CAUSE "%.*s in state ALARM triggered policy %.*s",
                     BYTES_FMT(*scaling_alarms_name(policy, kind)), BYTES_FMT(policy->head.name));
    return begin_change(turn, &id, found, units, cause, NULL);
}

/* Somebody else changed what the newest change had set. */
static void note_override(const struct turn *turn, const struct scaling_activity *newest,
                          int64_t capacity)
{
    struct scaling_change change;
    if (!has_status(newest, "Successful") || newest->capacity.value == capacity)
        return;
    struct scaling_activity draft = *newest;
    draft.status = BYTES("Overridden");
    draft.message = arena_printf(
        turn->arena,
        "Successfully set %s capacity units to %lld. Found it was later changed to %lld.",
        direction_name(scaling_id_of(newest).dimension), (long long)newest->capacity.value,
        (long long)capacity);
    scaling_change_init(&change, turn->scaling, turn->arena);
    scaling_change_put(&change, SCALING_ACTIVITY, &draft);
    (void)commit(turn, &change, NULL);
}

/* Each registration visits all targets that are out of their bounds. What was refused less than a
 * round ago waits for the next round, so that many such targets do not delay each registration. */
static bool was_just_refused(const struct turn *turn, const struct scaling_target *target,
                             const struct scaling_activity *newest)
{
    return has_status(newest, "Failed") && newest->end_ms.present &&
           bytes_equal(newest->cause, target->unsettled) &&
           turn->now_ms - newest->end_ms.value < ROUND_MS;
}

/* One target. Objects of the lists are gone after each commit, so they are looked up again. */
static struct update_call *visit(struct turn *turn, const struct scaling_id *id, bool only_bounds)
{
    struct provisioned found;
    size_t first;
    const struct scaling_target *target = scaling_find_target(turn->scaling, id);
    if (target == NULL || (only_bounds && target->unsettled.data == NULL) ||
        !find_provisioned(turn, id, &found))
        return NULL;
    const struct scaling_activity *newest = newest_activity(turn, id);
    if (has_status(newest, "InProgress") || (only_bounds && was_just_refused(turn, target, newest)))
        return NULL;
    if (target->unsettled.data != NULL)
        return settle(turn, target, &found);
    note_override(turn, newest, found.units);
    newest = newest_activity(turn, id);
    if (has_status(newest, "Failed") && newest->end_ms.present &&
        turn->now_ms - newest->end_ms.value < SCALING_DRIVER_RETRY_MS)
        return NULL;
    if (scaling_of_target(turn->scaling, SCALING_POLICY, id, &first) == 0)
        return NULL;
    const struct scaling_policy *policy = scaling_at(turn->scaling, SCALING_POLICY, first);
    if (renew_alarms(turn, policy, found.units))
        return NULL;
    return follow_policy(turn, scaling_find_target(turn->scaling, id), policy, &found);
}

static struct scaling_id *list_targets(const struct turn *turn, size_t *count)
{
    *count = scaling_count(turn->scaling, SCALING_TARGET);
    struct scaling_id *ids = arena_alloc(turn->arena, (*count + 1) * sizeof *ids);
    for (size_t i = 0; i < *count; i++) {
        ids[i] = scaling_id_of(scaling_at(turn->scaling, SCALING_TARGET, i));
        ids[i].resource_id = arena_copy(turn->arena, ids[i].resource_id);
    }
    return ids;
}

static void visit_all(struct turn *turn, bool only_bounds)
{
    size_t count;
    scaling_lock(turn->scaling);
    recover(turn, !only_bounds);
    struct scaling_id *ids = list_targets(turn, &count);
    scaling_unlock(turn->scaling);
    for (size_t i = 0; i < count; i++) {
        scaling_lock(turn->scaling);
        struct update_call *call = visit(turn, &ids[i], only_bounds);
        scaling_unlock(turn->scaling);
        run_update(call);
    }
}

int64_t scaling_driver_round(void *context, int64_t now_ms)
{
    struct scaling_driver *driver = context;
    struct turn turn = open_turn(driver);
    turn.now_ms = now_ms;
    scaling_lock(turn.scaling);
    fire_actions(&turn);
    scaling_unlock(turn.scaling);
    visit_all(&turn, false);
    close_turn(&turn);
    return TIMED_WAIT_FOREVER; /* Schedules and policies have a resolution of a minute. */
}

/* --- Actions of alarms --- */

static bool is_of_policy(const struct scaling_policy *policy, struct bytes alarm_name)
{
    const struct bytes *names = policy->alarms.elements;
    for (size_t i = 0; i < policy->alarms.count; i++)
        if (bytes_equal(names[i], alarm_name))
            return true;
    return false;
}

/* The ARN of a policy, with what alarms have behind it: ":createdBy/<uuid>". */
static bool is_named(const struct scaling_policy *policy, struct bytes target)
{
    struct bytes id = policy->head.uuid;
    return memmem(target.data, target.len, id.data, id.len) != NULL;
}

const char *scaling_driver_accept(void *context, struct arena *arena,
                                  const struct alarm_action *action, bool repeated)
{
    struct scaling_driver *driver = context;
    struct scaling *scaling = api_scaling(driver->api);
    const struct scaling_policy *found = NULL;
    struct alarm alarm;
    if (repeated)
        return NULL;
    scaling_lock(scaling);
    for (size_t i = 0; i < scaling_count(scaling, SCALING_POLICY) && found == NULL; i++) {
        const struct scaling_policy *policy = scaling_at(scaling, SCALING_POLICY, i);
        if (is_named(policy, action->target))
            found = policy;
    }
    bool is_policys = found != NULL && is_of_policy(found, action->alarm_name);
    scaling_unlock(scaling);
    /* A policy's alarms are replaced when its capacity changes; then the action was followed. */
    if (is_policys || !alarms_find(api_alarms(driver->api), arena, action->alarm_name, &alarm))
        return NULL;
    return found == NULL ? "there is no such scaling policy"
                         : "a target tracking policy scales by its own alarms only";
}

void scaling_driver_settle(struct scaling_driver *driver)
{
    struct turn turn = open_turn(driver);
    visit_all(&turn, true);
    close_turn(&turn);
}
