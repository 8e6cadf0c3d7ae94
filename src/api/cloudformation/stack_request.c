/* stack_request.c -- see stack_request.h: stacks, access, answers and pages. Templates and settings
 * are in stack_settings.c. */
#include "api/cloudformation/stack_request.h"
#include <string.h>
#include "api/cloudformation/stack_driver.h"
#include "api/cloudformation/stack_turn.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "api/stored_caller.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/uuid.h"
#include "json/base64.h"
#include "json/writer.h"
#include "model/limits.h" /* TAG_KEY_SIZE_MAX */
#include "table/storage_error.h"
#include "template/plan.h"

enum { NAME_OR_ARN_SIZE_MAX = 2048, PAGE_DIGITS_MAX = 9 };
enum { TOKEN_SIZE_MAX = 128, ROLE_SIZE_MAX = 2048 }; /* The service's. */

const struct shape stack_request_text = { .kind = SHAPE_STRING, SHAPE_UNBOUNDED };
const struct shape stack_request_token = { .kind = SHAPE_STRING, .min = 1, .max = TOKEN_SIZE_MAX };
const struct shape stack_request_role = { .kind = SHAPE_STRING,
                                          .min = SHAPE_NO_MIN,
                                          .max = ROLE_SIZE_MAX };
const struct shape stack_request_boolean = { .kind = SHAPE_BOOLEAN, SHAPE_UNBOUNDED };
const struct shape stack_request_number = { .kind = SHAPE_INTEGER, SHAPE_UNBOUNDED };
const struct shape stack_request_texts = { .kind = SHAPE_LIST,
                                           .element = &stack_request_text,
                                           .min = SHAPE_NO_MIN,
                                           .max = STACK_RESOURCES_MAX };

static bool is_name_or_arn(struct bytes text)
{
    return stack_is_name(text) || stack_request_is_arn(text);
}
const struct shape stack_request_name = { .kind = SHAPE_STRING,
                                          .min = 1,
                                          .max = NAME_OR_ARN_SIZE_MAX,
                                          .pattern = "[a-zA-Z][-a-zA-Z0-9]*|arn:[-a-zA-Z0-9:/._+]*",
                                          .matches = is_name_or_arn };

static const struct shape_field parameter_fields[] = {
    { SHAPE_FIELD(struct stack_parameter_request, key, "ParameterKey", &stack_request_text) },
    { SHAPE_FIELD(struct stack_parameter_request, value, "ParameterValue", &stack_request_text) },
    { SHAPE_FIELD(struct stack_parameter_request, use_previous, "UsePreviousValue",
                  &stack_request_boolean) },
};
static const struct shape parameter_shape = {
    SHAPE_STRUCTURE_OF(struct stack_parameter_request, parameter_fields), .type_name = "Parameter"
};
const struct shape stack_request_parameters = { .kind = SHAPE_LIST,
                                                .element = &parameter_shape,
                                                .min = SHAPE_NO_MIN,
                                                .max = STACK_PARAMETERS_MAX };
static const struct shape tag_key = { .kind = SHAPE_STRING, .min = 1, .max = TAG_KEY_SIZE_MAX };
static const struct shape tag_value = { .kind = SHAPE_STRING,
                                        .min = SHAPE_NO_MIN,
                                        .max = TAG_VALUE_SIZE_MAX };
