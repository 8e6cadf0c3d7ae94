/* table_resource.c -- tables of each type as one canonical form: the properties of
 * AWS::DynamoDB::Table. See template.h, `state`.
 */
#include "template/evaluation.h"
#include "template/properties.h"
#include "template/resource_types.h"
#include "template/table_requests.h"

static bool refuse(struct evaluation *evaluation, const struct template_resource *resource,
                   unsigned line, const char *message)
{
    return template_error_set(evaluation->arena, evaluation->err, line != 0 ? line : resource->line,
                              "Resource %.*s: %s", BYTES_FMT(resource->logical_id), message);
}

static void add_tag(struct evaluation *evaluation, struct node *state, struct bytes key,
                    struct bytes value)
{
    struct arena *arena = evaluation->arena;
    struct node *tags = node_get(state, "Tags");
    if (node_find(tags, "Key", key) != NULL)
        return;
    tags = tags == NULL ? node_create(arena, NODE_LIST, 0) : node_copy_level(arena, tags);
    struct node *tag = node_create(arena, NODE_MAP, 0);
    node_set(arena, tag, "Key", node_string(arena, key, 0));
    node_set(arena, tag, "Value", node_string(arena, value, 0));
    node_append(arena, tags, tag);
    node_set(arena, state, "Tags", tags);
}

static void add_stack_tags(struct evaluation *evaluation, const struct template_resource *resource,
                           struct node *state)
{
    const struct template_environment *environment = &evaluation->environment;
    for (size_t i = 0; i < environment->tag_count; i++)
        add_tag(evaluation, state, environment->tags[i].name, environment->tags[i].value);
    if (environment->owner_tag.data != NULL && resource->deletion_policy == TEMPLATE_DELETE)
        add_tag(evaluation, state, environment->owner_tag, environment->stack_name);
}

/* Defaults, and what is refused in all types. */
static bool finish(struct evaluation *evaluation, struct template_resource *resource,
                   struct node *state)
{
    struct arena *arena = evaluation->arena;
    struct table_requests requests = { .arena = arena };
    const struct node *stream = node_get(state, "StreamSpecification");
    const struct node *ttl = node_get(state, "TimeToLiveSpecification");
    const struct node *import = node_get(state, "ImportSourceSpecification");
    if (import != NULL)
        return refuse(evaluation, resource, import->line,
                      "ImportSourceSpecification is not supported: create the table, then run "
                      "`stator import`");
    if (node_get(stream, "ResourcePolicy") != NULL)
        return refuse(evaluation, resource, stream->line,
                      "a ResourcePolicy of a stream is not supported: the stream has no name "
                      "before it is created");
    if (node_is_true(ttl, "Enabled") && node_text(ttl, "AttributeName").data == NULL)
        return refuse(evaluation, resource, ttl->line,
                      "TimeToLiveSpecification needs an AttributeName");
    node_set(arena, state, "TableName", node_string(arena, resource->physical_id, 0));
    if (node_get(state, "BillingMode") == NULL)
        node_set(arena, state, "BillingMode", node_string(arena, BYTES("PROVISIONED"), 0));
    if (node_get(state, "DeletionProtectionEnabled") == NULL && !resource->is_partial)
        node_set(arena, state, "DeletionProtectionEnabled", node_bool(arena, false));
    add_stack_tags(evaluation, resource, state);
    table_requests_make(&requests, state);
    resource->state = state;
    resource->requests = requests.list;
    resource->request_count = requests.count;
    return true;
}

bool table_resource_build(struct evaluation *evaluation, struct template_resource *resource)
{
    struct node *state = properties_check(evaluation, resource, &property_shape_table);
    return state != NULL && finish(evaluation, resource, state);
}

/* --- AWS::Serverless::SimpleTable --- */

