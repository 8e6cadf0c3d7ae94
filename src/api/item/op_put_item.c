/* op_put_item.c -- PutItem: the item takes the place of whatever had its key. */
#include "api/item/item_shapes.h"
#include "api/item/item_write.h"
#include "api/operation.h"
#include "index/index_entry.h"

static bool check(struct api_call *call, const struct put_item_request *request,
                  struct item_expressions *expressions)
{
    if (!item_write_check(call, &request->condition, NULL, &request->item.rule) ||
        !item_write_check_return_values(call, request->condition.return_values) ||
        !operation_check_item_size(call, NULL, &request->item.item))
        return false;
    return item_expressions_compile(call, &request->condition, NULL, expressions);
}

static bool decide(struct item_write *write)
{
    const struct put_item_request *request = write->request;
    write->item.effect = TXN_PUT;
    write->item.replacement = request->item.item;
    item_write_answer(write, item_write_old_item(write), request->table_name);
    return true;
}

static bool check_indexes(struct api_call *call, const struct table_definition *table,
                          const void *input, const struct item_expressions *expressions)
{
    const struct put_item_request *request = input;
    (void)expressions;
    return index_entry_check_put(table, &request->item.item, &call->error) &&
           operation_check_item_size(call, table, &request->item.item);
}

static void run(struct api_call *call, const void *input)
{
    const struct put_item_request *request = input;
    struct item_write_start start = { .table_name = request->table_name,
                                      .request = request,
                                      .condition_request = &request->condition,
                                      .key = &request->item.item,
                                      .locate = item_address_of_item,
                                      .check = check_indexes,
                                      .decide = decide };
    if (check(call, request, &start.expressions))
        item_write_start(call, &start);
    else
        operation_fail(call);
}

const struct operation op_put_item = { .name = "PutItem",
                                       .kind = OPERATION_DATA,
                                       .request = &put_item_shape,
                                       .asks = OPERATION_ASKS_ITSELF,
                                       .run = run };