static const struct shape_field trigger_fields[] = {
    { SHAPE_FIELD(struct stack_trigger_request, arn, "Arn", &stack_request_text) },
    { SHAPE_FIELD(struct stack_trigger_request, type, "Type", &stack_request_text) },
};
static const struct shape trigger_shape = {
    SHAPE_STRUCTURE_OF(struct stack_trigger_request, trigger_fields), .type_name = "RollbackTrigger"
};
static const struct shape triggers = {
    .kind = SHAPE_LIST, .element = &trigger_shape, .min = SHAPE_NO_MIN, .max = STACK_ARNS_MAX
};
static const struct shape_field rollback_fields[] = {
    { SHAPE_FIELD(struct stack_rollback_request, triggers, "RollbackTriggers", &triggers) },
    { SHAPE_FIELD(struct stack_rollback_request, minutes, "MonitoringTimeInMinutes",
                  &stack_request_number) },
};
const struct shape stack_request_rollback = {
    SHAPE_STRUCTURE_OF(struct stack_rollback_request, rollback_fields),
    .type_name = "RollbackConfiguration",
};
static const struct shape_field tag_fields[] = {
    { SHAPE_FIELD(struct stack_tag_request, key, "Key", &tag_key), .required = true },
    { SHAPE_FIELD(struct stack_tag_request, value, "Value", &tag_value), .required = true },
};
static const struct shape tag_shape = { SHAPE_STRUCTURE_OF(struct stack_tag_request, tag_fields),
                                        .type_name = "Tag" };
const struct shape stack_request_tags = {
    .kind = SHAPE_LIST, .element = &tag_shape, .min = SHAPE_NO_MIN, .max = STACK_TAGS_MAX
};

/* --- Names --- */

bool stack_request_is_arn(struct bytes text)
{
    if (!bytes_starts_with(text, BYTES("arn:")))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t byte = text.data[i];
        bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                        (byte >= '0' && byte <= '9') ||
                        (byte != '\0' && strchr("-:/._+", byte) != NULL);
        if (!is_plain)
            return false;
    }
    return true;
}

/* The parts behind "stack/" or "changeSet/": the name and the UUID. */
static bool split_arn(struct bytes arn, struct bytes *name, struct bytes *uid)
{
    const uint8_t *slash = arn.data == NULL ? NULL : memchr(arn.data, '/', arn.len);
    if (slash == NULL || !bytes_starts_with(arn, BYTES("arn:")))
        return false;
    *name = bytes_of(slash + 1, (size_t)(arn.data + arn.len - slash - 1));
    slash = memchr(name->data, '/', name->len);
    if (slash == NULL)
        return false;
    *uid = bytes_of(slash + 1, (size_t)(name->data + name->len - slash - 1));
    name->len = (size_t)(slash - name->data);
    return true;
}

struct bytes stack_request_name_of(struct bytes name_or_arn)
{
    struct bytes name, uid;
    return split_arn(name_or_arn, &name, &uid) ? name : name_or_arn;
}

struct bytes stack_request_uid_of(struct bytes arn)
{
    struct bytes name, uid;
    return split_arn(arn, &name, &uid) ? uid : (struct bytes){ 0 };
}

/* --- Access --- */

/* Statements may be about one stack by its whole ARN, whichever way a request names it. "*": there
 * is no such stack. */
static struct bytes find_uid(struct api_call *call, struct bytes name)
{
    struct bytes uid = BYTES("*");
    stacks_lock(api_stacks(call->api));
    const struct stack *stack = stack_request_find(call, name);
    if (stack != NULL)
        uid = arena_copy(call->arena, stack->head.stack_uid);
    stacks_unlock(api_stacks(call->api));
    return uid;
}

static struct bytes resource_of(struct api_call *call, struct bytes name_or_arn)
{
    const struct api_options *options = api_options(call->api);
    struct bytes name = stack_request_name_of(name_or_arn);
    struct bytes uid = stack_request_uid_of(name_or_arn);
    if (uid.data == NULL)
        uid = find_uid(call, name);
    return arena_printf(call->arena, "arn:aws:cloudformation:%s:%s:stack/%.*s/%.*s",
                        options->region, options->account_id, BYTES_FMT(name), BYTES_FMT(uid));
}

bool stack_request_admits(struct api_call *call, const void *request)
{
    struct bytes name = ((const struct stack_name_request *)request)->name;
    if (call->caller == NULL || name.data == NULL)
        return operation_may_use_account(call);
    return operation_may_use_arn(call, resource_of(call, name));
}