static bool find_key_type(struct evaluation *evaluation, const struct template_resource *resource,
                          const struct node *key, struct bytes *out)
{
    static const struct {
        const char *name;
        const char *type;
    } types[] = { { "String", "S" }, { "Number", "N" }, { "Binary", "B" } };
    struct bytes name = node_text(key, "Type");
    if (name.data == NULL)
        name = BYTES("String");
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        if (bytes_equal_text(name, types[i].name)) {
            *out = bytes_from_text(types[i].type);
            return true;
        }
    }
    return refuse(evaluation, resource, key->line,
                  "the Type of a PrimaryKey is String, Number or Binary");
}

static struct node *pair(struct arena *arena, const char *first, struct bytes first_text,
                         const char *second, struct bytes second_text)
{
    struct node *map = node_create(arena, NODE_MAP, 0);
    node_set(arena, map, first, node_string(arena, first_text, 0));
    node_set(arena, map, second, node_string(arena, second_text, 0));
    return map;
}

/* SAM has tags as a map. */
static bool convert_tags(struct evaluation *evaluation, const struct template_resource *resource,
                         struct node *state)
{
    const struct node *tags = node_get(state, "Tags");
    struct node *list = node_create(evaluation->arena, NODE_LIST, 0);
    if (tags == NULL)
        return true;
    for (size_t i = 0; i < tags->count; i++) {
        const struct node_member *tag = &tags->members[i];
        if (tags->kind != NODE_MAP || !node_is_scalar(tag->value) ||
            tag->value->foreign.data != NULL || tag->value->pending.data != NULL)
            return refuse(evaluation, resource, tag->line, "Tags must be a map of texts");
        node_append(evaluation->arena, list,
                    pair(evaluation->arena, "Key", tag->name, "Value", tag->value->text));
    }
    node_set(evaluation->arena, state, "Tags", list);
    return true;
}

/* Globals of a SAM template: what a table does not say itself. */
static struct node *with_globals(struct evaluation *evaluation,
                                 const struct template_resource *resource)
{
    const struct node *globals = node_get(evaluation->template->globals, "SimpleTable");
    struct node *merged = node_copy_level(evaluation->arena, resource->properties);
    if (globals == NULL)
        return merged;
    const struct node *values = evaluation_value(evaluation, globals);
    if (values == NULL)
        return NULL;
    for (size_t i = 0; values->kind == NODE_MAP && i < values->count; i++) {
        if (node_get_bytes(merged, values->members[i].name) == NULL)
            node_add(evaluation->arena, merged, values->members[i].name, values->members[i].value);
    }
    return merged;
}

bool table_resource_build_simple(struct evaluation *evaluation, struct template_resource *resource)
{
    struct arena *arena = evaluation->arena;
    struct bytes name = BYTES("id"), type = BYTES("S");
    resource->properties = with_globals(evaluation, resource);
    if (resource->properties == NULL)
        return false;
    struct node *state = properties_check(evaluation, resource, &property_shape_simple_table);
    if (state == NULL || !convert_tags(evaluation, resource, state))
        return false;
    const struct node *key = node_get(state, "PrimaryKey");
    if (key != NULL) {
        name = node_text(key, "Name");
        if (!find_key_type(evaluation, resource, key, &type))
            return false;
    }
    struct node *definitions = node_create(arena, NODE_LIST, 0);
    struct node *schema = node_create(arena, NODE_LIST, 0);
    node_append(arena, definitions, pair(arena, "AttributeName", name, "AttributeType", type));
    node_append(arena, schema, pair(arena, "AttributeName", name, "KeyType", BYTES("HASH")));
    node_remove(state, "PrimaryKey");
    node_set(arena, state, "AttributeDefinitions", definitions);
    node_set(arena, state, "KeySchema", schema);
    if (node_get(state, "ProvisionedThroughput") == NULL)
        node_set(arena, state, "BillingMode", node_string(arena, BYTES("PAY_PER_REQUEST"), 0));
    return finish(evaluation, resource, state);
}

