/* stack_deploy.c -- the phases that bring resources to what a template says: creation, update, and
 * the way back after an update that failed. See stack_turn.h. */
#include "api/cloudformation/stack_turn.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "template/plan.h"

#define SKIPPED "Skipped: not a DynamoDB resource"
#define REPLACES                                                                                   \
    "Requested update requires the creation of a new physical resource; hence creating one."
#define OTHER_TYPE                                                                                 \
    "Update of resource type is not permitted. Delete the resource before you give its name to "   \
    "one of another type."

struct deployment {
    struct stack_turn *turn;
    bool is_update;
    struct stack_evaluation before; /* Of an update. */
    struct stack_evaluation after;
    const struct plan *plan;
};

static const struct plan_item *find_item(const struct plan *plan, struct bytes logical_id)
{
    for (size_t i = 0; i < plan->item_count; i++)
        if (bytes_equal(plan->items[i].logical_id, logical_id))
            return &plan->items[i];
    return NULL;
}

/* --- The end of a deployment that failed --- */

bool stack_fail(struct stack_turn *turn, struct bytes reason)
{
    struct stack *stack = turn->stack;
    bool is_update = turn->began_as == STACK_UPDATE_IN_PROGRESS;
    if (!is_update)
        stack_turn_is_stable(turn); /* What was made is as the template says. */
    if (stack->disable_rollback.value || bytes_equal_text(stack->on_failure, "DO_NOTHING"))
        return stack_turn_move(turn, is_update ? STACK_UPDATE_FAILED : STACK_CREATE_FAILED, reason);
    stack->generation.value++;
    if (is_update)
        return stack_turn_move(turn, STACK_UPDATE_ROLLBACK_IN_PROGRESS, reason);
    if (bytes_equal_text(stack->on_failure, "DELETE"))
        return stack_turn_move(turn, STACK_DELETE_IN_PROGRESS, reason);
    reason = arena_printf(turn->arena, "%.*s Rollback requested by user.", BYTES_FMT(reason));
    return stack_turn_move(turn, STACK_ROLLBACK_IN_PROGRESS, reason);
}

/* The resource is stored as failed: the deployment has failed. Apart from storing it, so that a
 * deployment that was interrupted in between resumes here. */
static bool fail_after(struct stack_turn *turn, const struct stack_resource *resource)
{
    bool creates = stack_status_of(resource->status_name) == STACK_CREATE_FAILED;
    return stack_fail(turn,
                      arena_printf(turn->arena, "The following resource(s) failed to %s: [%.*s].",
                                   creates ? "create" : "update", BYTES_FMT(resource->head.id)));
}

static bool has_failed(const struct stack_resource *resource)
{
    enum stack_status status = stack_status_of(resource->status_name);
    return status == STACK_CREATE_FAILED || status == STACK_UPDATE_FAILED;
}

static bool fail_resource(struct stack_turn *turn, struct stack_resource *resource,
                          struct bytes message)
{
    bool creates = stack_status_of(resource->status_name) == STACK_CREATE_IN_PROGRESS;
    stack_turn_set(turn, resource, creates ? STACK_CREATE_FAILED : STACK_UPDATE_FAILED, message);
    return stack_turn_save(turn, resource) && fail_after(turn, resource);
}

/* --- Tables --- */

bool stack_settle_table(struct stack_turn *turn, const struct stack_evaluation *evaluation,
                        const struct stack_resource *resource, struct bytes *message)
{
    const struct stack_calls *calls = &turn->calls;
    static const struct plan_options options = { 0 };
    struct plan_before live;
    struct bytes id = resource->head.id, name = resource->physical_id;
    enum stack_table found = stack_calls_find(calls, id, name);
    if (found == STACK_TABLE_OF_OTHERS) {
        *message = arena_printf(turn->arena,
                                "Resource of type '%.*s' with identifier '%.*s' already exists.",
                                BYTES_FMT(resource->type), BYTES_FMT(name));
        return false;
    }
    if (found == STACK_TABLE_OWN && !stack_calls_read(calls, id, name, &live, message))
        return false;
    struct plan *plan = plan_make(turn->arena, evaluation->result, &live,
                                  found == STACK_TABLE_OWN ? 1 : 0, &options);
    const struct plan_item *item = find_item(plan, id);
    if (item == NULL || item->action == PLAN_REFUSE || item->action == PLAN_REPLACE) {
        *message = item == NULL || item->action == PLAN_REPLACE
                       ? BYTES("The table was changed in a way that an update cannot undo")
                       : item->refusal;
        return false;
    }
    return stack_calls_run(calls, id, item->steps, item->step_count, message);
}

