/* stack_settings.c -- templates and settings that requests bring; see stack_request.h. */
#include <string.h>
#include "api/cloudformation/stack_request.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "json/utf8.h"
#include "table/storage_error.h"
#include "template/node.h"

/* --- Templates --- */

static struct bytes take_until(struct bytes *rest, uint8_t mark)
{
    const uint8_t *end = rest->len == 0 ? NULL : memchr(rest->data, mark, rest->len);
    size_t size = end == NULL ? rest->len : (size_t)(end - rest->data);
    size_t taken = end == NULL ? size : size + 1;
    struct bytes part = bytes_of(rest->data, size);
    *rest = bytes_of(rest->data + taken, rest->len - taken);
    return part;
}

/* "BUCKET/KEY" of "https://HOST/BUCKET/KEY" or "https://BUCKET.s3.REGION.amazonaws.com/KEY"; data
 * NULL: neither. */
static struct bytes asset_of_url(struct arena *arena, struct bytes url)
{
    static const struct bytes schemes[] = { BYTES("https://"), BYTES("http://") };
    for (size_t i = 0; i < COUNT_OF(schemes); i++) {
        if (!bytes_starts_with(url, schemes[i]))
            continue;
        struct bytes path = bytes_of(url.data + schemes[i].len, url.len - schemes[i].len);
        struct bytes host = take_until(&path, '/');
        path = take_until(&path, '?');
        const uint8_t *mark = memmem(host.data, host.len, ".s3", 3);
        if (mark == NULL)
            return path;
        const struct bytes parts[] = { bytes_of(host.data, (size_t)(mark - host.data)), BYTES("/"),
                                       path };
        return arena_join(arena, parts, COUNT_OF(parts));
    }
    return (struct bytes){ 0 };
}

static bool may_read_asset(struct api_call *call, struct bytes name)
{
    const struct access_question question = {
        .service = operation_service_prefix(OPERATION_OF_S3),
        .action = "GetObject",
        .arn = arena_printf(call->arena, "arn:aws:s3:::%.*s", BYTES_FMT(name)),
    };
    return call->caller == NULL || operation_may(call, &question);
}

static bool read_asset(struct api_call *call, struct bytes url, struct bytes *out)
{
    struct stack_blob blob;
    struct bytes name = asset_of_url(call->arena, url);
    if (name.len == 0 || name.data[0] == '/') /* No bucket: see uploads in stacks.h. */
        return error_validation(&call->error, "TemplateURL must be a supported URL.");
    if (!may_read_asset(call, name))
        return false;
    enum engine_status status = stacks_read_asset(api_stacks(call->api), call->arena, name, &blob);
    if (status == ENGINE_NOT_FOUND)
        return error_validation(&call->error, "S3 error: The specified key does not exist.");
    if (status != ENGINE_OK) {
        storage_error_set(&call->error, status, call->operation->name);
        return false;
    }
    *out = blob.bytes;
    return true;
}

bool stack_request_template(struct api_call *call, struct bytes body, struct bytes url,
                            bool use_previous, const struct stack *stack, struct bytes *out)
{
    if ((body.data != NULL) + (url.data != NULL) + use_previous != 1)
        return error_validation(&call->error,
                                "Either Template URL or Template Body must be specified.");
    if (use_previous) {
        enum engine_status status =
            stack == NULL ? ENGINE_NOT_FOUND
                          : stacks_read_template(api_stacks(call->api), call->arena,
                                                 stack->head.stack_uid, STACK_TEMPLATE_NOW, out);
        if (status == ENGINE_OK)
            return true;
        return error_validation(&call->error, "There is no previous template");
    }
    *out = body;
    if (url.data != NULL && !read_asset(call, url, out))
        return false;
    if (out->len == 0 || out->len > STACK_TEMPLATE_SIZE_MAX)
        return error_validation(&call->error,
                                "1 validation error detected: Value at 'templateBody' failed to "
                                "satisfy constraint: Member must have length less than or equal "
                                "to %d",
                                STACK_TEMPLATE_SIZE_MAX);
    return utf8_prefix(*out, out->len) == out->len ||
           error_validation(&call->error, "Template format error: unsupported encoding.");
}

/* --- Capabilities --- */

