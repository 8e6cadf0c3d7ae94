/* capacity.c -- see capacity.h. */
#include "api/capacity.h"
#include <assert.h>
#include "index/index_change.h"
#include "json/writer.h"
#include "model/limits.h"

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

bool capacity_is_wanted(struct bytes wanted)
{
    return bytes_equal_text(wanted, "INDEXES") || bytes_equal_text(wanted, "TOTAL");
}

static void write_units(struct json_writer *writer, const struct capacity_use *use,
                        int64_t half_units)
{
    json_write_name(writer, "CapacityUnits");
    json_write_half_units(writer, half_units);
    if (use->split == CAPACITY_UNSPLIT)
        return;
    json_write_name(writer,
                    use->split == CAPACITY_READ ? "ReadCapacityUnits" : "WriteCapacityUnits");
    json_write_half_units(writer, half_units);
}

static void write_indexes(struct json_writer *writer, const struct capacity_use *use, bool global)
{
    bool open = false;
    for (size_t i = 0; i < use->table->index_count; i++) {
        const struct index_definition *index = &use->table->indexes[i];
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

void capacity_use_write_table(struct json_writer *writer, struct bytes wanted,
                              struct bytes table_name, const struct capacity_use *use)
{
    int64_t total = use->table_half_units;
    for (size_t i = 0; i < use->table->index_count; i++)
        total += use->index_half_units[i];
    json_open_object(writer);
    json_write_name(writer, "TableName");
    json_write_string(writer, table_name);
    write_units(writer, use, total);
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

void capacity_use_write_json(struct json_writer *writer, struct bytes wanted,
                             struct bytes table_name, const struct capacity_use *use)
{
    if (!capacity_is_wanted(wanted))
        return;
    json_write_name(writer, "ConsumedCapacity");
    capacity_use_write_table(writer, wanted, table_name, use);
}

static const struct table_definition no_indexes = { .index_count = 0 };

void capacity_write_table(struct json_writer *writer, struct bytes wanted, struct bytes table_name,
                          int64_t half_units)
{
    const struct capacity_use use = { .table = &no_indexes, .table_half_units = half_units };
    capacity_use_write_table(writer, wanted, table_name, &use);
}

void capacity_write_json(struct json_writer *writer, struct bytes wanted, struct bytes table_name,
                         int64_t half_units)
{
    const struct capacity_use use = { .table = &no_indexes, .table_half_units = half_units };
    capacity_use_write_json(writer, wanted, table_name, &use);
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

static void add_index_writes(struct capacity_use *use, const struct index_change *changes)
{
    for (size_t i = 0; i < use->table->index_count; i++)
        use->index_half_units[i] += index_write_half_units(&changes[i]);
}

void capacity_use_add_write(struct capacity_use *use, size_t size_before, size_t size_after,
                            const struct index_change *changes)
{
    use->table_half_units += capacity_write_half_units(size_before, size_after);
    add_index_writes(use, changes);
}

void capacity_use_add_transaction_write(struct capacity_use *use, size_t size_before,
                                        size_t size_after, const struct index_change *changes)
{
    use->split = CAPACITY_WRITE;
    use->table_half_units +=
        TRANSACTION_FACTOR * capacity_write_half_units(size_before, size_after);
    if (changes != NULL)
        add_index_writes(use, changes);
}

void capacity_use_add_transaction_read(struct capacity_use *use, size_t item_size)
{
    use->split = CAPACITY_READ;
    use->table_half_units += TRANSACTION_FACTOR * capacity_read_half_units(item_size, true);
}
