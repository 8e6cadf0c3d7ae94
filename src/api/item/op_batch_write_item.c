/* op_batch_write_item.c -- BatchWriteItem: up to 25 puts and deletes, durable before the answer.
 *
 * The service writes each item by itself, not all or none. Here they are one txn nevertheless: one
 * round of latches, one engine batch and one completion cost less than 25, and a failure leaves
 * nothing half done. UnprocessedItems holds those that the limits of their tables and indexes did
 * not admit or, if other writes held their latches for too long, all; clients send those again. An
 * engine without atomic writes over several
 * partitions (ENGINE_GLOBAL_ATOMIC) will need one txn for each partition, which the service's
 * contract allows.
 */
#include <assert.h>
#include "api/admission.h"
#include "api/capacity.h"
#include "api/item/batch.h"
#include "api/item/item_shapes.h"
#include "api/item/item_access.h"
#include "api/item/item_change.h"
#include "api/model/model_watch.h"
#include "api/operation.h"
#include "base/arena.h"
#include "index/index_entry.h"
#include "json/writer.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "model/value_json.h"
#include "table/catalogue.h"
#include "txn/txn.h"

static_assert((int)BATCH_WRITE_REQUESTS_MAX <= (int)TXN_ITEMS_MAX, "a batch fits into one txn");

struct batch_write {
    struct txn txn;
    struct api_call *call;
    const struct batch_write_item_request *request;
    size_t table_count; /* In the order of the request's map, like the call's uses. */
    /* One of each for each request. */
    struct txn_item items[BATCH_WRITE_REQUESTS_MAX];
    const struct write_request *requests[BATCH_WRITE_REQUESTS_MAX];
    struct batch_item members[BATCH_WRITE_REQUESTS_MAX];
    bool refused[BATCH_WRITE_REQUESTS_MAX]; /* Not admitted: set by the decision. */
};

static const struct shape_list *requests_of(const struct batch_write_item_request *request,
                                            size_t table_index)
{
    return (const struct shape_list *)request->request_items.elements + table_index;
}

static const struct write_request *request_at(const struct shape_list *requests, size_t index)
{
    return ((struct write_request *const *)requests->elements)[index];
}

/* --- Rules, in the service's order --- */

static bool check_request(struct api_call *call, const struct write_request *request)
{
    /* The service's message, though this is no AttributeValue. */
    if ((request->put == NULL) == (request->delete == NULL))
        return error_validation(&call->error,
                                "Supplied AttributeValue has more than one datatypes set, must "
                                "contain exactly one of the supported datatypes");
    if (request->delete != NULL)
        return operation_check_rule(call, request->delete->key.rule);
    return operation_check_rule(call, request->put->item.rule) &&
           operation_check_item_size(call, NULL, &request->put->item.item);
}

static bool check(struct api_call *call, const struct batch_write_item_request *request)
{
    const struct shape_map *items = &request->request_items;
    size_t total = 0;
    if (items->count == 0)
        return error_validation(&call->error, "%s", batch_write_items_absent_text);
    if (!batch_check_names(call, items))
        return false;
    for (size_t i = 0; i < items->count; i++) {
        const struct shape_list *requests = requests_of(request, i);
        for (size_t r = 0; r < requests->count; r++) {
            if (!check_request(call, request_at(requests, r)))
                return false;
        }
        total += requests->count;
    }
    call->batch_count = (uint32_t)total;
    if (total > BATCH_WRITE_REQUESTS_MAX)
        return error_validation(&call->error,
                                "Too many items requested for the BatchWriteItem call");
    return true;
}

/* Observed: a key that is missing or of the wrong type is reported as for a Key, everything else as
 * by PutItem. */
static bool place_of_item(struct api_call *call, const struct table_definition *table,
                          const struct item *item, struct item_address *out)
{
    const struct bytes mismatch =
        BYTES("One or more parameter values were invalid: Type mismatch for key ");
    const struct bytes missing =
        BYTES("One or more parameter values were invalid: Missing the key ");
    if (item_address_of_item(call->arena, table, item, out, &call->error))
        return index_entry_check_put(table, item, &call->error) &&
               operation_check_item_size(call, table, item);
    if (bytes_starts_with(call->error.message, mismatch) ||
        bytes_starts_with(call->error.message, missing)) {
        error_clear(&call->error);
        error_validation(&call->error, "The provided key element does not match the schema");
    }
    return false;
}

