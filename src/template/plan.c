/* plan.c -- plans: what happens to each resource, in which order. See plan.h. */
#include "template/plan.h"
#include <assert.h>
#include <stdarg.h>
#include <string.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "template/document.h"
#include "template/node.h"
#include "template/plan_parts.h"
#include "template/table_requests.h"

enum { LIST_FIRST = 8 };

/* --- Building an item --- */

void plan_builder_change(struct plan_builder *builder, char sign, const char *property,
                         const char *format, ...)
{
    va_list arguments;
    if (builder->change_count == builder->change_capacity) {
        size_t old = builder->change_capacity, capacity = old == 0 ? LIST_FIRST : old * 2;
        builder->changes =
            arena_grow(builder->arena, builder->changes, old * sizeof *builder->changes,
                       capacity * sizeof *builder->changes);
        builder->change_capacity = capacity;
    }
    va_start(arguments, format);
    builder->changes[builder->change_count++] =
        (struct plan_change){ sign, arena_vprintf(builder->arena, format, arguments),
                              bytes_from_text(property) };
    va_end(arguments);
}

void plan_builder_add(struct plan_builder *builder, struct plan_step step)
{
    if (builder->step_count == builder->step_capacity) {
        size_t old = builder->step_capacity, capacity = old == 0 ? LIST_FIRST : old * 2;
        builder->steps = arena_grow(builder->arena, builder->steps, old * sizeof *builder->steps,
                                    capacity * sizeof *builder->steps);
        builder->step_capacity = capacity;
    }
    builder->steps[builder->step_count++] = step;
}

void plan_builder_step(struct plan_builder *builder, const char *operation, const struct node *body,
                       enum plan_wait wait, struct bytes table)
{
    plan_builder_add(builder,
                     (struct plan_step){ operation, node_json(builder->arena, body), wait, table });
}

void plan_builder_refuse(struct plan_builder *builder, const char *format, ...)
{
    va_list arguments;
    if (builder->refusal.data != NULL)
        return;
    va_start(arguments, format);
    builder->refusal = arena_vprintf(builder->arena, format, arguments);
    va_end(arguments);
}

/* --- Creation and deletion --- */

static void add_creation(struct plan_builder *builder, const struct template_resource *resource)
{
    bool is_table = resource->kind == TEMPLATE_KIND_TABLE;
    for (size_t i = 0; i < resource->request_count; i++) {
        const struct template_request *request = &resource->requests[i];
        enum plan_wait wait =
            strcmp(request->operation, "CreateTable") == 0 ? PLAN_WAIT_ACTIVE : PLAN_WAIT_NOTHING;
        plan_builder_add(
            builder, (struct plan_step){ request->operation, request->body, wait,
                                         is_table ? resource->physical_id : (struct bytes){ 0 } });
    }
}

static struct node *one_list(struct arena *arena, const char *name, struct bytes text)
{
    struct node *body = node_create(arena, NODE_MAP, 0), *list = node_create(arena, NODE_LIST, 0);
    node_append(arena, list, node_string(arena, text, 0));
    node_set(arena, body, name, list);
    return body;
}

/* What names a target or a policy. */
static struct node *scaling_body(struct arena *arena, const struct node *state, bool is_policy)
{
    static const char *const names[] = { "ServiceNamespace", "ResourceId", "ScalableDimension",
                                         "PolicyName" };
    struct node *body = node_create(arena, NODE_MAP, 0);
    for (size_t i = 0; i < COUNT_OF(names) - !is_policy; i++) {
        if (node_get(state, names[i]) != NULL)
            node_set(arena, body, names[i], node_get(state, names[i]));
    }
    return body;
}

static void add_deletion(struct plan_builder *builder, const struct plan_before *before)
{
    struct arena *arena = builder->arena;
    const struct bytes none = { 0 };
    switch (before->kind) {
    case TEMPLATE_KIND_FOREIGN:
        return;
    case TEMPLATE_KIND_TABLE:
        plan_builder_step(builder, "DeleteTable", table_requests_body(arena, before->physical_id),
                          PLAN_WAIT_GONE, before->physical_id);
        return;
    case TEMPLATE_KIND_SCALABLE_TARGET:
        plan_builder_step(builder, "application-autoscaling:DeregisterScalableTarget",
                          scaling_body(arena, before->state, false), PLAN_WAIT_NOTHING, none);
        return;
    case TEMPLATE_KIND_SCALING_POLICY:
        plan_builder_step(builder, "application-autoscaling:DeleteScalingPolicy",
                          scaling_body(arena, before->state, true), PLAN_WAIT_NOTHING, none);
        return;
    case TEMPLATE_KIND_ALARM:
        plan_builder_step(builder, "cloudwatch:DeleteAlarms",
                          one_list(arena, "AlarmNames", before->physical_id), PLAN_WAIT_NOTHING,
                          none);
        return;
    case TEMPLATE_KIND_DASHBOARD:
        plan_builder_step(builder, "cloudwatch:DeleteDashboards",
                          one_list(arena, "DashboardNames", before->physical_id), PLAN_WAIT_NOTHING,
                          none);
        return;
    }
}

