/* sample_set.h -- what is kept of the values of a metric in a bin: number, sum, extremes and, if
 * it is known, how they are distributed.
 */
#ifndef STATOR_CLOUDWATCH_SAMPLE_SET_H
#define STATOR_CLOUDWATCH_SAMPLE_SET_H
#include <stdbool.h>

struct arena;
struct value_histogram;

struct sample_set {
    double count; /* Above 0; 0: the set is empty, and the rest says nothing. */
    double sum;
    double minimum;
    double maximum;
    /* Percentiles can be told: all values are equal, or there is a histogram. */
    bool is_distributed;
    /* NULL if all values are equal or the distribution is not known. Lives as long as whoever made
     * the set says. */
    const struct value_histogram *histogram;
    struct value_histogram *own; /* sample_set_add's: the histogram, if it may be changed. */
};

/* `count` times the same value. */
struct sample_set sample_set_of_value(double value, double count);
/* A statistic set: its distribution is known only if all values are equal. */
struct sample_set sample_set_of_statistics(double count, double sum, double minimum,
                                           double maximum);
/* Adds a set, which may be empty, to `set`, which may be empty too. Histograms are made in the
 * arena; those of `more` are borrowed until `set` is changed or goes. */
void sample_set_add(struct arena *arena, struct sample_set *set, const struct sample_set *more);

#endif
