/* formats.c -- documents that are not CloudFormation's, as if they were: CreateTable requests and
 * descriptions of tables. The content of a document decides which format it has.
 */
#include <assert.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "template/document.h"
#include "template/node.h"
#include "template/template_error.h"
#include "template/template_parts.h"

static void copy_member(struct arena *arena, struct node *to, const struct node *from,
                        const char *name)
{
    struct node *value = node_get(from, name);
    if (value != NULL && value->kind != NODE_NULL)
        node_set(arena, to, name, value);
}

struct node *formats_table(struct arena *arena, struct node *properties)
{
    struct node *resource = node_create(arena, NODE_MAP, properties->line);
    node_set(arena, resource, "Type",
             node_string(arena, BYTES("AWS::DynamoDB::Table"), properties->line));
    node_set(arena, resource, "Properties", properties);
    return resource;
}

/* {StreamEnabled, StreamViewType} without the former; NULL: no stream. */
static struct node *convert_stream(struct arena *arena, const struct node *specification)
{
    if (!node_is_true(specification, "StreamEnabled") ||
        node_get(specification, "StreamViewType") == NULL)
        return NULL;
    struct node *stream = node_create(arena, NODE_MAP, specification->line);
    copy_member(arena, stream, specification, "StreamViewType");
    return stream;
}

/* --- CreateTable --- */

struct node *formats_read_request(struct arena *arena, const struct node *request,
                                  struct template_error *err)
{
    if (request->kind != NODE_MAP || node_text(request, "TableName").data == NULL) {
        template_error_set(arena, err, request->line, "a table needs a TableName");
        return NULL;
    }
    struct node *properties = node_copy_level(arena, request);
    const struct node *encryption = node_get(request, "SSESpecification");
    const struct node *policy = node_get(request, "ResourcePolicy");
    struct node *stream = convert_stream(arena, node_get(request, "StreamSpecification"));
    node_remove(properties, "StreamSpecification");
    if (stream != NULL)
        node_set(arena, properties, "StreamSpecification", stream);
    if (encryption != NULL && encryption->kind == NODE_MAP) {
        struct node *copy = node_copy_level(arena, encryption);
        struct node *enabled = node_get(copy, "Enabled");
        node_remove(copy, "Enabled");
        if (enabled != NULL)
            node_set(arena, copy, "SSEEnabled", enabled);
        node_set(arena, properties, "SSESpecification", copy);
    }
    if (policy != NULL && policy->kind == NODE_STRING) {
        struct node *document = node_create(arena, NODE_MAP, policy->line);
        node_set(arena, document, "PolicyDocument", node_get(request, "ResourcePolicy"));
        node_set(arena, properties, "ResourcePolicy", document);
    }
    return properties;
}

/* --- DescribeTable --- */

static struct node *read_throughput(struct arena *arena, const struct node *description)
{
    const struct node *provisioned = node_get(description, "ProvisionedThroughput");
    int64_t read = 0, write = 0;
    if (!node_integer(provisioned, "ReadCapacityUnits", &read) ||
        !node_integer(provisioned, "WriteCapacityUnits", &write) || (read == 0 && write == 0))
        return NULL;
    struct node *out = node_create(arena, NODE_MAP, 0);
    node_set(arena, out, "ReadCapacityUnits", node_number(arena, read));
    node_set(arena, out, "WriteCapacityUnits", node_number(arena, write));
    return out;
}

static struct node *read_indexes(struct arena *arena, const struct node *indexes,
                                 bool is_provisioned)
{
    struct node *list = node_create(arena, NODE_LIST, 0);
    for (size_t i = 0; i < indexes->count; i++) {
        const struct node *index = indexes->members[i].value;
        struct node *out = node_create(arena, NODE_MAP, index->line);
        copy_member(arena, out, index, "IndexName");
        copy_member(arena, out, index, "KeySchema");
        copy_member(arena, out, index, "Projection");
        copy_member(arena, out, index, "OnDemandThroughput");
        struct node *throughput = is_provisioned ? read_throughput(arena, index) : NULL;
        if (throughput != NULL)
            node_set(arena, out, "ProvisionedThroughput", throughput);
        node_append(arena, list, out);
    }
    return list;
}

static void read_encryption(struct arena *arena, struct node *properties,
                            const struct node *description)
{
    const struct node *encryption = node_get(description, "SSEDescription");
    struct bytes status = node_text(encryption, "Status");
    if (status.data == NULL ||
        (!bytes_equal_text(status, "ENABLED") && !bytes_equal_text(status, "UPDATING")))
        return;
    struct node *out = node_create(arena, NODE_MAP, 0);
    node_set(arena, out, "SSEEnabled", node_bool(arena, true));
    copy_member(arena, out, encryption, "SSEType");
    if (node_get(encryption, "KMSMasterKeyArn") != NULL)
        node_set(arena, out, "KMSMasterKeyId", node_get(encryption, "KMSMasterKeyArn"));
    node_set(arena, properties, "SSESpecification", out);
}