/* Decides about another operation as that would decide itself before it runs. */
static bool may_run(struct api_call *call, const char *action, struct bytes body)
{
    struct api_call probe = { .arena = call->arena,
                              .operation = operation_find_action(bytes_from_text(action)),
                              .body = body,
                              .caller = call->caller,
                              .api = call->api };
    if (probe.operation == NULL)
        return true; /* The deployment will say so. */
    error_init(&probe.error, call->arena);
    probe.request = arena_alloc_zeroed(call->arena, probe.operation->request->size);
    if (!shape_read(call->arena, body, probe.operation->request, probe.request, &probe.error) ||
        !shape_validate(call->arena, probe.operation->request, probe.request, &probe.error))
        return true; /* The same. */
    if (operation_may_run(&probe))
        return true;
    call->error = probe.error;
    call->denied = probe.denied;
    call->resource = probe.resource;
    return false;
}

static bool may_change_table(struct api_call *call, const char *action, struct bytes table)
{
    struct access_question question =
        operation_question(call, action, table, (struct bytes){ 0 }, NULL);
    question.service = operation_service_prefix(OPERATION_OF_DYNAMODB);
    return operation_may(call, &question);
}

static bool mentions(struct bytes body, const char *member)
{
    return memmem(body.data, body.len, member, strlen(member)) != NULL;
}

/* What operations ask only while they run. */
static bool may_do_rest(struct api_call *call, const struct plan_item *item,
                        const struct plan_step *step)
{
    if (strcmp(step->operation, "CreateTable") == 0)
        return (!mentions(step->body, "\"Tags\"") ||
                may_change_table(call, "TagResource", item->physical_id)) &&
               (!mentions(step->body, "\"ResourcePolicy\"") ||
                may_change_table(call, "PutResourcePolicy", item->physical_id));
    if (item->kind == TEMPLATE_KIND_SCALABLE_TARGET || item->kind == TEMPLATE_KIND_SCALING_POLICY) {
        struct bytes table = item->physical_id; /* "table/NAME|..." */
        if (!bytes_starts_with(table, BYTES("table/")))
            return true;
        table = bytes_of(table.data + 6, table.len - 6);
        size_t size = 0;
        while (size < table.len && table.data[size] != '/' && table.data[size] != '|')
            size++;
        return may_change_table(call, "UpdateTable", bytes_of(table.data, size));
    }
    return true;
}

static bool may_do_steps(struct api_call *call, const struct plan_item *item,
                         const struct plan_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!may_run(call, steps[i].operation, steps[i].body) ||
            !may_do_rest(call, item, &steps[i]))
            return false;
    return true;
}

/* A table that is replaced under a name which the plan does not know. */
static bool may_replace(struct api_call *call, const struct stack *stack,
                        const struct plan_item *item)
{
    struct bytes name = stack_evaluation_new_name(call->arena, stack, item->logical_id,
                                                  stack->generation.value + 1);
    for (size_t i = 0; i < item->resource->request_count; i++)
        if (!may_change_table(call, item->resource->requests[i].operation, name))
            return false;
    return item->resource->update_replace_policy != TEMPLATE_DELETE ||
           may_change_table(call, "DeleteTable", item->old_physical_id);
}

static bool may_settle(struct api_call *call, const struct plan_item *item)
{
    static const char *const changes[] = { "UpdateTable", "TagResource", "UntagResource" };
    const struct template_resource *resource = item->resource;
    bool is_table = item->kind == TEMPLATE_KIND_TABLE;
    if (resource == NULL || item->physical_id.data == NULL)
        return true;
    for (size_t i = 0; i < resource->request_count; i++) {
        const struct template_request *request = &resource->requests[i];
        if (is_table && strcmp(request->operation, "CreateTable") == 0)
            continue;
        if (is_table ? !may_change_table(call, request->operation, item->physical_id)
                     : !may_run(call, request->operation, request->body))
            return false;
    }
    for (size_t i = 0; i < COUNT_OF(changes) && is_table; i++)
        if (!may_change_table(call, changes[i], item->physical_id))
            return false;
    return true;
}

