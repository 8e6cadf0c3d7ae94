/* plan_table.c -- the changes between two states of a table, one aspect after the other. See
 * plan_parts.h.
 *
 * UpdateTable takes one kind of change at a time, so each aspect is a request of its own. Indexes
 * that go come first, because the throughput of those that stay changes with the billing mode.
 */
#include <stdio.h>
#include "base/arena.h"
#include "template/node.h"
#include "template/plan_parts.h"
#include "template/table_requests.h"

enum { DIMENSION_SIZE_MAX = 64 };

static void update_table(struct plan_builder *builder, struct bytes table, const char *property,
                         struct node *value)
{
    struct node *body = table_requests_body(builder->arena, table);
    node_set(builder->arena, body, property, value);
    plan_builder_step(builder, "UpdateTable", body, PLAN_WAIT_ACTIVE, table);
}

static struct bytes or_text(struct bytes value, struct bytes otherwise)
{
    return value.data != NULL ? value : otherwise;
}

/* --- What needs a new table --- */

static bool same_key_types(const struct node *before, const struct node *after)
{
    const struct node *schema = node_get(after, "KeySchema");
    for (size_t i = 0; schema != NULL && i < schema->count; i++) {
        struct bytes name = node_text(schema->members[i].value, "AttributeName");
        if (!bytes_equal(plan_text_type(node_get(before, "AttributeDefinitions"), name),
                         plan_text_type(node_get(after, "AttributeDefinitions"), name)))
            return false;
    }
    return true;
}

static bool same_local_indexes(const struct node *before, const struct node *after)
{
    const struct node *old = node_get(before, "LocalSecondaryIndexes");
    const struct node *newer = node_get(after, "LocalSecondaryIndexes");
    size_t old_count = old == NULL ? 0 : old->count, new_count = newer == NULL ? 0 : newer->count;
    if (old_count != new_count)
        return false;
    for (size_t i = 0; i < new_count; i++) {
        const struct node *index = newer->members[i].value;
        const struct node *other = node_find(old, "IndexName", node_text(index, "IndexName"));
        if (other == NULL ||
            !node_equal(node_get(index, "KeySchema"), node_get(other, "KeySchema")) ||
            !node_is_part(node_get(index, "Projection"), node_get(other, "Projection")))
            return false;
    }
    return true;
}

static void compare_keys(struct plan_builder *builder, const struct plan_before *before,
                         const struct template_resource *after)
{
    struct arena *arena = builder->arena;
    if (!node_equal(node_get(before->state, "KeySchema"), node_get(after->state, "KeySchema")) ||
        !same_key_types(before->state, after->state))
        builder->replacement =
            arena_printf(arena, "key %.*s -> %.*s",
                         BYTES_FMT(plan_text_key(arena, before->state,
                                                 node_get(before->state, "AttributeDefinitions"))),
                         BYTES_FMT(plan_text_key(arena, after->state,
                                                 node_get(after->state, "AttributeDefinitions"))));
    else if (!same_local_indexes(before->state, after->state)) {
        builder->replacement = BYTES("local indexes change");
        if (builder->options->as_stack)
            plan_builder_refuse(builder, "Cannot update LocalSecondaryIndexes of a table: they can "
                                         "only be created with it.");
    }
}

/* --- Throughput --- */

/* True if auto scaling may have set the capacity of a dimension to what it is. */
static bool covers(const struct node *target, struct bytes resource_id, const char *dimension,
                   int64_t units)
{
    int64_t min = 0, max = 0;
    return bytes_equal(or_text(node_text(target, "ResourceId"), BYTES("")), resource_id) &&
           bytes_equal_text(or_text(node_text(target, "ScalableDimension"), BYTES("")),
                            dimension) &&
           node_integer(target, "MinCapacity", &min) && node_integer(target, "MaxCapacity", &max) &&
           units >= min && units <= max;
}

static bool is_scaled(const struct plan_builder *builder, const struct template_resource *after,
                      struct bytes resource_id, const char *dimension, int64_t units)
{
    const struct template_result *result = builder->result;
    const struct node *own = node_get(after->state, "Scaling");
    for (size_t i = 0; own != NULL && i < own->count; i++) {
        if (covers(node_get(own->members[i].value, "Target"), resource_id, dimension, units))
            return true;
    }
    for (size_t i = 0; result != NULL && i < result->resource_count; i++) {
        if (result->resources[i].kind == TEMPLATE_KIND_SCALABLE_TARGET &&
            covers(result->resources[i].state, resource_id, dimension, units))
            return true;
    }
    return false;
}

