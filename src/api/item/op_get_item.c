/* op_get_item.c -- GetItem: one read, written to JSON from the stored bytes. */
#include "api/capacity.h"
#include "api/item/item_access.h"
#include "api/item/item_expressions.h"
#include "api/item/item_shapes.h"
#include "api/operation.h"
#include "expr/projection.h"
#include "json/writer.h"
#include "table/catalogue.h"
#include "table/item_address.h"
#include "table/storage_error.h"

/* `found` is NULL when no item has the key. With a projection it has no form. */
static void answer(struct api_call *call, const struct get_item_request *request,
                   const struct path_node *projection, const struct shown_item *found)
{
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    if (found != NULL) {
        json_write_name(&writer, "Item");
        if (projection == NULL)
            shown_item_write(&writer, found);
        else
            projection_write(&writer, projection, &found->item);
    }
    capacity_write_json(&writer, request->return_consumed_capacity, request->table_name,
                        capacity_read_half_units(found == NULL ? 0 : shown_item_size(found),
                                                 request->consistent_read.value));
    json_close_object(&writer);
}

static enum engine_status read_and_answer(struct api_call *call,
                                          const struct get_item_request *request,
                                          const struct path_node *projection,
                                          const struct table *table,
                                          const struct item_address *place)
{
    struct engine_view *view = NULL;
    struct engine_value value = { 0 };
    struct shown_item found = { 0 };
    const struct table_definition *definition = table_definition(table);
    enum engine_status status =
        engine_view_open(api_options(call->api)->engine,
                         request->consistent_read.value ? ENGINE_STRONG : ENGINE_EVENTUAL, &view);
    if (status == ENGINE_OK && projection == NULL)
        status = item_address_get_shown(view, definition, place, &value, &found);
    else if (status == ENGINE_OK)
        status = item_address_get(view, definition, place, &value, &found.item);
    if (status == ENGINE_OK || status == ENGINE_NOT_FOUND) {
        answer(call, request, projection, status == ENGINE_OK ? &found : NULL);
        status = ENGINE_OK;
    }
    engine_value_release(&value);
    engine_view_close(view);
    return status;
}

static void run(struct api_call *call, const void *input)
{
    const struct get_item_request *request = input;
    struct item_address place;
    struct table *table = NULL;
    const struct path_node *projection;
    struct expr_params params;
    const struct item_projection *sent = &request->projection;
    bool ok = operation_check_rule(call, &request->key.rule) &&
              item_expressions_check_projections(call, &sent, 1) &&
              item_expressions_projection(call, &request->projection, &params, &projection);
    if (ok) {
        table = operation_borrow_table(call, request->table_name);
        ok = item_access_get(call, table, request, projection) &&
             operation_check_table(call, table) &&
             item_address_of_key(call->arena, table_definition(table), &request->key.item, &place,
                                 &call->error) &&
             item_expressions_check_keys(call, &params, table_definition(table));
    }
    if (ok) {
        enum engine_status status = read_and_answer(call, request, projection, table, &place);
        ok = status == ENGINE_OK || storage_error_set(&call->error, status, "GetItem");
    }
    table_release(table);
    operation_end(call, ok);
}

const struct operation op_get_item = { .name = "GetItem",
                                       .kind = OPERATION_DATA,
                                       .request = &get_item_shape,
                                       .asks = OPERATION_ASKS_ITSELF,
                                       .run = run };
