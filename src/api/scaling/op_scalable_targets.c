/* op_scalable_targets.c -- RegisterScalableTarget, DescribeScalableTargets,
 * DeregisterScalableTarget, and the tags of targets. */
#include <string.h>
#include "api/common_shapes.h"
#include "api/operation_access.h"
#include "api/scaling/scaling_alarms.h"
#include "api/scaling/scaling_driver.h"
#include "api/scaling/scaling_operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "json/utf8.h"
#include "json/writer.h"

/* --- RegisterScalableTarget --- */

struct suspended_request {
    struct shape_boolean in, out, scheduled;
};
struct register_request {
    struct scaling_names names;
    struct shape_integer min, max;
    struct bytes role_arn;
    struct suspended_request *suspended;
    struct shape_map tags; /* of struct bytes */
};

static const struct shape capacity_shape = { .kind = SHAPE_INTEGER, SHAPE_UNBOUNDED };
static const struct shape tag_value_shape = { .kind = SHAPE_STRING,
                                              .min = 0,
                                              .max = SCALING_TAG_VALUE_LENGTH_MAX };
static const struct shape tags_shape = { .kind = SHAPE_MAP,
                                         .element = &tag_value_shape,
                                         SHAPE_UNBOUNDED };
static const struct shape_field suspended_fields[] = {
    { SHAPE_FIELD(struct suspended_request, in, "DynamicScalingInSuspended", &common_boolean) },
    { SHAPE_FIELD(struct suspended_request, out, "DynamicScalingOutSuspended", &common_boolean) },
    { SHAPE_FIELD(struct suspended_request, scheduled, "ScheduledScalingSuspended",
                  &common_boolean) },
};
static const struct shape suspended_shape = {
    SHAPE_STRUCTURE_OF(struct suspended_request, suspended_fields), .type_name = "SuspendedState"
};
static const struct shape_field register_fields[] = {
    { SHAPE_FIELD(struct register_request, names.service_namespace, "ServiceNamespace",
                  &scaling_namespace_shape),
      .required = true },
    { SHAPE_FIELD(struct register_request, names.resource_id, "ResourceId",
                  &scaling_resource_id_shape),
      .required = true },
    { SHAPE_FIELD(struct register_request, names.dimension, "ScalableDimension",
                  &scaling_dimension_shape),
      .required = true },
    { SHAPE_FIELD(struct register_request, min, "MinCapacity", &capacity_shape) },
    { SHAPE_FIELD(struct register_request, max, "MaxCapacity", &capacity_shape) },
    { SHAPE_FIELD(struct register_request, role_arn, "RoleARN", &common_string) },
    { SHAPE_FIELD(struct register_request, suspended, "SuspendedState", &suspended_shape) },
    { SHAPE_FIELD(struct register_request, tags, "Tags", &tags_shape) },
};
static const struct shape register_shape = { SHAPE_STRUCTURE_OF(struct register_request,
                                                                register_fields),
                                             .type_name = "RegisterScalableTargetRequest" };

static void merge_flag(struct shape_boolean *flag, const struct shape_boolean *given)
{
    if (given->present)
        *flag = *given;
}

/* Values have a shape of their own; names of a map's elements do not. */
static bool check_tag_keys(struct api_call *call, const struct shape_map *tags)
{
    for (size_t i = 0; i < tags->count; i++) {
        size_t length = utf8_utf16_length(tags->names[i]);
        if (length < 1 || length > SCALING_TAG_KEY_LENGTH_MAX)
            return error_set(&call->error, ERROR_SCALING_VALIDATION,
                             "1 validation error detected: Value at 'tags' failed to satisfy "
                             "constraint: Map keys must satisfy constraint: [Member must have "
                             "length less than or equal to %d, Member must have length greater "
                             "than or equal to 1]",
                             SCALING_TAG_KEY_LENGTH_MAX);
    }
    return true;
}

static bool check_tags(struct api_call *call, const struct register_request *request,
                       const struct scaling_target *before)
{
    if (request->tags.count == 0)
        return true;
    if (before != NULL)
        return scaling_operation_refuse(
            call, "The scalable target that you tried to tag already exists. To update "
                  "tags on an existing scalable target, use the TagResource API.");
    if (request->tags.count > SCALING_TAGS_MAX)
        return error_set(&call->error, ERROR_SCALING_TOO_MANY_TAGS,
                         "A scalable target can have at most %d tags", SCALING_TAGS_MAX);
    return check_tag_keys(call, &request->tags);
}

