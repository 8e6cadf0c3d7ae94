/* op_batch_execute_statement.c -- BatchExecuteStatement: up to 25 statements, all reads of one item
 * each, or all writes.
 *
 * The error of one statement is reported in its response and does not affect the others. The writes
 * are one txn nevertheless, in which a refused statement has no effect: cheaper than one txn each,
 * and their items are distinct anyway.
 */
#include <assert.h>
#include "api/item/batch.h"
#include "api/admission.h"
#include "api/capacity.h"
#include "api/item/item_access.h"
#include "api/item/item_change.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "api/model/model_watch.h"
#include "api/partiql/partiql_plan.h"
#include "api/partiql/partiql_statement.h"
#include "api/partiql/partiql_write.h"
#include "base/arena.h"
#include "expr/lookup.h"
#include "expr/projection.h"
#include "json/writer.h"
#include "metric/meter.h"
#include "model/error.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "model/value_json.h"
#include "partiql/statement.h"
#include "read/read_items.h"
#include "table/item_address.h"
#include "table/storage_error.h"
#include "txn/txn.h"

static_assert((int)BATCH_STATEMENTS_MAX <= (int)TXN_ITEMS_MAX, "a batch fits into a txn");

/* One statement of the batch. */
struct batch_member {
    const struct statement_request *request;
    struct statement statement;
    bool is_parsed;
    struct error fault; /* Set: the statement is not executed. */
    size_t table_index;
    struct item key;            /* Reads. */
    struct partiql_write write; /* Writes. */
    struct item_address place;
    size_t item_index;                /* Writes: the index of its item in the txn. */
    bool was_run;                     /* The response shows the table's name. */
    struct bytes item_json;           /* Reads. */
    struct partiql_returned returned; /* Writes. */
};

struct statement_batch {
    struct txn txn;
    struct txn_item items[BATCH_STATEMENTS_MAX];
    struct api_call *call;
    const struct batch_execute_statement_request *request;
    bool is_read;
    struct batch_member members[BATCH_STATEMENTS_MAX];
    size_t count;
    struct capacity_use *shown_uses; /* What the answer shows of the call's. */
    size_t shown_use_count;
};

static struct statement_batch *of_txn(struct txn *txn)
{
    return (struct statement_batch *)((char *)txn - offsetof(struct statement_batch, txn));
}

/* --- Rules --- */

/* The error is about one statement, not about the request. */
static bool move_fault(struct api_call *call, struct batch_member *member)
{
    member->fault = call->error;
    error_clear(&call->error);
    return false;
}

static void parse(struct statement_batch *batch)
{
    struct api_call *call = batch->call;
    for (size_t i = 0; i < batch->count; i++) {
        struct batch_member *member = &batch->members[i];
        member->is_parsed =
            (partiql_statement_check_values(call, member->request) || move_fault(call, member)) &&
            partiql_statement_parse(call, member->request, &member->statement, &member->fault);
        if (member->is_parsed && member->statement.type == STATEMENT_TYPE_EXISTS)
            member->is_parsed =
                error_validation(&member->fault, "EXISTS can only be used in ExecuteTransaction "
                                                 "write requests.");
    }
}

/* Refuses a mix of reads and writes. Statements that could not be parsed do not count. */
static bool check_kinds(struct statement_batch *batch, bool *is_read)
{
    size_t reads = 0, writes = 0;
    for (size_t i = 0; i < batch->count; i++) {
        if (!batch->members[i].is_parsed)
            continue;
        if (partiql_statement_is_read(&batch->members[i].statement))
            reads++;
        else
            writes++;
    }
    *is_read = writes == 0;
    return reads == 0 || writes == 0 ||
           error_validation(&batch->call->error, "Read and write requests together in the same "
                                                 "batch is not supported.");
}