/* --- One resource --- */

static int64_t next_order(struct stack_turn *turn)
{
    struct stack_resource **resources;
    stacks_lock(turn->stacks);
    size_t count = stack_turn_resources(turn, &resources);
    stacks_unlock(turn->stacks);
    return count == 0 ? 1 : resources[count - 1]->order.value + 1;
}

/* Whether the name is that of another resource than the ones that the record stands for. A table
 * with the stack's tags that no record has was retained: it must not be changed either. */
static bool is_taken(struct stack_turn *turn, const struct stack_resource *resource,
                     struct bytes name)
{
    bool is_known =
        bytes_equal(resource->physical_id, name) || bytes_equal(resource->old_physical_id, name);
    if (resource->is_skipped.value)
        return false;
    if (!stack_turn_is_table(resource))
        return !is_known && stack_calls_is_taken(&turn->calls, resource, name);
    enum stack_table found = stack_calls_find(&turn->calls, resource->head.id, name);
    return found == STACK_TABLE_OF_OTHERS || (found == STACK_TABLE_OWN && !is_known);
}

static bool fail_taken(struct stack_turn *turn, struct stack_resource *resource, struct bytes name)
{
    return fail_resource(
        turn, resource,
        arena_printf(turn->arena, "Resource of type '%.*s' with identifier '%.*s' already exists.",
                     BYTES_FMT(resource->type), BYTES_FMT(name)));
}

static bool fail_other_name(struct stack_turn *turn, struct stack_resource *resource)
{
    return fail_resource(turn, resource,
                         arena_printf(turn->arena,
                                      "An update that failed has replaced '%.*s' by '%.*s'. Roll "
                                      "the stack back before you give another name.",
                                      BYTES_FMT(resource->old_physical_id),
                                      BYTES_FMT(resource->physical_id)));
}

/* Makes `name` the resource's. What an earlier attempt made under another name is deleted by the
 * cleanup. False: the record stands for two already. */
static bool take_name(struct stack_resource *resource, struct bytes name)
{
    struct bytes before = resource->physical_id;
    if (before.data != NULL && !bytes_equal(before, name)) {
        if (resource->old_physical_id.data != NULL && !bytes_equal(resource->old_physical_id, name))
            return false;
        resource->old_physical_id = before;
    }
    resource->physical_id = name;
    return true;
}

static struct stack_resource *new_record(struct stack_turn *turn,
                                         const struct template_resource *wanted)
{
    struct stack_resource *resource = arena_alloc_zeroed(turn->arena, sizeof *resource);
    resource->head.stack_uid = turn->stack->head.stack_uid;
    resource->head.id = wanted->logical_id;
    resource->order = (struct shape_integer){ true, next_order(turn) };
    return resource;
}

/* `failed` is the record of an earlier attempt, which may have made the resource, or a part of it;
 * NULL: there is none. */
static bool begin_creation(struct stack_turn *turn, struct stack_resource *failed,
                           const struct template_resource *wanted)
{
    struct stack_resource *resource = failed != NULL ? failed : new_record(turn, wanted);
    bool is_of_other_type =
        resource->physical_id.data != NULL && !bytes_equal(resource->type, wanted->type);
    if (turn->began_as == STACK_UPDATE_IN_PROGRESS)
        resource->is_new = (struct shape_boolean){ true, true };
    stack_turn_set(turn, resource, STACK_CREATE_IN_PROGRESS, (struct bytes){ 0 });
    if (is_of_other_type)
        return fail_resource(turn, resource, BYTES(OTHER_TYPE));
    resource->type = wanted->type;
    resource->deletion_policy = stack_turn_policy(wanted->deletion_policy);
    resource->is_skipped.present = resource->is_skipped.value =
        wanted->kind == TEMPLATE_KIND_FOREIGN;
    if (is_taken(turn, resource, wanted->physical_id))
        return fail_taken(turn, resource, wanted->physical_id);
    return take_name(resource, wanted->physical_id) ? stack_turn_save(turn, resource)
                                                    : fail_other_name(turn, resource);
}

