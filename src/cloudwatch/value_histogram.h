/* value_histogram.h -- how the values of a bin are distributed: buckets of exponential width.
 *
 * Takes any finite double, negative ones too. A bucket reaches from base^i to base^(i+1), where
 * base is 2^(2^-scale). A histogram begins with the finest scale, whose buckets are 2.2 % wide. If
 * it would have more than VALUE_HISTOGRAM_BUCKETS_MAX of them, it halves its scale's resolution:
 * two neighbours become one. So its size is bounded, any two can be merged, and the result does not
 * depend on the order.
 */
#ifndef STATOR_CLOUDWATCH_VALUE_HISTOGRAM_H
#define STATOR_CLOUDWATCH_VALUE_HISTOGRAM_H
#include <stddef.h>
#include <stdint.h>

enum {
    VALUE_HISTOGRAM_BUCKETS_MAX = 100,
    VALUE_HISTOGRAM_SCALE_MAX = 5,
    VALUE_HISTOGRAM_SCALE_MIN = -8,
    /* An order's distance from 0 is this plus the index of its bucket. Beyond every index: a double
     * is at least 2^-1074, and there are 2^5 buckets to a power of two. */
    VALUE_HISTOGRAM_ORDER_BIAS = 1 << 16,
};

struct value_bucket {
    /* Ascending with the values: negative, 0 for the value 0, or positive. */
    int32_t order;
    double count; /* Above 0. */
};

struct value_histogram {
    int scale;
    size_t count;
    struct value_bucket buckets[VALUE_HISTOGRAM_BUCKETS_MAX]; /* Ascending. */
};

void value_histogram_init(struct value_histogram *histogram);
/* Adds `count` (above 0) times the value, which is finite. */
void value_histogram_add(struct value_histogram *histogram, double value, double count);
void value_histogram_merge(struct value_histogram *histogram, const struct value_histogram *other);

/* Between which values a bucket's values lie; both are 0 for the bucket of 0. */
void value_histogram_bounds(const struct value_histogram *histogram, size_t bucket, double *low,
                            double *high);

#endif
