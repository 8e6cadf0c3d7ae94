/* partiql_token.h -- NextToken: where a SELECT goes on.
 *
 * It holds the key behind which the next page begins, and a fingerprint of the statement and its
 * parameters, so that it fits no other. Nothing of it is kept by the server.
 */
#ifndef STATOR_API_PARTIQL_PARTIQL_TOKEN_H
#define STATOR_API_PARTIQL_PARTIQL_TOKEN_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct error;
struct item;
struct statement_request;

struct bytes partiql_token_format(struct arena *arena, const struct statement_request *request,
                                  const struct item *last_key);
/* False with the service's words if it is no token of this statement. The key lives in the arena.
 */
MUST_CHECK bool partiql_token_parse(struct arena *arena, struct bytes token,
                                    const struct statement_request *request, struct item *last_key,
                                    struct error *err);
/* Sets the error of a token that is none. Returns false. */
bool partiql_token_refuse(struct error *err);

#endif
