/* partiql_write.h -- one INSERT, UPDATE or DELETE: which item it is about and what it does to it.
 */
#ifndef STATOR_API_PARTIQL_PARTIQL_WRITE_H
#define STATOR_API_PARTIQL_PARTIQL_WRITE_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/item.h"

struct arena;
struct capacity_use;
struct condition;
struct error;
struct item_address;
struct statement;
struct table_definition;
struct txn_item;

/* Lives in the arena of the call, like the statement. */
struct partiql_write {
    const struct statement *statement;
    struct item key; /* The key attributes; INSERT: the whole item. */
    /* The condition on the current item. An INSERT requires that there is none; a DELETE holds if
     * there is none. */
    const struct condition *condition;
};

/* Applies the rules about keys to a statement other than SELECT. EXISTS is allowed: its condition
 * must hold. */
MUST_CHECK bool partiql_write_prepare(struct arena *arena, const struct statement *statement,
                                      const struct table_definition *table,
                                      struct partiql_write *out, struct error *err);
/* Finds the item's address and applies the rules about attributes that are keys of indexes. */
MUST_CHECK bool partiql_write_locate(struct arena *arena, const struct partiql_write *write,
                                     const struct table_definition *table, struct item_address *out,
                                     struct error *err);

/* What RETURNING asks for. */
struct partiql_returned {
    bool is_any;                 /* False: nothing. */
    struct item item;            /* In the arena. */
    const struct update *update; /* Only the parts that it changes; NULL: the whole item. */
};

/* Within a txn's decision: sets the item's effect and `*returned`; or returns false with the error
 * set. */
MUST_CHECK bool partiql_write_decide(struct arena *arena, const struct partiql_write *write,
                                     struct txn_item *item, struct partiql_returned *returned,
                                     struct error *err);
/* Its JSON, which may be formed when the decision is long over; empty: nothing. */
struct bytes partiql_write_returned_json(struct arena *arena,
                                         const struct partiql_returned *returned);

/* Counts what a write costs that the decision refused, or nothing if that costs nothing. */
void partiql_write_count_refused(const struct partiql_write *write, const struct txn_item *item,
                                 const struct error *err, struct capacity_use *use);

/* The message for an INSERT of an item that exists. */
extern const char partiql_write_duplicate_text[];

#endif
