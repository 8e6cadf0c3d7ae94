/* transaction_tables.c -- see transaction_tables.h. */
#include "api/transaction/transaction_tables.h"
#include "api/operation.h"
#include "base/arena.h"
#include "table/catalogue.h"

void transaction_tables_init(struct transaction_tables *tables, struct arena *arena,
                             size_t action_count)
{
    tables->tables = arena_alloc(arena, action_count * sizeof(*tables->tables));
    tables->capacity = arena_alloc(arena, action_count * sizeof *tables->capacity);
    tables->count = 0;
    tables->borrowed = false;
}

void transaction_tables_release(struct transaction_tables *tables)
{
    for (size_t i = 0; i < tables->count; i++)
        table_release(tables->tables[i]);
    tables->count = 0;
}

size_t transaction_tables_find(struct transaction_tables *tables, struct api_call *call,
                               struct bytes table_name)
{
    for (size_t i = 0; i < tables->count; i++)
        if (bytes_equal(tables->capacity[i].table_name, table_name))
            return i;
    size_t index = tables->count++;
    tables->tables[index] = tables->borrowed ? operation_borrow_table(call, table_name)
                                             : operation_find_table(call, table_name);
    tables->capacity[index] = (struct batch_capacity){ .table_name = table_name };
    return index;
}

const struct table *transaction_tables_at(const struct transaction_tables *tables, size_t index)
{
    return tables->tables[index];
}

bool transaction_tables_check(struct transaction_tables *tables, struct api_call *call,
                              size_t index)
{
    if (!operation_check_table(call, tables->tables[index]))
        return false;
    tables->capacity[index].use.table = table_definition(tables->tables[index]);
    return true;
}

const struct table_definition *
transaction_tables_definition(const struct transaction_tables *tables, size_t index)
{
    return table_definition(tables->tables[index]);
}

bool transaction_tables_refuse_duplicates(struct api_call *call)
{
    return error_validation(&call->error,
                            "Transaction request cannot include multiple operations on one item");
}
