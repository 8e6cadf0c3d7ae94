/* shape_note.c -- see shape_note.h. */
#include "api/advice/shape_note.h"
#include <assert.h>
#include "advice/shape_counter.h"
#include "api/api.h"
#include "api/capacity.h"
#include "api/operation.h"
#include "insight/insights.h"

/* Calls that were refused for another reason tell nothing about their expressions. */
static bool is_counted(const struct api_call *call)
{
    return call->error.code == ERROR_NONE || call->error.code == ERROR_CONDITIONAL_CHECK_FAILED ||
           call->shape->kind == SHAPE_REFUSED_CONSISTENT;
}

void shape_note_count(const struct api_call *call, int64_t now_ns)
{
    assert(call->shape != NULL);
    const struct capacity_use *use = call->uses; /* Shapes are of requests on one table. */
    if (call->use_count == 0 || use->table == NULL || !is_counted(call))
        return;
    bool ok = call->error.code == ERROR_NONE;
    const struct shape_event event = {
        .table_id = use->definition->id,
        .operation = operation_name(call->operation),
        .shape = call->shape,
        .counts = {
            .calls = 1,
            .condition_failures = call->error.code == ERROR_CONDITIONAL_CHECK_FAILED,
            .items_read = use->read_count,
            .items_returned = use->returned_count,
            .empty_pages = ok && call->shape->is_cut && use->returned_count == 0,
            .half_units = (uint64_t)capacity_use_total(use),
            .request_size = call->body.len,
            .put_size = use->put_count > 0 ? use->put_size : 0,
        },
        .wall_ms = insights_wall_ms(api_insights(call->api), api_options(call->api)->clock, now_ns),
    };
    shape_counter_count(api_shapes(call->api), &event);
}
