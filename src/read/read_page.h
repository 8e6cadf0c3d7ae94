/* read_page.h -- one page of a table's items or an index's entries: ranges of stored keys in, items
 * that pass a filter out.
 *
 * Items are opened where the engine holds them and handed to the caller one after the other, so
 * that a page takes no memory of its own.
 *
 * A page may take longer than its thread can spare. It then pauses between two items and resumes in
 * the same view of the store, on any thread, so that the pause cannot be seen in the result.
 * Meanwhile it holds the view, which keeps old versions of items on the disk, but no iterator,
 * which would keep memory.
 */
#ifndef STATOR_READ_READ_PAGE_H
#define STATOR_READ_READ_PAGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"
#include "model/item.h"
#include "read/work_clock.h"

struct arena;
struct condition;
struct engine;
struct error;
struct index_delay;
struct item_range;
struct read_page; /* Opaque. Lives in the arena of its request. */
struct read_source;
struct shown_item;

/* A page ends behind the item that reaches this much work, with a key to resume from: the service's
 * pages may end anywhere as well. Work is that of the filter, in the LOOKUP_WORK_... units of
 * expr/lookup.h: twenty conditions on a megabyte of items of 100 bytes cost a tenth of it. */
enum { READ_PAGE_WORK_MAX = 100 * 1000 * 1000 };
/* The same for the time spent on a page, in case the count of work misses something, such as a very
 * slow disk. Long, because a thread of low priority on a busy machine also waits for its turn. */
#define READ_PAGE_NS_MAX (INT64_C(10) * 1000 * 1000 * 1000)

/* Receives each item that passes the filter, for the time of the call. Returns the work it took, in
 * units of expr/lookup.h, apart from copying or formatting whole values. */
typedef uint64_t read_page_show(void *context, const struct shown_item *item);

/* Everything it points to must outlive the page. */
struct read_page_request {
    struct arena *arena; /* Used by one thread at a time: the one that runs the page. */
    struct engine *engine;
    struct index_delay *index_delay; /* NULL: global indexes are read as they are now. */
    const char *purpose;             /* For the log, if the engine fails: "Query". */
    const struct read_source *source;
    struct item_range *ranges; /* Read in their order; changed as the page proceeds. */
    size_t range_count;
    const struct condition *filter; /* NULL: every item passes. */
    bool consistent;
    size_t count_max;  /* Items read, before the filter; SIZE_MAX: any number. */
    uint64_t work_max; /* 0: READ_PAGE_WORK_MAX. */
    /* NULL: items that pass are only counted. */
    read_page_show *show;
    /* `show` wants whole items as JSON: it may get them rendered (model/rendered_item.h), which are
     * ready, in place of opened ones. */
    bool takes_forms;
    work_clock_pause *is_pause_due; /* NULL: the page does not pause. */
    void *context;                  /* For both. */
};

/* Opens the view that the page will read. NULL with the error set if the engine fails; otherwise
 * the caller owes a read_page_close. */
MUST_CHECK struct read_page *read_page_open(const struct read_page_request *request,
                                            struct error *err);
void read_page_close(struct read_page *page);

enum read_page_status {
    READ_PAGE_ENDED,
    READ_PAGE_PAUSED, /* Run or close it, on any thread. */
    READ_PAGE_FAILED, /* The error is set. */
};
/* Reads until the ranges end, the page is full or a pause is due. */
MUST_CHECK enum read_page_status read_page_run(struct read_page *page, struct error *err);

struct read_page_end {
    size_t count;         /* Items that passed the filter. */
    size_t scanned_count; /* Items read. */
    size_t size;          /* Of the items or entries read, as DynamoDB counts. */
    /* Read units of items fetched from the table by the entries of a local index: each rounded up,
     * for consistent reads. */
    int64_t fetched_units;
    bool is_full;         /* More may follow behind `last_key`. */
    struct item last_key; /* In the arena. */
};
/* How a page ended, or how far it is while it pauses. Lives as long as the page. */
const struct read_page_end *read_page_end(const struct read_page *page);

#endif