/* Access to all tables is decided before an error reveals anything about one of them. */
static bool find_tables(struct batch_write *batch)
{
    operation_expect_tables(batch->call, batch->table_count);
    for (size_t i = 0; i < batch->table_count; i++) {
        struct bytes name = batch->request->request_items.names[i];
        const struct table *table = operation_find_table(batch->call, name);
        if (!item_access_batch_write(batch->call, name, table, requests_of(batch->request, i),
                                     batch->request->return_consumed_capacity))
            return false;
    }
    return true;
}

static bool find_table_items(struct batch_write *batch, size_t table_index,
                             struct item_address *places)
{
    struct api_call *call = batch->call;
    const struct shape_list *requests = requests_of(batch->request, table_index);
    const struct table *table = call->uses[table_index].table;
    if (!operation_check_table(call, table))
        return false;
    const struct table_definition *definition = table_definition(table);
    for (size_t r = 0; r < requests->count; r++) {
        const struct write_request *request = request_at(requests, r);
        size_t index = batch->txn.item_count;
        assert(index < BATCH_WRITE_REQUESTS_MAX);
        bool ok = request->put != NULL
                      ? place_of_item(call, definition, &request->put->item.item, &places[index])
                      : item_address_of_key(call->arena, definition, &request->delete->key.item,
                                            &places[index], &call->error);
        if (!ok || !batch_check_place(call, places, index))
            return false;
        batch->items[index] = (struct txn_item){ .table = definition, .place = places[index] };
        batch->requests[index] = request;
        batch->members[index] = (struct batch_item){
            .table_index = table_index,
            .key = request->put != NULL ? &request->put->item.item : &request->delete->key.item,
            .item = &batch->items[index],
        };
        batch->txn.item_count++;
    }
    return true;
}

static bool find_items(struct batch_write *batch)
{
    struct item_address places[BATCH_WRITE_REQUESTS_MAX];
    for (size_t i = 0; i < batch->table_count; i++) {
        if (!find_table_items(batch, i, places))
            return false;
    }
    return true;
}

/* --- The write --- */

static struct batch_write *of_txn(struct txn *txn)
{
    return (struct batch_write *)((char *)txn - offsetof(struct batch_write, txn));
}

static void write_request(struct json_writer *writer, const struct write_request *request)
{
    const bool is_put = request->put != NULL;
    json_open_object(writer);
    json_write_name(writer, is_put ? "PutRequest" : "DeleteRequest");
    json_open_object(writer);
    json_write_name(writer, is_put ? "Item" : "Key");
    item_json_write(writer, is_put ? &request->put->item.item : &request->delete->key.item);
    json_close_object(writer);
    json_close_object(writer);
}

/* RequestItems as they were sent: all of them, or those that were refused. */
static void write_requests(struct json_writer *writer, const struct batch_write *batch, bool all)
{
    size_t open_table = SIZE_MAX;
    for (size_t i = 0; i < batch->txn.item_count; i++) {
        size_t table = batch->members[i].table_index;
        if (!all && !batch->refused[i])
            continue;
        if (table != open_table) {
            if (open_table != SIZE_MAX)
                json_close_array(writer);
            json_write_name_bytes(writer, batch->request->request_items.names[table]);
            json_open_array(writer);
            open_table = table;
        }
        write_request(writer, batch->requests[i]);
    }
    if (open_table != SIZE_MAX)
        json_close_array(writer);
}

/* The members that were admitted; returns how many. */
static size_t find_admitted(const struct batch_write *batch, struct batch_item *out)
{
    size_t count = 0;
    for (size_t i = 0; i < batch->txn.item_count; i++) {
        if (!batch->refused[i])
            out[count++] = batch->members[i];
    }
    return count;
}

/* Written by the decision, because nothing may be added once the commit may have ended the call. */
static void answer(struct batch_write *batch)
{
    struct json_writer writer;
    struct batch_item admitted[BATCH_WRITE_REQUESTS_MAX];
    size_t admitted_count = find_admitted(batch, admitted);
    buffer_init(&batch->call->response, batch->call->arena);
    json_writer_init(&writer, &batch->call->response);
    json_open_object(&writer);
    json_write_name(&writer, "UnprocessedItems");
    json_open_object(&writer);
    write_requests(&writer, batch, false);
    json_close_object(&writer);
    batch_write_collections(&writer, batch->request->return_item_collection_metrics, &batch->txn,
                            batch->call->uses, batch->table_count, admitted, admitted_count);
    capacity_write_list(&writer, batch->request->return_consumed_capacity, batch->call->uses,
                        batch->table_count);
    json_close_object(&writer);
}

