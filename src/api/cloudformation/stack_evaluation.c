/* stack_evaluation.c -- see stack_evaluation.h. */
#include "api/cloudformation/stack_evaluation.h"
#include "api/operation.h"
#include "api/parameter/bootstrap_version.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "cloudformation/stacks.h"
#include "model/arn.h"
#include "model/table_definition.h"
#include "table/catalogue.h"
#include "template/node.h"
#include "template/plan.h"

struct bytes stack_evaluation_arn(const struct api *api, struct arena *arena,
                                  const struct stack *stack)
{
    const struct api_options *options = api_options(api);
    return arena_printf(arena, "arn:aws:cloudformation:%s:%s:stack/%.*s/%.*s", options->region,
                        options->account_id, BYTES_FMT(stack->name),
                        BYTES_FMT(stack->head.stack_uid));
}

/* --- What the template asks for --- */

static bool find_stream_arn(const struct stack_evaluation *evaluation,
                            const struct table_definition *table, struct bytes *value)
{
    const struct api_options *options = api_options(evaluation->api);
    if (!table->stream_enabled)
        return false;
    *value = arena_printf(evaluation->arena, "arn:aws:dynamodb:%s:%s:table/%.*s/stream/%.*s",
                          options->region, options->account_id, BYTES_FMT(table->name),
                          BYTES_FMT(table->stream_label));
    return true;
}

/* data NULL: it has none. */
static struct bytes find_physical_id(const struct stack_evaluation *evaluation,
                                     struct bytes logical_id)
{
    struct stacks *stacks = api_stacks(evaluation->api);
    struct bytes name = { 0 };
    stacks_lock(stacks);
    const struct stack_resource *resource =
        stacks_find_resource(stacks, evaluation->stack->head.stack_uid, logical_id);
    if (resource != NULL && !resource->is_skipped.value)
        name = evaluation->is_before && resource->physical_id.data != NULL &&
                       resource->old_physical_id.data != NULL
                   ? resource->old_physical_id
                   : resource->physical_id;
    if (name.data != NULL)
        name = arena_copy(evaluation->arena, name);
    stacks_unlock(stacks);
    return name;
}

static bool find_attribute(void *context, struct bytes logical_id, struct bytes attribute,
                           struct bytes *value)
{
    struct stack_evaluation *evaluation = context;
    struct bytes name = find_physical_id(evaluation, logical_id);
    if (name.data == NULL)
        return false;
    if (bytes_equal_text(attribute, "Ref")) {
        *value = name;
        return true;
    }
    struct table *table = catalogue_borrow(api_catalogue(evaluation->api), name);
    if (table == NULL)
        return false;
    const struct table_definition *definition = table_definition(table);
    bool found = false;
    if (bytes_equal_text(attribute, "StreamArn")) {
        found = find_stream_arn(evaluation, definition, value);
    } else if (bytes_equal_text(attribute, "TableId")) {
        *value = arena_copy(evaluation->arena, definition->uuid);
        found = true;
    }
    table_release(table);
    return found;
}

/* False: there are too many. */
static bool note_import(struct stack_evaluation *evaluation, struct bytes name)
{
    struct bytes *names = evaluation->imports.elements;
    for (size_t i = 0; i < evaluation->imports.kept; i++)
        if (bytes_equal(names[i], name))
            return true;
    if (evaluation->imports.kept == STACK_PARAMETERS_MAX)
        return false;
    names[evaluation->imports.kept++] = arena_copy(evaluation->arena, name);
    evaluation->imports.count = evaluation->imports.kept;
    evaluation->imports.present = true;
    return true;
}

static void note_value(struct stack_evaluation *evaluation, struct bytes name, struct bytes value)
{
    struct stack_pair **pairs = evaluation->imported.elements;
    if (stack_find_pair(&evaluation->imported, name) != NULL)
        return;
    struct stack_pair *pair = arena_alloc_zeroed(evaluation->arena, sizeof *pair);
    *pair = (struct stack_pair){ .key = arena_copy(evaluation->arena, name), .value = value };
    pairs[evaluation->imported.kept++] = pair;
    evaluation->imported.count = evaluation->imported.kept;
}

