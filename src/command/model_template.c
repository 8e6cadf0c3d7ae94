/* model_template.c -- see model_template.h. */
#include "command/model_template.h"
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "command/answer.h"
#include "schema/json_tree.h"
#include "template/template.h"

static enum model_template_result fail(struct arena *arena, const struct template_error *err)
{
    fprintf(stderr, "stator: %.*s\n",
            BYTES_FMT(answer_clean(arena, template_error_text(arena, err))));
    return MODEL_TEMPLATE_WRONG;
}

/* Adds the CreateTable request of a table, with its time to live, which is a request of its own. */
static void add_table(struct arena *arena, const struct template_resource *resource,
                      struct json_node *tables)
{
    struct json_node *table = NULL;
    struct bytes failure;
    for (size_t i = 0; i < resource->request_count; i++) {
        const struct template_request *request = &resource->requests[i];
        struct json_node *body = json_tree_parse(arena, request->body, &failure);
        if (strcmp(request->operation, "CreateTable") == 0) {
            table = body;
        } else if (strcmp(request->operation, "UpdateTimeToLive") == 0 && table != NULL) {
            const struct json_node *ttl = json_tree_member(body, "TimeToLiveSpecification");
            if (ttl != NULL)
                json_tree_set(arena, table, "TimeToLiveSpecification", json_tree_copy(arena, ttl),
                              "");
        }
    }
    if (table != NULL)
        json_tree_add(tables, (struct bytes){ 0 }, table);
}

enum model_template_result model_template_convert(struct arena *arena, struct bytes text,
                                                  const char *name, struct bytes *out)
{
    struct template_error err;
    const struct template_environment environment = { 0 };
    struct template *template = template_parse(arena, text, bytes_from_text(name), &err);
    if (template == NULL || (template_format(template) != TEMPLATE_CLOUDFORMATION &&
                             template_format(template) != TEMPLATE_TERRAFORM))
        return MODEL_TEMPLATE_NONE;
    const struct template_result *result = template_evaluate(arena, template, &environment, &err);
    if (result == NULL)
        return fail(arena, &err);
    struct json_node *root = json_tree_new(arena, JSON_OBJECT);
    struct json_node *tables = json_tree_new(arena, JSON_ARRAY);
    json_tree_add(root, BYTES("tables"), tables);
    for (size_t i = 0; i < result->resource_count; i++) {
        if (result->resources[i].kind == TEMPLATE_KIND_TABLE)
            add_table(arena, &result->resources[i], tables);
    }
    if (tables->count == 0) {
        err = (struct template_error){ .file = bytes_from_text(name),
                                       .message = BYTES("the template has no tables") };
        return fail(arena, &err);
    }
    *out = json_tree_text(arena, root);
    return MODEL_TEMPLATE_CONVERTED;
}
