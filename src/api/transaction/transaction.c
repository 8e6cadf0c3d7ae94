/* transaction.c -- see transaction.h.
 *
 * What is wrong with a transaction shows in two ways. A fault that can be seen without its tables,
 * an item named twice and an empty key refuse the request. Everything else that concerns one
 * action, from a key that does not fit the schema to a condition that does not hold, cancels the
 * transaction and is told as that action's reason.
 */
#include "api/transaction/transaction.h"
#include <assert.h>
#include "api/item/batch.h"
#include "api/capacity.h"
#include "api/item/item_access.h"
#include "api/item/item_collection.h"
#include "api/item/item_update.h"
#include "api/item/item_write.h"
#include "api/operation.h"
#include "api/transaction/transaction_tables.h"
#include "auth/caller.h"
#include "base/arena.h"
#include "base/clock.h"
#include "expr/condition.h"
#include "expr/lookup.h"
#include "expr/update.h"
#include "index/index_entry.h"
#include "json/writer.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "txn/txn.h"

static_assert((int)TRANSACTION_ACTIONS_MAX <= (int)TXN_ITEMS_MAX, "a transaction fits into a txn");
static_assert((int)TRANSACTION_TOKEN_RECORDS <= (int)TXN_RECORDS_MAX, "so does its token");

struct transaction {
    struct txn txn; /* Its items are those of the actions, in their order. */
    struct api_call *call;
    struct transaction_start start;
    int64_t now_ms; /* On the clock of tokens. */
    /* One of each for each action. */
    struct transaction_reason *reasons;
    size_t *table_of;
    struct transaction_tables tables;
};

static struct transaction *of_txn(struct txn *txn)
{
    return (struct transaction *)((char *)txn - offsetof(struct transaction, txn));
}

/* --- Tables and places --- */

/* Access is decided about every action before anything is told of a table. */
static bool find_tables(struct transaction *transaction)
{
    const struct transaction_start *start = &transaction->start;
    struct transaction_tables *tables = &transaction->tables;
    bool was_asked = start->tables.count > 0;
    for (size_t i = 0; i < start->action_count; i++) {
        size_t table =
            transaction_tables_find(tables, transaction->call, start->actions[i].table_name);
        transaction->table_of[i] = table;
        if (!was_asked &&
            !item_access_action(transaction->call, transaction_tables_at(tables, table),
                                &start->actions[i], start->return_consumed_capacity))
            return false;
    }
    for (size_t i = 0; i < start->action_count; i++) {
        if (!transaction_tables_check(tables, transaction->call, transaction->table_of[i]))
            return false;
        transaction->txn.items[i].table =
            transaction_tables_definition(tables, transaction->table_of[i]);
    }
    return true;
}

static bool locate_item(struct transaction *transaction, size_t index, struct error *fault)
{
    const struct transaction_action *action = &transaction->start.actions[index];
    struct txn_item *item = &transaction->txn.items[index];
    struct arena *arena = transaction->call->arena;
    if (action->kind == TRANSACTION_PUT)
        return item_address_of_item(arena, item->table, action->key, &item->place, fault) &&
               index_entry_check_put(item->table, action->key, fault) &&
               (index_entry_local_fits(arena, item->table, action->key) ||
                operation_refuse_item_size(fault));
    if (!item_address_of_key(arena, item->table, action->key, &item->place, fault) ||
        (action->kind == TRANSACTION_UPDATE &&
         !item_update_check_keys(action->expressions.update, item->table, fault)))
        return false;
    if (action->value_fault != NULL)
        *fault = *action->value_fault;
    return action->value_fault == NULL;
}

/* Measured: keys are judged before items named twice, and before any condition. */
static bool locate_items(struct transaction *transaction)
{
    struct api_call *call = transaction->call;
    size_t fault_count = 0;
    for (size_t i = 0; i < transaction->start.action_count; i++) {
        struct error fault;
        error_init(&fault, call->arena);
        if (locate_item(transaction, i, &fault)) {
            if (!item_expressions_check_keys(call,
                                             &transaction->start.actions[i].expressions.params,
                                             transaction->txn.items[i].table))
                return false;
            continue;
        }
        if (transaction_reason_is_of_request(&fault)) {
            call->error = fault;
            return false;
        }
        if (fault_count++ == 0 || transaction->start.every_key_fault)
            transaction->reasons[i] = transaction_reason_validation(&fault);
    }
    return fault_count == 0 || transaction_reasons_cancel(&call->error, transaction->reasons,
                                                          transaction->start.action_count);
}

static bool check_distinct(struct transaction *transaction)
{
    const struct txn_item *items = transaction->txn.items;
    for (size_t i = 1; i < transaction->start.action_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (item_address_equal(&items[i].place, &items[j].place))
                return transaction_tables_refuse_duplicates(transaction->call);
        }
    }
    return true;
}

/* --- The answer, complete before the commit --- */

