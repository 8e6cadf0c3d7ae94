/* op_change_sets.c -- CreateChangeSet, DescribeChangeSet, ExecuteChangeSet, DeleteChangeSet and
 * ListChangeSets.
 *
 * A change set is complete at once: it is the plan between the stack's template and another one.
 * It is evaluated again when it is executed, since names and imports may have changed by then. */
#include <string.h>
#include "api/cloudformation/stack_change_list.h"
#include "api/cloudformation/stack_driver.h"
#include "api/cloudformation/stack_request.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "base/uuid.h"
#include "json/writer.h"
#include "template/plan.h"

#define NO_CHANGES                                                                                 \
    "The submitted information didn't contain changes. Submit different information to create a "  \
    "change set."

enum { DESCRIPTION_SIZE_MAX = 1024 }; /* The service's. */

struct set_request {
    struct bytes stack_name; /* First: see stack_request_admits. */
    struct bytes set_name;
    struct bytes next_token;
    struct bytes token;
    struct shape_boolean disable_rollback;
};

/* --- Finding --- */

/* The stack of a change set that is named by its ARN alone. */
static const struct stack *find_owner(struct api_call *call, struct bytes arn)
{
    const struct stacks *stacks = api_stacks(call->api);
    for (size_t i = 0; i < stacks_count(stacks); i++)
        if (stack_request_find_set(call, stacks_at(stacks, i), arn) != NULL)
            return stacks_at(stacks, i);
    return NULL;
}

static bool admits_set(struct api_call *call, const void *input)
{
    const struct set_request *request = input;
    struct stack_name_request stack = { .name = request->stack_name };
    struct bytes uid = stack_request_uid_of(request->set_name);
    if (stack.name.data == NULL && uid.data != NULL) {
        stacks_lock(api_stacks(call->api));
        const struct stack *owner = find_owner(call, request->set_name);
        if (owner != NULL)
            stack.name = arena_copy(call->arena, owner->name);
        stacks_unlock(api_stacks(call->api));
    }
    return stack_request_admits(call, &stack);
}

/* NULL with the service's error set. With the stacks locked. */
static const struct stack_change_set *
find_set(struct api_call *call, const struct set_request *request, const struct stack **stack)
{
    struct bytes uid = stack_request_uid_of(request->set_name);
    const struct stack_change_set *set = NULL;
    if (request->stack_name.data == NULL && uid.data == NULL) {
        error_validation(&call->error, "StackName must be specified if ChangeSetName is not "
                                       "specified as an ARN.");
        return NULL;
    }
    *stack = request->stack_name.data != NULL ? stack_request_find(call, request->stack_name)
                                              : find_owner(call, request->set_name);
    if (*stack != NULL)
        set = stack_request_find_set(call, *stack, request->set_name);
    if (*stack == NULL && request->stack_name.data != NULL)
        error_validation(&call->error, "Stack [%.*s] does not exist",
                         BYTES_FMT(request->stack_name));
    else if (set == NULL)
        error_set(&call->error, ERROR_CFN_CHANGE_SET_NOT_FOUND, "ChangeSet [%.*s] does not exist",
                  BYTES_FMT(request->set_name));
    return set;
}

/* --- CreateChangeSet --- */

static bool is_set_name(struct bytes name)
{
    return stack_is_name(name);
}
static const struct shape set_name_shape = { .kind = SHAPE_STRING,
                                             .min = 1,
                                             .max = STACK_NAME_SIZE_MAX,
                                             .pattern = "[a-zA-Z][-a-zA-Z0-9]*",
                                             .matches = is_set_name };
static const char *const types[] = { "CREATE", "UPDATE", "IMPORT", NULL };
static const struct shape type_shape = { .kind = SHAPE_STRING,
                                         .enum_values = types,
                                         SHAPE_UNBOUNDED };
static const char *const failure_choices[] = { "DO_NOTHING", "ROLLBACK", "DELETE", NULL };
static const struct shape failure_shape = { .kind = SHAPE_STRING,
                                            .enum_values = failure_choices,
                                            SHAPE_UNBOUNDED };
