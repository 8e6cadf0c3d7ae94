/* path_list.c -- see path_list.h. */
#include "expr/path_list.h"
#include <assert.h>
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

/* Names the two that the service names: the last path that is not disjoint from a later one, and
 * the first of those. Every pair is compared, but only for a request that is refused. */
static bool report_pair(struct parser *parser, const struct path *paths, size_t count)
{
    struct bytes message = BYTES("");
    for (size_t i = count; i-- > 0;) {
        for (size_t later = i + 1; later < count; later++) {
            if (!operand_rules_check_disjoint(parser->arena, &paths[i], &paths[later], &message))
                return parser_fail_bytes(parser, message);
        }
    }
    assert(false); /* There is such a pair. */
    return false;
}

bool path_list_resolve(struct parser *parser, struct path_list *list)
{
    size_t first = list->count; /* Resolved from here on. */
    bool ok = true;
    struct bytes message;
    list->paths = arena_alloc(list->arena, list->count * sizeof *list->paths);
    while (first > 0 && ok) {
        ok = parser_resolve_path(parser, list->nodes[first - 1], &list->paths[first - 1]);
        first -= ok;
    }
    /* Paths behind one that cannot be resolved are judged before it. */
    const struct path *resolved = list->paths + first;
    size_t count = list->count - first;
    if (!operand_rules_check_all_disjoint(list->arena, resolved, count, &message))
        return report_pair(parser, resolved, count);
    return ok;
}
