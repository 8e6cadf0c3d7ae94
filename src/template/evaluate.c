/* evaluate.c -- the evaluation of a template, from parameters to resources in order and outputs.
 *
 * Conditions come first, then resources whose condition holds, then their order, then outputs.
 * Resources of other services are not evaluated.
 */
#include <assert.h>
#include "base/buffer.h"
#include "template/evaluation.h"
#include "template/resource_types.h"

enum { NOTICES_FIRST = 16 };

bool evaluation_count(struct evaluation *evaluation, size_t nodes, size_t text, unsigned line)
{
    evaluation->nodes += nodes;
    evaluation->text += text;
    if (evaluation->nodes > TEMPLATE_NODES_MAX)
        return template_error_set(evaluation->arena, evaluation->err, line,
                                  "evaluating the template takes more than %d values",
                                  TEMPLATE_NODES_MAX);
    if (evaluation->text > TEMPLATE_TEXT_MAX)
        return template_error_set(evaluation->arena, evaluation->err, line,
                                  "evaluating the template makes more than %d bytes of text",
                                  TEMPLATE_TEXT_MAX);
    return true;
}

/* Recursion is bounded by the depth of a document. */
bool evaluation_count_tree(struct evaluation *evaluation, const struct node *node, unsigned line)
{
    if (!evaluation_count(evaluation, 1, node->text.len, line))
        return false;
    for (size_t i = 0; i < node->count; i++) {
        const struct node_member *member = &node->members[i];
        if (!evaluation_count(evaluation, 0, member->name.len, line) ||
            !evaluation_count_tree(evaluation, member->value, line))
            return false;
    }
    return true;
}

bool evaluation_enter(struct evaluation *evaluation, unsigned line)
{
    if (evaluation->depth == TEMPLATE_EVALUATION_DEPTH_MAX)
        return template_error_set(evaluation->arena, evaluation->err, line,
                                  "functions and references are nested deeper than %d levels",
                                  TEMPLATE_EVALUATION_DEPTH_MAX);
    evaluation->depth++;
    return true;
}

void evaluation_notice(struct evaluation *evaluation, struct bytes logical_id, unsigned line,
                       struct bytes message)
{
    if (evaluation->notice_count == evaluation->notice_capacity) {
        size_t old = evaluation->notice_capacity, capacity = old == 0 ? NOTICES_FIRST : old * 2;
        evaluation->notices =
            arena_grow(evaluation->arena, evaluation->notices, old * sizeof *evaluation->notices,
                       capacity * sizeof *evaluation->notices);
        evaluation->notice_capacity = capacity;
    }
    evaluation->notices[evaluation->notice_count++] =
        (struct template_notice){ evaluation->template->file, line, logical_id, message };
}

struct evaluation_resource *evaluation_find(struct evaluation *evaluation, struct bytes name)
{
    for (size_t i = 0; i < evaluation->resource_count; i++) {
        if (bytes_equal(evaluation->resources[i].declaration->name, name))
            return &evaluation->resources[i];
    }
    return NULL;
}

/* --- Start --- */

static struct bytes or_text(struct bytes value, struct bytes otherwise)
{
    return value.data != NULL ? value : otherwise;
}

static void fill_environment(struct evaluation *evaluation,
                             const struct template_environment *given)
{
    struct template_environment *environment = &evaluation->environment;
    *environment = *given;
    environment->stack_name = or_text(given->stack_name, BYTES("stack"));
    environment->region = or_text(given->region, BYTES("us-east-1"));
    environment->account_id = or_text(given->account_id, BYTES("000000000000"));
    environment->partition = or_text(given->partition, BYTES("aws"));
    environment->url_suffix = or_text(given->url_suffix, BYTES("amazonaws.com"));
    if (given->stack_id.data == NULL)
        environment->stack_id =
            arena_printf(evaluation->arena, "arn:%.*s:cloudformation:%.*s:%.*s:stack/%.*s/0",
                         BYTES_FMT(environment->partition), BYTES_FMT(environment->region),
                         BYTES_FMT(environment->account_id), BYTES_FMT(environment->stack_name));
}