/* The stack's tags, which all of its tables get. */
static bool may_tag(struct api_call *call, struct bytes table, const struct shape_list *before,
                    const struct shape_list *after)
{
    const struct stack_pair *const *old = before->elements, *const *new = after->elements;
    bool adds = false, removes = false;
    for (size_t i = 0; i < after->kept; i++) {
        const struct stack_pair *known = stack_find_pair(before, new[i]->key);
        adds = adds || known == NULL || !bytes_equal(known->value, new[i]->value);
    }
    for (size_t i = 0; i < before->kept; i++)
        removes = removes || stack_find_pair(after, old[i]->key) == NULL;
    return (!adds || may_change_table(call, "TagResource", table)) &&
           (!removes || may_change_table(call, "UntagResource", table));
}

static bool may_tag_item(struct api_call *call, const struct stack *stack,
                         const struct plan_item *item, const struct shape_list *before,
                         const struct shape_list *after)
{
    static const struct shape_list none;
    if (item->resource == NULL || item->kind != TEMPLATE_KIND_TABLE)
        return true;
    if (item->needs_new_name)
        return may_tag(call,
                       stack_evaluation_new_name(call->arena, stack, item->logical_id,
                                                 stack->generation.value + 1),
                       &none, after);
    bool creates = item->action == PLAN_CREATE || item->action == PLAN_REPLACE;
    return may_tag(call, item->physical_id, creates ? &none : before, after);
}

bool stack_request_may_deploy(struct api_call *call, const struct stack *stack,
                              const struct plan *plan, const struct shape_list *tags_before,
                              const struct shape_list *tags_after)
{
    if (call->caller == NULL)
        return true;
    /* An update that failed and was not rolled back may have left resources half way. What comes
     * next brings them to its template, too, although the two templates agree about them. */
    bool settles = stack->stable_generation.value != stack->generation.value;
    for (size_t i = 0; i < plan->item_count; i++) {
        const struct plan_item *item = &plan->items[i];
        if (!may_do_steps(call, item, item->steps, item->step_count) ||
            !may_do_steps(call, item, item->cleanup_steps, item->cleanup_step_count))
            return false;
        if (item->needs_new_name && !may_replace(call, stack, item))
            return false;
        if (!may_tag_item(call, stack, item, tags_before, tags_after))
            return false;
        if (settles && item->action == PLAN_NOTHING && !may_settle(call, item))
            return false;
    }
    return true;
}

static bool may_remove_one(struct api_call *call, const struct stack_resource *resource,
                           struct bytes physical_id, const struct stack_evaluation *before,
                           const struct stack_evaluation *after)
{
    const struct stack_evaluation *evaluations[] = { before, after };
    if (physical_id.data == NULL)
        return true;
    if (stack_turn_is_table(resource))
        return may_run(
            call, "DeleteTable",
            arena_printf(call->arena, "{\"TableName\":\"%.*s\"}", BYTES_FMT(physical_id)));
    for (size_t i = 0; i < COUNT_OF(evaluations); i++) {
        const struct plan_item *item =
            evaluations[i] == NULL ? NULL
                                   : stack_evaluation_removal(call->arena, evaluations[i]->result,
                                                              resource->head.id, physical_id);
        if (item != NULL && !may_do_steps(call, item, item->steps, item->step_count))
            return false;
    }
    return true;
}

/* Whether the stack's next operation leaves what the record stands for. */
static bool is_kept(const struct stack *stack, const struct stack_resource *resource,
                    const struct stack_evaluation *after)
{
    const struct bytes *retained = stack->retained.elements;
    bool may_be_undone = after != NULL && resource->is_new.value; /* By a rollback. */
    for (size_t i = 0; after == NULL && i < stack->retained.kept; i++)
        if (bytes_equal(retained[i], resource->head.id))
            return true;
    if (bytes_equal_text(resource->deletion_policy, "Retain") ||
        (!may_be_undone && bytes_equal_text(resource->deletion_policy, "RetainExceptOnCreate")))
        return true;
    return after != NULL && !may_be_undone &&
           template_find(after->result, resource->head.id) != NULL;
}

