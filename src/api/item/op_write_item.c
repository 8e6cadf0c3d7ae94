/* op_write_item.c -- PutItem, UpdateItem and DeleteItem: one item, one condition, one answer.
 *
 * The three differ in their rules and in the effect that they decide on; they share the condition,
 * what its failure shows, ReturnValues, capacity and the metrics of item collections.
 */
#include <assert.h>
#include <stdbool.h>
#include "advice/expression_shape.h"
#include "api/admission.h"
#include "api/capacity.h"
#include "api/item/item_access.h"
#include "api/item/item_change.h"
#include "api/item/item_expressions.h"
#include "api/item/item_shapes.h"
#include "api/model/model_watch.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "expr/ast.h"
#include "expr/condition.h"
#include "expr/lookup.h"
#include "index/index_entry.h"
#include "json/writer.h"
#include "model/value_json.h"
#include "table/catalogue.h"
#include "txn/txn.h"

/* What the response has as Attributes. */
struct shown {
    const struct item *item;     /* NULL: nothing. */
    const struct update *update; /* Only the parts that it changes; NULL: the whole item. */
};

struct item_write {
    struct txn txn;
    struct txn_item item;
    struct api_call *call;
    const void *request;
    const struct condition_request *condition_request;
    const struct item *key; /* Has at least the key attributes. */
    bool puts_key;          /* It is the item to be put. */
    struct item_expressions expressions;
    /* Called if the condition holds. Sets the item's effect and calls `answer`, or sets call->error
     * and returns false. May run more than once: call->response is empty each time. */
    bool (*decide)(struct item_write *write);
    struct shown shown;
    struct item shown_copy;  /* Of the old item. */
    int64_t collection_size; /* If the answer has it. */
};

/* The arguments of start_write. */
struct item_write_start {
    struct bytes table_name; /* As sent. */
    const void *request;
    const struct condition_request *condition_request;
    const struct item *key; /* Has at least the key attributes. */
    bool puts_key;          /* It is the item to be put. */
    /* How `key` says where the item lives: item_address_of_item or item_address_of_key. */
    bool (*locate)(struct arena *arena, const struct table_definition *table,
                   const struct item *key, struct item_address *out, struct error *err);
    /* The operation's rules that need the table, checked after the item was located. May be NULL.
     */
    bool (*check)(struct api_call *call, const struct table_definition *table, const void *request,
                  const struct item_expressions *expressions);
    struct item_expressions expressions;
    bool (*decide)(struct item_write *write);
};

/* --- Rules --- */

/* The first checks: parameters that exclude each other, then `rule`, the broken rule, if any, of
 * the attribute values sent. `update` is NULL except for UpdateItem. */
static bool check_first(struct api_call *call, const struct condition_request *condition,
                        const struct update_item_request *update, const struct error *rule)
{
    return item_expressions_check(call, condition, update) && operation_check_rule(call, rule);
}

/* PutItem and DeleteItem accept fewer ReturnValues than UpdateItem. */
static bool check_return_values(struct api_call *call, struct bytes return_values)
{
    if (return_values.data == NULL || bytes_equal_text(return_values, "NONE") ||
        bytes_equal_text(return_values, "ALL_OLD"))
        return true;
    return error_fault(&call->error, "ReturnValues can only be ALL_OLD or NONE");
}

/* --- The answer --- */

/* The old item if ReturnValues is ALL_OLD and there was one. */
static struct shown old_item(const struct item_write *write)
{
    bool shows =
        write->item.exists && bytes_equal_text(write->condition_request->return_values, "ALL_OLD");
    return (struct shown){ .item = shows ? &write->item.current : NULL };
}

static struct item_write *of_txn(struct txn *txn)
{
    return (struct item_write *)((char *)txn - offsetof(struct item_write, txn));
}

static void write_attributes(struct item_write *write, struct json_writer *writer)
{
    const struct shown *shown = &write->shown;
    if (shown->item == NULL)
        return;
    if (shown->update == NULL) {
        json_write_name(writer, "Attributes");
        item_json_write(writer, shown->item);
        return;
    }
    struct bytes parts = item_change_updated_json(write->call->arena, shown->update, shown->item);
    if (parts.len > 0) {
        json_write_name(writer, "Attributes");
        json_write_raw(writer, parts);
    }
}

