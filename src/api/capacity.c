/* capacity.c -- see capacity.h. */
#include "api/capacity.h"
#include <assert.h>
#include <string.h>
#include "api/key_use.h"
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/compiler.h"
#include "index/index_change.h"
#include "json/writer.h"
#include "model/limits.h"
#include "table/catalogue.h"
#include "table/item_address.h"
#include "txn/txn.h"

enum { TRANSACTION_FACTOR = 2 };

static int64_t units(size_t size, size_t unit_size)
{
    return size == 0 ? 1 : (int64_t)((size + unit_size - 1) / unit_size);
}

int64_t capacity_read_half_units(size_t item_size, bool consistent)
{
    return units(item_size, READ_UNIT_SIZE) * (consistent ? 2 : 1);
}

int64_t capacity_write_half_units(size_t size_before, size_t size_after)
{
    return 2 * units(size_before > size_after ? size_before : size_after, WRITE_UNIT_SIZE);
}

/* --- Counting --- */

void capacity_use_init(struct capacity_use *use, struct arena *arena, struct table *table,
                       struct bytes table_name)
{
    use->key_arena = arena;
    use->table = table;
    use->table_name = table_name;
    use->definition = table == NULL ? NULL : table_definition(table);
    use->limiter = NULL;
    use->is_asked = false;
    capacity_use_clear(use);
}

static void clear_index(struct capacity_use *use, size_t index)
{
    use->index_half_units[index] = 0;
    use->index_changes[index] = 0;
    use->index_moves[index] = 0;
}

void capacity_use_clear(struct capacity_use *use)
{
    use->kind = CAPACITY_READ;
    use->is_transaction = false;
    use->is_consistent = false;
    use->read_count = 0;
    use->returned_count = 0;
    use->written_count = 0;
    use->condition_failure_count = 0;
    use->conflict_count = 0;
    use->put_count = 0;
    use->stream_record_count = 0;
    use->table_half_units = 0;
    use->keys = NULL;
    use->key_uses = NULL;
    for (size_t i = 0; use->definition != NULL && i < use->definition->index_count; i++)
        clear_index(use, i);
}

int64_t capacity_use_total(const struct capacity_use *use)
{
    int64_t total = use->table_half_units;
    for (size_t i = 0; use->definition != NULL && i < use->definition->index_count; i++)
        total += use->index_half_units[i];
    return total;
}

int64_t capacity_use_of_table(const struct capacity_use *use)
{
    int64_t total = use->table_half_units;
    for (size_t i = 0; use->definition != NULL && i < use->definition->index_count; i++) {
        if (!use->definition->indexes[i].global)
            total += use->index_half_units[i];
    }
    return total;
}

static int64_t index_write_half_units(const struct index_change *change)
{
    switch (change->type) {
    case INDEX_CHANGE_NONE:
        return 0;
    case INDEX_CHANGE_INSERT:
    case INDEX_CHANGE_REMOVE:
    case INDEX_CHANGE_UPDATE:
        return capacity_write_half_units(change->size_before, change->size_after);
    case INDEX_CHANGE_MOVE:
        return capacity_write_half_units(change->size_before, 0) +
               capacity_write_half_units(0, change->size_after);
    }
    assert(false);
    return 0;
}

/* A local index is a part of its table. */
static uint64_t resource_id(const struct capacity_use *use, const struct index_definition *index)
{
    return index == NULL || !index->global ? use->definition->id : index->id;
}

static void note_key(struct capacity_use *use, const struct index_definition *index, uint64_t key,
                     int64_t half_units)
{
    struct capacity_key *noted = arena_alloc(use->key_arena, sizeof *noted);
    *noted = (struct capacity_key){
        .next = use->keys, .id = resource_id(use, index), .key = key, .half_units = half_units
    };
    use->keys = noted;
}

void capacity_use_add_key(struct capacity_use *use, const struct index_definition *index,
                          uint64_t key, int64_t half_units)
{
    if (use->limiter != NULL)
        note_key(use, index, key, half_units);
}

/* The keys of entries begin with the hash of their partition key. */
static uint64_t key_of_entry(const struct engine_address *address)
{
    return load_u64_be(address->key.data);
}

