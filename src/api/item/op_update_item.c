/* op_update_item.c -- UpdateItem: changes an item in place, or makes one of its key alone. */
#include "api/item/item_shapes.h"
#include "api/item/item_update.h"
#include "api/item/item_write.h"
#include "api/operation.h"

static bool check_keys_untouched(struct api_call *call, const struct table_definition *table,
                                 const void *input, const struct item_expressions *expressions)
{
    (void)input;
    return item_update_check_keys(expressions->update, table, &call->error);
}

/* --- ReturnValues --- */

static struct bytes attributes(struct item_write *write, const struct item *updated)
{
    struct bytes wanted = write->condition_request->return_values;
    if (bytes_equal_text(wanted, "ALL_NEW"))
        return item_write_item_json(write->call->arena, updated);
    if (bytes_equal_text(wanted, "UPDATED_NEW"))
        return item_update_changed_json(write->call->arena, write->expressions.update, updated);
    if (bytes_equal_text(wanted, "UPDATED_OLD"))
        return write->item.exists
                   ? item_update_changed_json(write->call->arena, write->expressions.update,
                                              &write->item.current)
                   : BYTES("");
    return item_write_old_item(write);
}

/* --- The operation --- */

static bool decide(struct item_write *write)
{
    const struct update_item_request *request = write->request;
    const struct update *update = write->expressions.update;
    struct api_call *call = write->call;
    const struct item *key = &request->key.item;
    struct item updated;
    if (!item_update_apply(call->arena, update, write->item.table,
                           write->item.exists ? &write->item.current : NULL, key, &updated,
                           &call->error) ||
        !item_update_check_size(call->arena, write->item.table, update, key, &updated,
                                &call->error))
        return false;
    write->item.effect = TXN_PUT;
    write->item.replacement = updated;
    item_write_answer(write, attributes(write, &updated), request->table_name);
    return true;
}

static void run(struct api_call *call, const void *input)
{
    const struct update_item_request *request = input;
    struct item_write_start start = { .table_name = request->table_name,
                                      .request = request,
                                      .condition_request = &request->condition,
                                      .key = &request->key.item,
                                      .locate = item_address_of_key,
                                      .check = check_keys_untouched,
                                      .decide = decide };
    if (item_write_check(call, &request->condition, request, &request->key.rule) &&
        item_expressions_compile(call, &request->condition, request, &start.expressions))
        item_write_start(call, &start);
    else
        operation_fail(call);
}

const struct operation op_update_item = { .name = "UpdateItem",
                                          .kind = OPERATION_DATA,
                                          .request = &update_item_shape,
                                          .asks = OPERATION_ASKS_ITSELF,
                                          .run = run };
