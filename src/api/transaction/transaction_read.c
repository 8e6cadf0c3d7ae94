/* transaction_read.c -- see transaction_read.h.
 *
 * Reads see all of a transaction under way or nothing of it (read/read_items.h), so they do not
 * conflict with it. They are refused only with `refuse_conflicts` (api/api.h).
 */
#include "api/transaction/transaction_read.h"
#include <assert.h>
#include "advice/expression_shape.h"
#include "api/admission.h"
#include "api/capacity.h"
#include "api/item/item_access.h"
#include "api/item/item_expressions.h"
#include "api/operation.h"
#include "api/transaction/transaction.h"
#include "api/item/batch.h"
#include "base/arena.h"
#include "expr/lookup.h"
#include "expr/projection.h"
#include "json/writer.h"
#include "read/read_items.h"
#include "model/limits.h"
#include "model/value_json.h"
#include "table/item_address.h"
#include "txn/txn_conflicts.h"

struct transaction_view {
    struct api_call *call;
    const struct transaction_read_start *start;
    /* One of each for each read. */
    struct transaction_reason *reasons;
    struct item_address *places;
    size_t *table_of;
};

/* --- Rules, in the service's order --- */

/* Access is decided for every read before an error reveals anything about a table. */
static bool find_tables(struct transaction_view *view)
{
    const struct transaction_read_start *start = view->start;
    for (size_t i = 0; i < start->read_count; i++) {
        const struct transaction_read *read = &start->reads[i];
        size_t table = batch_borrow_table(view->call, read->table_name);
        view->table_of[i] = table;
        if (!start->was_asked &&
            !item_access_transact_get(view->call, view->call->uses[table].table, read,
                                      start->return_consumed_capacity))
            return false;
    }
    for (size_t i = 0; i < start->read_count; i++)
        if (!operation_check_table(view->call, view->call->uses[view->table_of[i]].table))
            return false;
    return true;
}

static bool locate_items(struct transaction_view *view)
{
    struct api_call *call = view->call;
    size_t fault_count = 0;
    for (size_t i = 0; i < view->start->read_count; i++) {
        const struct transaction_read *read = &view->start->reads[i];
        const struct table_definition *table = view->call->uses[view->table_of[i]].definition;
        struct error fault;
        error_init(&fault, call->arena);
        if (item_address_of_key(call->arena, table, read->key, &view->places[i], &fault)) {
            if (!item_expressions_check_keys(call, &read->params, table))
                return false;
            continue;
        }
        if (transaction_reason_is_of_request(&fault)) {
            call->error = fault;
            return false;
        }
        if (fault_count++ == 0 || view->start->every_key_fault)
            view->reasons[i] = transaction_reason_validation(&fault);
    }
    return fault_count == 0 ||
           transaction_reasons_cancel(&call->error, view->reasons, view->start->read_count);
}

static bool check_distinct(struct transaction_view *view)
{
    for (size_t i = 1; i < view->start->read_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (item_address_equal(&view->places[i], &view->places[j]))
                return transaction_refuse_duplicates(view->call);
        }
    }
    return true;
}

/* Only if the server refuses conflicts: see txn_conflicts.h. */
static bool check_conflicts(struct transaction_view *view)
{
    struct txn_conflicts *conflicts = api_conflicts(view->call->api);
    bool ok = true;
    for (size_t i = 0; i < view->start->read_count && conflicts != NULL; i++) {
        if (txn_conflicts_has(conflicts, &view->places[i].address)) {
            view->reasons[i] = transaction_reason_conflict();
            view->call->uses[view->table_of[i]].conflict_count++;
            ok = false;
        }
    }
    return ok ||
           transaction_reasons_cancel(&view->call->error, view->reasons, view->start->read_count);
}

