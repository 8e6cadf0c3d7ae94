/* op_describe_stacks.c -- what stacks are like: DescribeStacks, ListStacks, DescribeStackEvents,
 * DescribeStackResource, DescribeStackResources, ListStackResources, ListExports, ListImports. */
#include "api/cloudformation/stack_request.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "json/writer.h"

struct question {
    struct bytes name; /* First: see stack_request_admits. */
    struct bytes next_token;
    struct bytes logical_id;
    struct bytes physical_id;
    struct shape_list filter;
    struct bytes export_name;
};
#define NAME_FIELD                                                                                 \
    {                                                                                              \
        SHAPE_FIELD(struct question, name, "StackName", &stack_request_name)                       \
    }
#define TOKEN_FIELD                                                                                \
    {                                                                                              \
        SHAPE_FIELD(struct question, next_token, "NextToken", &stack_request_text)                 \
    }

/* --- DescribeStacks --- */

static const struct shape_field describe_fields[] = { NAME_FIELD, TOKEN_FIELD };
static const struct shape describe_shape = { SHAPE_STRUCTURE_OF(struct question, describe_fields),
                                             .type_name = "DescribeStacksInput" };

static void write_outputs(struct json_writer *json, const struct shape_list *outputs)
{
    const struct stack_output *const *list = outputs->elements;
    if (outputs->kept == 0)
        return;
    json_write_name(json, "Outputs");
    json_open_array(json);
    for (size_t i = 0; i < outputs->kept; i++) {
        json_open_object(json);
        stack_request_write(json, "OutputKey", list[i]->key);
        stack_request_write(json, "OutputValue", list[i]->value);
        stack_request_write(json, "Description", list[i]->description);
        stack_request_write(json, "ExportName", list[i]->export_name);
        json_close_object(json);
    }
    json_close_array(json);
}

static void write_drift(struct json_writer *json, const char *name, const char *member)
{
    json_write_name(json, name);
    json_open_object(json);
    json_write_name(json, member);
    json_write_text(json, "NOT_CHECKED");
    json_close_object(json);
}

static void write_stack(struct api_call *call, struct json_writer *json, const struct stack *stack)
{
    const struct stack_settings *settings = stack->next != NULL ? stack->next : stack->settings;
    json_open_object(json);
    stack_request_write(json, "StackId", stack_request_arn(call, stack));
    stack_request_write(json, "StackName", stack->name);
    stack_request_write(json, "ChangeSetId", stack->change_set_id);
    stack_request_write(json, "Description", settings->description);
    stack_request_write_parameters(call, json, settings);
    stack_request_write_time(json, "CreationTime", &stack->created_ms);
    stack_request_write_time(json, "DeletionTime", &stack->deleted_ms);
    stack_request_write_time(json, "LastUpdatedTime", &stack->updated_ms);
    json_write_name(json, "RollbackConfiguration");
    json_open_object(json);
    json_close_object(json);
    stack_request_write(json, "StackStatus", stack->status_name);
    stack_request_write(json, "StackStatusReason", stack->reason);
    json_write_name(json, "DisableRollback");
    json_write_bool(json, stack->disable_rollback.value);
    stack_request_write_texts(json, "NotificationARNs", &settings->notifications);
    if (stack->timeout_ms.present) {
        json_write_name(json, "TimeoutInMinutes");
        json_write_integer(json, stack->timeout_ms.value / 60000);
    }
    stack_request_write_texts(json, "Capabilities", &settings->capabilities);
    write_outputs(json, &stack->outputs);
    stack_request_write(json, "RoleARN", settings->role_arn);
    stack_request_write_tags(json, &settings->tags);
    json_write_name(json, "EnableTerminationProtection");
    json_write_bool(json, stack->is_protected.value);
    write_drift(json, "DriftInformation", "StackDriftStatus");
    json_close_object(json);
}

static bool is_deleted(const struct stack *stack)
{
    return stack_status_of(stack->status_name) == STACK_DELETE_COMPLETE;
}

/* One stack by its name or ARN, also a deleted one by its ARN; or all that were not deleted. */
static bool describe(struct api_call *call, const struct question *request)
{
    const struct stacks *stacks = api_stacks(call->api);
    const struct stack *named = NULL;
    size_t first, shown = 0, i;
    struct json_writer json;
    if (!stack_request_page(call, request->next_token, &first))
        return false;
    if (request->name.data != NULL && (named = stack_request_require(call, request->name)) == NULL)
        return false;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "Stacks");
    json_open_array(&json);
    if (named != NULL)
        write_stack(call, &json, named);
    for (i = first;
         named == NULL && i < stacks_count(stacks) && stack_request_has_room(call, shown); i++)
        if (!is_deleted(stacks_at(stacks, i))) {
            write_stack(call, &json, stacks_at(stacks, i));
            shown++;
        }
    json_close_array(&json);
    if (named == NULL && i < stacks_count(stacks))
        stack_request_write_token(call, &json, i);
    json_close_object(&json);
    return true;
}

