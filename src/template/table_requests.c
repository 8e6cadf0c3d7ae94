/* table_requests.c -- see table_requests.h. */
#include "template/table_requests.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "template/node.h"
#include "template/template.h"

enum { REQUESTS_FIRST = 8 };

void table_requests_add(struct table_requests *requests, const char *operation,
                        const struct node *body)
{
    if (requests->count == requests->capacity) {
        size_t old = requests->capacity, capacity = old == 0 ? REQUESTS_FIRST : old * 2;
        requests->list = arena_grow(requests->arena, requests->list, old * sizeof *requests->list,
                                    capacity * sizeof *requests->list);
        requests->capacity = capacity;
    }
    requests->list[requests->count++] =
        (struct template_request){ operation, node_json(requests->arena, body) };
}

struct node *table_requests_body(struct arena *arena, struct bytes table_name)
{
    struct node *body = node_create(arena, NODE_MAP, 0);
    node_set(arena, body, "TableName", node_string(arena, table_name, 0));
    return body;
}

struct node *table_requests_stream(struct arena *arena, const struct node *specification)
{
    struct node *stream = node_create(arena, NODE_MAP, 0);
    node_set(arena, stream, "StreamEnabled", node_bool(arena, specification != NULL));
    if (specification != NULL)
        node_set(arena, stream, "StreamViewType", node_get(specification, "StreamViewType"));
    return stream;
}

struct node *table_requests_encryption(struct arena *arena, const struct node *specification)
{
    struct node *encryption = node_create(arena, NODE_MAP, 0);
    bool enabled = node_is_true(specification, "SSEEnabled");
    node_set(arena, encryption, "Enabled", node_bool(arena, enabled));
    if (enabled && node_get(specification, "SSEType") != NULL)
        node_set(arena, encryption, "SSEType", node_get(specification, "SSEType"));
    if (enabled && node_get(specification, "KMSMasterKeyId") != NULL)
        node_set(arena, encryption, "KMSMasterKeyId", node_get(specification, "KMSMasterKeyId"));
    return encryption;
}

struct node *table_requests_index(struct arena *arena, const struct node *index)
{
    struct node *copy = node_copy_level(arena, index);
    node_remove(copy, "ContributorInsightsSpecification");
    return copy;
}

struct node *table_requests_insights(struct arena *arena, struct bytes table_name,
                                     struct bytes index_name, const struct node *specification)
{
    struct node *body = table_requests_body(arena, table_name);
    bool enabled = node_is_true(specification, "Enabled");
    if (index_name.data != NULL)
        node_set(arena, body, "IndexName", node_string(arena, index_name, 0));
    node_set(arena, body, "ContributorInsightsAction",
             node_string(arena, enabled ? BYTES("ENABLE") : BYTES("DISABLE"), 0));
    if (enabled && node_get(specification, "Mode") != NULL)
        node_set(arena, body, "ContributorInsightsMode", node_get(specification, "Mode"));
    return body;
}

struct node *table_requests_kinesis(struct arena *arena, struct bytes table_name,
                                    const struct node *specification)
{
    struct node *body = table_requests_body(arena, table_name);
    struct node *precision = node_get(specification, "ApproximateCreationDateTimePrecision");
    node_set(arena, body, "StreamArn", node_get(specification, "StreamArn"));
    if (precision != NULL) {
        struct node *configuration = node_create(arena, NODE_MAP, 0);
        node_set(arena, configuration, "ApproximateCreationDateTimePrecision", precision);
        node_set(arena, body, "EnableKinesisStreamingConfiguration", configuration);
    }
    return body;
}

struct node *table_requests_ttl(struct arena *arena, struct bytes table_name,
                                struct bytes attribute, bool enabled)
{
    struct node *body = table_requests_body(arena, table_name);
    struct node *specification = node_create(arena, NODE_MAP, 0);
    node_set(arena, specification, "AttributeName", node_string(arena, attribute, 0));
    node_set(arena, specification, "Enabled", node_bool(arena, enabled));
    node_set(arena, body, "TimeToLiveSpecification", specification);
    return body;
}

static void add_indexes(struct arena *arena, struct node *body, const struct node *state,
                        const char *name)
{
    const struct node *indexes = node_get(state, name);
    if (indexes == NULL || indexes->count == 0)
        return;
    struct node *list = node_create(arena, NODE_LIST, 0);
    for (size_t i = 0; i < indexes->count; i++)
        node_append(arena, list, table_requests_index(arena, indexes->members[i].value));
    node_set(arena, body, name, list);
}

