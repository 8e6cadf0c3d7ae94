/* bulk_write.c -- see bulk_write.h. */
#include "api/import/bulk_write.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include "api/common_shapes.h"
#include "api/item/item_change.h"
#include "api/item/item_expressions.h"
#include "api/model/model_watch.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/give_way.h"
#include "base/memory.h"
#include "base/timed_wait.h"
#include "expr/condition.h"
#include "expr/condition_parse.h"
#include "expr/lookup.h"
#include "expr/params.h"
#include "format/item_reader.h"
#include "index/index_entry.h"
#include "jobs/job_runner.h"
#include "json/writer.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "shape/shape.h"
#include "table/catalogue.h"
#include "txn/txn.h"

struct entry {
    struct item item;
    const struct condition *condition; /* NULL: none. */
    struct expr_params params;
    struct entity_violation violation; /* ENTITY_RULE_NONE: it follows the table's model. */
    struct bytes refused;              /* For breaking it, if the model is enforced. */
    bool counts;                       /* It was decided by the model, not by its condition. */
    struct bytes key;
    uint64_t index;
};

struct batch {
    struct bulk_write *owner;
    struct arena *arena;
    struct table *table; /* NULL: not looked up yet. */
    struct entry entries[BULK_WRITE_ITEMS];
    struct txn_item items[BULK_WRITE_ITEMS];
    struct bulk_refusal refusals[BULK_WRITE_ITEMS];
    size_t count;
    size_t size;
    size_t read_size; /* Of the records, also of those that were refused. */
    struct txn_record record;
    struct job_record job; /* With the position behind this batch, without what it does. */
    struct txn txn;
    struct bulk_outcome outcome;
};

struct bulk_write {
    struct bulk_write_options options;
    struct batch *batches[2];
    struct batch *current;
    struct batch *committing; /* NULL: none, or it was seen to its end. */

    pthread_mutex_t mutex; /* Guards what follows. */
    pthread_cond_t ended;
    bool under_way;
    enum engine_status status;
};

static struct batch *batch_create(struct bulk_write *owner)
{
    struct batch *batch = memory_checked(calloc(1, sizeof *batch));
    batch->owner = owner;
    batch->arena = arena_create();
    return batch;
}

static void batch_reset(struct batch *batch)
{
    table_release(batch->table);
    batch->table = NULL;
    batch->count = batch->size = batch->read_size = 0;
    arena_reset(batch->arena);
}

struct bulk_write *bulk_write_create(const struct bulk_write_options *options)
{
    struct bulk_write *write = memory_checked(calloc(1, sizeof *write));
    write->options = *options;
    for (size_t i = 0; i < COUNT_OF(write->batches); i++)
        write->batches[i] = batch_create(write);
    write->current = write->batches[0];
    pthread_mutex_init(&write->mutex, NULL);
    timed_wait_init(&write->ended);
    return write;
}

void bulk_write_destroy(struct bulk_write *write)
{
    if (write == NULL)
        return;
    (void)!bulk_write_wait(write);
    for (size_t i = 0; i < COUNT_OF(write->batches); i++) {
        batch_reset(write->batches[i]);
        arena_destroy(write->batches[i]->arena);
        free(write->batches[i]);
    }
    pthread_cond_destroy(&write->ended);
    pthread_mutex_destroy(&write->mutex);
    free(write);
}

/* --- Adding --- */

/* A record's condition as the shape of requests reads it. */
struct condition_members {
    struct shape_map names;
    struct shape_item values;
};
static const struct shape_field condition_fields[] = {
    { SHAPE_FIELD(struct condition_members, names, "ExpressionAttributeNames",
                  &common_attribute_name_map) },
    { SHAPE_FIELD(struct condition_members, values, "ExpressionAttributeValues", &common_item) },
};
static const struct shape condition_shape = {
    SHAPE_STRUCTURE_OF(struct condition_members, condition_fields),
    .type_name = "BulkPutItem",
};

static bool read_members(struct arena *arena, const struct item_record *record,
                         struct condition_members *out, struct error *err)
{
    struct json_writer writer;
    struct buffer json;
    buffer_init(&json, arena);
    json_writer_init(&writer, &json);
    json_open_object(&writer);
    if (record->condition_names.data != NULL) {
        json_write_name(&writer, "ExpressionAttributeNames");
        json_write_raw(&writer, record->condition_names);
    }
    if (record->condition_values.data != NULL) {
        json_write_name(&writer, "ExpressionAttributeValues");
        json_write_raw(&writer, record->condition_values);
    }
    json_close_object(&writer);
    if (!shape_read(arena, buffer_bytes(&json), &condition_shape, out, err))
        return false;
    if (out->values.rule == NULL)
        return true;
    return error_set_bytes(err, ERROR_VALIDATION,
                           arena_copy(err->arena, out->values.rule->message));
}

