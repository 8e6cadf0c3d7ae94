/* capacity.h -- capacity units by the size of what was read or written, and their JSON.
 *
 * Units are counted in halves, because an eventually consistent read costs half a unit.
 */
#ifndef STATOR_API_CAPACITY_H
#define STATOR_API_CAPACITY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "model/table_definition.h"

struct index_change;
struct json_writer;

/* Reading nothing costs as much as reading the smallest item. */
int64_t capacity_read_half_units(size_t item_size, bool consistent);
/* A write is charged by the larger of the item before and after. */
int64_t capacity_write_half_units(size_t size_before, size_t size_after);

/* Does `wanted` (ReturnConsumedCapacity: absent, NONE, TOTAL or INDEXES) ask for any? */
bool capacity_is_wanted(struct bytes wanted);
/* Writes what one table consumed, as an element of a list of them. */
void capacity_write_table(struct json_writer *writer, struct bytes wanted, struct bytes table_name,
                          int64_t half_units);
/* Writes the "ConsumedCapacity" member if `wanted` asks for it. */
void capacity_write_json(struct json_writer *writer, struct bytes wanted, struct bytes table_name,
                         int64_t half_units);

/* Whether units are also told as those of reads or of writes, as transactions do. */
enum capacity_split { CAPACITY_UNSPLIT, CAPACITY_READ, CAPACITY_WRITE };

/* What an operation consumed of a table and of its indexes. */
struct capacity_use {
    const struct table_definition *table;
    enum capacity_split split;
    int64_t table_half_units;
    int64_t index_half_units[INDEXES_MAX]; /* In the order of the table's indexes. */
};
/* Adds the write of an item and what it did to the indexes, one element each. An entry is charged
 * where it goes and where it comes; one that stays the same costs nothing. */
void capacity_use_add_write(struct capacity_use *use, size_t size_before, size_t size_after,
                            const struct index_change *changes);
/* The same in a transaction, which costs the table twice as much, but not its indexes. `changes` is
 * NULL where the item is only checked. */
void capacity_use_add_transaction_write(struct capacity_use *use, size_t size_before,
                                        size_t size_after, const struct index_change *changes);
/* Adds the read of an item in a transaction, which is consistent and costs twice as much. */
void capacity_use_add_transaction_read(struct capacity_use *use, size_t item_size);
/* capacity_write_table and capacity_write_json for a table with indexes. */
void capacity_use_write_table(struct json_writer *writer, struct bytes wanted,
                              struct bytes table_name, const struct capacity_use *use);
void capacity_use_write_json(struct json_writer *writer, struct bytes wanted,
                             struct bytes table_name, const struct capacity_use *use);

#endif
