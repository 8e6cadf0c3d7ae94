/* item_page.c -- see item_page.h. */
#include "api/item/item_page.h"
#include <assert.h>
#include "advice/expression_shape.h"
#include "api/admission.h"
#include "api/capacity.h"
#include "api/item/item_shapes.h"
#include "api/key_use.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/compiler.h"
#include "expr/lookup.h"
#include "expr/path.h"
#include "expr/projection.h"
#include "json/writer.h"
#include "model/item.h"
#include "model/rendered_item.h"
#include "model/value_json.h"
#include "read/read_page.h"
#include "read/read_source.h"
#include "table/catalogue.h"
#include "table/item_range.h"

struct item_page {
    struct api_call *call;
    struct item_page_request request;
    struct read_page *page;
    struct json_writer writer;
    struct lookup lookup; /* For PartiQL's columns. */
    /* The hash of the partition key, if all of the page has the same. */
    bool has_key;
    uint64_t key;
};

/* --- Rules --- */

/* A consistent read of a global index, which the service refuses: the adviser tells of programs
 * that try it. */
static void note_refusal(struct api_call *call, const struct table_definition *table,
                         struct bytes index_name)
{
    const struct index_definition *index = table_definition_index(table, index_name);
    if (index == NULL || !index->global)
        return;
    call->shape = arena_alloc(call->arena, sizeof *call->shape);
    *call->shape = (struct expression_shape){ .kind = SHAPE_REFUSED_CONSISTENT, .index = index };
}

bool item_page_find_source(struct api_call *call, const struct read_request *request,
                           const struct table *table, struct read_source *out)
{
    const struct read_source_name name = { .index_name = request->index_name,
                                           .consistent = request->consistent_read.value,
                                           .is_statement = request->is_statement };
    if (!operation_check_table(call, table))
        return false;
    if (read_source_find(call->arena, table_definition(table), &name, out, &call->error))
        return true;
    if (request->consistent_read.value && api_counts_shapes(call->api))
        note_refusal(call, table_definition(table), request->index_name);
    return false;
}

bool item_page_check_attributes(struct api_call *call, struct read_source *source,
                                const struct read_request *request,
                                const struct read_expressions *expressions)
{
    return read_source_check_attributes(call->arena, source,
                                        bytes_equal_text(request->select, "ALL_ATTRIBUTES"),
                                        expressions->projection, &call->error);
}

/* --- Items, each in the form that the request asks for --- */

static uint64_t show_whole(void *context, const struct shown_item *item)
{
    struct item_page *page = context;
    shown_item_write(&page->writer, item);
    return 0;
}

static uint64_t show_projection(void *context, const struct shown_item *item)
{
    struct item_page *page = context;
    const struct path_node *projection = page->request.expressions->projection;
    projection_write(&page->writer, projection, &item->item);
    return projection->child_count; /* It walks along all names, whichever the item has. */
}

static uint64_t show_columns(void *context, const struct shown_item *item)
{
    struct item_page *page = context;
    const struct read_expressions *expressions = page->request.expressions;
    uint64_t work_before = page->lookup.work;
    lookup_next_item(&page->lookup, &item->item);
    projection_write_columns(&page->writer, expressions->columns, expressions->column_count,
                             &page->lookup);
    return page->lookup.work - work_before;
}

static read_page_show *choose_show(const struct read_expressions *expressions)
{
    if (expressions->count_only)
        return NULL;
    if (expressions->column_count > 0)
        return show_columns;
    return expressions->projection != NULL ? show_projection : show_whole;
}

/* --- The call --- */

static bool is_pause_due(const void *context, int64_t now_ns)
{
    const struct item_page *page = context;
    return operation_is_pause_due(page->call, now_ns);
}

static void count_use(const struct item_page *page, const struct read_page_end *end)
{
    const struct read_source *source = page->request.source;
    const struct table_definition *table = source->table;
    bool consistent = page->request.request->consistent_read.value;
    int64_t half_units = capacity_read_half_units(end->size, consistent);
    struct capacity_use *use = page->call->uses;
    use->read_count = (uint32_t)end->scanned_count;
    use->returned_count = (uint32_t)end->count;
    use->is_consistent = consistent;
    if (source->index == NULL) {
        use->table_half_units = half_units;
    } else {
        use->table_half_units = end->fetched_units * (consistent ? 2 : 1);
        use->index_half_units[source->index - table->indexes] = half_units;
        if (page->has_key)
            capacity_use_add_key(use, source->index, page->key, half_units);
    }
    if (page->has_key && use->table_half_units > 0)
        capacity_use_add_key(use, NULL, page->key, use->table_half_units);
    if (UNLIKELY(table->counts_keys) && page->has_key)
        key_use_note_query(use, source->index, page->request.ranges[0].engine.first,
                           capacity_use_total(use));
}

static void finish(struct item_page *page)
{
    assert(page->page != NULL);
    const struct read_page_end *end = read_page_end(page->page);
    count_use(page, end);
    if (page->call->shape != NULL)
        page->call->shape->is_cut = end->is_full;
    if (!page->request.expressions->count_only)
        json_close_array(&page->writer);
    page->request.finish(page->call, &page->request, &page->writer, end);
    json_close_object(&page->writer);
}

