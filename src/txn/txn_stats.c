/* txn_stats.c -- the statistics of the tables that a write's items belong to. See txn_parts.h. */
#include "table/table_stats.h"
#include <assert.h>
#include "model/table_definition.h"
#include "txn/txn.h"
#include "txn/txn_parts.h"

void txn_stats_add(const struct txn_item *item, struct table_stats *table,
                   struct table_stats *indexes)
{
    if (item->effect == TXN_KEEP)
        return;
    assert(item->index_changes != NULL || item->table->index_count == 0);
    if (item->exists && item->effect != TXN_INDEX) {
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

static bool changes_anything(const struct table_stats *table, const struct table_stats *indexes,
                             size_t index_count)
{
    bool changes = table->item_count != 0 || table->size != 0;
    for (size_t i = 0; i < index_count && !changes; i++)
        changes = indexes[i].item_count != 0 || indexes[i].size != 0;
    return changes;
}

/* Changes of one shard may add up to none, which is then not written; its latch was taken in vain.
 */
void txn_stats_add_addresses(const struct txn_item *item, struct txn_addresses *addresses)
{
    struct table_stats sum = { 0 };
    struct table_stats indexes[INDEXES_MAX];
    for (size_t i = 0; i < item->table->index_count; i++)
        indexes[i] = (struct table_stats){ 0 };
    txn_stats_add(item, &sum, indexes);
    if (changes_anything(&sum, indexes, item->table->index_count))
        txn_addresses_add(addresses, table_stats_address(&item->place));
}

/* Counts the items that share the shard of `items[first]`, from that one on. */
static enum engine_status count_shard(struct txn *txn, size_t first, bool *counted,
                                      struct engine_write *write)
{
    const struct item_address *place = &txn->items[first].place;
    const struct table_definition *table = txn->items[first].table;
    struct table_stats sum = { 0 };
    struct table_stats indexes[INDEXES_MAX];
    for (size_t i = 0; i < table->index_count; i++)
        indexes[i] = (struct table_stats){ 0 };
    for (size_t i = first; i < txn->item_count; i++) {
        if (!table_stats_shared(place, &txn->items[i].place))
            continue;
        assert(!counted[i] && txn->items[i].table == table);
        counted[i] = true;
        txn_stats_add(&txn->items[i], &sum, indexes);
    }
    if (!changes_anything(&sum, indexes, table->index_count))
        return ENGINE_OK;
    struct engine_address shard = table_stats_address(place);
    return table_stats_change(write, table, &shard, &sum, indexes);
}

/* Items of one shard are added up first: a write does not read its own puts. */
enum engine_status txn_stats_apply(struct txn *txn, struct engine_write *write)
{
    assert(txn->item_count <= TXN_ITEMS_MAX);
    bool counted[TXN_ITEMS_MAX] = { false };
    enum engine_status status = ENGINE_OK;
    for (size_t i = 0; i < txn->item_count && status == ENGINE_OK; i++) {
        if (!counted[i])
            status = count_shard(txn, i, counted, write);
    }
    return status;
}
