/* partiql_write.h -- one INSERT, UPDATE or DELETE: which item it is about and what it does to it.
 */
#ifndef STATOR_API_PARTIQL_PARTIQL_WRITE_H
#define STATOR_API_PARTIQL_PARTIQL_WRITE_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/item.h"

struct arena;
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
    /* What must hold of the item as it is. An item that is there already fails an INSERT's, one
     * that is not passes a DELETE's. */
    const struct condition *condition;
};

/* The statement, which is no SELECT, applied to its table: the rules about its key. EXISTS passes
 * as well: its condition must hold. */
MUST_CHECK bool partiql_write_prepare(struct arena *arena, const struct statement *statement,
                                      const struct table_definition *table,
                                      struct partiql_write *out, struct error *err);
/* Where the item is, with the rules about attributes that indexes know. */
MUST_CHECK bool partiql_write_locate(struct arena *arena, const struct partiql_write *write,
                                     const struct table_definition *table, struct item_address *out,
                                     struct error *err);

/* Within a txn's decision: sets the item's effect, and in `*returned` what RETURNING asks for as
 * JSON (empty: nothing); or returns false with the error. */
MUST_CHECK bool partiql_write_decide(struct arena *arena, const struct partiql_write *write,
                                     struct txn_item *item, struct bytes *returned,
                                     struct error *err);

/* What is said of an INSERT of an item that is there. */
extern const char partiql_write_duplicate_text[];

#endif
