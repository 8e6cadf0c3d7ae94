/* yaml_reader.c -- YAML as nodes, from libyaml's events. See document.h; the one user of libyaml.
 *
 * Bombs are refused without being expanded: an alias adds the size and the height of what its
 * anchor names to those of the document. An anchor is known once its value is complete, so that an
 * alias cannot contain itself. Tag directives are counted before libyaml sees them.
 */
#include <assert.h>
#include <yaml.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "template/document.h"
#include "template/node.h"
#include "template/template_error.h"

struct anchor {
    struct bytes name;
    struct node *node;
    size_t nodes;    /* Below and including it, aliases expanded. */
    size_t text;     /* Bytes of names and scalars, aliases expanded. */
    unsigned height; /* Levels below it. */
};

struct yaml_document {
    struct arena *arena;
    struct template_error *err;
    yaml_parser_t parser;
    struct anchor anchors[TEMPLATE_ANCHORS_MAX];
    size_t anchor_count;
    size_t nodes;
    size_t text;       /* As in struct anchor, of what has been read so far. */
    size_t alias_text; /* The part of it that aliases stand for. */
};

/* What had been counted before a value was read. */
struct counts {
    size_t nodes, text;
};

/* What has been read, beside the node. */
struct reading {
    struct node *node;
    unsigned height;
};

static const struct {
    const char *tag;
    const char *function;
} short_tags[] = {
    { "!Ref", "Ref" },
    { "!Condition", "Condition" },
    { "!GetAtt", "Fn::GetAtt" },
    { "!Sub", "Fn::Sub" },
    { "!Join", "Fn::Join" },
    { "!Select", "Fn::Select" },
    { "!Split", "Fn::Split" },
    { "!If", "Fn::If" },
    { "!Equals", "Fn::Equals" },
    { "!And", "Fn::And" },
    { "!Or", "Fn::Or" },
    { "!Not", "Fn::Not" },
    { "!FindInMap", "Fn::FindInMap" },
    { "!ImportValue", "Fn::ImportValue" },
    { "!Base64", "Fn::Base64" },
    { "!Cidr", "Fn::Cidr" },
    { "!GetAZs", "Fn::GetAZs" },
    { "!Length", "Fn::Length" },
    { "!ToJsonString", "Fn::ToJsonString" },
    { "!Transform", "Fn::Transform" },
};

static unsigned line_of(const yaml_event_t *event)
{
    return (unsigned)event->start_mark.line + 1;
}

static bool next_event(struct yaml_document *document, yaml_event_t *event)
{
    if (yaml_parser_parse(&document->parser, event) != 0)
        return true;
    const yaml_parser_t *parser = &document->parser;
    return template_error_set(document->arena, document->err,
                              (unsigned)parser->problem_mark.line + 1, "not valid YAML: %s",
                              parser->problem != NULL ? parser->problem : "cannot be read");
}

/* --- Tags and scalars --- */

/* The function that a short tag means; NULL with `*ok` true: none. */
static const char *function_of(struct yaml_document *document, const yaml_char_t *tag,
                               unsigned line, bool *ok)
{
    static const char *const plain_tags[] = {
        "!",           YAML_STR_TAG, YAML_INT_TAG, YAML_FLOAT_TAG,     YAML_BOOL_TAG,
        YAML_NULL_TAG, YAML_MAP_TAG, YAML_SEQ_TAG, YAML_TIMESTAMP_TAG,
    };
    *ok = true;
    if (tag == NULL)
        return NULL;
    for (size_t i = 0; i < COUNT_OF(plain_tags); i++) {
        if (strcmp((const char *)tag, plain_tags[i]) == 0)
            return NULL;
    }
    for (size_t i = 0; i < COUNT_OF(short_tags); i++) {
        if (strcmp((const char *)tag, short_tags[i].tag) == 0)
            return short_tags[i].function;
    }
    *ok = template_error_set(document->arena, document->err, line,
                             "the tag %.100s is not supported", (const char *)tag);
    return NULL;
}

static bool is_one_of(struct bytes text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes_equal_text(text, words[i]))
            return true;
    }
    return false;
}

