/* op_scaling_policies.c -- PutScalingPolicy, DescribeScalingPolicies, DeleteScalingPolicy. Only
 * target tracking of a predefined metric, which is what DynamoDB supports of the service's kinds.
 */
#include <math.h>
#include <string.h>
#include "api/common_shapes.h"
#include "api/scaling/scaling_alarms.h"
#include "api/scaling/scaling_operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "json/writer.h"

/* --- PutScalingPolicy --- */

struct metric_request {
    struct bytes type;
    struct bytes label;
};
struct no_members {
    char unused;
};
struct tracking_request {
    struct shape_double target_value;
    struct metric_request *metric;
    struct no_members *customized_metric;
    struct shape_integer out_cooldown, in_cooldown;
    struct shape_boolean disable_scale_in;
};
struct put_request {
    struct scaling_names names;
    struct bytes name;
    struct bytes type;
    struct no_members *step;
    struct no_members *predictive;
    struct tracking_request *tracking;
};

/* The name becomes part of an ARN, which is the action of the policy's alarms. */
static bool is_printable(struct bytes name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.data[i] < ' ' || name.data[i] > '~')
            return false;
    return name.len > 0;
}

static const struct shape name_shape = {
    .kind = SHAPE_STRING, .min = 1, .max = 256, .pattern = "\\p{Print}+", .matches = is_printable
};
static const char *const types[] = { "PredictiveScaling", "StepScaling", "TargetTrackingScaling",
                                     NULL };
static const struct shape type_shape = { .kind = SHAPE_STRING,
                                         .enum_values = types,
                                         SHAPE_UNBOUNDED };
static const struct shape cooldown_shape = { .kind = SHAPE_INTEGER, SHAPE_UNBOUNDED };
static const struct shape value_shape = { .kind = SHAPE_DOUBLE, SHAPE_UNBOUNDED };
static const struct shape nothing_shape = { .kind = SHAPE_STRUCTURE,
                                            .size = sizeof(struct no_members),
                                            SHAPE_UNBOUNDED };
static const struct shape_field metric_fields[] = {
    { SHAPE_FIELD(struct metric_request, type, "PredefinedMetricType", &common_string),
      .required = true },
    { SHAPE_FIELD(struct metric_request, label, "ResourceLabel", &common_string) },
};
static const struct shape metric_shape = { SHAPE_STRUCTURE_OF(struct metric_request, metric_fields),
                                           .type_name = "PredefinedMetricSpecification" };
static const struct shape_field tracking_fields[] = {
    { SHAPE_FIELD(struct tracking_request, target_value, "TargetValue", &value_shape),
      .required = true },
    { SHAPE_FIELD(struct tracking_request, metric, "PredefinedMetricSpecification",
                  &metric_shape) },
    { SHAPE_FIELD(struct tracking_request, customized_metric, "CustomizedMetricSpecification",
                  &nothing_shape) },
    { SHAPE_FIELD(struct tracking_request, out_cooldown, "ScaleOutCooldown", &cooldown_shape) },
    { SHAPE_FIELD(struct tracking_request, in_cooldown, "ScaleInCooldown", &cooldown_shape) },
    { SHAPE_FIELD(struct tracking_request, disable_scale_in, "DisableScaleIn", &common_boolean) },
};
static const struct shape tracking_shape = {
    SHAPE_STRUCTURE_OF(struct tracking_request, tracking_fields),
    .type_name = "TargetTrackingScalingPolicyConfiguration",
};
static const struct shape_field put_fields[] = {
    { SHAPE_FIELD(struct put_request, name, "PolicyName", &name_shape), .required = true },
    { SHAPE_FIELD(struct put_request, names.service_namespace, "ServiceNamespace",
                  &scaling_namespace_shape),
      .required = true },
    { SHAPE_FIELD(struct put_request, names.resource_id, "ResourceId", &scaling_resource_id_shape),
      .required = true },
    { SHAPE_FIELD(struct put_request, names.dimension, "ScalableDimension",
                  &scaling_dimension_shape),
      .required = true },
    { SHAPE_FIELD(struct put_request, type, "PolicyType", &type_shape) },
    { SHAPE_FIELD(struct put_request, step, "StepScalingPolicyConfiguration", &nothing_shape) },
    { SHAPE_FIELD(struct put_request, tracking, "TargetTrackingScalingPolicyConfiguration",
                  &tracking_shape) },
    { SHAPE_FIELD(struct put_request, predictive, "PredictiveScalingPolicyConfiguration",
                  &nothing_shape) },
};
static const struct shape put_shape = { SHAPE_STRUCTURE_OF(struct put_request, put_fields),
                                        .type_name = "PutScalingPolicyRequest" };

