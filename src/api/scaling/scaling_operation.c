/* scaling_operation.c -- see scaling_operation.h. */
#include "api/scaling/scaling_operation.h"
#include <assert.h>
#include <string.h>
#include "api/operation_access.h"
#include "base/arena.h"
#include "base/clock.h"
#include "json/base64.h"
#include "json/writer.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

enum { PAGE_SIZE_MAX = 50, TOKEN_SIZE_MAX = 8192 };

const struct shape scaling_namespace_shape = { .kind = SHAPE_STRING, SHAPE_UNBOUNDED };
const struct shape scaling_resource_id_shape = { .kind = SHAPE_STRING,
                                                 .min = 1,
                                                 .max = SCALING_RESOURCE_ID_SIZE_MAX };
const struct shape scaling_dimension_shape = { .kind = SHAPE_STRING, SHAPE_UNBOUNDED };
const struct shape scaling_names_list_shape = { .kind = SHAPE_LIST,
                                                .element = &scaling_resource_id_shape,
                                                .min = SHAPE_NO_MIN,
                                                .max = PAGE_SIZE_MAX };
const struct shape scaling_page_size_shape = { .kind = SHAPE_INTEGER, SHAPE_UNBOUNDED };
const struct shape scaling_token_shape = { .kind = SHAPE_STRING, SHAPE_UNBOUNDED };

/* --- The target of a request --- */

static bool refuse_names(struct api_call *call)
{
    return error_set(&call->error, ERROR_SCALING_VALIDATION,
                     "Unsupported service namespace, resource type or scalable dimension");
}

static bool may_update_table(struct api_call *call, struct bytes table_name)
{
    const struct bytes no_index = { 0 };
    if (call->caller == NULL)
        return true;
    struct table *table = catalogue_borrow(api_catalogue(call->api), table_name);
    struct access_question question =
        operation_question(call, "UpdateTable", table_name, no_index, table);
    question.service = operation_service_prefix(OPERATION_OF_DYNAMODB);
    bool may = operation_may(call, &question);
    table_release(table);
    return may;
}

bool scaling_operation_id(struct api_call *call, const struct scaling_names *names,
                          struct scaling_id *out)
{
    struct scaling_resource resource;
    *out = (struct scaling_id){ .resource_id = names->resource_id,
                                .dimension = scaling_dimension_find(names->dimension) };
    if (!bytes_equal_text(names->service_namespace, "dynamodb") ||
        out->dimension == SCALING_DIMENSION_COUNT ||
        !scaling_resource_parse(names->resource_id, &resource) ||
        !scaling_resource_has(&resource, out->dimension) ||
        memchr(names->resource_id.data, '\0', names->resource_id.len) != NULL)
        return refuse_names(call);
    return may_update_table(call, resource.table);
}

static const struct throughput *find_throughput(const struct table_definition *definition,
                                                const struct scaling_resource *resource)
{
    if (resource->index.data == NULL)
        return &definition->throughput;
    const struct index_definition *index = table_definition_index(definition, resource->index);
    return index == NULL || !index->global ? NULL : &index->throughput;
}

bool scaling_operation_capacity(struct api_call *call, const struct scaling_id *id, int64_t *out)
{
    struct scaling_resource resource;
    bool parses = scaling_resource_parse(id->resource_id, &resource);
    assert(parses);
    struct table *table = catalogue_borrow(api_catalogue(call->api), resource.table);
    const struct throughput *throughput =
        table == NULL ? NULL : find_throughput(table_definition(table), &resource);
    if (throughput != NULL)
        *out = scaling_dimension_is_read(id->dimension) ? throughput->read_units
                                                        : throughput->write_units;
    table_release(table);
    if (throughput != NULL)
        return true;
    return error_set(&call->error, ERROR_SCALING_VALIDATION, "DynamoDB %s does not exist: %.*s",
                     resource.index.data == NULL ? "table" : "index", BYTES_FMT(id->resource_id));
}

