/* references.c -- Ref, Fn::GetAtt, Fn::Sub and dynamic references; the names of resources. */
#include <assert.h>
#include <string.h>
#include "base/buffer.h"
#include "template/evaluation.h"
#include "template/resource_types.h"

#define DYNAMIC_BEGIN "{{resolve:"
#define DYNAMIC_END "}}"

static struct node *make_text(struct evaluation *evaluation, struct bytes text, unsigned line)
{
    if (!evaluation_count(evaluation, 1, text.len, line))
        return NULL;
    return node_string(evaluation->arena, text, line);
}

static const struct node *refuse_unresolved(struct evaluation *evaluation, struct bytes name,
                                            unsigned line)
{
    if (evaluation->in_condition)
        template_error_set(evaluation->arena, evaluation->err, line,
                           "Template format error: Unresolved dependencies [%.*s]. Cannot "
                           "reference resources in the Conditions block of the template",
                           BYTES_FMT(name));
    template_error_set(evaluation->arena, evaluation->err, line,
                       "Template format error: Unresolved resource dependencies [%.*s] in the %s "
                       "block of the template",
                       BYTES_FMT(name), evaluation->current != NULL ? "Resources" : "Outputs");
    return NULL;
}

/* The resource that something refers to, noted as a dependency; NULL with the error set. */
static struct evaluation_resource *refer_to(struct evaluation *evaluation, struct bytes name,
                                            unsigned line)
{
    struct evaluation_resource *resource =
        evaluation->in_condition ? NULL : evaluation_find(evaluation, name);
    if (resource == NULL || !resource->exists) {
        (void)refuse_unresolved(evaluation, name, line);
        return NULL;
    }
    if (evaluation->current != NULL)
        evaluation->current->depends_on[resource - evaluation->resources] = true;
    return resource;
}

/* --- Names --- */

static bool ask(struct evaluation *evaluation, const struct evaluation_resource *resource,
                const char *attribute, struct bytes *value)
{
    const struct template_environment *environment = &evaluation->environment;
    return environment->attribute != NULL &&
           environment->attribute(environment->context, resource->declaration->name,
                                  bytes_from_text(attribute), value);
}

/* The value of a property, evaluated on its own; `*out` NULL: it has none. */
static bool property_text(struct evaluation *evaluation, const struct evaluation_resource *resource,
                          const char *name, struct bytes *out)
{
    /* A policy that depends on something of another service is skipped later. */
    bool may_be_foreign = resource->type->kind == TEMPLATE_KIND_SCALING_POLICY;
    const struct node *node = node_get(node_get(resource->declaration->value, "Properties"), name);
    *out = (struct bytes){ 0 };
    if (node == NULL || node->kind == NODE_NULL)
        return true;
    node = evaluation_value(evaluation, node);
    if (node == NULL)
        return false;
    if (evaluation_is_no_value(evaluation, node))
        return true;
    if (!node_is_scalar(node))
        return template_error_set(evaluation->arena, evaluation->err, node->line,
                                  "%s must be a string", name);
    if (node->foreign.data != NULL && !may_be_foreign)
        return template_error_set(evaluation->arena, evaluation->err, node->line,
                                  "%s depends on %.*s, a resource of another service", name,
                                  BYTES_FMT(node->foreign));
    *out = node->text;
    return true;
}

/* "table/T|dynamodb:table:ReadCapacityUnits|dynamodb" */
static bool name_target(struct evaluation *evaluation, struct evaluation_resource *resource)
{
    struct bytes id, dimension, service;
    if (!property_text(evaluation, resource, "ResourceId", &id) ||
        !property_text(evaluation, resource, "ScalableDimension", &dimension) ||
        !property_text(evaluation, resource, "ServiceNamespace", &service))
        return false;
    if (service.data == NULL)
        service = BYTES("dynamodb");
    if (id.data != NULL && dimension.data != NULL)
        resource->name = arena_printf(evaluation->arena, "%.*s|%.*s|%.*s", BYTES_FMT(id),
                                      BYTES_FMT(dimension), BYTES_FMT(service));
    return true;
}

/* The target's id and the policy's name; Ref gives an ARN that only the server knows. */
static bool name_policy(struct evaluation *evaluation, struct evaluation_resource *resource)
{
    struct bytes target, name;
    if (!property_text(evaluation, resource, "ScalingTargetId", &target) ||
        !property_text(evaluation, resource, "PolicyName", &name))
        return false;
    if (target.data == NULL && !name_target(evaluation, resource))
        return false;
    if (target.data == NULL)
        target = resource->name;
    if (target.data != NULL && name.data != NULL)
        resource->name =
            arena_printf(evaluation->arena, "%.*s|%.*s", BYTES_FMT(target), BYTES_FMT(name));
    return true;
}