struct node *formats_read_description(struct arena *arena, const struct node *description)
{
    struct node *properties = node_create(arena, NODE_MAP, description->line);
    struct bytes mode = node_text(node_get(description, "BillingModeSummary"), "BillingMode");
    bool is_provisioned = mode.data == NULL || bytes_equal_text(mode, "PROVISIONED");
    const struct node *indexes;
    copy_member(arena, properties, description, "TableName");
    copy_member(arena, properties, description, "AttributeDefinitions");
    copy_member(arena, properties, description, "KeySchema");
    copy_member(arena, properties, description, "OnDemandThroughput");
    copy_member(arena, properties, description, "DeletionProtectionEnabled");
    node_set(
        arena, properties, "BillingMode",
        node_string(arena, is_provisioned ? BYTES("PROVISIONED") : BYTES("PAY_PER_REQUEST"), 0));
    struct node *throughput = is_provisioned ? read_throughput(arena, description) : NULL;
    if (throughput != NULL)
        node_set(arena, properties, "ProvisionedThroughput", throughput);
    indexes = node_get(description, "GlobalSecondaryIndexes");
    if (indexes != NULL && indexes->count > 0)
        node_set(arena, properties, "GlobalSecondaryIndexes",
                 read_indexes(arena, indexes, is_provisioned));
    indexes = node_get(description, "LocalSecondaryIndexes");
    if (indexes != NULL && indexes->count > 0)
        node_set(arena, properties, "LocalSecondaryIndexes", read_indexes(arena, indexes, false));
    struct node *stream = convert_stream(arena, node_get(description, "StreamSpecification"));
    if (stream != NULL)
        node_set(arena, properties, "StreamSpecification", stream);
    struct bytes class = node_text(node_get(description, "TableClassSummary"), "TableClass");
    if (class.data != NULL)
        node_set(arena, properties, "TableClass", node_string(arena, class, 0));
    read_encryption(arena, properties, description);
    return properties;
}

/* --- Recognition --- */

static bool is_description(const struct node *node)
{
    return node_get(node, "TableStatus") != NULL || node_get(node, "TableArn") != NULL;
}

/* One table in either form; false with `err` set. */
static bool add_table(struct arena *arena, struct node *resources, const struct node *node,
                      enum template_format *format, struct template_error *err)
{
    const struct node *description = node_get(node, "Table");
    struct node *properties;
    if (description == NULL)
        description = node_get(node, "TableDescription");
    if (description == NULL && is_description(node))
        description = node;
    if (description != NULL) {
        *format = TEMPLATE_DESCRIBE_TABLE;
        properties = formats_read_description(arena, description);
    } else {
        *format = TEMPLATE_CREATE_TABLE;
        properties = formats_read_request(arena, node, err);
    }
    struct bytes name = node_text(properties, "TableName");
    if (properties == NULL || name.data == NULL)
        return template_error_set(arena, err, node->line, "a table needs a TableName");
    return document_add_member(arena, resources, name, node->line, formats_table(arena, properties),
                               err);
}

static struct node *refuse(struct arena *arena, const struct node *root, struct template_error *err)
{
    if (node_get(root, "service") != NULL && node_get(root, "provider") != NULL)
        template_error_set(arena, err, 0,
                           "a serverless.yml has variables that only its own tool knows: run "
                           "`serverless package`, and give "
                           ".serverless/cloudformation-template-update-stack.json");
    /* NoSQL Workbench: schema/ converts models into CreateTable requests. */
    if (node_get(root, "ModelName") != NULL || node_get(root, "DataModel") != NULL)
        template_error_set(arena, err, 0,
                           "a NoSQL Workbench model: convert it with `stator model export --format "
                           "cloudformation` first");
    template_error_set(arena, err, 0,
                       "not a template: neither CloudFormation (Resources), CreateTable "
                       "(TableName), describe-table (Table) nor `terraform show -json`");
    return NULL;
}

struct node *formats_convert(struct arena *arena, const struct node *root,
                             enum template_format *format, struct template_error *err)
{
    struct node *resources = node_create(arena, NODE_MAP, root->line);
    const struct node *list = root;
    if (node_get(root, "format_version") != NULL || node_get(root, "terraform_version") != NULL) {
        *format = TEMPLATE_TERRAFORM;
        resources = terraform_convert(arena, root, err);
        if (resources == NULL)
            return NULL;
    } else if (root->kind == NODE_LIST || node_get(root, "tables") != NULL) {
        if (root->kind != NODE_LIST)
            list = node_get(root, "tables");
        for (size_t i = 0; i < list->count; i++) {
            if (!add_table(arena, resources, list->members[i].value, format, err))
                return NULL;
        }
    } else if (node_get(root, "TableName") != NULL || node_get(root, "Table") != NULL ||
               node_get(root, "TableDescription") != NULL) {
        if (!add_table(arena, resources, root, format, err))
            return NULL;
    } else {
        return refuse(arena, root, err);
    }
    struct node *document = node_create(arena, NODE_MAP, root->line);
    node_set(arena, document, "Resources", resources);
    return document;
}
