/* replica_apply.c -- takes the rows that another region sends. See replicas.h.
 *
 * A row is taken if its stamp is later than that of the item here, under the item's latch, in a
 * transaction like any other: index entries, statistics, the expiry queue, the change log and the
 * history follow. Conditions, sizes and models are not judged: another region has accepted the
 * write, and refusing it here would leave the regions different for good.
 */
#include "base/arena.h"
#include <assert.h>
#include <string.h>
#include "base/byte_order.h"
#include "base/clock.h"
#include "base/log.h"
#include "model/error.h"
#include "model/item.h"
#include "model/table_definition.h"
#include "replica/replica_internal.h"
#include "table/catalogue.h"
#include "table/item_address.h"
#include "table/layout.h"

/* What the decisions of a batch need. */
struct applied {
    struct item items[JOB_BATCH_ITEMS]; /* Of those that are not deletions. */
    bool is_creating;
    int64_t low_us;
};

static void decide_row(struct txn *txn, struct txn_item *item, const struct applied *applied,
                       const struct item *sent)
{
    struct replica_stamp stored;
    enum engine_status status =
        replica_stamp_get_for_write(txn->arena, txn->write, &item->place.address, &stored);
    if (status != ENGINE_OK) {
        txn->read_status = status; /* The write fails with it. */
        return;
    }
    if (item->stamp.commit_us == 0) /* From before the table was global: anything else is later. */
        item->is_taken = applied->is_creating && !item->exists && stored.commit_us == 0;
    else
        item->is_taken = item->stamp.commit_us > applied->low_us &&
                         replica_stamp_is_later(&item->stamp, &stored);
    if (!item->is_taken)
        return;
    item->effect = item->stamp.deleted ? TXN_DELETE : TXN_PUT;
    if (!item->stamp.deleted)
        item->replacement = *sent;
}

static bool decide(struct txn *txn)
{
    const struct applied *applied = job_batch_of(txn)->context;
    for (size_t i = 0; i < txn->item_count; i++)
        decide_row(txn, &txn->items[i], applied, &applied->items[i]);
    return true;
}

/* Where a row belongs. False if it is none. */
static bool place_row(struct arena *arena, const struct table_definition *table,
                      const struct replica_row *row, struct item *item, struct item_address *place)
{
    struct error err;
    error_init(&err, arena);
    if (row->stamp.commit_us < 0 || (row->stamp.commit_us > 0 && row->stamp.region == 0))
        return false;
    if (row->item.data != NULL)
        return !row->stamp.deleted && item_open(row->item, item) && item_verify(item) &&
               item_address_of_item(arena, table, item, place, &err);
    if (!row->stamp.deleted || row->stamp.commit_us == 0 || row->key.len < LAYOUT_HASH_SIZE)
        return false;
    struct engine_place at = item_address_of_hash(table, load_u64_be(row->key.data));
    return item_address_of_stored_key(arena, table, &at, row->key, place);
}

static bool has_item(const struct job_batch *batch, const struct item_address *place)
{
    for (size_t i = 0; i < batch->txn.item_count; i++)
        if (item_address_equal(&batch->items[i].place, place))
            return true;
    return false;
}

/* Rows from `*at` on, up to a batch. False if one is none. */
static bool fill(struct job_batch *batch, const struct table_definition *table,
                 const struct replica_batch *sent, struct applied *applied, size_t *at)
{
    for (; *at < sent->row_count && batch->txn.item_count < JOB_BATCH_ITEMS; (*at)++) {
        const struct replica_row *row = &sent->rows[*at];
        size_t count = batch->txn.item_count;
        struct txn_item *item = &batch->items[count];
        *item = (struct txn_item){ .table = table, .is_replicated = true, .stamp = row->stamp };
        if (!place_row(batch->arena, table, row, &applied->items[count], &item->place))
            return false;
        if (has_item(batch, &item->place))
            break; /* A write has an item once: the next batch takes it. */
        batch->txn.item_count++;
    }
    return true;
}

