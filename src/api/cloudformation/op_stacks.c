/* op_stacks.c -- CreateStack, UpdateStack, DeleteStack, UpdateTerminationProtection.
 *
 * They check the request, evaluate the template, ask policies about everything that the deployment
 * will do, store the stack's new status, and leave the rest to the driver. */
#include <stdint.h>
#include "api/cloudformation/stack_driver.h"
#include "api/cloudformation/stack_request.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "template/plan.h"

/* --- CreateStack --- */

static const char *const failure_choices[] = { "DO_NOTHING", "ROLLBACK", "DELETE", NULL };
static const struct shape failure_shape = { .kind = SHAPE_STRING,
                                            .enum_values = failure_choices,
                                            SHAPE_UNBOUNDED };
enum { MINUTES_MAX = INT32_MAX }; /* The service's integers have 32 bits. */
static const struct shape minutes_shape = { .kind = SHAPE_INTEGER, .min = 1, .max = MINUTES_MAX };
static const struct shape_field create_fields[] = {
    STACK_DEPLOY_FIELDS,
    { SHAPE_FIELD(struct stack_deploy_request, on_failure, "OnFailure", &failure_shape) },
    { SHAPE_FIELD(struct stack_deploy_request, timeout_minutes, "TimeoutInMinutes",
                  &minutes_shape) },
    { SHAPE_FIELD(struct stack_deploy_request, is_protected, "EnableTerminationProtection",
                  &stack_request_boolean) },
};
static const struct shape create_shape = {
    SHAPE_STRUCTURE_OF(struct stack_deploy_request, create_fields), .type_name = "CreateStackInput"
};

static bool check_new(struct api_call *call, const struct stack_deploy_request *request)
{
    const struct stack *known = stack_request_find(call, request->name);
    if (!stack_is_name(request->name))
        return error_validation(&call->error,
                                "1 validation error detected: Value '%.*s' at 'stackName' failed "
                                "to satisfy constraint: Member must satisfy regular expression "
                                "pattern: [a-zA-Z][-a-zA-Z0-9]*",
                                BYTES_FMT(request->name));
    if (known != NULL)
        return error_set(&call->error, ERROR_CFN_ALREADY_EXISTS, "Stack [%.*s] already exists",
                         BYTES_FMT(request->name));
    if (stacks_are_full(api_stacks(call->api)))
        return error_set(&call->error, ERROR_CFN_LIMIT_EXCEEDED,
                         "Limit for stack has been exceeded: %d", STACKS_MAX);
    if (request->disable_rollback.present && request->on_failure.data != NULL)
        return error_validation(&call->error,
                                "You can specify either DisableRollback or OnFailure, not both");
    return true;
}

static const struct shape_list no_tags;

static bool prepare_creation(struct api_call *call, const struct stack_deploy_request *request,
                             struct stack *stack, struct bytes *text,
                             struct stack_evaluation *evaluation)
{
    stacks_lock(api_stacks(call->api));
    bool is_new = check_new(call, request);
    stacks_unlock(api_stacks(call->api));
    return is_new &&
           stack_request_template(call, request->template_body, request->template_url, false, NULL,
                                  text) &&
           stack_request_settings(call, request, NULL, &stack->settings) &&
           stack_request_evaluate(call, stack, *text, stack->settings, evaluation) &&
           stack_request_may_deploy(call, stack, stack_evaluation_plan(NULL, evaluation), &no_tags,
                                    &stack->settings->tags);
}

/* With the stacks locked, which it unlocks. */
static bool store_creation(struct api_call *call, const struct stack_deploy_request *request,
                           struct stack *stack, struct bytes text)
{
    struct stacks *stacks = api_stacks(call->api);
    stack->disable_rollback = request->disable_rollback;
    stack->on_failure = request->on_failure;
    stack->is_protected = request->is_protected;
    if (request->timeout_minutes.present)
        stack->timeout_ms =
            (struct shape_integer){ true, request->timeout_minutes.value * 60 * 1000 };
    stack_request_begin(call, stack, STACK_CREATE_IN_PROGRESS, request->token);
    struct stacks_change *change = stacks_change_begin(stacks, call->arena);
    stacks_put_template(change, stack->head.stack_uid, STACK_TEMPLATE_NOW, text,
                        stack_request_now_ms(call));
    stacks_add_event(change, stack, NULL, stack_request_arn(call, stack),
                     stack_request_now_ms(call));
    stacks_put(change, STACK_STACK, stack);
    if (!stack_request_commit(call, change))
        return false;
    stack_driver_wake(api_stack_driver(call->api));
    stack_request_answer_id(call, stack);
    return true;
}