bool scaling_operation_not_registered(struct api_call *call, const struct scaling_id *id)
{
    return error_set(&call->error, ERROR_SCALING_OBJECT_NOT_FOUND,
                     "No scalable target registered for service namespace: dynamodb, resource ID: "
                     "%.*s, scalable dimension: %s",
                     BYTES_FMT(id->resource_id), scaling_dimension_name(id->dimension));
}

/* --- ARNs --- */

struct bytes scaling_operation_target_arn(struct api_call *call,
                                          const struct scaling_target *target)
{
    const struct api_options *options = api_options(call->api);
    return arena_printf(call->arena, "arn:aws:application-autoscaling:%s:%s:scalable-target/%.*s",
                        options->region, options->account_id, BYTES_FMT(target->head.uuid));
}

static struct bytes arn_of(struct api_call *call, const char *kind, const struct scaling_head *head,
                           const char *name_kind)
{
    const struct api_options *options = api_options(call->api);
    return arena_printf(call->arena,
                        "arn:aws:autoscaling:%s:%s:%s:%.*s:resource/dynamodb/%.*s:%s/%.*s",
                        options->region, options->account_id, kind, BYTES_FMT(head->uuid),
                        BYTES_FMT(head->resource_id), name_kind, BYTES_FMT(head->name));
}

struct bytes scaling_operation_policy_arn(struct api_call *call,
                                          const struct scaling_policy *policy)
{
    return arn_of(call, "scalingPolicy", &policy->head, "policyName");
}

struct bytes scaling_operation_action_arn(struct api_call *call,
                                          const struct scaling_action *action)
{
    return arn_of(call, "scheduledAction", &action->head, "scheduledActionName");
}

struct bytes scaling_operation_role_arn(struct api_call *call)
{
    return arena_printf(call->arena,
                        "arn:aws:iam::%s:role/aws-service-role/"
                        "dynamodb.application-autoscaling.amazonaws.com/"
                        "AWSServiceRoleForApplicationAutoScaling_DynamoDBTable",
                        api_options(call->api)->account_id);
}

bool scaling_operation_commit(struct api_call *call, struct scaling_change *change,
                              const struct scaling_partner *partner)
{
    enum engine_status status =
        scaling_change_commit(change, clock_wall_ms(api_options(call->api)->clock), partner);
    if (status == ENGINE_OK)
        return true;
    return error_set(&call->error, ERROR_SCALING_INTERNAL, "The change could not be stored: %s",
                     engine_status_name(status));
}

void scaling_operation_answer_nothing(struct api_call *call)
{
    buffer_append_bytes(&call->response, BYTES("{}"));
}

bool scaling_operation_refuse(struct api_call *call, const char *text)
{
    return error_set(&call->error, ERROR_SCALING_VALIDATION, "%s", text);
}

void scaling_operation_run(struct api_call *call, const void *request,
                           scaling_operation_change *change)
{
    struct scaling_id id;
    bool ok = scaling_operation_id(call, request, &id);
    if (ok) {
        scaling_lock(api_scaling(call->api));
        ok = change(call, request, &id);
        scaling_unlock(api_scaling(call->api));
    }
    if (ok)
        scaling_operation_answer_nothing(call);
    operation_end(call, ok);
}

/* --- Answers --- */

void scaling_operation_write_names(struct json_writer *json, const struct scaling_head *head)
{
    json_write_name(json, "ServiceNamespace");
    json_write_text(json, "dynamodb");
    json_write_name(json, "ResourceId");
    json_write_string(json, head->resource_id);
    json_write_name(json, "ScalableDimension");
    json_write_text(json, scaling_dimension_name(scaling_id_of(head).dimension));
}

void scaling_operation_write_number(struct json_writer *json, const char *name,
                                    const struct shape_integer *number)
{
    if (!number->present)
        return;
    json_write_name(json, name);
    json_write_integer(json, number->value);
}

/* --- Lists --- */

static bool is_listed(const struct shape_list *list, struct bytes text)
{
    const struct bytes *texts = list->elements;
    for (size_t i = 0; i < list->kept; i++)
        if (bytes_equal(texts[i], text))
            return true;
    return list->count == 0;
}