static struct node *make_scalar(struct yaml_document *document, const yaml_event_t *event)
{
    static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };
    static const char *const truths[] = { "true", "True", "TRUE" };
    static const char *const falsehoods[] = { "false", "False", "FALSE" };
    struct bytes text =
        arena_copy(document->arena, bytes_of(event->data.scalar.value, event->data.scalar.length));
    struct node *node = node_string(document->arena, text, line_of(event));
    const char *tag = (const char *)event->data.scalar.tag;
    if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE ||
        (tag != NULL && (strcmp(tag, YAML_STR_TAG) == 0 || strcmp(tag, "!") == 0)))
        return node;
    if (is_one_of(text, nulls, COUNT_OF(nulls))) {
        node->kind = NODE_NULL;
        node->text = (struct bytes){ 0 };
    } else if (is_one_of(text, truths, COUNT_OF(truths))) {
        node->kind = NODE_BOOL;
        node->text = BYTES("true");
    } else if (is_one_of(text, falsehoods, COUNT_OF(falsehoods))) {
        node->kind = NODE_BOOL;
        node->text = BYTES("false");
    } else if (document_is_number(text)) {
        node->kind = NODE_NUMBER;
    }
    return node;
}

/* {FUNCTION: value}. `!GetAtt a.b` names a list, as in JSON; other scalars stay text. */
static struct node *wrap_function(struct yaml_document *document, const char *function,
                                  struct node *value)
{
    struct arena *arena = document->arena;
    struct node *map = node_create(arena, NODE_MAP, value->line);
    const uint8_t *dot = value->kind == NODE_STRING && strcmp(function, "Fn::GetAtt") == 0
                             ? memchr(value->text.data, '.', value->text.len)
                             : NULL;
    if (dot != NULL) {
        struct node *list = node_create(arena, NODE_LIST, value->line);
        size_t first = (size_t)(dot - value->text.data);
        node_append(arena, list,
                    node_string(arena, bytes_of(value->text.data, first), value->line));
        node_append(
            arena, list,
            node_string(arena, bytes_of(dot + 1, value->text.len - first - 1), value->line));
        value = list;
    }
    node_set(arena, map, function, value);
    return map;
}

/* --- Anchors --- */

static bool remember(struct yaml_document *document, struct bytes name, struct counts before,
                     const struct reading *reading)
{
    if (name.data == NULL)
        return true;
    if (document->anchor_count == TEMPLATE_ANCHORS_MAX)
        return template_error_set(document->arena, document->err, reading->node->line,
                                  "the document has more than %d anchors", TEMPLATE_ANCHORS_MAX);
    document->anchors[document->anchor_count++] =
        (struct anchor){ name, reading->node, document->nodes - before.nodes,
                         document->text - before.text, reading->height };
    return true;
}

static bool follow_alias(struct yaml_document *document, const yaml_event_t *event, unsigned depth,
                         struct reading *out)
{
    const char *name = (const char *)event->data.alias.anchor;
    unsigned line = line_of(event);
    for (size_t i = document->anchor_count; i > 0; i--) { /* The latest of a name counts. */
        const struct anchor *anchor = &document->anchors[i - 1];
        if (!bytes_equal_text(anchor->name, name))
            continue;
        *out = (struct reading){ anchor->node, anchor->height };
        if (depth + anchor->height > TEMPLATE_DEPTH_MAX)
            return template_error_set(document->arena, document->err, line,
                                      "the document is nested deeper than %d levels",
                                      TEMPLATE_DEPTH_MAX);
        document->text += anchor->text;
        document->alias_text += anchor->text;
        if (document->alias_text > TEMPLATE_TEXT_MAX)
            return template_error_set(document->arena, document->err, line,
                                      "the aliases of the document stand for more than %d bytes "
                                      "of text",
                                      TEMPLATE_TEXT_MAX);
        return document_count(document->arena, &document->nodes, anchor->nodes, line,
                              document->err);
    }
    return template_error_set(document->arena, document->err, line,
                              "the alias *%.100s has no complete anchor before it", name);
}