static bool create(struct api_call *call, const struct stack_deploy_request *request)
{
    struct stacks *stacks = api_stacks(call->api);
    for (size_t i = 0; i < STACK_REQUEST_ATTEMPTS_MAX; i++) {
        struct stack *stack = stack_request_new(call, request->name);
        struct stack_evaluation evaluation;
        const struct stack_basis basis = { .name = stack->name, .evaluations = { &evaluation } };
        struct bytes text;
        if (!prepare_creation(call, request, stack, &text, &evaluation))
            return false;
        stacks_lock(stacks);
        if (!stack_request_is_current(call, &basis)) {
            stacks_unlock(stacks);
            continue;
        }
        if (check_new(call, request) && stack_request_check_records(call, stack, &evaluation))
            return store_creation(call, request, stack, text);
        stacks_unlock(stacks);
        return false;
    }
    return stack_request_refuse_hurry(call, request->name);
}

STACK_OPERATION(create_stack, "CreateStack", &create_shape, stack_request_admits, create)

/* --- UpdateStack --- */

static const struct shape_field update_fields[] = { STACK_DEPLOY_FIELDS };
static const struct shape update_shape = {
    SHAPE_STRUCTURE_OF(struct stack_deploy_request, update_fields), .type_name = "UpdateStackInput"
};

struct update {
    struct stack *stack; /* A copy. */
    struct stack_basis basis;
    struct bytes text;
    struct stack_evaluation before, after;
    bool differs;
};

/* Copies the stack that the request names, if it is at rest. */
static bool find_idle(struct api_call *call, struct bytes name, struct update *out)
{
    stacks_lock(api_stacks(call->api));
    const struct stack *stack = stack_request_find(call, name);
    bool ok = stack == NULL
                  ? error_validation(&call->error, "Stack [%.*s] does not exist", BYTES_FMT(name))
                  : stack_request_check_idle(call, stack);
    if (ok) {
        out->stack = stack_copy(call->arena, STACK_STACK, stack);
        out->basis = stack_request_basis(call, stack);
        out->basis.name = out->stack->name;
    }
    stacks_unlock(api_stacks(call->api));
    return ok;
}

static bool prepare_update(struct api_call *call, const struct stack_deploy_request *request,
                           struct update *out)
{
    *out = (struct update){ 0 };
    if (!find_idle(call, request->name, out))
        return false;
    struct stack *stack = out->stack;
    if (!stack_request_template(call, request->template_body, request->template_url,
                                request->use_previous_template.value, stack, &out->text) ||
        !stack_request_settings(call, request, stack, &stack->next) ||
        !stack_request_evaluate(call, stack, out->text, stack->next, &out->after))
        return false;
    if (!stack_evaluate_stored(&out->before, call->api, call->arena, stack, STACK_TEMPLATE_NOW,
                               stack->settings))
        return error_set_bytes(&call->error, ERROR_VALIDATION, out->before.message);
    out->basis.evaluations[0] = &out->before;
    out->basis.evaluations[1] = &out->after;
    struct plan *plan = stack_evaluation_plan(&out->before, &out->after);
    out->differs = stack_evaluation_differs(&out->before, &out->after, plan) ||
                   !stack_same_pairs(&stack->settings->tags, &stack->next->tags);
    return stack_request_may_deploy(call, stack, plan, &stack->settings->tags, &stack->next->tags);
}

/* With the stacks locked. */
static bool check_update(struct api_call *call, const struct update *update)
{
    return stack_request_check_records(call, update->stack, &update->after) &&
           stack_request_may_remove(call, update->stack, &update->before, &update->after) &&
           (update->differs || error_validation(&call->error, "No updates are to be performed."));
}