static const struct shape description_shape = { .kind = SHAPE_STRING,
                                                .min = SHAPE_NO_MIN,
                                                .max = DESCRIPTION_SIZE_MAX };
static const struct shape_field create_fields[] = {
    STACK_DEPLOY_FIELDS,
    { SHAPE_FIELD(struct stack_deploy_request, change_set_name, "ChangeSetName", &set_name_shape),
      .required = true },
    { SHAPE_FIELD(struct stack_deploy_request, change_set_type, "ChangeSetType", &type_shape) },
    { SHAPE_FIELD(struct stack_deploy_request, description, "Description", &description_shape) },
    { SHAPE_FIELD(struct stack_deploy_request, on_stack_failure, "OnStackFailure",
                  &failure_shape) },
};
static const struct shape create_shape = { SHAPE_STRUCTURE_OF(struct stack_deploy_request,
                                                              create_fields),
                                           .type_name = "CreateChangeSetInput" };

/* The stack that the change set is for, a new one if that is asked for. */
static struct stack *find_target(struct api_call *call, const struct stack_deploy_request *request,
                                 bool creates)
{
    const struct stack *known = stack_request_find(call, request->name);
    bool in_review =
        known != NULL && stack_status_of(known->status_name) == STACK_REVIEW_IN_PROGRESS;
    bool ok;
    if (creates && known == NULL && !stack_is_name(request->name))
        ok = error_validation(&call->error, "Stack with id %.*s does not exist",
                              BYTES_FMT(request->name));
    else if (creates && known == NULL)
        ok = !stacks_are_full(api_stacks(call->api)) ||
             error_set(&call->error, ERROR_CFN_LIMIT_EXCEEDED,
                       "Limit for stack has been exceeded: %d", STACKS_MAX);
    else if (creates)
        ok = in_review ||
             error_validation(&call->error,
                              "Stack [%.*s] already exists and cannot be created "
                              "again with the changeSet [%.*s].",
                              BYTES_FMT(known->name), BYTES_FMT(request->change_set_name));
    else if (known == NULL || in_review)
        ok =
            error_validation(&call->error, "Stack [%.*s] does not exist", BYTES_FMT(request->name));
    else
        ok = stack_request_check_idle(call, known);
    if (!ok)
        return NULL;
    return known == NULL ? stack_request_new(call, request->name)
                         : stack_copy(call->arena, STACK_STACK, known);
}

static bool check_set(struct api_call *call, const struct stack_deploy_request *request,
                      const struct stack *stack)
{
    size_t first;
    const struct stacks *stacks = api_stacks(call->api);
    if (stack_request_find_set(call, stack, request->change_set_name) != NULL)
        return error_set(&call->error, ERROR_CFN_ALREADY_EXISTS,
                         "ChangeSet %.*s cannot be created due to a mismatch with existing "
                         "attribute Template",
                         BYTES_FMT(request->change_set_name));
    if (stacks_of(stacks, STACK_CHANGE_SET, stack->head.stack_uid, &first) >= STACK_CHANGE_SETS_MAX)
        return error_set(&call->error, ERROR_CFN_LIMIT_EXCEEDED,
                         "Stack [%.*s] has reached its maximum of %d change sets",
                         BYTES_FMT(stack->name), STACK_CHANGE_SETS_MAX);
    return true;
}

struct set_creation {
    bool creates;
    struct stack *stack; /* A copy, or a new one. */
    struct stack_basis basis;
    struct stack_change_set set;
    struct bytes text;
    struct stack_evaluation before, after;
};

static bool find_basis(struct api_call *call, const struct stack_deploy_request *request,
                       struct set_creation *out)
{
    stacks_lock(api_stacks(call->api));
    out->stack = find_target(call, request, out->creates);
    bool ok = out->stack != NULL && check_set(call, request, out->stack);
    if (ok)
        out->basis = stack_request_basis(call, out->stack);
    stacks_unlock(api_stacks(call->api));
    return ok;
}

