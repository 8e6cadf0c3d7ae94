/* plan_settings.c -- the settings of a table that have operations of their own: expiry, recovery,
 * insights, Kinesis, policy, tags and auto scaling. See plan_parts.h.
 */
#include <string.h>
#include "base/arena.h"
#include "template/node.h"
#include "template/plan_parts.h"
#include "template/table_requests.h"

/* An aspect that the server did not tell of, or that the template leaves alone. */
static bool is_left_alone(const struct plan_before *before, const struct template_resource *after,
                          const char *property)
{
    return (before->is_live && node_get(before->state, property) == NULL) ||
           (after->is_partial && node_get(after->state, property) == NULL);
}

static struct bytes or_text(struct bytes value, struct bytes otherwise)
{
    return value.data != NULL ? value : otherwise;
}

static void compare_ttl(struct plan_builder *builder, const struct plan_before *before,
                        const struct template_resource *after)
{
    const char *property = "TimeToLiveSpecification";
    const struct node *old = node_get(before->state, property);
    const struct node *newer = node_get(after->state, property);
    bool was_on = node_is_true(old, "Enabled"), is_on = node_is_true(newer, "Enabled");
    struct bytes old_name = or_text(node_text(old, "AttributeName"), BYTES(""));
    struct bytes new_name = or_text(node_text(newer, "AttributeName"), BYTES(""));
    if (is_left_alone(before, after, property) ||
        (was_on == is_on && (!is_on || bytes_equal(old_name, new_name))))
        return;
    plan_builder_change(builder, '~', property, "time to live  %.*s -> %.*s",
                        BYTES_FMT(was_on ? old_name : BYTES("off")),
                        BYTES_FMT(is_on ? new_name : BYTES("off")));
    if (was_on)
        plan_builder_step(builder, "UpdateTimeToLive",
                          table_requests_ttl(builder->arena, before->physical_id, old_name, false),
                          is_on ? PLAN_WAIT_TTL : PLAN_WAIT_NOTHING, before->physical_id);
    if (is_on)
        plan_builder_step(builder, "UpdateTimeToLive",
                          table_requests_ttl(builder->arena, before->physical_id, new_name, true),
                          PLAN_WAIT_NOTHING, before->physical_id);
}

static void compare_recovery(struct plan_builder *builder, const struct plan_before *before,
                             const struct template_resource *after)
{
    const char *property = "PointInTimeRecoverySpecification";
    const struct node *old = node_get(before->state, property);
    struct node *newer = node_get(after->state, property);
    bool was_on = node_is_true(old, "PointInTimeRecoveryEnabled");
    bool is_on = node_is_true(newer, "PointInTimeRecoveryEnabled");
    int64_t old_days = 0, new_days = 0;
    bool other_days =
        is_on && node_integer(newer, "RecoveryPeriodInDays", &new_days) &&
        (!node_integer(old, "RecoveryPeriodInDays", &old_days) || old_days != new_days);
    if (is_left_alone(before, after, property) || (was_on == is_on && !other_days))
        return;
    plan_builder_change(builder, '~', property, "point-in-time recovery  %s -> %s",
                        was_on ? "on" : "off", is_on ? "on" : "off");
    struct node *body = table_requests_body(builder->arena, before->physical_id);
    if (newer == NULL) {
        newer = node_create(builder->arena, NODE_MAP, 0);
        node_set(builder->arena, newer, "PointInTimeRecoveryEnabled",
                 node_bool(builder->arena, false));
    }
    node_set(builder->arena, body, property, newer);
    plan_builder_step(builder, "UpdateContinuousBackups", body, PLAN_WAIT_NOTHING,
                      before->physical_id);
}

static void compare_insights_of(struct plan_builder *builder, const struct plan_before *before,
                                const struct node *old, const struct node *newer,
                                struct bytes index_name)
{
    bool was_on = node_is_true(old, "Enabled"), is_on = node_is_true(newer, "Enabled");
    bool other_mode =
        is_on && node_get(newer, "Mode") != NULL &&
        !bytes_equal(or_text(node_text(old, "Mode"), BYTES("")), node_text(newer, "Mode"));
    if (was_on == is_on && !other_mode)
        return;
    plan_builder_change(
        builder, '~', "ContributorInsightsSpecification", "contributor insights%s%.*s  %s -> %s",
        index_name.data == NULL ? "" : " of ", BYTES_FMT(or_text(index_name, BYTES(""))),
        was_on ? "on" : "off", is_on ? "on" : "off");
    plan_builder_step(
        builder, "UpdateContributorInsights",
        table_requests_insights(builder->arena, before->physical_id, index_name, newer),
        PLAN_WAIT_NOTHING, before->physical_id);
}

