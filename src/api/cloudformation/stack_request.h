/* stack_request.h -- what CloudFormation's operations share: stacks that requests name, templates
 * and parameters that they bring, who may do what, and parts of answers.
 *
 * Every operation asks for its own action on the stack before it tells anything. One that starts a
 * deployment also asks for each request of it that is known by then to change a table, alarm or
 * scaling target, as if the caller sent that request itself.
 */
#ifndef STATOR_API_CLOUDFORMATION_STACK_REQUEST_H
#define STATOR_API_CLOUDFORMATION_STACK_REQUEST_H
#include <stdbool.h>
#include <stddef.h>
#include "api/cloudformation/stack_evaluation.h"
#include "base/compiler.h"
#include "cloudformation/stacks.h"
#include "shape/shape.h"

struct api_call;
struct json_writer;
struct plan;

extern const struct shape stack_request_text;
extern const struct shape stack_request_token; /* ClientRequestToken. */
extern const struct shape stack_request_role;
extern const struct shape stack_request_name; /* A stack's name or ARN. */
extern const struct shape stack_request_boolean;
extern const struct shape stack_request_number;
extern const struct shape stack_request_texts;
extern const struct shape stack_request_parameters; /* of struct stack_parameter_request * */
extern const struct shape stack_request_tags;       /* of struct stack_tag_request * */
extern const struct shape stack_request_rollback;   /* struct stack_rollback_request */

/* How every request that is about a stack begins. */
struct stack_name_request {
    struct bytes name; /* Or ARN; data NULL where that is allowed. */
};

struct stack_parameter_request {
    struct bytes key;
    struct bytes value;
    struct shape_boolean use_previous;
};
struct stack_tag_request {
    struct bytes key;
    struct bytes value;
};

struct stack_trigger_request {
    struct bytes arn;
    struct bytes type;
};
struct stack_rollback_request {
    struct shape_list triggers; /* of struct stack_trigger_request * */
    struct shape_integer minutes;
};

/* What CreateStack, UpdateStack and CreateChangeSet bring. */
struct stack_deploy_request {
    struct bytes name;
    struct bytes template_body;
    struct bytes template_url;
    struct shape_boolean use_previous_template;
    struct shape_list parameters;
    struct shape_list tags;
    struct shape_list capabilities;
    struct shape_list notifications;
    struct bytes role_arn;
    struct bytes token;
    struct shape_boolean disable_rollback;
    struct bytes on_failure;
    struct shape_boolean is_protected;
    struct shape_integer timeout_minutes;
    /* Refused if they ask for something. */
    struct bytes policy_body, policy_url;
    struct stack_rollback_request *rollback;
    struct shape_list resource_types;
    struct shape_boolean retains_except_on_create;
    struct shape_boolean imports_existing;
    /* CreateChangeSet: */
    struct bytes change_set_name;
    struct bytes change_set_type;
    struct bytes description;
    struct bytes on_stack_failure;
    struct shape_list imported;
};
#define STACK_DEPLOY_FIELDS                                                                        \
    { SHAPE_FIELD(struct stack_deploy_request, name, "StackName", &stack_request_name),            \
      .required = true },                                                                          \
        { SHAPE_FIELD(struct stack_deploy_request, template_body, "TemplateBody",                  \
                      &stack_request_text) },                                                      \
        { SHAPE_FIELD(struct stack_deploy_request, template_url, "TemplateURL",                    \
                      &stack_request_text) },                                                      \
        { SHAPE_FIELD(struct stack_deploy_request, use_previous_template, "UsePreviousTemplate",   \
                      &stack_request_boolean) },                                                   \
        { SHAPE_FIELD(struct stack_deploy_request, parameters, "Parameters",                       \
                      &stack_request_parameters) },                                                \
        { SHAPE_FIELD(struct stack_deploy_request, tags, "Tags", &stack_request_tags) },           \
        { SHAPE_FIELD(struct stack_deploy_request, capabilities, "Capabilities",                   \
                      &stack_request_texts) },                                                     \
        { SHAPE_FIELD(struct stack_deploy_request, notifications, "NotificationARNs",              \
                      &stack_request_texts) },                                                     \
        { SHAPE_FIELD(struct stack_deploy_request, role_arn, "RoleARN", &stack_request_role) },    \
        { SHAPE_FIELD(struct stack_deploy_request, token, "ClientRequestToken",                    \
                      &stack_request_token) },                                                     \
        { SHAPE_FIELD(struct stack_deploy_request, disable_rollback, "DisableRollback",            \
                      &stack_request_boolean) },                                                   \
        { SHAPE_FIELD(struct stack_deploy_request, policy_body, "StackPolicyBody",                 \
                      &stack_request_text) },                                                      \
        { SHAPE_FIELD(struct stack_deploy_request, rollback, "RollbackConfiguration",              \
                      &stack_request_rollback) },                                                  \
        { SHAPE_FIELD(struct stack_deploy_request, resource_types, "ResourceTypes",                \
                      &stack_request_texts) },                                                     \
        { SHAPE_FIELD(struct stack_deploy_request, retains_except_on_create,                       \
                      "RetainExceptOnCreate", &stack_request_boolean) },                           \
        { SHAPE_FIELD(struct stack_deploy_request, imports_existing, "ImportExistingResources",    \
                      &stack_request_boolean) },                                                   \
    {                                                                                              \
        SHAPE_FIELD(struct stack_deploy_request, policy_url, "StackPolicyURL",                     \
                    &stack_request_text)                                                           \
    }

