/* other_resources.c -- auto scaling, alarms and dashboards: the canonical form of each is the body
 * of the one request that makes it.
 */
#include <string.h>
#include "template/evaluation.h"
#include "template/properties.h"
#include "template/resource_types.h"
#include "template/table_requests.h"

static bool finish(struct evaluation *evaluation, struct template_resource *resource,
                   const char *operation, const struct node *state)
{
    struct table_requests requests = { .arena = evaluation->arena };
    const struct node *scheduled = node_get(state, "ScheduledActions");
    struct node *body = node_copy_level(evaluation->arena, state);
    node_remove(body, "ScheduledActions");
    table_requests_add(&requests, operation, body);
    for (size_t i = 0; scheduled != NULL && i < scheduled->count; i++)
        table_requests_add(&requests, "application-autoscaling:PutScheduledAction",
                           scheduled->members[i].value);
    resource->state = state;
    resource->requests = requests.list;
    resource->request_count = requests.count;
    return true;
}

/* A resource about things of other services, such as an alarm on a function, is skipped. True if it
 * was. */
static bool skip_foreign(struct evaluation *evaluation, struct template_resource *resource,
                         const struct node *node)
{
    const struct node *foreign = node_find_foreign(node);
    if (foreign == NULL)
        return false;
    evaluation_notice(evaluation, resource->logical_id, resource->line,
                      arena_printf(evaluation->arena,
                                   "skipped: %.*s that depends on %.*s, a resource of another "
                                   "service",
                                   BYTES_FMT(resource->type), BYTES_FMT(foreign->foreign)));
    resource->kind = TEMPLATE_KIND_FOREIGN;
    return true;
}

/* --- Application Auto Scaling --- */

static void set_service(struct arena *arena, struct node *state)
{
    if (node_get(state, "ServiceNamespace") == NULL)
        node_set(arena, state, "ServiceNamespace", node_string(arena, BYTES("dynamodb"), 0));
}

bool other_resources_build_target(struct evaluation *evaluation, struct template_resource *resource)
{
    struct arena *arena = evaluation->arena;
    struct node *state = properties_check(evaluation, resource, &property_shape_scalable_target);
    if (state == NULL)
        return false;
    node_remove(state, "RoleARN"); /* Nobody needs to be allowed to scale here. */
    set_service(arena, state);
    const struct node *scheduled = node_get(state, "ScheduledActions");
    if (scheduled != NULL) {
        struct node *list = node_create(arena, NODE_LIST, 0);
        for (size_t i = 0; i < scheduled->count; i++) {
            struct node *action = node_copy_level(arena, scheduled->members[i].value);
            node_set(arena, action, "ServiceNamespace", node_get(state, "ServiceNamespace"));
            node_set(arena, action, "ResourceId", node_get(state, "ResourceId"));
            node_set(arena, action, "ScalableDimension", node_get(state, "ScalableDimension"));
            node_append(arena, list, action);
        }
        node_set(arena, state, "ScheduledActions", list);
    }
    return finish(evaluation, resource, "application-autoscaling:RegisterScalableTarget", state);
}

/* ScalingTargetId is "table/T|dynamodb:table:ReadCapacityUnits|dynamodb". */
static bool split_target(struct evaluation *evaluation, const struct template_resource *resource,
                         struct node *state)
{
    static const char *const names[] = { "ResourceId", "ScalableDimension", "ServiceNamespace" };
    struct bytes rest = node_text(state, "ScalingTargetId");
    if (rest.data == NULL)
        return true;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const uint8_t *bar = memchr(rest.data, '|', rest.len);
        size_t size = bar == NULL ? rest.len : (size_t)(bar - rest.data);
        if ((bar == NULL) != (i + 1 == COUNT_OF(names)))
            return template_error_set(evaluation->arena, evaluation->err, resource->line,
                                      "Resource %.*s: ScalingTargetId is not the id of a scalable "
                                      "target",
                                      BYTES_FMT(resource->logical_id));
        node_set(evaluation->arena, state, names[i],
                 node_string(evaluation->arena, bytes_of(rest.data, size), 0));
        if (bar != NULL)
            rest = bytes_of(bar + 1, rest.len - size - 1);
    }
    node_remove(state, "ScalingTargetId");
    return true;
}

bool other_resources_build_policy(struct evaluation *evaluation, struct template_resource *resource)
{
    if (skip_foreign(evaluation, resource, resource->properties))
        return true;
    struct node *state = properties_check(evaluation, resource, &property_shape_scaling_policy);
    if (state == NULL || !split_target(evaluation, resource, state))
        return false;
    set_service(evaluation->arena, state);
    return finish(evaluation, resource, "application-autoscaling:PutScalingPolicy", state);
}

/* --- CloudWatch --- */

static void set_name(struct evaluation *evaluation, const struct template_resource *resource,
                     struct node *state, const char *name)
{
    node_set(evaluation->arena, state, name,
             node_string(evaluation->arena, resource->physical_id, 0));
}

bool other_resources_build_alarm(struct evaluation *evaluation, struct template_resource *resource)
{
    if (skip_foreign(evaluation, resource, node_get(resource->properties, "Dimensions")) ||
        skip_foreign(evaluation, resource, node_get(resource->properties, "Metrics")))
        return true;
    struct node *state = properties_check(evaluation, resource, &property_shape_alarm);
    if (state == NULL)
        return false;
    set_name(evaluation, resource, state, "AlarmName");
    return finish(evaluation, resource, "cloudwatch:PutMetricAlarm", state);
}

bool other_resources_build_composite(struct evaluation *evaluation,
                                     struct template_resource *resource)
{
    if (skip_foreign(evaluation, resource, node_get(resource->properties, "AlarmRule")))
        return true;
    struct node *state = properties_check(evaluation, resource, &property_shape_composite_alarm);
    if (state == NULL)
        return false;
    set_name(evaluation, resource, state, "AlarmName");
    return finish(evaluation, resource, "cloudwatch:PutCompositeAlarm", state);
}

/* A body that mentions resources of other services is still worth having: widgets of theirs stay
 * empty. */
bool other_resources_build_dashboard(struct evaluation *evaluation,
                                     struct template_resource *resource)
{
    struct arena *arena = evaluation->arena;
    struct node *state = properties_check(evaluation, resource, &property_shape_dashboard);
    if (state == NULL)
        return false;
    const struct node *body = node_get(state, "DashboardBody");
    if (body->kind == NODE_MAP)
        node_set(arena, state, "DashboardBody", node_string(arena, node_json(arena, body), 0));
    else if (body->kind != NODE_STRING)
        return template_error_set(arena, evaluation->err, resource->line,
                                  "Resource %.*s: DashboardBody must be JSON",
                                  BYTES_FMT(resource->logical_id));
    set_name(evaluation, resource, state, "DashboardName");
    return finish(evaluation, resource, "cloudwatch:PutDashboard", state);
}