static bool merge(struct api_call *call, const struct register_request *request,
                  const struct scaling_target *before, struct scaling_target *draft)
{
    if (before == NULL && !request->min.present)
        return scaling_operation_refuse(call, "Minimum capacity must be specified");
    if (before == NULL && !request->max.present)
        return scaling_operation_refuse(call, "Maximum capacity must be specified");
    if (request->min.present)
        draft->min = request->min;
    if (request->max.present)
        draft->max = request->max;
    if (draft->min.value < 1)
        return scaling_operation_refuse(call, "Minimum capacity cannot be less than 1");
    if (draft->max.value < draft->min.value)
        return scaling_operation_refuse(call,
                                        "Maximum capacity cannot be less than minimum capacity");
    if (request->min.present || request->max.present)
        draft->unsettled = BYTES("");
    if (request->suspended != NULL) {
        merge_flag(&draft->in_suspended, &request->suspended->in);
        merge_flag(&draft->out_suspended, &request->suspended->out);
        merge_flag(&draft->scheduled_suspended, &request->suspended->scheduled);
    }
    return true;
}

static struct scaling_target new_target(struct api_call *call, const struct scaling_id *id,
                                        const struct register_request *request)
{
    const struct shape_boolean no = { .present = true };
    int64_t now_ms = clock_wall_ms(api_options(call->api)->clock);
    return (struct scaling_target){
        .head = { .resource_id = id->resource_id,
                  .dimension = { true, id->dimension },
                  .name = BYTES(""),
                  .uuid = uuid_create(call->arena),
                  .created_ms = { true, now_ms } },
        .in_suspended = no,
        .out_suspended = no,
        .scheduled_suspended = no,
        .tags = request->tags,
    };
}

/* With the scaling locked. */
static bool store_target(struct api_call *call, const struct register_request *request,
                         const struct scaling_id *id, struct scaling_target *draft)
{
    struct scaling *scaling = api_scaling(call->api);
    const struct scaling_target *before = scaling_find_target(scaling, id);
    struct scaling_change change;
    if (!check_tags(call, request, before))
        return false;
    if (before == NULL && scaling_is_full(scaling, SCALING_TARGET))
        return error_set(&call->error, ERROR_SCALING_LIMIT_EXCEEDED,
                         "There may be %d scalable targets at most", SCALING_TARGETS_MAX);
    *draft = before == NULL ? new_target(call, id, request) : *before;
    if (!merge(call, request, before, draft))
        return false;
    scaling_change_init(&change, scaling, call->arena);
    scaling_change_put(&change, SCALING_TARGET, draft);
    struct bytes arn = scaling_operation_target_arn(call, draft);
    if (!scaling_operation_commit(call, &change, NULL))
        return false;
    struct json_writer json;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "ScalableTargetARN");
    json_write_string(&json, arn);
    json_close_object(&json);
    return true;
}

static void run_register(struct api_call *call, const void *input)
{
    const struct register_request *request = input;
    struct scaling_id id;
    struct scaling_target draft;
    int64_t capacity;
    bool ok = scaling_operation_id(call, &request->names, &id) &&
              scaling_operation_capacity(call, &id, &capacity);
    if (ok) {
        scaling_lock(api_scaling(call->api));
        ok = store_target(call, request, &id, &draft);
        scaling_unlock(api_scaling(call->api));
    }
    if (ok)
        scaling_driver_settle(api_scaling_driver(call->api));
    operation_end(call, ok);
}

const struct operation op_scaling_register_scalable_target = {
    .name = "RegisterScalableTarget",
    .service = OPERATION_OF_SCALING,
    .kind = OPERATION_CONTROL,
    .request = &register_shape,
    .asks = OPERATION_ASKS_ACCOUNT,
    .run = run_register,
};

/* --- DescribeScalableTargets --- */

