/* read_expressions.h -- the expressions of Query and Scan, or their older forms, compiled.
 *
 * One place for the rules that tie these parameters together, in the service's order. Those that
 * need the table come last.
 */
#ifndef STATOR_API_ITEM_READ_EXPRESSIONS_H
#define STATOR_API_ITEM_READ_EXPRESSIONS_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "expr/params.h"

struct api_call;
struct condition;
struct key_condition;
struct path_node;
struct projection_column;
struct query_request;
struct read_request;

struct read_expressions {
    const struct condition *filter;     /* NULL: none. */
    const struct path_node *projection; /* NULL: whole items. */
    /* PartiQL: how the projection is shown; `projection` says then which attributes it needs. */
    const struct projection_column *columns;
    size_t column_count;                       /* 0: as it is. */
    const struct key_condition *key_condition; /* Query; NULL: none was given. */
    bool count_only;
    struct expr_params params;
};

/* The rules that come before any expression is looked at. `query` is NULL for a Scan. What `out`
 * holds lives in the call's arena and borrows the request. */
MUST_CHECK bool read_expressions_check(struct api_call *call, const struct read_request *request,
                                       const struct query_request *query,
                                       struct read_expressions *out);
/* Then the expressions themselves. */
MUST_CHECK bool read_expressions_compile(struct api_call *call, const struct read_request *request,
                                         const struct query_request *query,
                                         struct read_expressions *out);

/* Refuses a filter that is on a key attribute, which only a Scan may have. `key_names` are those of
 * what is queried. */
MUST_CHECK bool read_expressions_check_filter(struct api_call *call,
                                              const struct read_request *request,
                                              const struct read_expressions *expressions,
                                              const struct bytes *key_names, size_t key_count);

#endif
