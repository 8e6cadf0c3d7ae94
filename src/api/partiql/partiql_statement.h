/* partiql_statement.h -- the requests of the PartiQL operations: their shapes, their statements
 * parsed, and NextToken.
 */
#ifndef STATOR_API_PARTIQL_PARTIQL_STATEMENT_H
#define STATOR_API_PARTIQL_PARTIQL_STATEMENT_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "shape/shape.h"

struct api_call;
struct arena;
struct error;
struct item;
struct query_request;
struct scan_request;
struct statement;
struct table_definition;
struct token_hash;

/* --- Requests as their shapes read them --- */

/* What a statement comes with, wherever it stands. */
struct statement_request {
    struct bytes statement;
    struct shape_list parameters;         /* of struct shape_value */
    struct shape_boolean consistent_read; /* Not in ExecuteTransaction. */
    struct bytes return_values_on_condition_check_failure;
};

struct execute_statement_request {
    struct statement_request statement;
    struct bytes next_token;
    struct shape_integer limit;
    struct bytes return_consumed_capacity;
};

/* Exactly one of the three. */
struct explain_statement_request {
    struct execute_statement_request statement; /* Its text is absent: one of the others. */
    struct query_request *query;
    struct scan_request *scan;
};

struct batch_execute_statement_request {
    struct shape_list statements; /* of struct statement_request * */
    struct bytes return_consumed_capacity;
};

struct execute_transaction_request {
    struct shape_list transact_statements; /* of struct statement_request * */
    struct bytes client_request_token;
    struct bytes return_consumed_capacity;
};

extern const struct shape execute_statement_shape;
extern const struct shape explain_statement_shape;
extern const struct shape batch_execute_statement_shape;
extern const struct shape execute_transaction_shape;

/* --- Statements --- */

/* Reports the broken rule of the parameters' values, if there is one. */
MUST_CHECK bool partiql_statement_check_values(struct api_call *call,
                                               const struct statement_request *request);
/* Parses the statement with its parameters, whose values were checked. The result lives in the
 * call's arena. */
MUST_CHECK bool partiql_statement_parse(struct api_call *call,
                                        const struct statement_request *request,
                                        struct statement *out, struct error *err);
/* Is the name a valid name or ARN of a table? */
MUST_CHECK bool partiql_statement_check_table_name(const struct statement *statement,
                                                   struct error *err);

/* No path of the statement leads into a key attribute of its table. */
MUST_CHECK bool partiql_statement_check_paths(const struct statement *statement,
                                              const struct table_definition *table,
                                              struct error *err);

/* SELECT, which changes nothing. */
bool partiql_statement_is_read(const struct statement *statement);

/* Adds the statement and its parameters to a hash that identifies them. */
void partiql_statement_add_hash(struct token_hash *hash, const struct statement_request *request);

/* --- NextToken: where a SELECT resumes ---
 *
 * It holds the key behind which the next page begins, and a fingerprint of the statement and its
 * parameters, so that it fits no other. The server keeps nothing of it.
 */

struct bytes partiql_statement_format_token(struct arena *arena,
                                            const struct statement_request *request,
                                            const struct item *last_key);
/* False with the error set if it is no token of this statement. The key lives in the arena. */
MUST_CHECK bool partiql_statement_parse_token(struct arena *arena, struct bytes token,
                                              const struct statement_request *request,
                                              struct item *last_key, struct error *err);
/* Sets the error of an invalid token. Returns false. */
bool partiql_statement_refuse_token(struct error *err);

/* For metrics: an enum meter_verb. */
uint8_t partiql_statement_verb(const struct statement *statement);

#endif
