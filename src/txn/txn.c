/* txn.c -- see txn.h. */
#include "txn/txn.h"
#include <assert.h>
#include "base/arena.h"
#include "model/table_definition.h"
#include "txn/txn_conflicts.h"
#include "txn/txn_group.h"
#include "txn/txn_parts.h"

static_assert(TXN_ITEMS_MAX * (TXN_OWN_ADDRESSES_PER_ITEM + TXN_SHARED_ADDRESSES_PER_ITEM) +
                      TXN_RECORDS_MAX <=
                  ENGINE_WRITE_ADDRESSES_MAX,
              "the largest transaction fits into one engine write");

/* --- The steps of a write --- */

void txn_add_own_addresses(const struct txn *txn, struct txn_addresses *addresses)
{
    for (size_t i = 0; i < txn->item_count; i++) {
        txn_addresses_add(addresses, txn->items[i].place.address);
        txn_collections_add_addresses(&txn->items[i], addresses);
    }
    txn_records_add_addresses(txn, addresses);
}

void txn_add_shared_addresses(const struct txn *txn, struct txn_addresses *addresses)
{
    for (size_t i = 0; i < txn->item_count; i++) {
        txn_changes_add_addresses(&txn->items[i], addresses);
        txn_stats_add_addresses(&txn->items[i], addresses);
    }
}

static bool may_be_handed_over(const struct txn *txn)
{
    return txn->hand_over != NULL && txn->item_count > 1;
}

/* Of one that is to be handed over, no more is read than tells so. */
static enum engine_status read_items(struct txn *txn, struct engine_write *write)
{
    size_t size = 0;
    txn->is_large = false;
    for (size_t i = 0; i < txn->item_count; i++) {
        struct txn_item *item = &txn->items[i];
        enum engine_status status = item_address_get_for_write(write, item->table, &item->place,
                                                               &item->held, &item->current);
        if (status != ENGINE_OK && status != ENGINE_NOT_FOUND)
            return status;
        item->exists = status == ENGINE_OK;
        item->effect = TXN_KEEP;
        item->is_taken = false;
        item->index_changes = NULL;
        size += item->exists ? item->current.size : 0;
        txn->is_large = size > TXN_HAND_OVER_SIZE && may_be_handed_over(txn);
        if (txn->is_large)
            return ENGINE_OK;
    }
    enum engine_status status = txn_collections_read(txn, write);
    return status == ENGINE_OK ? txn_records_read(txn, write) : status;
}

/* Of the items before and after. */
static size_t size_of_items(const struct txn *txn)
{
    size_t size = 0;
    for (size_t i = 0; i < txn->item_count; i++) {
        const struct txn_item *item = &txn->items[i];
        size += item->exists ? item->current.size : 0;
        size += item->effect == TXN_PUT ? item->replacement.size : 0;
    }
    return size;
}

enum engine_status txn_decide(struct txn *txn, struct engine_write *write, bool *changes)
{
    assert(txn->decide != NULL && write != NULL);
    txn->write = write;
    txn->read_status = ENGINE_OK;
    txn->index_entries_size = 0;
    txn->answer = NULL;
    *changes = false;
    enum engine_status status = read_items(txn, write);
    if (status != ENGINE_OK)
        return status;
    if (txn->is_large)
        txn_release(txn);
    else
        *changes = txn->decide(txn);
    if (txn->group != NULL)
        txn_group_count(txn->group, txn, txn->is_large ? TXN_HAND_OVER_SIZE : size_of_items(txn));
    return status;
}

/* What does not exist cannot be deleted. Then derives all index entries, before anything is put: a
 * write that turns out to be too large should not take the memory twice. */
static bool settle_effects(struct txn *txn)
{
    for (size_t i = 0; i < txn->item_count; i++) {
        struct txn_item *item = &txn->items[i];
        if (!item->is_replicated)
            item->is_taken = item->effect == TXN_PUT || item->effect == TXN_DELETE;
        if (!item->exists && item->effect != TXN_PUT)
            item->effect = TXN_KEEP;
        assert(item->effect != TXN_PUT || item->replacement.encoded.len > 0);
        if (item->effect != TXN_KEEP)
            txn_index_changes(txn, item);
    }
    return txn->read_status != ENGINE_TOO_LARGE;
}

enum engine_status txn_apply_own(struct txn *txn, struct engine_write *write)
{
    assert(txn->write == write); /* That it was decided in. */
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
    return txn->read_status;
}

enum engine_status txn_apply_shared(struct txn *txn, struct engine_write *write)
{
    enum engine_status status = txn_changes_apply(txn, write);
    return status == ENGINE_OK ? txn_stats_apply(txn, write) : status;
}

void txn_release(struct txn *txn)
{
    for (size_t i = 0; i < txn->item_count; i++)
        engine_value_release(&txn->items[i].held);
    txn_records_release(txn);
}

void txn_finish(struct txn *txn, enum engine_status status)
{
    assert(txn->commit.ticket == 0); /* txn_history_end_time was called. */
    if (txn->claim_count > 0)
        txn_conflicts_leave(txn->conflicts, txn);
    txn->done(txn, status);
}

void txn_begin_commit(struct txn *txn,
                      void (*settle)(struct txn *txn, enum engine_status commit_status))
{
    assert(settle != NULL);
    txn->settle = settle;
    if (txn->answer != NULL)
        atomic_store_explicit(&txn->ends_left, 2, memory_order_relaxed);
}

