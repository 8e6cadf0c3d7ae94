/* txn_group.c -- see txn_group.h.
 *
 * What two txns of a batch may have in common are the figures of a table and the head of a change
 * log: both are added up over the items of all. Nothing else: a decision reads the items, records
 * and collections as they were before the batch.
 */
#include "txn/txn_group.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include "base/memory.h"
#include "model/table_definition.h"
#include "txn/txn.h"
#include "txn/txn_parts.h"

static_assert(TXN_ITEMS_MAX * (TXN_OWN_ADDRESSES_PER_ITEM + TXN_SHARED_ADDRESSES_PER_ITEM) +
                      (int)TXN_GROUP_MAX * TXN_RECORDS_MAX <=
                  ENGINE_WRITE_ADDRESSES_MAX,
              "the largest batch fits into one engine write");

/* Several txns in one engine write, from its beginning to its commit. */
struct txn_batch {
    struct txn_step step;
    struct txn *first; /* Linked by `next`. */
    struct engine_address addresses[ENGINE_WRITE_ADDRESSES_MAX];
    bool busy[ENGINE_WRITE_ADDRESSES_MAX]; /* One for each address. */
    struct txn all;                        /* Has the items that change, of all txns. */
    struct txn_item items[TXN_ITEMS_MAX];  /* Those: copies, with their effects. */
    struct txn_batch *next;                /* Among the spare ones. */
};

struct txn_group {
    struct txn *first; /* Those that were added. */
    struct txn **end;  /* Where the next one is linked. */
    size_t count;
    bool running;
    struct txn_batch *spare;
    size_t spare_count;

    void (*wake)(void *context);
    void *context;
    pthread_mutex_t mutex;
    struct txn_step *posted;      /* Those that go on. Guarded by mutex. */
    struct txn_step **posted_end; /* Guarded by mutex. */
    bool woken;                   /* A txn_group_resume will come. Guarded by mutex. */
    bool looking; /* The group's thread will look before it ends. Guarded by mutex. */
};

/* --- Which txns go together --- */

/* Txns in their order, linked by `next`. */
struct list {
    struct txn *first, *last;
    size_t count, item_count;
};

static void list_add(struct list *list, struct txn *txn)
{
    txn->next = NULL;
    if (list->first == NULL)
        list->first = txn;
    else
        list->last->next = txn;
    list->last = txn;
    list->count++;
    list->item_count += txn->item_count;
}

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

static bool fits(const struct list *batch, const struct txn *txn)
{
    if (batch->count == TXN_GROUP_MAX || batch->item_count + txn->item_count > TXN_ITEMS_MAX)
        return false;
    for (const struct txn *other = batch->first; other != NULL; other = other->next) {
        assert(txn->engine == other->engine);
        if (!are_apart(other, txn))
            return false;
    }
    return true;
}

/* Takes the txns that wait longest, as many as go together. */
static struct list take_batch(struct txn_group *group)
{
    struct list batch = { 0 };
    struct txn *txn;
    while ((txn = group->first) != NULL && fits(&batch, txn)) {
        group->first = txn->next;
        group->count--;
        list_add(&batch, txn);
    }
    if (group->first == NULL)
        group->end = &group->first;
    return batch;
}

/* --- A batch --- */

static struct txn_batch *take_spare(struct txn_group *group)
{
    struct txn_batch *batch = group->spare;
    if (batch == NULL)
        return memory_checked(malloc(sizeof *batch));
    group->spare = batch->next;
    group->spare_count--;
    return batch;
}

static void give_back(struct txn_group *group, struct txn_batch *batch)
{
    if (group->spare_count == TXN_GROUP_BATCHES_KEPT_MAX) {
        free(batch);
        return;
    }
    batch->next = group->spare;
    group->spare = batch;
    group->spare_count++;
}

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
    (void)status; /* Nobody knows whose fault a failure was. */
    txn_attempt(txn);
}

static void try_each_alone(struct txn_step *step)
{
    struct txn *first = (struct txn *)((char *)step - offsetof(struct txn, step));
    end_all(first, ENGINE_OK, try_alone);
}

