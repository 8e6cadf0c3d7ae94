/* partiql_statement.h -- a request's statement, parsed, and the table that it names. */
#ifndef STATOR_API_PARTIQL_PARTIQL_STATEMENT_H
#define STATOR_API_PARTIQL_PARTIQL_STATEMENT_H
#include <stdbool.h>
#include "base/compiler.h"

struct api_call;
struct error;
struct statement;
struct statement_request;
struct table_definition;
struct token_hash;

/* Reports the broken rule, if there is one, of the parameters' values. */
MUST_CHECK bool partiql_statement_check_values(struct api_call *call,
                                               const struct statement_request *request);
/* Parses the statement with its parameters, which have passed. The result lives in the call's
 * arena. */
MUST_CHECK bool partiql_statement_parse(struct api_call *call,
                                        const struct statement_request *request,
                                        struct statement *out, struct error *err);
/* May the name be one of a table's? */
MUST_CHECK bool partiql_statement_check_table_name(const struct statement *statement,
                                                   struct error *err);

/* No path of the statement leads into a key attribute of its table. */
MUST_CHECK bool partiql_statement_check_paths(const struct statement *statement,
                                              const struct table_definition *table,
                                              struct error *err);

/* SELECT, which changes nothing. */
bool partiql_statement_is_read(const struct statement *statement);

/* Adds what tells the statement and its parameters from others. */
void partiql_statement_add_hash(struct token_hash *hash, const struct statement_request *request);

#endif