static bool expand_section(struct evaluation *evaluation, const struct node *section,
                           const struct node **out)
{
    *out = section;
    if (section == NULL || !evaluation->template->has_language_extensions)
        return true;
    *out = evaluation_expand(evaluation, section);
    return *out != NULL;
}

/* Application Auto Scaling serves other services too. */
static bool scales_other_service(const struct node *declaration)
{
    const struct node *properties = node_get(declaration, "Properties");
    struct bytes service = node_text(properties, "ServiceNamespace");
    struct bytes dimension = node_text(properties, "ScalableDimension");
    return (service.data != NULL && !bytes_equal_text(service, "dynamodb")) ||
           (dimension.data != NULL && !bytes_starts_with(dimension, BYTES("dynamodb:")));
}

static bool check_type(struct evaluation *evaluation, struct evaluation_resource *resource)
{
    const struct node *declaration = resource->declaration->value;
    struct bytes type = node_text(declaration, "Type");
    if (declaration->kind != NODE_MAP || type.data == NULL)
        return template_error_set(evaluation->arena, evaluation->err, resource->declaration->line,
                                  "Template format error: [/Resources/%.*s] Every Resources "
                                  "object must contain a Type member.",
                                  BYTES_FMT(resource->declaration->name));
    resource->type = resource_type_find(type);
    if (resource->type != NULL &&
        (resource->type->kind == TEMPLATE_KIND_SCALABLE_TARGET ||
         resource->type->kind == TEMPLATE_KIND_SCALING_POLICY) &&
        scales_other_service(declaration))
        resource->type = NULL;
    if (bytes_starts_with(type, BYTES("AWS::Serverless::")) &&
        !evaluation->template->has_serverless)
        return template_error_set(evaluation->arena, evaluation->err, declaration->line,
                                  "Template format error: Unrecognized resource types: [%.*s]",
                                  BYTES_FMT(type));
    return true;
}

static bool start_resources(struct evaluation *evaluation)
{
    const struct node *section = evaluation->resource_section;
    size_t count = section->count;
    if (count > TEMPLATE_RESOURCES_MAX)
        return template_error_set(evaluation->arena, evaluation->err, section->line,
                                  "Template format error: Number of resources, %zu, is greater "
                                  "than maximum allowed, %d",
                                  count, TEMPLATE_RESOURCES_MAX);
    evaluation->resources =
        arena_alloc_zeroed(evaluation->arena, (count + 1) * sizeof *evaluation->resources);
    evaluation->resource_count = count;
    for (size_t i = 0; i < count; i++) {
        struct evaluation_resource *resource = &evaluation->resources[i];
        resource->declaration = &section->members[i];
        resource->depends_on = arena_alloc_zeroed(evaluation->arena, count);
        if (!check_type(evaluation, resource))
            return false;
        const struct node *condition = node_get(resource->declaration->value, "Condition");
        resource->exists = true;
        if (condition != NULL &&
            !evaluation_condition(evaluation, condition->text, condition->line, &resource->exists))
            return false;
    }
    return true;
}

/* --- One resource --- */

static bool read_policy(struct evaluation *evaluation, const struct node *declaration,
                        const char *name, enum template_policy *out)
{
    const struct node *node = node_get(declaration, name);
    *out = TEMPLATE_DELETE;
    if (node == NULL)
        return true;
    node = evaluation_scalar(evaluation, node, name);
    if (node == NULL)
        return false;
    if (bytes_equal_text(node->text, "Delete"))
        return true;
    if (bytes_equal_text(node->text, "Retain"))
        *out = TEMPLATE_RETAIN;
    else if (bytes_equal_text(node->text, "RetainExceptOnCreate"))
        *out = TEMPLATE_RETAIN_EXCEPT_ON_CREATE;
    else
        return template_error_set(evaluation->arena, evaluation->err, node->line,
                                  "Template error: resource type %.*s does not support the %s "
                                  "%.*s",
                                  BYTES_FMT(node_text(declaration, "Type")), name,
                                  BYTES_FMT(node->text));
    return true;
}

