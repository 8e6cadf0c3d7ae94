/* path_list.c -- see path_list.h. */
#include "expr/path_list.h"
#include "base/arena.h"
#include "expr/parser.h"

enum { CAPACITY_MIN = 8 };

void path_list_init(struct path_list *list, struct arena *arena)
{
    *list = (struct path_list){ .arena = arena };
}

void path_list_add(struct path_list *list, struct node *node)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? CAPACITY_MIN : list->capacity * 2;
        list->nodes = arena_grow(list->arena, list->nodes, list->capacity * sizeof *list->nodes,
                                 capacity * sizeof *list->nodes);
        list->capacity = capacity;
    }
    list->nodes[list->count++] = node;
}

/* Every pair is compared. PARSER_TEXT_SIZE_MAX leaves room for some 1300 different paths at most,
 * and nearly all pairs differ in their first step. */
static bool check_pair(struct parser *parser, const struct path *one, const struct path *two)
{
    struct bytes message;
    return operand_rules_check_disjoint(parser->arena, one, two, &message) ||
           parser_fail_bytes(parser, message);
}

bool path_list_resolve(struct parser *parser, struct path_list *list)
{
    list->paths = arena_alloc(list->arena, list->count * sizeof *list->paths);
    for (size_t i = list->count; i-- > 0;) {
        if (!parser_resolve_path(parser, list->nodes[i], &list->paths[i]))
            return false;
        for (size_t later = i + 1; later < list->count; later++) {
            if (!check_pair(parser, &list->paths[i], &list->paths[later]))
                return false;
        }
    }
    return true;
}
