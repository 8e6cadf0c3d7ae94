/* latches.c -- see latches.h.
 *
 * A latch that nobody waits for is taken and released by one atomic exchange each. It has a queue
 * exactly while its state is LATCH_QUEUED, and only under the mutex does that state come or go. So
 * whoever releases a latch notices a queue, and nobody takes a latch past one.
 */
#include "engine/latches.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/crc32c.h"
#include "base/timed_wait.h"

static_assert(LATCHES_COUNT <= UINT16_MAX + 1, "an index fits into latches_held");
static_assert((LATCHES_OWN_COUNT & (LATCHES_OWN_COUNT - 1)) == 0, "the hash is cut by a mask");
static_assert((LATCHES_SHARED_COUNT & (LATCHES_SHARED_COUNT - 1)) == 0, "so is this one");

enum latch_state {
    LATCH_FREE,
    LATCH_HELD,
    LATCH_QUEUED, /* Held, and others wait. */
};

/* --- Which latch --- */

/* The place is mixed in by multiplication: CRC-32C of the key alone would put the same key of every
 * partition, such as a change log's head, behind one latch. */
static uint16_t latch_index(const struct engine_address *address)
{
    const uint64_t odd = 0x9E3779B97F4A7C15u;
    uint64_t hash = crc32c(address->key);
    hash = (hash ^ address->place.owner) * odd;
    hash = (hash ^ (hash >> 32) ^ address->place.partition) * odd;
    hash = (hash ^ (hash >> 32) ^ (uint64_t)address->place.space) * odd;
    hash >>= 32;
    return engine_space_is_shared(address->place.space)
               ? (uint16_t)(LATCHES_OWN_COUNT + (hash & (LATCHES_SHARED_COUNT - 1)))
               : (uint16_t)(hash & (LATCHES_OWN_COUNT - 1));
}