/* A SELECT must name one item by its key and have no other condition. */
static bool locate_read(struct statement_batch *batch, struct batch_member *member,
                        const struct table_definition *table)
{
    const struct statement *statement = &member->statement;
    struct arena *arena = batch->call->arena;
    if (statement->index_name.data != NULL ||
        partiql_plan_key_form(arena, statement->where, &table->key) != PARTIQL_KEY_WHOLE)
        return error_validation(&member->fault,
                                "Select statements within BatchExecuteStatement must specify the "
                                "primary key in the where clause.");
    return partiql_plan_key(arena, statement->where, &table->key, &member->key, &member->fault) &&
           item_address_of_key(arena, table, &member->key, &member->place, &member->fault) &&
           partiql_statement_check_paths(statement, table, &member->fault);
}

static bool find_table(struct statement_batch *batch, struct batch_member *member)
{
    struct api_call *call = batch->call;
    member->table_index = batch->is_read ? batch_borrow_table(call, member->statement.table_name)
                                         : batch_find_table(call, member->statement.table_name);
    const struct item_access_statement asked = {
        .statement = &member->statement,
        .table = call->uses[member->table_index].table,
        .return_consumed_capacity = batch->request->return_consumed_capacity,
    };
    return (item_access_statement(call, &asked) &&
            operation_check_table(call, call->uses[member->table_index].table)) ||
           move_fault(call, member);
}

static bool locate(struct statement_batch *batch, struct batch_member *member)
{
    struct arena *arena = batch->call->arena;
    if (!partiql_statement_check_table_name(&member->statement, &member->fault) ||
        !find_table(batch, member))
        return false;
    const struct table_definition *table = batch->call->uses[member->table_index].definition;
    if (partiql_statement_is_read(&member->statement))
        return locate_read(batch, member, table);
    return partiql_write_prepare(arena, &member->statement, table, &member->write,
                                 &member->fault) &&
           partiql_write_locate(arena, &member->write, table, &member->place, &member->fault);
}

static bool locate_all(struct statement_batch *batch)
{
    struct item_address places[BATCH_STATEMENTS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        struct batch_member *member = &batch->members[i];
        if (!member->is_parsed || !locate(batch, member))
            continue;
        member->was_run = true;
        places[count] = member->place;
        if (!batch_check_place(batch->call, places, count))
            return false;
        count++;
    }
    return true;
}

/* --- The answer --- */

/* BatchStatementErrorCodeEnum. */
static const char *error_name(enum error_code code)
{
    switch (code) {
    case ERROR_CONDITIONAL_CHECK_FAILED:
        return "ConditionalCheckFailed";
    case ERROR_DUPLICATE_ITEM:
        return "DuplicateItem";
    case ERROR_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED:
        return "ItemCollectionSizeLimitExceeded";
    case ERROR_RESOURCE_NOT_FOUND:
        return "ResourceNotFound";
    case ERROR_ACCESS_DENIED:
        return "AccessDenied";
    case ERROR_TRANSACTION_CONFLICT:
        return "TransactionConflict";
    case ERROR_THROTTLING:
        return "ThrottlingError";
    case ERROR_PROVISIONED_THROUGHPUT_EXCEEDED:
        return "ProvisionedThroughputExceeded";
    case ERROR_REQUEST_LIMIT_EXCEEDED:
        return "RequestLimitExceeded";
    case ERROR_INTERNAL:
        return "InternalServerError";
    default:
        assert(code == ERROR_VALIDATION);
        return "ValidationError";
    }
}

/* Measured on the service: ReturnValuesOnConditionCheckFailure shows nothing here. */
static void write_error(struct json_writer *writer, const struct error *fault)
{
    json_write_name(writer, "Error");
    json_open_object(writer);
    json_write_name(writer, "Code");
    json_write_text(writer, error_name(fault->code));
    json_write_name(writer, "Message");
    json_write_string(writer, fault->message);
    json_close_object(writer);
}

/* Only for the tables of statements that were executed. */
static void keep_shown_uses(struct statement_batch *batch)
{
    const struct api_call *call = batch->call;
    struct capacity_use *shown = arena_alloc(call->arena, call->use_count * sizeof *shown);
    size_t count = 0;
    for (size_t i = 0; i < call->use_count; i++) {
        if (call->uses[i].table_half_units > 0)
            shown[count++] = call->uses[i];
    }
    batch->shown_uses = shown;
    batch->shown_use_count = count;
}

