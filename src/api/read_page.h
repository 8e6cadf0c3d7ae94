/* read_page.h -- one page of a Query or Scan: from ranges of stored items to the response.
 *
 * Items, or the entries of an index, are opened where the engine holds them, filtered and written
 * to the response one after the other, so a page takes no memory but its answer.
 */
#ifndef STATOR_API_READ_PAGE_H
#define STATOR_API_READ_PAGE_H
#include <stdbool.h>
#include <stddef.h>
#include "api/capacity.h"
#include "base/compiler.h"
#include "model/item.h"

struct api_call;
struct item_range;
struct json_writer;
struct read_expressions;
struct read_request;
struct read_source;

/* Reads the ranges in their order until they end or the page is full, and writes the response. */
MUST_CHECK bool read_page_answer(struct api_call *call, const struct read_source *source,
                                 const struct read_request *request,
                                 const struct read_expressions *expressions,
                                 const struct item_range *ranges, size_t range_count);

/* How a page ended. */
struct read_page_end {
    size_t count;         /* Of items that the filter let pass. */
    size_t scanned_count; /* Of items read. */
    bool is_full;         /* More may follow behind `last_key`. */
    struct item last_key; /* In the call's arena. */
    struct capacity_use use;
};
/* The same for an answer of another form: writes the "Items" member only. */
MUST_CHECK bool read_page_items(struct api_call *call, const struct read_source *source,
                                const struct read_request *request,
                                const struct read_expressions *expressions,
                                const struct item_range *ranges, size_t range_count,
                                struct json_writer *writer, struct read_page_end *end);

#endif