/* "DynamoDBReadCapacityUtilization" */
static const char *metric_name(enum scaling_dimension dimension)
{
    return scaling_dimension_is_read(dimension) ? "DynamoDBReadCapacityUtilization"
                                                : "DynamoDBWriteCapacityUtilization";
}

static bool check_tracking(struct api_call *call, const struct put_request *request,
                           enum scaling_dimension dimension)
{
    const struct tracking_request *tracking = request->tracking;
    if (request->type.data != NULL && !bytes_equal_text(request->type, "TargetTrackingScaling"))
        return error_set(&call->error, ERROR_SCALING_VALIDATION,
                         "The policy type %.*s is not supported for DynamoDB: use "
                         "TargetTrackingScaling",
                         BYTES_FMT(request->type));
    if (tracking == NULL || request->step != NULL || request->predictive != NULL)
        return scaling_operation_refuse(
            call, "TargetTrackingScalingPolicyConfiguration must be specified");
    if (tracking->customized_metric != NULL)
        return scaling_operation_refuse(call, "CustomizedMetricSpecification is not supported: use "
                                              "PredefinedMetricSpecification");
    if (tracking->metric == NULL)
        return scaling_operation_refuse(call, "PredefinedMetricSpecification must be specified");
    if (!bytes_equal_text(tracking->metric->type, metric_name(dimension)))
        return error_set(&call->error, ERROR_SCALING_VALIDATION,
                         "The predefined metric %.*s does not fit the scalable dimension %s",
                         BYTES_FMT(tracking->metric->type), scaling_dimension_name(dimension));
    double value = tracking->target_value.value;
    if (!isfinite(value) || value < 20 || value > 90)
        return scaling_operation_refuse(call, "Target value must be between 20.0 and 90.0");
    if ((tracking->out_cooldown.present && tracking->out_cooldown.value < 0) ||
        (tracking->in_cooldown.present && tracking->in_cooldown.value < 0))
        return scaling_operation_refuse(call, "A cooldown cannot be negative");
    return true;
}

static struct scaling_policy make_draft(struct api_call *call, const struct put_request *request,
                                        const struct scaling_id *id,
                                        const struct scaling_policy *before)
{
    int64_t now_ms = clock_wall_ms(api_options(call->api)->clock);
    struct scaling_policy draft = { 0 };
    if (before != NULL)
        draft = *before;
    else
        draft = (struct scaling_policy){ .head = { .resource_id = id->resource_id,
                                                   .dimension = { true, id->dimension },
                                                   .name = request->name,
                                                   .uuid = uuid_create(call->arena),
                                                   .created_ms = { true, now_ms } },
                                         .created_by = uuid_create(call->arena) };
    draft.target_value = request->tracking->target_value;
    draft.out_cooldown_s = request->tracking->out_cooldown;
    draft.in_cooldown_s = request->tracking->in_cooldown;
    draft.disable_scale_in = request->tracking->disable_scale_in;
    return draft;
}