/* The current value of an export; data NULL: there is none. With the stacks locked. */
static struct bytes find_export(const struct stack_evaluation *evaluation, struct bytes name)
{
    const struct stacks *stacks = api_stacks(evaluation->api);
    for (size_t i = 0; i < stacks_count(stacks); i++) {
        const struct stack *stack = stacks_at(stacks, i);
        const struct stack_output *const *outputs = stack->outputs.elements;
        if (stack_status_of(stack->status_name) == STACK_DELETE_COMPLETE)
            continue;
        for (size_t j = 0; j < stack->outputs.kept; j++)
            if (outputs[j]->export_name.data != NULL && bytes_equal(outputs[j]->export_name, name))
                return outputs[j]->value;
    }
    return (struct bytes){ 0 };
}

bool stack_evaluation_is_current(const struct stack_evaluation *evaluation)
{
    const struct stack_pair *const *pairs = evaluation->imported.elements;
    for (size_t i = 0; evaluation->looks_up && i < evaluation->imported.kept; i++) {
        struct bytes value = find_export(evaluation, pairs[i]->key);
        if (value.data == NULL || !bytes_equal(value, pairs[i]->value))
            return false;
    }
    return true;
}

static struct bytes look_up_export(const struct stack_evaluation *evaluation, struct bytes name)
{
    stacks_lock(api_stacks(evaluation->api));
    struct bytes value = find_export(evaluation, name);
    if (value.data != NULL)
        value = arena_copy(evaluation->arena, value);
    stacks_unlock(api_stacks(evaluation->api));
    return value;
}

static bool find_import(void *context, struct bytes name, struct bytes *value)
{
    struct stack_evaluation *evaluation = context;
    const struct shape_list *known =
        evaluation->looks_up ? &evaluation->imported : &evaluation->settings->imported;
    const struct stack_pair *pair = stack_find_pair(known, name);
    struct bytes found = { 0 };
    if (pair != NULL)
        found = pair->value;
    else if (evaluation->looks_up)
        found = look_up_export(evaluation, name);
    if (!note_import(evaluation, name) || found.data == NULL) {
        evaluation->import_is_missing = true;
        return false;
    }
    note_value(evaluation, name, found);
    *value = found;
    return true;
}

/* --- Evaluation --- */

static bool is_of_ssm(struct bytes type)
{
    return bytes_starts_with(type, BYTES("AWS::SSM::Parameter::Value<"));
}

/* The value of the named parameter in Systems Manager; data NULL: there is none. */
static struct bytes resolve(struct bytes name)
{
    return bootstrap_version_is_name(name) ? BYTES(BOOTSTRAP_VERSION) : (struct bytes){ 0 };
}

/* The parameters of the request, and for those of SSM's types what they name. */
static size_t list_parameters(const struct stack_evaluation *evaluation,
                              const struct stack_settings *settings, struct template_value *out)
{
    const struct stack_pair *const *given = settings->parameters.elements;
    size_t declared_count, count = 0;
    const struct template_parameter *declared =
        template_parameters(evaluation->template, &declared_count);
    for (size_t i = 0; i < settings->parameters.kept; i++)
        out[count++] = (struct template_value){ given[i]->key, given[i]->value };
    for (size_t i = 0; i < declared_count; i++) {
        const struct stack_pair *pair = stack_find_pair(&settings->parameters, declared[i].name);
        struct bytes name = pair != NULL ? pair->value : declared[i].default_value;
        if (!is_of_ssm(declared[i].type) || name.data == NULL)
            continue;
        struct bytes value = resolve(name);
        size_t at = 0;
        while (at < count && !bytes_equal(out[at].name, declared[i].name))
            at++;
        if (value.data == NULL)
            continue;
        out[at] = (struct template_value){ declared[i].name, value };
        count += at == count;
    }
    return count;
}

