/* plan_live.c -- a server's description of a table, in the canonical form. See plan.h.
 *
 * A setting that is off is written as off, not left out: plan_table.c leaves missing ones alone.
 */
#include "base/arena.h"
#include "base/compiler.h"
#include "template/document.h"
#include "template/node.h"
#include "template/plan.h"
#include "template/template_parts.h"

/* The JSON of an answer; NULL: there is none, or it is not an object. */
static const struct node *read_answer(struct arena *arena, struct bytes json)
{
    struct template_error err = { 0 };
    if (json.data == NULL)
        return NULL;
    const struct node *root = document_read(arena, json, &err);
    return root != NULL && root->kind == NODE_MAP ? root : NULL;
}

static struct node *new_map(struct arena *arena)
{
    return node_create(arena, NODE_MAP, 0);
}

static bool is_one_of(struct bytes text, const char *first, const char *second)
{
    return text.data != NULL && (bytes_equal_text(text, first) || bytes_equal_text(text, second));
}

static void add_ttl(struct arena *arena, struct node *state, struct bytes json)
{
    const struct node *answer = read_answer(arena, json);
    const struct node *description = node_get(answer, "TimeToLiveDescription");
    struct node *ttl = new_map(arena);
    if (answer == NULL)
        return;
    bool is_on = is_one_of(node_text(description, "TimeToLiveStatus"), "ENABLED", "ENABLING");
    node_set(arena, ttl, "Enabled", node_bool(arena, is_on));
    if (is_on && node_get(description, "AttributeName") != NULL)
        node_set(arena, ttl, "AttributeName", node_get(description, "AttributeName"));
    node_set(arena, state, "TimeToLiveSpecification", ttl);
}

static void add_recovery(struct arena *arena, struct node *state, struct bytes json)
{
    const struct node *answer = read_answer(arena, json);
    const struct node *description = node_get(node_get(answer, "ContinuousBackupsDescription"),
                                              "PointInTimeRecoveryDescription");
    struct node *recovery = new_map(arena);
    if (answer == NULL)
        return;
    struct bytes status = node_text(description, "PointInTimeRecoveryStatus");
    node_set(arena, recovery, "PointInTimeRecoveryEnabled",
             node_bool(arena, is_one_of(status, "ENABLED", "ENABLING")));
    if (node_get(description, "RecoveryPeriodInDays") != NULL)
        node_set(arena, recovery, "RecoveryPeriodInDays",
                 node_get(description, "RecoveryPeriodInDays"));
    node_set(arena, state, "PointInTimeRecoverySpecification", recovery);
}

static void add_tags(struct arena *arena, struct node *state, struct bytes json)
{
    const struct node *answer = read_answer(arena, json);
    struct node *tags = node_get(answer, "Tags");
    if (answer != NULL)
        node_set(arena, state, "Tags",
                 tags != NULL && tags->kind == NODE_LIST ? tags : node_create(arena, NODE_LIST, 0));
}

/* ContributorInsightsSummaries: of the table, and of its indexes. */
static void add_insights(struct arena *arena, struct node *state, struct bytes json)
{
    const char *property = "ContributorInsightsSpecification";
    const struct node *answer = read_answer(arena, json);
    const struct node *summaries = node_get(answer, "ContributorInsightsSummaries");
    struct node *off = new_map(arena);
    if (answer == NULL)
        return;
    node_set(arena, off, "Enabled", node_bool(arena, false));
    node_set(arena, state, property, off);
    for (size_t i = 0; summaries != NULL && i < summaries->count; i++) {
        const struct node *summary = summaries->members[i].value;
        struct bytes index = node_text(summary, "IndexName");
        struct node *owner =
            index.data == NULL
                ? state
                : node_find(node_get(state, "GlobalSecondaryIndexes"), "IndexName", index);
        struct bytes status = node_text(summary, "ContributorInsightsStatus");
        if (owner == NULL || !is_one_of(status, "ENABLED", "ENABLING"))
            continue;
        struct node *insights = new_map(arena);
        node_set(arena, insights, "Enabled", node_bool(arena, true));
        if (node_get(summary, "ContributorInsightsMode") != NULL)
            node_set(arena, insights, "Mode", node_get(summary, "ContributorInsightsMode"));
        node_set(arena, owner, property, insights);
    }
}