static void write_alarms(struct api_call *call, struct json_writer *json,
                         const struct scaling_policy *policy)
{
    const struct bytes *names = policy->alarms.elements;
    const struct api_options *options = api_options(call->api);
    json_write_name(json, "Alarms");
    json_open_array(json);
    for (size_t i = 0; i < policy->alarms.count; i++) {
        json_open_object(json);
        json_write_name(json, "AlarmName");
        json_write_string(json, names[i]);
        json_write_name(json, "AlarmARN");
        json_write_string(json,
                          arena_printf(call->arena, "arn:aws:cloudwatch:%s:%s:alarm:%.*s",
                                       options->region, options->account_id, BYTES_FMT(names[i])));
        json_close_object(json);
    }
    json_close_array(json);
}

/* With the scaling locked. */
static bool put(struct api_call *call, const struct put_request *request,
                const struct scaling_id *id, int64_t capacity)
{
    struct scaling *scaling = api_scaling(call->api);
    const struct scaling_policy *before = scaling_find_policy(scaling, id, request->name);
    struct scaling_change change;
    struct scaling_alarms *alarms = arena_alloc(call->arena, sizeof *alarms);
    size_t first;
    if (scaling_find_target(scaling, id) == NULL)
        return scaling_operation_not_registered(call, id);
    /* There is one predefined metric for each dimension. */
    if (before == NULL && scaling_of_target(scaling, SCALING_POLICY, id, &first) > 0)
        return scaling_operation_refuse(
            call, "Only one TargetTrackingScaling policy for a given metric specification "
                  "is allowed.");
    if (before == NULL && scaling_is_full(scaling, SCALING_POLICY))
        return error_set(&call->error, ERROR_SCALING_LIMIT_EXCEEDED,
                         "There may be %d scaling policies at most", SCALING_POLICIES_MAX);
    struct scaling_policy draft = make_draft(call, request, id, before);
    struct bytes arn = scaling_operation_policy_arn(call, &draft);
    scaling_alarms_init(alarms, api_alarms(call->api), call->arena);
    if (before != NULL)
        scaling_alarms_delete(alarms, before);
    scaling_alarms_make(alarms, &draft, arn, capacity);
    const struct scaling_partner partner = scaling_alarms_partner(alarms);
    scaling_change_init(&change, scaling, call->arena);
    scaling_change_put(&change, SCALING_POLICY, &draft);
    bool is_stored = scaling_operation_commit(call, &change, &partner);
    if (!is_stored && alarms->is_full) {
        error_clear(&call->error);
        error_set(&call->error, ERROR_SCALING_LIMIT_EXCEEDED,
                  "There is no room for the alarms of the policy: delete some, or raise "
                  "alarms-max");
    }
    if (!is_stored)
        return false;
    struct json_writer json;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "PolicyARN");
    json_write_string(&json, arn);
    write_alarms(call, &json, &draft);
    json_close_object(&json);
    return true;
}

static void run_put(struct api_call *call, const void *input)
{
    const struct put_request *request = input;
    struct scaling_id id;
    int64_t capacity;
    bool ok = scaling_operation_id(call, &request->names, &id) &&
              check_tracking(call, request, id.dimension) &&
              scaling_operation_capacity(call, &id, &capacity);
    if (ok) {
        scaling_lock(api_scaling(call->api));
        ok = put(call, request, &id, capacity);
        scaling_unlock(api_scaling(call->api));
    }
    operation_end(call, ok);
}

const struct operation op_scaling_put_scaling_policy = {
    .name = "PutScalingPolicy",
    .service = OPERATION_OF_SCALING,
    .kind = OPERATION_CONTROL,
    .request = &put_shape,
    .asks = OPERATION_ASKS_ACCOUNT,
    .run = run_put,
};

/* --- DescribeScalingPolicies --- */

static const struct shape_field describe_fields[] = {
    { SHAPE_FIELD(struct scaling_list_request, ids, "PolicyNames", &scaling_names_list_shape) },
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
                                             .type_name = "DescribeScalingPoliciesRequest" };

