/* item_page.h -- a page of items as the answer of a call: what Query, Scan and PartiQL's SELECT
 * share.
 *
 * read/read_page.h reads; this module writes the items to the response, pauses the call where the
 * page pauses, and ends it.
 */
#ifndef STATOR_API_ITEM_ITEM_PAGE_H
#define STATOR_API_ITEM_ITEM_PAGE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "expr/params.h"

struct api_call;
struct condition;
struct item_range;
struct key_condition;
struct path_node;
struct projection_column;
struct json_writer;
struct read_page_end;
struct read_request;
struct read_source;
struct table;

/* What Query and Scan compile from their expressions, or the older forms of those. */
struct read_expressions {
    const struct condition *filter;     /* NULL: none. */
    const struct path_node *projection; /* NULL: whole items. */
    /* PartiQL: how the attributes of `projection` are shown. */
    const struct projection_column *columns;
    size_t column_count;                       /* 0: `projection` is shown as it is. */
    const struct key_condition *key_condition; /* Query; NULL: none was given. */
    bool count_only;
    struct expr_params params;
};

/* The index of `table` that the request names, or the table itself. `table` is NULL if there is
 * none of that name: the error is set then, too. */
MUST_CHECK bool item_page_find_source(struct api_call *call, const struct read_request *request,
                                      const struct table *table, struct read_source *out);
/* Refuses to show attributes that an index does not have and cannot fetch. */
MUST_CHECK bool item_page_check_attributes(struct api_call *call, struct read_source *source,
                                           const struct read_request *request,
                                           const struct read_expressions *expressions);

/* Everything lives in the call's arena. */
struct item_page_request {
    const struct read_source *source;
    const struct read_request *request;
    const struct read_expressions *expressions;
    struct item_range *ranges; /* Read in their order; changed as the page proceeds. */
    size_t range_count;
    bool is_query; /* Each range is of one partition key. */
    /* Writes the members of the answer behind "Items". */
    void (*finish)(struct api_call *call, const struct item_page_request *request,
                   struct json_writer *writer, const struct read_page_end *end);
    const void *context; /* For `finish`. */
};

/* Reads, answers and ends the call. ExplainStatement answers with the plan instead, and reads
 * nothing. */
void item_page_start(struct api_call *call, const struct item_page_request *request);

/* The `finish` of Query and Scan. */
void item_page_finish(struct api_call *call, const struct item_page_request *request,
                      struct json_writer *writer, const struct read_page_end *end);

#endif