static void end_call(struct item_page *page, bool ok)
{
    if (page->page != NULL)
        read_page_close(page->page);
    operation_end(page->call, ok);
}

static void run(struct item_page *page);

static void resume(struct api_call *call, bool cancelled)
{
    struct item_page *page = call->resume_state;
    if (!cancelled) {
        run(page);
        return;
    }
    count_use(page, read_page_end(page->page)); /* What was read was read. */
    end_call(page, false);
}

static void run(struct item_page *page)
{
    switch (read_page_run(page->page, &page->call->error)) {
    case READ_PAGE_PAUSED:
        operation_pause(page->call, resume, page);
        return;
    case READ_PAGE_FAILED:
        end_call(page, false);
        return;
    case READ_PAGE_ENDED:
        finish(page);
        end_call(page, true);
        return;
    }
}

/* Stored keys begin with the hash. Several ranges have several keys, or read all of them. */
static void find_key(struct item_page *page)
{
    const struct item_page_request *request = &page->request;
    page->has_key = request->is_query && request->range_count == 1;
    if (page->has_key) {
        assert(request->ranges[0].engine.first.len >= sizeof page->key);
        page->key = load_u64_be(request->ranges[0].engine.first.data);
    }
}

static bool admit(struct item_page *page)
{
    const struct bytes none = { 0 };
    return admission_read(page->call, page->call->uses, page->request.source->index,
                          page->has_key ? page->request.ranges[0].engine.first : none) ||
           admission_fail(page->call);
}

/* For the adviser. */
static void note_shape(struct api_call *call, const struct item_page_request *request)
{
    const struct read_expressions *expressions = request->expressions;
    call->shape = arena_alloc(call->arena, sizeof *call->shape);
    *call->shape = (struct expression_shape){
        .kind = request->is_query ? SHAPE_QUERY : SHAPE_SCAN,
        .index = request->source->index,
        .key = expressions->key_condition,
        .filter = expressions->filter,
        .projection = expressions->projection,
        .is_count_only = expressions->count_only,
    };
}

/* ExplainStatement: what would be read. */
static void answer_plan(struct api_call *call, const struct item_page_request *request)
{
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "Operation");
    json_write_text(&writer, request->is_query ? "Query" : "Scan");
    json_write_name(&writer, "TableName");
    json_write_string(&writer, request->source->table->name);
    if (request->source->index != NULL) {
        json_write_name(&writer, "IndexName");
        json_write_string(&writer, request->source->index->name);
    }
    if (request->is_query) {
        json_write_name(&writer, "KeyRanges");
        json_write_integer(&writer, (int64_t)request->range_count);
    }
    json_write_name(&writer, "HasFilter");
    json_write_bool(&writer, request->expressions->filter != NULL);
    json_write_name(&writer, "ConsistentRead");
    json_write_bool(&writer, request->request->consistent_read.present &&
                                 request->request->consistent_read.value);
    json_close_object(&writer);
    operation_succeed(call);
}

void item_page_start(struct api_call *call, const struct item_page_request *request)
{
    assert(call->use_count == 1 && request->source->table == call->uses[0].definition);
    if (call->operation == &op_explain_statement) {
        answer_plan(call, request);
        return;
    }
    const struct read_expressions *expressions = request->expressions;
    const struct shape_integer *limit = &request->request->limit;
    struct item_page *page = arena_alloc(call->arena, sizeof *page);
    *page = (struct item_page){ .call = call, .request = *request };
    find_key(page);
    if (api_counts_shapes(call->api))
        note_shape(call, request);
    if (!admit(page)) {
        end_call(page, false);
        return;
    }
    json_writer_init(&page->writer, &call->response);
    lookup_init(&page->lookup, call->arena, NULL);
    json_open_object(&page->writer);
    if (!expressions->count_only) {
        json_write_name(&page->writer, "Items");
        json_open_array(&page->writer);
    }
    page->page = read_page_open(
        &(struct read_page_request){
            .arena = call->arena,
            .engine = api_options(call->api)->engine,
            .index_delay = api_index_delay(call->api),
            .purpose = call->operation->name,
            .source = request->source,
            .ranges = request->ranges,
            .range_count = request->range_count,
            .filter = expressions->filter,
            .consistent = request->request->consistent_read.value,
            .count_max = limit->present ? (size_t)limit->value : SIZE_MAX,
            .work_max = api_options(call->api)->read_work_max,
            .show = choose_show(expressions),
            .takes_forms = expressions->projection == NULL && expressions->column_count == 0,
            .is_pause_due = call->paused != NULL ? is_pause_due : NULL,
            .context = page,
        },
        &call->error);
    if (page->page == NULL)
        end_call(page, false);
    else
        run(page);
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

void item_page_finish(struct api_call *call, const struct item_page_request *request,
                      struct json_writer *writer, const struct read_page_end *end)
{
    assert(end->count <= end->scanned_count);
    json_write_name(writer, "Count");
    json_write_integer(writer, (int64_t)end->count);
    json_write_name(writer, "ScannedCount");
    json_write_integer(writer, (int64_t)end->scanned_count);
    if (end->is_full)
        write_last_key(writer, request->source, &end->last_key);
    capacity_write_json(writer, request->request->return_consumed_capacity, call->uses);
}