/* Fills in settings, changes and status. */
static bool compare(struct api_call *call, const struct stack_deploy_request *request,
                    struct set_creation *creation)
{
    const struct stack *stack = creation->stack;
    struct stack_change_set *set = &creation->set;
    bool creates = creation->creates;
    const struct stack *previous = creates ? NULL : stack;
    if (!stack_request_template(call, request->template_body, request->template_url,
                                request->use_previous_template.value, previous, &creation->text) ||
        !stack_request_settings(call, request, previous, &set->settings) ||
        !stack_request_evaluate(call, stack, creation->text, set->settings, &creation->after))
        return false;
    if (!creates && !stack_evaluate_stored(&creation->before, call->api, call->arena, stack,
                                           STACK_TEMPLATE_NOW, stack->settings))
        return error_set_bytes(&call->error, ERROR_VALIDATION, creation->before.message);
    creation->basis.evaluations[0] = creates ? NULL : &creation->before;
    creation->basis.evaluations[1] = &creation->after;
    const struct stack_evaluation *before = creates ? NULL : &creation->before;
    const struct stack_evaluation *after = &creation->after;
    struct plan *plan = stack_evaluation_plan(before, after);
    bool tags_differ = !creates && !stack_same_pairs(&stack->settings->tags, &set->settings->tags);
    bool differs = creates || tags_differ || stack_evaluation_differs(before, after, plan);
    set->changes = stack_change_list(call->arena, plan, before, after, tags_differ);
    set->status = differs ? BYTES("CREATE_COMPLETE") : BYTES("FAILED");
    set->execution = differs ? BYTES("AVAILABLE") : BYTES("UNAVAILABLE");
    if (!differs)
        set->reason = BYTES(NO_CHANGES);
    return set->changes.len <= STACK_CHANGES_SIZE_MAX ||
           error_validation(&call->error, "The change set has too many changes");
}

/* With the stacks locked, which it unlocks. */
static bool store_set(struct api_call *call, struct set_creation *creation)
{
    struct stack *stack = creation->stack;
    const struct stack_change_set *set = &creation->set;
    struct bytes text = creation->text;
    bool is_new = creation->basis.record.data == NULL;
    struct stacks_change *change = stacks_change_begin(api_stacks(call->api), call->arena);
    if (is_new) {
        stacks_add_event(change, stack, NULL, stack_request_arn(call, stack),
                         stack_request_now_ms(call));
        stacks_put(change, STACK_STACK, stack);
    }
    stacks_put_template(change, stack->head.stack_uid, set->head.id, text,
                        stack_request_now_ms(call));
    stacks_put(change, STACK_CHANGE_SET, set);
    return stack_request_commit(call, change);
}

static void answer_set(struct api_call *call, const struct set_creation *creation)
{
    struct json_writer json;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    stack_request_write(&json, "Id", stack_request_set_arn(call, &creation->set));
    stack_request_write(&json, "StackId", stack_request_arn(call, creation->stack));
    json_close_object(&json);
}

static bool create(struct api_call *call, const struct stack_deploy_request *request)
{
    struct stacks *stacks = api_stacks(call->api);
    bool creates = bytes_equal_text(request->change_set_type, "CREATE");
    if (bytes_equal_text(request->change_set_type, "IMPORT"))
        return error_validation(&call->error, "stator does not import resources into stacks");
    for (size_t i = 0; i < STACK_REQUEST_ATTEMPTS_MAX; i++) {
        struct set_creation creation = {
            .creates = creates,
            .set = { .head.id = uuid_create(call->arena),
                     .name = request->change_set_name,
                     .type = creates ? BYTES("CREATE") : BYTES("UPDATE"),
                     .description = request->description,
                     .created_ms = { true, stack_request_now_ms(call) },
                     .on_failure = request->on_stack_failure },
        };
        if (!find_basis(call, request, &creation) || !compare(call, request, &creation))
            return false;
        creation.set.head.stack_uid = creation.stack->head.stack_uid;
        stacks_lock(stacks);
        if (!stack_request_is_current(call, &creation.basis)) {
            stacks_unlock(stacks);
            continue;
        }
        if (!check_set(call, request, creation.stack) ||
            !stack_request_check_records(call, creation.stack, &creation.after)) {
            stacks_unlock(stacks);
            return false;
        }
        if (!store_set(call, &creation))
            return false;
        answer_set(call, &creation);
        return true;
    }
    return stack_request_refuse_hurry(call, request->name);
}