static const struct shape_field describe_fields[] = {
    { SHAPE_FIELD(struct scaling_list_request, names.service_namespace, "ServiceNamespace",
                  &scaling_namespace_shape),
      .required = true },
    { SHAPE_FIELD(struct scaling_list_request, ids, "ResourceIds", &scaling_names_list_shape) },
    { SHAPE_FIELD(struct scaling_list_request, names.dimension, "ScalableDimension",
                  &scaling_dimension_shape) },
    { SHAPE_FIELD(struct scaling_list_request, max_results, "MaxResults",
                  &scaling_page_size_shape) },
    { SHAPE_FIELD(struct scaling_list_request, next_token, "NextToken", &scaling_token_shape) },
};
static const struct shape describe_shape = { SHAPE_STRUCTURE_OF(struct scaling_list_request,
                                                                describe_fields),
                                             .type_name = "DescribeScalableTargetsRequest" };

static void write_flag(struct json_writer *json, const char *name, const struct shape_boolean *flag)
{
    json_write_name(json, name);
    json_write_bool(json, flag->value);
}

static void write_target(struct api_call *call, struct json_writer *json, const void *object)
{
    const struct scaling_target *target = object;
    json_open_object(json);
    scaling_operation_write_names(json, &target->head);
    json_write_name(json, "MinCapacity");
    json_write_integer(json, target->min.value);
    json_write_name(json, "MaxCapacity");
    json_write_integer(json, target->max.value);
    json_write_name(json, "RoleARN");
    json_write_string(json, scaling_operation_role_arn(call));
    json_write_name(json, "CreationTime");
    json_write_seconds(json, target->head.created_ms.value);
    json_write_name(json, "SuspendedState");
    json_open_object(json);
    write_flag(json, "DynamicScalingInSuspended", &target->in_suspended);
    write_flag(json, "DynamicScalingOutSuspended", &target->out_suspended);
    write_flag(json, "ScheduledScalingSuspended", &target->scheduled_suspended);
    json_close_object(json);
    json_write_name(json, "ScalableTargetARN");
    json_write_string(json, scaling_operation_target_arn(call, target));
    json_close_object(json);
}

static void run_describe(struct api_call *call, const void *input)
{
    static const struct scaling_lister lister = { .kind = SCALING_TARGET,
                                                  .member = "ScalableTargets",
                                                  .ids_are_resources = true,
                                                  .write = write_target };
    scaling_operation_list(call, input, &lister);
}

const struct operation op_scaling_describe_scalable_targets = {
    .name = "DescribeScalableTargets",
    .service = OPERATION_OF_SCALING,
    .kind = OPERATION_CONTROL,
    .only_lists = true,
    .request = &describe_shape,
    .asks = OPERATION_ASKS_ACCOUNT,
    .run = run_describe,
};

/* --- DeregisterScalableTarget: with its policies, alarms and scheduled actions --- */

struct deregister_request {
    struct scaling_names names;
};
static const struct shape_field deregister_fields[] = {
    { SHAPE_FIELD(struct deregister_request, names.service_namespace, "ServiceNamespace",
                  &scaling_namespace_shape),
      .required = true },
    { SHAPE_FIELD(struct deregister_request, names.resource_id, "ResourceId",
                  &scaling_resource_id_shape),
      .required = true },
    { SHAPE_FIELD(struct deregister_request, names.dimension, "ScalableDimension",
                  &scaling_dimension_shape),
      .required = true },
};
static const struct shape deregister_shape = { SHAPE_STRUCTURE_OF(struct deregister_request,
                                                                  deregister_fields),
                                               .type_name = "DeregisterScalableTargetRequest" };

static void delete_all(struct scaling_change *change, enum scaling_kind kind,
                       const struct scaling_id *id)
{
    size_t first;
    size_t count = scaling_of_target(change->scaling, kind, id, &first);
    for (size_t i = first; i < first + count; i++)
        scaling_change_delete(change, kind, scaling_at(change->scaling, kind, i));
}