static void compare_insights(struct plan_builder *builder, const struct plan_before *before,
                             const struct template_resource *after)
{
    const char *property = "ContributorInsightsSpecification";
    const struct node *newer = node_get(after->state, "GlobalSecondaryIndexes");
    const struct node *old = node_get(before->state, "GlobalSecondaryIndexes");
    if (before->is_live && node_get(before->state, property) == NULL)
        return;
    if (!is_left_alone(before, after, property))
        compare_insights_of(builder, before, node_get(before->state, property),
                            node_get(after->state, property), (struct bytes){ 0 });
    for (size_t i = 0; !after->is_partial && newer != NULL && i < newer->count; i++) {
        const struct node *index = newer->members[i].value;
        struct bytes name = node_text(index, "IndexName");
        if (plan_index_stays(before->state, after->state, name))
            compare_insights_of(builder, before,
                                node_get(node_find(old, "IndexName", name), property),
                                node_get(index, property), name);
    }
}

static void compare_kinesis(struct plan_builder *builder, const struct plan_before *before,
                            const struct template_resource *after)
{
    const char *property = "KinesisStreamSpecification";
    const struct node *old = node_get(before->state, property);
    const struct node *newer = node_get(after->state, property);
    struct bytes old_arn = or_text(node_text(old, "StreamArn"), BYTES(""));
    struct bytes new_arn = or_text(node_text(newer, "StreamArn"), BYTES(""));
    if (is_left_alone(before, after, property) || bytes_equal(old_arn, new_arn))
        return;
    plan_builder_change(builder, '~', property, "Kinesis stream  %.*s -> %.*s",
                        BYTES_FMT(old_arn.len > 0 ? old_arn : BYTES("none")),
                        BYTES_FMT(new_arn.len > 0 ? new_arn : BYTES("none")));
    if (old_arn.len > 0) {
        struct node *body = table_requests_body(builder->arena, before->physical_id);
        node_set(builder->arena, body, "StreamArn", node_string(builder->arena, old_arn, 0));
        plan_builder_step(builder, "DisableKinesisStreamingDestination", body, PLAN_WAIT_NOTHING,
                          before->physical_id);
    }
    if (new_arn.len > 0)
        plan_builder_step(builder, "EnableKinesisStreamingDestination",
                          table_requests_kinesis(builder->arena, before->physical_id, newer),
                          PLAN_WAIT_NOTHING, before->physical_id);
}

static struct node *arn_body(struct plan_builder *builder, const struct plan_before *before,
                             const struct template_resource *after)
{
    struct node *body = node_create(builder->arena, NODE_MAP, 0);
    struct bytes arn = or_text(node_text(before->state, "TableArn"), after->arn);
    node_set(builder->arena, body, "ResourceArn", node_string(builder->arena, arn, 0));
    return body;
}

enum { ACCOUNT_DIGITS = 12 };

/* The service turns the account 123456789012 into arn:aws:iam::123456789012:root. */
static struct bytes account_of(struct bytes principal)
{
    const struct bytes before = BYTES("arn:aws:iam::"), behind = BYTES(":root");
    size_t around = before.len + behind.len;
    if (principal.len == around + ACCOUNT_DIGITS && bytes_starts_with(principal, before) &&
        memcmp(principal.data + before.len + ACCOUNT_DIGITS, behind.data, behind.len) == 0)
        return bytes_of(principal.data + before.len, ACCOUNT_DIGITS);
    return principal;
}

/* Policies are equal although one has "x" where the other has ["x"]. */
static bool same_policy(const struct node *a, const struct node *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    if (a->kind == NODE_LIST && a->count == 1)
        a = a->members[0].value;
    if (b->kind == NODE_LIST && b->count == 1)
        b = b->members[0].value;
    if (a->kind == NODE_STRING && b->kind == NODE_STRING)
        return bytes_equal(account_of(a->text), account_of(b->text));
    if (a->kind != b->kind || a->count != b->count)
        return false;
    if (a->kind != NODE_LIST && a->kind != NODE_MAP)
        return node_equal(a, b);
    for (size_t i = 0; i < a->count; i++) {
        if (!same_policy(a->members[i].value, a->kind == NODE_LIST
                                                  ? b->members[i].value
                                                  : node_get_bytes(b, a->members[i].name)))
            return false;
    }
    return true;
}

static void compare_policy(struct plan_builder *builder, const struct plan_before *before,
                           const struct template_resource *after)
{
    const char *property = "ResourcePolicy";
    const struct node *old = node_get(node_get(before->state, property), "PolicyDocument");
    const struct node *newer = node_get(node_get(after->state, property), "PolicyDocument");
    if (is_left_alone(before, after, property) || same_policy(old, newer))
        return;
    plan_builder_change(builder,
                        newer == NULL ? '-'
                        : old == NULL ? '+'
                                      : '~',
                        property, "resource policy");
    struct node *body = arn_body(builder, before, after);
    if (newer != NULL)
        node_set(builder->arena, body, "Policy",
                 node_string(builder->arena, node_json(builder->arena, newer), 0));
    plan_builder_step(builder, newer != NULL ? "PutResourcePolicy" : "DeleteResourcePolicy", body,
                      PLAN_WAIT_NOTHING, before->physical_id);
}

