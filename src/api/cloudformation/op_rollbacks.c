/* op_rollbacks.c -- RollbackStack, ContinueUpdateRollback: the ways out of a failure that a stack
 * was left in.
 *
 * A rollback leads from the template of the update that failed back to the stack's own, so policies
 * are asked about the same requests as for an update the other way round. */
#include "api/cloudformation/stack_driver.h"
#include "api/cloudformation/stack_request.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "template/plan.h"

struct rollback_request {
    struct bytes name;
    struct shape_list skipped; /* of struct bytes: logical ids. */
    struct shape_boolean retains_except_on_create;
    struct bytes role_arn;
    struct bytes token;
};
static const struct shape_field rollback_fields[] = {
    { SHAPE_FIELD(struct rollback_request, name, "StackName", &stack_request_name),
      .required = true },
    { SHAPE_FIELD(struct rollback_request, retains_except_on_create, "RetainExceptOnCreate",
                  &stack_request_boolean) },
    { SHAPE_FIELD(struct rollback_request, role_arn, "RoleARN", &stack_request_role) },
    { SHAPE_FIELD(struct rollback_request, token, "ClientRequestToken", &stack_request_token) },
};
static const struct shape rollback_shape = {
    SHAPE_STRUCTURE_OF(struct rollback_request, rollback_fields), .type_name = "RollbackStackInput"
};
static const struct shape_field continue_fields[] = {
    { SHAPE_FIELD(struct rollback_request, name, "StackName", &stack_request_name),
      .required = true },
    { SHAPE_FIELD(struct rollback_request, skipped, "ResourcesToSkip", &stack_request_texts) },
    { SHAPE_FIELD(struct rollback_request, role_arn, "RoleARN", &stack_request_role) },
    { SHAPE_FIELD(struct rollback_request, token, "ClientRequestToken", &stack_request_token) },
};
static const struct shape continue_shape = { SHAPE_STRUCTURE_OF(struct rollback_request,
                                                                continue_fields),
                                             .type_name = "ContinueUpdateRollbackInput" };

struct rollback {
    struct stack *stack; /* A copy. */
    struct stack_basis basis;
    struct stack_evaluation failed, stable; /* If a caller is asked about. */
};

/* --- Records --- */

/* What the rollback could not bring back: it stopped there. */
static bool has_failed(const struct stack *stack, const struct stack_resource *resource)
{
    return resource->generation.value == stack->generation.value && !resource->is_new.value &&
           stack_status_of(resource->status_name) == STACK_UPDATE_FAILED;
}

static bool is_skipped(const struct rollback_request *request, struct bytes id)
{
    const struct bytes *ids = request->skipped.elements;
    for (size_t i = 0; i < request->skipped.kept; i++)
        if (bytes_equal(ids[i], id))
            return true;
    return false;
}

/* With the stacks locked. */
static bool check_skipped(struct api_call *call, const struct rollback_request *request,
                          const struct stack *stack)
{
    const struct bytes *ids = request->skipped.elements;
    for (size_t i = 0; i < request->skipped.kept; i++) {
        const struct stack_resource *resource =
            stacks_find_resource(api_stacks(call->api), stack->head.stack_uid, ids[i]);
        if (resource == NULL || !has_failed(stack, resource))
            return error_validation(&call->error,
                                    "The resource [%.*s] cannot be skipped: it is not in the "
                                    "UPDATE_FAILED state of this rollback",
                                    BYTES_FMT(ids[i]));
    }
    return true;
}

/* Failed resources are tried again, or left as they are. With the stacks locked. */
static void put_failed(struct api_call *call, const struct rollback_request *request,
                       const struct stack *stack, struct stacks_change *change)
{
    const struct stacks *stacks = api_stacks(call->api);
    size_t first;
    size_t count = stacks_of(stacks, STACK_RESOURCE, stack->head.stack_uid, &first);
    for (size_t i = first; i < first + count; i++) {
        const struct stack_resource *known = stacks_object(stacks, STACK_RESOURCE, i);
        if (!has_failed(stack, known))
            continue;
        bool skips = is_skipped(request, known->head.id);
        struct stack_resource *resource = stack_copy(call->arena, STACK_RESOURCE, known);
        resource->status_name = bytes_from_text(
            stack_status_name(skips ? STACK_UPDATE_COMPLETE : STACK_UPDATE_IN_PROGRESS));
        resource->reason = (struct bytes){ 0 };
        stacks_put(change, STACK_RESOURCE, resource);
    }
}

/* --- Both --- */

/* The status of the rollback; STACK_STATUS_COUNT if the stack has none to be rolled back from. */
static enum stack_status rollback_of(enum stack_status status, bool continues)
{
    if (continues)
        return status == STACK_UPDATE_ROLLBACK_FAILED ? STACK_UPDATE_ROLLBACK_IN_PROGRESS
                                                      : STACK_STATUS_COUNT;
    return status == STACK_UPDATE_FAILED   ? STACK_UPDATE_ROLLBACK_IN_PROGRESS
           : status == STACK_CREATE_FAILED ? STACK_ROLLBACK_IN_PROGRESS
                                           : STACK_STATUS_COUNT;
}

