/* properties.c -- see properties.h. The texts are those of CloudFormation's schema validation. */
#include "template/properties.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "template/document.h"
#include "template/evaluation.h"

enum { NUMBER_SIZE_MAX = 64, LIST_COUNT_MAX = 200 };

struct check {
    struct evaluation *evaluation;
    const struct template_resource *resource;
};

static struct node *refuse(const struct check *check, const struct node *node, struct bytes path,
                           const char *message)
{
    template_error_set(check->evaluation->arena, check->evaluation->err,
                       node->line != 0 ? node->line : check->resource->line,
                       "Properties validation failed for resource %.*s with message: #%.*s: %s",
                       BYTES_FMT(check->resource->logical_id), BYTES_FMT(path), message);
    return NULL;
}

static struct node *refuse_type(const struct check *check, const struct node *node,
                                struct bytes path, const char *expected)
{
    static const char *const found[] = {
        [NODE_NULL] = "Null",     [NODE_BOOL] = "Boolean",   [NODE_NUMBER] = "Number",
        [NODE_STRING] = "String", [NODE_LIST] = "JSONArray", [NODE_MAP] = "JSONObject",
    };
    struct bytes text = arena_printf(check->evaluation->arena, "expected type: %s, found: %s%c",
                                     expected, found[node->kind], 0);
    return refuse(check, node, path, (const char *)text.data);
}

/* --- Scalars --- */

/* True if the value is real. Otherwise the error is set, or the value is to be left out. */
static bool check_reality(const struct check *check, const struct property *property,
                          const struct node *node, struct bytes path)
{
    struct arena *arena = check->evaluation->arena;
    if (node->pending.data != NULL) {
        struct bytes text = arena_printf(arena, "%.*s is not known before it is created%c",
                                         BYTES_FMT(node->pending), 0);
        refuse(check, node, path, (const char *)text.data);
        return false;
    }
    if (node->foreign.data == NULL)
        return true;
    if ((property->flags & PROPERTY_DROPPABLE) != 0) {
        evaluation_notice(check->evaluation, check->resource->logical_id, node->line,
                          arena_printf(arena,
                                       "%s is left out: it depends on %.*s, a resource of another "
                                       "service",
                                       property->name, BYTES_FMT(node->foreign)));
        return false;
    }
    struct bytes text =
        arena_printf(arena, "depends on %.*s, a resource of another service, which is skipped%c",
                     BYTES_FMT(node->foreign), 0);
    refuse(check, node, path, (const char *)text.data);
    return false;
}

static bool parse_number(struct bytes text, double *out)
{
    char copy[NUMBER_SIZE_MAX], *end;
    if (text.len == 0 || text.len >= sizeof copy || !document_is_number(text))
        return false;
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    *out = strtod(copy, &end);
    return *end == '\0';
}

static struct node *check_number(const struct check *check, const struct node *node,
                                 struct bytes path, bool is_integer)
{
    double value;
    if ((node->kind != NODE_NUMBER && node->kind != NODE_STRING) ||
        !parse_number(node->text, &value))
        return refuse_type(check, node, path, is_integer ? "Integer" : "Number");
    if (is_integer) {
        if (!(value >= -9e15 && value <= 9e15) || (double)(int64_t)value != value)
            return refuse_type(check, node, path, "Integer");
        struct node *out = node_number(check->evaluation->arena, (int64_t)value);
        out->line = node->line;
        return out;
    }
    struct node *out = node_create(check->evaluation->arena, NODE_NUMBER, node->line);
    out->text = node->text;
    return out;
}

static struct node *check_bool(const struct check *check, const struct node *node,
                               struct bytes path)
{
    static const struct {
        const char *text;
        bool value;
    } words[] = { { "true", true }, { "false", false }, { "yes", true },
                  { "no", false },  { "on", true },     { "off", false } };
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (node_is_scalar(node) && node->text.len == strlen(words[i].text) &&
            strncasecmp((const char *)node->text.data, words[i].text, node->text.len) == 0)
            return node_bool(check->evaluation->arena, words[i].value);
    }
    return refuse_type(check, node, path, "Boolean");
}

static struct node *check_text(const struct check *check, const struct node *node,
                               struct bytes path)
{
    if (!node_is_scalar(node))
        return refuse_type(check, node, path, "String");
    return node_string(check->evaluation->arena, node->text, node->line);
}

static struct node *check_texts(const struct check *check, const struct property *property,
                                const struct node *node, struct bytes path)
{
    struct node *list = node_create(check->evaluation->arena, NODE_LIST, node->line);
    if (node->kind != NODE_LIST)
        return refuse_type(check, node, path, "JSONArray");
    for (size_t i = 0; i < node->count; i++) {
        const struct node *element = node->members[i].value;
        if (check_reality(check, property, element, path)) {
            struct node *text = check_text(check, element, path);
            if (text == NULL)
                return NULL;
            node_append(check->evaluation->arena, list, text);
        } else if (check->evaluation->err->message.data != NULL) {
            return NULL;
        }
    }
    return list;
}

