/* item_access.h -- what the operations on items ask for: which action, on which table or index,
 * touching which partition keys and attributes, showing what.
 *
 * Each is called once the request's expressions are compiled, and before anything that depends on
 * the table is read, written or revealed. `table` is NULL if there is none of the name sent. False
 * with AccessDeniedException set. Without a caller (requests are not authenticated) they return
 * true at once.
 */
#ifndef STATOR_API_ITEM_ITEM_ACCESS_H
#define STATOR_API_ITEM_ITEM_ACCESS_H
#include <stdbool.h>
#include <stddef.h>
#include "shape/shape.h"
#include "base/bytes.h"
#include "base/compiler.h"

struct api_call;
struct condition_request;
struct get_item_request;
struct item;
struct item_expressions;
struct path_node;
struct read_expressions;
struct read_request;
struct statement;
struct table;
struct transaction_action;
struct transaction_read;

MUST_CHECK bool item_access_get(struct api_call *call, const struct table *table,
                                const struct get_item_request *request,
                                const struct path_node *projection);

/* GetItemHistory: as for a GetItem of the whole item. */
MUST_CHECK bool item_access_history(struct api_call *call, const struct table *table,
                                    struct bytes table_name, const struct item *key);

/* PutItem, UpdateItem and DeleteItem. */
struct item_access_write {
    struct bytes table_name; /* As sent. */
    const struct table *table;
    const struct condition_request *request;
    const struct item *item; /* The whole item, or its key. */
    const struct item_expressions *expressions;
};
MUST_CHECK bool item_access_write(struct api_call *call, const struct item_access_write *write);

/* Query and Scan; `action` is the one of the two that is asked for. */
MUST_CHECK bool item_access_read(struct api_call *call, const char *action,
                                 const struct table *table, const struct read_request *request,
                                 const struct read_expressions *expressions);

/* One table of BatchGetItem; `keys` is of struct shape_item. */
MUST_CHECK bool item_access_batch_get(struct api_call *call, struct bytes table_name,
                                      const struct table *table, const struct shape_list *keys,
                                      const struct path_node *projection,
                                      struct bytes return_consumed_capacity);
/* One table of BatchWriteItem; `requests` is of struct write_request *. */
MUST_CHECK bool item_access_batch_write(struct api_call *call, struct bytes table_name,
                                        const struct table *table,
                                        const struct shape_list *requests,
                                        struct bytes return_consumed_capacity);

/* A PartiQL statement of any kind. */
struct item_access_statement {
    const struct statement *statement;
    const struct table *table;
    struct bytes return_consumed_capacity;
    bool in_transaction;
    bool shows_item_on_failure; /* ReturnValuesOnConditionCheckFailure is ALL_OLD. */
};
MUST_CHECK bool item_access_statement(struct api_call *call,
                                      const struct item_access_statement *statement);

/* One action of TransactWriteItems, one read of TransactGetItems. */
MUST_CHECK bool item_access_action(struct api_call *call, const struct table *table,
                                   const struct transaction_action *action,
                                   struct bytes return_consumed_capacity);
MUST_CHECK bool item_access_transact_get(struct api_call *call, const struct table *table,
                                         const struct transaction_read *read,
                                         struct bytes return_consumed_capacity);

#endif