/* The new name of a table that the template does not name: another one than before. */
static struct bytes new_name(struct stack_turn *turn, const struct template_resource *wanted)
{
    if (wanted->has_own_name || wanted->kind != TEMPLATE_KIND_TABLE)
        return wanted->physical_id;
    return stack_evaluation_new_name(turn->arena, turn->stack, wanted->logical_id,
                                     turn->stack->generation.value);
}

/* Whether the resource as it was before it was replaced can become what is wanted. */
static bool fits_replaced(const struct deployment *deployment,
                          const struct stack_resource *resource,
                          const struct template_resource *wanted)
{
    static const struct plan_options options = { .as_stack = true };
    const struct template_resource *known =
        template_find(deployment->before.result, wanted->logical_id);
    if (known == NULL)
        return false;
    struct plan_before before = plan_before_of(known);
    if (!wanted->has_own_name) /* It has that of the replacement, which the record tells. */
        before.physical_id = wanted->physical_id;
    else if (!bytes_equal(wanted->physical_id, resource->old_physical_id))
        return false;
    const struct plan *plan =
        plan_make(deployment->turn->arena, deployment->after.result, &before, 1, &options);
    const struct plan_item *item = find_item(plan, wanted->logical_id);
    return item != NULL && item->action != PLAN_REPLACE;
}

/* Gives up what a failed update made in the place of another resource, for that one. */
static bool drop_replacement(struct deployment *deployment, struct stack_resource *resource)
{
    struct stack_turn *turn = deployment->turn;
    struct bytes message;
    bool retained = stack_evaluation_retains_replaced(&deployment->before, &deployment->after,
                                                      resource->head.id);
    if (!retained && !stack_remove_resource(turn, &deployment->before, resource,
                                            resource->physical_id, &message))
        return message.data != NULL && fail_resource(turn, resource, message);
    resource->physical_id = resource->old_physical_id;
    resource->old_physical_id = (struct bytes){ 0 };
    return stack_turn_save_quietly(turn, resource);
}

/* An update before this one replaced the resource, failed, and was not rolled back. */
static bool resume_replacement(struct deployment *deployment, struct stack_resource *resource,
                               const struct template_resource *wanted)
{
    struct stack_turn *turn = deployment->turn;
    if (fits_replaced(deployment, resource, wanted))
        return drop_replacement(deployment, resource);
    stack_turn_set(turn, resource, STACK_UPDATE_IN_PROGRESS, (struct bytes){ 0 });
    if (!bytes_equal(wanted->physical_id, resource->physical_id))
        return fail_other_name(turn, resource);
    return stack_turn_save(turn, resource);
}

static bool begin_update(struct deployment *deployment, struct stack_resource *resource,
                         const struct template_resource *wanted, const struct plan_item *item)
{
    struct stack_turn *turn = deployment->turn;
    bool replaces = item->action == PLAN_REPLACE;
    if (resource->old_physical_id.data != NULL)
        return resume_replacement(deployment, resource, wanted);
    stack_turn_set(turn, resource, STACK_UPDATE_IN_PROGRESS,
                   replaces ? BYTES(REPLACES) : (struct bytes){ 0 });
    if (item->refusal.len > 0)
        return fail_resource(turn, resource, item->refusal);
    if (replaces) {
        struct bytes name = new_name(turn, wanted);
        if (is_taken(turn, resource, name))
            return fail_taken(turn, resource, name);
        resource->old_physical_id = resource->physical_id;
        resource->physical_id = name;
    }
    return stack_turn_save(turn, resource);
}

static const struct shape_list *tags_before(const struct stack_turn *turn)
{
    static const struct shape_list none;
    return turn->began_as == STACK_CREATE_IN_PROGRESS ? &none : &turn->stack->settings->tags;
}

static bool make_other(struct deployment *deployment, const struct stack_resource *resource,
                       struct bytes *message)
{
    static const struct plan_options options = { .as_stack = true };
    const struct plan *plan =
        plan_make(deployment->turn->arena, deployment->after.result, NULL, 0, &options);
    const struct plan_item *item = find_item(plan, resource->head.id);
    return item == NULL || stack_calls_run(&deployment->turn->calls, resource->head.id, item->steps,
                                           item->step_count, message);
}

/* Whether the templates agree about a table of the stack, which every operation before this one has
 * brought to its template: then only the stack's tags have changed, and what somebody else has
 * changed stays. */
