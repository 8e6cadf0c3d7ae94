/* read_page.c -- see read_page.h.
 *
 * A page ends behind the item that reaches Limit or READ_PAGE_SIZE_MAX, both counted before the
 * filter, or that uses up what the page may cost. Observed: LastEvaluatedKey then tells where, even
 * if nothing follows; only a key that a condition makes the last one possible needs no going on.
 */
#include "api/read_page.h"
#include "api/capacity.h"
#include "api/index_delay.h"
#include "api/operation.h"
#include "api/item/read_expressions.h"
#include "api/item/read_shapes.h"
#include "api/read_source.h"
#include "api/work_clock.h"
#include "base/arena.h"
#include "expr/condition.h"
#include "expr/lookup.h"
#include "expr/projection.h"
#include "json/writer.h"
#include "model/item.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "model/value_json.h"
#include "table/catalogue.h"
#include "table/item_address.h"
#include "table/item_range.h"
#include "table/storage_error.h"

struct page {
    struct api_call *call;
    struct read_page_request read;
    const struct read_source *source;
    const struct read_expressions *expressions;
    struct engine_view *view;
    bool consistent;
    struct json_writer writer;
    size_t count_max; /* Of items read. */
    size_t count;     /* That the filter let pass. */
    size_t scanned_count;
    size_t size; /* Of items or entries read. */
    /* Items fetched from the table by the entries of a local index. They count towards the largest
     * page, so that many small entries do not make a huge answer. */
    size_t fetched_size;
    int64_t fetched_half_units;
    struct arena *scratch; /* For the place of one item at a time; NULL: nothing is fetched. */
    struct arena *arena;
    struct lookup lookup; /* In one item after the other. */
    uint64_t work_max;
    uint64_t counted_work; /* What the clock knows of. */
    struct work_clock clock;
    bool ended;
    struct read_page_end end;
};

/* --- Items --- */

/* Reads the item whose entry this is. Both are seen by the same view, so it is there. */
static enum engine_status fetch_item(struct page *page, const struct item *entry,
                                     struct engine_value *value, struct item *item)
{
    const struct table_definition *table = table_definition(page->source->table);
    struct item_address place;
    struct error reason;
    arena_reset(page->scratch);
    error_init(&reason, page->scratch);
    if (!item_address_of_item(page->scratch, table, entry, &place, &reason))
        return ENGINE_CORRUPT;
    enum engine_status status = item_address_get(page->view, table, &place, value, item);
    if (status == ENGINE_OK) {
        page->fetched_size += item->size;
        page->fetched_half_units += capacity_read_half_units(item->size, page->consistent);
    }
    return status == ENGINE_NOT_FOUND ? ENGINE_CORRUPT : status;
}

static bool passes(struct page *page, const struct item *item)
{
    const struct condition *filter = page->expressions->filter;
    if (filter == NULL)
        return true;
    lookup_next_item(&page->lookup, item);
    return condition_matches(filter, &page->lookup);
}

static void show_item(struct page *page, const struct item *item)
{
    const struct read_expressions *expressions = page->expressions;
    page->count++;
    if (expressions->count_only)
        return;
    if (expressions->column_count > 0) {
        lookup_next_item(&page->lookup, item);
        projection_write_columns(&page->writer, expressions->columns, expressions->column_count,
                                 &page->lookup);
    } else if (expressions->projection != NULL) {
        projection_write(&page->writer, expressions->projection, item);
    } else {
        item_json_write(&page->writer, item);
    }
}

/* Documented: a filter does not change what a read costs. So an item is fetched before the filter
 * judges it. */
static enum engine_status take_item(struct page *page, const struct item *item)
{
    const struct read_source *source = page->source;
    const struct item *judged = item;
    struct engine_value value = { 0 };
    struct item fetched;
    enum engine_status status = ENGINE_OK;
    page->scanned_count++;
    page->size += item->size;
    if (page->scratch != NULL) {
        status = fetch_item(page, item, &value, &fetched);
        judged = &fetched;
    }
    if (status == ENGINE_OK && passes(page, judged))
        show_item(page, source->fetches ? judged : item);
    engine_value_release(&value);
    return status;
}

/* --- The end of a page --- */