static bool update(struct api_call *call, const struct stack_deploy_request *request)
{
    struct stacks *stacks = api_stacks(call->api);
    for (size_t i = 0; i < STACK_REQUEST_ATTEMPTS_MAX; i++) {
        struct update update;
        if (!prepare_update(call, request, &update))
            return false;
        stacks_lock(stacks);
        bool is_current = stack_request_is_current(call, &update.basis);
        if (!is_current || !check_update(call, &update)) {
            stacks_unlock(stacks);
            if (is_current)
                return false;
            continue;
        }
        update.stack->disable_rollback = request->disable_rollback; /* Absent: false. */
        update.stack->on_failure = (struct bytes){ 0 };
        if (!stack_request_start_update(call, update.stack, update.text, request->token))
            return false;
        stack_request_answer_id(call, update.stack);
        return true;
    }
    return stack_request_refuse_hurry(call, request->name);
}

STACK_OPERATION(update_stack, "UpdateStack", &update_shape, stack_request_admits, update)

/* --- DeleteStack --- */

struct delete_request {
    struct bytes name;
    struct shape_list retained;
    struct bytes token;
};
static const struct shape_field delete_fields[] = {
    { SHAPE_FIELD(struct delete_request, name, "StackName", &stack_request_name),
      .required = true },
    { SHAPE_FIELD(struct delete_request, retained, "RetainResources", &stack_request_texts) },
    { SHAPE_FIELD(struct delete_request, token, "ClientRequestToken", &stack_request_token) },
};
static const struct shape delete_shape = { SHAPE_STRUCTURE_OF(struct delete_request, delete_fields),
                                           .type_name = "DeleteStackInput" };

/* Evaluates the template in force, which names the alarms and the like that the stack may delete.
 * Nothing if policies are not checked. */
static bool evaluate_deletion(struct api_call *call, const struct stack *stack,
                              struct stack_evaluation *before)
{
    *before = (struct stack_evaluation){ 0 };
    return call->caller == NULL ||
           stack_status_of(stack->status_name) == STACK_REVIEW_IN_PROGRESS ||
           stack_evaluate_stored(before, call->api, call->arena, stack, STACK_TEMPLATE_NOW,
                                 stack->settings) ||
           error_set_bytes(&call->error, ERROR_VALIDATION, before->message);
}

static bool check_deletion(struct api_call *call, const struct delete_request *request,
                           const struct stack *stack)
{
    enum stack_status status = stack_status_of(stack->status_name);
    if (stack->is_protected.value)
        return error_validation(&call->error,
                                "Stack [%.*s] cannot be deleted while TerminationProtection is "
                                "enabled",
                                BYTES_FMT(stack->name));
    if (request->retained.kept > 0 && status != STACK_DELETE_FAILED)
        return error_validation(&call->error,
                                "Invalid operation on stack [%.*s]. The specified resources to "
                                "retain must be in a stack in DELETE_FAILED state.",
                                BYTES_FMT(stack->name));
    if (!stack_status_may_follow(status, STACK_DELETE_IN_PROGRESS)) {
        struct bytes arn = stack_request_arn(call, stack);
        return error_validation(&call->error, "Stack [%.*s] cannot be deleted while in status %.*s",
                                BYTES_FMT(arn), BYTES_FMT(stack->status_name));
    }
    return true;
}

/* Nothing but change sets has come of it. */
static bool forget_review(struct api_call *call, const struct stack *stack)
{
    struct stacks_change *change = stacks_change_begin(api_stacks(call->api), call->arena);
    stacks_forget(change, stack);
    return stack_request_commit(call, change);
}

/* With the stacks locked, which it unlocks. */
static bool start_deletion(struct api_call *call, const struct delete_request *request,
                           struct stack *stack)
{
    struct stacks *stacks = api_stacks(call->api);
    stack_request_begin(call, stack, STACK_DELETE_IN_PROGRESS, request->token);
    struct stacks_change *change = stacks_change_begin(stacks, call->arena);
    stacks_add_event(change, stack, NULL, stack_request_arn(call, stack),
                     stack_request_now_ms(call));
    stacks_put(change, STACK_STACK, stack);
    if (!stack_request_commit(call, change))
        return false;
    stack_driver_wake(api_stack_driver(call->api));
    return true;
}