static void note_index_keys(struct capacity_use *use, const struct index_definition *index,
                            const struct index_change *change)
{
    if (change->type == INDEX_CHANGE_MOVE) {
        note_key(use, index, key_of_entry(&change->removed),
                 capacity_write_half_units(change->size_before, 0));
        note_key(use, index, key_of_entry(&change->stored),
                 capacity_write_half_units(0, change->size_after));
    } else if (change->type != INDEX_CHANGE_NONE) {
        note_key(
            use, index,
            key_of_entry(change->type == INDEX_CHANGE_REMOVE ? &change->removed : &change->stored),
            index_write_half_units(change));
    }
}

/* Counts for another version of the table: the one that the write settled on. */
static void settle(struct capacity_use *use, const struct table_definition *definition)
{
    assert(use->definition != NULL && use->definition->id == definition->id);
    for (size_t i = use->definition->index_count; i < definition->index_count; i++)
        clear_index(use, i);
    use->definition = definition;
}

static void add_size(struct capacity_use *use, size_t size)
{
    static_assert(ITEM_SIZE_MAX <= 1 << (CAPACITY_ITEM_SIZES - 1),
                  "there is a class for every size");
    static_assert(TXN_ITEMS_MAX <= UINT8_MAX, "a call cannot put more than a counter holds");
    if (use->put_count++ == 0) {
        memset(use->size_counts, 0, sizeof use->size_counts);
        use->put_size = 0;
        use->large_count = 0;
        use->huge_count = 0;
    }
    unsigned class = size <= 1 ? 0 : 64u - (unsigned)__builtin_clzll((uint64_t)size - 1);
    use->size_counts[class < CAPACITY_ITEM_SIZES ? class : CAPACITY_ITEM_SIZES - 1]++;
    use->put_size += size;
    use->large_count += size > CAPACITY_LARGE_ITEM_SIZE;
    use->huge_count += size > CAPACITY_HUGE_ITEM_SIZE;
}

static void add_table_units(struct capacity_use *use, const struct item_address *place,
                            int64_t half_units)
{
    use->table_half_units += half_units;
    capacity_use_add_key(use, NULL, place->hash, half_units);
}

/* The same with a note of the item, where its table counts keys. */
static void add_item_units(struct capacity_use *use, const struct item_address *place,
                           int64_t half_units)
{
    add_table_units(use, place, half_units);
    if (UNLIKELY(use->definition->counts_keys))
        key_use_note_item(use, place, half_units);
}

void capacity_use_add_read(struct capacity_use *use, const struct item_address *place,
                           size_t item_size, bool exists, bool consistent)
{
    use->kind = CAPACITY_READ;
    use->read_count += exists;
    use->returned_count += exists;
    use->is_consistent = consistent;
    add_item_units(use, place, capacity_read_half_units(item_size, consistent));
}

static void add_write(struct capacity_use *use, struct txn *txn, struct txn_item *item, int factor)
{
    size_t size_before = item->exists ? item->current.size : 0;
    size_t size_after = item->effect == TXN_PUT ? item->replacement.size : 0;
    settle(use, item->table);
    use->kind = CAPACITY_WRITE;
    int64_t half_units = factor * capacity_write_half_units(size_before, size_after);
    if (item->effect == TXN_KEEP) {
        add_item_units(use, &item->place, half_units);
        return;
    }
    add_table_units(use, &item->place, half_units);
    use->written_count += item->effect == TXN_PUT || item->exists ? 1 : 0;
    if (item->effect == TXN_PUT)
        add_size(use, size_after);
    if (item->table->stream_enabled && txn_item_is_changed(item))
        use->stream_record_count++;
    const struct index_change *changes = txn_index_changes(txn, item);
    for (size_t i = 0; i < item->table->index_count; i++) {
        use->index_half_units[i] += index_write_half_units(&changes[i]);
        if (changes[i].type != INDEX_CHANGE_NONE)
            use->index_changes[i]++;
        if (changes[i].type == INDEX_CHANGE_MOVE)
            use->index_moves[i]++;
        if (use->limiter != NULL)
            note_index_keys(use, &item->table->indexes[i], &changes[i]);
    }
    if (UNLIKELY(item->table->counts_keys))
        key_use_note_write(use, &item->place, half_units, changes);
}

