/* txn_collections.c -- the item collections that a write's items belong to. See txn_parts.h. */
#include <assert.h>
#include "model/table_definition.h"
#include "table/collection_size.h"
#include "table/table_stats.h"
#include "txn/txn.h"
#include "txn/txn_parts.h"

void txn_collections_add_addresses(const struct txn_item *item, struct txn_addresses *addresses)
{
    if (table_definition_has_local_index(item->table))
        txn_addresses_add(addresses, collection_size_address(&item->place));
}

bool txn_collection_is_shared(const struct txn_item *a, const struct txn_item *b)
{
    return a->table->id == b->table->id && a->place.hash == b->place.hash &&
           bytes_equal(collection_size_address(&a->place).key,
                       collection_size_address(&b->place).key);
}

/* NULL if there is none. */
static const struct txn_item *earlier_of_collection(const struct txn *txn,
                                                    const struct txn_item *item)
{
    assert(item >= txn->items && item < txn->items + txn->item_count);
    for (const struct txn_item *other = txn->items; other < item; other++) {
        if (txn_collection_is_shared(other, item))
            return other;
    }
    return NULL;
}

bool txn_collection_is_first(const struct txn *txn, const struct txn_item *item)
{
    return table_definition_has_local_index(item->table) &&
           earlier_of_collection(txn, item) == NULL;
}

enum engine_status txn_collections_read(struct txn *txn, struct engine_write *write)
{
    for (size_t i = 0; i < txn->item_count; i++) {
        struct txn_item *item = &txn->items[i];
        item->collection_size = 0;
        if (!table_definition_has_local_index(item->table))
            continue;
        const struct txn_item *earlier = earlier_of_collection(txn, item);
        if (earlier != NULL) {
            item->collection_size = earlier->collection_size;
            continue;
        }
        struct engine_address address = collection_size_address(&item->place);
        enum engine_status status =
            collection_size_get_for_write(write, &address, &item->collection_size);
        if (status != ENGINE_OK)
            return status;
    }
    return ENGINE_OK;
}

/* What an item's effect does to the size of its collection. */
static int64_t change_of(struct txn *txn, struct txn_item *item)
{
    assert(item->table->index_count <= INDEXES_MAX);
    const struct table_definition *table = item->table;
    struct table_stats sum = { 0 };
    struct table_stats indexes[INDEXES_MAX] = { { 0 } };
    txn_index_changes(txn, item);
    txn_stats_add(item, &sum, indexes);
    int64_t change = sum.size;
    for (size_t i = 0; i < table->index_count && !table->indexes[i].global; i++)
        change += indexes[i].size;
    return change;
}

int64_t txn_collection_size_after(struct txn *txn, const struct txn_item *item)
{
    int64_t size = item->collection_size;
    assert(table_definition_has_local_index(item->table));
    for (size_t i = 0; i < txn->item_count; i++) {
        if (txn_collection_is_shared(&txn->items[i], item))
            size += change_of(txn, &txn->items[i]);
    }
    return size > 0 ? size : 0; /* Below 0 only if the record is wrong: `stator check` tells. */
}

void txn_collections_apply(struct txn *txn, struct engine_write *write)
{
    for (size_t i = 0; i < txn->item_count; i++) {
        const struct txn_item *item = &txn->items[i];
        if (!txn_collection_is_first(txn, item))
            continue;
        int64_t size = txn_collection_size_after(txn, item);
        if (size == item->collection_size)
            continue;
        struct engine_address address = collection_size_address(&item->place);
        collection_size_put(write, &address, size);
    }
}