struct node *table_requests_create(struct arena *arena, const struct node *state)
{
    static const char *const copied[] = {
        "AttributeDefinitions", "KeySchema",      "BillingMode", "ProvisionedThroughput",
        "OnDemandThroughput",   "WarmThroughput", "TableClass",  "DeletionProtectionEnabled",
    };
    struct node *body = table_requests_body(arena, node_text(state, "TableName"));
    for (size_t i = 0; i < COUNT_OF(copied); i++) {
        if (node_get(state, copied[i]) != NULL)
            node_set(arena, body, copied[i], node_get(state, copied[i]));
    }
    add_indexes(arena, body, state, "GlobalSecondaryIndexes");
    add_indexes(arena, body, state, "LocalSecondaryIndexes");
    const struct node *stream = node_get(state, "StreamSpecification");
    const struct node *encryption = node_get(state, "SSESpecification");
    const struct node *policy = node_get(node_get(state, "ResourcePolicy"), "PolicyDocument");
    const struct node *tags = node_get(state, "Tags");
    if (stream != NULL)
        node_set(arena, body, "StreamSpecification", table_requests_stream(arena, stream));
    if (encryption != NULL)
        node_set(arena, body, "SSESpecification", table_requests_encryption(arena, encryption));
    if (policy != NULL)
        node_set(arena, body, "ResourcePolicy", node_string(arena, node_json(arena, policy), 0));
    if (tags != NULL && tags->count > 0)
        node_set(arena, body, "Tags", node_get(state, "Tags"));
    return body;
}

void table_requests_scaling(struct table_requests *requests, const struct node *scaling)
{
    for (size_t i = 0; scaling != NULL && i < scaling->count; i++) {
        const struct node *one = scaling->members[i].value;
        table_requests_add(requests, "application-autoscaling:RegisterScalableTarget",
                           node_get(one, "Target"));
        table_requests_add(requests, "application-autoscaling:PutScalingPolicy",
                           node_get(one, "Policy"));
    }
}

static void add_insights(struct table_requests *requests, const struct node *state)
{
    struct bytes name = node_text(state, "TableName");
    const struct node *own = node_get(state, "ContributorInsightsSpecification");
    const struct node *indexes = node_get(state, "GlobalSecondaryIndexes");
    if (node_is_true(own, "Enabled"))
        table_requests_add(
            requests, "UpdateContributorInsights",
            table_requests_insights(requests->arena, name, (struct bytes){ 0 }, own));
    for (size_t i = 0; indexes != NULL && i < indexes->count; i++) {
        const struct node *index = indexes->members[i].value;
        const struct node *insights = node_get(index, "ContributorInsightsSpecification");
        if (node_is_true(insights, "Enabled"))
            table_requests_add(requests, "UpdateContributorInsights",
                               table_requests_insights(requests->arena, name,
                                                       node_text(index, "IndexName"), insights));
    }
}

void table_requests_make(struct table_requests *requests, const struct node *state)
{
    struct arena *arena = requests->arena;
    struct bytes name = node_text(state, "TableName");
    const struct node *ttl = node_get(state, "TimeToLiveSpecification");
    const struct node *kinesis = node_get(state, "KinesisStreamSpecification");
    struct node *recovery = node_get(state, "PointInTimeRecoverySpecification");
    table_requests_add(requests, "CreateTable", table_requests_create(arena, state));
    if (node_is_true(ttl, "Enabled"))
        table_requests_add(requests, "UpdateTimeToLive",
                           table_requests_ttl(arena, name, node_text(ttl, "AttributeName"), true));
    if (node_is_true(recovery, "PointInTimeRecoveryEnabled")) {
        struct node *body = table_requests_body(arena, name);
        node_set(arena, body, "PointInTimeRecoverySpecification", recovery);
        table_requests_add(requests, "UpdateContinuousBackups", body);
    }
    add_insights(requests, state);
    if (kinesis != NULL)
        table_requests_add(requests, "EnableKinesisStreamingDestination",
                           table_requests_kinesis(arena, name, kinesis));
    table_requests_scaling(requests, node_get(state, "Scaling"));
}
