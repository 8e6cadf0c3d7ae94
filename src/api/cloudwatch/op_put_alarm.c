/* op_put_alarm.c -- what changes alarms: PutMetricAlarm, PutCompositeAlarm (refused), DeleteAlarms,
 * SetAlarmState, EnableAlarmActions and DisableAlarmActions. */
#include "api/cloudwatch/alarm_request.h"
#include "api/operation.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "cloudwatch/alarm_source.h"
#include "cloudwatch/alarms.h"
#include "cloudwatch/ticker.h"
#include "json/reader.h"

static bool answer_result(struct api_call *call, enum alarms_result result,
                          enum engine_status status)
{
    switch (result) {
    case ALARMS_DONE:
    case ALARMS_NOT_FOUND: /* The operation has decided whether that is an error. */
        alarm_request_answer_nothing(call);
        return true;
    case ALARMS_FULL:
        return error_set(&call->error, ERROR_CW_LIMIT_EXCEEDED_FAULT,
                         "There is no room for more alarms: delete some, or raise alarms-max");
    case ALARMS_TOO_LARGE:
        return error_set(&call->error, ERROR_CW_LIMIT_EXCEEDED_FAULT,
                         "The definition of the alarm exceeds %d bytes", ALARM_DEFINITION_SIZE_MAX);
    case ALARMS_FAILED:
        break;
    }
    return alarm_request_failed(call, status);
}

/* --- PutMetricAlarm ---
 *
 * The alarm is evaluated as soon as it is stored, but the answer does not wait for that: a new
 * alarm is in the state INSUFFICIENT_DATA first. Tags of an alarm that exists stay as they are. */

static bool admits_put(struct api_call *call, const void *input)
{
    const struct alarm_definition *request = input;
    struct bytes arn = alarm_request_arn(call, request->name);
    return alarm_request_may_do(call, "PutMetricAlarm", arn) &&
           (request->tags.count == 0 || alarm_request_may_do(call, "TagResource", arn));
}

static bool put(struct api_call *call, const struct alarm_definition *request)
{
    enum engine_status status;
    const struct api_options *options = api_options(call->api);
    if (!alarm_definition_check(request, options->account_id, &call->error) ||
        !alarm_source_check(api_series(call->api), call->arena, request,
                            clock_wall_ms(options->clock) / 1000, &call->error))
        return false;
    enum alarms_result result = alarms_put(api_alarms(call->api), call->arena, request, &status);
    if (result == ALARMS_DONE)
        ticker_wake(api_ticker(call->api));
    return answer_result(call, result, status);
}

static void run_put(struct api_call *call, const void *input)
{
    operation_end(call, put(call, input));
}

const struct operation op_put_metric_alarm = { .name = "PutMetricAlarm",
                                               .service = OPERATION_OF_CLOUDWATCH,
                                               .kind = OPERATION_DATA,
                                               .request = &alarm_definition_shape,
                                               .asks = OPERATION_ASKS_ITSELF,
                                               .admits = admits_put,
                                               .waits = OPERATION_WAITS,
                                               .is_audited = true,
                                               .run = run_put };

/* --- Operations on one alarm --- */

struct composite_request {
    struct bytes name;
};
static const struct shape_field composite_fields[] = {
    { SHAPE_FIELD(struct composite_request, name, "AlarmName", &alarm_name_shape),
      .required = true },
};
static const struct shape composite_shape = { SHAPE_STRUCTURE_OF(struct composite_request,
                                                                 composite_fields),
                                              .type_name = "PutCompositeAlarmInput" };

static bool admits_composite(struct api_call *call, const void *input)
{
    const struct composite_request *request = input;
    return alarm_request_may(call, request->name);
}

static void run_composite(struct api_call *call, const void *input)
{
    (void)input;
    error_validation(&call->error, "Composite alarms are not supported: use metric alarms, whose "
                                   "metric math can combine several metrics");
    operation_fail(call);
}

const struct operation op_put_composite_alarm = { .name = "PutCompositeAlarm",
                                                  .service = OPERATION_OF_CLOUDWATCH,
                                                  .kind = OPERATION_DATA,
                                                  .request = &composite_shape,
                                                  .asks = OPERATION_ASKS_ITSELF,
                                                  .admits = admits_composite,
                                                  .is_audited = true,
                                                  .run = run_composite };

struct set_state_request {
    struct bytes name;
    struct bytes state;
    struct bytes reason;
    struct bytes reason_data;
};
enum { REASON_LENGTH_MAX = 1023, REASON_DATA_LENGTH_MAX = 4000, REASON_DATA_DEPTH_MAX = 32 };
static const struct shape reason_shape = { .kind = SHAPE_STRING,
                                           .min = 0,
                                           .max = REASON_LENGTH_MAX };
static const struct shape reason_data_shape = { .kind = SHAPE_STRING,
                                                .min = 0,
                                                .max = REASON_DATA_LENGTH_MAX };
static const struct shape_field set_state_fields[] = {
    { SHAPE_FIELD(struct set_state_request, name, "AlarmName", &alarm_name_shape),
      .required = true },
    { SHAPE_FIELD(struct set_state_request, state, "StateValue", &alarm_request_state),
      .required = true },
    { SHAPE_FIELD(struct set_state_request, reason, "StateReason", &reason_shape),
      .required = true },
    { SHAPE_FIELD(struct set_state_request, reason_data, "StateReasonData", &reason_data_shape) },
};
static const struct shape set_state_shape = { SHAPE_STRUCTURE_OF(struct set_state_request,
                                                                 set_state_fields),
                                              .type_name = "SetAlarmStateInput" };