/* --- Containers --- */

static bool read_event(struct yaml_document *document, const yaml_event_t *event, unsigned depth,
                       struct reading *out);

static bool read_next(struct yaml_document *document, unsigned depth, struct reading *out)
{
    yaml_event_t event;
    if (!next_event(document, &event))
        return false;
    bool ok = read_event(document, &event, depth, out);
    yaml_event_delete(&event);
    return ok;
}

/* `<<: *other`: the members of other maps that this one does not have itself. */
static bool merge(struct yaml_document *document, struct node *map, const struct node *value,
                  bool is_nested)
{
    if (value->kind == NODE_LIST && !is_nested) {
        for (size_t i = 0; i < value->count; i++) {
            if (!merge(document, map, value->members[i].value, true))
                return false;
        }
        return true;
    }
    if (value->kind != NODE_MAP)
        return template_error_set(document->arena, document->err, value->line,
                                  "<< needs a map or a list of maps");
    for (size_t i = 0; i < value->count; i++) {
        const struct node_member *member = &value->members[i];
        if (node_get_bytes(map, member->name) == NULL &&
            !document_add_member(document->arena, map, member->name, member->line, member->value,
                                 document->err))
            return false;
    }
    return true;
}

static bool read_key(struct yaml_document *document, const yaml_event_t *event, struct bytes *key)
{
    const yaml_char_t *tag = event->type == YAML_SCALAR_EVENT ? event->data.scalar.tag : NULL;
    if (event->type == YAML_SCALAR_EVENT && (tag == NULL || strcmp((const char *)tag, "!") == 0 ||
                                             strcmp((const char *)tag, YAML_STR_TAG) == 0)) {
        *key = arena_copy(document->arena,
                          bytes_of(event->data.scalar.value, event->data.scalar.length));
        document->text += key->len;
        return true;
    }
    return template_error_set(document->arena, document->err, line_of(event),
                              "a key of a map must be plain text");
}

static bool read_members(struct yaml_document *document, struct node *map, unsigned depth,
                         unsigned *height)
{
    const struct node *merged[TEMPLATE_DEPTH_MAX];
    size_t merged_count = 0;
    for (;;) {
        yaml_event_t event;
        struct reading value = { 0 };
        struct bytes key = { 0 };
        if (!next_event(document, &event))
            return false;
        unsigned line = line_of(&event);
        bool is_end = event.type == YAML_MAPPING_END_EVENT;
        bool is_merge = event.type == YAML_SCALAR_EVENT &&
                        event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
                        strcmp((const char *)event.data.scalar.value, "<<") == 0;
        bool ok = is_end || read_key(document, &event, &key);
        yaml_event_delete(&event);
        if (!ok)
            return false;
        if (is_end)
            break;
        if (!read_next(document, depth, &value))
            return false;
        if (value.height + 1 > *height)
            *height = value.height + 1;
        if (is_merge && merged_count == COUNT_OF(merged))
            return template_error_set(document->arena, document->err, line, "too many << keys");
        if (is_merge)
            merged[merged_count++] = value.node;
        else if (!document_add_member(document->arena, map, key, line, value.node, document->err))
            return false;
    }
    for (size_t i = 0; i < merged_count; i++) {
        if (!merge(document, map, merged[i], false))
            return false;
    }
    return true;
}

static bool read_elements(struct yaml_document *document, struct node *list, unsigned depth,
                          unsigned *height)
{
    for (;;) {
        yaml_event_t event;
        struct reading value;
        if (!next_event(document, &event))
            return false;
        bool is_end = event.type == YAML_SEQUENCE_END_EVENT;
        bool ok = is_end || read_event(document, &event, depth, &value);
        yaml_event_delete(&event);
        if (!ok || is_end)
            return ok;
        if (value.height + 1 > *height)
            *height = value.height + 1;
        node_append(document->arena, list, value.node);
    }
}

