/* op_get_item.c -- GetItem and BatchGetItem: reads by key, written to JSON from the stored bytes.
 *
 * A batch reads up to a hundred items, all from one view of the store. It writes each to the answer
 * as it reads it, so it holds one item's bytes at a time. Once the next item would not fit into
 * BATCH_GET_SIZE_MAX, it and all behind it become UnprocessedKeys: the client asks for those again.
 * Between two items a batch may pause (api.h).
 */
#include <assert.h>
#include "api/admission.h"
#include "api/capacity.h"
#include "api/item/batch.h"
#include "api/item/item_access.h"
#include "api/item/item_expressions.h"
#include "api/item/item_shapes.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/crc32c.h"
#include "expr/projection.h"
#include "json/writer.h"
#include "model/limits.h"
#include "model/value_json.h"
#include "read/read_items.h"
#include "table/catalogue.h"
#include "table/item_address.h"

static_assert(ITEM_SIZE_MAX <= BATCH_GET_SIZE_MAX, "every answer has room for an item");

/* Whole items can be shown without looking at their attributes. */
static enum read_item_as read_as(const struct path_node *projection)
{
    return projection == NULL ? READ_ITEM_SHOWN : READ_ITEM_OPENED;
}

static void write_item(struct json_writer *writer, const struct path_node *projection,
                       const struct read_item *item)
{
    assert(item->exists);
    if (projection == NULL)
        shown_item_write(writer, &item->shown);
    else
        projection_write(writer, projection, &item->shown.item);
}

/* --- GetItem --- */

static void answer(struct api_call *call, const struct get_item_request *request,
                   const struct path_node *projection, const struct item_address *place,
                   const struct read_item *item)
{
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    if (item->exists) {
        json_write_name(&writer, "Item");
        write_item(&writer, projection, item);
    }
    capacity_use_add_read(call->uses, place, shown_item_size(&item->shown), item->exists,
                          request->consistent_read.value);
    capacity_write_json(&writer, request->return_consumed_capacity, call->uses);
    json_close_object(&writer);
}

static bool read_and_answer(struct api_call *call, const struct get_item_request *request,
                            const struct path_node *projection, const struct table *table,
                            const struct item_address *place)
{
    struct read_items items;
    struct read_item item;
    if (!read_items_open(api_options(call->api)->engine, request->consistent_read.value, "GetItem",
                         &items, &call->error))
        return false;
    bool ok = read_items_get(&items, table_definition(table), place, read_as(projection), &item,
                             &call->error);
    if (ok) {
        answer(call, request, projection, place, &item);
        read_item_release(&item);
    }
    read_items_close(&items);
    return ok;
}

static void run_get(struct api_call *call, const void *input)
{
    const struct get_item_request *request = input;
    struct item_address place;
    struct table *table = NULL;
    const struct path_node *projection;
    struct expr_params params;
    const struct item_projection *sent = &request->projection;
    bool ok = operation_check_rule(call, request->key.rule) &&
              item_expressions_check_projections(call, &sent, 1) &&
              item_expressions_projection(call, &request->projection, &params, &projection);
    if (ok) {
        table = operation_borrow_table(call, request->table_name);
        ok = item_access_get(call, table, request, projection) &&
             operation_check_table(call, table) &&
             item_address_of_key(call->arena, table_definition(table), &request->key.item, &place,
                                 &call->error) &&
             item_expressions_check_keys(call, &params, table_definition(table)) &&
             (admission_get(call, call->uses, &place) || admission_fail(call));
    }
    operation_end(call, ok && read_and_answer(call, request, projection, table, &place));
}

const struct operation op_get_item = { .name = "GetItem",
                                       .kind = OPERATION_DATA,
                                       .request = &get_item_shape,
                                       .family = ERROR_FAMILY_NEWER,
                                       .asks = OPERATION_ASKS_ITSELF,
                                       .run = run_get };

/* --- BatchGetItem --- */

/* One table of the request. */
struct table_read {
    const struct keys_and_attributes *request;
    const struct path_node *projection; /* NULL: whole items. */
    struct expr_params params;          /* Of the projection. */
    struct table *table;
    const struct item_address *places; /* One per key. */
    size_t read_count;                 /* Of the keys; those behind are unprocessed. */
    bool *refused; /* One per key: unprocessed, for want of throughput; NULL: no limits. */
    size_t refused_count;
};

struct batch_read {
    struct api_call *call;
    const struct batch_get_item_request *request;
    struct table_read *tables; /* In the order of the request's map, like the call's uses. */
    size_t table_count;
    struct read_items items;
    struct json_writer writer;
    size_t table_index; /* Of the table that is being read. */
    bool is_full;       /* Everything not yet read is unprocessed. */
};

/* --- Rules, in the service's order --- */

