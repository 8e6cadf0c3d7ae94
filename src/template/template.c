/* template.c -- parsing: which format a document has, and what it declares. See template.h. */
#include "template/template.h"
#include <assert.h>
#include "base/arena.h"
#include "base/md5.h"
#include "template/document.h"
#include "template/node.h"
#include "template/template_error.h"
#include "template/template_parts.h"

#define TRANSFORM_SERVERLESS "AWS::Serverless-2016-10-31"
#define TRANSFORM_EXTENSIONS "AWS::LanguageExtensions"
#define FORMAT_VERSION "2010-09-09"
#define FOREACH_PREFIX "Fn::ForEach::"

/* --- Sections --- */

static bool check_sections(struct arena *arena, const struct template *template,
                           struct template_error *err)
{
    static const char *const known[] = {
        "AWSTemplateFormatVersion",
        "Description",
        "Metadata",
        "Parameters",
        "Rules",
        "Mappings",
        "Conditions",
        "Transform",
        "Globals",
        "Hooks",
        "Resources",
        "Outputs",
    };
    for (size_t i = 0; i < template->root->count; i++) {
        const struct node_member *member = &template->root->members[i];
        bool is_known = false;
        for (size_t k = 0; k < COUNT_OF(known); k++)
            is_known |= bytes_equal_text(member->name, known[k]);
        if (!is_known)
            return template_error_set(arena, err, member->line,
                                      "Invalid template property or properties [%.*s]",
                                      BYTES_FMT(member->name));
    }
    struct bytes version = node_text(template->root, "AWSTemplateFormatVersion");
    if (version.data != NULL && !bytes_equal_text(version, FORMAT_VERSION))
        return template_error_set(
            arena, err, node_get(template->root, "AWSTemplateFormatVersion")->line,
            "Template format error: %.*s is not a supported value for AWSTemplateFormatVersion.",
            BYTES_FMT(version));
    return true;
}

/* A section that is missing, or empty in YAML, is NULL. */
static bool find_section(struct arena *arena, struct template *template, const char *name,
                         const struct node **out, struct template_error *err)
{
    const struct node *section = node_get(template->root, name);
    *out = NULL;
    if (section == NULL || section->kind == NODE_NULL)
        return true;
    if (section->kind != NODE_MAP)
        return template_error_set(arena, err, section->line,
                                  "Template format error: [/%s] must be an object.", name);
    *out = section;
    return true;
}

static bool is_alphanumeric(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.data[i];
        if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')))
            return false;
    }
    return text.len > 0;
}

static void note_type(struct template *template, struct bytes type)
{
    for (size_t i = 0; i < template->type_count; i++) {
        if (bytes_equal(template->types[i], type))
            return;
    }
    template->types[template->type_count++] = type;
}

static bool check_resources(struct arena *arena, struct template *template,
                            struct template_error *err)
{
    const struct node *resources = template->resources;
    if (resources == NULL || resources->count == 0)
        return template_error_set(
            arena, err, 0, "Template format error: At least one Resources member must be defined.");
    if (resources->count > TEMPLATE_RESOURCES_MAX)
        return template_error_set(arena, err, resources->line,
                                  "Template format error: Number of resources, %zu, is greater "
                                  "than maximum allowed, %d",
                                  resources->count, TEMPLATE_RESOURCES_MAX);
    template->types = arena_alloc(arena, resources->count * sizeof *template->types);
    for (size_t i = 0; i < resources->count; i++) {
        const struct node_member *member = &resources->members[i];
        if (bytes_starts_with(member->name, BYTES(FOREACH_PREFIX)))
            continue;
        if (!template->is_literal && !is_alphanumeric(member->name))
            return template_error_set(
                arena, err, member->line,
                "Template format error: Resource name %.*s is non alphanumeric.",
                BYTES_FMT(member->name));
        if (member->name.len > TEMPLATE_NAME_SIZE_MAX)
            return template_error_set(arena, err, member->line,
                                      "Template format error: a resource's name is longer than %d",
                                      TEMPLATE_NAME_SIZE_MAX);
        struct bytes type = node_text(member->value, "Type");
        if (member->value->kind != NODE_MAP || type.data == NULL)
            return template_error_set(arena, err, member->line,
                                      "Template format error: [/Resources/%.*s] Every Resources "
                                      "object must contain a Type member.",
                                      BYTES_FMT(member->name));
        note_type(template, type);
    }
    return true;
}