static bool depend_on(struct evaluation *evaluation, struct evaluation_resource *resource,
                      const struct node *name)
{
    struct evaluation_resource *other =
        name->kind == NODE_STRING ? evaluation_find(evaluation, name->text) : NULL;
    if (other == NULL)
        return template_error_set(evaluation->arena, evaluation->err, name->line,
                                  "Template format error: Unresolved resource dependencies "
                                  "[%.*s] in the Resources block of the template",
                                  BYTES_FMT(name->kind == NODE_STRING ? name->text : BYTES("?")));
    if (other->exists)
        resource->depends_on[other - evaluation->resources] = true;
    return true;
}

static bool read_depends_on(struct evaluation *evaluation, struct evaluation_resource *resource)
{
    const struct node *node = node_get(resource->declaration->value, "DependsOn");
    if (node == NULL || node->kind == NODE_NULL)
        return true;
    if (node->kind != NODE_LIST)
        return depend_on(evaluation, resource, node);
    for (size_t i = 0; i < node->count; i++) {
        if (!depend_on(evaluation, resource, node->members[i].value))
            return false;
    }
    return true;
}

static bool check_attributes(struct evaluation *evaluation, const struct node *declaration)
{
    static const char *const known[] = { "Type",         "Properties",     "DependsOn",
                                         "Condition",    "Metadata",       "DeletionPolicy",
                                         "UpdatePolicy", "CreationPolicy", "UpdateReplacePolicy",
                                         "Description",  "Connectors" };
    for (size_t i = 0; i < declaration->count; i++) {
        const struct node_member *member = &declaration->members[i];
        bool is_known = false;
        for (size_t k = 0; k < COUNT_OF(known); k++)
            is_known |= bytes_equal_text(member->name, known[k]);
        if (!is_known)
            return template_error_set(evaluation->arena, evaluation->err, member->line,
                                      "Invalid template resource property '%.*s'",
                                      BYTES_FMT(member->name));
    }
    return true;
}

static bool evaluate_properties(struct evaluation *evaluation, struct evaluation_resource *resource)
{
    const struct node *declared = node_get(resource->declaration->value, "Properties");
    const struct node *value = NULL;
    if (declared == NULL || declared->kind == NODE_NULL)
        value = node_create(evaluation->arena, NODE_MAP, resource->declaration->line);
    else
        value = evaluation_value(evaluation, declared);
    if (value == NULL)
        return false;
    if (value->kind != NODE_MAP)
        return template_error_set(evaluation->arena, evaluation->err, declared->line,
                                  "Template format error: [/Resources/%.*s/Properties] must be an "
                                  "object.",
                                  BYTES_FMT(resource->declaration->name));
    resource->result.properties = value;
    return true;
}

static bool skip_foreign(struct evaluation *evaluation, struct evaluation_resource *resource)
{
    struct template_resource *result = &resource->result;
    if (evaluation->environment.refuse_foreign)
        return template_error_set(evaluation->arena, evaluation->err, result->line,
                                  "Template format error: Unrecognized resource types: [%.*s]",
                                  BYTES_FMT(result->type));
    result->physical_id = result->logical_id;
    evaluation_notice(evaluation, result->logical_id, result->line,
                      arena_printf(evaluation->arena, "skipped: %.*s", BYTES_FMT(result->type)));
    return true;
}