static void compare_tags(struct plan_builder *builder, const struct plan_before *before,
                         const struct template_resource *after)
{
    struct arena *arena = builder->arena;
    const struct node *old = node_get(before->state, "Tags");
    const struct node *newer = node_get(after->state, "Tags");
    struct node *added = node_create(arena, NODE_LIST, 0);
    struct node *removed = node_create(arena, NODE_LIST, 0);
    if (is_left_alone(before, after, "Tags"))
        return;
    for (size_t i = 0; newer != NULL && i < newer->count; i++) {
        struct node *tag = newer->members[i].value;
        const struct node *present = node_find(old, "Key", node_text(tag, "Key"));
        if (node_is_part(tag, present))
            continue;
        node_append(arena, added, tag);
        plan_builder_change(builder, present == NULL ? '+' : '~', "Tags", "tag %.*s=%.*s",
                            BYTES_FMT(node_text(tag, "Key")), BYTES_FMT(node_text(tag, "Value")));
    }
    for (size_t i = 0; !after->is_partial && old != NULL && i < old->count; i++) {
        struct bytes key = node_text(old->members[i].value, "Key");
        if (node_find(newer, "Key", key) != NULL || bytes_starts_with(key, BYTES("aws:")))
            continue;
        node_append(arena, removed, node_string(arena, key, 0));
        plan_builder_change(builder, '-', "Tags", "tag %.*s", BYTES_FMT(key));
    }
    struct node *body = arn_body(builder, before, after);
    if (removed->count > 0) {
        node_set(arena, body, "TagKeys", removed);
        plan_builder_step(builder, "UntagResource", body, PLAN_WAIT_NOTHING, before->physical_id);
    }
    body = arn_body(builder, before, after);
    if (added->count > 0) {
        node_set(arena, body, "Tags", added);
        plan_builder_step(builder, "TagResource", body, PLAN_WAIT_NOTHING, before->physical_id);
    }
}

/* --- Auto scaling of a GlobalTable --- */

/* The target of the dimension that `pair` is about, with its policy; NULL: none. */
static const struct node *find_scaling(const struct node *list, const struct node *pair)
{
    const struct node *wanted = node_get(pair, "Target");
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        const struct node *target = node_get(list->members[i].value, "Target");
        if (node_equal(node_get(target, "ResourceId"), node_get(wanted, "ResourceId")) &&
            node_equal(node_get(target, "ScalableDimension"),
                       node_get(wanted, "ScalableDimension")))
            return list->members[i].value;
    }
    return NULL;
}

static void remove_scaling(struct plan_builder *builder, const struct node *pair)
{
    struct arena *arena = builder->arena;
    const struct node *target = node_get(pair, "Target");
    struct node *body = node_create(arena, NODE_MAP, 0);
    node_set(arena, body, "ServiceNamespace", node_string(arena, BYTES("dynamodb"), 0));
    node_set(arena, body, "ResourceId", node_get(target, "ResourceId"));
    node_set(arena, body, "ScalableDimension", node_get(target, "ScalableDimension"));
    plan_builder_change(builder, '-', "WriteProvisionedThroughputSettings", "auto scaling of %.*s",
                        BYTES_FMT(node_text(target, "ScalableDimension")));
    plan_builder_step(builder, "application-autoscaling:DeregisterScalableTarget", body,
                      PLAN_WAIT_NOTHING, (struct bytes){ 0 });
}

/* A live table may have targets that its template does not know of: other resources of the template
 * may have registered them. */
static void compare_scaling(struct plan_builder *builder, const struct plan_before *before,
                            const struct template_resource *after)
{
    const struct node *old = node_get(before->state, "Scaling");
    const struct node *newer = node_get(after->state, "Scaling");
    struct table_requests requests = { .arena = builder->arena };
    struct node *changed = node_create(builder->arena, NODE_LIST, 0);
    if (before->is_live && old == NULL)
        return;
    for (size_t i = 0; newer != NULL && i < newer->count; i++) {
        struct node *pair = newer->members[i].value;
        const struct node *present = find_scaling(old, pair);
        if (present != NULL && node_is_part(pair, present))
            continue;
        node_append(builder->arena, changed, pair);
        plan_builder_change(builder, present == NULL ? '+' : '~',
                            "WriteProvisionedThroughputSettings", "auto scaling of %.*s",
                            BYTES_FMT(node_text(node_get(pair, "Target"), "ScalableDimension")));
    }
    for (size_t i = 0; !before->is_live && old != NULL && i < old->count; i++) {
        if (find_scaling(newer, old->members[i].value) == NULL)
            remove_scaling(builder, old->members[i].value);
    }
    table_requests_scaling(&requests, changed);
    for (size_t i = 0; i < requests.count; i++)
        plan_builder_add(builder, (struct plan_step){ .operation = requests.list[i].operation,
                                                      .body = requests.list[i].body });
}

void plan_settings_compare(struct plan_builder *builder, const struct plan_before *before,
                           const struct template_resource *after)
{
    compare_ttl(builder, before, after);
    compare_recovery(builder, before, after);
    compare_insights(builder, before, after);
    compare_kinesis(builder, before, after);
    compare_policy(builder, before, after);
    compare_tags(builder, before, after);
    compare_scaling(builder, before, after);
}
