/* model_export.c -- see model_export.h.
 *
 * Names of tables, indexes and attributes come from a file that may hold anything, so each is
 * quoted by the rules of its language. */
#include "schema/model_export.h"
#include <assert.h>
#include <stdarg.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "json/writer.h"
#include "schema/json_tree.h"
#include "schema/model_file.h"
#include "schema/model_request.h"

bool model_format_parse(const char *text, enum model_format *out)
{
    static const char *const names[MODEL_FORMAT_COUNT] = {
        [MODEL_FORMAT_WORKBENCH] = "workbench",
        [MODEL_FORMAT_CLOUDFORMATION] = "cloudformation",
        [MODEL_FORMAT_CDK] = "cdk",
        [MODEL_FORMAT_TERRAFORM] = "terraform",
        [MODEL_FORMAT_CLI] = "cli",
    };
    for (enum model_format i = 0; i < MODEL_FORMAT_COUNT; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

static void PRINTF_LIKE(2, 3) add(struct buffer *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    buffer_append_bytes(out, arena_vprintf(out->arena, format, arguments));
    va_end(arguments);
}

/* "text" with the escapes of JSON, which TypeScript has too. */
static void add_quoted(struct buffer *out, struct bytes text)
{
    struct json_writer writer;
    json_writer_init(&writer, out);
    json_write_string(&writer, text);
}

/* The same for HCL, in which ${ and %{ begin templates. */
static void add_hcl(struct buffer *out, struct bytes text)
{
    struct buffer doubled;
    buffer_init(&doubled, out->arena);
    for (size_t i = 0; i < text.len; i++) {
        buffer_append_byte(&doubled, text.data[i]);
        if ((text.data[i] == '$' || text.data[i] == '%') && i + 1 < text.len &&
            text.data[i + 1] == '{')
            buffer_append_byte(&doubled, text.data[i]);
    }
    add_quoted(out, buffer_bytes(&doubled));
}

/* Letters and digits of the name: "my-table" becomes "MyTable". `joint` replaces the characters
 * that are left out; 0: nothing does. Never empty. */
static struct bytes identifier_of(struct arena *arena, struct bytes name, size_t number, char joint)
{
    struct buffer out;
    bool begins = true;
    buffer_init(&out, arena);
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.data[i];
        bool lower = c >= 'a' && c <= 'z', upper = c >= 'A' && c <= 'Z';
        if (!lower && !upper && !(c >= '0' && c <= '9' && out.len > 0)) {
            begins = true;
            if (joint != 0 && out.len > 0)
                buffer_append_byte(&out, (uint8_t)joint);
            continue;
        }
        buffer_append_byte(&out, joint == 0 && begins && lower ? (uint8_t)(c - 'a' + 'A') : c);
        begins = false;
    }
    return out.len > 0 ? buffer_bytes(&out) : arena_printf(arena, "Table%zu", number);
}

/* --- CloudFormation --- */

static struct json_node *cloudformation_table(struct arena *arena, const struct model_table *table)
{
    struct bytes failure;
    struct json_node *resource = json_tree_new(arena, JSON_OBJECT);
    struct json_node *properties =
        json_tree_parse(arena, model_request_create_table(arena, table), &failure);
    assert(properties != NULL);
    if (table->ttl_attribute.data != NULL) {
        struct json_node *ttl = json_tree_new(arena, JSON_OBJECT);
        struct json_node *enabled = json_tree_new(arena, JSON_BOOL);
        enabled->boolean = true;
        json_tree_add_text(arena, ttl, "AttributeName", table->ttl_attribute);
        json_tree_add(ttl, BYTES("Enabled"), enabled);
        json_tree_add(properties, BYTES("TimeToLiveSpecification"), ttl);
    }
    json_tree_add_text(arena, resource, "Type", BYTES("AWS::DynamoDB::Table"));
    json_tree_add(resource, BYTES("Properties"), properties);
    return resource;
}

static void export_cloudformation(struct buffer *out, const struct model_file *file)
{
    struct arena *arena = out->arena;
    struct json_node *root = json_tree_new(arena, JSON_OBJECT);
    struct json_node *resources = json_tree_new(arena, JSON_OBJECT);
    json_tree_add_text(arena, root, "AWSTemplateFormatVersion", BYTES("2010-09-09"));
    if (file->name.len > 0)
        json_tree_add_text(arena, root, "Description", file->name);
    for (size_t i = 0; i < file->table_count; i++) {
        struct bytes id = identifier_of(arena, file->tables[i].name, i, 0);
        if (json_tree_member_bytes(resources, id) != NULL)
            id = arena_printf(arena, "%.*s%zu", BYTES_FMT(id), i);
        json_tree_add(resources, id, cloudformation_table(arena, &file->tables[i]));
    }
    json_tree_add(root, BYTES("Resources"), resources);
    json_tree_write(out, root);
}

/* --- CDK --- */

static const char *cdk_type(enum value_type type)
{
    return type == VALUE_S ? "STRING" : type == VALUE_N ? "NUMBER" : "BINARY";
}

static void add_cdk_keys(struct buffer *out, const struct model_index *index, bool local)
{
    if (!local) {
        add(out, "      partitionKey: { name: ");
        add_quoted(out, index->hash.name);
        add(out, ", type: dynamodb.AttributeType.%s },\n", cdk_type(index->hash.type));
    }
    if (index->has_range) {
        add(out, "      sortKey: { name: ");
        add_quoted(out, index->range.name);
        add(out, ", type: dynamodb.AttributeType.%s },\n", cdk_type(index->range.type));
    }
}

static void add_cdk_index(struct buffer *out, const struct model_table *owner,
                          const struct model_index *index, struct bytes table)
{
    add(out, "    %.*s.%s({\n      indexName: ", BYTES_FMT(table),
        index->local ? "addLocalSecondaryIndex" : "addGlobalSecondaryIndex");
    add_quoted(out, index->name);
    add(out, ",\n");
    add_cdk_keys(out, index, index->local);
    add(out, "      projectionType: dynamodb.ProjectionType.%s,\n",
        projection_type_name(index->projection));
    if (index->projection == PROJECTION_INCLUDE) {
        add(out, "      nonKeyAttributes: [");
        for (size_t i = 0; i < index->included_count; i++) {
            add(out, i == 0 ? "" : ", ");
            add_quoted(out, index->included[i]);
        }
        add(out, "],\n");
    }
    if (owner->provisioned && !index->local)
        add(out, "      readCapacity: %lld,\n      writeCapacity: %lld,\n",
            (long long)index->read_units, (long long)index->write_units);
    add(out, "    });\n");
}

static void export_cdk(struct buffer *out, const struct model_file *file)
{
    add(out, "import { Stack, StackProps } from 'aws-cdk-lib';\n"
             "import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';\n"
             "import { Construct } from 'constructs';\n\n"
             "export class ModelStack extends Stack {\n"
             "  constructor(scope: Construct, id: string, props?: StackProps) {\n"
             "    super(scope, id, props);\n");
    for (size_t i = 0; i < file->table_count; i++) {
        const struct model_table *table = &file->tables[i];
        struct bytes name = arena_printf(out->arena, "table%zu", i + 1);
        add(out, "    const %.*s = new dynamodb.Table(this, ", BYTES_FMT(name));
        add_quoted(out,
                   arena_printf(out->arena, "%.*s%zu",
                                BYTES_FMT(identifier_of(out->arena, table->name, i, 0)), i + 1));
        add(out, ", {\n      tableName: ");
        add_quoted(out, table->name);
        add(out, ",\n");
        add_cdk_keys(out, &table->indexes[0], false);
        add(out, "      billingMode: dynamodb.BillingMode.%s,\n",
            table->provisioned ? "PROVISIONED" : "PAY_PER_REQUEST");
        if (table->provisioned)
            add(out, "      readCapacity: %lld,\n      writeCapacity: %lld,\n",
                (long long)table->read_units, (long long)table->write_units);
        if (table->ttl_attribute.data != NULL) {
            add(out, "      timeToLiveAttribute: ");
            add_quoted(out, table->ttl_attribute);
            add(out, ",\n");
        }
        add(out, "    });\n");
        for (size_t n = 1; n < table->index_count; n++)
            add_cdk_index(out, table, &table->indexes[n], name);
    }
    add(out, "  }\n}\n");
}

/* --- Terraform --- */

static void add_hcl_line(struct buffer *out, const char *indent, const char *name,
                         struct bytes value)
{
    add(out, "%s%s = ", indent, name);
    add_hcl(out, value);
    add(out, "\n");
}

static void add_hcl_attribute(struct buffer *out, const struct key_attribute *key)
{
    add(out, "\n  attribute {\n");
    add_hcl_line(out, "    ", "name", key->name);
    add(out, "    type = \"%s\"\n  }\n", value_type_name(key->type));
}

static bool is_new(const struct model_table *table, size_t until, struct bytes name)
{
    for (size_t i = 0; i < until; i++) {
        const struct model_index *index = &table->indexes[i];
        if (bytes_equal(index->hash.name, name) ||
            (index->has_range && bytes_equal(index->range.name, name)))
            return false;
    }
    return true;
}

static void add_hcl_index(struct buffer *out, const struct model_table *table,
                          const struct model_index *index)
{
    add(out, "\n  %s {\n", index->local ? "local_secondary_index" : "global_secondary_index");
    add_hcl_line(out, "    ", "name", index->name);
    if (!index->local)
        add_hcl_line(out, "    ", "hash_key", index->hash.name);
    if (index->has_range)
        add_hcl_line(out, "    ", "range_key", index->range.name);
    add(out, "    projection_type = \"%s\"\n", projection_type_name(index->projection));
    if (index->projection == PROJECTION_INCLUDE) {
        add(out, "    non_key_attributes = [");
        for (size_t i = 0; i < index->included_count; i++) {
            add(out, i == 0 ? "" : ", ");
            add_hcl(out, index->included[i]);
        }
        add(out, "]\n");
    }
    if (table->provisioned && !index->local)
        add(out, "    read_capacity = %lld\n    write_capacity = %lld\n",
            (long long)index->read_units, (long long)index->write_units);
    add(out, "  }\n");
}

static void export_terraform(struct buffer *out, const struct model_file *file)
{
    for (size_t i = 0; i < file->table_count; i++) {
        const struct model_table *table = &file->tables[i];
        const struct model_index *key = &table->indexes[0];
        add(out, "%sresource \"aws_dynamodb_table\" \"%.*s_%zu\" {\n", i == 0 ? "" : "\n",
            BYTES_FMT(identifier_of(out->arena, table->name, i, '_')), i + 1);
        add_hcl_line(out, "  ", "name", table->name);
        add(out, "  billing_mode = \"%s\"\n",
            table->provisioned ? "PROVISIONED" : "PAY_PER_REQUEST");
        if (table->provisioned)
            add(out, "  read_capacity = %lld\n  write_capacity = %lld\n",
                (long long)table->read_units, (long long)table->write_units);
        add_hcl_line(out, "  ", "hash_key", key->hash.name);
        if (key->has_range)
            add_hcl_line(out, "  ", "range_key", key->range.name);
        for (size_t n = 0; n < table->index_count; n++) {
            const struct model_index *index = &table->indexes[n];
            if (is_new(table, n, index->hash.name))
                add_hcl_attribute(out, &index->hash);
            if (index->has_range && is_new(table, n, index->range.name) &&
                !bytes_equal(index->range.name, index->hash.name))
                add_hcl_attribute(out, &index->range);
        }
        for (size_t n = 1; n < table->index_count; n++)
            add_hcl_index(out, table, &table->indexes[n]);
        if (table->ttl_attribute.data != NULL) {
            add(out, "\n  ttl {\n");
            add_hcl_line(out, "    ", "attribute_name", table->ttl_attribute);
            add(out, "    enabled = true\n  }\n");
        }
        add(out, "}\n");
    }
}

/* --- The AWS CLI --- */

/* 'text' for a shell. */
static void add_shell(struct buffer *out, struct bytes text)
{
    buffer_append_byte(out, '\'');
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '\'')
            buffer_append_bytes(out, BYTES("'\\''"));
        else
            buffer_append_byte(out, text.data[i]);
    }
    buffer_append_byte(out, '\'');
}

