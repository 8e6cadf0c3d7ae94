/* transaction.c -- see transaction.h.
 *
 * A fault in a transaction has one of two results. A fault that can be seen without its tables, an
 * item named twice and an empty key refuse the request. Everything else that concerns one
 * action, from a key that does not fit the schema to a condition that does not hold, cancels the
 * transaction and is reported as that action's reason.
 */
#include "api/transaction/transaction.h"
#include <assert.h>
#include <string.h>
#include "advice/expression_shape.h"
#include "api/admission.h"
#include "api/capacity.h"
#include "api/item/batch.h"
#include "api/item/item_access.h"
#include "api/item/item_change.h"
#include "api/model/model_watch.h"
#include "api/operation.h"
#include "auth/caller.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "expr/condition.h"
#include "expr/lookup.h"
#include "expr/update.h"
#include "index/index_entry.h"
#include "json/writer.h"
#include "model/error.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "model/value_json.h"
#include "shape/shape.h"
#include "table/storage_error.h"
#include "txn/txn.h"

enum { TRANSACTION_TOKEN_RECORDS = TOKEN_RECORD_PLACES };
static_assert((int)TRANSACTION_ACTIONS_MAX <= (int)TXN_ITEMS_MAX, "a transaction fits into a txn");
static_assert((int)TRANSACTION_TOKEN_RECORDS <= (int)TXN_RECORDS_MAX, "so does its token");

const struct shape transaction_token_shape = { .kind = SHAPE_STRING,
                                               .min = 1,
                                               .max = TRANSACTION_TOKEN_SIZE_MAX };

/* --- Reasons of a cancellation --- */

static const char no_fault[] = "None";

struct transaction_reason transaction_reason_condition(void)
{
    return (struct transaction_reason){ .code = "ConditionalCheckFailed",
                                        .message = BYTES("The conditional request failed") };
}

struct transaction_reason transaction_reason_conflict(void)
{
    return (struct transaction_reason){ .code = "TransactionConflict",
                                        .message = BYTES("Transaction is ongoing for the item") };
}

struct transaction_reason transaction_reason_collection(void)
{
    return (struct transaction_reason){ .code = "ItemCollectionSizeLimitExceeded",
                                        .message = BYTES(ITEM_CHANGE_COLLECTION_EXCEEDED) };
}

struct transaction_reason transaction_reason_validation(const struct error *fault)
{
    return (struct transaction_reason){ .code = "ValidationError", .message = fault->message };
}

bool transaction_reason_is_of_request(const struct error *fault)
{
    return bytes_starts_with(fault->message, BYTES("One or more parameter values are not valid."));
}

static const char *code_of(const struct transaction_reason *reason)
{
    return reason->code == NULL ? no_fault : reason->code;
}

static void write_reason(struct json_writer *writer, const struct transaction_reason *reason)
{
    json_open_object(writer);
    json_write_name(writer, "Code");
    json_write_text(writer, code_of(reason));
    if (reason->item != NULL) {
        json_write_name(writer, "Item");
        item_json_write(writer, reason->item);
    }
    if (reason->code != NULL) {
        json_write_name(writer, "Message");
        json_write_string(writer, reason->message);
    }
    json_close_object(writer);
}

bool transaction_reasons_cancel(struct error *err, const struct transaction_reason *reasons,
                                size_t count)
{
    assert(count > 0 && count <= TRANSACTION_ACTIONS_MAX);
    struct buffer json, message;
    struct json_writer writer;
    buffer_init(&json, err->arena);
    buffer_init(&message, err->arena);
    json_writer_init(&writer, &json);
    json_open_array(&writer);
    buffer_append_bytes(&message, BYTES("Transaction cancelled, please refer cancellation reasons "
                                        "for specific reasons ["));
    for (size_t i = 0; i < count; i++) {
        write_reason(&writer, &reasons[i]);
        if (i > 0)
            buffer_append_bytes(&message, BYTES(", "));
        buffer_append_bytes(&message, bytes_from_text(code_of(&reasons[i])));
    }
    json_close_array(&writer);
    buffer_append_byte(&message, ']');
    err->reasons_json = buffer_bytes(&json);
    return error_set_bytes(err, ERROR_TRANSACTION_CANCELED, buffer_bytes(&message));
}

bool transaction_refuse_duplicates(struct api_call *call)
{
    return error_validation(&call->error,
                            "Transaction request cannot include multiple operations on one item");
}

