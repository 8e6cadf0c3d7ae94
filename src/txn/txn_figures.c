/* txn_figures.c -- the figures of the tables that a write's items belong to. See txn_parts.h. */
#include "table/figures.h"
#include "model/table_definition.h"
#include "txn/txn.h"
#include "txn/txn_parts.h"

void txn_figures_add_addresses(const struct txn_item *item, struct txn_addresses *addresses)
{
    txn_addresses_add(addresses, figures_address(&item->place));
}

void txn_figures_add(const struct txn_item *item, struct figures *table, struct figures *indexes)
{
    if (item->effect == TXN_KEEP)
        return;
    if (item->exists) {
        table->item_count--;
        table->size -= item->current.size;
    }
    if (item->effect == TXN_PUT) {
        table->item_count++;
        table->size += item->replacement.size;
    }
    for (size_t i = 0; i < item->table->index_count; i++) {
        const struct index_change *change = &item->index_changes[i];
        indexes[i].item_count += change->type == INDEX_CHANGE_INSERT;
        indexes[i].item_count -= change->type == INDEX_CHANGE_REMOVE;
        indexes[i].size += (int64_t)change->size_after - (int64_t)change->size_before;
    }
}

static bool changes_anything(const struct figures *table, const struct figures *indexes,
                             size_t index_count)
{
    bool changes = table->item_count != 0 || table->size != 0;
    for (size_t i = 0; i < index_count && !changes; i++)
        changes = indexes[i].item_count != 0 || indexes[i].size != 0;
    return changes;
}

/* Items of one shard are added up first: a write does not read its own puts. */
enum engine_status txn_figures_apply(struct txn *txn, struct engine_write *write)
{
    for (size_t i = 0; i < txn->item_count; i++) {
        const struct table_definition *table = txn->items[i].table;
        struct engine_address shard = figures_address(&txn->items[i].place);
        struct figures sum = { 0 };
        struct figures indexes[INDEXES_MAX];
        for (size_t x = 0; x < table->index_count; x++)
            indexes[x] = (struct figures){ 0 };
        bool counted = false; /* Together with an earlier item of the same shard. */
        for (size_t j = 0; j < txn->item_count && !counted; j++) {
            struct engine_address other = figures_address(&txn->items[j].place);
            if (!engine_address_equal(&shard, &other))
                continue;
            counted = j < i;
            txn_figures_add(&txn->items[j], &sum, indexes);
        }
        if (counted || !changes_anything(&sum, indexes, table->index_count))
            continue;
        enum engine_status status = figures_change(write, table, &shard, &sum, indexes);
        if (status != ENGINE_OK)
            return status;
    }
    return ENGINE_OK;
}