/* A document such as a policy: an object, or its JSON as text. */
static struct node *check_json(const struct check *check, const struct node *node,
                               struct bytes path)
{
    struct template_error err = { 0 };
    const struct node *unreal = node_find_foreign(node);
    if (unreal == NULL)
        unreal = node_find_pending(node);
    static const struct property strict = { .name = "" };
    if (unreal != NULL && !check_reality(check, &strict, unreal, path))
        return NULL;
    if (node->kind == NODE_STRING) {
        struct node *parsed = document_read(check->evaluation->arena, node->text, &err);
        if (parsed != NULL && parsed->kind == NODE_MAP)
            return evaluation_count_tree(check->evaluation, parsed, node->line) ? parsed : NULL;
    }
    if (node->kind != NODE_MAP)
        return refuse_type(check, node, path, "JSONObject");
    return node_copy_level(check->evaluation->arena, node);
}

/* --- Containers --- */

static struct node *check_map(const struct check *check, const struct property_shape *shape,
                              const struct node *node, struct bytes path);

static struct node *check_list(const struct check *check, const struct property_shape *shape,
                               const struct node *node, struct bytes path)
{
    struct arena *arena = check->evaluation->arena;
    struct node *list = node_create(arena, NODE_LIST, node->line);
    if (node->kind != NODE_LIST)
        return refuse_type(check, node, path, "JSONArray");
    if (node->count > LIST_COUNT_MAX)
        return refuse(check, node, path, "the list is too long");
    for (size_t i = 0; i < node->count; i++) {
        struct node *element = check_map(check, shape, node->members[i].value,
                                         arena_printf(arena, "%.*s/%zu", BYTES_FMT(path), i));
        if (element == NULL)
            return NULL;
        node_append(arena, list, element);
    }
    return list;
}

static struct node *check_property(const struct check *check, const struct property *property,
                                   const struct node *node, struct bytes path)
{
    switch (property->kind) {
    case PROPERTY_TEXT:
        return check_text(check, node, path);
    case PROPERTY_INTEGER:
        return check_number(check, node, path, true);
    case PROPERTY_NUMBER:
        return check_number(check, node, path, false);
    case PROPERTY_BOOL:
        return check_bool(check, node, path);
    case PROPERTY_TEXTS:
        return check_texts(check, property, node, path);
    case PROPERTY_MAP:
        return check_map(check, property->shape, node, path);
    case PROPERTY_LIST:
        return check_list(check, property->shape, node, path);
    case PROPERTY_JSON:
        return check_json(check, node, path);
    case PROPERTY_ANY:
        return node_copy_level(check->evaluation->arena, node);
    }
    return NULL;
}

static const struct property *find_property(const struct property_shape *shape, struct bytes name)
{
    for (size_t i = 0; i < shape->count; i++) {
        if (bytes_equal_text(name, shape->properties[i].name))
            return &shape->properties[i];
    }
    return NULL;
}

static bool check_required(const struct check *check, const struct property_shape *shape,
                           const struct node *node, struct bytes path)
{
    for (size_t i = 0; i < shape->count; i++) {
        const struct property *property = &shape->properties[i];
        if ((property->flags & PROPERTY_REQUIRED) == 0 || node_get(node, property->name) != NULL)
            continue;
        struct bytes text = arena_printf(check->evaluation->arena, "required key [%s] not found%c",
                                         property->name, 0);
        refuse(check, node, path, (const char *)text.data);
        return false;
    }
    return true;
}

static struct node *check_map(const struct check *check, const struct property_shape *shape,
                              const struct node *node, struct bytes path)
{
    struct arena *arena = check->evaluation->arena;
    if (node->kind != NODE_MAP)
        return refuse_type(check, node, path, "JSONObject");
    struct node *out = node_create(arena, NODE_MAP, node->line);
    for (size_t i = 0; i < node->count; i++) {
        const struct node_member *member = &node->members[i];
        const struct property *property = find_property(shape, member->name);
        if (property == NULL) {
            struct bytes text = arena_printf(arena, "extraneous key [%.*s] is not permitted%c",
                                             BYTES_FMT(member->name), 0);
            return refuse(check, member->value, path, (const char *)text.data);
        }
        if (member->value->kind == NODE_NULL)
            continue;
        struct bytes inner = arena_printf(arena, "%.*s/%s", BYTES_FMT(path), property->name);
        if (property->kind != PROPERTY_ANY &&
            !check_reality(check, property, member->value, inner)) {
            if (check->evaluation->err->message.data != NULL)
                return NULL;
            continue;
        }
        struct node *value = check_property(check, property, member->value, inner);
        if (value == NULL)
            return NULL;
        node_set(arena, out, property->name, value);
    }
    return check_required(check, shape, out, path) ? out : NULL;
}

struct node *properties_check(struct evaluation *evaluation,
                              const struct template_resource *resource,
                              const struct property_shape *shape)
{
    const struct check check = { evaluation, resource };
    return check_map(&check, shape, resource->properties, BYTES(""));
}