struct bytes stack_evaluation_format_error(struct arena *arena, const struct template_error *err)
{
    if (bytes_starts_with(err->message, BYTES("Template ")))
        return err->message;
    return arena_printf(arena, "Template format error: %.*s (line %u)", BYTES_FMT(err->message),
                        err->line);
}

bool stack_evaluate(struct stack_evaluation *out, struct api *api, struct arena *arena,
                    const struct stack *stack, struct bytes text,
                    const struct stack_settings *settings)
{
    struct template_error err = { 0 };
    *out = (struct stack_evaluation){ .api = api,
                                      .arena = arena,
                                      .stack = stack,
                                      .is_before = out->is_before,
                                      .settings = settings,
                                      .looks_up = !settings->imported.present };
    out->imports.elements = arena_alloc(arena, STACK_PARAMETERS_MAX * sizeof(struct bytes));
    out->imported = (struct shape_list){
        .present = true,
        .elements = arena_alloc(arena, STACK_PARAMETERS_MAX * sizeof(struct stack_pair *)),
    };
    out->template = template_parse(arena, text, BYTES("template"), &err);
    if (out->template != NULL && template_format(out->template) != TEMPLATE_CLOUDFORMATION) {
        out->message = BYTES("Template format error: At least one Resources member must be "
                             "defined.");
        return false;
    }
    if (out->template != NULL) {
        struct template_value *values =
            arena_alloc(arena, (STACK_PARAMETERS_MAX + TEMPLATE_PARAMETERS_MAX) * sizeof values[0]);
        const struct template_environment environment = {
            .stack_name = stack->name,
            .stack_id = stack_evaluation_arn(api, arena, stack),
            .region = bytes_from_text(api_options(api)->region),
            .account_id = bytes_from_text(api_options(api)->account_id),
            .notification_arns = settings->notifications.elements,
            .notification_arn_count = settings->notifications.kept,
            .parameters = values,
            .parameter_count = list_parameters(out, settings, values),
            .attribute = find_attribute,
            .import = find_import,
            .context = out,
        };
        out->result = template_evaluate(arena, out->template, &environment, &err);
    }
    out->message = out->template == NULL ? stack_evaluation_format_error(arena, &err) : err.message;
    return out->result != NULL;
}

bool stack_evaluate_stored(struct stack_evaluation *out, struct api *api, struct arena *arena,
                           const struct stack *stack, struct bytes which,
                           const struct stack_settings *settings)
{
    struct bytes text;
    enum engine_status status =
        stacks_read_template(api_stacks(api), arena, stack->head.stack_uid, which, &text);
    if (status == ENGINE_OK)
        return stack_evaluate(out, api, arena, stack, text, settings);
    *out = (struct stack_evaluation){
        .api = api,
        .arena = arena,
        .stack = stack,
        .is_before = out->is_before,
        .message = arena_printf(arena, "The stored template cannot be read: %s",
                                engine_status_name(status)),
    };
    return false;
}

struct bytes stack_evaluation_new_name(struct arena *arena, const struct stack *stack,
                                       struct bytes logical_id, int64_t generation)
{
    struct bytes salt =
        arena_printf(arena, "%.*s %lld", BYTES_FMT(stack->head.stack_uid), (long long)generation);
    return template_physical_name(arena, stack->name, logical_id, salt);
}

/* --- Differences --- */

struct plan *stack_evaluation_plan(const struct stack_evaluation *before,
                                   const struct stack_evaluation *after)
{
    static const struct plan_options options = { .as_stack = true,
                                                 .allow_replace = true,
                                                 .prune = true };
    struct arena *arena = after->arena;
    size_t count = before == NULL ? 0 : before->result->resource_count;
    struct plan_before *list = arena_alloc(arena, (count + 1) * sizeof list[0]);
    for (size_t i = 0; i < count; i++)
        list[i] = plan_before_of(&before->result->resources[i]);
    return plan_make(arena, after->result, list, count, &options);
}