/* --- Access --- */

/* Of requests that begin with a struct stack_name_request: the call's own action on the stack. For
 * `admits`. */
bool stack_request_admits(struct api_call *call, const void *request);
/* Asks for everything that the plan does, in the stack's next operation, and for the change of the
 * tags that the stack's tables have of it. So a caller without the right is refused at once; the
 * driver asks again about each request that it sends, which may be another one. */
MUST_CHECK bool stack_request_may_deploy(struct api_call *call, const struct stack *stack,
                                         const struct plan *plan,
                                         const struct shape_list *tags_before,
                                         const struct shape_list *tags_after);
/* Asks for the deletion of everything that the stack's records stand for and that its next
 * operation may delete: templates no longer say what earlier updates left behind. `after` is what
 * an update leads to; NULL: the stack is deleted. With the stacks locked. */
MUST_CHECK bool stack_request_may_remove(struct api_call *call, const struct stack *stack,
                                         const struct stack_evaluation *before,
                                         const struct stack_evaluation *after);

/* --- Stacks, with the stacks locked --- */

/* By name, of one that was not deleted, or by its whole ARN. NULL: none. Policies were asked about
 * the name in the ARN (stack_request_admits), so a UUID alone must not find another stack. */
const struct stack *stack_request_find(struct api_call *call, struct bytes name_or_arn);
/* A change set of the stack by its name or whole ARN. NULL: none. */
const struct stack_change_set *
stack_request_find_set(struct api_call *call, const struct stack *stack, struct bytes name_or_arn);
/* stack_request_find with the service's error set if there is none: "Stack with id X does not
 * exist". */
const struct stack *stack_request_require(struct api_call *call, struct bytes name_or_arn);
/* False with the service's error set if something is being done with it. */
MUST_CHECK bool stack_request_check_idle(struct api_call *call, const struct stack *stack);
/* The name in an ARN, or the argument itself. */
struct bytes stack_request_name_of(struct bytes name_or_arn);
bool stack_request_is_arn(struct bytes text);
/* The end of an ARN of a stack or change set; data NULL: it is no ARN. */
struct bytes stack_request_uid_of(struct bytes arn);

/* --- Templates and settings --- */

/* The text of the template that the request brings, or names by a URL, or that `stack` has. */
MUST_CHECK bool stack_request_template(struct api_call *call, struct bytes body, struct bytes url,
                                       bool use_previous, const struct stack *stack,
                                       struct bytes *out);
/* The settings that the request asks for; what it leaves out, `stack` may have. NULL: a new one. */
MUST_CHECK bool stack_request_settings(struct api_call *call,
                                       const struct stack_deploy_request *request,
                                       const struct stack *stack, struct stack_settings **out);
/* Evaluates the request's template, checks its capabilities, and completes the parameters of the
 * settings. Without the lock, as stack_evaluate. */
MUST_CHECK bool stack_request_evaluate(struct api_call *call, const struct stack *stack,
                                       struct bytes text, struct stack_settings *settings,
                                       struct stack_evaluation *out);
/* False with the error set if the deployment would exceed a bound of the stack's records. With the
 * stacks locked. */
MUST_CHECK bool stack_request_check_records(struct api_call *call, const struct stack *stack,
                                            const struct stack_evaluation *evaluation);
/* Which capabilities the template needs. Returns how many; `out` has room for two. */
size_t stack_request_needs(const struct template *template, struct bytes out[2],
                           struct bytes *type);