static bool matches(const struct scaling_list_request *request, const struct scaling_lister *lister,
                    const void *object)
{
    const struct scaling_head *head = object;
    const char *dimension = scaling_dimension_name(scaling_id_of(object).dimension);
    if (request->names.resource_id.data != NULL &&
        !bytes_equal(request->names.resource_id, head->resource_id))
        return false;
    if (request->names.dimension.data != NULL &&
        !bytes_equal_text(request->names.dimension, dimension))
        return false;
    if (lister->kind == SCALING_ACTIVITY && !request->with_not_scaled.value) {
        const struct scaling_activity *activity = object;
        if (activity->not_scaled_reason.data != NULL)
            return false;
    }
    return is_listed(&request->ids, lister->ids_are_resources ? head->resource_id : head->name);
}

/* A token is the key of the last object that was shown. */
static bool read_token(struct api_call *call, struct bytes token, struct bytes *key)
{
    *key = (struct bytes){ 0 };
    if (token.data == NULL)
        return true;
    uint8_t *out = arena_alloc(call->arena, base64_decoded_max(token.len));
    size_t size;
    if (token.len > TOKEN_SIZE_MAX || !base64_decode(token, out, &size) || size == 0)
        return error_set(&call->error, ERROR_SCALING_INVALID_NEXT_TOKEN,
                         "The specified token is not valid");
    *key = bytes_of(out, size);
    return true;
}

static void write_token(struct api_call *call, struct json_writer *json, struct bytes key)
{
    char *text = arena_alloc(call->arena, base64_encoded_size(key.len));
    base64_encode(key, text);
    json_write_name(json, "NextToken");
    json_write_string(json, bytes_of(text, base64_encoded_size(key.len)));
}

static void write_page(struct api_call *call, const struct scaling_list_request *request,
                       const struct scaling_lister *lister, struct bytes after)
{
    struct scaling *scaling = api_scaling(call->api);
    size_t total = scaling_count(scaling, lister->kind);
    int64_t room = request->max_results.present ? request->max_results.value : PAGE_SIZE_MAX;
    struct bytes last = { 0 };
    struct json_writer json;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, lister->member);
    json_open_array(&json);
    for (size_t i = 0; i < total; i++) {
        const void *object =
            scaling_at(scaling, lister->kind, lister->newest_first ? total - 1 - i : i);
        struct bytes key = scaling_key(call->arena, lister->kind, object);
        int order = after.data == NULL ? 1 : bytes_compare(key, after);
        if ((lister->newest_first && after.data != NULL ? -order : order) <= 0 ||
            !matches(request, lister, object))
            continue;
        if (room-- == 0)
            break;
        lister->write(call, &json, object);
        last = key;
    }
    json_close_array(&json);
    if (room < 0)
        write_token(call, &json, last);
    json_close_object(&json);
}

void scaling_operation_list(struct api_call *call, const struct scaling_list_request *request,
                            const struct scaling_lister *lister)
{
    const struct shape_integer *size = &request->max_results;
    struct bytes after;
    if (!bytes_equal_text(request->names.service_namespace, "dynamodb")) {
        /* Other services have nothing here. */
        struct json_writer json;
        json_writer_init(&json, &call->response);
        json_open_object(&json);
        json_write_name(&json, lister->member);
        json_open_array(&json);
        json_close_array(&json);
        json_close_object(&json);
        operation_succeed(call);
        return;
    }
    if (size->present && (size->value < 1 || size->value > PAGE_SIZE_MAX)) {
        error_set(&call->error, ERROR_SCALING_VALIDATION, "MaxResults must be between 1 and %d",
                  PAGE_SIZE_MAX);
        operation_fail(call);
        return;
    }
    if (!read_token(call, request->next_token, &after)) {
        operation_fail(call);
        return;
    }
    scaling_lock(api_scaling(call->api));
    write_page(call, request, lister, after);
    scaling_unlock(api_scaling(call->api));
    operation_succeed(call);
}
