/* transaction_tables.h -- the tables that the actions of a transaction or the statements of a batch
 * name, each held once. */
#ifndef STATOR_API_TRANSACTION_TABLES_H
#define STATOR_API_TRANSACTION_TABLES_H
#include <stdbool.h>
#include <stddef.h>
#include "api/batch.h"
#include "base/bytes.h"
#include "base/compiler.h"

struct api_call;
struct arena;
struct table;
struct table_definition;

/* In the order in which they were found first. */
struct transaction_tables {
    struct table **tables;
    struct batch_capacity *capacity; /* One for each table. */
    size_t count;
};

/* Room for the tables of `action_count` actions. */
void transaction_tables_init(struct transaction_tables *tables, struct arena *arena,
                             size_t action_count);
void transaction_tables_release(struct transaction_tables *tables);

/* The index of a table, by the name or ARN sent, among those found. False with call->error set if
 * there is no such table. */
MUST_CHECK bool transaction_tables_find(struct transaction_tables *tables, struct api_call *call,
                                        struct bytes table_name, size_t *index);
const struct table_definition *
transaction_tables_definition(const struct transaction_tables *tables, size_t index);

/* Sets the error of a transaction that names an item twice. Returns false. */
bool transaction_tables_refuse_duplicates(struct api_call *call);

#endif