STACK_OPERATION(create_change_set, "CreateChangeSet", &create_shape, stack_request_admits, create)

/* --- DescribeChangeSet --- */

static const struct shape_field set_fields[] = {
    { SHAPE_FIELD(struct set_request, set_name, "ChangeSetName", &stack_request_text),
      .required = true },
    { SHAPE_FIELD(struct set_request, stack_name, "StackName", &stack_request_name) },
    { SHAPE_FIELD(struct set_request, next_token, "NextToken", &stack_request_text) },
    { SHAPE_FIELD(struct set_request, token, "ClientRequestToken", &stack_request_token) },
    { SHAPE_FIELD(struct set_request, disable_rollback, "DisableRollback",
                  &stack_request_boolean) },
};
static const struct shape set_shape = { SHAPE_STRUCTURE_OF(struct set_request, set_fields),
                                        .type_name = "ChangeSetInput" };

static void write_head(struct api_call *call, struct json_writer *json, const struct stack *stack,
                       const struct stack_change_set *set)
{
    stack_request_write(json, "ChangeSetName", set->name);
    stack_request_write(json, "ChangeSetId", stack_request_set_arn(call, set));
    stack_request_write(json, "StackId", stack_request_arn(call, stack));
    stack_request_write(json, "StackName", stack->name);
    stack_request_write(json, "Description", set->description);
    stack_request_write_time(json, "CreationTime", &set->created_ms);
    stack_request_write(json, "ExecutionStatus", set->execution);
    stack_request_write(json, "Status", set->status);
    stack_request_write(json, "StatusReason", set->reason);
    json_write_name(json, "IncludeNestedStacks");
    json_write_bool(json, false);
}

static bool describe(struct api_call *call, const struct set_request *request)
{
    const struct stack *stack;
    const struct stack_change_set *set = find_set(call, request, &stack);
    struct json_writer json;
    if (set == NULL)
        return false;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    write_head(call, &json, stack, set);
    stack_request_write_parameters(call, &json, set->settings);
    stack_request_write_texts(&json, "NotificationARNs", &set->settings->notifications);
    json_write_name(&json, "RollbackConfiguration");
    json_open_object(&json);
    json_close_object(&json);
    stack_request_write_texts(&json, "Capabilities", &set->settings->capabilities);
    stack_request_write_tags(&json, &set->settings->tags);
    stack_request_write(&json, "OnStackFailure", set->on_failure);
    json_write_name(&json, "Changes");
    json_write_raw(&json, set->changes);
    json_close_object(&json);
    return true;
}

STACK_QUESTION(describe_change_set, "DescribeChangeSet", &set_shape, admits_set, describe)

/* --- ExecuteChangeSet --- */

static bool check_execution(struct api_call *call, const struct stack *stack,
                            const struct stack_change_set *set)
{
    struct bytes arn = stack_request_set_arn(call, set);
    if (!bytes_equal_text(set->execution, "AVAILABLE"))
        return error_set(&call->error, ERROR_CFN_INVALID_CHANGE_SET_STATUS,
                         "ChangeSet [%.*s] cannot be executed in its current execution status of "
                         "[%.*s]",
                         BYTES_FMT(arn), BYTES_FMT(set->execution));
    return stack_status_of(stack->status_name) == STACK_REVIEW_IN_PROGRESS ||
           stack_request_check_idle(call, stack);
}

struct execution {
    struct stack *stack; /* Copies. */
    struct stack_change_set *set;
    bool creates;
    struct stack_basis basis;
    struct bytes text;
    struct stack_evaluation before, after;
};