/* With the scaling locked. */
static bool deregister(struct api_call *call, const void *request, const struct scaling_id *id)
{
    struct scaling *scaling = api_scaling(call->api);
    const struct scaling_target *target = scaling_find_target(scaling, id);
    struct scaling_change *change = arena_alloc(call->arena, sizeof *change);
    size_t first;
    (void)request;
    if (target == NULL)
        return error_set(&call->error, ERROR_SCALING_OBJECT_NOT_FOUND,
                         "No scalable target found for service namespace: dynamodb, resource ID: "
                         "%.*s, scalable dimension: %s",
                         BYTES_FMT(id->resource_id), scaling_dimension_name(id->dimension));
    scaling_change_init(change, scaling, call->arena);
    delete_all(change, SCALING_POLICY, id);
    delete_all(change, SCALING_ACTION, id);
    scaling_change_delete(change, SCALING_TARGET, target);
    struct scaling_alarms *alarms = arena_alloc(call->arena, sizeof *alarms);
    scaling_alarms_init(alarms, api_alarms(call->api), call->arena);
    size_t count = scaling_of_target(scaling, SCALING_POLICY, id, &first);
    for (size_t i = first; i < first + count; i++)
        scaling_alarms_delete(alarms, scaling_at(scaling, SCALING_POLICY, i));
    const struct scaling_partner partner = scaling_alarms_partner(alarms);
    return scaling_operation_commit(call, change, &partner);
}

static void run_deregister(struct api_call *call, const void *input)
{
    scaling_operation_run(call, input, deregister);
}

const struct operation op_scaling_deregister_scalable_target = {
    .name = "DeregisterScalableTarget",
    .service = OPERATION_OF_SCALING,
    .kind = OPERATION_CONTROL,
    .request = &deregister_shape,
    .asks = OPERATION_ASKS_ACCOUNT,
    .run = run_deregister,
};

/* --- Tags --- */

struct tags_request {
    struct bytes arn;
    struct shape_map tags;  /* of struct bytes */
    struct shape_list keys; /* of struct bytes */
};
static const struct shape arn_shape = { .kind = SHAPE_STRING, .min = 1, .max = 1011 };
static const struct shape keys_shape = {
    .kind = SHAPE_LIST, .element = &common_string, .min = 0, .max = 200
};
static const struct shape_field tag_fields[] = {
    { SHAPE_FIELD(struct tags_request, arn, "ResourceARN", &arn_shape), .required = true },
    { SHAPE_FIELD(struct tags_request, tags, "Tags", &tags_shape), .required = true },
};
static const struct shape_field untag_fields[] = {
    { SHAPE_FIELD(struct tags_request, arn, "ResourceARN", &arn_shape), .required = true },
    { SHAPE_FIELD(struct tags_request, keys, "TagKeys", &keys_shape), .required = true },
};
static const struct shape_field list_tags_fields[] = {
    { SHAPE_FIELD(struct tags_request, arn, "ResourceARN", &arn_shape), .required = true },
};
static const struct shape tag_shape = { SHAPE_STRUCTURE_OF(struct tags_request, tag_fields),
                                        .type_name = "TagResourceRequest" };
static const struct shape untag_shape = { SHAPE_STRUCTURE_OF(struct tags_request, untag_fields),
                                          .type_name = "UntagResourceRequest" };
static const struct shape list_tags_shape = {
    SHAPE_STRUCTURE_OF(struct tags_request, list_tags_fields),
    .type_name = "ListTagsForResourceRequest",
};

/* The exceptions about tags name their resource. Returns false. */
static bool name_resource(struct api_call *call, struct bytes arn)
{
    struct buffer members;
    struct json_writer json;
    buffer_init(&members, call->arena);
    json_writer_init(&json, &members);
    json_open_object(&json);
    json_write_name(&json, "ResourceName");
    json_write_string(&json, arn);
    json_close_object(&json);
    call->error.members_json = buffer_bytes(&members);
    return false;
}

/* The target of an ARN. NULL with ResourceNotFoundException set. */
static const struct scaling_target *find_by_arn(struct api_call *call, struct bytes arn)
{
    const struct scaling *scaling = api_scaling(call->api);
    for (size_t i = 0; i < scaling_count(scaling, SCALING_TARGET); i++) {
        const struct scaling_target *target = scaling_at(scaling, SCALING_TARGET, i);
        if (bytes_equal(arn, scaling_operation_target_arn(call, target)))
            return target;
    }
    error_set(&call->error, ERROR_SCALING_RESOURCE_NOT_FOUND,
              "The specified resource does not exist: %.*s", BYTES_FMT(arn));
    name_resource(call, arn);
    return NULL;
}

static bool has_key(const struct shape_map *map, struct bytes key)
{
    for (size_t i = 0; i < map->count; i++)
        if (bytes_equal(map->names[i], key))
            return true;
    return false;
}

static bool has_text(const struct shape_list *list, struct bytes text)
{
    const struct bytes *texts = list->elements;
    for (size_t i = 0; i < list->kept; i++)
        if (bytes_equal(texts[i], text))
            return true;
    return false;
}

