/* op_transact_get_items.c -- TransactGetItems: up to a hundred items as they are at one moment. */
#include "api/item/item_expressions.h"
#include "api/operation.h"
#include "api/transaction/transaction_read.h"
#include "api/transaction/transaction_shapes.h"
#include "base/arena.h"

static const struct get_item_request *get_at(const struct transact_get_items_request *request,
                                             size_t index)
{
    return ((struct transact_get_item *const *)request->transact_items.elements)[index]->get;
}

/* Reported by others: names without an expression to use them are let pass here. */
static bool compile(struct api_call *call, const struct get_item_request *get,
                    struct transaction_read *out)
{
    *out = (struct transaction_read){ .table_name = get->table_name, .key = &get->key.item };
    return get->projection.projection_expression.data == NULL ||
           item_expressions_projection(call, &get->projection, &out->params, &out->projection);
}

static void run(struct api_call *call, const void *input)
{
    const struct transact_get_items_request *request = input;
    size_t count = request->transact_items.count;
    struct transaction_read *reads = arena_alloc(call->arena, count * sizeof *reads);
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++)
        ok = operation_check_rule(call, &get_at(request, i)->key.rule);
    for (size_t i = 0; i < count && ok; i++)
        ok = compile(call, get_at(request, i), &reads[i]);
    if (!ok) {
        operation_fail(call);
        return;
    }
    const struct transaction_read_start start = {
        .reads = reads,
        .read_count = count,
        .return_consumed_capacity = request->return_consumed_capacity,
    };
    transaction_read_start(call, &start);
}

const struct operation op_transact_get_items = { .name = "TransactGetItems",
                                                 .kind = OPERATION_DATA,
                                                 .request = &transact_get_items_shape,
                                                 .asks = OPERATION_ASKS_ITSELF,
                                                 .reads_many = true,
                                                 .run = run };
