/* projection.c -- see projection.h.
 *
 * The service looks at the paths from the last to the first, so of several faults the last one in
 * the text is reported.
 *
 * A container is written before it is known whether any of its named parts exists; if none does,
 * the text is taken back.
 */
#include "expr/projection.h"
#include <assert.h>
#include "base/arena.h"
#include "expr/ast.h"
#include "expr/lookup.h"
#include "expr/params.h"
#include "expr/parser.h"
#include "expr/path.h"
#include "json/writer.h"
#include "model/item.h"
#include "model/value.h"
#include "model/value_json.h"

/* --- Parsing --- */

static bool parse_paths(struct parser *parser, struct parser_paths *list)
{
    for (;;) {
        struct node *node = parser_path(parser);
        if (node == NULL)
            return false;
        parser_paths_add(list, node);
        if (parser->token.type != TOKEN_COMMA)
            break;
        parser_advance(parser);
    }
    return parser->token.type == TOKEN_END || parser_syntax_error(parser);
}

const struct projection *projection_parse(struct arena *arena, struct bytes text,
                                          struct expr_params *params, struct error *err)
{
    struct parser parser;
    struct parser_paths list;
    if (!parser_init(&parser, arena, text, "ProjectionExpression", EXPRESSION_PROJECTION, params,
                     err))
        return NULL;
    parser_paths_init(&list, arena);
    if (!parse_paths(&parser, &list) || !parser_check_faults(&parser) ||
        !parser_paths_resolve(&parser, &list))
        return NULL;
    for (size_t i = 0; i < list.count; i++) {
        if (list.paths[i].step_count > 1)
            expr_params_add_nested(params, arena, list.paths[i].steps[0].name);
    }
    struct projection *projection = arena_alloc(arena, sizeof *projection);
    *projection = (struct projection){ .paths = list.paths, .path_count = list.count };
    return projection;
}

/* --- Writing --- */

/* The state of the writer to restore in order to undo. */
struct bookmark {
    size_t len;
    bool needs_comma;
};

static struct bookmark bookmark(const struct json_writer *writer)
{
    return (struct bookmark){ .len = writer->out->len, .needs_comma = writer->needs_comma };
}

static void take_back(struct json_writer *writer, struct bookmark mark)
{
    writer->out->len = mark.len;
    writer->needs_comma = mark.needs_comma;
}

static bool write_node(struct json_writer *writer, const struct path_node *node,
                       const struct value *value);

static const struct path_node whole = { .is_end = true };

/* Writes the members of an item or a map that the node's children name; false if there are none.
 * Both are sorted, so one merge finds all: a request may have as many names as an item has
 * attributes. */
static bool write_members(struct json_writer *writer, const struct path_node *node,
                          struct bytes members)
{
    bool any = false;
    struct bytes name;
    struct value member;
    size_t next = 0, end = node->child_count;
    while (next < end && members.len > 0 && value_open_member(&members, &name, &member)) {
        int order = 1;
        for (; next < end; next++) {
            order = value_compare_names(path_node_child_name(node, next), name);
            if (order >= 0)
                break;
        }
        if (next == end || order != 0)
            continue;
        const struct path_node *child = node->names != NULL ? &whole : &node->children[next];
        struct bookmark mark = bookmark(writer);
        next++;
        json_write_name_bytes(writer, name);
        if (write_node(writer, child, &member))
            any = true;
        else
            take_back(writer, mark);
    }
    return any;
}

static bool write_elements(struct json_writer *writer, const struct path_node *node,
                           const struct value *list)
{
    bool any = false;
    struct value_iter iter;
    struct value element;
    uint32_t index = 0;
    size_t next = 0;
    value_iter_init(&iter, list);
    while (next < node->child_count && value_iter_next(&iter, NULL, &element)) {
        if (index++ != node->children[next].step.index)
            continue;
        if (write_node(writer, &node->children[next++], &element))
            any = true;
    }
    return any;
}

/* Writes the value, or the parts of it that the node leads to. False, with nothing written, if
 * there are none. */
static bool write_node(struct json_writer *writer, const struct path_node *node,
                       const struct value *value)
{
    bool list = path_node_has_index_children(node);
    if (node->is_end) {
        value_json_write(writer, value);
        return true;
    }
    if (value->type != (list ? VALUE_L : VALUE_M))
        return false;
    struct bookmark mark = bookmark(writer);
    bool any;
    json_open_object(writer);
    json_write_name(writer, list ? "L" : "M");
    if (list) {
        json_open_array(writer);
        any = write_elements(writer, node, value);
        json_close_array(writer);
    } else {
        json_open_object(writer);
        any = write_members(writer, node, value->data);
        json_close_object(writer);
    }
    json_close_object(writer);
    if (!any)
        take_back(writer, mark);
    return any;
}

void projection_write(struct json_writer *writer, const struct path_node *root,
                      const struct item *item)
{
    assert(root->is_end == false);
    json_open_object(writer);
    write_members(writer, root, item->attributes);
    json_close_object(writer);
}

void projection_write_columns(struct json_writer *writer, const struct projection_column *columns,
                              size_t count, struct lookup *lookup)
{
    assert(count > 0 && lookup->item != NULL);
    json_open_object(writer);
    for (size_t i = 0; i < count; i++) {
        struct value value;
        if (!lookup_path(lookup, &columns[i].path, &value))
            continue;
        json_write_name_bytes(writer, columns[i].name);
        value_json_write(writer, &value);
    }
    json_close_object(writer);
}
