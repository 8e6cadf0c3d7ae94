/* op_scheduled_actions.c -- PutScheduledAction, DescribeScheduledActions, DeleteScheduledAction and
 * DescribeScalingActivities. */
#include <string.h>
#include "api/common_shapes.h"
#include "api/scaling/scaling_operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "json/writer.h"
#include "scaling/scaling_decide.h"
#include "scaling/schedule.h"
#include "scaling/time_zone.h"

/* --- PutScheduledAction --- */

struct target_action_request {
    struct shape_integer min, max;
};
struct put_request {
    struct scaling_names names;
    struct bytes name;
    struct bytes schedule;
    struct bytes time_zone;
    struct shape_integer start_ms, end_ms;
    struct target_action_request *action;
};

/* Whether a control character begins there: up to U+001F, or from U+007F to U+009F. */
static bool is_control(struct bytes text, size_t at)
{
    uint8_t first = text.data[at], second = at + 1 < text.len ? text.data[at + 1] : 0;
    return first < 0x20 || first == 0x7F || (first == 0xC2 && second >= 0x80 && second <= 0x9F);
}

/* Without ':', '/', '|' and control characters, and without spaces at its ends. */
static bool is_action_name(struct bytes name)
{
    if (name.len == 0 || name.data[0] == ' ' || name.data[name.len - 1] == ' ')
        return false;
    for (size_t i = 0; i < name.len; i++) {
        if (is_control(name, i) || strchr(":/|", name.data[i]) != NULL)
            return false;
    }
    return true;
}

static const struct shape name_shape = { .kind = SHAPE_STRING,
                                         .min = 1,
                                         .max = 256,
                                         .pattern = "(?!((^[ ]+.*)|(.*([\\u0000-\\u001f]|[\\u007f-"
                                                    "\\u009f]|[:/|])+.*)|(.*[ ]+$))).+",
                                         .matches = is_action_name };
static const struct shape schedule_shape = { .kind = SHAPE_STRING,
                                             .min = 1,
                                             .max = SCHEDULE_TEXT_SIZE_MAX };
static const struct shape time_shape = { .kind = SHAPE_TIMESTAMP, SHAPE_UNBOUNDED };
static const struct shape capacity_shape = { .kind = SHAPE_INTEGER, SHAPE_UNBOUNDED };
static const struct shape_field action_fields[] = {
    { SHAPE_FIELD(struct target_action_request, min, "MinCapacity", &capacity_shape) },
    { SHAPE_FIELD(struct target_action_request, max, "MaxCapacity", &capacity_shape) },
};
static const struct shape action_shape = { SHAPE_STRUCTURE_OF(struct target_action_request,
                                                              action_fields),
                                           .type_name = "ScalableTargetAction" };
static const struct shape_field put_fields[] = {
    { SHAPE_FIELD(struct put_request, names.service_namespace, "ServiceNamespace",
                  &scaling_namespace_shape),
      .required = true },
    { SHAPE_FIELD(struct put_request, schedule, "Schedule", &schedule_shape) },
    { SHAPE_FIELD(struct put_request, time_zone, "Timezone", &schedule_shape) },
    { SHAPE_FIELD(struct put_request, name, "ScheduledActionName", &name_shape), .required = true },
    { SHAPE_FIELD(struct put_request, names.resource_id, "ResourceId", &scaling_resource_id_shape),
      .required = true },
    { SHAPE_FIELD(struct put_request, names.dimension, "ScalableDimension",
                  &scaling_dimension_shape),
      .required = true },
    { SHAPE_FIELD(struct put_request, start_ms, "StartTime", &time_shape) },
    { SHAPE_FIELD(struct put_request, end_ms, "EndTime", &time_shape) },
    { SHAPE_FIELD(struct put_request, action, "ScalableTargetAction", &action_shape) },
};
static const struct shape put_shape = { SHAPE_STRUCTURE_OF(struct put_request, put_fields),
                                        .type_name = "PutScheduledActionRequest" };

