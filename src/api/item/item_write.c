/* item_write.c -- see item_write.h. */
#include "api/item/item_write.h"
#include "api/capacity.h"
#include "api/item/item_access.h"
#include "api/item/item_collection.h"
#include "api/item/item_shapes.h"
#include "api/operation.h"
#include "base/arena.h"
#include "expr/condition.h"
#include "expr/lookup.h"
#include "json/writer.h"
#include "model/value_json.h"
#include "table/catalogue.h"

static struct item_write *of_txn(struct txn *txn)
{
    return (struct item_write *)((char *)txn - offsetof(struct item_write, txn));
}

struct bytes item_write_item_json(struct arena *arena, const struct item *item)
{
    struct buffer text;
    struct json_writer writer;
    buffer_init(&text, arena);
    json_writer_init(&writer, &text);
    item_json_write(&writer, item);
    return buffer_bytes(&text);
}

static bool refuse(struct item_write *write)
{
    struct api_call *call = write->call;
    error_set(&call->error, ERROR_CONDITIONAL_CHECK_FAILED, "The conditional request failed");
    if (write->item.exists &&
        bytes_equal_text(write->condition_request->return_values_on_condition_check_failure,
                         "ALL_OLD"))
        call->error.item_json = item_write_item_json(call->arena, &write->item.current);
    return false;
}

static bool decide(struct txn *txn)
{
    struct item_write *write = of_txn(txn);
    const struct condition *condition = write->expressions.condition;
    struct lookup lookup;
    buffer_init(&write->call->response, write->call->arena);
    error_init(&write->call->error, write->call->arena);
    lookup_init(&lookup, write->call->arena, write->item.exists ? &write->item.current : NULL);
    if (condition != NULL && !condition_matches(condition, &lookup))
        return refuse(write);
    return write->decide(write) && item_collection_check(write->call, txn);
}

static void done(struct txn *txn, enum engine_status status)
{
    struct item_write *write = of_txn(txn);
    table_release(write->table);
    operation_end_engine(write->call, status);
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

void item_write_start(struct api_call *call, const struct item_write_start *start)
{
    struct item_address place;
    struct table *table = operation_find_table(call, start->table_name);
    if (!may_write(call, table, start) || !operation_check_table(call, table) ||
        !locate(call, table_definition(table), start, &place)) {
        table_release(table);
        operation_fail(call);
        return;
    }
    struct item_write *write = arena_alloc(call->arena, sizeof *write);
    *write = (struct item_write){
        .item = { .table = table_definition(table), .place = place },
        .call = call,
        .table = table,
        .request = start->request,
        .condition_request = start->condition_request,
        .key = start->key,
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

bool item_write_check(struct api_call *call, const struct condition_request *condition,
                      const struct update_item_request *update, const struct error *rule)
{
    return item_expressions_check(call, condition, update) && operation_check_rule(call, rule);
}

bool item_write_check_return_values(struct api_call *call, struct bytes return_values)
{
    if (return_values.data == NULL || bytes_equal_text(return_values, "NONE") ||
        bytes_equal_text(return_values, "ALL_OLD"))
        return true;
    return error_validation(&call->error, ERROR_ENVELOPE "ReturnValues can only be "
                                                         "ALL_OLD or NONE");
}

struct bytes item_write_old_item(struct item_write *write)
{
    if (!write->item.exists ||
        !bytes_equal_text(write->condition_request->return_values, "ALL_OLD"))
        return BYTES("");
    return item_write_item_json(write->call->arena, &write->item.current);
}

static void write_capacity(struct item_write *write, struct json_writer *writer,
                           struct bytes table_name)
{
    struct bytes wanted = write->condition_request->return_consumed_capacity;
    struct txn_item *item = &write->item;
    if (!capacity_is_wanted(wanted))
        return;
    struct capacity_use use = { .table = item->table };
    capacity_use_add_write(&use, item->exists ? item->current.size : 0,
                           item->effect == TXN_PUT ? item->replacement.size : 0,
                           txn_index_changes(&write->txn, item));
    capacity_use_write_json(writer, wanted, table_name, &use);
}

void item_write_answer(struct item_write *write, struct bytes attributes, struct bytes table_name)
{
    const struct table_definition *table = write->item.table;
    struct json_writer writer;
    json_writer_init(&writer, &write->call->response);
    json_open_object(&writer);
    if (attributes.len > 0) {
        json_write_name(&writer, "Attributes");
        json_write_raw(&writer, attributes);
    }
    write_capacity(write, &writer, table_name);
    if (item_collection_is_wanted(write->condition_request->return_item_collection_metrics,
                                  table)) {
        json_write_name(&writer, "ItemCollectionMetrics");
        item_collection_write(&writer, table, write->key,
                              txn_collection_size_after(&write->txn, &write->item));
    }
    json_close_object(&writer);
}
