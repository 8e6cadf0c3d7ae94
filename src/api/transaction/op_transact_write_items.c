/* op_transact_write_items.c -- TransactWriteItems: up to a hundred puts, updates, deletes and
 * checks, all or none of them.
 */
#include "api/expression_input.h"
#include "api/operation.h"
#include "api/transaction/transaction.h"
#include "api/transaction/transaction_shapes.h"
#include "base/arena.h"
#include "base/byte_order.h"
#include "model/limits.h"

static const struct transact_write_item *item_at(const struct transact_write_items_request *request,
                                                 size_t index)
{
    return ((struct transact_write_item *const *)request->transact_items.elements)[index];
}

/* --- Rules, in the service's order --- */

/* What an element asks for; NULL with the error set if it is not exactly one thing. */
static const struct update_item_request *request_of(struct api_call *call,
                                                    const struct transact_write_item *item,
                                                    enum transaction_kind *kind)
{
    const struct {
        const struct update_item_request *request;
        enum transaction_kind kind;
    } choices[] = {
        { item->condition_check, TRANSACTION_CHECK },
        { item->put, TRANSACTION_PUT },
        { item->delete, TRANSACTION_DELETE },
        { item->update, TRANSACTION_UPDATE },
    };
    const struct update_item_request *found = NULL;
    for (size_t i = 0; i < COUNT_OF(choices); i++) {
        if (choices[i].request == NULL)
            continue;
        if (found != NULL) {
            error_validation(&call->error,
                             "TransactItems can only contain one of Check, Put, Update or Delete");
            return NULL;
        }
        found = choices[i].request;
        *kind = choices[i].kind;
    }
    if (found == NULL)
        error_validation(&call->error, "Invalid Request: TransactWriteRequest should contain "
                                       "Delete or Put or Update request");
    return found;
}

static bool check_values(struct api_call *call, const struct update_item_request *request,
                         enum transaction_kind kind)
{
    return operation_check_rule(call, &request->key.rule) &&
           (kind != TRANSACTION_PUT || operation_check_item_size(call, NULL, &request->key.item));
}

/* Reported by others: a value that is nested too deep cancels an Update, and is no matter of a
 * ConditionCheck. What is returned is without that fault. */
static const struct update_item_request *pass_depth(struct api_call *call,
                                                    const struct update_item_request *request,
                                                    struct transaction_action *action)
{
    const struct shape_item *values = &request->condition.expression_attribute_values;
    bool lets_pass = action->kind == TRANSACTION_UPDATE || action->kind == TRANSACTION_CHECK;
    if (!lets_pass || !expression_input_is_too_deep(values))
        return request;
    if (action->kind == TRANSACTION_UPDATE)
        action->value_fault = &values->rule;
    struct update_item_request *passed = arena_alloc(call->arena, sizeof *passed);
    *passed = *request;
    error_init(&passed->condition.expression_attribute_values.rule, call->arena);
    return passed;
}

/* Reported by others: names and values without an expression to use them are let pass here. */
static bool compile(struct api_call *call, const struct update_item_request *sent,
                    struct transaction_action *action)
{
    const struct update_item_request *request = pass_depth(call, sent, action);
    const struct update_item_request *update = action->kind == TRANSACTION_UPDATE ? request : NULL;
    if (update == NULL && request->condition.condition_expression.data == NULL)
        return expression_input_check_values(call, &request->condition.expression_attribute_values);
    return item_expressions_compile(call, &request->condition, update, &action->expressions);
}

/* What an action counts towards TRANSACTION_SIZE_MAX: the item or key, the expressions, and the
 * names and values that stand behind their placeholders. */
static size_t payload_size(const struct update_item_request *request)
{
    const struct condition_request *condition = &request->condition;
    size_t size = request->key.item.size + request->update_expression.len +
                  condition->condition_expression.len;
    struct item_iter iter;
    struct bytes name;
    struct value value;
    for (size_t i = 0; i < condition->expression_attribute_names.count; i++)
        size += ((const struct bytes *)condition->expression_attribute_names.elements)[i].len;
    if (!condition->expression_attribute_values.present)
        return size;
    item_iter_init(&iter, &condition->expression_attribute_values.item);
    while (item_iter_next(&iter, &name, &value))
        size += value_size(&value);
    return size;
}

