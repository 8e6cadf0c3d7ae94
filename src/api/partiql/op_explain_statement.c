/* op_explain_statement.c -- ExplainStatement, our own: how a statement, a Query or a Scan would be
 * carried out, without doing it.
 *
 * It runs the operation itself up to the point where items would be read or written; item_page.c
 * and op_execute_statement.c answer with the plan there. So the plan is the one that would be
 * carried out, mistakes are reported with the same messages, and access is decided by the same
 * questions: whoever may not run it may not have it explained.
 */
#include "api/item/item_shapes.h"
#include "api/operation.h"
#include "api/partiql/partiql_statement.h"
#include "model/error.h"

static void run(struct api_call *call, const void *input)
{
    const struct explain_statement_request *request = input;
    int given = (request->statement.statement.statement.data != NULL) + (request->query != NULL) +
                (request->scan != NULL);
    if (given != 1) {
        error_validation(&call->error,
                         "Exactly one of Statement, Query and Scan must be specified");
        operation_fail(call);
    } else if (request->query != NULL) {
        op_query.run(call, request->query);
    } else if (request->scan != NULL) {
        op_scan.run(call, request->scan);
    } else {
        op_execute_statement.run(call, &request->statement);
    }
}

const struct operation op_explain_statement = { .name = "ExplainStatement",
                                                .service = OPERATION_OF_STATOR,
                                                .actions_of = "dynamodb",
                                                .kind = OPERATION_DATA,
                                                .request = &explain_statement_shape,
                                                .family = ERROR_FAMILY_NEWER,
                                                .asks = OPERATION_ASKS_ITSELF,
                                                .hides_keys = true,
                                                .run = run };
