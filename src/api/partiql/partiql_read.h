/* partiql_read.h -- ExecuteStatement's SELECT. */
#ifndef STATOR_API_PARTIQL_PARTIQL_READ_H
#define STATOR_API_PARTIQL_PARTIQL_READ_H

struct api_call;
struct execute_statement_request;
struct statement;

/* Reads one page, answers and ends the call. */
void partiql_read_start(struct api_call *call, const struct execute_statement_request *request,
                        const struct statement *statement);

#endif
