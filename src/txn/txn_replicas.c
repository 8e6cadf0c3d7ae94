/* txn_replicas.c -- the stamps of a write's items in global tables. See txn_parts.h.
 *
 * A client's write gets this region and the write's commit time, which is later than every stamp in
 * the store: whoever receives a stamp raises the clock first. Each other region then has to hear of
 * it. A change that came from another region keeps its stamp and is sent to nobody: the region that
 * made it sends it to all.
 */
#include "model/table_definition.h"
#include <assert.h>
#include "table/replica_stamp.h"
#include "txn/txn.h"
#include "txn/txn_parts.h"

/* A client's write is stamped even if it leaves the item as it was here: another region may have
 * written something else in between, which must not win over the later write. */
static bool is_stamped(const struct txn_item *item)
{
    return item->table->replicas.count > 0 && item->is_taken;
}

bool txn_replicas_are_stamped(const struct txn *txn)
{
    for (size_t i = 0; i < txn->item_count; i++)
        if (is_stamped(&txn->items[i]))
            return true;
    return false;
}

static void put_stamp(struct txn *txn, const struct txn_item *item, struct engine_write *write,
                      const struct replica_stamp *stamp)
{
    struct engine_address address = replica_stamp_address(txn->arena, &item->place.address);
    engine_write_put(write, &address, replica_stamp_encode(txn->arena, stamp));
}

static void queue_for_all(struct txn *txn, const struct txn_item *item, struct engine_write *write,
                          int64_t commit_us)
{
    const struct replica_definition *replicas = &item->table->replicas;
    struct bytes value = replica_queue_encode(txn->arena, commit_us);
    for (size_t i = 0; i < replicas->count; i++) {
        if (!replica_member_is_fed(&replicas->members[i]))
            continue;
        struct engine_address address =
            replica_queue_address(txn->arena, &item->place.address, replicas->members[i].id);
        engine_write_put(write, &address, value);
    }
}

void txn_replicas_apply(struct txn *txn, struct engine_write *write, int64_t commit_us)
{
    assert(commit_us > 0);
    for (size_t i = 0; i < txn->item_count; i++) {
        const struct txn_item *item = &txn->items[i];
        if (!is_stamped(item))
            continue;
        struct replica_stamp stamp = { .commit_us = commit_us,
                                       .region = item->table->replicas.own.id,
                                       .deleted = item->effect != TXN_PUT };
        if (item->is_replicated && item->stamp.commit_us > 0)
            stamp = item->stamp;
        else if (item->is_replicated)
            continue; /* What was there before the table was global has no stamp. */
        else
            queue_for_all(txn, item, write, commit_us);
        put_stamp(txn, item, write, &stamp);
    }
}