STACK_QUESTION(describe_stacks, "DescribeStacks", &describe_shape, stack_request_admits, describe)

/* --- ListStacks --- */

static const struct shape_field list_fields[] = {
    TOKEN_FIELD,
    { SHAPE_FIELD(struct question, filter, "StackStatusFilter", &stack_request_texts) },
};
static const struct shape list_shape = { SHAPE_STRUCTURE_OF(struct question, list_fields),
                                         .type_name = "ListStacksInput" };

static void write_summary(struct api_call *call, struct json_writer *json,
                          const struct stack *stack)
{
    json_open_object(json);
    stack_request_write(json, "StackId", stack_request_arn(call, stack));
    stack_request_write(json, "StackName", stack->name);
    stack_request_write(json, "TemplateDescription", stack->settings->description);
    stack_request_write_time(json, "CreationTime", &stack->created_ms);
    stack_request_write_time(json, "LastUpdatedTime", &stack->updated_ms);
    stack_request_write_time(json, "DeletionTime", &stack->deleted_ms);
    stack_request_write(json, "StackStatus", stack->status_name);
    stack_request_write(json, "StackStatusReason", stack->reason);
    write_drift(json, "DriftInformation", "StackDriftStatus");
    json_close_object(json);
}

static bool is_listed(const struct shape_list *list, struct bytes text)
{
    const struct bytes *texts = list->elements;
    for (size_t i = 0; i < list->kept; i++)
        if (bytes_equal(texts[i], text))
            return true;
    return list->kept == 0;
}

static bool list_stacks(struct api_call *call, const struct question *request)
{
    const struct stacks *stacks = api_stacks(call->api);
    size_t first, shown = 0, i;
    struct json_writer json;
    if (!stack_request_page(call, request->next_token, &first))
        return false;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "StackSummaries");
    json_open_array(&json);
    for (i = first; i < stacks_count(stacks) && stack_request_has_room(call, shown); i++)
        if (is_listed(&request->filter, stacks_at(stacks, i)->status_name)) {
            write_summary(call, &json, stacks_at(stacks, i));
            shown++;
        }
    json_close_array(&json);
    if (i < stacks_count(stacks))
        stack_request_write_token(call, &json, i);
    json_close_object(&json);
    return true;
}

STACK_QUESTION(list_stacks, "ListStacks", &list_shape, stack_request_admits, list_stacks)

/* --- DescribeStackEvents --- */

static const struct shape_field event_fields[] = {
    { SHAPE_FIELD(struct question, name, "StackName", &stack_request_name), .required = true },
    TOKEN_FIELD,
};
static const struct shape event_shape = { SHAPE_STRUCTURE_OF(struct question, event_fields),
                                          .type_name = "DescribeStackEventsInput" };

static void write_event(struct api_call *call, struct json_writer *json, const struct stack *stack,
                        const struct stack_event *event)
{
    json_open_object(json);
    stack_request_write(json, "StackId", stack_request_arn(call, stack));
    stack_request_write(json, "EventId", event->uid);
    stack_request_write(json, "StackName", stack->name);
    stack_request_write(json, "LogicalResourceId", event->logical_id);
    stack_request_write(json, "PhysicalResourceId",
                        event->physical_id.data != NULL ? event->physical_id : BYTES(""));
    stack_request_write(json, "ResourceType", event->type);
    stack_request_write_time(json, "Timestamp", &event->at_ms);
    stack_request_write(json, "ResourceStatus", event->status_name);
    stack_request_write(json, "ResourceStatusReason", event->reason);
    stack_request_write(json, "ClientRequestToken", event->token);
    json_close_object(json);
}

/* The newest first. A token is the number of an event, so that events that come meanwhile do not
 * move the page. */
