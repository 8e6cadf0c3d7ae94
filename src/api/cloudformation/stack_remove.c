/* stack_remove.c -- the phases that delete resources: of a stack, of a creation that failed, and
 * what an update left behind. See stack_turn.h. */
#include "api/cloudformation/stack_turn.h"
#include "api/operation.h"
#include "base/arena.h"
#include "template/plan.h"

bool stack_remove_resource(struct stack_turn *turn, const struct stack_evaluation *evaluation,
                           const struct stack_resource *resource, struct bytes physical_id,
                           struct bytes *message)
{
    *message = (struct bytes){ 0 };
    if (resource->is_skipped.value || physical_id.data == NULL)
        return true;
    if (stack_turn_is_table(resource))
        return stack_calls_delete_table(&turn->calls, resource->head.id, physical_id, message);
    const struct plan_item *item =
        stack_evaluation_removal(turn->arena, evaluation->result, resource->head.id, physical_id);
    return item == NULL || stack_calls_delete(&turn->calls, item->steps, item->step_count, message);
}

/* --- One resource --- */

static bool is_listed(const struct shape_list *list, struct bytes id)
{
    const struct bytes *ids = list->elements;
    for (size_t i = 0; i < list->kept; i++)
        if (bytes_equal(ids[i], id))
            return true;
    return false;
}

static bool is_retained(const struct stack_turn *turn, const struct stack_resource *resource)
{
    bool undoes = turn->began_as == STACK_ROLLBACK_IN_PROGRESS ||
                  turn->began_as == STACK_UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS;
    struct bytes policy = resource->deletion_policy;
    return bytes_equal_text(policy, "Retain") ||
           (!undoes && bytes_equal_text(policy, "RetainExceptOnCreate")) ||
           is_listed(&turn->stack->retained, resource->head.id);
}

/* Takes the deletion of a resource forward by one step. */
static bool remove_one(struct stack_turn *turn, const struct stack_evaluation *evaluation,
                       struct stack_resource *resource)
{
    struct bytes message;
    bool has_begun = resource->generation.value == turn->stack->generation.value &&
                     stack_status_of(resource->status_name) == STACK_DELETE_IN_PROGRESS;
    if (is_retained(turn, resource) && resource->physical_id.data != NULL) {
        stack_turn_set(turn, resource, STACK_DELETE_SKIPPED, (struct bytes){ 0 });
        return stack_turn_save(turn, resource);
    }
    if (!has_begun) {
        stack_turn_set(turn, resource, STACK_DELETE_IN_PROGRESS, (struct bytes){ 0 });
        return stack_turn_save(turn, resource);
    }
    /* Two if an update that failed, and was not rolled back, has replaced it. */
    bool ok =
        stack_remove_resource(turn, evaluation, resource, resource->physical_id, &message) &&
        stack_remove_resource(turn, evaluation, resource, resource->old_physical_id, &message);
    if (!ok && message.data == NULL)
        return false;
    stack_turn_set(turn, resource, ok ? STACK_DELETE_COMPLETE : STACK_DELETE_FAILED, message);
    return stack_turn_save(turn, resource);
}

static bool is_gone(const struct stack_resource *resource)
{
    enum stack_status status = stack_status_of(resource->status_name);
    return status == STACK_DELETE_COMPLETE || status == STACK_DELETE_SKIPPED;
}

/* --- A whole stack --- */

static bool imports(const struct stack *stack, struct bytes name)
{
    return is_listed(&stack->imports, name);
}

/* Which export keeps the stack from being deleted; data NULL: none. With the stacks locked. */
static struct bytes export_in_use(struct stack_turn *turn)
{
    const struct stack_output *const *outputs = turn->stack->outputs.elements;
    for (size_t i = 0; i < turn->stack->outputs.kept; i++)
        for (size_t s = 0; s < stacks_count(turn->stacks); s++) {
            const struct stack *other = stacks_at(turn->stacks, s);
            if (outputs[i]->export_name.data != NULL &&
                stack_status_of(other->status_name) != STACK_DELETE_COMPLETE &&
                imports(other, outputs[i]->export_name))
                return arena_printf(turn->arena,
                                    "Export %.*s cannot be deleted as it is in use by %.*s",
                                    BYTES_FMT(outputs[i]->export_name), BYTES_FMT(other->name));
        }
    return (struct bytes){ 0 };
}

static bool end_removal(struct stack_turn *turn, struct bytes failed_ids)
{
    bool undoes = turn->began_as == STACK_ROLLBACK_IN_PROGRESS;
    if (failed_ids.len > 0)
        return stack_turn_move(turn, undoes ? STACK_ROLLBACK_FAILED : STACK_DELETE_FAILED,
                               arena_printf(turn->arena,
                                            "The following resource(s) failed to delete: [%.*s]. ",
                                            BYTES_FMT(failed_ids)));
    return undoes ? stack_turn_move(turn, STACK_ROLLBACK_COMPLETE, (struct bytes){ 0 })
                  : stack_turn_end_deletion(turn);
}

