/* txn_expiry.c -- the entries of a write's items in the expiry queue. See txn_parts.h.
 *
 * Nothing is looked up: what is removed need not be there, and what is stored may be there already.
 */
#include "model/table_definition.h"
#include <assert.h>
#include "table/expiry_queue.h"
#include "txn/txn.h"
#include "txn/txn_parts.h"

enum { NEVER = -1 };

/* When an item expires; `item` NULL: there is none. */
static int64_t second_of(const struct table_definition *table, const struct item *item)
{
    int64_t second;
    return item != NULL && expiry_queue_second(table->expiry.attribute, item, &second) ? second
                                                                                       : NEVER;
}

static void remove_entry(struct txn *txn, const struct txn_item *item, int64_t second,
                         struct engine_write *write)
{
    assert(second >= NEVER);
    if (second == NEVER)
        return;
    struct engine_address entry = expiry_queue_address(txn->arena, &item->place.address, second);
    engine_write_delete(write, &entry);
}

static void store_entry(struct txn *txn, const struct txn_item *item, int64_t second,
                        struct engine_write *write)
{
    assert(second >= NEVER);
    if (second == NEVER)
        return;
    struct engine_address entry = expiry_queue_address(txn->arena, &item->place.address, second);
    engine_write_put(write, &entry, BYTES(""));
}

void txn_expiry_apply(struct txn *txn, const struct txn_item *item, struct engine_write *write)
{
    const struct table_definition *table = item->table;
    enum expiry_status status = table->expiry.status;
    if (status == EXPIRY_NONE || status == EXPIRY_REMOVING)
        return;
    const struct item *current = item->exists ? &item->current : NULL;
    int64_t before = second_of(table, current);
    int64_t after = before;
    if (item->effect == TXN_PUT)
        after = second_of(table, &item->replacement);
    else if (item->effect == TXN_DELETE)
        after = NEVER;
    if (item->queued && item->queued_second != after)
        remove_entry(txn, item, item->queued_second, write);
    if (item->effect == TXN_KEEP)
        return;
    if (status == EXPIRY_ALLOCATING) {
        remove_entry(txn, item, before, write);
        return;
    }
    if (before != after)
        remove_entry(txn, item, before, write);
    if (before != after || status == EXPIRY_FILLING)
        store_entry(txn, item, after, write);
}