static bool admits_set_state(struct api_call *call, const void *input)
{
    const struct set_state_request *request = input;
    return alarm_request_may(call, request->name);
}

static bool check_reason_data(struct api_call *call, struct bytes data)
{
    struct json_reader reader;
    if (data.len == 0)
        return true;
    json_reader_init(&reader, call->arena, data, REASON_DATA_DEPTH_MAX);
    json_skip(&reader);
    if (json_finish(&reader))
        return true;
    return error_set(&call->error, ERROR_CW_INVALID_FORMAT,
                     "Data was not syntactically valid JSON.");
}

static bool set_state(struct api_call *call, const struct set_state_request *request)
{
    enum engine_status status;
    enum alarm_state state;
    struct bytes data = request->reason_data.len == 0 ? (struct bytes){ 0 } : request->reason_data;
    if (!alarm_state_parse(request->state, &state) || !check_reason_data(call, data))
        return false;
    enum alarms_result result = alarms_set_state(api_alarms(call->api), call->arena, request->name,
                                                 state, request->reason, data, &status);
    if (result == ALARMS_NOT_FOUND)
        return error_set(&call->error, ERROR_CW_RESOURCE_NOT_FOUND, "Alarm %.*s does not exist",
                         BYTES_FMT(request->name));
    return answer_result(call, result, status);
}

static void run_set_state(struct api_call *call, const void *input)
{
    operation_end(call, set_state(call, input));
}

const struct operation op_set_alarm_state = { .name = "SetAlarmState",
                                              .service = OPERATION_OF_CLOUDWATCH,
                                              .kind = OPERATION_DATA,
                                              .request = &set_state_shape,
                                              .asks = OPERATION_ASKS_ITSELF,
                                              .admits = admits_set_state,
                                              .waits = OPERATION_WAITS,
                                              .is_audited = true,
                                              .run = run_set_state };

/* --- Operations on a list of alarms --- */

struct names_request {
    struct shape_list names; /* of struct bytes */
};
static const struct shape_field names_fields[] = {
    { SHAPE_FIELD(struct names_request, names, "AlarmNames", &alarm_request_names),
      .required = true },
};
static const struct shape names_shape = { SHAPE_STRUCTURE_OF(struct names_request, names_fields),
                                          .type_name = "DeleteAlarmsInput" };

static bool admits_names(struct api_call *call, const void *input)
{
    const struct names_request *request = input;
    return alarm_request_may_all(call, &request->names);
}

/* Those that exist are deleted in any case. Not documented: whether the others are an error. They
 * are, if there is no other. */
static bool delete_alarms(struct api_call *call, const struct names_request *request)
{
    enum engine_status status;
    struct alarms *alarms = api_alarms(call->api);
    const struct bytes *names = request->names.elements;
    struct alarm ignored;
    size_t found = 0;
    for (size_t i = 0; i < request->names.kept; i++)
        found += alarms_find(alarms, call->arena, names[i], &ignored);
    if (found == 0 && request->names.kept > 0)
        return error_set(&call->error, ERROR_CW_RESOURCE_NOT_FOUND, "Alarm %.*s does not exist",
                         BYTES_FMT(names[0]));
    enum alarms_result result =
        alarms_delete(alarms, call->arena, names, request->names.kept, &status);
    return answer_result(call, result, status);
}

static void run_delete(struct api_call *call, const void *input)
{
    operation_end(call, delete_alarms(call, input));
}

const struct operation op_delete_alarms = { .name = "DeleteAlarms",
                                            .service = OPERATION_OF_CLOUDWATCH,
                                            .kind = OPERATION_DATA,
                                            .request = &names_shape,
                                            .asks = OPERATION_ASKS_ITSELF,
                                            .admits = admits_names,
                                            .waits = OPERATION_WAITS,
                                            .is_audited = true,
                                            .run = run_delete };

static void enable(struct api_call *call, const struct names_request *request, bool enabled)
{
    enum engine_status status;
    enum alarms_result result =
        alarms_enable_actions(api_alarms(call->api), call->arena, request->names.elements,
                              request->names.kept, enabled, &status);
    operation_end(call, answer_result(call, result, status));
}

static void run_enable(struct api_call *call, const void *input)
{
    enable(call, input, true);
}

static void run_disable(struct api_call *call, const void *input)
{
    enable(call, input, false);
}

const struct operation op_enable_alarm_actions = { .name = "EnableAlarmActions",
                                                   .service = OPERATION_OF_CLOUDWATCH,
                                                   .kind = OPERATION_DATA,
                                                   .request = &names_shape,
                                                   .asks = OPERATION_ASKS_ITSELF,
                                                   .admits = admits_names,
                                                   .waits = OPERATION_WAITS,
                                                   .is_audited = true,
                                                   .run = run_enable };
const struct operation op_disable_alarm_actions = { .name = "DisableAlarmActions",
                                                    .service = OPERATION_OF_CLOUDWATCH,
                                                    .kind = OPERATION_DATA,
                                                    .request = &names_shape,
                                                    .asks = OPERATION_ASKS_ITSELF,
                                                    .admits = admits_names,
                                                    .waits = OPERATION_WAITS,
                                                    .is_audited = true,
                                                    .run = run_disable };