/* --- The token --- */

/* How many there are counts too, so that a name cannot be taken for a part of the next action. */
static void add_names(struct token_hash *hash, const struct shape_map *names)
{
    uint8_t count[8];
    store_u64_le(count, names->count);
    token_hash_add(hash, bytes_of(count, sizeof count));
    for (size_t i = 0; i < names->count; i++) {
        token_hash_add(hash, names->names[i]);
        token_hash_add(hash, ((const struct bytes *)names->elements)[i]);
    }
}

/* Whatever decides about an action's effect and its answer. Parts are in canonical order, and a
 * part that is absent counts like an empty one, which the request cannot have instead of it. */
static void add_action(struct token_hash *hash, const struct transaction_action *action,
                       const struct update_item_request *request)
{
    const struct condition_request *condition = &request->condition;
    const uint8_t kind = (uint8_t)action->kind;
    token_hash_add(hash, bytes_of(&kind, sizeof kind));
    token_hash_add(hash, request->table_name);
    token_hash_add(hash, request->key.item.encoded);
    token_hash_add(hash, request->update_expression);
    token_hash_add(hash, condition->condition_expression);
    token_hash_add(hash, condition->expression_attribute_values.item.encoded);
    token_hash_add(hash, condition->return_values_on_condition_check_failure);
    add_names(hash, &condition->expression_attribute_names);
}

/* --- The operation --- */

struct actions {
    struct transaction_action *list;
    const struct update_item_request **requests; /* One for each action. */
    size_t count;
};

static bool read_actions(struct api_call *call, const struct transact_write_items_request *request,
                         struct actions *actions)
{
    for (size_t i = 0; i < actions->count; i++) {
        struct transaction_action *action = &actions->list[i];
        const struct update_item_request *from =
            request_of(call, item_at(request, i), &action->kind);
        if (from == NULL)
            return false;
        actions->requests[i] = from;
        action->table_name = from->table_name;
        action->key = &from->key.item;
        action->shows_item =
            bytes_equal_text(from->condition.return_values_on_condition_check_failure, "ALL_OLD");
    }
    return true;
}

static bool check_actions(struct api_call *call, const struct actions *actions)
{
    size_t size = 0;
    for (size_t i = 0; i < actions->count; i++) {
        if (!check_values(call, actions->requests[i], actions->list[i].kind))
            return false;
    }
    for (size_t i = 0; i < actions->count; i++) {
        if (!compile(call, actions->requests[i], &actions->list[i]))
            return false;
        size += payload_size(actions->requests[i]);
    }
    if (size > TRANSACTION_SIZE_MAX)
        return error_validation(
            &call->error, "Transaction payload size cannot exceed 4MB. Payload Size: %zu", size);
    return true;
}

static void run(struct api_call *call, const void *input)
{
    const struct transact_write_items_request *request = input;
    size_t count = request->transact_items.count;
    struct actions actions = {
        .list = arena_alloc_zeroed(call->arena, count * sizeof *actions.list),
        .requests = arena_alloc(call->arena, count * sizeof(*actions.requests)),
        .count = count,
    };
    if (!read_actions(call, request, &actions) || !check_actions(call, &actions)) {
        operation_fail(call);
        return;
    }
    struct transaction_start start = {
        .actions = actions.list,
        .action_count = count,
        .token = { .text = request->client_request_token, .scope = LAYOUT_TOKEN_WRITE },
        .return_consumed_capacity = request->return_consumed_capacity,
        .return_item_collection_metrics = request->return_item_collection_metrics,
    };
    for (size_t i = 0; i < count && start.token.text.data != NULL; i++)
        add_action(&start.token.hash, &actions.list[i], actions.requests[i]);
    transaction_start(call, &start);
}

const struct operation op_transact_write_items = { .name = "TransactWriteItems",
                                                   .kind = OPERATION_DATA,
                                                   .request = &transact_write_items_shape,
                                                   .asks = OPERATION_ASKS_ITSELF,
                                                   .writes_many = true,
                                                   .run = run };
