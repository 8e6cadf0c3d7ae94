/* manifest.c -- the manifest.json of a `cdk.out` folder. See template.h. */
#include <string.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "template/document.h"
#include "template/node.h"
#include "template/template_error.h"

enum { MANIFEST_STACKS_MAX = 1000 };

#define STACK_TYPE "aws:cloudformation:stack"
#define NESTED_TYPE "cdk:cloud-assembly"

/* A file within the folder. */
static bool is_safe_path(struct bytes path)
{
    return path.data != NULL && path.len > 0 && path.data[0] != '/' &&
           memchr(path.data, '\0', path.len) == NULL &&
           memmem(path.data, path.len, "..", 2) == NULL;
}

/* "aws://123456789012/us-east-1"; parts named unknown-... are NULL. */
static void read_environment(struct bytes text, struct template_cdk_stack *stack)
{
    const struct bytes prefix = BYTES("aws://");
    if (text.data == NULL || !bytes_starts_with(text, prefix))
        return;
    struct bytes rest = bytes_of(text.data + prefix.len, text.len - prefix.len);
    const uint8_t *slash = memchr(rest.data, '/', rest.len);
    if (slash == NULL)
        return;
    size_t size = (size_t)(slash - rest.data);
    struct bytes account = bytes_of(rest.data, size);
    struct bytes region = bytes_of(slash + 1, rest.len - size - 1);
    if (!bytes_starts_with(account, BYTES("unknown")))
        stack->account = account;
    if (!bytes_starts_with(region, BYTES("unknown")))
        stack->region = region;
}

static bool read_stack(struct arena *arena, const struct node_member *artifact,
                       struct template_cdk_stack *out, struct template_error *err)
{
    const struct node *properties = node_get(artifact->value, "properties");
    const struct node *parameters = node_get(properties, "parameters");
    struct bytes name = node_text(properties, "stackName");
    *out = (struct template_cdk_stack){ .name = name.data != NULL ? name : artifact->name,
                                        .file = node_text(properties, "templateFile") };
    if (!is_safe_path(out->file))
        return template_error_set(arena, err, artifact->line,
                                  "the stack %.*s has no templateFile within the folder",
                                  BYTES_FMT(artifact->name));
    read_environment(node_text(artifact->value, "environment"), out);
    size_t count = parameters == NULL ? 0 : parameters->count;
    struct template_value *values = arena_alloc(arena, (count + 1) * sizeof *values);
    for (size_t i = 0; i < count; i++) {
        if (parameters->kind == NODE_MAP && node_is_scalar(parameters->members[i].value))
            values[out->parameter_count++] =
                (struct template_value){ parameters->members[i].name,
                                         parameters->members[i].value->text };
    }
    out->parameters = values;
    return true;
}

static bool depends_on_open(const struct node *artifacts, const struct node *artifact,
                            const bool *is_placed)
{
    const struct node *dependencies = node_get(artifact, "dependencies");
    for (size_t i = 0; dependencies != NULL && i < dependencies->count; i++) {
        for (size_t k = 0; k < artifacts->count; k++) {
            struct bytes type = node_text(artifacts->members[k].value, "type");
            if (type.data != NULL && bytes_equal_text(type, STACK_TYPE) && !is_placed[k] &&
                bytes_equal(dependencies->members[i].value->text, artifacts->members[k].name))
                return true;
        }
    }
    return false;
}

/* Places each stack behind those that it depends on; a circle ends in the document's order. */
static bool place_stacks(struct arena *arena, const struct node *artifacts,
                         struct template_cdk_stack *stacks, size_t *count,
                         struct template_error *err)
{
    bool *is_placed = arena_alloc_zeroed(arena, artifacts->count + 1);
    for (bool is_forced = false, moved = true; moved || !is_forced;) {
        is_forced = !moved;
        moved = false;
        for (size_t i = 0; i < artifacts->count; i++) {
            const struct node_member *artifact = &artifacts->members[i];
            struct bytes type = node_text(artifact->value, "type");
            if (is_placed[i] || type.data == NULL || !bytes_equal_text(type, STACK_TYPE) ||
                (!is_forced && depends_on_open(artifacts, artifact->value, is_placed)))
                continue;
            if (!read_stack(arena, artifact, &stacks[(*count)++], err))
                return false;
            is_placed[i] = moved = true;
        }
    }
    return true;
}

bool template_read_manifest(struct arena *arena, struct bytes text, struct bytes file,
                            const struct template_cdk_stack **stacks, size_t *stack_count,
                            const struct bytes **nested, size_t *nested_count,
                            struct template_error *err)
{
    *err = (struct template_error){ .file = file };
    const struct node *root = document_read(arena, text, err);
    if (root == NULL)
        return false;
    const struct node *artifacts = node_get(root, "artifacts");
    if (artifacts == NULL || artifacts->kind != NODE_MAP || artifacts->count > MANIFEST_STACKS_MAX)
        return template_error_set(arena, err, root->line, "not the manifest of a cdk.out folder");
    struct template_cdk_stack *list = arena_alloc(arena, (artifacts->count + 1) * sizeof *list);
    struct bytes *folders = arena_alloc(arena, (artifacts->count + 1) * sizeof *folders);
    *stacks = list;
    *nested = folders;
    *stack_count = *nested_count = 0;
    for (size_t i = 0; i < artifacts->count; i++) {
        const struct node *artifact = artifacts->members[i].value;
        struct bytes type = node_text(artifact, "type");
        struct bytes name = node_text(node_get(artifact, "properties"), "directoryName");
        if (type.data != NULL && bytes_equal_text(type, NESTED_TYPE) && is_safe_path(name))
            folders[(*nested_count)++] = name;
    }
    return place_stacks(arena, artifacts, list, stack_count, err);
}