/* --- Resources other than tables --- */

static bool same_schedules(const struct node *wanted, const struct node *present)
{
    for (size_t i = 0; wanted != NULL && i < wanted->count; i++) {
        struct node copy = *wanted->members[i].value;
        const struct node *other =
            node_find(present, "ScheduledActionName", node_text(&copy, "ScheduledActionName"));
        if (!node_is_part(node_get(&copy, "Schedule"), node_get(other, "Schedule")) ||
            !node_is_part(node_get(&copy, "Timezone"), node_get(other, "Timezone")) ||
            !node_is_part(node_get(&copy, "ScalableTargetAction"),
                          node_get(other, "ScalableTargetAction")))
            return false;
    }
    return true;
}

/* JSON as text is compared by what it says. */
static bool same_json(struct arena *arena, const struct node *a, const struct node *b)
{
    struct template_error err = { 0 };
    if (a == NULL || b == NULL || a->kind != NODE_STRING || b->kind != NODE_STRING)
        return false;
    const struct node *left = document_read(arena, a->text, &err);
    const struct node *right = document_read(arena, b->text, &err);
    return left != NULL && right != NULL && node_equal(left, right);
}

/* Whether a server's description has what a request asks for. */
static bool has_member(struct plan_builder *builder, const struct plan_before *before,
                       const struct node_member *member)
{
    const struct node *present = node_get_bytes(before->state, member->name);
    if (!before->is_live)
        return node_equal(member->value, present);
    if (bytes_equal_text(member->name, "Tags"))
        return true; /* Put with the alarm when it is created. */
    if (bytes_equal_text(member->name, "ScheduledActions"))
        return same_schedules(member->value, present);
    return node_is_part(member->value, present) ||
           (bytes_equal_text(member->name, "DashboardBody") &&
            same_json(builder->arena, member->value, present));
}

/* Scheduled actions that are no longer wanted: putting a target again does not remove them. */
static void remove_schedules(struct plan_builder *builder, const struct plan_before *before,
                             const struct template_resource *after)
{
    struct arena *arena = builder->arena;
    const struct node *old = node_get(before->state, "ScheduledActions");
    const struct node *newer = node_get(after->state, "ScheduledActions");
    for (size_t i = 0; old != NULL && i < old->count; i++) {
        struct bytes name = node_text(old->members[i].value, "ScheduledActionName");
        if (name.data == NULL || node_find(newer, "ScheduledActionName", name) != NULL)
            continue;
        struct node *body = scaling_body(arena, after->state, false);
        node_set(arena, body, "ScheduledActionName", node_string(arena, name, 0));
        plan_builder_change(builder, '-', "", "ScheduledActions");
        plan_builder_step(builder, "application-autoscaling:DeleteScheduledAction", body,
                          PLAN_WAIT_NOTHING, (struct bytes){ 0 });
    }
}

static void compare_other(struct plan_builder *builder, const struct plan_before *before,
                          const struct template_resource *after)
{
    remove_schedules(builder, before, after);
    for (size_t i = 0; i < after->state->count; i++) {
        const struct node_member *member = &after->state->members[i];
        if (!has_member(builder, before, member))
            plan_builder_change(builder, '~', "", "%.*s", BYTES_FMT(member->name));
    }
    for (size_t i = 0; !before->is_live && i < before->state->count; i++) {
        const struct node_member *member = &before->state->members[i];
        if (node_get_bytes(after->state, member->name) == NULL)
            plan_builder_change(builder, '-', "", "%.*s", BYTES_FMT(member->name));
    }
    for (size_t i = 0; i < builder->change_count; i++)
        builder->changes[i].property = builder->changes[i].text;
    if (builder->change_count > 0)
        add_creation(builder, after); /* Each of these requests replaces what there is. */
}

