/* histogram.h -- counts of times, in buckets that are never wider than 1/128 of what they hold.
 *
 * The exact times of millions of requests would not fit; a bucket's end is at most 0.8% above each
 * time in it. Percentiles are computed from the buckets by bench/histogram.py.
 */
#ifndef STATOR_BENCH_LOAD_HISTOGRAM_H
#define STATOR_BENCH_LOAD_HISTOGRAM_H
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HISTOGRAM_STEP_BITS = 7, /* Each power of two has 2^7 buckets. */
    HISTOGRAM_STEPS = 1 << HISTOGRAM_STEP_BITS,
    HISTOGRAM_VALUE_BITS = 38, /* 274 seconds in nanoseconds; what is longer counts as that. */
    HISTOGRAM_BUCKETS = (HISTOGRAM_VALUE_BITS - HISTOGRAM_STEP_BITS + 1) * HISTOGRAM_STEPS,
};
#define HISTOGRAM_VALUE_MAX ((UINT64_C(1) << HISTOGRAM_VALUE_BITS) - 1)

struct histogram {
    uint64_t counts[HISTOGRAM_BUCKETS];
};

/* Below 2^7 a value is its own bucket; from there on its highest 8 bits choose it. */
static inline size_t histogram_bucket(uint64_t value)
{
    if (value > HISTOGRAM_VALUE_MAX)
        value = HISTOGRAM_VALUE_MAX;
    if (value < HISTOGRAM_STEPS)
        return (size_t)value;
    unsigned shift = 63 - (unsigned)__builtin_clzll(value) - HISTOGRAM_STEP_BITS;
    return (size_t)shift * HISTOGRAM_STEPS + (size_t)(value >> shift);
}

/* The largest value of a bucket. */
static inline uint64_t histogram_bucket_end(size_t bucket)
{
    assert(bucket < HISTOGRAM_BUCKETS);
    if (bucket < HISTOGRAM_STEPS)
        return bucket;
    size_t shift = bucket / HISTOGRAM_STEPS - 1;
    uint64_t step = HISTOGRAM_STEPS + bucket % HISTOGRAM_STEPS;
    return ((step + 1) << shift) - 1;
}

static inline void histogram_add(struct histogram *histogram, uint64_t value)
{
    histogram->counts[histogram_bucket(value)]++;
}

#endif