/* --- ClientRequestToken: a repeated request has no second effect ---
 *
 * The record of a token is written in the batch of the transaction's effects, and its address is
 * among those that the transaction depends on. So a crash cannot separate the two, and of two
 * requests with one token the second always finds what the first one did.
 *
 * Where requests are authenticated, each caller has tokens of its own: nobody learns of another's
 * requests by repeating a token, or keeps another from using one. A caller is a user, not an access
 * key, so that a request can be repeated with the user's next key, or in another session.
 */

/* The records that a transaction with this token depends on; NULL if it has none. */
static struct txn_record *token_records(struct arena *arena, const struct transaction_token *token,
                                        int64_t now_ms)
{
    struct engine_address addresses[TRANSACTION_TOKEN_RECORDS];
    if (token->text.data == NULL)
        return NULL;
    struct txn_record *records =
        arena_alloc_zeroed(arena, TRANSACTION_TOKEN_RECORDS * sizeof *records);
    if (token->caller.data == NULL)
        token_record_addresses(arena, token->scope, token->text, now_ms, addresses);
    else
        token_record_addresses(arena, token->scope | LAYOUT_TOKEN_OF_CALLER,
                               token_record_of_caller(arena, token->caller, token->text), now_ms,
                               addresses);
    for (size_t i = 0; i < TRANSACTION_TOKEN_RECORDS; i++)
        records[i].address = addresses[i];
    return records;
}

/* Stores of earlier formats had one name space of tokens for all callers, and a server without
 * authentication still has. Looks for a record that was stored that way, so that a request sent
 * before an upgrade has no second effect after it. Only a record of the same request counts. A
 * server with authentication stores no such record, so none can appear or change meanwhile. False
 * with the error set. */
static bool token_find_shared(struct arena *arena, struct engine *engine,
                              struct transaction_token *token, int64_t now_ms, struct error *err)
{
    assert(token->text.data != NULL);
    struct engine_address addresses[TOKEN_RECORD_PLACES];
    struct engine_view *view = NULL;
    token_record_addresses(arena, token->scope, token->text, now_ms, addresses);
    enum engine_status status = engine_view_open(engine, ENGINE_STRONG, &view);
    for (size_t i = 0; i < TOKEN_RECORD_PLACES && status == ENGINE_OK; i++) {
        struct engine_value value = { 0 };
        struct token_record record;
        status = engine_view_get(view, &addresses[i], &value);
        if (status == ENGINE_OK && !token_record_decode(value.bytes, &record))
            status = ENGINE_CORRUPT;
        if (status == ENGINE_OK && record.expires_at_ms > now_ms &&
            memcmp(&record.hash, &token->hash, sizeof record.hash) == 0)
            token->was_repeated = true;
        engine_value_release(&value);
        if (status == ENGINE_NOT_FOUND)
            status = ENGINE_OK;
    }
    engine_view_close(view);
    if (status != ENGINE_OK)
        storage_error_set(err, status, "record of a ClientRequestToken");
    return status == ENGINE_OK;
}

enum transaction_token_state {
    TRANSACTION_TOKEN_NEW,      /* The record to be written is set. */
    TRANSACTION_TOKEN_REPEATED, /* The same request was executed before. */
    TRANSACTION_TOKEN_REFUSED,  /* The error is set. */
};
/* Within a decision. `records` are those of token_records, read. */
static enum transaction_token_state token_judge(struct arena *arena,
                                                const struct transaction_token *token,
                                                struct txn_record *records, int64_t now_ms,
                                                struct error *err)
{
    assert(token->text.data != NULL);
    struct token_record record;
    if (token->was_repeated)
        return TRANSACTION_TOKEN_REPEATED;
    for (size_t i = 0; i < TRANSACTION_TOKEN_RECORDS; i++) {
        if (!records[i].exists)
            continue;
        if (!token_record_decode(records[i].current, &record)) {
            storage_error_set(err, ENGINE_CORRUPT, "record of a ClientRequestToken");
            return TRANSACTION_TOKEN_REFUSED;
        }
        if (record.expires_at_ms <= now_ms)
            continue;
        if (memcmp(&record.hash, &token->hash, sizeof record.hash) == 0)
            return TRANSACTION_TOKEN_REPEATED;
        error_set(err, ERROR_IDEMPOTENT_PARAMETER_MISMATCH,
                  "DynamoDB rejected the request because you retried a request with a different "
                  "payload but with an idempotent token that was already used.");
        return TRANSACTION_TOKEN_REFUSED;
    }
    record = (struct token_record){ .expires_at_ms = now_ms + TOKEN_RECORD_LIFETIME_MS,
                                    .hash = token->hash };
    records[0].replacement = token_record_encode(arena, &record);
    return TRANSACTION_TOKEN_NEW;
}

