/* item_authorization.h -- what the operations on items ask for: which action, on which table or
 * index, touching which partition keys and attributes.
 *
 * Each is called once the table is known and the expressions are compiled, before anything is read
 * or written. False with AccessDeniedException set. Where there is no caller they answer at once.
 */
#ifndef STATOR_API_ITEM_AUTHORIZATION_H
#define STATOR_API_ITEM_AUTHORIZATION_H
#include <stdbool.h>
#include <stddef.h>
#include "api/shape.h"
#include "base/bytes.h"
#include "base/compiler.h"

struct api_call;
struct batch_write_item_request;
struct condition_request;
struct get_item_request;
struct item;
struct item_expressions;
struct path_node;
struct read_expressions;
struct read_request;
struct read_source;
struct table_definition;
struct transaction_action;

MUST_CHECK bool item_authorization_get(struct api_call *call, const struct table_definition *table,
                                       const struct get_item_request *request,
                                       const struct path_node *projection);
/* PutItem, UpdateItem and DeleteItem. `item` is the whole item, or its key. */
MUST_CHECK bool item_authorization_write(struct api_call *call,
                                         const struct table_definition *table,
                                         const struct condition_request *request,
                                         const struct item *item,
                                         const struct item_expressions *expressions);
/* Query and Scan. */
MUST_CHECK bool item_authorization_read(struct api_call *call, const struct read_source *source,
                                        const struct read_request *request,
                                        const struct read_expressions *expressions);

/* One table of BatchGetItem; `keys` is of struct shape_item. */
MUST_CHECK bool item_authorization_batch_get(struct api_call *call,
                                             const struct table_definition *table,
                                             const struct shape_list *keys,
                                             const struct path_node *projection,
                                             struct bytes return_consumed_capacity);
/* One table of BatchWriteItem; `requests` is of struct write_request *. */
MUST_CHECK bool item_authorization_batch_write(struct api_call *call,
                                               const struct table_definition *table,
                                               const struct shape_list *requests,
                                               struct bytes return_consumed_capacity);

/* One action of a transaction, one of its reads. */
MUST_CHECK bool item_authorization_action(struct api_call *call,
                                          const struct table_definition *table,
                                          const struct transaction_action *action,
                                          struct bytes return_consumed_capacity);
MUST_CHECK bool item_authorization_transact_get(struct api_call *call,
                                                const struct table_definition *table,
                                                const struct item *key,
                                                const struct path_node *projection,
                                                struct bytes return_consumed_capacity);

#endif
