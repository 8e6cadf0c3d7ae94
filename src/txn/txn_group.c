/* txn_group.c -- see txn_group.h.
 *
 * What two txns of a batch may have in common are the statistics of a table and the head of a
 * change log: both are added up over the items of all. Nothing else: a decision reads the items,
 * records and collections as they were before the batch.
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

/* Txns in their order, linked by `next`. */
struct list {
    struct txn *first, *last;
    size_t count, item_count;
};

/* Several txns in one engine write, from its beginning to its commit. */
struct txn_batch {
    struct txn_step step;
    struct list *source; /* Of the group: where they were taken from. */
    struct txn *first;   /* Linked by `next`. */
    struct engine_address addresses[ENGINE_WRITE_ADDRESSES_MAX];
    bool busy[ENGINE_WRITE_ADDRESSES_MAX]; /* One for each address. */
    struct txn all;                        /* Has the items that change, of all txns. */
    struct txn_item items[TXN_ITEMS_MAX];  /* Those: copies, with their effects. */
    struct txn_batch *next;                /* Among the spare ones. */
};

struct txn_group {
    struct list added;
    struct list set_aside; /* Of tables with large items. */
    bool running;
    bool left;           /* A turn has left some of those that were added. */
    size_t turn_size;    /* What was decided about in this turn, */
    uint64_t turn_table; /* and last, of which table. */
    uint64_t slow_table; /* What is added of that one is set aside; 0: none. */
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

/* --- Lists --- */

static void list_add(struct list *list, struct txn *txn)
{
    assert(txn->item_count > 0);
    txn->next = NULL;
    if (list->first == NULL)
        list->first = txn;
    else
        list->last->next = txn;
    list->last = txn;
    list->count++;
    list->item_count += txn->item_count;
}

static struct txn *list_take(struct list *list)
{
    assert(list->first != NULL && list->count > 0);
    struct txn *txn = list->first;
    list->first = txn->next;
    list->count--;
    list->item_count -= txn->item_count;
    txn->next = NULL;
    return txn;
}

/* Puts the txns from `first` on before those of the list. */
static void list_put_back(struct list *list, struct txn *first)
{
    struct list behind = *list;
    *list = (struct list){ 0 };
    for (struct txn *txn = first, *next; txn != NULL; txn = next) {
        next = txn->next;
        list_add(list, txn);
    }
    while (behind.first != NULL)
        list_add(list, list_take(&behind));
}

/* --- Which txns go together --- */

static bool items_are_apart(const struct txn_item *a, const struct txn_item *b)
{
    if (a->table != b->table && a->table->id == b->table->id)
        return false; /* Two versions of one table: they may differ in what is counted. */
    if (a->place.hash != b->place.hash)
        return true;
    return !engine_address_equal(&a->place.address, &b->place.address) &&
           !(table_definition_has_local_index(a->table) && txn_collection_is_shared(a, b));
}

/* Each new txn of a batch is compared with all others of it, so the usual case comes first. */
static bool are_apart(const struct txn *a, const struct txn *b)
{
    if (a->item_count == 1 && b->item_count == 1 && a->items->place.hash != b->items->place.hash &&
        a->items->table == b->items->table && (a->record_count == 0 || b->record_count == 0))
        return true;
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

static bool lies_in_one_partition(const struct txn *txn, uint64_t *partition)
{
    bool lies = txn->record_count == 0;
    *partition = txn->items->place.address.place.partition;
    for (size_t i = 1; i < txn->item_count; i++)
        lies = lies && txn->items[i].place.address.place.partition == *partition;
    return lies;
}

/* Takes the txns that wait longest, as many as go together. Where a write should not span
 * partitions, those of the first one's partition, which overtake those of others. */
static struct list take_batch(struct list *source)
{
    struct list batch = { 0 }, passed = { 0 };
    struct txn *next;
    uint64_t partition, first_partition;
    while ((next = source->first) != NULL) {
        if (batch.count > 0 && (engine_capabilities(next->engine) & ENGINE_SPANS_FREELY) == 0) {
            if (!lies_in_one_partition(batch.first, &first_partition) ||
                !lies_in_one_partition(next, &partition))
                break;
            if (partition != first_partition) {
                list_add(&passed, list_take(source));
                continue;
            }
        }
        if (!fits(&batch, next))
            break;
        list_add(&batch, list_take(source));
    }
    if (passed.first != NULL)
        list_put_back(source, passed.first);
    assert(batch.count > 0 || source->first == NULL); /* Any txn fits alone. */
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
    assert(group->spare_count <= TXN_GROUP_BATCHES_KEPT_MAX);
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

static void attempt_alone(struct txn_step *step)
{
    txn_attempt((struct txn *)((char *)step - offsetof(struct txn, step)));
}

static void settle(struct txn *txn, enum engine_status commit_status)
{
    if (commit_status == ENGINE_OK) {
        txn_finish(txn, commit_status);
        return;
    }
    txn->step.group = txn->group;
    txn_step_post(&txn->step, attempt_alone);
}

static void completed(struct engine_completion *completion, enum engine_status status)
{
    struct txn *first = txn_of_completion(completion);
    txn_history_end_time(first, status);
    end_all(first, status, txn_end_commit);
}

static bool turn_is_over(const struct txn_group *group)
{
    return group->wake != NULL && group->turn_size >= TXN_GROUP_TURN_SIZE_MAX;
}

/* Has each decided and puts what is its own; `all` collects the items that change. If that takes
 * too long, the rest is left for later, and its latches are held in vain for a moment. Those that
 * are too large for the thread go to `alone`: there they are handed over. */
static enum engine_status decide_all(struct txn_batch *batch, struct list *alone)
{
    struct txn *all = &batch->all;
    struct txn **link = &batch->first;
    enum engine_status status = ENGINE_OK;
    while (*link != NULL && status == ENGINE_OK) {
        struct txn *txn = *link;
        bool changes;
        status = txn_decide(txn, batch->step.write, &changes);
        if (status != ENGINE_OK)
            break;
        if (turn_is_over(batch->step.group)) {
            list_put_back(batch->source, txn->next);
            txn->next = NULL;
        }
        if (txn->is_large) {
            *link = txn->next;
            list_add(alone, txn);
            continue;
        }
        link = &txn->next;
        if (!changes)
            continue;
        status = txn_apply_own(txn, batch->step.write);
        assert(all->item_count + txn->item_count <= TXN_ITEMS_MAX);
        for (size_t i = 0; i < txn->item_count; i++)
            all->items[all->item_count++] = txn->items[i];
    }
    return status;
}

/* Then forms the answers that were left for now, while the disk works. */
static void commit_together(struct engine_write *write, struct txn *first)
{
    assert(write != NULL && first != NULL);
    struct txn *answers = NULL, **end = &answers;
    for (struct txn *txn = first; txn != NULL; txn = txn->next) {
        txn_begin_commit(txn, settle);
        txn->next_answer = NULL;
        if (txn->answer == NULL)
            continue;
        *end = txn;
        end = &txn->next_answer;
    }
    first->completion.done = completed;
    engine_write_commit(write, &first->completion);
    for (struct txn *txn = answers, *next; txn != NULL; txn = next) {
        next = txn->next_answer;
        txn_form_answer(txn);
    }
}

/* Ends the engine's write: `status` tells whether everything was put into it. */
static void end_write(struct txn_batch *batch, enum engine_status status)
{
    struct txn *first = batch->first;
    struct engine_write *write = batch->step.write;
    for (struct txn *txn = first; txn != NULL; txn = txn->next)
        txn_release(txn);
    first->commit = batch->all.commit;
    give_back(batch->step.group, batch);
    if (status == ENGINE_OK) {
        commit_together(write, first);
        return;
    }
    engine_write_abandon(write);
    txn_history_end_time(first, status);
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

/* With the engine's write begun. Those that must be carried out alone are in `alone` then. */
static void decide_together(struct txn_batch *batch, struct list *alone)
{
    batch->all = (struct txn){ .items = batch->items };
    enum engine_status status = decide_all(batch, alone);
    const struct txn *first = batch->first;
    if (first == NULL) {
        engine_write_abandon(batch->step.write);
        give_back(batch->step.group, batch);
        return;
    }
    if (status != ENGINE_OK) {
        end_write(batch, status);
        return;
    }
    batch->all.arena = first->arena; /* Of one that stays. */
    batch->all.engine = first->engine;
    batch->all.clock = first->clock;
    struct txn_addresses shared = { .list = batch->addresses, .max = ENGINE_WRITE_ADDRESSES_MAX };
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
        struct txn_addresses own = { .list = batch->addresses + at,
                                     .max = ENGINE_WRITE_ADDRESSES_MAX - at };
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
        struct txn_addresses own = { .list = batch->addresses, .max = ENGINE_WRITE_ADDRESSES_MAX };
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

static void carry_out_together(struct txn_group *group, struct list *source, struct list list)
{
    assert(list.count > 1);
    struct txn_batch *batch = take_spare(group);
    struct list alone = { 0 };
    batch->step = (struct txn_step){ .group = group };
    batch->source = source;
    if (begin_together(batch, &list, &alone)) {
        batch->first = list.first;
        decide_together(batch, &alone);
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
    assert(group->added.first == NULL);
    assert(group->set_aside.first == NULL);
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
    assert(group->wake != NULL); /* Otherwise its thread waits, and nothing is posted. */
    pthread_mutex_lock(&group->mutex);
    step->next = NULL;
    *group->posted_end = step;
    group->posted_end = &step->next;
    bool wake = !group->woken && !group->looking;
    group->woken |= wake;
    /* Under the mutex: the group's thread may find the step by itself, and once that has ended, the
     * group may be gone. */
    if (wake)
        group->wake(group->context);
    pthread_mutex_unlock(&group->mutex);
}

/* From here on the thread need not be woken up: it looks before it ends. */
static void begin_to_look(struct txn_group *group, bool is_woken)
{
    pthread_mutex_lock(&group->mutex);
    group->looking = true;
    if (is_woken)
        group->woken = false;
    pthread_mutex_unlock(&group->mutex);
}

/* Has the thread woken up if anything is left to do. */
static void end_looking(struct txn_group *group)
{
    pthread_mutex_lock(&group->mutex);
    group->looking = false;
    bool left = group->posted != NULL || group->left || group->set_aside.first != NULL;
    bool wake = left && !group->woken;
    group->woken |= wake;
    pthread_mutex_unlock(&group->mutex);
    if (wake)
        group->wake(group->context);
}

/* NULL: there is none. */
static struct txn_step *take_posted(struct txn_group *group)
{
    pthread_mutex_lock(&group->mutex);
    struct txn_step *step = group->posted;
    if (step != NULL)
        group->posted = step->next;
    if (group->posted == NULL)
        group->posted_end = &group->posted;
    pthread_mutex_unlock(&group->mutex);
    return step;
}

/* --- Turns --- */

void txn_group_count(struct txn_group *group, const struct txn *txn, size_t size)
{
    group->turn_size += size;
    group->turn_table = txn->items[0].table->id;
}

static void carry_out_next(struct txn_group *group, struct list *source)
{
    assert(source->first != NULL);
    struct list list = take_batch(source);
    if (list.count == 1)
        txn_attempt(list.first);
    else
        carry_out_together(group, source, list);
}

/* Those of the table that ended the turn wait apart, so that writes of other tables need not wait
 * for all of them. */
static void set_aside(struct txn_group *group)
{
    struct list added = group->added;
    group->slow_table = group->turn_table;
    group->added = (struct list){ 0 };
    while (added.first != NULL) {
        struct txn *txn = list_take(&added);
        bool slow = txn->items[0].table->id == group->slow_table;
        list_add(slow ? &group->set_aside : &group->added, txn);
    }
}

/* First go on those that had to wait, as far as the turn lasts: they hold latches that others wait
 * for. Then come those that were added, if `adds`; and then, if the thread was woken up, those that
 * were set aside: one batch of them at least, however much there was before. */
static void take_turn(struct txn_group *group, bool is_woken, bool adds)
{
    size_t steps = 0;
    struct txn_step *step;
    assert(!group->running);
    group->running = true;
    group->turn_size = 0;
    begin_to_look(group, is_woken);
    for (;;) {
        while (steps < TXN_GROUP_STEPS_MAX && !turn_is_over(group) &&
               (step = take_posted(group)) != NULL) {
            steps++;
            step->go_on(step);
        }
        if (!adds || group->added.first == NULL || turn_is_over(group))
            break;
        carry_out_next(group, &group->added);
    }
    if (adds && turn_is_over(group))
        set_aside(group);
    if (adds)
        group->left = group->added.first != NULL;
    if (is_woken && group->set_aside.first != NULL) {
        do
            carry_out_next(group, &group->set_aside);
        while (group->set_aside.first != NULL && !turn_is_over(group));
    }
    if (group->set_aside.first == NULL)
        group->slow_table = 0;
    group->running = false;
    end_looking(group);
}

/* What a turn has left is carried out by txn_group_resume, so that other work comes in between. */
void txn_group_run(struct txn_group *group)
{
    if (!group->running && !group->left && group->added.first != NULL)
        take_turn(group, false, true);
}

void txn_group_resume(struct txn_group *group)
{
    assert(!group->running);
    take_turn(group, true, group->left);
}

void txn_group_add(struct txn_group *group, struct txn *txn)
{
    assert(txn->group == group);
    bool slow = group->slow_table != 0 && txn->items[0].table->id == group->slow_table;
    list_add(slow ? &group->set_aside : &group->added, txn);
    if (group->added.count >= TXN_GROUP_MAX)
        txn_group_run(group);
}