/* --- The transaction --- */

struct transaction {
    struct txn txn; /* Its items are those of the actions, in their order. */
    struct api_call *call;
    struct transaction_start start;
    int64_t now_ms; /* Server time, by which tokens expire. */
    /* One of each for each action. */
    struct transaction_reason *reasons;
    size_t *table_of;
};

static struct transaction *of_txn(struct txn *txn)
{
    return (struct transaction *)((char *)txn - offsetof(struct transaction, txn));
}

/* --- Tables and places --- */

/* Access is decided for every action before an error reveals anything about a table. */
static bool find_tables(struct transaction *transaction)
{
    const struct transaction_start *start = &transaction->start;
    struct api_call *call = transaction->call;
    for (size_t i = 0; i < start->action_count; i++) {
        size_t table = batch_find_table(call, start->actions[i].table_name);
        transaction->table_of[i] = table;
        if (!start->was_asked &&
            !item_access_action(call, call->uses[table].table, &start->actions[i],
                                start->return_consumed_capacity))
            return false;
    }
    for (size_t i = 0; i < start->action_count; i++) {
        if (!operation_check_table(call, call->uses[transaction->table_of[i]].table))
            return false;
        transaction->txn.items[i].table = call->uses[transaction->table_of[i]].definition;
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
         !item_change_check_keys(action->expressions.update, item->table, fault)))
        return false;
    if (action->value_fault != NULL)
        *fault = *action->value_fault;
    return action->value_fault == NULL;
}

/* Measured: keys are checked before items named twice, and before any condition. */
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
                return transaction_refuse_duplicates(transaction->call);
        }
    }
    return true;
}

/* --- Limits of throughput --- */

/* The service's rule is unknown. Ours: if every action is refused, so is the request; otherwise the
 * transaction is cancelled, with a reason for each that was. Returns false. */
static bool refuse_throttled(struct transaction *transaction, size_t throttled_count)
{
    struct api_call *call = transaction->call;
    size_t count = transaction->start.action_count;
    if (throttled_count == count || admission_is_of_request(call))
        return admission_fail_batch(call);
    return transaction_reasons_cancel(&call->error, transaction->reasons, count);
}

/* Asks for each action. `ask` returns false if it is refused. */
static bool admit_actions(struct transaction *transaction,
                          bool (*ask)(struct api_call *call, const struct capacity_use *use,
                                      const struct txn_item *item))
{
    struct api_call *call = transaction->call;
    size_t throttled_count = 0;
    if (call->admission == NULL)
        return true;
    for (size_t i = 0; i < transaction->start.action_count; i++) {
        size_t first = admission_refusal_count(call);
        transaction->reasons[i] = (struct transaction_reason){ 0 };
        if (ask(call, &call->uses[transaction->table_of[i]], &transaction->txn.items[i]))
            continue;
        throttled_count++;
        transaction->reasons[i] = admission_reason(
            call, (struct admission_refusals){ first, admission_refusal_count(call) });
    }
    return throttled_count == 0 || refuse_throttled(transaction, throttled_count);
}

static bool ask_table(struct api_call *call, const struct capacity_use *use,
                      const struct txn_item *item)
{
    return admission_write(call, use, &item->place);
}

/* --- The answer, complete before the commit --- */

static void clear_uses(struct api_call *call)
{
    for (size_t i = 0; i < call->use_count; i++)
        capacity_use_clear(&call->uses[i]);
}

static void count_uses(struct transaction *transaction, bool repeated)
{
    struct api_call *call = transaction->call;
    for (size_t i = 0; i < transaction->start.action_count; i++) {
        struct txn_item *item = &transaction->txn.items[i];
        struct capacity_use *use = &call->uses[transaction->table_of[i]];
        if (repeated)
            capacity_use_add_transaction_read(use, &item->place,
                                              item->exists ? item->current.size : 0, item->exists);
        else
            capacity_use_add_transaction_write(use, &transaction->txn, item);
    }
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
                            transaction->call->uses, transaction->call->use_count, items, count);
}