static void add_kinesis(struct arena *arena, struct node *state, struct bytes json)
{
    const struct node *answer = read_answer(arena, json);
    const struct node *list = node_get(answer, "KinesisDataStreamDestinations");
    struct node *kinesis = new_map(arena);
    if (answer == NULL)
        return;
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        const struct node *one = list->members[i].value;
        if (is_one_of(node_text(one, "DestinationStatus"), "ACTIVE", "ENABLING") &&
            node_get(one, "StreamArn") != NULL)
            node_set(arena, kinesis, "StreamArn", node_get(one, "StreamArn"));
    }
    node_set(arena, state, "KinesisStreamSpecification", kinesis);
}

static void add_policy(struct arena *arena, struct node *state, struct bytes json)
{
    const struct node *answer = read_answer(arena, json);
    struct node *policy = new_map(arena);
    if (answer == NULL)
        return;
    const struct node *document = read_answer(arena, node_text(answer, "Policy"));
    if (document != NULL)
        node_set(arena, policy, "PolicyDocument", node_copy_level(arena, document));
    node_set(arena, state, "ResourcePolicy", policy);
}

/* {Target, Policy} of each dimension that has both. */
static void add_scaling(struct arena *arena, struct node *state, const struct plan_live_table *live)
{
    const struct node *targets =
        node_get(read_answer(arena, live->describe_scalable_targets), "ScalableTargets");
    const struct node *policies =
        node_get(read_answer(arena, live->describe_scaling_policies), "ScalingPolicies");
    struct node *list = node_create(arena, NODE_LIST, 0);
    if (targets == NULL || policies == NULL)
        return;
    for (size_t i = 0; i < policies->count; i++) {
        struct node *policy = policies->members[i].value;
        for (size_t k = 0; k < targets->count; k++) {
            struct node *target = targets->members[k].value;
            if (!node_equal(node_get(target, "ResourceId"), node_get(policy, "ResourceId")) ||
                !node_equal(node_get(target, "ScalableDimension"),
                            node_get(policy, "ScalableDimension")))
                continue;
            struct node *pair = new_map(arena);
            node_set(arena, pair, "Target", target);
            node_set(arena, pair, "Policy", policy);
            node_append(arena, list, pair);
        }
    }
    node_set(arena, state, "Scaling", list);
}

static void copy_member(struct arena *arena, struct node *to, const struct node *from,
                        const char *name)
{
    if (node_get(from, name) != NULL)
        node_set(arena, to, name, node_get(from, name));
}

/* What a description has beyond the properties of a template. */
static void add_facts(struct arena *arena, struct node *state, const struct node *description)
{
    const struct node *indexes = node_get(description, "GlobalSecondaryIndexes");
    copy_member(arena, state, description, "WarmThroughput");
    copy_member(arena, state, description, "TableArn");
    for (size_t i = 0; indexes != NULL && i < indexes->count; i++) {
        const struct node *index = indexes->members[i].value;
        struct bytes name = node_text(index, "IndexName");
        struct node *own = name.data == NULL ? NULL
                                             : node_find(node_get(state, "GlobalSecondaryIndexes"),
                                                         "IndexName", name);
        if (own != NULL)
            copy_member(arena, own, index, "WarmThroughput");
    }
}

bool plan_table_state(struct arena *arena, const struct plan_live_table *live,
                      struct plan_before *out)
{
    const struct node *answer = read_answer(arena, live->describe_table);
    const struct node *description = node_get(answer, "Table");
    int64_t items = 0;
    if (description == NULL || node_text(description, "TableName").data == NULL)
        return false;
    struct node *state = formats_read_description(arena, description);
    add_facts(arena, state, description);
    add_ttl(arena, state, live->describe_time_to_live);
    add_recovery(arena, state, live->describe_continuous_backups);
    add_tags(arena, state, live->list_tags_of_resource);
    add_insights(arena, state, live->list_contributor_insights);
    add_kinesis(arena, state, live->describe_kinesis_streaming_destination);
    add_policy(arena, state, live->get_resource_policy);
    add_scaling(arena, state, live);
    (void)node_integer(description, "ItemCount", &items);
    *out = (struct plan_before){
        .kind = TEMPLATE_KIND_TABLE,
        .physical_id = node_text(description, "TableName"),
        .state = state,
        .is_live = true,
        .is_protected = node_is_true(description, "DeletionProtectionEnabled"),
        .item_count = items > 0 ? (uint64_t)items : 0,
    };
    return true;
}
