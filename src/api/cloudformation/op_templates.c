/* op_templates.c -- GetTemplate, GetTemplateSummary, ValidateTemplate. */
#include "api/cloudformation/stack_request.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "json/writer.h"
#include "table/storage_error.h"
#include "template/node.h"

struct template_question {
    struct bytes name; /* First: see stack_request_admits. */
    struct bytes set_name;
    struct bytes stage;
    struct bytes body;
    struct bytes url;
};

static const char *const stages[] = { "Original", "Processed", NULL };
static const struct shape stage_shape = { .kind = SHAPE_STRING,
                                          .enum_values = stages,
                                          SHAPE_UNBOUNDED };
#define NAME_FIELD                                                                                 \
    {                                                                                              \
        SHAPE_FIELD(struct template_question, name, "StackName", &stack_request_name)              \
    }
#define TEMPLATE_FIELDS                                                                            \
    { SHAPE_FIELD(struct template_question, body, "TemplateBody", &stack_request_text) },          \
    {                                                                                              \
        SHAPE_FIELD(struct template_question, url, "TemplateURL", &stack_request_text)             \
    }
static const struct shape_field get_fields[] = {
    NAME_FIELD,
    { SHAPE_FIELD(struct template_question, set_name, "ChangeSetName", &stack_request_text) },
    { SHAPE_FIELD(struct template_question, stage, "TemplateStage", &stage_shape) },
};
static const struct shape get_shape = { SHAPE_STRUCTURE_OF(struct template_question, get_fields),
                                        .type_name = "GetTemplateInput" };
static const struct shape_field summary_fields[] = { NAME_FIELD, TEMPLATE_FIELDS };
static const struct shape summary_shape = { SHAPE_STRUCTURE_OF(struct template_question,
                                                               summary_fields),
                                            .type_name = "GetTemplateSummaryInput" };
static const struct shape_field validate_fields[] = { TEMPLATE_FIELDS };
static const struct shape validate_shape = { SHAPE_STRUCTURE_OF(struct template_question,
                                                                validate_fields),
                                             .type_name = "ValidateTemplateInput" };

/* The template of a stack or of one of its change sets. */
static bool read_stored(struct api_call *call, const struct template_question *request,
                        struct bytes *text)
{
    struct stacks *stacks = api_stacks(call->api);
    struct bytes which = STACK_TEMPLATE_NOW;
    if (request->name.data == NULL)
        return error_validation(&call->error, "StackName is required");
    stacks_lock(stacks);
    const struct stack *stack = stack_request_require(call, request->name);
    const struct stack_change_set *set = NULL;
    if (stack != NULL && request->set_name.data != NULL) {
        set = stack_request_find_set(call, stack, request->set_name);
        if (set == NULL)
            error_set(&call->error, ERROR_CFN_CHANGE_SET_NOT_FOUND,
                      "ChangeSet [%.*s] does not exist", BYTES_FMT(request->set_name));
        else
            which = set->head.id;
    }
    bool found = !error_is_set(&call->error);
    enum engine_status status =
        found ? stacks_read_template(stacks, call->arena, stack->head.stack_uid, which, text)
              : ENGINE_OK;
    stacks_unlock(stacks);
    if (!found)
        return false;
    if (status == ENGINE_NOT_FOUND) { /* A stack under review, which the CDK asks about. */
        *text = BYTES("{}");
        return true;
    }
    if (status != ENGINE_OK)
        storage_error_set(&call->error, status, call->operation->name);
    return status == ENGINE_OK;
}

static bool get(struct api_call *call, const struct template_question *request)
{
    struct bytes text;
    struct json_writer json;
    if (!read_stored(call, request, &text))
        return false;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    stack_request_write(&json, "TemplateBody", text);
    json_write_name(&json, "StagesAvailable");
    json_open_array(&json);
    json_write_text(&json, "Original");
    json_write_text(&json, "Processed");
    json_close_array(&json);
    json_close_object(&json);
    return true;
}

/* --- Summaries --- */

static void write_constraints(struct json_writer *json, const struct template_parameter *parameter)
{
    json_write_name(json, "ParameterConstraints");
    json_open_object(json);
    if (parameter->allowed_value_count > 0) {
        json_write_name(json, "AllowedValues");
        json_open_array(json);
        for (size_t i = 0; i < parameter->allowed_value_count; i++)
            json_write_string(json, parameter->allowed_values[i]);
        json_close_array(json);
    }
    json_close_object(json);
}

