/* path_list.h -- the paths that a projection shows or an update changes. Private to the parsers. */
#ifndef STATOR_EXPR_PATH_LIST_H
#define STATOR_EXPR_PATH_LIST_H
#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"
#include "expr/ast.h"

struct arena;
struct node;
struct parser;

struct path_list {
    struct arena *arena;
    struct node **nodes; /* In the order of the text. */
    size_t count;
    size_t capacity;
    struct path *paths; /* Set by path_list_resolve. */
};

void path_list_init(struct path_list *list, struct arena *arena);
void path_list_add(struct path_list *list, struct node *node);
/* Pass 3: resolves the #names and refuses paths that overlap or conflict, the last path first. */
MUST_CHECK bool path_list_resolve(struct parser *parser, struct path_list *list);

#endif
