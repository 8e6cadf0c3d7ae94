/* read_page.c -- see read_page.h.
 *
 * A page ends behind the item that reaches its count or READ_PAGE_SIZE_MAX, both counted before the
 * filter, or its limit of work or time. Observed: LastEvaluatedKey then names that item, even if
 * nothing follows, unless a condition on the key makes it the last one possible.
 */
#include "read/read_page.h"
#include <assert.h>
#include "base/arena.h"
#include "expr/condition.h"
#include "expr/lookup.h"
#include "model/error.h"
#include "model/item.h"
#include "model/rendered_item.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "read/index_delay.h"
#include "read/read_source.h"
#include "table/item_address.h"
#include "table/item_range.h"
#include "table/storage_error.h"

struct read_page {
    struct read_page_request request; /* Its ranges are those that are left to read. */
    const struct read_source *source;
    struct engine_view *view;
    /* Size of the items fetched from the table by the entries of a local index. It counts towards
     * READ_PAGE_SIZE_MAX, so that many small entries do not make a huge answer. */
    size_t fetched_size;
    struct arena *scratch; /* For the address of one fetched item; NULL: nothing is fetched. */
    struct lookup lookup;  /* Serves the filter, one item after the other. */
    uint64_t shown_work;   /* The work that `show` reported. */
    uint64_t counted_work; /* The work that the clock has counted. */
    struct work_clock clock;
    bool ended;
    struct read_page_end end;
};

/* --- Items --- */

/* Reads the item whose entry this is. The view that has the entry has the item, too. */
static enum engine_status fetch_item(struct read_page *page, const struct item *entry,
                                     struct engine_value *value, struct item *item)
{
    assert(page->scratch != NULL);
    const struct table_definition *table = page->source->table;
    struct item_address place;
    struct error reason;
    arena_reset(page->scratch);
    error_init(&reason, page->scratch);
    if (!item_address_of_item(page->scratch, table, entry, &place, &reason))
        return ENGINE_CORRUPT;
    enum engine_status status = item_address_get(page->view, table, &place, value, item);
    if (status == ENGINE_OK) {
        page->fetched_size += item->size;
        page->end.fetched_units += (int64_t)((item->size + READ_UNIT_SIZE - 1) / READ_UNIT_SIZE);
    }
    return status == ENGINE_NOT_FOUND ? ENGINE_CORRUPT : status;
}

static bool passes(struct read_page *page, const struct item *item)
{
    const struct condition *filter = page->request.filter;
    if (filter == NULL)
        return true;
    lookup_next_item(&page->lookup, item);
    return condition_matches(filter, &page->lookup);
}

static void show(struct read_page *page, const struct shown_item *item)
{
    page->end.count++;
    if (page->request.show != NULL)
        page->shown_work += page->request.show(page->request.context, item);
}

/* Documented: a filter does not change what a read costs. So an item is fetched before it is
 * filtered. */
static enum engine_status take_item(struct read_page *page, const struct shown_item *entry)
{
    struct engine_value value = { 0 };
    struct shown_item fetched;
    const struct shown_item *judged = entry;
    enum engine_status status = ENGINE_OK;
    if (page->scratch != NULL) {
        fetched.rendered = (struct rendered_item){ 0 };
        status = fetch_item(page, &entry->item, &value, &fetched.item);
        judged = &fetched;
    }
    if (status == ENGINE_OK && passes(page, &judged->item))
        show(page, page->source->fetches ? judged : entry);
    engine_value_release(&value);
    return status;
}

/* Opens an entry of the scan, shows it if it passes the filter, and counts it. `out` is open or
 * rendered; it stays valid until the scan's next step. */
static enum engine_status take_entry(struct read_page *page, const struct item_range *range,
                                     const struct engine_entry *entry, bool take_rendered,
                                     struct shown_item *out)
{
    enum engine_status status = ENGINE_OK;
    bool is_rendered = take_rendered && rendered_item_read(entry->rendered, &out->rendered);
    if (is_rendered) {
        show(page, out);
    } else {
        out->rendered = (struct rendered_item){ 0 };
        status =
            item_address_open_entry(page->source->table, &range->engine.place, entry, &out->item);
        if (status == ENGINE_OK)
            status = take_item(page, out);
    }
    if (status != ENGINE_OK)
        return status;
    page->end.scanned_count++;
    page->end.size += shown_item_size(out);
    uint64_t work = page->lookup.work + page->shown_work + page->end.size + page->fetched_size;
    assert(work >= page->counted_work);
    work_clock_count(&page->clock, work - page->counted_work);
    page->counted_work = work;
    return ENGINE_OK;
}

/* --- The end of a page --- */

static bool is_full(const struct read_page *page)
{
    return page->end.scanned_count >= page->request.count_max ||
           page->end.size + page->fetched_size >= READ_PAGE_SIZE_MAX ||
           page->lookup.work + page->shown_work >= page->request.work_max ||
           page->clock.spent_ns >= READ_PAGE_NS_MAX;
}

static void note_last_key(struct read_page *page, const struct item *item)
{
    assert(!page->end.is_full);
    struct item_builder builder;
    struct value value;
    item_builder_init(&builder, page->request.arena);
    for (size_t i = 0; i < page->source->key_count; i++) {
        if (item_find(item, page->source->key_names[i], &value))
            item_builder_add(&builder, page->source->key_names[i], value.encoded);
    }
    page->end.last_key = item_builder_finish(&builder);
    page->end.is_full = true;
}

