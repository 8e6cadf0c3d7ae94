/* read_page.c -- see read_page.h.
 *
 * A page ends behind the item that reaches Limit or READ_PAGE_SIZE_MAX, both counted before the
 * filter. Observed: LastEvaluatedKey then tells where, even if nothing follows; only a key that a
 * condition makes the last one possible needs no going on.
 */
#include "api/read_page.h"
#include "api/capacity.h"
#include "api/index_delay.h"
#include "api/operation.h"
#include "api/read_expressions.h"
#include "api/read_shapes.h"
#include "api/read_source.h"
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
#include "table/item_place.h"
#include "table/item_range.h"
#include "table/storage_error.h"

struct page {
    const struct read_source *source;
    const struct read_expressions *expressions;
    struct engine_view *view;
    bool consistent;
    struct json_writer *writer;
    size_t count_max; /* Of items read. */
    size_t count;     /* That the filter let pass. */
    size_t scanned_count;
    size_t size; /* Of items or entries read. */
    /* Items fetched from the table by the entries of a local index. They count towards the largest
     * page, so that many small entries do not make a huge answer. */
    size_t fetched_size;
    int64_t fetched_halves;
    struct arena *scratch; /* For the place of one item at a time; NULL: nothing is fetched. */
    struct arena *arena;
    struct lookup lookup; /* In one item after the other. */
    struct read_page_end *end;
};

/* Reads the item whose entry this is. Both are seen by the same view, so it is there. */
static enum engine_status fetch_item(struct page *page, const struct item *entry,
                                     struct engine_value *value, struct item *item)
{
    const struct table_definition *table = table_definition(page->source->table);
    struct item_place place;
    struct error reason;
    arena_reset(page->scratch);
    error_init(&reason, page->scratch);
    if (!item_place_of_item(page->scratch, table, entry, &place, &reason))
        return ENGINE_CORRUPT;
    enum engine_status status = item_place_get(page->view, table, &place, value, item);
    if (status == ENGINE_OK) {
        page->fetched_size += item->size;
        page->fetched_halves += capacity_read_halves(item->size, page->consistent);
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
        projection_write_columns(page->writer, expressions->columns, expressions->column_count,
                                 &page->lookup);
    } else if (expressions->projection != NULL) {
        projection_write(page->writer, expressions->projection, item);
    } else {
        item_json_write(page->writer, item);
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

static void note_last_key(struct page *page, const struct item *item)
{
    struct item_builder builder;
    struct value value;
    item_builder_init(&builder, page->arena);
    for (size_t i = 0; i < page->source->key_count; i++) {
        if (item_find(item, page->source->key_names[i], &value))
            item_builder_add(&builder, page->source->key_names[i], value.encoded);
    }
    page->end->last_key = item_builder_finish(&builder);
    page->end->is_full = true;
}

static bool is_full(const struct page *page)
{
    return page->scanned_count >= page->count_max ||
           page->size + page->fetched_size >= READ_PAGE_SIZE_MAX;
}

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
        json_write_raw(page->writer, form->json);
}

/* ENGINE_END: the range ended before the page was full. */
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
        if (status == ENGINE_OK && (!formed || is_full(page)))
            status = item_place_open_entry(table_definition(page->source->table),
                                           &range->engine.place, &entry, &item);
        if (status == ENGINE_OK && !formed)
            status = take_item(page, &item);
        if (status != ENGINE_OK)
            return status;
        if (!is_full(page))
            continue;
        if (range->end.data == NULL || !bytes_equal(entry.key, range->end))
            note_last_key(page, &item);
        return ENGINE_OK;
    }
}

static enum engine_status read_range(struct page *page, const struct item_range *range)
{
    struct engine_scan *scan = NULL;
    struct engine_range limited = range->engine;
    limited.count_max = page->count_max - page->scanned_count;
    enum engine_status status = engine_scan_open(page->view, &limited, &scan);
    if (status == ENGINE_OK)
        status = read_entries(page, range, scan);
    engine_scan_close(scan);
    return status;
}

static enum engine_status open_view(struct page *page, const struct api *api)
{
    const struct index_definition *index = page->source->index;
    struct index_delay *delay = api_index_delay(api);
    if (delay == NULL || index == NULL || !index->global)
        return engine_view_open(api_options(api)->engine,
                                page->consistent ? ENGINE_STRONG : ENGINE_EVENTUAL, &page->view);
    page->view = index_delay_open_view(delay);
    return ENGINE_OK;
}

static enum engine_status read_ranges(struct page *page, const struct api *api,
                                      const struct item_range *ranges, size_t range_count)
{
    enum engine_status status = open_view(page, api);
    if (page->source->fetches || page->source->filters_fetched)
        page->scratch = arena_create();
    bool more = status == ENGINE_OK;
    for (size_t i = 0; i < range_count && more; i++) {
        status = read_range(page, &ranges[i]);
        more = status == ENGINE_END;
    }
    arena_destroy(page->scratch);
    engine_view_close(page->view);
    return status == ENGINE_END ? ENGINE_OK : status;
}

static void note_capacity(const struct page *page)
{
    const struct table_definition *table = table_definition(page->source->table);
    int64_t halves = capacity_read_halves(page->size, page->consistent);
    struct capacity_use *use = &page->end->use;
    *use = (struct capacity_use){ .table = table, .table_halves = page->fetched_halves };
    if (page->source->index == NULL)
        use->table_halves = halves;
    else
        use->index_halves[page->source->index - table->indexes] = halves;
}

bool read_page_items(struct api_call *call, const struct read_source *source,
                     const struct read_request *request, const struct read_expressions *expressions,
                     const struct item_range *ranges, size_t range_count,
                     struct json_writer *writer, struct read_page_end *end)
{
    *end = (struct read_page_end){ .is_full = false };
    struct page page = {
        .source = source,
        .expressions = expressions,
        .consistent = request->consistent_read.value,
        .writer = writer,
        .count_max = request->limit.present ? (size_t)request->limit.value : SIZE_MAX,
        .arena = call->arena,
        .end = end,
    };
    lookup_init(&page.lookup, call->arena, NULL);
    if (!expressions->count_only) {
        json_write_name(writer, "Items");
        json_open_array(writer);
    }
    enum engine_status status = read_ranges(&page, call->api, ranges, range_count);
    if (status != ENGINE_OK)
        return storage_error_set(&call->error, status, call->operation->name);
    if (!expressions->count_only)
        json_close_array(writer);
    end->count = page.count;
    end->scanned_count = page.scanned_count;
    note_capacity(&page);
    return true;
}

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

bool read_page_answer(struct api_call *call, const struct read_source *source,
                      const struct read_request *request,
                      const struct read_expressions *expressions, const struct item_range *ranges,
                      size_t range_count)
{
    struct json_writer writer;
    struct read_page_end end;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    if (!read_page_items(call, source, request, expressions, ranges, range_count, &writer, &end))
        return false;
    json_write_name(&writer, "Count");
    json_write_integer(&writer, (int64_t)end.count);
    json_write_name(&writer, "ScannedCount");
    json_write_integer(&writer, (int64_t)end.scanned_count);
    if (end.is_full)
        write_last_key(&writer, source, &end.last_key);
    capacity_use_write_json(&writer, request->return_consumed_capacity, request->table_name,
                            &end.use);
    json_close_object(&writer);
    return true;
}