/* Reads the value that `event` begins. Recursion is bounded by TEMPLATE_DEPTH_MAX. */
static bool read_event(struct yaml_document *document, const yaml_event_t *event, unsigned depth,
                       struct reading *out)
{
    const struct counts before = { document->nodes, document->text };
    unsigned line = line_of(event);
    const yaml_char_t *anchor = NULL, *tag = NULL;
    bool ok = true;
    if (event->type == YAML_ALIAS_EVENT)
        return follow_alias(document, event, depth, out);
    if (depth == TEMPLATE_DEPTH_MAX && event->type != YAML_SCALAR_EVENT)
        return template_error_set(document->arena, document->err, line,
                                  "the document is nested deeper than %d levels",
                                  TEMPLATE_DEPTH_MAX);
    /* Two: a short tag puts a map around the value. */
    if (!document_count(document->arena, &document->nodes, 2, line, document->err))
        return false;
    *out = (struct reading){ 0 };
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        out->node = make_scalar(document, event);
        document->text += out->node->text.len;
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
        out->node = node_create(document->arena, NODE_LIST, line);
        ok = read_elements(document, out->node, depth + 1, &out->height);
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
        out->node = node_create(document->arena, NODE_MAP, line);
        ok = read_members(document, out->node, depth + 1, &out->height);
        break;
    default:
        return template_error_set(document->arena, document->err, line,
                                  "not valid YAML: a value is missing");
    }
    const char *function = ok ? function_of(document, tag, line, &ok) : NULL;
    if (!ok)
        return false;
    if (function != NULL) {
        out->node = wrap_function(document, function, out->node);
        out->height++;
    }
    struct bytes name = anchor == NULL
                            ? (struct bytes){ 0 }
                            : arena_copy(document->arena, bytes_from_text((const char *)anchor));
    return remember(document, name, before, out);
}

/* --- The document --- */

/* libyaml compares each directive with all before it, so that a megabyte of them takes it a minute.
 * They are counted wherever they are: a template has no other use for the word. */
static bool has_few_directives(struct yaml_document *document, struct bytes text)
{
    static const struct bytes word = BYTES("%TAG");
    size_t count = 0;
    for (struct bytes rest = text;;) {
        const uint8_t *found = memmem(rest.data, rest.len, word.data, word.len);
        if (found == NULL)
            return true;
        if (++count > TEMPLATE_TAG_DIRECTIVES_MAX)
            return template_error_set(document->arena, document->err, 0,
                                      "the document has more than %d %%TAG directives",
                                      TEMPLATE_TAG_DIRECTIVES_MAX);
        size_t skipped = (size_t)(found - rest.data) + word.len;
        rest = bytes_of(rest.data + skipped, rest.len - skipped);
    }
}

static bool expect(struct yaml_document *document, yaml_event_type_t type, const char *otherwise)
{
    yaml_event_t event;
    if (!next_event(document, &event))
        return false;
    bool ok = event.type == type;
    unsigned line = line_of(&event);
    yaml_event_delete(&event);
    return ok || template_error_set(document->arena, document->err, line, "%s", otherwise);
}

struct node *yaml_reader_read(struct arena *arena, struct bytes text, struct template_error *err)
{
    struct yaml_document *document = arena_alloc(arena, sizeof *document);
    struct reading root = { 0 };
    *document = (struct yaml_document){ .arena = arena, .err = err };
    if (!has_few_directives(document, text))
        return NULL;
    if (yaml_parser_initialize(&document->parser) == 0) {
        template_error_set(arena, err, 0, "no memory for YAML");
        return NULL;
    }
    yaml_parser_set_encoding(&document->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&document->parser, text.data, text.len);
    bool ok = expect(document, YAML_STREAM_START_EVENT, "not valid YAML") &&
              expect(document, YAML_DOCUMENT_START_EVENT, "the file is empty") &&
              read_next(document, 0, &root) &&
              expect(document, YAML_DOCUMENT_END_EVENT, "not valid YAML") &&
              expect(document, YAML_STREAM_END_EVENT, "the file has more than one document");
    yaml_parser_delete(&document->parser);
    assert(ok == (err->message.data == NULL));
    return ok ? root.node : NULL;
}