/* In the service's order, as item_expressions_compile does for a request. */
static bool compile(struct batch *batch, const struct item_record *record, struct entry *entry,
                    struct error *err)
{
    const struct table_definition *table = table_definition(batch->table);
    const struct bytes keys[] = { table->key.hash.name, table->key.range.name };
    struct condition_members members;
    if (!read_members(batch->arena, record, &members, err))
        return false;
    struct expr_params_input input = item_expressions_params(&members.names, &members.values);
    if (record->condition.data == NULL)
        return expr_params_check_absent(&input, "ConditionExpression is null", err);
    if (!expr_params_init(&entry->params, batch->arena, &input, err))
        return false;
    entry->condition = condition_parse(batch->arena, arena_copy(batch->arena, record->condition),
                                       "ConditionExpression", &entry->params, err);
    return entry->condition != NULL &&
           expr_params_check_unused(&entry->params, batch->arena, err) &&
           expr_params_check_key_paths(&entry->params, keys, table->key.has_range ? 2 : 1, err);
}

static bool find_table(struct bulk_write *write, struct batch *batch)
{
    if (batch->table != NULL)
        return true;
    struct table *table =
        catalogue_find(api_catalogue(write->options.api), write->options.table_name);
    bool usable = table != NULL &&
                  bytes_equal(table_definition(table)->uuid, write->options.table_uuid) &&
                  (table_definition(table)->status == TABLE_ACTIVE ||
                   table_definition(table)->status == TABLE_UPDATING);
    if (usable)
        batch->table = table;
    else
        table_release(table);
    return usable;
}

/* What the model says is decided here, and followed once the condition holds. */
static void check_model(struct batch *batch, struct entry *entry)
{
    const struct table_definition *table = table_definition(batch->table);
    struct error err;
    if (table->entity_rules == NULL ||
        entity_rules_check(table->entity_rules, &entry->item, &entry->violation)) {
        entry->violation.rule = ENTITY_RULE_NONE;
        return;
    }
    if (table->model.mode != MODEL_ENFORCE)
        return;
    error_init(&err, batch->arena);
    (void)model_watch_refuse(&err, &entry->violation);
    entry->refused = err.message;
}

enum bulk_add bulk_write_add(struct bulk_write *write, const struct item_record *record,
                             struct bytes key, struct error *err)
{
    struct batch *batch = write->current;
    struct item_address place;
    if (batch->count == BULK_WRITE_ITEMS || batch->size >= BULK_WRITE_SIZE ||
        batch->read_size >= BULK_WRITE_READ_SIZE)
        return BULK_ADD_FULL;
    if (!find_table(write, batch))
        return BULK_ADD_NO_TABLE;
    batch->read_size += record->text.len;
    const struct table_definition *table = table_definition(batch->table);
    struct entry entry = { .index = record->index };
    if (!item_address_of_item(batch->arena, table, &record->item, &place, err) ||
        !index_entry_check_put(table, &record->item, err))
        return BULK_ADD_BAD;
    for (size_t i = 0; i < batch->count; i++) {
        if (item_address_equal(&batch->items[i].place, &place))
            return BULK_ADD_FULL; /* One batch changes an item once. */
    }
    bool opened = item_open(arena_copy(batch->arena, record->item.encoded), &entry.item);
    assert(opened); /* It was an item before. */
    (void)opened;
    if (!item_change_fits(batch->arena, table, &entry.item)) {
        operation_refuse_item_size(err);
        return BULK_ADD_BAD;
    }
    if (!compile(batch, record, &entry, err))
        return BULK_ADD_BAD;
    check_model(batch, &entry);
    entry.key = arena_copy(batch->arena, key);
    batch->items[batch->count] = (struct txn_item){ .table = table, .place = place };
    batch->entries[batch->count++] = entry;
    batch->size += entry.item.size;
    return BULK_ADD_OK;
}

/* --- Deciding, under the latches --- */

/* Copies no more than what is gone with the latches; the text is formed later. */
static void refuse(struct batch *batch, const struct entry *entry, const struct txn_item *item)
{
    struct bulk_refusal *refusal = &batch->refusals[batch->outcome.refusal_count++];
    *refusal = (struct bulk_refusal){ .key = entry->key, .index = entry->index };
    if (!batch->owner->options.shows_existing)
        return;
    refusal->item = entry->item;
    if (item->exists) {
        bool opened =
            item_open(arena_copy(batch->arena, item->current.encoded), &refusal->existing);
        assert(opened); /* It was an item before. */
        (void)opened;
    }
}

static void refuse_for(struct batch *batch, const struct entry *entry, struct bytes reason)
{
    batch->refusals[batch->outcome.refusal_count++] =
        (struct bulk_refusal){ .key = entry->key, .index = entry->index, .error = reason };
    batch->outcome.error_count++;
}

/* When the effects of all items are set: takes back the last ones that make their item collections
 * too large. */
static void check_collections(struct batch *batch)
{
    for (size_t i = batch->count; i-- > 0;) {
        struct txn_item *item = &batch->items[i];
        if (item->effect != TXN_PUT ||
            !item_change_exceeds_collection(batch->owner->options.api, &batch->txn, item))
            continue;
        item->effect = TXN_KEEP;
        batch->entries[i].counts = false;
        refuse_for(batch, &batch->entries[i], BYTES(ITEM_CHANGE_COLLECTION_EXCEEDED));
    }
}

