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
    struct json_writer writer;
    size_t count_max; /* Of items read. */
    size_t count;     /* That the filter let pass. */
    size_t scanned_count;
    size_t size; /* Of items or entries read. */
    /* Items fetched from the table by the entries of a local index. They count towards the largest
     * page, so that many small entries do not make a huge answer. */
    size_t fetched_size;
    int64_t fetched_halves;
    struct arena *scratch;  /* For the place of one item at a time; NULL: nothing is fetched. */
    struct buffer last_key; /* LastEvaluatedKey as JSON; empty: the ranges ended. */
};

static void write_item(struct page *page, const struct item *item)
{
    if (page->expressions->projection == NULL)
        item_json_write(&page->writer, item);
    else
        projection_write(&page->writer, page->expressions->projection, item);
}

/* Writes the item whose entry this is. Both are seen by the same view, so it is there. */
static enum engine_status fetch_item(struct page *page, const struct item *entry)
{
    const struct table_definition *table = table_definition(page->source->table);
    struct item_place place;
    struct engine_value value = { 0 };
    struct item item;
    struct error reason;
    arena_reset(page->scratch);
    error_init(&reason, page->scratch);
    if (!item_place_of_item(page->scratch, table, entry, &place, &reason))
        return ENGINE_CORRUPT;
    enum engine_status status = item_place_get(page->view, table, &place, &value, &item);
    if (status == ENGINE_OK) {
        page->fetched_size += item.size;
        page->fetched_halves += capacity_read_halves(item.size, page->consistent);
        write_item(page, &item);
    }
    engine_value_release(&value);
    return status == ENGINE_NOT_FOUND ? ENGINE_CORRUPT : status;
}

static enum engine_status take_item(struct page *page, const struct item *item)
{
    const struct read_expressions *expressions = page->expressions;
    page->scanned_count++;
    page->size += item->size;
    if (expressions->filter != NULL && !condition_matches(expressions->filter, item))
        return ENGINE_OK;
    page->count++;
    if (expressions->count_only)
        return ENGINE_OK;
    if (page->source->fetches)
        return fetch_item(page, item);
    write_item(page, item);
    return ENGINE_OK;
}

static void note_last_key(struct page *page, const struct item *item)
{
    struct json_writer writer;
    struct value value;
    json_writer_init(&writer, &page->last_key);
    json_open_object(&writer);
    for (size_t i = 0; i < page->source->key_count; i++) {
        if (!item_find(item, page->source->key_names[i], &value))
            continue;
        json_write_name_bytes(&writer, page->source->key_names[i]);
        value_json_write(&writer, &value);
    }
    json_close_object(&writer);
}

static bool is_full(const struct page *page)
{
    return page->scanned_count >= page->count_max ||
           page->size + page->fetched_size >= READ_PAGE_SIZE_MAX;
}

/* ENGINE_END: the range ended before the page was full. */
static enum engine_status read_entries(struct page *page, const struct item_range *range,
                                       struct engine_scan *scan)
{
    struct engine_entry entry;
    struct item item;
    enum engine_status status = ENGINE_OK;
    while (status == ENGINE_OK) {
        status = engine_scan_next(scan, &entry);
        if (status == ENGINE_OK)
            status = item_place_open_entry(table_definition(page->source->table),
                                           &range->engine.place, &entry, &item);
        if (status == ENGINE_OK)
            status = take_item(page, &item);
        if (status != ENGINE_OK || !is_full(page))
            continue;
        if (range->end.data == NULL || !bytes_equal(entry.key, range->end))
            note_last_key(page, &item);
        break;
    }
    return status;
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
    if (page->source->fetches)
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

static void write_capacity(struct page *page, const struct read_request *request)
{
    const struct table_definition *table = table_definition(page->source->table);
    int64_t halves = capacity_read_halves(page->size, page->consistent);
    struct capacity_use use = { .table = table, .table_halves = page->fetched_halves };
    if (page->source->index == NULL)
        use.table_halves = halves;
    else
        use.index_halves[page->source->index - table->indexes] = halves;
    capacity_use_write_json(&page->writer, request->return_consumed_capacity, request->table_name,
                            &use);
}

bool read_page_answer(struct api_call *call, const struct read_source *source,
                      const struct read_request *request,
                      const struct read_expressions *expressions, const struct item_range *ranges,
                      size_t range_count)
{
    struct page page = {
        .source = source,
        .expressions = expressions,
        .consistent = request->consistent_read.value,
        .count_max = request->limit.present ? (size_t)request->limit.value : SIZE_MAX,
    };
    struct json_writer *writer = &page.writer;
    buffer_init(&page.last_key, call->arena);
    json_writer_init(writer, &call->response);
    json_open_object(writer);
    if (!expressions->count_only) {
        json_write_name(writer, "Items");
        json_open_array(writer);
    }
    enum engine_status status = read_ranges(&page, call->api, ranges, range_count);
    if (status != ENGINE_OK)
        return storage_error_set(&call->error, status, call->operation->name);
    if (!expressions->count_only)
        json_close_array(writer);
    json_write_name(writer, "Count");
    json_write_integer(writer, (int64_t)page.count);
    json_write_name(writer, "ScannedCount");
    json_write_integer(writer, (int64_t)page.scanned_count);
    if (page.last_key.len > 0) {
        json_write_name(writer, "LastEvaluatedKey");
        json_write_raw(writer, buffer_bytes(&page.last_key));
    }
    write_capacity(&page, request);
    json_close_object(writer);
    return true;
}
