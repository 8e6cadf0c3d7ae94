/* statement_parse.h -- the text of a PartiQL statement becomes a struct statement. */
#ifndef STATOR_PARTIQL_STATEMENT_PARSE_H
#define STATOR_PARTIQL_STATEMENT_PARSE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "partiql/statement.h"

struct arena;
struct error;
struct value;

/* What messages about the grammar begin with, in difference to those about the meaning. */
#define STATEMENT_MALFORMED "Statement wasn't well formed, can't be processed: "

enum { STATEMENT_NESTING_MAX = 64 }; /* Parentheses, calls and containers open at once. */

/* The values that stand for the statement's `?`, in their order. */
struct statement_parameters {
    const struct value *values;
    size_t count;
};

/* False with the service's words. `out` borrows the text and the parameters, and lives in the
 * arena. `text` is valid UTF-8. */
MUST_CHECK bool statement_parse(struct arena *arena, struct bytes text,
                                const struct statement_parameters *parameters,
                                struct statement *out, struct error *err);

#endif