static void add_command(struct buffer *out, const char *command, struct bytes input)
{
    add(out, "aws dynamodb %s --cli-input-json ", command);
    add_shell(out, input);
    add(out, "\n");
}

static void export_cli(struct buffer *out, const struct model_file *file)
{
    add(out, "set -e\n");
    for (size_t i = 0; i < file->table_count; i++) {
        const struct model_table *table = &file->tables[i];
        struct bytes ttl = model_request_time_to_live(out->arena, table);
        add_command(out, "create-table", model_request_create_table(out->arena, table));
        add(out, "aws dynamodb wait table-exists --table-name ");
        add_shell(out, table->name);
        add(out, "\n");
        if (ttl.data != NULL)
            add_command(out, "update-time-to-live", ttl);
        for (size_t row = 0; row < table->row_count; row++)
            add_command(out, "put-item",
                        model_request_put_item(out->arena, table, table->rows[row]));
    }
}

struct bytes model_export(struct arena *arena, const struct model_file *file,
                          enum model_format format)
{
    struct buffer out;
    buffer_init(&out, arena);
    switch (format) {
    case MODEL_FORMAT_WORKBENCH:
        return model_file_save(arena, file);
    case MODEL_FORMAT_CLOUDFORMATION:
        export_cloudformation(&out, file);
        break;
    case MODEL_FORMAT_CDK:
        export_cdk(&out, file);
        break;
    case MODEL_FORMAT_TERRAFORM:
        export_terraform(&out, file);
        break;
    case MODEL_FORMAT_CLI:
        export_cli(&out, file);
        break;
    case MODEL_FORMAT_COUNT:
        break;
    }
    return buffer_bytes(&out);
}