static int compare_indexes(const void *a, const void *b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* Both sort the indexes, keep each once, and return how many there are. */

enum { FEW = 16, WORD_BITS = 64 };

static size_t sort_few(uint16_t *indexes, size_t count)
{
    size_t sorted = 0;
    for (size_t i = 0; i < count; i++) {
        uint16_t index = indexes[i];
        size_t at = sorted;
        while (at > 0 && indexes[at - 1] > index)
            at--;
        if (at > 0 && indexes[at - 1] == index)
            continue;
        memmove(indexes + at + 1, indexes + at, (sorted - at) * sizeof *indexes);
        indexes[at] = index;
        sorted++;
    }
    return sorted;
}

/* Marks them in a map of all latches: qsort takes as long as the latches themselves. */
static size_t sort_many(uint16_t *indexes, size_t count)
{
    uint64_t marks[LATCHES_COUNT / WORD_BITS] = { 0 };
    for (size_t i = 0; i < count; i++)
        marks[indexes[i] / WORD_BITS] |= UINT64_C(1) << indexes[i] % WORD_BITS;
    size_t sorted = 0;
    for (size_t word = 0; word < LATCHES_COUNT / WORD_BITS; word++)
        for (uint64_t left = marks[word]; left != 0; left &= left - 1)
            indexes[sorted++] = (uint16_t)(word * WORD_BITS + (size_t)__builtin_ctzll(left));
    return sorted;
}

/* Adds the latches of the addresses, all of which come behind those held. */
static void want(struct latches_held *held, const struct engine_address *addresses,
                 size_t address_count)
{
    assert(held->count + address_count <= ENGINE_WRITE_ADDRESSES_MAX);
    uint16_t *indexes = held->indexes + held->count;
    for (size_t i = 0; i < address_count; i++)
        indexes[i] = latch_index(&addresses[i]);
    size_t count =
        address_count <= FEW ? sort_few(indexes, address_count) : sort_many(indexes, address_count);
    assert(count == 0 || held->count == 0 || indexes[-1] < indexes[0]);
    held->wanted = held->count + count;
}

bool latches_cover(const struct latches_held *held, const struct engine_address *address)
{
    uint16_t index = latch_index(address);
    return bsearch(&index, held->indexes, held->count, sizeof index, compare_indexes) != NULL;
}

/* --- Queues. The caller holds the mutex. --- */

static void join_queue_locked(struct latch *latch, struct latches_held *held)
{
    if (latch->last == NULL) {
        held->next_in_queue = held;
    } else {
        held->next_in_queue = latch->last->next_in_queue;
        latch->last->next_in_queue = held;
    }
    latch->last = held;
}

/* `before` is the one in front of `held` in the ring. */
static void leave_queue_locked(struct latch *latch, struct latches_held *before,
                               struct latches_held *held)
{
    if (before == held) {
        latch->last = NULL;
        atomic_store_explicit(&latch->state, LATCH_HELD, memory_order_relaxed);
        return;
    }
    before->next_in_queue = held->next_in_queue;
    if (latch->last == held)
        latch->last = before;
}

static void add_waiting_locked(struct latches *latches, struct latches_held *held)
{
    held->give_up_ns = clock_monotonic_ns() + latches->wait_ns;
    held->next = NULL;
    held->previous = latches->last;
    if (latches->last == NULL)
        latches->first = held;
    else
        latches->last->next = held;
    latches->last = held;
    if (latches->watched)
        return;
    latches->watched = true;
    pthread_cond_signal(&latches->changed);
}

static void remove_waiting_locked(struct latches *latches, struct latches_held *held)
{
    if (held->previous == NULL)
        latches->first = held->next;
    else
        held->previous->next = held->next;
    if (held->next == NULL)
        latches->last = held->previous;
    else
        held->next->previous = held->previous;
}

/* --- Taking --- */

/* False at the first latch that is not free. */
static bool take_free(struct latches *latches, struct latches_held *held)
{
    while (held->count < held->wanted) {
        unsigned expected = LATCH_FREE;
        struct latch *latch = &latches->list[held->indexes[held->count]];
        if (!atomic_compare_exchange_strong_explicit(&latch->state, &expected, LATCH_HELD,
                                                     memory_order_acquire, memory_order_relaxed))
            return false;
        held->count++;
    }
    return true;
}

/* False: it is in the queue of the next latch. */
static bool take_or_join_locked(struct latches *latches, struct latches_held *held)
{
    while (!take_free(latches, held)) {
        unsigned expected = LATCH_HELD;
        struct latch *latch = &latches->list[held->indexes[held->count]];
        if (!atomic_compare_exchange_strong_explicit(&latch->state, &expected, LATCH_QUEUED,
                                                     memory_order_relaxed, memory_order_relaxed) &&
            expected == LATCH_FREE)
            continue; /* It was released in between. */
        join_queue_locked(latch, held);
        return false;
    }
    return true;
}

static bool take_or_wait(struct latches *latches, struct latches_held *held)
{
    if (take_free(latches, held))
        return true;
    pthread_mutex_lock(&latches->mutex);
    bool taken = take_or_join_locked(latches, held);
    if (!taken)
        add_waiting_locked(latches, held);
    pthread_mutex_unlock(&latches->mutex);
    return taken;
}

bool latches_take(struct latches *latches, const struct engine_address *addresses,
                  size_t address_count, struct latches_held *held)
{
    held->count = 0;
    want(held, addresses, address_count);
    return take_or_wait(latches, held);
}

bool latches_take_shared(struct latches *latches, const struct engine_address *addresses,
                         size_t address_count, struct latches_held *held)
{
    assert(held->count == held->wanted);
    want(held, addresses, address_count);
    return take_or_wait(latches, held);
}

bool latches_try(struct latches *latches, const struct engine_address *addresses,
                 size_t address_count, struct latches_held *held, bool *busy)
{
    held->count = 0;
    want(held, addresses, address_count);
    if (take_free(latches, held))
        return true;
    uint16_t met = held->indexes[held->count];
    latches_release(latches, held);
    for (size_t i = 0; i < address_count; i++) {
        uint16_t index = latch_index(&addresses[i]);
        busy[i] = index == met || atomic_load_explicit(&latches->list[index].state,
                                                       memory_order_relaxed) != LATCH_FREE;
    }
    return false;
}

/* --- Releasing --- */

/* Who is in front of the one whose turn it is. */
static struct latches_held *find_next_locked(struct latch *latch, const void *thread)
{
    struct latches_held *before = latch->last;
    if (thread == NULL || latch->passes == LATCHES_PASSES_MAX) {
        latch->passes = 0;
        return before;
    }
    for (int i = 0; i < LATCHES_LOOKED_AT_MAX; i++) {
        if (before->next_in_queue->thread == thread) {
            latch->passes++;
            return before;
        }
        before = before->next_in_queue;
        if (before == latch->last)
            break;
    }
    latch->passes = 0;
    return latch->last;
}

/* Hands a latch with a queue on. Returns who has all it wants by that. */
static struct latches_held *hand_over(struct latches *latches, struct latch *latch,
                                      const void *thread)
{
    struct latches_held *next = NULL;
    pthread_mutex_lock(&latches->mutex);
    if (latch->last == NULL) {
        /* The whole queue has given up since the state was looked at. */
        atomic_store_explicit(&latch->state, LATCH_FREE, memory_order_release);
    } else {
        struct latches_held *before = find_next_locked(latch, thread);
        next = before->next_in_queue;
        leave_queue_locked(latch, before, next);
        next->count++;
        if (take_or_join_locked(latches, next))
            remove_waiting_locked(latches, next);
        else
            next = NULL;
    }
    pthread_mutex_unlock(&latches->mutex);
    return next;
}

void latches_release(struct latches *latches, struct latches_held *held)
{
    struct latches_held *ready = NULL; /* Linked by `next`, in the order of their turns. */
    struct latches_held **end = &ready;
    for (size_t i = held->count; i > 0; i--) {
        struct latch *latch = &latches->list[held->indexes[i - 1]];
        unsigned expected = LATCH_HELD;
        if (atomic_compare_exchange_strong_explicit(&latch->state, &expected, LATCH_FREE,
                                                    memory_order_release, memory_order_relaxed))
            continue;
        assert(expected == LATCH_QUEUED);
        struct latches_held *next = hand_over(latches, latch, held->thread);
        if (next == NULL)
            continue;
        next->next = NULL;
        *end = next;
        end = &next->next;
    }
    held->count = 0;
    held->wanted = 0;
    while (ready != NULL) {
        struct latches_held *next = ready->next; /* Its owner may reuse it. */
        ready->ready(ready, true);
        ready = next;
    }
}

/* --- Giving up --- */

enum {
    TICKS_PER_WAIT = 8, /* A write waits longer than it should by one of them at most. */
    TICK_MS_MAX = 250,
    NS_PER_MS = 1000000,
};

/* Takes those that timed out out of their queues; they keep what they hold. Linked by `next`.
 */
static struct latches_held *give_up_locked(struct latches *latches)
{
    int64_t now_ns = clock_monotonic_ns();
    struct latches_held *over = NULL;
    struct latches_held **end = &over;
    while (latches->first != NULL && latches->first->give_up_ns <= now_ns) {
        struct latches_held *held = latches->first;
        struct latch *latch = &latches->list[held->indexes[held->count]];
        struct latches_held *before = latch->last;
        while (before->next_in_queue != held)
            before = before->next_in_queue;
        leave_queue_locked(latch, before, held);
        remove_waiting_locked(latches, held);
        held->next = NULL;
        *end = held;
        end = &held->next;
    }
    return over;
}

/* Keeps ticking while any write waits, so that a new wait need not wake this thread. */
static void *watch(void *argument)
{
    struct latches *latches = argument;
    int64_t tick_ms = latches->wait_ns / NS_PER_MS / TICKS_PER_WAIT + 1;
    if (tick_ms > TICK_MS_MAX)
        tick_ms = TICK_MS_MAX;
    pthread_mutex_lock(&latches->mutex);
    while (!latches->stopping) {
        timed_wait(&latches->changed, &latches->mutex,
                   latches->watched ? tick_ms : TIMED_WAIT_FOREVER);
        struct latches_held *over = give_up_locked(latches);
        latches->watched = latches->first != NULL;
        pthread_mutex_unlock(&latches->mutex);
        while (over != NULL) {
            struct latches_held *next = over->next;
            latches_release(latches, over);
            over->ready(over, false);
            over = next;
        }
        pthread_mutex_lock(&latches->mutex);
    }
    pthread_mutex_unlock(&latches->mutex);
    return NULL;
}

/* --- Life --- */

bool latches_init(struct latches *latches, unsigned wait_ms)
{
    latches->wait_ns = (int64_t)wait_ms * NS_PER_MS;
    for (size_t i = 0; i < LATCHES_COUNT; i++) {
        atomic_init(&latches->list[i].state, LATCH_FREE);
        latches->list[i].passes = 0;
        latches->list[i].last = NULL;
    }
    latches->first = NULL;
    latches->last = NULL;
    latches->watched = false;
    latches->stopping = false;
    pthread_mutex_init(&latches->mutex, NULL);
    timed_wait_init(&latches->changed);
    if (pthread_create(&latches->watcher, NULL, watch, latches) == 0)
        return true;
    pthread_cond_destroy(&latches->changed);
    pthread_mutex_destroy(&latches->mutex);
    return false;
}

void latches_deinit(struct latches *latches)
{
    pthread_mutex_lock(&latches->mutex);
    assert(latches->first == NULL);
    latches->stopping = true;
    pthread_cond_signal(&latches->changed);
    pthread_mutex_unlock(&latches->mutex);
    pthread_join(latches->watcher, NULL);
    pthread_cond_destroy(&latches->changed);
    pthread_mutex_destroy(&latches->mutex);
}