static bool describe_events(struct api_call *call, const struct question *request)
{
    const struct stacks *stacks = api_stacks(call->api);
    const struct stack *stack = stack_request_require(call, request->name);
    size_t first, end, shown = 0;
    struct json_writer json;
    if (stack == NULL || !stack_request_page(call, request->next_token, &end))
        return false;
    size_t count = stacks_of(stacks, STACK_EVENT, stack->head.stack_uid, &first);
    size_t oldest = (size_t)stack->event_count.value - count;
    if (request->next_token.data == NULL || end > oldest + count)
        end = oldest + count;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "StackEvents");
    json_open_array(&json);
    for (; end > oldest && stack_request_has_room(call, shown); end--, shown++)
        write_event(call, &json, stack,
                    stacks_object(stacks, STACK_EVENT, first + (end - 1 - oldest)));
    json_close_array(&json);
    if (end > oldest)
        stack_request_write_token(call, &json, end);
    json_close_object(&json);
    return true;
}

STACK_QUESTION(describe_stack_events, "DescribeStackEvents", &event_shape, stack_request_admits,
               describe_events)

/* --- Resources --- */

static const struct shape_field resource_fields[] = {
    { SHAPE_FIELD(struct question, name, "StackName", &stack_request_name), .required = true },
    { SHAPE_FIELD(struct question, logical_id, "LogicalResourceId", &stack_request_text),
      .required = true },
};
static const struct shape resource_shape = { SHAPE_STRUCTURE_OF(struct question, resource_fields),
                                             .type_name = "DescribeStackResourceInput" };
static const struct shape_field resources_fields[] = {
    NAME_FIELD,
    { SHAPE_FIELD(struct question, logical_id, "LogicalResourceId", &stack_request_text) },
    { SHAPE_FIELD(struct question, physical_id, "PhysicalResourceId", &stack_request_text) },
};
static const struct shape resources_shape = { SHAPE_STRUCTURE_OF(struct question, resources_fields),
                                              .type_name = "DescribeStackResourcesInput" };
static const struct shape list_resources_shape = {
    SHAPE_STRUCTURE_OF(struct question, event_fields), .type_name = "ListStackResourcesInput"
};

static void write_resource(struct api_call *call, struct json_writer *json,
                           const struct stack *stack, const struct stack_resource *resource,
                           const char *time_name)
{
    json_open_object(json);
    if (stack != NULL) {
        stack_request_write(json, "StackName", stack->name);
        stack_request_write(json, "StackId", stack_request_arn(call, stack));
    }
    stack_request_write(json, "LogicalResourceId", resource->head.id);
    stack_request_write(json, "PhysicalResourceId", resource->physical_id);
    stack_request_write(json, "ResourceType", resource->type);
    stack_request_write_time(json, time_name, &resource->updated_ms);
    stack_request_write(json, "ResourceStatus", resource->status_name);
    stack_request_write(json, "ResourceStatusReason", resource->reason);
    write_drift(json, "DriftInformation", "StackResourceDriftStatus");
    json_close_object(json);
}

static bool describe_resource(struct api_call *call, const struct question *request)
{
    struct json_writer json;
    const struct stack *stack = stack_request_require(call, request->name);
    if (stack == NULL)
        return false;
    const struct stack_resource *resource =
        stacks_find_resource(api_stacks(call->api), stack->head.stack_uid, request->logical_id);
    if (resource == NULL)
        return error_validation(&call->error, "Resource %.*s does not exist for stack %.*s",
                                BYTES_FMT(request->logical_id), BYTES_FMT(stack->name));
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "StackResourceDetail");
    write_resource(call, &json, stack, resource, "LastUpdatedTimestamp");
    json_close_object(&json);
    return true;
}

STACK_QUESTION(describe_stack_resource, "DescribeStackResource", &resource_shape,
               stack_request_admits, describe_resource)

/* The stack that has a resource of this physical id; NULL: none. */
static const struct stack *find_by_resource(struct api_call *call, struct bytes physical_id)
{
    const struct stacks *stacks = api_stacks(call->api);
    for (size_t i = 0; i < stacks_count(stacks); i++) {
        const struct stack *stack = stacks_at(stacks, i);
        size_t first;
        size_t count = stacks_of(stacks, STACK_RESOURCE, stack->head.stack_uid, &first);
        for (size_t j = first; !is_deleted(stack) && j < first + count; j++) {
            const struct stack_resource *resource = stacks_object(stacks, STACK_RESOURCE, j);
            if (bytes_equal(resource->physical_id, physical_id))
                return stack;
        }
    }
    error_validation(&call->error, "Stack for %.*s does not exist", BYTES_FMT(physical_id));
    return NULL;
}

