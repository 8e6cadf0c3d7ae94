/* txn_changes.c -- the change records of a write's items. See txn_parts.h. */
#include "base/clock.h"
#include "model/table_definition.h"
#include "log/change_log.h"
#include "log/change_record.h"
#include "txn/txn.h"
#include "txn/txn_parts.h"

static struct engine_address head_of(const struct txn_item *item)
{
    return change_log_head_address(item->table->log_id, item->place.address.place.partition);
}

/* Whether there is something to tell. Documented: a PutItem or UpdateItem that changes no data of
 * an item writes no record. */
static bool is_change(const struct txn_item *item)
{
    switch (item->effect) {
    case TXN_KEEP:
    case TXN_INDEX:
        return false;
    case TXN_DELETE:
        return item->exists;
    case TXN_PUT:
        return !item->exists || !bytes_equal(item->replacement.encoded, item->current.encoded);
    }
    return false;
}

void txn_changes_add_addresses(const struct txn_item *item, struct txn_addresses *addresses)
{
    if (item->table->log_id != 0 && is_change(item))
        txn_addresses_add(addresses, head_of(item));
}

static bool same_log(const struct txn_item *a, const struct txn_item *b)
{
    return a->table->log_id == b->table->log_id &&
           a->place.address.place.partition == b->place.address.place.partition;
}

static void append(struct txn *txn, const struct txn_item *item, struct engine_write *write,
                   const struct engine_place *place, struct change_log_head *head,
                   const struct clock_reading *now)
{
    const struct item *before = item->exists ? &item->current : NULL;
    const struct item *after = item->effect == TXN_PUT ? &item->replacement : NULL;
    struct change_record record =
        change_record_between(txn->arena, &item->table->key, before, after, head->images);
    record.by_service = item->by_service;
    change_log_append(txn->arena, write, place, head, &record, now);
}

/* Logs the changes of all items that share the log of `items[first]`, from that one on. `logged`
 * tells of each item that nothing is left to do for it. */
static enum engine_status append_all(struct txn *txn, size_t first, bool *logged,
                                     struct engine_write *write)
{
    struct engine_address address = head_of(&txn->items[first]);
    struct change_log_head head;
    enum engine_status status = change_log_read_head(write, &address, &head);
    if (status != ENGINE_OK)
        return status;
    const struct clock_reading now = clock_read(txn->clock);
    for (size_t i = first; i < txn->item_count; i++) {
        const struct txn_item *item = &txn->items[i];
        if (logged[i] || !same_log(item, &txn->items[first]))
            continue;
        logged[i] = true;
        if (head.open && is_change(item))
            append(txn, item, write, &address.place, &head, &now);
    }
    if (head.open)
        change_log_put_head(write, &address, &head);
    return ENGINE_OK;
}

/* Items of one log are numbered together: a write does not read its own puts. */
enum engine_status txn_changes_apply(struct txn *txn, struct engine_write *write)
{
    bool logged[TXN_ITEMS_MAX] = { false };
    enum engine_status status = ENGINE_OK;
    for (size_t i = 0; i < txn->item_count && status == ENGINE_OK; i++) {
        const struct txn_item *item = &txn->items[i];
        if (item->table->log_id != 0 && !logged[i] && is_change(item))
            status = append_all(txn, i, logged, write);
    }
    return status;
}