/* The page is full. `last` is the item of `entry`, the last one read. */
static enum engine_status end_behind(struct read_page *page, const struct item_range *range,
                                     const struct engine_entry *entry, struct shown_item *last)
{
    assert(!page->ended);
    enum engine_status status = ENGINE_OK;
    page->ended = true;
    if (range->end.data != NULL && bytes_equal(entry->key, range->end))
        return ENGINE_OK;
    if (last->rendered.json.data != NULL)
        status =
            item_address_open_entry(page->source->table, &range->engine.place, entry, &last->item);
    if (status == ENGINE_OK)
        note_last_key(page, &last->item);
    return status;
}

/* --- Ranges --- */

/* Removes from the ranges what was read, up to and including `key`. */
static void leave_rest(struct read_page *page, struct bytes key)
{
    assert(page->request.range_count > 0);
    struct arena *arena = page->request.arena;
    /* The key belongs to the scan, and a range that is read backwards borrows it. */
    if (!item_range_start_behind(arena, page->request.ranges, arena_copy(arena, key))) {
        page->request.ranges++;
        page->request.range_count--;
    }
}

/* ENGINE_END: the range ended before the page did. ENGINE_OK: the page has ended, or pauses. */
static enum engine_status read_entries(struct read_page *page, const struct item_range *range,
                                       struct engine_scan *scan)
{
    struct engine_entry entry;
    struct shown_item item;
    bool take_rendered =
        page->request.takes_forms && page->request.filter == NULL && page->scratch == NULL;
    for (;;) {
        enum engine_status status = engine_scan_next(scan, &entry);
        if (status == ENGINE_OK)
            status = take_entry(page, range, &entry, take_rendered, &item);
        if (status != ENGINE_OK)
            return status;
        if (is_full(page))
            return end_behind(page, range, &entry, &item);
        if (page->clock.must_pause) {
            leave_rest(page, entry.key);
            return ENGINE_OK;
        }
    }
}

static enum engine_status read_range(struct read_page *page)
{
    assert(page->end.scanned_count < page->request.count_max);
    const struct item_range range = *page->request.ranges;
    struct engine_scan *scan = NULL;
    struct engine_range limited = range.engine;
    limited.count_max = page->request.count_max - page->end.scanned_count;
    enum engine_status status = engine_scan_open(page->view, &limited, &scan);
    if (status == ENGINE_OK)
        status = read_entries(page, &range, scan);
    engine_scan_close(scan);
    return status;
}

/* Reads until the page has ended or pauses. */
static enum engine_status read_slice(struct read_page *page)
{
    assert(page->view != NULL && !page->ended);
    work_clock_start(&page->clock);
    while (page->request.range_count > 0) {
        enum engine_status status = read_range(page);
        if (status != ENGINE_END)
            return status;
        page->request.ranges++;
        page->request.range_count--;
    }
    page->ended = true;
    return ENGINE_OK;
}

/* --- The page --- */

static enum engine_status open_view(struct read_page *page)
{
    const struct read_page_request *request = &page->request;
    const struct index_definition *index = page->source->index;
    if (request->index_delay == NULL || index == NULL || !index->global)
        return engine_view_open(request->engine,
                                !request->consistent ? ENGINE_EVENTUAL
                                : index == NULL      ? ENGINE_NEWEST
                                                     : ENGINE_STRONG, /* An entry, then its item. */
                                &page->view);
    page->view = index_delay_open_view(request->index_delay);
    return ENGINE_OK;
}

struct read_page *read_page_open(const struct read_page_request *request, struct error *err)
{
    assert(request->range_count == 0 || request->ranges != NULL);
    assert(request->count_max > 0);
    assert(request->engine != NULL && request->source != NULL && request->purpose != NULL);
    struct read_page *page = arena_alloc(request->arena, sizeof *page);
    *page = (struct read_page){
        .request = *request,
        .source = request->source,
        .clock = { .is_pause_due = request->is_pause_due, .context = request->context },
    };
    if (page->request.work_max == 0)
        page->request.work_max = READ_PAGE_WORK_MAX;
    lookup_init(&page->lookup, request->arena, NULL);
    enum engine_status status = open_view(page);
    if (status != ENGINE_OK) {
        storage_error_set(err, status, request->purpose);
        return NULL;
    }
    if (page->source->fetches || page->source->filters_fetched)
        page->scratch = arena_create();
    return page;
}

void read_page_close(struct read_page *page)
{
    arena_destroy(page->scratch);
    engine_view_close(page->view);
}

enum read_page_status read_page_run(struct read_page *page, struct error *err)
{
    assert(!page->ended);
    enum engine_status status = read_slice(page);
    if (status != ENGINE_OK) {
        storage_error_set(err, status, page->request.purpose);
        return READ_PAGE_FAILED;
    }
    if (page->ended)
        return READ_PAGE_ENDED;
    page->view = engine_view_move(page->view); /* Another thread may resume the page. */
    return READ_PAGE_PAUSED;
}

const struct read_page_end *read_page_end(const struct read_page *page)
{
    return &page->end;
}