bool stack_request_may_remove(struct api_call *call, const struct stack *stack,
                              const struct stack_evaluation *before,
                              const struct stack_evaluation *after)
{
    const struct stacks *stacks = api_stacks(call->api);
    size_t first;
    if (call->caller == NULL)
        return true;
    size_t count = stacks_of(stacks, STACK_RESOURCE, stack->head.stack_uid, &first);
    for (size_t i = first; i < first + count; i++) {
        const struct stack_resource *resource = stacks_object(stacks, STACK_RESOURCE, i);
        enum stack_status status = stack_status_of(resource->status_name);
        if (resource->is_skipped.value)
            continue;
        bool is_replaced = resource->old_physical_id.data != NULL; /* One of the two goes. */
        if (!may_remove_one(call, resource, resource->old_physical_id, before, after))
            return false;
        if (status == STACK_DELETE_COMPLETE || status == STACK_DELETE_SKIPPED ||
            (!is_replaced && is_kept(stack, resource, after)))
            continue;
        if (!may_remove_one(call, resource, resource->physical_id, before, after))
            return false;
    }
    return true;
}

/* --- Stacks --- */

const struct stack *stack_request_find(struct api_call *call, struct bytes name_or_arn)
{
    const struct stacks *stacks = api_stacks(call->api);
    struct bytes uid = stack_request_uid_of(name_or_arn);
    for (size_t i = 0; i < stacks_count(stacks); i++) {
        const struct stack *stack = stacks_at(stacks, i);
        bool is_meant = uid.data != NULL
                            ? bytes_equal(stack->head.stack_uid, uid) &&
                                  bytes_equal(stack_request_arn(call, stack), name_or_arn)
                            : bytes_equal(stack->name, name_or_arn) &&
                                  stack_status_of(stack->status_name) != STACK_DELETE_COMPLETE;
        if (is_meant)
            return stack;
    }
    return NULL;
}

const struct stack_change_set *
stack_request_find_set(struct api_call *call, const struct stack *stack, struct bytes name_or_arn)
{
    const struct stacks *stacks = api_stacks(call->api);
    struct bytes uid = stack_request_uid_of(name_or_arn);
    size_t first;
    size_t count = stacks_of(stacks, STACK_CHANGE_SET, stack->head.stack_uid, &first);
    for (size_t i = first; i < first + count; i++) {
        const struct stack_change_set *set = stacks_object(stacks, STACK_CHANGE_SET, i);
        if (uid.data != NULL ? bytes_equal(set->head.id, uid) &&
                                   bytes_equal(stack_request_set_arn(call, set), name_or_arn)
                             : bytes_equal(set->name, name_or_arn))
            return set;
    }
    return NULL;
}

const struct stack *stack_request_require(struct api_call *call, struct bytes name_or_arn)
{
    const struct stack *stack = stack_request_find(call, name_or_arn);
    if (stack == NULL)
        error_validation(&call->error, "Stack with id %.*s does not exist", BYTES_FMT(name_or_arn));
    return stack;
}

bool stack_request_check_idle(struct api_call *call, const struct stack *stack)
{
    if (stack_status_may_update(stack_status_of(stack->status_name)))
        return true;
    struct bytes arn = stack_request_arn(call, stack);
    return error_validation(&call->error, "Stack:%.*s is in %.*s state and can not be updated.",
                            BYTES_FMT(arn), BYTES_FMT(stack->status_name));
}

/* --- Changing --- */

struct stack_basis stack_request_basis(struct api_call *call, const struct stack *stack)
{
    const struct stack *known = stacks_find(api_stacks(call->api), stack->head.stack_uid);
    return (struct stack_basis){
        .record =
            known == NULL ? (struct bytes){ 0 } : stack_encode(call->arena, STACK_STACK, known),
        .name = stack->name,
    };
}

