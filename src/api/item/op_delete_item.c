/* op_delete_item.c -- DeleteItem: deleting what is not there succeeds. */
#include "api/item/item_shapes.h"
#include "api/item/item_write.h"
#include "api/operation.h"

static bool check(struct api_call *call, const struct delete_item_request *request,
                  struct item_expressions *expressions)
{
    return item_write_check(call, &request->condition, NULL, &request->key.rule) &&
           item_write_check_return_values(call, request->condition.return_values) &&
           item_expressions_compile(call, &request->condition, NULL, expressions);
}

static bool decide(struct item_write *write)
{
    const struct delete_item_request *request = write->request;
    write->item.effect = TXN_DELETE;
    item_write_answer(write, item_write_old_item(write), request->table_name);
    return true;
}

static void run(struct api_call *call, const void *input)
{
    const struct delete_item_request *request = input;
    struct item_write_start start = { .table_name = request->table_name,
                                      .request = request,
                                      .condition_request = &request->condition,
                                      .key = &request->key.item,
                                      .locate = item_address_of_key,
                                      .decide = decide };
    if (check(call, request, &start.expressions))
        item_write_start(call, &start);
    else
        operation_fail(call);
}

const struct operation op_delete_item = { .name = "DeleteItem",
                                          .kind = OPERATION_DATA,
                                          .request = &delete_item_shape,
                                          .asks = OPERATION_ASKS_ITSELF,
                                          .run = run };
