/* op_monitor_tags.c -- TagResource, UntagResource and ListTagsForResource of CloudWatch. Alarms and
 * dashboards have tags. */
#include "api/cloudwatch/alarm_request.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "cloudwatch/alarms.h"
#include "cloudwatch/dashboards.h"
#include "json/writer.h"

/* All three requests begin with it. */
struct resource_request {
    struct bytes arn;
};
struct tag_request {
    struct resource_request resource;
    struct shape_list tags; /* of struct alarm_tag * */
};
struct untag_request {
    struct resource_request resource;
    struct shape_list keys; /* of struct bytes */
};

static const struct shape arn_shape = { .kind = SHAPE_STRING, .min = 1, .max = 1024 };
static const struct shape key_shape = { .kind = SHAPE_STRING, .min = 1, .max = 128 };
static const struct shape keys_shape = { .kind = SHAPE_LIST,
                                         .element = &key_shape,
                                         SHAPE_UNBOUNDED };
static const struct shape_field list_fields[] = {
    { SHAPE_FIELD(struct resource_request, arn, "ResourceARN", &arn_shape), .required = true },
};
static const struct shape list_shape = { SHAPE_STRUCTURE_OF(struct resource_request, list_fields),
                                         .type_name = "ListTagsForResourceInput" };
static const struct shape_field tag_fields[] = {
    { SHAPE_FIELD(struct tag_request, resource.arn, "ResourceARN", &arn_shape), .required = true },
    { SHAPE_FIELD(struct tag_request, tags, "Tags", &alarm_tags_shape), .required = true },
};
static const struct shape tag_shape = { SHAPE_STRUCTURE_OF(struct tag_request, tag_fields),
                                        .type_name = "TagResourceInput" };
static const struct shape_field untag_fields[] = {
    { SHAPE_FIELD(struct untag_request, resource.arn, "ResourceARN", &arn_shape),
      .required = true },
    { SHAPE_FIELD(struct untag_request, keys, "TagKeys", &keys_shape), .required = true },
};
static const struct shape untag_shape = { SHAPE_STRUCTURE_OF(struct untag_request, untag_fields),
                                          .type_name = "UntagResourceInput" };

static bool admits(struct api_call *call, const void *input)
{
    const struct resource_request *request = input;
    return operation_may_use_arn(call, request->arn);
}

/* --- Resources --- */

struct resource {
    bool is_dashboard;
    struct bytes name;
    struct shape_list tags;
};

static bool cut_prefix(struct bytes arn, struct bytes prefix, struct bytes *rest)
{
    if (!bytes_starts_with(arn, prefix) || arn.len == prefix.len)
        return false;
    *rest = bytes_of(arn.data + prefix.len, arn.len - prefix.len);
    return true;
}

static bool not_found(struct api_call *call, struct bytes arn)
{
    return error_set(&call->error, ERROR_CW_NO_SUCH_RESOURCE, "The resource %.*s does not exist.",
                     BYTES_FMT(arn));
}

static bool find(struct api_call *call, struct bytes arn, struct resource *out)
{
    struct alarm alarm;
    struct dashboard dashboard;
    *out = (struct resource){ 0 };
    if (!alarm_action_is_arn(arn) || !bytes_starts_with(arn, BYTES("arn:aws:cloudwatch:")))
        return error_set(&call->error, ERROR_CW_INVALID_PARAMETER_VALUE, "Invalid ARN: %.*s",
                         BYTES_FMT(arn));
    if (cut_prefix(arn, alarm_request_arn(call, BYTES("")), &out->name)) {
        if (!alarms_find(api_alarms(call->api), call->arena, out->name, &alarm))
            return not_found(call, arn);
        out->tags = alarm.tags;
        return true;
    }
    if (!cut_prefix(arn, alarm_request_dashboard_arn(call, BYTES("")), &out->name))
        return not_found(call, arn);
    out->is_dashboard = true;
    enum engine_status status =
        dashboards_get(api_dashboards(call->api), call->arena, out->name, &dashboard);
    if (status == ENGINE_NOT_FOUND)
        return not_found(call, arn);
    if (status != ENGINE_OK)
        return alarm_request_failed(call, status);
    out->tags = dashboard.tags;
    return true;
}