/* A copy of the stack, unless deleting it succeeds without anything to be done: NULL with
 * `*is_refused` false. */
static struct stack *find_deletable(struct api_call *call, const struct delete_request *request,
                                    struct stack_basis *basis, bool *is_refused)
{
    struct stack *stack = NULL;
    stacks_lock(api_stacks(call->api));
    const struct stack *known = stack_request_find(call, request->name);
    enum stack_status status =
        known == NULL ? STACK_DELETE_COMPLETE : stack_status_of(known->status_name);
    bool is_gone = status == STACK_DELETE_COMPLETE || status == STACK_DELETE_IN_PROGRESS;
    *is_refused = !is_gone && !check_deletion(call, request, known);
    if (!is_gone && !*is_refused) {
        stack = stack_copy(call->arena, STACK_STACK, known);
        stack->retained = request->retained;
        *basis = stack_request_basis(call, known);
        basis->name = stack->name;
    }
    stacks_unlock(api_stacks(call->api));
    return stack;
}

/* Deleting what is deleted, being deleted or was never there succeeds. */
static bool delete_stack(struct api_call *call, const struct delete_request *request)
{
    struct stacks *stacks = api_stacks(call->api);
    stack_request_answer_nothing(call);
    for (size_t i = 0; i < STACK_REQUEST_ATTEMPTS_MAX; i++) {
        struct stack_basis basis;
        struct stack_evaluation before;
        bool is_refused;
        struct stack *stack = find_deletable(call, request, &basis, &is_refused);
        if (stack == NULL)
            return !is_refused;
        bool in_review = stack_status_of(stack->status_name) == STACK_REVIEW_IN_PROGRESS;
        if (!evaluate_deletion(call, stack, &before))
            return false;
        stacks_lock(stacks);
        if (!stack_request_is_current(call, &basis)) {
            stacks_unlock(stacks);
            continue;
        }
        if (in_review)
            return forget_review(call, stack);
        if (call->caller == NULL || stack_request_may_remove(call, stack, &before, NULL))
            return start_deletion(call, request, stack);
        stacks_unlock(stacks);
        return false;
    }
    return stack_request_refuse_hurry(call, request->name);
}

STACK_OPERATION(delete_stack, "DeleteStack", &delete_shape, stack_request_admits, delete_stack)

/* --- UpdateTerminationProtection --- */

struct protection_request {
    struct bytes name;
    struct shape_boolean is_protected;
};
static const struct shape_field protection_fields[] = {
    { SHAPE_FIELD(struct protection_request, name, "StackName", &stack_request_name),
      .required = true },
    { SHAPE_FIELD(struct protection_request, is_protected, "EnableTerminationProtection",
                  &stack_request_boolean),
      .required = true },
};
static const struct shape protection_shape = { SHAPE_STRUCTURE_OF(struct protection_request,
                                                                  protection_fields),
                                               .type_name = "UpdateTerminationProtectionInput" };

static bool protect(struct api_call *call, const struct protection_request *request)
{
    struct stacks *stacks = api_stacks(call->api);
    stacks_lock(stacks);
    const struct stack *known = stack_request_find(call, request->name);
    bool is_active = known != NULL && stack_status_is_active(stack_status_of(known->status_name));
    if (known == NULL || is_active) {
        stacks_unlock(stacks);
        return known == NULL
                   ? error_validation(&call->error, "Stack [%.*s] does not exist",
                                      BYTES_FMT(request->name))
                   : error_validation(&call->error,
                                      "TerminationProtection cannot be changed while the stack is "
                                      "being changed");
    }
    struct stack *stack = stack_copy(call->arena, STACK_STACK, known);
    stack->is_protected = request->is_protected;
    struct stacks_change *change = stacks_change_begin(stacks, call->arena);
    stacks_put(change, STACK_STACK, stack);
    if (!stack_request_commit(call, change))
        return false;
    stack_request_answer_id(call, stack);
    return true;
}

STACK_OPERATION(update_protection, "UpdateTerminationProtection", &protection_shape,
                stack_request_admits, protect)
