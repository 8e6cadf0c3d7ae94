/* txn_indexes.c -- the index entries of a write's items. See txn_parts.h. */
#include "base/arena.h"
#include "model/table_definition.h"
#include "txn/txn.h"
#include "txn/txn_parts.h"

const struct index_change *txn_index_changes(struct txn *txn, struct txn_item *item)
{
    size_t count = item->table->index_count;
    if (item->index_changes != NULL || count == 0)
        return item->index_changes;
    item->index_changes = arena_alloc(txn->arena, count * sizeof *item->index_changes);
    const struct item *before = item->exists ? &item->current : NULL;
    const struct item *after = item->effect == TXN_PUT    ? &item->replacement
                               : item->effect == TXN_KEEP ? before
                                                          : NULL;
    for (size_t i = 0; i < count; i++)
        item->index_changes[i] =
            index_change_between(txn->arena, item->table, &item->table->indexes[i], before, after);
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
