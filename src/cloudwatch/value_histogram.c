/* value_histogram.c -- see value_histogram.h. */
#include "cloudwatch/value_histogram.h"
#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

void value_histogram_init(struct value_histogram *histogram)
{
    histogram->scale = VALUE_HISTOGRAM_SCALE_MAX;
    histogram->count = 0;
}

/* Which power of the base is the last one not above the magnitude, at the finest scale. Coarser
 * indexes are derived from it by shifting, so that merging in any order gives the same buckets. */
static int finest_index(double magnitude)
{
    return (int)floor(ldexp(log2(magnitude), VALUE_HISTOGRAM_SCALE_MAX));
}

/* Rounds down, also below 0. */
static int shift_index(int index, int by)
{
    return index >= 0 ? index >> by : -((-index - 1) >> by) - 1;
}

static int32_t order_at_scale(int32_t finest, int scale)
{
    int by = VALUE_HISTOGRAM_SCALE_MAX - scale;
    if (finest == 0)
        return 0;
    if (finest > 0)
        return shift_index(finest - VALUE_HISTOGRAM_ORDER_BIAS, by) + VALUE_HISTOGRAM_ORDER_BIAS;
    return -(shift_index(-finest - VALUE_HISTOGRAM_ORDER_BIAS, by) + VALUE_HISTOGRAM_ORDER_BIAS);
}

static int32_t order_of(double value)
{
    if (value == 0)
        return 0;
    int32_t order = finest_index(fabs(value)) + VALUE_HISTOGRAM_ORDER_BIAS;
    return value > 0 ? order : -order;
}

/* The order that a bucket has one scale coarser. */
static int32_t coarser(int32_t order)
{
    if (order == 0)
        return 0;
    if (order > 0)
        return shift_index(order - VALUE_HISTOGRAM_ORDER_BIAS, 1) + VALUE_HISTOGRAM_ORDER_BIAS;
    return -(shift_index(-order - VALUE_HISTOGRAM_ORDER_BIAS, 1) + VALUE_HISTOGRAM_ORDER_BIAS);
}

static void coarsen(struct value_histogram *histogram)
{
    size_t kept = 0;
    assert(histogram->scale > VALUE_HISTOGRAM_SCALE_MIN);
    histogram->scale--;
    for (size_t i = 0; i < histogram->count; i++) {
        struct value_bucket bucket = histogram->buckets[i];
        bucket.order = coarser(bucket.order);
        if (kept > 0 && histogram->buckets[kept - 1].order == bucket.order)
            histogram->buckets[kept - 1].count += bucket.count;
        else
            histogram->buckets[kept++] = bucket;
    }
    histogram->count = kept;
}

/* The first bucket that is not below `order`. */
static size_t find(const struct value_histogram *histogram, int32_t order)
{
    size_t low = 0, high = histogram->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (histogram->buckets[middle].order < order)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* False if there is no room for another bucket. */
static bool add_at(struct value_histogram *histogram, int32_t order, double count)
{
    size_t at = find(histogram, order);
    struct value_bucket *bucket = &histogram->buckets[at];
    if (at < histogram->count && bucket->order == order) {
        bucket->count += count;
        return true;
    }
    if (histogram->count == VALUE_HISTOGRAM_BUCKETS_MAX)
        return false;
    memmove(bucket + 1, bucket, (histogram->count - at) * sizeof *bucket);
    *bucket = (struct value_bucket){ .order = order, .count = count };
    histogram->count++;
    return true;
}

void value_histogram_add(struct value_histogram *histogram, double value, double count)
{
    assert(isfinite(value) && count > 0);
    int32_t finest = order_of(value);
    while (!add_at(histogram, order_at_scale(finest, histogram->scale), count))
        coarsen(histogram);
}

void value_histogram_merge(struct value_histogram *histogram, const struct value_histogram *other)
{
    while (histogram->scale > other->scale)
        coarsen(histogram);
    for (size_t i = 0; i < other->count; i++) {
        for (;;) {
            int32_t order = other->buckets[i].order;
            for (int scale = other->scale; scale > histogram->scale; scale--)
                order = coarser(order);
            if (add_at(histogram, order, other->buckets[i].count))
                break;
            coarsen(histogram);
        }
    }
}

void value_histogram_bounds(const struct value_histogram *histogram, size_t bucket, double *low,
                            double *high)
{
    assert(bucket < histogram->count);
    int32_t order = histogram->buckets[bucket].order;
    *low = *high = 0;
    if (order == 0)
        return;
    int index = (order > 0 ? order : -order) - VALUE_HISTOGRAM_ORDER_BIAS;
    double near = exp2(ldexp(index, -histogram->scale));
    double far = exp2(ldexp(index + 1, -histogram->scale));
    *low = order > 0 ? near : -far;
    *high = order > 0 ? far : -near;
}
