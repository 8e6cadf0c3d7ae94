/* json_tree.c -- see json_tree.h. Nothing recurses: nodes know their parents. */
#include "schema/json_tree.h"
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "json/writer.h"

enum { INDENT = 2 };

/* --- Nodes --- */

struct json_node *json_tree_new(struct arena *arena, enum json_type type)
{
    struct json_node *node = arena_alloc_zeroed(arena, sizeof *node);
    node->type = type;
    return node;
}

struct json_node *json_tree_new_string(struct arena *arena, struct bytes text)
{
    struct json_node *node = json_tree_new(arena, JSON_STRING);
    node->text = text;
    return node;
}

void json_tree_add(struct json_node *parent, struct bytes name, struct json_node *child)
{
    assert((parent->type == JSON_OBJECT && name.data != NULL) || parent->type == JSON_ARRAY);
    assert(child->parent == NULL && child->next == NULL);
    child->name = parent->type == JSON_OBJECT ? name : (struct bytes){ 0 };
    child->parent = parent;
    if (parent->last == NULL)
        parent->first = child;
    else
        parent->last->next = child;
    parent->last = child;
    parent->count++;
}

void json_tree_add_text(struct arena *arena, struct json_node *object, const char *name,
                        struct bytes text)
{
    json_tree_add(object, bytes_from_text(name), json_tree_new_string(arena, text));
}

void json_tree_replace(struct json_node *node, const struct json_node *value)
{
    assert(value->parent == NULL);
    struct json_node changed = *value;
    changed.name = node->name;
    changed.parent = node->parent;
    changed.next = node->next;
    *node = changed;
    for (struct json_node *child = node->first; child != NULL; child = child->next)
        child->parent = node;
}

void json_tree_set(struct arena *arena, struct json_node *object, const char *name,
                   struct json_node *value, const char *after)
{
    struct json_node *member = json_tree_member(object, name);
    if (member != NULL) {
        json_tree_replace(member, value);
        return;
    }
    struct json_node *before = after == NULL ? NULL : json_tree_member(object, after);
    struct json_node *copy = json_tree_new(arena, value->type);
    json_tree_replace(copy, value);
    if (before == NULL || before->next == NULL) {
        json_tree_add(object, bytes_from_text(name), copy);
        return;
    }
    copy->name = bytes_from_text(name);
    copy->parent = object;
    copy->next = before->next;
    before->next = copy;
    object->count++;
}

struct json_node *json_tree_member_bytes(const struct json_node *object, struct bytes name)
{
    struct json_node *found = NULL;
    if (object == NULL || object->type != JSON_OBJECT)
        return NULL;
    for (struct json_node *child = object->first; child != NULL; child = child->next) {
        if (bytes_equal(child->name, name))
            found = child;
    }
    return found;
}

struct json_node *json_tree_member(const struct json_node *object, const char *name)
{
    return json_tree_member_bytes(object, bytes_from_text(name));
}

struct bytes json_tree_string(const struct json_node *object, const char *name)
{
    const struct json_node *member = json_tree_member(object, name);
    return member != NULL && member->type == JSON_STRING ? member->text : (struct bytes){ 0 };
}

const struct json_node *json_tree_next(const struct json_node *node, const struct json_node *root)
{
    if (node->first != NULL)
        return node->first;
    while (node != root && node->next == NULL)
        node = node->parent;
    return node == root ? NULL : node->next;
}

struct json_node *json_tree_copy(struct arena *arena, const struct json_node *root)
{
    struct json_node *copy = NULL, *parent = NULL;
    const struct json_node *at = root;
    while (at != NULL) {
        struct json_node *node = json_tree_new(arena, at->type);
        node->boolean = at->boolean;
        node->text = at->text;
        if (parent == NULL)
            copy = node;
        else
            json_tree_add(parent, at->name, node);
        if (at->first != NULL) {
            parent = node;
            at = at->first;
            continue;
        }
        while (at != root && at->next == NULL) {
            at = at->parent;
            parent = parent == NULL ? NULL : parent->parent;
        }
        at = at == root ? NULL : at->next;
    }
    return copy;
}

struct bytes json_tree_path(struct arena *arena, const struct json_node *node)
{
    const struct json_node *chain[JSON_TREE_DEPTH_MAX + 1];
    size_t count = 0;
    struct buffer out;
    buffer_init(&out, arena);
    for (; node->parent != NULL && count < JSON_TREE_DEPTH_MAX; node = node->parent)
        chain[count++] = node;
    while (count-- > 0) {
        const struct json_node *at = chain[count];
        if (at->name.data != NULL) {
            if (out.len > 0)
                buffer_append_byte(&out, '.');
            buffer_append_bytes(&out, at->name);
            continue;
        }
        size_t position = 0;
        for (const struct json_node *other = at->parent->first; other != at; other = other->next)
            position++;
        buffer_append_bytes(&out, arena_printf(arena, "[%zu]", position));
    }
    return out.len == 0 ? BYTES("the file") : buffer_bytes(&out);
}

bool json_tree_equal(const struct json_node *a, const struct json_node *b)
{
    const struct json_node *root_a = a, *root_b = b;
    while (a != NULL && b != NULL) {
        if (a->type != b->type || a->boolean != b->boolean || a->count != b->count ||
            !bytes_equal(a->text, b->text) ||
            (a != root_a && b != root_b && !bytes_equal(a->name, b->name)))
            return false;
        a = json_tree_next(a, root_a);
        b = json_tree_next(b, root_b);
    }
    return a == NULL && b == NULL;
}