static bool find_name(struct evaluation *evaluation, struct evaluation_resource *resource)
{
    const struct resource_type *type = resource->type;
    if (type == NULL) {
        resource->name = resource->declaration->name;
        return true;
    }
    if (type->kind == TEMPLATE_KIND_SCALABLE_TARGET && !name_target(evaluation, resource))
        return false;
    if (type->kind == TEMPLATE_KIND_SCALING_POLICY && !name_policy(evaluation, resource))
        return false;
    if (type->name_property != NULL &&
        !property_text(evaluation, resource, type->name_property, &resource->name))
        return false;
    resource->has_own_name = resource->name.data != NULL;
    if (resource->name.data != NULL || ask(evaluation, resource, "Ref", &resource->name))
        return true;
    resource->name = template_physical_name(evaluation->arena, evaluation->environment.stack_name,
                                            resource->declaration->name, BYTES(""));
    return true;
}

/* Longer ones name nothing that can be created, and a name is repeated in ARNs and requests. */
static bool check_name_size(struct evaluation *evaluation,
                            const struct evaluation_resource *resource, unsigned line)
{
    bool is_scaling =
        resource->type != NULL && (resource->type->kind == TEMPLATE_KIND_SCALABLE_TARGET ||
                                   resource->type->kind == TEMPLATE_KIND_SCALING_POLICY);
    int max = is_scaling ? TEMPLATE_SCALING_ID_SIZE_MAX : TEMPLATE_NAME_SIZE_MAX;
    return resource->name.len <= (size_t)max ||
           template_error_set(evaluation->arena, evaluation->err, line,
                              "the name of the resource %.*s has more than %d bytes",
                              BYTES_FMT(resource->declaration->name), max);
}

bool evaluation_name(struct evaluation *evaluation, struct evaluation_resource *resource,
                     unsigned line)
{
    if (resource->name_progress == EVALUATION_DONE)
        return true;
    if (resource->name_progress == EVALUATION_BUSY)
        return template_error_set(evaluation->arena, evaluation->err, line,
                                  "Circular dependency between resources: [%.*s]",
                                  BYTES_FMT(resource->declaration->name));
    if (!evaluation_enter(evaluation, line))
        return false;
    struct evaluation_resource *current = evaluation->current;
    bool in_condition = evaluation->in_condition;
    evaluation->current = NULL; /* Its dependencies are noted with its own properties. */
    evaluation->in_condition = false;
    resource->name_progress = EVALUATION_BUSY;
    bool ok = find_name(evaluation, resource) && check_name_size(evaluation, resource, line);
    resource->name_progress = EVALUATION_DONE;
    evaluation->current = current;
    evaluation->in_condition = in_condition;
    evaluation_leave(evaluation);
    assert(!ok || resource->name.data != NULL);
    return ok;
}

struct bytes evaluation_arn(const struct evaluation *evaluation,
                            const struct evaluation_resource *resource)
{
    const struct template_environment *environment = &evaluation->environment;
    const struct resource_type *type = resource->type;
    if (type == NULL || type->arn == NULL)
        return (struct bytes){ 0 };
    return arena_printf(evaluation->arena, "arn:%.*s:%s:%.*s:%.*s:%s%.*s",
                        BYTES_FMT(environment->partition), type->arn,
                        BYTES_FMT(environment->region), BYTES_FMT(environment->account_id),
                        type->arn_resource, BYTES_FMT(resource->name));
}

/* --- Ref --- */

static const struct node *pseudo_parameter(struct evaluation *evaluation, struct bytes name,
                                           unsigned line)
{
    const struct template_environment *environment = &evaluation->environment;
    const struct {
        const char *name;
        struct bytes value;
    } texts[] = {
        { "AWS::AccountId", environment->account_id },
        { "AWS::Region", environment->region },
        { "AWS::Partition", environment->partition },
        { "AWS::StackName", environment->stack_name },
        { "AWS::StackId", environment->stack_id },
        { "AWS::URLSuffix", environment->url_suffix },
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        if (bytes_equal_text(name, texts[i].name))
            return make_text(evaluation, texts[i].value, line);
    }
    if (bytes_equal_text(name, "AWS::NoValue"))
        return &evaluation->no_value;
    if (!bytes_equal_text(name, "AWS::NotificationARNs"))
        return refuse_unresolved(evaluation, name, line);
    struct node *list = node_create(evaluation->arena, NODE_LIST, line);
    for (size_t i = 0; i < environment->notification_arn_count; i++) {
        struct node *arn = make_text(evaluation, environment->notification_arns[i], line);
        if (arn == NULL)
            return NULL;
        node_append(evaluation->arena, list, arn);
    }
    return list;
}

