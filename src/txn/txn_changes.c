/* txn_changes.c -- what a write tells of its changes: records in change logs, entries in histories.
 * See txn_parts.h. */
#include "model/table_definition.h"
#include <assert.h>
#include "log/change_log.h"
#include "log/change_record.h"
#include "table/partition_map.h"
#include "txn/txn.h"
#include "txn/txn_parts.h"

/* The partitions in whose logs a change of the item may be. */
struct logged_in {
    uint64_t partition;
    uint64_t parent; /* While that one is being split off, until its log is open; 0: it is not. */
};

static struct logged_in logs_of(const struct txn_item *item)
{
    assert(item->table->log_id != 0);
    if (item->table->split_count == 0)
        return (struct logged_in){ .partition = item->place.address.place.partition };
    uint64_t partition = partition_map_find(item->table, item->place.hash);
    return (struct logged_in){ .partition = partition,
                               .parent = partition_map_parent(item->table, partition) };
}

bool txn_item_is_changed(const struct txn_item *item)
{
    switch (item->effect) {
    case TXN_KEEP:
    case TXN_INDEX:
        return false;
    case TXN_DELETE:
        return item->exists;
    case TXN_PUT:
        return !item->exists || !bytes_equal(item->replacement.encoded, item->current.encoded);
    }
    return false;
}

void txn_changes_add_addresses(const struct txn_item *item, struct txn_addresses *addresses)
{
    if (item->table->log_id == 0 || !txn_item_is_changed(item))
        return;
    struct logged_in in = logs_of(item);
    txn_addresses_add(addresses, change_log_head_address(item->table->log_id, in.partition));
    if (in.parent != 0)
        txn_addresses_add(addresses, change_log_head_address(item->table->log_id, in.parent));
}

/* A log that a write appends to. */
struct changed_log {
    struct engine_address address; /* The head's. */
    struct change_log_head head;
};

enum { LOGS_MAX = TXN_ITEMS_MAX * 2 };

/* Finds a log among the first `*count`, or adds it and reads its head. */
static enum engine_status find_log(uint64_t log_id, uint64_t partition, struct engine_write *write,
                                   struct changed_log *logs, size_t *count, size_t *out)
{
    size_t i = 0;
    while (i < *count &&
           (logs[i].address.place.owner != log_id || logs[i].address.place.partition != partition))
        i++;
    *out = i;
    if (i < *count)
        return ENGINE_OK;
    assert(i < LOGS_MAX);
    logs[i].address = change_log_head_address(log_id, partition);
    *count = i + 1;
    return change_log_read_head(write, &logs[i].address, &logs[i].head);
}

/* The log that gets the item's change. */
static enum engine_status find_log_of(const struct txn_item *item, struct engine_write *write,
                                      struct changed_log *logs, size_t *count, size_t *out)
{
    uint64_t log_id = item->table->log_id;
    struct logged_in in = logs_of(item);
    enum engine_status status = find_log(log_id, in.partition, write, logs, count, out);
    if (status == ENGINE_OK && in.parent != 0 && !logs[*out].head.open)
        status = find_log(log_id, in.parent, write, logs, count, out);
    return status;
}

static void append(struct txn *txn, const struct txn_item *item, struct engine_write *write,
                   struct changed_log *log, const struct change_log_time *time)
{
    const struct item *before = item->exists ? &item->current : NULL;
    const struct item *after = item->effect == TXN_PUT ? &item->replacement : NULL;
    assert(before != NULL || after != NULL);
    struct change_record record =
        change_record_between(txn->arena, &item->table->key, before, after, log->head.images);
    record.by_service = item->by_service;
    change_log_append(txn->arena, write, &log->address.place, &log->head, &record, time);
}

/* A write does not read its own puts, so it reads each head once and puts it once. All heads come
 * first: every record gets the same commit time, which is later than those of all heads. So do the
 * entries of histories, which have no heads. */
enum engine_status txn_changes_apply(struct txn *txn, struct engine_write *write)
{
    enum { NOT_LOGGED = LOGS_MAX };
    struct changed_log logs[LOGS_MAX];
    size_t log_of[TXN_ITEMS_MAX];
    size_t log_count = 0;
    bool any_open = false;
    int64_t newest_us = 0;
    assert(txn->item_count <= TXN_ITEMS_MAX);
    for (size_t i = 0; i < txn->item_count; i++) {
        const struct txn_item *item = &txn->items[i];
        log_of[i] = NOT_LOGGED;
        if (item->table->log_id == 0 || !txn_item_is_changed(item))
            continue;
        enum engine_status status = find_log_of(item, write, logs, &log_count, &log_of[i]);
        if (status != ENGINE_OK)
            return status;
        const struct change_log_head *head = &logs[log_of[i]].head;
        any_open = any_open || head->open;
        if (head->commit_us > newest_us)
            newest_us = head->commit_us;
    }
    bool history = txn_history_is_kept(txn);
    bool stamped = txn_replicas_are_stamped(txn);
    if (!any_open && !history && !stamped)
        return ENGINE_OK;
    const struct change_log_time time =
        txn_history_take_time(txn, write, newest_us, history || stamped);
    assert(time.commit_us > newest_us);
    if (stamped)
        txn_replicas_apply(txn, write, time.commit_us);
    if (history)
        txn_history_apply(txn, write, time.commit_us);
    for (size_t i = 0; i < txn->item_count; i++) {
        if (log_of[i] != NOT_LOGGED && logs[log_of[i]].head.open)
            append(txn, &txn->items[i], write, &logs[log_of[i]], &time);
    }
    for (size_t i = 0; i < log_count; i++) {
        if (logs[i].head.open)
            change_log_put_head(write, &logs[i].address, &logs[i].head);
    }
    return ENGINE_OK;
}
