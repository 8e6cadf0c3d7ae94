/* read_page.h -- one page of a Query or Scan: from ranges of stored items to the response.
 *
 * Items, or the entries of an index, are opened where the engine holds them, filtered and written
 * to the response one after the other, so a page takes no memory but its answer.
 *
 * A page may take longer than the thread that reads it can spare (api.h): it then pauses between
 * two items. It goes on in the same view of the store, so nobody can tell. It holds the view
 * meanwhile, which keeps old versions of items on the disk, but no iterator, which would keep
 * memory.
 */
#ifndef STATOR_API_READ_PAGE_H
#define STATOR_API_READ_PAGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "api/capacity.h"
#include "base/compiler.h"
#include "model/item.h"

struct api_call;
struct item_range;
struct json_writer;
struct read_expressions;
struct read_request;
struct read_source;
struct table;

/* A page that has cost this much ends behind the item that did, with a key to go on from: the
 * service's pages may end anywhere as well. Work is that of the filter, in the LOOKUP_WORK_... of
 * expr/lookup.h: twenty conditions on a megabyte of items of 100 bytes cost a tenth of it. */
enum { READ_PAGE_WORK_MAX = 100 * 1000 * 1000 };
/* The same for the time that was spent on a page, should that not have helped, such as with a disk
 * that is very slow. Long, since a thread of low priority on a busy machine also waits. */
#define READ_PAGE_NS_MAX (INT64_C(10) * 1000 * 1000 * 1000)

/* How a page ended. */
struct read_page_end {
    size_t count;         /* Of items that the filter let pass. */
    size_t scanned_count; /* Of items read. */
    bool is_full;         /* More may follow behind `last_key`. */
    struct item last_key; /* In the call's arena. */
    struct capacity_use use;
};

/* What to read. Everything lives in the call's arena. */
struct read_page_request {
    struct table *table; /* Held; released when the call ends. */
    const struct read_source *source;
    const struct read_request *request;
    const struct read_expressions *expressions;
    struct item_range *ranges; /* Read in their order; changed as the page goes on. */
    size_t range_count;
    /* Writes what stands behind "Items" in the answer. */
    void (*finish)(struct api_call *call, const struct read_page_request *read,
                   struct json_writer *writer, const struct read_page_end *end);
    const void *context; /* For `finish`. */
};

/* Reads until the ranges end or the page is full, and ends the call. */
void read_page_start(struct api_call *call, const struct read_page_request *read);

/* The `finish` of Query and Scan. */
void read_page_finish(struct api_call *call, const struct read_page_request *read,
                      struct json_writer *writer, const struct read_page_end *end);

#endif