static bool add_transform(struct arena *arena, struct template *template, const struct node *node,
                          struct template_error *err)
{
    struct bytes name = node->kind == NODE_MAP ? node_text(node, "Name") : node->text;
    if (node->kind == NODE_LIST || name.data == NULL)
        return template_error_set(arena, err, node->line,
                                  "Template format error: Transform must be a string or a list.");
    if (bytes_equal_text(name, TRANSFORM_SERVERLESS))
        template->has_serverless = true;
    else if (bytes_equal_text(name, TRANSFORM_EXTENSIONS))
        template->has_language_extensions = true;
    else
        return template_error_set(arena, err, node->line,
                                  "No transform named %.*s found. Supported are "
                                  "" TRANSFORM_SERVERLESS " and " TRANSFORM_EXTENSIONS ".",
                                  BYTES_FMT(name));
    template->transforms[template->transform_count++] = name;
    return true;
}

static bool read_transforms(struct arena *arena, struct template *template,
                            struct template_error *err)
{
    const struct node *node = node_get(template->root, "Transform");
    if (node == NULL || node->kind == NODE_NULL)
        return true;
    size_t count = node->kind == NODE_LIST ? node->count : 1;
    template->transforms = arena_alloc(arena, (count + 1) * sizeof *template->transforms);
    if (node->kind != NODE_LIST)
        return add_transform(arena, template, node, err);
    for (size_t i = 0; i < count; i++) {
        if (!add_transform(arena, template, node->members[i].value, err))
            return false;
    }
    return true;
}

static bool read_sections(struct arena *arena, struct template *template,
                          struct template_error *err)
{
    return check_sections(arena, template, err) && read_transforms(arena, template, err) &&
           find_section(arena, template, "Parameters", &template->parameters, err) &&
           find_section(arena, template, "Mappings", &template->mappings, err) &&
           find_section(arena, template, "Conditions", &template->conditions, err) &&
           find_section(arena, template, "Resources", &template->resources, err) &&
           find_section(arena, template, "Outputs", &template->outputs, err) &&
           find_section(arena, template, "Globals", &template->globals, err) &&
           check_resources(arena, template, err) && parameters_declare(arena, template, err);
}

struct template *template_parse(struct arena *arena, struct bytes text, struct bytes file,
                                struct template_error *err)
{
    *err = (struct template_error){ .file = file };
    struct template *template = arena_alloc_zeroed(arena, sizeof *template);
    template->file = file;
    template->root = document_read(arena, text, err);
    if (template->root == NULL)
        return NULL;
    if (template->root->kind != NODE_MAP || node_get(template->root, "Resources") == NULL) {
        template->root = formats_convert(arena, template->root, &template->format, err);
        template->is_literal = template->format != TEMPLATE_CLOUDFORMATION;
    }
    if (template->root == NULL || !read_sections(arena, template, err))
        return NULL;
    assert(err->message.data == NULL);
    return template;
}

/* --- What it declares --- */

enum template_format template_format(const struct template *template)
{
    return template->format;
}

struct bytes template_description(const struct template *template)
{
    return node_text(template->root, "Description");
}

const struct template_parameter *template_parameters(const struct template *template, size_t *count)
{
    *count = template->parameter_count;
    return template->parameter_list;
}

const struct bytes *template_transforms(const struct template *template, size_t *count)
{
    *count = template->transform_count;
    return template->transforms;
}

const struct bytes *template_resource_types(const struct template *template, size_t *count)
{
    *count = template->type_count;
    return template->types;
}

const struct node *template_document(const struct template *template)
{
    return template->root;
}

/* --- Names --- */

struct bytes template_physical_name(struct arena *arena, struct bytes stack_name,
                                    struct bytes logical_id, struct bytes salt)
{
    enum { SUFFIX = 13, STACK_MAX = 120, LOGICAL_MAX = 120 };
    static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    uint8_t digest[MD5_DIGEST_SIZE];
    char suffix[SUFFIX];
    struct md5 md5;
    md5_init(&md5);
    md5_add(&md5, stack_name);
    md5_add(&md5, BYTES("\n"));
    md5_add(&md5, logical_id);
    md5_add(&md5, BYTES("\n"));
    md5_add(&md5, salt);
    md5_finish(&md5, digest);
    static_assert((int)SUFFIX <= (int)MD5_DIGEST_SIZE, "one byte for each letter");
    for (size_t i = 0; i < SUFFIX; i++)
        suffix[i] = letters[digest[i] % (sizeof letters - 1)];
    size_t stack_size = stack_name.len < STACK_MAX ? stack_name.len : STACK_MAX;
    size_t logical_size = logical_id.len < LOGICAL_MAX ? logical_id.len : LOGICAL_MAX;
    return arena_printf(arena, "%.*s-%.*s-%.*s", (int)stack_size, (const char *)stack_name.data,
                        (int)logical_size, (const char *)logical_id.data, (int)SUFFIX, suffix);
}
