/* batch.h -- what operations on several items share: the tables that they name, rules about tables
 * and items, and what the answer says about capacity and item collections.
 */
#ifndef STATOR_API_ITEM_BATCH_H
#define STATOR_API_ITEM_BATCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "api/capacity.h"
#include "base/bytes.h"
#include "base/compiler.h"

struct api_call;
struct arena;
struct error;
struct item;
struct item_address;
struct json_writer;
struct shape_map;
struct table;
struct table_definition;
struct txn;
struct txn_item;

/* Every key of RequestItems is a table's name or ARN. */
MUST_CHECK bool batch_check_names(struct api_call *call, const struct shape_map *request_items);

/* Sets the error of a request that names an item twice. Returns false. */
bool batch_refuse_duplicates(struct api_call *call);
/* Refuses a request if places[count] is one of the first `count` places: it names an item twice,
 * perhaps once by the table's ARN and once by its name. */
MUST_CHECK bool batch_check_place(struct api_call *call, const struct item_address *places,
                                  size_t count);

/* The capacity that one table consumed. */
struct batch_capacity {
    struct bytes table_name; /* As sent. */
    struct capacity_use use;
};
/* Writes the "ConsumedCapacity" member, one element per table, if `wanted` asks for it. */
void batch_write_capacity(struct json_writer *writer, struct bytes wanted,
                          const struct batch_capacity *tables, size_t count);

/* One of the writes of a request. */
struct batch_item {
    size_t table_index;     /* Among the request's tables. */
    const struct item *key; /* Has at least the key attributes. */
    const struct txn_item *item;
};
/* Writes the "ItemCollectionMetrics" member if `wanted` asks for it and a table has any. The
 * effects of the txn's items are set. */
void batch_write_collections(struct json_writer *writer, struct bytes wanted, struct txn *txn,
                             const struct batch_capacity *tables, size_t table_count,
                             const struct batch_item *items, size_t item_count);

/* The tables that the actions of a transaction or the statements of a batch name, each held once,
 * in the order in which they were found first. */
struct batch_tables {
    struct table **tables;           /* NULL: there is none of that name. */
    struct batch_capacity *capacity; /* One for each table. */
    size_t count;
    /* The call ends on the thread that runs it: see operation_borrow_table. */
    bool borrowed;
};

/* Room for the tables of `action_count` actions. */
void batch_tables_init(struct batch_tables *tables, struct arena *arena, size_t action_count);
void batch_tables_release(struct batch_tables *tables);

/* The index of a table among these, by the name or ARN sent. The table need not exist:
 * batch_tables_check reports that, after access was decided. */
size_t batch_tables_find(struct batch_tables *tables, struct api_call *call,
                         struct bytes table_name);
const struct table *batch_tables_at(const struct batch_tables *tables, size_t index);
/* False with call->error set if there is no such table. */
MUST_CHECK bool batch_tables_check(struct batch_tables *tables, struct api_call *call,
                                   size_t index);
/* Of a table that passed batch_tables_check. */
const struct table_definition *batch_tables_definition(const struct batch_tables *tables,
                                                       size_t index);

#endif