bool stack_request_is_current(struct api_call *call, const struct stack_basis *basis)
{
    const struct stack *known = stack_request_find(call, basis->name);
    bool is_same = known == NULL ? basis->record.data == NULL
                                 : basis->record.data != NULL &&
                                       bytes_equal(stack_encode(call->arena, STACK_STACK, known),
                                                   basis->record);
    for (size_t i = 0; is_same && i < COUNT_OF(basis->evaluations); i++)
        is_same =
            basis->evaluations[i] == NULL || stack_evaluation_is_current(basis->evaluations[i]);
    return is_same;
}

bool stack_request_refuse_hurry(struct api_call *call, struct bytes name)
{
    return error_set(&call->error, ERROR_THROTTLING,
                     "Stack [%.*s], or what it imports, is being changed by other requests",
                     BYTES_FMT(name));
}

int64_t stack_request_now_ms(const struct api_call *call)
{
    return clock_wall_ms(api_options(call->api)->clock);
}

bool stack_request_commit(struct api_call *call, struct stacks_change *change)
{
    enum engine_status status = stacks_commit(change);
    stacks_unlock(api_stacks(call->api));
    if (status == ENGINE_OK)
        return true;
    if (status == ENGINE_CORRUPT)
        return error_validation(&call->error,
                                "A parameter, tag, description or header of the request is too "
                                "long");
    storage_error_set(&call->error, status, call->operation->name);
    return false;
}

struct stack *stack_request_new(struct api_call *call, struct bytes name)
{
    struct stack *stack = arena_alloc_zeroed(call->arena, sizeof *stack);
    stack->head.stack_uid = uuid_create(call->arena);
    stack->head.id = BYTES("");
    stack->name = name;
    stack->created_ms = (struct shape_integer){ true, stack_request_now_ms(call) };
    stack->generation = (struct shape_integer){ true, 0 };
    stack->event_count = (struct shape_integer){ true, 0 };
    stack->settings = arena_alloc_zeroed(call->arena, sizeof *stack->settings);
    stack->status_name = bytes_from_text(stack_status_name(STACK_REVIEW_IN_PROGRESS));
    return stack;
}

void stack_request_note_caller(struct api_call *call, struct stack *stack)
{
    stack->caller = BYTES("");
    if (call->caller == NULL)
        return;
    struct bytes encoded = stored_caller_encode(call->arena, call->caller);
    size_t size = base64_encoded_size(encoded.len);
    char *text = arena_alloc(call->arena, size);
    base64_encode(encoded, text);
    stack->caller = bytes_of(text, size);
}

void stack_request_begin(struct api_call *call, struct stack *stack, enum stack_status status,
                         struct bytes token)
{
    stack->generation.value++;
    stack_request_note_caller(call, stack);
    stack->status_name = bytes_from_text(stack_status_name(status));
    stack->token = token;
    stack->reason = status == STACK_CREATE_IN_PROGRESS || status == STACK_UPDATE_IN_PROGRESS ||
                            status == STACK_DELETE_IN_PROGRESS
                        ? BYTES("User Initiated")
                        : (struct bytes){ 0 };
}

bool stack_request_start_update(struct api_call *call, struct stack *stack, struct bytes text,
                                struct bytes token)
{
    struct stacks *stacks = api_stacks(call->api);
    int64_t now_ms = stack_request_now_ms(call);
    stack->updated_ms = (struct shape_integer){ true, now_ms };
    stack->retained = (struct shape_list){ 0 };
    stack_request_begin(call, stack, STACK_UPDATE_IN_PROGRESS, token);
    struct stacks_change *change = stacks_change_begin(stacks, call->arena);
    stacks_put_template(change, stack->head.stack_uid, STACK_TEMPLATE_NEXT, text, now_ms);
    stacks_add_event(change, stack, NULL, stack_request_arn(call, stack), now_ms);
    stacks_put(change, STACK_STACK, stack);
    if (!stack_request_commit(call, change))
        return false;
    stack_driver_wake(api_stack_driver(call->api));
    return true;
}

/* --- Answers --- */

