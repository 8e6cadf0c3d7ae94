/* capacity.h -- what a call did to its tables, in items and capacity units, and the JSON of that.
 *
 * Counted for every call, whether or not the client asks to see it: api_options.observe gets it at
 * the end. Units are counted in halves, because an eventually consistent read costs half a unit.
 */
#ifndef STATOR_API_CAPACITY_H
#define STATOR_API_CAPACITY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "metric/capacity_use.h"

struct arena;
struct item_address;
struct json_writer;
struct txn;
struct txn_item;

/* Reading nothing costs as much as reading the smallest item. */
int64_t capacity_read_half_units(size_t item_size, bool consistent);
/* A write is charged by the larger of the item before and after. */
int64_t capacity_write_half_units(size_t size_before, size_t size_after);

/* Nothing was done yet. `table` may be NULL. */
void capacity_use_init(struct capacity_use *use, struct arena *arena, struct table *table,
                       struct bytes table_name);
/* Forgets what was counted: an attempt has failed or is repeated. */
void capacity_use_clear(struct capacity_use *use);
/* Of the table and all its indexes. */
int64_t capacity_use_total(const struct capacity_use *use);

/* Adds the read of an item by its key. */
void capacity_use_add_read(struct capacity_use *use, const struct item_address *place,
                           size_t item_size, bool exists, bool consistent);
/* Adds the write of an item on which the txn has decided, and what it does to the indexes. A
 * moved entry is charged for its deletion and its insertion; an unchanged one costs nothing. */
void capacity_use_add_write(struct capacity_use *use, struct txn *txn, struct txn_item *item);
/* The same in a transaction, which costs the table twice as much, but not its indexes. */
void capacity_use_add_transaction_write(struct capacity_use *use, struct txn *txn,
                                        struct txn_item *item);
/* Adds a write whose condition failed. Documented: it is charged by the larger of the item that
 * there is and the one that would be there, whose size is 0 if it is not known. */
void capacity_use_add_refused_write(struct capacity_use *use, const struct txn_item *item,
                                    size_t size_after);
/* The same of every write in a transaction that is cancelled. Observed: they are counted as
 * consumed, which no answer shows, and not those of indexes. */
void capacity_use_add_cancelled_write(struct capacity_use *use, const struct txn_item *item,
                                      size_t size_after);
/* Adds the read of an item in a transaction, which is consistent and costs twice as much. */
void capacity_use_add_transaction_read(struct capacity_use *use, const struct item_address *place,
                                       size_t item_size, bool exists);

/* Notes what a read of one partition key has cost, if limits are enforced; a write notes that by
 * itself. `index` NULL: of the table. */
void capacity_use_add_key(struct capacity_use *use, const struct index_definition *index,
                          uint64_t key, int64_t half_units);
/* What counts against the throughput of the table itself: its own units and those of local indexes.
 */
int64_t capacity_use_of_table(const struct capacity_use *use);

/* --- ReturnConsumedCapacity: `wanted` is absent, NONE, TOTAL or INDEXES --- */

/* Writes the "ConsumedCapacity" member if `wanted` asks for it: of one table, or a list. */
void capacity_write_json(struct json_writer *writer, struct bytes wanted,
                         const struct capacity_use *use);
void capacity_write_list(struct json_writer *writer, struct bytes wanted,
                         const struct capacity_use *uses, size_t count);

#endif