/* --- AWS::DynamoDB::GlobalTable --- */

/* The replica of this region, or the only one. The others are left out, with a notice. */
static const struct node *find_replica(struct evaluation *evaluation,
                                       const struct template_resource *resource,
                                       const struct node *replicas)
{
    struct bytes region = evaluation->environment.region;
    const struct node *replica = node_find(replicas, "Region", region);
    if (replica == NULL && replicas->count == 1)
        replica = replicas->members[0].value;
    if (replica == NULL) {
        (void)refuse(evaluation, resource, replicas->line, "no replica is in this server's region");
        return NULL;
    }
    for (size_t i = 0; i < replicas->count; i++) {
        if (replicas->members[i].value != replica)
            evaluation_notice(
                evaluation, resource->logical_id, replicas->members[i].value->line,
                arena_printf(evaluation->arena, "the replica in %.*s is left out",
                             BYTES_FMT(node_text(replicas->members[i].value, "Region"))));
    }
    return replica;
}

/* The capacity that settings begin with; 0: they do not say. */
static int64_t first_capacity(const struct node *settings, const char *scaling_name)
{
    const struct node *scaling = node_get(settings, scaling_name);
    int64_t units = 0;
    if (node_integer(settings, "ReadCapacityUnits", &units) ||
        node_integer(scaling, "SeedCapacity", &units) ||
        node_integer(scaling, "MinCapacity", &units))
        return units;
    return 0;
}

struct settings {
    const struct node *write, *read;               /* ...ProvisionedThroughputSettings */
    const struct node *write_demand, *read_demand; /* ...OnDemandThroughputSettings */
};

static void set_units(struct arena *arena, struct node *out, const struct settings *settings,
                      bool is_provisioned)
{
    struct node *throughput = node_create(arena, NODE_MAP, 0);
    if (is_provisioned) {
        int64_t read = first_capacity(settings->read, "ReadCapacityAutoScalingSettings");
        int64_t write = first_capacity(settings->write, "WriteCapacityAutoScalingSettings");
        if (read == 0 && write == 0)
            return;
        node_set(arena, throughput, "ReadCapacityUnits", node_number(arena, read > 0 ? read : 1));
        node_set(arena, throughput, "WriteCapacityUnits",
                 node_number(arena, write > 0 ? write : 1));
        node_set(arena, out, "ProvisionedThroughput", throughput);
        return;
    }
    if (node_get(settings->read_demand, "MaxReadRequestUnits") != NULL)
        node_set(arena, throughput, "MaxReadRequestUnits",
                 node_get(settings->read_demand, "MaxReadRequestUnits"));
    if (node_get(settings->write_demand, "MaxWriteRequestUnits") != NULL)
        node_set(arena, throughput, "MaxWriteRequestUnits",
                 node_get(settings->write_demand, "MaxWriteRequestUnits"));
    if (throughput->count > 0)
        node_set(arena, out, "OnDemandThroughput", throughput);
}