static void write_parameters(struct json_writer *json, const struct template *template,
                             bool is_summary)
{
    size_t count;
    const struct template_parameter *parameters = template_parameters(template, &count);
    json_write_name(json, "Parameters");
    json_open_array(json);
    for (size_t i = 0; i < count; i++) {
        json_open_object(json);
        stack_request_write(json, "ParameterKey", parameters[i].name);
        stack_request_write(json, "DefaultValue", parameters[i].default_value);
        if (is_summary)
            stack_request_write(json, "ParameterType", parameters[i].type);
        json_write_name(json, "NoEcho");
        json_write_bool(json, parameters[i].no_echo);
        stack_request_write(json, "Description", parameters[i].description);
        if (is_summary)
            write_constraints(json, &parameters[i]);
        json_close_object(json);
    }
    json_close_array(json);
}

static void write_list(struct json_writer *json, const char *name, const struct bytes *texts,
                       size_t count)
{
    json_write_name(json, name);
    json_open_array(json);
    for (size_t i = 0; i < count; i++)
        json_write_string(json, texts[i]);
    json_close_array(json);
}

static void write_capabilities(struct api_call *call, struct json_writer *json,
                               const struct template *template)
{
    struct bytes needs[2], type;
    size_t count = stack_request_needs(template, needs, &type);
    if (count == 0)
        return;
    write_list(json, "Capabilities", needs, count);
    if (type.data != NULL)
        stack_request_write(json, "CapabilitiesReason",
                            arena_printf(call->arena,
                                         "The following resource(s) require capabilities: [%.*s]",
                                         BYTES_FMT(type)));
}

static bool answer_summary(struct api_call *call, struct bytes text, bool is_summary)
{
    struct template_error err = { 0 };
    struct json_writer json;
    size_t count;
    const struct template *template = template_parse(call->arena, text, BYTES("template"), &err);
    if (template == NULL)
        return error_set_bytes(&call->error, ERROR_VALIDATION,
                               stack_evaluation_format_error(call->arena, &err));
    if (template_format(template) != TEMPLATE_CLOUDFORMATION)
        return error_validation(&call->error, "Template format error: At least one Resources "
                                              "member must be defined.");
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    write_parameters(&json, template, is_summary);
    stack_request_write(&json, "Description", template_description(template));
    write_capabilities(call, &json, template);
    const struct bytes *transforms = template_transforms(template, &count);
    write_list(&json, "DeclaredTransforms", transforms, count);
    if (is_summary) {
        const struct bytes *types = template_resource_types(template, &count);
        write_list(&json, "ResourceTypes", types, count);
        stack_request_write(&json, "Version",
                            node_text(template_document(template), "AWSTemplateFormatVersion"));
        const struct node *metadata = node_get(template_document(template), "Metadata");
        if (metadata != NULL)
            stack_request_write(&json, "Metadata", node_json(call->arena, metadata));
    }
    json_close_object(&json);
    return true;
}

static bool summarize(struct api_call *call, const struct template_question *request)
{
    struct bytes text;
    bool has_text = request->body.data != NULL || request->url.data != NULL;
    bool ok = has_text
                  ? stack_request_template(call, request->body, request->url, false, NULL, &text)
                  : read_stored(call, request, &text);
    return ok && answer_summary(call, text, true);
}

/* Validates the form of a template; values of parameters are not known. */
static bool validate(struct api_call *call, const struct template_question *request)
{
    struct bytes text;
    return stack_request_template(call, request->body, request->url, false, NULL, &text) &&
           answer_summary(call, text, false);
}

static bool admits_validation(struct api_call *call, const void *request)
{
    (void)request;
    return operation_may_use_account(call);
}

STACK_OPERATION(get_template, "GetTemplate", &get_shape, stack_request_admits, get)
STACK_OPERATION(get_template_summary, "GetTemplateSummary", &summary_shape, stack_request_admits,
                summarize)
STACK_OPERATION(validate_template, "ValidateTemplate", &validate_shape, admits_validation, validate)