static void reset_capacity(struct batch_write *batch)
{
    for (size_t i = 0; i < batch->table_count; i++)
        capacity_use_clear(&batch->call->uses[i]);
}

/* Other writes held the latches for too long, and nothing was written. */
static void answer_unprocessed(struct batch_write *batch)
{
    struct json_writer writer;
    error_clear(&batch->call->error);
    buffer_init(&batch->call->response, batch->call->arena);
    json_writer_init(&writer, &batch->call->response);
    json_open_object(&writer);
    json_write_name(&writer, "UnprocessedItems");
    json_open_object(&writer);
    write_requests(&writer, batch, true);
    json_close_object(&writer);
    reset_capacity(batch);
    capacity_write_list(&writer, batch->request->return_consumed_capacity, batch->call->uses,
                        batch->table_count);
    json_close_object(&writer);
}

static struct capacity_use *use_at(const struct batch_write *batch, size_t index)
{
    return &batch->call->uses[batch->members[index].table_index];
}

/* What the limits do not admit has no effect. */
static void decide_item(struct batch_write *batch, size_t index)
{
    struct txn_item *item = &batch->items[index];
    const struct put_request *put = batch->requests[index]->put;
    struct capacity_use *use = use_at(batch, index);
    item->effect = put == NULL ? TXN_DELETE : TXN_PUT;
    if (put != NULL)
        item->replacement = put->item.item;
    batch->refused[index] = !admission_write(batch->call, use, &item->place) ||
                            !admission_decided(batch->call, use, item);
    if (batch->refused[index])
        item->effect = TXN_KEEP;
    else
        capacity_use_add_write(use, &batch->txn, item);
}

static bool decide(struct txn *txn)
{
    struct batch_write *batch = of_txn(txn);
    size_t refused_count = 0;
    error_clear(&batch->call->error);
    admission_forget(batch->call, 0);
    reset_capacity(batch);
    for (size_t i = 0; i < txn->item_count; i++) {
        decide_item(batch, i);
        refused_count += batch->refused[i];
    }
    if (refused_count == txn->item_count)
        return admission_fail_batch(batch->call);
    if (!model_watch_check_all(batch->call, txn, &batch->call->error) ||
        !item_change_check_collections(batch->call, txn)) {
        reset_capacity(batch);
        return false;
    }
    answer(batch);
    return true;
}

static void done(struct txn *txn, enum engine_status status)
{
    struct batch_write *batch = of_txn(txn);
    if (status == ENGINE_BUSY || status == ENGINE_CONFLICT) {
        answer_unprocessed(batch);
        status = ENGINE_OK;
    }
    operation_end_engine(batch->call, status);
}

/* True unless the limits of the tables refuse every item, whatever the others cost. What is refused
 * here costs no latch and no read; the decision asks again. */
static bool admit(struct batch_write *batch)
{
    bool any = false;
    if (batch->call->admission == NULL)
        return true;
    for (size_t i = 0; i < batch->txn.item_count; i++)
        any |= admission_write(batch->call, use_at(batch, i), &batch->items[i].place);
    if (!any)
        return admission_fail_batch(batch->call);
    admission_forget(batch->call, 0);
    return true;
}

static struct batch_write *create(struct api_call *call,
                                  const struct batch_write_item_request *request)
{
    struct batch_write *batch = arena_alloc_zeroed(call->arena, sizeof *batch);
    operation_txn_init(&batch->txn, call);
    batch->txn.items = batch->items;
    batch->txn.decide = decide;
    batch->txn.done = done;
    batch->call = call;
    batch->request = request;
    batch->table_count = request->request_items.count;
    return batch;
}

static void run(struct api_call *call, const void *input)
{
    if (!check(call, input)) {
        operation_fail(call);
        return;
    }
    struct batch_write *batch = create(call, input);
    if (find_tables(batch) && find_items(batch) && admit(batch)) {
        txn_start(&batch->txn);
        return;
    }
    operation_fail(call);
}

const struct operation op_batch_write_item = { .name = "BatchWriteItem",
                                               .kind = OPERATION_DATA,
                                               .request = &batch_write_item_shape,
                                               .asks = OPERATION_ASKS_ITSELF,
                                               .run = run };
