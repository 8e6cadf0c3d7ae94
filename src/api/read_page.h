/* read_page.h -- one page of a Query or Scan: from ranges of stored items to the response.
 *
 * Items, or the entries of an index, are opened where the engine holds them, filtered and written
 * to the response one after the other, so a page takes no memory but its answer.
 */
#ifndef STATOR_API_READ_PAGE_H
#define STATOR_API_READ_PAGE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"

struct api_call;
struct item_range;
struct read_expressions;
struct read_request;
struct read_source;

/* Reads the ranges in their order until they end or the page is full, and writes the response. */
MUST_CHECK bool read_page_answer(struct api_call *call, const struct read_source *source,
                                 const struct read_request *request,
                                 const struct read_expressions *expressions,
                                 const struct item_range *ranges, size_t range_count);

#endif