static bool find_failed(struct api_call *call, const struct rollback_request *request,
                        bool continues, struct rollback *out)
{
    *out = (struct rollback){ 0 };
    stacks_lock(api_stacks(call->api));
    const struct stack *stack = stack_request_require(call, request->name);
    bool ok = stack != NULL;
    if (ok && rollback_of(stack_status_of(stack->status_name), continues) == STACK_STATUS_COUNT) {
        struct bytes arn = stack_request_arn(call, stack);
        ok = error_validation(&call->error,
                              "Stack:%.*s is in %.*s state and can not be rolled back.",
                              BYTES_FMT(arn), BYTES_FMT(stack->status_name));
    }
    if (ok && check_skipped(call, request, stack)) {
        out->stack = stack_copy(call->arena, STACK_STACK, stack);
        out->basis = stack_request_basis(call, stack);
        out->basis.name = out->stack->name;
    }
    stacks_unlock(api_stacks(call->api));
    return out->stack != NULL;
}

/* Nobody is asked without a caller, so nothing is evaluated. */
static bool evaluate_both(struct api_call *call, struct rollback *rollback)
{
    struct stack *stack = rollback->stack;
    struct stack_evaluation *stable = &rollback->stable, *failed = &rollback->failed;
    if (call->caller == NULL)
        return true;
    stable->is_before = true;
    if (!stack_evaluate_stored(stable, call->api, call->arena, stack, STACK_TEMPLATE_NOW,
                               stack->settings))
        return error_set_bytes(&call->error, ERROR_VALIDATION, stable->message);
    if (stack->next == NULL) /* A creation. */
        return true;
    return stack_evaluate_stored(failed, call->api, call->arena, stack, STACK_TEMPLATE_NEXT,
                                 stack->next)
               /* Which tables have tags of the failed update, the driver finds out. */
               ? stack_request_may_deploy(call, stack, stack_evaluation_plan(failed, stable),
                                          &stack->settings->tags, &stack->settings->tags)
               : error_set_bytes(&call->error, ERROR_VALIDATION, failed->message);
}

/* With the stacks locked. */
static bool may_undo(struct api_call *call, const struct rollback *rollback)
{
    if (call->caller == NULL)
        return true;
    return rollback->stack->next == NULL
               ? stack_request_may_remove(call, rollback->stack, &rollback->stable, NULL)
               : stack_request_may_remove(call, rollback->stack, &rollback->failed,
                                          &rollback->stable);
}

/* With the stacks locked, which it unlocks. */
static bool start(struct api_call *call, const struct rollback_request *request, bool continues,
                  struct stack *stack)
{
    enum stack_status status = rollback_of(stack_status_of(stack->status_name), continues);
    struct stacks_change *change = stacks_change_begin(api_stacks(call->api), call->arena);
    stack->retained = (struct shape_list){ 0 };
    if (continues) { /* The same operation, with the same number. */
        put_failed(call, request, stack, change);
        stack->status_name = bytes_from_text(stack_status_name(status));
        stack->token = request->token;
        stack_request_note_caller(call, stack);
    } else {
        stack_request_begin(call, stack, status, request->token);
    }
    stack->reason = BYTES("User Initiated");
    stacks_add_event(change, stack, NULL, stack_request_arn(call, stack),
                     stack_request_now_ms(call));
    stacks_put(change, STACK_STACK, stack);
    if (!stack_request_commit(call, change))
        return false;
    stack_driver_wake(api_stack_driver(call->api));
    if (continues)
        stack_request_answer_nothing(call);
    else
        stack_request_answer_id(call, stack);
    return true;
}

static bool roll_back(struct api_call *call, const struct rollback_request *request, bool continues)
{
    struct stacks *stacks = api_stacks(call->api);
    if (request->retains_except_on_create.value)
        return error_validation(&call->error, "stator does not support RetainExceptOnCreate");
    for (size_t i = 0; i < STACK_REQUEST_ATTEMPTS_MAX; i++) {
        struct rollback rollback;
        if (!find_failed(call, request, continues, &rollback) || !evaluate_both(call, &rollback))
            return false;
        stacks_lock(stacks);
        if (!stack_request_is_current(call, &rollback.basis)) {
            stacks_unlock(stacks);
            continue;
        }
        if (may_undo(call, &rollback))
            return start(call, request, continues, rollback.stack);
        stacks_unlock(stacks);
        return false;
    }
    return stack_request_refuse_hurry(call, request->name);
}

static bool roll_back_stack(struct api_call *call, const struct rollback_request *request)
{
    return roll_back(call, request, false);
}

static bool continue_rollback(struct api_call *call, const struct rollback_request *request)
{
    return roll_back(call, request, true);
}

STACK_OPERATION(rollback_stack, "RollbackStack", &rollback_shape, stack_request_admits,
                roll_back_stack)
STACK_OPERATION(continue_update_rollback, "ContinueUpdateRollback", &continue_shape,
                stack_request_admits, continue_rollback)