const struct node *evaluation_ref(struct evaluation *evaluation, struct bytes name, unsigned line)
{
    const struct template *template = evaluation->template;
    for (size_t i = 0; i < template->parameter_count; i++) {
        const struct node *value = evaluation->parameter_values[i];
        if (bytes_equal(template->parameter_list[i].name, name))
            return evaluation_count_tree(evaluation, value, line) ? value : NULL;
    }
    if (bytes_starts_with(name, BYTES("AWS::")))
        return pseudo_parameter(evaluation, name, line);
    struct evaluation_resource *resource = refer_to(evaluation, name, line);
    if (resource == NULL || !evaluation_name(evaluation, resource, line))
        return NULL;
    struct node *result = make_text(evaluation, resource->name, line);
    if (result == NULL)
        return NULL;
    if (resource->type == NULL)
        result->foreign = resource->declaration->name;
    else if (resource->type->kind == TEMPLATE_KIND_SCALING_POLICY &&
             !ask(evaluation, resource, "Ref", &result->text))
        result->pending = resource->declaration->name;
    return result;
}

/* --- Fn::GetAtt --- */

const struct node *evaluation_get_att(struct evaluation *evaluation, struct bytes name,
                                      struct bytes attribute, unsigned line)
{
    const struct template_environment *environment = &evaluation->environment;
    struct evaluation_resource *resource = refer_to(evaluation, name, line);
    if (resource == NULL || !evaluation_name(evaluation, resource, line))
        return NULL;
    const struct resource_type *type = resource->type;
    bool is_known = type == NULL;
    for (size_t i = 0; type != NULL && type->attributes[i] != NULL; i++)
        is_known |= bytes_equal_text(attribute, type->attributes[i]);
    if (!is_known) {
        template_error_set(evaluation->arena, evaluation->err, line,
                           "Template error: resource %.*s does not support attribute type %.*s in "
                           "Fn::GetAtt",
                           BYTES_FMT(name), BYTES_FMT(attribute));
        return NULL;
    }
    struct bytes value =
        arena_printf(evaluation->arena, "%.*s.%.*s", BYTES_FMT(name), BYTES_FMT(attribute));
    struct bytes known;
    bool is_derived = type != NULL && type->arn != NULL && bytes_equal_text(attribute, "Arn");
    if (type != NULL && type->kind == TEMPLATE_KIND_SCALABLE_TARGET) {
        is_derived = true;
        known = resource->name;
    } else if (is_derived) {
        known = evaluation_arn(evaluation, resource);
    } else if (environment->attribute != NULL) {
        is_derived = environment->attribute(environment->context, name, attribute, &known);
    }
    struct node *result = make_text(evaluation, is_derived ? known : value, line);
    if (result == NULL || is_derived)
        return result;
    if (type == NULL)
        result->foreign = name;
    else
        result->pending = value;
    return result;
}

/* --- Fn::Sub --- */

static bool is_sub_name(struct bytes name)
{
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.data[i];
        if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
              c == '_' || c == '.' || c == ':'))
            return false;
    }
    return name.len > 0;
}

/* The value of ${name}; `variables` may be NULL. */
static const struct node *sub_value(struct evaluation *evaluation, struct bytes name,
                                    const struct node *variables, unsigned line)
{
    const struct node *variable = node_get_bytes(variables, name);
    if (variable != NULL)
        return evaluation_value(evaluation, variable);
    if (!is_sub_name(name)) {
        template_error_set(evaluation->arena, evaluation->err, line,
                           "Template error: variable names in Fn::Sub syntax must contain only "
                           "alphanumeric characters, underscores, periods, and colons");
        return NULL;
    }
    const uint8_t *dot = memchr(name.data, '.', name.len);
    if (dot == NULL)
        return evaluation_ref(evaluation, name, line);
    size_t size = (size_t)(dot - name.data);
    return evaluation_get_att(evaluation, bytes_of(name.data, size),
                              bytes_of(dot + 1, name.len - size - 1), line);
}

static bool append_variable(struct evaluation *evaluation, struct bytes name,
                            const struct node *variables, struct buffer *out, struct node *result)
{
    const struct node *value = sub_value(evaluation, name, variables, result->line);
    if (value == NULL)
        return false;
    if (evaluation_is_no_value(evaluation, value) || !node_is_scalar(value))
        return template_error_set(evaluation->arena, evaluation->err, result->line,
                                  "Template error: Fn::Sub: the value of ${%.*s} is no string",
                                  BYTES_FMT(name));
    if (!evaluation_count(evaluation, 1, value->text.len, result->line))
        return false;
    buffer_append_bytes(out, value->text);
    if (result->foreign.data == NULL)
        result->foreign = value->foreign;
    if (result->pending.data == NULL)
        result->pending = value->pending;
    return true;
}

