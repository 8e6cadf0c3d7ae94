/* txn.c -- see txn.h. */
#include "txn/txn.h"
#include <assert.h>
#include "base/arena.h"
#include "model/table_definition.h"
#include "table/figures.h"

/* An item and the shard of figures that counts it. */
enum { ADDRESSES_PER_ITEM = 2 };
static_assert(TXN_ITEMS_MAX * ADDRESSES_PER_ITEM <= ENGINE_WRITE_ADDRESSES_MAX,
              "the largest transaction fits into one engine write");

static enum engine_status begin(struct txn *txn, struct engine_write **write)
{
    struct engine_address *addresses =
        arena_alloc(txn->arena, txn->item_count * ADDRESSES_PER_ITEM * sizeof *addresses);
    size_t count = 0;
    for (size_t i = 0; i < txn->item_count; i++) {
        addresses[count++] = txn->items[i].place.address;
        addresses[count++] = figures_address(&txn->items[i].place);
    }
    return engine_write_begin(txn->engine, addresses, count, write);
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
    return ENGINE_OK;
}

static void release_items(struct txn *txn)
{
    for (size_t i = 0; i < txn->item_count; i++)
        engine_value_release(&txn->items[i].held);
}

/* --- Index entries --- */

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

/* Entries need no latches of their own: their keys hold the item's, whose latch is held. */
static void apply_to_indexes(struct txn *txn, struct txn_item *item, struct engine_write *write)
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

/* --- Figures --- */

/* Adds what an item's effect changes in its table's figures. */
static void add_figures(const struct txn_item *item, struct figures *table, struct figures *indexes)
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

static bool same_shard(const struct engine_address *a, const struct engine_address *b)
{
    return a->place.owner == b->place.owner && a->place.partition == b->place.partition &&
           bytes_equal(a->key, b->key);
}

/* Items of one shard are added up first: a write does not read its own puts. */
static enum engine_status change_figures(struct txn *txn, struct engine_write *write)
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
            if (!same_shard(&shard, &other))
                continue;
            counted = j < i;
            add_figures(&txn->items[j], &sum, indexes);
        }
        if (counted || !changes_anything(&sum, indexes, table->index_count))
            continue;
        enum engine_status status = figures_change(write, table, &shard, &sum, indexes);
        if (status != ENGINE_OK)
            return status;
    }
    return ENGINE_OK;
}

/* --- The write --- */

static enum engine_status apply(struct txn *txn, struct engine_write *write)
{
    for (size_t i = 0; i < txn->item_count; i++) {
        struct txn_item *item = &txn->items[i];
        if (item->effect == TXN_DELETE && !item->exists)
            item->effect = TXN_KEEP;
        if (item->effect == TXN_KEEP)
            continue;
        if (item->effect == TXN_PUT)
            engine_write_put(write, &item->place.address, item->replacement.encoded);
        else
            engine_write_delete(write, &item->place.address);
        apply_to_indexes(txn, item, write);
    }
    return change_figures(txn, write);
}

static void attempt(struct txn *txn);

static void completed(struct engine_completion *completion, enum engine_status status)
{
    struct txn *txn = (struct txn *)((char *)completion - offsetof(struct txn, completion));
    if (status == ENGINE_CONFLICT && txn->attempts < TXN_ATTEMPTS_MAX)
        attempt(txn);
    else
        txn->done(txn, status);
}

static void attempt(struct txn *txn)
{
    struct engine_write *write = NULL;
    txn->attempts++;
    enum engine_status status = begin(txn, &write);
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
    txn->done(txn, status);
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
    share_definitions(txn);
    attempt(txn);
}