static bool is_iam(struct bytes type)
{
    static const char *const types[] = { "AWS::IAM::AccessKey",
                                         "AWS::IAM::Group",
                                         "AWS::IAM::InstanceProfile",
                                         "AWS::IAM::ManagedPolicy",
                                         "AWS::IAM::Policy",
                                         "AWS::IAM::Role",
                                         "AWS::IAM::RolePolicy",
                                         "AWS::IAM::User",
                                         "AWS::IAM::UserPolicy",
                                         "AWS::IAM::GroupPolicy",
                                         "AWS::IAM::UserToGroupAddition" };
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (bytes_equal_text(type, types[i]))
            return true;
    return false;
}

/* Whether a resource of IAM has a name of its own. */
static bool has_named_iam(const struct template *template)
{
    static const char *const names[] = { "RoleName",   "UserName",          "GroupName",
                                         "PolicyName", "ManagedPolicyName", "InstanceProfileName" };
    const struct node *resources = node_get(template_document(template), "Resources");
    for (size_t i = 0; resources != NULL && i < resources->count; i++) {
        const struct node *resource = resources->members[i].value;
        struct bytes type = node_text(resource, "Type");
        if (type.data == NULL || !is_iam(type) || bytes_equal_text(type, "AWS::IAM::Policy"))
            continue;
        for (size_t j = 0; j < COUNT_OF(names); j++)
            if (node_get(node_get(resource, "Properties"), names[j]) != NULL)
                return true;
    }
    return false;
}

size_t stack_request_needs(const struct template *template, struct bytes out[2],
                           struct bytes *iam_type)
{
    size_t type_count, transform_count, count = 0;
    const struct bytes *types = template_resource_types(template, &type_count);
    template_transforms(template, &transform_count);
    *iam_type = (struct bytes){ 0 };
    for (size_t i = 0; i < type_count && iam_type->data == NULL; i++)
        if (is_iam(types[i]))
            *iam_type = types[i];
    if (iam_type->data != NULL)
        out[count++] =
            has_named_iam(template) ? BYTES("CAPABILITY_NAMED_IAM") : BYTES("CAPABILITY_IAM");
    if (transform_count > 0)
        out[count++] = BYTES("CAPABILITY_AUTO_EXPAND");
    return count;
}

static bool has_capability(const struct stack_settings *settings, struct bytes wanted)
{
    const struct bytes *given = settings->capabilities.elements;
    for (size_t i = 0; i < settings->capabilities.kept; i++)
        if (bytes_equal(given[i], wanted) || (bytes_equal_text(wanted, "CAPABILITY_IAM") &&
                                              bytes_equal_text(given[i], "CAPABILITY_NAMED_IAM")))
            return true;
    return false;
}

static bool check_capabilities(struct api_call *call, const struct template *template,
                               const struct stack_settings *settings)
{
    struct bytes needs[2], type;
    size_t count = stack_request_needs(template, needs, &type);
    for (size_t i = 0; i < count; i++)
        if (!has_capability(settings, needs[i]))
            return error_set(&call->error, ERROR_CFN_INSUFFICIENT_CAPABILITIES,
                             "Requires capabilities : [%.*s]", BYTES_FMT(needs[i]));
    return true;
}

/* --- Settings --- */

static const struct stack_pair *find_pair(const struct shape_list *list, struct bytes key)
{
    const struct stack_pair *const *pairs = list->elements;
    for (size_t i = 0; i < list->kept; i++)
        if (bytes_equal(pairs[i]->key, key))
            return pairs[i];
    return NULL;
}

static void add_pair(struct arena *arena, struct shape_list *list, struct bytes key,
                     struct bytes value)
{
    struct stack_pair **pairs = list->elements;
    struct stack_pair *pair = arena_alloc(arena, sizeof *pair);
    *pair = (struct stack_pair){ key, value };
    pairs[list->kept++] = pair;
    list->count = list->kept;
    list->present = true;
}

static bool read_parameters(struct api_call *call, const struct shape_list *requested,
                            const struct stack *stack, struct shape_list *out)
{
    const struct stack_parameter_request *const *requests = requested->elements;
    *out = (struct shape_list){
        .elements = arena_alloc(call->arena, STACK_PARAMETERS_MAX * sizeof(struct stack_pair *))
    };
    for (size_t i = 0; i < requested->kept; i++) {
        const struct stack_parameter_request *request = requests[i];
        const struct stack_pair *known =
            stack == NULL ? NULL : find_pair(&stack->settings->parameters, request->key);
        bool previous = request->use_previous.value;
        if (request->key.data == NULL || (request->value.data == NULL && !previous))
            return error_validation(&call->error, "Parameters must have a key and a value");
        if (previous && known == NULL)
            return error_validation(&call->error,
                                    "Invalid input for parameter key %.*s. Cannot specify "
                                    "usePreviousValue as true for a parameter key not in the "
                                    "previous template",
                                    BYTES_FMT(request->key));
        if (find_pair(out, request->key) != NULL)
            return error_validation(&call->error, "Parameters: [%.*s] are given more than once",
                                    BYTES_FMT(request->key));
        add_pair(call->arena, out, request->key, previous ? known->value : request->value);
    }
    return true;
}

