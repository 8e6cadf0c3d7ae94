/* terraform.c -- `terraform show -json` of a plan or a state: the tables in it as resources of
 * CloudFormation's form.
 *
 * A plan has planned_values, a state has values; both are a root_module with resources and
 * child_modules. Values that are known only after `terraform apply` are missing there, so a table
 * without a name is refused.
 */
#include "base/arena.h"
#include "base/compiler.h"
#include "template/document.h"
#include "template/node.h"
#include "template/template_error.h"
#include "template/template_parts.h"

enum { MODULE_DEPTH_MAX = 32 };

/* Blocks are lists, of one element where there can be one only; NULL: none. */
static const struct node *block(const struct node *values, const char *name)
{
    const struct node *list = node_get(values, name);
    if (list != NULL && list->kind == NODE_LIST && list->count > 0)
        return list->members[0].value;
    return list != NULL && list->kind == NODE_MAP ? list : NULL;
}

static void set_text(struct arena *arena, struct node *map, const char *name, struct bytes text)
{
    if (text.data != NULL && text.len > 0)
        node_set(arena, map, name, node_string(arena, text, 0));
}

static void add_key(struct arena *arena, struct node *schema, struct bytes name, const char *type)
{
    if (name.data == NULL || name.len == 0)
        return;
    struct node *key = node_create(arena, NODE_MAP, 0);
    set_text(arena, key, "AttributeName", name);
    set_text(arena, key, "KeyType", bytes_from_text(type));
    node_append(arena, schema, key);
}

/* From hash_key and range_key, or from the newer key_schema blocks. */
static struct node *convert_keys(struct arena *arena, const struct node *values)
{
    struct node *schema = node_create(arena, NODE_LIST, values->line);
    const struct node *keys = node_get(values, "key_schema");
    for (size_t i = 0; keys != NULL && keys->kind == NODE_LIST && i < keys->count; i++) {
        const struct node *key = keys->members[i].value;
        struct bytes type = node_text(key, "key_type");
        add_key(arena, schema, node_text(key, "attribute_name"),
                type.data != NULL && bytes_equal_text(type, "RANGE") ? "RANGE" : "HASH");
    }
    if (schema->count > 0)
        return schema;
    add_key(arena, schema, node_text(values, "hash_key"), "HASH");
    add_key(arena, schema, node_text(values, "range_key"), "RANGE");
    return schema;
}

static struct node *convert_attributes(struct arena *arena, const struct node *values)
{
    struct node *list = node_create(arena, NODE_LIST, values->line);
    const struct node *attributes = node_get(values, "attribute");
    for (size_t i = 0; attributes != NULL && i < attributes->count; i++) {
        const struct node *attribute = attributes->members[i].value;
        struct node *out = node_create(arena, NODE_MAP, attribute->line);
        set_text(arena, out, "AttributeName", node_text(attribute, "name"));
        set_text(arena, out, "AttributeType", node_text(attribute, "type"));
        node_append(arena, list, out);
    }
    return list;
}

static void convert_throughput(struct arena *arena, const struct node *values, bool is_provisioned,
                               struct node *out)
{
    struct node *read = node_get(values, "read_capacity");
    struct node *write = node_get(values, "write_capacity");
    int64_t units;
    const struct node *demand = block(values, "on_demand_throughput");
    struct node *throughput = node_create(arena, NODE_MAP, 0);
    if (is_provisioned && node_integer(values, "read_capacity", &units) && units > 0 &&
        node_integer(values, "write_capacity", &units) && units > 0) {
        node_set(arena, throughput, "ReadCapacityUnits", read);
        node_set(arena, throughput, "WriteCapacityUnits", write);
        node_set(arena, out, "ProvisionedThroughput", throughput);
    } else if (!is_provisioned && demand != NULL) {
        if (node_integer(demand, "max_read_request_units", &units))
            node_set(arena, throughput, "MaxReadRequestUnits", node_number(arena, units));
        if (node_integer(demand, "max_write_request_units", &units))
            node_set(arena, throughput, "MaxWriteRequestUnits", node_number(arena, units));
        if (throughput->count > 0)
            node_set(arena, out, "OnDemandThroughput", throughput);
    }
}

