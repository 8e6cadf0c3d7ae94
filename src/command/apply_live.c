/* apply_live.c -- what a server has of the resources of a template. See apply.h.
 *
 * An aspect of a table that the server refuses to tell, or does not know of, is left alone by the
 * plan. So this works against any endpoint, DynamoDB Local among them.
 */
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "command/apply.h"
#include "json/writer.h"
#include "template/document.h"
#include "template/node.h"

struct reading {
    struct apply_run *run;
    struct plan_before *before;
    size_t count, capacity;
    /* Of Application Auto Scaling: NULL until they are asked for. */
    struct node *targets, *policies, *schedules;
};

static struct bytes body_of(struct arena *arena, const char *name, struct bytes value)
{
    struct buffer out;
    struct json_writer json;
    buffer_init(&out, arena);
    json_writer_init(&json, &out);
    json_open_object(&json);
    json_write_name(&json, name);
    json_write_string(&json, value);
    json_close_object(&json);
    return buffer_bytes(&out);
}

static void add(struct reading *reading, struct plan_before before)
{
    if (reading->count == reading->capacity) {
        size_t old = reading->capacity, capacity = old == 0 ? 16 : old * 2;
        reading->before =
            arena_grow(reading->run->arena, reading->before, old * sizeof *reading->before,
                       capacity * sizeof *reading->before);
        reading->capacity = capacity;
    }
    reading->before[reading->count++] = before;
}

static struct node *parse(struct arena *arena, struct bytes json)
{
    struct template_error err = { 0 };
    return document_read(arena, json, &err);
}

static bool ask(struct reading *reading, const char *operation, const char *name,
                struct bytes value, struct apply_answer *answer)
{
    return apply_send(&reading->run->target, reading->run->arena, operation,
                      body_of(reading->run->arena, name, value), answer);
}

/* --- Tables --- */

/* One aspect; an error leaves `*out` as it is. */
static bool ask_aspect(struct reading *reading, const char *operation, const char *name,
                       struct bytes value, struct bytes *out)
{
    struct apply_answer answer;
    if (!ask(reading, operation, name, value, &answer))
        return false;
    if (answer.error.data == NULL)
        *out = answer.body;
    else if (bytes_equal_text(answer.error, "PolicyNotFoundException"))
        *out = BYTES("{}");
    return true;
}

static bool read_scaling(struct reading *reading);

static struct bytes list_json(struct arena *arena, const char *name, struct node *list)
{
    struct node *map = node_create(arena, NODE_MAP, 0);
    node_set(arena, map, name, list);
    return node_json(arena, map);
}

/* `*found` false: there is no such table. */
static bool describe(struct reading *reading, struct bytes name, struct apply_answer *answer,
                     bool *found)
{
    if (!ask(reading, "DescribeTable", "TableName", name, answer))
        return false;
    *found = answer->error.data == NULL;
    if (*found || bytes_equal_text(answer->error, "ResourceNotFoundException"))
        return true;
    apply_print_line(reading->run->arena, stderr, "stator: table %.*s: %.*s", BYTES_FMT(name),
                     BYTES_FMT(answer->message));
    return false;
}

static bool read_table(struct reading *reading, const struct template_resource *resource)
{
    struct arena *arena = reading->run->arena;
    struct bytes name = resource->physical_id;
    struct plan_live_table live = { 0 };
    struct apply_answer answer;
    struct plan_before before;
    bool found;
    if (!describe(reading, name, &answer, &found))
        return false;
    if (!found)
        return true;
    live.describe_table = answer.body;
    struct bytes arn = node_text(node_get(parse(arena, answer.body), "Table"), "TableArn");
    if (!ask_aspect(reading, "DescribeTimeToLive", "TableName", name,
                    &live.describe_time_to_live) ||
        !ask_aspect(reading, "DescribeContinuousBackups", "TableName", name,
                    &live.describe_continuous_backups) ||
        !ask_aspect(reading, "ListContributorInsights", "TableName", name,
                    &live.list_contributor_insights) ||
        !ask_aspect(reading, "DescribeKinesisStreamingDestination", "TableName", name,
                    &live.describe_kinesis_streaming_destination))
        return false;
    if (arn.data != NULL &&
        (!ask_aspect(reading, "ListTagsOfResource", "ResourceArn", arn,
                     &live.list_tags_of_resource) ||
         !ask_aspect(reading, "GetResourcePolicy", "ResourceArn", arn, &live.get_resource_policy)))
        return false;
    if (node_get(resource->state, "Scaling") != NULL) {
        if (!read_scaling(reading))
            return false;
        live.describe_scalable_targets = list_json(arena, "ScalableTargets", reading->targets);
        live.describe_scaling_policies = list_json(arena, "ScalingPolicies", reading->policies);
    }
    if (!plan_table_state(arena, &live, &before)) {
        apply_print_line(arena, stderr,
                         "stator: table %.*s: the server's description cannot be read",
                         BYTES_FMT(name));
        return false;
    }
    add(reading, before);
    return true;
}