static void note_last_key(struct page *page, const struct item *item)
{
    struct item_builder builder;
    struct value value;
    item_builder_init(&builder, page->arena);
    for (size_t i = 0; i < page->source->key_count; i++) {
        if (item_find(item, page->source->key_names[i], &value))
            item_builder_add(&builder, page->source->key_names[i], value.encoded);
    }
    page->end.last_key = item_builder_finish(&builder);
    page->end.is_full = true;
}

/* Tells the clock of the item that was read last. */
static void count_work(struct page *page)
{
    uint64_t work = page->lookup.work + page->size + page->fetched_size;
    work_clock_count(&page->clock, page->call, work - page->counted_work);
    page->counted_work = work;
}

static bool is_full(const struct page *page)
{
    return page->scanned_count >= page->count_max ||
           page->size + page->fetched_size >= READ_PAGE_SIZE_MAX ||
           page->lookup.work >= page->work_max || page->clock.spent_ns >= READ_PAGE_NS_MAX;
}

/* --- Ranges --- */

/* Whether an item that is read needs no look at its attributes. */
static bool shows_whole_items(const struct page *page)
{
    const struct read_expressions *expressions = page->expressions;
    return expressions->filter == NULL && expressions->projection == NULL &&
           expressions->column_count == 0 && page->scratch == NULL;
}

static void take_form(struct page *page, const struct item_form *form)
{
    page->scanned_count++;
    page->size += form->size;
    page->count++;
    if (!page->expressions->count_only)
        json_write_raw(&page->writer, form->json);
}

/* Leaves what comes behind an entry in the page's ranges. */
static void leave_rest(struct page *page, struct bytes key)
{
    struct item_range *range = page->read.ranges;
    /* The key is the scan's, and a range that is read backwards borrows it. */
    if (!item_range_start_behind(page->arena, range, arena_copy(page->arena, key))) {
        page->read.ranges++;
        page->read.range_count--;
    }
}

static enum engine_status open_entry(const struct page *page, const struct item_range *range,
                                     const struct engine_entry *entry, struct item *out)
{
    return item_address_open_entry(table_definition(page->source->table), &range->engine.place,
                                   entry, out);
}

/* ENGINE_END: the range ended before the page did. ENGINE_OK: the page has ended, or pauses. */
static enum engine_status read_entries(struct page *page, const struct item_range *range,
                                       struct engine_scan *scan)
{
    struct engine_entry entry;
    struct item_form form;
    struct item item;
    bool whole = shows_whole_items(page);
    for (;;) {
        enum engine_status status = engine_scan_next(scan, &entry);
        bool formed = status == ENGINE_OK && whole && item_form_read(entry.form, &form);
        if (formed)
            take_form(page, &form);
        if (status == ENGINE_OK && !formed)
            status = open_entry(page, range, &entry, &item);
        if (status == ENGINE_OK && !formed)
            status = take_item(page, &item);
        if (status != ENGINE_OK)
            return status;
        count_work(page);
        if (is_full(page)) {
            page->ended = true;
            if (formed)
                status = open_entry(page, range, &entry, &item);
            if (status == ENGINE_OK &&
                (range->end.data == NULL || !bytes_equal(entry.key, range->end)))
                note_last_key(page, &item);
            return status;
        }
        if (page->clock.must_pause) {
            leave_rest(page, entry.key);
            return ENGINE_OK;
        }
    }
}

static enum engine_status read_range(struct page *page)
{
    const struct item_range range = *page->read.ranges;
    struct engine_scan *scan = NULL;
    struct engine_range limited = range.engine;
    limited.count_max = page->count_max - page->scanned_count;
    enum engine_status status = engine_scan_open(page->view, &limited, &scan);
    if (status == ENGINE_OK)
        status = read_entries(page, &range, scan);
    engine_scan_close(scan);
    return status;
}

static enum engine_status open_view(struct page *page)
{
    const struct api *api = page->call->api;
    const struct index_definition *index = page->source->index;
    struct index_delay *delay = api_index_delay(api);
    if (delay == NULL || index == NULL || !index->global)
        return engine_view_open(api_options(api)->engine,
                                page->consistent ? ENGINE_STRONG : ENGINE_EVENTUAL, &page->view);
    page->view = index_delay_open_view(delay);
    return ENGINE_OK;
}

/* --- The page --- */

