/* txn_indexes.c -- the index entries of a write's items. See txn_parts.h. */
#include <assert.h>
#include "base/arena.h"
#include "index/index_change.h"
#include "index/index_view.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "txn/txn.h"
#include "txn/txn_parts.h"

static_assert((int64_t)BATCH_STATEMENTS_MAX * ITEM_SIZE_MAX *
                      (GLOBAL_INDEXES_MAX + LOCAL_INDEXES_MAX) <=
                  TXN_INDEX_ENTRIES_SIZE_MAX,
              "the largest statements of a batch, which are one write");
static_assert((int64_t)TRANSACTION_SIZE_MAX * (GLOBAL_INDEXES_MAX + LOCAL_INDEXES_MAX) <=
                  TXN_INDEX_ENTRIES_SIZE_MAX,
              "a transaction of the largest size");

/* Whether the index has the entry of an item as it was. Only asked where it may lack it. */
static bool has_entry(struct txn *txn, const struct index_view *view,
                      const struct index_definition *index)
{
    assert(txn->write != NULL);
    struct item_address place;
    struct engine_value value = { 0 };
    if (!index_view_locate(txn->arena, view, index, &place))
        return false;
    enum engine_status status = engine_write_get(txn->write, &place.address, &value);
    engine_value_release(&value);
    if (status != ENGINE_OK && status != ENGINE_NOT_FOUND)
        txn->read_status = status;
    return status == ENGINE_OK;
}

/* Statistics count what is stored: so where an entry may be missing, it is looked for. */
static struct index_change change_of(struct txn *txn, const struct index_comparison *items,
                                     const struct index_definition *index)
{
    struct index_comparison sides = *items;
    if (index->status == INDEX_DELETING)
        return (struct index_change){ .type = INDEX_CHANGE_NONE };
    if (index->status == INDEX_ALLOCATING)
        sides.after = NULL;
    if (index->status != INDEX_ACTIVE && sides.before != NULL &&
        !has_entry(txn, sides.before, index))
        sides.before = NULL;
    return index_change_between(txn->arena, &sides, index);
}

/* The item before and after the effect, each walked once for all indexes. */
static void derive(struct txn *txn, struct txn_item *item)
{
    assert(item->index_changes != NULL && item->effect != TXN_KEEP);
    struct index_view before, after;
    bool has_after = item->effect == TXN_PUT || (item->effect == TXN_INDEX && item->exists);
    if (item->exists)
        before = index_view_open(txn->arena, item->table, &item->current);
    if (item->effect == TXN_PUT)
        after = index_view_open(txn->arena, item->table, &item->replacement);
    else if (has_after)
        after = before;
    struct index_comparison items =
        index_comparison_of(txn->arena, item->exists ? &before : NULL, has_after ? &after : NULL);
    size_t count = item->table->index_count;
    for (size_t i = 0; i < count && txn->read_status != ENGINE_TOO_LARGE; i++) {
        item->index_changes[i] = change_of(txn, &items, &item->table->indexes[i]);
        txn->index_entries_size += item->index_changes[i].entry.encoded.len;
        if (txn->index_entries_size > TXN_INDEX_ENTRIES_SIZE_MAX)
            txn->read_status = ENGINE_TOO_LARGE;
    }
}

const struct index_change *txn_index_changes(struct txn *txn, struct txn_item *item)
{
    size_t count = item->table->index_count;
    if (item->index_changes != NULL || count == 0)
        return item->index_changes;
    item->index_changes = arena_alloc_zeroed(txn->arena, count * sizeof *item->index_changes);
    static_assert(INDEX_CHANGE_NONE == 0, "zeroed changes are none");
    if (item->effect != TXN_KEEP)
        derive(txn, item);
    return item->index_changes;
}

void txn_indexes_apply(struct txn *txn, struct txn_item *item, struct engine_write *write)
{
    const struct index_change *changes = txn_index_changes(txn, item);
    assert(changes != NULL || item->table->index_count == 0);
    for (size_t i = 0; i < item->table->index_count; i++) {
        const struct index_change *change = &changes[i];
        if (change->type == INDEX_CHANGE_REMOVE || change->type == INDEX_CHANGE_MOVE)
            engine_write_delete(write, &change->removed);
        if (change->type != INDEX_CHANGE_NONE && change->type != INDEX_CHANGE_REMOVE)
            engine_write_put(write, &change->stored, change->entry.encoded);
    }
}