static bool check_schedule(struct api_call *call, const struct scaling_action *draft)
{
    struct schedule schedule;
    if (!schedule_parse(draft->schedule, &schedule))
        return error_set(&call->error, ERROR_SCALING_VALIDATION,
                         "Invalid schedule expression: %.*s", BYTES_FMT(draft->schedule));
    struct bytes name = draft->time_zone.data == NULL ? BYTES("UTC") : draft->time_zone;
    struct time_zone *zone = time_zone_open(name);
    if (zone == NULL)
        return error_set(&call->error, ERROR_SCALING_VALIDATION, "Invalid time zone: %.*s",
                         BYTES_FMT(name));
    time_zone_close(zone);
    if (draft->start_ms.present && draft->end_ms.present &&
        draft->end_ms.value < draft->start_ms.value)
        return scaling_operation_refuse(call, "End time must be after start time");
    return true;
}

static bool merge(struct api_call *call, const struct put_request *request, bool is_new,
                  struct scaling_action *draft)
{
    if (request->schedule.data != NULL)
        draft->schedule = request->schedule;
    if (request->time_zone.data != NULL)
        draft->time_zone = request->time_zone;
    if (request->start_ms.present)
        draft->start_ms = request->start_ms;
    if (request->end_ms.present)
        draft->end_ms = request->end_ms;
    if (request->action != NULL) {
        draft->min = request->action->min;
        draft->max = request->action->max;
    }
    if (draft->schedule.data == NULL)
        return scaling_operation_refuse(call, "Schedule must be specified");
    if (is_new && (request->action == NULL || (!draft->min.present && !draft->max.present)))
        return scaling_operation_refuse(
            call, "ScalableTargetAction must specify a minimum or maximum capacity");
    if (draft->min.present && draft->min.value < 1)
        return scaling_operation_refuse(call, "Minimum capacity cannot be less than 1");
    if (draft->min.present && draft->max.present && draft->max.value < draft->min.value)
        return scaling_operation_refuse(call,
                                        "Maximum capacity cannot be less than minimum capacity");
    return check_schedule(call, draft);
}

/* With the scaling locked. */
static bool put(struct api_call *call, const void *input, const struct scaling_id *id)
{
    const struct put_request *request = input;
    struct scaling *scaling = api_scaling(call->api);
    const struct scaling_action *before = scaling_find_action(scaling, id, request->name);
    int64_t now_ms = clock_wall_ms(api_options(call->api)->clock);
    struct scaling_change change;
    struct scaling_action draft;
    size_t first;
    if (scaling_find_target(scaling, id) == NULL)
        return scaling_operation_not_registered(call, id);
    if (before == NULL &&
        (scaling_is_full(scaling, SCALING_ACTION) ||
         scaling_of_target(scaling, SCALING_ACTION, id, &first) >= SCALING_ACTIONS_PER_TARGET_MAX))
        return error_set(&call->error, ERROR_SCALING_LIMIT_EXCEEDED,
                         "A scalable target can have at most %d scheduled actions",
                         SCALING_ACTIONS_PER_TARGET_MAX);
    if (before != NULL)
        draft = *before;
    else
        draft = (struct scaling_action){ .head = { .resource_id = id->resource_id,
                                                   .dimension = { true, id->dimension },
                                                   .name = request->name,
                                                   .uuid = uuid_create(call->arena),
                                                   .created_ms = { true, now_ms } } };
    if (!merge(call, request, before == NULL, &draft))
        return false;
    draft.next_ms = scaling_action_next(&draft, now_ms);
    scaling_change_init(&change, scaling, call->arena);
    scaling_change_put(&change, SCALING_ACTION, &draft);
    return scaling_operation_commit(call, &change, NULL);
}

static void run_put(struct api_call *call, const void *input)
{
    scaling_operation_run(call, input, put);
}

const struct operation op_scaling_put_scheduled_action = {
    .name = "PutScheduledAction",
    .service = OPERATION_OF_SCALING,
    .kind = OPERATION_CONTROL,
    .request = &put_shape,
    .asks = OPERATION_ASKS_ACCOUNT,
    .run = run_put,
};