/* What a table or index should have; what auto scaling has set on a live one stays. */
static struct node *wanted_units(struct plan_builder *builder, const struct plan_before *before,
                                 const struct template_resource *after, const struct node *old,
                                 const struct node *newer, bool is_index)
{
    static const char *const names[] = { "ReadCapacityUnits", "WriteCapacityUnits" };
    const struct node *wanted = node_get(newer, "ProvisionedThroughput");
    const struct node *present = node_get(old, "ProvisionedThroughput");
    struct arena *arena = builder->arena;
    if (wanted == NULL)
        return NULL;
    struct node *units = node_copy_level(arena, wanted);
    struct bytes id = arena_printf(arena, "table/%.*s", BYTES_FMT(before->physical_id));
    if (is_index)
        id = arena_printf(arena, "%.*s/index/%.*s", BYTES_FMT(id),
                          BYTES_FMT(node_text(newer, "IndexName")));
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char dimension[DIMENSION_SIZE_MAX];
        int64_t value;
        snprintf(dimension, sizeof dimension, "dynamodb:%s:%s", is_index ? "index" : "table",
                 names[i]);
        if (before->is_live && node_integer(present, names[i], &value) &&
            is_scaled(builder, after, id, dimension, value))
            node_set(arena, units, names[i], node_get(present, names[i]));
    }
    return units;
}

/* {"Update": {IndexName, ProvisionedThroughput}} of indexes that stay and change, or of all that
 * stay. */
static struct node *index_updates(struct plan_builder *builder, const struct plan_before *before,
                                  const struct template_resource *after, bool all)
{
    struct arena *arena = builder->arena;
    const struct node *newer = node_get(after->state, "GlobalSecondaryIndexes");
    const struct node *old = node_get(before->state, "GlobalSecondaryIndexes");
    struct node *list = node_create(arena, NODE_LIST, 0);
    for (size_t i = 0; newer != NULL && i < newer->count; i++) {
        const struct node *index = newer->members[i].value;
        struct bytes name = node_text(index, "IndexName");
        const struct node *present = node_find(old, "IndexName", name);
        if (!plan_index_stays(before->state, after->state, name))
            continue;
        struct node *units = wanted_units(builder, before, after, present, index, true);
        if (units == NULL ||
            (!all && node_equal(units, node_get(present, "ProvisionedThroughput"))))
            continue;
        struct node *change = node_create(arena, NODE_MAP, 0);
        struct node *update = node_create(arena, NODE_MAP, 0);
        node_set(arena, change, "IndexName", node_string(arena, name, 0));
        node_set(arena, change, "ProvisionedThroughput", units);
        node_set(arena, update, "Update", change);
        node_append(arena, list, update);
        if (!all)
            plan_builder_change(builder, '~', "GlobalSecondaryIndexes",
                                "index %.*s  throughput changes", BYTES_FMT(name));
    }
    return list;
}

static void compare_billing(struct plan_builder *builder, const struct plan_before *before,
                            const struct template_resource *after)
{
    struct arena *arena = builder->arena;
    struct bytes old_mode = or_text(node_text(before->state, "BillingMode"), BYTES("PROVISIONED"));
    struct bytes new_mode = or_text(node_text(after->state, "BillingMode"), BYTES("PROVISIONED"));
    bool is_switch = !bytes_equal(old_mode, new_mode);
    bool is_provisioned = bytes_equal_text(new_mode, "PROVISIONED");
    struct node *units = NULL, *updates = NULL;
    if (is_provisioned) {
        units = wanted_units(builder, before, after, before->state, after->state, false);
        updates = index_updates(builder, before, after, is_switch);
    }
    bool has_units =
        units != NULL &&
        (is_switch || !node_equal(units, node_get(before->state, "ProvisionedThroughput")));
    bool has_updates = updates != NULL && updates->count > 0;
    if (!is_switch && !has_units && !has_updates)
        return;
    if (is_switch || has_units)
        plan_builder_change(builder, '~', is_switch ? "BillingMode" : "ProvisionedThroughput",
                            "billing  %.*s -> %.*s",
                            BYTES_FMT(plan_text_billing(arena, before->state)),
                            BYTES_FMT(plan_text_billing(arena, after->state)));
    struct node *body = table_requests_body(arena, before->physical_id);
    if (is_switch)
        node_set(arena, body, "BillingMode", node_string(arena, new_mode, 0));
    if (has_units)
        node_set(arena, body, "ProvisionedThroughput", units);
    if (has_updates)
        node_set(arena, body, "GlobalSecondaryIndexUpdates", updates);
    plan_builder_step(builder, "UpdateTable", body, PLAN_WAIT_ACTIVE, before->physical_id);
}

