/* batch.h -- what operations on several items share: the tables that they name, rules about tables
 * and items, and what the answer says about capacity and item collections.
 */
#ifndef STATOR_API_ITEM_BATCH_H
#define STATOR_API_ITEM_BATCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct api_call;
struct capacity_use;
struct error;
struct item;
struct item_address;
struct json_writer;
struct shape_map;
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

/* One of the writes of a request. */
struct batch_item {
    size_t table_index;     /* Among the request's tables. */
    const struct item *key; /* Has at least the key attributes. */
    const struct txn_item *item;
};
/* Writes the "ItemCollectionMetrics" member if `wanted` asks for it and a table has any. The
 * effects of the txn's items are set. */
void batch_write_collections(struct json_writer *writer, struct bytes wanted, struct txn *txn,
                             const struct capacity_use *tables, size_t table_count,
                             const struct batch_item *items, size_t item_count);

/* The index among call->uses of a table that one of the request's actions names, by the name or ARN
 * sent; a name that comes again is not looked up again. Its table is NULL if there is none. */
size_t batch_find_table(struct api_call *call, struct bytes table_name);
/* The same for a call that ends on the thread that runs it: see operation_borrow_table. */
size_t batch_borrow_table(struct api_call *call, struct bytes table_name);

#endif