static void add_capacity(struct transaction *transaction, size_t index, bool repeated)
{
    struct txn_item *item = &transaction->txn.items[index];
    struct capacity_use *use = &transaction->tables.capacity[transaction->table_of[index]].use;
    size_t size_before = item->exists ? item->current.size : 0;
    use->table = item->table; /* The version that the txn settled on. */
    if (repeated)
        capacity_use_add_transaction_read(use, size_before);
    else
        capacity_use_add_transaction_write(
            use, size_before, item->effect == TXN_PUT ? item->replacement.size : 0,
            item->effect == TXN_KEEP ? NULL : txn_index_changes(&transaction->txn, item));
}

static void write_capacity(struct transaction *transaction, struct json_writer *writer,
                           bool repeated)
{
    struct bytes wanted = transaction->start.return_consumed_capacity;
    if (!capacity_is_wanted(wanted))
        return;
    struct transaction_tables *tables = &transaction->tables;
    for (size_t i = 0; i < tables->count; i++)
        tables->capacity[i].use = (struct capacity_use){ .table = tables->capacity[i].use.table };
    for (size_t i = 0; i < transaction->start.action_count; i++)
        add_capacity(transaction, i, repeated);
    batch_write_capacity(writer, wanted, tables->capacity, tables->count);
}

static void write_collections(struct transaction *transaction, struct json_writer *writer)
{
    const struct transaction_start *start = &transaction->start;
    if (start->return_item_collection_metrics.data == NULL)
        return;
    struct batch_item *items =
        arena_alloc(transaction->call->arena, start->action_count * sizeof *items);
    size_t count = 0;
    for (size_t i = 0; i < start->action_count; i++) {
        if (start->actions[i].kind != TRANSACTION_CHECK)
            items[count++] = (struct batch_item){ .table_index = transaction->table_of[i],
                                                  .key = start->actions[i].key,
                                                  .item = &transaction->txn.items[i] };
    }
    batch_write_collections(writer, start->return_item_collection_metrics, &transaction->txn,
                            transaction->tables.capacity, transaction->tables.count, items, count);
}

/* A request that was carried out before is told what reading its items costs. */
static void answer(struct transaction *transaction, bool repeated)
{
    struct json_writer writer;
    json_writer_init(&writer, &transaction->call->response);
    json_open_object(&writer);
    if (transaction->start.write_members != NULL)
        transaction->start.write_members(&writer, transaction->start.action_count);
    if (!repeated)
        write_collections(transaction, &writer);
    write_capacity(transaction, &writer, repeated);
    json_close_object(&writer);
}

/* --- The decision --- */

static bool decide_update(struct transaction *transaction, const struct transaction_action *action,
                          struct txn_item *item, struct error *fault)
{
    if (!item_update_apply(transaction->call->arena, action->expressions.update, item->table,
                           item->exists ? &item->current : NULL, action->key, &item->replacement,
                           fault))
        return false;
    if (!item_update_fits(transaction->call->arena, item->table, &item->replacement))
        return update_refuse_size(fault);
    item->effect = TXN_PUT;
    return true;
}

/* Every action that adds to a collection that becomes too large is a reason. */
static bool check_collections(struct transaction *transaction)
{
    struct txn *txn = &transaction->txn;
    bool ok = true;
    for (size_t i = 0; i < txn->item_count; i++) {
        if (txn->items[i].effect != TXN_PUT ||
            !item_collection_is_exceeded(transaction->call->api, txn, &txn->items[i]))
            continue;
        transaction->reasons[i] = transaction_reason_collection();
        ok = false;
    }
    return ok;
}

/* False with the reason, or with call->error, set. */
static bool decide_action(struct transaction *transaction, size_t index)
{
    const struct transaction_action *action = &transaction->start.actions[index];
    struct transaction_reason *reason = &transaction->reasons[index];
    struct txn_item *item = &transaction->txn.items[index];
    struct api_call *call = transaction->call;
    const struct condition *condition = action->expressions.condition;
    struct error fault;
    struct lookup lookup;
    lookup_init(&lookup, call->arena, item->exists ? &item->current : NULL);
    if (condition != NULL && !condition_matches(condition, &lookup)) {
        *reason = action->refusal.code != NULL ? action->refusal : transaction_reason_condition();
        if (action->shows_item && item->exists)
            reason->item = &item->current;
        return false;
    }
    switch (action->kind) {
    case TRANSACTION_PUT:
        item->effect = TXN_PUT;
        item->replacement = *action->key;
        return true;
    case TRANSACTION_DELETE:
        item->effect = TXN_DELETE;
        return true;
    case TRANSACTION_CHECK:
        return true;
    case TRANSACTION_UPDATE:
        break;
    }
    error_init(&fault, call->arena);
    if (decide_update(transaction, action, item, &fault))
        return true;
    if (transaction_reason_is_of_request(&fault))
        call->error = fault;
    else
        *reason = transaction_reason_validation(&fault);
    return false;
}