static bool evaluate_resource(struct evaluation *evaluation, struct evaluation_resource *resource)
{
    const struct node *declaration = resource->declaration->value;
    resource->result = (struct template_resource){
        .logical_id = resource->declaration->name,
        .type = node_text(declaration, "Type"),
        .file = evaluation->template->file,
        .line = resource->declaration->line,
        .kind = resource->type == NULL ? TEMPLATE_KIND_FOREIGN : resource->type->kind,
        .is_partial = evaluation->template->format == TEMPLATE_CREATE_TABLE ||
                      evaluation->template->format == TEMPLATE_DESCRIBE_TABLE,
    };
    if (!check_attributes(evaluation, declaration) || !read_depends_on(evaluation, resource))
        return false;
    if (resource->type == NULL)
        return skip_foreign(evaluation, resource);
    evaluation->current = resource;
    bool ok =
        evaluation_name(evaluation, resource, resource->result.line) &&
        read_policy(evaluation, declaration, "DeletionPolicy", &resource->result.deletion_policy) &&
        read_policy(evaluation, declaration, "UpdateReplacePolicy",
                    &resource->result.update_replace_policy) &&
        evaluate_properties(evaluation, resource);
    evaluation->current = NULL;
    resource->result.physical_id = resource->name;
    if (ok)
        resource->result.arn = evaluation_arn(evaluation, resource);
    resource->result.has_own_name = resource->has_own_name;
    return ok && resource->type->build(evaluation, &resource->result);
}

static bool evaluate_resources(struct evaluation *evaluation)
{
    for (size_t i = 0; i < evaluation->resource_count; i++) {
        struct evaluation_resource *resource = &evaluation->resources[i];
        if (resource->exists && !evaluate_resource(evaluation, resource))
            return false;
    }
    return true;
}

/* --- Order --- */

static bool is_ready(const struct evaluation *evaluation,
                     const struct evaluation_resource *resource)
{
    for (size_t i = 0; i < evaluation->resource_count; i++) {
        if (resource->depends_on[i] && !evaluation->resources[i].is_placed)
            return false;
    }
    return true;
}

static void list_dependencies(struct evaluation *evaluation, struct evaluation_resource *resource)
{
    struct bytes *names =
        arena_alloc(evaluation->arena, (evaluation->resource_count + 1) * sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < evaluation->resource_count; i++) {
        if (resource->depends_on[i])
            names[count++] = evaluation->resources[i].declaration->name;
    }
    resource->result.depends_on = names;
    resource->result.depends_on_count = count;
}

static bool refuse_circle(struct evaluation *evaluation)
{
    struct buffer names;
    unsigned line = 0;
    buffer_init(&names, evaluation->arena);
    for (size_t i = 0; i < evaluation->resource_count; i++) {
        const struct evaluation_resource *resource = &evaluation->resources[i];
        if (!resource->exists || resource->is_placed)
            continue;
        if (names.len > 0)
            buffer_append_bytes(&names, BYTES(", "));
        buffer_append_bytes(&names, resource->declaration->name);
        line = line == 0 ? resource->declaration->line : line;
    }
    return template_error_set(evaluation->arena, evaluation->err, line,
                              "Circular dependency between resources: [%.*s]",
                              BYTES_FMT(buffer_bytes(&names)));
}

/* The first resource of the document that can be created comes next. */
static bool order_resources(struct evaluation *evaluation, struct template_result *result)
{
    struct template_resource *list =
        arena_alloc(evaluation->arena, (evaluation->resource_count + 1) * sizeof *list);
    size_t wanted = 0;
    for (size_t i = 0; i < evaluation->resource_count; i++)
        wanted += evaluation->resources[i].exists;
    result->resources = list;
    while (result->resource_count < wanted) {
        struct evaluation_resource *next = NULL;
        for (size_t i = 0; i < evaluation->resource_count && next == NULL; i++) {
            struct evaluation_resource *resource = &evaluation->resources[i];
            if (resource->exists && !resource->is_placed && is_ready(evaluation, resource))
                next = resource;
        }
        if (next == NULL)
            return refuse_circle(evaluation);
        next->is_placed = true;
        list_dependencies(evaluation, next);
        list[result->resource_count++] = next->result;
    }
    return true;
}

/* --- Outputs --- */

static bool text_of_output(struct evaluation *evaluation, const struct node *node,
                           struct bytes *out)
{
    if (node_is_scalar(node)) {
        *out = node->text;
        return true;
    }
    struct buffer text;
    buffer_init(&text, evaluation->arena);
    for (size_t i = 0; node->kind == NODE_LIST && i < node->count; i++) {
        const struct node *element = node->members[i].value;
        if (!node_is_scalar(element) || !evaluation_count(evaluation, 1, element->text.len, 0))
            return false;
        if (i > 0)
            buffer_append_byte(&text, ',');
        buffer_append_bytes(&text, element->text);
    }
    *out = buffer_bytes(&text);
    return node->kind == NODE_LIST;
}

