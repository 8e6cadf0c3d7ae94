/* operation_access.h -- how operations ask whether their caller may do what the request wants.
 *
 * Every operation says in its declaration whom it asks (enum operation_asks). The table or stream
 * that a request names is asked about before the operation runs. Operations on items ask by
 * themselves, because policies may be about partition keys and attributes (item_access.h): after
 * the checks that need no table, and before anything that depends on it is shown. A missing table
 * is treated like one that exists, so that callers without rights cannot tell the two apart.
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
/* Whether the caller may do the call's own action on a table, without a note for the audit: for
 * lists that show only what the caller may see. True if there is no caller. */
bool operation_sees_table(struct api_call *call, struct bytes table_name);
/* True if there is no caller; otherwise the call's own action on a table or stream, of which
 * nothing else is known: a table's name, or the ARN of a table or stream. */
MUST_CHECK bool operation_may_use(struct api_call *call, struct bytes name_or_arn);
/* The same about no single resource: "*". */
MUST_CHECK bool operation_may_use_account(struct api_call *call);
/* The same about something that is neither a table nor a stream, such as an alarm. */
MUST_CHECK bool operation_may_use_arn(struct api_call *call, struct bytes arn);

/* Decides about access as the operation declares it, before it runs. Refuses operations that
 * declare nothing. */
MUST_CHECK bool operation_may_run(struct api_call *call);
/* The request turned out to touch nothing. Before an operation succeeds, it must decide about
 * access or call this. */
void operation_asks_nothing(struct api_call *call);

#endif