static bool read_tags(struct api_call *call, const struct shape_list *requested,
                      struct shape_list *out)
{
    const struct stack_tag_request *const *requests = requested->elements;
    *out = (struct shape_list){ .elements = arena_alloc(
                                    call->arena, STACK_TAGS_MAX * sizeof(struct stack_pair *)) };
    for (size_t i = 0; i < requested->kept; i++) {
        if (bytes_starts_with(requests[i]->key, BYTES("aws:")))
            return error_validation(&call->error,
                                    "Tag keys must not start with aws:, which is reserved");
        if (find_pair(out, requests[i]->key) != NULL)
            return error_validation(&call->error, "Duplicate tag keys are not allowed");
        add_pair(call->arena, out, requests[i]->key, requests[i]->value);
    }
    return true;
}

/* What would otherwise be accepted and have no effect. */
static bool refuse_unsupported(struct api_call *call, const struct stack_deploy_request *request)
{
    const struct stack_rollback_request *rollback = request->rollback;
    bool monitors =
        rollback != NULL && (rollback->triggers.kept > 0 || rollback->minutes.value > 0);
    const char *what = request->policy_body.data != NULL || request->policy_url.data != NULL
                           ? "StackPolicyBody"
                       : monitors                                ? "RollbackConfiguration"
                       : request->notifications.kept > 0         ? "NotificationARNs"
                       : request->resource_types.kept > 0        ? "ResourceTypes"
                       : request->retains_except_on_create.value ? "RetainExceptOnCreate"
                       : request->imports_existing.value         ? "ImportExistingResources"
                                                                 : NULL;
    return what == NULL ||
           error_validation(&call->error, "stator does not support %s. Leave it out.", what);
}

bool stack_request_settings(struct api_call *call, const struct stack_deploy_request *request,
                            const struct stack *stack, struct stack_settings **out)
{
    struct stack_settings *settings = arena_alloc_zeroed(call->arena, sizeof *settings);
    if (!refuse_unsupported(call, request))
        return false;
    if (!read_parameters(call, &request->parameters, stack, &settings->parameters))
        return false;
    if (request->tags.present || stack == NULL) {
        if (!read_tags(call, &request->tags, &settings->tags))
            return false;
    } else {
        settings->tags = stack->settings->tags;
    }
    settings->capabilities = request->capabilities;
    settings->notifications = request->notifications.present || stack == NULL
                                  ? request->notifications
                                  : stack->settings->notifications;
    if (settings->capabilities.kept > STACK_CAPABILITIES_MAX ||
        settings->notifications.kept > STACK_ARNS_MAX)
        return error_validation(&call->error,
                                "At most %d capabilities and %d notification ARNs are allowed",
                                STACK_CAPABILITIES_MAX, STACK_ARNS_MAX);
    settings->role_arn = request->role_arn.data != NULL || stack == NULL
                             ? request->role_arn
                             : stack->settings->role_arn;
    *out = settings;
    return true;
}

static bool refuse_long(struct api_call *call, const char *what, struct bytes id, int size_max)
{
    size_t shown = utf8_prefix(id, STACK_LOGICAL_ID_SIZE_MAX);
    return error_validation(&call->error,
                            "Template format error: %s [%.*s] is longer than %d bytes", what,
                            (int)shown, (const char *)id.data, size_max);
}

