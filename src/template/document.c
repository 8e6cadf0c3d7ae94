/* document.c -- see document.h: the choice between JSON and YAML, and JSON. */
#include "template/document.h"
#include <assert.h>
#include "base/arena.h"
#include "json/reader.h"
#include "template/node.h"
#include "template/template_error.h"

struct json_document {
    struct arena *arena;
    struct json_reader reader;
    struct template_error *err;
    size_t nodes;
    size_t counted_to; /* Lines are counted up to this offset. */
    unsigned line;
};

static_assert((int)TEMPLATE_DEPTH_MAX <= (int)JSON_DEPTH_LIMIT, "the reader allows the depth");

bool document_count(struct arena *arena, size_t *count, size_t nodes, unsigned line,
                    struct template_error *err)
{
    *count += nodes;
    if (*count <= TEMPLATE_NODES_MAX)
        return true;
    return template_error_set(arena, err, line, "the document has more than %d values",
                              TEMPLATE_NODES_MAX);
}

bool document_add_member(struct arena *arena, struct node *map, struct bytes name, unsigned line,
                         struct node *value, struct template_error *err)
{
    if (node_get_bytes(map, name) != NULL)
        return template_error_set(arena, err, line, "the key \"%.*s\" occurs twice",
                                  BYTES_FMT(name));
    if (map->count == DOCUMENT_MEMBERS_MAX)
        return template_error_set(arena, err, line, "a map has more than %d keys",
                                  DOCUMENT_MEMBERS_MAX);
    node_add(arena, map, name, value);
    map->members[map->count - 1].line = line;
    return true;
}

/* --- JSON --- */

static unsigned line_here(struct json_document *document)
{
    size_t offset = json_offset(&document->reader);
    for (; document->counted_to < offset; document->counted_to++)
        document->line += document->reader.start[document->counted_to] == '\n';
    return document->line;
}

static struct node *read_value(struct json_document *document);

static bool read_members(struct json_document *document, struct node *map)
{
    struct bytes name;
    json_enter_object(&document->reader);
    while (json_next_member(&document->reader, &name)) {
        unsigned line = line_here(document);
        struct node *value = read_value(document);
        if (value == NULL ||
            !document_add_member(document->arena, map, name, line, value, document->err))
            return false;
    }
    return !json_failed(&document->reader);
}

static bool read_elements(struct json_document *document, struct node *list)
{
    json_enter_array(&document->reader);
    while (json_next_element(&document->reader)) {
        struct node *value = read_value(document);
        if (value == NULL)
            return false;
        node_append(document->arena, list, value);
    }
    return !json_failed(&document->reader);
}

/* NULL: `err` is set, or the reader has failed. Recursion is bounded by the reader's depth. */
static struct node *read_value(struct json_document *document)
{
    static const enum node_kind kinds[] = {
        [JSON_INVALID] = NODE_NULL,  [JSON_NULL] = NODE_NULL,     [JSON_BOOL] = NODE_BOOL,
        [JSON_NUMBER] = NODE_NUMBER, [JSON_STRING] = NODE_STRING, [JSON_OBJECT] = NODE_MAP,
        [JSON_ARRAY] = NODE_LIST,
    };
    struct json_reader *reader = &document->reader;
    enum json_type type = json_peek(reader);
    unsigned line = line_here(document);
    if (!document_count(document->arena, &document->nodes, 1, line, document->err))
        return NULL;
    struct node *node = node_create(document->arena, kinds[type], line);
    bool ok = false, truth = false;
    switch (type) {
    case JSON_INVALID:
        break;
    case JSON_NULL:
        ok = json_read_null(reader);
        break;
    case JSON_BOOL:
        ok = json_read_bool(reader, &truth);
        node->text = truth ? BYTES("true") : BYTES("false");
        break;
    case JSON_NUMBER:
        ok = json_read_number(reader, &node->text);
        break;
    case JSON_STRING:
        ok = json_read_string(reader, &node->text);
        break;
    case JSON_OBJECT:
        ok = read_members(document, node);
        break;
    case JSON_ARRAY:
        ok = read_elements(document, node);
        break;
    }
    return ok ? node : NULL;
}

static struct node *read_json(struct arena *arena, struct bytes text, struct template_error *err)
{
    struct json_document document = { .arena = arena, .err = err, .line = 1 };
    json_reader_init(&document.reader, arena, text, TEMPLATE_DEPTH_MAX);
    struct node *root = read_value(&document);
    if (root != NULL && json_finish(&document.reader))
        return root;
    template_error_set(arena, err, line_here(&document), "not valid JSON: %s",
                       json_failed(&document.reader) ? document.reader.failure
                                                     : "more text follows");
    return NULL;
}

bool document_is_number(struct bytes text)
{
    size_t at = 0, digits;
    if (at < text.len && text.data[at] == '-')
        at++;
    bool is_zero = at < text.len && text.data[at] == '0';
    for (digits = 0; at < text.len && text.data[at] >= '0' && text.data[at] <= '9'; digits++)
        at++;
    if (digits == 0 || (is_zero && digits > 1))
        return false;
    if (at < text.len && text.data[at] == '.') {
        for (at++, digits = 0; at < text.len && text.data[at] >= '0' && text.data[at] <= '9'; at++)
            digits++;
        if (digits == 0)
            return false;
    }
    if (at < text.len && (text.data[at] == 'e' || text.data[at] == 'E')) {
        at++;
        if (at < text.len && (text.data[at] == '+' || text.data[at] == '-'))
            at++;
        for (digits = 0; at < text.len && text.data[at] >= '0' && text.data[at] <= '9'; at++)
            digits++;
        if (digits == 0)
            return false;
    }
    return at == text.len;
}

struct node *document_read(struct arena *arena, struct bytes text, struct template_error *err)
{
    if (text.len > TEMPLATE_SIZE_MAX) {
        template_error_set(arena, err, 0, "the file is larger than %d bytes", TEMPLATE_SIZE_MAX);
        return NULL;
    }
    if (bytes_starts_with(text, BYTES("\xEF\xBB\xBF")))
        text = bytes_of(text.data + 3, text.len - 3);
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '{' || text.data[i] == '[')
            return read_json(arena, text, err);
        if (strchr(" \t\r\n", text.data[i]) == NULL || text.data[i] == '\0')
            return yaml_reader_read(arena, text, err);
    }
    template_error_set(arena, err, 0, "the file is empty");
    return NULL;
}