/* --- On-demand limits and warm throughput --- */

/* No limit is -1, as the service writes it. */
static int64_t demand_of(const struct node *throughput, const char *name)
{
    int64_t units = -1;
    return node_integer(throughput, name, &units) ? units : -1;
}

/* The limits that a table or index should have; NULL: it has them. */
static struct node *wanted_demand(struct arena *arena, const struct node *old,
                                  const struct node *newer)
{
    static const char *const names[] = { "MaxReadRequestUnits", "MaxWriteRequestUnits" };
    const struct node *present = node_get(old, "OnDemandThroughput");
    const struct node *asked = node_get(newer, "OnDemandThroughput");
    struct node *wanted = node_create(arena, NODE_MAP, 0);
    bool differs = false;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        differs |= demand_of(present, names[i]) != demand_of(asked, names[i]);
        node_set(arena, wanted, names[i], node_number(arena, demand_of(asked, names[i])));
    }
    return differs ? wanted : NULL;
}

/* Warm throughput only grows; NULL: it need not. */
static struct node *wanted_warmth(const struct node *old, const struct node *newer)
{
    static const char *const names[] = { "ReadUnitsPerSecond", "WriteUnitsPerSecond" };
    struct node *asked = node_get(newer, "WarmThroughput");
    bool grows = false;
    for (size_t i = 0; asked != NULL && i < COUNT_OF(names); i++) {
        int64_t present = 0, wanted = 0;
        (void)node_integer(node_get(old, "WarmThroughput"), names[i], &present);
        grows |= node_integer(asked, names[i], &wanted) && wanted > present;
    }
    return grows ? asked : NULL;
}

static void compare_own_limits(struct plan_builder *builder, const struct plan_before *before,
                               const struct template_resource *after, bool is_on_demand)
{
    struct node *demand = NULL, *warmth = wanted_warmth(before->state, after->state);
    if (is_on_demand &&
        !(after->is_partial && node_get(after->state, "OnDemandThroughput") == NULL))
        demand = wanted_demand(builder->arena, before->state, after->state);
    if (demand != NULL) {
        const struct node *old = node_get(before->state, "OnDemandThroughput");
        plan_builder_change(builder, '~', "OnDemandThroughput",
                            "on-demand limits  %lld/%lld -> %lld/%lld",
                            (long long)demand_of(old, "MaxReadRequestUnits"),
                            (long long)demand_of(old, "MaxWriteRequestUnits"),
                            (long long)demand_of(demand, "MaxReadRequestUnits"),
                            (long long)demand_of(demand, "MaxWriteRequestUnits"));
        update_table(builder, before->physical_id, "OnDemandThroughput", demand);
    }
    if (warmth != NULL) {
        plan_builder_change(builder, '~', "WarmThroughput", "warm throughput grows");
        update_table(builder, before->physical_id, "WarmThroughput", warmth);
    }
}

/* The same for indexes that stay, in one request. */
static void compare_index_limits(struct plan_builder *builder, const struct plan_before *before,
                                 const struct template_resource *after, bool is_on_demand)
{
    struct arena *arena = builder->arena;
    const struct node *newer = node_get(after->state, "GlobalSecondaryIndexes");
    const struct node *old = node_get(before->state, "GlobalSecondaryIndexes");
    struct node *list = node_create(arena, NODE_LIST, 0);
    for (size_t i = 0; newer != NULL && i < newer->count; i++) {
        const struct node *index = newer->members[i].value;
        struct bytes name = node_text(index, "IndexName");
        const struct node *present = node_find(old, "IndexName", name);
        if (!plan_index_stays(before->state, after->state, name))
            continue;
        struct node *demand = is_on_demand ? wanted_demand(arena, present, index) : NULL;
        struct node *warmth = wanted_warmth(present, index);
        if (demand == NULL && warmth == NULL)
            continue;
        struct node *change = node_create(arena, NODE_MAP, 0);
        struct node *update = node_create(arena, NODE_MAP, 0);
        node_set(arena, change, "IndexName", node_string(arena, name, 0));
        if (demand != NULL)
            node_set(arena, change, "OnDemandThroughput", demand);
        if (warmth != NULL)
            node_set(arena, change, "WarmThroughput", warmth);
        node_set(arena, update, "Update", change);
        node_append(arena, list, update);
        plan_builder_change(builder, '~', "GlobalSecondaryIndexes", "index %.*s  limits change",
                            BYTES_FMT(name));
    }
    if (list->count > 0)
        update_table(builder, before->physical_id, "GlobalSecondaryIndexUpdates", list);
}