static bool change(struct api_call *call, struct bytes arn, const struct alarm_tags_change *tags)
{
    struct resource resource;
    enum engine_status status = ENGINE_OK;
    enum alarms_result result = ALARMS_DONE;
    if (!find(call, arn, &resource))
        return false;
    if (resource.is_dashboard)
        status =
            dashboards_change_tags(api_dashboards(call->api), call->arena, resource.name, tags);
    else
        result =
            alarms_change_tags(api_alarms(call->api), call->arena, resource.name, tags, &status);
    if (result == ALARMS_NOT_FOUND || status == ENGINE_NOT_FOUND)
        return not_found(call, arn); /* It was deleted meanwhile. */
    if (result == ALARMS_TOO_LARGE || status == ENGINE_TOO_LARGE)
        return error_set(&call->error, ERROR_CW_INVALID_PARAMETER_VALUE,
                         "A resource can have no more than %d tags.", ALARM_TAGS_MAX);
    if (result == ALARMS_FULL)
        return error_set(&call->error, ERROR_CW_LIMIT_EXCEEDED,
                         "There is no room for the tags: delete alarms, or raise alarms-max");
    if (result != ALARMS_DONE || status != ENGINE_OK)
        return alarm_request_failed(call, status);
    alarm_request_answer_nothing(call);
    return true;
}

/* --- TagResource --- */

static void run_tag(struct api_call *call, const void *input)
{
    const struct tag_request *request = input;
    const struct alarm_tags_change tags = { .added = &request->tags };
    operation_end(call, alarm_tags_check(&request->tags, &call->error) &&
                            change(call, request->resource.arn, &tags));
}

const struct operation op_tag_monitor = { .name = "TagResource",
                                          .service = OPERATION_OF_CLOUDWATCH,
                                          .kind = OPERATION_DATA,
                                          .request = &tag_shape,
                                          .asks = OPERATION_ASKS_ITSELF,
                                          .admits = admits,
                                          .waits = OPERATION_WAITS,
                                          .is_audited = true,
                                          .run = run_tag };

/* --- UntagResource --- */

static void run_untag(struct api_call *call, const void *input)
{
    const struct untag_request *request = input;
    const struct alarm_tags_change tags = { .removed = &request->keys };
    operation_end(call, change(call, request->resource.arn, &tags));
}

const struct operation op_untag_monitor = { .name = "UntagResource",
                                            .service = OPERATION_OF_CLOUDWATCH,
                                            .kind = OPERATION_DATA,
                                            .request = &untag_shape,
                                            .asks = OPERATION_ASKS_ITSELF,
                                            .admits = admits,
                                            .waits = OPERATION_WAITS,
                                            .is_audited = true,
                                            .run = run_untag };

/* --- ListTagsForResource --- */

static bool list(struct api_call *call, const struct resource_request *request)
{
    struct resource resource;
    struct json_writer json;
    if (!find(call, request->arn, &resource))
        return false;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "Tags");
    alarm_tags_write(&json, &resource.tags);
    json_close_object(&json);
    return true;
}

static void run_list(struct api_call *call, const void *input)
{
    operation_end(call, list(call, input));
}

const struct operation op_list_monitor_tags = { .name = "ListTagsForResource",
                                                .service = OPERATION_OF_CLOUDWATCH,
                                                .kind = OPERATION_DATA,
                                                .request = &list_shape,
                                                .asks = OPERATION_ASKS_ITSELF,
                                                .admits = admits,
                                                .waits = OPERATION_WAITS,
                                                .run = run_list };