static struct node *convert_index(struct arena *arena, const struct node *index,
                                  const struct node *table, bool is_local, bool is_provisioned)
{
    struct node *out = node_create(arena, NODE_MAP, index->line);
    struct node *projection = node_create(arena, NODE_MAP, index->line);
    struct node *names = node_get(index, "non_key_attributes");
    set_text(arena, out, "IndexName", node_text(index, "name"));
    if (is_local) {
        struct node *schema = node_create(arena, NODE_LIST, index->line);
        const struct node *table_key = convert_keys(arena, table);
        if (table_key->count > 0)
            node_append(arena, schema, table_key->members[0].value);
        add_key(arena, schema, node_text(index, "range_key"), "RANGE");
        node_set(arena, out, "KeySchema", schema);
    } else {
        node_set(arena, out, "KeySchema", convert_keys(arena, index));
        convert_throughput(arena, index, is_provisioned, out);
    }
    set_text(arena, projection, "ProjectionType", node_text(index, "projection_type"));
    if (names != NULL && names->kind == NODE_LIST && names->count > 0)
        node_set(arena, projection, "NonKeyAttributes", names);
    node_set(arena, out, "Projection", projection);
    return out;
}

static void convert_indexes(struct arena *arena, const struct node *values, const char *from,
                            bool is_local, bool is_provisioned, const char *to, struct node *out)
{
    const struct node *indexes = node_get(values, from);
    struct node *list = node_create(arena, NODE_LIST, 0);
    for (size_t i = 0; indexes != NULL && i < indexes->count; i++)
        node_append(
            arena, list,
            convert_index(arena, indexes->members[i].value, values, is_local, is_provisioned));
    if (list->count > 0)
        node_set(arena, out, to, list);
}

static void convert_settings(struct arena *arena, const struct node *values, struct node *out)
{
    const struct node *ttl = block(values, "ttl");
    const struct node *recovery = block(values, "point_in_time_recovery");
    const struct node *encryption = block(values, "server_side_encryption");
    int64_t days;
    if (node_is_true(ttl, "enabled")) {
        struct node *specification = node_create(arena, NODE_MAP, ttl->line);
        set_text(arena, specification, "AttributeName", node_text(ttl, "attribute_name"));
        node_set(arena, specification, "Enabled", node_bool(arena, true));
        node_set(arena, out, "TimeToLiveSpecification", specification);
    }
    if (node_is_true(recovery, "enabled")) {
        struct node *specification = node_create(arena, NODE_MAP, recovery->line);
        node_set(arena, specification, "PointInTimeRecoveryEnabled", node_bool(arena, true));
        if (node_integer(recovery, "recovery_period_in_days", &days) && days > 0)
            node_set(arena, specification, "RecoveryPeriodInDays", node_number(arena, days));
        node_set(arena, out, "PointInTimeRecoverySpecification", specification);
    }
    if (node_is_true(encryption, "enabled")) {
        struct node *specification = node_create(arena, NODE_MAP, encryption->line);
        node_set(arena, specification, "SSEEnabled", node_bool(arena, true));
        set_text(arena, specification, "SSEType", BYTES("KMS"));
        set_text(arena, specification, "KMSMasterKeyId", node_text(encryption, "kms_key_arn"));
        node_set(arena, out, "SSESpecification", specification);
    }
    if (node_is_true(values, "stream_enabled")) {
        struct node *stream = node_create(arena, NODE_MAP, values->line);
        set_text(arena, stream, "StreamViewType", node_text(values, "stream_view_type"));
        node_set(arena, out, "StreamSpecification", stream);
    }
    if (node_is_true(values, "deletion_protection_enabled"))
        node_set(arena, out, "DeletionProtectionEnabled", node_bool(arena, true));
    set_text(arena, out, "TableClass", node_text(values, "table_class"));
}