static const struct shape_item *key_at(const struct keys_and_attributes *request, size_t index)
{
    return (const struct shape_item *)request->keys.elements + index;
}

/* Observed: these messages show no value, and their paths differ in letter case. */
static bool check_key_counts(const struct batch_read *batch)
{
    const struct shape_map *items = &batch->request->request_items;
    struct error *err = &batch->call->error;
    if (items->count == 0)
        return error_validation(err, "1 validation error detected: Value at 'RequestItems' failed "
                                     "to satisfy constraint: Member must have length greater than "
                                     "or equal to 1");
    for (size_t i = 0; i < items->count; i++) {
        if (batch->tables[i].request->keys.count == 0)
            return error_validation(err,
                                    "1 validation error detected: Value at "
                                    "'requestItems.%.*s.member.keys' failed to satisfy constraint: "
                                    "Member must have length greater than or equal to 1",
                                    BYTES_FMT(items->names[i]));
    }
    if (!batch_check_names(batch->call, items))
        return false;
    for (size_t i = 0; i < items->count; i++) {
        if (batch->tables[i].request->keys.count > BATCH_GET_KEYS_MAX)
            return error_validation(err,
                                    "1 validation error detected: Value at "
                                    "'RequestItems.%.*s.member.Keys' failed to satisfy constraint: "
                                    "Member must have length less than or equal to %d",
                                    BYTES_FMT(items->names[i]), BATCH_GET_KEYS_MAX);
        batch->call->batch_count += (uint32_t)batch->tables[i].request->keys.count;
    }
    return true;
}

static bool check_key_values(const struct batch_read *batch)
{
    size_t total = 0;
    for (size_t i = 0; i < batch->table_count; i++) {
        const struct keys_and_attributes *request = batch->tables[i].request;
        for (size_t k = 0; k < request->keys.count; k++) {
            if (!operation_check_rule(batch->call, key_at(request, k)->rule))
                return false;
        }
        total += request->keys.count;
    }
    if (total > BATCH_GET_KEYS_MAX)
        return error_validation(&batch->call->error,
                                "Too many items requested for the BatchGetItem call");
    return true;
}

/* Compares all attributes, because the table's key is not known yet. Equal values have equal bytes,
 * so checksums are compared first: a hundred keys are some five thousand pairs. */
static bool check_distinct_keys(const struct batch_read *batch,
                                const struct keys_and_attributes *request)
{
    uint32_t checksums[BATCH_GET_KEYS_MAX];
    assert(request->keys.count <= BATCH_GET_KEYS_MAX);
    for (size_t k = 0; k < request->keys.count; k++) {
        const struct item *key = &key_at(request, k)->item;
        checksums[k] = crc32c(key->attributes);
        for (size_t earlier = 0; earlier < k; earlier++) {
            if (checksums[earlier] == checksums[k] &&
                bytes_equal(key_at(request, earlier)->item.encoded, key->encoded))
                return batch_refuse_duplicates(batch->call);
        }
    }
    return true;
}

static bool check_projections(const struct batch_read *batch)
{
    struct arena *arena = batch->call->arena;
    const struct item_projection **sent = arena_alloc(arena, batch->table_count * sizeof *sent);
    for (size_t i = 0; i < batch->table_count; i++)
        sent[i] = &batch->tables[i].request->projection;
    return item_expressions_check_projections(batch->call, sent, batch->table_count);
}

/* Observed: these are judged before repeated keys, the text of an expression behind them. */
static bool is_judged_early(const struct item_projection *projection)
{
    return projection->projection_expression.len == 0 ||
           (projection->expression_attribute_names.present &&
            projection->expression_attribute_names.count == 0);
}

static bool compile_projections(struct batch_read *batch, bool early)
{
    for (size_t i = 0; i < batch->table_count; i++) {
        struct table_read *read = &batch->tables[i];
        if (is_judged_early(&read->request->projection) == early &&
            !item_expressions_projection(batch->call, &read->request->projection, &read->params,
                                         &read->projection))
            return false;
    }
    return true;
}

static bool check(struct batch_read *batch)
{
    bool ok = check_key_counts(batch) && check_key_values(batch) && check_projections(batch) &&
              compile_projections(batch, true);
    for (size_t i = 0; i < batch->table_count && ok; i++)
        ok = check_distinct_keys(batch, batch->tables[i].request);
    return ok && compile_projections(batch, false);
}

/* Access to all tables is decided before an error reveals anything about one of them. */
static bool find_tables(struct batch_read *batch)
{
    const struct shape_map *items = &batch->request->request_items;
    operation_expect_tables(batch->call, batch->table_count);
    for (size_t i = 0; i < batch->table_count; i++) {
        struct table_read *read = &batch->tables[i];
        read->table = operation_find_table(batch->call, items->names[i]);
        if (!item_access_batch_get(batch->call, items->names[i], read->table, &read->request->keys,
                                   read->projection, batch->request->return_consumed_capacity))
            return false;
    }
    return true;
}