static void add_tag(struct shape_map *map, struct bytes key, struct bytes value)
{
    ((struct bytes *)map->elements)[map->count] = value;
    map->names[map->count++] = key;
}

/* The tags of before without those that are removed or replaced, and the new ones. */
static struct shape_map merge_tags(struct api_call *call, const struct shape_map *before,
                                   const struct tags_request *request)
{
    size_t room = before->count + request->tags.count;
    struct shape_map out = { .present = true,
                             .names = arena_alloc(call->arena, room * sizeof(struct bytes)),
                             .elements = arena_alloc(call->arena, room * sizeof(struct bytes)) };
    for (size_t i = 0; i < before->count; i++)
        if (!has_key(&request->tags, before->names[i]) &&
            !has_text(&request->keys, before->names[i]))
            add_tag(&out, before->names[i], ((struct bytes *)before->elements)[i]);
    for (size_t i = 0; i < request->tags.count; i++)
        add_tag(&out, request->tags.names[i], ((struct bytes *)request->tags.elements)[i]);
    return out;
}

static bool change_tags(struct api_call *call, const struct tags_request *request)
{
    struct scaling *scaling = api_scaling(call->api);
    const struct scaling_target *target = find_by_arn(call, request->arn);
    struct scaling_change change;
    if (target == NULL || !check_tag_keys(call, &request->tags))
        return false;
    struct scaling_target draft = *target;
    draft.tags = merge_tags(call, &target->tags, request);
    if (draft.tags.count > SCALING_TAGS_MAX)
        return error_set(&call->error, ERROR_SCALING_TOO_MANY_TAGS,
                         "A scalable target can have at most %d tags", SCALING_TAGS_MAX) ||
               name_resource(call, request->arn);
    scaling_change_init(&change, scaling, call->arena);
    scaling_change_put(&change, SCALING_TARGET, &draft);
    return scaling_operation_commit(call, &change, NULL);
}

static void run_tags(struct api_call *call, const void *input)
{
    const struct tags_request *request = input;
    scaling_lock(api_scaling(call->api));
    bool ok = change_tags(call, request);
    scaling_unlock(api_scaling(call->api));
    if (ok)
        scaling_operation_answer_nothing(call);
    operation_end(call, ok);
}

static void write_tags(struct api_call *call, const struct shape_map *tags)
{
    struct json_writer json;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "Tags");
    json_open_object(&json);
    for (size_t i = 0; i < tags->count; i++) {
        json_write_name_bytes(&json, tags->names[i]);
        json_write_string(&json, ((const struct bytes *)tags->elements)[i]);
    }
    json_close_object(&json);
    json_close_object(&json);
}

static void run_list_tags(struct api_call *call, const void *input)
{
    const struct tags_request *request = input;
    scaling_lock(api_scaling(call->api));
    const struct scaling_target *target = find_by_arn(call, request->arn);
    bool ok = target != NULL;
    if (ok)
        write_tags(call, &target->tags);
    scaling_unlock(api_scaling(call->api));
    operation_end(call, ok);
}

/* The target that the ARN names, whether or not there is one. */
static bool admits_tags(struct api_call *call, const void *input)
{
    const struct tags_request *request = input;
    return operation_may_use_arn(call, request->arn);
}

const struct operation op_scaling_tag_resource = {
    .name = "TagResource",
    .service = OPERATION_OF_SCALING,
    .kind = OPERATION_CONTROL,
    .request = &tag_shape,
    .asks = OPERATION_ASKS_ITSELF,
    .admits = admits_tags,
    .run = run_tags,
};
const struct operation op_scaling_untag_resource = {
    .name = "UntagResource",
    .service = OPERATION_OF_SCALING,
    .kind = OPERATION_CONTROL,
    .request = &untag_shape,
    .asks = OPERATION_ASKS_ITSELF,
    .admits = admits_tags,
    .run = run_tags,
};
const struct operation op_scaling_list_tags_for_resource = {
    .name = "ListTagsForResource",
    .service = OPERATION_OF_SCALING,
    .kind = OPERATION_CONTROL,
    .only_lists = true,
    .request = &list_tags_shape,
    .asks = OPERATION_ASKS_ITSELF,
    .admits = admits_tags,
    .run = run_list_tags,
};