/* --- Items --- */

static struct bytes summary_of(struct arena *arena, enum template_kind kind,
                               struct bytes physical_id, const struct node *state)
{
    static const char *const words[] = {
        [TEMPLATE_KIND_FOREIGN] = "",
        [TEMPLATE_KIND_TABLE] = "table",
        [TEMPLATE_KIND_SCALABLE_TARGET] = "scalable target",
        [TEMPLATE_KIND_SCALING_POLICY] = "scaling policy",
        [TEMPLATE_KIND_ALARM] = "alarm",
        [TEMPLATE_KIND_DASHBOARD] = "dashboard",
    };
    if (kind == TEMPLATE_KIND_TABLE)
        return plan_text_table(arena, state);
    return arena_printf(arena, "%s %.*s", words[kind], BYTES_FMT(physical_id));
}

static void finish_item(struct plan_item *item, const struct plan_builder *builder)
{
    item->changes = builder->changes;
    item->change_count = builder->change_count;
    item->steps = builder->steps;
    item->step_count = builder->step_count;
    item->refusal = builder->refusal;
}

/* Another name: made first, and the old one deleted at the end, so that nothing is missing between.
 */
static void move_resource(struct plan_builder *builder, struct plan_item *item,
                          const struct plan_before *before)
{
    struct plan_builder cleanup = { .arena = builder->arena, .options = builder->options };
    plan_builder_change(builder, '!', "TableName", "name  %.*s -> %.*s",
                        BYTES_FMT(before->physical_id), BYTES_FMT(item->physical_id));
    add_creation(builder, item->resource);
    if (item->resource->update_replace_policy == TEMPLATE_DELETE)
        add_deletion(&cleanup, before);
    item->cleanup_steps = cleanup.steps;
    item->cleanup_step_count = cleanup.step_count;
}

/* The same name: deleted and made again, which only tables need. */
static void remake_table(struct plan_builder *builder, struct plan_item *item,
                         const struct plan_before *before)
{
    plan_builder_change(builder, '!', "KeySchema", "%.*s", BYTES_FMT(builder->replacement));
    if (builder->options->as_stack && !item->resource->has_own_name) {
        item->needs_new_name = true;
        return;
    }
    if (builder->options->as_stack)
        plan_builder_refuse(builder,
                            "CloudFormation cannot update a stack when a custom-named resource "
                            "requires replacing. Rename %.*s and update the stack again.",
                            BYTES_FMT(before->physical_id));
    else if (before->is_protected)
        plan_builder_refuse(builder, "the table is protected against deletion");
    else if (item->resource->update_replace_policy != TEMPLATE_DELETE)
        plan_builder_refuse(builder, "its UpdateReplacePolicy retains the table: give the new one "
                                     "another name");
    add_deletion(builder, before);
    add_creation(builder, item->resource);
}

static void plan_existing(struct plan_builder *builder, struct plan_item *item,
                          const struct plan_before *before)
{
    const struct template_resource *resource = item->resource;
    item->old_physical_id = before->physical_id;
    if (!bytes_equal(before->physical_id, resource->physical_id)) {
        item->action = PLAN_REPLACE;
        item->item_count = before->item_count;
        move_resource(builder, item, before);
    } else if (resource->kind == TEMPLATE_KIND_TABLE) {
        plan_table_compare(builder, before, resource);
        if (builder->replacement.data != NULL) {
            item->action = PLAN_REPLACE;
            item->item_count = before->item_count;
            remake_table(builder, item, before);
        } else {
            item->action = builder->step_count > 0 ? PLAN_UPDATE : PLAN_NOTHING;
        }
    } else {
        compare_other(builder, before, resource);
        item->action = builder->step_count > 0 ? PLAN_UPDATE : PLAN_NOTHING;
    }
    if (item->action == PLAN_REPLACE && !builder->options->allow_replace)
        plan_builder_refuse(builder, "needs --allow-replace");
    if (builder->refusal.data != NULL && item->action != PLAN_REPLACE)
        item->action = PLAN_REFUSE;
}

static const struct plan_before *find_before(const struct plan_before *before, size_t count,
                                             const struct template_resource *resource)
{
    for (size_t i = 0; i < count; i++) {
        if (before[i].kind != resource->kind)
            continue;
        if (before[i].logical_id.data != NULL
                ? bytes_equal(before[i].logical_id, resource->logical_id)
                : bytes_equal(before[i].physical_id, resource->physical_id))
            return &before[i];
    }
    return NULL;
}