void capacity_use_add_write(struct capacity_use *use, struct txn *txn, struct txn_item *item)
{
    add_write(use, txn, item, 1);
}

void capacity_use_add_transaction_write(struct capacity_use *use, struct txn *txn,
                                        struct txn_item *item)
{
    use->is_transaction = true;
    add_write(use, txn, item, TRANSACTION_FACTOR);
}

static void add_refused(struct capacity_use *use, const struct txn_item *item, size_t size_after,
                        int factor)
{
    size_t size_before = item->exists ? item->current.size : 0;
    settle(use, item->table);
    use->kind = CAPACITY_WRITE;
    add_item_units(use, &item->place, factor * capacity_write_half_units(size_before, size_after));
}

void capacity_use_add_refused_write(struct capacity_use *use, const struct txn_item *item,
                                    size_t size_after)
{
    add_refused(use, item, size_after, 1);
}

void capacity_use_add_cancelled_write(struct capacity_use *use, const struct txn_item *item,
                                      size_t size_after)
{
    use->is_transaction = true;
    add_refused(use, item, size_after, TRANSACTION_FACTOR);
}

void capacity_use_add_transaction_read(struct capacity_use *use, const struct item_address *place,
                                       size_t item_size, bool exists)
{
    use->kind = CAPACITY_READ;
    use->is_transaction = true;
    use->read_count += exists;
    use->returned_count += exists;
    add_item_units(use, place, TRANSACTION_FACTOR * capacity_read_half_units(item_size, true));
}

/* --- JSON --- */

static bool is_wanted(struct bytes wanted)
{
    return bytes_equal_text(wanted, "INDEXES") || bytes_equal_text(wanted, "TOTAL");
}

static void write_units(struct json_writer *writer, const struct capacity_use *use,
                        int64_t half_units)
{
    json_write_name(writer, "CapacityUnits");
    json_write_half_units(writer, half_units);
    if (!use->is_transaction)
        return;
    json_write_name(writer,
                    use->kind == CAPACITY_READ ? "ReadCapacityUnits" : "WriteCapacityUnits");
    json_write_half_units(writer, half_units);
}

static void write_indexes(struct json_writer *writer, const struct capacity_use *use, bool global)
{
    bool open = false;
    for (size_t i = 0; i < use->definition->index_count; i++) {
        const struct index_definition *index = &use->definition->indexes[i];
        if (index->global != global || use->index_half_units[i] == 0)
            continue;
        if (!open) {
            json_write_name(writer, global ? "GlobalSecondaryIndexes" : "LocalSecondaryIndexes");
            json_open_object(writer);
            open = true;
        }
        json_write_name_bytes(writer, index->name);
        json_open_object(writer);
        write_units(writer, use, use->index_half_units[i]);
        json_close_object(writer);
    }
    if (open)
        json_close_object(writer);
}

static void write_table(struct json_writer *writer, struct bytes wanted,
                        const struct capacity_use *use)
{
    json_open_object(writer);
    json_write_name(writer, "TableName");
    json_write_string(writer, use->table_name);
    write_units(writer, use, capacity_use_total(use));
    if (bytes_equal_text(wanted, "INDEXES")) {
        json_write_name(writer, "Table");
        json_open_object(writer);
        write_units(writer, use, use->table_half_units);
        json_close_object(writer);
        write_indexes(writer, use, false);
        write_indexes(writer, use, true);
    }
    json_close_object(writer);
}

void capacity_write_json(struct json_writer *writer, struct bytes wanted,
                         const struct capacity_use *use)
{
    if (!is_wanted(wanted))
        return;
    json_write_name(writer, "ConsumedCapacity");
    write_table(writer, wanted, use);
}

void capacity_write_list(struct json_writer *writer, struct bytes wanted,
                         const struct capacity_use *uses, size_t count)
{
    if (!is_wanted(wanted))
        return;
    json_write_name(writer, "ConsumedCapacity");
    json_open_array(writer);
    for (size_t i = 0; i < count; i++)
        write_table(writer, wanted, &uses[i]);
    json_close_array(writer);
}
