/* node.c -- see node.h. Recursion here is bounded by the depth of trees, which reading and
 * evaluation bound. */
#include "template/node.h"
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "json/writer.h"

enum {
    CAPACITY_FIRST = 4,
    UNORDERED_MAX = 200,  /* Longer lists are compared in order. */
    NUMBER_TEXT_MAX = 64, /* Longer numbers are compared as text. */
};

struct node *node_create(struct arena *arena, enum node_kind kind, unsigned line)
{
    struct node *node = arena_alloc_zeroed(arena, sizeof *node);
    node->kind = kind;
    node->line = line;
    return node;
}

struct node *node_string(struct arena *arena, struct bytes text, unsigned line)
{
    struct node *node = node_create(arena, NODE_STRING, line);
    assert(text.data != NULL);
    node->text = text;
    return node;
}

struct node *node_number(struct arena *arena, int64_t value)
{
    struct node *node = node_create(arena, NODE_NUMBER, 0);
    node->text = arena_printf(arena, "%lld", (long long)value);
    return node;
}

struct node *node_bool(struct arena *arena, bool value)
{
    struct node *node = node_create(arena, NODE_BOOL, 0);
    node->text = value ? BYTES("true") : BYTES("false");
    return node;
}

/* --- Building --- */

static void append(struct arena *arena, struct node *container, struct node_member member)
{
    if (container->count == container->capacity) {
        size_t capacity = container->capacity == 0 ? CAPACITY_FIRST : container->capacity * 2;
        container->members =
            arena_grow(arena, container->members, container->capacity * sizeof *container->members,
                       capacity * sizeof *container->members);
        container->capacity = capacity;
    }
    container->members[container->count++] = member;
}

void node_add(struct arena *arena, struct node *container, struct bytes name, struct node *value)
{
    assert(container->kind == (name.data == NULL ? NODE_LIST : NODE_MAP));
    assert(value != NULL);
    if (name.data != NULL) {
        for (size_t i = 0; i < container->count; i++) {
            if (bytes_equal(container->members[i].name, name)) {
                container->members[i].value = value;
                return;
            }
        }
    }
    append(arena, container, (struct node_member){ name, value->line, value });
}

void node_set(struct arena *arena, struct node *map, const char *name, struct node *value)
{
    node_add(arena, map, bytes_from_text(name), value);
}

void node_append(struct arena *arena, struct node *list, struct node *value)
{
    node_add(arena, list, (struct bytes){ 0 }, value);
}

void node_remove(struct node *map, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < map->count; i++) {
        if (!bytes_equal_text(map->members[i].name, name))
            map->members[kept++] = map->members[i];
    }
    map->count = kept;
}

/* --- Looking up --- */

struct node *node_get_bytes(const struct node *map, struct bytes name)
{
    if (map == NULL || map->kind != NODE_MAP)
        return NULL;
    for (size_t i = 0; i < map->count; i++) {
        if (bytes_equal(map->members[i].name, name))
            return map->members[i].value;
    }
    return NULL;
}

struct node *node_get(const struct node *map, const char *name)
{
    return node_get_bytes(map, bytes_from_text(name));
}

struct node *node_find(const struct node *list, const char *name, struct bytes value)
{
    if (list == NULL || list->kind != NODE_LIST)
        return NULL;
    for (size_t i = 0; i < list->count; i++) {
        struct bytes text = node_text(list->members[i].value, name);
        if (text.data != NULL && bytes_equal(text, value))
            return list->members[i].value;
    }
    return NULL;
}

bool node_is_scalar(const struct node *node)
{
    return node != NULL &&
           (node->kind == NODE_STRING || node->kind == NODE_NUMBER || node->kind == NODE_BOOL);
}

struct bytes node_text(const struct node *map, const char *name)
{
    const struct node *member = node_get(map, name);
    return node_is_scalar(member) ? member->text : (struct bytes){ 0 };
}

bool node_integer(const struct node *map, const char *name, int64_t *out)
{
    struct bytes text = node_text(map, name);
    char copy[NUMBER_TEXT_MAX], *end;
    if (text.data == NULL || text.len == 0 || text.len >= sizeof copy)
        return false;
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    /* A number may be written as 5.0, as YAML and Terraform do. */
    double value = strtod(copy, &end);
    if (*end != '\0' || !(value >= -9e15 && value <= 9e15) || (double)(int64_t)value != value)
        return false;
    *out = (int64_t)value;
    return true;
}

bool node_is_true(const struct node *map, const char *name)
{
    struct bytes text = node_text(map, name);
    return text.data != NULL && bytes_equal_text(text, "true");
}

/* --- Comparing --- */