static struct plan_item plan_resource(const struct plan_builder *start,
                                      const struct template_resource *resource,
                                      const struct plan_before *before)
{
    struct plan_builder builder = *start;
    struct plan_item item = { .logical_id = resource->logical_id,
                              .type = resource->type,
                              .kind = resource->kind,
                              .physical_id = resource->physical_id,
                              .resource = resource };
    if (resource->kind == TEMPLATE_KIND_FOREIGN) {
        item.action = PLAN_SKIP;
        item.summary = resource->type;
        return item;
    }
    item.summary = summary_of(start->arena, resource->kind, resource->physical_id, resource->state);
    if (before == NULL) {
        item.action = PLAN_CREATE;
        add_creation(&builder, resource);
    } else {
        plan_existing(&builder, &item, before);
    }
    finish_item(&item, &builder);
    return item;
}

/* --- Deletions --- */

static bool is_wanted(const struct template_result *result, const struct plan_before *before)
{
    for (size_t i = 0; result != NULL && i < result->resource_count; i++) {
        const struct template_resource *resource = &result->resources[i];
        if (find_before(before, 1, resource) != NULL)
            return true;
    }
    return false;
}

static struct plan_item plan_removal(const struct plan_builder *start,
                                     const struct plan_before *before)
{
    struct plan_builder builder = *start;
    struct plan_item item = {
        .action = PLAN_DELETE,
        .logical_id = before->logical_id.data != NULL ? before->logical_id : before->physical_id,
        .type = before->type.data != NULL ? before->type : BYTES("AWS::DynamoDB::Table"),
        .kind = before->kind,
        .physical_id = before->physical_id,
        .old_physical_id = before->physical_id,
        .item_count = before->item_count,
    };
    if (before->kind == TEMPLATE_KIND_FOREIGN) {
        item.action = PLAN_SKIP;
        item.summary = item.type;
        return item;
    }
    item.summary = summary_of(start->arena, before->kind, before->physical_id, before->state);
    if (before->deletion_policy != TEMPLATE_DELETE ||
        (before->is_protected && !start->options->as_stack)) {
        item.action = PLAN_RETAIN;
        return item;
    }
    if (before->is_protected) {
        item.action = PLAN_REFUSE;
        plan_builder_refuse(&builder,
                            "Resource cannot be deleted as it is currently protected against "
                            "deletion. Disable deletion protection first.");
    }
    add_deletion(&builder, before);
    finish_item(&item, &builder);
    return item;
}

/* --- All --- */

struct plan_before plan_before_of(const struct template_resource *resource)
{
    return (struct plan_before){
        .logical_id = resource->logical_id,
        .kind = resource->kind,
        .type = resource->type,
        .physical_id = resource->physical_id,
        .state = resource->state,
        .deletion_policy = resource->deletion_policy,
        .is_protected = node_is_true(resource->state, "DeletionProtectionEnabled"),
    };
}

static void count_item(struct plan *plan, const struct plan_item *item)
{
    bool does_something =
        item->action != PLAN_NOTHING && item->action != PLAN_SKIP && item->action != PLAN_RETAIN;
    plan->change_count += does_something;
    plan->refused_count += item->refusal.data != NULL;
    plan->item_count++;
}

struct plan *plan_make(struct arena *arena, const struct template_result *result,
                       const struct plan_before *before, size_t before_count,
                       const struct plan_options *options)
{
    const struct plan_builder start = { .arena = arena, .options = options, .result = result };
    struct plan *plan = arena_alloc_zeroed(arena, sizeof *plan);
    size_t resource_count = result == NULL ? 0 : result->resource_count;
    struct plan_item *items =
        arena_alloc(arena, (resource_count + before_count + 1) * sizeof *items);
    plan->items = items;
    for (size_t i = 0; i < resource_count; i++) {
        const struct template_resource *resource = &result->resources[i];
        items[plan->item_count] =
            plan_resource(&start, resource, find_before(before, before_count, resource));
        count_item(plan, &items[plan->item_count]);
    }
    for (size_t i = before_count; options->prune && i > 0; i--) {
        if (is_wanted(result, &before[i - 1]))
            continue;
        items[plan->item_count] = plan_removal(&start, &before[i - 1]);
        count_item(plan, &items[plan->item_count]);
    }
    assert(plan->item_count <= resource_count + before_count);
    return plan;
}