/* A repeated request reports the capacity of reading its items. */
static void answer(struct transaction *transaction, bool repeated)
{
    struct api_call *call = transaction->call;
    struct json_writer writer;
    count_uses(transaction, repeated);
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    if (transaction->start.write_members != NULL)
        transaction->start.write_members(&writer);
    if (!repeated)
        write_collections(transaction, &writer);
    capacity_write_list(&writer, transaction->start.return_consumed_capacity, call->uses,
                        call->use_count);
    json_close_object(&writer);
}

/* --- The decision --- */

static bool decide_update(struct transaction *transaction, const struct transaction_action *action,
                          struct txn_item *item, struct error *fault)
{
    if (!item->exists && item_change_creates_nothing(action->expressions.update))
        return true;
    if (!item_change_apply_update(transaction->call->arena, action->expressions.update, item->table,
                                  item->exists ? &item->current : NULL, action->key,
                                  &item->replacement, fault))
        return false;
    if (!item_change_fits(transaction->call->arena, item->table, &item->replacement))
        return update_refuse_size(fault);
    item->effect = TXN_PUT;
    return true;
}

/* Every action that adds to a collection that becomes too large gets a reason. */
static bool check_collections(struct transaction *transaction)
{
    struct txn *txn = &transaction->txn;
    bool ok = true;
    for (size_t i = 0; i < txn->item_count; i++) {
        if (txn->items[i].effect != TXN_PUT ||
            !item_change_exceeds_collection(transaction->call->api, txn, &txn->items[i]))
            continue;
        transaction->reasons[i] = transaction_reason_collection();
        ok = false;
    }
    return ok;
}

/* False with the reason, or with call->error, set. */
static bool decide_action(struct transaction *transaction, size_t index)
{
    assert(index < transaction->start.action_count);
    const struct transaction_action *action = &transaction->start.actions[index];
    struct transaction_reason *reason = &transaction->reasons[index];
    struct txn_item *item = &transaction->txn.items[index];
    struct api_call *call = transaction->call;
    const struct condition *condition = action->expressions.condition;
    struct error fault;
    struct lookup lookup;
    lookup_init(&lookup, call->arena, item->exists ? &item->current : NULL);
    const struct capacity_use *use = &call->uses[transaction->table_of[index]];
    if (condition != NULL && (!condition_matches(condition, &lookup) ||
                              admission_fails_condition(call, use, &item->place))) {
        *reason = action->refusal.code != NULL ? action->refusal : transaction_reason_condition();
        if (action->shows_item && item->exists)
            reason->item = &item->current;
        return false;
    }
    error_init(&fault, call->arena);
    switch (action->kind) {
    case TRANSACTION_PUT:
        item->effect = TXN_PUT;
        item->replacement = *action->key;
        if (model_watch_check(call, item, &fault))
            return true;
        *reason = transaction_reason_validation(&fault);
        return false;
    case TRANSACTION_DELETE:
        item->effect = TXN_DELETE;
        return true;
    case TRANSACTION_CHECK:
        return true;
    case TRANSACTION_UPDATE:
        break;
    }
    if (decide_update(transaction, action, item, &fault) && model_watch_check(call, item, &fault))
        return true;
    if (transaction_reason_is_of_request(&fault))
        call->error = fault;
    else
        *reason = transaction_reason_validation(&fault);
    return false;
}

/* The size of the item that the action would leave, or 0 if that is not known or there is none. */
static size_t size_after(const struct transaction_action *action, const struct txn_item *item)
{
    if (action->kind == TRANSACTION_PUT)
        return action->key->size;
    return item->effect == TXN_PUT ? item->replacement.size : 0;
}

static void count_cancelled(struct transaction *transaction)
{
    const char *failed = transaction_reason_condition().code;
    for (size_t i = 0; i < transaction->start.action_count; i++) {
        const char *code = transaction->reasons[i].code;
        const struct txn_item *item = &transaction->txn.items[i];
        struct capacity_use *use = &transaction->call->uses[transaction->table_of[i]];
        use->condition_failure_count += code != NULL && strcmp(code, failed) == 0;
        capacity_use_add_cancelled_write(use, item,
                                         size_after(&transaction->start.actions[i], item));
    }
}

static void write_cancellation(struct txn *txn)
{
    struct transaction *transaction = of_txn(txn);
    transaction_reasons_cancel(&transaction->call->error, transaction->reasons,
                               transaction->start.action_count);
}