/* --- Application Auto Scaling --- */

/* All pages of a list; an empty one if the server does not know the operation. */
static bool list_all(struct reading *reading, const char *operation, const char *member,
                     struct node **out)
{
    struct arena *arena = reading->run->arena;
    struct node *all = node_create(arena, NODE_LIST, 0), *body = node_create(arena, NODE_MAP, 0);
    node_set(arena, body, "ServiceNamespace", node_string(arena, BYTES("dynamodb"), 0));
    *out = all;
    for (unsigned page = 0; page < APPLY_PAGES_MAX; page++) {
        struct apply_answer answer;
        if (!apply_send(&reading->run->target, arena, operation, node_json(arena, body), &answer))
            return false;
        if (answer.error.data != NULL)
            return true;
        const struct node *root = parse(arena, answer.body);
        const struct node *list = node_get(root, member);
        for (size_t i = 0; list != NULL && i < list->count; i++)
            node_append(arena, all, list->members[i].value);
        struct node *token = node_get(root, "NextToken");
        if (token == NULL || token->kind != NODE_STRING)
            return true;
        node_set(arena, body, "NextToken", token);
    }
    return true;
}

static bool read_scaling(struct reading *reading)
{
    return reading->targets != NULL ||
           (list_all(reading, "application-autoscaling:DescribeScalableTargets", "ScalableTargets",
                     &reading->targets) &&
            list_all(reading, "application-autoscaling:DescribeScalingPolicies", "ScalingPolicies",
                     &reading->policies) &&
            list_all(reading, "application-autoscaling:DescribeScheduledActions",
                     "ScheduledActions", &reading->schedules));
}

static bool is_same_dimension(const struct node *a, const struct node *b)
{
    return node_equal(node_get(a, "ResourceId"), node_get(b, "ResourceId")) &&
           node_equal(node_get(a, "ScalableDimension"), node_get(b, "ScalableDimension"));
}

static bool read_target(struct reading *reading, const struct template_resource *resource)
{
    struct arena *arena = reading->run->arena;
    if (!read_scaling(reading))
        return false;
    for (size_t i = 0; i < reading->targets->count; i++) {
        const struct node *target = reading->targets->members[i].value;
        if (!is_same_dimension(target, resource->state))
            continue;
        struct node *state = node_copy_level(arena, target);
        struct node *actions = node_create(arena, NODE_LIST, 0);
        for (size_t k = 0; k < reading->schedules->count; k++) {
            if (is_same_dimension(reading->schedules->members[k].value, target))
                node_append(arena, actions, reading->schedules->members[k].value);
        }
        node_set(arena, state, "ScheduledActions", actions);
        add(reading, (struct plan_before){ .kind = resource->kind,
                                           .physical_id = resource->physical_id,
                                           .state = state,
                                           .is_live = true });
    }
    return true;
}

static bool read_policy(struct reading *reading, const struct template_resource *resource)
{
    if (!read_scaling(reading))
        return false;
    for (size_t i = 0; i < reading->policies->count; i++) {
        const struct node *policy = reading->policies->members[i].value;
        if (is_same_dimension(policy, resource->state) &&
            node_equal(node_get(policy, "PolicyName"), node_get(resource->state, "PolicyName")))
            add(reading, (struct plan_before){ .kind = resource->kind,
                                               .physical_id = resource->physical_id,
                                               .state = policy,
                                               .is_live = true });
    }
    return true;
}

/* --- CloudWatch --- */

static bool read_alarm(struct reading *reading, const struct template_resource *resource)
{
    static const char *const kinds[] = { "MetricAlarms", "CompositeAlarms" };
    struct arena *arena = reading->run->arena;
    struct node *body = node_create(arena, NODE_MAP, 0);
    struct node *names = node_create(arena, NODE_LIST, 0);
    struct node *types = node_create(arena, NODE_LIST, 0);
    struct apply_answer answer;
    node_append(arena, names, node_string(arena, resource->physical_id, 0));
    node_append(arena, types, node_string(arena, BYTES("MetricAlarm"), 0));
    node_append(arena, types, node_string(arena, BYTES("CompositeAlarm"), 0));
    node_set(arena, body, "AlarmNames", names);
    node_set(arena, body, "AlarmTypes", types);
    if (!apply_send(&reading->run->target, arena, "cloudwatch:DescribeAlarms",
                    node_json(arena, body), &answer))
        return false;
    const struct node *root = answer.error.data == NULL ? parse(arena, answer.body) : NULL;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const struct node *list = node_get(root, kinds[i]);
        if (list != NULL && list->count > 0)
            add(reading, (struct plan_before){ .kind = resource->kind,
                                               .physical_id = resource->physical_id,
                                               .state = list->members[0].value,
                                               .is_live = true });
    }
    return true;
}