const struct plan_item *stack_evaluation_removal(struct arena *arena,
                                                 const struct template_result *result,
                                                 struct bytes logical_id, struct bytes physical_id)
{
    static const struct plan_options options = { .prune = true };
    const struct template_resource *known = template_find(result, logical_id);
    if (known == NULL)
        return NULL;
    struct plan_before before = plan_before_of(known);
    before.physical_id = physical_id;
    before.deletion_policy = TEMPLATE_DELETE; /* The caller has looked at it. */
    const struct plan *plan = plan_make(arena, NULL, &before, 1, &options);
    return plan->item_count == 0 ? NULL : &plan->items[0];
}

static const struct node *declaration(const struct stack_evaluation *evaluation,
                                      struct bytes logical_id)
{
    const struct node *resources = node_get(template_document(evaluation->template), "Resources");
    return node_get_bytes(resources, logical_id);
}

bool stack_evaluation_declares_same(const struct stack_evaluation *a,
                                    const struct stack_evaluation *b, struct bytes logical_id)
{
    return node_equal(declaration(a, logical_id), declaration(b, logical_id));
}

bool stack_evaluation_deletion_policy_differs(const struct stack_evaluation *a,
                                              const struct stack_evaluation *b,
                                              struct bytes logical_id)
{
    const struct template_resource *x = template_find(a->result, logical_id);
    const struct template_resource *y = template_find(b->result, logical_id);
    return x != NULL && y != NULL && x->deletion_policy != y->deletion_policy;
}

bool stack_evaluation_replace_policy_differs(const struct stack_evaluation *a,
                                             const struct stack_evaluation *b,
                                             struct bytes logical_id)
{
    const struct template_resource *x = template_find(a->result, logical_id);
    const struct template_resource *y = template_find(b->result, logical_id);
    return x != NULL && y != NULL && x->update_replace_policy != y->update_replace_policy;
}

bool stack_evaluation_retains_replaced(const struct stack_evaluation *before,
                                       const struct stack_evaluation *after,
                                       struct bytes logical_id)
{
    const struct template_resource *known[] = { template_find(before->result, logical_id),
                                                template_find(after->result, logical_id) };
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (known[i] != NULL && known[i]->update_replace_policy != TEMPLATE_DELETE)
            return true;
    return false;
}

static bool same_text(struct bytes a, struct bytes b)
{
    return (a.data == NULL) == (b.data == NULL) && bytes_equal(a, b);
}

bool stack_evaluation_outputs_differ(const struct stack_evaluation *a,
                                     const struct stack_evaluation *b)
{
    if (a->result->output_count != b->result->output_count)
        return true;
    for (size_t i = 0; i < a->result->output_count; i++) {
        const struct template_output *x = &a->result->outputs[i], *y = &b->result->outputs[i];
        if (!bytes_equal(x->name, y->name) || !bytes_equal(x->value, y->value) ||
            !same_text(x->description, y->description) ||
            !same_text(x->export_name, y->export_name))
            return true;
    }
    return false;
}

bool stack_evaluation_differs(const struct stack_evaluation *a, const struct stack_evaluation *b,
                              const struct plan *plan)
{
    if (plan->change_count > 0 || plan->refused_count > 0 || stack_evaluation_outputs_differ(a, b))
        return true;
    for (size_t i = 0; i < plan->item_count; i++)
        if (plan->items[i].action == PLAN_SKIP &&
            !stack_evaluation_declares_same(a, b, plan->items[i].logical_id))
            return true;
    for (size_t i = 0; i < a->result->resource_count; i++) {
        struct bytes id = a->result->resources[i].logical_id;
        if (template_find(b->result, id) == NULL ||
            stack_evaluation_deletion_policy_differs(a, b, id) ||
            stack_evaluation_replace_policy_differs(a, b, id))
            return true;
    }
    return false;
}
