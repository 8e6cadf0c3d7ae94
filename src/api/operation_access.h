/* operation_access.h -- how operations ask whether their caller may do what the request wants.
 *
 * Every operation says in its declaration whom it asks (enum operation_asks). The table or stream
 * that a request names is asked about before the operation runs. Operations on items ask by
 * themselves, because policies may be about partition keys and attributes (item_access.h): after
 * what can be judged without the table, and before anything is told that depends on it. A missing
 * table is asked about like one that exists, so that callers without rights cannot tell the two
 * apart.
 *
 * Where requests are not authenticated there is no caller, and all of this costs one comparison.
 */
#ifndef STATOR_API_OPERATION_ACCESS_H
#define STATOR_API_OPERATION_ACCESS_H
#include <stdbool.h>
#include "access/access.h"
#include "base/bytes.h"
#include "base/compiler.h"

struct api_call;
struct table;

/* A question about an action on a table, or on one of its indexes if `index_name` is given. `table`
 * is NULL if there is none of that name or ARN. */
struct access_question operation_question(struct api_call *call, const char *action,
                                          struct bytes name_or_arn, struct bytes index_name,
                                          const struct table *table);
/* The same about the stream of a table. */
struct access_question operation_stream_question(struct api_call *call, const char *action,
                                                 struct bytes table_name, struct bytes label,
                                                 const struct table *table);

/* Decides, and notes the resource for the audit. False with AccessDeniedException set. There must
 * be a caller. */
MUST_CHECK bool operation_may(struct api_call *call, const struct access_question *question);
/* Whether the caller may do the call's own action on a table, decided without a trace: for lists
 * that show some things and not others. True if there is no caller. */
bool operation_sees_table(struct api_call *call, struct bytes table_name);
/* True if there is no caller; otherwise the call's own action on a table or stream, of which
 * nothing else is known: a table's name, or the ARN of a table or stream. */
MUST_CHECK bool operation_may_use(struct api_call *call, struct bytes name_or_arn);
/* The same about no single resource: "*". */
MUST_CHECK bool operation_may_use_account(struct api_call *call);

/* What the operation's declaration asks, before it runs. Refuses operations that do not say who may
 * call them. */
MUST_CHECK bool operation_may_run(struct api_call *call);
/* The request turned out to touch nothing. An operation must ask, or say this, before it succeeds.
 */
void operation_asks_nothing(struct api_call *call);

#endif
