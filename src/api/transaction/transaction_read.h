/* transaction_read.h -- a transaction's reads, from whichever operation has them: all from one view
 * of the store.
 */
#ifndef STATOR_API_TRANSACTION_TRANSACTION_READ_H
#define STATOR_API_TRANSACTION_TRANSACTION_READ_H
#include <stdbool.h>
#include <stddef.h>
#include "api/item/batch.h"
#include "base/bytes.h"
#include "expr/params.h"

struct api_call;
struct item;
struct path_node;
struct projection_column;

/* Lives in the call's arena. All rules that need no table were checked. */
struct transaction_read {
    struct bytes table_name; /* As sent. */
    const struct item *key;
    const struct path_node *projection; /* NULL: the whole item. */
    /* PartiQL's columns, in place of a projection. */
    const struct projection_column *columns;
    size_t column_count;       /* 0: none. */
    struct expr_params params; /* Of the projection. */
};

struct transaction_read_start {
    const struct transaction_read *reads;
    size_t read_count; /* From 1 to TRANSACTION_ACTIONS_MAX. */
    struct bytes return_consumed_capacity;
    bool was_asked; /* The call's tables were found, and access was decided about all. */
    /* Report every key that does not fit its table's schema, instead of the first one. */
    bool every_key_fault;
};

/* Reads, answers with Responses and ends the call. */
void transaction_read_start(struct api_call *call, const struct transaction_read_start *start);

#endif