static void completed(struct engine_completion *completion, enum engine_status status)
{
    struct txn *first = txn_of_completion(completion);
    if (status == ENGINE_OK) {
        end_all(first, status, txn_finish);
        return;
    }
    first->step.group = first->group;
    txn_step_post(&first->step, try_each_alone);
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

/* Ends the engine's write: `status` tells whether everything was put into it. */
static void end_write(struct txn_batch *batch, enum engine_status status)
{
    struct txn *first = batch->first;
    struct engine_write *write = batch->step.write;
    for (struct txn *txn = first; txn != NULL; txn = txn->next)
        txn_release(txn);
    give_back(batch->step.group, batch);
    if (status == ENGINE_OK) {
        first->completion.done = completed;
        engine_write_commit(write, &first->completion);
        return;
    }
    engine_write_abandon(write);
    end_all(first, status, try_alone);
}

static void extended(struct txn_step *step)
{
    struct txn_batch *batch = (struct txn_batch *)((char *)step - offsetof(struct txn_batch, step));
    enum engine_status status = step->status;
    if (status == ENGINE_OK)
        status = txn_apply_shared(&batch->all, step->write);
    end_write(batch, status);
}

/* With the engine's write begun. */
static void decide_together(struct txn_batch *batch)
{
    const struct txn *first = batch->first;
    batch->all = (struct txn){
        .arena = first->arena, .engine = first->engine, .clock = first->clock, .items = batch->items
    };
    enum engine_status status = decide_all(batch->first, batch->step.write, &batch->all);
    if (status != ENGINE_OK) {
        end_write(batch, status);
        return;
    }
    struct txn_addresses shared = { .list = batch->addresses };
    txn_add_shared_addresses(&batch->all, &shared);
    txn_step_extend(&batch->step, shared.list, shared.count, extended);
}

/* Moves those that need what others hold from `list` to `alone`. All of them, if the engine does
 * not tell who is in the way. */
static void split(struct txn_batch *batch, size_t address_count, struct list *list,
                  struct list *alone)
{
    struct list rest = { 0 };
    bool any = false;
    size_t at = 0;
    for (size_t i = 0; i < address_count; i++)
        any |= batch->busy[i];
    for (struct txn *txn = list->first, *next; txn != NULL; txn = next) {
        struct txn_addresses own = { .list = batch->addresses + at };
        bool busy = !any;
        next = txn->next;
        txn_add_own_addresses(txn, &own);
        for (size_t i = 0; i < own.count; i++)
            busy |= batch->busy[at + i];
        at += own.count;
        list_add(busy ? alone : &rest, txn);
    }
    assert(at == address_count);
    *list = rest;
}

/* Begins one engine write for as many of the list as nobody is in the way of; the others are then
 * in `alone`. What is left in the list has begun if this is true. */
static bool begin_together(struct txn_batch *batch, struct list *list, struct list *alone)
{
    for (int tries = 0; tries < TXN_GROUP_TRIES_MAX && list->count > 1; tries++) {
        struct txn_addresses own = { .list = batch->addresses };
        for (struct txn *txn = list->first; txn != NULL; txn = txn->next)
            txn_add_own_addresses(txn, &own);
        assert(own.count <= ENGINE_WRITE_ADDRESSES_MAX);
        enum engine_status status = engine_write_try(list->first->engine, own.list, own.count,
                                                     batch->busy, &batch->step.write);
        if (status == ENGINE_OK)
            return true;
        if (status != ENGINE_BUSY)
            break;
        split(batch, own.count, list, alone);
    }
    return false;
}

static void carry_out_together(struct txn_group *group, struct list list)
{
    struct txn_batch *batch = take_spare(group);
    struct list alone = { 0 };
    batch->step = (struct txn_step){ .group = group };
    if (begin_together(batch, &list, &alone)) {
        batch->first = list.first;
        decide_together(batch);
    } else {
        give_back(group, batch);
        end_all(list.first, ENGINE_OK, try_alone);
    }
    /* Only now: a thread that waits must not have a write begun. */
    end_all(alone.first, ENGINE_OK, try_alone);
}

/* --- The group --- */

struct txn_group *txn_group_create(void (*wake)(void *context), void *context)
{
    struct txn_group *group = memory_checked(calloc(1, sizeof *group));
    group->end = &group->first;
    group->posted_end = &group->posted;
    group->wake = wake;
    group->context = context;
    pthread_mutex_init(&group->mutex, NULL);
    return group;
}

void txn_group_destroy(struct txn_group *group)
{
    if (group == NULL)
        return;
    assert(group->first == NULL);
    assert(group->posted == NULL);
    while (group->spare != NULL) {
        struct txn_batch *batch = group->spare;
        group->spare = batch->next;
        free(batch);
    }
    pthread_mutex_destroy(&group->mutex);
    free(group);
}

/* --- Waiting --- */

bool txn_group_may_wait(const struct txn_group *group)
{
    return group->wake == NULL;
}

void txn_group_post(struct txn_group *group, struct txn_step *step)
{
    pthread_mutex_lock(&group->mutex);
    step->next = NULL;
    *group->posted_end = step;
    group->posted_end = &step->next;
    bool wake = !group->woken && !group->looking;
    group->woken |= wake;
    pthread_mutex_unlock(&group->mutex);
    /* The step does not go on before that, so the group is still there. */
    if (wake)
        group->wake(group->context);
}

/* From here on the thread need not be woken up: it will call go_on_posted. */
static void begin_to_look(struct txn_group *group, bool is_woken)
{
    pthread_mutex_lock(&group->mutex);
    group->looking = true;
    if (is_woken)
        group->woken = false;
    pthread_mutex_unlock(&group->mutex);
}

/* Goes on with what was posted, also by those that go on. */
static void go_on_posted(struct txn_group *group)
{
    for (size_t count = 0;; count++) {
        pthread_mutex_lock(&group->mutex);
        struct txn_step *step = group->posted;
        bool last = step == NULL || count == TXN_GROUP_STEPS_MAX;
        bool wake = last && step != NULL && !group->woken;
        group->woken |= wake;
        if (last) {
            group->looking = false;
        } else {
            group->posted = step->next;
            if (group->posted == NULL)
                group->posted_end = &group->posted;
        }
        pthread_mutex_unlock(&group->mutex);
        if (wake)
            group->wake(group->context);
        if (last)
            return;
        step->go_on(step);
    }
}

/* --- Running --- */

void txn_group_run(struct txn_group *group)
{
    if (group->running)
        return; /* What was just added is carried out further down the stack. */
    while (group->first != NULL) {
        group->running = true;
        begin_to_look(group, false);
        while (group->first != NULL) {
            struct list list = take_batch(group);
            if (list.count == 1)
                txn_attempt(list.first);
            else
                carry_out_together(group, list);
        }
        go_on_posted(group);
        group->running = false;
    }
}

void txn_group_resume(struct txn_group *group)
{
    assert(!group->running);
    group->running = true;
    begin_to_look(group, true);
    go_on_posted(group);
    group->running = false;
    if (group->count >= TXN_GROUP_MAX)
        txn_group_run(group);
}

void txn_group_add(struct txn_group *group, struct txn *txn)
{
    txn->next = NULL;
    *group->end = txn;
    group->end = &txn->next;
    group->count++;
    if (group->count >= TXN_GROUP_MAX)
        txn_group_run(group);
}