struct bytes stack_request_arn(struct api_call *call, const struct stack *stack)
{
    return stack_evaluation_arn(call->api, call->arena, stack);
}

struct bytes stack_request_set_arn(struct api_call *call, const struct stack_change_set *set)
{
    const struct api_options *options = api_options(call->api);
    return arena_printf(call->arena, "arn:aws:cloudformation:%s:%s:changeSet/%.*s/%.*s",
                        options->region, options->account_id, BYTES_FMT(set->name),
                        BYTES_FMT(set->head.id));
}

void stack_request_write(struct json_writer *json, const char *name, struct bytes text)
{
    if (text.data == NULL)
        return;
    json_write_name(json, name);
    json_write_string(json, text);
}

void stack_request_write_time(struct json_writer *json, const char *name,
                              const struct shape_integer *time_ms)
{
    if (!time_ms->present)
        return;
    json_write_name(json, name);
    json_write_seconds(json, time_ms->value);
}

void stack_request_write_texts(struct json_writer *json, const char *name,
                               const struct shape_list *texts)
{
    const struct bytes *elements = texts->elements;
    json_write_name(json, name);
    json_open_array(json);
    for (size_t i = 0; i < texts->kept; i++)
        json_write_string(json, elements[i]);
    json_close_array(json);
}

static bool is_hidden(const struct stack_settings *settings, struct bytes key)
{
    const struct bytes *names = settings->no_echo.elements;
    for (size_t i = 0; i < settings->no_echo.kept; i++)
        if (bytes_equal(names[i], key))
            return true;
    return false;
}

void stack_request_write_parameters(struct api_call *call, struct json_writer *json,
                                    const struct stack_settings *settings)
{
    const struct stack_pair *const *pairs = settings->parameters.elements;
    (void)call;
    json_write_name(json, "Parameters");
    json_open_array(json);
    for (size_t i = 0; i < settings->parameters.kept; i++) {
        json_open_object(json);
        stack_request_write(json, "ParameterKey", pairs[i]->key);
        stack_request_write(json, "ParameterValue",
                            is_hidden(settings, pairs[i]->key) ? BYTES("****") : pairs[i]->value);
        json_close_object(json);
    }
    json_close_array(json);
}

void stack_request_write_tags(struct json_writer *json, const struct shape_list *tags)
{
    const struct stack_pair *const *pairs = tags->elements;
    json_write_name(json, "Tags");
    json_open_array(json);
    for (size_t i = 0; i < tags->kept; i++) {
        json_open_object(json);
        stack_request_write(json, "Key", pairs[i]->key);
        stack_request_write(json, "Value", pairs[i]->value);
        json_close_object(json);
    }
    json_close_array(json);
}

void stack_request_answer_id(struct api_call *call, const struct stack *stack)
{
    struct json_writer json;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    stack_request_write(&json, "StackId", stack_request_arn(call, stack));
    json_close_object(&json);
}

void stack_request_answer_nothing(struct api_call *call)
{
    buffer_append_bytes(&call->response, BYTES("{}"));
}

/* --- Pages --- */

bool stack_request_page(struct api_call *call, struct bytes token, size_t *first)
{
    *first = 0;
    if (token.data == NULL)
        return true;
    bool valid = token.len > 0 && token.len <= PAGE_DIGITS_MAX;
    for (size_t i = 0; valid && i < token.len; i++) {
        valid = token.data[i] >= '0' && token.data[i] <= '9';
        *first = *first * 10 + (size_t)(token.data[i] - '0');
    }
    return valid || error_validation(&call->error, "Invalid NextToken");
}

bool stack_request_has_room(const struct api_call *call, size_t shown)
{
    return shown < STACK_REQUEST_PAGE &&
           buffer_bytes(&call->response).len < STACK_REQUEST_PAGE_SIZE;
}

void stack_request_write_token(struct api_call *call, struct json_writer *json, size_t next)
{
    stack_request_write(json, "NextToken", arena_printf(call->arena, "%zu", next));
}