/* An object with Attributes, ConsumedCapacity and ItemCollectionMetrics. */
static void write_answer(struct txn *txn)
{
    struct item_write *write = of_txn(txn);
    const struct condition_request *request = write->condition_request;
    struct json_writer writer;
    json_writer_init(&writer, &write->call->response);
    json_open_object(&writer);
    write_attributes(write, &writer);
    capacity_write_json(&writer, request->return_consumed_capacity, write->call->uses);
    if (item_change_wants_collection(request->return_item_collection_metrics, write->item.table)) {
        json_write_name(&writer, "ItemCollectionMetrics");
        item_change_write_collection(&writer, write->item.table, write->key,
                                     write->collection_size);
    }
    json_close_object(&writer);
}

/* Keeps what will be shown: the old item is only valid during the decision. */
static void keep_shown(struct item_write *write, struct shown shown)
{
    if (shown.item == &write->item.current) {
        write->shown_copy = item_copy(write->call->arena, shown.item);
        shown.item = &write->shown_copy;
    }
    write->shown = shown;
}

/* The item's effect is set. An answer with an item is written when the latches are gone, for which
 * others wait; the usual one is so short that it may as well be written now. */
static void answer(struct item_write *write, struct shown shown)
{
    const struct table_definition *table = write->item.table;
    capacity_use_add_write(write->call->uses, &write->txn, &write->item);
    if (item_change_wants_collection(write->condition_request->return_item_collection_metrics,
                                     table))
        write->collection_size = txn_collection_size_after(&write->txn, &write->item);
    keep_shown(write, shown);
    if (shown.item == NULL)
        write_answer(&write->txn);
    else
        write->txn.answer = write_answer;
}

/* --- The write --- */

static void write_refused_item(struct txn *txn)
{
    struct item_write *write = of_txn(txn);
    write->call->error.item_json = item_change_item_json(write->call->arena, write->shown.item);
}

static bool refuse(struct item_write *write)
{
    struct api_call *call = write->call;
    error_set(&call->error, ERROR_CONDITIONAL_CHECK_FAILED, "The conditional request failed");
    call->uses->condition_failure_count++;
    capacity_use_add_refused_write(call->uses, &write->item,
                                   write->puts_key ? write->key->size : 0);
    if (write->item.exists &&
        bytes_equal_text(write->condition_request->return_values_on_condition_check_failure,
                         "ALL_OLD")) {
        keep_shown(write, (struct shown){ .item = &write->item.current });
        write->txn.answer = write_refused_item;
    }
    return false;
}

/* Asks as if nothing had been counted. */
static bool admit_indexes(struct item_write *write)
{
    struct capacity_use *use = write->call->uses;
    if (!use->is_asked)
        return true;
    struct capacity_use counted = *use;
    capacity_use_clear(use);
    bool ok = admission_decided(write->call, use, &write->item);
    *use = counted;
    return ok;
}

static bool decide(struct txn *txn)
{
    struct item_write *write = of_txn(txn);
    const struct condition *condition = write->expressions.condition;
    struct lookup lookup;
    buffer_init(&write->call->response, write->call->arena);
    error_clear(&write->call->error);
    admission_forget(write->call, 0);
    capacity_use_clear(write->call->uses);
    lookup_init(&lookup, write->call->arena, write->item.exists ? &write->item.current : NULL);
    if (condition != NULL &&
        (!condition_matches(condition, &lookup) ||
         admission_fails_condition(write->call, write->call->uses, &write->item.place)))
        return refuse(write);
    if (write->decide(write) && model_watch_check(write->call, &write->item, &write->call->error) &&
        item_change_check_collections(write->call, txn) &&
        (admit_indexes(write) || admission_fail(write->call)))
        return true;
    capacity_use_clear(write->call->uses);
    return false;
}

static void done(struct txn *txn, enum engine_status status)
{
    operation_end_engine(of_txn(txn)->call, status);
}

static bool may_write(struct api_call *call, const struct table *table,
                      const struct item_write_start *start)
{
    const struct item_access_write write = { .table_name = start->table_name,
                                             .table = table,
                                             .request = start->condition_request,
                                             .item = start->key,
                                             .expressions = &start->expressions };
    return item_access_write(call, &write);
}