/* --- DescribeScheduledActions --- */

static const struct shape_field describe_fields[] = {
    { SHAPE_FIELD(struct scaling_list_request, ids, "ScheduledActionNames",
                  &scaling_names_list_shape) },
    { SHAPE_FIELD(struct scaling_list_request, names.service_namespace, "ServiceNamespace",
                  &scaling_namespace_shape),
      .required = true },
    { SHAPE_FIELD(struct scaling_list_request, names.resource_id, "ResourceId",
                  &scaling_resource_id_shape) },
    { SHAPE_FIELD(struct scaling_list_request, names.dimension, "ScalableDimension",
                  &scaling_dimension_shape) },
    { SHAPE_FIELD(struct scaling_list_request, max_results, "MaxResults",
                  &scaling_page_size_shape) },
    { SHAPE_FIELD(struct scaling_list_request, next_token, "NextToken", &scaling_token_shape) },
};
static const struct shape describe_shape = { SHAPE_STRUCTURE_OF(struct scaling_list_request,
                                                                describe_fields),
                                             .type_name = "DescribeScheduledActionsRequest" };

static void write_text(struct json_writer *json, const char *name, struct bytes text)
{
    if (text.data == NULL)
        return;
    json_write_name(json, name);
    json_write_string(json, text);
}

static void write_time(struct json_writer *json, const char *name, const struct shape_integer *ms)
{
    if (!ms->present)
        return;
    json_write_name(json, name);
    json_write_seconds(json, ms->value);
}

static void write_action(struct api_call *call, struct json_writer *json, const void *object)
{
    const struct scaling_action *action = object;
    json_open_object(json);
    write_text(json, "ScheduledActionName", action->head.name);
    write_text(json, "ScheduledActionARN", scaling_operation_action_arn(call, action));
    scaling_operation_write_names(json, &action->head);
    write_text(json, "Schedule", action->schedule);
    write_text(json, "Timezone", action->time_zone);
    write_time(json, "StartTime", &action->start_ms);
    write_time(json, "EndTime", &action->end_ms);
    json_write_name(json, "ScalableTargetAction");
    json_open_object(json);
    scaling_operation_write_number(json, "MinCapacity", &action->min);
    scaling_operation_write_number(json, "MaxCapacity", &action->max);
    json_close_object(json);
    write_time(json, "CreationTime", &action->head.created_ms);
    json_close_object(json);
}

static void run_describe(struct api_call *call, const void *input)
{
    static const struct scaling_lister lister = { .kind = SCALING_ACTION,
                                                  .member = "ScheduledActions",
                                                  .write = write_action };
    scaling_operation_list(call, input, &lister);
}

const struct operation op_scaling_describe_scheduled_actions = {
    .name = "DescribeScheduledActions",
    .service = OPERATION_OF_SCALING,
    .kind = OPERATION_CONTROL,
    .only_lists = true,
    .request = &describe_shape,
    .asks = OPERATION_ASKS_ACCOUNT,
    .run = run_describe,
};

/* --- DeleteScheduledAction --- */

static const struct shape_field delete_fields[] = {
    { SHAPE_FIELD(struct scaling_named_request, names.service_namespace, "ServiceNamespace",
                  &scaling_namespace_shape),
      .required = true },
    { SHAPE_FIELD(struct scaling_named_request, name, "ScheduledActionName", &schedule_shape),
      .required = true },
    { SHAPE_FIELD(struct scaling_named_request, names.resource_id, "ResourceId",
                  &scaling_resource_id_shape),
      .required = true },
    { SHAPE_FIELD(struct scaling_named_request, names.dimension, "ScalableDimension",
                  &scaling_dimension_shape),
      .required = true },
};
static const struct shape delete_shape = { SHAPE_STRUCTURE_OF(struct scaling_named_request,
                                                              delete_fields),
                                           .type_name = "DeleteScheduledActionRequest" };