/* Adds {"Target": ..., "Policy": ...} for auto scaling settings, if there are any. */
static void add_scaling(struct arena *arena, struct node *list, const struct node *settings,
                        bool is_read, struct bytes resource_id, bool is_index)
{
    const struct node *scaling = node_get(settings, is_read ? "ReadCapacityAutoScalingSettings"
                                                            : "WriteCapacityAutoScalingSettings");
    if (scaling == NULL)
        return;
    const char *units = is_read ? "Read" : "Write";
    struct node *target = node_create(arena, NODE_MAP, 0);
    node_set(arena, target, "ServiceNamespace", node_string(arena, BYTES("dynamodb"), 0));
    node_set(arena, target, "ResourceId", node_string(arena, resource_id, 0));
    node_set(arena, target, "ScalableDimension",
             node_string(arena,
                         arena_printf(arena, "dynamodb:%s:%sCapacityUnits",
                                      is_index ? "index" : "table", units),
                         0));
    struct node *policy = node_copy_level(arena, target);
    node_set(arena, target, "MinCapacity", node_get(scaling, "MinCapacity"));
    node_set(arena, target, "MaxCapacity", node_get(scaling, "MaxCapacity"));
    struct node *tracking =
        node_copy_level(arena, node_get(scaling, "TargetTrackingScalingPolicyConfiguration"));
    struct node *metric = node_create(arena, NODE_MAP, 0);
    node_set(arena, metric, "PredefinedMetricType",
             node_string(arena, arena_printf(arena, "DynamoDB%sCapacityUtilization", units), 0));
    node_set(arena, tracking, "PredefinedMetricSpecification", metric);
    node_set(arena, policy, "PolicyName",
             node_string(
                 arena,
                 arena_printf(arena, "%sCapacityUtilization:%.*s", units, BYTES_FMT(resource_id)),
                 0));
    node_set(arena, policy, "PolicyType", node_string(arena, BYTES("TargetTrackingScaling"), 0));
    node_set(arena, policy, "TargetTrackingScalingPolicyConfiguration", tracking);
    struct node *both = node_create(arena, NODE_MAP, 0);
    node_set(arena, both, "Target", target);
    node_set(arena, both, "Policy", policy);
    node_append(arena, list, both);
}

static struct node *convert_index(struct arena *arena, const struct node *index,
                                  const struct node *replica_index, bool is_provisioned)
{
    static const char *const copied[] = { "IndexName", "KeySchema", "Projection",
                                          "WarmThroughput" };
    struct node *out = node_create(arena, NODE_MAP, index->line);
    struct node *insights = node_get(replica_index, "ContributorInsightsSpecification");
    for (size_t i = 0; i < COUNT_OF(copied); i++) {
        if (node_get(index, copied[i]) != NULL)
            node_set(arena, out, copied[i], node_get(index, copied[i]));
    }
    if (insights != NULL)
        node_set(arena, out, "ContributorInsightsSpecification", insights);
    struct settings settings = {
        node_get(index, "WriteProvisionedThroughputSettings"),
        node_get(index, "ReadProvisionedThroughputSettings"),
        node_get(index, "WriteOnDemandThroughputSettings"),
        node_get(index, "ReadOnDemandThroughputSettings"),
    };
    if (node_get(replica_index, "ReadProvisionedThroughputSettings") != NULL)
        settings.read = node_get(replica_index, "ReadProvisionedThroughputSettings");
    if (node_get(replica_index, "ReadOnDemandThroughputSettings") != NULL)
        settings.read_demand = node_get(replica_index, "ReadOnDemandThroughputSettings");
    set_units(arena, out, &settings, is_provisioned);
    return out;
}

static void convert_indexes(struct arena *arena, struct node *state, const struct node *table,
                            const struct node *replica, bool is_provisioned, struct bytes name,
                            struct node *scaling)
{
    const struct node *indexes = node_get(table, "GlobalSecondaryIndexes");
    const struct node *own = node_get(replica, "GlobalSecondaryIndexes");
    struct node *list = node_create(arena, NODE_LIST, 0);
    for (size_t i = 0; indexes != NULL && i < indexes->count; i++) {
        const struct node *index = indexes->members[i].value;
        const struct node *replica_index =
            node_find(own, "IndexName", node_text(index, "IndexName"));
        node_append(arena, list, convert_index(arena, index, replica_index, is_provisioned));
        if (!is_provisioned)
            continue;
        struct bytes id = arena_printf(arena, "table/%.*s/index/%.*s", BYTES_FMT(name),
                                       BYTES_FMT(node_text(index, "IndexName")));
        const struct node *read = node_get(replica_index, "ReadProvisionedThroughputSettings");
        if (read == NULL)
            read = node_get(index, "ReadProvisionedThroughputSettings");
        add_scaling(arena, scaling, read, true, id, true);
        add_scaling(arena, scaling, node_get(index, "WriteProvisionedThroughputSettings"), false,
                    id, true);
    }
    if (list->count > 0)
        node_set(arena, state, "GlobalSecondaryIndexes", list);
}

