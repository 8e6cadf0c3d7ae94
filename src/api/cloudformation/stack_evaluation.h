/* stack_evaluation.h -- a stack's template evaluated in what the stack has by now.
 *
 * Physical ids come from the stack's records, attributes such as StreamArn from the tables, and
 * imports from the outputs of other stacks. A large template takes a second or two (template.h
 * bounds it), so the stacks are locked only while one of these is looked up. Whoever then stores
 * what follows from an evaluation asks first whether it is still current.
 */
#ifndef STATOR_API_CLOUDFORMATION_STACK_EVALUATION_H
#define STATOR_API_CLOUDFORMATION_STACK_EVALUATION_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "cloudformation/stack_objects.h"
#include "template/template.h"

struct api;
struct arena;
struct plan;
struct plan_item;

struct stack_evaluation {
    struct api *api;
    struct arena *arena;
    const struct stack *stack;
    /* Set by the caller: what is being replaced still has its old physical id. */
    bool is_before;
    struct template *template;
    struct template_result *result;
    const struct stack_settings *settings;
    struct shape_list imports;  /* of struct bytes: the names that were asked for. */
    struct shape_list imported; /* of struct stack_pair *: those that were found. */
    bool import_is_missing;
    bool looks_up;        /* Exports have their current values, not those of the settings. */
    struct bytes message; /* What was wrong, for the client. */
};

/* "arn:aws:cloudformation:REGION:ACCOUNT:stack/NAME/UUID" */
struct bytes stack_evaluation_arn(const struct api *api, struct arena *arena,
                                  const struct stack *stack);

/* What CloudFormation says of a text that is no template. */
struct bytes stack_evaluation_format_error(struct arena *arena, const struct template_error *err);

/* Parses and evaluates. `out` is zeroed but for `is_before`. False with `message` set. Locks the
 * stacks, so the caller must not have locked them; `stack` is a copy of the caller's. The
 * parameters of the settings are those of the request; those of SSM's types have the names of
 * parameters. Exports have the values that the settings hold; those of a new request hold none, and
 * the current values are looked up. */
MUST_CHECK bool stack_evaluate(struct stack_evaluation *out, struct api *api, struct arena *arena,
                               const struct stack *stack, struct bytes text,
                               const struct stack_settings *settings);
/* The same of a stored template. */
MUST_CHECK bool stack_evaluate_stored(struct stack_evaluation *out, struct api *api,
                                      struct arena *arena, const struct stack *stack,
                                      struct bytes which, const struct stack_settings *settings);

/* Whether the exports that were looked up still have these values. With the stacks locked. */
bool stack_evaluation_is_current(const struct stack_evaluation *evaluation);

/* The name of a table that replaces one which the template does not name, in the operation of that
 * number. */
struct bytes stack_evaluation_new_name(struct arena *arena, const struct stack *stack,
                                       struct bytes logical_id, int64_t generation);

/* The differences between two templates of a stack, as a stack's update may have them. `before`
 * NULL: there is none. */
struct plan *stack_evaluation_plan(const struct stack_evaluation *before,
                                   const struct stack_evaluation *after);

/* What deletes a resource that is no table and is now of that physical id; NULL: nothing. */
const struct plan_item *stack_evaluation_removal(struct arena *arena,
                                                 const struct template_result *result,
                                                 struct bytes logical_id, struct bytes physical_id);

/* Whether the declaration of a resource differs between two templates, of whatever type it is. */
bool stack_evaluation_declares_same(const struct stack_evaluation *a,
                                    const struct stack_evaluation *b, struct bytes logical_id);

/* Whether both templates have the resource, with another DeletionPolicy or UpdateReplacePolicy. */
bool stack_evaluation_deletion_policy_differs(const struct stack_evaluation *a,
                                              const struct stack_evaluation *b,
                                              struct bytes logical_id);
bool stack_evaluation_replace_policy_differs(const struct stack_evaluation *a,
                                             const struct stack_evaluation *b,
                                             struct bytes logical_id);

/* Either template may retain what an update replaces: the request asked for the right to delete it
 * only if the new one does not. */
bool stack_evaluation_retains_replaced(const struct stack_evaluation *before,
                                       const struct stack_evaluation *after,
                                       struct bytes logical_id);

/* Whether an update from one to the other does anything: `plan` is that of the two. */
bool stack_evaluation_differs(const struct stack_evaluation *a, const struct stack_evaluation *b,
                              const struct plan *plan);

/* Whether the declared outputs differ in their values or exports. */
bool stack_evaluation_outputs_differ(const struct stack_evaluation *a,
                                     const struct stack_evaluation *b);

#endif