static void count_written(struct batch *batch, struct txn_item *item, const struct entry *entry)
{
    struct bulk_outcome *outcome = &batch->outcome;
    size_t larger = item->exists && item->current.size > entry->item.size ? item->current.size
                                                                          : entry->item.size;
    outcome->written++;
    outcome->table_bytes += entry->item.size;
    outcome->units += (larger + WRITE_UNIT_SIZE - 1) / WRITE_UNIT_SIZE;
    const struct index_change *changes = txn_index_changes(&batch->txn, item);
    for (size_t i = 0; i < item->table->index_count; i++)
        outcome->index_bytes += changes[i].type == INDEX_CHANGE_NONE ? 0 : changes[i].size_after;
}

static bool decide(struct txn *txn)
{
    struct batch *batch = (struct batch *)((char *)txn - offsetof(struct batch, txn));
    batch->outcome = (struct bulk_outcome){ .refusals = batch->refusals, .table = batch->table };
    for (size_t i = 0; i < batch->count; i++) {
        struct txn_item *item = &batch->items[i];
        struct entry *entry = &batch->entries[i];
        struct lookup lookup;
        item->effect = TXN_KEEP;
        entry->counts = false;
        lookup_init(&lookup, batch->arena, item->exists ? &item->current : NULL);
        if (entry->condition != NULL && !condition_matches(entry->condition, &lookup)) {
            refuse(batch, entry, item);
            continue;
        }
        entry->counts = entry->violation.rule != ENTITY_RULE_NONE;
        if (entry->refused.data != NULL) {
            refuse_for(batch, entry, entry->refused);
            continue;
        }
        item->effect = TXN_PUT;
        item->replacement = entry->item;
    }
    check_collections(batch);
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->items[i].effect == TXN_PUT)
            count_written(batch, &batch->items[i], &batch->entries[i]);
    }
    struct job_record record = batch->job;
    struct bytes position = arena_copy(batch->arena, batch->job.position);
    record.position = position;
    batch->owner->options.stamp(&record, (uint8_t *)(uintptr_t)position.data, &batch->outcome);
    batch->record.replacement = job_record_encode(batch->arena, &record).encoded;
    return true;
}

/* --- Writing --- */

static void done(struct txn *txn, enum engine_status status)
{
    struct bulk_write *write = ((struct batch *)((char *)txn - offsetof(struct batch, txn)))->owner;
    pthread_mutex_lock(&write->mutex);
    write->status = status;
    write->under_way = false;
    pthread_cond_signal(&write->ended);
    pthread_mutex_unlock(&write->mutex);
}

bool bulk_write_holds_table(const struct bulk_write *write)
{
    return write->current->table != NULL || write->committing != NULL;
}

/* Of a batch that is durable, so that a decision that is repeated counts once. */
static void count_violations(const struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->entries[i].counts)
            model_watch_count(table_runtime(batch->table), &batch->entries[i].violation,
                              BYTES("bulk operation"),
                              clock_wall_ms(api_options(batch->owner->options.api)->clock));
    }
}

enum engine_status bulk_write_wait(struct bulk_write *write)
{
    pthread_mutex_lock(&write->mutex);
    while (write->under_way)
        pthread_cond_wait(&write->ended, &write->mutex);
    enum engine_status status = write->status;
    pthread_mutex_unlock(&write->mutex);
    struct batch *batch = write->committing;
    write->committing = NULL;
    if (batch != NULL && status == ENGINE_OK) {
        count_violations(batch);
        write->options.written(write->options.context, &batch->outcome);
    }
    if (batch != NULL)
        batch_reset(batch);
    return status;
}

enum engine_status bulk_write_flush(struct bulk_write *write)
{
    struct batch *batch = write->current;
    assert(write->committing == NULL);
    if (batch->count == 0) {
        batch_reset(batch); /* All of its records were refused. */
        return job_save(write->options.job);
    }
    batch->job = job_snapshot(write->options.job, batch->arena);
    batch->record =
        (struct txn_record){ .address = job_record_address(batch->arena, batch->job.letter,
                                                           bytes_of(batch->job.id, JOB_ID_SIZE)) };
    batch->txn = (struct txn){ .arena = batch->arena,
                               .engine = job_engine(write->options.job),
                               .clock = job_clock(write->options.job),
                               .items = batch->items,
                               .item_count = batch->count,
                               .records = &batch->record,
                               .record_count = 1,
                               .decide = decide,
                               .done = done };
    write->current = batch == write->batches[0] ? write->batches[1] : write->batches[0];
    write->committing = batch;
    pthread_mutex_lock(&write->mutex);
    write->under_way = true;
    pthread_mutex_unlock(&write->mutex);
    bool gives_way = give_way_own.is_on;
    give_way_set(false); /* Conditions are judged under latches. */
    txn_start(&batch->txn);
    give_way_set(gives_way);
    return ENGINE_OK;
}