/* The table's own throughput, and its auto scaling. */
static void convert_throughput(struct arena *arena, struct node *state, const struct node *table,
                               const struct node *replica, struct bytes name)
{
    bool is_provisioned = !bytes_equal_text(node_text(state, "BillingMode"), "PAY_PER_REQUEST");
    struct node *scaling = node_create(arena, NODE_LIST, 0);
    struct settings settings = {
        node_get(table, "WriteProvisionedThroughputSettings"),
        node_get(table, "ReadProvisionedThroughputSettings"),
        node_get(table, "WriteOnDemandThroughputSettings"),
        node_get(table, "ReadOnDemandThroughputSettings"),
    };
    if (node_get(replica, "ReadProvisionedThroughputSettings") != NULL)
        settings.read = node_get(replica, "ReadProvisionedThroughputSettings");
    if (node_get(replica, "ReadOnDemandThroughputSettings") != NULL)
        settings.read_demand = node_get(replica, "ReadOnDemandThroughputSettings");
    set_units(arena, state, &settings, is_provisioned);
    if (is_provisioned) {
        struct bytes id = arena_printf(arena, "table/%.*s", BYTES_FMT(name));
        add_scaling(arena, scaling, settings.read, true, id, false);
        add_scaling(arena, scaling, settings.write, false, id, false);
    }
    convert_indexes(arena, state, table, replica, is_provisioned, name, scaling);
    if (scaling->count > 0)
        node_set(arena, state, "Scaling", scaling);
}

bool table_resource_build_global(struct evaluation *evaluation, struct template_resource *resource)
{
    static const char *const of_table[] = {
        "AttributeDefinitions", "KeySchema",        "LocalSecondaryIndexes",   "BillingMode",
        "StreamSpecification",  "SSESpecification", "TimeToLiveSpecification", "WarmThroughput",
    };
    static const char *const of_replica[] = {
        "ContributorInsightsSpecification",
        "DeletionProtectionEnabled",
        "KinesisStreamSpecification",
        "PointInTimeRecoverySpecification",
        "ResourcePolicy",
        "TableClass",
        "Tags",
    };
    struct arena *arena = evaluation->arena;
    struct node *table = properties_check(evaluation, resource, &property_shape_global_table);
    if (table == NULL)
        return false;
    const struct node *replica = find_replica(evaluation, resource, node_get(table, "Replicas"));
    if (replica == NULL)
        return false;
    if (node_get(node_get(replica, "ReplicaStreamSpecification"), "ResourcePolicy") != NULL)
        return refuse(evaluation, resource, replica->line,
                      "a ResourcePolicy of a stream is not supported");
    struct node *state = node_create(arena, NODE_MAP, table->line);
    for (size_t i = 0; i < COUNT_OF(of_table); i++) {
        if (node_get(table, of_table[i]) != NULL)
            node_set(arena, state, of_table[i], node_get(table, of_table[i]));
    }
    for (size_t i = 0; i < COUNT_OF(of_replica); i++) {
        if (node_get(replica, of_replica[i]) != NULL)
            node_set(arena, state, of_replica[i], node_get(replica, of_replica[i]));
    }
    struct node *key = node_get(node_get(replica, "SSESpecification"), "KMSMasterKeyId");
    if (key != NULL && node_get(state, "SSESpecification") != NULL) {
        struct node *encryption = node_copy_level(arena, node_get(state, "SSESpecification"));
        node_set(arena, encryption, "KMSMasterKeyId", key);
        node_set(arena, state, "SSESpecification", encryption);
    }
    convert_throughput(arena, state, table, replica, resource->physical_id);
    return finish(evaluation, resource, state);
}