static void write_tracking(struct json_writer *json, const struct scaling_policy *policy)
{
    json_write_name(json, "TargetTrackingScalingPolicyConfiguration");
    json_open_object(json);
    json_write_name(json, "TargetValue");
    json_write_double(json, policy->target_value.value);
    json_write_name(json, "PredefinedMetricSpecification");
    json_open_object(json);
    json_write_name(json, "PredefinedMetricType");
    json_write_text(json, metric_name(scaling_id_of(policy).dimension));
    json_close_object(json);
    scaling_operation_write_number(json, "ScaleOutCooldown", &policy->out_cooldown_s);
    scaling_operation_write_number(json, "ScaleInCooldown", &policy->in_cooldown_s);
    if (policy->disable_scale_in.present) {
        json_write_name(json, "DisableScaleIn");
        json_write_bool(json, policy->disable_scale_in.value);
    }
    json_close_object(json);
}

static void write_policy(struct api_call *call, struct json_writer *json, const void *object)
{
    const struct scaling_policy *policy = object;
    json_open_object(json);
    json_write_name(json, "PolicyARN");
    json_write_string(json, scaling_operation_policy_arn(call, policy));
    json_write_name(json, "PolicyName");
    json_write_string(json, policy->head.name);
    scaling_operation_write_names(json, &policy->head);
    json_write_name(json, "PolicyType");
    json_write_text(json, "TargetTrackingScaling");
    write_tracking(json, policy);
    write_alarms(call, json, policy);
    json_write_name(json, "CreationTime");
    json_write_seconds(json, policy->head.created_ms.value);
    json_close_object(json);
}

static void run_describe(struct api_call *call, const void *input)
{
    static const struct scaling_lister lister = { .kind = SCALING_POLICY,
                                                  .member = "ScalingPolicies",
                                                  .write = write_policy };
    scaling_operation_list(call, input, &lister);
}

const struct operation op_scaling_describe_scaling_policies = {
    .name = "DescribeScalingPolicies",
    .service = OPERATION_OF_SCALING,
    .kind = OPERATION_CONTROL,
    .only_lists = true,
    .request = &describe_shape,
    .asks = OPERATION_ASKS_ACCOUNT,
    .run = run_describe,
};

/* --- DeleteScalingPolicy --- */

static const struct shape_field delete_fields[] = {
    { SHAPE_FIELD(struct scaling_named_request, name, "PolicyName", &name_shape),
      .required = true },
    { SHAPE_FIELD(struct scaling_named_request, names.service_namespace, "ServiceNamespace",
                  &scaling_namespace_shape),
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
                                           .type_name = "DeleteScalingPolicyRequest" };

/* With the scaling locked. */
static bool delete_policy(struct api_call *call, const void *input, const struct scaling_id *id)
{
    struct bytes name = ((const struct scaling_named_request *)input)->name;
    struct scaling *scaling = api_scaling(call->api);
    const struct scaling_policy *policy = scaling_find_policy(scaling, id, name);
    struct scaling_change change;
    struct scaling_alarms *alarms = arena_alloc(call->arena, sizeof *alarms);
    if (policy == NULL)
        return error_set(&call->error, ERROR_SCALING_OBJECT_NOT_FOUND,
                         "No scaling policy found for service namespace: dynamodb, resource ID: "
                         "%.*s, scalable dimension: %s: policy name: %.*s",
                         BYTES_FMT(id->resource_id), scaling_dimension_name(id->dimension),
                         BYTES_FMT(name));
    scaling_alarms_init(alarms, api_alarms(call->api), call->arena);
    scaling_alarms_delete(alarms, policy);
    const struct scaling_partner partner = scaling_alarms_partner(alarms);
    scaling_change_init(&change, scaling, call->arena);
    scaling_change_delete(&change, SCALING_POLICY, policy);
    return scaling_operation_commit(call, &change, &partner);
}

static void run_delete(struct api_call *call, const void *input)
{
    scaling_operation_run(call, input, delete_policy);
}

const struct operation op_scaling_delete_scaling_policy = {
    .name = "DeleteScalingPolicy",
    .service = OPERATION_OF_SCALING,
    .kind = OPERATION_CONTROL,
    .request = &delete_shape,
    .asks = OPERATION_ASKS_ACCOUNT,
    .run = run_delete,
};
