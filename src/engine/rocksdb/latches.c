/* latches.c -- see latches.h. */
#include "engine/rocksdb/latches.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "base/crc32c.h"

static_assert(LATCHES_COUNT <= UINT16_MAX + 1, "an index fits into latches_held");
static_assert((LATCHES_COUNT & (LATCHES_COUNT - 1)) == 0, "the hash is cut by a mask");

void latches_init(struct latches *latches, unsigned wait_ms)
{
    latches->wait_ms = wait_ms;
    for (size_t i = 0; i < LATCHES_COUNT; i++)
        pthread_mutex_init(&latches->mutexes[i], NULL);
}

void latches_deinit(struct latches *latches)
{
    for (size_t i = 0; i < LATCHES_COUNT; i++)
        pthread_mutex_destroy(&latches->mutexes[i]);
}

/* The place is mixed in by multiplication: CRC-32C of the key alone would put the same key of every
 * partition, such as a change log's head, behind one latch. */
static uint16_t latch_index(const struct engine_address *address)
{
    const uint64_t odd = 0x9E3779B97F4A7C15u;
    uint64_t hash = crc32c(address->key);
    hash = (hash ^ address->place.owner) * odd;
    hash = (hash ^ (hash >> 32) ^ address->place.partition) * odd;
    hash = (hash ^ (hash >> 32) ^ (uint64_t)address->place.space) * odd;
    return (uint16_t)((hash >> 32) & (LATCHES_COUNT - 1));
}

static int compare_indexes(const void *a, const void *b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* --- Order ---
 *
 * Both put the indexes into ascending order, each once, and return how many there are. */

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

/* --- Taking and releasing --- */

/* By the clock that nobody sets: by the other one, a write would give up at once, or wait for an
 * hour, when it is set in between. TSan does not know that call, and would not see the lock. */
#ifdef __SANITIZE_THREAD__
static struct timespec wait_end(const struct latches *latches)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 1 + latches->wait_ms / 1000;
    return end;
}

static bool lock_until(pthread_mutex_t *mutex, const struct timespec *end)
{
    return pthread_mutex_timedlock(mutex, end) == 0;
}
#else
static struct timespec wait_end(const struct latches *latches)
{
    return clock_monotonic_after_ms(latches->wait_ms);
}

static bool lock_until(pthread_mutex_t *mutex, const struct timespec *end)
{
    return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, end) == 0;
}
#endif

/* `end` is set by the first latch that must be waited for. */
static bool take_one(struct latches *latches, uint16_t index, struct timespec *end)
{
    pthread_mutex_t *mutex = &latches->mutexes[index];
    if (pthread_mutex_trylock(mutex) == 0)
        return true;
    if (end->tv_sec == 0)
        *end = wait_end(latches);
    return lock_until(mutex, end);
}

bool latches_take(struct latches *latches, const struct engine_address *addresses,
                  size_t address_count, struct latches_held *held)
{
    assert(address_count <= ENGINE_WRITE_ADDRESSES_MAX);
    for (size_t i = 0; i < address_count; i++)
        held->indexes[i] = latch_index(&addresses[i]);
    size_t count = address_count <= FEW ? sort_few(held->indexes, address_count)
                                        : sort_many(held->indexes, address_count);
    held->count = 0;
    struct timespec end = { 0 };
    for (size_t i = 0; i < count; i++) {
        uint16_t index = held->indexes[i];
        if (!take_one(latches, index, &end)) {
            latches_release(latches, held);
            return false;
        }
        held->indexes[held->count++] = index;
    }
    return true;
}

void latches_release(struct latches *latches, struct latches_held *held)
{
    for (size_t i = held->count; i > 0; i--)
        pthread_mutex_unlock(&latches->mutexes[held->indexes[i - 1]]);
    held->count = 0;
}

bool latches_cover(const struct latches_held *held, const struct engine_address *address)
{
    uint16_t index = latch_index(address);
    return bsearch(&index, held->indexes, held->count, sizeof index, compare_indexes) != NULL;
}