static bool read_dashboard(struct reading *reading, const struct template_resource *resource)
{
    struct apply_answer answer;
    if (!ask(reading, "cloudwatch:GetDashboard", "DashboardName", resource->physical_id, &answer))
        return false;
    const struct node *state =
        answer.error.data == NULL ? parse(reading->run->arena, answer.body) : NULL;
    if (state != NULL && state->kind == NODE_MAP)
        add(reading, (struct plan_before){ .kind = resource->kind,
                                           .physical_id = resource->physical_id,
                                           .state = state,
                                           .is_live = true });
    return true;
}

/* --- Tables that the stack made and that are no longer in the template --- */

static bool is_in_template(const struct apply_stack *stack, struct bytes name)
{
    for (size_t i = 0; i < stack->result->resource_count; i++) {
        if (stack->result->resources[i].kind == TEMPLATE_KIND_TABLE &&
            bytes_equal(stack->result->resources[i].physical_id, name))
            return true;
    }
    return false;
}

static bool read_orphan(struct reading *reading, const struct apply_stack *stack, struct bytes name)
{
    struct arena *arena = reading->run->arena;
    struct plan_live_table live = { 0 };
    struct apply_answer answer;
    struct plan_before before;
    bool found;
    if (!describe(reading, name, &answer, &found))
        return false;
    struct bytes arn = found ? node_text(node_get(parse(arena, answer.body), "Table"), "TableArn")
                             : (struct bytes){ 0 };
    live.describe_table = answer.body;
    if (arn.data == NULL)
        return true;
    if (!ask_aspect(reading, "ListTagsOfResource", "ResourceArn", arn, &live.list_tags_of_resource))
        return false;
    if (!plan_table_state(arena, &live, &before))
        return true;
    const struct node *tag =
        node_find(node_get(before.state, "Tags"), "Key", BYTES(APPLY_OWNER_TAG));
    if (tag != NULL && bytes_equal(node_text(tag, "Value"), stack->name))
        add(reading, before);
    return true;
}

static bool read_orphans(struct reading *reading, const struct apply_stack *stack)
{
    struct arena *arena = reading->run->arena;
    struct node *body = node_create(arena, NODE_MAP, 0);
    size_t seen = 0;
    while (seen < APPLY_TABLES_MAX) {
        struct apply_answer answer;
        if (!apply_send(&reading->run->target, arena, "ListTables", node_json(arena, body),
                        &answer))
            return false;
        if (answer.error.data != NULL) {
            apply_print_line(arena, stderr, "stator: ListTables: %.*s", BYTES_FMT(answer.message));
            return false;
        }
        const struct node *root = parse(arena, answer.body);
        const struct node *names = node_get(root, "TableNames");
        for (size_t i = 0; names != NULL && i < names->count; i++, seen++) {
            const struct node *name = names->members[i].value;
            if (name->kind == NODE_STRING && !is_in_template(stack, name->text) &&
                !read_orphan(reading, stack, name->text))
                return false;
        }
        struct node *last = node_get(root, "LastEvaluatedTableName");
        if (last == NULL || last->kind != NODE_STRING)
            break;
        node_set(arena, body, "ExclusiveStartTableName", last);
    }
    return true;
}

/* --- All --- */

static bool read_resource(struct reading *reading, const struct template_resource *resource)
{
    switch (resource->kind) {
    case TEMPLATE_KIND_FOREIGN:
        return true;
    case TEMPLATE_KIND_TABLE:
        return read_table(reading, resource);
    case TEMPLATE_KIND_SCALABLE_TARGET:
        return read_target(reading, resource);
    case TEMPLATE_KIND_SCALING_POLICY:
        return read_policy(reading, resource);
    case TEMPLATE_KIND_ALARM:
        return read_alarm(reading, resource);
    case TEMPLATE_KIND_DASHBOARD:
        return read_dashboard(reading, resource);
    }
    return true;
}

bool apply_read_live(struct apply_run *run, const struct apply_stack *stack,
                     struct plan_before **before, size_t *count)
{
    struct reading reading = { .run = run };
    bool ok = true;
    for (size_t i = 0; i < stack->result->resource_count && ok; i++)
        ok = read_resource(&reading, &stack->result->resources[i]);
    if (ok && run->prune)
        ok = read_orphans(&reading, stack);
    *before = reading.before;
    *count = reading.count;
    return ok;
}