/* tags_all has those of the provider too. */
static void convert_tags(struct arena *arena, const struct node *values, struct node *out)
{
    const struct node *tags = node_get(values, "tags_all");
    struct node *list = node_create(arena, NODE_LIST, 0);
    if (tags == NULL || tags->kind != NODE_MAP)
        tags = node_get(values, "tags");
    for (size_t i = 0; tags != NULL && tags->kind == NODE_MAP && i < tags->count; i++) {
        struct node *tag = node_create(arena, NODE_MAP, 0);
        node_set(arena, tag, "Key", node_string(arena, tags->members[i].name, 0));
        node_set(arena, tag, "Value", tags->members[i].value);
        node_append(arena, list, tag);
    }
    if (list->count > 0)
        node_set(arena, out, "Tags", list);
}

static struct node *convert_table(struct arena *arena, const struct node *values)
{
    struct node *out = node_create(arena, NODE_MAP, values->line);
    struct bytes mode = node_text(values, "billing_mode");
    bool is_provisioned = mode.data == NULL || bytes_equal_text(mode, "PROVISIONED");
    set_text(arena, out, "TableName", node_text(values, "name"));
    node_set(arena, out, "AttributeDefinitions", convert_attributes(arena, values));
    node_set(arena, out, "KeySchema", convert_keys(arena, values));
    set_text(arena, out, "BillingMode", is_provisioned ? BYTES("PROVISIONED") : mode);
    convert_throughput(arena, values, is_provisioned, out);
    convert_indexes(arena, values, "global_secondary_index", false, is_provisioned,
                    "GlobalSecondaryIndexes", out);
    convert_indexes(arena, values, "local_secondary_index", true, false, "LocalSecondaryIndexes",
                    out);
    convert_settings(arena, values, out);
    convert_tags(arena, values, out);
    return out;
}

/* Resources of other types keep their type, so that they are skipped by name. */
static bool convert_resource(struct arena *arena, const struct node *resource,
                             struct node *resources, struct template_error *err)
{
    struct bytes type = node_text(resource, "type"), address = node_text(resource, "address");
    const struct node *values = node_get(resource, "values");
    struct bytes mode = node_text(resource, "mode");
    if (type.data == NULL || address.data == NULL ||
        (mode.data != NULL && !bytes_equal_text(mode, "managed")))
        return true;
    if (!bytes_equal_text(type, "aws_dynamodb_table")) {
        struct node *other = node_create(arena, NODE_MAP, resource->line);
        set_text(arena, other, "Type", type);
        return document_add_member(arena, resources, address, resource->line, other, err);
    }
    if (values == NULL || node_text(values, "name").data == NULL)
        return template_error_set(arena, err, resource->line,
                                  "%.*s has no name before `terraform apply`", BYTES_FMT(address));
    return document_add_member(arena, resources, address, resource->line,
                               formats_table(arena, convert_table(arena, values)), err);
}

static bool convert_module(struct arena *arena, const struct node *module, unsigned depth,
                           struct node *resources, struct template_error *err)
{
    const struct node *list = node_get(module, "resources");
    const struct node *children = node_get(module, "child_modules");
    if (depth == MODULE_DEPTH_MAX)
        return template_error_set(arena, err, module->line, "modules are nested too deep");
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        if (!convert_resource(arena, list->members[i].value, resources, err))
            return false;
    }
    for (size_t i = 0; children != NULL && i < children->count; i++) {
        if (!convert_module(arena, children->members[i].value, depth + 1, resources, err))
            return false;
    }
    return true;
}

struct node *terraform_convert(struct arena *arena, const struct node *root,
                               struct template_error *err)
{
    const struct node *values = node_get(root, "planned_values");
    struct node *resources = node_create(arena, NODE_MAP, root->line);
    if (values == NULL)
        values = node_get(root, "values");
    const struct node *module = node_get(values, "root_module");
    if (module == NULL) {
        template_error_set(arena, err, 0,
                           "a Terraform document without planned_values or values: give the "
                           "output of `terraform show -json`");
        return NULL;
    }
    return convert_module(arena, module, 0, resources, err) ? resources : NULL;
}
