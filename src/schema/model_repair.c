/* model_repair.c -- see model_repair.h.
 *
 * Functions recurse to the depth of the tree, which is bounded by JSON_TREE_DEPTH_MAX. A node is
 * judged at most once for each of its ancestors. */
#include "schema/model_repair.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "model/value.h"
#include "schema/json_tree.h"
#include "schema/model_file.h"

static bool are_texts(const struct json_node *array)
{
    for (const struct json_node *node = array->first; node != NULL; node = node->next) {
        if (node->type != JSON_STRING)
            return false;
    }
    return array->count > 0;
}

/* Of a set of numbers, some of which are not written as texts. */
static bool are_numbers(const struct json_node *node)
{
    if (node->type != JSON_ARRAY)
        return false;
    for (const struct json_node *at = node->first; at != NULL; at = at->next) {
        if (at->type != JSON_STRING && at->type != JSON_NUMBER)
            return false;
    }
    return node->count > 0;
}

static bool are_values(const struct json_node *container)
{
    for (const struct json_node *node = container->first; node != NULL; node = node->next) {
        if (!model_repair_is_value(node))
            return false;
    }
    return true;
}

/* The type that the only member of an object names. */
static bool find_type(const struct json_node *node, enum value_type *type)
{
    return node->type == JSON_OBJECT && node->count == 1 &&
           value_type_parse(node->first->name, type);
}

bool model_repair_is_value(const struct json_node *node)
{
    enum value_type type;
    if (!find_type(node, &type))
        return false;
    const struct json_node *content = node->first;
    switch (type) {
    case VALUE_S:
    case VALUE_N:
    case VALUE_B:
        return content->type == JSON_STRING;
    case VALUE_BOOL:
        return content->type == JSON_BOOL;
    case VALUE_NULL:
        return content->type == JSON_BOOL && content->boolean;
    case VALUE_L:
        return content->type == JSON_ARRAY && are_values(content);
    case VALUE_M:
        return content->type == JSON_OBJECT && are_values(content);
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        return content->type == JSON_ARRAY && are_texts(content);
    case VALUE_TYPE_COUNT:
        break;
    }
    return false;
}

/* Puts `content`, which is in no tree, into {"TYPE": content}. */
static void wrap(struct arena *arena, struct json_node *node, const char *type,
                 struct json_node *content)
{
    struct json_node *object = json_tree_new(arena, JSON_OBJECT);
    json_tree_add(object, bytes_from_text(type), content);
    json_tree_replace(node, object);
}

static struct json_node *new_true(struct arena *arena)
{
    struct json_node *node = json_tree_new(arena, JSON_BOOL);
    node->boolean = true;
    return node;
}

static void repair(struct arena *arena, struct json_node *node, bool *unwrapped);

static void repair_all(struct arena *arena, struct json_node *container, bool *unwrapped)
{
    for (struct json_node *child = container->first; child != NULL; child = child->next) {
        if (!model_repair_is_value(child))
            repair(arena, child, unwrapped);
    }
}

/* A copy of the node, outside any tree, with the same children. */
static struct json_node *detach(struct arena *arena, const struct json_node *node)
{
    struct json_node *copy = json_tree_new(arena, node->type);
    struct json_node source = *node;
    source.parent = NULL;
    json_tree_replace(copy, &source);
    copy->name = (struct bytes){ 0 };
    copy->next = NULL;
    return copy;
}

/* Plain JSON as the value of its type. */
static void marshal(struct arena *arena, struct json_node *node, bool *unwrapped)
{
    struct json_node *content = detach(arena, node);
    switch (node->type) {
    case JSON_STRING:
        wrap(arena, node, "S", content);
        break;
    case JSON_NUMBER:
        content->type = JSON_STRING;
        wrap(arena, node, "N", content);
        break;
    case JSON_BOOL:
        wrap(arena, node, "BOOL", content);
        break;
    case JSON_ARRAY:
        repair_all(arena, content, unwrapped);
        wrap(arena, node, "L", content);
        break;
    case JSON_OBJECT:
        repair_all(arena, content, unwrapped);
        wrap(arena, node, "M", content);
        break;
    default:
        wrap(arena, node, "NULL", new_true(arena));
        break;
    }
}

/* The node is no value. */
static void repair(struct arena *arena, struct json_node *node, bool *unwrapped)
{
    enum value_type type;
    struct json_node *content = node->first;
    if (!find_type(node, &type)) {
        marshal(arena, node, unwrapped);
    } else if (type == VALUE_M && model_repair_is_value(content)) {
        *unwrapped = true;
        json_tree_replace(node, detach(arena, content));
    } else if ((type == VALUE_M && content->type == JSON_OBJECT) ||
               (type == VALUE_L && content->type == JSON_ARRAY)) {
        repair_all(arena, content, unwrapped);
    } else if (type == VALUE_N && content->type == JSON_NUMBER) {
        content->type = JSON_STRING;
    } else if (type == VALUE_NS && are_numbers(content)) {
        for (struct json_node *number = content->first; number != NULL; number = number->next)
            number->type = JSON_STRING;
    } else {
        marshal(arena, node, unwrapped);
    }
}

void model_repair_value(struct arena *arena, struct json_node *node, struct model_report *report)
{
    bool unwrapped = false;
    if (model_repair_is_value(node))
        return;
    repair(arena, node, &unwrapped); /* The node keeps its place. */
    model_report_add_at(arena, report, node,
                        unwrapped ? BYTES("a map was wrapped twice: the outer wrapper is dropped")
                                  : BYTES("plain JSON is read as a DynamoDB value"));
}
