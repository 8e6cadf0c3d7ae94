/* txn_history.c -- the commit time of a write, and what its items were before. See txn_parts.h. */
#include "base/clock.h"
#include <assert.h>
#include "base/commit_clock.h"
#include "history/commit_ceiling.h"
#include "history/history_entry.h"
#include "log/change_log.h"
#include "model/table_definition.h"
#include "txn/txn.h"
#include "txn/txn_parts.h"

static bool has_entry(const struct txn_item *item)
{
    return history_definition_is_kept(&item->table->history) && txn_item_is_changed(item);
}

bool txn_history_is_kept(const struct txn *txn)
{
    for (size_t i = 0; i < txn->item_count; i++)
        if (has_entry(&txn->items[i]))
            return true;
    return false;
}

void txn_history_apply(struct txn *txn, struct engine_write *write, int64_t commit_us)
{
    assert(commit_us > 0);
    for (size_t i = 0; i < txn->item_count; i++) {
        const struct txn_item *item = &txn->items[i];
        if (!has_entry(item))
            continue;
        const struct history_entry entry = { .existed = item->exists,
                                             .by_service = item->by_service,
                                             .before = item->current };
        const struct engine_address address = {
            .place = history_place(item->table->history.id, item->place.address.place.partition),
            .key = history_key_encode(txn->arena, item->place.address.key, commit_us),
        };
        engine_write_put(write, &address, history_entry_encode(txn->arena, &entry));
    }
}

struct change_log_time txn_history_take_time(struct txn *txn, struct engine_write *write,
                                             int64_t after_us, bool history)
{
    assert(txn->commit.ticket == 0 && txn->commit.ceiling_us == 0); /* Once in a write. */
    struct commit_clock *commits = txn->clock->commits;
    if (history && commits != NULL)
        txn->commit.ticket = commit_clock_enter(commits);
    const struct change_log_time time = change_log_take_time(txn->clock, after_us);
    assert(time.commit_us > after_us);
    txn->commit.ceiling_us = commit_ceiling_put(txn->clock, write, time.commit_us);
    return time;
}

void txn_history_end_time(struct txn *txn, enum engine_status status)
{
    struct commit_clock *commits = txn->clock->commits;
    if (status == ENGINE_OK && txn->commit.ceiling_us != 0)
        commit_clock_raise_ceiling(commits, txn->commit.ceiling_us);
    if (txn->commit.ticket != 0)
        commit_clock_leave(commits, txn->commit.ticket);
    txn->commit = (struct txn_commit){ 0 };
}