/* Copies the stack and the change set, if that can be executed. */
static bool find_execution(struct api_call *call, const struct set_request *request,
                           struct execution *out)
{
    const struct stack *stack;
    struct stacks *stacks = api_stacks(call->api);
    *out = (struct execution){ 0 };
    stacks_lock(stacks);
    const struct stack_change_set *set = find_set(call, request, &stack);
    bool ok = set != NULL && check_execution(call, stack, set);
    if (ok && stacks_read_template(stacks, call->arena, stack->head.stack_uid, set->head.id,
                                   &out->text) != ENGINE_OK)
        ok = error_set(&call->error, ERROR_INTERNAL, "The template of the change set is lost");
    if (ok) {
        out->stack = stack_copy(call->arena, STACK_STACK, stack);
        out->set = stack_copy(call->arena, STACK_CHANGE_SET, set);
        out->creates = stack_status_of(stack->status_name) == STACK_REVIEW_IN_PROGRESS;
        out->basis = stack_request_basis(call, stack);
        out->basis.name = out->stack->name;
    }
    stacks_unlock(stacks);
    return ok;
}

/* Evaluates again, with the exports of now, and asks for everything that will be done. */
static bool prepare(struct api_call *call, struct execution *execution)
{
    const struct stack *stack = execution->stack;
    struct stack_settings *settings = execution->set->settings;
    struct stack_evaluation *before = execution->creates ? NULL : &execution->before;
    settings->imported = (struct shape_list){ 0 };
    if (!stack_evaluate(&execution->after, call->api, call->arena, stack, execution->text,
                        settings))
        return error_set_bytes(&call->error, ERROR_VALIDATION, execution->after.message);
    settings->imported = execution->after.imported;
    if (before != NULL && !stack_evaluate_stored(before, call->api, call->arena, stack,
                                                 STACK_TEMPLATE_NOW, stack->settings))
        return error_set_bytes(&call->error, ERROR_VALIDATION, before->message);
    execution->basis.evaluations[0] = before;
    execution->basis.evaluations[1] = &execution->after;
    static const struct shape_list no_tags;
    return stack_request_may_deploy(call, stack, stack_evaluation_plan(before, &execution->after),
                                    before == NULL ? &no_tags : &stack->settings->tags,
                                    &settings->tags);
}

/* The checks that need the stacks' locks. `*is_current` false: begin again. */
static bool check_prepared(struct api_call *call, const struct set_request *request,
                           const struct execution *execution, bool *is_current)
{
    const struct stack *stack;
    *is_current = stack_request_is_current(call, &execution->basis);
    if (!*is_current)
        return false;
    const struct stack_change_set *set =
        find_set(call, request, &stack); /* If it is still there. */
    return set != NULL && check_execution(call, stack, set) &&
           stack_request_check_records(call, execution->stack, &execution->after) &&
           (execution->creates || stack_request_may_remove(call, execution->stack,
                                                           &execution->before, &execution->after));
}

/* The other change sets are void: the stack is no longer what they were compared with. */
static void forget_others(struct api_call *call, struct stacks_change *change,
                          const struct stack_change_set *executed)
{
    const struct stacks *stacks = api_stacks(call->api);
    size_t first;
    size_t count = stacks_of(stacks, STACK_CHANGE_SET, executed->head.stack_uid, &first);
    for (size_t i = first; i < first + count; i++) {
        const struct stack_change_set *set = stacks_object(stacks, STACK_CHANGE_SET, i);
        if (bytes_equal(set->head.id, executed->head.id))
            continue;
        stacks_delete_template(change, set->head.stack_uid, set->head.id);
        stacks_delete(change, STACK_CHANGE_SET, set);
    }
}