/* Reasons that show items, up to 4 MB of them, are written when the latches are gone, for which
 * others wait. The items are only valid during the decision, so they are copied. */
static void cancel(struct transaction *transaction)
{
    bool shows = false;
    for (size_t i = 0; i < transaction->start.action_count; i++) {
        struct transaction_reason *reason = &transaction->reasons[i];
        if (reason->item == NULL)
            continue;
        struct item *copy = arena_alloc(transaction->call->arena, sizeof *copy);
        *copy = item_copy(transaction->call->arena, reason->item);
        reason->item = copy;
        shows = true;
    }
    if (shows)
        transaction->txn.answer = write_cancellation;
    else
        write_cancellation(&transaction->txn);
}

static bool decide_actions(struct transaction *transaction)
{
    struct api_call *call = transaction->call;
    bool ok = true;
    for (size_t i = 0; i < transaction->start.action_count; i++) {
        transaction->reasons[i] = (struct transaction_reason){ 0 };
        ok &= decide_action(transaction, i);
    }
    ok = ok && check_collections(transaction) && admit_actions(transaction, admission_decided);
    if (!ok && !error_is_set(&call->error)) {
        count_cancelled(transaction);
        cancel(transaction);
    }
    return ok;
}

static bool decide(struct txn *txn)
{
    struct transaction *transaction = of_txn(txn);
    struct api_call *call = transaction->call;
    buffer_init(&call->response, call->arena);
    error_clear(&call->error);
    admission_forget(call, 0);
    clear_uses(call);
    if (txn->record_count > 0) {
        switch (token_judge(call->arena, &transaction->start.token, txn->records,
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

/* The conflicting item is known only if the server refuses conflicts at once. */
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
    for (size_t i = 0; i < txn->item_count; i++) {
        bool conflicts = !known || txn->items[i].conflict;
        transaction->reasons[i] =
            conflicts ? transaction_reason_conflict() : (struct transaction_reason){ 0 };
        call->uses[transaction->table_of[i]].conflict_count += conflicts;
    }
    transaction_reasons_cancel(&call->error, transaction->reasons, txn->item_count);
}

static void done(struct txn *txn, enum engine_status status)
{
    struct transaction *transaction = of_txn(txn);
    struct api_call *call = transaction->call;
    if (status == ENGINE_BUSY || status == ENGINE_CONFLICT) {
        clear_uses(call); /* The decision may have succeeded, but nothing was written. */
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
    if (!start->was_asked)
        operation_expect_tables(call, count);
    struct txn *txn = &transaction->txn;
    operation_txn_init(txn, call);
    txn->items = arena_alloc_zeroed(arena, count * sizeof *txn->items);
    txn->item_count = count;
    if (call->caller != NULL)
        transaction->start.token.caller = call->caller->arn;
    txn->records = token_records(arena, &transaction->start.token, transaction->now_ms);
    txn->conflicts = api_conflicts(call->api);
    txn->is_transaction = true;
    txn->decide = decide;
    txn->done = done;
    if (txn->records != NULL)
        txn->record_count = TRANSACTION_TOKEN_RECORDS;
    return transaction;
}

/* Only an earlier run of the server can have stored a token for all callers. Server time resumed no
 * earlier than the generation of the newest one, so all have expired once it has advanced by two
 * lifetimes. */
static bool find_shared_token(struct transaction *transaction)
{
    struct api_call *call = transaction->call;
    struct transaction_token *token = &transaction->start.token;
    if (token->text.data == NULL || token->caller.data == NULL ||
        transaction->now_ms - api_opened_ms(call->api) >= 2 * TOKEN_RECORD_LIFETIME_MS)
        return true;
    return token_find_shared(call->arena, api_options(call->api)->engine, token,
                             transaction->now_ms, &call->error);
}

void transaction_start(struct api_call *call, const struct transaction_start *start)
{
    assert(start->action_count > 0 && start->action_count <= TRANSACTION_ACTIONS_MAX);
    call->batch_count = (uint32_t)start->action_count;
    if (start->action_count == 1)
        operation_note_single_transaction(call);
    struct transaction *transaction = create(call, start);
    if (find_tables(transaction) && locate_items(transaction) && check_distinct(transaction) &&
        find_shared_token(transaction) && admit_actions(transaction, ask_table)) {
        txn_start(&transaction->txn);
        return;
    }
    operation_fail(call);
}