static void note_capacity(struct page *page)
{
    const struct table_definition *table = table_definition(page->source->table);
    int64_t half_units = capacity_read_half_units(page->size, page->consistent);
    struct capacity_use *use = &page->end.use;
    *use = (struct capacity_use){ .table = table, .table_half_units = page->fetched_half_units };
    if (page->source->index == NULL)
        use->table_half_units = half_units;
    else
        use->index_half_units[page->source->index - table->indexes] = half_units;
}

static void finish(struct page *page)
{
    if (!page->expressions->count_only)
        json_close_array(&page->writer);
    page->end.count = page->count;
    page->end.scanned_count = page->scanned_count;
    note_capacity(page);
    page->read.finish(page->call, &page->read, &page->writer, &page->end);
    json_close_object(&page->writer);
}

static void close_page(struct page *page)
{
    arena_destroy(page->scratch);
    engine_view_close(page->view);
    table_release(page->read.table);
}

static void go_on(struct page *page);

static void resume(struct api_call *call, bool cancelled)
{
    struct page *page = call->resume_state;
    if (!cancelled) {
        go_on(page);
        return;
    }
    close_page(page);
    operation_fail(call);
}

/* Until the page has ended, or pauses. */
static enum engine_status read_slice(struct page *page)
{
    work_clock_start(&page->clock);
    while (page->read.range_count > 0) {
        enum engine_status status = read_range(page);
        if (status != ENGINE_END)
            return status;
        page->read.ranges++;
        page->read.range_count--;
    }
    page->ended = true;
    return ENGINE_OK;
}

static void go_on(struct page *page)
{
    struct api_call *call = page->call;
    enum engine_status status = read_slice(page);
    if (status == ENGINE_OK && !page->ended) {
        page->view = engine_view_move(page->view); /* It may resume on another thread. */
        operation_pause(call, resume, page);
        return;
    }
    if (status == ENGINE_OK)
        finish(page);
    else
        storage_error_set(&call->error, status, call->operation->name);
    close_page(page);
    operation_end(call, status == ENGINE_OK);
}

void read_page_start(struct api_call *call, const struct read_page_request *read)
{
    uint64_t work_max = api_options(call->api)->read_work_max;
    struct page *page = arena_alloc(call->arena, sizeof *page);
    *page = (struct page){
        .call = call,
        .read = *read,
        .source = read->source,
        .expressions = read->expressions,
        .consistent = read->request->consistent_read.value,
        .count_max = read->request->limit.present ? (size_t)read->request->limit.value : SIZE_MAX,
        .arena = call->arena,
        .work_max = work_max > 0 ? work_max : READ_PAGE_WORK_MAX,
    };
    lookup_init(&page->lookup, call->arena, NULL);
    json_writer_init(&page->writer, &call->response);
    json_open_object(&page->writer);
    if (!page->expressions->count_only) {
        json_write_name(&page->writer, "Items");
        json_open_array(&page->writer);
    }
    enum engine_status status = open_view(page);
    if (status != ENGINE_OK) {
        storage_error_set(&call->error, status, call->operation->name);
        close_page(page);
        operation_fail(call);
        return;
    }
    if (page->source->fetches || page->source->filters_fetched)
        page->scratch = arena_create();
    go_on(page);
}

/* --- Query's and Scan's answers --- */

/* In the order of the key, not of the names. */
static void write_last_key(struct json_writer *writer, const struct read_source *source,
                           const struct item *key)
{
    json_write_name(writer, "LastEvaluatedKey");
    json_open_object(writer);
    for (size_t i = 0; i < source->key_count; i++) {
        struct value value;
        if (!item_find(key, source->key_names[i], &value))
            continue;
        json_write_name_bytes(writer, source->key_names[i]);
        value_json_write(writer, &value);
    }
    json_close_object(writer);
}

void read_page_finish(struct api_call *call, const struct read_page_request *read,
                      struct json_writer *writer, const struct read_page_end *end)
{
    (void)call;
    json_write_name(writer, "Count");
    json_write_integer(writer, (int64_t)end->count);
    json_write_name(writer, "ScannedCount");
    json_write_integer(writer, (int64_t)end->scanned_count);
    if (end->is_full)
        write_last_key(writer, read->source, &end->last_key);
    capacity_use_write_json(writer, read->request->return_consumed_capacity,
                            read->request->table_name, &end->use);
}