static bool decide_actions(struct transaction *transaction)
{
    struct api_call *call = transaction->call;
    bool ok = true;
    for (size_t i = 0; i < transaction->start.action_count; i++) {
        transaction->reasons[i] = (struct transaction_reason){ 0 };
        ok &= decide_action(transaction, i);
    }
    ok = ok && check_collections(transaction);
    operation_note_written(call, &transaction->txn);
    if (!ok && !error_is_set(&call->error))
        transaction_reasons_cancel(&call->error, transaction->reasons,
                                   transaction->start.action_count);
    return ok;
}

static bool decide(struct txn *txn)
{
    struct transaction *transaction = of_txn(txn);
    struct api_call *call = transaction->call;
    buffer_init(&call->response, call->arena);
    error_init(&call->error, call->arena);
    if (txn->record_count > 0) {
        switch (transaction_token_judge(call->arena, &transaction->start.token, txn->records,
                                        transaction->now_ms, &call->error)) {
        case TRANSACTION_TOKEN_REFUSED:
            return false;
        case TRANSACTION_TOKEN_REPEATED:
            answer(transaction, true);
            return false;
        case TRANSACTION_TOKEN_NEW:
            break;
        }
    }
    if (!decide_actions(transaction))
        return false;
    answer(transaction, false);
    return true;
}

/* --- Start and end --- */

/* Which item was in the way is known only where conflicts are refused at once. */
static void refuse_conflict(struct transaction *transaction)
{
    const struct txn *txn = &transaction->txn;
    struct api_call *call = transaction->call;
    bool known = false;
    for (size_t i = 0; i < txn->record_count; i++) {
        if (txn->records[i].conflict) {
            error_set(&call->error, ERROR_TRANSACTION_IN_PROGRESS,
                      "The transaction with the given request token is already in progress.");
            return;
        }
    }
    for (size_t i = 0; i < txn->item_count; i++)
        known |= txn->items[i].conflict;
    for (size_t i = 0; i < txn->item_count; i++)
        transaction->reasons[i] = !known || txn->items[i].conflict
                                      ? transaction_reason_conflict()
                                      : (struct transaction_reason){ 0 };
    transaction_reasons_cancel(&call->error, transaction->reasons, txn->item_count);
}

static void done(struct txn *txn, enum engine_status status)
{
    struct transaction *transaction = of_txn(txn);
    struct api_call *call = transaction->call;
    transaction_tables_release(&transaction->tables);
    if (status == ENGINE_BUSY || status == ENGINE_CONFLICT) {
        refuse_conflict(transaction);
        operation_fail(call);
    } else {
        operation_end_engine(call, status);
    }
}

static struct transaction *create(struct api_call *call, const struct transaction_start *start)
{
    struct arena *arena = call->arena;
    size_t count = start->action_count;
    struct transaction *transaction = arena_alloc_zeroed(arena, sizeof *transaction);
    transaction->call = call;
    transaction->start = *start;
    transaction->now_ms = clock_server_ms(api_options(call->api)->clock);
    transaction->reasons = arena_alloc_zeroed(arena, count * sizeof *transaction->reasons);
    transaction->table_of = arena_alloc_zeroed(arena, count * sizeof *transaction->table_of);
    transaction->tables = start->tables;
    if (start->tables.count == 0)
        transaction_tables_init(&transaction->tables, arena, count);
    struct txn *txn = &transaction->txn;
    operation_txn_init(txn, call);
    txn->items = arena_alloc_zeroed(arena, count * sizeof *txn->items);
    txn->item_count = count;
    if (call->caller != NULL)
        transaction->start.token.caller = call->caller->arn;
    txn->records = transaction_token_records(arena, &transaction->start.token, transaction->now_ms);
    txn->conflicts = api_conflicts(call->api);
    txn->is_transaction = true;
    txn->decide = decide;
    txn->done = done;
    if (txn->records != NULL)
        txn->record_count = TRANSACTION_TOKEN_RECORDS;
    return transaction;
}

/* Only a server that ran before this one can have stored a token for all callers. Server time
 * resumed no earlier than the generation of the newest one, so all have expired once it has
 * advanced by two lifetimes. */
static bool find_shared_token(struct transaction *transaction)
{
    struct api_call *call = transaction->call;
    struct transaction_token *token = &transaction->start.token;
    if (token->text.data == NULL || token->caller.data == NULL ||
        transaction->now_ms - api_opened_ms(call->api) >= 2 * TOKEN_RECORD_LIFETIME_MS)
        return true;
    return transaction_token_find_shared(call->arena, api_options(call->api)->engine, token,
                                         transaction->now_ms, &call->error);
}

void transaction_start(struct api_call *call, const struct transaction_start *start)
{
    assert(start->action_count > 0 && start->action_count <= TRANSACTION_ACTIONS_MAX);
    struct transaction *transaction = create(call, start);
    if (find_tables(transaction) && locate_items(transaction) && check_distinct(transaction) &&
        find_shared_token(transaction)) {
        txn_start(&transaction->txn);
        return;
    }
    transaction_tables_release(&transaction->tables);
    operation_fail(call);
}
