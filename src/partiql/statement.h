/* statement.h -- a PartiQL statement, parsed.
 *
 * Its conditions, updates and columns are in the structures of expr/ast.h, so that expr/ evaluates
 * them. A parsed statement is a plain value in the request's arena: it borrows the text and the
 * parameters, and never changes.
 */
#ifndef STATOR_PARTIQL_STATEMENT_H
#define STATOR_PARTIQL_STATEMENT_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "expr/ast.h"
#include "expr/params.h"
#include "model/item.h"

struct arena;
struct error;
struct value;

enum statement_type {
    STATEMENT_TYPE_SELECT,
    STATEMENT_TYPE_EXISTS, /* EXISTS(SELECT ...): the same members as SELECT. */
    STATEMENT_TYPE_INSERT,
    STATEMENT_TYPE_UPDATE,
    STATEMENT_TYPE_DELETE,
};

enum statement_returning {
    RETURNING_NOTHING,
    RETURNING_ALL_OLD,
    RETURNING_MODIFIED_OLD,
    RETURNING_ALL_NEW,
    RETURNING_MODIFIED_NEW,
};

/* One element of ORDER BY. */
struct statement_order {
    struct bytes name;
    bool descending;
};

struct statement {
    enum statement_type type;
    struct bytes table_name;
    struct bytes index_name;       /* SELECT; data NULL: the table itself. */
    const struct condition *where; /* NULL: none. Never for INSERT. */
    const struct projection_column *columns;
    size_t column_count; /* SELECT; 0: whole items. */
    const struct statement_order *orders;
    size_t order_count;
    struct item item;            /* INSERT */
    const struct update *update; /* UPDATE */
    enum statement_returning returning;
    struct expr_params params; /* Has the document paths of more than one step. */
};

/* --- Parsing --- */

/* Messages about the grammar, unlike those about the meaning, begin with this. */
#define STATEMENT_MALFORMED "Statement wasn't well formed, can't be processed: "

enum { STATEMENT_NESTING_MAX = 64 }; /* Parentheses, calls and containers open at once. */

/* The values of the statement's `?`, in their order. */
struct statement_parameters {
    const struct value *values;
    size_t count;
};

/* False with the error set to the service's message. `out` borrows the text and the parameters, and
 * its parts live in the arena. `text` is valid UTF-8. */
MUST_CHECK bool statement_parse(struct arena *arena, struct bytes text,
                                const struct statement_parameters *parameters,
                                struct statement *out, struct error *err);

#endif