/* With the scaling locked. */
static bool delete_action(struct api_call *call, const void *input, const struct scaling_id *id)
{
    struct bytes name = ((const struct scaling_named_request *)input)->name;
    struct scaling *scaling = api_scaling(call->api);
    const struct scaling_action *action = scaling_find_action(scaling, id, name);
    struct scaling_change change;
    if (action == NULL)
        return error_set(&call->error, ERROR_SCALING_OBJECT_NOT_FOUND,
                         "No scheduled action found for service namespace: dynamodb, resource ID: "
                         "%.*s, scalable dimension: %s: scheduled action name: %.*s",
                         BYTES_FMT(id->resource_id), scaling_dimension_name(id->dimension),
                         BYTES_FMT(name));
    scaling_change_init(&change, scaling, call->arena);
    scaling_change_delete(&change, SCALING_ACTION, action);
    return scaling_operation_commit(call, &change, NULL);
}

static void run_delete(struct api_call *call, const void *input)
{
    scaling_operation_run(call, input, delete_action);
}

const struct operation op_scaling_delete_scheduled_action = {
    .name = "DeleteScheduledAction",
    .service = OPERATION_OF_SCALING,
    .kind = OPERATION_CONTROL,
    .request = &delete_shape,
    .asks = OPERATION_ASKS_ACCOUNT,
    .run = run_delete,
};

/* --- DescribeScalingActivities --- */

static const struct shape_field activities_fields[] = {
    { SHAPE_FIELD(struct scaling_list_request, names.service_namespace, "ServiceNamespace",
                  &scaling_namespace_shape),
      .required = true },
    { SHAPE_FIELD(struct scaling_list_request, names.resource_id, "ResourceId",
                  &scaling_resource_id_shape) },
    { SHAPE_FIELD(struct scaling_list_request, names.dimension, "ScalableDimension",
                  &scaling_dimension_shape) },
    { SHAPE_FIELD(struct scaling_list_request, max_results, "MaxResults",
                  &scaling_page_size_shape) },
    { SHAPE_FIELD(struct scaling_list_request, next_token, "NextToken", &scaling_token_shape) },
    { SHAPE_FIELD(struct scaling_list_request, with_not_scaled, "IncludeNotScaledActivities",
                  &common_boolean) },
};
static const struct shape activities_shape = { SHAPE_STRUCTURE_OF(struct scaling_list_request,
                                                                  activities_fields),
                                               .type_name = "DescribeScalingActivitiesRequest" };

static void write_activity(struct api_call *call, struct json_writer *json, const void *object)
{
    const struct scaling_activity *activity = object;
    (void)call;
    json_open_object(json);
    write_text(json, "ActivityId", activity->head.uuid);
    scaling_operation_write_names(json, &activity->head);
    write_text(json, "Description", activity->description);
    write_text(json, "Cause", activity->cause);
    write_time(json, "StartTime", &activity->head.created_ms);
    write_time(json, "EndTime", &activity->end_ms);
    write_text(json, "StatusCode", activity->status);
    write_text(json, "StatusMessage", activity->message);
    if (activity->not_scaled_reason.data != NULL) {
        json_write_name(json, "NotScaledReasons");
        json_open_array(json);
        json_open_object(json);
        write_text(json, "Code", activity->not_scaled_reason);
        scaling_operation_write_number(json, "MaxCapacity", &activity->max);
        scaling_operation_write_number(json, "MinCapacity", &activity->min);
        scaling_operation_write_number(json, "CurrentCapacity", &activity->current);
        json_close_object(json);
        json_close_array(json);
    }
    json_close_object(json);
}

static void run_activities(struct api_call *call, const void *input)
{
    static const struct scaling_lister lister = { .kind = SCALING_ACTIVITY,
                                                  .member = "ScalingActivities",
                                                  .newest_first = true,
                                                  .write = write_activity };
    scaling_operation_list(call, input, &lister);
}

const struct operation op_scaling_describe_scaling_activities = {
    .name = "DescribeScalingActivities",
    .service = OPERATION_OF_SCALING,
    .kind = OPERATION_CONTROL,
    .only_lists = true,
    .request = &activities_shape,
    .asks = OPERATION_ASKS_ACCOUNT,
    .run = run_activities,
};
