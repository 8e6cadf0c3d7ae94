/* transaction_tables.h -- the tables that the actions of a transaction or the statements of a batch
 * name, each held once. */
#ifndef STATOR_API_TRANSACTION_TRANSACTION_TABLES_H
#define STATOR_API_TRANSACTION_TRANSACTION_TABLES_H
#include <stdbool.h>
#include <stddef.h>
#include "api/item/batch.h"
#include "base/bytes.h"
#include "base/compiler.h"

struct api_call;
struct arena;
struct table;
struct table_definition;

/* In the order in which they were found first. */
struct transaction_tables {
    struct table **tables;           /* NULL: there is none of that name. */
    struct batch_capacity *capacity; /* One for each table. */
    size_t count;
    /* The call ends on the thread that runs it: see operation_borrow_table. */
    bool borrowed;
};

/* Room for the tables of `action_count` actions. */
void transaction_tables_init(struct transaction_tables *tables, struct arena *arena,
                             size_t action_count);
void transaction_tables_release(struct transaction_tables *tables);

/* The index of a table among these, by the name or ARN sent. It may be one that does not exist,
 * which nobody may be told before access was decided: transaction_tables_check tells it. */
size_t transaction_tables_find(struct transaction_tables *tables, struct api_call *call,
                               struct bytes table_name);
const struct table *transaction_tables_at(const struct transaction_tables *tables, size_t index);
/* False with call->error set if there is no such table. */
MUST_CHECK bool transaction_tables_check(struct transaction_tables *tables, struct api_call *call,
                                         size_t index);
/* Of a table that passed transaction_tables_check. */
const struct table_definition *
transaction_tables_definition(const struct transaction_tables *tables, size_t index);

/* Sets the error of a transaction that names an item twice. Returns false. */
bool transaction_tables_refuse_duplicates(struct api_call *call);

#endif
