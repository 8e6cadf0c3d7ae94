/* op_transact_items.c -- TransactWriteItems and TransactGetItems: their shapes, and the rules that
 * need no table.
 *
 * transaction.h carries out the writes, transaction_read.h the reads.
 */
#include "api/common_shapes.h"
#include "api/item/item_expressions.h"
#include "api/item/item_shapes.h"
#include "api/operation.h"
#include "api/transaction/transaction.h"
#include "api/transaction/transaction_read.h"
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/compiler.h"
#include "model/limits.h"
#include "shape/shape.h"

/* --- Requests as their shapes read them --- */

/* Exactly one is not NULL, which the operation checks. All are read into the same structure, of
 * which each kind uses its own members; `key` of a Put is its Item. */
struct transact_write_item {
    struct update_item_request *condition_check;
    struct update_item_request *put;
    struct update_item_request *delete;
    struct update_item_request *update;
};

struct transact_write_items_request {
    struct shape_list transact_items; /* of struct transact_write_item * */
    struct bytes client_request_token;
    struct bytes return_consumed_capacity;
    struct bytes return_item_collection_metrics;
};

struct transact_get_item {
    struct get_item_request *get;
};

struct transact_get_items_request {
    struct shape_list transact_items; /* of struct transact_get_item * */
    struct bytes return_consumed_capacity;
};

/* The rows that all actions share. */
#define ACTION_FIELDS                                                                              \
    { SHAPE_FIELD(struct update_item_request, table_name, "TableName", &common_item_table_name),   \
      .required = true },                                                                          \
        { SHAPE_FIELD(struct update_item_request, condition.expression_attribute_names,            \
                      "ExpressionAttributeNames", &common_attribute_name_map) },                   \
        { SHAPE_FIELD(struct update_item_request, condition.expression_attribute_values,           \
                      "ExpressionAttributeValues", &common_item) },                                \
    {                                                                                              \
        SHAPE_FIELD(struct update_item_request,                                                    \
                    condition.return_values_on_condition_check_failure,                            \
                    "ReturnValuesOnConditionCheckFailure", &item_on_check_failure_shape)           \
    }
#define KEY_FIELD(json_name)                                                                       \
    {                                                                                              \
        SHAPE_FIELD(struct update_item_request, key, json_name, &common_item), .required = true    \
    }
#define CONDITION_FIELD                                                                            \
    SHAPE_FIELD(struct update_item_request, condition.condition_expression, "ConditionExpression", \
                &common_string)

static const struct shape_field condition_check_fields[] = {
    KEY_FIELD("Key"),
    ACTION_FIELDS,
    { CONDITION_FIELD, .required = true },
};
static const struct shape condition_check_shape = {
    SHAPE_STRUCTURE_OF(struct update_item_request, condition_check_fields),
    .type_name = "ConditionCheck",
};

static const struct shape_field put_fields[] = {
    KEY_FIELD("Item"),
    ACTION_FIELDS,
    { CONDITION_FIELD },
};
static const struct shape put_shape = { SHAPE_STRUCTURE_OF(struct update_item_request, put_fields),
                                        .type_name = "Put" };

static const struct shape_field delete_fields[] = {
    KEY_FIELD("Key"),
    ACTION_FIELDS,
    { CONDITION_FIELD },
};
static const struct shape delete_shape = {
    SHAPE_STRUCTURE_OF(struct update_item_request, delete_fields), .type_name = "Delete"
};

static const struct shape_field update_fields[] = {
    KEY_FIELD("Key"),
    { SHAPE_FIELD(struct update_item_request, update_expression, "UpdateExpression",
                  &common_string),
      .required = true },
    ACTION_FIELDS,
    { CONDITION_FIELD },
};
static const struct shape update_shape = {
    SHAPE_STRUCTURE_OF(struct update_item_request, update_fields), .type_name = "Update"
};

