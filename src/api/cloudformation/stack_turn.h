/* stack_turn.h -- one turn of the driver with one stack: what its phases share. */
#ifndef STATOR_API_CLOUDFORMATION_STACK_TURN_H
#define STATOR_API_CLOUDFORMATION_STACK_TURN_H
#include <stdbool.h>
#include <stdint.h>
#include "api/cloudformation/stack_calls.h"
#include "api/cloudformation/stack_evaluation.h"
#include "base/compiler.h"
#include "cloudformation/stacks.h"

struct stack_turn {
    struct api *api;
    struct stacks *stacks;
    struct arena *arena;
    struct stack *stack; /* A copy, to be changed and stored. */
    struct stack_calls calls;
    enum stack_status began_as; /* The status at the start of the turn. */
    int64_t began_generation;
    bool has_given_up; /* A step exceeded the bounds of records. */
};

/* --- Storing: false if the store failed, or somebody else has changed the stack's course; the turn
 * ends then --- */

/* Stores the stack, and with an event the resource. `resource` NULL: the stack alone, without an
 * event. */
MUST_CHECK bool stack_turn_save(struct stack_turn *turn, struct stack_resource *resource);
/* The same without an event. */
MUST_CHECK bool stack_turn_save_quietly(struct stack_turn *turn, struct stack_resource *resource);
/* Stores the resource, with an event about `shown`. */
MUST_CHECK bool stack_turn_save_as(struct stack_turn *turn, struct stack_resource *resource,
                                   const struct stack_resource *shown);
/* Removes the record of a resource that is gone. */
MUST_CHECK bool stack_turn_forget(struct stack_turn *turn, const struct stack_resource *resource);
/* Moves the stack to another status with an event. `reason` data NULL: none. */
MUST_CHECK bool stack_turn_move(struct stack_turn *turn, enum stack_status status,
                                struct bytes reason);
/* Ends an update: the new template, or the old one, is the stack's. `evaluation` is of that one. */
MUST_CHECK bool stack_turn_end_update(struct stack_turn *turn, enum stack_status status,
                                      bool succeeded, const struct stack_evaluation *evaluation);
/* Ends a deletion. */
MUST_CHECK bool stack_turn_end_deletion(struct stack_turn *turn);

/* --- Resources --- */

/* A copy of the record; NULL: none. */
struct stack_resource *stack_turn_resource(struct stack_turn *turn, struct bytes logical_id);
/* Copies of all of them, in the order of creation. Returns how many. With the stacks locked. */
size_t stack_turn_resources(struct stack_turn *turn, struct stack_resource ***out);
void stack_turn_set(struct stack_turn *turn, struct stack_resource *resource,
                    enum stack_status status, struct bytes reason);
/* Dealt with by the operation under way. */
bool stack_turn_is_done(const struct stack_turn *turn, const struct stack_resource *resource);
/* Changed by an update that failed, the one that is rolled back or one before it: it may be unlike
 * the stack's template. Not what the operation under way has dealt with. */
bool stack_turn_was_touched(const struct stack_turn *turn, const struct stack_resource *resource);
/* From now on all resources are as the template says, or as near as they come to it. */
void stack_turn_is_stable(struct stack_turn *turn);
bool stack_turn_is_table(const struct stack_resource *resource);
/* A DeletionPolicy as records have it. */
struct bytes stack_turn_policy(enum template_policy policy);

/* --- Phases, each a step of one resource or the end of the phase. True: something was done. --- */

bool stack_deploy(struct stack_turn *turn); /* CREATE_IN_PROGRESS, UPDATE_IN_PROGRESS */
/* Ends a creation or an update that has failed: the stack stays as it is, is rolled back or
 * deleted, whatever its settings say. */
MUST_CHECK bool stack_fail(struct stack_turn *turn, struct bytes reason);
bool stack_clean_up(struct stack_turn *turn);       /* UPDATE_COMPLETE_CLEANUP_IN_PROGRESS */
bool stack_roll_back(struct stack_turn *turn);      /* UPDATE_ROLLBACK_IN_PROGRESS */
bool stack_clean_rollback(struct stack_turn *turn); /* UPDATE_ROLLBACK_COMPLETE_CLEANUP_... */
bool stack_remove(struct stack_turn *turn);         /* DELETE_IN_PROGRESS, ROLLBACK_IN_PROGRESS */

/* Brings a table to what the evaluation says. False with `*message` set, or data NULL if the server
 * stops. */
MUST_CHECK bool stack_settle_table(struct stack_turn *turn,
                                   const struct stack_evaluation *evaluation,
                                   const struct stack_resource *resource, struct bytes *message);
/* Deletes what a record stands for; `physical_id` may be the old one. */
MUST_CHECK bool stack_remove_resource(struct stack_turn *turn,
                                      const struct stack_evaluation *evaluation,
                                      const struct stack_resource *resource,
                                      struct bytes physical_id, struct bytes *message);

#endif