/* What a deployment will store. The driver looks again: some values are known only then. */
static bool check_texts(struct api_call *call, const struct template_result *result)
{
    for (size_t i = 0; i < result->resource_count; i++) {
        const struct template_resource *resource = &result->resources[i];
        if (resource->logical_id.len > STACK_LOGICAL_ID_SIZE_MAX)
            return refuse_long(call, "Logical id", resource->logical_id, STACK_LOGICAL_ID_SIZE_MAX);
        if (resource->type.len > STACK_TYPE_SIZE_MAX)
            return refuse_long(call, "The type of resource", resource->logical_id,
                               STACK_TYPE_SIZE_MAX);
        if (resource->physical_id.len > STACK_TEXT_SIZE_MAX)
            return refuse_long(call, "The name of resource", resource->logical_id,
                               STACK_TEXT_SIZE_MAX);
    }
    for (size_t i = 0; i < result->output_count; i++) {
        const struct template_output *output = &result->outputs[i];
        if (output->name.len > STACK_LOGICAL_ID_SIZE_MAX)
            return refuse_long(call, "Output", output->name, STACK_LOGICAL_ID_SIZE_MAX);
        if (output->value.len > STACK_TEXT_SIZE_MAX ||
            output->description.len > STACK_TEXT_SIZE_MAX ||
            output->export_name.len > STACK_TEXT_SIZE_MAX)
            return refuse_long(call, "The value, description or export of output", output->name,
                               STACK_TEXT_SIZE_MAX);
    }
    return true;
}

bool stack_request_check_records(struct api_call *call, const struct stack *stack,
                                 const struct stack_evaluation *evaluation)
{
    const struct stacks *stacks = api_stacks(call->api);
    const struct template_result *result = evaluation->result;
    size_t first;
    if (!check_texts(call, result))
        return false;
    if (stacks_fill_memory(stacks))
        return error_set(&call->error, ERROR_CFN_LIMIT_EXCEEDED,
                         "All stacks together take more than %d MB of memory. Delete stacks or "
                         "change sets first.",
                         STACKS_MEMORY_MAX / 1024 / 1024);
    size_t count = stacks_of(stacks, STACK_RESOURCE, stack->head.stack_uid, &first);
    for (size_t i = 0; i < result->resource_count; i++)
        count += stacks_find_resource(stacks, stack->head.stack_uid,
                                      result->resources[i].logical_id) == NULL;
    return count <= STACK_RESOURCE_RECORDS_MAX ||
           error_set(&call->error, ERROR_CFN_LIMIT_EXCEEDED,
                     "Stack [%.*s] would have more than %d resources, with those that failed "
                     "updates left. Update it to a smaller template first.",
                     BYTES_FMT(stack->name), STACK_RESOURCE_RECORDS_MAX);
}

/* All parameters of the template, with their defaults; those of SSM's types by the names of what
 * they stand for. */
static void complete_parameters(struct arena *arena, const struct stack_evaluation *evaluation,
                                struct stack_settings *settings)
{
    size_t count;
    const struct template_parameter *declared = template_parameters(evaluation->template, &count);
    struct shape_list given = settings->parameters;
    settings->parameters =
        (struct shape_list){ .elements =
                                 arena_alloc(arena, (count + 1) * sizeof(struct stack_pair *)) };
    struct bytes *hidden = arena_alloc(arena, (count + 1) * sizeof *hidden);
    settings->no_echo = (struct shape_list){ .elements = hidden };
    for (size_t i = 0; i < count; i++) {
        const struct stack_pair *pair = find_pair(&given, declared[i].name);
        struct bytes value = pair != NULL ? pair->value : declared[i].default_value;
        if (value.data != NULL)
            add_pair(arena, &settings->parameters, declared[i].name, value);
        if (declared[i].no_echo) {
            hidden[settings->no_echo.kept++] = declared[i].name;
            settings->no_echo.count = settings->no_echo.kept;
            settings->no_echo.present = true;
        }
    }
    settings->imported = evaluation->imported;
    settings->description = template_description(evaluation->template);
}

/* By the setting foreign-resources. The CDK's own record of its version is in every template. */
static bool check_foreign(struct api_call *call, const struct template_result *result)
{
    for (size_t i = 0;
         api_options(call->api)->refuse_foreign_resources && i < result->resource_count; i++) {
        const struct template_resource *resource = &result->resources[i];
        if (resource->kind == TEMPLATE_KIND_FOREIGN &&
            !bytes_equal_text(resource->type, "AWS::CDK::Metadata"))
            return error_validation(&call->error,
                                    "Template format error: Unrecognized resource types: [%.*s]",
                                    BYTES_FMT(resource->type));
    }
    return true;
}

bool stack_request_evaluate(struct api_call *call, const struct stack *stack, struct bytes text,
                            struct stack_settings *settings, struct stack_evaluation *out)
{
    *out = (struct stack_evaluation){ 0 };
    if (!stack_evaluate(out, call->api, call->arena, stack, text, settings))
        return error_set_bytes(&call->error, ERROR_VALIDATION, out->message);
    if (!check_capabilities(call, out->template, settings) || !check_foreign(call, out->result))
        return false;
    complete_parameters(call->arena, out, settings);
    return true;
}