static bool write_resources(struct api_call *call, const struct question *request,
                            const struct stack *stack, bool is_list)
{
    const struct stacks *stacks = api_stacks(call->api);
    struct json_writer json;
    size_t first, skip, shown = 0, i;
    if (!stack_request_page(call, request->next_token, &skip))
        return false;
    size_t count = stacks_of(stacks, STACK_RESOURCE, stack->head.stack_uid, &first);
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, is_list ? "StackResourceSummaries" : "StackResources");
    json_open_array(&json);
    for (i = skip; i < count && (!is_list || stack_request_has_room(call, shown)); i++) {
        const struct stack_resource *resource = stacks_object(stacks, STACK_RESOURCE, first + i);
        if (request->logical_id.data != NULL &&
            !bytes_equal(resource->head.id, request->logical_id))
            continue;
        write_resource(call, &json, is_list ? NULL : stack, resource,
                       is_list ? "LastUpdatedTimestamp" : "Timestamp");
        shown++;
    }
    json_close_array(&json);
    if (i < count)
        stack_request_write_token(call, &json, i);
    json_close_object(&json);
    return true;
}

static bool describe_resources(struct api_call *call, const struct question *request)
{
    if ((request->name.data == NULL) == (request->physical_id.data == NULL))
        return error_validation(&call->error, "You must specify either StackName or "
                                              "PhysicalResourceId, but not both");
    const struct stack *stack = request->name.data != NULL
                                    ? stack_request_require(call, request->name)
                                    : find_by_resource(call, request->physical_id);
    return stack != NULL && write_resources(call, request, stack, false);
}

STACK_QUESTION(describe_stack_resources, "DescribeStackResources", &resources_shape,
               stack_request_admits, describe_resources)

static bool list_resources(struct api_call *call, const struct question *request)
{
    const struct stack *stack = stack_request_require(call, request->name);
    return stack != NULL && write_resources(call, request, stack, true);
}

STACK_QUESTION(list_stack_resources, "ListStackResources", &list_resources_shape,
               stack_request_admits, list_resources)

/* --- Exports and imports --- */

static const struct shape_field exports_fields[] = { TOKEN_FIELD };
static const struct shape exports_shape = { SHAPE_STRUCTURE_OF(struct question, exports_fields),
                                            .type_name = "ListExportsInput" };
static const struct shape_field imports_fields[] = {
    { SHAPE_FIELD(struct question, export_name, "ExportName", &stack_request_text),
      .required = true },
    TOKEN_FIELD,
};
static const struct shape imports_shape = { SHAPE_STRUCTURE_OF(struct question, imports_fields),
                                            .type_name = "ListImportsInput" };

/* Pages are of stacks. */
static bool list_exports(struct api_call *call, const struct question *request)
{
    const struct stacks *stacks = api_stacks(call->api);
    size_t first, shown = 0, i;
    struct json_writer json;
    if (!stack_request_page(call, request->next_token, &first))
        return false;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "Exports");
    json_open_array(&json);
    for (i = first; i < stacks_count(stacks) && stack_request_has_room(call, shown); i++) {
        const struct stack *stack = stacks_at(stacks, i);
        const struct stack_output *const *outputs = stack->outputs.elements;
        for (size_t j = 0; !is_deleted(stack) && j < stack->outputs.kept; j++) {
            if (outputs[j]->export_name.data == NULL)
                continue;
            json_open_object(&json);
            stack_request_write(&json, "ExportingStackId", stack_request_arn(call, stack));
            stack_request_write(&json, "Name", outputs[j]->export_name);
            stack_request_write(&json, "Value", outputs[j]->value);
            json_close_object(&json);
            shown++;
        }
    }
    json_close_array(&json);
    if (i < stacks_count(stacks))
        stack_request_write_token(call, &json, i);
    json_close_object(&json);
    return true;
}

STACK_QUESTION(list_exports, "ListExports", &exports_shape, stack_request_admits, list_exports)

static bool has_import(const struct stack *stack, struct bytes name)
{
    return stack->imports.kept > 0 && is_listed(&stack->imports, name);
}

static bool list_imports(struct api_call *call, const struct question *request)
{
    const struct stacks *stacks = api_stacks(call->api);
    size_t shown = 0;
    struct json_writer json;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "Imports");
    json_open_array(&json);
    for (size_t i = 0; i < stacks_count(stacks); i++) {
        const struct stack *stack = stacks_at(stacks, i);
        if (is_deleted(stack) || !has_import(stack, request->export_name))
            continue;
        json_write_string(&json, stack->name);
        shown++;
    }
    json_close_array(&json);
    json_close_object(&json);
    return shown > 0 ||
           error_validation(&call->error, "Export '%.*s' is not imported by any stack.",
                            BYTES_FMT(request->export_name));
}

STACK_QUESTION(list_imports, "ListImports", &imports_shape, stack_request_admits, list_imports)