static bool locate(struct api_call *call, const struct table_definition *table,
                   const struct item_write_start *start, struct item_address *place)
{
    return start->locate(call->arena, table, start->key, place, &call->error) &&
           (start->check == NULL ||
            start->check(call, table, start->request, &start->expressions)) &&
           item_expressions_check_keys(call, &start->expressions.params, table);
}

/* The table's limits, and those of the indexes if the new item is known and will be put: what is
 * refused here costs no latch and no read. The decision asks the indexes about the old item, too.
 */
static bool admit(struct api_call *call, const struct table_definition *table,
                  const struct item_write_start *start, const struct item_address *place)
{
    bool is_certain = start->puts_key && start->expressions.condition == NULL;
    return (admission_write(call, call->uses, place) &&
            (!is_certain || admission_indexes(call, call->uses, table, NULL, start->key))) ||
           admission_fail(call);
}

/* For the adviser. */
static void note_shape(struct api_call *call, const struct item_expressions *expressions)
{
    bool has_update = expressions->update != NULL && expressions->update->action_count > 0;
    if ((expressions->condition == NULL && !has_update) || !api_counts_shapes(call->api))
        return;
    call->shape = arena_alloc(call->arena, sizeof *call->shape);
    *call->shape = (struct expression_shape){ .kind = SHAPE_WRITE,
                                              .condition = expressions->condition,
                                              .update = has_update ? expressions->update : NULL };
}

/* Finds the table and the address of the item, runs the write and ends the call. */
static void start_write(struct api_call *call, const struct item_write_start *start)
{
    assert(start->key != NULL && start->locate != NULL && start->decide != NULL);
    struct item_address place;
    struct table *table = operation_find_table(call, start->table_name);
    if (!may_write(call, table, start) || !operation_check_table(call, table) ||
        !locate(call, table_definition(table), start, &place) ||
        !admit(call, table_definition(table), start, &place)) {
        operation_fail(call);
        return;
    }
    note_shape(call, &start->expressions);
    struct item_write *write = arena_alloc(call->arena, sizeof *write);
    *write = (struct item_write){
        .item = { .table = table_definition(table), .place = place },
        .call = call,
        .request = start->request,
        .condition_request = start->condition_request,
        .key = start->key,
        .puts_key = start->puts_key,
        .expressions = start->expressions,
        .decide = start->decide,
    };
    operation_txn_init(&write->txn, call);
    write->txn.items = &write->item;
    write->txn.item_count = 1;
    write->txn.conflicts = api_conflicts(call->api);
    write->txn.decide = decide;
    write->txn.done = done;
    txn_start(&write->txn);
}

/* --- PutItem: the item replaces the one that has its key --- */

static bool check_put(struct api_call *call, const struct put_item_request *request,
                      struct item_expressions *expressions)
{
    if (!check_first(call, &request->condition, NULL, request->item.rule) ||
        !check_return_values(call, request->condition.return_values) ||
        !operation_check_item_size(call, NULL, &request->item.item))
        return false;
    return item_expressions_compile(call, &request->condition, NULL, expressions);
}

static bool decide_put(struct item_write *write)
{
    const struct put_item_request *request = write->request;
    write->item.effect = TXN_PUT;
    write->item.replacement = request->item.item;
    answer(write, old_item(write));
    return true;
}

static bool check_put_indexes(struct api_call *call, const struct table_definition *table,
                              const void *input, const struct item_expressions *expressions)
{
    const struct put_item_request *request = input;
    (void)expressions;
    return index_entry_check_put(table, &request->item.item, &call->error) &&
           operation_check_item_size(call, table, &request->item.item);
}

static void run_put(struct api_call *call, const void *input)
{
    const struct put_item_request *request = input;
    struct item_write_start start = { .table_name = request->table_name,
                                      .request = request,
                                      .condition_request = &request->condition,
                                      .key = &request->item.item,
                                      .puts_key = true,
                                      .locate = item_address_of_item,
                                      .check = check_put_indexes,
                                      .decide = decide_put };
    if (check_put(call, request, &start.expressions))
        start_write(call, &start);
    else
        operation_fail(call);
}

