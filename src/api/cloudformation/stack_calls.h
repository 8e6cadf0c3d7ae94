/* stack_calls.h -- what a deployment does to tables: requests through the api's own door, in order,
 * and what tables are like by now.
 *
 * For the thread of the driver, which waits for the answer of a request but not for tables: one
 * table that takes long must not hold up the other stacks. What is not ready yet is looked at again
 * in a later turn.
 *
 * With `auth`, every request that changes something is decided about as one of the caller that
 * began the operation, with the policies that its key has when the request is sent. The driver
 * shows nobody what it reads, so its reads need no decision. */
#ifndef STATOR_API_CLOUDFORMATION_STACK_CALLS_H
#define STATOR_API_CLOUDFORMATION_STACK_CALLS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "cloudformation/stack_objects.h"
#include "template/plan.h"

struct api;
struct arena;
struct error;
struct job_thread;
struct stored_caller;
struct tag_list;

/* How a stack fares from one turn to the next. */
struct stack_patience {
    bool waits; /* Set when something is not ready yet. */
    /* Since when a request meets an error that may pass, by the monotonic clock; 0: it does not. */
    int64_t refused_since_ns;
};

struct stack_calls {
    struct api *api;
    struct arena *arena;
    struct job_thread *thread; /* No request is begun once it ends. */
    struct stack_patience *patience;
    struct bytes stack_id; /* The ARN. */
    const struct stack *stack;
    bool asks; /* Otherwise everything is allowed. */
    const struct stored_caller
        *caller; /* With `asks`. NULL: it is not known, nothing is allowed. */
};

/* Fills in who is asked, from the stack. */
void stack_calls_find_caller(struct stack_calls *calls);

/* Carries out the steps. `logical_id` becomes a tag of the tables that are created. False with
 * `*message` set; data NULL: not yet, or the server is stopping. The next turn resumes. */
MUST_CHECK bool stack_calls_run(const struct stack_calls *calls, struct bytes logical_id,
                                const struct plan_step *steps, size_t count, struct bytes *message);
/* The same for deletions: what is gone already counts as deleted. */
MUST_CHECK bool stack_calls_delete(const struct stack_calls *calls, const struct plan_step *steps,
                                   size_t count, struct bytes *message);

enum stack_table { STACK_TABLE_ABSENT, STACK_TABLE_OWN, STACK_TABLE_OF_OTHERS };
/* Whose table it is, by its tags. */
enum stack_table stack_calls_find(const struct stack_calls *calls, struct bytes logical_id,
                                  struct bytes name);
/* Whether a name cannot be given to a resource of that type, which is no table: a resource of a
 * stack has it, or there is an alarm or a dashboard of that name, whoever made it. Alarms and
 * dashboards have no tags that tell whose they are, so this is asked before the resource is first
 * stored. */
bool stack_calls_is_taken(const struct stack_calls *calls, const struct stack_resource *resource,
                          struct bytes name);
/* What a table is like, for plan_make: without the tags of the stack. Not yet before the table and
 * its indexes are ACTIVE or gone: an index that comes or goes cannot be changed. False with
 * `*message` set, as above. */
MUST_CHECK bool stack_calls_read(const struct stack_calls *calls, struct bytes logical_id,
                                 struct bytes name, struct plan_before *out, struct bytes *message);
/* Deletes a table of the stack, if it is still there. By then others may have made one of the same
 * name, which is left alone. */
MUST_CHECK bool stack_calls_delete_table(const struct stack_calls *calls, struct bytes logical_id,
                                         struct bytes name, struct bytes *message);
/* Brings the tags that the stack gives to its tables from `before` to `after`. */
MUST_CHECK bool stack_calls_tag(const struct stack_calls *calls, struct bytes name,
                                const struct shape_list *before, const struct shape_list *after,
                                struct bytes *message);

#endif