static bool changes_only_tags(const struct deployment *deployment,
                              const struct stack_resource *resource)
{
    const struct stack_turn *turn = deployment->turn;
    const struct stack *stack = turn->stack;
    const struct plan_item *item = find_item(deployment->plan, resource->head.id);
    bool was_stable = !stack->stable_generation.present ||
                      stack->stable_generation.value == stack->generation.value - 1;
    return stack_status_of(resource->status_name) == STACK_UPDATE_IN_PROGRESS && was_stable &&
           item != NULL && item->action == PLAN_NOTHING &&
           stack_calls_find(&turn->calls, resource->head.id, resource->physical_id) ==
               STACK_TABLE_OWN;
}

/* The requests that the resource still needs. */
static bool carry_out(struct deployment *deployment, struct stack_resource *resource,
                      struct bytes *message)
{
    struct stack_turn *turn = deployment->turn;
    *message = (struct bytes){ 0 };
    if (resource->is_skipped.value)
        return true;
    if (!stack_turn_is_table(resource))
        return make_other(deployment, resource, message);
    if (!changes_only_tags(deployment, resource) &&
        !stack_settle_table(turn, &deployment->after, resource, message))
        return false;
    return !deployment->is_update ||
           stack_calls_tag(&turn->calls, resource->physical_id, tags_before(turn),
                           &turn->stack->next->tags, message);
}

static bool work_on(struct deployment *deployment, struct stack_resource *resource)
{
    struct stack_turn *turn = deployment->turn;
    struct bytes message;
    if (!carry_out(deployment, resource, &message))
        return message.data != NULL && fail_resource(turn, resource, message);
    bool creates = stack_status_of(resource->status_name) == STACK_CREATE_IN_PROGRESS;
    stack_turn_set(turn, resource, creates ? STACK_CREATE_COMPLETE : STACK_UPDATE_COMPLETE,
                   resource->is_skipped.value ? BYTES(SKIPPED) : (struct bytes){ 0 });
    return stack_turn_save(turn, resource);
}

/* --- Outputs --- */

static struct shape_list list_outputs(struct stack_turn *turn, const struct template_result *result)
{
    size_t count =
        result->output_count < STACK_OUTPUTS_MAX ? result->output_count : STACK_OUTPUTS_MAX;
    struct stack_output **list = arena_alloc(turn->arena, (count + 1) * sizeof(*list));
    for (size_t i = 0; i < count; i++) {
        const struct template_output *output = &result->outputs[i];
        list[i] = arena_alloc_zeroed(turn->arena, sizeof *list[i]);
        *list[i] = (struct stack_output){ .key = output->name,
                                          .value = output->value,
                                          .description = output->description,
                                          .export_name = output->export_name };
    }
    return (
        struct shape_list){ .present = count > 0, .count = count, .kept = count, .elements = list };
}

static const struct stack_output *find_export(const struct shape_list *outputs, struct bytes name)
{
    const struct stack_output *const *list = outputs->elements;
    for (size_t i = 0; i < outputs->kept; i++)
        if (list[i]->export_name.data != NULL && bytes_equal(list[i]->export_name, name))
            return list[i];
    return NULL;
}

static bool imports(const struct stack *stack, struct bytes name)
{
    const struct bytes *names = stack->imports.elements;
    for (size_t i = 0; i < stack->imports.kept; i++)
        if (bytes_equal(names[i], name))
            return true;
    return false;
}

/* What is wrong with the exports of the new outputs; data NULL: nothing. With the stacks locked. */
static struct bytes export_problem(struct stack_turn *turn, const struct shape_list *outputs)
{
    const struct stack_output *const *old = turn->stack->outputs.elements;
    const struct stack_output *const *new = outputs->elements;
    for (size_t s = 0; s < stacks_count(turn->stacks); s++) {
        const struct stack *other = stacks_at(turn->stacks, s);
        if (bytes_equal(other->head.stack_uid, turn->stack->head.stack_uid) ||
            stack_status_of(other->status_name) == STACK_DELETE_COMPLETE)
            continue;
        for (size_t i = 0; i < outputs->kept; i++)
            if (new[i]->export_name.data != NULL &&
                find_export(&other->outputs, new[i]->export_name) != NULL)
                return arena_printf(turn->arena,
                                    "Export with name %.*s is already exported by stack %.*s.",
                                    BYTES_FMT(new[i]->export_name), BYTES_FMT(other->name));
        for (size_t i = 0; i < turn->stack->outputs.kept; i++) {
            struct bytes name = old[i]->export_name;
            if (name.data == NULL || !imports(other, name))
                continue;
            const struct stack_output *kept = find_export(outputs, name);
            if (kept == NULL || !bytes_equal(kept->value, old[i]->value))
                return arena_printf(turn->arena, "Cannot %s export %.*s as it is in use by %.*s.",
                                    kept == NULL ? "delete" : "update", BYTES_FMT(name),
                                    BYTES_FMT(other->name));
        }
    }
    return (struct bytes){ 0 };
}