static bool find_items(struct batch_read *batch)
{
    struct api_call *call = batch->call;
    struct item_address *places = arena_alloc(call->arena, BATCH_GET_KEYS_MAX * sizeof *places);
    size_t count = 0;
    for (size_t i = 0; i < batch->table_count; i++) {
        struct table_read *read = &batch->tables[i];
        if (!operation_check_table(call, read->table) ||
            !item_expressions_check_keys(call, &read->params, table_definition(read->table)))
            return false;
        read->places = &places[count];
        for (size_t k = 0; k < read->request->keys.count; k++, count++) {
            assert(count < BATCH_GET_KEYS_MAX);
            if (!item_address_of_key(call->arena, table_definition(read->table),
                                     &key_at(read->request, k)->item, &places[count],
                                     &call->error) ||
                !batch_check_place(call, places, count))
                return false;
        }
    }
    return true;
}

/* --- Reading --- */

/* Whether the limits of the table let the next of its items pass. */
static bool admit_next(struct batch_read *batch)
{
    struct table_read *read = &batch->tables[batch->table_index];
    struct capacity_use *use = &batch->call->uses[batch->table_index];
    if (admission_get(batch->call, use, &read->places[read->read_count]))
        return true;
    if (read->refused == NULL)
        read->refused = arena_alloc_zeroed(batch->call->arena,
                                           read->request->keys.count * sizeof *read->refused);
    read->refused[read->read_count++] = true;
    read->refused_count++;
    return false;
}

/* Adds what was read, and was next, to what the table was used for. */
static void count_next(struct batch_read *batch, const struct read_item *item)
{
    struct table_read *read = &batch->tables[batch->table_index];
    struct capacity_use *use = &batch->call->uses[batch->table_index];
    capacity_use_add_read(use, &read->places[read->read_count], shown_item_size(&item->shown),
                          item->exists, read->request->consistent_read.value);
    read->read_count++;
}

/* Reads and writes the next item of a table, unless it does not fit any more. */
static bool read_next(struct batch_read *batch)
{
    struct table_read *read = &batch->tables[batch->table_index];
    struct read_item item;
    if (!admit_next(batch))
        return true;
    if (!read_items_get(&batch->items, table_definition(read->table),
                        &read->places[read->read_count], read_as(read->projection), &item,
                        &batch->call->error))
        return false;
    batch->is_full = batch->items.size > BATCH_GET_SIZE_MAX;
    if (!batch->is_full) {
        count_next(batch, &item);
        if (item.exists)
            write_item(&batch->writer, read->projection, &item);
    }
    read_item_release(&item);
    return true;
}

static void open_table(struct batch_read *batch)
{
    assert(batch->table_index < batch->table_count);
    json_write_name_bytes(&batch->writer, batch->call->uses[batch->table_index].table_name);
    json_open_array(&batch->writer);
}

enum slice { SLICE_ENDED, SLICE_PAUSED, SLICE_FAILED };

/* Reads until nothing is left, a pause is due or the engine fails. */
static enum slice read_slice(struct batch_read *batch)
{
    work_clock_start(&batch->items.clock);
    while (batch->table_index < batch->table_count) {
        const struct table_read *read = &batch->tables[batch->table_index];
        if (batch->is_full || read->read_count == read->request->keys.count) {
            json_close_array(&batch->writer);
            batch->table_index++;
            if (batch->table_index < batch->table_count)
                open_table(batch);
            continue;
        }
        if (!read_next(batch))
            return SLICE_FAILED;
        if (batch->items.clock.spent_ns >= READ_ITEMS_NS_MAX)
            batch->is_full = true;
        else if (batch->items.clock.must_pause)
            return SLICE_PAUSED;
    }
    return SLICE_ENDED;
}

/* The parameters of a table's reads, as sent. */
static void write_parameters(struct json_writer *writer, const struct keys_and_attributes *request)
{
    const struct item_projection *projection = &request->projection;
    if (request->consistent_read.present) {
        json_write_name(writer, "ConsistentRead");
        json_write_bool(writer, request->consistent_read.value);
    }
    if (projection->projection_expression.data != NULL) {
        json_write_name(writer, "ProjectionExpression");
        json_write_string(writer, projection->projection_expression);
    }
    if (projection->expression_attribute_names.present) {
        const struct shape_map *names = &projection->expression_attribute_names;
        json_write_name(writer, "ExpressionAttributeNames");
        json_open_object(writer);
        for (size_t i = 0; i < names->count; i++) {
            json_write_name_bytes(writer, names->names[i]);
            json_write_string(writer, ((const struct bytes *)names->elements)[i]);
        }
        json_close_object(writer);
    }
    if (projection->attributes_to_get.present) {
        const struct shape_list *names = &projection->attributes_to_get;
        json_write_name(writer, "AttributesToGet");
        json_open_array(writer);
        for (size_t i = 0; i < names->count; i++)
            json_write_string(writer, ((const struct bytes *)names->elements)[i]);
        json_close_array(writer);
    }
}