static bool is_all_throttled(const struct statement_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->members[i].fault.throttling_json.data == NULL)
            return false;
    }
    return true;
}

static void write_answer(struct statement_batch *batch)
{
    batch->call->is_all_throttled = is_all_throttled(batch);
    struct arena *arena = batch->call->arena;
    struct json_writer writer;
    json_writer_init(&writer, &batch->call->response);
    json_open_object(&writer);
    json_write_name(&writer, "Responses");
    json_open_array(&writer);
    for (size_t i = 0; i < batch->count; i++) {
        const struct batch_member *member = &batch->members[i];
        json_open_object(&writer);
        if (error_is_set(&member->fault))
            write_error(&writer, &member->fault);
        if (member->was_run) {
            json_write_name(&writer, "TableName");
            json_write_string(&writer, member->statement.table_name);
        }
        struct bytes item_json = batch->is_read
                                     ? member->item_json
                                     : partiql_write_returned_json(arena, &member->returned);
        if (item_json.len > 0) {
            json_write_name(&writer, "Item");
            json_write_raw(&writer, item_json);
        }
        json_close_object(&writer);
    }
    json_close_array(&writer);
    capacity_write_list(&writer, batch->request->return_consumed_capacity, batch->shown_uses,
                        batch->shown_use_count);
    json_close_object(&writer);
}

static void answer(struct statement_batch *batch)
{
    keep_shown_uses(batch);
    write_answer(batch);
}

static void write_answer_of_txn(struct txn *txn)
{
    write_answer(of_txn(txn));
}

/* An answer with items is written when the latches are gone, for which others wait. Capacity that
 * is counted from here on does not show. */
static void answer_writes(struct statement_batch *batch)
{
    bool shows = false;
    for (size_t i = 0; i < batch->count; i++)
        shows |= batch->members[i].returned.is_any;
    keep_shown_uses(batch);
    if (shows)
        batch->txn.answer = write_answer_of_txn;
    else
        write_answer(batch);
}

/* Nothing of its item is shown. */
static void show_nothing(struct batch_member *member)
{
    member->item_json = BYTES("");
    member->returned = (struct partiql_returned){ 0 };
}

static struct capacity_use *use_of(struct statement_batch *batch, const struct batch_member *member)
{
    return &batch->call->uses[member->table_index];
}

/* Reports that limits refused the statement: those from the `first` of the call's refusals on. */
static void refuse_throttled(struct statement_batch *batch, struct batch_member *member,
                             size_t first)
{
    struct api_call *call = batch->call;
    error_init(&member->fault, call->arena);
    admission_fail_for(call, (struct admission_refusals){ first, admission_refusal_count(call) },
                       false, &member->fault);
    show_nothing(member);
}

/* --- Reads --- */

static struct bytes show_item(struct arena *arena, const struct statement *statement,
                              const struct item *item)
{
    struct buffer text;
    struct json_writer writer;
    struct lookup lookup;
    buffer_init(&text, arena);
    json_writer_init(&writer, &text);
    lookup_init(&lookup, arena, item);
    if (statement->column_count > 0)
        projection_write_columns(&writer, statement->columns, statement->column_count, &lookup);
    else
        item_json_write(&writer, item);
    return buffer_bytes(&text);
}

static bool read_item(struct statement_batch *batch, struct read_items *items,
                      struct batch_member *member)
{
    assert(member->was_run);
    struct read_item item;
    struct capacity_use *use = use_of(batch, member);
    size_t first = admission_refusal_count(batch->call);
    if (!admission_get(batch->call, use, &member->place)) {
        refuse_throttled(batch, member, first);
        return true;
    }
    if (!read_items_get(items, batch->call->uses[member->table_index].definition, &member->place,
                        READ_ITEM_OPENED, &item, &batch->call->error))
        return false;
    if (item.exists)
        member->item_json = show_item(batch->call->arena, &member->statement, &item.shown.item);
    capacity_use_add_read(use, &member->place, item.shown.item.size, item.exists,
                          member->request->consistent_read.value);
    read_item_release(&item);
    return true;
}

