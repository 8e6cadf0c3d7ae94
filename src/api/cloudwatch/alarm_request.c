/* alarm_request.c -- see alarm_request.h. */
#include "api/cloudwatch/alarm_request.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "cloudwatch/alarm_definition.h"
#include "cloudwatch/alarm_record.h"
#include "json/base64.h"
#include "table/storage_error.h"

enum { NAMES_MAX = 100, RECORDS_MAX = 100, TOKEN_SIZE_MAX = 4096 };

const struct shape alarm_request_string = { .kind = SHAPE_STRING, SHAPE_UNBOUNDED };
const struct shape alarm_request_names = {
    .kind = SHAPE_LIST, .element = &alarm_name_shape, .min = SHAPE_NO_MIN, .max = NAMES_MAX
};
static const char *const types[] = { "CompositeAlarm", "MetricAlarm", NULL };
static const struct shape type_shape = { .kind = SHAPE_STRING,
                                         .enum_values = types,
                                         SHAPE_UNBOUNDED };
const struct shape alarm_request_types = { .kind = SHAPE_LIST,
                                           .element = &type_shape,
                                           SHAPE_UNBOUNDED };
const struct shape alarm_request_max_records = { .kind = SHAPE_INTEGER,
                                                 .min = 1,
                                                 .max = RECORDS_MAX };
static const char *const states[] = { "OK", "ALARM", "INSUFFICIENT_DATA", NULL };
const struct shape alarm_request_state = { .kind = SHAPE_STRING,
                                           .enum_values = states,
                                           SHAPE_UNBOUNDED };

/* --- Who may --- */

struct bytes alarm_request_arn(struct api_call *call, struct bytes alarm_name)
{
    const struct api_options *options = api_options(call->api);
    return alarm_arn(call->arena, options->region, options->account_id, alarm_name);
}

struct bytes alarm_request_dashboard_arn(struct api_call *call, struct bytes dashboard_name)
{
    const struct bytes parts[] = { BYTES("arn:aws:cloudwatch::"),
                                   bytes_from_text(api_options(call->api)->account_id),
                                   BYTES(":dashboard/"), dashboard_name };
    return arena_join(call->arena, parts, COUNT_OF(parts));
}

bool alarm_request_may(struct api_call *call, struct bytes alarm_name)
{
    return operation_may_use_arn(call, alarm_request_arn(call, alarm_name));
}

bool alarm_request_may_all(struct api_call *call, const struct shape_list *names)
{
    const struct bytes *elements = names->elements;
    for (size_t i = 0; i < names->kept; i++)
        if (!alarm_request_may(call, elements[i]))
            return false;
    return names->kept > 0 || operation_may_use_account(call);
}

bool alarm_request_may_do(struct api_call *call, const char *action, struct bytes arn)
{
    const struct access_question question = { .service = operation_action_prefix(call->operation),
                                              .action = action,
                                              .arn = arn };
    return call->caller == NULL || operation_may(call, &question);
}

/* --- Parameters --- */

bool alarm_request_wants_metric_alarms(const struct shape_list *list)
{
    const struct bytes *elements = list->elements;
    for (size_t i = 0; i < list->kept; i++)
        if (bytes_equal_text(elements[i], "MetricAlarm"))
            return true;
    return list->kept == 0;
}

struct bytes alarm_request_token(struct api_call *call, struct bytes name)
{
    size_t size = base64_encoded_size(name.len);
    char *token = arena_alloc(call->arena, size + 1);
    base64_encode(name, token);
    return bytes_of(token, size);
}

bool alarm_request_read_token(struct api_call *call, struct bytes token, struct bytes *name)
{
    size_t size;
    *name = (struct bytes){ 0 };
    if (token.data == NULL)
        return true;
    uint8_t *out = arena_alloc(call->arena, base64_decoded_max(token.len));
    if (token.len == 0 || token.len > TOKEN_SIZE_MAX || !base64_decode(token, out, &size))
        return error_set(&call->error, ERROR_CW_INVALID_NEXT_TOKEN,
                         "The value for parameter NextToken is invalid.");
    *name = bytes_of(out, size);
    return true;
}

/* --- Answers --- */

bool alarm_request_failed(struct api_call *call, enum engine_status status)
{
    storage_error_set(&call->error, status, call->operation->name);
    return false;
}

bool alarm_request_exclusive(struct api_call *call, const char *one, const char *other)
{
    return error_set(&call->error, ERROR_CW_INVALID_PARAMETER_COMBINATION,
                     "The parameters %s and %s are mutually exclusive and you have specified both.",
                     one, other);
}

void alarm_request_answer_nothing(struct api_call *call)
{
    buffer_append_bytes(&call->response, BYTES("{}"));
}