static void write_unprocessed_keys(const struct batch_read *batch, struct json_writer *writer)
{
    json_write_name(writer, "UnprocessedKeys");
    json_open_object(writer);
    for (size_t i = 0; i < batch->table_count; i++) {
        const struct table_read *read = &batch->tables[i];
        if (read->read_count == read->request->keys.count && read->refused_count == 0)
            continue;
        json_write_name_bytes(writer, batch->call->uses[i].table_name);
        json_open_object(writer);
        json_write_name(writer, "Keys");
        json_open_array(writer);
        for (size_t k = 0; k < read->request->keys.count; k++) {
            if (k >= read->read_count || (read->refused != NULL && read->refused[k]))
                item_json_write(writer, &key_at(read->request, k)->item);
        }
        json_close_array(writer);
        write_parameters(writer, read->request);
        json_close_object(writer);
    }
    json_close_object(writer);
}

static void finish(struct batch_read *batch)
{
    assert(batch->table_index == batch->table_count);
    struct json_writer *writer = &batch->writer;
    json_close_object(writer);
    write_unprocessed_keys(batch, writer);
    capacity_write_list(writer, batch->request->return_consumed_capacity, batch->call->uses,
                        batch->table_count);
    json_close_object(writer);
}

static void end(struct batch_read *batch, bool ok)
{
    read_items_close(&batch->items);
    operation_end(batch->call, ok);
}

/* Whether limits refused everything: the service then answers with an exception. */
static bool is_refused(const struct batch_read *batch)
{
    size_t refused_count = 0;
    for (size_t i = 0; i < batch->table_count; i++) {
        if (batch->tables[i].read_count > batch->tables[i].refused_count)
            return false;
        refused_count += batch->tables[i].refused_count;
    }
    return refused_count > 0;
}

static void run_slice(struct batch_read *batch);

static void resume(struct api_call *call, bool cancelled)
{
    if (cancelled)
        end(call->resume_state, false);
    else
        run_slice(call->resume_state);
}

static void run_slice(struct batch_read *batch)
{
    switch (read_slice(batch)) {
    case SLICE_PAUSED:
        read_items_pause(&batch->items);
        operation_pause(batch->call, resume, batch);
        return;
    case SLICE_FAILED:
        end(batch, false);
        return;
    case SLICE_ENDED:
        if (is_refused(batch)) {
            end(batch, admission_fail_batch(batch->call));
            return;
        }
        finish(batch);
        end(batch, true);
        return;
    }
}

/* One view serves all tables: the strongest that one of them asks for is good for all. */
static bool open_items(struct batch_read *batch)
{
    bool consistent = false;
    for (size_t i = 0; i < batch->table_count; i++)
        consistent |= batch->tables[i].request->consistent_read.value;
    if (!read_items_open(api_options(batch->call->api)->engine, consistent, "BatchGetItem",
                         &batch->items, &batch->call->error))
        return false;
    batch->items.clock.is_pause_due = operation_is_pause_due;
    batch->items.clock.context = batch->call;
    return true;
}

/* --- The operation --- */

static void init(struct batch_read *batch, struct api_call *call,
                 const struct batch_get_item_request *request)
{
    const struct shape_map *items = &request->request_items;
    struct keys_and_attributes *const *elements = items->elements;
    *batch = (struct batch_read){
        .call = call,
        .request = request,
        .tables = arena_alloc_zeroed(call->arena, items->count * sizeof *batch->tables),
        .table_count = items->count,
    };
    for (size_t i = 0; i < items->count; i++)
        batch->tables[i].request = elements[i];
}

static void run_batch_get(struct api_call *call, const void *input)
{
    struct batch_read *batch = arena_alloc(call->arena, sizeof *batch);
    init(batch, call, input);
    if (!check(batch) || !find_tables(batch) || !find_items(batch) || !open_items(batch)) {
        end(batch, false);
        return;
    }
    json_writer_init(&batch->writer, &call->response);
    json_open_object(&batch->writer);
    json_write_name(&batch->writer, "Responses");
    json_open_object(&batch->writer);
    open_table(batch); /* There is at least one. */
    run_slice(batch);
}

const struct operation op_batch_get_item = { .name = "BatchGetItem",
                                             .kind = OPERATION_DATA,
                                             .request = &batch_get_item_shape,
                                             .family = ERROR_FAMILY_NEWER,
                                             .asks = OPERATION_ASKS_ITSELF,
                                             .reads_many = true,
                                             .only_reads = true,
                                             .run = run_batch_get };