/* All from one view: the strongest that one of them asks for is good for all. */
static void run_reads(struct statement_batch *batch)
{
    struct api_call *call = batch->call;
    struct read_items items;
    bool consistent = false;
    for (size_t i = 0; i < batch->count; i++)
        consistent |= batch->members[i].request->consistent_read.value;
    bool ok = read_items_open(api_options(call->api)->engine, consistent, call->operation->name,
                              &items, &call->error);
    for (size_t i = 0; i < batch->count && ok; i++) {
        if (batch->members[i].was_run)
            ok = read_item(batch, &items, &batch->members[i]);
    }
    read_items_close(&items);
    if (ok)
        answer(batch);
    operation_end(call, ok);
}

/* --- Writes --- */

static void decide_member(struct statement_batch *batch, struct batch_member *member)
{
    assert(member->was_run);
    struct arena *arena = batch->call->arena;
    struct txn_item *item = &batch->items[member->item_index];
    error_init(&member->fault, arena);
    if (!partiql_write_decide(arena, &member->write, item, &member->returned, &member->fault))
        item->effect = TXN_KEEP;
    if (!model_watch_check(batch->call, item, &member->fault)) {
        item->effect = TXN_KEEP;
        show_nothing(member);
    }
}

/* Called when all are decided: only a statement that makes its item collection too large fails. */
static void check_collection(struct statement_batch *batch, struct batch_member *member)
{
    struct txn_item *item = &batch->items[member->item_index];
    if (error_is_set(&member->fault) ||
        !item_change_exceeds_collection(batch->call->api, &batch->txn, item))
        return;
    item->effect = TXN_KEEP;
    show_nothing(member);
    error_set(&member->fault, ERROR_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED,
              ITEM_CHANGE_COLLECTION_EXCEEDED);
}

/* The limits of its table come before whatever the statement does, those of indexes behind. */
static void admit(struct statement_batch *batch, struct batch_member *member)
{
    struct txn_item *item = &batch->items[member->item_index];
    const struct capacity_use *use = use_of(batch, member);
    size_t first = admission_refusal_count(batch->call);
    if (admission_write(batch->call, use, &item->place) &&
        (error_is_set(&member->fault) || admission_decided(batch->call, use, item)))
        return;
    item->effect = TXN_KEEP;
    refuse_throttled(batch, member, first);
}

static void add_capacity(struct statement_batch *batch, const struct batch_member *member)
{
    assert(member->was_run);
    struct txn_item *item = &batch->items[member->item_index];
    if (!error_is_set(&member->fault))
        capacity_use_add_write(use_of(batch, member), &batch->txn, item);
}

/* Called when it is decided what the answer shows: nothing of this. */
static void count_refused(struct statement_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct batch_member *member = &batch->members[i];
        if (member->was_run)
            partiql_write_count_refused(&member->write, &batch->items[member->item_index],
                                        &member->fault, use_of(batch, member));
    }
}

/* An earlier attempt of the txn may have left its answer. */
static void clear_answer(struct statement_batch *batch)
{
    buffer_init(&batch->call->response, batch->call->arena);
    for (size_t i = 0; i < batch->call->use_count; i++)
        capacity_use_clear(&batch->call->uses[i]);
}

static bool decide(struct txn *txn)
{
    struct statement_batch *batch = of_txn(txn);
    bool any = false;
    clear_answer(batch);
    admission_forget(batch->call, 0);
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->members[i].was_run)
            decide_member(batch, &batch->members[i]);
    }
    for (size_t i = 0; i < batch->count; i++) {
        struct batch_member *member = &batch->members[i];
        if (!member->was_run)
            continue;
        admit(batch, member);
        check_collection(batch, member);
        add_capacity(batch, member);
        any |= !error_is_set(&member->fault);
    }
    answer_writes(batch);
    count_refused(batch);
    return any;
}