static bool finish(struct deployment *deployment)
{
    struct stack_turn *turn = deployment->turn;
    struct shape_list outputs = list_outputs(turn, deployment->after.result);
    stacks_lock(turn->stacks);
    struct bytes problem = export_problem(turn, &outputs);
    stacks_unlock(turn->stacks);
    if (problem.data != NULL)
        return stack_fail(turn, problem);
    turn->stack->outputs = outputs;
    turn->stack->imports = deployment->after.imports;
    if (!deployment->is_update)
        stack_turn_is_stable(turn);
    return stack_turn_move(turn,
                           deployment->is_update ? STACK_UPDATE_COMPLETE_CLEANUP_IN_PROGRESS
                                                 : STACK_CREATE_COMPLETE,
                           (struct bytes){ 0 });
}

/* --- The phase --- */

static bool evaluate(struct deployment *deployment)
{
    struct stack_turn *turn = deployment->turn;
    struct stack *stack = turn->stack;
    bool ok = true;
    if (deployment->is_update) {
        deployment->before.is_before = true;
        ok = stack_evaluate_stored(&deployment->before, turn->api, turn->arena, stack,
                                   STACK_TEMPLATE_NOW, stack->settings);
        if (!ok)
            deployment->after.message = deployment->before.message;
    }
    ok = ok &&
         stack_evaluate_stored(&deployment->after, turn->api, turn->arena, stack,
                               deployment->is_update ? STACK_TEMPLATE_NEXT : STACK_TEMPLATE_NOW,
                               deployment->is_update ? stack->next : stack->settings);
    return ok;
}

static bool is_unchanged(const struct deployment *deployment, const struct stack_resource *resource,
                         const struct template_resource *wanted, const struct plan_item *item)
{
    const struct stack *stack = deployment->turn->stack;
    if (stack_turn_was_touched(deployment->turn, resource))
        return false; /* It may be half way to the template of an update before this one. */
    if (item->action == PLAN_SKIP || wanted->kind == TEMPLATE_KIND_FOREIGN)
        return stack_evaluation_declares_same(&deployment->before, &deployment->after,
                                              wanted->logical_id);
    return item->action == PLAN_NOTHING &&
           (wanted->kind != TEMPLATE_KIND_TABLE ||
            stack_same_pairs(&stack->settings->tags, &stack->next->tags));
}

/* An update before this one, which was not rolled back, could not create it. */
static bool must_be_made_again(const struct stack_turn *turn, const struct stack_resource *resource)
{
    return resource->generation.value < turn->stack->generation.value &&
           stack_status_of(resource->status_name) == STACK_CREATE_FAILED;
}

/* A policy that retains counts from the start of an update, so that what the update leaves behind
 * is retained even if it fails; one that no longer does counts once the update is complete. */
static bool must_retain(const struct stack_resource *resource,
                        const struct template_resource *wanted)
{
    return wanted->deletion_policy == TEMPLATE_RETAIN
               ? !bytes_equal_text(resource->deletion_policy, "Retain")
               : wanted->deletion_policy == TEMPLATE_RETAIN_EXCEPT_ON_CREATE &&
                     resource->deletion_policy.len == 0;
}

/* The first record that has to be stored with another policy; NULL: none. */
static struct stack_resource *find_unretained(struct stack_turn *turn,
                                              const struct template_result *result)
{
    for (size_t i = 0; i < result->resource_count; i++) {
        struct stack_resource *resource =
            stack_turn_resource(turn, result->resources[i].logical_id);
        if (resource == NULL || !must_retain(resource, &result->resources[i]))
            continue;
        resource->deletion_policy = stack_turn_policy(result->resources[i].deletion_policy);
        return resource;
    }
    return NULL;
}

static bool is_too_late(const struct stack_turn *turn)
{
    const struct stack *stack = turn->stack;
    return turn->began_as == STACK_CREATE_IN_PROGRESS && stack->timeout_ms.present &&
           clock_wall_ms(api_options(turn->api)->clock) - stack->created_ms.value >
               stack->timeout_ms.value;
}

