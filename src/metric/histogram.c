/* histogram.c -- see histogram.h. */
#include "metric/histogram.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

static_assert(sizeof(struct histogram_group) == 128, "two cache lines, shared with nobody");

uint64_t histogram_bucket_first(size_t bucket)
{
    assert(bucket < HISTOGRAM_BUCKETS);
    size_t group = bucket / HISTOGRAM_STEPS, step = bucket % HISTOGRAM_STEPS;
    return group == 0 ? step : (uint64_t)(HISTOGRAM_STEPS + step) << (group - 1);
}

uint64_t histogram_bucket_last(size_t bucket)
{
    return bucket + 1 == HISTOGRAM_BUCKETS ? HISTOGRAM_VALUE_MAX
                                           : histogram_bucket_first(bucket + 1) - 1;
}

void histogram_add(struct histogram *histogram, uint64_t value, uint64_t times)
{
    histogram->count += times;
    histogram->sum += value * times;
    histogram->buckets[histogram_bucket_of(value)] += times;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    into->count += from->count;
    into->sum += from->sum;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        into->buckets[i] += from->buckets[i];
}

void histogram_subtract(struct histogram *from, const struct histogram *earlier)
{
    assert(from->count >= earlier->count);
    from->count -= earlier->count;
    from->sum -= earlier->sum;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        assert(from->buckets[i] >= earlier->buckets[i]);
        from->buckets[i] -= earlier->buckets[i];
    }
}

uint64_t histogram_value_at(const struct histogram *histogram, double fraction)
{
    assert(fraction >= 0 && fraction <= 1);
    if (histogram->count == 0)
        return 0;
    uint64_t rank = (uint64_t)ceil(fraction * (double)histogram->count), seen = 0;
    if (rank == 0)
        rank = 1;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += histogram->buckets[i];
        if (seen >= rank)
            return histogram_bucket_last(i);
    }
    return HISTOGRAM_VALUE_MAX; /* fraction * count was rounded up. */
}

uint64_t histogram_count_up_to(const struct histogram *histogram, uint64_t value)
{
    uint64_t count = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS && histogram_bucket_last(i) <= value; i++)
        count += histogram->buckets[i];
    return count;
}

/* --- Recorders --- */

struct histogram_group *histogram_add_group(struct histogram_recorder *recorder, size_t group)
{
    struct histogram_group *added =
        memory_checked(aligned_alloc(_Alignof(struct histogram_group), sizeof *added));
    for (size_t i = 0; i < HISTOGRAM_STEPS; i++)
        atomic_init(&added->counts[i], 0);
    atomic_store_explicit(&recorder->groups[group], added, memory_order_release);
    return added;
}

void histogram_read(const struct histogram_recorder *recorder, struct histogram *into)
{
    for (size_t g = 0; g < HISTOGRAM_GROUPS; g++) {
        const struct histogram_group *group =
            atomic_load_explicit(&recorder->groups[g], memory_order_acquire);
        for (size_t i = 0; group != NULL && i < HISTOGRAM_STEPS; i++) {
            uint64_t count = atomic_load_explicit(&group->counts[i], memory_order_relaxed);
            into->buckets[g * HISTOGRAM_STEPS + i] += count;
            into->count += count;
        }
    }
    into->sum += atomic_load_explicit(&recorder->sum, memory_order_relaxed);
}

void histogram_recorder_clear(struct histogram_recorder *recorder)
{
    atomic_store_explicit(&recorder->sum, 0, memory_order_relaxed);
    for (size_t g = 0; g < HISTOGRAM_GROUPS; g++) {
        struct histogram_group *group =
            atomic_load_explicit(&recorder->groups[g], memory_order_relaxed);
        for (size_t i = 0; group != NULL && i < HISTOGRAM_STEPS; i++)
            atomic_store_explicit(&group->counts[i], 0, memory_order_relaxed);
    }
}

void histogram_recorder_deinit(struct histogram_recorder *recorder)
{
    for (size_t g = 0; g < HISTOGRAM_GROUPS; g++)
        free(atomic_load_explicit(&recorder->groups[g], memory_order_relaxed));
}
