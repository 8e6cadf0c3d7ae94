/* txn.c -- see txn.h. */
#include "txn/txn.h"
#include <assert.h>
#include "base/arena.h"
#include "model/table_definition.h"
#include "txn/txn_conflicts.h"
#include "txn/txn_parts.h"

/* Of each item: itself, the head of its change log, the shard of figures that counts it, and its
 * collection's size. */
enum { ADDRESSES_PER_ITEM = 4 };
static_assert(TXN_ITEMS_MAX * ADDRESSES_PER_ITEM + TXN_RECORDS_MAX <= ENGINE_WRITE_ADDRESSES_MAX,
              "the largest transaction fits into one engine write");

static enum engine_status begin(struct txn *txn, struct engine_write **write)
{
    size_t count_max = txn->item_count * ADDRESSES_PER_ITEM + txn->record_count;
    struct txn_addresses addresses = {
        .list = arena_alloc(txn->arena, count_max * sizeof *addresses.list),
    };
    for (size_t i = 0; i < txn->item_count; i++) {
        txn_addresses_add(&addresses, txn->items[i].place.address);
        txn_changes_add_addresses(&txn->items[i], &addresses);
        txn_figures_add_addresses(&txn->items[i], &addresses);
        txn_collections_add_addresses(&txn->items[i], &addresses);
    }
    txn_records_add_addresses(txn, &addresses);
    assert(addresses.count <= count_max);
    return engine_write_begin(txn->engine, addresses.list, addresses.count, write);
}

static enum engine_status read_items(struct txn *txn, struct engine_write *write)
{
    for (size_t i = 0; i < txn->item_count; i++) {
        struct txn_item *item = &txn->items[i];
        enum engine_status status =
            item_place_get_for_write(write, item->table, &item->place, &item->held, &item->current);
        if (status != ENGINE_OK && status != ENGINE_NOT_FOUND)
            return status;
        item->exists = status == ENGINE_OK;
        item->effect = TXN_KEEP;
        item->index_changes = NULL;
    }
    enum engine_status status = txn_collections_read(txn, write);
    return status == ENGINE_OK ? txn_records_read(txn, write) : status;
}

static void release_items(struct txn *txn)
{
    for (size_t i = 0; i < txn->item_count; i++)
        engine_value_release(&txn->items[i].held);
    txn_records_release(txn);
}

/* What does not exist cannot be deleted. Then derives all index entries, before anything is put: a
 * write that turns out to be too large should not take the memory twice. */
static bool settle_effects(struct txn *txn)
{
    for (size_t i = 0; i < txn->item_count; i++) {
        struct txn_item *item = &txn->items[i];
        if (!item->exists && item->effect != TXN_PUT)
            item->effect = TXN_KEEP;
        if (item->effect != TXN_KEEP)
            txn_index_changes(txn, item);
    }
    return txn->read_status != ENGINE_TOO_LARGE;
}

static enum engine_status apply(struct txn *txn, struct engine_write *write)
{
    if (!settle_effects(txn))
        return ENGINE_TOO_LARGE;
    for (size_t i = 0; i < txn->item_count; i++) {
        struct txn_item *item = &txn->items[i];
        if (item->effect == TXN_KEEP)
            continue;
        if (item->effect == TXN_PUT)
            engine_write_put(write, &item->place.address, item->replacement.encoded);
        else if (item->effect == TXN_DELETE)
            engine_write_delete(write, &item->place.address);
        txn_indexes_apply(txn, item, write);
    }
    /* Apart from the items: the expiry job's come in the order of their keys, in both places, and
       what goes in in order goes in faster. */
    for (size_t i = 0; i < txn->item_count; i++)
        txn_expiry_apply(txn, &txn->items[i], write);
    txn_collections_apply(txn, write);
    txn_records_apply(txn, write);
    enum engine_status status = txn->read_status;
    if (status == ENGINE_OK)
        status = txn_changes_apply(txn, write);
    return status == ENGINE_OK ? txn_figures_apply(txn, write) : status;
}

static void attempt(struct txn *txn);

static void finish(struct txn *txn, enum engine_status status)
{
    if (txn->claim_count > 0)
        txn_conflicts_leave(txn->conflicts, txn);
    txn->done(txn, status);
}

static void completed(struct engine_completion *completion, enum engine_status status)
{
    struct txn *txn = (struct txn *)((char *)completion - offsetof(struct txn, completion));
    if (status == ENGINE_CONFLICT && txn->attempts < TXN_ATTEMPTS_MAX)
        attempt(txn);
    else
        finish(txn, status);
}

static void attempt(struct txn *txn)
{
    struct engine_write *write = NULL;
    txn->attempts++;
    enum engine_status status = begin(txn, &write);
    txn->write = write;
    txn->read_status = ENGINE_OK;
    txn->index_entries_size = 0;
    if (status == ENGINE_OK)
        status = read_items(txn, write);
    if (status == ENGINE_OK && txn->decide(txn))
        status = apply(txn, write);
    release_items(txn);
    if (status == ENGINE_OK) {
        txn->completion.done = completed;
        engine_write_commit(write, &txn->completion);
        return;
    }
    if (write != NULL)
        engine_write_abandon(write);
    finish(txn, status);
}

/* Two looks into the catalogue may find two versions of one table. Items of one shard are counted
 * together, so they must agree on what indexes there are. */
static void share_definitions(struct txn *txn)
{
    for (size_t i = 1; i < txn->item_count; i++) {
        struct txn_item *item = &txn->items[i];
        for (size_t j = 0; j < i; j++) {
            if (txn->items[j].table->id == item->table->id)
                item->table = txn->items[j].table;
        }
    }
}

void txn_start(struct txn *txn)
{
    assert(txn->item_count > 0 && txn->item_count <= TXN_ITEMS_MAX);
    assert(txn->record_count <= TXN_RECORDS_MAX);
    assert(txn->clock != NULL);
    share_definitions(txn);
    if (txn->conflicts == NULL || txn_conflicts_enter(txn->conflicts, txn))
        attempt(txn);
    else
        txn->done(txn, ENGINE_BUSY);
}