static bool evaluate_output(struct evaluation *evaluation, const struct node_member *member,
                            struct template_output *output)
{
    const struct node *value = node_get(member->value, "Value");
    const struct node *export = node_get(member->value, "Export");
    *output = (struct template_output){ .name = member->name,
                                        .description = node_text(member->value, "Description") };
    if (value != NULL)
        value = evaluation_value(evaluation, value);
    if (evaluation->err->message.data != NULL)
        return false;
    if (value == NULL || evaluation_is_no_value(evaluation, value) ||
        !text_of_output(evaluation, value, &output->value))
        return template_error_set(evaluation->arena, evaluation->err, member->line,
                                  "Template format error: Output %.*s is malformed. The Value "
                                  "field of every Outputs member must evaluate to a String.",
                                  BYTES_FMT(member->name));
    output->is_foreign = node_find_foreign(value) != NULL;
    output->is_pending = node_find_pending(value) != NULL;
    if (export == NULL)
        return true;
    const struct node *name = node_get(export, "Name");
    if (name == NULL)
        return template_error_set(evaluation->arena, evaluation->err, export->line,
                                  "Template format error: Output %.*s is malformed. The Export "
                                  "needs a Name.",
                                  BYTES_FMT(member->name));
    name = evaluation_scalar(evaluation, name, "Export.Name");
    output->export_name = name == NULL ? (struct bytes){ 0 } : name->text;
    return name != NULL;
}

static bool evaluate_outputs(struct evaluation *evaluation, struct template_result *result)
{
    const struct node *section = evaluation->outputs;
    if (section == NULL)
        return true;
    if (section->count > TEMPLATE_OUTPUTS_MAX)
        return template_error_set(evaluation->arena, evaluation->err, section->line,
                                  "Template format error: Number of outputs, %zu, is greater than "
                                  "maximum allowed, %d",
                                  section->count, TEMPLATE_OUTPUTS_MAX);
    struct template_output *list =
        arena_alloc(evaluation->arena, (section->count + 1) * sizeof *list);
    result->outputs = list;
    for (size_t i = 0; i < section->count; i++) {
        const struct node_member *member = &section->members[i];
        const struct node *condition = node_get(member->value, "Condition");
        bool holds = true;
        if (condition != NULL &&
            !evaluation_condition(evaluation, condition->text, condition->line, &holds))
            return false;
        if (holds && !evaluate_output(evaluation, member, &list[result->output_count]))
            return false;
        result->output_count += holds;
    }
    return true;
}

/* --- All --- */

struct template_result *template_evaluate(struct arena *arena, const struct template *template,
                                          const struct template_environment *environment,
                                          struct template_error *err)
{
    struct template_result *result = arena_alloc_zeroed(arena, sizeof *result);
    struct evaluation evaluation = { .arena = arena, .template = template, .err = err };
    *err = (struct template_error){ .file = template->file };
    fill_environment(&evaluation, environment);
    bool ok = evaluation_parameters(&evaluation, result) &&
              expand_section(&evaluation, template->conditions, &evaluation.conditions) &&
              expand_section(&evaluation, template->resources, &evaluation.resource_section) &&
              expand_section(&evaluation, template->outputs, &evaluation.outputs) &&
              evaluation_all_conditions(&evaluation) && start_resources(&evaluation) &&
              evaluate_resources(&evaluation) && order_resources(&evaluation, result) &&
              evaluate_outputs(&evaluation, result);
    result->notices = evaluation.notices;
    result->notice_count = evaluation.notice_count;
    assert(ok == (err->message.data == NULL));
    return ok ? result : NULL;
}

const struct template_resource *template_find(const struct template_result *result,
                                              struct bytes logical_id)
{
    for (size_t i = 0; i < result->resource_count; i++) {
        if (bytes_equal(result->resources[i].logical_id, logical_id))
            return &result->resources[i];
    }
    return NULL;
}