static bool start(struct api_call *call, struct stack *stack, struct stack_change_set *set,
                  struct bytes text, struct bytes token)
{
    bool creates = stack_status_of(stack->status_name) == STACK_REVIEW_IN_PROGRESS;
    int64_t now_ms = stack_request_now_ms(call);
    struct bytes uid = stack->head.stack_uid;
    struct stacks_change *change = stacks_change_begin(api_stacks(call->api), call->arena);
    set->execution = BYTES("EXECUTE_COMPLETE");
    stack->change_set_id = stack_request_set_arn(call, set);
    stack->updated_ms = (struct shape_integer){ true, now_ms };
    stack->on_failure = set->on_failure;
    stack->retained = (struct shape_list){ 0 };
    if (creates)
        stack->settings = set->settings;
    else
        stack->next = set->settings;
    stack_request_begin(call, stack, creates ? STACK_CREATE_IN_PROGRESS : STACK_UPDATE_IN_PROGRESS,
                        token);
    forget_others(call, change, set);
    stacks_put_template(change, uid, creates ? STACK_TEMPLATE_NOW : STACK_TEMPLATE_NEXT, text,
                        now_ms);
    stacks_put(change, STACK_CHANGE_SET, set);
    stacks_add_event(change, stack, NULL, stack_request_arn(call, stack), now_ms);
    stacks_put(change, STACK_STACK, stack);
    if (!stack_request_commit(call, change))
        return false;
    stack_driver_wake(api_stack_driver(call->api));
    stack_request_answer_nothing(call);
    return true;
}

static bool execute(struct api_call *call, const struct set_request *request)
{
    struct stacks *stacks = api_stacks(call->api);
    for (size_t i = 0; i < STACK_REQUEST_ATTEMPTS_MAX; i++) {
        struct execution execution;
        bool is_current;
        if (!find_execution(call, request, &execution) || !prepare(call, &execution))
            return false;
        stacks_lock(stacks);
        if (check_prepared(call, request, &execution, &is_current)) {
            execution.stack->disable_rollback = request->disable_rollback; /* Absent: false. */
            return start(call, execution.stack, execution.set, execution.text, request->token);
        }
        stacks_unlock(stacks);
        if (is_current)
            return false;
    }
    return stack_request_refuse_hurry(call, request->set_name);
}

STACK_OPERATION(execute_change_set, "ExecuteChangeSet", &set_shape, admits_set, execute)

/* --- DeleteChangeSet --- */

/* One that is not there counts as deleted. */
static bool delete_set(struct api_call *call, const struct set_request *request)
{
    struct stacks *stacks = api_stacks(call->api);
    const struct stack *stack;
    stack_request_answer_nothing(call);
    stacks_lock(stacks);
    const struct stack_change_set *set = find_set(call, request, &stack);
    if (set == NULL) {
        stacks_unlock(stacks);
        if (call->error.code != ERROR_CFN_CHANGE_SET_NOT_FOUND)
            return false;
        error_clear(&call->error);
        return true;
    }
    struct stacks_change *change = stacks_change_begin(stacks, call->arena);
    stacks_delete_template(change, set->head.stack_uid, set->head.id);
    stacks_delete(change, STACK_CHANGE_SET, set);
    return stack_request_commit(call, change);
}

STACK_OPERATION(delete_change_set, "DeleteChangeSet", &set_shape, admits_set, delete_set)

/* --- ListChangeSets --- */

static const struct shape_field list_fields[] = {
    { SHAPE_FIELD(struct set_request, stack_name, "StackName", &stack_request_name),
      .required = true },
    { SHAPE_FIELD(struct set_request, next_token, "NextToken", &stack_request_text) },
};
static const struct shape list_shape = { SHAPE_STRUCTURE_OF(struct set_request, list_fields),
                                         .type_name = "ListChangeSetsInput" };

static bool list(struct api_call *call, const struct set_request *request)
{
    const struct stacks *stacks = api_stacks(call->api);
    const struct stack *stack = stack_request_find(call, request->stack_name);
    struct json_writer json;
    size_t first;
    if (stack == NULL)
        return error_validation(&call->error, "Stack [%.*s] does not exist",
                                BYTES_FMT(request->stack_name));
    size_t count = stacks_of(stacks, STACK_CHANGE_SET, stack->head.stack_uid, &first);
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "Summaries");
    json_open_array(&json);
    for (size_t i = first; i < first + count; i++) {
        json_open_object(&json);
        write_head(call, &json, stack, stacks_object(stacks, STACK_CHANGE_SET, i));
        json_close_object(&json);
    }
    json_close_array(&json);
    json_close_object(&json);
    return true;
}

STACK_QUESTION(list_change_sets, "ListChangeSets", &list_shape, admits_set, list)
