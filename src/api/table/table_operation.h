/* table_operation.h -- what the operations on tables share: finding one, changing its status, and
 * answering with its description. */
#ifndef STATOR_API_TABLE_TABLE_OPERATION_H
#define STATOR_API_TABLE_TABLE_OPERATION_H
#include <stdbool.h>
#include "api/table/table_description.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "control/table_life.h"
#include "model/table_definition.h"

struct api_call;
struct table;
struct update_table_request;

/* A request that only names an existing table. */
struct table_name_request {
    struct bytes table_name;
};
extern const struct shape table_name_request_shape;

/* ResourceArn of tags and policies: false with the service's error set unless it is the ARN of a
 * table or a stream of this server's region and account. `refuse_account` sets the error for
 * another account, and returns false. */
MUST_CHECK bool table_operation_check_arn(struct api_call *call, struct bytes arn,
                                          const char *region_text,
                                          bool (*refuse_account)(struct api_call *));
/* operation_find_table, with the service's error set if there is no such table. Observed: one that
 * is being restored, or filled as a replica, exists for few operations, which call the second. */
struct table *table_operation_find(struct api_call *call, struct bytes name_or_arn);
struct table *table_operation_find_any(struct api_call *call, struct bytes name_or_arn);
/* Whether the table is being restored, so that most operations do not see it. */
bool table_operation_is_restoring(const struct table *table);
/* False with ResourceInUseException set while the table is in a transient status. */
MUST_CHECK bool table_operation_check_idle(struct api_call *call,
                                           const struct table_definition *definition);
/* How long a transient status that begins now lasts. */
struct table_life_pace table_operation_pace(const struct api_call *call);

/* Stores a changed definition, on the control thread. False with call->error set if that fails;
 * `doing` is for the log. */
MUST_CHECK bool table_operation_store(struct api_call *call, struct table_definition *changed,
                                      const char *doing);

struct table_answer {
    const char *member; /* "TableDescription" or "Table". */
    enum description_kind kind;
    const struct table_definition *definition;
    enum table_status status;  /* What to show, unless it is an update. */
    const struct table *stats; /* Whose items are counted; NULL: a new table without any. */
    /* Of UpdateTable: the request, and the definition before it. Otherwise NULL. */
    const struct update_table_request *update;
    const struct table_definition *before;
    struct bytes hidden_replica; /* See struct table_description. */
};
/* Writes the call's response. False with call->error set if the store cannot be read. */
MUST_CHECK bool table_operation_answer(struct api_call *call, const struct table_answer *answer);

/* NextToken of a list that always fits on one page: nobody was given one. */
MUST_CHECK bool table_operation_check_token(struct api_call *call, struct bytes token);

#endif
