/* stack_change_list.h -- a plan as the list of changes that DescribeChangeSet answers. */
#ifndef STATOR_API_CLOUDFORMATION_STACK_CHANGE_LIST_H
#define STATOR_API_CLOUDFORMATION_STACK_CHANGE_LIST_H
#include <stdbool.h>
#include "base/bytes.h"

struct arena;
struct plan;
struct stack_evaluation;

/* JSON: a list. `before` NULL: a new stack. `tags_differ`: the stack's own tags change. */
struct bytes stack_change_list(struct arena *arena, const struct plan *plan,
                               const struct stack_evaluation *before,
                               const struct stack_evaluation *after, bool tags_differ);

#endif
