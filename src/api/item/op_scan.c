/* op_scan.c -- Scan: all items of a table or entries of an index, or one segment of them, in the
 * order of the hash. */
#include "api/item/item_access.h"
#include "api/operation.h"
#include "api/item/read_expressions.h"
#include "api/item/item_page.h"
#include "read/read_range.h"
#include "api/item/read_shapes.h"
#include "read/read_source.h"
#include "base/arena.h"
#include "model/table_definition.h"
#include "table/catalogue.h"
#include "table/item_address.h"
#include "table/item_range.h"

static bool check_segment(struct api_call *call, const struct scan_request *request)
{
    const struct shape_integer *segment = &request->segment;
    const struct shape_integer *total = &request->total_segments;
    if (total->present && !segment->present)
        return error_validation(&call->error,
                                "The Segment parameter is required but was not present in the "
                                "request when parameter TotalSegments is present");
    if (segment->present && !total->present)
        return error_validation(&call->error,
                                "The TotalSegments parameter is required but was not present in "
                                "the request when Segment parameter is present");
    if (segment->present && segment->value >= total->value)
        return error_validation(&call->error,
                                "The Segment parameter is zero-based and must be less than "
                                "parameter TotalSegments: Segment: %d is not less than "
                                "TotalSegments: %d",
                                (int)segment->value, (int)total->value);
    return true;
}

struct scan {
    const struct scan_request *request;
    struct read_expressions expressions;
    struct read_source source;
    struct item_range_segment segment;
    struct item_range *ranges;
    size_t range_count;
};

/* ExclusiveStartKey must lie within the segment. Leaves the ranges behind it. */
static bool start(struct api_call *call, struct scan *scan)
{
    const struct read_request *request = &scan->request->read;
    struct item_address place;
    if (!request->exclusive_start_key.present)
        return true;
    if (!read_source_locate(call->arena, &scan->source, &request->exclusive_start_key.item, &place,
                            &call->error))
        return false;
    if (!item_range_segment_contains(&scan->segment, place.hash))
        return error_validation(&call->error,
                                "The provided starting key is invalid: Invalid ExclusiveStartKey. "
                                "Please use ExclusiveStartKey with correct Segment. "
                                "TotalSegments: %d Segment: %d",
                                (int)scan->segment.total, (int)scan->segment.index);
    read_range_start_behind(call->arena, &scan->ranges, &scan->range_count, place.address.key);
    return true;
}

static bool prepare(struct api_call *call, struct scan *scan)
{
    const struct scan_request *request = scan->request;
    scan->segment = (struct item_range_segment){ .index = 0, .total = 1 };
    if (request->segment.present)
        scan->segment = (struct item_range_segment){
            .index = (uint32_t)request->segment.value,
            .total = (uint32_t)request->total_segments.value,
        };
    scan->range_count = item_range_of_segment(call->arena, table_definition(scan->source.table),
                                              scan->source.index, &scan->segment, &scan->ranges);
    read_source_fetch_for_filter(call->arena, &scan->source, scan->expressions.filter);
    return start(call, scan) &&
           expr_params_check_key_paths(&scan->expressions.params, scan->source.key_names,
                                       scan->source.own_key_count, &call->error) &&
           item_page_check_attributes(call, &scan->source, &request->read, &scan->expressions);
}

static void run(struct api_call *call, const void *input)
{
    struct scan *scan = arena_alloc(call->arena, sizeof *scan);
    *scan = (struct scan){ .request = input };
    const struct read_request *request = &scan->request->read;
    struct table *table = NULL;
    if (!read_expressions_check(call, request, NULL, &scan->expressions) ||
        !check_segment(call, scan->request) ||
        !read_expressions_compile(call, request, NULL, &scan->expressions) ||
        !item_access_read(call, table = operation_find_table(call, request->table_name), request,
                          &scan->expressions) ||
        !item_page_find_source(call, request, table, &scan->source) || !prepare(call, scan)) {
        table_release(table);
        operation_fail(call);
        return;
    }
    item_page_start(call, &(struct item_page_request){ .table = table,
                                                       .source = &scan->source,
                                                       .request = request,
                                                       .expressions = &scan->expressions,
                                                       .ranges = scan->ranges,
                                                       .range_count = scan->range_count,
                                                       .finish = item_page_finish });
}

const struct operation op_scan = { .name = "Scan",
                                   .kind = OPERATION_DATA,
                                   .request = &scan_shape,
                                   .asks = OPERATION_ASKS_ITSELF,
                                   .reads_many = true,
                                   .run = run };
