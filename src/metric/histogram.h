/* histogram.h -- how often which values occurred, in buckets of bounded relative width.
 *
 * Log-linear: every octave (the values from 2^n up to 2^(n+1)) is divided into 16 buckets of equal
 * width, so a value is known within a sixteenth of itself, from nanoseconds to hours. All
 * histograms have the same buckets. So they can be added up over threads and subtracted over time.
 *
 * A recorder is what one thread counts into. It allocates an octave's buckets when a value first
 * falls into it: most recorders see five octaves out of forty. A histogram is what anybody reads.
 */
#ifndef STATOR_METRIC_HISTOGRAM_H
#define STATOR_METRIC_HISTOGRAM_H
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"

enum {
    HISTOGRAM_STEP_BITS = 4,
    HISTOGRAM_STEPS = 1 << HISTOGRAM_STEP_BITS, /* Buckets of an octave. */
    HISTOGRAM_VALUE_BITS = 44,                  /* Larger values count as the largest. */
    /* The first group holds the values below HISTOGRAM_STEPS, each in a bucket of its own. */
    HISTOGRAM_GROUPS = HISTOGRAM_VALUE_BITS - HISTOGRAM_STEP_BITS + 1,
    HISTOGRAM_BUCKETS = HISTOGRAM_GROUPS * HISTOGRAM_STEPS,
};
#define HISTOGRAM_VALUE_MAX ((UINT64_C(1) << HISTOGRAM_VALUE_BITS) - 1)

struct histogram {
    uint64_t count;
    uint64_t sum; /* Of the values as they were, not as the buckets show them. */
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

/* The bucket that counts a value. */
static inline size_t histogram_bucket_of(uint64_t value)
{
    if (value < HISTOGRAM_STEPS)
        return value;
    if (UNLIKELY(value > HISTOGRAM_VALUE_MAX))
        value = HISTOGRAM_VALUE_MAX;
    unsigned octave = 63u - (unsigned)__builtin_clzll(value);
    size_t step = (value >> (octave - HISTOGRAM_STEP_BITS)) & (HISTOGRAM_STEPS - 1);
    return (size_t)(octave - HISTOGRAM_STEP_BITS + 1) * HISTOGRAM_STEPS + step;
}
/* The values that a bucket counts: both ends included. */
uint64_t histogram_bucket_first(size_t bucket);
uint64_t histogram_bucket_last(size_t bucket);

void histogram_add(struct histogram *histogram, uint64_t value, uint64_t times);
void histogram_merge(struct histogram *into, const struct histogram *from);
/* Takes out what was counted up to `earlier`, which is an older state of the same histogram. */
void histogram_subtract(struct histogram *from, const struct histogram *earlier);

/* The value at rank ceil(fraction * count) in ascending order: never below it, and above it by less
 * than a sixteenth. `fraction` is between 0 and 1: 0.99 asks for p99. 0 if nothing was counted. */
uint64_t histogram_value_at(const struct histogram *histogram, double fraction);
/* How many values were at most `value`. Values in its bucket count if all of the bucket does. */
uint64_t histogram_count_up_to(const struct histogram *histogram, uint64_t value);

struct histogram_group {
    _Alignas(128) _Atomic uint64_t counts[HISTOGRAM_STEPS];
};

/* All zeros: nothing was counted. One thread at a time counts; any thread may read. */
struct histogram_recorder {
    _Atomic uint64_t sum;
    _Atomic(struct histogram_group *) groups[HISTOGRAM_GROUPS];
};

/* For histogram_record alone. */
struct histogram_group *histogram_add_group(struct histogram_recorder *recorder, size_t group);

/* Returns how many bytes it allocated: usually none. A store by one thread needs no locked
 * instruction. */
static inline size_t histogram_record(struct histogram_recorder *recorder, uint64_t value)
{
    size_t bucket = histogram_bucket_of(value), allocated = 0;
    struct histogram_group *group =
        atomic_load_explicit(&recorder->groups[bucket / HISTOGRAM_STEPS], memory_order_relaxed);
    if (UNLIKELY(group == NULL)) {
        group = histogram_add_group(recorder, bucket / HISTOGRAM_STEPS);
        allocated = sizeof *group;
    }
    _Atomic uint64_t *count = &group->counts[bucket % HISTOGRAM_STEPS];
    atomic_store_explicit(&recorder->sum,
                          atomic_load_explicit(&recorder->sum, memory_order_relaxed) + value,
                          memory_order_relaxed);
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    return allocated;
}
/* Adds what was counted so far. */
void histogram_read(const struct histogram_recorder *recorder, struct histogram *into);
/* Forgets what was counted, but keeps the memory. By the thread that counts. */
void histogram_recorder_clear(struct histogram_recorder *recorder);
void histogram_recorder_deinit(struct histogram_recorder *recorder);

#endif