static const struct shape_field transact_write_item_fields[] = {
    { SHAPE_FIELD(struct transact_write_item, condition_check, "ConditionCheck",
                  &condition_check_shape) },
    { SHAPE_FIELD(struct transact_write_item, put, "Put", &put_shape) },
    { SHAPE_FIELD(struct transact_write_item, delete, "Delete", &delete_shape) },
    { SHAPE_FIELD(struct transact_write_item, update, "Update", &update_shape) },
};
static const struct shape transact_write_item_shape = {
    SHAPE_STRUCTURE_OF(struct transact_write_item, transact_write_item_fields),
    .type_name = "TransactWriteItem",
};
static const struct shape transact_write_list_shape = { .kind = SHAPE_LIST,
                                                        .element = &transact_write_item_shape,
                                                        .min = 1,
                                                        .max = TRANSACTION_ACTIONS_MAX };
static const struct shape_field transact_write_items_fields[] = {
    { SHAPE_FIELD(struct transact_write_items_request, transact_items, "TransactItems",
                  &transact_write_list_shape),
      .required = true },
    { SHAPE_FIELD(struct transact_write_items_request, client_request_token, "ClientRequestToken",
                  &transaction_token_shape) },
    { SHAPE_FIELD(struct transact_write_items_request, return_consumed_capacity,
                  "ReturnConsumedCapacity", &common_return_consumed_capacity) },
    { SHAPE_FIELD(struct transact_write_items_request, return_item_collection_metrics,
                  "ReturnItemCollectionMetrics", &item_collection_metrics_shape) },
};
static const struct shape transact_write_items_shape = {
    SHAPE_STRUCTURE_OF(struct transact_write_items_request, transact_write_items_fields),
    .type_name = "TransactWriteItemsInput",
};

static const struct shape_field get_fields[] = {
    { SHAPE_FIELD(struct get_item_request, key, "Key", &common_item), .required = true },
    { SHAPE_FIELD(struct get_item_request, table_name, "TableName", &common_item_table_name),
      .required = true },
    { SHAPE_FIELD(struct get_item_request, projection.projection_expression, "ProjectionExpression",
                  &common_string) },
    { SHAPE_FIELD(struct get_item_request, projection.expression_attribute_names,
                  "ExpressionAttributeNames", &common_attribute_name_map) },
};
static const struct shape get_shape = { SHAPE_STRUCTURE_OF(struct get_item_request, get_fields),
                                        .type_name = "Get" };
static const struct shape_field transact_get_item_fields[] = {
    { SHAPE_FIELD(struct transact_get_item, get, "Get", &get_shape), .required = true },
};
static const struct shape transact_get_item_shape = {
    SHAPE_STRUCTURE_OF(struct transact_get_item, transact_get_item_fields),
    .type_name = "TransactGetItem",
};
static const struct shape transact_get_list_shape = { .kind = SHAPE_LIST,
                                                      .element = &transact_get_item_shape,
                                                      .min = 1,
                                                      .max = TRANSACTION_ACTIONS_MAX };
static const struct shape_field transact_get_items_fields[] = {
    { SHAPE_FIELD(struct transact_get_items_request, transact_items, "TransactItems",
                  &transact_get_list_shape),
      .required = true },
    { SHAPE_FIELD(struct transact_get_items_request, return_consumed_capacity,
                  "ReturnConsumedCapacity", &common_return_consumed_capacity) },
};
static const struct shape transact_get_items_shape = {
    SHAPE_STRUCTURE_OF(struct transact_get_items_request, transact_get_items_fields),
    .type_name = "TransactGetItemsInput",
};

static const struct transact_write_item *item_at(const struct transact_write_items_request *request,
                                                 size_t index)
{
    return ((struct transact_write_item *const *)request->transact_items.elements)[index];
}

/* --- Rules, in the service's order --- */

/* The one action of an element; NULL with the error set if it has none or several. */
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
    return operation_check_rule(call, request->key.rule) &&
           (kind != TRANSACTION_PUT || operation_check_item_size(call, NULL, &request->key.item));
}

/* Reported by others: a value that is nested too deep cancels an Update, and is ignored in a
 * ConditionCheck. Returns the request without that fault. */