static struct replica_outcome apply(struct replica_peer_state *peer,
                                    const struct table_definition *table,
                                    const struct replica_batch *sent)
{
    struct replica_outcome outcome = { .verdict = REPLICA_APPLIED };
    int64_t low_us = replicas_low_us(peer->owner, table);
    for (size_t at = 0; at < sent->row_count && outcome.verdict == REPLICA_APPLIED;) {
        enum engine_status status;
        struct job_batch *batch = job_batches_take(&peer->batches, &status);
        struct applied *applied = arena_alloc_zeroed(batch->arena, sizeof *applied);
        applied->is_creating = table->replicas.own.status == REPLICA_CREATING;
        applied->low_us = low_us;
        batch->context = applied;
        if (status != ENGINE_OK)
            outcome = (struct replica_outcome){ .verdict = REPLICA_NOT_STORED, .status = status };
        else if (!fill(batch, table, sent, applied, &at))
            outcome.verdict = REPLICA_BAD_ROW;
        else
            job_batches_start(batch);
    }
    enum engine_status ended = job_batches_wait(&peer->batches);
    if (ended != ENGINE_OK && outcome.verdict == REPLICA_APPLIED)
        outcome = (struct replica_outcome){ .verdict = REPLICA_NOT_STORED, .status = ended };
    return outcome;
}

/* The latest stamp of a batch; 0: there is none. */
static int64_t newest(const struct replica_batch *sent)
{
    int64_t newest_us = 0;
    for (size_t i = 0; i < sent->row_count; i++)
        if (sent->rows[i].stamp.commit_us > newest_us)
            newest_us = sent->rows[i].stamp.commit_us;
    return newest_us;
}

static void note_times(struct replica_peer_state *peer, const struct replica_definition *group,
                       const struct replica_batch *sent)
{
    struct replicas *replicas = peer->owner;
    pthread_mutex_lock(&replicas->mutex);
    struct replica_link *link = replica_link_find_locked(peer, group);
    peer->ahead_us = sent->time_us - clock_wall_us(replicas->options.clock);
    if (link != NULL) {
        bool is_new_epoch = sent->epoch != link->low_epoch; /* What it said before is void. */
        if (is_new_epoch || sent->closed_us > link->received_us)
            link->received_us = sent->closed_us;
        if (is_new_epoch || sent->low_us > link->low_us)
            link->low_us = sent->low_us;
        link->low_epoch = sent->epoch;
    }
    pthread_mutex_unlock(&replicas->mutex);
}

static struct replica_outcome receive(struct replica_peer_state *peer, struct arena *arena,
                                      const struct table_definition *table,
                                      const struct replica_batch *sent)
{
    const struct replicas_options *options = &peer->owner->options;
    struct replica_outcome outcome = { .verdict = REPLICA_APPLIED };
    bool is_current = bytes_equal_text(sent->session, peer->given) && peer->given[0] != '\0';
    if (!is_current || sent->number <= peer->last_number) {
        if (peer->given[0] == '\0') {
            struct bytes given = uuid_create(arena);
            memcpy(peer->given, given.data, given.len);
            peer->given[given.len] = '\0';
            peer->last_number = 0;
        }
        outcome.verdict = REPLICA_NEW_SESSION;
        return outcome;
    }
    int64_t newest_us = newest(sent);
    if (newest_us > clock_wall_us(options->clock) + options->skew_max_us) {
        outcome.verdict = REPLICA_TOO_EARLY;
        return outcome;
    }
    peer->last_number = sent->number;
    clock_raise_commit_us(options->clock, newest_us);
    if (peer->batches.engine == NULL)
        job_batches_init(&peer->batches, options->engine, options->clock, decide);
    outcome = apply(peer, table, sent);
    if (outcome.verdict == REPLICA_APPLIED)
        note_times(peer, &table->replicas, sent);
    return outcome;
}

struct replica_outcome replicas_receive(struct replicas *replicas, struct arena *arena,
                                        const struct table *table,
                                        const struct replica_batch *batch)
{
    const struct table_definition *definition = table_definition(table);
    struct replica_peer_state *peer =
        replicas == NULL ? NULL : replica_peer_find(replicas, batch->from);
    const struct replica_member *member =
        replica_definition_find(&definition->replicas, batch->from);
    if (peer == NULL || member == NULL || member->status == REPLICA_DELETING)
        return (struct replica_outcome){ .verdict = REPLICA_NO_MEMBER };
    if (replicas->options.loses_writes)
        return (struct replica_outcome){ .verdict = REPLICA_NOT_DURABLE };
    pthread_mutex_lock(&peer->receiving);
    struct replica_outcome outcome = receive(peer, arena, definition, batch);
    outcome.session = arena_copy(arena, bytes_from_text(peer->given));
    outcome.number = peer->last_number;
    pthread_mutex_unlock(&peer->receiving);
    return outcome;
}
