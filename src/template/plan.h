/* plan.h -- the steps from the existing resources to those that a template asks for.
 *
 * A plan is data: for each resource an action, the changes in words, and the requests in an order
 * that the service allows, such as one index per UpdateTable. `stator apply` and CloudFormation's
 * stacks carry out the same plans.
 *
 * "What is there" is a list of `struct plan_before`. It comes from a template that was evaluated
 * earlier (plan_before_of) or from a server's own descriptions (plan_table_state). Nothing here
 * talks to a server.
 */
#ifndef STATOR_TEMPLATE_PLAN_H
#define STATOR_TEMPLATE_PLAN_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "template/template.h"

struct arena;
struct node;

/* A resource that is there. */
struct plan_before {
    struct bytes logical_id; /* data NULL: resources are matched by kind and physical id. */
    enum template_kind kind;
    struct bytes type; /* data NULL: not known. */
    struct bytes physical_id;
    const struct node *state; /* The canonical form (template.h). */
    /* `state` is what a server tells, which has more members than were ever asked for: only those
     * that the template mentions are compared. */
    bool is_live;
    enum template_policy deletion_policy;
    bool is_protected;   /* A table whose DeletionProtectionEnabled is true. */
    uint64_t item_count; /* Of a live table: what a replacement would lose. */
};

/* The resource as the state before another evaluation. */
struct plan_before plan_before_of(const struct template_resource *resource);

/* What a server says of a table, each as the JSON of the answer; data NULL: it was not asked or
 * does not know the operation, and that aspect is then left alone. */
struct plan_live_table {
    struct bytes describe_table;
    struct bytes describe_time_to_live;
    struct bytes describe_continuous_backups;
    struct bytes list_tags_of_resource;
    struct bytes list_contributor_insights;
    struct bytes describe_kinesis_streaming_destination;
    struct bytes get_resource_policy; /* "{}": there is none. */
    /* Of Application Auto Scaling: those of this table, or of all tables. */
    struct bytes describe_scalable_targets;
    struct bytes describe_scaling_policies;
};
/* False if `describe_table` is no description of a table. */
MUST_CHECK bool plan_table_state(struct arena *arena, const struct plan_live_table *live,
                                 struct plan_before *out);

enum plan_action {
    PLAN_NOTHING, /* It is as the template says. */
    PLAN_CREATE,
    PLAN_UPDATE,
    PLAN_REPLACE, /* Deleted and created, or created under another name and then deleted. */
    PLAN_DELETE,
    PLAN_RETAIN, /* No longer in the template, but its deletion policy, or protection, keeps it. */
    PLAN_SKIP,   /* Of another service. */
    PLAN_REFUSE, /* `refusal` says why. */
};

/* What to wait for once a request has been answered. */
enum plan_wait {
    PLAN_WAIT_NOTHING,
    PLAN_WAIT_ACTIVE,  /* The table is ACTIVE. Its new index may still be filled. */
    PLAN_WAIT_INDEXES, /* So are all of its indexes. */
    PLAN_WAIT_GONE,    /* DescribeTable answers ResourceNotFoundException. */
    PLAN_WAIT_TTL,     /* DescribeTimeToLive says ENABLED or DISABLED, not a state in between. */
};

struct plan_step {
    const char *operation; /* Of api/operation_list.h. */
    struct bytes body;     /* JSON */
    enum plan_wait wait;
    struct bytes table; /* That `wait` is about; data NULL: none. */
};

/* A change for people: '+' added, '-' removed, '~' changed, '!' removed and added again. */
struct plan_change {
    char sign;
    struct bytes text;     /* "billing  PROVISIONED 5/5 -> PAY_PER_REQUEST" */
    struct bytes property; /* The property of the resource's type: "BillingMode". */
};

struct plan_item {
    enum plan_action action;
    struct bytes logical_id;
    struct bytes type;
    enum template_kind kind;
    struct bytes physical_id;     /* After the plan; that of the old one for PLAN_DELETE. */
    struct bytes old_physical_id; /* data NULL: there is none before. */
    const struct template_resource *resource; /* NULL: no longer in the template. */
    struct bytes summary;                     /* "table orders (id S; on demand)" */
    /* Why it may not be done, also for PLAN_REPLACE; data NULL: it may. */
    struct bytes refusal;
    /* A stack replaces a resource under a new name: evaluate the template again with `attribute`
     * answering "Ref" by one (template_physical_name with a salt), then plan again. There are no
     * steps. */
    bool needs_new_name;
    uint64_t item_count; /* Lost by PLAN_REPLACE or PLAN_DELETE, if the server told. */
    const struct plan_change *changes;
    size_t change_count;
    const struct plan_step *steps;
    size_t step_count;
    /* Deletes the old resource of a replacement whose name differs: carried out after the steps of
     * all items. */
    const struct plan_step *cleanup_steps;
    size_t cleanup_step_count;
};

struct plan {
    /* In the order of execution: creations and updates by dependency, then deletions in reverse. */
    const struct plan_item *items;
    size_t item_count;
    size_t change_count;  /* Items that do something. */
    size_t refused_count; /* If not 0, nothing may be carried out. */
};

struct plan_options {
    /* Stacks: one index is added or removed per update, changes of an index are refused, and a
     * named table is not replaced, in CloudFormation's words. Otherwise the plan has as many
     * requests as it takes. */
    bool as_stack;
    /* A replacement that loses data is refused otherwise. Stacks set it. */
    bool allow_replace;
    /* What is before and not in the template is deleted (or retained by its policy). Otherwise it
     * is not part of the plan. */
    bool prune;
};

/* `result` NULL: an empty template, so that everything before is deleted (with `prune`). */
struct plan *plan_make(struct arena *arena, const struct template_result *result,
                       const struct plan_before *before, size_t before_count,
                       const struct plan_options *options);

#endif