bool stack_deploy(struct stack_turn *turn)
{
    struct deployment deployment = { .turn = turn,
                                     .is_update = turn->began_as == STACK_UPDATE_IN_PROGRESS };
    if (is_too_late(turn))
        return stack_fail(turn, BYTES("Stack creation time exceeded the specified timeout."));
    if (!evaluate(&deployment))
        return stack_fail(turn, deployment.after.message);
    struct stack_resource *unretained = find_unretained(turn, deployment.after.result);
    if (unretained != NULL)
        return stack_turn_save_quietly(turn, unretained);
    deployment.plan =
        stack_evaluation_plan(deployment.is_update ? &deployment.before : NULL, &deployment.after);
    for (size_t i = 0; i < deployment.after.result->resource_count; i++) {
        const struct template_resource *wanted = &deployment.after.result->resources[i];
        const struct plan_item *item = find_item(deployment.plan, wanted->logical_id);
        struct stack_resource *resource = stack_turn_resource(turn, wanted->logical_id);
        if (resource == NULL || must_be_made_again(turn, resource))
            return begin_creation(turn, resource, wanted);
        bool has_begun = resource->generation.value == turn->stack->generation.value;
        if (has_begun && !stack_turn_is_done(turn, resource))
            return work_on(&deployment, resource);
        if (has_begun && has_failed(resource))
            return fail_after(turn, resource);
        if (has_begun || item == NULL || !deployment.is_update ||
            is_unchanged(&deployment, resource, wanted, item))
            continue;
        return begin_update(&deployment, resource, wanted, item);
    }
    return finish(&deployment);
}

/* --- The way back --- */

static bool begin_return(struct stack_turn *turn, struct stack_resource *resource)
{
    if (resource->old_physical_id.data != NULL) { /* The cleanup deletes the new one. */
        struct bytes new = resource->physical_id;
        resource->physical_id = resource->old_physical_id;
        resource->old_physical_id = new;
    }
    stack_turn_set(turn, resource, STACK_UPDATE_IN_PROGRESS, (struct bytes){ 0 });
    return stack_turn_save(turn, resource);
}

static bool return_resource(struct stack_turn *turn, const struct stack_evaluation *before,
                            struct stack_resource *resource)
{
    struct deployment deployment = { .turn = turn, .after = *before };
    struct bytes message = { 0 };
    bool ok =
        resource->is_skipped.value ||
        (stack_turn_is_table(resource)
             ? stack_settle_table(turn, before, resource, &message) &&
                   stack_calls_tag(&turn->calls, resource->physical_id, &turn->stack->next->tags,
                                   &turn->stack->settings->tags, &message)
             : make_other(&deployment, resource, &message));
    if (!ok && message.data == NULL)
        return false;
    stack_turn_set(turn, resource, ok ? STACK_UPDATE_COMPLETE : STACK_UPDATE_FAILED, message);
    return stack_turn_save(turn, resource);
}

static bool fail_return(struct stack_turn *turn, const struct stack_resource *resource)
{
    return stack_turn_move(turn, STACK_UPDATE_ROLLBACK_FAILED,
                           arena_printf(turn->arena,
                                        "The following resource(s) failed to update: [%.*s].",
                                        BYTES_FMT(resource->head.id)));
}

bool stack_roll_back(struct stack_turn *turn)
{
    struct stack_evaluation before = { 0 };
    struct stack_resource **resources;
    bool ok = stack_evaluate_stored(&before, turn->api, turn->arena, turn->stack,
                                    STACK_TEMPLATE_NOW, turn->stack->settings);
    stacks_lock(turn->stacks);
    size_t count = stack_turn_resources(turn, &resources);
    stacks_unlock(turn->stacks);
    if (!ok)
        return stack_turn_move(turn, STACK_UPDATE_ROLLBACK_FAILED, before.message);
    for (size_t i = 0; i < count; i++) {
        struct stack_resource *resource = resources[i];
        bool is_done = stack_turn_is_done(turn, resource);
        if (is_done && has_failed(resource) && !resource->is_new.value)
            return fail_return(turn, resource);
        if (resource->is_new.value || is_done)
            continue;
        if (resource->generation.value == turn->stack->generation.value)
            return return_resource(turn, &before, resource);
        if (stack_turn_was_touched(turn, resource))
            return begin_return(turn, resource);
    }
    return stack_turn_move(turn, STACK_UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS,
                           (struct bytes){ 0 });
}
