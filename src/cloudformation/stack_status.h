/* stack_status.h -- the statuses of stacks and of their resources, and how a stack may change.
 *
 * A status that ends with IN_PROGRESS is also the phase that the stack is in: what is to be done
 * next follows from it, from the stored resources and from the template. So an interrupted stack
 * needs no other note of where it was.
 */
#ifndef STATOR_CLOUDFORMATION_STACK_STATUS_H
#define STATOR_CLOUDFORMATION_STACK_STATUS_H
#include <stdbool.h>
#include "base/bytes.h"

/* Stored by name. Resources have the first nine. */
enum stack_status {
    STACK_CREATE_IN_PROGRESS,
    STACK_CREATE_FAILED,
    STACK_CREATE_COMPLETE,
    STACK_DELETE_IN_PROGRESS,
    STACK_DELETE_FAILED,
    STACK_DELETE_COMPLETE,
    STACK_UPDATE_IN_PROGRESS,
    STACK_UPDATE_FAILED,
    STACK_UPDATE_COMPLETE,
    STACK_DELETE_SKIPPED, /* Resources only: retained. */
    STACK_ROLLBACK_IN_PROGRESS,
    STACK_ROLLBACK_FAILED,
    STACK_ROLLBACK_COMPLETE,
    STACK_UPDATE_COMPLETE_CLEANUP_IN_PROGRESS,
    STACK_UPDATE_ROLLBACK_IN_PROGRESS,
    STACK_UPDATE_ROLLBACK_FAILED,
    STACK_UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS,
    STACK_UPDATE_ROLLBACK_COMPLETE,
    STACK_REVIEW_IN_PROGRESS, /* Made by a change set that nobody has executed. */
    STACK_STATUS_COUNT,
};

const char *stack_status_name(enum stack_status status);
/* STACK_STATUS_COUNT if there is no such status. */
enum stack_status stack_status_find(struct bytes name);
/* Something is being done, or to be resumed. Not a stack under review: that waits for its user. */
bool stack_status_is_active(enum stack_status status);
/* Whether a stack may move from one to the other. */
bool stack_status_may_follow(enum stack_status from, enum stack_status to);
/* Whether a stack that is at rest may be updated. */
bool stack_status_may_update(enum stack_status status);

#endif
