/* txn_group.c -- see txn_group.h.
 *
 * What two txns of a batch may have in common are the figures of a table and the head of a change
 * log: both are added up over the items of all. Nothing else: a decision reads the items, records
 * and collections as they were before the batch.
 */
#include "txn/txn_group.h"
#include <assert.h>
#include <stdlib.h>
#include "base/memory.h"
#include "model/table_definition.h"
#include "txn/txn.h"
#include "txn/txn_parts.h"

static_assert(TXN_ITEMS_MAX * TXN_ADDRESSES_PER_ITEM + (int)TXN_GROUP_MAX * TXN_RECORDS_MAX <=
                  ENGINE_WRITE_ADDRESSES_MAX,
              "the largest batch fits into one engine write");

struct txn_group {
    struct txn *first; /* Those that wait. */
    struct txn **end;  /* Where the next one is linked. */
    size_t count;
    bool running;

    /* Of the batch that is being carried out. */
    struct engine_address addresses[ENGINE_WRITE_ADDRESSES_MAX];
    struct txn_item items[TXN_ITEMS_MAX]; /* Copies, with their effects. */
};

/* --- Which txns go together --- */

struct batch {
    struct txn *first, *last; /* Linked by `next`. */
    size_t item_count;
};

static bool items_are_apart(const struct txn_item *a, const struct txn_item *b)
{
    if (a->table != b->table && a->table->id == b->table->id)
        return false; /* Two versions of one table: they may differ in what is counted. */
    if (a->place.hash != b->place.hash)
        return true;
    return !engine_address_equal(&a->place.address, &b->place.address) &&
           !(table_definition_has_local_index(a->table) && txn_collection_is_shared(a, b));
}

static bool are_apart(const struct txn *a, const struct txn *b)
{
    for (size_t i = 0; i < a->item_count; i++)
        for (size_t j = 0; j < b->item_count; j++)
            if (!items_are_apart(&a->items[i], &b->items[j]))
                return false;
    for (size_t i = 0; i < a->record_count; i++)
        for (size_t j = 0; j < b->record_count; j++)
            if (engine_address_equal(&a->records[i].address, &b->records[j].address))
                return false;
    return true;
}

static bool fits(const struct batch *batch, const struct txn *txn)
{
    if (batch->item_count + txn->item_count > TXN_ITEMS_MAX)
        return false;
    assert(txn->engine == batch->first->engine);
    for (const struct txn *other = batch->first; other != NULL; other = other->next)
        if (!are_apart(other, txn))
            return false;
    return true;
}

/* Takes the txns that wait longest, as many as go together. */
static struct batch take_batch(struct txn_group *group)
{
    struct batch batch = { 0 };
    struct txn *txn;
    while ((txn = group->first) != NULL && (batch.first == NULL || fits(&batch, txn))) {
        group->first = txn->next;
        group->count--;
        txn->next = NULL;
        if (batch.first == NULL)
            batch.first = txn;
        else
            batch.last->next = txn;
        batch.last = txn;
        batch.item_count += txn->item_count;
    }
    if (group->first == NULL)
        group->end = &group->first;
    return batch;
}

/* --- A batch --- */

/* Calls `each` for every txn, which may then be gone. */
static void end_all(struct txn *first, enum engine_status status,
                    void (*each)(struct txn *txn, enum engine_status status))
{
    for (struct txn *txn = first, *next; txn != NULL; txn = next) {
        next = txn->next;
        each(txn, status);
    }
}

static void try_alone(struct txn *txn, enum engine_status status)
{
    (void)status; /* Nobody knows whose fault it was. */
    txn_attempt(txn);
}

static void completed(struct engine_completion *completion, enum engine_status status)
{
    end_all(txn_of_completion(completion), status, status == ENGINE_OK ? txn_finish : try_alone);
}

static enum engine_status begin(struct txn_group *group, struct txn *first,
                                struct engine_write **write)
{
    struct txn_addresses addresses = { .list = group->addresses };
    for (struct txn *txn = first; txn != NULL; txn = txn->next)
        txn_add_addresses(txn, &addresses);
    assert(addresses.count <= ENGINE_WRITE_ADDRESSES_MAX);
    return engine_write_begin(first->engine, addresses.list, addresses.count, write);
}

/* Has each decided and puts what is its own; `all` collects the items that change. */
static enum engine_status decide_all(struct txn *first, struct engine_write *write, struct txn *all)
{
    enum engine_status status = ENGINE_OK;
    for (struct txn *txn = first; txn != NULL && status == ENGINE_OK; txn = txn->next) {
        bool changes;
        status = txn_decide(txn, write, &changes);
        if (status != ENGINE_OK || !changes)
            continue;
        status = txn_apply_own(txn, write);
        for (size_t i = 0; i < txn->item_count; i++)
            all->items[all->item_count++] = txn->items[i];
    }
    return status;
}

static void carry_out_together(struct txn_group *group, struct txn *first)
{
    struct engine_write *write = NULL;
    enum engine_status status = begin(group, first, &write);
    if (status != ENGINE_OK) {
        end_all(first, status, txn_finish);
        return;
    }
    struct txn all = {
        .arena = first->arena, .engine = first->engine, .clock = first->clock, .items = group->items
    };
    status = decide_all(first, write, &all);
    if (status == ENGINE_OK)
        status = txn_apply_shared(&all, write);
    for (struct txn *txn = first; txn != NULL; txn = txn->next)
        txn_release(txn);
    if (status == ENGINE_OK) {
        first->completion.done = completed;
        engine_write_commit(write, &first->completion);
        return;
    }
    engine_write_abandon(write);
    end_all(first, status, try_alone);
}

/* --- The group --- */

struct txn_group *txn_group_create(void)
{
    struct txn_group *group = memory_checked(calloc(1, sizeof *group));
    group->end = &group->first;
    return group;
}

void txn_group_destroy(struct txn_group *group)
{
    assert(group == NULL || group->first == NULL);
    free(group);
}

void txn_group_run(struct txn_group *group)
{
    if (group->running)
        return; /* What was just added is carried out further down the stack. */
    group->running = true;
    while (group->first != NULL) {
        struct batch batch = take_batch(group);
        if (batch.first == batch.last)
            txn_attempt(batch.first);
        else
            carry_out_together(group, batch.first);
    }
    group->running = false;
}

void txn_group_add(struct txn_group *group, struct txn *txn)
{
    txn->next = NULL;
    *group->end = txn;
    group->end = &txn->next;
    group->count++;
    if (group->count == TXN_GROUP_MAX)
        txn_group_run(group);
}