static bool number_of(struct bytes text, double *out)
{
    char copy[NUMBER_TEXT_MAX], *end;
    if (text.len == 0 || text.len >= sizeof copy)
        return false;
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    *out = strtod(copy, &end);
    return *end == '\0';
}

static bool scalars_equal(const struct node *a, const struct node *b)
{
    double left, right;
    if (a->kind == NODE_NUMBER && number_of(a->text, &left) && number_of(b->text, &right))
        return left == right;
    return bytes_equal(a->text, b->text);
}

bool node_equal(const struct node *a, const struct node *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    if (a->kind != b->kind || a->count != b->count)
        return false;
    if (a->kind != NODE_LIST && a->kind != NODE_MAP)
        return scalars_equal(a, b);
    for (size_t i = 0; i < a->count; i++) {
        const struct node *other =
            a->kind == NODE_LIST ? b->members[i].value : node_get_bytes(b, a->members[i].name);
        if (!node_equal(a->members[i].value, other))
            return false;
    }
    return true;
}

bool node_equal_unordered(const struct node *a, const struct node *b)
{
    if (a == NULL || b == NULL || a->kind != NODE_LIST || b->kind != NODE_LIST)
        return node_equal(a, b);
    if (a->count != b->count)
        return false;
    if (a->count > UNORDERED_MAX)
        return node_equal(a, b);
    for (size_t i = 0; i < a->count; i++) {
        size_t here = 0, there = 0;
        for (size_t k = 0; k < a->count; k++) {
            here += node_equal(a->members[i].value, a->members[k].value);
            there += node_equal(a->members[i].value, b->members[k].value);
        }
        if (here != there)
            return false;
    }
    return true;
}

bool node_is_part(const struct node *part, const struct node *whole)
{
    if (part == NULL)
        return true;
    if (whole == NULL)
        return part->kind == NODE_LIST && part->count == 0;
    if (part->kind != whole->kind)
        return false;
    if (part->kind == NODE_LIST) {
        if (part->count != whole->count)
            return false;
        for (size_t i = 0; i < part->count; i++) {
            if (!node_is_part(part->members[i].value, whole->members[i].value))
                return false;
        }
        return true;
    }
    if (part->kind != NODE_MAP)
        return scalars_equal(part, whole);
    for (size_t i = 0; i < part->count; i++) {
        if (!node_is_part(part->members[i].value, node_get_bytes(whole, part->members[i].name)))
            return false;
    }
    return true;
}

/* --- Copying and writing --- */

struct node *node_copy_level(struct arena *arena, const struct node *node)
{
    struct node *copy = node_create(arena, node->kind, node->line);
    *copy = *node;
    if (node->count > 0) {
        copy->members = arena_alloc(arena, node->count * sizeof *node->members);
        memcpy(copy->members, node->members, node->count * sizeof *node->members);
    }
    copy->capacity = node->count;
    return copy;
}

struct node *node_copy(struct arena *arena, const struct node *node)
{
    struct node *copy = node_copy_level(arena, node);
    for (size_t i = 0; i < copy->count; i++)
        copy->members[i].value = node_copy(arena, copy->members[i].value);
    return copy;
}

void node_write(struct json_writer *writer, const struct node *node)
{
    switch (node->kind) {
    case NODE_NULL:
        json_write_null(writer);
        return;
    case NODE_BOOL:
        json_write_bool(writer, bytes_equal_text(node->text, "true"));
        return;
    case NODE_NUMBER:
        json_write_raw(writer, node->text);
        return;
    case NODE_STRING:
        json_write_string(writer, node->text);
        return;
    case NODE_LIST:
        json_open_array(writer);
        for (size_t i = 0; i < node->count; i++)
            node_write(writer, node->members[i].value);
        json_close_array(writer);
        return;
    case NODE_MAP:
        json_open_object(writer);
        for (size_t i = 0; i < node->count; i++) {
            json_write_name_bytes(writer, node->members[i].name);
            node_write(writer, node->members[i].value);
        }
        json_close_object(writer);
        return;
    }
}

struct bytes node_json(struct arena *arena, const struct node *node)
{
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, arena);
    json_writer_init(&writer, &out);
    node_write(&writer, node);
    return buffer_bytes(&out);
}

const struct node *node_find_foreign(const struct node *node)
{
    if (node == NULL || node->foreign.data != NULL)
        return node;
    for (size_t i = 0; i < node->count; i++) {
        const struct node *found = node_find_foreign(node->members[i].value);
        if (found != NULL)
            return found;
    }
    return NULL;
}

const struct node *node_find_pending(const struct node *node)
{
    if (node == NULL || node->pending.data != NULL)
        return node;
    for (size_t i = 0; i < node->count; i++) {
        const struct node *found = node_find_pending(node->members[i].value);
        if (found != NULL)
            return found;
    }
    return NULL;
}