/* --- Changing --- */

/* Templates are evaluated while the stacks are not locked. An operation copies the stack,
 * evaluates, locks, and proceeds if nothing has changed meanwhile; otherwise it begins again, at
 * most so often. */
enum { STACK_REQUEST_ATTEMPTS_MAX = 4 };
struct stack_basis {
    struct bytes record; /* The stack as it was found; data NULL: there was none. */
    struct bytes name;
    const struct stack_evaluation *evaluations[2]; /* NULL: none. */
};
/* With the stacks locked. */
struct stack_basis stack_request_basis(struct api_call *call, const struct stack *stack);
bool stack_request_is_current(struct api_call *call, const struct stack_basis *basis);
/* The error after the last attempt; returns false. */
bool stack_request_refuse_hurry(struct api_call *call, struct bytes name);

/* False with the error set if the store failed. Unlocks the stacks. */
MUST_CHECK bool stack_request_commit(struct api_call *call, struct stacks_change *change);
struct stack *stack_request_new(struct api_call *call, struct bytes name);
/* The driver's requests are then those of this call's caller. */
void stack_request_note_caller(struct api_call *call, struct stack *stack);
/* Begins an operation: counts it, and sets status, token and caller. */
void stack_request_begin(struct api_call *call, struct stack *stack, enum stack_status status,
                         struct bytes token);
/* Stores that `stack`, with its `next` settings, is updated to the template, and wakes the driver.
 * Unlocks the stacks. */
MUST_CHECK bool stack_request_start_update(struct api_call *call, struct stack *stack,
                                           struct bytes text, struct bytes token);
int64_t stack_request_now_ms(const struct api_call *call);

/* --- Answers --- */

struct bytes stack_request_arn(struct api_call *call, const struct stack *stack);
struct bytes stack_request_set_arn(struct api_call *call, const struct stack_change_set *set);
void stack_request_answer_id(struct api_call *call, const struct stack *stack);
void stack_request_answer_nothing(struct api_call *call);
void stack_request_write(struct json_writer *json, const char *name, struct bytes text);
void stack_request_write_texts(struct json_writer *json, const char *name,
                               const struct shape_list *texts);
void stack_request_write_parameters(struct api_call *call, struct json_writer *json,
                                    const struct stack_settings *settings);
void stack_request_write_tags(struct json_writer *json, const struct shape_list *tags);
void stack_request_write_time(struct json_writer *json, const char *name,
                              const struct shape_integer *time_ms);

/* --- Pages --- */

/* Tokens are positions in a list. */
MUST_CHECK bool stack_request_page(struct api_call *call, struct bytes token, size_t *first);
void stack_request_write_token(struct api_call *call, struct json_writer *json, size_t next);
enum { STACK_REQUEST_PAGE = 100, STACK_REQUEST_PAGE_SIZE = 1024 * 1024 };
/* Whether the answer has room for another entry. It may exceed STACK_REQUEST_PAGE_SIZE by one. */
bool stack_request_has_room(const struct api_call *call, size_t shown);

/* An operation on stacks. `function(call, request)` writes the answer, or returns false with the
 * error set. */
#define STACK_OPERATION(identifier, operation_name, shape_pointer, asks_about, function)           \
    static void run_##identifier(struct api_call *call, const void *input)                         \
    {                                                                                              \
        operation_end(call, function(call, input));                                                \
    }                                                                                              \
    const struct operation op_cfn_##identifier = { .name = (operation_name),                       \
                                                   .service = OPERATION_OF_CLOUDFORMATION,         \
                                                   .request = (shape_pointer),                     \
                                                   .asks = OPERATION_ASKS_ITSELF,                  \
                                                   .admits = (asks_about),                         \
                                                   .waits = OPERATION_WAITS,                       \
                                                   .run = run_##identifier };
/* The same with the stacks locked while the function runs: for those that only read. */
#define STACK_QUESTION(identifier, operation_name, shape_pointer, asks_about, function)            \
    static bool answer_##identifier(struct api_call *call, const void *input)                      \
    {                                                                                              \
        stacks_lock(api_stacks(call->api));                                                        \
        bool ok = function(call, input);                                                           \
        stacks_unlock(api_stacks(call->api));                                                      \
        return ok;                                                                                 \
    }                                                                                              \
    STACK_OPERATION(identifier, operation_name, shape_pointer, asks_about, answer_##identifier)

#endif