static const struct update_item_request *pass_depth(struct api_call *call,
                                                    const struct update_item_request *request,
                                                    struct transaction_action *action)
{
    const struct shape_item *values = &request->condition.expression_attribute_values;
    bool lets_pass = action->kind == TRANSACTION_UPDATE || action->kind == TRANSACTION_CHECK;
    if (!lets_pass || !item_expressions_is_too_deep(values))
        return request;
    if (action->kind == TRANSACTION_UPDATE)
        action->value_fault = values->rule;
    struct update_item_request *passed = arena_alloc(call->arena, sizeof *passed);
    *passed = *request;
    passed->condition.expression_attribute_values.rule = NULL;
    return passed;
}

/* Reported by others: names and values without an expression are accepted here. */
static bool compile(struct api_call *call, const struct update_item_request *sent,
                    struct transaction_action *action)
{
    const struct update_item_request *request = pass_depth(call, sent, action);
    const struct update_item_request *update = action->kind == TRANSACTION_UPDATE ? request : NULL;
    if (update == NULL && request->condition.condition_expression.data == NULL)
        return item_expressions_check_values(call, &request->condition.expression_attribute_values);
    return item_expressions_compile(call, &request->condition, update, &action->expressions);
}

/* The size of an action, for TRANSACTION_SIZE_MAX: the item or key, the expressions, and the names
 * and values of their placeholders. */
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

/* --- The token of TransactWriteItems --- */

/* The count is part of the hash, so that a name cannot be mistaken for a part of the next action.
 */
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

/* Hashes everything that an action's effect and answer depend on, in a fixed order. An absent part
 * hashes like an empty one; no request can have an empty one. */
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

/* --- TransactWriteItems --- */

struct actions {
    struct transaction_action *list;
    const struct update_item_request **requests; /* One for each action. */
    size_t count;
};

static bool read_action(struct api_call *call, const struct transact_write_item *item,
                        struct transaction_action *action,
                        const struct update_item_request **request)
{
    const struct update_item_request *from = request_of(call, item, &action->kind);
    if (from == NULL)
        return false;
    *request = from;
    action->table_name = from->table_name;
    action->key = &from->key.item;
    action->shows_item =
        bytes_equal_text(from->condition.return_values_on_condition_check_failure, "ALL_OLD");
    return check_values(call, from, action->kind) && compile(call, from, action);
}

/* Observed: the fault of the first action that has one is reported, whatever its kind. */
static bool read_actions(struct api_call *call, const struct transact_write_items_request *request,
                         struct actions *actions)
{
    size_t size = 0;
    for (size_t i = 0; i < actions->count; i++) {
        if (!read_action(call, item_at(request, i), &actions->list[i], &actions->requests[i]))
            return false;
        size += payload_size(actions->requests[i]);
    }
    if (size > TRANSACTION_SIZE_MAX)
        return error_validation(
            &call->error, "Transaction payload size cannot exceed 4MB. Payload Size: %zu", size);
    return true;
}

static void run_write(struct api_call *call, const void *input)
{
    const struct transact_write_items_request *request = input;
    size_t count = request->transact_items.count;
    struct actions actions = {
        .list = arena_alloc_zeroed(call->arena, count * sizeof *actions.list),
        .requests = arena_alloc(call->arena, count * sizeof(*actions.requests)),
        .count = count,
    };
    if (!read_actions(call, request, &actions)) {
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
                                                   .run = run_write };

/* --- TransactGetItems --- */

static const struct get_item_request *get_at(const struct transact_get_items_request *request,
                                             size_t index)
{
    return ((struct transact_get_item *const *)request->transact_items.elements)[index]->get;
}

/* Reported by others: names without an expression are accepted here. */
static bool compile_get(struct api_call *call, const struct get_item_request *get,
                        struct transaction_read *out)
{
    *out = (struct transaction_read){ .table_name = get->table_name, .key = &get->key.item };
    return get->projection.projection_expression.data == NULL ||
           item_expressions_projection(call, &get->projection, &out->params, &out->projection);
}

static void run_get(struct api_call *call, const void *input)
{
    const struct transact_get_items_request *request = input;
    size_t count = request->transact_items.count;
    struct transaction_read *reads = arena_alloc(call->arena, count * sizeof *reads);
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++)
        ok = operation_check_rule(call, get_at(request, i)->key.rule);
    for (size_t i = 0; i < count && ok; i++)
        ok = compile_get(call, get_at(request, i), &reads[i]);
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
                                                 .run = run_get };