const uint8_t *evaluation_find_close(const uint8_t *last, const uint8_t *at, const uint8_t *end)
{
    if (last != NULL && last >= at)
        return last;
    const uint8_t *found = memchr(at, '}', (size_t)(end - at));
    return found != NULL ? found : end;
}

static const struct node *substitute(struct evaluation *evaluation, struct bytes text,
                                     const struct node *variables, unsigned line)
{
    struct node *result = node_string(evaluation->arena, BYTES(""), line);
    struct buffer out;
    buffer_init(&out, evaluation->arena);
    if (!evaluation_count(evaluation, 1, text.len, line))
        return NULL;
    const uint8_t *close = NULL, *end = text.data + text.len;
    for (const uint8_t *at = text.data; at < end;) {
        bool is_variable = at[0] == '$' && end - at > 2 && at[1] == '{';
        if (is_variable)
            close = evaluation_find_close(close, at + 2, end);
        if (!is_variable || close == end) {
            buffer_append_byte(&out, *at++);
            continue;
        }
        struct bytes name = bytes_of(at + 2, (size_t)(close - at) - 2);
        at = close + 1;
        if (name.len > 0 && name.data[0] == '!') { /* ${!x} stands for ${x}. */
            buffer_append_bytes(&out, BYTES("${"));
            buffer_append(&out, name.data + 1, name.len - 1);
            buffer_append_byte(&out, '}');
        } else if (!append_variable(evaluation, name, variables, &out, result)) {
            return NULL;
        }
    }
    result->text = buffer_bytes(&out);
    return result;
}

const struct node *evaluation_sub(struct evaluation *evaluation, const struct node *argument)
{
    const struct node *text = argument, *variables = NULL;
    if (argument->kind == NODE_LIST && argument->count == 2) {
        text = argument->members[0].value;
        variables = argument->members[1].value;
    }
    if (text->kind == NODE_STRING && (variables == NULL || variables->kind == NODE_MAP))
        return substitute(evaluation, text->text, variables, argument->line);
    template_error_set(evaluation->arena, evaluation->err, argument->line,
                       "Template error: One or more Fn::Sub intrinsic functions don't specify "
                       "expected arguments. Specify a string as first argument, and an optional "
                       "second argument to specify a mapping of values to replace in the string");
    return NULL;
}

/* --- {{resolve:ssm:NAME}} --- */

/* The value that was given for the name within a reference, "ssm:NAME" or "ssm:NAME:VERSION". */
static bool resolve(struct evaluation *evaluation, struct bytes reference, struct bytes *value)
{
    const struct template_environment *environment = &evaluation->environment;
    const uint8_t *colon = memchr(reference.data, ':', reference.len);
    if (colon == NULL)
        return false;
    size_t service_size = (size_t)(colon - reference.data);
    struct bytes whole = bytes_of(colon + 1, reference.len - service_size - 1), name = whole;
    colon = memchr(name.data, ':', name.len);
    if (colon != NULL)
        name.len = (size_t)(colon - name.data);
    for (size_t i = 0; i < environment->parameter_count; i++) {
        *value = environment->parameters[i].value;
        if (bytes_equal(environment->parameters[i].name, whole) ||
            bytes_equal(environment->parameters[i].name, name))
            return true;
    }
    return false;
}

const struct node *evaluation_dynamic(struct evaluation *evaluation, const struct node *node)
{
    const struct bytes begin = BYTES(DYNAMIC_BEGIN), end = BYTES(DYNAMIC_END);
    struct bytes rest = node->text, value;
    struct buffer out;
    if (memmem(rest.data, rest.len, begin.data, begin.len) == NULL)
        return node;
    buffer_init(&out, evaluation->arena);
    for (;;) {
        const uint8_t *found = memmem(rest.data, rest.len, begin.data, begin.len);
        size_t before = found == NULL ? rest.len : (size_t)(found - rest.data);
        buffer_append(&out, rest.data, before);
        if (found == NULL)
            break;
        struct bytes inside = bytes_of(found + begin.len, rest.len - before - begin.len);
        const uint8_t *stop = memmem(inside.data, inside.len, end.data, end.len);
        struct bytes reference =
            bytes_of(inside.data, stop == NULL ? inside.len : (size_t)(stop - inside.data));
        if (stop == NULL || !resolve(evaluation, reference, &value)) {
            template_error_set(evaluation->arena, evaluation->err, node->line,
                               "the dynamic reference {{resolve:%.*s}} has no value: give one as "
                               "a parameter of that name",
                               BYTES_FMT(reference));
            return NULL;
        }
        if (!evaluation_count(evaluation, 1, value.len, node->line))
            return NULL;
        buffer_append_bytes(&out, value);
        rest = bytes_of(stop + end.len, inside.len - reference.len - end.len);
    }
    return make_text(evaluation, buffer_bytes(&out), node->line);
}