const struct operation op_put_item = { .name = "PutItem",
                                       .kind = OPERATION_DATA,
                                       .request = &put_item_shape,
                                       .family = ERROR_FAMILY_ENVELOPED,
                                       .asks = OPERATION_ASKS_ITSELF,
                                       .run = run_put };

/* --- UpdateItem: changes an item in place, or creates one from its key --- */

static bool check_keys_untouched(struct api_call *call, const struct table_definition *table,
                                 const void *input, const struct item_expressions *expressions)
{
    (void)input;
    return item_change_check_keys(expressions->update, table, &call->error);
}

static struct shown updated_attributes(const struct item_write *write, const struct item *updated)
{
    struct bytes wanted = write->condition_request->return_values;
    const struct update *update = write->expressions.update;
    if (bytes_equal_text(wanted, "ALL_NEW"))
        return (struct shown){ .item = updated };
    if (bytes_equal_text(wanted, "UPDATED_NEW"))
        return (struct shown){ .item = updated, .update = update };
    if (bytes_equal_text(wanted, "UPDATED_OLD"))
        return (struct shown){ .item = write->item.exists ? &write->item.current : NULL,
                               .update = update };
    return old_item(write);
}

static bool decide_update(struct item_write *write)
{
    const struct update_item_request *request = write->request;
    const struct update *update = write->expressions.update;
    struct api_call *call = write->call;
    const struct item *key = &request->key.item;
    struct item updated;
    if (!write->item.exists && item_change_creates_nothing(update)) {
        answer(write, (struct shown){ 0 });
        return true;
    }
    if (!item_change_apply_update(call->arena, update, write->item.table,
                                  write->item.exists ? &write->item.current : NULL, key, &updated,
                                  &call->error) ||
        !item_change_check_update_size(call->arena, write->item.table, update, key, &updated,
                                       &call->error))
        return false;
    write->item.effect = TXN_PUT;
    write->item.replacement = updated;
    answer(write, updated_attributes(write, &write->item.replacement));
    return true;
}

static void run_update(struct api_call *call, const void *input)
{
    const struct update_item_request *request = input;
    struct item_write_start start = { .table_name = request->table_name,
                                      .request = request,
                                      .condition_request = &request->condition,
                                      .key = &request->key.item,
                                      .locate = item_address_of_key,
                                      .check = check_keys_untouched,
                                      .decide = decide_update };
    if (check_first(call, &request->condition, request, request->key.rule) &&
        item_expressions_compile(call, &request->condition, request, &start.expressions))
        start_write(call, &start);
    else
        operation_fail(call);
}

const struct operation op_update_item = { .name = "UpdateItem",
                                          .kind = OPERATION_DATA,
                                          .request = &update_item_shape,
                                          .family = ERROR_FAMILY_ENVELOPED,
                                          .asks = OPERATION_ASKS_ITSELF,
                                          .run = run_update };

/* --- DeleteItem: deleting an item that does not exist succeeds --- */

static bool check_delete(struct api_call *call, const struct delete_item_request *request,
                         struct item_expressions *expressions)
{
    return check_first(call, &request->condition, NULL, request->key.rule) &&
           check_return_values(call, request->condition.return_values) &&
           item_expressions_compile(call, &request->condition, NULL, expressions);
}

static bool decide_delete(struct item_write *write)
{
    write->item.effect = TXN_DELETE;
    answer(write, old_item(write));
    return true;
}

static void run_delete(struct api_call *call, const void *input)
{
    const struct delete_item_request *request = input;
    struct item_write_start start = { .table_name = request->table_name,
                                      .request = request,
                                      .condition_request = &request->condition,
                                      .key = &request->key.item,
                                      .locate = item_address_of_key,
                                      .decide = decide_delete };
    if (check_delete(call, request, &start.expressions))
        start_write(call, &start);
    else
        operation_fail(call);
}

const struct operation op_delete_item = { .name = "DeleteItem",
                                          .kind = OPERATION_DATA,
                                          .request = &delete_item_shape,
                                          .family = ERROR_FAMILY_ENVELOPED,
                                          .asks = OPERATION_ASKS_ITSELF,
                                          .run = run_delete };