/* As of writes: see transaction.c. */
static bool admit(struct transaction_view *view)
{
    struct api_call *call = view->call;
    size_t count = view->start->read_count, throttled_count = 0;
    for (size_t i = 0; i < count && call->admission != NULL; i++) {
        size_t first = admission_refusal_count(call);
        if (admission_get(call, &call->uses[view->table_of[i]], &view->places[i]))
            continue;
        throttled_count++;
        view->reasons[i] = admission_reason(
            call, (struct admission_refusals){ first, admission_refusal_count(call) });
    }
    if (throttled_count == 0)
        return true;
    return throttled_count == count || admission_is_of_request(call)
               ? admission_fail_batch(call)
               : transaction_reasons_cancel(&call->error, view->reasons, count);
}

/* --- Reading --- */

/* Observed: an item whose projection is empty is not shown, except with PartiQL. */
static void write_item(struct transaction_view *view, struct json_writer *writer, size_t index,
                       const struct item *item)
{
    const struct transaction_read *read = &view->start->reads[index];
    const struct path_node *projection = read->projection;
    struct buffer text;
    struct json_writer projected;
    if (read->column_count > 0) {
        struct lookup lookup;
        lookup_init(&lookup, view->call->arena, item);
        json_write_name(writer, "Item");
        projection_write_columns(writer, read->columns, read->column_count, &lookup);
        return;
    }
    if (projection == NULL) {
        json_write_name(writer, "Item");
        item_json_write(writer, item);
        return;
    }
    buffer_init(&text, view->call->arena);
    json_writer_init(&projected, &text);
    projection_write(&projected, projection, item);
    if (bytes_equal_text(buffer_bytes(&text), "{}"))
        return;
    json_write_name(writer, "Item");
    json_write_raw(writer, buffer_bytes(&text));
}

static bool read_item(struct transaction_view *view, struct read_items *items,
                      struct json_writer *writer, size_t index)
{
    assert(view->table_of[index] < view->call->use_count);
    struct read_item item;
    size_t table = view->table_of[index];
    if (!read_items_get(items, view->call->uses[table].definition, &view->places[index],
                        READ_ITEM_OPENED, &item, &view->call->error))
        return false;
    if (items->size <= TRANSACTION_SIZE_MAX) { /* Beyond that, items only count. */
        struct capacity_use *use = &view->call->uses[table];
        capacity_use_add_transaction_read(use, &view->places[index], item.shown.item.size,
                                          item.exists);
        json_open_object(writer);
        if (item.exists)
            write_item(view, writer, index, &item.shown.item);
        json_close_object(writer);
    }
    read_item_release(&item);
    return true;
}

static bool read_and_answer(struct transaction_view *view)
{
    struct api_call *call = view->call;
    struct read_items items;
    struct json_writer writer;
    bool ok = read_items_open(api_options(call->api)->engine, true, call->operation->name, &items,
                              &call->error);
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "Responses");
    json_open_array(&writer);
    for (size_t i = 0; i < view->start->read_count && ok; i++)
        ok = read_item(view, &items, &writer, i);
    json_close_array(&writer);
    capacity_write_list(&writer, view->start->return_consumed_capacity, view->call->uses,
                        view->call->use_count);
    json_close_object(&writer);
    read_items_close(&items);
    if (ok && items.size > TRANSACTION_SIZE_MAX)
        return error_validation(&call->error, "Payload in response is too large.%zu", items.size);
    return ok;
}

void transaction_read_start(struct api_call *call, const struct transaction_read_start *start)
{
    assert(start->read_count > 0 && start->read_count <= TRANSACTION_ACTIONS_MAX);
    size_t count = start->read_count;
    call->batch_count = (uint32_t)count;
    if (count == 1)
        operation_note_single_transaction(call);
    struct transaction_view view = {
        .call = call,
        .start = start,
        .reasons = arena_alloc_zeroed(call->arena, count * sizeof *view.reasons),
        .places = arena_alloc(call->arena, count * sizeof *view.places),
        .table_of = arena_alloc(call->arena, count * sizeof *view.table_of),
    };
    if (!start->was_asked)
        operation_expect_tables(call, count);
    bool ok = find_tables(&view) && locate_items(&view) && check_distinct(&view) &&
              check_conflicts(&view) && admit(&view) && read_and_answer(&view);
    operation_end(call, ok);
}