/* Other writes held the latches for too long, and nothing was written. */
static void refuse_conflict(struct statement_batch *batch, enum engine_status status)
{
    clear_answer(batch);
    for (size_t i = 0; i < batch->count; i++) {
        struct batch_member *member = &batch->members[i];
        if (!member->was_run)
            continue;
        error_init(&member->fault, batch->call->arena);
        storage_error_set(&member->fault, status, batch->call->operation->name);
        use_of(batch, member)->conflict_count++;
        show_nothing(member);
    }
    answer(batch);
}

static void done(struct txn *txn, enum engine_status status)
{
    struct statement_batch *batch = of_txn(txn);
    if (status == ENGINE_BUSY || status == ENGINE_CONFLICT) {
        refuse_conflict(batch, status);
        status = ENGINE_OK;
    }
    operation_end_engine(batch->call, status);
}

/* True if the limits of the tables refuse every statement, whatever the others cost: that needs no
 * latch and no read. Otherwise the decision asks again. */
static bool is_refused(struct statement_batch *batch)
{
    bool any = false;
    if (batch->call->admission == NULL)
        return false;
    for (size_t i = 0; i < batch->count; i++) {
        struct batch_member *member = &batch->members[i];
        size_t first = admission_refusal_count(batch->call);
        if (!member->was_run)
            continue;
        if (admission_write(batch->call, use_of(batch, member), &member->place))
            any = true;
        else
            refuse_throttled(batch, member, first);
    }
    if (any)
        admission_forget(batch->call, 0);
    return !any;
}

static void run_writes(struct statement_batch *batch)
{
    if (is_refused(batch)) {
        answer(batch);
        operation_succeed(batch->call);
        return;
    }
    struct api_call *call = batch->call;
    operation_txn_init(&batch->txn, call);
    for (size_t i = 0; i < batch->count; i++) {
        struct batch_member *member = &batch->members[i];
        if (!member->was_run)
            continue;
        member->item_index = batch->txn.item_count;
        batch->items[batch->txn.item_count++] = (struct txn_item){
            .table = batch->call->uses[member->table_index].definition,
            .place = member->place,
        };
    }
    batch->txn.items = batch->items;
    batch->txn.conflicts = api_conflicts(call->api);
    batch->txn.decide = decide;
    batch->txn.done = done;
    txn_start(&batch->txn);
}

/* --- The operation --- */

/* No statement can be executed, and nothing is read. */
static void answer_faults(struct statement_batch *batch)
{
    operation_asks_nothing(batch->call); /* Access was decided for those that could be parsed. */
    answer(batch);
    operation_succeed(batch->call);
}

static void run(struct api_call *call, const void *input)
{
    const struct batch_execute_statement_request *request = input;
    struct statement_batch *batch = arena_alloc_zeroed(call->arena, sizeof *batch);
    struct statement_request *const *statements = request->statements.elements;
    bool any = false;
    batch->call = call;
    batch->request = request;
    batch->count = request->statements.count;
    call->batch_count = (uint32_t)batch->count;
    operation_expect_tables(call, batch->count);
    for (size_t i = 0; i < batch->count; i++) {
        batch->members[i].request = statements[i];
        error_init(&batch->members[i].fault, call->arena);
    }
    parse(batch);
    bool known = check_kinds(batch, &batch->is_read);
    call->verb = batch->is_read ? METER_VERB_SELECT : METER_VERB_UPDATE;
    if (!known || !locate_all(batch)) {
        operation_fail(call);
        return;
    }
    for (size_t i = 0; i < batch->count; i++)
        any |= batch->members[i].was_run;
    if (!any)
        answer_faults(batch);
    else if (batch->is_read)
        run_reads(batch);
    else
        run_writes(batch);
}

const struct operation op_batch_execute_statement = { .name = "BatchExecuteStatement",
                                                      .kind = OPERATION_DATA,
                                                      .request = &batch_execute_statement_shape,
                                                      .asks = OPERATION_ASKS_ITSELF,
                                                      .reads_many = true,
                                                      .run = run };