/* --- Reading --- */

static struct json_node *read_node(struct json_reader *reader, struct arena *arena)
{
    struct json_node *node = json_tree_new(arena, json_peek(reader));
    bool ok = false;
    switch (node->type) {
    case JSON_NULL:
        ok = json_read_null(reader);
        break;
    case JSON_BOOL:
        ok = json_read_bool(reader, &node->boolean);
        break;
    case JSON_NUMBER:
        ok = json_read_number(reader, &node->text);
        break;
    case JSON_STRING:
        ok = json_read_string(reader, &node->text);
        break;
    case JSON_OBJECT:
        ok = json_enter_object(reader);
        break;
    case JSON_ARRAY:
        ok = json_enter_array(reader);
        break;
    case JSON_INVALID:
        break;
    }
    return ok ? node : NULL;
}

static bool is_container(const struct json_node *node)
{
    return node->type == JSON_OBJECT || node->type == JSON_ARRAY;
}

struct json_node *json_tree_parse(struct arena *arena, struct bytes text, struct bytes *failure)
{
    struct json_reader reader;
    size_t count = 1;
    json_reader_init(&reader, arena, text, JSON_TREE_DEPTH_MAX);
    struct json_node *root = read_node(&reader, arena);
    struct json_node *open = root != NULL && is_container(root) ? root : NULL;
    while (open != NULL && !json_failed(&reader)) {
        struct bytes name = { 0 };
        if (open->type == JSON_OBJECT ? !json_next_member(&reader, &name)
                                      : !json_next_element(&reader)) {
            open = open->parent;
            continue;
        }
        struct json_node *node = read_node(&reader, arena);
        if (node == NULL)
            break;
        json_tree_add(open, name, node);
        if (++count > JSON_TREE_NODES_MAX) {
            *failure = arena_printf(arena, "it has more than %d values", JSON_TREE_NODES_MAX);
            return NULL;
        }
        if (is_container(node))
            open = node;
    }
    if (root != NULL && json_finish(&reader))
        return root;
    *failure =
        arena_printf(arena, "it is not JSON: %s, at byte %zu",
                     reader.failure == NULL ? "no value" : reader.failure, json_offset(&reader));
    return NULL;
}

/* --- Writing --- */

static void write_scalar(struct json_writer *writer, const struct json_node *node)
{
    switch (node->type) {
    case JSON_NULL:
        json_write_null(writer);
        break;
    case JSON_BOOL:
        json_write_bool(writer, node->boolean);
        break;
    case JSON_NUMBER:
        json_write_raw(writer, node->text);
        break;
    default:
        assert(node->type == JSON_STRING);
        json_write_string(writer, node->text);
        break;
    }
}

static void open_container(struct json_writer *writer, const struct json_node *node)
{
    if (node->type == JSON_OBJECT)
        json_open_object(writer);
    else
        json_open_array(writer);
}

static void close_container(struct json_writer *writer, const struct json_node *node)
{
    if (node->type == JSON_OBJECT)
        json_close_object(writer);
    else
        json_close_array(writer);
}

void json_tree_write_compact(struct json_writer *writer, const struct json_node *root)
{
    const struct json_node *at = root;
    while (at != NULL) {
        if (at != root && at->name.data != NULL)
            json_write_name_bytes(writer, at->name);
        if (is_container(at)) {
            open_container(writer, at);
            if (at->first != NULL) {
                at = at->first;
                continue;
            }
            close_container(writer, at);
        } else {
            write_scalar(writer, at);
        }
        while (at != root && at->next == NULL) {
            at = at->parent;
            close_container(writer, at);
        }
        at = at == root ? NULL : at->next;
    }
}

struct bytes json_tree_text(struct arena *arena, const struct json_node *root)
{
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, arena);
    json_writer_init(&writer, &out);
    json_tree_write_compact(&writer, root);
    return buffer_bytes(&out);
}

static void write_line(struct buffer *out, size_t depth)
{
    buffer_append_byte(out, '\n');
    for (size_t i = 0; i < depth * INDENT; i++)
        buffer_append_byte(out, ' ');
}

/* One value without commas: the writer is used for its escapes only. */
static void write_value(struct buffer *out, const struct json_node *node)
{
    struct json_writer writer;
    json_writer_init(&writer, out);
    write_scalar(&writer, node);
}

static void write_name(struct buffer *out, struct bytes name)
{
    struct json_writer writer;
    json_writer_init(&writer, out);
    json_write_string(&writer, name);
    buffer_append_bytes(out, BYTES(": "));
}

void json_tree_write(struct buffer *out, const struct json_node *root)
{
    const struct json_node *at = root;
    size_t depth = 0;
    while (at != NULL) {
        if (at != root && at->name.data != NULL)
            write_name(out, at->name);
        if (!is_container(at)) {
            write_value(out, at);
        } else {
            buffer_append_byte(out, at->type == JSON_OBJECT ? '{' : '[');
            if (at->first != NULL) {
                write_line(out, ++depth);
                at = at->first;
                continue;
            }
            buffer_append_byte(out, at->type == JSON_OBJECT ? '}' : ']');
        }
        while (at != root && at->next == NULL) {
            at = at->parent;
            write_line(out, --depth);
            buffer_append_byte(out, at->type == JSON_OBJECT ? '}' : ']');
        }
        if (at == root)
            break;
        buffer_append_byte(out, ',');
        write_line(out, depth);
        at = at->next;
    }
    buffer_append_byte(out, '\n');
}
