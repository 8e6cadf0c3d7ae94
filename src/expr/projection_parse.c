/* projection_parse.c -- a list of document paths, none of which meets another.
 *
 * The service looks at the paths from the last to the first, so of several faults the last one in
 * the text is reported.
 */
#include "expr/projection_parse.h"
#include "base/arena.h"
#include "expr/params.h"
#include "expr/parser.h"
#include "expr/path_list.h"

static bool parse_paths(struct parser *parser, struct path_list *list)
{
    for (;;) {
        struct node *node = parser_path(parser);
        if (node == NULL)
            return false;
        path_list_add(list, node);
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
    struct path_list list;
    if (!parser_init(&parser, arena, text, "ProjectionExpression", EXPRESSION_PROJECTION, params,
                     err))
        return NULL;
    path_list_init(&list, arena);
    if (!parse_paths(&parser, &list) || !parser_check_faults(&parser) ||
        !path_list_resolve(&parser, &list))
        return NULL;
    for (size_t i = 0; i < list.count; i++) {
        if (list.paths[i].step_count > 1)
            expr_params_add_nested(params, arena, list.paths[i].steps[0].name);
    }
    struct projection *projection = arena_alloc(arena, sizeof *projection);
    *projection = (struct projection){ .paths = list.paths, .path_count = list.count };
    return projection;
}
