/* txn_indexes.c -- the index entries of a write's items. See txn_parts.h. */
#include <assert.h>
#include "base/arena.h"
#include "index/index_entry.h"
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
static bool has_entry(struct txn *txn, const struct table_definition *table,
                      const struct index_definition *index, const struct item *item)
{
    struct item_place place;
    struct engine_value value = { 0 };
    if (!index_entry_locate(txn->arena, table, index, item, &place))
        return false;
    enum engine_status status = engine_write_get(txn->write, &place.address, &value);
    engine_value_release(&value);
    if (status != ENGINE_OK && status != ENGINE_NOT_FOUND)
        txn->read_status = status;
    return status == ENGINE_OK;
}

/* Figures count what is stored: so where an entry may be missing, it is looked for. */
static struct index_change change_of(struct txn *txn, const struct table_definition *table,
                                     const struct index_definition *index,
                                     const struct item *before, const struct item *after)
{
    if (index->status == INDEX_DELETING)
        return (struct index_change){ .type = INDEX_CHANGE_NONE };
    if (index->status == INDEX_ALLOCATING)
        after = NULL;
    if (index->status != INDEX_ACTIVE && before != NULL && !has_entry(txn, table, index, before))
        before = NULL;
    return index_change_between(txn->arena, table, index, before, after);
}

const struct index_change *txn_index_changes(struct txn *txn, struct txn_item *item)
{
    size_t count = item->table->index_count;
    if (item->index_changes != NULL || count == 0)
        return item->index_changes;
    item->index_changes = arena_alloc_zeroed(txn->arena, count * sizeof *item->index_changes);
    static_assert(INDEX_CHANGE_NONE == 0, "zeroed changes are none");
    if (item->effect == TXN_KEEP)
        return item->index_changes;
    const struct item *before = item->exists ? &item->current : NULL;
    const struct item *after = item->effect == TXN_PUT     ? &item->replacement
                               : item->effect == TXN_INDEX ? before
                                                           : NULL;
    for (size_t i = 0; i < count && txn->read_status != ENGINE_TOO_LARGE; i++) {
        item->index_changes[i] =
            change_of(txn, item->table, &item->table->indexes[i], before, after);
        txn->index_entries_size += item->index_changes[i].entry.encoded.len;
        if (txn->index_entries_size > TXN_INDEX_ENTRIES_SIZE_MAX)
            txn->read_status = ENGINE_TOO_LARGE;
    }
    return item->index_changes;
}

void txn_indexes_apply(struct txn *txn, struct txn_item *item, struct engine_write *write)
{
    const struct index_change *changes = txn_index_changes(txn, item);
    for (size_t i = 0; i < item->table->index_count; i++) {
        const struct index_change *change = &changes[i];
        if (change->type == INDEX_CHANGE_REMOVE || change->type == INDEX_CHANGE_MOVE)
            engine_write_delete(write, &change->removed);
        if (change->type != INDEX_CHANGE_NONE && change->type != INDEX_CHANGE_REMOVE)
            engine_write_put(write, &change->stored, change->entry.encoded);
    }
}