/* --- Settings of UpdateTable --- */

static void compare_protection(struct plan_builder *builder, const struct plan_before *before,
                               const struct template_resource *after)
{
    bool old = node_is_true(before->state, "DeletionProtectionEnabled");
    bool newer = node_is_true(after->state, "DeletionProtectionEnabled");
    if (old == newer ||
        (after->is_partial && node_get(after->state, "DeletionProtectionEnabled") == NULL))
        return;
    plan_builder_change(builder, '~', "DeletionProtectionEnabled", "deletion protection  %s",
                        newer ? "off -> on" : "on -> off");
    update_table(builder, before->physical_id, "DeletionProtectionEnabled",
                 node_bool(builder->arena, newer));
}

static void compare_class(struct plan_builder *builder, const struct plan_before *before,
                          const struct template_resource *after)
{
    struct bytes old = or_text(node_text(before->state, "TableClass"), BYTES("STANDARD"));
    struct bytes newer = or_text(node_text(after->state, "TableClass"), BYTES("STANDARD"));
    if (bytes_equal(old, newer) ||
        (after->is_partial && node_get(after->state, "TableClass") == NULL))
        return;
    plan_builder_change(builder, '~', "TableClass", "class  %.*s -> %.*s", BYTES_FMT(old),
                        BYTES_FMT(newer));
    update_table(builder, before->physical_id, "TableClass", node_string(builder->arena, newer, 0));
}

/* A stream's view type cannot change: the stream ends, and another one begins. */
static void compare_stream(struct plan_builder *builder, const struct plan_before *before,
                           const struct template_resource *after)
{
    const struct node *old = node_get(before->state, "StreamSpecification");
    const struct node *newer = node_get(after->state, "StreamSpecification");
    struct bytes old_type = or_text(node_text(old, "StreamViewType"), BYTES("off"));
    struct bytes new_type = or_text(node_text(newer, "StreamViewType"), BYTES("off"));
    if (bytes_equal(old_type, new_type) || (after->is_partial && newer == NULL))
        return;
    plan_builder_change(builder, '~', "StreamSpecification", "stream  %.*s -> %.*s",
                        BYTES_FMT(old_type), BYTES_FMT(new_type));
    if (old != NULL)
        update_table(builder, before->physical_id, "StreamSpecification",
                     table_requests_stream(builder->arena, NULL));
    if (newer != NULL)
        update_table(builder, before->physical_id, "StreamSpecification",
                     table_requests_stream(builder->arena, newer));
}

/* A server tells a key's ARN; a template may have its id or alias, which cannot be compared. */
static void compare_encryption(struct plan_builder *builder, const struct plan_before *before,
                               const struct template_resource *after)
{
    const struct node *old = node_get(before->state, "SSESpecification");
    const struct node *newer = node_get(after->state, "SSESpecification");
    struct bytes old_key = or_text(node_text(old, "KMSMasterKeyId"), BYTES(""));
    struct bytes new_key = or_text(node_text(newer, "KMSMasterKeyId"), BYTES(""));
    bool is_on = node_is_true(newer, "SSEEnabled");
    bool is_other_key = is_on && !bytes_equal(old_key, new_key) &&
                        (!before->is_live || bytes_starts_with(new_key, BYTES("arn:")));
    if ((after->is_partial && newer == NULL) ||
        (node_is_true(old, "SSEEnabled") == is_on && !is_other_key))
        return;
    plan_builder_change(builder, '~', "SSESpecification", "encryption  %s -> %s",
                        node_is_true(old, "SSEEnabled") ? "KMS" : "default",
                        is_on ? "KMS" : "default");
    update_table(builder, before->physical_id, "SSESpecification",
                 table_requests_encryption(builder->arena, newer));
}

void plan_table_compare(struct plan_builder *builder, const struct plan_before *before,
                        const struct template_resource *after)
{
    struct bytes mode = or_text(node_text(after->state, "BillingMode"), BYTES("PROVISIONED"));
    bool is_on_demand = bytes_equal_text(mode, "PAY_PER_REQUEST");
    compare_keys(builder, before, after);
    if (builder->replacement.data != NULL)
        return;
    plan_index_check(builder, before, after);
    compare_protection(builder, before, after);
    compare_class(builder, before, after);
    compare_stream(builder, before, after);
    plan_index_remove(builder, before, after);
    compare_billing(builder, before, after);
    compare_own_limits(builder, before, after, is_on_demand);
    compare_index_limits(builder, before, after, is_on_demand);
    plan_index_add(builder, before, after);
    compare_encryption(builder, before, after);
    plan_settings_compare(builder, before, after);
}