static bool is_last_end(struct txn *txn)
{
    unsigned before = atomic_fetch_sub_explicit(&txn->ends_left, 1, memory_order_acq_rel);
    assert(before == 1 || before == 2);
    return before == 1;
}

void txn_end_commit(struct txn *txn, enum engine_status status)
{
    if (txn->answer != NULL) {
        txn->commit_status = status;
        if (!is_last_end(txn))
            return;
    }
    txn->settle(txn, status);
}

void txn_form_answer(struct txn *txn)
{
    assert(txn->answer != NULL);
    txn->answer(txn);
    if (is_last_end(txn))
        txn->settle(txn, txn->commit_status);
}

/* --- A write of its own --- */

struct txn *txn_of_completion(struct engine_completion *completion)
{
    return (struct txn *)((char *)completion - offsetof(struct txn, completion));
}

static struct txn *of_step(struct txn_step *step)
{
    return (struct txn *)((char *)step - offsetof(struct txn, step));
}

static void attempt_again(struct txn_step *step)
{
    txn_attempt(of_step(step));
}

static void settle(struct txn *txn, enum engine_status commit_status)
{
    assert(txn->attempts > 0);
    if (commit_status == ENGINE_CONFLICT && txn->attempts < TXN_ATTEMPTS_MAX)
        txn_step_post(&txn->step, attempt_again);
    else
        txn_finish(txn, commit_status);
}

static void completed(struct engine_completion *completion, enum engine_status status)
{
    struct txn *txn = txn_of_completion(completion);
    txn_history_end_time(txn, status);
    txn_end_commit(txn, status);
}

static struct txn_addresses allocate_addresses(struct txn *txn, size_t count_max)
{
    return (struct txn_addresses){
        .list = arena_alloc(txn->arena, count_max * sizeof(struct engine_address)),
        .max = count_max,
    };
}

/* Ends the engine's write: `status` tells whether everything was put into it. */
static void end_write(struct txn *txn, enum engine_status status)
{
    struct engine_write *write = txn->step.write;
    assert(write != NULL && status != ENGINE_WAITING);
    txn_release(txn);
    if (status == ENGINE_OK) {
        bool has_answer = txn->answer != NULL;
        txn->completion.done = completed;
        txn_begin_commit(txn, settle);
        engine_write_commit(write, &txn->completion);
        if (has_answer) /* Otherwise the txn may be gone. */
            txn_form_answer(txn);
        return;
    }
    engine_write_abandon(write);
    txn_history_end_time(txn, status);
    txn_finish(txn, status);
}

static void extended(struct txn_step *step)
{
    struct txn *txn = of_step(step);
    enum engine_status status = step->status;
    if (status == ENGINE_OK)
        status = txn_apply_shared(txn, step->write);
    end_write(txn, status);
}

/* Nothing was decided, so this was no attempt. */
static void hand_over(struct txn *txn)
{
    assert(txn->is_large && txn->attempts > 0);
    engine_write_abandon(txn->step.write);
    txn->attempts--;
    txn->hand_over(txn, txn->hand_over_context); /* It may be gone. */
}

static void begun(struct txn_step *step)
{
    struct txn *txn = of_step(step);
    bool changes = false;
    if (step->status != ENGINE_OK) {
        txn_finish(txn, step->status);
        return;
    }
    assert(step->write != NULL);
    enum engine_status status = txn_decide(txn, step->write, &changes);
    if (status == ENGINE_OK && txn->is_large) {
        hand_over(txn);
        return;
    }
    if (status == ENGINE_OK && changes)
        status = txn_apply_own(txn, step->write);
    if (status != ENGINE_OK || !changes) {
        end_write(txn, status);
        return;
    }
    struct txn_addresses shared =
        allocate_addresses(txn, txn->item_count * TXN_SHARED_ADDRESSES_PER_ITEM);
    txn_add_shared_addresses(txn, &shared);
    txn_step_extend(step, shared.list, shared.count, extended);
}

void txn_attempt(struct txn *txn)
{
    assert(txn->attempts < TXN_ATTEMPTS_MAX);
    txn->attempts++;
    txn->step.group = txn->group;
    struct txn_addresses own =
        allocate_addresses(txn, txn->item_count * TXN_OWN_ADDRESSES_PER_ITEM + txn->record_count);
    txn_add_own_addresses(txn, &own);
    txn_step_begin(&txn->step, txn->engine, own.list, own.count, begun);
}

/* --- The start --- */

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
    assert(txn->clock != NULL && txn->engine != NULL && txn->arena != NULL);
    assert(txn->decide != NULL && txn->done != NULL);
    assert(txn->records != NULL || txn->record_count == 0);
    assert(txn->attempts == 0 && txn->claim_count == 0); /* It is not started twice. */
    share_definitions(txn);
    if (txn->conflicts != NULL && !txn_conflicts_enter(txn->conflicts, txn))
        txn->done(txn, ENGINE_CONFLICT);
    else if (txn->group != NULL)
        txn_group_add(txn->group, txn);
    else
        txn_attempt(txn);
}

void txn_continue(struct txn *txn, struct txn_group *group)
{
    assert(txn->is_large);
    txn->hand_over = NULL;
    txn->group = group;
    if (group != NULL)
        txn_group_add(group, txn);
    else
        txn_attempt(txn);
}

void txn_forget(struct txn *txn)
{
    assert(txn->is_large && txn->commit.ticket == 0);
    if (txn->claim_count > 0)
        txn_conflicts_leave(txn->conflicts, txn);
}