bool stack_remove(struct stack_turn *turn)
{
    struct stack_evaluation evaluation = { 0 };
    static const struct template_result nothing;
    struct stack_resource **resources;
    struct bytes failed_ids = BYTES("");
    stacks_lock(turn->stacks);
    size_t count = stack_turn_resources(turn, &resources);
    struct bytes in_use =
        turn->began_as == STACK_DELETE_IN_PROGRESS ? export_in_use(turn) : (struct bytes){ 0 };
    stacks_unlock(turn->stacks);
    /* A template that cannot be evaluated says nothing of alarms and the like, but tables go. */
    if (!stack_evaluate_stored(&evaluation, turn->api, turn->arena, turn->stack, STACK_TEMPLATE_NOW,
                               turn->stack->settings))
        evaluation.result = arena_alloc_zeroed(turn->arena, sizeof nothing);
    if (in_use.data != NULL)
        return stack_turn_move(turn, STACK_DELETE_FAILED, in_use);
    for (size_t i = count; i > 0; i--) {
        struct stack_resource *resource = resources[i - 1];
        if (is_gone(resource))
            continue;
        if (!stack_turn_is_done(turn, resource))
            return remove_one(turn, &evaluation, resource);
        failed_ids = failed_ids.len == 0
                         ? resource->head.id
                         : arena_printf(turn->arena, "%.*s, %.*s", BYTES_FMT(failed_ids),
                                        BYTES_FMT(resource->head.id));
    }
    return end_removal(turn, failed_ids);
}

/* --- After an update --- */

/* Deletes what a replacement left behind: the old resource, or after a rollback the new one. */
static bool remove_replaced(struct stack_turn *turn, const struct stack_evaluation *evaluation,
                            struct stack_resource *resource, bool retained)
{
    struct bytes message;
    struct stack_resource shown = *resource;
    bool ok = true;
    shown.physical_id = resource->old_physical_id;
    if (!retained &&
        !stack_remove_resource(turn, evaluation, resource, resource->old_physical_id, &message)) {
        if (message.data == NULL)
            return false;
        ok = false;
    }
    resource->old_physical_id = (struct bytes){ 0 };
    stack_turn_set(turn, &shown,
                   retained ? STACK_DELETE_SKIPPED
                   : ok     ? STACK_DELETE_COMPLETE
                            : STACK_DELETE_FAILED,
                   ok ? (struct bytes){ 0 } : message);
    return stack_turn_save_as(turn, resource, &shown);
}

bool stack_clean_up(struct stack_turn *turn)
{
    struct stack_evaluation before = { .is_before = true }, after = { 0 };
    static const struct template_result nothing;
    struct stack_resource **resources;
    struct stack *stack = turn->stack;
    bool ok = stack_evaluate_stored(&before, turn->api, turn->arena, stack, STACK_TEMPLATE_NOW,
                                    stack->settings) &&
              stack_evaluate_stored(&after, turn->api, turn->arena, stack, STACK_TEMPLATE_NEXT,
                                    stack->next);
    stacks_lock(turn->stacks);
    size_t count = stack_turn_resources(turn, &resources);
    stacks_unlock(turn->stacks);
    for (size_t i = count; ok && i > 0; i--) {
        struct stack_resource *resource = resources[i - 1];
        if (resource->old_physical_id.data != NULL)
            return remove_replaced(
                turn, &before, resource,
                stack_evaluation_retains_replaced(&before, &after, resource->head.id));
        if (template_find(after.result, resource->head.id) != NULL)
            continue;
        if (is_gone(resource) || stack_turn_is_done(turn, resource))
            return stack_turn_forget(turn, resource);
        return remove_one(turn, &before, resource);
    }
    if (after.result == NULL)
        after.result = arena_alloc_zeroed(turn->arena, sizeof nothing); /* Policies stay. */
    return stack_turn_end_update(turn, STACK_UPDATE_COMPLETE, true, &after);
}

static bool end_rollback(struct stack_turn *turn)
{
    struct stack_evaluation before = { 0 };
    static const struct template_result nothing;
    if (!stack_evaluate_stored(&before, turn->api, turn->arena, turn->stack, STACK_TEMPLATE_NOW,
                               turn->stack->settings))
        before.result = arena_alloc_zeroed(turn->arena, sizeof nothing); /* Policies stay. */
    return stack_turn_end_update(turn, STACK_UPDATE_ROLLBACK_COMPLETE, false, &before);
}

bool stack_clean_rollback(struct stack_turn *turn)
{
    struct stack_evaluation after = { 0 };
    static const struct template_result nothing;
    struct stack_resource **resources;
    if (!stack_evaluate_stored(&after, turn->api, turn->arena, turn->stack, STACK_TEMPLATE_NEXT,
                               turn->stack->next))
        after.result = arena_alloc_zeroed(turn->arena, sizeof nothing);
    stacks_lock(turn->stacks);
    size_t count = stack_turn_resources(turn, &resources);
    stacks_unlock(turn->stacks);
    for (size_t i = count; i > 0; i--) {
        struct stack_resource *resource = resources[i - 1];
        if (resource->old_physical_id.data != NULL)
            return remove_replaced(turn, &after, resource,
                                   resource->is_new.value && is_retained(turn, resource));
        if (!resource->is_new.value)
            continue;
        if (is_gone(resource) || (stack_turn_is_done(turn, resource) &&
                                  stack_status_of(resource->status_name) == STACK_DELETE_FAILED))
            return stack_turn_forget(turn, resource);
        return remove_one(turn, &after, resource);
    }
    return end_rollback(turn);
}
